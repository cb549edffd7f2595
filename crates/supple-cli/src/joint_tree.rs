//! The joints of a skeleton as an indented tree.

use crate::wording::many;
use supple::Rig;

/// The most joints that are shown unless all are wanted.
const MOST_SHOWN: usize = 40;

/// The widest column of names, and the deepest indentation.
const MOST_WIDTH: usize = 48;
const MOST_INDENT: usize = 20;

/// How much of the tree is shown.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    /// The upper levels of a large skeleton.
    Abridged,
    All,
}

/// The number of vertices that each joint influences.
pub(crate) fn vertex_counts(rig: &Rig) -> Vec<usize> {
    let mut counts = vec![0; rig.skeleton().joints().len()];
    let weights = rig.weights();
    for vertex in 0..weights.vertex_count() {
        for influence in weights.of(vertex) {
            counts[influence.joint] += 1;
        }
    }
    counts
}

/// A joint in the order of the tree.
struct Row {
    joint: usize,
    depth: usize,
    /// The number of joints below.
    below: usize,
}

/// A line for each joint, indented: its name, and the number of vertices that it influences.
pub(crate) fn lines(rig: &Rig, extent: Extent, name: impl Fn(usize) -> String) -> Vec<String> {
    let rows = rows(rig);
    let (deepest, most) = match extent {
        Extent::All => (usize::MAX, usize::MAX),
        Extent::Abridged => (deepest_shown(&rows), MOST_SHOWN),
    };
    let counts = vertex_counts(rig);
    let shown = rows.iter().filter(|row| row.depth <= deepest).take(most);
    let shown: Vec<(&Row, String)> = shown
        .map(|row| {
            let indent = "  ".repeat(row.depth.min(MOST_INDENT));
            (row, indent + &name(row.joint))
        })
        .collect();
    let widths = shown.iter().map(|(_, label)| label.chars().count());
    let width = widths.max().unwrap_or(0).min(MOST_WIDTH);
    let hidden = rows.len() - shown.len();
    let line = |(row, label): (&Row, String)| {
        let below = match row.depth == deepest && row.below > 0 {
            true => format!("  + {} below", row.below),
            false => String::new(),
        };
        format!("{label:<width$} {:>7}{below}", counts[row.joint])
    };
    let mut lines: Vec<String> = shown.into_iter().map(line).collect();
    if hidden > 0 {
        lines.push(format!(
            "{}: --joints lists all",
            many(hidden, "more joint")
        ));
    }
    lines
}

/// The deepest level that leaves few enough lines; the roots are always shown.
fn deepest_shown(rows: &[Row]) -> usize {
    if rows.len() <= MOST_SHOWN {
        return usize::MAX;
    }
    let at_most = |depth: usize| rows.iter().filter(|row| row.depth <= depth).count();
    let depths = (0..rows.len()).take_while(|&depth| at_most(depth) <= MOST_SHOWN);
    depths.last().unwrap_or(0)
}

/// All joints, children below their parents.
fn rows(rig: &Rig) -> Vec<Row> {
    let joints = rig.skeleton().joints();
    let mut children = vec![Vec::new(); joints.len()];
    let mut below = vec![0; joints.len()];
    for (joint, bone) in joints.iter().enumerate().rev() {
        if let Some(parent) = bone.parent {
            children[parent].push(joint);
            below[parent] += below[joint] + 1;
        }
    }
    let roots = (0..joints.len())
        .rev()
        .filter(|&joint| joints[joint].parent.is_none());
    let mut open: Vec<(usize, usize)> = roots.map(|joint| (joint, 0)).collect();
    let mut rows = Vec::with_capacity(joints.len());
    while let Some((joint, depth)) = open.pop() {
        rows.push(Row {
            joint,
            depth,
            below: below[joint],
        });
        // The last ones were collected first, so that the first ones are taken first.
        open.extend(children[joint].iter().map(|&child| (child, depth + 1)));
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use supple::characters::{self, Character};

    fn tree(character: Character, extent: Extent) -> Vec<String> {
        let asset = characters::build(character, 2000).expect("it is built");
        let skeleton = asset.rig.skeleton();
        lines(&asset.rig, extent, |joint| {
            skeleton.joint_name(joint).to_owned()
        })
    }

    #[test]
    fn children_are_below_their_parents() {
        let lines = tree(Character::Arm, Extent::Abridged);
        let words: Vec<&str> = lines
            .iter()
            .filter_map(|line| line.split(' ').next_back())
            .collect();
        assert!(
            words.iter().all(|word| word.parse::<usize>().is_ok()),
            "{lines:?}"
        );
        assert!(
            lines[0].starts_with(|first: char| first != ' '),
            "{lines:?}"
        );
        assert!(lines[1].starts_with("  "), "{lines:?}");
    }

    #[test]
    fn large_skeletons_are_abridged_unless_all_is_wanted() {
        let (few, all) = (
            tree(Character::Figure, Extent::Abridged),
            tree(Character::Figure, Extent::All),
        );
        assert!(
            few.len() <= MOST_SHOWN + 1 && all.len() == 77,
            "{} {}",
            few.len(),
            all.len()
        );
        assert!(
            few.last()
                .is_some_and(|last| last.contains("--joints lists all")),
            "{few:?}"
        );
        assert!(few.iter().any(|line| line.contains(" below")), "{few:?}");
    }
}
