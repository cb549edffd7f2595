//! Weights for any mesh: a body and the bones inside of it, bound by one of several methods.
//!
//! Every method gives complete weights on whatever surface there is. What no bone holds by itself
//! (a button, a jacket, a ball in front of the face) follows the nearest surface that is held, and
//! joints that came to hold nothing are told of in the [`BindReport`].

mod bounded_biharmonic;
mod cells;
mod envelope;
mod followers;
pub(crate) mod geodesic;
mod groups;
mod handles;
mod heat;
pub(crate) mod oriented_surface;
mod rigid;
mod segment_tree;
#[cfg(test)]
mod test_bodies;

pub use bounded_biharmonic::{BoundedBiharmonicOptions, Convergence};
pub use envelope::EnvelopeOptions;
pub use geodesic::GeodesicOptions;
pub use groups::{BindGroup, bind_groups};
pub use handles::{Bone, Handle, is_control_name};
pub use heat::HeatOptions;

use crate::exec;
use crate::mesh::Mesh;
use crate::weights::{Weights, WeightsBuilder, WeightsError};
use cells::{Cells, Seed};
use glam::{DVec3, I64Vec3};
use handles::Hold;
use oriented_surface::OrientedSurface;
use std::collections::{HashMap, HashSet};
use thiserror::Error;

/// A way of computing weights.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum BindMethod {
    /// Every vertex follows the nearest bone alone.
    Rigid,
    /// Capsules around bones, with a falloff.
    Envelope(EnvelopeOptions),
    /// Heat from the nearest visible bone, spread over the surface.
    Heat(HeatOptions),
    /// By distances through the inside of the body.
    Geodesic(GeodesicOptions),
    /// The smoothest weights within bounds, over the inside of the body.
    BoundedBiharmonic(BoundedBiharmonicOptions),
}

impl BindMethod {
    /// One of each, with its usual options.
    pub fn all() -> [BindMethod; 5] {
        [
            BindMethod::Rigid,
            BindMethod::Envelope(EnvelopeOptions::default()),
            BindMethod::Heat(HeatOptions::default()),
            BindMethod::Geodesic(GeodesicOptions::default()),
            BindMethod::BoundedBiharmonic(BoundedBiharmonicOptions::default()),
        ]
    }

    /// The name that commands have for it.
    pub fn name(&self) -> &'static str {
        match self {
            BindMethod::Rigid => "rigid",
            BindMethod::Envelope(_) => "envelope",
            BindMethod::Heat(_) => "heat",
            BindMethod::Geodesic(_) => "geodesic",
            BindMethod::BoundedBiharmonic(_) => "bbw",
        }
    }

    /// What it is, in a line.
    pub fn summary(&self) -> &'static str {
        match self {
            BindMethod::Rigid => "the nearest bone alone holds each vertex",
            BindMethod::Envelope(_) => "capsules around bones, as wide as the body, with a falloff",
            BindMethod::Heat(_) => "heat of the nearest visible bone, spread over the surface",
            BindMethod::Geodesic(_) => "distances to bones through the inside of the body",
            BindMethod::BoundedBiharmonic(_) => "bounded biharmonic weights, the smoothest of all",
        }
    }

    fn check(&self) -> Result<(), BindError> {
        match self {
            BindMethod::Rigid => Ok(()),
            BindMethod::Envelope(options) => options.check(),
            BindMethod::Heat(options) => options.check(),
            BindMethod::Geodesic(options) => options.check(),
            BindMethod::BoundedBiharmonic(options) => options.check(),
        }
    }
}

/// Why nothing was bound.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum BindError {
    /// Nothing to bind to.
    #[error("there is no joint to bind to")]
    NoHandles,
    /// A handle without any bone.
    #[error("the handle of joint {0} has no bone and no point")]
    EmptyHandle(usize),
    /// Two handles of one joint.
    #[error("joint {0} has two handles; one handle may have several bones")]
    JointTwice(usize),
    /// A vertex that nothing was said about.
    #[error("vertex {0} belongs to no group of what is bound together")]
    InNoGroup(usize),
    /// A group names a vertex that the mesh does not have.
    #[error("a group names vertex {vertex}, but the mesh has {vertices} vertices")]
    NoSuchVertex {
        /// Which.
        vertex: usize,
        /// How many there are.
        vertices: usize,
    },
    /// A group names a joint that the skeleton does not have.
    #[error("a group names joint {joint}, but the skeleton has {joints} joints")]
    NoSuchJoint {
        /// Which.
        joint: usize,
        /// How many there are.
        joints: usize,
    },
    /// A bone is somewhere that is no place.
    #[error("a bone of joint {0} is not finite")]
    NotFinite(usize),
    /// Two points in one place, of which each would have to hold all of it.
    #[error("the points of joints {0} and {1} are at the same place")]
    SamePlace(usize, usize),
    /// An option that makes no sense.
    #[error("{option} is {value}, but must be {allowed}")]
    BadOption {
        /// Which one.
        option: &'static str,
        /// What it is.
        value: f64,
        /// What it may be.
        allowed: &'static str,
    },
    /// The heat equation could not be solved: the surface is too large for the memory, or has
    /// numbers beyond all measure.
    #[error("the equations of heat over this surface could not be solved")]
    Solver,
    /// Bounded biharmonic weights of too many joints over too many cells.
    #[error(
        "bounded biharmonic weights of {joints} joints over {cells} cells are too many: joints times cells may be at most {most}"
    )]
    TooLarge {
        /// How many joints hold something.
        joints: usize,
        /// How many voxels and patches of skin there are.
        cells: usize,
        /// The largest product of the two.
        most: usize,
    },
    /// The result does not make weights.
    #[error(transparent)]
    Weights(#[from] WeightsError),
}

/// Weights, and how they came about.
#[derive(Clone, Debug, PartialEq)]
pub struct Bound {
    /// The weights.
    pub weights: Weights,
    /// What is worth knowing about them.
    pub report: BindReport,
}

/// What is worth knowing about a binding.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct BindReport {
    /// Joints that hold no vertex at all.
    pub unreached: Vec<usize>,
    /// Joints whose bones are outside of the body, where others are inside.
    pub outside: Vec<usize>,
    /// How many connected pieces the surface has.
    pub pieces: usize,
    /// Pieces that no bone holds and that follow others: a vertex of each, and how many points it
    /// has.
    pub followers: Vec<Follower>,
    /// By how much the weights of a vertex missed a sum of one before they were normalised, at
    /// most.
    pub partition_error: f64,
    /// Voxels inside of the body, for methods that use them.
    pub voxels: usize,
    /// Cells in all: voxels, and patches of surface where it is too thin for one.
    pub cells: usize,
    /// The width of a voxel, in the model's unit.
    pub voxel_size: f64,
    /// How the solver of bounded biharmonic weights ended.
    pub convergence: Option<Convergence>,
}

/// A piece of the surface that follows others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Follower {
    /// Its first vertex.
    pub vertex: usize,
    /// How many points it has.
    pub points: usize,
}

impl BindReport {
    /// Tells which of some joints hold no vertex.
    fn tell_unreached(&mut self, weights: &Weights, joints: impl Iterator<Item = usize>) {
        let mut reached = vec![false; weights.max_joint().map_or(0, |joint| joint + 1)];
        for vertex in 0..weights.vertex_count() {
            for influence in weights
                .of(vertex)
                .filter(|influence| influence.weight > HOLDS)
            {
                reached[influence.joint] = true;
            }
        }
        let holds_none = |joint: &usize| !reached.get(*joint).is_some_and(|reached| *reached);
        self.unreached = joints.filter(holds_none).collect();
    }
}

/// Shares of joints at every point.
type Rows = Vec<Vec<(u16, f64)>>;

/// Shares below this are not carried along: millions of them are nothing.
const LEAST: f64 = 1e-6;

/// Weights below this share are not kept in the end.
const KEPT: f64 = 1e-4;

/// A joint that holds no vertex by more than this holds none.
const HOLDS: f32 = 1e-3;

fn check_positive(option: &'static str, value: f64) -> Result<(), BindError> {
    let allowed = "above zero";
    let bad = BindError::BadOption {
        option,
        value,
        allowed,
    };
    if value > 0.0 && value.is_finite() {
        Ok(())
    } else {
        Err(bad)
    }
}

fn check_voxels(voxels: Option<usize>) -> Result<(), BindError> {
    let Some(voxels) = voxels else {
        return Ok(());
    };
    let bad = BindError::BadOption {
        option: "the number of voxels",
        value: voxels as f64,
        allowed: "between 100 and 2000000",
    };
    if (100..=2_000_000).contains(&voxels) {
        Ok(())
    } else {
        Err(bad)
    }
}

/// Binds a mesh to handles. `joints` is how many joints there are; `progress` is told the share
/// that is done, now and then.
///
/// # Errors
///
/// If there are no handles, two are at the same place or of one joint, one has no bone, is not
/// finite or is of a joint that does not exist, an option is out of its range, or the equations
/// cannot be solved.
pub fn bind(
    mesh: &Mesh,
    handles: &[Handle],
    joints: usize,
    method: &BindMethod,
    progress: &dyn Fn(f64),
) -> Result<Bound, BindError> {
    method.check()?;
    let mut bound = HashSet::new();
    for handle in handles {
        if !bound.insert(handle.joint) {
            return Err(BindError::JointTwice(handle.joint));
        }
        let mut places = handle.bones.iter().flat_map(|bone| [bone.head, bone.tail]);
        if handle.bones.is_empty() {
            return Err(BindError::EmptyHandle(handle.joint));
        }
        if !places.all(|place| place.is_finite()) {
            return Err(BindError::NotFinite(handle.joint));
        }
        if handle.joint >= joints {
            return Err(BindError::Weights(WeightsError::JointOutOfRange {
                vertex: 0,
                joint: handle.joint,
                weight: 1.0,
                joints,
            }));
        }
    }
    check_points(handles)?;
    let mut builder = WeightsBuilder::new(joints)?;
    if handles.is_empty() {
        return Err(BindError::NoHandles);
    }
    let shape = OrientedSurface::of(mesh);
    let holds = Hold::all_of(handles, &shape);
    let mut report = BindReport {
        pieces: shape.pieces.len(),
        ..BindReport::default()
    };
    // A sheet has no inside to be outside of.
    let inside: HashSet<usize> = holds
        .iter()
        .filter(|hold| hold.inside)
        .map(|hold| usize::from(hold.joint))
        .collect();
    if !inside.is_empty() {
        let joints = handles.iter().map(|handle| handle.joint);
        report.outside = joints.filter(|joint| !inside.contains(joint)).collect();
    }
    let (mut rows, bound) = method.rows(&shape, &holds, &mut report, progress)?;
    for (point, row) in rows.iter().enumerate() {
        if bound[shape.piece_of[point] as usize] {
            let sum: f64 = row.iter().map(|(_, share)| share).sum();
            report.partition_error = report.partition_error.max((sum - 1.0).abs());
        }
    }
    followers::follow(&shape, &holds, &mut rows, &bound);
    followers::stiffen_small_pieces(&shape, &holds, &mut rows);
    if *method == BindMethod::Rigid {
        keep_heaviest(&mut rows);
    }
    for row in &mut rows {
        row.retain(|(_, share)| *share > KEPT);
    }
    fill_empty(&shape, &holds, &mut rows);
    for vertex in 0..mesh.vertex_count() {
        builder.push_shares(rows[shape.weld().point_of(vertex)].iter().copied())?;
    }
    report.followers = following(&shape, &bound);
    let weights = builder.finish().0;
    report.tell_unreached(&weights, handles.iter().map(|handle| handle.joint));
    Ok(Bound { weights, report })
}

/// Points that were given one by one must be apart. Joints of a skeleton may share a place: files
/// have such, and one of them is at the top.
fn check_points(handles: &[Handle]) -> Result<(), BindError> {
    let place = |handle: &Handle| match handle.bones[..] {
        [bone] if bone.head == bone.tail && !handle.topmost => Some(bone.head),
        _ => None,
    };
    let Some(places) = handles.iter().map(place).collect::<Option<Vec<DVec3>>>() else {
        return Ok(());
    };
    let same_place = crate::skeleton::same_place(&places);
    // Cubes as wide as that: only those around a place can have another one in the same place.
    let cube = |place: DVec3| match same_place > 0.0 {
        true => (place / same_place).floor().as_i64vec3(),
        false => I64Vec3::ZERO,
    };
    let mut known: HashMap<I64Vec3, Vec<usize>> = HashMap::with_capacity(places.len());
    for (index, &place) in places.iter().enumerate() {
        let own = cube(place);
        let around =
            (0..27).map(|at| own.wrapping_add(I64Vec3::new(at / 9, at / 3 % 3, at % 3) - 1));
        let others = around.filter_map(|cube| known.get(&cube)).flatten();
        let same = others.filter(|other| places[**other].distance(place) <= same_place);
        if let Some(&other) = same.min() {
            let [first, second] = [other, index].map(|at| handles[at].joint);
            return Err(BindError::SamePlace(first, second));
        }
        known.entry(own).or_default().push(index);
    }
    Ok(())
}

impl BindMethod {
    /// Rows for all points of the pieces that are bound, and which pieces those are.
    fn rows(
        &self,
        shape: &OrientedSurface,
        holds: &[Hold],
        report: &mut BindReport,
        progress: &dyn Fn(f64),
    ) -> Result<(Rows, Vec<bool>), BindError> {
        let everything = || vec![true; shape.pieces.len()];
        match self {
            BindMethod::Rigid => {
                let nearest = rigid::nearest_holds(shape, holds);
                let row = |&hold: &u16| vec![(holds[usize::from(hold)].joint, 1.0)];
                Ok((nearest.iter().map(row).collect(), everything()))
            }
            BindMethod::Envelope(options) => {
                let mut rows = envelope::rows(shape, holds, options);
                rows.iter_mut().for_each(|row| normalise(row));
                Ok((rows, everything()))
            }
            BindMethod::Heat(options) => heat::rows(shape, holds, options),
            BindMethod::Geodesic(options) => {
                let cells = Cells::of(shape, holds, options.voxels, usize::MAX);
                let of_cells = |seeds: &[Vec<Seed>], _: &mut BindReport| {
                    geodesic::cell_rows(&cells, holds, seeds, options)
                };
                Ok(over_cells(shape, holds, &cells, report, of_cells))
            }
            BindMethod::BoundedBiharmonic(options) => {
                let most = bounded_biharmonic::most_cells(holds.len());
                let cells = Cells::of(shape, holds, options.voxels, most);
                bounded_biharmonic::check_size(&cells, holds.len())?;
                let of_cells = |seeds: &[Vec<Seed>], report: &mut BindReport| {
                    let (rows, convergence) =
                        bounded_biharmonic::cell_rows(&cells, seeds, options, progress);
                    report.convergence = Some(convergence);
                    rows
                };
                Ok(over_cells(shape, holds, &cells, report, of_cells))
            }
        }
    }
}

/// Rows for all points from rows for cells, by hold.
fn over_cells(
    shape: &OrientedSurface,
    holds: &[Hold],
    cells: &Cells,
    report: &mut BindReport,
    cell_rows: impl FnOnce(&[Vec<Seed>], &mut BindReport) -> Rows,
) -> (Rows, Vec<bool>) {
    let seeds = cells.seeds(shape, holds);
    report.voxels = cells.voxels;
    report.cells = cells.places.len();
    report.voxel_size = shape.length_from_unit(cells.size);
    let of_cells = cell_rows(&seeds, report);
    let interpolate = |points: std::ops::Range<usize>| {
        let mut around = Vec::new();
        let mut row = |point: usize| {
            cells.around(shape.points[point], cells.cell_of[point], &mut around);
            let rows = around
                .iter()
                .map(|&(cell, share)| (of_cells[cell as usize].as_slice(), share));
            let row = followers::mixed(rows).into_iter();
            row.map(|(hold, share)| (holds[usize::from(hold)].joint, share))
                .collect::<Vec<_>>()
        };
        points.map(&mut row).collect::<Vec<_>>()
    };
    let rows = exec::map_chunks(shape.points.len(), interpolate);
    let rows: Rows = rows.into_iter().flatten().collect();
    // A piece lies within one component, so its first point tells for all of it.
    let bound = shape
        .pieces
        .iter()
        .map(|piece| !rows[piece.points[0] as usize].is_empty());
    let bound = bound.collect();
    (rows, bound)
}

/// Whatever happened, no point is left without a joint.
fn fill_empty(shape: &OrientedSurface, holds: &[Hold], rows: &mut Rows) {
    if rows.iter().any(Vec::is_empty) {
        let nearest = rigid::nearest_holds(shape, holds);
        for (row, nearest) in rows.iter_mut().zip(nearest) {
            if row.is_empty() {
                row.push((holds[usize::from(nearest)].joint, 1.0));
            }
        }
    }
}

fn normalise(row: &mut [(u16, f64)]) {
    let sum: f64 = row.iter().map(|(_, share)| share).sum();
    row.iter_mut().for_each(|(_, share)| *share /= sum);
}

/// The heaviest joint of every row alone; of equal ones the lowest.
fn keep_heaviest(rows: &mut Rows) {
    for row in rows {
        let heaviest = row.iter().copied().reduce(|best, next| {
            let heavier = next.1 > best.1 || (next.1 == best.1 && next.0 < best.0);
            if heavier { next } else { best }
        });
        row.clear();
        row.extend(heaviest.map(|(joint, _)| (joint, 1.0)));
    }
}

fn following(shape: &OrientedSurface, bound: &[bool]) -> Vec<Follower> {
    let mut first_vertex = vec![usize::MAX; shape.points.len()];
    for (vertex, point) in shape.weld().points().enumerate().rev() {
        first_vertex[point] = vertex;
    }
    let pieces = shape.pieces.iter().zip(bound).filter(|(_, bound)| !**bound);
    pieces
        .map(|(piece, _)| Follower {
            vertex: first_vertex[piece.points[0] as usize],
            points: piece.points.len(),
        })
        .collect()
}
