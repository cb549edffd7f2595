//! Shading of surfaces: matt clay with a soft sheen.

use crate::fragment::Fragment;
use crate::receiver::Arriving;
use glam::Vec3;

/// The colour of wires.
pub(crate) const INK: Vec3 = Vec3::new(0.012, 0.014, 0.02);

/// The opacity of wires.
pub(crate) const INK_STRENGTH: f32 = 0.62;

/// Values up to here are shown as they are; brighter ones bend towards white.
pub(crate) const SHOULDER: f32 = 0.6;

/// The opacity of glass facing the viewer and at grazing angles.
pub(crate) const GLASS_FACING: f32 = 0.3;
pub(crate) const GLASS_EDGE: f32 = 0.9;

/// The darkness of glass at grazing angles, relative to its own colour, and the share of it that
/// shows.
pub(crate) const GLASS_DARK: f32 = 0.12;
pub(crate) const GLASS_OUTLINE: f32 = 0.75;

/// The colour and opacity of a lit fragment of glass.
pub(crate) fn glass(fragment: &Fragment, lit: Vec3) -> (Vec3, f32) {
    let facing = fragment.receiver.normal.dot(fragment.toward_eye);
    let away = 1.0 - facing.clamp(0.0, 1.0);
    let color = lit.lerp(fragment.color * GLASS_DARK, GLASS_OUTLINE * away.powi(4));
    let opacity = GLASS_FACING + (GLASS_EDGE - GLASS_FACING) * away.powi(2);
    (color, opacity.max(fragment.ink * INK_STRENGTH))
}

/// The colour that a fragment shows, linear and within the display's range.
pub(crate) fn shade(fragment: &Fragment, arriving: &Arriving, key: Vec3) -> Vec3 {
    let normal = fragment.receiver.normal;
    let diffuse = fragment.color * arriving.diffuse;

    let halfway = (key + fragment.toward_eye).normalize_or(key);
    let gloss = normal.dot(halfway).max(0.0).powi(24);
    let sheen = Vec3::splat(0.06 * gloss * arriving.key);

    // Grazing views of any rough material catch light from behind.
    let facing = normal.dot(fragment.toward_eye).clamp(0.0, 1.0);
    let rim =
        fragment.color.lerp(Vec3::ONE, 0.4) * arriving.diffuse * (0.22 * (1.0 - facing).powi(3));

    let lit = (diffuse + sheen + rim).map(bend);
    lit.lerp(INK, fragment.ink * INK_STRENGTH)
}

/// A gentle film curve: straight in the middle so that colours stay true, soft at the top.
fn bend(value: f32) -> f32 {
    if value <= SHOULDER {
        value
    } else {
        let room = 1.0 - SHOULDER;
        SHOULDER + room * (1.0 - (-(value - SHOULDER) / room).exp())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_film_curve_rises_smoothly_and_never_clips() {
        let mut previous = -1.0;
        for step in 0..200 {
            let value = bend(step as f32 * 0.02);
            assert!(value > previous && value <= 1.0);
            previous = value;
        }
        assert_eq!(bend(0.5), 0.5);
    }
}
