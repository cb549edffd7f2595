//! Normals of a deformed surface: three kinds, and the baked data of each (§6 of the course).

use super::direct::{Direct, FieldKey, OutsideValue};
use super::output::Output;
use crate::exec;
use crate::mesh::{Bounds, Mesh};
use crate::normals::SmoothGroups;
use crate::rig::Rig;
use crate::surface::{Rows, Weld, double_area_normal};
use crate::transform::Affine;
use crate::weights::weld_bound;
use glam::{DVec3, Vec3};
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::str::FromStr;
use thiserror::Error;

/// The method of computing the normals of a deformed surface.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Normals {
    /// By the inverse transpose of each vertex's frame: cheap, and exact where weights are
    /// constant.
    #[default]
    Transported,
    /// By the Jacobian of the deformation, which includes the gradients of the weights.
    Gradient,
    /// From the triangles of the deformed surface, weighted by area and angle; hard edges stay
    /// hard.
    Recomputed,
}

impl Normals {
    /// All kinds.
    pub const ALL: [Normals; 3] = [Normals::Transported, Normals::Gradient, Normals::Recomputed];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Normals::Transported => "transported",
            Normals::Gradient => "gradient",
            Normals::Recomputed => "recomputed",
        }
    }

    /// A summary in one line.
    pub fn summary(self) -> &'static str {
        match self {
            Normals::Transported => {
                "rotated by each vertex's frame; cheap, slightly wrong where joints blend"
            }
            Normals::Gradient => "by the Jacobian of the deformation; needs no neighbours",
            Normals::Recomputed => "from the deformed triangles; hard edges stay hard",
        }
    }
}

impl fmt::Display for Normals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that is no kind of normals.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "there are no '{0}' normals; known: {known}",
    known = Normals::ALL.map(Normals::name).join(", ")
)]
pub struct UnknownNormals(String);

impl FromStr for Normals {
    type Err = UnknownNormals;

    fn from_str(name: &str) -> Result<Normals, UnknownNormals> {
        let found = Normals::ALL.into_iter().find(|kind| kind.name() == name);
        found.ok_or_else(|| UnknownNormals(name.to_owned()))
    }
}

/// The baked data of a kind of normals.
#[derive(Clone, Debug)]
pub(super) enum BakedNormals {
    Transported,
    Gradient(FieldGradients),
    Recomputed(SmoothGroups),
}

impl BakedNormals {
    pub(super) fn kind(&self) -> Normals {
        match self {
            BakedNormals::Transported => Normals::Transported,
            BakedNormals::Gradient(_) => Normals::Gradient,
            BakedNormals::Recomputed(_) => Normals::Recomputed,
        }
    }
}

/// Recomputes the normals of an output from its positions, and makes its tangents perpendicular to
/// them. `scratch` is refilled in place.
pub(super) fn recompute_normals(
    groups: &SmoothGroups,
    output: &mut Output<'_>,
    palette: &[Affine],
    scratch: &mut Vec<Vec3>,
) {
    let Some(normals) = output.normals.as_deref_mut() else {
        return;
    };
    groups.recompute(output.positions, palette, scratch, normals);
    let tangents = output.tangents.as_deref_mut().unwrap_or_default();
    for (tangent, normal) in tangents.iter_mut().zip(&*normals) {
        let along = tangent.truncate();
        let across = along - *normal * normal.dot(along);
        *tangent = across.normalize_or(along).extend(tangent.w);
    }
}

/// The gradients of all fields of every vertex over the rest surface.
#[derive(Clone, Debug)]
pub(super) struct FieldGradients {
    gradients: Rows<Vec3>,
    heaviest: Vec<u16>,
    /// The box around the rest surface.
    bounds: Bounds,
}

/// A surface farther from the origin than this many times its size is moved near the origin before
/// frames are differentiated: the rounding of large coordinates would exceed the difference.
const FAR: f32 = 8.0;

impl FieldGradients {
    #[inline]
    pub(super) fn of_vertex(&self, vertex: usize) -> &[Vec3] {
        self.gradients.row(vertex)
    }

    #[inline]
    pub(super) fn heaviest_joint(&self, vertex: usize) -> usize {
        usize::from(self.heaviest[vertex])
    }

    /// The translation of a palette that carries the surface far from the origin; zero if it is
    /// near.
    pub(super) fn far_shift(&self, palette: &[Affine]) -> Vec3 {
        let joint = self.heaviest.first().map(|&joint| usize::from(joint));
        let Some(map) = joint.and_then(|joint| palette.get(joint)) else {
            return Vec3::ZERO;
        };
        let place = map.transform_point(self.bounds.center());
        if place.is_finite() && place.abs().max_element() > FAR * self.bounds.extent() {
            place
        } else {
            Vec3::ZERO
        }
    }

    /// Fields are linear over each triangle of the welded surface; at a point, the gradients of its
    /// triangles are averaged by area. Fields that the vertex itself does not store are omitted,
    /// and their share of the gradient is distributed over the stored fields of the same kind. So
    /// sums keep their gradient: where weights sum to one, a motion shared by all joints does not
    /// change normals relative to the surface.
    pub(super) fn of(method: &impl Direct, rig: &Rig) -> FieldGradients {
        let mesh = rig.mesh();
        let weld = weld_bound(mesh.positions(), rig.weights());
        let surface = WeldedFields {
            method,
            mesh,
            around: Rows::of_triangles(weld.point_count(), weld.triangles(mesh.triangles())),
            slopes: hat_slopes_of(mesh),
            weld: &weld,
        };
        // Vertices of one point with the same fields have equal gradients.
        let mut first_of_point: Vec<Option<usize>> = vec![None; weld.point_count()];
        let original: Vec<usize> = (0..mesh.vertex_count())
            .map(|vertex| {
                let first = *first_of_point[weld.point_of(vertex)].get_or_insert(vertex);
                let same = first != vertex && values(method, first) == values(method, vertex);
                if same { first } else { vertex }
            })
            .collect();
        let chunks = exec::map_chunks(mesh.vertex_count(), |vertices| {
            let row = |vertex: usize| match original[vertex] == vertex {
                true => surface.gradients(vertex),
                false => Vec::new(),
            };
            vertices.map(row).collect::<Vec<_>>()
        });
        let rows: Vec<Vec<DVec3>> = chunks.into_iter().flatten().collect();
        let mut gradients = Rows::default();
        for &vertex in &original {
            gradients.push_row(rows[vertex].iter().map(|gradient| gradient.as_vec3()));
        }
        let weights = rig.weights();
        FieldGradients {
            gradients,
            heaviest: (0..mesh.vertex_count())
                .map(|vertex| weights.row(vertex).0[0])
                .collect(),
            bounds: mesh.bounds().unwrap_or_default(),
        }
    }
}

/// A surface with the fields of a method on it.
struct WeldedFields<'a, M> {
    method: &'a M,
    mesh: &'a Mesh,
    weld: &'a Weld,
    /// The triangles around each point.
    around: Rows<u32>,
    /// The gradients of each triangle's hat functions.
    slopes: Vec<[DVec3; 3]>,
}

impl<M: Direct> WeldedFields<'_, M> {
    fn gradients(&self, vertex: usize) -> Vec<DVec3> {
        let point = self.weld.point_of(vertex);
        let mut own_keys = Vec::new();
        self.method.keys(vertex, &mut own_keys);
        let own = values(self.method, vertex);
        let index_of: HashMap<FieldKey, usize> = own_keys
            .iter()
            .copied()
            .enumerate()
            .map(|(index, key)| (key, index))
            .collect();
        let mut sums = vec![DVec3::ZERO; own.len()];
        // The sum over all fields of a kind, stored or not.
        let mut totals: BTreeMap<u16, DVec3> = BTreeMap::new();
        let mut area = 0.0;
        let mut keys = Vec::new();
        let mut there = Vec::new();
        for &triangle in self.around.row(point) {
            let triangle = triangle as usize;
            let slopes = &self.slopes[triangle];
            // Twice the area, since the slope of a hat function is one over its height.
            let weight = slopes[0].cross(slopes[1]).length().recip();
            if !weight.is_finite() {
                continue;
            }
            area += weight;
            for (&corner, slope) in self.mesh.triangles()[triangle].iter().zip(slopes) {
                let (corner, slope) = (corner as usize, *slope * weight);
                // The value at a corner that does not store the field: zero, or for unknown
                // positions, the value at this vertex.
                there.clear();
                there.extend(
                    own_keys
                        .iter()
                        .zip(&own)
                        .map(|(key, own)| match key.outside {
                            OutsideValue::Zero => 0.0,
                            OutsideValue::Unknown => *own,
                        }),
                );
                if self.weld.point_of(corner) == point {
                    there.copy_from_slice(&own);
                    for (key, own) in own_keys.iter().zip(&own) {
                        *totals.entry(key.kind).or_default() += slope * *own;
                    }
                } else {
                    keys.clear();
                    self.method.keys(corner, &mut keys);
                    for (key, value) in keys.iter().zip(values(self.method, corner)) {
                        *totals.entry(key.kind).or_default() += slope * value;
                        if let Some(&index) = index_of.get(key) {
                            there[index] = value;
                        }
                    }
                }
                for (sum, value) in sums.iter_mut().zip(&there) {
                    *sum += slope * *value;
                }
            }
        }
        keep_totals(&own_keys, &own, &mut sums, &totals);
        if area > 0.0 {
            for sum in &mut sums {
                *sum /= area;
            }
        }
        sums
    }
}

fn values(method: &impl Direct, vertex: usize) -> Vec<f64> {
    let fields = method.fields(vertex);
    let all = fields.weights.iter().chain(fields.extras);
    all.map(|&value| f64::from(value)).collect()
}

/// The gradients of the three hat functions of every triangle: 1 at one corner, 0 at the others.
/// Zero for degenerate triangles.
fn hat_slopes_of(mesh: &Mesh) -> Vec<[DVec3; 3]> {
    let slopes = |corners: &[u32; 3]| {
        let [a, b, c] = mesh.corners(corners);
        let normal = double_area_normal([a, b, c]);
        let squared = normal.length_squared();
        if squared == 0.0 {
            return [DVec3::ZERO; 3];
        }
        [c - b, a - c, b - a].map(|opposite| normal.cross(opposite) / squared)
    };
    mesh.triangles().iter().map(slopes).collect()
}

/// Distributes the gradients of fields that the vertex does not store over stored fields of the
/// same kind.
fn keep_totals(
    keys: &[FieldKey],
    values: &[f64],
    gradients: &mut [DVec3],
    totals: &BTreeMap<u16, DVec3>,
) {
    let mut own: BTreeMap<u16, (DVec3, f64)> = BTreeMap::new();
    let shared = |key: &FieldKey| key.outside == OutsideValue::Zero;
    for ((key, value), gradient) in keys.iter().zip(values).zip(&*gradients) {
        if shared(key) {
            let (sum, size) = own.entry(key.kind).or_default();
            *sum += *gradient;
            *size += value.abs();
        }
    }
    for ((key, value), gradient) in keys.iter().zip(values).zip(gradients) {
        if let (true, Some((sum, size))) = (shared(key), own.get(&key.kind)) {
            let missing = totals.get(&key.kind).copied().unwrap_or_default() - *sum;
            if *size > 0.0 {
                *gradient += missing * (value.abs() / size);
            }
        }
    }
}
