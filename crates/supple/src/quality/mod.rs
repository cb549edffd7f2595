//! How good weights are, in numbers: smooth, local, without stray maxima, symmetric, summing to
//! one.
//!
//! Every figure is independent of the model's size, of how finely its surface is cut into
//! triangles, and of where a file splits vertices: all are taken over the welded surface and
//! weighted by area. Where there is no area at all, every point counts alike.

mod field;
mod locality;
mod maxima;
mod point_graph;
mod smoothness;

pub use locality::{FarJoint, Locality, StrayJoint};
pub use maxima::{Monotonicity, SpuriousMaximum};
pub use smoothness::{Kink, Smoothness};

use crate::mesh::Mesh;
use crate::rig::Rig;
use crate::skeleton::Skeleton;
use crate::symmetry::{MirrorPlane, Symmetry};
use crate::weights::{Weights, WeightsBuilder, WeightsError, WeightsReport, weld_seams};
use field::Fields;
use point_graph::PointGraph;

/// The quality of weights.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct WeightQuality {
    /// How evenly weights pass from joint to joint.
    pub smoothness: Smoothness,
    /// How near to its own bone a joint's weight stays.
    pub locality: Locality,
    /// Whether weights rise to a single top.
    pub monotonicity: Monotonicity,
    /// How much the two sides of a symmetric character differ; nothing for one that is not
    /// symmetric.
    pub asymmetry: Option<Asymmetry>,
    /// How far the numbers as they were given are from summing to one.
    pub partition: PartitionError,
}

/// How much the weights of the two sides of a symmetric character differ.
///
/// At a point `p` with the partner `q`, and with `σ` taking joints to their partners, `½ Σ_j
/// |w_j(p) − w_σ(j)(q)|`: the share of the weight that is held by other joints than on the other
/// side, from 0 to 1. A joint without partner counts as its own.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Asymmetry {
    /// The mean over the area of all points that have a partner.
    pub mean: f64,
    /// The largest.
    pub most: f64,
    /// Where that is.
    pub vertex: usize,
    /// The share of points that have a partner.
    pub matched: f64,
    /// Where the mirror stands.
    pub plane: MirrorPlane,
}

/// How far weights are from summing to one before they were normalised.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct PartitionError {
    /// The largest `|Σ_j w_j − 1|` of a vertex with weights, beyond what rounding to `f32` leaves.
    /// Negative weights count as zero.
    pub most: f64,
    /// How many vertices are that far from one, or farther than rounding.
    pub vertices: usize,
    /// How many vertices have no weight at all.
    pub without_weights: usize,
}

impl PartitionError {
    /// What was found when weights were read or built.
    pub fn of(found: &WeightsReport) -> PartitionError {
        let (low, high) = found.sum_range.unwrap_or((1.0, 1.0));
        PartitionError {
            most: (1.0 - low).max(high - 1.0),
            vertices: found.unnormalised,
            without_weights: found.without_weights,
        }
    }
}

impl WeightQuality {
    /// The quality of a rig's weights. They sum to one by construction: where it is known what they
    /// were before that, add it by [`WeightQuality::as_found`].
    pub fn of(rig: &Rig) -> WeightQuality {
        WeightQuality::over(rig.mesh(), rig.skeleton(), rig.weights())
    }

    /// The same, with the sums of weights as they were found on reading or building them.
    pub fn as_found(self, found: &WeightsReport) -> WeightQuality {
        WeightQuality {
            partition: PartitionError::of(found),
            ..self
        }
    }

    /// The quality of rows of (joint, weight), one per vertex, not yet normalised. The sums are
    /// judged as given, all else as [`WeightsBuilder`] mends it; a vertex without weight
    /// follows the first joint.
    ///
    /// # Errors
    ///
    /// If rows and vertices differ in number, a joint does not exist, or a weight is not finite.
    pub fn of_rows<Row: IntoIterator<Item = (usize, f32)>>(
        mesh: &Mesh,
        skeleton: &Skeleton,
        rows: impl IntoIterator<Item = Row>,
    ) -> Result<WeightQuality, QualityError> {
        let mut builder = WeightsBuilder::new(skeleton.joints().len())?;
        for row in rows {
            builder.push(row, 0)?;
        }
        let (weights, found) = builder.finish();
        let (rows, vertices) = (weights.vertex_count(), mesh.vertex_count());
        if rows != vertices {
            return Err(QualityError::RowCount { rows, vertices });
        }
        Ok(WeightQuality::over(mesh, skeleton, &weights).as_found(&found))
    }

    /// The weights fit mesh and skeleton.
    fn over(mesh: &Mesh, skeleton: &Skeleton, weights: &Weights) -> WeightQuality {
        let surface = PointGraph::new(mesh, weld_seams(mesh, weights));
        let fields = Fields::of(weights, &surface, skeleton.joints().len());
        let symmetry = Symmetry::of(mesh, skeleton);
        WeightQuality {
            smoothness: Smoothness::of(&surface, &fields, &fields.heaviest_only(&surface)),
            locality: Locality::of(&surface, &fields, &skeleton.bind_bones()),
            monotonicity: Monotonicity::of(&surface, &fields),
            asymmetry: symmetry.and_then(|symmetry| Asymmetry::of(&surface, &fields, &symmetry)),
            partition: PartitionError::default(),
        }
    }
}

/// Why rows have no quality.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum QualityError {
    /// Numbers that are no weights.
    #[error(transparent)]
    Weights(#[from] WeightsError),
    /// Rows and mesh differ in size.
    #[error("there are weights for {rows} vertices, but the mesh has {vertices}")]
    RowCount {
        /// Rows given.
        rows: usize,
        /// Vertices of the mesh.
        vertices: usize,
    },
}

impl Asymmetry {
    /// True where no place differs by more than what mirroring, rounding and normalising leave.
    pub fn is_negligible(&self) -> bool {
        self.most < 1e-3
    }

    fn of(surface: &PointGraph, fields: &Fields, symmetry: &Symmetry) -> Option<Asymmetry> {
        let (mut sum, mut area) = (0.0, 0.0);
        let mut most: Option<(f64, usize)> = None;
        for point in 0..surface.point_count() {
            let vertex = surface.vertex_of(point);
            let Some(partner) = symmetry.vertex_partner(vertex) else {
                continue;
            };
            let own = fields.row(point);
            let other = fields.row(surface.point_of(partner));
            let image = |joint: u16| {
                let partner = symmetry.joint_partner(usize::from(joint));
                partner.map_or(joint, |partner| partner as u16)
            };
            let weight_in = |row: &[(u16, f64)], joint: u16| {
                let found = row.iter().find(|(other, _)| *other == joint);
                found.map_or(0.0, |(_, weight)| *weight)
            };
            // Both sum to one, so that half of all differences is what one has more than the other.
            let more = own
                .iter()
                .map(|&(joint, weight)| (weight - weight_in(other, image(joint))).max(0.0));
            let difference: f64 = more.sum();
            sum += surface.area(point) * difference;
            area += surface.area(point);
            if most.is_none_or(|(known, _)| difference > known) {
                most = Some((difference, vertex));
            }
        }
        let (most, vertex) = most?;
        Some(Asymmetry {
            mean: if area > 0.0 { sum / area } else { 0.0 },
            most,
            vertex,
            matched: symmetry.matched_points(),
            plane: symmetry.plane(),
        })
    }
}

#[cfg(test)]
mod tests;
