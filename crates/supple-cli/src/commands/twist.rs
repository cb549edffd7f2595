//! `supple twist`: twist joints, which spread a twist along bones.

use crate::args::twist::TwistArguments;
use crate::console;
use crate::failure::Failure;
use crate::joints::find_node;
use crate::output::DocumentKind;
use crate::source::Source;
use crate::wording::{joint_label, listed, many};
use supple::twist::{
    LargestTurn, TwistDecision, TwistError, TwistJoint, TwistOf, TwistOptions, Twisted, decide,
    split,
};
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
    let toward = toward.and_then(|node| joint_on(source.asset.rig.skeleton(), node));
    let (mut bones, pairs) = decided(&source, &nodes, toward, options.twist_of)?;
    let mut notes = Vec::new();
    let mut asset = source.asset.clone();
    for place in 0..bones.len() {
        let Bone {
            node,
            end,
            twist_of,
        } = bones[place];
        let wanted = TwistOptions {
            toward: joint_on(asset.rig.skeleton(), end),
            twist_of: Some(twist_of),
            name: options.name.clone(),
        };
        let joint = joint_on(asset.rig.skeleton(), node).unwrap_or(usize::MAX);
        let twisted =
            split(&asset, joint, &wanted).map_err(|error| explained(error, &asset, node))?;
        document.add_twist_joint(&twisted)?;
        notes.push(summary(&twisted, document.joints_in_file_order()));
        // Nodes after the new one have moved up.
        let moved = |node: &mut usize| *node += usize::from(*node >= twisted.added.node);
        for bone in &mut bones {
            moved(&mut bone.node);
            moved(&mut bone.end);
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
    if options.twist_of.is_none() {
        notes.extend(pairs);
    }
    notes.extend(beyond_common(source.asset.rig.weights(), &weights));
    notes.extend(source.notes_on_stale_bakes());
    kind.write(&mut document, &options.out)?;
    notes.iter().for_each(|line| console::eprint(line));
    Ok(())
}

/// A bone to split, by the nodes at its ends.
#[derive(Clone, Copy)]
struct Bone {
    node: usize,
    end: usize,
    twist_of: TwistOf,
}

/// The bones of some joints, decided before any of them is split, and a note about each pair of
/// them.
fn decided(
    source: &Source,
    nodes: &[usize],
    toward: Option<usize>,
    twist_of: Option<TwistOf>,
) -> Result<(Vec<Bone>, Vec<String>), Failure> {
    let asset = &source.asset;
    let skeleton = asset.rig.skeleton();
    let options = TwistOptions {
        toward,
        twist_of,
        name: None,
    };
    let mut bones = Vec::new();
    let mut notes = Vec::new();
    for &node in nodes {
        let joint = joint_on(skeleton, node).unwrap_or(usize::MAX);
        let decision = decide(asset, joint, &options);
        let TwistDecision {
            toward,
            twist_of,
            partner,
        } = decision.map_err(|error| explained(error, asset, node))?;
        let is_named = |partner: &usize| {
            let other = skeleton.joints()[*partner].node;
            bones.iter().any(|bone: &Bone| bone.node == other)
        };
        if let Some(partner) = partner.filter(is_named) {
            notes.push(format!(
                "note: both {} and {} spread the twist of {}: mirrored bones are decided together",
                source.joint_label(partner),
                source.joint_label(joint),
                match twist_of {
                    TwistOf::Child => "their children",
                    TwistOf::Joint => "the joints themselves",
                }
            ));
        }
        bones.push(Bone {
            node,
            end: skeleton.joints()[toward].node,
            twist_of,
        });
    }
    Ok((bones, notes))
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
