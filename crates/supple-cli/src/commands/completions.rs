//! `supple completions`: a script that completes commands in a shell.

use crate::args::CommandLine;
use crate::args::completions::CompletionsArguments;
use crate::console;
use crate::failure::Failure;
use clap::CommandFactory;

pub(crate) fn run(arguments: &CompletionsArguments) -> Result<(), Failure> {
    let mut script = Vec::new();
    let mut command = CommandLine::command();
    clap_complete::generate(arguments.shell, &mut command, "supple", &mut script);
    console::print(&String::from_utf8_lossy(&script))
}
