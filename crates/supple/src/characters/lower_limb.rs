//! The left leg from the hip to the toes.

use super::bones::Bones;
use super::cage::{Cage, Influences, NO_HOLE, Section, along_chain};
use glam::DVec3;

/// The joints of a leg, by index.
pub(super) struct LegJoints {
    pub(super) thigh: usize,
    pub(super) thigh_twist: usize,
    pub(super) shin: usize,
    pub(super) shin_twist: usize,
    pub(super) foot: usize,
    pub(super) toes: usize,
    pub(super) big_toe: usize,
}

pub(super) const HIP: DVec3 = DVec3::new(0.088, 0.915, -0.005);
const KNEE: DVec3 = DVec3::new(0.096, 0.487, 0.002);
const ANKLE: DVec3 = DVec3::new(0.101, 0.085, -0.030);
const BALL: DVec3 = DVec3::new(0.108, 0.020, 0.088);
const BIG_TOE: DVec3 = DVec3::new(0.090, 0.016, 0.118);

/// Adds a leg's joints below `parent`; `place` maps points of the left leg to where this leg is.
pub(super) fn add_joints(
    bones: &mut Bones,
    parent: usize,
    side: &str,
    place: impl Fn(DVec3) -> DVec3,
) -> LegJoints {
    let mut above = parent;
    let mut add = |name: &str, position: DVec3| {
        above = bones.add(format!("{name}{side}"), Some(above), place(position));
        above
    };
    LegJoints {
        thigh: add("thigh", HIP),
        thigh_twist: add("thigh_twist", HIP.lerp(KNEE, 0.5)),
        shin: add("shin", KNEE),
        shin_twist: add("shin_twist", KNEE.lerp(ANKLE, 0.5)),
        foot: add("foot", ANKLE),
        toes: add("toes", BALL),
        big_toe: add("big_toe", BIG_TOE),
    }
}

/// A ring of the leg, by its foremost and rearmost points (on the foot: instep and sole).
struct LegRing {
    /// Metres from the hip along the bones, for the influences.
    along: f64,
    /// Height and depth.
    front: [f64; 2],
    back: [f64; 2],
    center: f64,
    outer: f64,
    inner: f64,
    /// Rise of the outside, per metre.
    rise: f64,
    /// Backward sweep of the outside, per metre.
    sweep: f64,
}

#[rustfmt::skip]
const RINGS: [LegRing; 21] = [
    // Thigh.
    LegRing { along: 0.080, front: [0.834,  0.090], back: [0.797, -0.108], center: 0.089, outer: 0.0805, inner: 0.082, rise: 0.40, sweep: 0.00 },
    LegRing { along: 0.125, front: [0.788,  0.089], back: [0.762, -0.100], center: 0.090, outer: 0.080, inner: 0.082, rise: 0.12, sweep: 0.00 },
    LegRing { along: 0.175, front: [0.730,  0.089], back: [0.718, -0.089], center: 0.092, outer: 0.078, inner: 0.080, rise: 0.00, sweep: 0.00 },
    LegRing { along: 0.255, front: [0.660,  0.084], back: [0.660, -0.072], center: 0.095, outer: 0.072, inner: 0.071, rise: 0.00, sweep: 0.00 },
    LegRing { along: 0.330, front: [0.585,  0.074], back: [0.585, -0.060], center: 0.096, outer: 0.062, inner: 0.060, rise: 0.00, sweep: 0.00 },
    // Knee.
    LegRing { along: 0.383, front: [0.535,  0.064], back: [0.532, -0.051], center: 0.096, outer: 0.055, inner: 0.052, rise: 0.00, sweep: 0.00 },
    LegRing { along: 0.428, front: [0.490,  0.058], back: [0.487, -0.045], center: 0.096, outer: 0.049, inner: 0.049, rise: 0.00, sweep: 0.00 },
    LegRing { along: 0.470, front: [0.447,  0.052], back: [0.445, -0.052], center: 0.096, outer: 0.0485, inner: 0.0485, rise: 0.00, sweep: 0.00 },
    // Shin.
    LegRing { along: 0.530, front: [0.385,  0.044], back: [0.385, -0.070], center: 0.098, outer: 0.056, inner: 0.053, rise: 0.00, sweep: 0.00 },
    LegRing { along: 0.595, front: [0.320,  0.034], back: [0.320, -0.076], center: 0.099, outer: 0.051, inner: 0.053, rise: 0.00, sweep: 0.00 },
    LegRing { along: 0.665, front: [0.250,  0.022], back: [0.250, -0.070], center: 0.100, outer: 0.040, inner: 0.040, rise: 0.00, sweep: 0.00 },
    LegRing { along: 0.735, front: [0.180,  0.012], back: [0.178, -0.066], center: 0.101, outer: 0.034, inner: 0.032, rise: 0.00, sweep: 0.00 },
    // Ankle and heel.
    LegRing { along: 0.790, front: [0.128,  0.010], back: [0.120, -0.064], center: 0.101, outer: 0.032, inner: 0.031, rise: 0.00, sweep: 0.00 },
    LegRing { along: 0.830, front: [0.098,  0.020], back: [0.070, -0.070], center: 0.101, outer: 0.034, inner: 0.034, rise: 0.00, sweep: 0.00 },
    LegRing { along: 0.860, front: [0.084,  0.036], back: [0.026, -0.078], center: 0.101, outer: 0.034, inner: 0.033, rise: 0.00, sweep: 0.00 },
    // Foot.
    LegRing { along: 0.885, front: [0.076,  0.050], back: [0.001, -0.052], center: 0.102, outer: 0.035, inner: 0.033, rise: 0.00, sweep: 0.00 },
    LegRing { along: 0.910, front: [0.065,  0.068], back: [0.003,  0.006], center: 0.104, outer: 0.038, inner: 0.033, rise: 0.00, sweep: 0.00 },
    LegRing { along: 0.940, front: [0.051,  0.092], back: [0.003,  0.054], center: 0.107, outer: 0.044, inner: 0.037, rise: 0.00, sweep: 0.20 },
    LegRing { along: 0.975, front: [0.037,  0.118], back: [0.000,  0.092], center: 0.109, outer: 0.047, inner: 0.043, rise: 0.00, sweep: 0.35 },
    LegRing { along: 1.005, front: [0.032,  0.145], back: [0.000,  0.134], center: 0.109, outer: 0.044, inner: 0.043, rise: 0.00, sweep: 0.40 },
    LegRing { along: 1.035, front: [0.025,  0.162], back: [0.002,  0.159], center: 0.105, outer: 0.037, inner: 0.032, rise: 0.00, sweep: 0.42 },
];

/// Grows a leg out of a rim of 12 points: from the front of the crotch around the outside to its
/// back (points 0 to 8), then forwards along the crotch.
pub(super) fn grow(cage: &mut Cage, rim: Vec<usize>, joints: &LegJoints, pelvis: usize) {
    let chain = [
        (pelvis, 0.0, 1.0),
        (joints.thigh, 0.03, 0.09),
        (joints.thigh_twist, 0.225, 0.09),
        (joints.shin, 0.428, 0.045),
        (joints.shin_twist, 0.63, 0.09),
        (joints.foot, 0.835, 0.035),
        (joints.toes, 0.968, 0.030),
    ];
    let mut last = rim;
    for ring in &RINGS {
        let points = ring.section().ring(4.0 / 12.0, -1.0 / 12.0, 12);
        let next = cage.add_ring(points, &along_chain(&chain, ring.along));
        cage.band(&next, &last, NO_HOLE);
        last = next;
    }
    hold_big_toe(cage, &last, joints);
    // The cap's long sides are the top (points 11 to 3) and the sole; seen from the front they run
    // inwards.
    let turned: Vec<usize> = (0..12).map(|i| last[(15 - i) % 12]).collect();
    let influences: Influences = vec![(joints.toes, 0.6), (joints.big_toe, 0.4)];
    cage.cap(&turned, DVec3::Z * 0.010, &influences);
}

/// The inner side of the last ring belongs to the big toe.
fn hold_big_toe(cage: &mut Cage, ring: &[usize], joints: &LegJoints) {
    for &i in &[0, 8, 9, 10, 11] {
        cage.influences[ring[i]] = vec![(joints.big_toe, 1.0)];
    }
}

impl LegRing {
    /// Seen from above with the front upwards, `side` is the outside.
    fn section(&self) -> Section {
        let point = |[height, depth]: [f64; 2]| DVec3::new(self.center, height, depth);
        let (front, back) = (point(self.front), point(self.back));
        let radius = 0.5 * (front - back).length();
        Section {
            center: (front + back) * 0.5,
            side: DVec3::new(1.0, self.rise, -self.sweep).normalize(),
            up: (front - back).normalize(),
            radii: [self.outer, self.inner, radius, radius],
            roundness: 0.95,
        }
    }
}
