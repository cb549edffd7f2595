//! Progress bars and spinners, shown on terminals only.

use crate::wording::printable;
use indicatif::{ProgressBar, ProgressStyle};
use std::thread;
use std::time::Duration;

/// The time between two pictures of a spinner.
const TICK: Duration = Duration::from_millis(100);

/// A bar over a known number of steps.
pub(crate) fn bar(steps: usize, what: &str) -> ProgressBar {
    let bar = ProgressBar::new(steps as u64);
    // The template is a constant; if it were wrong, the plain bar would be shown.
    if let Ok(style) = ProgressStyle::with_template("{msg:24} {wide_bar} {pos}/{len} {eta:>4}") {
        bar.set_style(style);
    }
    bar.set_message(printable(what));
    bar
}

/// A spinner for work of unknown length.
pub(crate) fn spinner(what: &str) -> ProgressBar {
    let spinner = ProgressBar::new_spinner();
    spinner.set_message(printable(what));
    let turned = spinner.downgrade();
    let turn = move || {
        while let Some(spinner) = turned.upgrade().filter(|spinner| !spinner.is_finished()) {
            spinner.tick();
            drop(spinner);
            thread::sleep(TICK);
        }
    };
    if !spinner.is_hidden() {
        // Without a thread, the spinner does not turn.
        let _ = thread::Builder::new().spawn(turn);
    }
    spinner
}
