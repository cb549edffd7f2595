//! Light: a hundred lamps around the stage, each with a small map of what it sees.
//!
//! A cluster of lamps makes the soft key light, the others a dome. Summing them gives soft shadows
//! and the darkness of creases at once, from the geometry itself and without noise, so that moving
//! pictures do not flicker.

use crate::color::GOLDEN_ANGLE;
use crate::stage::Stage;
use glam::{Vec2, Vec3};
use std::ops::RangeInclusive;
use supple::exec;

/// The overlap by which the shadows of neighbouring lamps blur into each other.
const OVERLAP: f32 = 1.6;

/// Nothing farther than this from the middle of the stage casts a shadow.
const FARTHEST_CASTER: f32 = 3.0;

/// Points closer than this whose normals differ by less (as a cosine) may share the light of the
/// dome.
const SAME_PLACE: f32 = 0.03;
const SAME_NORMAL: f32 = 0.9995;

/// Texels along one side of a lamp's map.
pub(crate) const MAP_SIZE: usize = BLOCK * BLOCKS;

/// Blocks along one side of a map, and texels along one side of a block.
pub(crate) const BLOCKS: usize = 24;
pub(crate) const BLOCK: usize = 16;

/// The narrowest and widest blur of a shadow, as a radius in texels; within one block.
pub(crate) const MIN_BLUR: f32 = 0.8;
pub(crate) const MAX_BLUR: f32 = 15.0;

/// The lift of points on surfaces that are themselves in the maps: it hides the steps of the maps.
pub(crate) const SURFACE_LIFT: f32 = 1.8;

/// The lift of points on the ground, which is in no map: a little below what rests on it, so that
/// no light leaks in.
pub(crate) const GROUND_LIFT: f32 = -0.5;

/// Sample positions of the search for shadow casters, in a unit disc.
pub(crate) const SEARCH: [[f32; 2]; 7] = [
    [0.255, 0.079],
    [-0.418, 0.198],
    [0.226, -0.553],
    [0.245, 0.663],
    [-0.713, -0.367],
    [0.855, -0.233],
    [-0.514, 0.815],
];

/// Sample positions of the blur, in a unit disc.
pub(crate) const BLUR: [[f32; 2]; 16] = [
    [0.080, 0.158],
    [-0.287, -0.107],
    [0.367, -0.148],
    [-0.202, 0.422],
    [-0.155, -0.507],
    [0.505, 0.298],
    [-0.624, 0.132],
    [0.398, -0.557],
    [0.088, 0.724],
    [-0.585, -0.501],
    [0.810, -0.027],
    [-0.606, 0.593],
    [0.048, -0.883],
    [0.583, 0.710],
    [-0.942, -0.135],
    [0.813, -0.555],
];

/// The radius of the key light's disc, as the tangent of an angle.
const KEY_SPREAD: f32 = 0.2;

/// The strength and tint of the key light.
const KEY: Vec3 = Vec3::new(1.18, 1.13, 1.05);

/// The dome straight above, at the horizon and straight below (light that a pale floor throws
/// back).
const SKY: Vec3 = Vec3::new(0.54, 0.575, 0.63);
const HORIZON: Vec3 = Vec3::new(0.36, 0.37, 0.39);
const FLOOR: Vec3 = Vec3::new(0.17, 0.16, 0.15);

/// The dome is brighter than average by this much where the fill light stands.
const FILL: f32 = 0.35;

/// The number of lamps: more give softer and truer shadows, and take longer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lamps {
    /// Lamps that stand close together as the main light.
    pub key: usize,
    /// Lamps all around.
    pub dome: usize,
}

impl Lamps {
    /// For stills.
    pub const MANY: Lamps = Lamps { key: 24, dome: 72 };
    /// For the frames of an animation.
    pub const FEW: Lamps = Lamps { key: 6, dome: 24 };
}

/// All lamps of a picture, with what they see.
pub(crate) struct Lights {
    key_maps: Vec<DepthMap>,
    dome_maps: Vec<DepthMap>,
    /// Towards the middle of the key light.
    pub key: Vec3,
}

/// Lamps where they stand.
pub(crate) struct PlacedLamps {
    pub key_lamps: Vec<Lamp>,
    pub dome_lamps: Vec<Lamp>,
    /// Towards the middle of the key light.
    pub key: Vec3,
}

/// A lamp, and how it looks at the stage: in parallel projection.
#[derive(Clone, Copy)]
pub(crate) struct Lamp {
    pub color: Vec3,
    pub toward: Vec3,
    pub right: Vec3,
    pub up: Vec3,
    /// Length of a texel's side.
    pub texel: f32,
    /// Half the distance to the next lamp, as the tangent of an angle: how far shadows must blur
    /// to join theirs.
    pub spacing: f32,
}

/// A point that gathers light.
#[derive(Clone, Copy)]
pub(crate) struct Receiver {
    pub position: Vec3,
    /// The normal, of unit length.
    pub normal: Vec3,
    /// The distance by which it is lifted off its surface before looking around, in texels of the
    /// maps.
    pub lift: f32,
}

/// Light that arrives at a point.
#[derive(Clone, Copy, Default)]
pub(crate) struct Arriving {
    /// From all lamps that see it, weighted by the cosine.
    pub diffuse: Vec3,
    /// The diffuse light there would be with nothing in the way.
    pub unblocked: Vec3,
    /// The share of the key light that sees it.
    pub key: f32,
}

impl PlacedLamps {
    /// Sets up the lamps relative to the camera, so that every view is lit from its upper left;
    /// `reach` is how far what casts shadows is from the middle of the stage.
    pub fn new(reach: f32, camera_right: Vec3, lamps: Lamps) -> PlacedLamps {
        let (key_count, dome_count) = (lamps.key.max(1), lamps.dome.max(1));
        let toward_viewer = camera_right.cross(Vec3::Y);
        let place = |right: f32, up: f32, front: f32| {
            (camera_right * right + Vec3::Y * up + toward_viewer * front).normalize_or(Vec3::Y)
        };
        let key = place(-0.6, 1.15, 0.62);
        let fill = place(0.9, 0.25, 0.6);
        let (key_right, key_up) = key.any_orthonormal_pair();
        let lamp = |color: Vec3, toward: Vec3, spacing: f32| {
            let (right, up) = toward.any_orthonormal_pair();
            Lamp {
                color,
                toward,
                right,
                up,
                texel: 2.0 * reach / (MAP_SIZE - 2 * BLOCK) as f32,
                spacing,
            }
        };

        let key_spacing = OVERLAP * KEY_SPREAD / (key_count as f32).sqrt();
        let key_lamps = (0..key_count).map(|i| {
            let radius = KEY_SPREAD * ((i as f32 + 0.5) / key_count as f32).sqrt();
            let (sin, cos) = golden_turn(i).sin_cos();
            let toward = (key + (key_right * cos + key_up * sin) * radius).normalize_or(key);
            lamp(KEY / key_count as f32, toward, key_spacing)
        });

        let dome_spacing = OVERLAP * 2.0 / (dome_count as f32).sqrt();
        let dome_lamps = (0..dome_count).map(|i| {
            let up = 1.0 - 2.0 * (i as f32 + 0.5) / dome_count as f32;
            let around = (1.0 - up * up).sqrt();
            let (sin, cos) = golden_turn(i).sin_cos();
            let toward = place(around * cos, up, around * sin);
            let sky = if up > 0.0 {
                HORIZON.lerp(SKY, up)
            } else {
                HORIZON.lerp(FLOOR, (-3.0 * up).min(1.0))
            };
            let filled = sky * (1.0 + FILL * toward.dot(fill));
            lamp(filled * 4.0 / dome_count as f32, toward, dome_spacing)
        });
        PlacedLamps {
            key_lamps: key_lamps.collect(),
            dome_lamps: dome_lamps.collect(),
            key,
        }
    }
}

/// The largest distance from the middle of the stage at which something casts a shadow.
pub(crate) fn reach(positions: impl IntoIterator<Item = Vec3>) -> f32 {
    let finite = positions
        .into_iter()
        .filter(|position| position.is_finite());
    finite
        .fold(1.0f32, |reach, position| reach.max(position.length()))
        .min(FARTHEST_CASTER)
}

impl Lights {
    /// Sets up the lamps, and draws their maps.
    pub fn new(stage: &Stage, camera_right: Vec3, lamps: Lamps) -> Lights {
        let reach = reach(stage.positions.iter().copied());
        let placed = PlacedLamps::new(reach, camera_right, lamps);
        let maps =
            |lamps: &[Lamp]| exec::map(lamps.len(), |index| DepthMap::new(stage, lamps[index]));
        Lights {
            key_maps: maps(&placed.key_lamps),
            dome_maps: maps(&placed.dome_lamps),
            key: placed.key,
        }
    }

    /// The light at some points in a band of `width` pixels per row; each comes with its pixel.
    ///
    /// The dome varies slowly, so points that are alike within two by two pixels share it.
    pub fn arriving(&self, points: &[(usize, Receiver)], width: usize) -> Vec<Arriving> {
        let own: Vec<_> = points.iter().map(|&(_, receiver)| receiver).collect();
        let from_key = gather(&self.key_maps, &own);
        let (shared, share_of) = share(points, width);
        let from_dome = gather(&self.dome_maps, &shared);
        from_key
            .into_iter()
            .zip(share_of)
            .map(|(key, shared)| Arriving {
                diffuse: key.diffuse + from_dome[shared].diffuse,
                unblocked: key.unblocked + from_dome[shared].unblocked,
                key: key.key / self.key_maps.len() as f32,
            })
            .collect()
    }
}

/// The light of some lamps, lamp by lamp so that each map is read at a stretch.
fn gather(maps: &[DepthMap], receivers: &[Receiver]) -> Vec<Arriving> {
    let mut gathered = vec![Arriving::default(); receivers.len()];
    for map in maps {
        let lamp = &map.lamp;
        for (receiver, arriving) in receivers.iter().zip(&mut gathered) {
            let cosine = receiver.normal.dot(lamp.toward);
            if cosine > 0.0 {
                let visible = map.visible(receiver, cosine);
                arriving.diffuse += lamp.color * (cosine * visible);
                arriving.unblocked += lamp.color * cosine;
                arriving.key += visible;
            }
        }
    }
    gathered
}

/// Merges points that are alike within squares of two by two pixels; with the merged point of each
/// point.
fn share(points: &[(usize, Receiver)], width: usize) -> (Vec<Receiver>, Vec<usize>) {
    let squares_per_row = width.div_ceil(2);
    let mut newest: Vec<Option<usize>> = Vec::new();
    let mut merged: Vec<Merged> = Vec::new();
    let mut share_of = Vec::with_capacity(points.len());
    for &(pixel, receiver) in points {
        let square = pixel / width / 2 * squares_per_row + pixel % width / 2;
        if newest.len() <= square {
            newest.resize(square + 1, None);
        }
        let mut candidate = newest[square];
        while let Some(index) = candidate.filter(|&index| !merged[index].is_like(&receiver)) {
            candidate = merged[index].older;
        }
        let index = candidate.unwrap_or_else(|| {
            merged.push(Merged {
                first: receiver,
                positions: Vec3::ZERO,
                normals: Vec3::ZERO,
                count: 0.0,
                older: newest[square],
            });
            newest[square] = Some(merged.len() - 1);
            merged.len() - 1
        });
        let target = &mut merged[index];
        target.positions += receiver.position;
        target.normals += receiver.normal;
        target.count += 1.0;
        share_of.push(index);
    }
    let receivers = merged.iter().map(|merged| Receiver {
        position: merged.positions / merged.count,
        normal: merged.normals.normalize_or(merged.first.normal),
        lift: merged.first.lift,
    });
    (receivers.collect(), share_of)
}

/// Points of one square that are alike.
struct Merged {
    first: Receiver,
    positions: Vec3,
    normals: Vec3,
    count: f32,
    /// The group before it in the same square.
    older: Option<usize>,
}

impl Merged {
    fn is_like(&self, other: &Receiver) -> bool {
        let near = self.first.position.distance_squared(other.position) < SAME_PLACE * SAME_PLACE;
        near && self.first.normal.dot(other.normal) > SAME_NORMAL
    }
}

/// Multiples of the golden angle spread evenly however many there are.
fn golden_turn(i: usize) -> f32 {
    i as f32 * GOLDEN_ANGLE as f32
}

impl Lamp {
    /// Texel coordinates and height of a point.
    fn place(&self, position: Vec3) -> Vec3 {
        let scale = 1.0 / self.texel;
        let middle = MAP_SIZE as f32 * 0.5;
        Vec3::new(
            position.dot(self.right) * scale + middle,
            position.dot(self.up) * scale + middle,
            position.dot(self.toward),
        )
    }
}

/// The depths that one lamp sees.
struct DepthMap {
    lamp: Lamp,
    /// The coordinate along `toward` of the highest surface in each texel.
    heights: Vec<f32>,
    /// The highest of all heights within reach of the blur, for each block of texels.
    highest: Vec<f32>,
}

impl DepthMap {
    fn new(stage: &Stage, lamp: Lamp) -> DepthMap {
        let mut map = DepthMap {
            lamp,
            heights: vec![f32::NEG_INFINITY; MAP_SIZE * MAP_SIZE],
            highest: Vec::new(),
        };
        let projected: Vec<Vec3> = stage
            .positions
            .iter()
            .map(|&position| lamp.place(position))
            .collect();
        for corners in &stage.triangles {
            map.draw(corners.map(|corner| projected[corner as usize]));
        }
        map.highest = highest_nearby(&map.heights);
        map
    }

    fn draw(&mut self, corners: [Vec3; 3]) {
        let [a, b, c] = corners;
        let low = a.min(b).min(c);
        let high = a.max(b).max(c);
        let last = (MAP_SIZE - 1) as f32;
        if !(high.x >= 0.0 && high.y >= 0.0 && low.x <= last && low.y <= last) {
            return;
        }
        let (low_x, low_y) = (low.x as usize, low.y as usize);
        let (high_x, high_y) = (high.x.min(last) as usize, high.y.min(last) as usize);
        if low_x == high_x && low_y == high_y {
            // Smaller than a texel: dense meshes are mostly this.
            let height = &mut self.heights[low_y * MAP_SIZE + low_x];
            *height = height.max((a.z + b.z + c.z) / 3.0);
            return;
        }
        let (ab, ac) = ((b - a).truncate(), (c - a).truncate());
        let area = ab.perp_dot(ac);
        if area == 0.0 {
            return;
        }
        let inverse = 1.0 / area;
        // The shares of b and c are linear over the map.
        let (b_x, b_y) = (ac.y * inverse, -ac.x * inverse);
        let (c_x, c_y) = (-ab.y * inverse, ab.x * inverse);
        let slack = -1e-3;
        let span = Span::new(a, [(b_x, b_y), (c_x, c_y)], slack);
        for y in low_y..=high_y {
            for x in span.at_row(y, low_x, high_x) {
                let from_a = Vec2::new(x as f32 + 0.5 - a.x, y as f32 + 0.5 - a.y);
                let share_b = b_x * from_a.x + b_y * from_a.y;
                let share_c = c_x * from_a.x + c_y * from_a.y;
                if share_b >= slack && share_c >= slack && share_b + share_c <= 1.0 - slack {
                    let z = a.z + (b.z - a.z) * share_b + (c.z - a.z) * share_c;
                    let height = &mut self.heights[y * MAP_SIZE + x];
                    *height = height.max(z.min(high.z));
                }
            }
        }
    }

    /// The share of the lamp that a point of a surface sees, from 0 to 1.
    ///
    /// Shadows blur with the distance of their casters, just enough to run into those of the next
    /// lamps.
    fn visible(&self, receiver: &Receiver, cosine: f32) -> f32 {
        let Receiver {
            position,
            normal,
            lift,
        } = *receiver;
        let Lamp {
            right,
            up,
            texel,
            spacing,
            ..
        } = self.lamp;
        let at = self.lamp.place(position + normal * (lift * texel));
        let border = BLOCK as f32;
        let limit = (MAP_SIZE - BLOCK) as f32;
        if !(at.x >= border && at.y >= border && at.x < limit && at.y < limit) {
            return 1.0;
        }
        let block = at.y as usize / BLOCK * BLOCKS + at.x as usize / BLOCK;
        let above = self.highest[block] - at.z;
        // The surface itself continues along its plane; only what stands above that plane casts a
        // shadow.
        let fall = -texel / cosine.max(0.2);
        let slope = Vec2::new(normal.dot(right), normal.dot(up)) * fall;
        let radius = (above * spacing / texel).min(MAX_BLUR);
        if above < -(slope.x.abs() + slope.y.abs()) * radius.max(MIN_BLUR) {
            return 1.0;
        }

        let height_at = |offset: Vec2| {
            let (x, y) = ((at.x + offset.x) as i32, (at.y + offset.y) as i32);
            self.heights[(y * MAP_SIZE as i32 + x) as usize] - slope.dot(offset) - at.z
        };
        let radius = radius.max(MIN_BLUR);
        let mut casters = 0.0;
        let mut distance = 0.0;
        for tap in SEARCH {
            let above = height_at(Vec2::from_array(tap) * radius);
            if above > 0.0 {
                casters += 1.0;
                distance += above;
            }
        }
        if casters == 0.0 {
            return 1.0;
        }
        let radius = (distance / casters * spacing / texel).clamp(MIN_BLUR, radius);
        let blocked = BLUR
            .iter()
            .filter(|&&tap| height_at(Vec2::from_array(tap) * radius) > 0.0)
            .count();
        1.0 - blocked as f32 / BLUR.len() as f32
    }
}

/// The texels of a row that a triangle can cover: a superset of those that pass the test of shares,
/// so that the cost of long thin triangles depends on the texels that they cover instead of the box
/// around them.
struct Span {
    a: Vec3,
    /// Conditions `x · slope_x + y · slope_y ≥ least`, relative to `a`.
    conditions: [(f64, f64, f64); 3],
}

impl Span {
    /// `slopes` are those of the shares of the second and third corner, which may be as low as
    /// `slack`.
    fn new(a: Vec3, slopes: [(f32, f32); 2], slack: f32) -> Span {
        // Rounding of the test in single precision, anywhere on the map.
        let farthest = MAP_SIZE as f64 + f64::from(a.x.abs()) + f64::from(a.y.abs());
        let rounding = 8.0 * f64::from(f32::EPSILON) * farthest;
        let [b, c] = slopes.map(|(x, y)| (f64::from(x), f64::from(y)));
        let error = rounding * (b.0.abs() + b.1.abs() + c.0.abs() + c.1.abs());
        let least = f64::from(slack) - error;
        Span {
            a,
            conditions: [
                (b.0, b.1, least),
                (c.0, c.1, least),
                (-(b.0 + c.0), -(b.1 + c.1), least - 1.0),
            ],
        }
    }

    /// The texels from `low` to `high` of a row that may be covered.
    fn at_row(&self, y: usize, low: usize, high: usize) -> RangeInclusive<usize> {
        /// A box as narrow as this is looked at whole.
        const NARROW: usize = 4;
        if high - low < NARROW {
            return low..=high;
        }
        let (mut first, mut last) = (low as f64, high as f64);
        let from_a = y as f64 + 0.5 - f64::from(self.a.y);
        for (slope_x, slope_y, least) in self.conditions {
            // Of the center of a texel; one more to each side than is needed.
            let bound = (least - slope_y * from_a) / slope_x + f64::from(self.a.x) - 0.5;
            if slope_x > 0.0 {
                first = first.max(bound.floor() - 1.0);
            } else if slope_x < 0.0 {
                last = last.min(bound.ceil() + 1.0);
            }
        }
        if first <= last {
            first as usize..=last as usize
        } else {
            RangeInclusive::new(1, 0)
        }
    }
}

/// For each block the highest of itself and the blocks around it.
fn highest_nearby(heights: &[f32]) -> Vec<f32> {
    let mut highest = vec![f32::NEG_INFINITY; BLOCKS * BLOCKS];
    for (row, heights) in heights.chunks_exact(MAP_SIZE).enumerate() {
        for (column, heights) in heights.chunks_exact(BLOCK).enumerate() {
            let block = &mut highest[row / BLOCK * BLOCKS + column];
            *block = heights.iter().copied().fold(*block, f32::max);
        }
    }
    let around = |middle: usize| middle.saturating_sub(1)..(middle + 2).min(BLOCKS);
    (0..BLOCKS * BLOCKS)
        .map(|block| {
            around(block / BLOCKS)
                .flat_map(|row| around(block % BLOCKS).map(move |column| row * BLOCKS + column))
                .fold(f32::NEG_INFINITY, |all, near| all.max(highest[near]))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Triangles of all shapes: wide ones, thin ones, some that reach beyond the map.
    fn triangles() -> Vec<[Vec3; 3]> {
        let number = |at: usize, step: f32| (at as f32 * step).fract();
        let place = |at: usize, spread: f32| {
            let [x, y, z] = [0.618034, 0.7548777, 0.5698403].map(|step| number(at, step));
            Vec3::new((x - 0.25) * spread, (y - 0.25) * spread, z)
        };
        let triangle = |at: usize| {
            let [a, b] = [3 * at + 1, 3 * at + 2].map(|at| place(at, 600.0));
            let thin = a.lerp(b, 0.7) + place(at, 10f32.powi(-(at as i32 % 6)));
            match at % 3 {
                0 => [a, b, place(3 * at + 3, 600.0)],
                1 => [a, b, thin],
                _ => [thin, a, b],
            }
        };
        (0..300).map(triangle).collect()
    }

    /// The numbers that a triangle's span is made of, as `draw` has them.
    fn slopes([a, b, c]: [Vec3; 3]) -> [(f32, f32); 2] {
        let (ab, ac) = ((b - a).truncate(), (c - a).truncate());
        let inverse = 1.0 / ab.perp_dot(ac);
        [
            (ac.y * inverse, -ac.x * inverse),
            (-ab.y * inverse, ab.x * inverse),
        ]
    }

    #[test]
    fn spans_have_every_texel_that_passes_the_test_of_shares() {
        for corners in triangles() {
            let [a, ..] = corners;
            let [(b_x, b_y), (c_x, c_y)] = slopes(corners);
            let slack = -1e-3;
            let span = Span::new(a, slopes(corners), slack);
            for y in 0..MAP_SIZE {
                let range = span.at_row(y, 0, MAP_SIZE - 1);
                for x in (0..MAP_SIZE).filter(|x| !range.contains(x)) {
                    let from_a = Vec2::new(x as f32 + 0.5 - a.x, y as f32 + 0.5 - a.y);
                    let share_b = b_x * from_a.x + b_y * from_a.y;
                    let share_c = c_x * from_a.x + c_y * from_a.y;
                    let inside =
                        share_b >= slack && share_c >= slack && share_b + share_c <= 1.0 - slack;
                    assert!(!inside, "texel {x}, {y} of {corners:?} is left out");
                }
            }
        }
    }

    #[test]
    fn a_thin_triangle_costs_as_many_texels_as_it_is_long() {
        let corners = [
            Vec3::new(10.0, 10.0, 0.0),
            Vec3::new(370.0, 350.0, 0.0),
            Vec3::new(370.0, 350.2, 0.0),
        ];
        let span = Span::new(corners[0], slopes(corners), -1e-3);
        let texels: usize = (10..=350).map(|y| span.at_row(y, 10, 370).count()).sum();
        assert!(texels < 6 * 360, "{texels}");
    }
}
