//! The left half of trunk, neck and head, open along the plane x = 0.

use super::cage::{Cage, Influences, NO_HOLE, along_chain, smooth_step, transfer_share};
use glam::DVec3;
use std::ops::Range;

/// Points of half a ring, from the front of the middle plane around the side to its back.
const COLUMNS: usize = 9;
/// The hole from which the arm grows.
const ARM: Hole = Hole {
    rows: 9..11,
    columns: 2..6,
};
/// The hole from which the ear grows.
const EAR: Hole = Hole {
    rows: 22..26,
    columns: 4..6,
};

/// Quads that are left out, by the rows and columns of points between which they lie.
struct Hole {
    rows: Range<usize>,
    columns: Range<usize>,
}

impl Hole {
    /// True for points inside, which do not exist.
    fn contains(&self, row: usize, column: usize) -> bool {
        row > self.rows.start
            && row < self.rows.end
            && column > self.columns.start
            && column < self.columns.end
    }

    /// The columns of quads to leave out below a row of points.
    fn below(&self, row: usize) -> Option<Range<usize>> {
        let is_beside = row > self.rows.start && row <= self.rows.end;
        is_beside.then(|| self.columns.clone())
    }

    /// The points around: down the front, backwards below, up the back, forwards above.
    fn rim(&self, rows: &[Vec<usize>]) -> Vec<usize> {
        let (bottom, top) = (self.rows.start, self.rows.end);
        let (front, back) = (self.columns.start, self.columns.end);
        let down = (bottom + 1..=top).rev().map(|row| (row, front));
        let backwards = (front..back).map(|column| (bottom, column));
        let up = (bottom..top).map(|row| (row, back));
        let forwards = (front + 1..=back).rev().map(|column| (top, column));
        let around = down.chain(backwards).chain(up).chain(forwards);
        around.map(|(row, column)| rows[row][column]).collect()
    }
}

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
    /// From 0 for columns at even angles to 1 for those of a head.
    head: f64,
}

#[rustfmt::skip]
const RINGS: [TrunkRing; 32] = [
    // Hips.
    TrunkRing { heights: [0.842, 0.912, 0.832], width: 0.1685, front: 0.098, back: -0.120, groove: [0.018, 0.030], roundness: 0.69, head: 0.0 },
    TrunkRing { heights: [0.893, 0.942, 0.884], width: 0.167, front: 0.102, back: -0.132, groove: [0.006, 0.024], roundness: 0.72, head: 0.0 },
    TrunkRing { heights: [0.942, 0.974, 0.938], width: 0.160, front: 0.104, back: -0.126, groove: [0.000, 0.018], roundness: 0.78, head: 0.0 },
    TrunkRing { heights: [0.994, 1.006, 0.996], width: 0.147, front: 0.104, back: -0.102, groove: [0.001, 0.009], roundness: 0.86, head: 0.0 },
    // Waist.
    TrunkRing { heights: [1.048, 1.048, 1.048], width: 0.135, front: 0.102, back: -0.084, groove: [0.003, 0.008], roundness: 0.88, head: 0.0 },
    TrunkRing { heights: [1.100, 1.100, 1.100], width: 0.130, front: 0.099, back: -0.079, groove: [0.003, 0.009], roundness: 0.88, head: 0.0 },
    TrunkRing { heights: [1.150, 1.150, 1.150], width: 0.136, front: 0.102, back: -0.088, groove: [0.004, 0.009], roundness: 0.86, head: 0.0 },
    // Ribs.
    TrunkRing { heights: [1.202, 1.202, 1.202], width: 0.148, front: 0.112, back: -0.104, groove: [0.004, 0.009], roundness: 0.84, head: 0.0 },
    TrunkRing { heights: [1.255, 1.255, 1.255], width: 0.160, front: 0.121, back: -0.118, groove: [0.001, 0.009], roundness: 0.90, head: 0.0 },
    // Shoulders: the arm comes out between these three.
    TrunkRing { heights: [1.308, 1.300, 1.310], width: 0.166, front: 0.124, back: -0.127, groove: [0.000, 0.010], roundness: 0.92, head: 0.0 },
    TrunkRing { heights: [1.365, 1.365, 1.370], width: 0.166, front: 0.107, back: -0.127, groove: [0.000, 0.010], roundness: 0.93, head: 0.0 },
    TrunkRing { heights: [1.418, 1.447, 1.434], width: 0.165, front: 0.080, back: -0.115, groove: [0.000, 0.006], roundness: 0.94, head: 0.0 },
    // Neck.
    TrunkRing { heights: [1.444, 1.472, 1.474], width: 0.112, front: 0.056, back: -0.097, groove: [0.002, 0.002], roundness: 0.97, head: 0.0 },
    TrunkRing { heights: [1.462, 1.494, 1.508], width: 0.067, front: 0.044, back: -0.079, groove: [0.000, 0.000], roundness: 1.0, head: 0.0 },
    TrunkRing { heights: [1.487, 1.522, 1.538], width: 0.056, front: 0.043, back: -0.069, groove: [0.000, 0.000], roundness: 1.0, head: 0.0 },
    TrunkRing { heights: [1.512, 1.550, 1.568], width: 0.055, front: 0.045, back: -0.068, groove: [0.000, 0.000], roundness: 1.0, head: 0.0 },
    // Head: the chin.
    TrunkRing { heights: [1.5220, 1.5620, 1.5880], width: 0.0540, front: 0.0740, back: -0.0770, groove: [0.000, 0.000], roundness: 1.00, head: 0.5 },
    TrunkRing { heights: [1.5305, 1.5690, 1.5980], width: 0.0565, front: 0.0905, back: -0.0820, groove: [0.000, 0.000], roundness: 1.00, head: 0.8 },
    TrunkRing { heights: [1.5460, 1.5770, 1.6050], width: 0.0600, front: 0.0955, back: -0.0870, groove: [0.000, 0.000], roundness: 0.99, head: 1.0 },
    TrunkRing { heights: [1.5600, 1.5850, 1.6120], width: 0.0630, front: 0.0962, back: -0.0910, groove: [0.000, 0.000], roundness: 0.98, head: 1.0 },
    // Mouth.
    TrunkRing { heights: [1.5710, 1.5925, 1.6190], width: 0.0655, front: 0.0968, back: -0.0940, groove: [0.000, 0.000], roundness: 0.97, head: 1.0 },
    TrunkRing { heights: [1.5805, 1.5990, 1.6260], width: 0.0675, front: 0.0973, back: -0.0965, groove: [0.000, 0.000], roundness: 0.96, head: 1.0 },
    // Ears: they grow between this row and the fourth above.
    TrunkRing { heights: [1.5900, 1.6060, 1.6330], width: 0.0690, front: 0.0976, back: -0.0985, groove: [0.000, 0.000], roundness: 0.95, head: 1.0 },
    // Nose.
    TrunkRing { heights: [1.6020, 1.6180, 1.6410], width: 0.0705, front: 0.0978, back: -0.1000, groove: [0.000, 0.000], roundness: 0.95, head: 1.0 },
    TrunkRing { heights: [1.6140, 1.6320, 1.6500], width: 0.0720, front: 0.0979, back: -0.1015, groove: [0.000, 0.000], roundness: 0.94, head: 1.0 },
    TrunkRing { heights: [1.6290, 1.6460, 1.6600], width: 0.0732, front: 0.0977, back: -0.1030, groove: [0.000, 0.000], roundness: 0.94, head: 1.0 },
    // Eyes.
    TrunkRing { heights: [1.6450, 1.6590, 1.6700], width: 0.0743, front: 0.0974, back: -0.1035, groove: [0.000, 0.000], roundness: 0.94, head: 1.0 },
    TrunkRing { heights: [1.6575, 1.6680, 1.6790], width: 0.0750, front: 0.0975, back: -0.1035, groove: [0.000, 0.000], roundness: 0.94, head: 1.0 },
    // Brow, forehead, crown.
    TrunkRing { heights: [1.6690, 1.6770, 1.6880], width: 0.0755, front: 0.0972, back: -0.1025, groove: [0.000, 0.000], roundness: 0.94, head: 1.0 },
    TrunkRing { heights: [1.6900, 1.6940, 1.7040], width: 0.0735, front: 0.0945, back: -0.0980, groove: [0.000, 0.000], roundness: 0.95, head: 1.0 },
    TrunkRing { heights: [1.7170, 1.7180, 1.7230], width: 0.0650, front: 0.0820, back: -0.0860, groove: [0.000, 0.000], roundness: 0.97, head: 0.6 },
    TrunkRing { heights: [1.7370, 1.7375, 1.7390], width: 0.0470, front: 0.0590, back: -0.0640, groove: [0.000, 0.000], roundness: 1.00, head: 0.0 },
];
/// The lowest row of the head.
const JAW_ROW: usize = 16;
/// Degrees by which the columns of the lowest rows are drawn to the middle behind, so that the
/// cleft is narrow.
const GATHERED_BEHIND: [f64; 4] = [11.0, 10.0, 8.0, 4.0];
/// Degrees from the front of the columns of the head: most of them in the face.
const HEAD_COLUMNS: [f64; COLUMNS] = [0.0, 10.0, 24.0, 42.0, 68.0, 88.0, 108.0, 142.0, 180.0];
/// Degrees by which they are drawn to the ear.
const BESIDE_EAR: [f64; COLUMNS] = [0.0, 0.0, 0.0, 2.0, 11.0, 2.0, -2.0, -2.0, 0.0];
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
    /// In the order that [`super::ear::grow`] wants.
    pub(super) ear: Vec<usize>,
}

/// Makes the half trunk and says where arm, leg and ear go.
pub(super) fn grow(cage: &mut Cage, joints: &TrunkJoints) -> Rims {
    let mut rows: Vec<Vec<usize>> = Vec::new();
    for (row, ring) in RINGS.iter().enumerate() {
        let mut next = Vec::with_capacity(COLUMNS);
        for column in 0..COLUMNS {
            // Inside of a hole there is no point; a neighbour stands in, which no quad will use.
            let in_hole = [ARM, EAR].iter().any(|hole| hole.contains(row, column));
            next.push(match next.last() {
                Some(&neighbour) if in_hole => neighbour,
                _ => cage.add(
                    ring.point(row, column),
                    influences(joints, ring, row, column),
                ),
            });
        }
        if let Some(last) = rows.last() {
            let hole = [ARM, EAR].iter().find_map(|hole| hole.below(row));
            cage.strip(last, &next, hole.unwrap_or(NO_HOLE));
        }
        rows.push(next);
    }
    close_crown(cage, &rows[RINGS.len() - 1], joints.head);
    let crotch = CROTCH.map(|[height, depth]| {
        cage.add(DVec3::new(0.0, height, depth), vec![(joints.pelvis, 1.0)])
    });
    let mut arm = ARM.rim(&rows);
    // From the top of its back.
    arm.rotate_left(8);
    Rims {
        arm,
        leg: rows[0].iter().chain(&crotch).copied().collect(),
        ear: EAR.rim(&rows),
    }
}

impl TrunkRing {
    /// The angle of a column from the front.
    fn degrees(&self, row: usize, column: usize) -> f64 {
        let even = 180.0 * column as f64 / (COLUMNS - 1) as f64;
        let gathered = match (column, GATHERED_BEHIND.get(row)) {
            (7, Some(degrees)) => *degrees,
            (6, Some(degrees)) => 0.5 * degrees,
            _ => 0.0,
        };
        let rows_off = EAR.rows.start.saturating_sub(row) + row.saturating_sub(EAR.rows.end);
        let at_ear = BESIDE_EAR[column] * (1.0 - 0.25 * rows_off as f64).max(0.0);
        even + gathered + self.head * (HEAD_COLUMNS[column] + at_ear - even)
    }

    fn point(&self, row: usize, column: usize) -> DVec3 {
        let degrees = self.degrees(row, column);
        let (sine, cosine) = degrees.to_radians().sin_cos();
        let power = |x: f64| x.abs().powf(self.roundness);
        let [front, side, back] = self.heights;
        let (height, depth) = if cosine > 0.0 {
            (front, self.front)
        } else {
            (back, self.back)
        };
        // Rows of a face run level from eye to eye, then towards the ear.
        let slope = cosine * cosine;
        let level = 1.0 - smooth_step((degrees - 22.0) / 66.0);
        let share = match cosine > 0.0 {
            true => slope + self.head * (level - slope),
            false => slope,
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
            side + (height - side) * share,
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
    // The jaw holds the front of the face up to the lower lip.
    if row >= JAW_ROW {
        let below = smooth_step((1.599 - ring.heights[0]) / 0.030);
        let front = smooth_step(1.6 - 0.35 * ring.degrees(row, column) / 22.5);
        transfer_share(&mut row_influences, joints.jaw, below * front);
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
            let raised = DVec3::new(point.x, point.y + 0.0040, point.z);
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
