//! The `supple` command.

mod args;
mod commands;
mod console;
mod device;
#[cfg(feature = "gpu")]
mod driver_messages;
mod failure;
mod interrupt;
mod joint_tree;
mod joints;
mod mush;
mod output;
mod posing;
mod progress;
mod reaching;
mod source;
mod stored_bakes;
mod weight_quality;
mod weight_rating;
mod wording;

use args::CommandLine;
use clap::Parser;
use failure::Failure;
use std::process::ExitCode;

fn main() -> ExitCode {
    let command_line = CommandLine::parse();
    interrupt::watch();
    let outcome = supple::exec::start_threads()
        .map_err(|error| Failure::new(format!("cannot start threads: {error}")))
        .and_then(|()| commands::run(command_line.command));
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            console::eprint_styled(&failure.to_styled_text());
            ExitCode::from(failure.exit_status())
        }
    }
}
