//! Intrinsic blending of dual quaternions (DIB): the mean on the manifold of rigid motions.
//!
//! `skinning-course-direct-methods.txt`, §4, "Lie-algebraic averaging". It starts from the linear
//! blend `b` and repeats `b ← b exp(x)` with the mean of the relative logarithms, `x = Σ w_j
//! log(b⁻¹ q_j)`, until `x` vanishes. For two joints the result is the screw motion between them,
//! at constant speed. Computed in `f64`, because rounding in `f32` would keep the iterations from
//! converging.
//!
//! In eight lanes, each lane stops as soon as it has converged, so that a vertex has the same bits
//! beside any others. Signs are chosen as in `lanes/far_pairs.rs`.

use super::antipodality::{Antipodality, Signs, turns_around_in_double};
use super::direct::Fields;
use super::lanes::wide_quaternions::{dot, product_added, turn};
use super::lanes::{
    ALL, FarPairs, FrameLanes, Group, MOST_INFLUENCES, NeighbourPairs, Packing, weighted_sums,
};
use super::rigid_motion::{BlendsMotions, MotionLanes, RigidMotion, RigidMotions};
use crate::polar::{narrowed, widened};
use crate::rig::Rig;
use crate::transform::Affine;
use fearless_simd::{Select, Simd, SimdBase, SimdFloat, SimdMask, f64x8, mask64x8};
use glam::{DAffine3, DQuat, DVec3};
use std::sync::Arc;

/// Options of intrinsic blending.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(default)
)]
pub struct DualQuaternionIntrinsic {
    /// A vertex has converged when the remaining step is shorter than this, in radians and relative
    /// to the size of the character.
    pub tolerance: f64,
    /// The largest number of steps per vertex: motions half a turn apart may never converge.
    pub most_steps: u32,
}

impl DualQuaternionIntrinsic {
    pub(super) const DEFAULT: DualQuaternionIntrinsic = DualQuaternionIntrinsic {
        tolerance: 1e-9,
        most_steps: 50,
    };
}

impl Default for DualQuaternionIntrinsic {
    fn default() -> DualQuaternionIntrinsic {
        DualQuaternionIntrinsic::DEFAULT
    }
}

/// The baked data of intrinsic blending, in addition to the weights.
#[derive(Clone, Debug)]
pub(super) struct IntrinsicSkin {
    options: DualQuaternionIntrinsic,
    /// The size of the character.
    extent: f64,
    signs: Signs,
    neighbours: NeighbourPairs,
    packing: Arc<Packing>,
    /// The vertices with too many influences for lanes, as bits.
    one_by_one: Vec<u8>,
}

impl IntrinsicSkin {
    pub(super) fn bake(rig: &Rig, options: &DualQuaternionIntrinsic) -> IntrinsicSkin {
        let packing = Arc::new(Packing::with_common_sets(rig.weights().clone()));
        let goes_alone = |vertex: usize| rig.weights().row(vertex).0.len() > MOST_INFLUENCES;
        let groups = packing.all_groups();
        IntrinsicSkin {
            options: *options,
            extent: f64::from(rig.mesh().extent()),
            signs: Signs::bake(rig, Antipodality::PerJoint),
            neighbours: NeighbourPairs::of_joints(rig.weights()),
            one_by_one: groups.map(|group| group.bits(goes_alone)).collect(),
            packing: packing.clone(),
        }
    }
}

/// The joints of a pose.
#[derive(Clone, Debug, Default)]
pub(super) struct PosedScrews {
    screws: Vec<Screw>,
    /// The rotations with the signs of lanes.
    rotations: Vec<DQuat>,
    /// The motions with the signs of lanes, the rotation first.
    records: Vec<[f64; 8]>,
    far: FarPairs,
    /// True if all numbers are finite.
    finite: bool,
}

impl PosedScrews {
    fn refill_records(&mut self, skin: &IntrinsicSkin) {
        self.rotations.clear();
        self.records.clear();
        for screw in &self.screws {
            skin.signs.push(&mut self.rotations, screw.real);
        }
        for (screw, signed) in self.screws.iter().zip(&self.rotations) {
            let side = if signed.dot(screw.real) < 0.0 {
                -1.0
            } else {
                1.0
            };
            let Screw { real, dual } = Screw::ZERO.add_scaled(screw, side);
            let [a, b, c, d] = real.to_array();
            let [e, f, g, h] = dual.to_array();
            self.records.push([a, b, c, d, e, f, g, h]);
        }
        let mut numbers = self.records.as_flattened().iter();
        self.finite = numbers.all(|number| number.is_finite());
        let rotations = &self.rotations;
        let dot = |first: usize, second: usize| rotations[first].dot(rotations[second]);
        self.far.refill(&skin.neighbours, rotations.len(), dot);
    }
}

impl BlendsMotions for IntrinsicSkin {
    type Posed = PosedScrews;
    type Lanes = IntrinsicSkin;

    fn pose(&self, motions: &RigidMotions, posed: &mut PosedScrews) {
        posed.screws.clear();
        posed.screws.extend(motions.motions.iter().map(Screw::of));
        posed.refill_records(self);
    }

    fn lanes(&self) -> Option<&IntrinsicSkin> {
        Some(self)
    }

    fn frame(
        &self,
        _vertex: usize,
        joints: &[u16],
        fields: Fields<'_>,
        _motions: &RigidMotions,
        posed: &PosedScrews,
    ) -> Affine {
        let influences = || {
            let weights = fields.weights.iter().map(|&weight| f64::from(weight));
            let screws = joints.iter().map(|&joint| posed.screws[usize::from(joint)]);
            screws.zip(weights)
        };
        let mut mean = influences()
            .fold(Screw::ZERO, |sum, (screw, weight)| {
                sum.add_scaled(&screw.towards(&sum), weight)
            })
            .normalize();
        let DualQuaternionIntrinsic {
            tolerance,
            most_steps,
        } = self.options;
        for _ in 0..most_steps {
            let back = mean.conjugate();
            let (mut turn, mut shift) = (DVec3::ZERO, DVec3::ZERO);
            for (screw, weight) in influences() {
                let (real, dual) = back.after(&screw.towards(&mean)).log();
                turn += real * weight;
                shift += dual * weight;
            }
            mean = mean.after(&Screw::exp(turn, shift)).normalize();
            if turn.length() <= tolerance && shift.length() <= tolerance * self.extent {
                break;
            }
        }
        mean.to_affine()
    }
}

/// A dual quaternion in `f64`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Screw {
    real: DQuat,
    dual: DQuat,
}

impl Screw {
    const ZERO: Screw = Screw {
        real: DQuat::from_xyzw(0.0, 0.0, 0.0, 0.0),
        dual: DQuat::from_xyzw(0.0, 0.0, 0.0, 0.0),
    };

    fn of(motion: &RigidMotion) -> Screw {
        let half = DQuat::from_vec4((motion.translation * 0.5).extend(0.0));
        Screw {
            real: motion.rotation,
            dual: half * motion.rotation,
        }
    }

    fn add_scaled(&self, other: &Screw, weight: f64) -> Screw {
        Screw {
            real: self.real + other.real * weight,
            dual: self.dual + other.dual * weight,
        }
    }

    /// This motion, with the sign nearer to another motion.
    fn towards(&self, other: &Screw) -> Screw {
        if turns_around_in_double(other.real, self.real) {
            Screw::ZERO.add_scaled(self, -1.0)
        } else {
            *self
        }
    }

    fn conjugate(&self) -> Screw {
        Screw {
            real: self.real.conjugate(),
            dual: self.dual.conjugate(),
        }
    }

    /// `other` first, then `self`.
    fn after(&self, other: &Screw) -> Screw {
        Screw {
            real: self.real * other.real,
            dual: self.real * other.dual + self.dual * other.real,
        }
    }

    /// The nearest unit dual quaternion: real part of length one, dual part perpendicular to it.
    fn normalize(&self) -> Screw {
        let length = self.real.length();
        let real = self.real * length.recip();
        let dual = self.dual * length.recip();
        Screw {
            real,
            dual: dual - real * real.dot(dual),
        }
    }

    /// The logarithm of a unit dual quaternion: a dual vector, half angle and half shift along the
    /// axis of the screw.
    fn log(&self) -> (DVec3, DVec3) {
        let (axis, cosine) = (self.real.xyz(), self.real.w);
        let sine = axis.length();
        let angle = sine.atan2(cosine);
        let (ratio, bend) = if sine < 1e-4 {
            (1.0, 1.0 / 3.0)
        } else {
            let ratio = angle / sine;
            (ratio, (1.0 - ratio * cosine) / (sine * sine))
        };
        let dual = self.dual.xyz() * ratio - axis * (self.dual.w * bend);
        (axis * ratio, dual)
    }

    /// The unit dual quaternion of a logarithm.
    fn exp(turn: DVec3, shift: DVec3) -> Screw {
        let angle = turn.length();
        let along = turn.dot(shift);
        let (sinc, bend) = if angle < 1e-4 {
            (1.0 - angle * angle / 6.0, -1.0 / 3.0)
        } else {
            let sinc = angle.sin() / angle;
            (sinc, (angle.cos() - sinc) / (angle * angle))
        };
        Screw {
            real: DQuat::from_vec4((turn * sinc).extend(angle.cos())),
            dual: DQuat::from_vec4((shift * sinc + turn * (along * bend)).extend(-along * sinc)),
        }
    }

    fn to_affine(self) -> Affine {
        let translation = (self.dual * self.real.conjugate()).xyz() * 2.0;
        Affine::from_f64(&DAffine3::from_rotation_translation(self.real, translation))
    }
}

impl MotionLanes<PosedScrews> for IntrinsicSkin {
    fn packing(&self) -> &Arc<Packing> {
        &self.packing
    }

    #[inline(always)]
    fn goes_together(&self, _group: &Group<'_>, _stretched: bool, posed: &PosedScrews) -> bool {
        posed.finite
    }

    #[inline(always)]
    fn frames<S: Simd>(
        &self,
        simd: S,
        group: &Group<'_>,
        _stretch: Option<&FrameLanes<S>>,
        posed: &PosedScrews,
    ) -> FrameLanes<S> {
        let mut doubtful =
            posed.far.vertices(simd, group) | u64::from(self.one_by_one[group.index]);
        let sum = weighted_sums(simd, group, &posed.records);
        let mut mean = ScrewLanes::new(&sum).normalize(simd);
        let mut moving = ALL & !doubtful;
        for _ in 0..self.options.most_steps {
            let (step, wide) = mean.mean_logarithm(simd, group, &posed.records);
            doubtful |= wide;
            moving &= !wide;
            let next = mean
                .after(simd, &ScrewLanes::exp(simd, &step))
                .normalize(simd);
            // Lanes that have converged no longer change.
            mean = next.where_true(mask64x8::from_bitmask(simd, moving), &mean);
            moving &= self.still_moving(simd, &step);
            if moving == 0 {
                break;
            }
        }
        FrameLanes {
            doubtful,
            ..mean.to_frames(simd)
        }
    }

    fn bytes(&self) -> usize {
        size_of_val(&self.one_by_one[..])
    }
}

impl IntrinsicSkin {
    /// The lanes whose last step was too long to be converged, as bits.
    #[inline(always)]
    fn still_moving<S: Simd>(&self, simd: S, [shift, turn]: &[[f64x8<S>; 3]; 2]) -> u64 {
        let tolerance = self.options.tolerance;
        let longest = |most: f64| f64x8::splat(simd, most * most);
        let short = dot(turn, turn).simd_le(longest(tolerance))
            & dot(shift, shift).simd_le(longest(tolerance * self.extent));
        !short.to_bitmask()
    }
}

/// Dual quaternions of eight vertices.
#[derive(Clone, Copy)]
struct ScrewLanes<S: Simd> {
    real: [f64x8<S>; 4],
    dual: [f64x8<S>; 4],
}

/// The least cosine of half the angle between the mean and a joint in lanes: 78 degrees.
const LEAST_COSINE: f64 = 0.2;

/// `2 atan(t) / t` as a polynomial of `t²`, for the tangent `t` of half of any angle up to that of
/// [`LEAST_COSINE`]: off by at most `3e-10`.
const RATIO: [f64; 10] = [
    1.9999999997298705,
    -0.6666665857891164,
    0.3999959559765945,
    -0.2856347887585712,
    0.22141490484133117,
    -0.17699296638819179,
    0.13560500752847635,
    -0.08774413784124713,
    0.03957806143757597,
    -0.008793468138270122,
];

/// `(1 − a cot a) / sin² a` for `a = 2 atan t` as such a polynomial: off by at most `3e-12`.
const BEND: [f64; 10] = [
    0.33333333333110277,
    0.5333333340007573,
    0.15238091911336685,
    -0.02539617531216345,
    0.009228670400567239,
    -0.004401497458477575,
    0.002344149469818076,
    -0.001193129773735114,
    0.000464760003165515,
    -9.467977072235201e-5,
];

impl<S: Simd> ScrewLanes<S> {
    #[inline(always)]
    fn new(numbers: &[f64x8<S>; 8]) -> ScrewLanes<S> {
        let [a, b, c, d, dual @ ..] = *numbers;
        ScrewLanes {
            real: [a, b, c, d],
            dual,
        }
    }

    /// [`Screw::normalize`].
    #[inline(always)]
    fn normalize(mut self, simd: S) -> ScrewLanes<S> {
        let [_, _, _, w] = self.real;
        let squared = w.mul_add(w, dot(&self.real, &self.real));
        let factor = f64x8::splat(simd, 1.0) / squared.sqrt();
        for (real, dual) in self.real.iter_mut().zip(&mut self.dual) {
            *real *= factor;
            *dual *= factor;
        }
        let along = self.real[3].mul_add(self.dual[3], dot(&self.real, &self.dual));
        for (real, dual) in self.real.iter().zip(&mut self.dual) {
            *dual -= *real * along;
        }
        self
    }

    /// [`Screw::after`].
    #[inline(always)]
    fn after(&self, simd: S, other: &ScrewLanes<S>) -> ScrewLanes<S> {
        let zero = [f64x8::splat(simd, 0.0); 4];
        let turned = product_added(&self.real, &other.dual, &zero);
        ScrewLanes {
            real: product_added(&self.real, &other.real, &zero),
            dual: product_added(&self.dual, &other.real, &turned),
        }
    }

    #[inline(always)]
    fn identity(simd: S) -> ScrewLanes<S> {
        let [zero, one] = [f64x8::splat(simd, 0.0), f64x8::splat(simd, 1.0)];
        ScrewLanes {
            real: [zero, zero, zero, one],
            dual: [zero; 4],
        }
    }

    #[inline(always)]
    fn conjugate(mut self) -> ScrewLanes<S> {
        for axis in 0..3 {
            self.real[axis] = -self.real[axis];
            self.dual[axis] = -self.dual[axis];
        }
        self
    }

    /// These where a mask is true, else others.
    #[inline(always)]
    fn where_true(&self, mask: mask64x8<S>, others: &ScrewLanes<S>) -> ScrewLanes<S> {
        let mut chosen = *others;
        for at in 0..4 {
            chosen.real[at] = mask.select(self.real[at], others.real[at]);
            chosen.dual[at] = mask.select(self.dual[at], others.dual[at]);
        }
        chosen
    }

    /// `Σ w_j log(b⁻¹ q_j)`, first the shift, then the turn; and the lanes with a joint that is too
    /// far from the mean `b`, as bits.
    #[inline(always)]
    fn mean_logarithm(
        &self,
        simd: S,
        group: &Group<'_>,
        records: &[[f64; 8]],
    ) -> ([[f64x8<S>; 3]; 2], u64) {
        let back = self.conjugate();
        let mut sums = [[f64x8::splat(simd, 0.0); 3]; 2];
        let mut wide = 0;
        let slots = group.slots();
        for (slot, &joint) in group.joints().unwrap_or_default().iter().enumerate() {
            let weights = widened(simd, slots.weights(simd, slot));
            let mut numbers = [weights; 8];
            for (lanes, number) in numbers.iter_mut().zip(&records[usize::from(joint)]) {
                *lanes = f64x8::splat(simd, *number);
            }
            let relative = back.after(simd, &ScrewLanes::new(&numbers));
            let near = relative.real[3].simd_ge(f64x8::splat(simd, LEAST_COSINE));
            let absent = weights.simd_le(f64x8::splat(simd, 0.0));
            wide |= !(near | absent).to_bitmask();
            // Lanes without the joint may be anywhere, also where the logarithm is infinite.
            let weights = near.select(weights, f64x8::splat(simd, 0.0));
            let relative = relative.where_true(near, &ScrewLanes::identity(simd));
            relative.add_logarithm(simd, weights, &mut sums);
        }
        (sums, wide & ALL)
    }

    /// Adds [`Screw::log`] times weights. With `t = tan(angle/2)`, `t² = sin²/(1 + cos)²` and
    /// `1/sin = (1/t)/(1 + cos)`.
    #[inline(always)]
    fn add_logarithm(&self, simd: S, weights: f64x8<S>, sums: &mut [[f64x8<S>; 3]; 2]) {
        let one = f64x8::splat(simd, 1.0);
        let inverse = one / (one + self.real[3]);
        let tangent_squared = dot(&self.real, &self.real) * inverse * inverse;
        let ratio = polynomial(simd, &RATIO, tangent_squared) * inverse * weights;
        let bend = self.dual[3] * polynomial(simd, &BEND, tangent_squared) * weights;
        let [shifts, turns] = sums;
        for (axis, (shift, turn)) in shifts.iter_mut().zip(turns).enumerate() {
            let (real, dual) = (self.real[axis], self.dual[axis]);
            *shift += dual.mul_sub(ratio, real * bend);
            *turn = real.mul_add(ratio, *turn);
        }
    }

    /// [`Screw::exp`] of a shift and a turn, by the series of sine and cosine.
    #[inline(always)]
    fn exp(simd: S, [shift, turn]: &[[f64x8<S>; 3]; 2]) -> ScrewLanes<S> {
        let squared = dot(turn, turn);
        let along = dot(turn, shift);
        let cosine = polynomial(simd, &SERIES[0], squared);
        let sinc = polynomial(simd, &SERIES[1], squared);
        let bend = polynomial(simd, &SERIES[2], squared);
        let (mut real, mut dual) = ([cosine; 4], [-(along * sinc); 4]);
        let bend = along * bend;
        for axis in 0..3 {
            real[axis] = turn[axis] * sinc;
            dual[axis] = shift[axis].mul_add(sinc, turn[axis] * bend);
        }
        ScrewLanes { real, dual }
    }

    /// [`Screw::to_affine`].
    #[inline(always)]
    fn to_frames(self, simd: S) -> FrameLanes<S> {
        let linear = turn(simd, &self.real);
        let zero = [f64x8::splat(simd, 0.0); 4];
        let back = self.conjugate().real;
        let half = product_added(&self.dual, &back, &zero);
        let mut frames = FrameLanes::splat(simd, &Affine::ZERO);
        let one = f64x8::splat(simd, 1.0);
        for row in 0..3 {
            for column in 0..3 {
                let entry = linear[3 * row + column];
                let entry = if row == column { one + entry } else { entry };
                frames.numbers[4 * row + column] = narrowed(simd, entry);
            }
            frames.numbers[4 * row + 3] = narrowed(simd, half[row] + half[row]);
        }
        FrameLanes {
            rigid: true,
            ..frames
        }
    }
}

/// The terms of the series of `cos a`, `sin(a)/a` and `(cos a − sin(a)/a)/a²` in `a²`: enough for
/// any angle up to a quarter turn.
const SERIES: [[f64; 10]; 3] = {
    let mut terms = [[0.0; 10]; 3];
    // (−1)^k / (2k)!
    let mut even = 1.0;
    let mut term = 0;
    while term < 10 {
        let odd = even / (2 * term + 1) as f64;
        let next = -odd / (2 * term + 2) as f64;
        terms[0][term] = even;
        terms[1][term] = odd;
        // The difference of the next terms of both.
        terms[2][term] = next - next / (2 * term + 3) as f64;
        even = next;
        term += 1;
    }
    terms
};

/// `Σ c_k x^k`.
#[inline(always)]
fn polynomial<S: Simd, const N: usize>(simd: S, terms: &[f64; N], x: f64x8<S>) -> f64x8<S> {
    let mut sum = f64x8::splat(simd, terms[N - 1]);
    for term in terms[..N - 1].iter().rev() {
        sum = sum.mul_add(x, f64x8::splat(simd, *term));
    }
    sum
}
