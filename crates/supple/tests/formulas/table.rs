//! The formula of each method, with its default options.
//!
//! Delta mush and direct delta mush have no formula of a point and its weights: they need the whole
//! surface. Theirs are in `../mush/`.

use crate::common::looks_at_surface_around;
use crate::plain::Formula;
use crate::plain::centers_of_rotation::{centers_of_rotation, cor_procrustes};
use crate::plain::differential::differential;
use crate::plain::direct::{linear, linear_dual_blend, rigid};
use crate::plain::dual_quaternion::{dual_quaternion, dual_quaternion_intrinsic};
use crate::plain::log_matrix::log_matrix;
use crate::plain::spherical::spherical;
use crate::plain::spline::spline;
use crate::plain::stretch_twist::stretch_twist;
use crate::plain::swing_twist::swing_twist;
use supple::Method;

pub const FORMULAS: &[(&str, Formula)] = &[
    ("rigid", rigid),
    ("linear", linear),
    ("dual-quaternion", dual_quaternion),
    ("dual-quaternion-intrinsic", dual_quaternion_intrinsic),
    ("log-matrix", log_matrix),
    ("spherical", spherical),
    ("linear-dual-blend", |posed, position, influences| {
        linear_dual_blend(posed, position, influences, 0.5)
    }),
    ("swing-twist", swing_twist),
    ("differential", differential),
    ("stretch-twist", stretch_twist),
    ("spline", spline),
    ("cor", centers_of_rotation),
    ("cor-procrustes", cor_procrustes),
    // Without weights of their own, these are linear.
    ("animation-space", linear),
    ("multi-weight", linear),
];

/// The formula of a method with its default options.
pub fn formula(method: &Method) -> Formula {
    let found = FORMULAS.iter().find(|(name, _)| *name == method.name());
    found.unwrap().1
}

/// The methods that have one.
pub fn methods_of_points() -> impl Iterator<Item = &'static Method> {
    Method::ALL
        .iter()
        .filter(|method| !looks_at_surface_around(method))
}
