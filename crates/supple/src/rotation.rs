//! Rotations about an axis, and the decomposition of a rotation into swing and twist.

use glam::{DQuat, DVec3, Mat3, Vec3};

/// Decomposes a rotation into `swing · twist`. The twist turns about the axis by the returned angle
/// in (−π, π]; the swing turns about an axis perpendicular to it. Without an axis all is swing.
pub(crate) fn swing_and_twist(rotation: DQuat, axis: Option<DVec3>) -> (DQuat, f64) {
    let Some(axis) = axis else {
        return (rotation, 0.0);
    };
    let rotation = if rotation.w < 0.0 {
        -rotation
    } else {
        rotation
    };
    let along = rotation.xyz().dot(axis);
    // The twist of a swing by half a turn is undefined.
    if along == 0.0 {
        return (rotation, 0.0);
    }
    let angle = 2.0 * along.atan2(rotation.w);
    let swing = rotation * DQuat::from_axis_angle(axis, -angle);
    (swing, angle)
}

/// The rotation about a unit axis, by Rodrigues' formula; bitwise the identity for the angle zero.
pub(crate) fn rotation_about(axis: Vec3, angle: f32) -> Mat3 {
    let (sine, cosine) = angle.sin_cos();
    let cross = Mat3::from_cols(
        Vec3::new(0.0, axis.z, -axis.y),
        Vec3::new(-axis.z, 0.0, axis.x),
        Vec3::new(axis.y, -axis.x, 0.0),
    );
    Mat3::IDENTITY + cross * sine + cross * cross * (1.0 - cosine)
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::DMat3;
    use std::f64::consts::PI;

    #[test]
    fn swing_and_twist_are_recovered() {
        let axis = DVec3::new(0.6, 0.0, 0.8);
        for (twist, swing) in [(0.4, 0.9), (-2.8, 0.3), (3.0, -2.0), (0.0, 3.1), (PI, 0.0)] {
            let twisted = DQuat::from_axis_angle(axis, twist);
            let swung = DQuat::from_axis_angle(DVec3::Y, swing);
            let (found, angle) = swing_and_twist(swung * twisted, Some(axis));
            assert!((angle - twist).abs() < 1e-12, "{twist} {angle}");
            assert!(found.dot(swung).abs() > 1.0 - 1e-12);
        }
        let half_turn = DQuat::from_axis_angle(DVec3::Y, PI);
        assert_eq!(swing_and_twist(half_turn, Some(DVec3::X)).1, 0.0);
        assert_eq!(swing_and_twist(half_turn, None), (half_turn, 0.0));
    }

    #[test]
    fn rotations_agree_with_glam() {
        let axis = Vec3::new(0.36, -0.48, 0.8);
        let expected = DMat3::from_axis_angle(axis.as_dvec3(), 2.1);
        let found = rotation_about(axis, 2.1).as_dmat3();
        assert!(found.abs_diff_eq(expected, 1e-6));
        assert_eq!(rotation_about(axis, 0.0), Mat3::IDENTITY);
    }
}
