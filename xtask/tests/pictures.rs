//! Pages name pictures that exist, at half their size in pixels.

#![allow(clippy::unwrap_used)]

use std::process::Command;

#[test]
fn pages_show_pictures_that_exist_at_half_their_pixels() {
    let program = env!("CARGO_BIN_EXE_xtask");
    let output = Command::new(program)
        .args(["pictures", "--references"])
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}
