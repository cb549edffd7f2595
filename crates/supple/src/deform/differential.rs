//! Differential blending: splits motions along the path from the root, blends them level by level,
//! and multiplies the blends.
//!
//! `skinning-course-direct-methods.txt`, §4, eq. (15): `Π_k Blend(w_j, q_{j,k})`, where `q_{j,k}`
//! is the motion of the `k`-th joint on the path to joint `j` relative to its parent. Each of these
//! motions is small, so their blends add up to full turns of a wound-up chain, which neither a
//! matrix nor a quaternion can represent. `Blend` is the blend of dual quaternions; beyond the end
//! of a path, the motion is the identity.
//!
//! In eight lanes, influences whose paths have the same joint at a level are one term with the sum
//! of their weights, which is exact. So where all paths agree, a blend is their motion exactly, and
//! beyond their ends the identity: a vertex has the same bits beside any others. Blends are not
//! normalised, since their lengths drop out of the frame; signs are chosen as in
//! `lanes/far_pairs.rs`.

use super::antipodality::Addend;
use super::direct::Fields;
use super::dual_quat::{DualQuat, DualQuatLanes};
use super::error::DeformError;
use super::lanes::{FarPairs, FrameLanes, Group, Lane, MOST_INFLUENCES, NeighbourPairs, Packing};
use super::rigid_motion::{BlendsMotions, MotionLanes, RigidMotions};
use crate::rig::Rig;
use crate::skeleton::Skeleton;
use crate::surface::Rows;
use crate::transform::Affine;
use crate::weights::Weights;
use fearless_simd::{Simd, SimdBase, SimdFloat, f32x8};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// The paths to the joints of each vertex, shared by all vertices with the same joints in the same
/// order.
#[derive(Clone, Debug)]
pub(super) struct DifferentialSkin {
    parents: Vec<Option<usize>>,
    routes: Vec<Route>,
    route_of_vertex: Vec<u32>,
    lanes: RouteLanes,
}

/// The routes of eight vertices at a time, level by level. The first level is the motion of the
/// start.
#[derive(Clone, Debug)]
pub(super) struct RouteLanes {
    packing: Arc<Packing>,
    /// The first level of each group, and the end of the last.
    first_levels: Vec<u32>,
    /// The records that are blended at each level, in rising order.
    levels: Rows<u32>,
    /// Parallel to the records of the levels.
    weights: Vec<Lane>,
    /// The vertices that are processed one by one, as bits.
    one_by_one: Vec<u8>,
    neighbours: NeighbourPairs,
}

/// What a vertex blends at a level: records and their weights.
type Level = Vec<(u32, f32)>;

/// The record of the identity. The motions of all joints follow, then their motions relative to
/// their parents.
const IDENTITY: u32 = 0;

/// The most levels of a vertex in lanes; vertices with longer routes are processed one by one.
const MOST_LEVELS: usize = 24;

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
    /// The records of lanes, with the signs nearer to the identity.
    records: Vec<[f32; 8]>,
    far: FarPairs,
    /// True if all numbers are finite.
    finite: bool,
}

impl DifferentialPose {
    fn refill_records(&mut self, neighbours: &NeighbourPairs) {
        let near = |motion: &DualQuat| match motion.real.w < 0.0 {
            true => DualQuat::ZERO.add_scaled(motion, -1.0).to_array(),
            false => motion.to_array(),
        };
        self.records.clear();
        self.records.push(DualQuat::IDENTITY.to_array());
        self.records.extend(self.motions.iter().map(near));
        self.records.extend(self.pieces.iter().map(near));
        let records = self.records.as_flattened();
        self.finite = records.iter().all(|number| number.is_finite());
        let records = &self.records;
        let dot = |first: usize, second: usize| {
            let pairs = records[first].iter().zip(&records[second]);
            let products = pairs.map(|(a, b)| f64::from(*a) * f64::from(*b));
            products.take(4).sum()
        };
        self.far.refill(neighbours, records.len(), dot);
    }
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
        let of_vertex = |vertex: usize| &routes[route_of_vertex[vertex] as usize];
        Ok(DifferentialSkin {
            lanes: RouteLanes::pack(rig.weights(), tree.parents.len(), of_vertex),
            parents: tree.parents,
            routes,
            route_of_vertex,
        })
    }
}

impl Route {
    /// The records that a vertex with these weights blends at each level, with their weights.
    fn terms(&self, weights: &[f32], joints: usize) -> Vec<Level> {
        let motion = |joint: u16| 1 + u32::from(joint);
        let piece = |joint: u16| motion(joint) + joints as u32;
        let mut levels = vec![vec![(self.start.map_or(IDENTITY, motion), 1.0)]];
        for level in self.levels.chunks(weights.len()) {
            let mut terms = Level::new();
            for (joint, &weight) in level.iter().zip(weights) {
                let record = joint.map_or(IDENTITY, piece);
                match terms.iter_mut().find(|(other, _)| *other == record) {
                    Some((_, sum)) => *sum += weight,
                    None => terms.push((record, weight)),
                }
            }
            levels.push(terms);
        }
        levels
    }
}

impl RouteLanes {
    fn pack<'a>(
        weights: &Weights,
        joints: usize,
        route: impl Fn(usize) -> &'a Route,
    ) -> RouteLanes {
        let packing = Arc::new(Packing::with_common_sets(weights.clone()));
        let goes_alone = |vertex: usize| {
            let influences = weights.row(vertex).0.len();
            let levels = route(vertex).levels.len() / influences;
            influences > MOST_INFLUENCES || levels > MOST_LEVELS
        };
        let mut lanes = RouteLanes {
            packing: packing.clone(),
            first_levels: vec![0],
            levels: Rows::default(),
            weights: Vec::new(),
            one_by_one: Vec::new(),
            neighbours: NeighbourPairs::default(),
        };
        let mut blended: HashSet<Vec<u32>> = HashSet::new();
        for group in packing.all_groups() {
            let terms = |vertex: usize| match goes_alone(vertex) {
                true => vec![vec![(IDENTITY, 1.0)]],
                false => route(vertex).terms(weights.row(vertex).1, joints),
            };
            let vertices: Vec<Vec<Level>> = group.vertices().map(terms).collect();
            for level in vertices.iter().flatten() {
                blended.insert(level.iter().map(|&(record, _)| record).collect());
            }
            lanes.push_group(&vertices);
            lanes.one_by_one.push(group.bits(goes_alone));
        }
        let sets = blended.iter().map(|set| set.iter().copied());
        lanes.neighbours = NeighbourPairs::of_sets(sets);
        lanes
    }

    /// Adds the levels of eight vertices; those with fewer than others continue with the identity.
    fn push_group(&mut self, vertices: &[Vec<Level>]) {
        let count = vertices.iter().map(Vec::len).max().unwrap_or(0);
        for level in 0..count {
            let own = |vertex: &Vec<Level>| vertex.get(level).cloned();
            let beyond = || vec![(IDENTITY, 1.0)];
            let rows = vertices
                .iter()
                .map(|vertex| own(vertex).unwrap_or_else(beyond));
            let rows: Vec<Level> = rows.collect();
            let mut records: Vec<u32> = rows.iter().flatten().map(|(record, _)| *record).collect();
            records.sort_unstable();
            records.dedup();
            for &record in &records {
                let weight = |row: &Level| {
                    let term = row.iter().find(|(other, _)| *other == record);
                    term.map_or(0.0, |(_, weight)| *weight)
                };
                self.weights
                    .push(std::array::from_fn(|lane| weight(&rows[lane])));
            }
            self.levels.push_row(records);
        }
        self.first_levels.push(self.levels.len() as u32);
    }

    /// The blend of a level.
    #[inline(always)]
    fn blend<S: Simd>(&self, simd: S, level: usize, records: &[[f32; 8]]) -> DualQuatLanes<S> {
        let mut sums = [f32x8::splat(simd, 0.0); 8];
        let weights = &self.weights[self.levels.range(level)];
        for (&record, weights) in self.levels.row(level).iter().zip(weights) {
            let weights = f32x8::from_slice(simd, weights);
            for (sum, number) in sums.iter_mut().zip(&records[record as usize]) {
                *sum = weights.mul_add(f32x8::splat(simd, *number), *sum);
            }
        }
        DualQuatLanes::new(sums)
    }

    /// The vertices that blend two motions about half a turn apart at a level, as bits.
    #[inline]
    fn far(&self, level: usize, far: &FarPairs) -> u64 {
        let (records, weights) = (
            self.levels.row(level),
            &self.weights[self.levels.range(level)],
        );
        far.lanes(
            records.len(),
            |slot| records[slot],
            |slot| {
                let lanes = weights[slot].iter().enumerate();
                lanes.fold(0, |bits, (lane, &weight)| {
                    bits | u64::from(weight > 0.0) << lane
                })
            },
        )
    }
}

impl MotionLanes<DifferentialPose> for RouteLanes {
    fn packing(&self) -> &Arc<Packing> {
        &self.packing
    }

    #[inline(always)]
    fn goes_together(
        &self,
        _group: &Group<'_>,
        _stretched: bool,
        posed: &DifferentialPose,
    ) -> bool {
        posed.finite
    }

    #[inline(always)]
    fn frames<S: Simd>(
        &self,
        simd: S,
        group: &Group<'_>,
        _stretch: Option<&FrameLanes<S>>,
        posed: &DifferentialPose,
    ) -> FrameLanes<S> {
        let levels = &self.first_levels[group.index..group.index + 2];
        let (first, end) = (levels[0] as usize, levels[1] as usize);
        let mut product = self.blend(simd, first, &posed.records);
        let mut doubtful = u64::from(self.one_by_one[group.index]);
        for level in first + 1..end {
            product = product.after(&self.blend(simd, level, &posed.records));
            doubtful |= self.far(level, &posed.far);
        }
        let frames = product.to_frames(simd);
        FrameLanes {
            doubtful: frames.doubtful | doubtful,
            ..frames
        }
    }

    fn bytes(&self) -> usize {
        size_of_val(&self.first_levels[..])
            + size_of_val(self.levels.values())
            + size_of_val(&self.weights[..])
            + size_of_val(&self.one_by_one[..])
            + self.levels.len() * size_of::<u32>()
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
    type Lanes = RouteLanes;

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
        posed.refill_records(&self.lanes.neighbours);
    }

    fn lanes(&self) -> Option<&RouteLanes> {
        Some(&self.lanes)
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
