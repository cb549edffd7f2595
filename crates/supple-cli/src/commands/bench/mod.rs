//! `supple bench`: how long frames, bakes and weights take on this machine.
//!
//! Every time is the best of several runs. `cargo bench` times the same scenes with statistics.

mod centers;
mod frames;
#[cfg(feature = "gpu")]
mod gpu;
mod mush;
#[cfg_attr(
    not(feature = "gpu"),
    allow(dead_code, reason = "some of the scenes are for the GPU alone")
)]
mod scenes;
mod table;
mod timing;
mod weights;

use crate::args::bench::{BenchArguments, Topic};
use crate::args::common::Device;
use crate::console;
use crate::failure::Failure;
use crate::progress;
use crate::source::Source;
use indicatif::ProgressBar;
use serde_json::json;
use std::path::Path;
use supple::bind::BindGroup;
use supple::{Asset, Method};
use table::Table;

pub(crate) fn run(arguments: &BenchArguments) -> Result<(), Failure> {
    let topics = arguments.topics()?;
    let bench = Bench {
        file: arguments.file.as_deref().map(Character::open).transpose()?,
        exact: arguments.exact,
        spinner: progress::spinner("timing"),
    };
    let mut tables = Vec::new();
    for topic in topics {
        tables.push(match topic {
            Topic::Frames if arguments.device.device == Device::Gpu => {
                gpu_frames(&bench, &arguments.methods.methods)?
            }
            Topic::Frames => frames::table(&bench, &methods(&arguments.methods.methods))?,
            Topic::Centers => centers::bakes(&bench)?,
            Topic::Mush => mush::bakes(&bench)?,
            Topic::Weights => weights::table(&bench)?,
        });
    }
    bench.spinner.finish_and_clear();
    if arguments.json {
        let objects: Vec<_> = tables.into_iter().flat_map(Table::into_objects).collect();
        return console::print_json(&json!(objects).to_string());
    }
    let texts: Vec<String> = tables.iter().map(Table::to_markdown).collect();
    console::print(&texts.join("\n"))
}

/// The methods that were named, else all that need no solver in a frame.
fn methods(named: &[Method]) -> Vec<Method> {
    match named {
        [] => scenes::direct_methods(),
        named => named.to_vec(),
    }
}

#[cfg(feature = "gpu")]
fn gpu_frames(bench: &Bench, named: &[Method]) -> Result<Table, Failure> {
    let methods = gpu::with_shader(methods(named), !named.is_empty())?;
    gpu::table(bench, &methods)
}

#[cfg(not(feature = "gpu"))]
fn gpu_frames(_: &Bench, _: &[Method]) -> Result<Table, Failure> {
    Err(crate::device::not_built_in())
}

/// The work to time, and the characters.
struct Bench {
    /// The user's file; without one, built-in characters are timed.
    file: Option<Character>,
    /// True to time slow reference computations as well.
    exact: bool,
    spinner: ProgressBar,
}

impl Bench {
    /// Calls a function with the user's file, else with each of some built-in characters.
    fn for_each(
        &self,
        built_in: &[&str],
        mut time: impl FnMut(&Character) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        if let Some(character) = &self.file {
            self.show_progress(&character.name);
            return time(character);
        }
        for name in built_in {
            let name = format!("@{name}");
            self.show_progress(&name);
            time(&Character::open(name.as_ref())?)?;
        }
        Ok(())
    }

    fn show_progress(&self, what: &str) {
        self.spinner.set_message(format!("timing {what}"));
    }
}

/// A character to time something on.
struct Character {
    /// The path as the user wrote it, or `@name`.
    name: String,
    asset: Asset,
    /// The vertices of each skin, and the joints that they may be bound to.
    groups: Vec<BindGroup>,
}

impl Character {
    fn open(file: &Path) -> Result<Character, Failure> {
        let name = file.display().to_string();
        let source = Source::open(file)?;
        let (mesh, skeleton) = (source.asset.rig.mesh(), source.asset.rig.skeleton());
        let groups = match name.starts_with('@') {
            true => vec![BindGroup::whole(mesh, skeleton)],
            false => source.document()?.bind_groups(mesh, skeleton)?,
        };
        Ok(Character {
            name,
            groups,
            asset: source.asset,
        })
    }
}
