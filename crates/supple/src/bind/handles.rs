//! Handles of a body: bones and points. A joint moves every bone that starts at it.

use super::oriented_surface::OrientedSurface;
use crate::skeleton::{Skeleton, words_of_name};
use glam::DVec3;
use std::collections::HashMap;

/// The bones or points by which a joint holds the body, in the model's coordinates.
#[derive(Clone, Debug, PartialEq)]
pub struct Handle {
    /// The joint's index in the skeleton.
    pub joint: usize,
    /// Its bones. A bone without length is a point.
    pub bones: Vec<Bone>,
    /// True if no other joint is above it. Such a joint moves the whole character anyway.
    pub topmost: bool,
}

/// A straight bone.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bone {
    /// The position of the joint.
    pub head: DVec3,
    /// The end of the bone.
    pub tail: DVec3,
    /// True if the end of the bone is a guess; it then extends only as far as the body.
    pub open_ended: bool,
    /// For bones with an open end: true if no other bone continues from the joint above. Such a
    /// bone may extend beyond its length, as long as it stays inside the body.
    pub last_of_chain: bool,
}

impl Handle {
    /// A point handle.
    pub fn point(joint: usize, place: DVec3) -> Handle {
        let bone = Bone {
            head: place,
            tail: place,
            open_ended: false,
            last_of_chain: false,
        };
        Handle {
            joint,
            bones: vec![bone],
            topmost: false,
        }
    }

    /// The handles of some joints of a skeleton: a bone to each of the next joints below that are
    /// among them. A last joint continues in the direction of the bone above. Joints without a
    /// known position (whose bind matrix cannot be inverted) are skipped.
    pub fn of_joints(skeleton: &Skeleton, joints: &[usize]) -> Vec<Handle> {
        let all = skeleton.joints();
        let mut chosen = vec![false; all.len()];
        for &joint in joints {
            if let Some(chosen) = chosen.get_mut(joint) {
                *chosen = true;
            }
        }
        // A node may be bound several times, by a joint each; ancestors are nodes.
        let mut on_node: HashMap<usize, usize> = HashMap::new();
        for joint in (0..all.len()).filter(|&joint| chosen[joint]) {
            on_node.entry(all[joint].node).or_insert(joint);
        }
        // Parents come first.
        let mut next_above: Vec<Option<usize>> = Vec::with_capacity(all.len());
        for joint in all {
            let listed = |parent: usize| on_node.get(&all[parent].node).copied();
            let above = joint
                .parent
                .and_then(|parent| listed(parent).or(next_above[parent]));
            next_above.push(above);
        }
        let above = |joint: usize| next_above[joint];
        let heads = skeleton.bind_heads();
        let mut is_known = vec![true; all.len()];
        for joint in skeleton.singular_binds() {
            is_known[joint] = false;
        }
        let mut below: Vec<Vec<usize>> = vec![Vec::new(); all.len()];
        let known = |joint: usize| is_known[joint];
        let listed = || (0..all.len()).filter(|&joint| chosen[joint] && known(joint));
        let same_place =
            crate::skeleton::same_place(&listed().map(|joint| heads[joint]).collect::<Vec<_>>());
        let apart = |a: usize, b: usize| heads[a].distance(heads[b]) > same_place;
        let mut has_child = vec![false; all.len()];
        for joint in listed() {
            if let Some(parent) = above(joint).filter(|&parent| known(parent)) {
                has_child[parent] = true;
                if apart(joint, parent) {
                    below[parent].push(joint);
                }
            }
        }
        let handle = |joint: usize| {
            let head = heads[joint];
            let tails = below[joint].iter().map(|&next| heads[next]);
            let mut bones: Vec<Bone> = tails
                .map(|tail| Bone {
                    head,
                    tail,
                    open_ended: false,
                    last_of_chain: false,
                })
                .collect();
            if bones.is_empty() {
                // A joint at the same position continues instead, if there is one.
                let parent = above(joint).filter(|&parent| known(parent) && apart(joint, parent));
                let parent = parent.filter(|_| !has_child[joint]);
                bones.push(Bone {
                    head,
                    tail: parent.map_or(head, |parent| head * 2.0 - heads[parent]),
                    open_ended: parent.is_some(),
                    last_of_chain: parent.is_some_and(|parent| below[parent].len() == 1),
                });
            }
            Handle {
                joint,
                bones,
                topmost: above(joint).is_none(),
            }
        };
        listed().map(handle).collect()
    }
}

/// A handle in the coordinates of an [`OrientedSurface`], clipped to the body.
#[derive(Clone, Debug)]
pub(crate) struct Hold {
    pub(crate) joint: u16,
    pub(crate) segments: Vec<Segment>,
    /// True if some of it is inside.
    pub(crate) inside: bool,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Segment {
    pub(crate) from: DVec3,
    along: DVec3,
    /// One divided by its squared length; zero for a point.
    inverse_square: f64,
}

impl Segment {
    fn new(from: DVec3, to: DVec3) -> Segment {
        let square = from.distance_squared(to);
        Segment {
            from,
            along: to - from,
            inverse_square: if square > 0.0 { 1.0 / square } else { 0.0 },
        }
    }

    pub(crate) fn at(&self, share: f64) -> DVec3 {
        self.from + self.along * share
    }

    pub(crate) fn length(&self) -> f64 {
        self.along.length()
    }

    /// The position of the nearest point along the segment, from 0 to 1.
    #[inline]
    pub(crate) fn share_nearest(&self, place: DVec3) -> f64 {
        ((place - self.from).dot(self.along) * self.inverse_square).clamp(0.0, 1.0)
    }
}

/// The length of a bone with an open end, relative to the bone above, as long as it stays inside: a
/// short neck carries a large head.
const LONGEST_OPEN_END: f64 = 4.0;

/// A topmost joint with less than this share of its bones inside stands beside the body: on the
/// floor, between the feet.
const LEAST_INSIDE: f64 = 0.35;

impl Hold {
    /// The holds for a shape. If a handle is partly inside the body, only that part counts: a bone
    /// that leaves the body at the armpit holds nothing of the arm beside it. A topmost joint
    /// beside the body holds nothing: its bones only connect to the body.
    pub(crate) fn all_of(handles: &[Handle], shape: &OrientedSurface) -> Vec<Hold> {
        let holds = crate::exec::map(handles.len(), |index| Hold::of(&handles[index], shape));
        let in_body = |(_, share): &(Hold, f64)| *share >= LEAST_INSIDE;
        let beside = |handle: &Handle| {
            let has_length = |bone: &Bone| bone.head != bone.tail && !bone.open_ended;
            handle.topmost && handle.bones.iter().any(has_length)
        };
        let any_in_body = holds.iter().any(in_body);
        let pairs = handles.iter().zip(holds);
        let kept = pairs.filter(|(handle, hold)| !any_in_body || in_body(hold) || !beside(handle));
        kept.map(|(_, (hold, _))| hold).collect()
    }

    /// A point, in the coordinates of the shape.
    pub(crate) fn at(place: DVec3, shape: &OrientedSurface) -> Hold {
        let segment = Segment::new(place, place);
        Hold {
            joint: 0,
            inside: !runs_inside(&segment, shape).is_empty(),
            segments: vec![segment],
        }
    }

    /// A hold, and the largest inside share of its bones.
    fn of(handle: &Handle, shape: &OrientedSurface) -> (Hold, f64) {
        let mut inside = Vec::new();
        let mut whole = Vec::new();
        let mut most = 0.0f64;
        for bone in &handle.bones {
            let [head, tail] = [bone.head, bone.tail].map(|place| shape.to_unit(place));
            let segment = Segment::new(head, tail);
            whole.push(segment);
            let reach = if bone.last_of_chain {
                LONGEST_OPEN_END
            } else {
                1.0
            };
            let reaching = Segment::new(head, segment.at(reach));
            let mut runs = runs_inside(&reaching, shape);
            if bone.open_ended {
                runs.truncate(1);
                runs.retain(|(from, _)| *from * reach <= 1.0);
            }
            let share: f64 = runs.iter().map(|(from, to)| to - from).sum();
            let point = segment.length() == 0.0 && !runs.is_empty();
            most = most.max(if point { 1.0 } else { share * reach });
            let cut = |(from, to)| Segment::new(reaching.at(from), reaching.at(to));
            inside.extend(runs.into_iter().map(cut));
        }
        let is_inside = !inside.is_empty();
        let hold = Hold {
            joint: handle.joint as u16,
            segments: if is_inside { inside } else { whole },
            inside: is_inside,
        };
        (hold, most)
    }

    /// The nearest point of the handle, and the squared distance to it.
    #[inline]
    pub(crate) fn nearest(&self, place: DVec3) -> (DVec3, f64) {
        let mut best = (self.segments[0].from, f64::INFINITY);
        for segment in &self.segments {
            let point = segment.at(segment.share_nearest(place));
            let square = point.distance_squared(place);
            if square < best.1 {
                best = (point, square);
            }
        }
        best
    }
}

/// Winding number above which a bone counts as inside: on the border of half a body, as artists
/// model before mirroring, it is about one half.
const INSIDE_WINDING: f64 = 0.3;

/// The ranges of a segment inside the body, to a hundredth of the model's size.
fn runs_inside(segment: &Segment, shape: &OrientedSurface) -> Vec<(f64, f64)> {
    let steps = (segment.length() / 0.01).ceil().clamp(1.0, 400.0) as usize;
    let share = |step: usize| step as f64 / steps as f64;
    let mut runs: Vec<(f64, f64)> = Vec::new();
    let mut was_inside = false;
    for step in 0..=steps {
        let inside = shape.tree.winding(segment.at(share(step))) > INSIDE_WINDING;
        match runs.last_mut().filter(|_| was_inside && inside) {
            Some(run) => run.1 = share(step),
            None if inside => runs.push((share(step), share(step))),
            None => {}
        }
        was_inside = inside;
    }
    runs
}

/// True if the name of a joint marks it as a control or an attachment that holds no skin:
/// `IK-foot.L`, `handIK`, `elbow_ctrl`, `pole.R`, `handslot.l`.
pub fn is_control_name(name: &str) -> bool {
    let words = words_of_name(name);
    let whole = [
        "ik",
        "fk",
        "ctrl",
        "ctl",
        "control",
        "controller",
        "pole",
        "target",
    ];
    let endings = ["slot", "socket", "ctrl", "controller"];
    words.iter().any(|word| {
        whole.contains(&word.as_str()) || endings.iter().any(|ending| word.ends_with(ending))
    })
}

#[cfg(test)]
mod tests {
    use super::super::test_bodies::{bones, boxes};
    use super::*;

    #[test]
    fn names_of_controls_are_told_from_those_of_limbs() {
        for control in [
            "IK-foot.L",
            "handIK.l",
            "kneeIK",
            "control-toe-roll.r",
            "elbow_ctrl",
            "pole.R",
            "handslot.l",
            "weapon_socket",
        ] {
            assert!(is_control_name(control), "{control}");
        }
        for limb in [
            "",
            "spike",
            "Strike",
            "thigh.L",
            "b_RightForeArm_07",
            "Bip01 Spine",
            "polearm",
            "hand",
            "upperleg01.L",
        ] {
            assert!(!is_control_name(limb), "{limb}");
        }
    }

    /// A bone that enters a body from below, and one that passes through two of them.
    #[test]
    fn what_is_outside_of_the_body_is_cut_off() {
        let two = boxes(&[([0.0; 3], [1.0; 3]), ([2.0, 0.0, 0.0], [3.0, 1.0, 1.0])]);
        let shape = OrientedSurface::of(&two);
        let handles = bones(&[
            ([0.5, -3.0, 0.5], [0.5, 0.5, 0.5]),
            ([0.5, 0.5, 0.5], [2.5, 0.5, 0.5]),
            ([0.5, 9.0, 0.5], [0.5, 9.5, 0.5]),
        ]);
        let holds = Hold::all_of(&handles, &shape);
        let length = |segment: &Segment| shape.length_from_unit(segment.length());
        assert_eq!(holds[0].segments.len(), 1);
        assert!((length(&holds[0].segments[0]) - 0.5).abs() < 0.05);
        assert_eq!(holds[1].segments.len(), 2, "the gap between is cut out");
        assert!(holds[0].inside && holds[1].inside && !holds[2].inside);
        assert!((length(&holds[2].segments[0]) - 0.5).abs() < 1e-9);
        // A bone with a guessed end stops at the border of the body in which it starts.
        let mut made_up = handles[1].clone();
        made_up.bones[0].open_ended = true;
        assert_eq!(Hold::all_of(&[made_up], &shape)[0].segments.len(), 1);
    }
}
