//! The smoothed channels of a single joint.
//!
//! `Ψ_ij` for all `i` results from smoothing ten channels (§3.4): at the points of joint `j`, its
//! weight, its weight times the position, and times products of the position. All of it decays away
//! from those points, so only a part of the surface is solved: as far as the variance of the
//! smoothing steps predicts, and farther if values at the border are not small.

use super::{MushOptions, MushSurface};
use crate::exec;
use crate::smoothing::{Domain, Scratch, Smoothing, Steps, Values};
use glam::DVec3;

/// The smoothed channels of a joint at a point, relative to the smoothed position of that point.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gathered {
    pub(super) point: u32,
    pub(super) share: f32,
    pub(super) lever: [f32; 3],
    pub(super) moments: [f32; 6],
}

/// A share of a joint's skinning weights `w'` (eq. 12) at a point.
#[derive(Clone, Copy, Debug)]
pub(super) struct Share {
    pub(super) point: u32,
    pub(super) share: f32,
}

/// The smoothed channels of a joint.
#[derive(Clone, Debug, Default)]
pub(super) struct JointChannels {
    pub(super) gathered: Vec<Gathered>,
    pub(super) shares: Vec<Share>,
}

/// The smallest share to keep, relative to the total pruning tolerance.
const NEGLIGIBLE: f64 = 1e-2;

/// The share at the border of the solved part, relative to the pruning tolerance.
const BORDER: f64 = 5e-3;

/// The rounding of zero, used if nothing may be pruned.
pub(super) const NOTHING: f64 = 1e-12;

/// Smooths the channels of a joint that holds the points `support` with weights. `local` is scratch
/// shared by joints.
pub(super) fn solve(
    surface: &MushSurface,
    options: &MushOptions,
    centers: &[DVec3],
    support: &[(u32, f64)],
    local: &mut LocalNumbers,
) -> JointChannels {
    let smoothing = options.smoothing();
    let negligible = (options.prune * NEGLIGIBLE).max(NOTHING);
    let border = options.prune * BORDER;
    let mut part = Part::new(surface, support, local);
    let moments = part.smooth(&surface.lambda, smoothing, border, moments_about);
    let origin = part.origin;
    let gathered = part.points.iter().zip(&moments);
    let gathered = gathered.filter(|(_, values)| values[0] > negligible);
    let gathered = gathered
        .map(|(&point, values)| about_center(point, values, centers[point as usize] - origin))
        .collect();
    drop(part);
    let mut part = Part::new(surface, support, local);
    let shares = part.smooth(&surface.kappa, smoothing, border, |_, _, weight| [weight]);
    let shares = part.points.iter().zip(&shares);
    let shares = shares.filter(|(_, values)| values[0] > negligible);
    let shares = shares
        .map(|(&point, values)| Share {
            point,
            share: values[0] as f32,
        })
        .collect();
    JointChannels { gathered, shares }
}

/// The first moments of a joint at a point, `w·(1, u)`, relative to the smoothed position of that
/// point.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lever {
    pub(super) point: u32,
    pub(super) values: Values<4>,
}

/// The first moments of a joint that holds the points `support` with weights, where its share is at
/// least `least`.
pub(super) fn levers(
    surface: &MushSurface,
    smoothing: Smoothing,
    centers: &[DVec3],
    support: &[(u32, f64)],
    local: &mut LocalNumbers,
    least: f64,
) -> Vec<Lever> {
    if support.is_empty() {
        return Vec::new();
    }
    let mut part = Part::new(surface, support, local);
    let start = |origin: DVec3, place: DVec3, weight: f64| {
        let DVec3 { x, y, z } = (place - origin) * weight;
        [weight, x, y, z]
    };
    let moments = part.smooth(&surface.lambda, smoothing, 0.5 * least, start);
    let origin = part.origin;
    let held = part.points.iter().zip(&moments);
    let held = held.filter(|(_, values)| values[0] > least);
    let about_center = |(&point, &[share, x, y, z]): (&u32, &Values<4>)| {
        let lever = DVec3::new(x, y, z) - (centers[point as usize] - origin) * share;
        Lever {
            point,
            values: [share, lever.x, lever.y, lever.z],
        }
    };
    held.map(about_center).collect()
}

/// The number of points that [`levers`] solves for all joints, at least.
pub(super) fn reached_points(
    surface: &MushSurface,
    smoothing: Smoothing,
    support: &[Vec<(u32, f64)>],
    least: f64,
) -> usize {
    let lengths = EdgeLengths::new(smoothing, 0.5 * least);
    let reached = exec::map_runs(support.len(), |joints| {
        let mut local = LocalNumbers::none_of(surface);
        let reached = |joint: usize| {
            let mut part = Part::new(surface, &support[joint], &mut local);
            part.grow(&surface.lambda, &lengths, 1.0);
            part.points.len()
        };
        joints.map(reached).sum::<usize>()
    });
    reached.into_iter().sum()
}

/// `w·(1, u, uuᵀ)` about an origin.
fn moments_about(origin: DVec3, place: DVec3, weight: f64) -> Values<10> {
    let DVec3 { x, y, z } = place - origin;
    let products = [1.0, x, y, z, x * x, x * y, x * z, y * y, y * z, z * z];
    products.map(|product| weight * product)
}

/// Moments relative to another position, `shift` away.
fn about_center(point: u32, values: &Values<10>, shift: DVec3) -> Gathered {
    let [share, x, y, z, xx, xy, xz, yy, yz, zz] = *values;
    let first = DVec3::new(x, y, z);
    let lever = first - shift * share;
    // Σ w (u − s)(u − s)ᵀ = Σ w u uᵀ − l sᵀ − s fᵀ, with f = Σ w u and l = f − w s.
    let moment =
        |both: f64, a: usize, b: usize| (both - lever[a] * shift[b] - shift[a] * first[b]) as f32;
    Gathered {
        point,
        share: share as f32,
        lever: lever.as_vec3().to_array(),
        moments: [
            moment(xx, 0, 0),
            moment(xy, 0, 1),
            moment(xz, 0, 2),
            moment(yy, 1, 1),
            moment(yz, 1, 2),
            moment(zz, 2, 2),
        ],
    }
}

/// A part of the surface around the points of a joint.
struct Part<'s> {
    surface: &'s MushSurface,
    support: &'s [(u32, f64)],
    origin: DVec3,
    /// In the order in which they are reached: neighbours are close in memory.
    points: Vec<u32>,
    local: &'s mut LocalNumbers,
}

/// The index within a part of each point of the surface; `OUTSIDE` for points outside. It has the
/// size of the whole surface, so it is allocated once for many joints.
pub(super) struct LocalNumbers(Vec<u32>);

impl LocalNumbers {
    /// Indices for an empty part.
    pub(super) fn none_of(surface: &MushSurface) -> LocalNumbers {
        LocalNumbers(vec![OUTSIDE; surface.point_count()])
    }
}

const OUTSIDE: u32 = u32::MAX;

impl Drop for Part<'_> {
    fn drop(&mut self) {
        self.clear();
    }
}

impl<'s> Part<'s> {
    fn new(
        surface: &'s MushSurface,
        support: &'s [(u32, f64)],
        local: &'s mut LocalNumbers,
    ) -> Part<'s> {
        let places = surface.laplacian.points();
        let sum = support.iter().map(|&(point, _)| places[point as usize]);
        Part {
            surface,
            support,
            origin: sum.sum::<DVec3>() / support.len().max(1) as f64,
            points: Vec::new(),
            local,
        }
    }

    /// Forgets all points.
    fn clear(&mut self) {
        for point in self.points.drain(..) {
            self.local.0[point as usize] = OUTSIDE;
        }
    }

    /// Smooths the initial values `start` of the support, on a sufficiently large part.
    fn smooth<const C: usize>(
        &mut self,
        strengths: &[f64],
        smoothing: Smoothing,
        border: f64,
        start: impl Fn(DVec3, DVec3, f64) -> Values<C>,
    ) -> Vec<Values<C>> {
        let lengths = EdgeLengths::new(smoothing, border.max(f64::MIN_POSITIVE));
        let mut reach = if border > 0.0 { 1.0 } else { f64::INFINITY };
        let mut scratch = Scratch::default();
        loop {
            self.grow(strengths, &lengths, reach);
            let local = |point: u32| Some(self.local.0[point as usize]).filter(|&at| at != OUTSIDE);
            let domain = Domain::part(&self.surface.laplacian, strengths, &self.points, local);
            let mut values = vec![[0.0; C]; domain.len()];
            let places = self.surface.laplacian.points();
            for (at, &(point, weight)) in self.support.iter().enumerate() {
                values[at] = start(self.origin, places[point as usize], weight);
            }
            let series = domain.series(smoothing);
            domain.smooth(&series, &mut values, self.support.len(), &mut scratch);
            let at_border = |point: u32| {
                let neighbours = self.surface.laplacian.row(point as usize).0.iter();
                let mut outside =
                    neighbours.filter(|&&other| self.local.0[other as usize] == OUTSIDE);
                outside.next().is_some()
            };
            let beyond = self.points.iter().zip(&values);
            let mut beyond = beyond.filter(|(_, values)| values[0] > 2.0 * border);
            if !beyond.any(|(&point, _)| at_border(point)) {
                return values;
            }
            reach *= 1.4;
        }
    }

    /// Adds all points within reach of the support, which comes first.
    fn grow(&mut self, strengths: &[f64], lengths: &EdgeLengths, reach: f64) {
        let laplacian = &self.surface.laplacian;
        self.clear();
        for &(point, _) in self.support {
            self.local.0[point as usize] = self.points.len() as u32;
            self.points.push(point);
        }
        let mut distances = vec![0.0; self.points.len()];
        let mut at = 0;
        while at < self.points.len() {
            let (point, distance) = (self.points[at], distances[at]);
            let far = distance + lengths.of(strengths[point as usize]);
            at += 1;
            if far > reach {
                continue;
            }
            for &neighbour in laplacian.row(point as usize).0 {
                if self.local.0[neighbour as usize] == OUTSIDE {
                    self.local.0[neighbour as usize] = self.points.len() as u32;
                    self.points.push(neighbour);
                    distances.push(far);
                }
            }
        }
    }
}

/// The length of an edge, relative to the distance over which smoothing of a given strength decays
/// to the share `border`.
///
/// A step along the surface goes outwards, inwards or sideways about equally often, one neighbour
/// in three each. With `c = ⅔(cosh θ − 1)`, the exponential moment of a step is `1/(1 − s·c)` for
/// an implicit one of strength `s` and `1 + s·c` for an explicit one. Chernoff's bound on the tail
/// after all steps, at its best `θ`, gives the distance. If it is too short, the values at the
/// border show it.
struct EdgeLengths {
    lengths: Vec<f64>,
}

/// Strengths are rounded to powers of this factor …
const STRENGTH_RATIO: f64 = 1.2;
/// … starting from this one.
const LEAST_STRENGTH: f64 = 1e-4;

impl EdgeLengths {
    fn new(smoothing: Smoothing, border: f64) -> EdgeLengths {
        let length = |at: i32| {
            let strength = LEAST_STRENGTH * STRENGTH_RATIO.powi(at);
            let edges = (1..200).filter_map(|step| {
                let angle = 0.05 * f64::from(step);
                let change = strength * (2.0 / 3.0) * (angle.cosh() - 1.0);
                let grown = match smoothing.steps {
                    Steps::Implicit => -(-change).ln_1p(),
                    Steps::Explicit => change.ln_1p(),
                };
                let edges = (f64::from(smoothing.count) * grown - border.ln()) / angle;
                edges.is_finite().then_some(edges)
            });
            edges.fold(f64::INFINITY, f64::min).max(1.0).recip()
        };
        EdgeLengths {
            lengths: (0..110).map(length).collect(),
        }
    }

    fn of(&self, strength: f64) -> f64 {
        let at = (strength / LEAST_STRENGTH).ln() / STRENGTH_RATIO.ln();
        let at = at.clamp(0.0, (self.lengths.len() - 1) as f64);
        self.lengths[at.ceil() as usize]
    }
}
