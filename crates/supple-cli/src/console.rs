//! What the command prints.

use crate::failure::Failure;
use crate::wording;
use std::io::{self, Write};

/// Prints to standard output. A reader that has seen enough (`| head`) is no failure.
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

/// Tells the user something on standard error, on one line.
pub(crate) fn tell(text: &str) {
    tell_styled(&wording::printable(text));
}

/// The same for text that has styles, and no text from a file that is not escaped.
pub(crate) fn tell_styled(text: &str) {
    // If nobody can read it, nobody needs it.
    let _ = writeln!(anstream::stderr(), "{text}");
}
