//! Sources of different bits outside of Supple: fused multiply-add of the processor, and the math
//! functions of the system.

use super::Hash;

/// The hash of the math functions where the pins were computed: glibc on x86-64 with FMA.
const MATH: u64 = 0x5e7e_1663_50e7_536b;

/// The reason why outputs may have other bits here than where the pins were computed, if any.
///
/// Bakes and the fastest vertex loops use fused multiply-add. Every ARM of 64 bits has it, and
/// every x86 with AVX2 (Intel since 2013, AMD since 2015); on older ones the same sums are rounded
/// twice.
///
/// Sines, exponentials and the like come from the system's math library, and no standard says how
/// they round. On processors with FMA, glibc has given the same from 2.36 to 2.43; without FMA, and
/// on other systems, the results differ.
pub(super) fn difference() -> Option<&'static str> {
    if !fuses_multiply_add() {
        return Some("this processor has no fused multiply-add");
    }
    (math() != MATH).then_some("the math functions of this system round differently")
}

fn fuses_multiply_add() -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        std::is_x86_feature_detected!("avx2") && std::is_x86_feature_detected!("fma")
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        cfg!(target_arch = "aarch64")
    }
}

/// A hash of the results of each function that Supple calls, over its usual range.
fn math() -> u64 {
    const STEPS: u32 = 4_000;
    let over = |from: f64, to: f64, function: &dyn Fn(f64) -> f64| {
        let share = |step: u32| (f64::from(step) + 0.37) / f64::from(STEPS);
        let place = |step: u32| from + (to - from) * share(step);
        let values: Vec<f64> = (0..STEPS).map(|step| function(place(step))).collect();
        Hash::of(&values).value()
    };
    let single = |function: fn(f32) -> f32| move |x: f64| f64::from(function(x as f32));
    let functions = [
        over(-7.0, 7.0, &f64::sin),
        over(-7.0, 7.0, &f64::cos),
        over(-1.5, 1.5, &f64::tan),
        over(-1.0, 1.0, &f64::acos),
        over(-2.0, 2.0, &|y| y.atan2(0.7)),
        over(-30.0, 5.0, &f64::exp),
        over(-3.0, 3.0, &f64::exp2),
        over(0.0, 3.0, &f64::cosh),
        over(1e-6, 9.0, &f64::ln),
        over(1e-6, 9.0, &f64::log2),
        over(1e-6, 9.0, &f64::log10),
        over(-0.9, 9.0, &f64::ln_1p),
        over(1e-6, 9.0, &|x| x.powf(0.25)),
        over(1.0, 9.0, &|x| x.powf(-20.0)),
        over(1e-6, 9.0, &f64::cbrt),
        over(1e-6, 9.0, &|x| x.hypot(0.7)),
        over(-7.0, 7.0, &single(f32::sin)),
        over(-7.0, 7.0, &single(f32::cos)),
        over(-9.0, 2.0, &single(f32::exp)),
        over(0.0, 2.0, &single(|x| x.powf(1.0 / 2.4))),
        over(0.0, 2.0, &single(|x| x.powf(2.4))),
    ];
    Hash::of(&functions).value()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_of_the_math_functions_is_the_same_every_time() {
        assert_eq!(math(), math());
        eprintln!("math functions: {:#018x}", math());
    }
}
