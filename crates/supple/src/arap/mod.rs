//! Surfaces that stay as rigid as their handles let them.
//!
//! `arap-point-handles.txt`, §3.1: linear blending says where the points near each handle go (those
//! whose largest weight is above a threshold `l`) and gives a first guess of all others, which then
//! move to where the surface is stretched and bent the least: the minimum of eq. (1), found by
//! fitting rotations and solving for positions in turn. At last the points near handles, which were
//! given, are smoothed into their surroundings by eq. (2).
//!
//! The sparse matrix is ordered once per surface and factored once per choice of handles; frames
//! and iterations reuse it. Handles are switched on and off by [`Arap::set_active`], which factors
//! the numbers anew in the order that is known.

mod surface;
#[cfg(test)]
mod tests;
mod turns;

pub use turns::{RotationMean, TurnError, handle_palette, turns};

use crate::mesh::Mesh;
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

/// How a surface is kept rigid.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ArapOptions {
    /// Rounds of rotations and positions, at most; the paper's experiments have three. With a
    /// tolerance, [`ArapOptions::MOST_BY_TOLERANCE`] lets it decide.
    pub iterations: usize,
    /// `l`: a point is held by its heaviest handle if its weight is above this. The paper has 0.95
    /// for a body and 0.98 for a hand.
    pub threshold: f64,
    /// Whether a handle that has no weight above the threshold anywhere holds the points where it
    /// has its most, of those where it is the heaviest. The paper's rule alone leaves it out. One
    /// that is nowhere the heaviest holds nothing either way, and only counts in the first
    /// guess.
    pub every_handle: bool,
    /// Ends the rounds early: once no point moves farther than this share of the surface's extent.
    /// Zero does all of them.
    pub tolerance: f64,
    /// What is done to points near handles in the end.
    pub smoothing: HandleSmoothing,
    /// Starts from what the frame before came to, not from linear blending alone: fewer rounds do
    /// as much where motion is slow.
    pub follow: bool,
}

impl ArapOptions {
    /// The paper's.
    pub const DEFAULT: ArapOptions = ArapOptions {
        iterations: 3,
        threshold: 0.95,
        every_handle: true,
        tolerance: 0.0,
        smoothing: HandleSmoothing::Detailed,
        follow: false,
    };

    /// As many rounds as a tolerance alone has on the command line, at most: a fifth of a second at
    /// 10,000 vertices. Who wants more gives a number.
    pub const MOST_BY_TOLERANCE: usize = 100;

    /// Whether the numbers make sense.
    pub(crate) fn check(&self) -> Result<(), ArapError> {
        let bad = |option, value, allowed| ArapError::BadOption {
            option,
            value,
            allowed,
        };
        if !(0.0..1.0).contains(&self.threshold) {
            let allowed = "at least 0 and below 1";
            return Err(bad("the threshold l", self.threshold, allowed));
        }
        if !(self.tolerance >= 0.0 && self.tolerance.is_finite()) {
            return Err(bad("the tolerance", self.tolerance, "at least 0"));
        }
        if self.iterations > MOST_ITERATIONS {
            let allowed = "at most 10000";
            return Err(bad("iterations", self.iterations as f64, allowed));
        }
        Ok(())
    }
}

/// On the command line: words after colons, `arap:10:l=0.9:follow`.
impl ArapOptions {
    pub(crate) const KNOWN_WORDS: &str = "a number of rounds, l=THRESHOLD, tolerance=SHARE, \
                                          strict, unsmoothed, plain, follow, with colons between \
                                          them";

    /// The paper's options with what some words say, sensible or not. A tolerance without a number
    /// of rounds has as many as it takes, up to [`ArapOptions::MOST_BY_TOLERANCE`].
    pub(crate) fn from_words(words: &str) -> Result<ArapOptions, WordFault<'_>> {
        let mut options = ArapOptions::DEFAULT;
        let mut said: Vec<(About, &str)> = Vec::new();
        for word in words.split(':') {
            let about = options.take_word(word).ok_or(WordFault::Unknown)?;
            if let Some(&(_, before)) = said.iter().find(|(known, _)| *known == about) {
                return Err(WordFault::Both(before, word));
            }
            said.push((about, word));
        }
        let rounds_are_said = said.iter().any(|(about, _)| *about == About::Rounds);
        if options.tolerance > 0.0 && !rounds_are_said {
            options.iterations = ArapOptions::MOST_BY_TOLERANCE;
        }
        Ok(options)
    }

    /// Does as a word says, and tells what it is about.
    fn take_word(&mut self, word: &str) -> Option<About> {
        let about = match word.split_once('=') {
            Some(("l", number)) => {
                self.threshold = number.parse().ok()?;
                About::Threshold
            }
            Some(("tolerance", number)) => {
                self.tolerance = number.parse().ok()?;
                About::Tolerance
            }
            Some(_) => return None,
            None => match word {
                "strict" => {
                    self.every_handle = false;
                    About::EveryHandle
                }
                "follow" => {
                    self.follow = true;
                    About::Following
                }
                "plain" => {
                    self.smoothing = HandleSmoothing::Plain;
                    About::Smoothing
                }
                "unsmoothed" => {
                    self.smoothing = HandleSmoothing::None;
                    About::Smoothing
                }
                number => {
                    self.iterations = number.parse().ok()?;
                    About::Rounds
                }
            },
        };
        Some(about)
    }

    /// The words that tell these options from the paper's; `None` if they are the paper's.
    pub(crate) fn words(&self) -> Option<String> {
        let usual = ArapOptions::DEFAULT;
        let mut words = Vec::new();
        let unsaid = match self.tolerance > 0.0 {
            true => ArapOptions::MOST_BY_TOLERANCE,
            false => usual.iterations,
        };
        if self.iterations != unsaid {
            words.push(self.iterations.to_string());
        }
        if self.threshold != usual.threshold {
            words.push(format!("l={}", self.threshold));
        }
        if self.tolerance != usual.tolerance {
            words.push(format!("tolerance={}", self.tolerance));
        }
        if !self.every_handle {
            words.push("strict".to_owned());
        }
        match self.smoothing {
            HandleSmoothing::None => words.push("unsmoothed".to_owned()),
            HandleSmoothing::Plain => words.push("plain".to_owned()),
            HandleSmoothing::Detailed => {}
        }
        if self.follow {
            words.push("follow".to_owned());
        }
        (!words.is_empty()).then(|| words.join(":"))
    }
}

/// What a word is about: each thing may be said once.
#[derive(Clone, Copy, PartialEq, Eq)]
enum About {
    Rounds,
    Threshold,
    Tolerance,
    EveryHandle,
    Smoothing,
    Following,
}

/// Why words make no options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WordFault<'w> {
    /// One of them is none that is known.
    Unknown,
    /// Two say the same thing, or contradict each other.
    Both(&'w str, &'w str),
}

impl Default for ArapOptions {
    fn default() -> ArapOptions {
        ArapOptions::DEFAULT
    }
}

const MOST_ITERATIONS: usize = 10_000;

/// What happens to the points near handles, which were given, so that the surface may have a crease
/// around them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum HandleSmoothing {
    /// Nothing.
    None,
    /// Eq. (2) as it stands: each goes to the mean of its neighbours. Details near handles are
    /// flattened even at rest.
    Plain,
    /// Eq. (2) for what the pose adds: each goes to where its neighbours would have it, with the
    /// details of the rest surface turned along. A surface at rest stays at rest.
    #[default]
    Detailed,
}

/// Why a surface could not be prepared.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum ArapError {
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
    /// A handle that is not there.
    #[error("there is no handle {handle}: there are {handles}")]
    NoHandle {
        /// Which one.
        handle: usize,
        /// How many there are.
        handles: usize,
    },
    /// Sizes that do not fit.
    #[error("{what}: {found}, but the surface has {expected}")]
    SizeMismatch {
        /// What was of the wrong size.
        what: &'static str,
        /// Its size.
        found: usize,
        /// The size that fits.
        expected: usize,
    },
    /// The equations could not be solved.
    #[error("the surface could not be made rigid: {0}")]
    Unsolvable(String),
    /// Weights that cannot be averaged over seams.
    #[error(transparent)]
    Weights(#[from] WeightsError),
}

impl From<SparseError> for ArapError {
    fn from(error: SparseError) -> ArapError {
        ArapError::Unsolvable(error.to_string())
    }
}

/// A surface, its handles, and which of them are on.
#[derive(Clone, Debug)]
pub struct Arap {
    surface: Arc<RigidSurface>,
    weld: Arc<Weld>,
    /// Of vertices; those of one point have the same.
    weights: Arc<Weights>,
    /// A vertex of each point.
    vertex_of: Arc<Vec<u32>>,
    handles: usize,
    active: Vec<bool>,
    /// The handle that says where a point goes, if one does.
    holder: Vec<Option<u16>>,
    /// Points that linear blending moves: those with a holder, and all of pieces that have none.
    held: Vec<bool>,
    factor: Arc<Cholesky>,
    options: ArapOptions,
    extent: f64,
}

/// What a frame needs, and what the frame before left. Any surface may use any state.
#[derive(Clone, Debug, Default)]
pub struct ArapState {
    /// Where linear blending takes every point.
    pub(crate) blended: Vec<DVec3>,
    /// What each handle does.
    maps: Vec<DAffine3>,
    /// How each handle turns.
    pub(crate) handle_turns: Vec<DMat3>,
    /// Where the energy takes it.
    places: Vec<DVec3>,
    solved: Vec<DVec3>,
    pub(crate) rotations: Vec<DMat3>,
    /// How linear blending turns points.
    of_blended: Vec<DMat3>,
    /// How rounds turned them further in the last frame, seen from the rest surface.
    further: Vec<DMat3>,
    /// Where points end up, smoothed.
    pub(crate) smoothed: Vec<DVec3>,
    scratch: Vec<[f64; 4]>,
}

impl ArapState {
    /// Forgets how the frame before turned points: the next one does not follow it.
    pub fn start_afresh(&mut self) {
        self.further.clear();
    }
}

/// A piece of the surface that no handle holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct LoosePiece {
    /// A vertex of it.
    pub vertex: usize,
    /// How many points it has.
    pub points: usize,
}

/// What is worth knowing about the handles of a surface.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct ArapReport {
    /// How many points each handle holds.
    pub held: Vec<usize>,
    /// Handles that are on, have some weight and hold no point: nowhere is theirs the largest
    /// weight, or none above the threshold where that is all that counts. Joints without any
    /// weight, as most skeletons have, move nothing by any method.
    pub idle: Vec<usize>,
    /// Pieces that no handle holds: they move by linear blending alone.
    pub loose: Vec<LoosePiece>,
}

impl Arap {
    /// Prepares a character whose joints serve as handles, all of them on.
    ///
    /// # Errors
    ///
    /// If an option is out of its range, or the equations cannot be solved.
    pub fn new(rig: &Rig, options: &ArapOptions) -> Result<Arap, ArapError> {
        let joints = rig.skeleton().joints().len();
        Arap::of(rig.mesh(), rig.weights(), joints, options)
    }

    /// Prepares a mesh with weights of so many handles.
    ///
    /// # Errors
    ///
    /// If mesh and weights differ in their number of vertices, the weights name more handles, an
    /// option is out of its range, or the equations cannot be solved.
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

    /// Switches a handle on or off: whether it says where the points near it go. Its weights stay
    /// in the first guess.
    ///
    /// # Errors
    ///
    /// If there is no such handle, or the equations cannot be solved.
    pub fn set_active(&mut self, handle: usize, active: bool) -> Result<(), ArapError> {
        self.set_active_many([(handle, active)])
    }

    /// Switches several handles, factoring once for all of them; on an error all stay as they were.
    ///
    /// # Errors
    ///
    /// If there is no such handle, or the equations cannot be solved.
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

    /// Whether a handle is on.
    pub fn is_active(&self, handle: usize) -> bool {
        self.active.get(handle).copied().unwrap_or(false)
    }

    /// The number of vertices.
    pub fn vertex_count(&self) -> usize {
        self.weld.points().len()
    }

    /// Which handles hold what.
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

    /// Where the vertices go for a map of each handle. The state is for the next frame.
    ///
    /// # Errors
    ///
    /// If there is not one map per handle and one position per vertex, or a map is not finite.
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

    /// The energy of eq. (1) for a map of each handle: of the first guess, and after each round.
    ///
    /// # Errors
    ///
    /// If there is not one map per handle, or a map is not finite.
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

    /// Whether a surface that moves as a whole keeps its shape.
    pub(crate) fn keeps_what_is_rigid(&self) -> bool {
        self.options.smoothing != HandleSmoothing::Plain
    }

    pub(crate) fn weld(&self) -> &Weld {
        &self.weld
    }

    pub(crate) fn weights(&self) -> &Weights {
        &self.weights
    }

    /// The places of all points at rest.
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

    /// From `state.blended` and a rest surface to rotations and smoothed places.
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

    /// The first guess: linear blending, turned further as far as the last frame was.
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

    /// New places for the rotations, and new rotations for the places. How far a point moved at
    /// most.
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

    /// New rotations for the places. A patch that tells none turns as its heaviest handle does.
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

    /// Eq. (2), for the points that were given.
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

/// Beside its greatest weight, a handle that holds nothing by the threshold holds where it has at
/// least this share of it.
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

/// Points that are given: those with a holder, and all of pieces that have none, since nothing else
/// says where these are.
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
