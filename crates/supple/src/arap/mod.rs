//! As-rigid-as-possible (ARAP) deformation of a surface by handles.
//!
//! `arap-point-handles.txt`, §3.1. Linear blending places the points near each handle (those whose
//! largest weight is above a threshold `l`) and gives a first guess for all other points. These
//! then move to where the surface is stretched and bent least: the minimum of eq. (1), found by
//! alternately fitting rotations and solving for positions. Finally the points near handles are
//! smoothed into their surroundings by eq. (2).
//!
//! The sparse matrix is ordered once per surface and factored once per set of active handles;
//! frames and iterations reuse it. [`Arap::set_active`] switches handles on and off, and factors
//! the matrix again in the same order.

mod surface;
#[cfg(test)]
mod tests;
mod turns;

pub use turns::{RotationMean, TurnError, handle_palette, turns};

use crate::mesh::Mesh;
use crate::option_error::{OptionError, check_option};
use crate::polar::Polar;
use crate::pose::Palette;
use crate::rig::Rig;
use crate::sparse::{Cholesky, SparseError};
use crate::surface::Weld;
use crate::weights::{Weights, WeightsError, closed_over_seams, weld_bound};
use glam::{DAffine3, DMat3, DVec3, Vec3};
use std::sync::Arc;
use surface::RigidSurface;
use thiserror::Error;

/// Options of as-rigid-as-possible deformation.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(default)
)]
pub struct ArapOptions {
    /// The largest number of rounds, each of which updates rotations and positions; the paper's
    /// experiments use three. With a tolerance, 100 is a sensible limit: a fifth of a second at
    /// 10,000 vertices.
    pub iterations: usize,
    /// `l`: a point is held by its heaviest handle if its weight is above this threshold. The paper
    /// uses 0.95 for a body and 0.98 for a hand.
    pub threshold: f64,
    /// If true, a handle without a weight above the threshold holds the points where its weight is
    /// largest, among those where it is the heaviest handle; the paper's rule alone ignores such a
    /// handle. A handle that is the heaviest at no point holds nothing either way, and only
    /// contributes to the first guess.
    pub every_handle: bool,
    /// Stops early, once no point moves farther than this share of the surface's extent. Zero
    /// always does all rounds.
    pub tolerance: f64,
    /// Smoothing of points near handles at the end of a frame.
    pub smoothing: HandleSmoothing,
    /// If true, starts from the result of the last frame instead of linear blending alone: fewer
    /// rounds suffice where motion is slow.
    pub follow: bool,
}

impl ArapOptions {
    /// The options of the paper.
    pub(crate) const DEFAULT: ArapOptions = ArapOptions {
        iterations: 3,
        threshold: 0.95,
        every_handle: true,
        tolerance: 0.0,
        smoothing: HandleSmoothing::Detailed,
        follow: false,
    };

    /// Checks that all options are in range.
    ///
    /// # Errors
    ///
    /// Fails if an option is out of range.
    pub fn check(&self) -> Result<(), OptionError> {
        check_option(
            (0.0..1.0).contains(&self.threshold),
            "the threshold l",
            self.threshold,
            "at least 0 and below 1",
        )?;
        check_option(
            self.tolerance >= 0.0 && self.tolerance.is_finite(),
            "the tolerance",
            self.tolerance,
            "at least 0",
        )?;
        check_option(
            self.iterations <= MOST_ITERATIONS,
            "the number of iterations",
            self.iterations as f64,
            "at most 10000",
        )
    }
}

impl Default for ArapOptions {
    fn default() -> ArapOptions {
        ArapOptions::DEFAULT
    }
}

const MOST_ITERATIONS: usize = 10_000;

/// Smoothing of the points near handles. Their positions are prescribed, so without it the surface
/// may have a crease around them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum HandleSmoothing {
    /// No smoothing.
    None,
    /// Eq. (2) as written: each point moves to the mean of its neighbours. Details near handles are
    /// flattened even at rest.
    Plain,
    /// Eq. (2) applied to the change from the rest pose: details of the rest surface are kept and
    /// rotate along. A surface at rest stays at rest.
    #[default]
    Detailed,
}

/// Error from preparing or deforming a surface.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum ArapError {
    /// An option is out of range.
    #[error(transparent)]
    Option(#[from] OptionError),
    /// A handle that does not exist.
    #[error("there is no handle {handle}: there are {handles}")]
    NoHandle {
        /// The handle.
        handle: usize,
        /// The number of handles.
        handles: usize,
    },
    /// A size that does not fit the surface.
    #[error("{what}: {found}, but the surface has {expected}")]
    SizeMismatch {
        /// The array of the wrong size.
        what: &'static str,
        /// Its size.
        found: usize,
        /// The expected size.
        expected: usize,
    },
    /// The equations could not be solved.
    #[error("the equations of the rigid surface could not be solved: {0}")]
    Unsolvable(String),
    /// The weights cannot be averaged over seams.
    #[error(transparent)]
    Weights(#[from] WeightsError),
}

impl From<SparseError> for ArapError {
    fn from(error: SparseError) -> ArapError {
        ArapError::Unsolvable(error.to_string())
    }
}

/// A surface prepared for as-rigid-as-possible deformation, with its active handles.
#[derive(Clone, Debug)]
pub struct Arap {
    surface: Arc<RigidSurface>,
    weld: Arc<Weld>,
    /// The weights of vertices; vertices at one point have the same.
    weights: Arc<Weights>,
    /// One vertex of each point.
    vertex_of: Arc<Vec<u32>>,
    handles: usize,
    active: Vec<bool>,
    /// The handle that holds a point, if any.
    holder: Vec<Option<u16>>,
    /// Points placed by linear blending: those with a holder, and all points of pieces without any.
    held: Vec<bool>,
    factor: Arc<Cholesky>,
    options: ArapOptions,
    extent: f64,
}

/// Scratch buffers, and the rotations of the last frame. Any surface can use any state.
#[derive(Clone, Debug, Default)]
pub struct ArapState {
    /// Every point, placed by linear blending.
    pub(crate) blended: Vec<DVec3>,
    /// The map of each handle.
    maps: Vec<DAffine3>,
    /// The rotation of each handle.
    pub(crate) handle_turns: Vec<DMat3>,
    /// The positions that minimise the energy.
    places: Vec<DVec3>,
    solved: Vec<DVec3>,
    pub(crate) rotations: Vec<DMat3>,
    /// The rotation of each point under linear blending.
    of_blended: Vec<DMat3>,
    /// The rotation of each point beyond linear blending in the last frame, in the rest frame.
    further: Vec<DMat3>,
    /// The final positions, after smoothing.
    pub(crate) smoothed: Vec<DVec3>,
    scratch: Vec<[f64; 4]>,
}

impl ArapState {
    /// Forgets the rotations of the last frame: the next frame does not continue it.
    pub(crate) fn start_afresh(&mut self) {
        self.further.clear();
    }
}

/// A connected piece of the surface that no handle holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct LoosePiece {
    /// One of its vertices.
    pub vertex: usize,
    /// The number of its points.
    pub points: usize,
}

/// Report on which points each handle holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct ArapReport {
    /// The number of points that each handle holds.
    pub held: Vec<usize>,
    /// Active handles that have some weight but hold no point, because their weight is the largest
    /// at no point, or never above the threshold. Joints without any weight, which most skeletons
    /// have, are not listed.
    pub idle: Vec<usize>,
    /// Pieces that no handle holds; they move by linear blending alone.
    pub loose: Vec<LoosePiece>,
}

impl Arap {
    /// Prepares a character whose joints serve as handles. All handles are active.
    ///
    /// # Errors
    ///
    /// Fails if an option is out of range, or the equations cannot be solved.
    pub fn new(rig: &Rig, options: &ArapOptions) -> Result<Arap, ArapError> {
        let joints = rig.skeleton().joints().len();
        Arap::of(rig.mesh(), rig.weights(), joints, options)
    }

    /// Prepares a mesh with weights for a number of handles. All handles are active.
    ///
    /// # Errors
    ///
    /// Fails if mesh and weights differ in their number of vertices, the weights name more handles,
    /// an option is out of range, or the equations cannot be solved.
    pub fn of(
        mesh: &Mesh,
        weights: &Weights,
        handles: usize,
        options: &ArapOptions,
    ) -> Result<Arap, ArapError> {
        options.check()?;
        if weights.vertex_count() != mesh.vertex_count() {
            return Err(ArapError::SizeMismatch {
                what: "vertices with weights",
                found: weights.vertex_count(),
                expected: mesh.vertex_count(),
            });
        }
        if let Some(handle) = weights.max_joint().filter(|&joint| joint >= handles) {
            return Err(ArapError::NoHandle { handle, handles });
        }
        let weights = closed_over_seams(mesh, weights)?;
        let weld = weld_bound(mesh.positions(), &weights);
        let extent = mesh.extent();
        let extent = f64::from(extent);
        let surface = RigidSurface::of(mesh, &weld, extent)?;
        let active = vec![true; handles];
        let vertex_of = weld.first_vertices();
        let holder = holders(&weights, &vertex_of, &active, options);
        let held = held(&surface, &holder);
        Ok(Arap {
            factor: Arc::new(surface.factor(&held)?),
            surface: Arc::new(surface),
            weld: Arc::new(weld),
            weights: Arc::new(weights),
            vertex_of: Arc::new(vertex_of),
            handles,
            active,
            holder,
            held,
            options: options.clone(),
            extent,
        })
    }

    /// Activates or deactivates a handle. An inactive handle holds no points; its weights still
    /// contribute to the first guess.
    ///
    /// # Errors
    ///
    /// Fails if there is no such handle, or the equations cannot be solved.
    pub fn set_active(&mut self, handle: usize, active: bool) -> Result<(), ArapError> {
        self.set_active_many([(handle, active)])
    }

    /// Activates or deactivates several handles with a single factorisation. If it fails, nothing
    /// changes.
    ///
    /// # Errors
    ///
    /// Fails if there is no such handle, or the equations cannot be solved.
    pub fn set_active_many(
        &mut self,
        switches: impl IntoIterator<Item = (usize, bool)>,
    ) -> Result<(), ArapError> {
        let handles = self.handles;
        let mut active = self.active.clone();
        for (handle, is_on) in switches {
            let switch = active.get_mut(handle);
            *switch.ok_or(ArapError::NoHandle { handle, handles })? = is_on;
        }
        if active == self.active {
            return Ok(());
        }
        let holder = holders(&self.weights, &self.vertex_of, &active, &self.options);
        let held = held(&self.surface, &holder);
        if held != self.held {
            self.factor = Arc::new(self.surface.factor(&held)?);
            self.held = held;
        }
        self.active = active;
        self.holder = holder;
        Ok(())
    }

    /// The number of vertices.
    pub fn vertex_count(&self) -> usize {
        self.weld.points().len()
    }

    /// Reports which points each handle holds.
    pub fn report(&self) -> ArapReport {
        let mut report = ArapReport {
            held: vec![0; self.handles],
            ..ArapReport::default()
        };
        let mut loose: Vec<Option<LoosePiece>> = vec![None; self.surface.pieces];
        let mut reached = vec![false; self.surface.pieces];
        for (point, holder) in self.holder.iter().enumerate() {
            let piece = self.surface.piece_of[point] as usize;
            match holder {
                Some(handle) => {
                    report.held[usize::from(*handle)] += 1;
                    reached[piece] = true;
                }
                None => {
                    let vertex = self.vertex_of[point] as usize;
                    let piece = loose[piece].get_or_insert(LoosePiece { vertex, points: 0 });
                    piece.points += 1;
                }
            }
        }
        let pieces = loose.into_iter().zip(reached);
        report.loose = pieces
            .filter(|(_, reached)| !reached)
            .filter_map(|(piece, _)| piece)
            .collect();
        let mut weighted = vec![false; self.handles];
        for point in 0..self.holder.len() {
            let (handles, _) = self.row(point);
            handles
                .iter()
                .for_each(|&handle| weighted[usize::from(handle)] = true);
        }
        let idle =
            |&handle: &usize| self.active[handle] && weighted[handle] && report.held[handle] == 0;
        report.idle = (0..self.handles).filter(idle).collect();
        report
    }

    /// Computes the deformed vertices for a map of each handle. `state` is reused by the next
    /// frame.
    ///
    /// # Errors
    ///
    /// Fails unless there is one map per handle and one position per vertex, and all maps are
    /// finite.
    pub fn deform(
        &self,
        palette: &Palette,
        state: &mut ArapState,
        positions: &mut [Vec3],
    ) -> Result<(), ArapError> {
        self.prepare(palette, positions.len(), state)?;
        self.solve(&self.surface.rest, state);
        for (point, position) in self.weld.points().zip(positions) {
            *position = state.smoothed[point].as_vec3();
        }
        Ok(())
    }

    /// Computes the energy of eq. (1) for a map of each handle: of the first guess, and after each
    /// round.
    ///
    /// # Errors
    ///
    /// Fails unless there is one map per handle, and all maps are finite.
    pub fn energies(
        &self,
        palette: &Palette,
        state: &mut ArapState,
    ) -> Result<Vec<f64>, ArapError> {
        self.prepare(palette, self.vertex_count(), state)?;
        let rest = &self.surface.rest;
        self.start(rest, state);
        let energy = |state: &ArapState| self.surface.energy(rest, &state.places, &state.rotations);
        let mut energies = vec![energy(state)];
        for _ in 0..self.options.iterations {
            self.round(rest, state);
            energies.push(energy(state));
        }
        Ok(energies)
    }

    fn prepare(
        &self,
        palette: &Palette,
        vertices: usize,
        state: &mut ArapState,
    ) -> Result<(), ArapError> {
        let sizes = [
            (
                "maps of handles",
                palette.posed_from_bind.len(),
                self.handles,
            ),
            ("vertices", vertices, self.vertex_count()),
        ];
        for (what, found, expected) in sizes {
            if found != expected {
                return Err(ArapError::SizeMismatch {
                    what,
                    found,
                    expected,
                });
            }
        }
        let ArapState {
            maps,
            handle_turns,
            blended,
            ..
        } = state;
        maps.clear();
        maps.extend(palette.posed_from_bind.iter().map(|map| map.to_f64()));
        handle_turns.clear();
        let turns = maps.iter().map(|map| Polar::of(map.matrix3).rotation);
        handle_turns.extend(turns.map(DMat3::from_quat));
        blended.clear();
        for (point, &place) in self.surface.rest.iter().enumerate() {
            let (handles, weights) = self.row(point);
            let images = handles.iter().zip(weights).map(|(&handle, &weight)| {
                maps[usize::from(handle)].transform_point3(place) * f64::from(weight)
            });
            blended.push(images.sum());
        }
        Ok(())
    }

    /// True if rigid motions of the whole surface are reproduced exactly.
    pub(crate) fn preserves_rigid_motions(&self) -> bool {
        self.options.smoothing != HandleSmoothing::Plain
    }

    pub(crate) fn weld(&self) -> &Weld {
        &self.weld
    }

    pub(crate) fn weights(&self) -> &Weights {
        &self.weights
    }

    /// The rest positions of all points.
    pub(crate) fn rest(&self) -> &[DVec3] {
        &self.surface.rest
    }

    pub(crate) fn neighbours(&self, point: usize) -> &[u32] {
        self.surface.neighbours(point)
    }

    /// The handles and weights of a point, heaviest first.
    pub(crate) fn row(&self, point: usize) -> (&[u16], &[f32]) {
        self.weights.row(self.vertex_of[point] as usize)
    }

    /// Solves for rotations and smoothed positions, given `state.blended` and a rest surface.
    pub(crate) fn solve(&self, rest: &[DVec3], state: &mut ArapState) {
        self.start(rest, state);
        for _ in 0..self.options.iterations {
            let moved = self.round(rest, state);
            if moved <= self.options.tolerance * self.extent {
                break;
            }
        }
        if self.options.follow {
            state.further.clear();
            let turned = state.of_blended.iter().zip(&state.rotations);
            state
                .further
                .extend(turned.map(|(blended, rotation)| blended.transpose() * *rotation));
        }
        self.smooth_held(rest, state);
    }

    /// Computes the first guess: linear blending with the additional rotations of the last frame.
    fn start(&self, rest: &[DVec3], state: &mut ArapState) {
        let points = self.surface.point_count();
        state.places.clone_from(&state.blended);
        state.rotations.resize(points, DMat3::IDENTITY);
        self.fit(rest, state);
        if self.options.follow {
            state.of_blended.clone_from(&state.rotations);
            if state.further.len() == points {
                for (rotation, further) in state.rotations.iter_mut().zip(&state.further) {
                    *rotation *= *further;
                }
            }
        }
    }

    /// Updates positions for the rotations, and rotations for the positions. Returns the largest
    /// movement of a point.
    fn round(&self, rest: &[DVec3], state: &mut ArapState) -> f64 {
        let points = self.surface.point_count();
        state.solved.resize(points, DVec3::ZERO);
        self.surface.right_hand_side(
            rest,
            &state.places,
            &state.rotations,
            &self.held,
            &mut state.solved,
        );
        self.factor
            .solve_places(&mut state.solved, &mut state.scratch);
        let moves = state.solved.iter().zip(&state.places);
        let moved = moves.map(|(to, from)| to.distance_squared(*from));
        let moved = moved.fold(0.0, f64::max).sqrt();
        std::mem::swap(&mut state.places, &mut state.solved);
        self.fit(rest, state);
        moved
    }

    /// Updates rotations for the positions. A degenerate patch rotates like its heaviest handle.
    fn fit(&self, rest: &[DVec3], state: &mut ArapState) {
        let ArapState {
            places,
            rotations,
            handle_turns,
            ..
        } = state;
        let of_heaviest = |point: usize| handle_turns[usize::from(self.row(point).0[0])];
        self.surface
            .fit_rotations(rest, places, of_heaviest, rotations);
    }

    /// Applies eq. (2) to the held points.
    fn smooth_held(&self, rest: &[DVec3], state: &mut ArapState) {
        state.smoothed.clone_from(&state.places);
        let detailed = match self.options.smoothing {
            HandleSmoothing::None => return,
            HandleSmoothing::Plain => false,
            HandleSmoothing::Detailed => true,
        };
        let (places, rotations) = (&state.places, &state.rotations);
        for (point, smoothed) in state.smoothed.iter_mut().enumerate() {
            if self.holder[point].is_none() {
                continue;
            }
            let (mut sum, mut total) = (DVec3::ZERO, 0.0);
            for (other, omega) in self.surface.around(point) {
                let mut wanted = places[other];
                if detailed {
                    let edge = rest[point] - rest[other];
                    wanted += (rotations[point] + rotations[other]) * edge * 0.5;
                }
                sum += wanted * omega;
                total += omega;
            }
            if total > 0.0 {
                *smoothed = sum / total;
            }
        }
    }
}

/// A handle that holds nothing by the threshold holds the points where its weight is at least this
/// share of its largest one.
const NEARLY_MOST: f32 = 0.97;

/// The handle of every point whose largest weight is above the threshold, if that handle is on.
fn holders(
    weights: &Weights,
    vertex_of: &[u32],
    active: &[bool],
    options: &ArapOptions,
) -> Vec<Option<u16>> {
    let heaviest = |vertex: u32| {
        let (handles, weights) = weights.row(vertex as usize);
        let heaviest = handles.first().copied().zip(weights.first().copied());
        heaviest.filter(|(handle, _)| active[usize::from(*handle)])
    };
    let mut most = vec![0.0f32; active.len()];
    for (handle, weight) in vertex_of.iter().filter_map(|&vertex| heaviest(vertex)) {
        let most = &mut most[usize::from(handle)];
        *most = most.max(weight);
    }
    let holder = |&vertex: &u32| {
        let (handle, weight) = heaviest(vertex)?;
        let most = most[usize::from(handle)];
        let by_threshold = f64::from(weight) > options.threshold;
        let unheard = f64::from(most) <= options.threshold && options.every_handle;
        (by_threshold || (unheard && weight >= NEARLY_MOST * most)).then_some(handle)
    };
    vertex_of.iter().map(holder).collect()
}

/// The points placed by linear blending: those with a holder, and all points of pieces without any,
/// since nothing else determines these.
fn held(surface: &RigidSurface, holder: &[Option<u16>]) -> Vec<bool> {
    let mut reached = vec![false; surface.pieces];
    for (point, holder) in holder.iter().enumerate() {
        reached[surface.piece_of[point] as usize] |= holder.is_some();
    }
    let points = holder.iter().zip(&surface.piece_of);
    points
        .map(|(holder, &piece)| holder.is_some() || !reached[piece as usize])
        .collect()
}
