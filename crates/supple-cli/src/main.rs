//! The `supple` command.

mod args;
mod bake;
mod bake_mush;
mod bench;
mod compare;
mod convert;
mod deform;
mod demo;
mod failure;
mod handles;
mod info;
mod interrupt;
mod mush;
mod pose;
mod posing;
mod progress;
mod reaching;
mod render;
mod shaders;
mod source;
mod twist;
mod weight_quality;
mod weights;
mod weights_edit;
mod wording;

use args::{Arguments, Command, WeightsCommand};
use clap::{CommandFactory, Parser};
use failure::Failure;
use std::io::{self, Write};
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    interrupt::watch();
    let outcome = supple::exec::start_threads()
        .map_err(|error| Failure::new(format!("cannot start threads: {error}")))
        .and_then(|()| run(arguments.command));
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            failure.report();
            ExitCode::from(failure.exit_status())
        }
    }
}

fn run(command: Command) -> Result<(), Failure> {
    match command {
        Command::Demo(options) => demo::run(&options),
        Command::Info(options) => info::run(&options),
        Command::Deform(options) => deform::run(&options),
        Command::Pose(options) => pose::run(&options),
        Command::Render(options) => render::run(&options),
        Command::Compare(options) => compare::run(&options),
        Command::Convert(options) => convert::run(&options),
        Command::Bake(options) => bake::run(&options),
        Command::Weights(options) => match (options.command, options.bind) {
            (Some(WeightsCommand::Edit(options)), _) => weights_edit::run(&options),
            (None, Some(options)) => weights::run(&options),
            // clap asks for one of them.
            (None, None) => Ok(()),
        },
        Command::Handles(options) => handles::run(&options),
        Command::Twist(options) => twist::run(&options),
        Command::Shaders(options) => shaders::run(&options),
        Command::Bench(options) => bench::run(&options),
        Command::Completions { shell } => completions(shell),
    }
}

fn completions(shell: clap_complete::Shell) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "supple", &mut script);
    print(&String::from_utf8_lossy(&script))
}

/// Prints to standard output. A reader that has seen enough (`| head`) is no failure.
fn print(text: &str) -> Result<(), Failure> {
    let written = anstream::stdout().write_all(text.as_bytes());
    match written {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::new(format!("cannot print: {error}")))
        }
        _ => Ok(()),
    }
}

/// Prints JSON to standard output.
fn print_json(json: &str) -> Result<(), Failure> {
    print(&(wording::printable_json(json) + "\n"))
}

/// Tells the user something on standard error, on one line.
fn tell(text: &str) {
    tell_styled(&wording::printable(text));
}

/// The same for text that has styles, and no text from a file that is not escaped.
fn tell_styled(text: &str) {
    // If nobody can read it, nobody needs it.
    let _ = writeln!(anstream::stderr(), "{text}");
}
