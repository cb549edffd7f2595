//! Automatic weights: binds any mesh to the bones inside of it, with a choice of methods.
//!
//! Every method gives complete weights on any surface. Pieces without a bone (a button, a jacket, a
//! ball in front of the face) follow the nearest bound surface, and the [`BindReport`] lists joints
//! without vertices.

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
use crate::option_error::{OptionError, check_option};
use crate::weights::{Weights, WeightsBuilder, WeightsError, heaviest_influence};
use cells::{Cells, Seed};
use glam::{DVec3, I64Vec3};
use handles::Hold;
use oriented_surface::OrientedSurface;
use std::collections::{HashMap, HashSet};
use thiserror::Error;

/// Method of computing weights.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum BindMethod {
    /// Each vertex follows the nearest bone alone.
    Rigid,
    /// Capsules around bones, with a falloff.
    Envelope(EnvelopeOptions),
    /// Bone heat: heat from the nearest visible bone, diffused over the surface.
    Heat(HeatOptions),
    /// Geodesic voxel weights: distances through the inside of the body.
    Geodesic(GeodesicOptions),
    /// Bounded biharmonic weights: the smoothest weights within bounds, over the inside of the
    /// body.
    BoundedBiharmonic(BoundedBiharmonicOptions),
}

impl BindMethod {
    /// Every method with its default options.
    pub fn all() -> [BindMethod; 5] {
        [
            BindMethod::Rigid,
            BindMethod::Envelope(EnvelopeOptions::default()),
            BindMethod::Heat(HeatOptions::default()),
            BindMethod::Geodesic(GeodesicOptions::default()),
            BindMethod::BoundedBiharmonic(BoundedBiharmonicOptions::default()),
        ]
    }

    /// The name on the command line.
    pub fn name(&self) -> &'static str {
        match self {
            BindMethod::Rigid => "rigid",
            BindMethod::Envelope(_) => "envelope",
            BindMethod::Heat(_) => "heat",
            BindMethod::Geodesic(_) => "geodesic",
            BindMethod::BoundedBiharmonic(_) => "bbw",
        }
    }

    /// A summary in one line.
    pub fn summary(&self) -> &'static str {
        match self {
            BindMethod::Rigid => "each vertex follows the nearest bone alone",
            BindMethod::Envelope(_) => "capsules around bones, fitted to the body, with a falloff",
            BindMethod::Heat(_) => "heat from the nearest visible bone, diffused over the surface",
            BindMethod::Geodesic(_) => "distances to bones through the inside of the body",
            BindMethod::BoundedBiharmonic(_) => "bounded biharmonic weights, the smoothest of all",
        }
    }

    fn check(&self) -> Result<(), OptionError> {
        match self {
            BindMethod::Rigid => Ok(()),
            BindMethod::Envelope(options) => options.check(),
            BindMethod::Heat(options) => options.check(),
            BindMethod::Geodesic(options) => options.check(),
            BindMethod::BoundedBiharmonic(options) => options.check(),
        }
    }
}

/// Error from binding.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum BindError {
    /// There is no joint to bind to.
    #[error("there is no joint to bind to")]
    NoHandles,
    /// A handle has no bone.
    #[error("the handle of joint {0} has no bone and no point")]
    EmptyHandle(usize),
    /// A joint has two handles.
    #[error("joint {0} has two handles; one handle may have several bones")]
    JointTwice(usize),
    /// A vertex is in no group.
    #[error("vertex {0} is in no bind group")]
    InNoGroup(usize),
    /// A group names a vertex that does not exist.
    #[error("a group names vertex {vertex}, but the mesh has {vertices} vertices")]
    NoSuchVertex {
        /// The vertex.
        vertex: usize,
        /// The number of vertices.
        vertices: usize,
    },
    /// A group names a joint that does not exist.
    #[error("a group names joint {joint}, but the skeleton has {joints} joints")]
    NoSuchJoint {
        /// The joint.
        joint: usize,
        /// The number of joints.
        joints: usize,
    },
    /// A bone is not finite.
    #[error("a bone of joint {0} is not finite")]
    NotFinite(usize),
    /// Two points are at the same position, so each would have to hold all of it.
    #[error("the points of joints {0} and {1} are at the same position")]
    SamePlace(usize, usize),
    /// An option is out of range.
    #[error(transparent)]
    Option(#[from] OptionError),
    /// The heat equation could not be solved: the surface is too large for the memory, or its
    /// numbers are too large.
    #[error("the heat equation over this surface could not be solved")]
    Solver,
    /// Bounded biharmonic weights with too many joints and cells.
    #[error(
        "bounded biharmonic weights of {joints} joints over {cells} cells are too many: joints \
         times cells may be at most {most}"
    )]
    TooLarge {
        /// The number of joints that hold something.
        joints: usize,
        /// The number of voxels and patches.
        cells: usize,
        /// The largest product of the two.
        most: usize,
    },
    /// The result is no valid set of weights.
    #[error(transparent)]
    Weights(#[from] WeightsError),
}

/// Weights with a report.
#[derive(Clone, Debug, PartialEq)]
pub struct Bound {
    /// The weights.
    pub weights: Weights,
    /// Details of the binding.
    pub report: BindReport,
}

/// Report of a binding.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct BindReport {
    /// Joints without vertices.
    pub unreached: Vec<usize>,
    /// Joints whose bones are outside of the body although others are inside.
    pub outside: Vec<usize>,
    /// The number of connected pieces of the surface.
    pub pieces: usize,
    /// Pieces that no bone holds and that follow others.
    pub followers: Vec<Follower>,
    /// The largest difference from one of a vertex's sum of weights before normalisation.
    pub partition_error: f64,
    /// The number of voxels inside the body, for methods that use them.
    pub voxels: usize,
    /// The number of cells: voxels, and patches of surface too thin for voxels.
    pub cells: usize,
    /// The width of a voxel, in the model's unit.
    pub voxel_size: f64,
    /// The convergence of bounded biharmonic weights.
    pub convergence: Option<Convergence>,
}

/// A piece of the surface that follows others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Follower {
    /// Its first vertex.
    pub vertex: usize,
    /// The number of its points.
    pub points: usize,
}

impl BindReport {
    /// Lists which of some joints hold no vertex.
    fn list_unreached(&mut self, weights: &Weights, joints: impl Iterator<Item = usize>) {
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
type JointShares = Vec<Vec<(u16, f64)>>;

/// Weights below this share are not carried through the computation, to save memory.
const LEAST: f64 = 1e-6;

/// Weights below this share are dropped from the result.
const KEPT: f64 = 1e-4;

/// A joint without any weight above this holds no vertex.
const HOLDS: f32 = 1e-3;

fn check_positive(option: &'static str, value: f64) -> Result<(), OptionError> {
    check_option(
        value > 0.0 && value.is_finite(),
        option,
        value,
        "above zero",
    )
}

fn check_voxels(voxels: Option<usize>) -> Result<(), OptionError> {
    let Some(voxels) = voxels else {
        return Ok(());
    };
    check_option(
        (100..=2_000_000).contains(&voxels),
        "the number of voxels",
        voxels as f64,
        "between 100 and 2000000",
    )
}

/// Binds a mesh to handles. `joints` is the number of joints; `progress` is called now and then
/// with the finished share.
///
/// # Errors
///
/// Fails if there are no handles, two are at the same position or of one joint, one has no bone, is
/// not finite or names a joint that does not exist, an option is out of range, or the equations
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
    // A sheet has no inside.
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
    report.list_unreached(&weights, handles.iter().map(|handle| handle.joint));
    Ok(Bound { weights, report })
}

/// Checks that given points are apart. Joints of a skeleton may share a position: some files have
/// such joints.
fn check_points(handles: &[Handle]) -> Result<(), BindError> {
    let place = |handle: &Handle| match handle.bones[..] {
        [bone] if bone.head == bone.tail && !handle.topmost => Some(bone.head),
        _ => None,
    };
    let Some(places) = handles.iter().map(place).collect::<Option<Vec<DVec3>>>() else {
        return Ok(());
    };
    let same_place = crate::skeleton::same_place(&places);
    // Cubes of the width of that distance: only adjacent cubes can contain another point at the
    // same position.
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
    /// Rows for all points of the bound pieces, and which pieces those are.
    fn rows(
        &self,
        shape: &OrientedSurface,
        holds: &[Hold],
        report: &mut BindReport,
        progress: &dyn Fn(f64),
    ) -> Result<(JointShares, Vec<bool>), BindError> {
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

/// Rows of all points from rows of cells, by hold.
fn over_cells(
    shape: &OrientedSurface,
    holds: &[Hold],
    cells: &Cells,
    report: &mut BindReport,
    cell_rows: impl FnOnce(&[Vec<Seed>], &mut BindReport) -> JointShares,
) -> (JointShares, Vec<bool>) {
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
    let rows: JointShares = rows.into_iter().flatten().collect();
    // A piece lies within one component, so its first point decides for all of it.
    let bound = shape
        .pieces
        .iter()
        .map(|piece| !rows[piece.points[0] as usize].is_empty());
    let bound = bound.collect();
    (rows, bound)
}

/// Gives every remaining point without a joint its nearest one.
fn fill_empty(shape: &OrientedSurface, holds: &[Hold], rows: &mut JointShares) {
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

/// Keeps only the heaviest joint of every row; the lowest joint wins ties.
fn keep_heaviest(rows: &mut JointShares) {
    for row in rows {
        let heaviest = heaviest_influence(row);
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
