//! Skinning methods: baked once into a [`Skin`], then run every frame.
//!
//! A direct method ends in one affine frame per vertex, so its file supplies only that (`VertexFrame`); the vertex
//! loop and the transported normals exist once, here. To add a method: a file, an arm of [`Method`],
//! an arm of `Baked`; the property tests in `tests/properties.rs` pick it up from [`Method::ALL`].

mod linear;
mod rigid;

use crate::mesh::Shape;
use crate::pose::Palette;
use crate::rig::Rig;
use crate::transform::Affine;
use glam::{Vec3, Vec4};
use std::str::FromStr;
use thiserror::Error;

/// A skinning method and its options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Each vertex follows its heaviest joint.
    Rigid,
    /// Linear blend skinning, eq. (1) of the course.
    Linear,
}

impl Method {
    /// Every method with its default options.
    pub const ALL: &[Method] = &[Method::Rigid, Method::Linear];

    /// The name on the command line.
    pub fn name(&self) -> &'static str {
        match self {
            Method::Rigid => "rigid",
            Method::Linear => "linear",
        }
    }

    /// Shorter or older names for the same method.
    pub fn aliases(&self) -> &'static [&'static str] {
        match self {
            Method::Rigid => &[],
            Method::Linear => &["lbs"],
        }
    }

    /// One line for people who choose.
    pub fn summary(&self) -> &'static str {
        match self {
            Method::Rigid => {
                "each vertex follows its heaviest joint; hard creases, nothing blended"
            }
            Method::Linear => {
                "linear blend skinning, what every engine has; collapses at strong bends and twists"
            }
        }
    }
}

/// A name that is no method's.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("there is no method '{0}'; known: {known}", known = known_methods())]
pub struct UnknownMethod(String);

fn known_methods() -> String {
    let names: Vec<_> = Method::ALL.iter().map(Method::name).collect();
    names.join(", ")
}

impl FromStr for Method {
    type Err = UnknownMethod;

    fn from_str(name: &str) -> Result<Method, UnknownMethod> {
        let known = |method: &&Method| method.name() == name || method.aliases().contains(&name);
        let found = Method::ALL.iter().find(known).copied();
        found.ok_or_else(|| UnknownMethod(name.to_owned()))
    }
}

/// What a direct method gives: the affine map of one vertex under one palette.
trait VertexFrame: Sync {
    /// `posed_from_bind` of a vertex. The palette has as many joints as the rig that was baked.
    fn frame(&self, vertex: usize, palette: &[Affine]) -> Affine;
}

/// A character prepared for one method: immutable, shareable between threads, what ships.
#[derive(Clone, Debug)]
pub struct Skin {
    positions: Vec<Vec3>,
    normals: Vec<Vec3>,
    tangents: Option<Vec<Vec4>>,
    joint_count: usize,
    baked: Baked,
}

/// The data of each method.
#[derive(Clone, Debug)]
enum Baked {
    Rigid(rigid::RigidSkin),
    Linear(linear::LinearSkin),
}

/// Where a deformed surface goes: the caller's buffers, each of one entry per vertex.
#[derive(Debug)]
pub struct Output<'a> {
    /// Posed positions.
    pub positions: &'a mut [Vec3],
    /// Posed unit normals, if wanted.
    pub normals: Option<&'a mut [Vec3]>,
    /// Posed unit tangents (handedness in `w`), if wanted; needs a shape that has tangents.
    pub tangents: Option<&'a mut [Vec4]>,
}

/// Why a surface could not be deformed: sizes that do not fit the skin.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{what}: {found}, but the skin has {expected}")]
pub struct SizeMismatch {
    /// What was of the wrong size.
    pub what: &'static str,
    /// Its size.
    pub found: usize,
    /// The size that fits.
    pub expected: usize,
}

impl Skin {
    /// Prepares a rig for a method: the slow part, once per character.
    pub fn bake(rig: &Rig, method: &Method) -> Skin {
        let baked = match method {
            Method::Rigid => Baked::Rigid(rigid::RigidSkin::bake(rig)),
            Method::Linear => Baked::Linear(linear::LinearSkin::bake(rig)),
        };
        Skin {
            positions: rig.mesh().positions().to_vec(),
            normals: rig.mesh().normals().to_vec(),
            tangents: rig.mesh().tangents().map(<[Vec4]>::to_vec),
            joint_count: rig.skeleton().joints().len(),
            baked,
        }
    }

    /// The number of vertices.
    pub fn vertex_count(&self) -> usize {
        self.positions.len()
    }

    /// Deforms the bind surface: the fast part, every frame; allocates nothing.
    pub fn deform(&self, palette: &Palette, output: Output<'_>) -> Result<(), SizeMismatch> {
        let shape = Shape {
            positions: &self.positions,
            normals: &self.normals,
            tangents: self.tangents.as_deref(),
        };
        self.deform_shape(shape, palette, output)
    }

    /// Deforms another shape of the same surface, such as one with morph targets applied.
    pub fn deform_shape(
        &self,
        shape: Shape<'_>,
        palette: &Palette,
        output: Output<'_>,
    ) -> Result<(), SizeMismatch> {
        self.check_sizes(&shape, palette, &output)?;
        let palette = &palette.posed_from_bind[..];
        match &self.baked {
            Baked::Rigid(skin) => run(skin, shape, palette, output),
            Baked::Linear(skin) => run(skin, shape, palette, output),
        }
        Ok(())
    }

    fn check_sizes(
        &self,
        shape: &Shape<'_>,
        palette: &Palette,
        output: &Output<'_>,
    ) -> Result<(), SizeMismatch> {
        let vertices = self.vertex_count();
        let lengths = [
            ("rest positions", Some(shape.positions.len()), vertices),
            ("rest normals", Some(shape.normals.len()), vertices),
            ("rest tangents", shape.tangents.map(<[Vec4]>::len), vertices),
            ("output positions", Some(output.positions.len()), vertices),
            (
                "output normals",
                output.normals.as_ref().map(|n| n.len()),
                vertices,
            ),
            (
                "output tangents",
                output.tangents.as_ref().map(|t| t.len()),
                vertices,
            ),
            (
                "rest tangents, needed for output tangents",
                (output.tangents.is_some() && shape.tangents.is_none()).then_some(0),
                vertices,
            ),
            (
                "joints in the palette",
                Some(palette.posed_from_bind.len()),
                self.joint_count,
            ),
        ];
        for (what, found, expected) in lengths {
            if let Some(found) = found.filter(|&found| found != expected) {
                return Err(SizeMismatch {
                    what,
                    found,
                    expected,
                });
            }
        }
        Ok(())
    }
}

/// The vertex loop of every direct method.
fn run(method: &impl VertexFrame, shape: Shape<'_>, palette: &[Affine], output: Output<'_>) {
    let normals = output.normals.unwrap_or_default();
    let tangents = output.tangents.unwrap_or_default();
    let rest_tangents = shape.tangents.unwrap_or_default();
    for (vertex, position) in output.positions.iter_mut().enumerate() {
        let frame = method.frame(vertex, palette);
        *position = frame.transform_point(shape.positions[vertex]);
        if let Some(normal) = normals.get_mut(vertex) {
            *normal = frame.transform_normal(shape.normals[vertex]);
        }
        if let Some(tangent) = tangents.get_mut(vertex) {
            let rest = rest_tangents[vertex];
            let along = frame.transform_vector(rest.truncate());
            // A mirror turns the bitangent around, which `w` tells.
            let side = if frame.determinant() < 0.0 {
                -rest.w
            } else {
                rest.w
            };
            *tangent = along.normalize_or(rest.truncate()).extend(side);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_aliases_find_their_method_and_no_two_share_one() {
        for method in Method::ALL {
            assert_eq!(method.name().parse::<Method>().unwrap(), *method);
            for alias in method.aliases() {
                assert_eq!(alias.parse::<Method>().unwrap(), *method);
            }
        }
        let error = "wobbly".parse::<Method>().unwrap_err();
        assert_eq!(
            error.to_string(),
            "there is no method 'wobbly'; known: rigid, linear"
        );
    }
}
