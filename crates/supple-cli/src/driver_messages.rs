//! Messages that drivers print while a GPU is opened.
//!
//! The Vulkan loader runs Mesa's layer for choosing a device, which asks Wayland for a display. On
//! a machine without a desktop, libwayland then prints an error about XDG_RUNTIME_DIR to standard
//! error, twice, although nothing is wrong. No flag of an instance turns an implicit layer off, and
//! its environment variable would have to be set before the command starts. So standard error is
//! collected meanwhile, and everything but that message is passed on.

/// Lines with these words are dropped.
#[cfg(unix)]
const NOISE: &str = "XDG_RUNTIME_DIR is invalid or not set in the environment";

/// Runs `open`, dropping known noise of drivers from standard error.
#[cfg(unix)]
pub(crate) fn without_noise<T>(open: impl FnOnce() -> T) -> T {
    let Ok(collector) = Collector::start() else {
        return open();
    };
    let opened = open();
    let messages = collector.finish();
    let told = messages.lines().filter(|line| !line.contains(NOISE));
    told.for_each(crate::console::eprint);
    opened
}

#[cfg(not(unix))]
pub(crate) fn without_noise<T>(open: impl FnOnce() -> T) -> T {
    open()
}

/// Standard error, led into a file without a name.
#[cfg(unix)]
struct Collector {
    usual: std::os::fd::OwnedFd,
    file: std::fs::File,
}

#[cfg(unix)]
impl Collector {
    fn start() -> std::io::Result<Collector> {
        use std::os::fd::AsFd;
        let file = tempfile::tempfile()?;
        let usual = std::io::stderr().as_fd().try_clone_to_owned()?;
        rustix::stdio::dup2_stderr(&file)?;
        Ok(Collector { usual, file })
    }

    /// Restores standard error; returns what was printed meanwhile.
    fn finish(mut self) -> String {
        use std::io::{Read, Seek};
        // Fails only if the descriptor were closed, and nobody closes it.
        let _ = rustix::stdio::dup2_stderr(&self.usual);
        let mut messages = Vec::new();
        let read = self
            .file
            .rewind()
            .and_then(|()| self.file.read_to_end(&mut messages));
        drop(read);
        String::from_utf8_lossy(&messages).into_owned()
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn what_is_printed_meanwhile_is_collected() {
        let collector = Collector::start().unwrap();
        // Past the capture of the test harness, as a driver prints.
        std::io::stderr().write_all(b"one\ntwo\n").unwrap();
        let messages = collector.finish();
        assert!(messages.contains("one\ntwo\n"), "{messages}");
    }
}
