//! Editing weights: what a paint tool and `supple weights edit` both call.
//!
//! An [`Editor`] is made once per character. It computes what an [`Edit`] does to some [`Weights`]
//! as a [`Change`], which is applied, taken back and made again by value:
//!
//! ```
//! use supple::characters::{self, Character};
//! use supple::edit::{Edit, Editor, Region};
//!
//! let rig = characters::build(Character::Arm, 2_000)?.rig;
//! let editor = Editor::new(&rig);
//! let change = editor.apply(rig.weights(), &Edit::Prune { below: 0.05 }, &Region::All)?;
//! let pruned = change.redo(rig.weights())?;
//! assert_eq!(&change.undo(&pruned)?, rig.weights());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! What holds for every edit:
//!
//! - **Weights sum to one**, as all [`Weights`] do: what an edit gives to one joint is taken from
//!   the others in proportion.
//! - **Seams stay closed.** Vertices of one position in one piece of the surface are one point, and
//!   get the same weights.
//! - **A locked joint keeps its weight** at every vertex, to the bit. The others share what it
//!   leaves; a vertex that is wholly locked does not change.
//! - **No vertex is left to nobody.** Where an edit takes a joint off a vertex that no other
//!   unlocked joint holds, the nearest unlocked joint above takes over, else the nearest below;
//!   only where there is none does the joint keep what it has. So no edit fails for want of a
//!   joint.

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
use crate::rig::Rig;
use crate::skeleton::Skeleton;
use crate::surface::{EdgeWeights, Edges, Laplacian, Rows, Weld};
use crate::surface_tree::SurfaceTree;
use crate::weights::{Weights, WeightsBuilder, WeightsError, limited_row, weld_seams};
use glam::Vec3;
use row::{Row, blend};
use surface_distance::Fans;
use thiserror::Error;

/// An edit of weights, with all that it needs to know.
#[derive(Clone, Debug, PartialEq)]
pub enum Edit {
    /// Vertices of one point get the mean of their weights. (That weights sum to one needs no
    /// edit.)
    CloseSeams,
    /// Drops influences that weigh less than this. A vertex keeps its heaviest, all of them where
    /// several weigh the same.
    Prune {
        /// From 0 to 1.
        below: f64,
    },
    /// At most so many influences per vertex, continuously: see [`Weights::limited`]. Locked joints
    /// count, but are never dropped.
    Limit {
        /// At least 1.
        most: usize,
    },
    /// Moves weights towards the mean of their neighbours on the surface; separate pieces know
    /// nothing of each other.
    Smooth {
        /// How often.
        steps: u32,
        /// How far in each step, from 0 to 1.
        strength: f64,
        /// Which joints; empty for all. The others share what those leave.
        joints: Vec<usize>,
    },
    /// Makes one side the mirror image of the other.
    Mirror(Mirror),
    /// Takes the weights of another character, where it is near.
    Transfer(Transfer),
    /// Paints everything alike.
    Flood(Paint),
    /// Paints with a brush, at one place after the other.
    Stroke(Brush, Vec<StrokePoint>),
}

/// Which vertices an edit may change. A point of the surface is in it if any of its vertices is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Region {
    /// Every one.
    #[default]
    All,
    /// Those that any of some joints holds: a node may be bound in several ways.
    HeldBy(Vec<usize>),
    /// Those of a list, in any order.
    Vertices(Vec<u32>),
}

/// Why an edit could not be made.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum EditError {
    /// The weights are those of another surface.
    #[error("there are weights for {weights} vertices, but the mesh has {vertices}")]
    VertexCount {
        /// Rows of weights.
        weights: usize,
        /// Vertices of the mesh.
        vertices: usize,
    },
    /// A joint is named that does not exist.
    #[error("there is no joint {joint}; the skeleton has {joints}")]
    NoSuchJoint {
        /// The joint named.
        joint: usize,
        /// How many there are.
        joints: usize,
    },
    /// A vertex is named that does not exist.
    #[error("there is no vertex {vertex}; the mesh has {vertices}")]
    NoSuchVertex {
        /// The vertex named.
        vertex: usize,
        /// How many there are.
        vertices: usize,
    },
    /// A number makes no sense.
    #[error("the {what} must be {expected}, not {found}")]
    Number {
        /// What it is for.
        what: &'static str,
        /// What it may be.
        expected: &'static str,
        /// What was given.
        found: f64,
    },
    /// A joint is painted that must not change.
    #[error("'{joint}' is locked")]
    Locked {
        /// Its name.
        joint: String,
    },
    /// A joint to the side has no counterpart to be mirrored to.
    #[error(
        "'{joint}' has no counterpart on the other side, neither by its name nor by its place, and \
         does not lie on the plane {axis} = {plane:.4}"
    )]
    NoCounterpart {
        /// Its name.
        joint: String,
        /// What is mirrored: x, y or z.
        axis: &'static str,
        /// Where the mirror stands.
        plane: f64,
    },
    /// A transfer from a character with none of the joints.
    #[error("no joint of the source, '{joint}' or any other, has a name that the target knows")]
    NoCommonJoint {
        /// The source's first joint.
        joint: String,
    },
    /// A transfer from a character without triangles.
    #[error("the source has no surface to take weights from")]
    NoSurface,
    /// The fill of a transfer is more than this machine can hold.
    #[error("the part of the surface to fill in is too large: {0}")]
    Unsolvable(String),
    /// Numbers that do not make weights.
    #[error(transparent)]
    Weights(#[from] WeightsError),
}

/// What edits need to know of a character, computed once; and which joints are locked.
pub struct Editor {
    mesh: Mesh,
    skeleton: Skeleton,
    weld: Weld,
    /// The vertices of each point.
    vertices: Rows<u32>,
    edges: Edges,
    /// The connected piece of each point: its lowest point.
    pieces: Vec<u32>,
    laplacian: Laplacian,
    fans: Fans,
    surface: SearchSurface,
    locked: Vec<bool>,
}

impl Editor {
    /// For a character, whose mesh and skeleton it keeps a copy of. Its weights tell no more than
    /// what is a seam.
    pub fn new(rig: &Rig) -> Editor {
        let (mesh, skeleton) = (rig.mesh(), rig.skeleton());
        let weld = weld_seams(mesh, rig.weights());
        let of_vertices =
            (0..mesh.vertex_count()).map(|vertex| (weld.point_of(vertex), vertex as u32));
        // Cotangents: what smoothing does must not depend on how the surface is cut into triangles.
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

    /// Locks a joint, or unlocks it.
    ///
    /// # Errors
    ///
    /// If there is no such joint.
    pub fn set_locked(&mut self, joint: usize, locked: bool) -> Result<(), EditError> {
        self.check_joint(joint)?;
        self.locked[joint] = locked;
        Ok(())
    }

    /// Whether a joint is locked. One that does not exist is not.
    pub fn is_locked(&self, joint: usize) -> bool {
        self.locked.get(joint).copied().unwrap_or(false)
    }

    /// What an edit changes within a region.
    ///
    /// # Errors
    ///
    /// If the weights are of another number of vertices or joints than the character, or the edit
    /// or the region names what does not exist or a number out of its range.
    pub fn apply(
        &self,
        weights: &Weights,
        edit: &Edit,
        region: &Region,
    ) -> Result<Change, EditError> {
        self.check(weights)?;
        let points = self.points_in(weights, region)?;
        match edit {
            Edit::CloseSeams => self.edit_rows(weights, &points, |row| row.clone()),
            Edit::Prune { below } => {
                check_number("threshold", *below, 0.0..=1.0, "from 0 to 1")?;
                self.edit_rows(weights, &points, |row| self.pruned(row, *below))
            }
            Edit::Limit { most } => {
                if *most == 0 {
                    return Err(EditError::Number {
                        what: "number of influences",
                        expected: "at least 1",
                        found: 0.0,
                    });
                }
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

    /// [`Edit::Transfer`], and what came of it.
    ///
    /// # Errors
    ///
    /// As [`Editor::apply`] does.
    pub fn transfer(
        &self,
        weights: &Weights,
        transfer: &Transfer,
        region: &Region,
    ) -> Result<(Change, TransferReport), EditError> {
        self.check(weights)?;
        let points = self.points_in(weights, region)?;
        self.transfer_to(weights, &points, transfer)
    }

    /// Unlocked influences below the threshold are left out, but for the heaviest.
    fn pruned(&self, row: &Row, below: f64) -> Row {
        let unlocked = row.iter().filter(|entry| !self.locks(entry.0));
        let heaviest = unlocked.map(|entry| entry.1).fold(0.0, f64::max);
        let kept = |&&(joint, share): &&(u16, f64)| {
            self.locks(joint) || share >= below || share == heaviest
        };
        row.iter().filter(kept).copied().collect()
    }

    /// The heaviest unlocked influences, as many as locked ones leave place for, and at least one.
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
        // Nearly always they agree: then nothing is to be added up.
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

    /// The change that gives points these rows. Of each vertex, locked joints keep their weight,
    /// and the others share the rest in proportion to the row; a row that has nothing for them
    /// leaves the vertex as it is.
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

    /// The points of a region, rising.
    fn points_in(&self, weights: &Weights, region: &Region) -> Result<Vec<u32>, EditError> {
        let points = 0..self.weld.point_count() as u32;
        match region {
            Region::All => Ok(points.collect()),
            Region::HeldBy(joints) => {
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
            Region::Vertices(vertices) => {
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

    /// The weights must be those of this character.
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

    /// Who takes over what a joint leaves to nobody: the nearest unlocked joint above, else the
    /// first one below.
    fn heir_of(&self, joint: usize) -> Option<usize> {
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

/// Refuses a number that is not within a range; NaN is in none.
fn check_number(
    what: &'static str,
    found: f64,
    range: std::ops::RangeInclusive<f64>,
    expected: &'static str,
) -> Result<(), EditError> {
    if range.contains(&found) {
        return Ok(());
    }
    Err(EditError::Number {
        what,
        expected,
        found,
    })
}

/// The triangles of a mesh that have area, to be searched.
struct SearchSurface {
    tree: SurfaceTree,
    /// The vertices of each triangle in the tree.
    corners: Vec<[u32; 3]>,
}

/// A place on a surface: the vertices of a triangle and their shares.
struct OnSurface {
    corners: [u32; 3],
    shares: [f64; 3],
    point: Vec3,
    distance: f64,
}

impl SearchSurface {
    fn of(mesh: &Mesh) -> SearchSurface {
        let place = |corner: u32| mesh.positions()[corner as usize];
        let has_area = |corners: &&[u32; 3]| {
            let [a, b, c] = corners.map(|corner| place(corner).as_dvec3());
            (b - a).cross(c - a).length_squared() > 0.0
        };
        let corners: Vec<[u32; 3]> = mesh.triangles().iter().filter(has_area).copied().collect();
        let places: Vec<[Vec3; 3]> = corners.iter().map(|corners| corners.map(place)).collect();
        SearchSurface {
            tree: SurfaceTree::new(&places),
            corners,
        }
    }

    /// The nearest place, among triangles that count.
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
    /// The weights there, from those of the corners.
    fn row(&self, corner_row: impl Fn(u32) -> Row) -> Row {
        let rows = self.corners.map(corner_row);
        blend(rows.iter().zip(self.shares))
    }
}
