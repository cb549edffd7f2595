//! Output of the command on standard output and standard error.

use crate::failure::Failure;
use crate::wording;
use std::io::{self, Write};

/// Prints to standard output. A closed pipe (`| head`) is no failure.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let written = anstream::stdout().write_all(text.as_bytes());
    match written {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::new(format!("cannot print: {error}")))
        }
        _ => Ok(()),
    }
}

/// Prints JSON to standard output.
pub(crate) fn print_json(json: &str) -> Result<(), Failure> {
    print(&(wording::printable_json(json) + "\n"))
}

/// Prints a line to standard error.
pub(crate) fn eprint(text: &str) {
    eprint_styled(&wording::printable(text));
}

/// Prints a styled line to standard error; text from files must be escaped before.
pub(crate) fn eprint_styled(text: &str) {
    // Nothing can be done if standard error is closed.
    let _ = writeln!(anstream::stderr(), "{text}");
}
