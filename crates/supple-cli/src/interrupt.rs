//! Interrupts: on SIGINT, SIGTERM and SIGHUP the command ends without leaving unfinished files.

/// Ends the command on such a signal, with exit status 128 plus its number.
///
/// Where no thread can be had to wait for signals, they keep their usual effect.
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
            // Without the handlers of libraries, which do not expect that other threads still work.
            discard_unfinished(|| signal_hook::low_level::exit(128 + signal));
        }
    };
    // Signals are taken only once somebody waits for them.
    if std::thread::Builder::new().spawn(wait).is_err() {
        return;
    }
    let mut wanted = vec![SIGHUP, SIGINT, SIGTERM];
    wanted.retain(|&signal| !is_ignored(signal));
    if let Ok(signals) = Signals::new(wanted) {
        // The thread waits for it.
        let _ = sender.send(signals);
    }
}

/// Whether whoever started the command wants it to ignore a signal, as `nohup` does.
#[cfg(unix)]
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status");
    let status = status.as_deref().unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    match mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()) {
        Some(mask) => mask >> (signal - 1) & 1 == 1,
        // Not known on other systems, where `nohup` must work all the same.
        None => signal == signal_hook::consts::SIGHUP,
    }
}

#[cfg(not(unix))]
pub(crate) fn watch() {}
