//! The GPU that tests run on.

use std::io::Write;
use std::sync::OnceLock;
use supple_gpu::Gpu;

/// The GPU, or Mesa's lavapipe. Without any, the test is skipped with a message; on a build server,
/// it fails.
pub fn gpu() -> Option<&'static Gpu> {
    static GPU: OnceLock<Option<Gpu>> = OnceLock::new();
    let found = GPU.get_or_init(|| match Gpu::new() {
        Ok(gpu) => Some(gpu),
        Err(why) => {
            assert!(std::env::var_os("CI").is_none(), "{why}");
            // Directly to the terminal: the test runner hides the output of passing tests.
            let _ = writeln!(std::io::stderr(), "skipped: {why}");
            None
        }
    });
    found.as_ref()
}
