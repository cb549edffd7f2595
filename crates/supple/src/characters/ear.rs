//! The left ear: a shell around a bowl.

use super::cage::{Cage, Influences, NO_HOLE};
use glam::DVec3;

/// The points of three rings as depth and height from the middle of the ear, and metres out of the
/// head: down the front, backwards along the lobe, up the back, forwards along the top.
#[rustfmt::skip]
const RINGS: [[[f64; 3]; 12]; 3] = [
    // Where it leaves the head.
    [
        [0.0070,  0.0175, 0.0010], [0.0100,  0.0100, 0.0010], [0.0100, -0.0010, 0.0010], [0.0090, -0.0120, 0.0010],
        [0.0060, -0.0200, 0.0010], [0.0010, -0.0225, 0.0020], [-0.0040, -0.0200, 0.0020], [-0.0080, -0.0120, 0.0020],
        [-0.0110,  0.0000, 0.0020], [-0.0120,  0.0100, 0.0020], [-0.0090,  0.0180, 0.0020], [-0.0020,  0.0205, 0.0020],
    ],
    // Its edge.
    [
        [ 0.0090,  0.0235, 0.0031], [ 0.0115,  0.0120, 0.0023], [ 0.0090, -0.0010, 0.0031], [ 0.0080, -0.0140, 0.0039],
        [ 0.0060, -0.0250, 0.0039], [-0.0005, -0.0295, 0.0047], [-0.0070, -0.0260, 0.0070], [-0.0130, -0.0140, 0.0094],
        [-0.0190,  0.0010, 0.0117], [-0.0220,  0.0150, 0.0133], [-0.0175,  0.0260, 0.0121], [-0.0050,  0.0305, 0.0086],
    ],
    // Within the edge.
    [
        [ 0.0060,  0.0200, 0.0055], [ 0.0070,  0.0110, 0.0031], [ 0.0060,  0.0010, 0.0039], [ 0.0050, -0.0100, 0.0047],
        [ 0.0030, -0.0180, 0.0055], [-0.0010, -0.0215, 0.0062], [-0.0060, -0.0180, 0.0070], [-0.0100, -0.0100, 0.0086],
        [-0.0145,  0.0010, 0.0101], [-0.0165,  0.0120, 0.0109], [-0.0130,  0.0210, 0.0101], [-0.0030,  0.0250, 0.0086],
    ],
];
/// The middle of the ear on the head.
const MIDDLE: DVec3 = DVec3::new(0.0735, 1.6345, -0.006);
/// Metres by which the bowl is deeper than what surrounds it.
const BOWL: f64 = 0.007;

/// Grows an ear out of a rim of 12 points in the order of the rings.
pub(super) fn grow(cage: &mut Cage, rim: Vec<usize>, head: usize) {
    let influences: Influences = vec![(head, 1.0)];
    let mut last = rim;
    for ring in &RINGS {
        let place = |&[depth, height, out]: &[f64; 3]| MIDDLE + DVec3::new(out, height, depth);
        let next = cage.add_ring(ring.iter().map(place), &influences);
        cage.band(&last, &next, NO_HOLE);
        last = next;
    }
    cage.cap(&last, DVec3::X * -BOWL, &influences);
}
