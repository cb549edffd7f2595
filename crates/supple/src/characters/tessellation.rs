//! From a cage to a triangle mesh of any size: the same smooth surface, sampled more or less
//! finely.
//!
//! Every quad of the cage becomes a grid of m × n cells. Opposite edges of a quad need the same
//! number of cells, so edges fall into *chords*, runs of quads across their opposite edges, and
//! each chord has one number.

use super::cage::{Cage, Influences};
use super::subdivision::Connectivity;
use crate::disjoint_sets::DisjointSets;
use crate::exec;
use glam::DVec3;
use std::collections::HashMap;

/// Vertices, what holds them, and triangles.
pub(super) struct SampledSurface {
    pub(super) positions: Vec<DVec3>,
    pub(super) influences: Vec<Influences>,
    pub(super) triangles: Vec<[u32; 3]>,
}

/// Detail that is finer than the points of a cage.
pub(super) trait Detail {
    /// Moves a point of the smooth surface before it is sampled.
    fn sculpt(&self, point: DVec3) -> DVec3 {
        point
    }

    /// The factor by which edges at a point count as longer, so that they get more vertices.
    fn fineness(&self, _point: DVec3) -> f64 {
        1.0
    }
}

/// No detail: the smooth surface as it is.
pub(super) struct Smooth;

impl Detail for Smooth {}

/// Samples the smooth surface of a cage with close to `target` vertices.
///
/// The surface passes through the points of the cage, but for what `detail` adds.
pub(super) fn tessellate(
    cage: &Cage,
    joint_count: usize,
    target: usize,
    detail: &impl Detail,
) -> SampledSurface {
    let connectivity = Connectivity::new(cage.points.len(), cage.quads.clone());
    let patches = patches(cage, &connectivity, joint_count, detail);
    let cells = cells_per_edge(cage, &connectivity, target, detail);
    sample(&connectivity, &patches, &cells)
}

/// Subdivision steps before sampling; between the points of the last step a cubic runs.
const STEPS: usize = 3;
/// Cells along a side of a patch.
const SIDE: usize = 1 << STEPS;
/// Points along a side of a patch.
const ROW: usize = SIDE + 1;
/// Steps of fitting the cage to its points.
const FITTING: usize = 8;
/// Influences below this are not worth keeping.
const FAINT: f64 = 1e-4;
/// The most influences of a vertex.
const MOST_INFLUENCES: usize = 8;

/// A quad of the cage as a grid of points of the smooth surface, with the weights of all joints
/// that reach it.
struct Patch {
    points: Vec<DVec3>,
    /// Joint, and its weights at the points.
    weights: Vec<(usize, Vec<f64>)>,
}

fn patches(
    cage: &Cage,
    coarse: &Connectivity,
    joint_count: usize,
    detail: &impl Detail,
) -> Vec<Patch> {
    let mut levels = vec![];
    let mut finest = coarse.refined();
    for _ in 1..STEPS {
        let next = finest.refined();
        levels.push(std::mem::replace(&mut finest, next));
    }
    let mut points = coarse.refine(&coarse.fitted(&cage.points, FITTING));
    for level in &levels {
        points = level.refine(&points);
    }
    let points = finest.limit(&points).into_iter();
    let points: Vec<DVec3> = points.map(|point| detail.sculpt(point)).collect();
    let weights = exec::map(joint_count, |joint| {
        let weight_of = |row: &Influences| {
            let own = row.iter().filter(|(other, _)| *other == joint);
            own.map(|(_, weight)| weight).sum()
        };
        let weights: Vec<f64> = cage.influences.iter().map(weight_of).collect();
        if weights.iter().all(|&weight| weight == 0.0) {
            return Vec::new();
        }
        let mut weights = coarse.refine(&weights);
        for level in &levels {
            weights = level.refine(&weights);
        }
        finest.limit(&weights)
    });
    exec::map(coarse.quads.len(), |quad| {
        let grid = grid_of(quad, &finest.quads);
        let reaching = weights.iter().enumerate().filter_map(|(joint, field)| {
            let weights: Vec<f64> = grid
                .iter()
                .map(|&point| field.get(point).copied().unwrap_or(0.0))
                .collect();
            weights
                .iter()
                .any(|&weight| weight > 0.0)
                .then_some((joint, weights))
        });
        Patch {
            points: grid.iter().map(|&point| points[point]).collect(),
            weights: reaching.collect(),
        }
    })
}

/// The finest vertices of a coarse quad, row by row: along from corner 0 to 1, rows from there to
/// corners 3 and 2.
fn grid_of(quad: usize, finest: &[[usize; 4]]) -> Vec<usize> {
    const CELLS: usize = SIDE * SIDE;
    let mut grid = vec![0; ROW * ROW];
    for (index, corners) in finest[quad * CELLS..(quad + 1) * CELLS].iter().enumerate() {
        // Two bits per step say which corner's child was taken: (0, 0), (1, 0), (1, 1), (0, 1).
        let (mut x, mut y) = (0, 0);
        for step in (0..STEPS).rev() {
            let child = index >> (2 * step) & 3;
            x = 2 * x + usize::from(child == 1 || child == 2);
            y = 2 * y + usize::from(child >= 2);
        }
        let at = |x: usize, y: usize| y * ROW + x;
        let places = [at(x, y), at(x + 1, y), at(x + 1, y + 1), at(x, y + 1)];
        for (place, &corner) in places.into_iter().zip(corners) {
            grid[place] = corner;
        }
    }
    grid
}

/// The number of cells along every edge of the cage, for about `target` vertices.
fn cells_per_edge(
    cage: &Cage,
    connectivity: &Connectivity,
    target: usize,
    detail: &impl Detail,
) -> Vec<usize> {
    let chord_of_edge = chords(cage, connectivity);
    let chord_count = chord_of_edge.iter().max().map_or(0, |last| last + 1);
    let mut lengths = vec![(0.0, 0.0); chord_count];
    for (edge, &[a, b]) in connectivity.edges.iter().enumerate() {
        let (sum, count) = &mut lengths[chord_of_edge[edge]];
        let [a, b] = [a, b].map(|end| cage.points[end]);
        *sum += (a - b).length() * detail.fineness(0.5 * (a + b));
        *count += 1.0;
    }
    // Less than in proportion to length: fingers and faces deserve smaller triangles than the back.
    let needs: Vec<f64> = lengths
        .iter()
        .map(|(sum, count)| f64::powf(sum / count, 0.7))
        .collect();
    let total = |cells: &[usize]| {
        let inner = |edge: usize| cells[chord_of_edge[edge]] - 1;
        let on_edges: usize = (0..connectivity.edges.len()).map(inner).sum();
        let in_quads: usize = connectivity
            .edges_of_quad
            .iter()
            .map(|edges| inner(edges[0]) * inner(edges[1]))
            .sum();
        cage.points.len() + on_edges + in_quads
    };
    let at_scale = |scale: f64| -> Vec<usize> {
        let cells = |need: &f64| ((need * scale).round() as usize).max(1);
        needs.iter().map(cells).collect()
    };
    let (mut low, mut high) = (0.0, 1e5);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if total(&at_scale(middle)) <= target {
            low = middle;
        } else {
            high = middle;
        }
    }
    // One scale leaves a gap, as whole chords change at once: fill it with those that were rounded
    // down the most.
    let mut cells = at_scale(low);
    let mut by_need: Vec<usize> = (0..chord_count).collect();
    let lack = |cells: &[usize], chord: usize| needs[chord] * low / cells[chord] as f64;
    by_need.sort_by(|&a, &b| lack(&cells, b).total_cmp(&lack(&cells, a)).then(a.cmp(&b)));
    for chord in by_need {
        cells[chord] += 1;
        if total(&cells) > target {
            cells[chord] -= 1;
        }
    }
    chord_of_edge.iter().map(|&chord| cells[chord]).collect()
}

/// The chord of every edge, numbered from 0. An edge and its mirror image are in one chord.
fn chords(cage: &Cage, connectivity: &Connectivity) -> Vec<usize> {
    let mut sets = DisjointSets::new(connectivity.edges.len());
    for edges in &connectivity.edges_of_quad {
        sets.join(edges[0], edges[2]);
        sets.join(edges[1], edges[3]);
    }
    if !cage.mirror.is_empty() {
        let edges = connectivity.edges.iter().enumerate();
        let edge_of: HashMap<[usize; 2], usize> = edges.map(|(edge, &ends)| (ends, edge)).collect();
        for (edge, ends) in connectivity.edges.iter().enumerate() {
            let [a, b] = ends.map(|end| cage.mirror[end]);
            if let Some(&image) = edge_of.get(&[a.min(b), a.max(b)]) {
                sets.join(edge, image);
            }
        }
    }
    let mut number_of: HashMap<usize, usize> = HashMap::new();
    (0..connectivity.edges.len())
        .map(|edge| {
            let next = number_of.len();
            *number_of.entry(sets.find(edge)).or_insert(next)
        })
        .collect()
}

/// Vertices at the corners of the cage, then along its edges, then inside its quads, and the
/// triangles between them.
fn sample(connectivity: &Connectivity, patches: &[Patch], cells: &[usize]) -> SampledSurface {
    let quads = &connectivity.quads;
    let corner_count = quads.iter().flatten().max().map_or(0, |last| last + 1);
    let mut next = corner_count;
    let mut first_of = |inner: usize| {
        next += inner;
        next - inner
    };
    let first_of_edge: Vec<usize> = cells.iter().map(|&cells| first_of(cells - 1)).collect();
    let size_of = |quad: usize| {
        let edges = connectivity.edges_of_quad[quad];
        (cells[edges[0]], cells[edges[1]])
    };
    let first_of_quad: Vec<usize> = (0..quads.len())
        .map(|quad| {
            let (m, n) = size_of(quad);
            first_of((m - 1) * (n - 1))
        })
        .collect();

    let vertex_at = |quad: usize, i: usize, j: usize| -> usize {
        let (m, n) = size_of(quad);
        // Along edge `side` of the quad, `step` cells from its corner `side`.
        let on_edge = |side: usize, step: usize| {
            let edge = connectivity.edges_of_quad[quad][side];
            let forward = connectivity.edges[edge][0] == quads[quad][side];
            let step = if forward { step } else { cells[edge] - step };
            first_of_edge[edge] + step - 1
        };
        match (i, j) {
            (0, 0) => quads[quad][0],
            (i, 0) if i == m => quads[quad][1],
            (i, j) if i == m && j == n => quads[quad][2],
            (0, j) if j == n => quads[quad][3],
            (i, 0) => on_edge(0, i),
            (i, j) if i == m => on_edge(1, j),
            (i, j) if j == n => on_edge(2, m - i),
            (0, j) => on_edge(3, n - j),
            (i, j) => first_of_quad[quad] + (j - 1) * (m - 1) + i - 1,
        }
    };

    // Both quads of an edge give its vertices the same place, so it does not matter whose is kept.
    let sampled = exec::map(quads.len(), |quad| {
        let (m, n) = size_of(quad);
        let grid = (0..=n).flat_map(|j| (0..=m).map(move |i| (i, j)));
        let vertices = grid.map(|(i, j)| {
            let at = [i as f64 / m as f64, j as f64 / n as f64];
            (vertex_at(quad, i, j), patches[quad].sample(at))
        });
        vertices.collect::<Vec<_>>()
    });
    let mut surface = SampledSurface {
        positions: vec![DVec3::ZERO; next],
        influences: vec![Influences::new(); next],
        triangles: Vec::with_capacity(2 * next),
    };
    for (vertex, (position, influences)) in sampled.into_iter().flatten() {
        surface.positions[vertex] = position;
        surface.influences[vertex] = influences;
    }
    for quad in 0..quads.len() {
        let (m, n) = size_of(quad);
        for (j, i) in (0..n).flat_map(|j| (0..m).map(move |i| (j, i))) {
            let corners = [(i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1)];
            let corners = corners.map(|(i, j)| vertex_at(quad, i, j));
            surface.triangles.extend(split(corners, &surface.positions));
        }
    }
    surface
}

impl Patch {
    /// The surface and its influences at a place from (0, 0) to (1, 1).
    fn sample(&self, at: [f64; 2]) -> (DVec3, Influences) {
        let [(column, across), (row, along)] = at.map(cubic);
        // On a border of the patch the weights of all other rows are zero, so that neighbours agree
        // there.
        let mut stencil = [(0, 0.0); 16];
        for (k, entry) in stencil.iter_mut().enumerate() {
            let (x, y) = (k % 4, k / 4);
            *entry = ((row + y) * ROW + column + x, across[x] * along[y]);
        }
        let position = stencil
            .iter()
            .map(|&(point, share)| self.points[point] * share)
            .sum();
        let mut influences: Influences = self
            .weights
            .iter()
            .map(|(joint, field)| {
                let weight = stencil.iter().map(|&(point, share)| field[point] * share);
                (*joint, weight.sum())
            })
            .filter(|&(_, weight): &(usize, f64)| weight > FAINT)
            .collect();
        influences.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        if let Some(&(_, first_left_out)) = influences.get(MOST_INFLUENCES) {
            // Equals go together: on the middle line, left and right must not differ.
            influences.retain(|&(_, weight)| weight > first_left_out * (1.0 + 1e-6));
        }
        (position, influences)
    }
}

/// The first of four neighbouring points of a patch's side, and their shares in the cubic through
/// them at `x` from 0 to 1.
fn cubic(x: f64) -> (usize, [f64; 4]) {
    let x = x * SIDE as f64;
    let first = (x.floor() as usize).saturating_sub(1).min(SIDE - 3);
    let x = x - first as f64;
    let [a, b, c, d] = [x, x - 1.0, x - 2.0, x - 3.0];
    let shares = [
        b * c * d / -6.0,
        a * c * d / 2.0,
        a * b * d / -2.0,
        a * b * c / 6.0,
    ];
    (first, shares)
}

/// Two triangles for a quad, along its shorter diagonal.
fn split([a, b, c, d]: [usize; 4], positions: &[DVec3]) -> [[u32; 3]; 2] {
    let length = |a: usize, b: usize| positions[a].distance_squared(positions[b]);
    let triangle = |corners: [usize; 3]| corners.map(|corner| corner as u32);
    if length(a, c) <= length(b, d) {
        [triangle([a, b, c]), triangle([a, c, d])]
    } else {
        [triangle([a, b, d]), triangle([b, c, d])]
    }
}
