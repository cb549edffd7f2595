//! Strength of smoothing at each point: `λ·D_λ`, `κ·D_κ` and `α·D_α` (§3.3).
//!
//! If not painted (§4.0.1), strengths follow the thickness of the limb, measured by the distance to
//! the bone. A step of strength `s` spreads a point by a variance of `s/2` squared edges (for the
//! mean of neighbours on a surface), and variances add up. So `p` steps of `2(c·r/h)²/p` at edges
//! of length `h` reach `c` times the radius `r`: equally far on fine and coarse meshes. The paper
//! makes strengths proportional to the distance and leaves the scale to the artist; this is the
//! same idea with a known scale.

use super::{MushError, MushOptions, MushSurface};
use crate::rig::Rig;
use crate::smoothing::{Domain, Scratch, Smoothing, Steps, Values};

/// The vertex attribute that overrides `D_λ`.
pub const LAMBDA_SHARE: &str = "_MUSH_LAMBDA";
/// The vertex attribute that overrides `D_κ`.
pub const KAPPA_SHARE: &str = "_MUSH_KAPPA";
/// The vertex attribute that overrides `D_α`.
pub const ALPHA_SHARE: &str = "_MUSH_ALPHA";

/// `c`: the reach of smoothing for rotations, relative to the distance to the bone.
const REACH: f64 = 0.9;

/// All steps together reach at least about one edge (a variance of one squared edge) …
const LEAST_SPREAD: f64 = 1.0;

/// … and at most about twenty edges: the cost of a bake grows with the reach in edges, and only the
/// trunk of a very fine mesh would use more.
const LARGEST_SPREAD: f64 = 400.0;

/// The largest total smoothing: a reach of three hundred edges, more than any limb has. Beyond, the
/// bake would take too long.
const MOST_SMOOTHING: f64 = 2e5;

pub(super) fn set(
    surface: &mut MushSurface,
    rig: &Rig,
    options: &MushOptions,
) -> Result<(), MushError> {
    let automatic = options
        .radius_from_bones
        .then(|| from_bones(surface, rig, options));
    let shares = |painted: &[Option<f64>]| -> Vec<f64> {
        let share = |(point, painted): (usize, &Option<f64>)| {
            let own = automatic.as_ref().map_or(1.0, |automatic| automatic[point]);
            painted.unwrap_or(own)
        };
        painted.iter().enumerate().map(share).collect()
    };
    let lambda = shares(&painted(surface, rig, LAMBDA_SHARE, 1e6)?);
    let kappa = shares(&painted(surface, rig, KAPPA_SHARE, 1e6)?);
    surface.lambda = lambda.iter().map(|share| share * options.lambda).collect();
    surface.kappa = kappa.iter().map(|share| share * options.kappa).collect();
    surface.painted_alpha = painted(surface, rig, ALPHA_SHARE, 1.0)?;
    let strengths = surface.lambda.iter().zip(&surface.kappa);
    for (point, (lambda, kappa)) in strengths.enumerate() {
        let strength = lambda.max(*kappa);
        let vertex = surface.vertex_of[point] as usize;
        match options.steps {
            Steps::Explicit if strength > 1.0 + 1e-9 => {
                return Err(MushError::ExplicitTooStrong { vertex, strength });
            }
            Steps::Implicit if strength * f64::from(options.iterations) > MOST_SMOOTHING => {
                return Err(MushError::TooStrong {
                    vertex,
                    strength,
                    iterations: options.iterations,
                });
            }
            _ => {}
        }
    }
    Ok(())
}

/// The painted numbers of the points: the mean over their vertices.
fn painted(
    surface: &MushSurface,
    rig: &Rig,
    name: &'static str,
    most: f32,
) -> Result<Vec<Option<f64>>, MushError> {
    let mut sums = vec![(0.0, 0.0); surface.point_count()];
    for (vertex, value) in rig.mesh().painted(name).into_iter().flatten().enumerate() {
        let Some(value) = *value else {
            continue;
        };
        if !(0.0..=most).contains(&value) {
            return Err(MushError::Painted {
                name,
                vertex,
                value,
                allowed: if most == 1.0 {
                    "from 0 to 1"
                } else {
                    "from 0 to a million"
                },
            });
        }
        let sum = &mut sums[surface.weld.point_of(vertex)];
        sum.0 += f64::from(value);
        sum.1 += 1.0;
    }
    let mean = |(sum, count): (f64, f64)| (count > 0.0).then(|| sum / count);
    Ok(sums.into_iter().map(mean).collect())
}

/// `D_λ` and `D_κ` from the distance to the bones.
fn from_bones(surface: &MushSurface, rig: &Rig, options: &MushOptions) -> Vec<f64> {
    let bones = rig.skeleton().bind_bones();
    let count = surface.point_count();
    let radius = |point: usize| {
        let place = surface.laplacian.points()[point];
        let radii = surface.influences(point);
        let radii =
            radii.map(|(joint, weight)| weight * bones[joint].distance_squared(place).sqrt());
        radii.sum::<f64>()
    };
    // The radius of a limb, not of each bump: smoothed along the surface.
    let domain = Domain::whole(&surface.laplacian, &vec![1.0; count]);
    let steps = Smoothing {
        steps: Steps::Implicit,
        count: 8,
    };
    let mut radii: Vec<Values<1>> = (0..count).map(|point| [radius(point)]).collect();
    domain.smooth(
        &domain.series(steps),
        &mut radii,
        count,
        &mut Scratch::default(),
    );
    // The sum of all steps, to be divided: of those for rotations, or else of those for
    // translations.
    let sizes = [options.lambda, options.kappa].into_iter();
    let size = sizes.into_iter().find(|&size| size > 0.0).unwrap_or(1.0);
    let whole = size * f64::from(options.iterations.max(1));
    let share = |point: usize| {
        let step = surface.laplacian.mean_square_step(point);
        let radius = radii[point][0].max(0.0);
        let spread = REACH * REACH * radius * radius / step;
        // Without edges there is no smoothing: any share will do.
        let spread = if step > 0.0 { spread } else { LEAST_SPREAD };
        let share = 2.0 * spread.clamp(LEAST_SPREAD, LARGEST_SPREAD) / whole;
        match options.steps {
            Steps::Implicit => share,
            Steps::Explicit => share.min(1.0 / options.lambda.max(options.kappa).max(size)),
        }
    };
    (0..count).map(share).collect()
}
