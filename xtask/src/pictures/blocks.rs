//! Shell commands of pages that write pictures: what a page shows is what drew its pictures.

use super::references::markdown;
use crate::Outcome;
use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The shell commands of all pages that write into `docs/`.
pub(super) struct Blocks {
    /// The name of a page and the commands of a fenced block.
    blocks: Vec<(String, String)>,
}

impl Blocks {
    /// Finds the fenced blocks of shell commands that write a file in `docs/`.
    pub(super) fn read(root: &Path) -> Outcome<Blocks> {
        let mut blocks = Vec::new();
        for page in markdown(root)? {
            let name = page.file_stem().unwrap_or_default().to_string_lossy();
            let text = fs::read_to_string(root.join(&page))?;
            for block in text.split("```sh\n").skip(1) {
                let commands = block.split("```").next().unwrap_or_default();
                if commands.contains("-o docs/") {
                    blocks.push((name.clone().into_owned(), commands.to_owned()));
                }
            }
        }
        Ok(Blocks { blocks })
    }

    /// The names of pages with such commands.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.blocks.iter().map(|(name, _)| name.as_str())
    }

    /// Runs the commands of pages in a scratch folder with a folder `docs/` like the repository's.
    pub(super) fn run(&self, scratch: &Path, wanted: impl Fn(&str) -> bool) -> Outcome<()> {
        fs::create_dir_all(scratch.join("docs"))?;
        let path = path_with_supple()?;
        for (page, commands) in self.blocks.iter().filter(|(page, _)| wanted(page)) {
            for folder in commands
                .split("-o ")
                .filter_map(|rest| rest.split(['\n', ' ']).next())
            {
                if let Some(folder) = Path::new(folder).parent() {
                    fs::create_dir_all(scratch.join(folder))?;
                }
            }
            let output = Command::new("bash")
                .args(["-euo", "pipefail", "-c", commands])
                .current_dir(scratch)
                .env("PATH", &path)
                .output()?;
            if !output.status.success() {
                let errors = String::from_utf8_lossy(&output.stderr);
                return Err(format!("{page}: this failed:\n{commands}{errors}").into());
            }
        }
        Ok(())
    }
}

/// The search path with the command that was built beside this program, in front of any other.
/// Cargo builds it first, if it runs this program.
fn path_with_supple() -> Outcome<OsString> {
    if let Some(cargo) = env::var_os("CARGO") {
        let release = (!cfg!(debug_assertions)).then_some("--release");
        let built = Command::new(cargo)
            .args(["build", "--package", "supple-cli", "--locked"])
            .args(release)
            .status()?;
        if !built.success() {
            return Err("the command could not be built".into());
        }
    }
    let program = env::current_exe()?;
    let folder = program.parent().ok_or("this program is in no folder")?;
    let others = env::var_os("PATH").unwrap_or_default();
    let all = [folder.to_owned()]
        .into_iter()
        .chain(env::split_paths(&others));
    Ok(env::join_paths(all.collect::<Vec<PathBuf>>())?)
}
