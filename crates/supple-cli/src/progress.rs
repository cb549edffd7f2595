//! Progress: bars and spinners on terminals, elsewhere a plain line now and then.

use crate::console;
use crate::wording::printable;
use indicatif::{ProgressBar, ProgressStyle, WeakProgressBar};
use std::io::IsTerminal;
use std::thread;
use std::time::{Duration, Instant};

/// The time between two pictures of a spinner.
const TICK: Duration = Duration::from_millis(100);

/// When plain lines are printed: shorter work prints none.
const FIRST_LINE: Duration = Duration::from_secs(2);
const NEXT_LINE: Duration = Duration::from_secs(10);

/// A bar over a known number of steps.
pub(crate) fn bar(steps: usize, what: &str) -> ProgressBar {
    let bar = ProgressBar::new(steps as u64);
    // The template is a constant; if it were wrong, the plain bar would be shown.
    if let Ok(style) = ProgressStyle::with_template("{msg:24} {wide_bar} {pos}/{len} {eta:>4}") {
        bar.set_style(style);
    }
    bar.set_message(printable(what));
    accompany(&bar);
    bar
}

/// A spinner for work of unknown length.
pub(crate) fn spinner(what: &str) -> ProgressBar {
    let spinner = ProgressBar::new_spinner();
    spinner.set_message(printable(what));
    accompany(&spinner);
    spinner
}

/// Starts a thread that turns a spinner, or prints plain lines where standard error is no terminal.
fn accompany(bar: &ProgressBar) {
    let shown = bar.downgrade();
    // Without a thread, the spinner does not turn, and no lines are printed.
    if !std::io::stderr().is_terminal() {
        let print = |line: &str| console::eprint(line);
        let _ = thread::Builder::new().spawn(move || print_lines(&shown, FIRST_LINE, print));
    } else if bar.length().is_none() {
        let turn = move || {
            while let Some(spinner) = unfinished(&shown) {
                spinner.tick();
                drop(spinner);
                thread::sleep(TICK);
            }
        };
        let _ = thread::Builder::new().spawn(turn);
    }
}

/// The bar, until its work has ended.
fn unfinished(bar: &WeakProgressBar) -> Option<ProgressBar> {
    bar.upgrade().filter(|bar| !bar.is_finished())
}

/// Prints how far work is, until it has ended.
fn print_lines(bar: &WeakProgressBar, first: Duration, mut print: impl FnMut(&str)) {
    let started = Instant::now();
    let mut due = first;
    while let Some(bar) = unfinished(bar) {
        let elapsed = started.elapsed();
        if elapsed >= due {
            print(&line(&bar.message(), bar.position(), bar.length(), elapsed));
            due = elapsed + NEXT_LINE;
        }
        drop(bar);
        thread::sleep(TICK);
    }
}

/// "progress: deforming, 35 % after 12 s", "progress: baking, 12 s".
fn line(what: &str, position: u64, length: Option<u64>, elapsed: Duration) -> String {
    let share = length.filter(|&length| length > 0);
    let share = share.map_or_else(String::new, |length| {
        format!("{:.0} % after ", 100.0 * position as f64 / length as f64)
    });
    format!("progress: {what}, {share}{} s", elapsed.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    #[test]
    fn lines_tell_the_share_where_it_is_known() {
        let after = Duration::from_secs(12);
        assert_eq!(
            line("deforming", 7, Some(20), after),
            "progress: deforming, 35 % after 12 s"
        );
        assert_eq!(line("baking", 0, None, after), "progress: baking, 12 s");
    }

    #[test]
    fn lines_are_printed_until_the_work_ends() {
        let bar = ProgressBar::hidden();
        bar.set_length(4);
        bar.set_message("testing");
        bar.inc(1);
        let (sender, receiver) = mpsc::channel();
        let shown = bar.downgrade();
        let printer = thread::spawn(move || {
            print_lines(&shown, Duration::ZERO, |line| {
                sender.send(line.to_owned()).unwrap()
            });
        });
        let line = receiver.recv().unwrap();
        assert_eq!(line, "progress: testing, 25 % after 0 s");
        bar.finish_and_clear();
        printer.join().unwrap();
        assert!(
            receiver.recv().is_err(),
            "the next one would be ten seconds later"
        );
        // Finished or dropped work prints nothing.
        print_lines(&bar.downgrade(), Duration::ZERO, |_| panic!("finished"));
        let dropped = ProgressBar::hidden().downgrade();
        print_lines(&dropped, Duration::ZERO, |_| panic!("dropped"));
    }
}
