//! Differential blending: motions are split along the path from the root, blended level by level, and multiplied.
//!
//! `skinning-course-direct-methods.txt`, §4, eq. (15): `Π_k Blend(w_j, q_{j,k})`, where `q_{j,k}` is what the `k`-th joint on the path to joint `j` adds to
//! the one above it. Each piece is small, so the blend of pieces remembers how often the chain has wound around, which
//! neither a matrix nor a quaternion of the whole can. `Blend` is that of dual quaternions; a path that has ended adds the identity.

use super::antipodality::Addend;
use super::direct::Fields;
use super::dual_quat::DualQuat;
use super::rigid_motion::{BlendsMotions, RigidMotions};
use crate::rig::Rig;
use crate::transform::Affine;
use std::collections::HashMap;

/// The paths to the joints of each vertex, shared by all vertices with the same joints in the same order.
#[derive(Clone, Debug)]
pub(super) struct DifferentialSkin {
    parents: Vec<Option<usize>>,
    routes: Vec<Route>,
    route_of_vertex: Vec<u32>,
}

/// The paths to a row of joints, from where they part.
#[derive(Clone, Debug)]
struct Route {
    /// The last joint that all paths pass; its motion is the product of all pieces above. None if they share no root.
    start: Option<u16>,
    /// Level after level, one entry per influence: the joint on its path, or none if it has ended.
    levels: Vec<Option<u16>>,
}

/// The joints of a pose.
#[derive(Clone, Debug, Default)]
pub(super) struct DifferentialPose {
    /// Each joint's whole motion.
    motions: Vec<DualQuat>,
    /// What each joint adds to its parent's.
    pieces: Vec<DualQuat>,
}

impl DifferentialSkin {
    pub(super) fn bake(rig: &Rig) -> DifferentialSkin {
        let joints = rig.skeleton().joints().iter();
        let parents: Vec<Option<usize>> = joints.map(|joint| joint.parent).collect();
        let mut index: HashMap<&[u16], u32> = HashMap::new();
        let mut routes = Vec::new();
        let route_of_vertex = (0..rig.weights().vertex_count())
            .map(|vertex| {
                let joints = rig.weights().row(vertex).0;
                *index.entry(joints).or_insert_with(|| {
                    routes.push(Route::to(joints, &parents));
                    routes.len() as u32 - 1
                })
            })
            .collect();
        DifferentialSkin {
            parents,
            routes,
            route_of_vertex,
        }
    }
}

impl Route {
    fn to(joints: &[u16], parents: &[Option<usize>]) -> Route {
        let path = |&joint: &u16| {
            let upwards = std::iter::successors(Some(usize::from(joint)), |&at| parents[at]);
            let mut path: Vec<u16> = upwards.map(|joint| joint as u16).collect();
            path.reverse();
            path
        };
        let paths: Vec<Vec<u16>> = joints.iter().map(path).collect();
        let longest = paths.iter().map(Vec::len).max().unwrap_or(0);
        let common = (0..longest)
            .take_while(|&level| {
                let first = paths[0].get(level);
                first.is_some() && paths.iter().all(|path| path.get(level) == first)
            })
            .count();
        let levels = common..longest;
        Route {
            start: common.checked_sub(1).map(|level| paths[0][level]),
            levels: levels
                .flat_map(|level| paths.iter().map(move |path| path.get(level).copied()))
                .collect(),
        }
    }
}

impl BlendsMotions for DifferentialSkin {
    type Posed = DifferentialPose;

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
            // Kept near unit length, as paths may be long.
            let unit = DualQuat::ZERO.add_scaled(&blend, blend.real.length_recip());
            product = product.after(&unit);
        }
        product.to_affine()
    }
}
