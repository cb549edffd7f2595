//! Spherical blend skinning: rotations blended about a least-squares center of the joints.
//!
//! `skinning-course-direct-methods.txt`, §4 ("computed using least squares optimization"). For each
//! set of influencing joints, the center `r` is the point that they move to nearly the same
//! position: `min Σ_{i<j} |M_i r − M_j r|²`. Joints that rotate about a common axis leave `r` free
//! along that axis; of all minimisers, the one nearest to the mean rest position of the joints is
//! used. Then `v' = Q (v − r) + Σ w_j M_j r`, with `Q` the normalised sum of the rotations'
//! quaternions. Computed in `f64`: joints with nearly equal rotations have a distant center, for
//! which `f32` has too few digits. In eight lanes as `v' = Q v + Σ w_j t_j + (Σ w_j (R_j − I) − (Q
//! − I)) r`, with the translations `t_j` of the joints; signs are chosen as in
//! `lanes/far_pairs.rs`.

use super::antipodality::{Antipodality, Signs, turns_around_in_double};
use super::direct::Fields;
use super::lanes::{
    FarPairs, FrameLanes, Group, LANES, MOST_INFLUENCES, NeighbourPairs, Packing, weighted_sums,
    wide_quaternions,
};
use super::rigid_motion::{
    BlendsMotions, MotionLanes, MotionStreams, RigidMotion, RigidMotions, joint_heads,
};
use super::streams::{Kernel, PoseStream, StreamLayout, VertexStream};
use crate::polar::{narrowed, symmetric_eigen};
use crate::rig::Rig;
use crate::transform::Affine;
use fearless_simd::{Simd, SimdBase, SimdFloat, f64x8};
use glam::{DMat3, DQuat, DVec3};
use std::collections::HashMap;
use std::sync::Arc;

/// The sets of joints that share a vertex; all vertices of a set have the same center.
#[derive(Clone, Debug)]
pub(super) struct SphericalSkin {
    sets: Vec<JointSet>,
    set_of_vertex: Vec<u32>,
    signs: Signs,
    neighbours: NeighbourPairs,
    lanes: CenterLanes,
}

/// The sets of eight vertices at a time.
#[derive(Clone, Debug)]
pub(super) struct CenterLanes {
    packing: Arc<Packing>,
    sets: Vec<[u32; LANES]>,
    /// The vertices with too many influences, as bits.
    one_by_one: Vec<u8>,
}

#[derive(Clone, Debug)]
struct JointSet {
    joints: Vec<u16>,
    /// The mean rest position of the joints.
    middle: DVec3,
}

/// Directions in which rotations differ by less than about a thousandth of a radian do not move the
/// center: its effect on the result shrinks with the square of that difference.
const SAME_ROTATION: f64 = 5e-7;

impl SphericalSkin {
    pub(super) fn bake(rig: &Rig) -> SphericalSkin {
        let heads = joint_heads(rig);
        let mut index: HashMap<Vec<u16>, u32> = HashMap::new();
        let mut sets = Vec::new();
        let set_of_vertex = (0..rig.weights().vertex_count())
            .map(|vertex| {
                let mut joints = rig.weights().row(vertex).0.to_vec();
                joints.sort_unstable();
                if let Some(&set) = index.get(&joints) {
                    return set;
                }
                let set = sets.len() as u32;
                index.insert(joints.clone(), set);
                let places = joints.iter().map(|&joint| heads[usize::from(joint)]);
                let middle = places.sum::<DVec3>() / joints.len() as f64;
                sets.push(JointSet { joints, middle });
                set
            })
            .collect::<Vec<u32>>();
        let packing = Arc::new(Packing::with_common_sets(rig.weights().clone()));
        let set = |group: &Group<'_>, lane: usize| set_of_vertex[group.vertex(lane)];
        let goes_alone = |vertex: usize| rig.weights().row(vertex).0.len() > MOST_INFLUENCES;
        let groups = || packing.all_groups();
        SphericalSkin {
            signs: Signs::bake(rig, Antipodality::PerJoint),
            neighbours: NeighbourPairs::of_joints(rig.weights()),
            lanes: CenterLanes {
                sets: groups()
                    .map(|group| std::array::from_fn(|lane| set(&group, lane)))
                    .collect(),
                one_by_one: groups().map(|group| group.bits(goes_alone)).collect(),
                packing: packing.clone(),
            },
            sets,
            set_of_vertex,
        }
    }
}

/// The joints of a pose.
#[derive(Clone, Debug, Default)]
pub(super) struct PosedCenters {
    /// The center of each set.
    centers: Vec<DVec3>,
    /// The quaternion of each joint, with the sign of lanes; `R − I`, row by row; the translation.
    records: Vec<[f64; 16]>,
    rotations: Vec<DQuat>,
    far: FarPairs,
    /// True if all numbers are finite.
    finite: bool,
}

impl PosedCenters {
    fn refill_records(&mut self, skin: &SphericalSkin, motions: &[RigidMotion]) {
        self.rotations.clear();
        self.records.clear();
        for motion in motions {
            skin.signs.push(&mut self.rotations, motion.rotation);
        }
        for (rotation, motion) in self.rotations.iter().zip(motions) {
            let turn = (DMat3::from_quat(motion.rotation) - DMat3::IDENTITY).transpose();
            let mut record = [0.0; 16];
            record[..4].copy_from_slice(&rotation.to_array());
            record[4..13].copy_from_slice(&turn.to_cols_array());
            record[13..].copy_from_slice(&motion.translation.to_array());
            self.records.push(record);
        }
        let numbers = self.records.as_flattened().iter();
        self.finite = numbers.fold(0.0, |sum, number| sum + number * 0.0) == 0.0;
        let rotations = &self.rotations;
        let dot = |first: usize, second: usize| rotations[first].dot(rotations[second]);
        self.far.refill(&skin.neighbours, motions.len(), dot);
    }
}

impl JointSet {
    /// The point that the joints move to nearly the same position.
    ///
    /// `Σ_{i<j} |M_i r − M_j r|²` equals `Σ_i |M_i r − mean|²` up to a factor. The cost of the
    /// latter grows with the number of joints, not of pairs.
    fn center(&self, motions: &[RigidMotion]) -> DVec3 {
        let own = || {
            self.joints
                .iter()
                .map(|&joint| &motions[usize::from(joint)])
        };
        let share = 1.0 / self.joints.len() as f64;
        let place = |motion: &RigidMotion| motion.transform_point(self.middle);
        let mean_place = own().map(place).sum::<DVec3>() * share;
        let mean_rotation = own().fold(DMat3::ZERO, |sum, motion| {
            sum + DMat3::from_quat(motion.rotation) * share
        });
        let (mut normal, mut right) = (DMat3::ZERO, DVec3::ZERO);
        for motion in own() {
            let rotation = DMat3::from_quat(motion.rotation) - mean_rotation;
            normal += rotation.transpose() * rotation;
            right += rotation.transpose() * (place(motion) - mean_place);
        }
        let (values, axes) = symmetric_eigen(&normal);
        let along = axes.transpose() * right;
        let step = |value: f64, along: f64| {
            if value > SAME_ROTATION {
                along / value
            } else {
                0.0
            }
        };
        let correction = DVec3::new(
            step(values.x, along.x),
            step(values.y, along.y),
            step(values.z, along.z),
        );
        self.middle - axes * correction
    }
}

impl MotionStreams<PosedCenters> for SphericalSkin {
    fn push_vertex(&self, vertex: usize, stream: &mut VertexStream) {
        let set = self.set_of_vertex[vertex];
        stream.numbers.push(f32::from_bits(set));
    }

    fn push_joints(&self, motions: &RigidMotions, posed: &PosedCenters, stream: &mut PoseStream) {
        for motion in &motions.motions {
            let rotation = motion.rotation.as_quat();
            stream.push_motion(rotation.to_array(), motion.translation.as_vec3());
        }
        let centers = posed.centers.iter();
        let centers = centers.map(|center| center.as_vec3().extend(0.0));
        let centers = centers.map(|center| center.to_array());
        stream.shared.extend(centers);
    }
}

impl BlendsMotions for SphericalSkin {
    type Posed = PosedCenters;
    type Lanes = CenterLanes;

    fn pose(&self, motions: &RigidMotions, posed: &mut PosedCenters) {
        posed.centers.clear();
        let centers = self.sets.iter().map(|set| set.center(&motions.motions));
        posed.centers.extend(centers);
        posed.refill_records(self, &motions.motions);
    }

    fn streams(&self) -> Option<(StreamLayout, &dyn MotionStreams<PosedCenters>)> {
        let layout = StreamLayout {
            shared: self.sets.len(),
            ..StreamLayout::of(Kernel::Spherical, 1, 0, 2)
        };
        Some((layout, self))
    }

    fn lanes(&self) -> Option<&CenterLanes> {
        Some(&self.lanes)
    }

    fn frame(
        &self,
        vertex: usize,
        joints: &[u16],
        fields: Fields<'_>,
        motions: &RigidMotions,
        posed: &PosedCenters,
    ) -> Affine {
        let center = posed.centers[self.set_of_vertex[vertex] as usize];
        let mut rotation = DQuat::from_xyzw(0.0, 0.0, 0.0, 0.0);
        let mut shift = DVec3::ZERO;
        for (&joint, &weight) in joints.iter().zip(fields.weights) {
            let (motion, weight) = (&motions.motions[usize::from(joint)], f64::from(weight));
            let side = if turns_around_in_double(rotation, motion.rotation) {
                -weight
            } else {
                weight
            };
            rotation += motion.rotation * side;
            shift += (motion.transform_point(center) - center) * weight;
        }
        let rotation = rotation.normalize();
        let frame = RigidMotion {
            rotation,
            translation: shift + (center - rotation * center),
        };
        frame.to_affine()
    }
}

impl MotionLanes<PosedCenters> for CenterLanes {
    fn packing(&self) -> &Arc<Packing> {
        &self.packing
    }

    #[inline(always)]
    fn goes_together(&self, _group: &Group<'_>, _stretched: bool, posed: &PosedCenters) -> bool {
        posed.finite
    }

    #[inline(always)]
    fn frames<S: Simd>(
        &self,
        simd: S,
        group: &Group<'_>,
        _stretch: Option<&FrameLanes<S>>,
        posed: &PosedCenters,
    ) -> FrameLanes<S> {
        let sums = weighted_sums(simd, group, &posed.records);
        let center = self.centers(simd, group, &posed.centers);
        let turn = wide_quaternions::turn(simd, &[sums[0], sums[1], sums[2], sums[3]]);
        let one = f64x8::splat(simd, 1.0);
        let mut numbers = FrameLanes::splat(simd, &Affine::ZERO).numbers;
        for row in 0..3 {
            let mut translation = sums[13 + row];
            for column in 0..3 {
                let entry = turn[3 * row + column];
                let beyond = sums[4 + 3 * row + column] - entry;
                translation = beyond.mul_add(center[column], translation);
                let entry = if row == column { one + entry } else { entry };
                numbers[4 * row + column] = narrowed(simd, entry);
            }
            numbers[4 * row + 3] = narrowed(simd, translation);
        }
        FrameLanes {
            numbers,
            doubtful: posed.far.vertices(simd, group) | u64::from(self.one_by_one[group.index]),
            rigid: true,
        }
    }

    fn bytes(&self) -> usize {
        size_of_val(&self.sets[..]) + size_of_val(&self.one_by_one[..])
    }
}

impl CenterLanes {
    /// The centers of the vertices of a group.
    #[inline(always)]
    fn centers<S: Simd>(&self, simd: S, group: &Group<'_>, centers: &[DVec3]) -> [f64x8<S>; 3] {
        let mut lanes = [[0.0; LANES]; 3];
        for (lane, &set) in self.sets[group.index].iter().enumerate() {
            let center = centers[set as usize];
            lanes[0][lane] = center.x;
            lanes[1][lane] = center.y;
            lanes[2][lane] = center.z;
        }
        [
            f64x8::from_slice(simd, &lanes[0]),
            f64x8::from_slice(simd, &lanes[1]),
            f64x8::from_slice(simd, &lanes[2]),
        ]
    }
}
