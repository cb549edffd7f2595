//! What holds a body: bones, and points. A joint moves every bone that starts at it.

use super::shape::Shape;
use crate::skeleton::Skeleton;
use glam::DVec3;

/// What one joint holds the body by, in the model's coordinates.
#[derive(Clone, Debug, PartialEq)]
pub struct Handle {
    /// The joint's index in the skeleton.
    pub joint: usize,
    /// Its bones. One without length is a point.
    pub bones: Vec<Bone>,
}

/// A straight bone.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bone {
    /// Where the joint is.
    pub head: DVec3,
    /// Where the bone ends.
    pub tail: DVec3,
    /// Nothing is known to be at its end: it was made up, and reaches no farther than the body does.
    pub open_ended: bool,
}

impl Handle {
    /// A point that holds what is around it.
    pub fn point(joint: usize, place: DVec3) -> Handle {
        let bone = Bone {
            head: place,
            tail: place,
            open_ended: false,
        };
        Handle {
            joint,
            bones: vec![bone],
        }
    }

    /// The handles of some joints of a skeleton: a bone to each of the next joints below that are among them. A last joint goes on in the direction of the
    /// bone above. Joints whose place is not known (a bind matrix that cannot be inverted) are left out.
    pub fn of_joints(skeleton: &Skeleton, joints: &[usize]) -> Vec<Handle> {
        let all = skeleton.joints();
        let chosen: Vec<bool> = (0..all.len())
            .map(|joint| joints.contains(&joint))
            .collect();
        let above = |joint: usize| {
            let mut above = all[joint].parent;
            while let Some(parent) = above.filter(|&parent| !chosen[parent]) {
                above = all[parent].parent;
            }
            above
        };
        let heads: Vec<DVec3> = all
            .iter()
            .map(|joint| joint.joint_from_bind.inverse().translation)
            .collect();
        let mut below: Vec<Vec<usize>> = vec![Vec::new(); all.len()];
        let known = |joint: usize| heads[joint].is_finite();
        let listed = || (0..all.len()).filter(|&joint| chosen[joint] && known(joint));
        let same_place =
            crate::skeleton::same_place(&listed().map(|joint| heads[joint]).collect::<Vec<_>>());
        let apart = |a: usize, b: usize| heads[a].distance(heads[b]) > same_place;
        for joint in listed() {
            if let Some(parent) =
                above(joint).filter(|&parent| known(parent) && apart(joint, parent))
            {
                below[parent].push(joint);
            }
        }
        let handle = |joint: usize| {
            let head = heads[joint];
            let bone = |tail, open_ended| Bone {
                head,
                tail,
                open_ended,
            };
            let mut bones: Vec<Bone> = below[joint]
                .iter()
                .map(|&next| bone(heads[next], false))
                .collect();
            if bones.is_empty() {
                let parent = above(joint).filter(|&parent| known(parent) && apart(joint, parent));
                let tail = parent.map_or(head, |parent| head * 2.0 - heads[parent]);
                bones.push(bone(tail, parent.is_some()));
            }
            Handle { joint, bones }
        };
        listed().map(handle).collect()
    }
}

/// A handle in the coordinates of a [`Shape`], without what lies outside of the body.
#[derive(Clone, Debug)]
pub(crate) struct Hold {
    pub(crate) joint: u16,
    pub(crate) segments: Vec<Segment>,
    /// Some of it is inside.
    pub(crate) inside: bool,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Segment {
    pub(crate) from: DVec3,
    along: DVec3,
    /// One over the square of its length; zero for a point.
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

    /// How far along the place nearest to another is, as a share.
    #[inline]
    pub(crate) fn share_nearest(&self, place: DVec3) -> f64 {
        ((place - self.from).dot(self.along) * self.inverse_square).clamp(0.0, 1.0)
    }
}

impl Hold {
    /// Holds for a shape. Of a handle that is partly inside of the body, the rest does not count: the bone from the floor to the hips holds no knees.
    pub(crate) fn all_of(handles: &[Handle], shape: &Shape) -> Vec<Hold> {
        crate::exec::map(handles.len(), |index| Hold::of(&handles[index], shape))
    }

    fn of(handle: &Handle, shape: &Shape) -> Hold {
        let mut inside = Vec::new();
        let mut whole = Vec::new();
        for bone in &handle.bones {
            let [head, tail] = [bone.head, bone.tail].map(|place| shape.to_unit(place));
            let segment = Segment::new(head, tail);
            whole.push(segment);
            let runs = runs_inside(&segment, shape);
            let wanted = if bone.open_ended { 1 } else { runs.len() };
            let runs = runs.into_iter().take(wanted);
            inside.extend(runs.map(|(from, to)| Segment::new(segment.at(from), segment.at(to))));
        }
        let is_inside = !inside.is_empty();
        Hold {
            joint: handle.joint as u16,
            segments: if is_inside { inside } else { whole },
            inside: is_inside,
        }
    }

    /// The nearest place of the handle, and the square of how far it is.
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

/// The shares of a segment between which it is inside of the body, to a hundredth of the model's size.
fn runs_inside(segment: &Segment, shape: &Shape) -> Vec<(f64, f64)> {
    let steps = (segment.length() / 0.01).ceil().clamp(1.0, 400.0) as usize;
    let share = |step: usize| step as f64 / steps as f64;
    let mut runs: Vec<(f64, f64)> = Vec::new();
    let mut was_inside = false;
    for step in 0..=steps {
        let inside = shape.is_inside(segment.at(share(step)));
        match runs.last_mut().filter(|_| was_inside && inside) {
            Some(run) => run.1 = share(step),
            None if inside => runs.push((share(step), share(step))),
            None => {}
        }
        was_inside = inside;
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::super::test_bodies::{bones, boxes};
    use super::*;

    /// A bone that enters a body from below, and one that passes through two of them.
    #[test]
    fn what_is_outside_of_the_body_is_cut_off() {
        let two = boxes(&[([0.0; 3], [1.0; 3]), ([2.0, 0.0, 0.0], [3.0, 1.0, 1.0])]);
        let shape = Shape::of(&two);
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
        // One that was made up ends with the body that it starts in.
        let mut made_up = handles[1].clone();
        made_up.bones[0].open_ended = true;
        assert_eq!(Hold::all_of(&[made_up], &shape)[0].segments.len(), 1);
    }
}
