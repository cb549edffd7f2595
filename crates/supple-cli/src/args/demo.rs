//! Arguments of `supple demo`.

use clap::Args;
use std::path::PathBuf;

/// Compare the methods on built-in characters, ending in a page to open
#[derive(Args)]
#[command(after_help = "\
Examples:
  supple demo                     writes supple-demo/index.html
  supple demo -o /tmp/look        writes elsewhere")]
pub(crate) struct DemoArguments {
    /// The folder to write into; made if it is not there
    #[arg(short, long = "out", value_name = "DIR", default_value = "supple-demo")]
    pub(crate) out: PathBuf,
}
