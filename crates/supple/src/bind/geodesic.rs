//! Geodesic voxel weights: distances through the inside of the body, not across the gap between
//! limbs.
//!
//! Uses voxels as in geodesic voxel binding (Dionne and de Lasa 2013): the distance of every cell
//! to every bone along paths inside the body. Distances solve the eikonal equation `|∇d| = 1` by
//! fast marching, so that they do not depend on the orientation of the lattice as shortest paths
//! between voxels would. The falloff differs from the paper's, which never reaches zero: a bone `q`
//! times as far away as the nearest one has the weight `(1 − t)²(1 + 2t)` with `t = (q − 1) /
//! falloff`. So one number sets the range of weights, in radii of the limb, and weights are zero
//! beyond it.

use super::JointShares;
use super::cells::{Cells, Seed};
use super::handles::Hold;
use super::oriented_surface::OrientedSurface;
use crate::exec;
use crate::option_error::OptionError;
use glam::DVec3;
use std::cmp::Ordering;
use std::collections::{BinaryHeap, HashSet};

/// Options of geodesic voxel weights.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(default)
)]
pub struct GeodesicOptions {
    /// The approximate number of voxels of the body; `None` derives it from the length of the
    /// bones.
    pub voxels: Option<usize>,
    /// The largest distance of a bone with weight beyond that of the nearest bone, relative to the
    /// latter.
    pub falloff: f64,
}

impl Default for GeodesicOptions {
    fn default() -> GeodesicOptions {
        GeodesicOptions {
            voxels: None,
            falloff: 0.5,
        }
    }
}

impl GeodesicOptions {
    pub(super) fn check(&self) -> Result<(), OptionError> {
        super::check_voxels(self.voxels)?;
        super::check_positive("the falloff", self.falloff)
    }
}

/// The range of the front relative to the range of weights: the path to a cell with weight may lead
/// through cells without.
const SLACK: f64 = 1.5;

/// Up to this many widths around a bone, distances are Euclidean: a front that starts from single
/// voxels is not yet a tube around the bone, and its initial error would remain.
const EUCLIDEAN_WIDTHS: f64 = 3.0;

/// A cell, and its initial distance from a bone.
#[derive(Clone, Copy, Debug)]
struct Start {
    cell: u32,
    distance: f64,
}

/// The weights of every cell, by hold. Cells without a path to a bone have none.
pub(super) fn cell_rows(
    cells: &Cells,
    holds: &[Hold],
    seeds: &[Vec<Seed>],
    options: &GeodesicOptions,
) -> JointShares {
    let starts = exec::map(seeds.len(), |hold| {
        starts(cells, &holds[hold], &seeds[hold])
    });
    let everything: Vec<Start> = starts.concat();
    // Distances below a fraction of a cell are not distinguished.
    let offset = 0.25 * cells.size;
    let nearest = march(cells, &everything, |_, _| true);
    let reach = 1.0 + options.falloff;
    let marched = exec::map_runs(seeds.len(), |holds| {
        let mut front = Front::over(cells);
        let mut weights_of = |hold: usize| {
            let counts = |cell: u32, distance: f64| {
                distance + offset <= SLACK * reach * (nearest[cell as usize] + offset)
            };
            front.march(cells, &starts[hold], counts);
            let mut weights = Vec::new();
            for &cell in &front.reached {
                let distance = front.distances[cell as usize];
                let ratio = (distance + offset) / (nearest[cell as usize] + offset);
                let beyond = ((ratio - 1.0) / options.falloff).max(0.0);
                if beyond < 1.0 {
                    weights.push((cell, (1.0 - beyond).powi(2) * (1.0 + 2.0 * beyond)));
                }
            }
            weights
        };
        holds.map(&mut weights_of).collect::<Vec<_>>()
    });
    let mut rows: JointShares = vec![Vec::new(); cells.places.len()];
    for (hold, weights) in marched.into_iter().flatten().enumerate() {
        for (cell, weight) in weights {
            rows[cell as usize].push((hold as u16, weight));
        }
    }
    for row in &mut rows {
        let sum: f64 = row.iter().map(|(_, weight)| weight).sum();
        row.iter_mut().for_each(|(_, weight)| *weight /= sum);
    }
    rows
}

/// Distances through the inside of a body, from any positions.
pub(crate) struct InsideDistances<'s> {
    shape: &'s OrientedSurface,
    cells: Cells,
}

impl<'s> InsideDistances<'s> {
    /// Voxelises the body into about `voxels` voxels.
    pub(crate) fn in_body(shape: &'s OrientedSurface, voxels: usize) -> InsideDistances<'s> {
        InsideDistances {
            shape,
            cells: Cells::of(shape, &[], Some(voxels), usize::MAX),
        }
    }

    /// The distance of every cell to the nearest of some positions; infinite without a path inside
    /// the body.
    pub(crate) fn away_from(&self, places: &[DVec3]) -> Vec<f64> {
        let holds: Vec<Hold> = places
            .iter()
            .map(|&place| Hold::at(place, self.shape))
            .collect();
        let seeds = self.cells.seeds(self.shape, &holds);
        let starts: Vec<Start> = holds
            .iter()
            .zip(&seeds)
            .flat_map(|(hold, seeds)| starts(&self.cells, hold, seeds))
            .collect();
        march(&self.cells, &starts, |_, _| true)
    }

    /// The distance of every point of the surface, from those of all cells.
    pub(crate) fn at_points(&self, distances: &[f64]) -> Vec<f64> {
        let cell_of = self.cells.cell_of.iter();
        let points = cell_of.zip(&self.shape.points);
        points
            .map(|(&cell, &point)| {
                let cell = cell as usize;
                distances[cell] + self.cells.places[cell].distance(point)
            })
            .collect()
    }

    /// The distance of any position inside the body, from those of all cells.
    pub(crate) fn at(&self, distances: &[f64], place: DVec3) -> f64 {
        let seeds = self.cells.seeds(self.shape, &[Hold::at(place, self.shape)]);
        let away = |seed: &Seed| {
            let cell = seed.cell as usize;
            distances[cell] + self.cells.places[cell].distance(place)
        };
        seeds[0].iter().map(away).fold(f64::INFINITY, f64::min)
    }
}

/// The start of the front around a bone: the cells that it passes through, and cells around them in
/// line of sight.
fn starts(cells: &Cells, hold: &Hold, seeds: &[Seed]) -> Vec<Start> {
    // A bone outside of the body starts where it touches the skin.
    let distance = |cell: u32| match hold.inside {
        true => hold.nearest(cells.places[cell as usize]).1.sqrt(),
        false => 0.0,
    };
    let start = |cell: u32| Start {
        cell,
        distance: distance(cell),
    };
    let mut found: Vec<Start> = seeds.iter().map(|seed| start(seed.cell)).collect();
    if !hold.inside {
        return found;
    }
    let within = EUCLIDEAN_WIDTHS * cells.size;
    let mut known: HashSet<u32> = seeds.iter().map(|seed| seed.cell).collect();
    let mut from: Vec<u32> = (0..found.len() as u32).collect();
    let mut next = 0;
    while next < found.len() {
        let (here, seed) = (found[next].cell, found[from[next] as usize].cell);
        let [here_at, seed_at] = [here, seed].map(|cell| cells.places[cell as usize]);
        for &other in cells.links.at(here) {
            let other_at = cells.places[other as usize];
            let steps = |to: DVec3| (to - seed_at).abs().element_sum();
            // Paths that lead away from the seed in every step do not go around obstacles.
            let ahead = steps(other_at) > steps(here_at) + 0.5 * cells.size;
            let voxel = (other as usize) < cells.voxels;
            if ahead && voxel && distance(other) <= within && known.insert(other) {
                found.push(start(other));
                from.push(from[next]);
            }
        }
        next += 1;
    }
    found
}

/// The distance of every cell to the start of the front, within the range of the front; infinite
/// beyond.
fn march(cells: &Cells, starts: &[Start], runs_on: impl Fn(u32, f64) -> bool) -> Vec<f64> {
    let mut front = Front::over(cells);
    front.march(cells, starts, runs_on);
    front.distances
}

/// A front of distances. It is reused between marches, so that the time of a march depends on the
/// cells that it reaches, not on all cells.
struct Front {
    /// Infinite for cells that the front has not reached.
    distances: Vec<f64>,
    settled: Vec<bool>,
    /// The cells with a distance, each once.
    reached: Vec<u32>,
}

impl Front {
    fn over(cells: &Cells) -> Front {
        Front {
            distances: vec![f64::INFINITY; cells.places.len()],
            settled: vec![false; cells.places.len()],
            reached: Vec::new(),
        }
    }

    /// Lowers the distance of a cell.
    fn approach(&mut self, cell: u32, distance: f64) {
        let known = &mut self.distances[cell as usize];
        if *known == f64::INFINITY {
            self.reached.push(cell);
        }
        *known = distance;
    }

    /// Starts a new front and runs it over its range.
    fn march(&mut self, cells: &Cells, starts: &[Start], runs_on: impl Fn(u32, f64) -> bool) {
        for cell in self.reached.drain(..) {
            self.distances[cell as usize] = f64::INFINITY;
            self.settled[cell as usize] = false;
        }
        let mut front = BinaryHeap::new();
        for &Start { cell, distance } in starts {
            if distance < self.distances[cell as usize] {
                self.approach(cell, distance);
                front.push(Reached { distance, cell });
            }
        }
        while let Some(Reached { distance, cell }) = front.pop() {
            if self.settled[cell as usize] {
                continue;
            }
            self.settled[cell as usize] = true;
            if !runs_on(cell, distance) {
                continue;
            }
            for &other in cells.links.at(cell) {
                if self.settled[other as usize] {
                    continue;
                }
                let updated = arrival(cells, &self.distances, &self.settled, other);
                if updated < self.distances[other as usize] {
                    self.approach(other, updated);
                    front.push(Reached {
                        distance: updated,
                        cell: other,
                    });
                }
            }
        }
    }
}

/// The arrival time of a front at a cell from its settled neighbours: the largest root of `Σ_axes
/// ((d − d_axis) / h)² = 1` over as many axes as are behind it; along links outside of the lattice
/// by their length.
fn arrival(cells: &Cells, distances: &[f64], settled: &[bool], cell: u32) -> f64 {
    let here = cells.places[cell as usize];
    let mut along = [f64::INFINITY; 3];
    let mut best = f64::INFINITY;
    for &other in cells.links.at(cell) {
        if !settled[other as usize] {
            continue;
        }
        let distance = distances[other as usize];
        if (cell as usize) < cells.voxels && (other as usize) < cells.voxels {
            let step = (cells.places[other as usize] - here).abs();
            let axis = step.max_position();
            // The skin may link voxels that are not adjacent.
            if step.element_sum() < 1.5 * cells.size {
                along[axis] = along[axis].min(distance);
                continue;
            }
        }
        best = best.min(distance + cells.places[other as usize].distance(here));
    }
    along.sort_by(f64::total_cmp);
    let h = cells.size;
    let (mut count, mut sum, mut squares) = (0.0, 0.0, 0.0);
    let mut arrival = f64::INFINITY;
    for distance in along {
        if distance >= arrival {
            break;
        }
        count += 1.0;
        sum += distance;
        squares += distance * distance;
        let discriminant = sum * sum - count * (squares - h * h);
        if discriminant < 0.0 {
            break;
        }
        arrival = (sum + discriminant.sqrt()) / count;
    }
    best.min(arrival)
}

/// A cell on the front; the nearest compares as the greatest, for the heap.
#[derive(PartialEq)]
struct Reached {
    distance: f64,
    cell: u32,
}

impl Eq for Reached {}

impl Ord for Reached {
    fn cmp(&self, other: &Reached) -> Ordering {
        let nearer = other.distance.total_cmp(&self.distance);
        nearer.then(other.cell.cmp(&self.cell))
    }
}

impl PartialOrd for Reached {
    fn partial_cmp(&self, other: &Reached) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_bodies::{Filled, boxes, points};
    use super::*;

    impl Filled {
        fn distances(&self, hold: usize) -> Vec<f64> {
            let starts = starts(&self.cells, &self.holds[hold], &self.seeds[hold]);
            march(&self.cells, &starts, |_, _| true)
        }
    }

    #[test]
    fn distances_in_a_box_are_those_as_the_crow_flies() {
        let cube = boxes(&[([0.0; 3], [1.0; 3])]);
        let filled = Filled::new(&cube, &points(&[[0.2, 0.3, 0.25]]), 8000);
        let cells = &filled.cells;
        let distances = filled.distances(0);
        let mut most = 0.0f64;
        for (place, distance) in cells.places.iter().zip(&distances) {
            let straight = filled.holds[0].nearest(*place).1.sqrt();
            assert!(*distance >= straight * (1.0 - 1e-9));
            most = most.max(distance / straight - 1.0);
        }
        assert!(most < 0.2, "{most}");
    }

    #[test]
    fn distances_go_around_a_wall() {
        // Two arms of a fork, joined at the lower end.
        let fork = boxes(&[
            ([0.0, 0.0, 0.0], [1.0, 4.0, 0.5]),
            ([2.0, 0.0, 0.0], [3.0, 4.0, 0.5]),
            ([0.0, -1.0, 0.0], [3.0, 0.0001, 0.5]),
        ]);
        let tips = [[0.5, 3.5, 0.25], [2.5, 3.5, 0.25]];
        let filled = Filled::new(&fork, &points(&tips), 6000);
        let distances = filled.distances(0);
        let [from, to] =
            [0, 1].map(|hold| filled.cells.places[filled.seeds[hold][0].cell as usize]);
        // Down to the inner corner of one arm, along the palm, and up the other arm.
        let corners = [1.0, 2.0].map(|x| filled.shape.to_unit(glam::DVec3::new(x, 0.0, 0.25)));
        let level = |mut corner: glam::DVec3| {
            corner.z = from.z;
            corner
        };
        let [first, second] = corners.map(level);
        let way = from.distance(first) + first.distance(second) + second.distance(to);
        let found = distances[filled.seeds[1][0].cell as usize];
        assert!((found / way - 1.0).abs() < 0.06, "{found} for {way}");
    }

    #[test]
    fn what_is_not_connected_is_not_reached() {
        let apart = boxes(&[([0.0; 3], [1.0; 3]), ([2.0, 0.0, 0.0], [3.0, 1.0, 1.0])]);
        let filled = Filled::new(&apart, &points(&[[0.5; 3]]), 500);
        let distances = filled.distances(0);
        let reached = distances.iter().filter(|distance| distance.is_finite());
        assert_eq!(reached.count() * 2, distances.len());
    }
}
