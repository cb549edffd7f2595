//! `supple twist`: twist joints, which spread a twist along bones.

use crate::args::twist::TwistArguments;
use crate::console;
use crate::failure::Failure;
use crate::joints::find_node;
use crate::output::DocumentKind;
use crate::source::Source;
use crate::wording::{joint_label, listed, many};
use supple::twist::{LargestTurn, TwistError, TwistJoint, TwistOf, TwistOptions, Twisted, split};
use supple::{Asset, Skeleton, Weights};
use supple_io::text::quoted;

/// The number of influences that every engine reads.
const COMMON_INFLUENCES: usize = 4;

pub(crate) fn run(options: &TwistArguments) -> Result<(), Failure> {
    let kind = DocumentKind::wanted(&options.out)?;
    let single = [
        ("--toward", options.toward.is_some()),
        ("--name", options.name.is_some()),
    ];
    for (option, given) in single {
        if given && options.joints.len() > 1 {
            let message = format!("{option} is for a single --joint");
            return Err(Failure::usage(message));
        }
    }
    Failure::unless_writable(&options.out)?;
    let (source, mut document) = Source::open(&options.file)?.with_document()?;
    source.report_bind_faults();
    let mut nodes = Vec::new();
    for wanted in &options.joints {
        let node = find_node(&source, wanted)?;
        if nodes.contains(&node) {
            return Err(Failure::usage(format!(
                "the joint '{wanted}' is named twice"
            )));
        }
        nodes.push(node);
    }
    let toward = options.toward.as_deref();
    let toward = toward
        .map(|wanted| find_node(&source, wanted))
        .transpose()?;
    let mut notes = Vec::new();
    let mut asset = source.asset.clone();
    for place in 0..nodes.len() {
        let wanted = TwistOptions {
            toward: toward.and_then(|node| joint_on(asset.rig.skeleton(), node)),
            twist_of: options.twist_of,
            name: options.name.clone(),
        };
        let joint = joint_on(asset.rig.skeleton(), nodes[place]).unwrap_or(usize::MAX);
        let twisted = split(&asset, joint, &wanted)
            .map_err(|error| explained(error, &asset, nodes[place]))?;
        document.add_twist_joint(&twisted)?;
        notes.push(summary(&twisted, document.joints_in_file_order()));
        // Nodes after the new one have moved up.
        for node in &mut nodes {
            *node += usize::from(*node >= twisted.added.node);
        }
        asset = twisted.asset;
    }
    let weights = asset.rig.weights();
    let weights = match options.max_influences {
        Some(most) => {
            let limited = weights.limited(most);
            document.set_weights(&limited)?;
            limited
        }
        None => weights.clone(),
    };
    notes.extend(beyond_common(source.asset.rig.weights(), &weights));
    notes.extend(source.notes_on_stale_bakes());
    kind.write(&mut document, &options.out)?;
    notes.iter().for_each(|line| console::eprint(line));
    Ok(())
}

fn joint_on(skeleton: &Skeleton, node: usize) -> Option<usize> {
    let mut joints = skeleton.joints().iter();
    joints.position(|joint| joint.node == node)
}

/// Adds a hint to an error.
fn explained(error: TwistError, asset: &Asset, node: usize) -> Failure {
    let message = error.to_string();
    match error {
        TwistError::NotBelow { .. } => {
            let skeleton = asset.rig.skeleton();
            let joints = skeleton.joints();
            let is_below = |joint: &usize| {
                let parent = joints[*joint].parent;
                parent.is_some_and(|parent| joints[parent].node == node)
            };
            let below = (0..joints.len()).filter(is_below);
            let below: Vec<String> = below.map(|joint| skeleton.joint_label(joint)).collect();
            let below = listed(below.iter().map(String::as_str));
            Failure::usage(message).hint(format!("its children: {below}"))
        }
        TwistError::NameTaken(_) => Failure::usage(message),
        TwistError::LastOfChain { .. } => {
            Failure::new(message).hint("name the joint at the start of the bone")
        }
        TwistError::NothingAbove { .. } => {
            Failure::new(message).hint("--twist-of child spreads the twist of its child")
        }
        _ => Failure::new(message),
    }
}

/// A line about a twist joint; `order` is that of the joints in the file.
fn summary(twisted: &Twisted, order: &[usize]) -> String {
    let Twisted { asset, added } = twisted;
    let TwistJoint {
        node,
        split,
        toward,
        driver,
        vertex_count,
        largest,
    } = added;
    let skeleton = asset.rig.skeleton();
    let name = |node: usize| {
        let joint = joint_on(skeleton, node);
        joint.map_or_else(String::new, |joint| joint_label(skeleton, order, joint))
    };
    let twist = match driver.twist_of {
        TwistOf::Child => format!("takes half of the twist of {}", name(*toward)),
        TwistOf::Joint => format!("takes back half of the twist of {}", name(*split)),
    };
    let farthest = match largest {
        Some(LargestTurn { clip, time, angle }) => format!(
            "up to {:.1}° in the clip {} at {time:.2} s",
            angle.abs().to_degrees(),
            quoted(&asset.clips[*clip].name)
        ),
        None if asset.clips.is_empty() => {
            "driven by its extras, as the file has no clips".to_owned()
        }
        None => "but no clip twists it".to_owned(),
    };
    format!(
        "note: {} splits the bone from {} to {}, holds {}, and {twist}, {farthest}",
        name(*node),
        name(*split),
        name(*toward),
        many(*vertex_count, "vertex"),
    )
}

/// A note about vertices that now have more influences than some engines read.
fn beyond_common(before: &Weights, after: &Weights) -> Option<String> {
    let beyond = |weights: &Weights, vertex: usize| weights.of(vertex).len() > COMMON_INFLUENCES;
    let grown = (0..after.vertex_count())
        .filter(|&vertex| beyond(after, vertex) && !beyond(before, vertex))
        .count();
    (grown > 0).then(|| {
        format!(
            "note: {} now have more than {COMMON_INFLUENCES} influences; \
             --max-influences {COMMON_INFLUENCES} limits them, for engines that read no more",
            many(grown, "vertex")
        )
    })
}
