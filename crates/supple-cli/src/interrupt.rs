//! Signals: SIGINT, SIGTERM and SIGHUP end the command without leaving unfinished files.

/// Starts a thread that ends the command on a signal, with exit status 128 plus its number.
///
/// If no thread can be started, signals keep their usual effect.
#[cfg(unix)]
pub(crate) fn watch() {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    use signal_hook::iterator::Signals;
    use std::sync::mpsc;
    use supple_io::whole_file::discard_unfinished;

    let (sender, receiver) = mpsc::channel::<Signals>();
    let wait = move || {
        let Ok(mut signals) = receiver.recv() else {
            return;
        };
        if let Some(signal) = signals.forever().next() {
            // Skips exit handlers of libraries, which do not expect other threads to be running.
            discard_unfinished(|| signal_hook::low_level::exit(128 + signal));
        }
    };
    // Signals are intercepted only once the thread waits for them.
    if std::thread::Builder::new().spawn(wait).is_err() {
        return;
    }
    let mut wanted = vec![SIGHUP, SIGINT, SIGTERM];
    wanted.retain(|&signal| !is_ignored(signal));
    if let Ok(signals) = Signals::new(wanted) {
        // The thread is waiting on the other end.
        let _ = sender.send(signals);
    }
}

/// True if the command was started with a signal ignored, as by `nohup`.
#[cfg(unix)]
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status");
    let status = status.as_deref().unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    match mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()) {
        Some(mask) => mask >> (signal - 1) & 1 == 1,
        // Other systems do not say; `nohup` must work there as well.
        None => signal == signal_hook::consts::SIGHUP,
    }
}

#[cfg(not(unix))]
pub(crate) fn watch() {}
