//! Sines and cosines of eight angles.

use fearless_simd::{Simd, SimdBase, SimdFloat, f32x8};

/// The largest angle for which [`sine_and_versine`] is exact enough: 32 turns.
pub(in crate::deform) const MOST_ANGLE: f32 = 200.0;

/// A turn as a number of few bits, of which multiples are exact, and the rest.
const TURN: [f32; 2] = [6.28125, 0.001_935_307_2];

/// `sin(x)/x` as a polynomial of `x²` for `|x| ≤ π/2`: off by at most `1.3e-8` times `x`.
const SINE: [f32; 5] = [
    1.0,
    -0.166_666_58,
    0.008_333_05,
    -0.000_198_090_11,
    0.000_002_605_093,
];

/// `cos(x)` as a polynomial of `x²` for `|x| ≤ π/2`: off by at most `6e-9`.
const COSINE: [f32; 6] = [
    1.0,
    -0.5,
    0.041_666_66,
    -0.001_388_865_2,
    0.000_024_774_574,
    -0.000_000_262_973_94,
];

/// `sin φ` and `1 − cos φ` for angles of at most [`MOST_ANGLE`]: off by at most `4e-7` and `7e-7`
/// times the smaller of one and `φ`, or `φ²`. Exactly zero for zero.
///
/// With the half angle `h`, they are `2 sin h cos h` and `2 sin² h`. Both have a period of half a
/// turn in `h`, so `h` can be brought to within a quarter turn without caring for signs.
#[inline(always)]
pub(in crate::deform) fn sine_and_versine<S: Simd>(simd: S, angles: f32x8<S>) -> [f32x8<S>; 2] {
    let turns = (angles * (0.5 * std::f32::consts::FRAC_1_PI)).round_ties_even();
    let rest = turns.mul_add(f32x8::splat(simd, -TURN[0]), angles);
    let rest = turns.mul_add(f32x8::splat(simd, -TURN[1]), rest);
    let half = rest * 0.5;
    let squared = half * half;
    let sine = half * polynomial(simd, &SINE, squared);
    let cosine = polynomial(simd, &COSINE, squared);
    let twice = sine + sine;
    [twice * cosine, twice * sine]
}

/// [`sine_and_versine`] of angles of at most a quarter turn, at half the cost.
#[inline(always)]
pub(in crate::deform) fn short_sine_and_versine<S: Simd>(
    simd: S,
    angles: f32x8<S>,
) -> [f32x8<S>; 2] {
    let squared = angles * angles;
    let [_, versine @ ..] = COSINE;
    [
        angles * polynomial(simd, &SINE, squared),
        -squared * polynomial(simd, &versine, squared),
    ]
}

/// `Σ c_k x^k`.
#[inline(always)]
fn polynomial<S: Simd, const N: usize>(simd: S, terms: &[f32; N], x: f32x8<S>) -> f32x8<S> {
    let mut sum = f32x8::splat(simd, terms[N - 1]);
    for term in terms[..N - 1].iter().rev() {
        sum = sum.mul_add(x, f32x8::splat(simd, *term));
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::deform::InstructionSet;
    use crate::deform::lanes::LANES;
    use fearless_simd::dispatch;

    type Sines = [[f32; LANES]; 2];

    fn assert_close(angles: &[f32; LANES], [sines, versines]: &Sines) {
        for (lane, &angle) in angles.iter().enumerate() {
            let half = (0.5 * f64::from(angle)).sin();
            let (sine, versine) = (f64::from(angle).sin(), 2.0 * half * half);
            let size = f64::from(angle).abs().min(1.0);
            let off = f64::from(sines[lane]) - sine;
            assert!(off.abs() <= 4e-7 * size, "{angle}: {off:e}");
            let off = f64::from(versines[lane]) - versine;
            assert!(off.abs() <= 7e-7 * size * size, "{angle}: {off:e}");
        }
    }

    fn assert_close_up_to(most: f32, short: bool) {
        let count = 100_000;
        let angle = |at: usize| most * (2.0 * at as f32 / count as f32 - 1.0);
        for level in InstructionSet::available().filter_map(InstructionSet::level) {
            for first in (0..count).step_by(LANES) {
                let angles: [f32; LANES] = std::array::from_fn(|lane| angle(first + lane));
                let mut found = [[0.0; LANES]; 2];
                dispatch!(level, simd => {
                    let angles = f32x8::from_slice(simd, &angles);
                    let both = match short {
                        true => short_sine_and_versine(simd, angles),
                        false => sine_and_versine(simd, angles),
                    };
                    both[0].store_slice(&mut found[0]);
                    both[1].store_slice(&mut found[1]);
                });
                assert_close(&angles, &found);
            }
        }
    }

    #[test]
    fn sines_are_those_of_the_library_up_to_rounding() {
        for most in [MOST_ANGLE, 4.0, 1e-2] {
            assert_close_up_to(most, false);
        }
    }

    #[test]
    fn short_sines_are_those_of_the_library_up_to_rounding() {
        for most in [std::f32::consts::FRAC_PI_2, 1e-2] {
            assert_close_up_to(most, true);
        }
    }
}
