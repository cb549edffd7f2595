//! Cells of the body: voxels whose centers are inside, and patches of the surface where it is too
//! thin for voxels.
//!
//! `arap-point-handles.txt`, §4, uses voxels instead of tetrahedra, which work for any mesh. A
//! point is inside if its winding number exceeds one half, so holes and duplicated or intersecting
//! shells do no harm. Neighbouring voxels are connected unless the path between them leaves the
//! body: fingers that nearly touch stay two fingers, however coarse the voxels. Skin without a
//! voxel directly behind it (cloth, ears, a whole open sheet) is divided into patches of the size
//! of a voxel; these are cells as well, connected like the surface.

use super::handles::Hold;
use super::oriented_surface::OrientedSurface;
use super::segment_tree::SegmentTree;
use crate::disjoint_sets::DisjointSets;
use crate::exec;
use crate::surface::Rows;
use glam::{DVec3, IVec3};
use std::ops::Range;

/// Cells and their neighbours.
pub(crate) struct Cells {
    /// The width of a voxel, relative to the extent of the model.
    pub(crate) size: f64,
    /// The center of every cell.
    pub(crate) places: Vec<DVec3>,
    pub(crate) links: Links,
    /// The number of voxels, which are the first cells.
    pub(crate) voxels: usize,
    /// The cell of every point of the surface.
    pub(crate) cell_of: Vec<u32>,
    /// The connected component of every cell.
    pub(crate) component: Vec<u32>,
}

/// The neighbours of every cell.
#[derive(Clone, Debug, Default)]
pub(crate) struct Links {
    neighbours: Rows<u32>,
}

impl Links {
    /// Builds the graph from pairs of neighbours, each given once, in any order.
    pub(crate) fn of(cells: usize, mut pairs: Vec<(u32, u32)>) -> Links {
        let turned: Vec<_> = pairs.iter().map(|&(a, b)| (b, a)).collect();
        pairs.extend(turned);
        pairs.sort_unstable();
        pairs.dedup();
        let pairs = pairs.into_iter().map(|(a, b)| (a as usize, b));
        Links {
            neighbours: Rows::of(cells, pairs),
        }
    }

    /// The range of a cell's neighbours among all neighbours, for arrays parallel to them.
    #[inline]
    pub(crate) fn range(&self, cell: u32) -> Range<usize> {
        self.neighbours.range(cell as usize)
    }

    /// The neighbours of a cell, in rising order.
    #[inline]
    pub(crate) fn at(&self, cell: u32) -> &[u32] {
        self.neighbours.row(cell as usize)
    }

    /// The total number of neighbours of all cells.
    pub(crate) fn len(&self) -> usize {
        self.neighbours.values().len()
    }
}

/// A cell that a hold's bones pass through.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seed {
    pub(crate) cell: u32,
    /// The length of the bones within the cell, in widths. Where two bones meet, they share the
    /// cell in proportion, so that weights do not jump with the position of the lattice.
    pub(crate) amount: f64,
}

/// The number of samples of a bone per width of a cell.
const SAMPLES: f64 = 8.0;

/// If other bones are inside the body, a bone outside of it holds the body if at least this share
/// of the bone runs along the skin.
const ALONG_SKIN: f64 = 0.35;

/// No voxel at this position.
const NONE: u32 = u32::MAX;

/// The largest number of lattice positions.
const MOST_PLACES: f64 = 8e6;

/// A voxel lies behind a point of the surface if its center is within this many widths.
const REACH: f64 = 1.5;

/// The voxels within the bounding box of the body.
struct Lattice {
    size: f64,
    dims: IVec3,
    /// The number of the voxel at every position of the box, if its center is inside.
    numbers: Vec<u32>,
}

impl Cells {
    /// Voxelises the body into about `wanted` voxels, or as many as its bones need, up to `most`;
    /// fewer if its skin alone would need more, or if it is thin in a large box.
    pub(crate) fn of(
        shape: &OrientedSurface,
        holds: &[Hold],
        wanted: Option<usize>,
        most: usize,
    ) -> Cells {
        let size = choose_size(shape, holds, wanted, most);
        let (lattice, mut places) = Lattice::fill(shape, size);
        let voxels = places.len();
        let mut pairs = lattice.neighbours(shape, &places);
        let behind = lattice.behind_points(shape, &places);
        let cell_of = patches(shape, &behind, size, &mut places);
        pairs.extend(shape.edges.iter().filter_map(|edge| {
            let [a, b] = edge.ends.map(|end| cell_of[end as usize]);
            let patch = a.max(b) as usize >= voxels;
            (a != b && patch).then_some((a, b))
        }));
        // A part that is too thin for voxels, between others that are not: it stays connected by
        // the skin.
        let mut sets = DisjointSets::new(places.len());
        for &(a, b) in &pairs {
            sets.join(a as usize, b as usize);
        }
        for edge in &shape.edges {
            let [a, b] = edge.ends.map(|end| cell_of[end as usize]);
            if sets.find(a as usize) != sets.find(b as usize) {
                sets.join(a as usize, b as usize);
                pairs.push((a, b));
            }
        }
        let component = (0..places.len())
            .map(|cell| sets.find(cell) as u32)
            .collect();
        Cells {
            size,
            links: Links::of(places.len(), pairs),
            places,
            voxels,
            cell_of,
            component,
        }
    }

    /// The cells of every hold, each once, with the length of its bones in each: the cells that
    /// bones pass through, or for bones just outside, the nearest cells of the body. None if the
    /// hold is far away.
    pub(crate) fn seeds(&self, shape: &OrientedSurface, holds: &[Hold]) -> Vec<Vec<Seed>> {
        let search = PlaceSearch::over(&self.places, self.size);
        let any_inside = holds.iter().any(|hold| hold.inside);
        exec::map(holds.len(), |index| {
            let mut seeds = self.seeds_of(shape, &holds[index], any_inside, &search);
            seeds.sort_by_key(|seed| seed.cell);
            seeds.dedup_by(|next, kept| {
                let same = next.cell == kept.cell;
                if same {
                    kept.amount += next.amount;
                }
                same
            });
            seeds
        })
    }

    fn seeds_of(
        &self,
        shape: &OrientedSurface,
        hold: &Hold,
        others_inside: bool,
        search: &PlaceSearch,
    ) -> Vec<Seed> {
        let mut samples = Vec::new();
        let mut length = 0.0;
        for segment in &hold.segments {
            length += segment.length();
            let steps = (SAMPLES * segment.length() / self.size)
                .ceil()
                .clamp(1.0, 1e4);
            // Samples are in the middle of each step and stand for equal lengths; a point stands
            // for half a width.
            let amount = (segment.length() / (steps * self.size)).max(0.5 / steps);
            samples.extend(
                (0..steps as usize).map(|step| (segment.at((step as f64 + 0.5) / steps), amount)),
            );
        }
        // A bone on the border of half a body is several voxels away from the inside, which ends
        // before the border.
        for reach in [1, 2, 4, 8].into_iter().filter(|_| hold.inside) {
            let mut seeds = Vec::new();
            for &(sample, amount) in &samples {
                let joins = |cell: u32| joined(shape, sample, self.places[cell as usize]);
                let cells = search.nearest(&self.places, sample, reach, joins);
                let cells: Vec<u32> = cells.collect();
                seeds.extend(cells.iter().map(|&cell| Seed {
                    cell,
                    amount: amount / cells.len() as f64,
                }));
            }
            if !seeds.is_empty() {
                return seeds;
            }
        }
        // At the point of the bone nearest to the skin.
        let within = (2.0 * self.size).max(0.5 * length) as f32;
        let near = samples.iter().filter_map(|&(sample, amount)| {
            let nearest = shape.tree.nearest(sample.as_vec3(), within, |_| true)?;
            let corners = shape.triangles[nearest.triangle as usize];
            let heaviest =
                (0..3).max_by(|&a, &b| nearest.shares[a].total_cmp(&nearest.shares[b]))?;
            let cell = self.cell_of[corners[heaviest] as usize];
            Some((nearest.distance, Seed { cell, amount }))
        });
        let near: Vec<(f32, Seed)> = near.collect();
        let closest = near
            .iter()
            .map(|found| found.0)
            .fold(f32::INFINITY, f32::min);
        // If other bones are inside, a bone that only comes near with its end holds nothing, such
        // as an arm above a glove.
        let beside = near
            .iter()
            .filter(|found| f64::from(found.0) <= 2.0 * self.size);
        if others_inside && (beside.count() as f64) < ALONG_SKIN * samples.len() as f64 {
            return Vec::new();
        }
        let close = |found: &&(f32, Seed)| found.0 <= closest * 1.25;
        near.iter().filter(close).map(|found| found.1).collect()
    }

    /// The cells around a position and connected to one of them, and their shares by a smooth
    /// kernel a few voxels wide. Weights hardly change across the skin (there is no flux through
    /// it), so cells behind the skin suffice.
    pub(crate) fn around(&self, place: DVec3, from: u32, around: &mut Vec<(u32, f64)>) {
        spread_around(
            &self.places,
            &self.links,
            place,
            from,
            BUMP * self.size,
            around,
        );
    }
}

/// The radius of the interpolation kernel between cells, in widths.
pub(crate) const BUMP: f64 = 2.3;

/// Cells connected to `from` within a radius of a position, weighted by the kernel `(1 − r²)²`; the
/// shares sum to one. Only `from` if all others are farther.
pub(crate) fn spread_around(
    places: &[DVec3],
    links: &Links,
    place: DVec3,
    from: u32,
    radius: f64,
    around: &mut Vec<(u32, f64)>,
) {
    let share = |cell: u32| {
        let square = places[cell as usize].distance_squared(place) / (radius * radius);
        (1.0 - square).max(0.0).powi(2)
    };
    around.clear();
    around.push((from, share(from)));
    let mut next = 0;
    while next < around.len() {
        let cell = around[next].0;
        next += 1;
        for &other in links.at(cell) {
            if around.iter().any(|(known, _)| *known == other) {
                continue;
            }
            let share = share(other);
            if share > 0.0 {
                around.push((other, share));
            }
        }
    }
    let sum: f64 = around.iter().map(|(_, share)| share).sum();
    if sum > 0.0 {
        around.iter_mut().for_each(|(_, share)| *share /= sum);
    } else {
        around.truncate(1);
        around[0].1 = 1.0;
    }
}

/// The smallest and the largest number of voxels that is chosen automatically.
const CHOSEN: (f64, f64) = (4_000.0, 60_000.0);

/// The largest number of voxels per point of the surface: a coarse surface does not show more
/// detail.
const PER_POINT: f64 = 30.0;

/// The smallest number of voxels if the surface is fine enough.
const MIDDLING: f64 = 12_000.0;

/// The number of voxels along a short bone: with fewer, neighbouring finger bones cannot be
/// distinguished.
const ALONG_BONE: f64 = 3.0;

/// The width of voxels of which about `wanted` fill the body. Without a number, the shorter bones
/// (the first quartile), or the distances between points if there are no bones, are a few voxels
/// long.
fn choose_size(
    shape: &OrientedSurface,
    holds: &[Hold],
    wanted: Option<usize>,
    at_most: usize,
) -> f64 {
    let sides = 2.0 * shape.half_sides();
    let at_least = 1e-4;
    let (rough, _) = Lattice::fill(shape, 1.0 / 96.0);
    let inside = rough
        .numbers
        .iter()
        .filter(|&&number| number != NONE)
        .count();
    let volume = inside as f64 * rough.size.powi(3);
    let wanted = wanted.map_or_else(
        || {
            let segments = holds.iter().flat_map(|hold| &hold.segments);
            let mut lengths: Vec<f64> = segments.map(|segment| segment.length()).collect();
            lengths.retain(|&length| length > at_least);
            if lengths.is_empty() {
                lengths = between_points(holds);
                lengths.retain(|&length| length > at_least);
            }
            lengths.sort_by(f64::total_cmp);
            let short = lengths.get(lengths.len() / 4).copied().unwrap_or(1.0);
            let most = (PER_POINT * shape.points.len() as f64).clamp(CHOSEN.0, CHOSEN.1);
            let fitting = volume / (short / ALONG_BONE).powi(3);
            fitting.max(MIDDLING).min(most).min(at_most as f64)
        },
        |wanted| wanted.max(1) as f64,
    );
    let area: f64 = shape.areas.iter().sum();
    let by_volume = (volume / wanted).cbrt();
    let by_skin = (area / (2.0 * wanted)).sqrt();
    let by_box = (sides.max(DVec3::splat(at_least)).element_product() / MOST_PLACES).cbrt();
    by_volume.max(by_skin).max(by_box).max(at_least)
}

/// The distance of each hold to the nearest other: the equivalent of a length for points.
fn between_points(holds: &[Hold]) -> Vec<f64> {
    let tree = SegmentTree::over(holds);
    let distances = holds.iter().enumerate().map(|(index, hold)| {
        let square = tree.nearest_other_square(hold.segments[0].from, index);
        square.sqrt()
    });
    distances.filter(|distance| distance.is_finite()).collect()
}

impl Lattice {
    /// Finds the centers inside the body. The lattice is symmetric about the middle of the model,
    /// so that a symmetric model has symmetric voxels.
    fn fill(shape: &OrientedSurface, size: f64) -> (Lattice, Vec<DVec3>) {
        let half = if shape.points.is_empty() {
            IVec3::ZERO
        } else {
            (shape.half_sides() / size).ceil().as_ivec3() + 1
        };
        let dims = half * 2;
        let mut lattice = Lattice {
            size,
            dims,
            numbers: Vec::new(),
        };
        // Blocks of positions are decided as a whole where the surface is not near.
        let blocks = (dims + BLOCK - 1) / BLOCK;
        let count = blocks.element_product() as usize;
        let filled = exec::map(count, |index| {
            let corner = unravel(index, blocks) * BLOCK;
            let mut inside = Vec::new();
            lattice.fill_block(shape, corner, BLOCK, &mut inside);
            inside
        });
        let mut numbers = vec![NONE; dims.element_product().max(0) as usize];
        let mut inside: Vec<IVec3> = filled.concat();
        inside.sort_unstable_by_key(|place| (place.z, place.y, place.x));
        for (number, &place) in inside.iter().enumerate() {
            numbers[lattice.index(place)] = number as u32;
        }
        let places = inside.iter().map(|&place| lattice.center(place)).collect();
        lattice.numbers = numbers;
        (lattice, places)
    }

    fn center(&self, place: IVec3) -> DVec3 {
        ((place - self.dims / 2).as_dvec3() + 0.5) * self.size
    }

    fn index(&self, place: IVec3) -> usize {
        ((place.z * self.dims.y + place.y) * self.dims.x + place.x) as usize
    }

    /// The number of the voxel at a position; `NONE` outside.
    fn number(&self, place: IVec3) -> u32 {
        let within = place.cmpge(IVec3::ZERO).all() && place.cmplt(self.dims).all();
        if within {
            self.numbers[self.index(place)]
        } else {
            NONE
        }
    }

    /// Collects the positions of a block whose centers are inside.
    fn fill_block(
        &self,
        shape: &OrientedSurface,
        corner: IVec3,
        width: i32,
        inside: &mut Vec<IVec3>,
    ) {
        if corner.cmpge(self.dims).any() {
            return;
        }
        let middle = self.center(corner) + 0.5 * (f64::from(width) - 1.0) * self.size;
        if width == 1 {
            if shape.is_inside(middle) {
                inside.push(corner);
            }
            return;
        }
        let radius = 0.5 * f64::from(width) * self.size * 3f64.sqrt();
        let far = shape
            .tree
            .nearest(middle.as_vec3(), radius as f32, |_| true)
            .is_none();
        if far {
            // Away from the surface the winding number changes little; if it is unambiguous here,
            // it is for the whole block.
            let winding = shape.tree.winding(middle);
            if winding < 0.25 {
                return;
            }
            if winding > 0.75 {
                let end = (corner + width).min(self.dims);
                for z in corner.z..end.z {
                    for y in corner.y..end.y {
                        inside.extend((corner.x..end.x).map(|x| IVec3::new(x, y, z)));
                    }
                }
                return;
            }
        }
        let half = width / 2;
        for part in 0..8 {
            let offset = IVec3::new(part & 1, part >> 1 & 1, part >> 2) * half;
            self.fill_block(shape, corner + offset, half, inside);
        }
    }

    /// Adjacent voxels whose centers are connected.
    fn neighbours(&self, shape: &OrientedSurface, places: &[DVec3]) -> Vec<(u32, u32)> {
        let pairs = exec::map_chunks(places.len(), |range| {
            let mut pairs = Vec::new();
            for number in range {
                let place = self.place_of(places[number]);
                for step in [IVec3::X, IVec3::Y, IVec3::Z] {
                    let other = self.number(place + step);
                    if other != NONE && joined(shape, places[number], places[other as usize]) {
                        pairs.push((number as u32, other));
                    }
                }
            }
            pairs
        });
        pairs.concat()
    }

    fn place_of(&self, place: DVec3) -> IVec3 {
        // Positions outside of the box stay outside; a point without triangles may be beyond the
        // range of integers.
        let beyond = (self.dims + 4).as_dvec3();
        let place = (place / self.size).floor().clamp(-beyond, beyond);
        place.as_ivec3() + self.dims / 2
    }

    /// The voxel directly behind every point of the surface, if any.
    fn behind_points(&self, shape: &OrientedSurface, places: &[DVec3]) -> Vec<u32> {
        let behind = |point: usize| {
            let here = shape.points[point];
            let corner = self.place_of(here - 0.5 * self.size);
            let mut near: Vec<(f64, u32)> = Vec::new();
            for z in -1..3 {
                for y in -1..3 {
                    for x in -1..3 {
                        let number = self.number(corner + IVec3::new(x, y, z));
                        if number != NONE {
                            let square = places[number as usize].distance_squared(here);
                            if square < (REACH * self.size).powi(2) {
                                near.push((square, number));
                            }
                        }
                    }
                }
            }
            near.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            let sees = |&&(_, number): &&(f64, u32)| {
                let center = places[number as usize];
                !shape.hides(point as u32, center) || all_inside(shape, here, center)
            };
            near.iter()
                .take(8)
                .find(sees)
                .map_or(NONE, |&(_, number)| number)
        };
        exec::map_chunks(shape.points.len(), |points| {
            points.map(behind).collect::<Vec<_>>()
        })
        .concat()
    }
}

/// The width of the blocks that are decided as a whole, in voxels.
const BLOCK: i32 = 16;

fn unravel(index: usize, dims: IVec3) -> IVec3 {
    let index = index as i32;
    IVec3::new(
        index % dims.x,
        index / dims.x % dims.y,
        index / (dims.x * dims.y),
    )
}

/// True if the straight path between two positions inside stays inside the body. Surfaces within
/// the body, such as nested shells, are ignored.
fn joined(shape: &OrientedSurface, a: DVec3, b: DVec3) -> bool {
    !shape.tree.blocked(a.as_vec3(), b.as_vec3(), 0.0, |_| true) || all_inside(shape, a, b)
}

fn all_inside(shape: &OrientedSurface, a: DVec3, b: DVec3) -> bool {
    [0.25, 0.5, 0.75]
        .iter()
        .all(|&share| shape.is_inside(a.lerp(b, share)))
}

/// The cell of every point: the voxel behind it, or a patch of neighbouring points without voxels
/// within the same lattice cell. Appends the middles of the patches to the positions.
fn patches(
    shape: &OrientedSurface,
    behind: &[u32],
    size: f64,
    places: &mut Vec<DVec3>,
) -> Vec<u32> {
    let place_of = |point: u32| (shape.points[point as usize] / size).floor().as_ivec3();
    let mut sets = DisjointSets::new(shape.points.len());
    for edge in &shape.edges {
        let [a, b] = edge.ends;
        let bare = behind[a as usize] == NONE && behind[b as usize] == NONE;
        if bare && place_of(a) == place_of(b) {
            sets.join(a as usize, b as usize);
        }
    }
    let mut cell_of = behind.to_vec();
    let mut members: Vec<(DVec3, f64)> = Vec::new();
    let voxels = places.len();
    for point in 0..shape.points.len() {
        if behind[point] != NONE {
            continue;
        }
        let first = sets.find(point);
        if first == point {
            cell_of[point] = (voxels + members.len()) as u32;
            members.push((DVec3::ZERO, 0.0));
        }
        cell_of[point] = cell_of[first];
        let (sum, count) = &mut members[cell_of[point] as usize - voxels];
        *sum += shape.points[point];
        *count += 1.0;
    }
    places.extend(members.into_iter().map(|(sum, count)| sum / count));
    cell_of
}

/// Nearest-cell search: cells sorted into cubes.
struct PlaceSearch {
    size: f64,
    /// (cube, cell), sorted.
    cells: Vec<([i32; 3], u32)>,
}

impl PlaceSearch {
    fn over(places: &[DVec3], size: f64) -> PlaceSearch {
        let cube = |place: &DVec3| (*place / size).floor().as_ivec3().to_array();
        let mut cells: Vec<_> = places
            .iter()
            .enumerate()
            .map(|(cell, place)| (cube(place), cell as u32))
            .collect();
        cells.sort_unstable();
        PlaceSearch { size, cells }
    }

    /// The nearest matching cells within a number of cube widths: several if the position is
    /// between them, such as the middle of a symmetric body, so that no side is preferred.
    fn nearest(
        &self,
        places: &[DVec3],
        place: DVec3,
        reach: i32,
        fits: impl Fn(u32) -> bool,
    ) -> impl Iterator<Item = u32> {
        let [x, y, z] = (place / self.size).floor().as_ivec3().to_array();
        let mut near: Vec<(f64, u32)> = Vec::new();
        for i in x - reach..=x + reach {
            for j in y - reach..=y + reach {
                let start = self
                    .cells
                    .partition_point(|&(cube, _)| cube < [i, j, z - reach]);
                let run = self.cells[start..].iter();
                let run = run.take_while(|(cube, _)| *cube <= [i, j, z + reach]);
                near.extend(run.map(|&(_, cell)| (places[cell as usize].distance(place), cell)));
            }
        }
        near.retain(|(distance, _)| *distance <= f64::from(reach) * self.size);
        near.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let mut fitting = near.into_iter().filter(move |&(_, cell)| fits(cell));
        let nearest = fitting.next();
        let reach = nearest.map_or(0.0, |(distance, _)| distance + BETWEEN * self.size);
        let equal = fitting.take_while(move |(distance, _)| *distance <= reach);
        nearest.into_iter().chain(equal).map(|(_, cell)| cell)
    }
}

/// Distances that differ by at most this share of a width count as equal.
const BETWEEN: f64 = 0.1;

#[cfg(test)]
mod tests {
    use super::super::test_bodies::{Filled, boxes, points, sheet};
    use super::*;
    use crate::mesh::Mesh;

    fn components(cells: &Cells) -> usize {
        let mut numbers = cells.component.clone();
        numbers.sort_unstable();
        numbers.dedup();
        numbers.len()
    }

    #[test]
    fn there_are_about_as_many_voxels_as_are_wanted() {
        let bar = boxes(&[([0.0; 3], [3.0, 1.0, 1.0])]);
        for wanted in [500, 3000, 20_000] {
            let voxels = Filled::new(&bar, &points(&[[1.0, 0.5, 0.5]]), wanted)
                .cells
                .voxels;
            let share = voxels as f64 / wanted as f64;
            assert!((0.6..1.5).contains(&share), "{voxels} for {wanted}");
        }
    }

    /// A cloth beside a body has no inside, so it becomes patches that are connected to each other
    /// and not to the body.
    #[test]
    fn what_is_too_thin_for_voxels_becomes_patches() {
        let block = boxes(&[([-9.0, 2.0, -4.0], [-3.0, 8.0, 2.0])]);
        let mut positions = block.positions().to_vec();
        let mut triangles = block.triangles().to_vec();
        let cloth = sheet(12, 10);
        let first = positions.len() as u32;
        positions.extend_from_slice(cloth.positions());
        let shifted = |corners: &[u32; 3]| corners.map(|corner| corner + first);
        triangles.extend(cloth.triangles().iter().map(shifted));
        let both = Mesh::new(positions, None, None, triangles).unwrap();
        let cells = Filled::new(&both, &points(&[[-6.0, 5.0, -1.0]]), 400).cells;
        assert!(cells.voxels > 100 && cells.places.len() > cells.voxels + 20);
        assert_eq!(components(&cells), 2, "a body and a cloth beside it");
    }

    /// The gap is a tenth of a voxel.
    #[test]
    fn a_gap_however_narrow_cuts_connections() {
        let near = |gap: f32| {
            boxes(&[
                ([0.0; 3], [1.0; 3]),
                ([1.0 + gap, 0.0, 0.0], [2.0 + gap, 1.0, 1.0]),
            ])
        };
        let handles = points(&[[0.5; 3]]);
        let apart = Filled::new(&near(0.01), &handles, 1000).cells;
        assert!(apart.size * 2.4 > 0.09, "voxels wider than the gap");
        assert_eq!(components(&apart), 2);
        let overlapping = Filled::new(&near(-0.01), &handles, 1000).cells;
        assert_eq!(components(&overlapping), 1);
    }

    #[test]
    fn every_point_of_the_surface_has_a_cell_of_its_own_piece() {
        let apart = boxes(&[([0.0; 3], [1.0; 3]), ([3.0; 3], [4.0; 3])]);
        let filled = Filled::new(&apart, &points(&[[0.5; 3], [3.5; 3]]), 500);
        let component = |point: usize| filled.cells.component[filled.cells.cell_of[point] as usize];
        for (point, &piece) in filled.shape.piece_of.iter().enumerate() {
            let same = component(point) == component(0);
            assert_eq!(same, piece == filled.shape.piece_of[0]);
        }
        let of_seed = |hold: usize| filled.cells.component[filled.seeds[hold][0].cell as usize];
        assert_ne!(of_seed(0), of_seed(1));
    }

    #[test]
    fn links_go_both_ways_and_stand_in_order() {
        let links = Links::of(4, vec![(2, 0), (0, 1), (0, 2)]);
        assert_eq!(links.at(0), [1, 2]);
        assert_eq!((links.at(1), links.at(2)), (&[0][..], &[0][..]));
        assert!(links.at(3).is_empty());
        assert_eq!(links.len(), 4);
    }
}
