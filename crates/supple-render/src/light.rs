//! Light: a hundred lamps around the stage, each with a small map of what it sees.
//!
//! A cluster of lamps makes the soft key light, the others a dome. Summing them gives soft shadows
//! and the darkness of creases at once, from the geometry itself and without noise, so that moving
//! pictures do not flicker.

use crate::color::GOLDEN_ANGLE;
use crate::lattice::Lattice;
use crate::receiver::{Arriving, Receiver};
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

    /// The light at some points in a band of `width` pixels per row, ordered by their pixels, with
    /// which they come.
    ///
    /// Where a surface is smooth and its light changes steadily, light is computed at some pixels
    /// and interpolated in between. Elsewhere the key light is computed for every point; the dome
    /// varies slowly, so points that are alike within two by two pixels share it.
    pub fn arriving(&self, points: &[(usize, Receiver)], width: usize) -> Vec<Arriving> {
        let lattice = Lattice::on_surfaces(points, width);
        let from_key = lattice.light(
            |receivers| gather(&self.key_maps, receivers),
            |points| {
                let receivers: Vec<_> = points.iter().map(|&(_, receiver)| receiver).collect();
                gather(&self.key_maps, &receivers)
            },
        );
        let from_dome = lattice.light(
            |receivers| gather(&self.dome_maps, receivers),
            |points| {
                let (shared, share_of) = share(points, width);
                let light = gather(&self.dome_maps, &shared);
                share_of.into_iter().map(|shared| light[shared]).collect()
            },
        );
        let both = from_key.into_iter().zip(from_dome);
        both.map(|(key, dome)| self.sum(key, dome)).collect()
    }

    /// The light at some points of a plane, like [`Lights::arriving`].
    pub fn arriving_on_plane(&self, points: &[(usize, Receiver)], width: usize) -> Vec<Arriving> {
        let from_all = |receivers: &[Receiver]| {
            let from_key = gather(&self.key_maps, receivers);
            let both = from_key.into_iter().zip(gather(&self.dome_maps, receivers));
            both.map(|(key, dome)| self.sum(key, dome)).collect()
        };
        Lattice::on_plane(points, width).light(from_all, |points| {
            let receivers: Vec<_> = points.iter().map(|&(_, receiver)| receiver).collect();
            from_all(&receivers)
        })
    }

    /// All light at a point that gathers some from the key light and some from the dome.
    fn sum(&self, key: Arriving, dome: Arriving) -> Arriving {
        Arriving {
            diffuse: key.diffuse + dome.diffuse,
            unblocked: key.unblocked + dome.unblocked,
            key: key.key / self.key_maps.len() as f32,
        }
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

/// Texels of a row that are looked at together; a box as narrow as this is looked at whole.
const LANES: usize = 4;

/// The depths that one lamp sees.
///
/// Only the blocks around surfaces are stored: beyond them nothing stands in the way.
struct DepthMap {
    lamp: Lamp,
    /// The stored part of the map, in blocks.
    stored: Blocks,
    /// The coordinate along `toward` of the highest surface in each stored texel.
    heights: Vec<f32>,
    /// The highest of all heights within reach of the blur, for each stored block.
    highest: Vec<f32>,
}

/// A rectangle of blocks.
#[derive(Clone, Copy)]
struct Blocks {
    left: usize,
    top: usize,
    columns: usize,
    rows: usize,
}

impl Blocks {
    /// The blocks from which a shadow of some points can be read: theirs, those within reach of the
    /// blur, and those within reach of these.
    fn around(places: &[Vec3]) -> Blocks {
        const REACH: usize = 2;
        let range = |axis: fn(&Vec3) -> f32| {
            let values = places.iter().map(axis);
            // Not a number is ignored.
            let low = values.clone().fold(f32::INFINITY, f32::min);
            let high = values.fold(f32::NEG_INFINITY, f32::max);
            // Casts saturate.
            let first = (low as usize / BLOCK).saturating_sub(REACH);
            let end = (high as usize / BLOCK + 1 + REACH).min(BLOCKS);
            (first.min(end), end.saturating_sub(first))
        };
        let (left, columns) = range(|place| place.x);
        let (top, rows) = range(|place| place.y);
        Blocks {
            left,
            top,
            columns,
            rows,
        }
    }

    /// Texels in a stored row.
    fn width(&self) -> usize {
        self.columns * BLOCK
    }

    /// The index of the block of a texel.
    fn block_at(&self, x: f32, y: f32) -> Option<usize> {
        let (column, row) = (x as usize / BLOCK, y as usize / BLOCK);
        let (column, row) = (column.wrapping_sub(self.left), row.wrapping_sub(self.top));
        (column < self.columns && row < self.rows).then(|| row * self.columns + column)
    }
}

impl DepthMap {
    fn new(stage: &Stage, lamp: Lamp) -> DepthMap {
        let places: Vec<Vec3> = stage
            .positions
            .iter()
            .map(|&position| lamp.place(position))
            .collect();
        let stored = Blocks::around(&places);
        DepthMap::of_triangles(&stage.triangles, &places, lamp, stored)
    }

    fn of_triangles(
        triangles: &[[u32; 3]],
        places: &[Vec3],
        lamp: Lamp,
        stored: Blocks,
    ) -> DepthMap {
        let mut map = DepthMap {
            lamp,
            stored,
            heights: vec![f32::NEG_INFINITY; stored.columns * stored.rows * BLOCK * BLOCK],
            highest: Vec::new(),
        };
        for corners in triangles {
            map.draw(corners.map(|corner| places[corner as usize]));
        }
        map.highest = highest_nearby(&map.heights, stored);
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
            let (left, top) = (self.stored.left * BLOCK, self.stored.top * BLOCK);
            let texel = (low_y - top) * self.stored.width() + low_x - left;
            let height = &mut self.heights[texel];
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
        let is_narrow = high_x - low_x < LANES;
        let span = (!is_narrow).then(|| Span::new(a, [(b_x, b_y), (c_x, c_y)], slack));
        let width = self.stored.width();
        let (left, top) = (self.stored.left * BLOCK, self.stored.top * BLOCK);
        for y in low_y..=high_y {
            let (mut first, last) = match &span {
                Some(span) => span.at_row(y, low_x, high_x).into_inner(),
                None => (low_x, high_x),
            };
            let from_a_y = y as f32 + 0.5 - a.y;
            let row = (y - top) * width;
            while first <= last {
                // At the end of a row some texels are looked at twice.
                let start = (first - left).min(width - LANES);
                let from_a_x = (start + left) as f32 + 0.5 - a.x;
                let heights = &mut self.heights[row + start..row + start + LANES];
                for (lane, height) in heights.iter_mut().enumerate() {
                    let from_a = Vec2::new(from_a_x + lane as f32, from_a_y);
                    let share_b = b_x * from_a.x + b_y * from_a.y;
                    let share_c = c_x * from_a.x + c_y * from_a.y;
                    let z = a.z + (b.z - a.z) * share_b + (c.z - a.z) * share_c;
                    let z = if z < high.z { z } else { high.z };
                    // No branches, so that the compiler handles all lanes at once.
                    let inside = (share_b >= slack)
                        & (share_c >= slack)
                        & (share_b + share_c <= 1.0 - slack);
                    *height = if inside & (z > *height) { z } else { *height };
                }
                first += LANES;
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
        let Some(block) = self.stored.block_at(at.x, at.y) else {
            return 1.0;
        };
        let above = self.highest[block] - at.z;
        // The surface itself continues along its plane; only what stands above that plane casts a
        // shadow.
        let fall = -texel / cosine.max(0.2);
        let slope = Vec2::new(normal.dot(right), normal.dot(up)) * fall;
        let radius = (above * spacing / texel).min(MAX_BLUR);
        if above < -(slope.x.abs() + slope.y.abs()) * radius.max(MIN_BLUR) {
            return 1.0;
        }

        let radius = radius.max(MIN_BLUR);
        let mut casters = 0.0;
        let mut distance = 0.0;
        for above in self.heights_above(at, slope, radius, &SEARCH_ACROSS) {
            if above > 0.0 {
                casters += 1.0;
                distance += above;
            }
        }
        if casters == 0.0 {
            return 1.0;
        }
        let radius = (distance / casters * spacing / texel).clamp(MIN_BLUR, radius);
        let above = self.heights_above(at, slope, radius, &BLUR_ACROSS);
        let blocked = above.iter().filter(|&&above| above > 0.0).count();
        1.0 - blocked as f32 / BLUR.len() as f32
    }

    /// The heights of a disc of texels above a plane through `at`.
    ///
    /// All indices are computed before the first texel is read, so that the compiler computes
    /// several at once.
    fn heights_above<const N: usize>(
        &self,
        at: Vec3,
        slope: Vec2,
        radius: f32,
        disc: &[[f32; N]; 2],
    ) -> [f32; N] {
        /// From here on the steps of numbers are whole: adding it drops fractions, and the lowest
        /// bits are then those of the whole number.
        const WHOLE: f32 = (1 << 23) as f32;
        let corner = Vec2::new(
            (self.stored.left * BLOCK) as f32,
            (self.stored.top * BLOCK) as f32,
        );
        // Half a texel less, as the nearest whole number is taken.
        let from = at.truncate() - corner - 0.5;
        let width = self.stored.width() as f32;
        let mut indices = [0; N];
        let mut planes = [0.0; N];
        for tap in 0..N {
            let (x, y) = (disc[0][tap] * radius, disc[1][tap] * radius);
            let column = (from.x + x + WHOLE) - WHOLE;
            let row = (from.y + y + WHOLE) - WHOLE;
            indices[tap] = (row * width + column + WHOLE).to_bits() & ((1 << 23) - 1);
            planes[tap] = slope.x * x + slope.y * y + at.z;
        }
        let mut above = [0.0; N];
        for tap in 0..N {
            above[tap] = self.heights[indices[tap] as usize] - planes[tap];
        }
        above
    }
}

/// The positions of samples, those along x apart from those along y.
const fn across<const N: usize>(disc: [[f32; 2]; N]) -> [[f32; N]; 2] {
    let mut across = [[0.0; N]; 2];
    let mut tap = 0;
    while tap < N {
        across[0][tap] = disc[tap][0];
        across[1][tap] = disc[tap][1];
        tap += 1;
    }
    across
}

const SEARCH_ACROSS: [[f32; 7]; 2] = across(SEARCH);
const BLUR_ACROSS: [[f32; 16]; 2] = across(BLUR);

/// The texels of a row that a triangle can cover: a superset of those that pass the test of shares,
/// so that the cost of long thin triangles depends on the texels that they cover instead of the box
/// around them.
struct Span {
    a: Vec3,
    /// Conditions `x · slope_x + y · slope_y ≥ least`, relative to `a`.
    conditions: [Condition; 3],
}

struct Condition {
    slope_y: f64,
    least: f64,
    /// `1 / slope_x`.
    inverse: f64,
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
        let condition = |(slope_x, slope_y): (f64, f64), least: f64| Condition {
            slope_y,
            least,
            inverse: 1.0 / slope_x,
        };
        Span {
            a,
            conditions: [
                condition(b, least),
                condition(c, least),
                condition((-(b.0 + c.0), -(b.1 + c.1)), least - 1.0),
            ],
        }
    }

    /// The texels from `low` to `high` of a row that may be covered.
    fn at_row(&self, y: usize, low: usize, high: usize) -> RangeInclusive<usize> {
        if high - low < LANES {
            return low..=high;
        }
        let (mut first, mut last) = (low, high);
        let from_a = y as f64 + 0.5 - f64::from(self.a.y);
        for condition in &self.conditions {
            let slope = condition.slope_y * from_a;
            let bound = (condition.least - slope) * condition.inverse;
            // Of the center of a texel; casts drop fractions and saturate, and one more to each
            // side is taken than is needed.
            let bound = bound + f64::from(self.a.x) - 0.5;
            if !bound.is_finite() {
                // No column is left of the edge, or all are.
                continue;
            }
            if condition.inverse > 0.0 {
                first = first.max((bound as usize).saturating_sub(1));
            } else {
                last = last.min((bound as usize).saturating_add(2));
            }
        }
        first..=last
    }
}

/// For each stored block the highest of itself and the blocks around it.
fn highest_nearby(heights: &[f32], stored: Blocks) -> Vec<f32> {
    let Blocks { columns, rows, .. } = stored;
    let mut highest = vec![f32::NEG_INFINITY; columns * rows];
    for (row, heights) in heights.chunks_exact(stored.width().max(1)).enumerate() {
        for (column, heights) in heights.chunks_exact(BLOCK).enumerate() {
            let block = &mut highest[row / BLOCK * columns + column];
            *block = heights.iter().copied().fold(*block, f32::max);
        }
    }
    let around = |middle: usize, count: usize| middle.saturating_sub(1)..(middle + 2).min(count);
    (0..columns * rows)
        .map(|block| {
            around(block / columns, rows)
                .flat_map(|row| {
                    around(block % columns, columns).map(move |column| row * columns + column)
                })
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

    const WHOLE: Blocks = Blocks {
        left: 0,
        top: 0,
        columns: BLOCKS,
        rows: BLOCKS,
    };

    fn lamp() -> Lamp {
        let lamps = Lamps { key: 1, dome: 1 };
        PlacedLamps::new(1.0, Vec3::X, lamps).key_lamps[0]
    }

    #[test]
    fn several_texels_at_once_have_the_heights_that_each_has_alone() {
        for corners in triangles() {
            let map = DepthMap::of_triangles(&[[0, 1, 2]], &corners, lamp(), WHOLE);
            let [a, b, c] = corners;
            let (low, high) = (a.min(b).min(c), a.max(b).max(c));
            let [(b_x, b_y), (c_x, c_y)] = slopes(corners);
            let slack = -1e-3;
            for (texel, &height) in map.heights.iter().enumerate() {
                let (x, y) = (texel % MAP_SIZE, texel / MAP_SIZE);
                let from_a = Vec2::new(x as f32 + 0.5 - a.x, y as f32 + 0.5 - a.y);
                let share_b = b_x * from_a.x + b_y * from_a.y;
                let share_c = c_x * from_a.x + c_y * from_a.y;
                let inside =
                    share_b >= slack && share_c >= slack && share_b + share_c <= 1.0 - slack;
                let own = a.z + (b.z - a.z) * share_b + (c.z - a.z) * share_c;
                let in_box = x >= low.x as usize
                    && x <= high.x as usize
                    && y >= low.y as usize
                    && y <= high.y as usize;
                if inside && in_box {
                    assert!(
                        (height - own.min(high.z)).abs() < 1e-3,
                        "{x}, {y} of {corners:?}"
                    );
                }
                assert!(
                    inside || height == f32::NEG_INFINITY,
                    "{x}, {y} of {corners:?}"
                );
            }
        }
    }

    #[test]
    fn what_is_stored_of_a_map_gives_the_shadows_of_the_whole_map() {
        let lamp = lamp();
        let number = |at: usize, step: f32| (at as f32 * step).fract() - 0.5;
        let point = |at: usize, size: f32| {
            let steps = [0.618034, 0.7548777, 0.5698403];
            Vec3::from_array(steps.map(|step| number(at, step) * size))
        };
        for size in [0.02, 0.3, 1.4] {
            let places: Vec<Vec3> = (0..90).map(|at| lamp.place(point(at, size))).collect();
            let triangles: Vec<[u32; 3]> = (0..30).map(|at| [at, at + 30, at + 60]).collect();
            let of = |stored| DepthMap::of_triangles(&triangles, &places, lamp, stored);
            let (part, whole) = (of(Blocks::around(&places)), of(WHOLE));
            let mut shadowed = 0;
            for at in 0..4000 {
                let spread = if at % 2 == 0 { size } else { 2.0 };
                let receiver = Receiver {
                    position: point(at, spread) - lamp.toward * (0.5 * size),
                    normal: (lamp.toward + point(3 * at + 1, 1.0)).normalize(),
                    lift: SURFACE_LIFT,
                };
                let cosine = receiver.normal.dot(lamp.toward);
                let seen = part.visible(&receiver, cosine);
                // Indices within a row are rounded from other numbers.
                let difference = (seen - whole.visible(&receiver, cosine)).abs();
                assert!(difference <= 0.125, "{difference} at {receiver:?}");
                shadowed += usize::from(seen < 1.0);
            }
            assert!(shadowed > 50, "{shadowed} of size {size}");
        }
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
