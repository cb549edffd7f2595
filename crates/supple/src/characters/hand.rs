//! A left hand: palm, four fingers and a thumb, grown out of the ring of a wrist.

use super::arm_placement::{ArmPlacement, WRIST};
use super::bones::Bones;
use super::cage::{Cage, Influences, NO_HOLE, Section, along_chain, transfer_share};
use glam::{DQuat, DVec3};

/// The joints of a hand, by index.
pub(super) struct HandJoints {
    pub(super) hand: usize,
    /// Metacarpal, proximal, middle and distal of index, middle, ring and little finger.
    pub(super) fingers: [[usize; 4]; 4],
    pub(super) thumb: [usize; 3],
}

/// A finger: where its knuckle is, how it points, and its bones.
struct Finger {
    name: &'static str,
    /// Metres from the shoulder.
    knuckle: f64,
    /// Metres to the front of the arm's line, at the wrist and at the knuckle.
    front: [f64; 2],
    /// Degrees towards the front.
    splay: f64,
    /// Proximal, middle, distal.
    lengths: [f64; 3],
    /// Degrees that it is bent at its three joints when at rest.
    curl: [f64; 3],
    radius: f64,
}

#[rustfmt::skip]
const FINGERS: [Finger; 4] = [
    Finger { name: "index",  knuckle: 0.622, front: [ 0.011,  0.031], splay:  4.0, lengths: [0.043, 0.025, 0.022], curl: [ 3.0, 12.0,  8.0], radius: 0.0092 },
    Finger { name: "middle", knuckle: 0.625, front: [ 0.004,  0.010], splay:  1.0, lengths: [0.047, 0.029, 0.023], curl: [ 4.0, 14.0,  9.0], radius: 0.0094 },
    Finger { name: "ring",   knuckle: 0.620, front: [-0.004, -0.011], splay: -2.5, lengths: [0.043, 0.027, 0.023], curl: [ 5.0, 16.0, 10.0], radius: 0.0090 },
    Finger { name: "little", knuckle: 0.609, front: [-0.011, -0.030], splay: -7.0, lengths: [0.040, 0.021, 0.019], curl: [ 6.0, 17.0, 10.0], radius: 0.0080 },
];

/// The distance beyond the knuckles at which the skin parts into fingers.
const WEB: f64 = 0.022;
/// The start of the metacarpals.
const CARPUS: f64 = WRIST + 0.022;

/// A bone's frame: a point on it, along it, and the side of the back of the hand.
struct BoneFrame {
    center: DVec3,
    axis: DVec3,
    up: DVec3,
}

impl Finger {
    /// The frame at a distance from the knuckle.
    fn frame(&self, arm: &ArmPlacement, distance: f64) -> BoneFrame {
        /// Rings near a joint share its bend: over this length they turn from one bone to the next.
        const SPREAD: f64 = 0.012;
        let splayed = DQuat::from_axis_angle(arm.up(), -self.splay.to_radians());
        let (straight, side) = (splayed * arm.axis(), splayed * DVec3::Z);
        let turn = |degrees: f64| DQuat::from_axis_angle(side, -degrees.to_radians());
        let mut center = arm.at(self.knuckle, 0.0, self.front[1]);
        let (mut bend_of_bone, mut bend_of_ring) = (0.0, 0.0);
        let mut beyond = distance;
        for (length, curl) in self.lengths.into_iter().zip(self.curl) {
            bend_of_bone += curl;
            bend_of_ring += curl * (0.5 + beyond / SPREAD).clamp(0.0, 1.0);
            center += turn(bend_of_bone) * straight * beyond.clamp(0.0, length);
            beyond -= length;
        }
        BoneFrame {
            center,
            axis: turn(bend_of_ring) * straight,
            up: turn(bend_of_ring) * arm.up(),
        }
    }

    fn length(&self) -> f64 {
        self.lengths.iter().sum()
    }
}

/// The thumb's first joint as metres along the arm, up and to the front.
const THUMB_BASE: [f64; 3] = [0.554, -0.006, 0.022];
/// The directions of its first bone, and of the two others, in the same axes.
const THUMB_DIRECTIONS: [[f64; 3]; 2] = [[0.60, -0.26, 0.74], [0.82, -0.24, 0.50]];
const THUMB_LENGTHS: [f64; 3] = [0.045, 0.034, 0.028];

/// The thumb's frame at a distance from its first joint; `up` is the side that faces the fingers.
fn thumb_frame(arm: &ArmPlacement, distance: f64) -> BoneFrame {
    let [along, up, front] = THUMB_BASE;
    let [first, second] = THUMB_DIRECTIONS
        .map(|[x, y, z]| (arm.axis() * x + arm.up() * y + DVec3::Z * z).normalize());
    let knuckle = THUMB_LENGTHS[0];
    let beyond = (distance - knuckle).max(0.0);
    let center = arm.at(along, up, front) + first * distance.min(knuckle) + second * beyond;
    // Where it leaves the palm, the thumb faces to the front as the palm's edge does.
    let turned = ((distance - knuckle + 0.012) / 0.024).clamp(-0.5, 1.0);
    let axis = first.lerp(second, turned).normalize();
    BoneFrame {
        center,
        axis,
        up: (arm.axis() - axis * arm.axis().dot(axis)).normalize(),
    }
}

/// Adds a hand's joints below `parent`; `place` maps points of the left hand to where this hand is.
pub(super) fn add_joints(
    bones: &mut Bones,
    parent: usize,
    arm: &ArmPlacement,
    side: &str,
    place: impl Fn(DVec3) -> DVec3,
) -> HandJoints {
    let hand = bones.add(
        format!("hand{side}"),
        Some(parent),
        place(arm.at(WRIST, 0.0, 0.0)),
    );
    let mut thumb_distance = 0.0;
    let mut above = hand;
    let thumb = [0, 1, 2].map(|bone| {
        let center = thumb_frame(arm, thumb_distance).center;
        thumb_distance += THUMB_LENGTHS[bone];
        above = bones.add(
            format!("thumb{}{side}", bone + 1),
            Some(above),
            place(center),
        );
        above
    });
    let fingers = FINGERS.each_ref().map(|finger| {
        let metacarpal = arm.at(CARPUS, 0.0, finger.front[0]);
        let name = |bone: &str| format!("{}_{bone}{side}", finger.name);
        let first = bones.add(name("metacarpal"), Some(hand), place(metacarpal));
        let mut distance = 0.0;
        let mut above = first;
        let phalanges = [0, 1, 2].map(|bone| {
            let center = finger.frame(arm, distance).center;
            distance += finger.lengths[bone];
            above = bones.add(name(&(bone + 1).to_string()), Some(above), place(center));
            above
        });
        [first, phalanges[0], phalanges[1], phalanges[2]]
    });
    HandJoints {
        hand,
        fingers,
        thumb,
    }
}

/// A ring of the palm: an oval near the wrist that becomes a slab with evenly spaced columns for
/// the fingers.
struct PalmRing {
    along: f64,
    up: f64,
    down: f64,
    front: f64,
    back: f64,
    /// From 0 for the oval to 1 for the slab.
    slab: f64,
    /// The share of the metacarpals in the influence, and of the first phalanges in that share.
    metacarpals: f64,
    phalanges: f64,
}

#[rustfmt::skip]
const PALM: [PalmRing; 5] = [
    PalmRing { along: 0.546, up: 0.0175, down: 0.0200, front: 0.0300, back: 0.0290, slab: 0.4, metacarpals: 0.0, phalanges: 0.00 },
    PalmRing { along: 0.560, up: 0.0170, down: 0.0210, front: 0.0335, back: 0.0325, slab: 0.7, metacarpals: 0.2, phalanges: 0.00 },
    PalmRing { along: 0.594, up: 0.0155, down: 0.0200, front: 0.0385, back: 0.0375, slab: 0.9, metacarpals: 0.7, phalanges: 0.00 },
    PalmRing { along: 0.620, up: 0.0140, down: 0.0165, front: 0.0410, back: 0.0395, slab: 1.0, metacarpals: 1.0, phalanges: 0.25 },
    PalmRing { along: 0.643, up: 0.0098, down: 0.0115, front: 0.0415, back: 0.0395, slab: 1.0, metacarpals: 1.0, phalanges: 0.80 },
];

/// Between which of the palm's rings the thumb comes out, at the quads of these columns.
const THUMB_ROW: usize = 2;
const THUMB_COLUMNS: std::ops::Range<usize> = 4..6;

impl PalmRing {
    fn points(&self, arm: &ArmPlacement) -> Vec<DVec3> {
        let oval = Section {
            center: DVec3::ZERO,
            side: DVec3::Z,
            up: DVec3::Y,
            radii: [self.front, self.back, self.up, self.down],
            roundness: 0.9,
        };
        let point = |i: usize, oval: DVec3| {
            // Columns 0 to 4 from the little finger to the index on the back of the hand, 10 to 6
            // in the palm.
            let (column, height) = match i {
                0..=4 => (i as f64, self.up),
                5 => (4.2, 0.0),
                6..=10 => ((10 - i) as f64, -self.down),
                _ => (-0.2, 0.0),
            };
            let edge = (column - 2.0).abs() / 2.0;
            let front = -self.back + (self.front + self.back) * column / 4.0;
            let height = height * (1.0 - 0.22 * edge * edge);
            let [front, up] = [
                oval.z + (front - oval.z) * self.slab,
                oval.y + (height - oval.y) * self.slab,
            ];
            // The line of knuckles falls back towards the little finger.
            let fall = 7.5 * (front - 0.012).powi(2) * self.slab;
            arm.at(self.along - fall, up, front)
        };
        let around = oval.ring(5.0 / 12.0, -1.0 / 12.0, 12).into_iter();
        around.enumerate().map(|(i, oval)| point(i, oval)).collect()
    }

    /// Between the bones of the two fingers that a column of the ring lies between.
    fn influences(&self, joints: &HandJoints, i: usize) -> Influences {
        let column = match i {
            0..=4 => i,
            5 => 4,
            6..=10 => 10 - i,
            _ => 0,
        };
        let mut row = vec![(joints.hand, 1.0 - self.metacarpals)];
        let neighbours = [3 - column.saturating_sub(1).min(3), 3 - column.min(3)];
        for finger in neighbours.map(|finger| joints.fingers[finger]) {
            row.push((finger[0], 0.5 * self.metacarpals * (1.0 - self.phalanges)));
            row.push((finger[1], 0.5 * self.metacarpals * self.phalanges));
        }
        row
    }
}

/// Grows a hand out of the wrist's ring of 12 points (see [`super::upper_limb::grow`] for their
/// order).
pub(super) fn grow(cage: &mut Cage, wrist: Vec<usize>, arm: &ArmPlacement, joints: &HandJoints) {
    let mut rings = vec![wrist];
    for (row, ring) in PALM.iter().enumerate() {
        let points = ring.points(arm).into_iter().enumerate();
        let next: Vec<usize> = points
            .map(|(i, point)| cage.add(point, ring.influences(joints, i)))
            .collect();
        let hole = if row == THUMB_ROW {
            THUMB_COLUMNS
        } else {
            NO_HOLE
        };
        cage.band(&rings[row], &next, hole);
        rings.push(next);
    }
    let (before, after) = (&rings[THUMB_ROW], &rings[THUMB_ROW + 1]);
    let rim = [
        before[6], after[6], after[5], after[4], before[4], before[5],
    ];
    grow_thumb(cage, rim, arm, joints);

    let knuckles = &rings[PALM.len()];
    let influences: Vec<Influences> = [1, 2, 3]
        .map(|i| PALM[PALM.len() - 1].influences(joints, i))
        .into();
    let middle = cage.middle_of_cap(knuckles, DVec3::ZERO, &Influences::new());
    for (point, row) in middle[1..4].iter().zip(influences) {
        cage.influences[*point] = row;
    }
    for (index, (finger, bones)) in FINGERS.iter().zip(joints.fingers).enumerate() {
        let column = 3 - index;
        let rim = [
            knuckles[column],
            knuckles[column + 1],
            middle[column + 1],
            knuckles[10 - column - 1],
            knuckles[10 - column],
            middle[column],
        ];
        grow_finger(cage, rim, arm, finger, bones);
    }
}

fn grow_finger(
    cage: &mut Cage,
    rim: [usize; 6],
    arm: &ArmPlacement,
    finger: &Finger,
    bones: [usize; 4],
) {
    let [first, second, third] = finger.lengths;
    let (tip, bend, last) = (finger.length(), first, first + second);
    // Distance from the knuckle, and thickness.
    let rings = [
        (0.5 * (WEB + bend - 0.007), 1.06),
        (bend - 0.007, 1.0),
        (bend, 1.01),
        (bend + 0.008, 0.95),
        (last - 0.005, 0.89),
        (last + 0.005, 0.86),
        (tip - 0.4 * third, 0.80),
        (tip - 0.0015, 0.45),
    ];
    let chain = [
        (bones[0], 0.0, 1.0),
        (bones[1], 0.0, 0.02),
        (bones[2], bend, 0.010),
        (bones[3], last, 0.007),
    ];
    let sections = rings.map(|(distance, thickness)| {
        let frame = finger.frame(arm, distance);
        let radius = finger.radius * thickness;
        let section = Section {
            center: frame.center,
            side: frame.up.cross(-frame.axis),
            up: frame.up,
            radii: [radius, radius, radius * 0.92, radius],
            roundness: 1.0,
        };
        (section, along_chain(&chain, distance))
    });
    grow_digit(cage, rim, &sections);
}

fn grow_thumb(cage: &mut Cage, rim: [usize; 6], arm: &ArmPlacement, joints: &HandJoints) {
    let [metacarpal, proximal, distal] = THUMB_LENGTHS;
    let (knuckle, bend) = (metacarpal, metacarpal + proximal);
    let tip = bend + distal;
    let rings = [
        (knuckle - 0.006, 0.0140),
        (knuckle + 0.003, 0.0124),
        (knuckle + 0.013, 0.0106),
        (bend - 0.008, 0.0103),
        (bend, 0.0106),
        (bend + 0.007, 0.0100),
        (tip - 0.010, 0.0090),
        (tip - 0.0015, 0.0048),
    ];
    let [first, second, third] = joints.thumb;
    let chain = [
        (first, 0.0, 1.0),
        (second, knuckle, 0.014),
        (third, bend, 0.010),
    ];
    for &point in &rim {
        transfer_share(&mut cage.influences[point], first, 0.5);
    }
    let sections = rings.map(|(distance, radius)| {
        let frame = thumb_frame(arm, distance);
        let section = Section {
            center: frame.center,
            side: frame.up,
            up: frame.up.cross(frame.axis),
            radii: [radius * 0.95, radius * 0.95, radius, radius],
            roundness: 1.0,
        };
        (section, along_chain(&chain, distance))
    });
    grow_digit(cage, rim, &sections);
}

/// Rings of six points, closed by two quads. The third point of the rim lies towards the sections'
/// `side`.
fn grow_digit(cage: &mut Cage, rim: [usize; 6], sections: &[(Section, Influences)]) {
    let mut last = rim.to_vec();
    for (section, influences) in sections {
        let next = cage.add_ring(section.ring(2.0 / 6.0, -1.0 / 6.0, 6), influences);
        cage.band(&last, &next, NO_HOLE);
        last = next;
    }
    if let [a, b, c, d, e, f] = last[..] {
        cage.quads.extend([[a, b, c, f], [f, c, d, e]]);
    }
}
