//! The command line: one file for each command.

pub(crate) mod bake;
pub(crate) mod bench;
pub(crate) mod common;
pub(crate) mod compare;
pub(crate) mod completions;
pub(crate) mod convert;
pub(crate) mod deform;
pub(crate) mod demo;
pub(crate) mod handles;
pub(crate) mod info;
pub(crate) mod method;
pub(crate) mod mush;
pub(crate) mod pose;
pub(crate) mod reach;
pub(crate) mod render;
pub(crate) mod shaders;
pub(crate) mod twist;
pub(crate) mod weights;
pub(crate) mod weights_edit;

use clap::{Parser, Subcommand};
use supple::characters::Character;

/// Load a rigged character, pose it, deform it, look at it.
#[derive(Parser)]
#[command(
    name = "supple",
    version,
    arg_required_else_help = true,
    after_help = "\
Start here:
  supple demo                                a page of pictures to open in a browser
  supple info hero.glb                       what is in a file, and what is odd about it
  supple compare hero.glb -o report          every method on your character, side by side
  supple render hero.glb --clip Run -o run.gif

Exit status: 0 done, 1 it could not be done, 2 the command line was wrong, 128 + N on signal N.
Set NO_COLOR to do without colours."
)]
pub(crate) struct CommandLine {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    Demo(demo::DemoArguments),
    Info(info::InfoArguments),
    Deform(deform::DeformArguments),
    Pose(pose::PoseArguments),
    Render(render::RenderArguments),
    Compare(compare::CompareArguments),
    Convert(convert::ConvertArguments),
    Bake(bake::BakeArguments),
    Weights(weights::WeightsArguments),
    Twist(twist::TwistArguments),
    Handles(handles::HandlesArguments),
    Shaders(shaders::ShadersArguments),
    Bench(bench::BenchArguments),
    Completions(completions::CompletionsArguments),
}

/// What FILE may be.
pub(crate) fn file_summary() -> String {
    let names: Vec<String> = Character::ALL
        .iter()
        .map(|known| format!("@{}", known.name()))
        .collect();
    format!(
        "A .glb or .gltf file, or a built-in character: {}",
        names.join(", ")
    )
}

/// The same with all that there is to choose from.
pub(crate) fn file_help() -> String {
    let mut help = "A .glb or .gltf file, or a built-in character:\n".to_owned();
    for character in Character::ALL {
        help += &format!(
            "  {:<11}{}\n",
            format!("@{}", character.name()),
            character.summary()
        );
    }
    help + "@figure:40000 has about that many vertices, from 2,000 to 4,000,000"
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        CommandLine::command().debug_assert();
    }
}
