//! The three ways to the normals of a deformed surface, and what each needs baked (§6 of the course).

use super::direct::{Direct, Elsewhere, FieldKey};
use crate::adjacency::weld_bound;
use crate::exec;
use crate::normals::SmoothGroups;
use crate::rig::Rig;
use glam::{DVec3, Vec3};
use std::fmt;
use std::str::FromStr;

/// How the normals of a deformed surface are made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Normals {
    /// By the inverse transpose of each vertex's frame: cheap, and right where weights are constant.
    #[default]
    Transported,
    /// By the Jacobian of the deformation, which knows how the weights vary over the surface.
    Gradient,
    /// From the triangles of the deformed surface, weighted by area and angle; hard edges stay hard.
    Recomputed,
}

impl Normals {
    /// All of them.
    pub const ALL: [Normals; 3] = [Normals::Transported, Normals::Gradient, Normals::Recomputed];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Normals::Transported => "transported",
            Normals::Gradient => "gradient",
            Normals::Recomputed => "recomputed",
        }
    }

    /// One line for people who choose.
    pub fn summary(self) -> &'static str {
        match self {
            Normals::Transported => {
                "turned by each vertex's frame; cheap, slightly off where joints blend"
            }
            Normals::Gradient => {
                "turned by the true slope of the deformation; no neighbours needed"
            }
            Normals::Recomputed => "from the deformed triangles; hard edges stay hard",
        }
    }
}

impl fmt::Display for Normals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Normals {
    type Err = String;

    fn from_str(name: &str) -> Result<Normals, String> {
        let found = Normals::ALL.into_iter().find(|kind| kind.name() == name);
        found.ok_or_else(|| format!("there are no '{name}' normals"))
    }
}

/// What the kind of normals needs at run time.
#[derive(Clone, Debug)]
pub(super) enum BakedNormals {
    Transported,
    Gradient(WeightGradients),
    Recomputed(SmoothGroups),
}

/// The gradient over the rest surface of every field of every vertex.
#[derive(Clone, Debug)]
pub(super) struct WeightGradients {
    row_starts: Vec<u32>,
    gradients: Vec<Vec3>,
    heaviest: Vec<u16>,
}

impl WeightGradients {
    #[inline]
    pub(super) fn of_vertex(&self, vertex: usize) -> &[Vec3] {
        &self.gradients[self.row_starts[vertex] as usize..self.row_starts[vertex + 1] as usize]
    }

    #[inline]
    pub(super) fn heaviest_joint(&self, vertex: usize) -> usize {
        usize::from(self.heaviest[vertex])
    }

    /// Fields are taken as linear over each triangle of the welded surface; at a point, the gradients of its triangles are averaged
    /// by area. A field that the vertex itself does not have is left out, and what it would have carried is shared by those that it
    /// has, so that weights keep their sum: a motion common to all joints then turns no normal.
    pub(super) fn of(method: &impl Direct, rig: &Rig) -> WeightGradients {
        let mesh = rig.mesh();
        let weld = weld_bound(mesh.positions(), rig.weights());
        let mut around: Vec<Vec<u32>> = vec![Vec::new(); weld.point_count()];
        for (triangle, corners) in mesh.triangles().iter().enumerate() {
            for &corner in corners {
                around[weld.point_of(corner as usize)].push(triangle as u32);
            }
        }
        let slopes: Vec<[DVec3; 3]> = mesh
            .triangles()
            .iter()
            .map(|corners| {
                hat_slopes(corners.map(|corner| mesh.positions()[corner as usize].as_dvec3()))
            })
            .collect();
        let gradients_of = |vertex: usize| {
            let (mut own_keys, mut keys) = (Vec::new(), Vec::new());
            method.keys(vertex, &mut own_keys);
            let own = values(method, vertex);
            let mut sums = vec![DVec3::ZERO; own_keys.len()];
            let mut area = 0.0;
            for &triangle in &around[weld.point_of(vertex)] {
                let triangle = triangle as usize;
                let slopes = &slopes[triangle];
                // Twice the area, as the slope of a hat is one over its height.
                let weight = slopes[0].cross(slopes[1]).length().recip();
                if !weight.is_finite() {
                    continue;
                }
                area += weight;
                for (&corner, slope) in mesh.triangles()[triangle].iter().zip(slopes) {
                    let corner = corner as usize;
                    if weld.point_of(corner) == weld.point_of(vertex) {
                        for (sum, own) in sums.iter_mut().zip(&own) {
                            *sum += *slope * (own * weight);
                        }
                        continue;
                    }
                    keys.clear();
                    method.keys(corner, &mut keys);
                    let there = values(method, corner);
                    for ((sum, key), own) in sums.iter_mut().zip(&own_keys).zip(&own) {
                        let found = keys.iter().position(|other| other == key);
                        let value = match (found, key.elsewhere) {
                            (Some(index), _) => there[index],
                            (None, Elsewhere::Zero) => 0.0,
                            (None, Elsewhere::Unknown) => *own,
                        };
                        *sum += *slope * (value * weight);
                    }
                }
            }
            if area > 0.0 {
                for sum in &mut sums {
                    *sum /= area;
                }
            }
            keep_sums(&own_keys, &own, &mut sums);
            sums
        };
        let chunks = exec::map_chunks(mesh.vertex_count(), |vertices| {
            vertices.map(gradients_of).collect::<Vec<_>>()
        });
        let mut row_starts = vec![0];
        let mut gradients = Vec::new();
        for row in chunks.into_iter().flatten() {
            gradients.extend(row.iter().map(|gradient| gradient.as_vec3()));
            row_starts.push(gradients.len() as u32);
        }
        let weights = rig.weights();
        WeightGradients {
            row_starts,
            gradients,
            heaviest: (0..mesh.vertex_count())
                .map(|vertex| weights.row(vertex).0[0])
                .collect(),
        }
    }
}

fn values(method: &impl Direct, vertex: usize) -> Vec<f64> {
    let fields = method.fields(vertex);
    let all = fields.weights.iter().chain(fields.extras);
    all.map(|&value| f64::from(value)).collect()
}

/// The gradients of a triangle's three hat functions: 1 at a corner, 0 at the others. All zero for one without area.
fn hat_slopes([a, b, c]: [DVec3; 3]) -> [DVec3; 3] {
    let normal = (b - a).cross(c - a);
    let squared = normal.length_squared();
    if squared == 0.0 {
        return [DVec3::ZERO; 3];
    }
    [c - b, a - c, b - a].map(|opposite| normal.cross(opposite) / squared)
}

/// Fields of one kind that sum to the same everywhere: their gradients sum to zero.
fn keep_sums(keys: &[FieldKey], values: &[f64], gradients: &mut [DVec3]) {
    for (first, key) in keys.iter().enumerate() {
        let seen = keys[..first].iter().any(|before| before.kind == key.kind);
        if seen || key.elsewhere == Elsewhere::Unknown {
            continue;
        }
        let alike = || (first..keys.len()).filter(|&index| keys[index].kind == key.kind);
        let total: f64 = alike().map(|index| values[index].abs()).sum();
        let excess: DVec3 = alike().map(|index| gradients[index]).sum();
        if total > 0.0 {
            for index in alike() {
                gradients[index] -= excess * (values[index].abs() / total);
            }
        }
    }
}
