//! Differential blending: splits motions along the path from the root, blends them level by level,
//! and multiplies the blends.
//!
//! `skinning-course-direct-methods.txt`, §4, eq. (15): `Π_k Blend(w_j, q_{j,k})`, where `q_{j,k}`
//! is the motion of the `k`-th joint on the path to joint `j` relative to its parent. Each of these
//! motions is small, so their blends add up to full turns of a wound-up chain, which neither a
//! matrix nor a quaternion can represent. `Blend` is the blend of dual quaternions; beyond the end
//! of a path, the motion is the identity.

use super::antipodality::Addend;
use super::direct::{Fields, OneByOne};
use super::dual_quat::DualQuat;
use super::error::DeformError;
use super::rigid_motion::{BlendsMotions, RigidMotions};
use crate::rig::Rig;
use crate::skeleton::Skeleton;
use crate::transform::Affine;
use std::collections::HashMap;

/// The paths to the joints of each vertex, shared by all vertices with the same joints in the same
/// order.
#[derive(Clone, Debug)]
pub(super) struct DifferentialSkin {
    parents: Vec<Option<usize>>,
    routes: Vec<Route>,
    route_of_vertex: Vec<u32>,
}

/// The paths to a set of joints, from where they diverge.
#[derive(Clone, Debug)]
struct Route {
    /// The last joint on all paths; its motion is the product of all motions above. None if the
    /// paths have different roots.
    start: Option<u16>,
    /// The joints level by level, one entry per influence: the joint on its path, or none beyond
    /// its end.
    levels: Vec<Option<u16>>,
}

/// The joints of a pose.
#[derive(Clone, Debug, Default)]
pub(super) struct DifferentialPose {
    /// The motion of each joint.
    motions: Vec<DualQuat>,
    /// The motion of each joint relative to its parent.
    pieces: Vec<DualQuat>,
}

/// The largest number of steps of all routes together; a step takes four bytes.
const MOST_STEPS: usize = 50_000_000;

impl DifferentialSkin {
    pub(super) fn bake(rig: &Rig) -> Result<DifferentialSkin, DeformError> {
        DifferentialSkin::within(rig, MOST_STEPS)
    }

    fn within(rig: &Rig, most: usize) -> Result<DifferentialSkin, DeformError> {
        let tree = Tree::of(rig.skeleton());
        let mut index: HashMap<&[u16], u32> = HashMap::new();
        let mut routes: Vec<Route> = Vec::new();
        let mut steps = 0;
        let mut route_of_vertex = Vec::with_capacity(rig.weights().vertex_count());
        for vertex in 0..rig.weights().vertex_count() {
            let joints = rig.weights().row(vertex).0;
            let route = *index.entry(joints).or_insert_with(|| {
                let route = tree.route_to(joints);
                steps += route.levels.len();
                routes.push(route);
                routes.len() as u32 - 1
            });
            if steps > most {
                return Err(DeformError::TooManySteps { vertex, most });
            }
            route_of_vertex.push(route);
        }
        Ok(DifferentialSkin {
            parents: tree.parents,
            routes,
            route_of_vertex,
        })
    }
}

/// The joints and their depths.
struct Tree {
    parents: Vec<Option<usize>>,
    depths: Vec<u32>,
}

impl Tree {
    fn of(skeleton: &Skeleton) -> Tree {
        let joints = skeleton.joints().iter();
        let parents: Vec<Option<usize>> = joints.map(|joint| joint.parent).collect();
        // Parents come first.
        let mut depths: Vec<u32> = Vec::with_capacity(parents.len());
        for parent in &parents {
            depths.push(parent.map_or(0, |parent| depths[parent] + 1));
        }
        Tree { parents, depths }
    }

    /// The last common joint on the paths to two joints.
    fn common(&self, a: usize, b: usize) -> Option<usize> {
        let (mut a, mut b) = (Some(a), Some(b));
        while a != b {
            let depth = |joint: Option<usize>| joint.map(|joint| self.depths[joint]);
            let (upper, lower) = match depth(a) < depth(b) {
                true => (a, b),
                false => (b, a),
            };
            (a, b) = (upper, lower.and_then(|lower| self.parents[lower]));
        }
        a
    }

    /// The paths to joints below the last joint on all of them. Visits no more joints than the
    /// route has.
    fn route_to(&self, joints: &[u16]) -> Route {
        let mut all = joints.iter().map(|&joint| usize::from(joint));
        let start = all
            .next()
            .and_then(|first| all.try_fold(first, |common, joint| self.common(common, joint)));
        let path = |&joint: &u16| {
            let upwards = std::iter::successors(Some(usize::from(joint)), |&at| self.parents[at]);
            let upwards = upwards.take_while(|joint| Some(*joint) != start);
            let mut path: Vec<u16> = upwards.map(|joint| joint as u16).collect();
            path.reverse();
            path
        };
        let paths: Vec<Vec<u16>> = joints.iter().map(path).collect();
        let longest = paths.iter().map(Vec::len).max().unwrap_or(0);
        let at = |level: usize| paths.iter().map(move |path| path.get(level).copied());
        Route {
            start: start.map(|joint| joint as u16),
            levels: (0..longest).flat_map(at).collect(),
        }
    }
}

impl BlendsMotions for DifferentialSkin {
    type Posed = DifferentialPose;
    type Lanes = OneByOne;

    fn pose(&self, motions: &RigidMotions, posed: &mut DifferentialPose) {
        posed.motions.clear();
        posed.pieces.clear();
        for (motion, parent) in motions.motions.iter().zip(&self.parents) {
            let piece = match parent {
                Some(parent) => motions.motions[*parent].inverse().after(motion),
                None => *motion,
            };
            posed.motions.push(DualQuat::from_motion(motion));
            posed.pieces.push(DualQuat::from_motion(&piece));
        }
    }

    fn lanes(&self) -> Option<&OneByOne> {
        None
    }

    fn frame(
        &self,
        vertex: usize,
        joints: &[u16],
        fields: Fields<'_>,
        _motions: &RigidMotions,
        posed: &DifferentialPose,
    ) -> Affine {
        let route = &self.routes[self.route_of_vertex[vertex] as usize];
        let start = route.start.map(|joint| posed.motions[usize::from(joint)]);
        let mut product = start.unwrap_or(DualQuat::IDENTITY);
        for level in route.levels.chunks(joints.len()) {
            let mut blend = DualQuat::ZERO;
            for (joint, &weight) in level.iter().zip(fields.weights) {
                let piece =
                    joint.map_or(DualQuat::IDENTITY, |joint| posed.pieces[usize::from(joint)]);
                blend = blend.add_nearer(&piece, weight);
            }
            // Normalised at each level, since paths may be long.
            let unit = DualQuat::ZERO.add_scaled(&blend, blend.real.length_recip());
            product = product.after(&unit);
        }
        product.to_affine()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::characters::{self, Character};

    /// The paths from the roots, cut where they diverge.
    fn plain_route(parents: &[Option<usize>], joints: &[u16]) -> (Option<u16>, Vec<Option<u16>>) {
        let path = |&joint: &u16| {
            let upwards = std::iter::successors(Some(usize::from(joint)), |&at| parents[at]);
            let mut path: Vec<u16> = upwards.map(|joint| joint as u16).collect();
            path.reverse();
            path
        };
        let paths: Vec<Vec<u16>> = joints.iter().map(path).collect();
        let longest = paths.iter().map(Vec::len).max().unwrap_or(0);
        let agree = |level: &usize| {
            let first = paths[0].get(*level);
            first.is_some() && paths.iter().all(|path| path.get(*level) == first)
        };
        let common = (0..longest).take_while(agree).count();
        let levels = (common..longest)
            .flat_map(|level| paths.iter().map(move |path| path.get(level).copied()));
        (
            common.checked_sub(1).map(|level| paths[0][level]),
            levels.collect(),
        )
    }

    #[test]
    fn routes_are_paths_from_the_root_cut_where_they_part() {
        let figure = characters::build(Character::Figure, 2_000).unwrap();
        let mut tree = Tree::of(figure.rig.skeleton());
        // A second root.
        tree.parents.extend([None, Some(tree.parents.len())]);
        tree.depths.extend([0, 1]);
        let count = tree.parents.len();
        for at in 0..2000 {
            let joint = |step: usize| ((at * 7 + step * step * 31 + at / 13) % count) as u16;
            let joints: Vec<u16> = (0..1 + at % 4).map(joint).collect();
            let route = tree.route_to(&joints);
            let (start, levels) = plain_route(&tree.parents, &joints);
            assert_eq!((route.start, &route.levels), (start, &levels), "{joints:?}");
        }
    }

    #[test]
    fn too_many_steps_are_refused_with_their_number() {
        let figure = characters::build(Character::Figure, 2_000).unwrap();
        let steps = |skin: &DifferentialSkin| -> usize {
            skin.routes.iter().map(|route| route.levels.len()).sum()
        };
        let all = steps(&DifferentialSkin::bake(&figure.rig).unwrap());
        assert!(DifferentialSkin::within(&figure.rig, all).is_ok());
        let error = DifferentialSkin::within(&figure.rig, all - 1).unwrap_err();
        let end = format!("at most {}", all - 1);
        assert!(error.to_string().ends_with(&end), "{error}");
    }
}
