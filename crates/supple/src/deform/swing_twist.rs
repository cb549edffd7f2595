//! Swing-twist deformers: at a joint, the twist is blended spherically and the swing linearly.
//!
//! `skinning-course-direct-methods.txt`, §4 and §5 (joint-based deformers). A twist about the bone
//! keeps its volume only if it is blended as an angle (linear blending has the candy-wrapper
//! artifact); a bend bulges if it is. So the rotation of a joint `b` relative to a joint `a` above
//! it is decomposed into `swing · twist`, with the twist about the bone of `b`. A vertex at a share
//! `s` of the way from `a` to `b` is moved by
//!
//! `Γ_ab(v) = M_a( x_b + s (D x_b − x_b) + ((1−s) I + s Swing) · Rot(axis, s·angle) · (v − x_b) )`,
//! with `D = M_a⁻¹ M_b` and `x_b` the rest position of `b`. Of the angles of the same twist, the
//! one nearest to the sum of the twists from `a` to `b` is used. Between joints of which neither is
//! above the other there is no bone to twist, and `Γ` is linear.
//!
//! The papers learn the weights of deformers; here they follow from the skinning weights: pair by
//! pair, `s = w_b / (w_a + w_b)`, and the difference of each deformer to linear blending is blended
//! linearly,
//!
//! `v' = Σ w_j M_j v + Σ_ab p_ab (Γ_ab(v) − ((1−s) M_a + s M_b) v)`, with `p_ab = w_a w_b / Σ w_a
//! w_b`.
//!
//! A bend without twist is exactly linear blending, for any number of influences. Two influences
//! are one deformer. As a weight goes to zero, its deformers vanish; as it goes to one, the result
//! becomes the motion of its joint.
//!
//! In eight lanes, the difference is written as `D_ab(s) (v − x_b)`: the translations cancel out.
//! With `Rot(axis, φ) = I + sin φ K + (1 − cos φ) K²`, `G = R_a (Swing − I)`, `θ` the angle and `φ
//! = s θ`,
//!
//! `D_ab(s) = f₁ R_a K + f₂ G K + f₃ R_a K² + f₄ G K²`, with `f₁ = sin φ − s sin θ`, `f₂ = s (sin φ
//! − sin θ)`, and `f₃`, `f₄` the same of `1 − cos`.
//!
//! `K = e₂ e₁ᵀ − e₁ e₂ᵀ` and `K² = −e₁ e₁ᵀ − e₂ e₂ᵀ` for axes `e₁`, `e₂` perpendicular to the bone,
//! so `D_ab = c₁ e₁ᵀ + c₂ e₂ᵀ`. The axes and `x_b` are those of `b`: the columns `c` are summed
//! over all `a` above it first.

use super::direct::Fields;
use super::lanes::{
    ChosenRecords, FrameLanes, Group, Lane, MOST_ANGLE, MOST_INFLUENCES, Packing,
    blend as blend_lanes, short_sine_and_versine, sine_and_versine,
};
use super::rigid_motion::{BlendsMotions, MotionLanes, MotionStreams, RigidMotion, RigidMotions};
use super::streams::{Kernel, PoseStream, StreamLayout, VertexStream};
use crate::rig::Rig;
use crate::rotation::{rotation_about, swing_and_twist};
use crate::skeleton::BindBone;
use crate::surface::Rows;
use crate::transform::{Affine, linear_blend};
use crate::weights::Weights;
use fearless_simd::{Simd, SimdBase, SimdFloat, f32x8};
use glam::{DQuat, DVec3, Vec3};
use std::collections::HashMap;
use std::f32::consts::FRAC_PI_2;
use std::f64::consts::TAU;
use std::sync::Arc;

/// The pairs of joints that share vertices.
#[derive(Clone, Debug)]
pub(super) struct SwingTwistSkin {
    /// The parent of each joint, and the direction of its bone.
    joints: Vec<(Option<usize>, Option<DVec3>)>,
    hinges: Vec<Hinge>,
    /// The hinges of each set of joints, shared by all vertices with the same joints in the same
    /// order.
    rows: Vec<Vec<Pair>>,
    row_of_vertex: Vec<u32>,
    lanes: HingeLanes,
}

/// The hinges of eight vertices at a time.
#[derive(Clone, Debug)]
pub(super) struct HingeLanes {
    packing: Arc<Packing>,
    /// Pairs of slots of a group, by the joint below, then the one above. Shared by groups with the
    /// same pairs.
    pairs: Rows<Pair>,
    pairs_of_group: Vec<u32>,
    /// `1 / Σ w_a w_b` over all pairs of a vertex; zero without pairs.
    per_total: Vec<Lane>,
    /// The vertices with too many influences, as bits.
    one_by_one: Vec<u8>,
}

/// A joint and one of its ancestors.
#[derive(Clone, Debug)]
struct Hinge {
    above: u16,
    below: u16,
    /// The rest position of the joint below.
    pivot: DVec3,
    /// The direction of its bone; none if it has no length. Then all rotation is swing.
    axis: Option<DVec3>,
    /// Unit vectors perpendicular to the bone and to each other: `axis = across[0] × across[1]`.
    across: [DVec3; 2],
}

/// Two influences of a row, or slots of a group, by position, and the hinge between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Pair {
    below: u16,
    above: u16,
    hinge: u32,
}

/// The joints of a pose.
#[derive(Clone, Debug, Default)]
pub(super) struct SwingTwistPose {
    motions: Vec<Affine>,
    /// The twists of all joints on the way down to each joint, summed.
    windings: Vec<f64>,
    hinges: Vec<HingePose>,
    records: ChosenRecords<12>,
    turns: Vec<HingeTurn>,
    /// True if all numbers are finite and all angles moderate.
    in_lanes: bool,
}

/// What lanes need of a posed hinge.
#[derive(Clone, Copy, Debug)]
struct HingeTurn {
    angle: f32,
    sine: f32,
    /// One minus the cosine.
    versine: f32,
    /// The coordinates of `c₁` and `c₂` as sums of `f₁` to `f₄`, with these factors.
    columns: [[f32; 4]; 6],
    /// `e₁` and `e₂`, each followed by its product with `−x_b`.
    across: [[f32; 4]; 2],
}

/// The number of vectors of four numbers of a posed hinge, for GPUs.
const HINGE_VECTORS: usize = 8;

#[derive(Clone, Copy, Debug)]
struct HingePose {
    /// Map the surroundings of the pivot, relative to it, into the world: as the joint above does,
    /// and as the swing does.
    above: Affine,
    swung: Affine,
    angle: f32,
    axis: Vec3,
    pivot: Vec3,
}

impl SwingTwistSkin {
    pub(super) fn bake(rig: &Rig) -> SwingTwistSkin {
        let bones = rig.skeleton().bind_bones();
        let joints = rig.skeleton().joints().iter();
        let parents: Vec<Option<usize>> = joints.map(|joint| joint.parent).collect();
        let is_above = |above: usize, below: usize| {
            // Parents have lower indices, so the walk can stop early.
            let mut at = below;
            while let Some(parent) = parents[at].filter(|_| at > above) {
                at = parent;
            }
            at == above && above != below
        };
        let mut hinge_of: HashMap<(u16, u16), u32> = HashMap::new();
        let mut hinges = Vec::new();
        let mut pairs_of = |joints: &[u16]| {
            let mut pairs = Vec::new();
            for (first, &a) in joints.iter().enumerate() {
                for (second, &b) in joints.iter().enumerate() {
                    if !is_above(usize::from(a), usize::from(b)) {
                        continue;
                    }
                    let hinge = *hinge_of.entry((a, b)).or_insert_with(|| {
                        hinges.push(Hinge::new((a, b), &bones));
                        hinges.len() as u32 - 1
                    });
                    pairs.push(Pair {
                        above: first as u16,
                        below: second as u16,
                        hinge,
                    });
                }
            }
            pairs
        };
        let mut index: HashMap<&[u16], u32> = HashMap::new();
        let mut rows = Vec::new();
        let row_of_vertex = (0..rig.weights().vertex_count())
            .map(|vertex| {
                let joints = rig.weights().row(vertex).0;
                *index.entry(joints).or_insert_with(|| {
                    rows.push(pairs_of(joints));
                    rows.len() as u32 - 1
                })
            })
            .collect::<Vec<u32>>();
        let of_vertex = |vertex: usize| &rows[row_of_vertex[vertex] as usize][..];
        let axes = bones.iter().map(BindBone::axis);
        SwingTwistSkin {
            joints: parents.iter().copied().zip(axes).collect(),
            hinges,
            lanes: HingeLanes::pack(rig.weights(), of_vertex),
            rows,
            row_of_vertex,
        }
    }
}

impl HingeLanes {
    fn pack<'a>(weights: &Weights, of_vertex: impl Fn(usize) -> &'a [Pair]) -> HingeLanes {
        let packing = Arc::new(Packing::with_common_sets(weights.clone()));
        let mut lanes = HingeLanes {
            packing: packing.clone(),
            pairs: Rows::default(),
            pairs_of_group: Vec::new(),
            per_total: Vec::new(),
            one_by_one: Vec::new(),
        };
        let mut index: HashMap<Vec<Pair>, u32> = HashMap::new();
        for group in packing.all_groups() {
            let goes_alone = |vertex: usize| weights.row(vertex).0.len() > MOST_INFLUENCES;
            let mut pairs = Vec::new();
            for vertex in group.vertices().filter(|&vertex| !goes_alone(vertex)) {
                pairs.extend(slots_of(&group, weights.row(vertex).0, of_vertex(vertex)));
            }
            pairs.sort_unstable();
            pairs.dedup();
            let list = *index.entry(pairs).or_insert_with_key(|pairs| {
                lanes.pairs.push_row(pairs.iter().copied());
                lanes.pairs.len() as u32 - 1
            });
            lanes.pairs_of_group.push(list);
            lanes.one_by_one.push(group.bits(goes_alone));
            let per_total = group.lanes(|vertex| [per_total(weights.row(vertex).1)]);
            lanes.per_total.push(per_total[0]);
        }
        lanes
    }
}

/// Pairs of influences of a row as pairs of slots of a group that contains its vertex.
fn slots_of(group: &Group<'_>, row: &[u16], pairs: &[Pair]) -> impl Iterator<Item = Pair> {
    let joints = group.joints().unwrap_or_default();
    let slot = |place: u16| {
        let joint = row[usize::from(place)];
        joints.partition_point(|&other| other < joint) as u16
    };
    pairs.iter().map(move |pair| Pair {
        below: slot(pair.below),
        above: slot(pair.above),
        hinge: pair.hinge,
    })
}

/// `1 / Σ w_a w_b` over all pairs of weights that sum to one.
fn per_total(weights: &[f32]) -> f32 {
    let squares = weights.iter().map(|&weight| f64::from(weight).powi(2));
    match weights.len() {
        1 => 0.0,
        _ => (2.0 / (1.0 - squares.sum::<f64>())) as f32,
    }
}

impl SwingTwistSkin {
    /// For each joint the sum of the twists of all joints on the way down from its root, each
    /// relative to its parent.
    fn wind(&self, motions: &[RigidMotion], windings: &mut Vec<f64>) {
        windings.clear();
        for (motion, &(parent, axis)) in motions.iter().zip(&self.joints) {
            windings.push(match parent {
                Some(parent) => {
                    let relative = motions[parent].rotation.conjugate() * motion.rotation;
                    windings[parent] + swing_and_twist(relative, axis).1
                }
                None => 0.0,
            });
        }
    }
}

impl Hinge {
    fn new((above, below): (u16, u16), bones: &[BindBone]) -> Hinge {
        let bone = &bones[usize::from(below)];
        let (first, second) = bone.axis().unwrap_or(DVec3::X).any_orthonormal_pair();
        Hinge {
            above,
            below,
            pivot: bone.head,
            axis: bone.axis(),
            across: [first, second],
        }
    }

    /// The hinge in a pose; a chain winds around as often as the sums of its twists say.
    fn pose(&self, motions: &[RigidMotion], windings: &[f64]) -> (HingePose, HingeTurn) {
        let (above, below) = (
            &motions[usize::from(self.above)],
            &motions[usize::from(self.below)],
        );
        let relative = above.rotation.conjugate() * below.rotation;
        let (swing, angle) = swing_and_twist(relative, self.axis);
        // Of all angles of the same twist, the one nearest to the sum over the joints between.
        let winding = windings[usize::from(self.below)] - windings[usize::from(self.above)];
        let angle = angle + TAU * ((winding - angle) / TAU).round();
        let seen_from_pivot = |rotation: DQuat, place: DVec3| RigidMotion {
            rotation,
            translation: place,
        };
        let above_pivot = above.transform_point(self.pivot);
        let below_pivot = below.transform_point(self.pivot);
        let pose = HingePose {
            above: seen_from_pivot(above.rotation, above_pivot).to_affine(),
            swung: seen_from_pivot(above.rotation * swing, below_pivot).to_affine(),
            angle: angle as f32,
            axis: self.axis.unwrap_or(DVec3::X).as_vec3(),
            pivot: self.pivot.as_vec3(),
        };
        (pose, self.turn(above.rotation, swing, angle))
    }

    fn turn(&self, above: DQuat, swing: DQuat, angle: f64) -> HingeTurn {
        let half = (0.5 * angle).sin();
        let [r1, r2] = self.across.map(|axis| above * axis);
        let [g1, g2] = self.across.map(|axis| above * (swing * axis - axis));
        let [first, second] = [[r2, g2, -r1, -g1], [-r1, -g1, -r2, -g2]];
        let coordinate =
            |factors: &[DVec3; 4], axis: usize| factors.map(|factor| factor[axis] as f32);
        HingeTurn {
            angle: angle as f32,
            sine: angle.sin() as f32,
            versine: (2.0 * half * half) as f32,
            columns: std::array::from_fn(|at| match at {
                0..3 => coordinate(&first, at),
                _ => coordinate(&second, at - 3),
            }),
            across: self.across.map(|axis| {
                let along = axis.extend(-axis.dot(self.pivot));
                along.as_vec4().to_array()
            }),
        }
    }
}

impl HingeTurn {
    /// True if there is no twist but for rounding.
    fn is_straight(&self) -> bool {
        self.angle.abs() <= NO_TWIST
    }

    fn goes_in_lanes(&self) -> bool {
        let mut factors = self.columns.as_flattened().iter();
        self.angle.abs() <= MOST_ANGLE && factors.all(|factor| factor.is_finite())
    }

    /// Adds `c₁` and `c₂` at a share of the way, times the importance of the pair.
    #[inline(always)]
    fn add_columns<S: Simd>(
        &self,
        simd: S,
        share: f32x8<S>,
        importance: f32x8<S>,
        columns: &mut [f32x8<S>; 6],
    ) {
        let angles = share * self.angle;
        let [sine, versine] = match self.angle.abs() <= FRAC_PI_2 {
            true => short_sine_and_versine(simd, angles),
            false => sine_and_versine(simd, angles),
        };
        let both = share * importance;
        let (linear_sine, linear_versine) = (both * self.sine, both * self.versine);
        let factors = [
            importance.mul_sub(sine, linear_sine),
            both.mul_sub(sine, linear_sine),
            importance.mul_sub(versine, linear_versine),
            both.mul_sub(versine, linear_versine),
        ];
        for (column, own) in columns.iter_mut().zip(&self.columns) {
            for (factor, own) in factors.iter().zip(own) {
                *column = factor.mul_add(f32x8::splat(simd, *own), *column);
            }
        }
    }

    /// Adds `c₁ e₁ᵀ + c₂ e₂ᵀ`, applied relative to `x_b`, to frames.
    #[inline(always)]
    fn add_to<S: Simd>(&self, simd: S, columns: &[f32x8<S>; 6], frames: &mut [f32x8<S>; 12]) {
        for (axis, along) in self.across.iter().enumerate() {
            for (row, column) in columns[3 * axis..3 * axis + 3].iter().enumerate() {
                for (entry, along) in frames[4 * row..4 * row + 4].iter_mut().zip(along) {
                    *entry = column.mul_add(f32x8::splat(simd, *along), *entry);
                }
            }
        }
    }
}

impl HingePose {
    /// The difference of `Γ` to linear blending at a share of the way. Bitwise zero without a
    /// twist.
    fn beyond_linear(&self, share: f32) -> Affine {
        let swing = self.above.lerp(&self.swung, share);
        let below = self.swung.after(&self.turned(self.angle));
        let twisted = swing.after(&self.turned(self.angle * share));
        let untwisted = self.above.after(&self.turned(0.0)).lerp(&below, share);
        twisted.add_scaled(&untwisted, -1.0)
    }

    /// A rotation about the bone through the pivot, relative to the pivot.
    fn turned(&self, angle: f32) -> Affine {
        let turn = rotation_about(self.axis, angle);
        Affine::from_mat3_translation(turn, -(turn * self.pivot))
    }
}

impl MotionStreams<SwingTwistPose> for SwingTwistSkin {
    fn table(&self, joints: usize) -> Vec<u32> {
        let mut table = vec![0; joints * joints];
        for (index, hinge) in self.hinges.iter().enumerate() {
            let place = usize::from(hinge.above) * joints + usize::from(hinge.below);
            table[place] = index as u32 + 1;
        }
        table
    }

    /// Nothing: the hinges of a vertex follow from its joints.
    fn push_vertex(&self, _vertex: usize, _stream: &mut VertexStream) {}

    fn push_joints(
        &self,
        _motions: &RigidMotions,
        posed: &SwingTwistPose,
        stream: &mut PoseStream,
    ) {
        for matrix in &posed.motions {
            stream.push_rows(matrix);
        }
        for hinge in &posed.hinges {
            let frames = [&hinge.above, &hinge.swung].map(|frame| frame.rows);
            let rows = frames.as_flattened().iter().copied();
            let ends = [hinge.axis.extend(hinge.angle), hinge.pivot.extend(0.0)];
            let vectors = rows.chain(ends).map(|vector| vector.to_array());
            stream.shared.extend(vectors);
        }
    }
}

impl BlendsMotions for SwingTwistSkin {
    type Posed = SwingTwistPose;
    type Lanes = HingeLanes;

    fn pose(&self, motions: &RigidMotions, posed: &mut SwingTwistPose) {
        posed.motions.clear();
        posed
            .motions
            .extend(motions.motions.iter().map(|motion| motion.to_affine()));
        posed.hinges.clear();
        posed.turns.clear();
        self.wind(&motions.motions, &mut posed.windings);
        for hinge in &self.hinges {
            let (pose, turn) = hinge.pose(&motions.motions, &posed.windings);
            posed.hinges.push(pose);
            posed.turns.push(turn);
        }
        posed.in_lanes = posed.turns.iter().all(HingeTurn::goes_in_lanes);
        let records = posed.motions.iter().map(Affine::to_array);
        posed.records.refill(&self.lanes.packing, records);
    }

    fn lanes(&self) -> Option<&HingeLanes> {
        Some(&self.lanes)
    }

    fn streams(&self) -> Option<(StreamLayout, &dyn MotionStreams<SwingTwistPose>)> {
        let layout = StreamLayout {
            shared: self.hinges.len() * HINGE_VECTORS,
            ..StreamLayout::of(Kernel::SwingTwist, 0, 0, 3)
        };
        Some((layout, self))
    }

    fn frame(
        &self,
        vertex: usize,
        joints: &[u16],
        fields: Fields<'_>,
        _motions: &RigidMotions,
        posed: &SwingTwistPose,
    ) -> Affine {
        let mut frame = linear_blend(joints, fields.weights, &posed.motions);
        // Σ w_a w_b over all pairs, from the sums over all influences.
        let sum: f32 = fields.weights.iter().sum();
        let squares: f32 = fields.weights.iter().map(|weight| weight * weight).sum();
        let total = 0.5 * (sum * sum - squares);
        for pair in &self.rows[self.row_of_vertex[vertex] as usize] {
            let hinge = &posed.hinges[pair.hinge as usize];
            let weight = |place: u16| fields.weights[usize::from(place)];
            let (above, below) = (weight(pair.above), weight(pair.below));
            // Fields that are varied for a finite difference may leave the range of real weights.
            let importance = above * below / total;
            let share = below / (above + below);
            if hinge.angle != 0.0 && importance.is_finite() && share.is_finite() {
                let beyond = hinge.beyond_linear(share.clamp(-0.5, 1.5));
                frame = frame.add_scaled(&beyond, importance.clamp(-1.0, 2.0));
            }
        }
        frame
    }
}

/// `|D_ab|` is less than the angle, so that a smaller angle than this is less than the rounding of
/// positions.
const NO_TWIST: f32 = 1e-8;

/// The least sum of two weights that are not both zero is larger.
const NO_WEIGHT: f32 = 1e-9;

impl MotionLanes<SwingTwistPose> for HingeLanes {
    fn packing(&self) -> &Arc<Packing> {
        &self.packing
    }

    #[inline(always)]
    fn goes_together(&self, _group: &Group<'_>, _stretched: bool, posed: &SwingTwistPose) -> bool {
        posed.in_lanes
    }

    #[inline(always)]
    fn frames<S: Simd>(
        &self,
        simd: S,
        group: &Group<'_>,
        _stretch: Option<&FrameLanes<S>>,
        posed: &SwingTwistPose,
    ) -> FrameLanes<S> {
        let mut frames = blend_lanes(simd, group, &posed.records);
        let slots = group.slots();
        let per_total = f32x8::from_slice(simd, &self.per_total[group.index]);
        let pairs = self.pairs.row(self.pairs_of_group[group.index] as usize);
        for pairs in pairs.chunk_by(|one, next| one.below == next.below) {
            let below = slots.weights(simd, usize::from(pairs[0].below));
            let factor = below * per_total;
            let mut columns = [f32x8::splat(simd, 0.0); 6];
            for pair in pairs {
                let turn = &posed.turns[pair.hinge as usize];
                if turn.is_straight() {
                    continue;
                }
                let above = slots.weights(simd, usize::from(pair.above));
                let share = below / (above + below).max(f32x8::splat(simd, NO_WEIGHT));
                turn.add_columns(simd, share, above * factor, &mut columns);
            }
            posed.turns[pairs[0].hinge as usize].add_to(simd, &columns, &mut frames);
        }
        FrameLanes {
            doubtful: u64::from(self.one_by_one[group.index]),
            ..FrameLanes::of(frames)
        }
    }

    fn bytes(&self) -> usize {
        size_of_val(self.pairs.values())
            + size_of_val(&self.pairs_of_group[..])
            + size_of_val(&self.per_total[..])
            + size_of_val(&self.one_by_one[..])
    }
}
