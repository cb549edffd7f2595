//! Optimized centers of rotation: for each vertex, a point inside the rest surface about which it
//! rotates.
//!
//! `centers-of-rotation.txt`. The center of a vertex is the mean of the whole surface, weighted by
//! the similarity of its skinning weights to those of the vertex (eq. 1 and 4). It depends only on
//! the rest surface and the weights, so it is baked once; the method at run time is
//! `deform/centers_of_rotation.rs`.
//!
//! There are two algorithms: [`exact`] sums over all triangles; [`Centers::bake`] uses a grid in
//! the space of weights, in time proportional to vertices and triangles. [`LiveCenters`] keeps the
//! grid, so that centers follow a paint brush. Parameters too fine for the grid (σ below 0.05, an
//! accuracy below 2e-6) are summed directly, which takes as long as [`exact`].
//!
//! A center depends on a vertex's weights, not on its position, and triangles are summed
//! independently. So seams need no welding, pieces need no connection, and open surfaces need no
//! special treatment.

mod exact;
mod fast;
mod fields;
mod grid;
mod joint_support;
mod live;
mod pieces;
mod spread;
mod surface;

pub use exact::exact;
pub use live::LiveCenters;

use crate::mesh::Mesh;
use crate::option_error::{OptionError, check_option};
use crate::pose::Palette;
use crate::transform::linear_blend;
use crate::weights::Weights;
use glam::{DMat3, DVec3, Vec3};
use thiserror::Error;

/// Options of centers of rotation. The defaults are the paper's parameters, with an invisible
/// error.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(default)
)]
pub struct CenterOptions {
    /// σ of eq. (1): the difference of weights that counts as similar.
    pub sigma: f64,
    /// ε of §3.2: edges whose weights differ by at least this much are bisected.
    pub epsilon: f64,
    /// The largest distance of centers from those of [`exact`], relative to the extent. Most are
    /// ten times closer. If weights take only a few values, some σ apart, and one of them has a
    /// hundredth of the area of another, the error may be thirty times as large.
    pub accuracy: f64,
}

impl Default for CenterOptions {
    fn default() -> CenterOptions {
        CenterOptions::PAPER
    }
}

/// Error from computing centers of rotation.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum CenterError {
    /// An option is out of range.
    #[error(transparent)]
    Option(#[from] OptionError),
    /// Mesh, weights or centers do not belong together.
    #[error("there are {what} for {found} vertices, but the mesh has {expected}")]
    VertexCount {
        /// The data of the wrong size.
        what: &'static str,
        /// The size found.
        found: usize,
        /// The size of the mesh.
        expected: usize,
    },
    /// A center is NaN or infinite.
    #[error("the center of vertex {vertex} is not finite")]
    NotFinite {
        /// The vertex.
        vertex: usize,
    },
    /// The weights name a joint that the palette does not have.
    #[error("the weights name joint {joint}, but the palette has {joints} joints")]
    NoSuchJoint {
        /// The joint.
        joint: usize,
        /// The number of joints.
        joints: usize,
    },
    /// A vertex does not exist.
    #[error("the changed vertices include vertex {vertex}, but there are {vertices} vertices")]
    NoSuchVertex {
        /// The vertex.
        vertex: usize,
        /// The number of vertices.
        vertices: usize,
    },
}

impl CenterOptions {
    /// The paper's parameters, with an invisible error.
    pub const PAPER: CenterOptions = CenterOptions {
        sigma: 0.1,
        epsilon: 0.1,
        accuracy: 3e-5,
    };

    /// Checks that all options are in range.
    ///
    /// # Errors
    ///
    /// Fails if an option is out of range.
    pub fn check(&self) -> Result<(), OptionError> {
        let ranges = [
            ("sigma", self.sigma, 1e-3..=1e3, "from 0.001 to 1000"),
            ("epsilon", self.epsilon, 5e-3..=1e3, "from 0.005 to 1000"),
            (
                "accuracy",
                self.accuracy,
                1e-9..=1.0,
                "from 0.000000001 to 1",
            ),
        ];
        for (option, value, range, allowed) in ranges {
            check_option(range.contains(&value), option, value, allowed)?;
        }
        Ok(())
    }
}

/// Centers of rotation, one for every vertex that has one.
///
/// A vertex with one influence has no center: it follows its joint for any center. A vertex without
/// a similar part of the surface has none either.
#[derive(Clone, Debug, PartialEq)]
pub struct Centers {
    points: Vec<Option<Vec3>>,
}

impl Centers {
    /// Computes the centers of a surface, in time proportional to vertices and triangles.
    ///
    /// # Errors
    ///
    /// Fails if mesh and weights differ in their number of vertices, or an option is out of range.
    pub fn bake(
        mesh: &Mesh,
        weights: &Weights,
        options: &CenterOptions,
    ) -> Result<Centers, CenterError> {
        check(mesh, weights, options)?;
        let sums = fast::vertex_sums::<PLACES>(mesh, weights, options);
        Ok(Centers::of_sums(&sums))
    }

    /// Builds centers from known points, one per vertex. Points of vertices with one influence, and
    /// points at the position of their vertex, have no effect and count as none.
    ///
    /// # Errors
    ///
    /// Fails if points, mesh and weights differ in their number of vertices, or a point is not
    /// finite.
    pub fn from_points(
        points: &[Vec3],
        mesh: &Mesh,
        weights: &Weights,
    ) -> Result<Centers, CenterError> {
        check_count("centers", points.len(), mesh.vertex_count())?;
        check_count("weights", weights.vertex_count(), mesh.vertex_count())?;
        if let Some(vertex) = points.iter().position(|point| !point.is_finite()) {
            return Err(CenterError::NotFinite { vertex });
        }
        let own = |(vertex, &point): (usize, &Vec3)| {
            let one = weights.row(vertex).0.len() < 2;
            (!one && point != mesh.positions()[vertex]).then_some(point)
        };
        Ok(Centers {
            points: points.iter().enumerate().map(own).collect(),
        })
    }

    fn of_sums<const C: usize>(sums: &[[f64; C]]) -> Centers {
        let points = sums.iter().map(|sum| Some(mean_of(sum)?.as_vec3()));
        Centers {
            points: points.collect(),
        }
    }

    /// The center of a vertex; none if it has none or does not exist.
    pub fn of(&self, vertex: usize) -> Option<Vec3> {
        self.points.get(vertex).copied().flatten()
    }

    /// The centers, one entry per vertex.
    pub fn points(&self) -> &[Option<Vec3>] {
        &self.points
    }

    /// Computes the posed positions of the centers by linear blending (line 7 of Algorithm 1).
    ///
    /// # Errors
    ///
    /// Fails if the weights have another number of vertices, or name a joint that the palette
    /// lacks.
    pub fn carried(&self, weights: &Weights, palette: &Palette) -> Result<Vec<Vec3>, CenterError> {
        check_count("weights", weights.vertex_count(), self.points.len())?;
        let matrices = &palette.posed_from_bind;
        if let Some(joint) = weights.max_joint().filter(|&joint| joint >= matrices.len()) {
            return Err(CenterError::NoSuchJoint {
                joint,
                joints: matrices.len(),
            });
        }
        let centers = self.points.iter().enumerate();
        let carried = centers.filter_map(|(vertex, center)| {
            let (joints, weights) = weights.row(vertex);
            Some(linear_blend(joints, weights, matrices).transform_point((*center)?))
        });
        Ok(carried.collect())
    }

    /// One point per vertex: its center, or its own position if it has none, about which it moves
    /// as in linear blending.
    pub fn points_or_places(&self, mesh: &Mesh) -> Vec<Vec3> {
        let places = mesh.positions().iter().enumerate();
        places
            .map(|(vertex, place)| self.of(vertex).unwrap_or(*place))
            .collect()
    }
}

/// A center, and the spread of the similar surface around it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Surroundings {
    pub(crate) center: DVec3,
    /// The mean of `(v − center)(v − center)ᵀ` over the similar surface.
    pub(crate) spread: DMat3,
}

/// The centers and spreads of all vertices that have them.
pub(crate) fn surroundings(
    mesh: &Mesh,
    weights: &Weights,
    options: &CenterOptions,
) -> Result<Vec<Option<Surroundings>>, CenterError> {
    check(mesh, weights, options)?;
    let sums = fast::vertex_sums::<SPREADS>(mesh, weights, options);
    let surroundings = sums.iter().map(|sum| {
        let center = mean_of(sum)?;
        let [xx, xy, xz, yy, yz, zz] = std::array::from_fn(|index| sum[4 + index] / sum[0]);
        let square = DMat3::from_cols_array(&[xx, xy, xz, xy, yy, yz, xz, yz, zz]);
        Some(Surroundings {
            center,
            spread: square - crate::polar::outer(center, center),
        })
    });
    Ok(surroundings.collect())
}

/// The number of sums over the surface: its measure and its position (eq. 4) …
const PLACES: usize = 4;
/// … and optionally the squares of its position, in the order xx, xy, xz, yy, yz, zz, and two zeros
/// that fill the last register.
const SPREADS: usize = 12;

/// The two coordinates of each of these squares.
const SQUARES: [(usize, usize); 6] = [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)];

/// The mean position of a weighted sum; none if the sum is empty.
fn mean_of<const C: usize>(sum: &[f64; C]) -> Option<DVec3> {
    let mean = DVec3::new(sum[1], sum[2], sum[3]) / sum[0];
    (sum[0] > 0.0 && mean.is_finite()).then_some(mean)
}

fn check(mesh: &Mesh, weights: &Weights, options: &CenterOptions) -> Result<(), CenterError> {
    options.check()?;
    check_count("weights", weights.vertex_count(), mesh.vertex_count())
}

fn check_count(what: &'static str, found: usize, expected: usize) -> Result<(), CenterError> {
    match found == expected {
        true => Ok(()),
        false => Err(CenterError::VertexCount {
            what,
            found,
            expected,
        }),
    }
}
