//! Joints that the user names.

use crate::failure::Failure;
use crate::source::Source;
use crate::wording::{listed, many};

/// How many names are offered where none fits.
const NEAR_NAMES: usize = 5;

/// The joints of a name (a node may be bound in several ways), else the one of a number in the
/// file's own order.
pub(crate) fn find_joints(source: &Source, wish: &str) -> Result<Vec<usize>, Failure> {
    let skeleton = source.asset.rig.skeleton();
    let names: Vec<&str> = (0..skeleton.joints().len())
        .map(|joint| skeleton.joint_name(joint))
        .collect();
    let named: Vec<usize> = (0..names.len())
        .filter(|&joint| names[joint] == wish)
        .collect();
    if !named.is_empty() {
        return Ok(named);
    }
    let order = source.joints_in_file_order();
    let number = wish.parse::<usize>().ok();
    if let Some(&joint) = number.and_then(|number| order.get(number)) {
        return Ok(vec![joint]);
    }
    let wish_in_lower_case = wish.to_lowercase();
    let likeness = |name: &str| strsim::jaro_winkler(&name.to_lowercase(), &wish_in_lower_case);
    let mut near: Vec<&str> = names
        .iter()
        .copied()
        .filter(|name| !name.is_empty())
        .collect();
    near.sort_by(|a, b| likeness(b).total_cmp(&likeness(a)));
    near.dedup();
    near.truncate(NEAR_NAMES);
    let failure = Failure::usage(format!("there is no joint '{wish}'"));
    Err(match near.is_empty() {
        true => failure.hint(format!(
            "the joints have no names; their numbers go from 0 to {}",
            names.len().saturating_sub(1)
        )),
        false => failure.hint(format!(
            "the names most like it, of {}: {}",
            many(names.len(), "joint"),
            listed(near.into_iter())
        )),
    })
}

/// The node of the joint that the user named.
pub(crate) fn find_node(source: &Source, wish: &str) -> Result<usize, Failure> {
    let joints = source.asset.rig.skeleton().joints();
    let named = find_joints(source, wish)?;
    let mut nodes: Vec<usize> = named.iter().map(|&joint| joints[joint].node).collect();
    nodes.dedup();
    match nodes[..] {
        [node] => Ok(node),
        _ => {
            let order = source.joints_in_file_order();
            let number = |joint: &usize| order.iter().position(|listed| listed == joint);
            let numbers = named.iter().filter_map(number);
            let numbers: Vec<String> = numbers.map(|number| number.to_string()).collect();
            let message = format!("{} are called '{wish}'", many(nodes.len(), "joint"));
            let hint = format!("name one by its number: {}", numbers.join(", "));
            Err(Failure::usage(message).hint(hint))
        }
    }
}
