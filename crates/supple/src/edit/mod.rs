//! Editing weights, for paint tools and for `supple weights edit`.
//!
//! An [`Editor`] is created once per character. It computes the effect of an [`Edit`] on some
//! [`Weights`] as a [`Change`], a value that can be applied and undone:
//!
//! ```
//! use supple::characters::{self, Character};
//! use supple::edit::{Edit, EditRegion, Editor};
//!
//! let rig = characters::build(Character::Arm, 2_000)?.rig;
//! let editor = Editor::new(&rig);
//! let change = editor.apply(rig.weights(), &Edit::Prune { below: 0.05 }, &EditRegion::All)?;
//! let pruned = change.redo(rig.weights())?;
//! assert_eq!(&change.undo(&pruned)?, rig.weights());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Properties of every edit:
//!
//! - **Weights sum to one**, as all [`Weights`] do: weight given to one joint is taken from the
//!   others in proportion.
//! - **Seams stay closed.** Vertices at one position in one piece of the surface are one point and
//!   get the same weights.
//! - **A locked joint keeps its weight** at every vertex, bit for bit. The others share the
//!   remaining weight; a vertex whose joints are all locked is unchanged.
//! - **Every vertex keeps a joint.** If an edit removes a joint from a vertex that no other
//!   unlocked joint holds, the nearest unlocked joint above takes over, or else the nearest below;
//!   if there is none, the joint keeps its weight. So no edit fails for lack of a joint.

mod brush;
mod change;
mod mirror;
mod row;
mod smooth;
mod surface_distance;
mod transfer;

pub use brush::{Brush, Falloff, Paint, Stroke, StrokePoint};
pub use change::Change;
pub use mirror::{Axis, Mirror, MirrorSource};
pub use transfer::{Transfer, TransferReport};

use crate::exec;
use crate::mesh::Mesh;
use crate::option_error::{OptionError, check_option};
use crate::rig::Rig;
use crate::skeleton::Skeleton;
use crate::surface::{EdgeWeights, Edges, Laplacian, Rows, Weld, double_area_normal};
use crate::surface_tree::SurfaceTree;
use crate::weights::{Weights, WeightsBuilder, WeightsError, limited_row, weld_seams};
use glam::Vec3;
use row::{Row, blend};
use surface_distance::Fans;
use thiserror::Error;

/// An edit of weights with its parameters.
#[derive(Clone, Debug, PartialEq)]
pub enum Edit {
    /// Averages the weights of the vertices of each point. (Normalisation needs no edit: weights
    /// always sum to one.)
    CloseSeams,
    /// Drops influences below this weight. A vertex keeps its heaviest influence, or all of them if
    /// several are equal.
    Prune {
        /// The threshold, from 0 to 1.
        below: f64,
    },
    /// Limits the number of influences per vertex, continuously: see [`Weights::limited`]. Locked
    /// joints count, but are never dropped.
    Limit {
        /// The limit, at least 1.
        most: usize,
    },
    /// Moves weights towards the mean of their neighbours on the surface. Separate pieces do not
    /// affect each other.
    Smooth {
        /// The number of steps.
        steps: u32,
        /// The strength of each step, from 0 to 1.
        strength: f64,
        /// The joints to smooth; empty for all. The others share the remaining weight.
        joints: Vec<usize>,
    },
    /// Makes one side the mirror image of the other side.
    Mirror(Mirror),
    /// Copies the weights of another character from the nearest surface.
    Transfer(Transfer),
    /// Paints all points equally.
    Flood(Paint),
    /// Paints with a brush along a stroke.
    Stroke(Brush, Vec<StrokePoint>),
}

/// The vertices that an edit may change. A point of the surface is included if any of its vertices
/// is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum EditRegion {
    /// All vertices.
    #[default]
    All,
    /// The vertices held by any of some joints; a node may be bound several times, by a joint each.
    HeldBy(Vec<usize>),
    /// Listed vertices, in any order.
    Vertices(Vec<u32>),
}

/// Error from editing weights.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum EditError {
    /// The weights belong to another surface.
    #[error("there are weights for {weights} vertices, but the mesh has {vertices}")]
    VertexCount {
        /// The number of rows of the weights.
        weights: usize,
        /// The number of vertices of the mesh.
        vertices: usize,
    },
    /// A joint does not exist.
    #[error("there is no joint {joint}: the skeleton has {joints}")]
    NoSuchJoint {
        /// The joint.
        joint: usize,
        /// The number of joints.
        joints: usize,
    },
    /// A vertex does not exist.
    #[error("there is no vertex {vertex}: the mesh has {vertices}")]
    NoSuchVertex {
        /// The vertex.
        vertex: usize,
        /// The number of vertices.
        vertices: usize,
    },
    /// A number of an edit is out of range.
    #[error(transparent)]
    Option(#[from] OptionError),
    /// A locked joint is painted.
    #[error("'{joint}' is locked")]
    Locked {
        /// The name of the joint.
        joint: String,
    },
    /// A joint beside the mirror plane has no counterpart.
    #[error(
        "'{joint}' has no counterpart on the other side, neither by name nor by position, and \
         does not lie on the plane {axis} = {plane:.4}"
    )]
    NoCounterpart {
        /// The name of the joint.
        joint: String,
        /// The axis: x, y or z.
        axis: &'static str,
        /// The position of the mirror plane.
        plane: f64,
    },
    /// The source of a transfer has none of the joints.
    #[error("no joint of the source has the name of a joint of the target; the first is '{joint}'")]
    NoCommonJoint {
        /// The first joint of the source.
        joint: String,
    },
    /// The source of a transfer has no triangles.
    #[error("the source has no surface to take weights from")]
    NoSurface,
    /// The fill of a transfer is too large for this machine.
    #[error("the part of the surface to fill in is too large: {0}")]
    Unsolvable(String),
    /// The numbers are not valid weights.
    #[error(transparent)]
    Weights(#[from] WeightsError),
}

/// Editor of the weights of a character: precomputed data, and locked joints.
pub struct Editor {
    mesh: Mesh,
    skeleton: Skeleton,
    weld: Weld,
    /// The vertices of each point.
    vertices: Rows<u32>,
    edges: Edges,
    /// The connected piece of each point, identified by its lowest point.
    pieces: Vec<u32>,
    laplacian: Laplacian,
    fans: Fans,
    surface: SearchSurface,
    locked: Vec<bool>,
}

impl Editor {
    /// Creates an editor with a copy of the character's mesh and skeleton. The character's weights
    /// only determine the seams.
    pub fn new(rig: &Rig) -> Editor {
        let (mesh, skeleton) = (rig.mesh(), rig.skeleton());
        let weld = weld_seams(mesh, rig.weights());
        let of_vertices =
            (0..mesh.vertex_count()).map(|vertex| (weld.point_of(vertex), vertex as u32));
        // Cotangents: smoothing must not depend on the triangulation.
        let edges = Edges::of(
            mesh.positions(),
            mesh.triangles(),
            &weld,
            EdgeWeights::Cotangent,
        );
        Editor {
            vertices: Rows::of(weld.point_count(), of_vertices),
            pieces: edges.pieces(),
            laplacian: edges.clone().into_laplacian(),
            fans: Fans::of(mesh, &weld),
            surface: SearchSurface::of(mesh),
            locked: vec![false; skeleton.joints().len()],
            mesh: mesh.clone(),
            skeleton: skeleton.clone(),
            edges,
            weld,
        }
    }

    /// Locks or unlocks a joint.
    ///
    /// # Errors
    ///
    /// Fails if the joint does not exist.
    pub fn set_locked(&mut self, joint: usize, locked: bool) -> Result<(), EditError> {
        self.check_joint(joint)?;
        self.locked[joint] = locked;
        Ok(())
    }

    /// True if a joint is locked; false if it does not exist.
    pub fn is_locked(&self, joint: usize) -> bool {
        self.locked.get(joint).copied().unwrap_or(false)
    }

    /// Computes the change of an edit within a region.
    ///
    /// # Errors
    ///
    /// Fails if the weights have another number of vertices or joints than the character, or the
    /// edit or the region names a joint or vertex that does not exist or a number out of range.
    pub fn apply(
        &self,
        weights: &Weights,
        edit: &Edit,
        region: &EditRegion,
    ) -> Result<Change, EditError> {
        self.check(weights)?;
        let points = self.points_in(weights, region)?;
        match edit {
            Edit::CloseSeams => self.edit_rows(weights, &points, |row| row.clone()),
            Edit::Prune { below } => {
                check_number("the threshold", *below, 0.0..=1.0, "from 0 to 1")?;
                self.edit_rows(weights, &points, |row| self.pruned(row, *below))
            }
            Edit::Limit { most } => {
                check_option(*most > 0, "the number of influences", 0.0, "at least 1")?;
                self.edit_rows(weights, &points, |row| self.limited(row, *most))
            }
            Edit::Smooth {
                steps,
                strength,
                joints,
            } => self.smooth(weights, &points, *steps, *strength, joints),
            Edit::Mirror(mirror) => self.mirror(weights, &points, mirror),
            Edit::Transfer(transfer) => Ok(self.transfer_to(weights, &points, transfer)?.0),
            Edit::Flood(paint) => self.flood(weights, &points, paint),
            Edit::Stroke(brush, places) => self.stroke_at(weights, &points, brush, places),
        }
    }

    /// Computes an [`Edit::Transfer`], with a report.
    ///
    /// # Errors
    ///
    /// See [`Editor::apply`].
    pub fn transfer(
        &self,
        weights: &Weights,
        transfer: &Transfer,
        region: &EditRegion,
    ) -> Result<(Change, TransferReport), EditError> {
        self.check(weights)?;
        let points = self.points_in(weights, region)?;
        self.transfer_to(weights, &points, transfer)
    }

    /// The row without unlocked influences below the threshold, except the heaviest.
    fn pruned(&self, row: &Row, below: f64) -> Row {
        let unlocked = row.iter().filter(|entry| !self.locks(entry.0));
        let heaviest = unlocked.map(|entry| entry.1).fold(0.0, f64::max);
        let kept = |&&(joint, share): &&(u16, f64)| {
            self.locks(joint) || share >= below || share == heaviest
        };
        row.iter().filter(kept).copied().collect()
    }

    /// The heaviest unlocked influences, as many as fit beside the locked ones, and at least one.
    fn limited(&self, row: &Row, most: usize) -> Row {
        let (locked, mut others): (Row, Row) =
            row.iter().partition(|&&(joint, _)| self.locks(joint));
        let places = most.saturating_sub(locked.len()).max(1);
        if others.len() <= places {
            return row.clone();
        }
        others.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        row::merged(
            locked
                .into_iter()
                .chain(limited_row(&others, places))
                .collect(),
        )
    }

    /// Edits rows one by one.
    fn edit_rows(
        &self,
        weights: &Weights,
        points: &[u32],
        edit: impl Fn(&Row) -> Row + Sync,
    ) -> Result<Change, EditError> {
        let rows = exec::map_chunks(points.len(), |chunk| {
            let rows = points[chunk].iter();
            rows.map(|&point| edit(&self.row(weights, point as usize)))
                .collect::<Vec<_>>()
        });
        let rows = rows.into_iter().flatten();
        self.change(weights, points.iter().copied().zip(rows))
    }

    /// The mean of the weights of a point's vertices.
    fn row(&self, weights: &Weights, point: usize) -> Row {
        let vertices = self.vertices.row(point);
        let row_of = |vertex: u32| weights.row(vertex as usize);
        // The usual case: all agree, and no sum is needed.
        let agree = vertices
            .iter()
            .all(|&vertex| row_of(vertex) == row_of(vertices[0]));
        let counted = if agree { &vertices[..1] } else { vertices };
        let share = 1.0 / counted.len() as f64;
        let mut row = Row::new();
        for &vertex in counted {
            let (joints, values) = row_of(vertex);
            let entries = joints.iter().zip(values);
            row.extend(entries.map(|(&joint, &value)| (joint, share * f64::from(value))));
        }
        row::merged(row)
    }

    /// The change to these rows of points. At each vertex, locked joints keep their weight, and the
    /// others share the rest in proportion to the row; if the row has no weight for them, the
    /// vertex is unchanged.
    fn change(
        &self,
        weights: &Weights,
        rows: impl IntoIterator<Item = (u32, Row)>,
    ) -> Result<Change, EditError> {
        let mut row_of_vertex: Vec<(u32, usize)> = Vec::new();
        let mut unlocked_rows: Vec<Row> = Vec::new();
        for (point, mut row) in rows {
            row.retain(|&(joint, share)| !self.locks(joint) && share > 0.0);
            let sum: f64 = row.iter().map(|(_, share)| share).sum();
            if sum > 0.0 && sum.is_finite() {
                let vertices = self.vertices.row(point as usize).iter();
                row_of_vertex.extend(vertices.map(|&vertex| (vertex, unlocked_rows.len())));
                unlocked_rows.push(row);
            }
        }
        row_of_vertex.sort_unstable();
        let mut builder = WeightsBuilder::new(1 << 16)?;
        let mut vertices = Vec::with_capacity(row_of_vertex.len());
        for (vertex, at) in row_of_vertex {
            let (joints, values) = weights.row(vertex as usize);
            let own = joints.iter().copied().zip(values.iter().copied());
            let kept: Vec<(u16, f32)> = own.filter(|&(joint, _)| self.locks(joint)).collect();
            if kept.len() < joints.len() {
                builder.push_shares_around(&kept, unlocked_rows[at].iter().copied())?;
                vertices.push(vertex);
            }
        }
        let after = builder.finish().0;
        let differs = |row: &usize| after.row(*row) != weights.row(vertices[*row] as usize);
        let changed: Vec<usize> = (0..vertices.len()).filter(differs).collect();
        let vertices: Vec<u32> = changed.iter().map(|&row| vertices[row]).collect();
        Ok(Change {
            vertex_count: self.mesh.vertex_count(),
            before: weights.picked(vertices.iter().map(|&vertex| vertex as usize)),
            after: after.picked(changed),
            vertices,
        })
    }

    /// The points of a region, in rising order.
    fn points_in(&self, weights: &Weights, region: &EditRegion) -> Result<Vec<u32>, EditError> {
        let points = 0..self.weld.point_count() as u32;
        match region {
            EditRegion::All => Ok(points.collect()),
            EditRegion::HeldBy(joints) => {
                for &joint in joints {
                    self.check_joint(joint)?;
                }
                let holds = |&vertex: &u32| {
                    let mut influences = weights.of(vertex as usize);
                    influences.any(|influence| joints.contains(&influence.joint))
                };
                let held = |&point: &u32| self.vertices.row(point as usize).iter().any(holds);
                Ok(points.filter(held).collect())
            }
            EditRegion::Vertices(vertices) => {
                let point = |&vertex: &u32| Ok(self.point_of(vertex as usize)? as u32);
                let mut points: Vec<u32> = vertices
                    .iter()
                    .map(point)
                    .collect::<Result<_, EditError>>()?;
                points.sort_unstable();
                points.dedup();
                Ok(points)
            }
        }
    }

    fn point_of(&self, vertex: usize) -> Result<usize, EditError> {
        let vertices = self.mesh.vertex_count();
        if vertex >= vertices {
            return Err(EditError::NoSuchVertex { vertex, vertices });
        }
        Ok(self.weld.point_of(vertex))
    }

    /// Checks that the weights have the size of this character.
    fn check(&self, weights: &Weights) -> Result<(), EditError> {
        if weights.vertex_count() != self.mesh.vertex_count() {
            return Err(EditError::VertexCount {
                weights: weights.vertex_count(),
                vertices: self.mesh.vertex_count(),
            });
        }
        weights
            .max_joint()
            .map_or(Ok(()), |joint| self.check_joint(joint))
    }

    fn check_joint(&self, joint: usize) -> Result<(), EditError> {
        let joints = self.locked.len();
        if joint >= joints {
            return Err(EditError::NoSuchJoint { joint, joints });
        }
        Ok(())
    }

    fn locks(&self, joint: u16) -> bool {
        self.locked[usize::from(joint)]
    }

    /// The joint that takes over vertices without any other joint: the nearest unlocked joint
    /// above, else the first one below.
    fn fallback_joint(&self, joint: usize) -> Option<usize> {
        let joints = self.skeleton.joints();
        let above = std::iter::successors(joints[joint].parent, |&above| joints[above].parent);
        let is_below = |other: usize| {
            let mut above = std::iter::successors(Some(other), |&above| joints[above].parent);
            above.any(|above| above == joint)
        };
        let mut below = (joint + 1..joints.len()).filter(|&other| is_below(other));
        let unlocked = |other: &usize| !self.locked[*other];
        let mut above = above.filter(unlocked);
        above.next().or_else(|| below.find(unlocked))
    }
}

/// Checks that a number is within a range; NaN never is.
fn check_number(
    option: &'static str,
    value: f64,
    range: std::ops::RangeInclusive<f64>,
    allowed: &'static str,
) -> Result<(), OptionError> {
    check_option(range.contains(&value), option, value, allowed)
}

/// The triangles of a mesh with positive area, in a search tree.
struct SearchSurface {
    tree: SurfaceTree,
    /// The vertices of each triangle in the tree.
    corners: Vec<[u32; 3]>,
}

/// A point on a surface: the vertices of a triangle and their shares.
struct OnSurface {
    corners: [u32; 3],
    shares: [f64; 3],
    point: Vec3,
    distance: f64,
}

impl SearchSurface {
    fn of(mesh: &Mesh) -> SearchSurface {
        let place = |corner: u32| mesh.positions()[corner as usize];
        let has_area =
            |corners: &&[u32; 3]| double_area_normal(mesh.corners(corners)).length_squared() > 0.0;
        let corners: Vec<[u32; 3]> = mesh.triangles().iter().filter(has_area).copied().collect();
        let places: Vec<[Vec3; 3]> = corners.iter().map(|corners| corners.map(place)).collect();
        SearchSurface {
            tree: SurfaceTree::new(&places),
            corners,
        }
    }

    /// The nearest point on triangles that satisfy `counts`.
    fn nearest(&self, place: Vec3, counts: impl Fn([u32; 3]) -> bool) -> Option<OnSurface> {
        let counts = |triangle: u32| counts(self.corners[triangle as usize]);
        let nearest = self.tree.nearest(place, f32::INFINITY, counts)?;
        Some(OnSurface {
            corners: self.corners[nearest.triangle as usize],
            shares: nearest.shares.map(f64::from),
            point: nearest.point,
            distance: f64::from(nearest.distance),
        })
    }
}

impl OnSurface {
    /// The interpolated weights, from those of the corners.
    fn row(&self, corner_row: impl Fn(u32) -> Row) -> Row {
        let rows = self.corners.map(corner_row);
        blend(rows.iter().zip(self.shares))
    }
}
