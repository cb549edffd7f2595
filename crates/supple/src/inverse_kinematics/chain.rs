//! The joints that turn to move an end effector to its target.

use super::ReachError;
use crate::skeleton::{Skeleton, words_of_name};
use glam::DVec3;

/// The joints that turn to move an end effector.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Chain {
    /// The joints of the limb: up to the next branch of the skeleton, without the joint that
    /// branches. A hand moves the arm but not the chest, a fingertip moves the finger but not the
    /// hand, a chest moves the spine.
    ///
    /// A branch is a second way down with more than one joint; a shoulder blade or the slot of a
    /// weapon is not a branch. If the first of three bones is the shortest, as a collar bone is, it
    /// is turned only if the other two do not reach the target.
    #[default]
    Limb,
    /// This number of joints, or all if there are fewer, regardless of branches.
    Joints(usize),
}

/// The nodes to turn, from the top down.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Turned {
    pub(super) nodes: Vec<usize>,
    /// True if the first node is turned only if the others do not reach the target.
    pub(super) has_collar: bool,
}

impl Turned {
    /// Finds the joints above a node. Twist joints, which are recognised by their names, follow
    /// their parents and do not count.
    pub(super) fn of(
        skeleton: &Skeleton,
        heads: &[DVec3],
        end: usize,
        chain: Chain,
    ) -> Result<Turned, ReachError> {
        let is_joint = joint_nodes(skeleton);
        let most = match chain {
            Chain::Limb => usize::MAX,
            Chain::Joints(most) => most,
        };
        let limbs = (chain == Chain::Limb).then(|| Limbs::of(skeleton, &is_joint));
        let mut nodes = Vec::new();
        let mut below = end;
        while let Some(above) = skeleton.nodes()[below].parent {
            let branches = limbs
                .as_ref()
                .is_some_and(|limbs| limbs.others(above, below));
            if branches || nodes.len() >= most {
                break;
            }
            if is_joint[above] && !is_twist_name(&skeleton.nodes()[above].name) {
                nodes.push(above);
            }
            below = above;
        }
        if nodes.is_empty() {
            return Err(ReachError::NothingToTurn {
                joint: super::label(skeleton, end),
                above: skeleton.nodes()[end]
                    .parent
                    .map(|above| super::label(skeleton, above)),
            });
        }
        nodes.reverse();
        let has_collar = chain == Chain::Limb && is_collar(&nodes, heads, end);
        Ok(Turned { nodes, has_collar })
    }
}

/// True if the first of three bones is the shortest.
fn is_collar(nodes: &[usize], heads: &[DVec3], end: usize) -> bool {
    let &[first, second, third] = nodes else {
        return false;
    };
    let length = |from: usize, to: usize| heads[from].distance(heads[to]);
    let collar = length(first, second);
    collar < length(second, third) && collar < length(third, end)
}

/// For each node, true if it is a joint.
fn joint_nodes(skeleton: &Skeleton) -> Vec<bool> {
    let mut is_joint = vec![false; skeleton.nodes().len()];
    for joint in skeleton.joints() {
        is_joint[joint.node] = true;
    }
    is_joint
}

/// The ways down a skeleton.
struct Limbs {
    /// For each node, the number of children that begin a way with more than one joint.
    below: Vec<usize>,
    /// For each node, the number of joints on the longest way down.
    depth: Vec<usize>,
}

impl Limbs {
    fn of(skeleton: &Skeleton, is_joint: &[bool]) -> Limbs {
        let count = skeleton.nodes().len();
        let (mut below, mut depth) = (vec![0; count], vec![0; count]);
        // Children come after their parents.
        for (index, node) in skeleton.nodes().iter().enumerate().rev() {
            depth[index] += usize::from(is_joint[index]);
            if let Some(parent) = node.parent {
                below[parent] += usize::from(depth[index] > 1);
                depth[parent] = depth[index].max(depth[parent]);
            }
        }
        Limbs { below, depth }
    }

    /// True if a limb begins at another child of a node than the given one.
    fn others(&self, node: usize, child: usize) -> bool {
        self.below[node] > usize::from(self.depth[child] > 1)
    }
}

/// True if a joint's name marks it as a twist joint: `forearm_twist`, `LowerArmTwist1.L`,
/// `Thigh_Roll`.
fn is_twist_name(name: &str) -> bool {
    let words = words_of_name(name);
    words
        .iter()
        .any(|word| word == "roll" || word.ends_with("twist"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::characters::{self, Character};

    fn chain(character: Character, end: &str, chain: Chain) -> Result<Vec<String>, ReachError> {
        let asset = characters::build(character, 2_000).unwrap();
        let skeleton = asset.rig.skeleton();
        let named = |node: &usize| skeleton.nodes()[*node].name.clone();
        let mut nodes = 0..skeleton.nodes().len();
        let end = nodes.find(|node| named(node) == end).unwrap();
        let heads: Vec<DVec3> = skeleton.bind_bones().iter().map(|bone| bone.head).collect();
        let turned = Turned::of(skeleton, &heads, end, chain)?;
        Ok(turned.nodes.iter().map(named).collect())
    }

    #[test]
    fn a_limb_ends_where_the_skeleton_branches() {
        let limb = |end: &str| chain(Character::Figure, end, Chain::Limb).unwrap();
        assert_eq!(limb("hand.L"), ["clavicle.L", "upper_arm.L", "forearm.L"]);
        assert_eq!(limb("foot.R"), ["thigh.R", "shin.R"]);
        assert_eq!(limb("head"), ["neck1", "neck2"]);
        assert_eq!(limb("chest"), ["spine1", "spine2", "spine3", "spine4"]);
        let whole = chain(Character::Tentacle, "tentacle.9", Chain::Limb).unwrap();
        assert_eq!(whole.len(), 8);
    }

    #[test]
    fn a_number_goes_on_over_branches_and_stops_at_the_top() {
        let joints = |most| chain(Character::Figure, "hand.L", Chain::Joints(most)).unwrap();
        assert_eq!(joints(2), ["upper_arm.L", "forearm.L"]);
        assert_eq!(joints(4)[0], "chest");
        assert_eq!(joints(99)[0], "root");
    }

    #[test]
    fn nothing_to_turn_is_told() {
        let refused = |end: &str, most| chain(Character::Figure, end, most).unwrap_err();
        for error in [
            refused("root", Chain::Limb),
            refused("thigh.L", Chain::Limb),
            refused("hand.L", Chain::Joints(0)),
        ] {
            assert!(matches!(error, ReachError::NothingToTurn { .. }), "{error}");
        }
    }

    #[test]
    fn names_of_twist_joints_are_told_from_those_of_trolls() {
        for name in [
            "forearm_twist",
            "LowerArmTwist1.L",
            "Thigh_Roll",
            "upperarmtwist_l",
        ] {
            assert!(is_twist_name(name), "{name}");
        }
        for name in ["Troll_LeftArm", "forearm.L", "scroll", ""] {
            assert!(!is_twist_name(name), "{name}");
        }
    }
}
