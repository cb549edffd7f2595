//! The text file that pins are committed in.

use super::{ANY_SET, Pins};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

const HEADER: &str = "\
# Hashes (64-bit FNV-1a) of the exact bits of outputs. If a line changes, an output has changed:
# say so in CHANGELOG.md, and accept it by SUPPLE_ACCEPT_PINS=1 cargo test --workspace --test pins
# At the end of a line: the instruction sets that it is for, where they do not all give the same.
";

/// Hashes by name, each with the instruction sets that give it; without sets, all do.
#[derive(Debug, Default)]
pub(super) struct PinFile {
    by_name: BTreeMap<String, Vec<Line>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Line {
    hash: u64,
    sets: Vec<String>,
}

impl Line {
    fn covers(&self, set: &str) -> bool {
        self.sets.is_empty() || self.sets.iter().any(|covered| covered == set)
    }
}

impl PinFile {
    pub(super) fn parse(text: &str) -> Result<PinFile, String> {
        let mut file = PinFile::default();
        for (number, line) in text.lines().enumerate() {
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let mut words = line.split_whitespace();
            let parsed = words.next().zip(words.next()).and_then(|(name, hash)| {
                let hash = u64::from_str_radix(hash, 16).ok()?;
                Some((name.to_owned(), hash))
            });
            let Some((name, hash)) = parsed else {
                return Err(format!("line {} is not `name hash`", number + 1));
            };
            let sets = words.map(str::to_owned).collect();
            file.by_name
                .entry(name)
                .or_default()
                .push(Line { hash, sets });
        }
        Ok(file)
    }

    /// A line for every pin that changed, appeared or disappeared.
    pub(super) fn differences(&self, found: &Pins) -> Vec<String> {
        let names: BTreeSet<&String> = self.by_name.keys().chain(found.by_name.keys()).collect();
        let mut differences = Vec::new();
        for name in names {
            match (self.by_name.get(name), found.by_name.get(name)) {
                (Some(lines), Some(sets)) => {
                    for (set, hash) in sets {
                        let pinned = lines.iter().find(|line| line.covers(set));
                        // No line for a set: the pins were accepted on a machine without it.
                        if let Some(line) = pinned.filter(|line| line.hash != *hash) {
                            let (was, set) = (line.hash, labelled(set));
                            differences
                                .push(format!("changed: {name}{set}: {was:016x} → {hash:016x}"));
                        }
                    }
                }
                (None, _) => differences.push(format!("new: {name}")),
                (Some(_), None) => differences.push(format!("gone: {name}")),
            }
        }
        differences
    }

    /// The file with these pins. Lines of instruction sets that were not computed are kept unless
    /// the output changed on those that were: then they are out of date.
    pub(super) fn accepting(&self, found: &Pins) -> PinFile {
        let mut by_name = BTreeMap::new();
        for (name, sets) in &found.by_name {
            let before = self.by_name.get(name).map_or(&[][..], Vec::as_slice);
            let mut hash_of: BTreeMap<String, u64> = sets.clone();
            let changed = sets.iter().any(|(set, hash)| {
                let line = before.iter().find(|line| line.covers(set));
                line.is_some_and(|line| line.hash != *hash)
            });
            if !changed {
                for line in before {
                    for set in &line.sets {
                        hash_of.entry(set.clone()).or_insert(line.hash);
                    }
                }
            }
            let mut sets_of: BTreeMap<u64, Vec<String>> = BTreeMap::new();
            for (set, hash) in hash_of {
                sets_of.entry(hash).or_default().push(set);
            }
            let mut lines: Vec<Line> = sets_of
                .into_iter()
                .map(|(hash, sets)| Line { hash, sets })
                .collect();
            match &mut lines[..] {
                [alone] => alone.sets.clear(),
                _ => lines.sort_by(|a, b| a.sets.cmp(&b.sets)),
            }
            by_name.insert(name.clone(), lines);
        }
        PinFile { by_name }
    }
}

fn labelled(set: &str) -> String {
    match set {
        ANY_SET => String::new(),
        set => format!(" on {set}"),
    }
}

impl fmt::Display for PinFile {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(HEADER)?;
        let widest = self.by_name.keys().map(|name| name.chars().count()).max();
        let width = widest.unwrap_or(0);
        for (name, lines) in &self.by_name {
            for Line { hash, sets } in lines {
                write!(out, "{name:width$}  {hash:016x}")?;
                if !sets.is_empty() {
                    write!(out, "  {}", sets.join(" "))?;
                }
                writeln!(out)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pins(outputs: &[(&str, &str, u32)]) -> Pins {
        let mut pins = Pins::default();
        for (name, set, output) in outputs {
            pins.pin_on(set, name, output);
        }
        pins
    }

    /// A file that is written and read back.
    fn file(outputs: &[(&str, &str, u32)]) -> PinFile {
        let written = PinFile::default().accepting(&pins(outputs)).to_string();
        PinFile::parse(&written).unwrap()
    }

    #[test]
    fn what_is_accepted_is_as_pinned() {
        let outputs = [("a", "", 1), ("b", "plain", 2), ("b", "AVX2", 3)];
        assert_eq!(file(&outputs).differences(&pins(&outputs)), [""; 0]);
    }

    #[test]
    fn changed_new_and_gone_outputs_are_named() {
        let known = file(&[("a", "", 1), ("b", "plain", 2), ("b", "AVX2", 3)]);
        let found = pins(&[("b", "plain", 2), ("b", "AVX2", 4), ("c", "", 1)]);
        let differences = known.differences(&found);
        let starts = ["gone: a", "changed: b on AVX2: ", "new: c"];
        assert_eq!(differences.len(), starts.len());
        for (difference, start) in differences.iter().zip(starts) {
            assert!(difference.starts_with(start), "{difference}");
        }
    }

    #[test]
    fn sets_that_give_the_same_share_a_line_and_all_sets_need_no_names() {
        let outputs = [("a", "x", 1), ("a", "y", 1), ("a", "z", 2)];
        let text = file(&outputs).to_string();
        assert!(text.lines().any(|line| line.ends_with("  x y")), "{text}");
        let text = file(&outputs[..2]).to_string();
        assert!(!text.contains("  x"), "{text}");
    }

    #[test]
    fn lines_of_sets_that_the_machine_lacks_are_kept_until_the_output_changes() {
        let known = file(&[("a", "x", 1), ("a", "y", 2)]);
        let here = pins(&[("a", "x", 1)]);
        assert_eq!(known.differences(&here), [""; 0]);
        let kept = known.accepting(&here);
        assert_eq!(kept.differences(&pins(&[("a", "y", 2)])), [""; 0]);
        let changed = known.accepting(&pins(&[("a", "x", 3)]));
        assert_eq!(changed.by_name["a"].len(), 1);
    }

    #[test]
    fn a_line_that_is_no_pin_is_refused_by_its_number() {
        let error = PinFile::parse("# comment\na 12 x\nb not-hex\n").unwrap_err();
        assert_eq!(error, "line 3 is not `name hash`");
    }

    #[test]
    #[should_panic(expected = "depend on the number of threads:\na  on 2 threads")]
    fn outputs_that_depend_on_the_number_of_threads_are_named() {
        Pins::on_threads(&[1, 2], |threads| pins(&[("a", "", threads as u32)]));
    }
}
