//! The left half of trunk, neck and head, open along the plane x = 0.

use super::cage::{Cage, Influences, NO_HOLE, along_chain, smooth_step, transfer_share};
use glam::DVec3;
use std::f64::consts::PI;

/// Points of half a ring, from the front of the middle plane around the side to its back.
const COLUMNS: usize = 9;
/// The columns between which the arm comes out.
const ARM_COLUMNS: std::ops::Range<usize> = 2..6;
/// The rows between which it does: three rows, two quads.
const ARM_ROWS: [usize; 3] = [9, 10, 11];

/// Joints that hold the trunk, by index.
pub(super) struct TrunkJoints {
    pub(super) pelvis: usize,
    pub(super) spine: [usize; 4],
    pub(super) chest: usize,
    pub(super) neck: [usize; 2],
    pub(super) head: usize,
    pub(super) jaw: usize,
}

/// Heights at which the joints of the trunk take over, and half of the length over which they do.
const SPINE_HEIGHTS: [(f64, f64); 8] = [
    (1.005, 0.05),
    (1.065, 0.04),
    (1.130, 0.04),
    (1.195, 0.04),
    (1.260, 0.04),
    (1.490, 0.025),
    (1.530, 0.025),
    (1.575, 0.025),
];

/// Half a ring: heights at front, side and back, half of the width, depths at front and back.
struct TrunkRing {
    heights: [f64; 3],
    width: f64,
    front: f64,
    back: f64,
    /// The depth of the middle line behind that at front and back: breastbone, spine, cleft.
    groove: [f64; 2],
    roundness: f64,
}

#[rustfmt::skip]
const RINGS: [TrunkRing; 26] = [
    // Hips.
    TrunkRing { heights: [0.842, 0.912, 0.832], width: 0.1685, front: 0.098, back: -0.120, groove: [0.018, 0.030], roundness: 0.69 },
    TrunkRing { heights: [0.893, 0.942, 0.884], width: 0.167, front: 0.102, back: -0.132, groove: [0.006, 0.024], roundness: 0.72 },
    TrunkRing { heights: [0.942, 0.974, 0.938], width: 0.160, front: 0.104, back: -0.126, groove: [0.000, 0.018], roundness: 0.78 },
    TrunkRing { heights: [0.994, 1.006, 0.996], width: 0.147, front: 0.104, back: -0.102, groove: [0.001, 0.009], roundness: 0.86 },
    // Waist.
    TrunkRing { heights: [1.048, 1.048, 1.048], width: 0.135, front: 0.102, back: -0.084, groove: [0.003, 0.008], roundness: 0.88 },
    TrunkRing { heights: [1.100, 1.100, 1.100], width: 0.130, front: 0.099, back: -0.079, groove: [0.003, 0.009], roundness: 0.88 },
    TrunkRing { heights: [1.150, 1.150, 1.150], width: 0.136, front: 0.102, back: -0.088, groove: [0.004, 0.009], roundness: 0.86 },
    // Ribs.
    TrunkRing { heights: [1.202, 1.202, 1.202], width: 0.148, front: 0.112, back: -0.104, groove: [0.004, 0.009], roundness: 0.84 },
    TrunkRing { heights: [1.255, 1.255, 1.255], width: 0.160, front: 0.121, back: -0.118, groove: [0.001, 0.009], roundness: 0.90 },
    // Shoulders: the arm comes out between these three.
    TrunkRing { heights: [1.308, 1.300, 1.310], width: 0.166, front: 0.124, back: -0.127, groove: [0.000, 0.010], roundness: 0.92 },
    TrunkRing { heights: [1.365, 1.365, 1.370], width: 0.166, front: 0.107, back: -0.127, groove: [0.000, 0.010], roundness: 0.93 },
    TrunkRing { heights: [1.418, 1.447, 1.434], width: 0.165, front: 0.080, back: -0.115, groove: [0.000, 0.006], roundness: 0.94 },
    // Neck.
    TrunkRing { heights: [1.444, 1.472, 1.474], width: 0.112, front: 0.056, back: -0.097, groove: [0.002, 0.002], roundness: 0.97 },
    TrunkRing { heights: [1.462, 1.494, 1.508], width: 0.067, front: 0.044, back: -0.079, groove: [0.000, 0.000], roundness: 1.0 },
    TrunkRing { heights: [1.487, 1.522, 1.538], width: 0.056, front: 0.043, back: -0.069, groove: [0.000, 0.000], roundness: 1.0 },
    TrunkRing { heights: [1.512, 1.550, 1.568], width: 0.055, front: 0.045, back: -0.068, groove: [0.000, 0.000], roundness: 1.0 },
    // Head.
    TrunkRing { heights: [1.522, 1.568, 1.592], width: 0.060, front: 0.082, back: -0.077, groove: [0.000, 0.000], roundness: 0.95 },
    TrunkRing { heights: [1.545, 1.590, 1.612], width: 0.067, front: 0.096, back: -0.087, groove: [0.000, 0.000], roundness: 0.94 },
    TrunkRing { heights: [1.573, 1.610, 1.632], width: 0.071, front: 0.098, back: -0.095, groove: [0.000, 0.000], roundness: 0.94 },
    TrunkRing { heights: [1.599, 1.630, 1.650], width: 0.073, front: 0.099, back: -0.100, groove: [0.000, 0.000], roundness: 0.94 },
    TrunkRing { heights: [1.625, 1.650, 1.668], width: 0.075, front: 0.099, back: -0.103, groove: [0.000, 0.000], roundness: 0.94 },
    TrunkRing { heights: [1.650, 1.670, 1.686], width: 0.077, front: 0.098, back: -0.103, groove: [0.000, 0.000], roundness: 0.94 },
    TrunkRing { heights: [1.674, 1.690, 1.704], width: 0.0755, front: 0.099, back: -0.100, groove: [0.000, 0.000], roundness: 0.94 },
    TrunkRing { heights: [1.700, 1.711, 1.720], width: 0.0695, front: 0.092, back: -0.091, groove: [0.000, 0.000], roundness: 0.97 },
    TrunkRing { heights: [1.724, 1.730, 1.734], width: 0.056, front: 0.074, back: -0.073, groove: [0.000, 0.000], roundness: 1.0 },
    TrunkRing { heights: [1.738, 1.741, 1.741], width: 0.038, front: 0.046, back: -0.050, groove: [0.000, 0.000], roundness: 1.0 },
];
/// Degrees by which the columns of the lowest rows are drawn to the middle behind, so that the
/// cleft is narrow.
const GATHERED_BEHIND: [f64; 4] = [11.0, 10.0, 8.0, 4.0];
/// The top of the head.
const CROWN: f64 = 1.7485;
/// The crotch between its front and its back: heights and depths.
const CROTCH: [[f64; 2]; 3] = [[0.806, -0.048], [0.798, -0.004], [0.806, 0.042]];

/// The borders at which limbs grow out of the trunk.
pub(super) struct Rims {
    /// In the order that [`super::upper_limb::grow`] wants.
    pub(super) arm: Vec<usize>,
    /// In the order that [`super::lower_limb::grow`] wants.
    pub(super) leg: Vec<usize>,
}

/// Makes the half trunk and says where arm and leg go.
pub(super) fn grow(cage: &mut Cage, joints: &TrunkJoints) -> Rims {
    let mut rows: Vec<Vec<usize>> = Vec::new();
    for (row, ring) in RINGS.iter().enumerate() {
        let mut next = Vec::with_capacity(COLUMNS);
        for column in 0..COLUMNS {
            // Inside of the arm's hole there is no point; a neighbour stands in, which no quad will
            // use.
            let in_hole =
                row == ARM_ROWS[1] && column > ARM_COLUMNS.start && column < ARM_COLUMNS.end;
            next.push(match next.last() {
                Some(&neighbour) if in_hole => neighbour,
                _ => cage.add(
                    ring.point(row, column),
                    influences(joints, ring, row, column),
                ),
            });
        }
        if let Some(last) = rows.last() {
            let at_arm = ARM_ROWS[1..].contains(&row);
            cage.strip(last, &next, if at_arm { ARM_COLUMNS } else { NO_HOLE });
        }
        rows.push(next);
    }
    close_crown(cage, &rows[RINGS.len() - 1], joints.head);
    let crotch = CROTCH.map(|[height, depth]| {
        cage.add(DVec3::new(0.0, height, depth), vec![(joints.pelvis, 1.0)])
    });
    let [below, beside, above] = ARM_ROWS.map(|row| &rows[row]);
    let over_the_top = ARM_COLUMNS.start..=ARM_COLUMNS.end;
    let mut arm: Vec<usize> = over_the_top.clone().rev().map(|i| above[i]).collect();
    arm.push(beside[ARM_COLUMNS.start]);
    arm.extend(over_the_top.map(|i| below[i]));
    arm.push(beside[ARM_COLUMNS.end]);
    let leg = rows[0].iter().chain(&crotch).copied().collect();
    Rims { arm, leg }
}

impl TrunkRing {
    fn point(&self, row: usize, column: usize) -> DVec3 {
        let gathered = match (column, GATHERED_BEHIND.get(row)) {
            (7, Some(degrees)) => *degrees,
            (6, Some(degrees)) => 0.5 * degrees,
            _ => 0.0,
        };
        let angle = PI * column as f64 / (COLUMNS - 1) as f64 + gathered.to_radians();
        let (sine, cosine) = angle.sin_cos();
        let power = |x: f64| x.abs().powf(self.roundness);
        let [front, side, back] = self.heights;
        let (height, depth) = if cosine > 0.0 {
            (front, self.front)
        } else {
            (back, self.back)
        };
        // Depths are measured from the middle of the ring, which is where it is widest.
        let center = 0.5 * (self.front + self.back);
        let groove = match column {
            0 => -self.groove[0],
            column if column == COLUMNS - 1 => self.groove[1],
            _ => 0.0,
        };
        DVec3::new(
            self.width * power(sine),
            side + (height - side) * cosine * cosine,
            center + (depth - center) * power(cosine) + groove,
        )
    }
}

fn influences(joints: &TrunkJoints, ring: &TrunkRing, row: usize, column: usize) -> Influences {
    let order = [
        joints.pelvis,
        joints.spine[0],
        joints.spine[1],
        joints.spine[2],
        joints.spine[3],
        joints.chest,
        joints.neck[0],
        joints.neck[1],
        joints.head,
    ];
    let mut chain = vec![(order[0], 0.0, 1.0)];
    let takes_over = order[1..].iter().zip(SPINE_HEIGHTS);
    chain.extend(takes_over.map(|(&joint, (height, half))| (joint, height, half)));
    let mut row_influences = along_chain(&chain, ring.heights[1]);
    // The jaw holds the front of the lowest rings of the head.
    const CHIN: usize = 17;
    let rows_off = (row as f64 - CHIN as f64).abs();
    let share = smooth_step(1.4 - 0.6 * rows_off) * smooth_step(1.6 - 0.35 * column as f64);
    if row >= CHIN - 1 && share > 0.0 {
        transfer_share(&mut row_influences, joints.jaw, share);
    }
    row_influences
}

/// Closes the last half ring by a grid of 2 × 4 quads.
fn close_crown(cage: &mut Cage, ring: &[usize], head: usize) {
    let middle: Vec<usize> = (1..4)
        .map(|i| {
            let (front, back) = (cage.points[ring[0]], cage.points[ring[8]]);
            let depth = front.z + (back.z - front.z) * i as f64 / 4.0;
            let height = CROWN - 0.002 * f64::from(i != 2);
            cage.add(DVec3::new(0.0, height, depth), vec![(head, 1.0)])
        })
        .collect();
    let beside: Vec<usize> = (0..3)
        .map(|i| {
            let point = (cage.points[middle[i]] + cage.points[ring[3 + i]]) * 0.5;
            let raised = DVec3::new(point.x, point.y + 0.0015, point.z);
            cage.add(raised, vec![(head, 1.0)])
        })
        .collect();
    let line = |front: usize, inner: &[usize], back: usize| -> Vec<usize> {
        let mut line = vec![front];
        line.extend(inner);
        line.push(back);
        line
    };
    let middle = line(ring[0], &middle, ring[8]);
    let beside = line(ring[1], &beside, ring[7]);
    cage.strip(&beside, &middle, NO_HOLE);
    cage.strip(&ring[2..7], &beside, NO_HOLE);
}
