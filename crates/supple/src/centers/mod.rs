//! Optimized centers of rotation: for each vertex, the point of the rest surface's inside about
//! which it should turn.
//!
//! `centers-of-rotation.txt`. The center of a vertex is the mean of the whole surface, each place
//! weighted by how similar its skinning weights are to the vertex's (eq. 1 and 4). It depends on
//! the rest surface and the weights alone, so it is baked once; the method at run time is
//! `deform/centers_of_rotation.rs`.
//!
//! Two ways to the same numbers: [`exact`] sums over all triangles, [`Centers::bake`] over a grid
//! in the space of weights, in time that grows as vertices and triangles do. [`LiveCenters`] keeps
//! the grid, so that centers follow a brush. Parameters for which the grid would be too fine (σ
//! below 0.05, an accuracy below 2e-6) are summed directly, which takes as long as [`exact`].
//!
//! A center depends on a vertex's weights only, not on its place, and every triangle counts by
//! itself. So seams need no welding, pieces need no connection, and open surfaces are nothing
//! special.

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
use crate::pose::Palette;
use crate::transform::linear_blend;
use crate::weights::Weights;
use glam::{DMat3, DVec3, Vec3};
use thiserror::Error;

/// How centers are computed. The defaults are the paper's parameters, and an accuracy that nobody
/// can see.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct CenterOptions {
    /// σ of eq. (1): how alike weights must be to count as similar.
    pub sigma: f64,
    /// ε of §3.2: edges whose weights differ by this much or more are bisected.
    pub epsilon: f64,
    /// How far from [`exact`] the centers of a character may be, as a share of its extent. Most
    /// are ten times nearer. Where weights take only a few values, some σ apart, and one of
    /// them a hundredth of the area of another, it may come to thirty times as much.
    pub accuracy: f64,
}

impl Default for CenterOptions {
    fn default() -> CenterOptions {
        CenterOptions::PAPER
    }
}

/// Why centers cannot be computed.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum CenterError {
    /// An option that makes no sense.
    #[error("{name} is {value}, but must be from {low} to {high}")]
    Option {
        /// Which.
        name: &'static str,
        /// What it was.
        value: f64,
        /// The least allowed.
        low: f64,
        /// The most allowed.
        high: f64,
    },
    /// Mesh, weights or centers that do not belong together.
    #[error("there are {what} for {found} vertices, but the mesh has {expected}")]
    VertexCount {
        /// What did not fit.
        what: &'static str,
        /// How many there were.
        found: usize,
        /// How many the mesh has.
        expected: usize,
    },
    /// A center that is NaN or infinite.
    #[error("the center of vertex {vertex} is not finite")]
    NotFinite {
        /// Whose.
        vertex: usize,
    },
    /// Weights that name a joint which the palette does not have.
    #[error("the weights name joint {joint}, but the palette has {joints} joints")]
    NoSuchJoint {
        /// Which.
        joint: usize,
        /// How many there are.
        joints: usize,
    },
    /// A vertex that does not exist.
    #[error("vertex {vertex} was said to have changed, but there are {vertices} vertices")]
    NoSuchVertex {
        /// Which.
        vertex: usize,
        /// How many there are.
        vertices: usize,
    },
}

impl CenterOptions {
    /// The paper's parameters, and centers well within what can be seen.
    pub const PAPER: CenterOptions = CenterOptions {
        sigma: 0.1,
        epsilon: 0.1,
        accuracy: 3e-5,
    };

    /// Refuses values that make no sense.
    ///
    /// # Errors
    ///
    /// If an option is out of its range.
    pub fn check(&self) -> Result<(), CenterError> {
        let ranges = [
            ("sigma", self.sigma, 1e-3, 1e3),
            ("epsilon", self.epsilon, 5e-3, 1e3),
            ("accuracy", self.accuracy, 1e-9, 1.0),
        ];
        for (name, value, low, high) in ranges {
            if !(low..=high).contains(&value) {
                return Err(CenterError::Option {
                    name,
                    value,
                    low,
                    high,
                });
            }
        }
        Ok(())
    }
}

/// A center of rotation for every vertex that has one.
///
/// A vertex of one influence has none: it turns with its joint about any point. Nor has one to
/// which no part of the surface is similar.
#[derive(Clone, Debug, PartialEq)]
pub struct Centers {
    points: Vec<Option<Vec3>>,
}

impl Centers {
    /// The centers of a surface, in time that grows as vertices and triangles do.
    ///
    /// # Errors
    ///
    /// If mesh and weights differ in their number of vertices, or an option is out of its range.
    pub fn bake(
        mesh: &Mesh,
        weights: &Weights,
        options: &CenterOptions,
    ) -> Result<Centers, CenterError> {
        check(mesh, weights, options)?;
        let sums = fast::vertex_sums::<PLACES>(mesh, weights, options);
        Ok(Centers::of_sums(&sums))
    }

    /// Centers that are known already, one per vertex. Those of vertices of one influence, and
    /// those in the very place of their vertex, turn nothing and count as none.
    ///
    /// # Errors
    ///
    /// If points, mesh and weights differ in their number of vertices, or a point is not finite.
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

    /// The center of a vertex; nothing where it has none, or where there is no such vertex.
    pub fn of(&self, vertex: usize) -> Option<Vec3> {
        self.points.get(vertex).copied().flatten()
    }

    /// One entry per vertex.
    pub fn points(&self) -> &[Option<Vec3>] {
        &self.points
    }

    /// Computes where a pose carries the centers that there are, by linear blending (line 7 of
    /// Algorithm 1).
    ///
    /// # Errors
    ///
    /// If the weights are of another number of vertices, or the palette lacks a joint that they
    /// name.
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

    /// One point per vertex, its own place where it has no center: about that it moves as linear
    /// blending moves it.
    pub fn points_or_places(&self, mesh: &Mesh) -> Vec<Vec3> {
        let places = mesh.positions().iter().enumerate();
        places
            .map(|(vertex, place)| self.of(vertex).unwrap_or(*place))
            .collect()
    }
}

/// A center, and how the similar surface lies around it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Surroundings {
    pub(crate) center: DVec3,
    /// The mean of `(v − center)(v − center)ᵀ` over the similar surface.
    pub(crate) spread: DMat3,
}

/// The surroundings of every vertex that has a center.
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

/// How many numbers are summed over the surface: its measure and its place (eq. 4) …
const PLACES: usize = 4;
/// … or also the squares of its place, in the order xx, xy, xz, yy, yz, zz, and two zeros that fill
/// the last register.
const SPREADS: usize = 12;

/// Which two coordinates are multiplied in each of those squares.
const SQUARES: [(usize, usize); 6] = [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)];

/// The mean place of a weighted sum; none of nothing.
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
