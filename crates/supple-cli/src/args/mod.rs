//! The command line: one file for each command.

mod arap;
pub(crate) mod bake;
pub(crate) mod bench;
pub(crate) mod character;
pub(crate) mod common;
pub(crate) mod compare;
pub(crate) mod completions;
pub(crate) mod convert;
pub(crate) mod deform;
pub(crate) mod demo;
pub(crate) mod handles;
pub(crate) mod info;
pub(crate) mod measure;
pub(crate) mod method;
pub(crate) mod methods;
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

/// Pose, deform, render and compare skinned characters; compute, bake and edit their weights.
#[derive(Parser)]
#[command(
    name = "supple",
    version,
    arg_required_else_help = true,
    after_help = "\
Start here:
  supple demo                                a comparison page for a browser, without any file
  supple info hero.glb                       what a file holds, and problems in it
  supple compare hero.glb -o report          every skinning method on your character
  supple render hero.glb --clip Run -o run.gif

FILE is a .glb or .gltf file, or a built-in character such as @figure.
Exit status: 0 success, 1 failure, 2 wrong command line, 128 + N ended by signal N.
Set NO_COLOR to turn colours off."
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
    Measure(measure::MeasureArguments),
    Methods(methods::MethodsArguments),
    Convert(convert::ConvertArguments),
    Bake(bake::BakeArguments),
    Weights(weights::WeightsArguments),
    Twist(twist::TwistArguments),
    Handles(handles::HandlesArguments),
    Shaders(shaders::ShadersArguments),
    Bench(bench::BenchArguments),
    Completions(completions::CompletionsArguments),
}

/// The accepted values of FILE, on one line.
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

/// The accepted values of FILE, with all built-in characters.
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
