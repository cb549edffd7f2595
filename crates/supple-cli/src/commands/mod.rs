//! The commands: one file for each.

mod bake;
mod bench;
mod compare;
mod completions;
mod convert;
mod deform;
mod demo;
mod handles;
mod info;
mod measure;
mod methods;
mod pose;
mod render;
#[cfg(feature = "gpu")]
mod shaders;
mod twist;
mod weights;
mod weights_edit;

use crate::args::Command;
use crate::args::weights::WeightsCommand;
use crate::failure::Failure;

pub(crate) fn run(command: Command) -> Result<(), Failure> {
    match command {
        Command::Demo(arguments) => demo::run(&arguments),
        Command::Info(arguments) => info::run(&arguments),
        Command::Deform(arguments) => deform::run(&arguments),
        Command::Pose(arguments) => pose::run(&arguments),
        Command::Render(arguments) => render::run(&arguments),
        Command::Compare(arguments) => compare::run(&arguments),
        Command::Measure(arguments) => measure::run(&arguments),
        Command::Methods(arguments) => methods::run(&arguments),
        Command::Convert(arguments) => convert::run(&arguments),
        Command::Bake(arguments) => bake::run(&arguments),
        Command::Weights(arguments) => match (arguments.command, arguments.bind) {
            (Some(WeightsCommand::Edit(arguments)), _) => weights_edit::run(&arguments),
            (None, Some(arguments)) => weights::run(&arguments),
            // clap asks for one of them.
            (None, None) => Ok(()),
        },
        Command::Twist(arguments) => twist::run(&arguments),
        Command::Handles(arguments) => handles::run(&arguments),
        #[cfg(feature = "gpu")]
        Command::Shaders(arguments) => shaders::run(&arguments),
        #[cfg(not(feature = "gpu"))]
        Command::Shaders(_) => Err(crate::device::not_built_in()),
        Command::Bench(arguments) => bench::run(&arguments),
        Command::Completions(arguments) => completions::run(&arguments),
    }
}
