//! The surface as smoothing sees it: points, `L`, and the strengths at every point.

use super::dense::Dense;
use glam::DVec3;
use std::collections::BTreeMap;
use supple::mush::EdgeWeights;
use supple::mush::Steps;
use supple::mush::{ALPHA_SHARE, KAPPA_SHARE, LAMBDA_SHARE, MushOptions};
use supple::{Mesh, Rig};

/// The joints of a point with their weights.
pub type Row = Vec<(usize, f64)>;

#[derive(Clone, Debug)]
pub struct Surface {
    /// The point of every vertex: vertices at one place with the same weights are one.
    pub point_of: Vec<usize>,
    pub places: Vec<DVec3>,
    pub rows: Vec<Row>,
    pub triangles: Vec<[usize; 3]>,
    /// The coupling of two points: `−L` off the diagonal.
    pub edges: Dense,
    /// `λ·D_λ`.
    pub lambda: Vec<f64>,
    /// `κ·D_κ`.
    pub kappa: Vec<f64>,
    /// `D_α` where it was painted.
    pub painted_alpha: Vec<Option<f64>>,
    pub links: Vec<(usize, usize)>,
}

impl Surface {
    pub fn new(rig: &Rig, options: &MushOptions) -> Surface {
        let mesh = rig.mesh();
        let closed = closed_seams(rig);
        let row = |vertex: usize| -> Row {
            if options.rigid {
                return vec![(closed[vertex][0].0, 1.0)];
            }
            closed[vertex].clone()
        };
        let (mut places, mut rows) = (Vec::new(), Vec::<Row>::new());
        let mut point_of = Vec::new();
        for vertex in 0..mesh.vertex_count() {
            let (place, row) = (mesh.positions()[vertex].as_dvec3(), row(vertex));
            let known = (0..places.len()).find(|&p| places[p] == place && rows[p] == row);
            point_of.push(known.unwrap_or(places.len()));
            if known.is_none() {
                places.push(place);
                rows.push(row);
            }
        }
        let triangles: Vec<[usize; 3]> = mesh
            .triangles()
            .iter()
            .map(|corners| corners.map(|corner| point_of[corner as usize]))
            .collect();
        let mut edges = edges_of(&triangles, &places, options.edge_weights);
        let links = close_points(&edges, &places, &rows);
        let middling = middling_weight(&edges);
        edges.extend(links.iter().map(|&link| (link, middling)));
        let count = places.len();
        let edges = Dense::from_fn(count, |a, b| {
            let weight = edges.get(&(a.min(b), a.max(b)));
            weight.copied().unwrap_or(0.0)
        });
        let mut surface = Surface {
            painted_alpha: painted(mesh, &point_of, count, ALPHA_SHARE),
            point_of,
            places,
            rows,
            triangles,
            edges,
            lambda: Vec::new(),
            kappa: Vec::new(),
            links,
        };
        let own = match options.radius_from_bones {
            true => surface.strengths_from_bones(rig, options),
            false => vec![1.0; count],
        };
        let strengths = |name: &str, factor: f64| -> Vec<f64> {
            let painted = painted(mesh, &surface.point_of, count, name);
            let shares = painted.iter().zip(&own);
            shares
                .map(|(painted, own)| painted.unwrap_or(*own) * factor)
                .collect()
        };
        let (lambda, kappa) = (
            strengths(LAMBDA_SHARE, options.lambda),
            strengths(KAPPA_SHARE, options.kappa),
        );
        (surface.lambda, surface.kappa) = (lambda, kappa);
        surface
    }

    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// `D_L`.
    fn total(&self, point: usize) -> f64 {
        self.edges.0[point].iter().sum()
    }

    /// `L̄·D` with `L̄ = L·D_L⁻¹`; a point without neighbours has a column of zeros.
    fn normalised(&self, strengths: &[f64]) -> Dense {
        let totals: Vec<f64> = (0..self.len()).map(|point| self.total(point)).collect();
        Dense::from_fn(self.len(), |i, j| {
            if totals[j] == 0.0 {
                return 0.0;
            }
            let entry = if i == j { totals[j] } else { 0.0 } - self.edges.at(i, j);
            entry / totals[j] * strengths[j]
        })
    }

    /// `B = (I + L̄ D)^−p`, or `A = (I − L̄ D)^p`: eq. (2 rev.) and (12 rev.).
    pub fn smoother(&self, strengths: &[f64], iterations: u32, steps: Steps) -> Dense {
        let step = self.normalised(strengths);
        let sign = if steps == Steps::Implicit { 1.0 } else { -1.0 };
        let one = Dense::from_fn(self.len(), |i, j| {
            (if i == j { 1.0 } else { 0.0 }) + sign * step.at(i, j)
        });
        let one = if steps == Steps::Implicit {
            one.inverse()
        } else {
            one
        };
        one.power(iterations)
    }

    /// §4.0.1 with the scale known: all steps together spread a point by `(0.9 r)²`, with the
    /// distance to the bones for `r`, evened out along the surface by eight steps of size 1; a
    /// step of strength `s` spreads it by `s/2` mean squared edges. They reach at least one edge
    /// and at most twenty.
    fn strengths_from_bones(&self, rig: &Rig, options: &MushOptions) -> Vec<f64> {
        let bones = rig.skeleton().bind_bones();
        let distance = |joint: usize, place: DVec3| {
            let (head, tail) = (bones[joint].head, bones[joint].tail);
            let along = (tail - head).normalize_or_zero();
            let at = (place - head).dot(along);
            // The foot of the perpendicular, where it is on the bone; else the nearer end.
            match (0.0..=tail.distance(head)).contains(&at) {
                true => (place - head - along * at).length(),
                false => place.distance(head).min(place.distance(tail)),
            }
        };
        let radii: Vec<f64> = (0..self.len())
            .map(|point| {
                let row = self.rows[point].iter();
                row.map(|&(joint, weight)| weight * distance(joint, self.places[point]))
                    .sum()
            })
            .collect();
        let even = self.smoother(&vec![1.0; self.len()], 8, Steps::Implicit);
        let share = |point: usize| {
            let radius: f64 = (0..self.len()).map(|k| even.at(k, point) * radii[k]).sum();
            let squares = (0..self.len()).map(|k| {
                self.edges.at(k, point) * self.places[k].distance_squared(self.places[point])
            });
            let square = squares.sum::<f64>() / self.total(point);
            let spread = if square > 0.0 {
                (0.9 * radius).powi(2) / square
            } else {
                1.0
            };
            let share =
                2.0 * spread.clamp(1.0, 400.0) / (options.lambda * f64::from(options.iterations));
            match options.steps {
                Steps::Implicit => share,
                Steps::Explicit => share.min(1.0 / options.lambda.max(options.kappa)),
            }
        };
        (0..self.len()).map(share).collect()
    }
}

/// The mean of the values painted on the vertices of each point.
fn painted(mesh: &Mesh, point_of: &[usize], count: usize, name: &str) -> Vec<Option<f64>> {
    let mut found: Vec<Vec<f64>> = vec![Vec::new(); count];
    for (vertex, value) in mesh.painted(name).into_iter().flatten().enumerate() {
        found[point_of[vertex]].extend(value.map(f64::from));
    }
    let mean = |values: &Vec<f64>| values.iter().sum::<f64>() / values.len() as f64;
    let mean = |values: Vec<f64>| (!values.is_empty()).then(|| mean(&values));
    found.into_iter().map(mean).collect()
}

type Edges = BTreeMap<(usize, usize), f64>;

fn edges_of(triangles: &[[usize; 3]], places: &[DVec3], kind: EdgeWeights) -> Edges {
    let mut edges = Edges::new();
    for corners in triangles {
        for turn in 0..3 {
            let [a, b, apex] = [0, 1, 2].map(|k| corners[(turn + k) % 3]);
            if a == b {
                continue;
            }
            let (left, right) = (places[a] - places[apex], places[b] - places[apex]);
            let area = left.cross(right).length();
            let edge = edges.entry((a.min(b), a.max(b))).or_insert(0.0);
            match kind {
                EdgeWeights::Uniform => *edge = 1.0,
                EdgeWeights::Cotangent if area > 0.0 => *edge += 0.5 * left.dot(right) / area,
                EdgeWeights::Cotangent => {}
            }
        }
    }
    for weight in edges.values_mut() {
        *weight = weight.max(0.0);
    }
    // A point all of whose edges count nothing is given edges of middling weight.
    let total = |point: usize| -> f64 {
        let own = edges
            .iter()
            .filter(|((a, b), _)| *a == point || *b == point);
        own.map(|(_, weight)| weight).sum()
    };
    let lost: Vec<bool> = (0..places.len()).map(|point| total(point) == 0.0).collect();
    let middling = middling_weight(&edges);
    for ((a, b), weight) in &mut edges {
        if lost[*a] || lost[*b] {
            *weight = middling;
        }
    }
    edges
}

fn middling_weight(edges: &Edges) -> f64 {
    let mut positive: Vec<f64> = edges
        .values()
        .copied()
        .filter(|&weight| weight > 0.0)
        .collect();
    positive.sort_by(f64::total_cmp);
    if positive.is_empty() {
        1.0
    } else {
        positive[positive.len() / 2]
    }
}

/// Fig. 6: each point and the nearest one of another piece with the same heaviest joint, no farther
/// away than its own neighbours are in the mean.
fn close_points(edges: &Edges, places: &[DVec3], rows: &[Row]) -> Vec<(usize, usize)> {
    let mut piece: Vec<usize> = (0..places.len()).collect();
    for _ in 0..places.len() {
        for &(a, b) in edges.keys() {
            let lower = piece[a].min(piece[b]);
            (piece[a], piece[b]) = (lower, lower);
        }
    }
    let reach = |point: usize| {
        let own = edges.keys().filter(|(a, b)| *a == point || *b == point);
        let lengths: Vec<f64> = own.map(|&(a, b)| places[a].distance(places[b])).collect();
        let sum: f64 = lengths.iter().sum();
        if lengths.is_empty() {
            0.0
        } else {
            sum / lengths.len() as f64
        }
    };
    let reach: Vec<f64> = (0..places.len()).map(reach).collect();
    let mut links = Vec::new();
    for point in (0..places.len()).filter(|&point| reach[point] > 0.0) {
        let apart = |&other: &usize| places[other].distance(places[point]);
        let others = (0..places.len()).filter(|&other| other != point && reach[other] > 0.0);
        let others = others.filter(|&other| piece[other] != piece[point]);
        let others = others.filter(|&other| rows[other][0].0 == rows[point][0].0);
        let nearest = others.min_by(|a, b| apart(a).total_cmp(&apart(b)));
        if let Some(other) = nearest.filter(|other| apart(other) <= reach[point]) {
            links.push((point.min(other), point.max(other)));
        }
    }
    links.sort_unstable();
    links.dedup();
    links
}

/// The weights of every vertex: the mean over all vertices of one place in one piece, where pieces
/// hang together through triangles and through vertices that are alike.
fn closed_seams(rig: &Rig) -> Vec<Row> {
    let mesh = rig.mesh();
    let count = mesh.vertex_count();
    let row = |vertex: usize| -> Row {
        let row = rig.weights().of(vertex);
        row.map(|influence| (influence.joint, f64::from(influence.weight)))
            .collect()
    };
    let rows: Vec<Row> = (0..count).map(row).collect();
    let places: Vec<DVec3> = mesh.positions().iter().map(|p| p.as_dvec3()).collect();
    let mut piece: Vec<usize> = (0..count).collect();
    for _ in 0..count {
        for corners in mesh.triangles() {
            let corners = corners.map(|corner| corner as usize);
            let lowest = corners.map(|corner| piece[corner]).into_iter().min();
            for corner in corners {
                piece[corner] = lowest.unwrap_or(corner);
            }
        }
        for a in 0..count {
            for b in 0..a {
                if places[a] == places[b] && rows[a] == rows[b] {
                    let lower = piece[a].min(piece[b]);
                    (piece[a], piece[b]) = (lower, lower);
                }
            }
        }
    }
    let mean = |vertex: usize| {
        let same =
            |&other: &usize| places[other] == places[vertex] && piece[other] == piece[vertex];
        let same: Vec<usize> = (0..count).filter(same).collect();
        let mut sums = BTreeMap::new();
        for &other in &same {
            for &(joint, weight) in &rows[other] {
                *sums.entry(joint).or_insert(0.0) += weight;
            }
        }
        let mut mean: Row = sums.into_iter().collect();
        for (_, weight) in &mut mean {
            *weight /= same.len() as f64;
        }
        mean.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        mean
    };
    (0..count).map(mean).collect()
}
