//! Joints given on the command line, by name or number.

use crate::failure::Failure;
use crate::source::Source;
use crate::wording::{listed, many};

/// Number of similar names that are suggested for an unknown one.
const NEAR_NAMES: usize = 5;

/// Finds joints by name (skins may bind one node in several ways), else by number in the order of
/// the file.
pub(crate) fn find_joints(source: &Source, wanted: &str) -> Result<Vec<usize>, Failure> {
    let skeleton = source.asset.rig.skeleton();
    let names: Vec<&str> = (0..skeleton.joints().len())
        .map(|joint| skeleton.joint_name(joint))
        .collect();
    let named: Vec<usize> = (0..names.len())
        .filter(|&joint| names[joint] == wanted)
        .collect();
    if !named.is_empty() {
        return Ok(named);
    }
    let order = source.joints_in_file_order();
    let number = wanted.parse::<usize>().ok();
    if let Some(&joint) = number.and_then(|number| order.get(number)) {
        return Ok(vec![joint]);
    }
    let wanted_in_lower_case = wanted.to_lowercase();
    let likeness = |name: &str| strsim::jaro_winkler(&name.to_lowercase(), &wanted_in_lower_case);
    let mut near: Vec<&str> = names
        .iter()
        .copied()
        .filter(|name| !name.is_empty())
        .collect();
    near.sort_by(|a, b| likeness(b).total_cmp(&likeness(a)));
    near.dedup();
    near.truncate(NEAR_NAMES);
    let failure = Failure::usage(format!("there is no joint '{wanted}'"));
    Err(match near.is_empty() {
        true => failure.hint(format!(
            "the joints have no names; their numbers go from 0 to {}",
            names.len().saturating_sub(1)
        )),
        false => failure.hint(format!(
            "similar names, of {}: {}",
            many(names.len(), "joint"),
            listed(near.into_iter())
        )),
    })
}

/// Finds the node of a joint; several nodes of one name are an error.
pub(crate) fn find_node(source: &Source, wanted: &str) -> Result<usize, Failure> {
    let joints = source.asset.rig.skeleton().joints();
    let named = find_joints(source, wanted)?;
    let mut nodes: Vec<usize> = named.iter().map(|&joint| joints[joint].node).collect();
    nodes.dedup();
    match nodes[..] {
        [node] => Ok(node),
        _ => {
            let order = source.joints_in_file_order();
            let number = |joint: &usize| order.iter().position(|listed| listed == joint);
            let numbers = named.iter().filter_map(number);
            let numbers: Vec<String> = numbers.map(|number| number.to_string()).collect();
            let message = format!("{} have the name '{wanted}'", many(nodes.len(), "joint"));
            let hint = format!("give the number of one: {}", numbers.join(", "));
            Err(Failure::usage(message).hint(hint))
        }
    }
}
