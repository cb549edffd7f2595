//! §3.4 and §3.5: `Ω`, and the six variants.

use super::dense::Dense;
use super::laplacian::Surface;
use crate::plain::Posed;
use crate::plain::algebra::{nearest_rotation, weighted_sum};
use glam::{DAffine3, DMat3, DMat4, DQuat, DVec3, DVec4};
use supple::Rig;
use supple::deform::MushVariant;
use supple::mush::MushOptions;

/// The data of direct delta mush for a rig.
#[derive(Clone, Debug)]
pub struct Mush {
    pub surface: Surface,
    /// `B`.
    pub smoother: Dense,
    /// `Ψ_ij`, by point and joint.
    pub psi: Vec<Vec<DMat4>>,
    /// `Ω_ij`.
    pub omega: Vec<Vec<DMat4>>,
    /// `α·D_α`.
    pub alpha: Vec<f64>,
}

/// The image of the space around a vertex by a formula, and the allowed error of `f32`.
#[derive(Clone, Copy, Debug)]
pub struct Placed {
    pub map: DAffine3,
    /// The position of the vertex.
    pub place: DVec3,
    /// The position of the middle of the patch.
    pub middle: DVec3,
    /// The distance of the vertex from it before the rotation: the lever of a rotation's error.
    pub arm: f64,
    /// The largest coordinate on the way.
    pub size: f64,
    /// The number of joints that are summed.
    pub joints: usize,
    /// The rotation from the sums; `None` if the formula does not determine it.
    pub turn: Option<Turn>,
}

/// The allowed error of a vertex's rotation.
#[derive(Clone, Copy, Debug)]
pub struct Turn {
    /// The amplification of relative errors of the sums, to first order.
    pub amplification: f64,
    /// The additional error from computing the rotation itself.
    pub own: f64,
}

/// The unit roundoff of `f32`.
pub const ROUNDOFF: f64 = 1.0 / (1u32 << 24) as f64;

/// Rotations that may be off by more than this are beyond first order: they count as undetermined.
const LARGEST_TURN: f64 = 1e-3;

impl Placed {
    fn rounding(&self) -> f64 {
        rounding(self.joints)
    }

    /// The allowed error of the middle of the patch, and of any position regardless of its
    /// rotation.
    pub fn middle_tolerance(&self) -> f64 {
        self.rounding() * self.size
    }

    /// The allowed error of the rotation, as an angle.
    pub fn turn_tolerance(&self) -> Option<f64> {
        let turn = self.turn?;
        let off = self.rounding() * turn.amplification + turn.own;
        (off < LARGEST_TURN).then_some(off)
    }

    /// The allowed error of the vertex.
    pub fn tolerance(&self) -> Option<f64> {
        Some(self.middle_tolerance() + self.arm * self.turn_tolerance()?)
    }

    /// The allowed error of the arm's length under any rotation.
    pub fn length_tolerance(&self) -> f64 {
        self.middle_tolerance() + LENGTHS * self.arm
    }
}

/// The relative error of a sum over the joints: each product is rounded once, its two factors and
/// their unit twice each, and every joint adds the four steps of a dot product to the chain.
pub fn rounding(joints: usize) -> f64 {
    (8.0 + 4.0 * joints as f64) * ROUNDOFF
}

/// Weights are stored on a grid of steps of `ROUNDOFF`. Below half a step they are zero, and the
/// joint's part of the patch is lost; the rest is for how exactly a weight is known.
const LOST: f64 = 0.51 * ROUNDOFF;

/// The error of lengths under a rotation in `f32`: six roundings (`polar.rs`), and three to apply
/// it.
const LENGTHS: f64 = 9.0 * ROUNDOFF;

impl Turn {
    /// A rotation that is blended and normalised.
    pub fn blended(amplification: f64) -> Turn {
        Turn {
            amplification,
            own: LENGTHS,
        }
    }
}

/// `u uᵀ`.
fn square(u: DVec4) -> DMat4 {
    DMat4::from_cols(u * u.x, u * u.y, u * u.z, u * u.w)
}

/// `v uᵀ`.
pub fn outer(v: DVec3, u: DVec3) -> DMat3 {
    DMat3::from_cols(v * u.x, v * u.y, v * u.z)
}

/// The block and the column of `[[A, a], [b, 1]]`.
fn blocks(matrix: DMat4) -> (DMat3, DVec3) {
    (DMat3::from_mat4(matrix), matrix.w_axis.truncate())
}

fn norm(matrix: DMat3) -> f64 {
    let squares = matrix.to_cols_array().map(|entry| entry * entry);
    squares.into_iter().sum::<f64>().sqrt()
}

fn trace(matrix: DMat3) -> f64 {
    matrix.x_axis.x + matrix.y_axis.y + matrix.z_axis.z
}

impl Mush {
    pub fn new(rig: &Rig, options: &MushOptions) -> Mush {
        let surface = Surface::new(rig, options);
        let joints = rig.skeleton().joints().len();
        let smoother = surface.smoother(&surface.lambda, options.iterations, options.steps);
        let skinning = surface.smoother(&surface.kappa, options.iterations, options.steps);
        let points = 0..surface.len();
        let at_joint = |joint: usize| {
            let given = options.alpha_at_joints.iter().rev();
            let mut given = given.filter(|(at, _)| *at == joint);
            given.next().map_or(1.0, |&(_, share)| share)
        };
        let (mut psi, mut omega, mut alphas) = (Vec::new(), Vec::new(), Vec::new());
        for i in points.clone() {
            let mut own = vec![DMat4::ZERO; joints];
            let mut smoothed = vec![0.0; joints];
            for k in points.clone() {
                for &(joint, weight) in &surface.rows[k] {
                    // Eq. (6b rev.) and (12 rev.).
                    own[joint] +=
                        square(surface.places[k].extend(1.0)) * (smoother.at(k, i) * weight);
                    smoothed[joint] += skinning.at(k, i) * weight;
                }
            }
            let (_, p) = blocks(own.iter().fold(DMat4::ZERO, |sum, psi| sum + *psi));
            let spread = own
                .iter()
                .enumerate()
                .map(|(joint, psi)| psi.w_axis.w * at_joint(joint));
            let alpha = options.alpha * surface.painted_alpha[i].unwrap_or_else(|| spread.sum());
            // Eq. (11 rev.).
            let mixed = own.iter().zip(&smoothed).map(|(psi, skinning)| {
                *psi * (1.0 - alpha) + square(p.extend(1.0)) * (alpha * skinning)
            });
            omega.push(mixed.collect());
            psi.push(own);
            alphas.push(alpha);
        }
        Mush {
            surface,
            smoother,
            psi,
            omega,
            alpha: alphas,
        }
    }

    /// `p_i`.
    pub fn middle(&self, vertex: usize) -> DVec3 {
        let sum = self.omega[self.surface.point_of[vertex]].iter();
        sum.map(|omega| omega.w_axis.truncate()).sum()
    }

    /// The radius of balls that replace the points of a vertex's patch if it is a line or a point,
    /// found before `α` takes its share.
    pub fn ball(&self, vertex: usize) -> f64 {
        let point = self.surface.point_of[vertex];
        let psi = self.psi[point].iter();
        let (p2, p) = blocks(psi.fold(DMat4::ZERO, |sum, psi| sum + *psi));
        (1.0 - self.alpha[point]) * self.surface.missing_thickness(p2 - outer(p, p))
    }

    /// The joints of a vertex with `ω`, heaviest first.
    pub fn weights(&self, vertex: usize) -> Vec<(usize, f64)> {
        let omega = self.omega[self.surface.point_of[vertex]].iter().enumerate();
        let mut weights: Vec<(usize, f64)> = omega
            .map(|(joint, omega)| (joint, omega.w_axis.w))
            .collect();
        weights.retain(|&(_, weight)| weight > 1e-9);
        weights.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        weights
    }

    /// §3.5 after the stretches of a pose, which are blended by `ω`, and with which the patch is
    /// stretched as its vertex is. Patches that are too thin are thickened.
    pub fn place(&self, posed: &Posed, vertex: usize, variant: MushVariant) -> Placed {
        let weights = self.weights(vertex);
        let stretch = posed.phase_one(&weights);
        let mut patch = self.patch(posed, vertex, variant);
        let linear = weights
            .iter()
            .map(|&(joint, weight)| (weight, posed.transforms[joint]));
        let linear = weighted_sum(linear);
        if variant == MushVariant::V5 {
            let size = weights.iter().map(|&(joint, _)| {
                let transform = posed.transforms[joint];
                transform
                    .transform_point3(patch.place)
                    .length()
                    .max(transform.translation.length())
            });
            return Placed {
                map: linear,
                place: linear.transform_point3(patch.place),
                middle: linear.transform_point3(patch.place),
                arm: 0.0,
                size: size.fold(patch.place.length(), f64::max),
                joints: weights.len(),
                turn: Some(Turn {
                    amplification: 0.0,
                    own: 0.0,
                }),
            };
        }
        patch.stretch(stretch);
        let placed = match variant {
            MushVariant::V0 => patch.v0(),
            MushVariant::V1 => patch.v1(),
            MushVariant::V2 => patch.v2(),
            MushVariant::V3 => patch.v3(),
            MushVariant::V4 | MushVariant::V5 => patch.v4(),
        };
        Placed {
            map: placed.map * stretch,
            ..placed
        }
    }

    /// `det(Q_i − q_i p_iᵀ)` of a variant beside how large it could be.
    pub fn determinant(&self, posed: &Posed, vertex: usize, variant: MushVariant) -> f64 {
        let patch = self.patch(posed, vertex, variant);
        patch.turned().determinant() / patch.terms(patch.size()).powi(3)
    }

    /// The factor by which the patch of a vertex rotates more easily in a pose than at rest.
    pub fn loosened(&self, posed: &Posed, vertex: usize) -> Option<f64> {
        let patch = self.patch(posed, vertex, MushVariant::V0);
        let (turned, covariance) = (patch.turned(), patch.covariance());
        let at_rest = looseness(DMat3::IDENTITY, covariance)?;
        Some(looseness(nearest_rotation(turned).0, turned)? / at_rest)
    }

    fn patch(&self, posed: &Posed, vertex: usize, variant: MushVariant) -> Patch {
        let point = self.surface.point_of[vertex];
        let weights = self.weights(vertex);
        let joints = weights.iter().map(|&(joint, _)| joint);
        let mut patch = Patch {
            motions: joints.clone().map(|joint| posed.motion(joint)).collect(),
            rotation_weights: joints
                .clone()
                .map(|joint| self.psi[point][joint].w_axis.w)
                .collect(),
            omega: joints.map(|joint| self.omega[point][joint]).collect(),
            place: self.surface.places[point],
        };
        patch.add_balls(self.ball(vertex));
        if variant == MushVariant::V1 {
            patch.add_balls(missing_in_a_plane(patch.covariance()));
        }
        patch
    }
}

/// A patch that has this share of the square of all coordinates for its spread could be anything
/// after a rounding to `f32`.
pub const NOTHING: f64 = 4e-3;

/// The joints' shares of a vertex's patch, and their motions.
#[derive(Clone, Debug)]
struct Patch {
    motions: Vec<DAffine3>,
    /// `ψ`.
    rotation_weights: Vec<f64>,
    /// `Ω`.
    omega: Vec<DMat4>,
    place: DVec3,
}

impl Patch {
    /// `[P p; pᵀ 1] = Σ Ω_j`.
    fn rest(&self) -> (DMat3, DVec3) {
        blocks(
            self.omega
                .iter()
                .fold(DMat4::ZERO, |sum, omega| sum + *omega),
        )
    }

    /// `[Q q; pᵀ 1] = Σ M_j Ω_j`.
    fn posed(&self) -> (DMat3, DVec3) {
        let terms = self.motions.iter().zip(&self.omega);
        blocks(terms.fold(DMat4::ZERO, |sum, (motion, omega)| {
            sum + DMat4::from(*motion) * *omega
        }))
    }

    /// `P − p pᵀ`.
    fn covariance(&self) -> DMat3 {
        let (p2, p) = self.rest();
        p2 - outer(p, p)
    }

    /// `Q − q pᵀ`.
    fn turned(&self) -> DMat3 {
        let ((_, p), (q2, q)) = (self.rest(), self.posed());
        q2 - outer(q, p)
    }

    fn add_balls(&mut self, ball: f64) {
        for (omega, weight) in self.omega.iter_mut().zip(&self.rotation_weights) {
            *omega += DMat4::from_diagonal((DVec3::splat(ball * weight)).extend(0.0));
        }
    }

    /// The surface of the second phase.
    fn stretch(&mut self, stretch: DAffine3) {
        let matrix = DMat4::from(stretch);
        for omega in &mut self.omega {
            *omega = matrix * *omega * matrix.transpose();
        }
        self.place = stretch.transform_point3(self.place);
    }

    /// The largest coordinate on the way.
    fn size(&self) -> f64 {
        let (_, p) = self.rest();
        let sizes = self.motions.iter().map(|motion| {
            let moved = motion.transform_point3(p).length();
            moved.max(motion.translation.length())
        });
        sizes.fold(p.length().max(self.place.length()), f64::max)
    }

    /// How large the numbers are of which `Q − q pᵀ` is made: about the middle of the patch as the
    /// library has them, and about the origin as they are here, where double precision leaves
    /// less than a millionth of what single precision does. (The library smooths to within 1e-10,
    /// and thickens patches that are next to nothing by more than that.)
    fn terms(&self, size: f64) -> f64 {
        let (_, p) = self.rest();
        let next_to_nothing = NOTHING * size * size;
        let terms = self.omega.iter().map(|omega| {
            let (moments, first) = blocks(*omega);
            let weight = omega.w_axis.w;
            let lever = first - p * weight;
            let moments = norm(moments - outer(first, p) - outer(p, lever));
            if weight < LOST {
                // All of it, not the share by which sums are rounded. Levers don't sum to zero
                // without it, so that it matters from where positions are measured.
                return (moments + 2.0 * lever.length() * size) / rounding(self.omega.len());
            }
            moments + lever.length() * size
        });
        next_to_nothing + terms.sum::<f64>()
    }

    fn placed(&self, rotation: DMat3, middle: DVec3, turn: Option<Turn>) -> Placed {
        let (_, p) = self.rest();
        Placed {
            map: DAffine3 {
                matrix3: rotation,
                translation: middle - rotation * p,
            },
            place: middle + rotation * (self.place - p),
            middle,
            arm: self.place.distance(p),
            size: self.size(),
            joints: self.omega.len(),
            turn,
        }
    }

    /// §3.5.1.
    fn v0(&self) -> Placed {
        let turned = self.turned();
        let (rotation, _) = nearest_rotation(turned);
        let turn = looseness(rotation, turned).map(|looseness| Turn {
            amplification: self.terms(self.size()) * looseness,
            own: LENGTHS + (3.0 + 7.0 / gap(rotation, turned).max(WIDE_GAP)) * ROUNDOFF,
        });
        self.placed(rotation, self.posed().1, turn)
    }

    /// §3.5.2: `R = det(Q') / det(P') · Q'⁻ᵀ P'`, with `det(Q') Q'⁻ᵀ` as cofactors.
    fn v1(&self) -> Placed {
        let (turned, covariance) = (self.turned(), self.covariance());
        let [x, y, z] = [turned.x_axis, turned.y_axis, turned.z_axis];
        let cofactors = DMat3::from_cols(y.cross(z), z.cross(x), x.cross(y));
        let inverse = covariance * (1.0 / covariance.determinant());
        let of_cofactors = 4.0 * self.terms(self.size()) * norm(turned) * norm(inverse);
        let of_inverse =
            norm(cofactors) * norm(inverse) * norm(covariance) * norm(covariance.inverse());
        let amplification = of_cofactors + of_inverse;
        let turn = amplification
            .is_finite()
            .then(|| Turn::blended(amplification));
        self.placed(cofactors * inverse, self.posed().1, turn)
    }

    /// The quaternions blended by `ψ`, each added on the side of those before it; and how well that
    /// is defined.
    fn blended_quaternion(&self) -> (DMat3, Option<Turn>) {
        let mut sum = DVec4::ZERO;
        let mut margin: f64 = 1.0;
        for (motion, weight) in self.motions.iter().zip(&self.rotation_weights) {
            let q = DVec4::from(DQuat::from_mat3(&motion.matrix3).normalize());
            let along = sum.dot(q);
            // Which side matters as much as the weight does.
            if sum.length() > 0.0 && *weight > 1e-7 {
                margin = margin.min(along.abs() / sum.length() / weight.min(1.0));
            }
            sum += q * (if along < 0.0 { -weight } else { *weight });
        }
        // Signs also depend on the order, which rounding decides where two weights are alike.
        let alike = self
            .omega
            .windows(2)
            .any(|pair| pair[0].w_axis.w - pair[1].w_axis.w < 1e-6);
        let clear = margin > 1e-5 && !alike;
        let turn = clear.then(|| Turn::blended(2.0 / sum.length()));
        (DMat3::from_quat(DQuat::from_vec4(sum.normalize())), turn)
    }

    /// §3.5.3, in the space of quaternions.
    fn v2(&self) -> Placed {
        let (rotation, turn) = self.blended_quaternion();
        self.placed(rotation, self.posed().1, turn)
    }

    /// §3.5.3, in the space of matrices, directly: `x = q + ‖d‖/‖R d‖ · R d`.
    fn v3(&self) -> Placed {
        let terms = self.motions.iter().zip(&self.rotation_weights);
        let blend = weighted_sum(terms.map(|(motion, &weight)| (weight, *motion))).matrix3;
        let delta = self.place - self.rest().1;
        let factor = delta.length() / (blend * delta).length();
        // Without a delta there is nothing to scale.
        let factor = if factor.is_finite() { factor } else { 1.0 };
        // Both what is turned and how much longer it is made are rounded.
        let turn = (factor < 1e3).then(|| Turn::blended(3.0 * factor));
        self.placed(blend * factor, self.posed().1, turn)
    }

    /// §3.5.4.
    fn v4(&self) -> Placed {
        let (rotation, turn) = self.blended_quaternion();
        let terms = self.motions.iter().zip(&self.omega);
        let blend = weighted_sum(terms.map(|(motion, omega)| (omega.w_axis.w, *motion)));
        self.placed(rotation, blend.transform_point3(self.rest().1), turn)
    }
}

/// The rotation of the nearest rotation to a matrix per change of the matrix: for a rotation `x`,
/// `tr(Rᵀ M)` loses `xᵀ (tr P − P) x / 2` with the stretch `P`. `None` if any rotation will do.
pub fn looseness(rotation: DMat3, matrix: DMat3) -> Option<f64> {
    let stretch = stretch(rotation, matrix);
    let stiffness = DMat3::from_diagonal(DVec3::splat(trace(stretch))) - stretch;
    Some(norm(stiffness.inverse())).filter(|looseness| looseness.is_finite())
}

/// `Rᵀ M`, made symmetric.
fn stretch(rotation: DMat3, matrix: DMat3) -> DMat3 {
    let stretch = rotation.transpose() * matrix;
    (stretch + stretch.transpose()) * 0.5
}

/// The gap down to which the library computes rotations in single precision.
const WIDE_GAP: f64 = 0.2;

/// `(σ₁ + σ₂)(σ₂ + σ₃)(σ₃ + σ₁)` of a matrix at unit norm.
fn gap(rotation: DMat3, matrix: DMat3) -> f64 {
    let stretch = stretch(rotation, matrix) * norm(matrix).recip();
    minors(stretch) * trace(stretch) - stretch.determinant()
}

/// The smallest share of its spread that a patch may have for its lesser variances. Thinner ones
/// are lines, which do not tell how they are turned; for v1 they are planes, which have no inverse.
const THINNEST: f64 = 1e-4;

/// A patch whose lesser variances are below this share of the surface's is a point.
const POINT: f64 = 1e-8;

impl Surface {
    /// The ball for a patch whose two lesser variances are too small.
    pub fn missing_thickness(&self, covariance: DMat3) -> f64 {
        let spread = trace(covariance);
        let middle = self.places.iter().sum::<DVec3>() / self.len() as f64;
        let mut squares: Vec<f64> = (self.places.iter())
            .map(|place| place.distance_squared(middle))
            .collect();
        squares.sort_by(f64::total_cmp);
        let least = (THINNEST * spread).max(POINT * squares[squares.len() / 2]);
        // A single point may have any ball.
        let least = if least > 0.0 { least } else { 1.0 };
        (least - or_nothing(minors(covariance) / spread).min(spread.max(0.0))).max(0.0)
    }
}

/// The thickness that v1 adds to a flat patch.
fn missing_in_a_plane(covariance: DMat3) -> f64 {
    let least = or_nothing(covariance.determinant() / minors(covariance));
    (THINNEST * trace(covariance) - least).max(0.0)
}

/// In a patch that is a point, rounding may leave any quotient.
fn or_nothing(quotient: f64) -> f64 {
    if quotient.is_finite() {
        quotient.max(0.0)
    } else {
        0.0
    }
}

/// The sum of the products of two eigenvalues each.
fn minors(matrix: DMat3) -> f64 {
    let [x, y, z] = [matrix.x_axis, matrix.y_axis, matrix.z_axis];
    x.x * y.y - x.y * y.x + y.y * z.z - y.z * z.y + z.z * x.x - z.x * x.z
}
