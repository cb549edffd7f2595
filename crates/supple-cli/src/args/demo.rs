//! Arguments of `supple demo`.

use clap::Args;
use std::path::PathBuf;

/// Write a comparison page about built-in characters, to try Supple without a file
#[derive(Args)]
#[command(after_help = "\
Examples:
  supple demo                     writes supple-demo/index.html
  supple demo -o pages            writes pages/index.html")]
pub(crate) struct DemoArguments {
    /// The folder to write into, created if needed
    #[arg(short, long = "out", value_name = "DIR", default_value = "supple-demo")]
    pub(crate) out: PathBuf,
}
