//! Colours: the display's curve, and one colour per joint.

use glam::Vec3;
use supple::Weights;

/// The golden angle in radians: successive hues never come close to each other.
pub(crate) const GOLDEN_ANGLE: f64 = 2.399_963_229_728_653;

/// A distinct, pleasant linear colour for every joint.
///
/// Neighbours in the list differ most, which are usually neighbours on the body.
pub(crate) fn joint_color(joint: usize) -> Vec3 {
    // Three steps of lightness tell apart those hues that come round again.
    let lightness = [0.70, 0.80, 0.61][joint % 3];
    let hue = 0.45 + GOLDEN_ANGLE * joint as f64;
    linear_from_oklch(lightness, 0.15, hue)
}

/// The colours of a surface's vertices: joint colours blended by the weights.
pub fn weight_colors(weights: &Weights) -> Vec<Vec3> {
    let joint_count = weights.max_joint().map_or(0, |joint| joint + 1);
    let colors: Vec<_> = (0..joint_count).map(joint_color).collect();
    let blend = |vertex| {
        weights
            .of(vertex)
            .map(|influence| colors[influence.joint] * influence.weight)
            .sum()
    };
    (0..weights.vertex_count()).map(blend).collect()
}

/// Areas that have changed by this many doublings get the full colour.
pub const FULL_STRETCH: f32 = 1.0;

/// The scale of stretch in linear colours: halved, unchanged, doubled.
const COMPRESSED: Vec3 = Vec3::new(0.02, 0.13, 0.55);
const UNCHANGED: Vec3 = Vec3::new(0.72, 0.71, 0.68);
const STRETCHED: Vec3 = Vec3::new(0.60, 0.03, 0.025);

/// The linear colour of a change of area, in doublings: blue for compressed, red for stretched.
pub fn stretch_color(doublings: f32) -> Vec3 {
    let share = (doublings / FULL_STRETCH).clamp(-1.0, 1.0);
    let toward = if share < 0.0 { COMPRESSED } else { STRETCHED };
    UNCHANGED.lerp(toward, share.abs().powf(0.8))
}

/// OKLCH, a space in which equal steps look equal, as linear sRGB; chroma is reduced until it fits.
fn linear_from_oklch(lightness: f64, chroma: f64, hue: f64) -> Vec3 {
    let at = |chroma: f64| linear_from_oklab(lightness, chroma * hue.cos(), chroma * hue.sin());
    let fits = |color: Vec3| color.min_element() >= 0.0 && color.max_element() <= 1.0;
    let mut chroma = chroma;
    for _ in 0..32 {
        if fits(at(chroma)) {
            break;
        }
        chroma *= 0.93;
    }
    at(chroma).clamp(Vec3::ZERO, Vec3::ONE)
}

fn linear_from_oklab(lightness: f64, a: f64, b: f64) -> Vec3 {
    let l = (lightness + 0.396_337_777_4 * a + 0.215_803_757_3 * b).powi(3);
    let m = (lightness - 0.105_561_345_8 * a - 0.063_854_172_8 * b).powi(3);
    let s = (lightness - 0.089_484_177_5 * a - 1.291_485_548_0 * b).powi(3);
    Vec3::new(
        (4.076_741_662_1 * l - 3.307_711_591_3 * m + 0.230_969_929_2 * s) as f32,
        (-1.268_438_004_6 * l + 2.609_757_401_1 * m - 0.341_319_396_5 * s) as f32,
        (-0.004_196_086_3 * l - 0.703_418_614_7 * m + 1.707_614_701_0 * s) as f32,
    )
}

/// The 8-bit sRGB colour of a linear one, rounded to the nearest.
pub fn srgb_from_linear(linear: Vec3) -> [u8; 3] {
    let encode = |value: f32| (encoded(value.clamp(0.0, 1.0)) * 255.0 + 0.5) as u8;
    linear.to_array().map(encode)
}

/// The 8-bit sRGB colours of linear ones; fractions from a colour's threshold (0 to 1) on are
/// rounded up.
pub(crate) fn dithered_srgb_from_linear(
    linear: &[Vec3],
    thresholds: impl Iterator<Item = f32>,
) -> Vec<[u8; 3]> {
    let mut levels = vec![[0.0f32; 3]; linear.len()];
    for (levels, linear) in levels.iter_mut().zip(linear) {
        *levels = linear.to_array();
    }
    // All channels alike and without branches, so that the compiler handles several at once.
    for level in levels.as_flattened_mut() {
        *level = encoded(level.clamp(0.0, 1.0)) * 255.0 + 1.0;
    }
    let pairs = levels.into_iter().zip(thresholds);
    pairs
        .map(|(levels, threshold)| levels.map(|level| (level - threshold) as u8))
        .collect()
}

/// The sRGB curve from 0 to 1, within a thousandth of an 8-bit level.
fn encoded(value: f32) -> f32 {
    let (dark, bright) = (12.92 * value, 1.055 * root_2_4(value) - 0.055);
    if value <= 0.003_130_8 { dark } else { bright }
}

/// `value^(1 / 2.4)` for values from 0.0031 to 1: a polynomial that approximates `x^(5 / 3)` of the
/// fourth root. Unlike `powf` it takes few instructions, and gives the same bits with every
/// mathematical library.
fn root_2_4(value: f32) -> f32 {
    const COEFFICIENTS: [f32; 7] = [
        -0.004_488_682,
        0.134_521_36,
        1.284_114_6,
        -0.782_614_6,
        0.589_064_36,
        -0.279_181_6,
        0.058_585_37,
    ];
    let root = value.sqrt().sqrt();
    let terms = COEFFICIENTS.iter().rev();
    terms.fold(0.0, |sum, coefficient| sum * root + coefficient)
}

#[cfg(test)]
mod tests {
    use super::*;
    use supple::weights::WeightsBuilder;

    fn linear_from_srgb(encoded: [u8; 3]) -> Vec3 {
        Vec3::from_array(encoded.map(|value| {
            let value = f32::from(value) / 255.0;
            if value <= 0.040_45 {
                value / 12.92
            } else {
                ((value + 0.055) / 1.055).powf(2.4)
            }
        }))
    }

    #[test]
    fn the_curve_is_that_of_srgb() {
        for step in 0..=100_000 {
            let value = step as f32 / 100_000.0;
            let exact = match value <= 0.003_130_8 {
                true => 12.92 * f64::from(value),
                false => 1.055 * f64::from(value).powf(1.0 / 2.4) - 0.055,
            };
            let levels = (f64::from(encoded(value)) - exact).abs() * 255.0;
            assert!(levels < 1e-3, "{levels} at {value}");
        }
    }

    #[test]
    fn srgb_goes_there_and_back() {
        for value in 0..=255u8 {
            assert_eq!(srgb_from_linear(linear_from_srgb([value; 3])), [value; 3]);
        }
    }

    #[test]
    fn the_colours_of_the_first_joints_differ() {
        let colors: Vec<_> = (0..24).map(joint_color).collect();
        for (index, a) in colors.iter().enumerate() {
            assert!(a.min_element() >= 0.0 && a.max_element() <= 1.0);
            for b in &colors[..index] {
                assert!((*a - *b).length() > 0.02);
            }
        }
    }

    #[test]
    fn weights_blend_joint_colours() {
        let mut builder = WeightsBuilder::new(2).unwrap();
        builder.push([(0, 0.5), (1, 0.5)], 0).unwrap();
        builder.push([(1, 1.0)], 0).unwrap();
        let (weights, _) = builder.finish();
        let colors = weight_colors(&weights);
        let middle = (joint_color(0) + joint_color(1)) / 2.0;
        assert!((colors[0] - middle).length() < 1e-6);
        assert_eq!(colors[1], joint_color(1));
    }
}
