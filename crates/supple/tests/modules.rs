//! Imports between modules, and dependencies between crates, point one way.
//!
//! Modules that import each other can only be understood together, and none of them can be moved.
//! So among the children of every module, in every crate, imports have no cycle. Tests don't count.

#![allow(clippy::panic)] // in the helpers of the tests below

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The crates from bottom to top: each may depend on those before it.
const LAYERS: [&str; 8] = [
    "supple-pins",
    "supple",
    "supple-io",
    "supple-gpu",
    "supple-render",
    "supple-report",
    "supple-cli",
    "supple-doc-tests",
];

#[test]
fn imports_between_modules_have_no_cycle() {
    let mut cycles = Vec::new();
    let libraries = LAYERS.map(|name| (name, crates().join(name)));
    let xtask = ("xtask", crates().join("../xtask"));
    for (name, folder) in libraries.into_iter().chain([xtask]) {
        let package = Package::read(&folder.join("src"));
        assert!(!package.modules.is_empty(), "'{name}' has no source");
        for parent in package.modules.keys() {
            let scope = [&[name.to_owned()], &parent[..]].concat().join(" ");
            let cycle = cycle_in(&package.imports_among_children(parent));
            cycles.extend(cycle.map(|cycle| format!("{scope}: {}", cycle.join(" → "))));
        }
    }
    assert!(
        cycles.is_empty(),
        "modules import each other:\n{}",
        cycles.join("\n")
    );
}

#[test]
fn crates_depend_on_lower_crates_only() {
    for folder in fs::read_dir(crates()).unwrap() {
        let name = folder.unwrap().file_name().into_string().unwrap();
        let layer = LAYERS.iter().position(|other| *other == name);
        let layer = layer.unwrap_or_else(|| panic!("'{name}' has no place in LAYERS"));
        let manifest = read(&crates().join(&name).join("Cargo.toml"));
        for other in dependencies(&manifest).filter(|other| LAYERS.contains(other)) {
            assert!(
                LAYERS[..layer].contains(&other),
                "{name} depends on {other} above it"
            );
        }
    }
}

#[test]
fn cycles_are_found_through_groups_and_reexports_but_not_through_tests() {
    let cycle = |a: &str, b: &str| {
        let root = "mod a;\nmod b;\npub use b::{Item as Renamed, other};";
        let modules = [
            (vec![], root),
            (vec!["a".to_owned()], a),
            (vec!["b".to_owned()], b),
        ];
        let modules = modules.map(|(path, text)| (path, without_tests(text)));
        cycle_in(
            &Package {
                modules: modules.into(),
            }
            .imports_among_children(&[]),
        )
    };
    let both = Some(["a", "b", "a"].map(str::to_owned).to_vec());
    assert_eq!(
        cycle("use crate::b::x;", "use super::{c, a::{self, y}};"),
        both
    );
    assert_eq!(
        cycle("use crate::Renamed;", "fn f() { crate::a::g() }"),
        both
    );
    assert_eq!(cycle("use crate::Item;", "use crate::a::y;"), None);
    let test = "#[cfg(test)]\nmod tests {\n    use crate::a;\n}\n// crate::a::y\n";
    assert_eq!(cycle("use crate::b::x;", test), None);
}

fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn read(file: &Path) -> String {
    fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

/// The modules of a crate by their paths, with their text except for comments and tests.
struct Package {
    modules: BTreeMap<Vec<String>, String>,
}

impl Package {
    fn read(src: &Path) -> Package {
        let mut modules: BTreeMap<Vec<String>, String> = BTreeMap::new();
        let roots = ["lib.rs", "main.rs"].map(|file| (Vec::new(), src.join(file)));
        let mut waiting: Vec<(Vec<String>, PathBuf)> = roots.into();
        waiting.retain(|(_, file)| file.exists());
        while let Some((path, file)) = waiting.pop() {
            let text = without_tests(&read(&file));
            let folder = src.join(path.iter().collect::<PathBuf>());
            for child in text.lines().filter_map(declared_module) {
                let file = folder.join(format!("{child}.rs"));
                let file = if file.exists() {
                    file
                } else {
                    folder.join(child).join("mod.rs")
                };
                waiting.push(([&path[..], &[child.to_owned()]].concat(), file));
            }
            modules.entry(path).or_default().push_str(&text);
        }
        Package { modules }
    }

    /// For each child of a module, the other children that it imports from.
    fn imports_among_children(&self, parent: &[String]) -> BTreeMap<String, BTreeSet<String>> {
        let depth = parent.len();
        let below = self.modules.iter();
        let below = below.filter(|(path, _)| path.len() > depth && path.starts_with(parent));
        let mut imports: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for (path, _) in below.clone() {
            imports.entry(path[depth].clone()).or_default();
        }
        let children: BTreeSet<String> = imports.keys().cloned().collect();
        // Names that the parent imports or re-exports, with the child that they come from.
        let known: BTreeMap<String, String> = imports_of(&self.modules[parent], parent)
            .into_iter()
            .filter_map(|import| Some((import.name, import.path.get(depth)?.clone())))
            .filter(|(_, child)| children.contains(child))
            .collect();
        for (path, text) in below {
            for import in imports_of(text, path) {
                let name = import
                    .path
                    .get(depth)
                    .filter(|_| import.path.starts_with(parent));
                let from = name.and_then(|name| children.get(name).or_else(|| known.get(name)));
                let others = from.filter(|from| **from != path[depth]);
                imports
                    .entry(path[depth].clone())
                    .or_default()
                    .extend(others.cloned());
            }
        }
        imports
    }
}

/// Source text without comments and without items for tests only. It is formatted, so that an item
/// ends where its indentation comes back.
fn without_tests(text: &str) -> String {
    let mut kept = String::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if let Some(indent) = line.find("#[cfg(test)]") {
            let ends = |line: &&str| {
                let item = line.get(indent..).unwrap_or_default();
                item.starts_with('}')
                    || item.starts_with(char::is_alphabetic) && item.ends_with(';')
            };
            lines.find(ends);
        } else {
            kept.push_str(line.split("//").next().unwrap_or_default());
            kept.push('\n');
        }
    }
    kept
}

/// The name in a line such as `pub(crate) mod name;`.
fn declared_module(line: &str) -> Option<&str> {
    let (before, name) = line.strip_suffix(';')?.rsplit_once("mod ")?;
    (before.is_empty() || before.starts_with("pub")).then_some(name)
}

/// A path that some text names, from the root of the crate; and the name that it has there.
struct Import {
    path: Vec<String>,
    name: String,
}

/// The paths in the `use` items of a module, and all others that start with `crate`, `super` or
/// `self`.
fn imports_of(text: &str, module: &[String]) -> Vec<Import> {
    let tokens = tokens(text);
    let mut imports = Vec::new();
    let mut rest = &tokens[..];
    while let [first, after @ ..] = rest {
        let starts_path =
            ["crate", "super", "self"].contains(first) && after.first() == Some(&"::");
        rest = match *first {
            "use" => read_path(after, &[], module, &mut imports),
            _ if starts_path => read_path(rest, &[], module, &mut imports),
            _ => after,
        };
    }
    imports
}

/// Identifiers, `::` and other characters by themselves.
fn tokens(text: &str) -> Vec<&str> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let length = match first {
            _ if is_word(first) => rest.find(|c| !is_word(c)).unwrap_or(rest.len()),
            ':' if rest.starts_with("::") => 2,
            _ => first.len_utf8(),
        };
        tokens.push(&rest[..length]);
        rest = rest[length..].trim_start();
    }
    tokens
}

/// Reads a path, or all paths of a group in braces, that continue a prefix. Returns what follows.
fn read_path<'t>(
    mut rest: &'t [&'t str],
    prefix: &[&str],
    module: &[String],
    imports: &mut Vec<Import>,
) -> &'t [&'t str] {
    let mut path = prefix.to_vec();
    while let [first, after @ ..] = rest {
        rest = after;
        if *first == "{" {
            while let [next, after @ ..] = rest {
                match *next {
                    "}" => return after,
                    "," => rest = after,
                    _ => rest = read_path(rest, &path, module, imports),
                }
            }
            return rest;
        }
        path.push(first);
        match rest {
            ["::", after @ ..] => rest = after,
            _ => break,
        }
    }
    let mut name = path.last().copied().unwrap_or_default();
    if let ["as", alias, after @ ..] = rest {
        (name, rest) = (alias, after);
    }
    let path = absolute(&path, module);
    imports.push(Import {
        path,
        name: name.to_owned(),
    });
    rest
}

/// A path from the root of the crate.
fn absolute(path: &[&str], module: &[String]) -> Vec<String> {
    let mut base = module.to_vec();
    let mut path = path.iter().copied().peekable();
    while let Some(step) = path.next_if(|step| ["crate", "super", "self"].contains(step)) {
        match step {
            "crate" => base.clear(),
            "super" => base.truncate(base.len().saturating_sub(1)),
            _ => {}
        }
    }
    base.extend(path.filter(|step| *step != "self").map(str::to_owned));
    base
}

/// A cycle of imports, its first module repeated at the end.
fn cycle_in(imports: &BTreeMap<String, BTreeSet<String>>) -> Option<Vec<String>> {
    let mut imports = imports.clone();
    // Modules that import from no other (any more) are in no cycle.
    while let Some(module) = imports.iter().find(|(_, from)| from.is_empty()) {
        let module = module.0.clone();
        imports.remove(&module);
        for from in imports.values_mut() {
            from.remove(&module);
        }
    }
    // Each that is left imports from another one that is left: follow them until one comes again.
    let mut cycle = vec![imports.keys().next()?.clone()];
    loop {
        let next = imports[&cycle[cycle.len() - 1]].first()?.clone();
        let before = cycle.iter().position(|module| *module == next);
        cycle.push(next);
        if let Some(before) = before {
            return Some(cycle.split_off(before));
        }
    }
}

/// The names of a manifest's dependencies, except for those of tests.
fn dependencies(manifest: &str) -> impl Iterator<Item = &str> {
    let mut counts = false;
    let lines = manifest.lines().filter(move |line| {
        if line.starts_with('[') {
            counts = line.ends_with("dependencies]") && !line.contains("dev-");
        }
        counts
    });
    lines.filter_map(|line| line.split(['.', ' ', '=']).next())
}
