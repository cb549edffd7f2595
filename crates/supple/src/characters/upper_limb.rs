//! The arm from shoulder to wrist, for the left side; the hand that follows is in [`super::hand`].

use super::arm_placement::{ArmPlacement, WRIST};
use super::bones::Bones;
use super::cage::{Cage, NO_HOLE, Section, along_chain};
use super::hand::{self, HandJoints};
use glam::DVec3;

/// The joints of an arm, by index.
pub(super) struct ArmJoints {
    pub(super) upper_arm: usize,
    pub(super) upper_arm_twist: usize,
    pub(super) forearm: usize,
    pub(super) forearm_twist: usize,
    pub(super) hand: HandJoints,
}

const UPPER_ARM_TWIST: f64 = 0.145;
const ELBOW: f64 = 0.285;
const FOREARM_TWIST: f64 = 0.405;

/// Adds an arm's joints below `parent`; `place` maps points of the left arm to where this arm is.
pub(super) fn add_joints(
    bones: &mut Bones,
    parent: usize,
    arm: &ArmPlacement,
    side: &str,
    place: impl Fn(DVec3) -> DVec3,
) -> ArmJoints {
    let mut parent = Some(parent);
    let mut add = |name: &str, along: f64| {
        let depth = depth_of_bone(along);
        let joint = bones.add(
            format!("{name}{side}"),
            parent,
            place(arm.at(along, 0.0, depth)),
        );
        parent = Some(joint);
        joint
    };
    let upper_arm = add("upper_arm", 0.0);
    let upper_arm_twist = add("upper_arm_twist", UPPER_ARM_TWIST);
    let forearm = add("forearm", ELBOW);
    let forearm_twist = add("forearm_twist", FOREARM_TWIST);
    ArmJoints {
        upper_arm,
        upper_arm_twist,
        forearm,
        forearm_twist,
        hand: hand::add_joints(bones, forearm_twist, arm, side, place),
    }
}

/// The elbow lies a little behind the line from shoulder to wrist.
fn depth_of_bone(along: f64) -> f64 {
    let at_elbow = -0.012;
    if along < ELBOW {
        at_elbow * along / ELBOW
    } else {
        at_elbow * ((WRIST - along) / (WRIST - ELBOW)).max(0.0)
    }
}

/// A ring of the arm: place, how far it leans towards the shoulder's slope, and radii.
struct ArmRing {
    along: f64,
    lean_degrees: f64,
    up: f64,
    down: f64,
    front: f64,
    back: f64,
}

#[rustfmt::skip]
const RINGS: [ArmRing; 13] = [
    ArmRing { along: 0.012, lean_degrees: 24.0, up: 0.058, down: 0.066, front: 0.064, back: 0.066 },
    ArmRing { along: 0.052, lean_degrees:  8.0, up: 0.063, down: 0.052, front: 0.060, back: 0.060 },
    ArmRing { along: 0.105, lean_degrees:  0.0, up: 0.056, down: 0.044, front: 0.052, back: 0.051 },
    ArmRing { along: 0.160, lean_degrees:  0.0, up: 0.044, down: 0.041, front: 0.051, back: 0.047 },
    ArmRing { along: 0.215, lean_degrees:  0.0, up: 0.038, down: 0.037, front: 0.043, back: 0.042 },
    ArmRing { along: 0.255, lean_degrees:  0.0, up: 0.037, down: 0.036, front: 0.036, back: 0.039 },
    ArmRing { along: 0.285, lean_degrees:  0.0, up: 0.039, down: 0.037, front: 0.034, back: 0.039 },
    ArmRing { along: 0.319, lean_degrees:  0.0, up: 0.041, down: 0.036, front: 0.037, back: 0.037 },
    ArmRing { along: 0.365, lean_degrees:  0.0, up: 0.040, down: 0.035, front: 0.037, back: 0.035 },
    ArmRing { along: 0.420, lean_degrees:  0.0, up: 0.033, down: 0.030, front: 0.033, back: 0.031 },
    ArmRing { along: 0.475, lean_degrees:  0.0, up: 0.025, down: 0.023, front: 0.029, back: 0.027 },
    ArmRing { along: 0.512, lean_degrees:  0.0, up: 0.020, down: 0.019, front: 0.028, back: 0.026 },
    ArmRing { along: 0.532, lean_degrees:  0.0, up: 0.018, down: 0.019, front: 0.028, back: 0.027 },
];

/// Grows an arm and its hand out of a rim of 12 points.
///
/// The rim runs over the top from back to front (points 0 to 4), down the front, and back below (6
/// to 10). What of the influence the arm's own joints do not take, `trunk` has.
pub(super) fn grow(
    cage: &mut Cage,
    rim: Vec<usize>,
    arm: &ArmPlacement,
    joints: &ArmJoints,
    trunk: usize,
) {
    let chain = [
        (trunk, 0.0, 1.0),
        (joints.upper_arm, 0.0, 0.075),
        (joints.upper_arm_twist, UPPER_ARM_TWIST, 0.07),
        (joints.forearm, ELBOW, 0.034),
        (joints.forearm_twist, FOREARM_TWIST, 0.07),
        (joints.hand.hand, WRIST, 0.022),
    ];
    let mut last = rim;
    for ring in &RINGS {
        let points = ring.section(arm).ring(5.0 / 12.0, -1.0 / 12.0, 12);
        let next = cage.add_ring(points, &along_chain(&chain, ring.along));
        cage.band(&last, &next, NO_HOLE);
        last = next;
    }
    hand::grow(cage, last, arm, &joints.hand);
}

impl ArmRing {
    fn section(&self, arm: &ArmPlacement) -> Section {
        let lean = self.lean_degrees.to_radians();
        Section {
            center: arm.at(self.along, 0.0, depth_of_bone(self.along)),
            side: DVec3::Z,
            up: arm.up() * lean.cos() - arm.axis() * lean.sin(),
            radii: [self.front, self.back, self.up, self.down],
            roundness: 0.95,
        }
    }
}
