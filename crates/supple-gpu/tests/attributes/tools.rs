//! Programs of the system that some tests need.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output};

/// True if a program is installed. Without it, the test is skipped with a message; on a build
/// server, it fails.
pub fn is_installed(program: &str) -> bool {
    let found = Command::new(program).arg("--version").output().is_ok();
    assert!(
        found || std::env::var_os("CI").is_none(),
        "{program} is not installed"
    );
    if !found {
        // Directly to the terminal: the test runner hides the output of passing tests.
        let _ = writeln!(std::io::stderr(), "skipped: {program} is not installed");
    }
    found
}

/// Runs a program in a folder, which must succeed.
pub fn run(program: &str, arguments: &[&str], folder: &Path) -> Output {
    let output = Command::new(program)
        .args(arguments)
        .current_dir(folder)
        .output()
        .unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(
        output.status.success(),
        "{program} {arguments:?}: {}{}",
        text(&output.stdout),
        text(&output.stderr)
    );
    output
}
