//! `supple shaders`: methods as shaders for engines.

mod attributes;
mod packed;

use crate::args::shaders::{ShaderLayout, ShadersArguments};
use crate::console;
use crate::failure::Failure;
use crate::wording::printable;
use std::fmt::Write;
use std::path::PathBuf;
use supple_io::whole_file::{check_folder_writable, make_folders, write_whole};

/// A file that the command writes.
struct NewFile {
    name: String,
    content: Vec<u8>,
}

pub(crate) fn run(options: &ShadersArguments) -> Result<(), Failure> {
    let out = &options.out;
    check_folder_writable(out).map_err(|error| Failure::writing(out, error))?;
    let files = match options.layout {
        ShaderLayout::Attributes => attributes::files(options)?,
        ShaderLayout::Packed => packed::files(options)?,
    };
    let made = make_folders(out).map_err(|error| Failure::writing(out, error))?;
    let mut written = String::new();
    for file in &files {
        let path: PathBuf = out.join(&file.name);
        let content = |out: &mut dyn std::io::Write| out.write_all(&file.content);
        write_whole(&path, content).map_err(|error| Failure::writing(&path, error))?;
        let _ = writeln!(written, "{}", printable(&path.to_string_lossy()));
    }
    drop(made);
    console::print(&written)
}

/// Refuses options that were given but belong to the other layout.
fn refuse_options(layout: &str, given: &[(&str, bool)]) -> Result<(), Failure> {
    match given.iter().find(|(_, is_given)| *is_given) {
        Some((option, _)) => Err(Failure::usage(format!(
            "{option} is an option of --layout {layout}"
        ))),
        None => Ok(()),
    }
}
