//! Triangle meshes with validated indices, and the named parts and morph targets of a surface.

use crate::surface::{double_area_normal, smooth_normals, weld_positions};
use glam::{DVec3, Vec3, Vec4};
use std::collections::BTreeMap;
use std::ops::Range;
use thiserror::Error;

pub use crate::surface::{Bounds, Topology};

/// A triangle surface: positions, one normal per vertex, tangents where a file has them.
///
/// Every index is in range and every number finite: [`Mesh::new`] is the only door.
#[derive(Clone, Debug, PartialEq)]
pub struct Mesh {
    positions: Vec<Vec3>,
    normals: Vec<Vec3>,
    tangents: Option<Vec<Vec4>>,
    triangles: Vec<[u32; 3]>,
    painted: BTreeMap<String, Vec<Option<f32>>>,
}

/// Error from building a [`Mesh`].
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum MeshError {
    /// A triangle names a vertex that does not exist.
    #[error("triangle {triangle} names vertex {vertex}, but there are {vertices} vertices")]
    IndexOutOfRange {
        /// The triangle.
        triangle: usize,
        /// The index found.
        vertex: u32,
        /// The number of vertices.
        vertices: usize,
    },
    /// A coordinate is NaN or infinite.
    #[error("the {attribute} of vertex {vertex} is not finite")]
    NotFinite {
        /// Position, normal or tangent.
        attribute: &'static str,
        /// The vertex.
        vertex: usize,
    },
    /// An attribute has the wrong length.
    #[error("there are {found} {attribute}s for {vertices} vertices")]
    WrongLength {
        /// Normal or tangent.
        attribute: &'static str,
        /// Its length.
        found: usize,
        /// The number of positions.
        vertices: usize,
    },
    /// More vertices than 32-bit indices can name.
    #[error("{0} vertices are more than 32-bit indices can name")]
    TooManyVertices(usize),
}

impl Mesh {
    /// Checks and takes a surface. If `normals` are missing, smooth ones are computed (see
    /// [`vertex_normals`](crate::normals::vertex_normals)).
    ///
    /// # Errors
    ///
    /// Fails if a triangle names a vertex that does not exist, a number is not finite, or the
    /// number of normals or tangents is not the number of positions.
    pub fn new(
        positions: Vec<Vec3>,
        normals: Option<Vec<Vec3>>,
        tangents: Option<Vec<Vec4>>,
        triangles: Vec<[u32; 3]>,
    ) -> Result<Mesh, MeshError> {
        let vertices = positions.len();
        if u32::try_from(vertices).is_err() {
            return Err(MeshError::TooManyVertices(vertices));
        }
        let lengths = [
            ("normal", normals.as_ref().map(Vec::len)),
            ("tangent", tangents.as_ref().map(Vec::len)),
        ];
        for (attribute, length) in lengths {
            if let Some(found) = length.filter(|&length| length != vertices) {
                return Err(MeshError::WrongLength {
                    attribute,
                    found,
                    vertices,
                });
            }
        }
        let not_finite = |attribute, vertex| MeshError::NotFinite { attribute, vertex };
        if let Some(vertex) = positions.iter().position(|p| !p.is_finite()) {
            return Err(not_finite("position", vertex));
        }
        if let Some(vertex) = normals.iter().flatten().position(|n| !n.is_finite()) {
            return Err(not_finite("normal", vertex));
        }
        if let Some(vertex) = tangents.iter().flatten().position(|t| !t.is_finite()) {
            return Err(not_finite("tangent", vertex));
        }
        check_triangles(&triangles, vertices)?;
        let normals = match normals {
            Some(normals) => normals,
            None => smooth_normals(&positions, &triangles),
        };
        Ok(Mesh {
            positions,
            normals,
            tangents,
            triangles,
            painted: BTreeMap::new(),
        })
    }

    /// Adds painted values, one per vertex; `None` for vertices that are not painted. The name is
    /// that of the vertex attribute in a file.
    ///
    /// # Errors
    ///
    /// Fails unless there is one finite value per vertex.
    pub fn with_painted(mut self, name: &str, values: Vec<Option<f32>>) -> Result<Mesh, MeshError> {
        if values.len() != self.positions.len() {
            return Err(MeshError::WrongLength {
                attribute: "painted value",
                found: values.len(),
                vertices: self.positions.len(),
            });
        }
        let not_finite = |value: &Option<f32>| value.is_some_and(|value| !value.is_finite());
        if let Some(vertex) = values.iter().position(not_finite) {
            return Err(MeshError::NotFinite {
                attribute: "painted value",
                vertex,
            });
        }
        self.painted.insert(name.to_owned(), values);
        Ok(self)
    }

    /// The values painted under a name.
    pub fn painted(&self, name: &str) -> Option<&[Option<f32>]> {
        self.painted.get(name).map(Vec::as_slice)
    }

    /// Rest positions, one per vertex.
    pub fn positions(&self) -> &[Vec3] {
        &self.positions
    }

    /// Rest normals, one per vertex. A file's own normals are kept as they are, even if they are
    /// not of unit length.
    pub fn normals(&self) -> &[Vec3] {
        &self.normals
    }

    /// Rest tangents (`w` is the handedness ±1, as in glTF), if the file has them.
    pub fn tangents(&self) -> Option<&[Vec4]> {
        self.tangents.as_deref()
    }

    /// The rest shape.
    pub(crate) fn shape(&self) -> Shape<'_> {
        Shape {
            positions: &self.positions,
            normals: &self.normals,
            tangents: self.tangents.as_deref(),
        }
    }

    /// Vertex indices of the triangles, counter-clockwise seen from outside.
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }

    /// The corners of a triangle, in double precision.
    #[inline]
    pub(crate) fn corners(&self, triangle: &[u32; 3]) -> [DVec3; 3] {
        triangle.map(|corner| self.positions[corner as usize].as_dvec3())
    }

    /// The number of vertices.
    pub fn vertex_count(&self) -> usize {
        self.positions.len()
    }

    /// The axis-aligned box around all vertices; `None` for a mesh without vertices.
    pub fn bounds(&self) -> Option<Bounds> {
        Bounds::around(self.positions.iter().copied())
    }

    /// The diagonal of the box around all vertices; zero without vertices.
    pub fn extent(&self) -> f32 {
        self.bounds().unwrap_or_default().extent()
    }

    /// The box around the triangles that have an area; if there are none, around all vertices.
    /// Files may have unused vertices and degenerate triangles anywhere, and nobody sees them.
    pub fn surface_bounds(&self) -> Option<Bounds> {
        let has_area = |triangle: &&[u32; 3]| has_area(self.corners(triangle));
        let corners = self.triangles.iter().filter(has_area).flatten();
        let surface = Bounds::around(corners.map(|&corner| self.positions[corner as usize]));
        surface.or_else(|| self.bounds())
    }

    /// Topology of the surface, its vertices welded by position.
    pub fn topology(&self) -> Topology {
        Topology::of(
            &self.positions,
            &self.triangles,
            &weld_positions(&self.positions),
        )
    }
}

/// A triangle whose height is at most this share of its longest side is a line, in single
/// precision.
const LINE: f64 = 1e-6;

/// True if a triangle is more than a line or a point in single precision.
fn has_area([a, b, c]: [DVec3; 3]) -> bool {
    let sides = [b - a, c - b, a - c].map(|side| side.length_squared());
    let longest = sides.into_iter().fold(0.0, f64::max);
    double_area_normal([a, b, c]).length() > LINE * longest
}

/// A range of vertices and triangles from one primitive of a file.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// The name in the file.
    pub name: String,
    /// Its vertices.
    pub vertices: Range<usize>,
    /// Its triangles.
    pub triangles: Range<usize>,
    /// Linear base colour, for pictures; `None` if the file has none, only a texture, or white.
    pub color: Option<Vec3>,
}

/// Morph targets (blend shapes), added to the rest surface before skinning.
#[derive(Clone, Debug, PartialEq)]
pub struct Morph {
    /// The first vertex that the targets move.
    pub first_vertex: usize,
    /// The index of this morph's first weight in [`crate::Pose::morph_weights`].
    pub first_weight: usize,
    /// The shapes, each with one weight.
    pub targets: Vec<MorphTarget>,
}

/// One shape of a [`Morph`]: offsets per vertex; an empty list offsets nothing.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct MorphTarget {
    /// Offsets of positions.
    pub positions: Vec<Vec3>,
    /// Offsets of normals.
    pub normals: Vec<Vec3>,
    /// Offsets of tangents.
    pub tangents: Vec<Vec3>,
}

/// A surface before skinning: the mesh's own attributes, or those with [`Morph`]s applied.
#[derive(Clone, Copy, Debug)]
pub struct Shape<'a> {
    /// Positions, one per vertex.
    pub positions: &'a [Vec3],
    /// Normals, one per vertex.
    pub normals: &'a [Vec3],
    /// Tangents, one per vertex, if any.
    pub tangents: Option<&'a [Vec4]>,
}

/// Buffers for a surface with morphs applied; allocated once and refilled every frame.
#[derive(Clone, Debug)]
pub struct MorphedShape {
    positions: Vec<Vec3>,
    normals: Vec<Vec3>,
    tangents: Option<Vec<Vec4>>,
}

impl MorphedShape {
    /// Allocates buffers that contain the rest shape of a mesh.
    pub fn new(mesh: &Mesh) -> MorphedShape {
        MorphedShape {
            positions: mesh.positions.clone(),
            normals: mesh.normals.clone(),
            tangents: mesh.tangents.clone(),
        }
    }

    /// Computes rest shape plus Σ weight × target, in the order of targets.
    ///
    /// Missing weights count as zero; offsets beyond the last vertex are ignored.
    ///
    /// # Errors
    ///
    /// Fails if the mesh has another number of vertices than the buffers; the shape stays
    /// unchanged.
    pub fn apply(
        &mut self,
        mesh: &Mesh,
        morphs: &[Morph],
        weights: &[f32],
    ) -> Result<(), MeshError> {
        if self.positions.len() != mesh.positions.len() {
            return Err(MeshError::WrongLength {
                attribute: "morphed position",
                found: self.positions.len(),
                vertices: mesh.positions.len(),
            });
        }
        self.positions.copy_from_slice(&mesh.positions);
        self.normals.copy_from_slice(&mesh.normals);
        if let (Some(tangents), Some(rest)) = (&mut self.tangents, &mesh.tangents) {
            tangents.copy_from_slice(rest);
        }
        for morph in morphs {
            for (index, target) in morph.targets.iter().enumerate() {
                let weight = morph.first_weight.checked_add(index);
                let weight = weight.and_then(|weight| weights.get(weight)).copied();
                let weight = weight.unwrap_or(0.0);
                if weight == 0.0 {
                    continue;
                }
                add_offsets(
                    &mut self.positions,
                    morph.first_vertex,
                    &target.positions,
                    weight,
                );
                add_offsets(
                    &mut self.normals,
                    morph.first_vertex,
                    &target.normals,
                    weight,
                );
                let tangents = self.tangents.iter_mut().flatten().skip(morph.first_vertex);
                for (tangent, offset) in tangents.zip(&target.tangents) {
                    *tangent += (*offset * weight).extend(0.0);
                }
            }
        }
        Ok(())
    }

    /// The current shape.
    pub fn shape(&self) -> Shape<'_> {
        Shape {
            positions: &self.positions,
            normals: &self.normals,
            tangents: self.tangents.as_deref(),
        }
    }
}

/// Checks that every corner of every triangle is one of `vertices` vertices.
pub(crate) fn check_triangles(triangles: &[[u32; 3]], vertices: usize) -> Result<(), MeshError> {
    for (triangle, corners) in triangles.iter().enumerate() {
        if let Some(&vertex) = corners.iter().find(|&&corner| corner as usize >= vertices) {
            return Err(MeshError::IndexOutOfRange {
                triangle,
                vertex,
                vertices,
            });
        }
    }
    Ok(())
}

fn add_offsets(values: &mut [Vec3], first: usize, offsets: &[Vec3], weight: f32) {
    for (value, offset) in values.iter_mut().skip(first).zip(offsets) {
        *value += *offset * weight;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn triangle() -> Mesh {
        Mesh::new(
            vec![Vec3::ZERO, Vec3::X, Vec3::Y],
            None,
            None,
            vec![[0, 1, 2]],
        )
        .unwrap()
    }

    #[test]
    fn bad_meshes_are_named() {
        let points = vec![Vec3::ZERO, Vec3::X, Vec3::Y];
        let error = Mesh::new(points.clone(), None, None, vec![[0, 1, 2], [0, 3, 1]]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "triangle 1 names vertex 3, but there are 3 vertices"
        );
        let error = Mesh::new(points.clone(), Some(vec![Vec3::Z]), None, vec![]).unwrap_err();
        assert_eq!(error.to_string(), "there are 1 normals for 3 vertices");
        let bad = vec![Vec3::ZERO, Vec3::new(0.0, f32::NAN, 0.0)];
        let error = Mesh::new(bad, None, None, vec![]).unwrap_err();
        assert_eq!(error.to_string(), "the position of vertex 1 is not finite");
        let error = triangle().with_painted("_X", vec![None]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "there are 1 painted values for 3 vertices"
        );
        let painted = vec![None, Some(0.5), Some(f32::NAN)];
        let error = triangle().with_painted("_X", painted).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the painted value of vertex 2 is not finite"
        );
    }

    #[test]
    fn morphs_add_weighted_offsets_to_their_own_vertices_only() {
        let mesh = triangle();
        let target = MorphTarget {
            positions: vec![Vec3::Z, Vec3::Z * 2.0],
            ..MorphTarget::default()
        };
        let morph = Morph {
            first_vertex: 1,
            first_weight: 2,
            targets: vec![target],
        };
        let mut shape = MorphedShape::new(&mesh);
        shape
            .apply(&mesh, std::slice::from_ref(&morph), &[9.0, 9.0, 0.5])
            .unwrap();
        let expected = [
            Vec3::ZERO,
            Vec3::new(1.0, 0.0, 0.5),
            Vec3::new(0.0, 1.0, 1.0),
        ];
        assert_eq!(shape.shape().positions, expected);
        shape.apply(&mesh, &[morph], &[]).unwrap();
        assert_eq!(shape.shape().positions, mesh.positions());
    }
}
