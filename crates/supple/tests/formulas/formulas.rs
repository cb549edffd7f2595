//! Every method against its formula, on random rigs in random poses.

use crate::compare::{compare, method};
use crate::plain::differential::differential;
use crate::plain::direct::{linear, rigid};
use crate::plain::dual_quaternion::{
    dual_quaternion, dual_quaternion_intrinsic, dual_quaternion_per_joint,
};
use crate::plain::log_matrix::log_matrix;
use crate::plain::spherical::spherical;
use crate::plain::spline::spline;
use crate::plain::stretch_twist::stretch_twist;
use crate::plain::swing_twist::swing_twist;
use crate::scenes::{chained, loose};

/// Any turn at all.
const ANY_TURN: f64 = 3.1;
/// Turns that stay within half a turn of each other.
const STRONG_TURN: f64 = 1.2;

#[test]
fn rigid_is_its_formula() {
    let method = method("rigid");
    compare(&method, rigid, loose(ANY_TURN, 2.0), 5e-7);
}

#[test]
fn linear_is_its_formula() {
    let method = method("linear");
    compare(&method, linear, loose(ANY_TURN, 2.0), 5e-7);
}

#[test]
fn dual_quaternion_is_its_formula() {
    let method = method("dual-quaternion");
    compare(&method, dual_quaternion, loose(STRONG_TURN, 1.0), 5e-7);
    compare(&method, dual_quaternion, loose(STRONG_TURN, 2.0), 5e-7);
    compare(&method, dual_quaternion, loose(ANY_TURN, 2.0), 5e-7);
    compare(&method, dual_quaternion, chained(ANY_TURN, 2.0), 5e-7);
}

#[test]
fn dual_quaternion_per_joint_is_its_formula() {
    let method = method("dual-quaternion:per-joint");
    compare(
        &method,
        dual_quaternion_per_joint,
        loose(STRONG_TURN, 2.0),
        5e-7,
    );
    compare(
        &method,
        dual_quaternion_per_joint,
        chained(STRONG_TURN, 2.0),
        5e-7,
    );
}

#[test]
fn dual_quaternion_intrinsic_is_its_formula() {
    let method = method("dual-quaternion-intrinsic");
    compare(
        &method,
        dual_quaternion_intrinsic,
        loose(STRONG_TURN, 2.0),
        5e-6,
    );
}

#[test]
fn log_matrix_is_its_formula() {
    let method = method("log-matrix");
    compare(&method, log_matrix, loose(2.0, 1.4), 5e-6);
}

#[test]
fn spherical_is_its_formula() {
    let method = method("spherical");
    compare(&method, spherical, loose(STRONG_TURN, 2.0), 5e-6);
}

#[test]
fn swing_twist_is_its_formula() {
    let method = method("swing-twist");
    compare(&method, swing_twist, loose(STRONG_TURN, 2.0), 5e-6);
    compare(&method, swing_twist, chained(STRONG_TURN, 2.0), 5e-6);
}

#[test]
fn differential_is_its_formula() {
    let method = method("differential");
    compare(&method, differential, loose(STRONG_TURN, 2.0), 5e-6);
    compare(&method, differential, chained(2.0, 2.0), 5e-6);
}

#[test]
fn stretch_twist_is_its_formula() {
    let method = method("stretch-twist");
    compare(&method, stretch_twist, loose(STRONG_TURN, 2.0), 5e-6);
    compare(&method, stretch_twist, chained(STRONG_TURN, 2.0), 5e-6);
}

#[test]
fn spline_is_its_formula() {
    let method = method("spline");
    compare(&method, spline, chained(0.6, 1.3), 1e-3);
}
