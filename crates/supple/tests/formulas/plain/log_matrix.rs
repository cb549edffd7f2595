//! Log-matrix blending (Alexa 2002; Cordier and Magnenat-Thalmann 2005): `exp(Σ w_j log T_j)` with
//! logarithms of the whole affine maps.

use super::algebra::{exponential, logarithm};
use super::{Frame, Influences, Posed};
use glam::{DMat4, DVec3};

pub fn log_matrix(posed: &Posed, _: DVec3, influences: Influences<'_>) -> Frame {
    let logarithms = influences
        .iter()
        .map(|&(joint, weight)| logarithm(posed.transforms[joint]) * weight);
    Frame::safe(exponential(
        logarithms.fold(DMat4::ZERO, |sum, term| sum + term),
    ))
}
