//! Rounding to whole steps with a given sum, by largest remainder.
//!
//! The one rule by which shares are rounded: weights to the grid on which they sum to exactly one,
//! weights in 16 bits, bakes in files, and what shaders unpack.

use super::Weights;

/// Rounds numbers to integers that sum to `total`: all are rounded down, and those that lost most
/// get a step each, the first of equals first. What the numbers miss of the total beyond that is
/// shared by all.
///
/// ```
/// use supple::weights::whole_steps;
///
/// assert_eq!(whole_steps(&[1.4, 1.4, 1.2], 4), [2, 1, 1]);
/// ```
pub fn whole_steps(numbers: &[f64], total: i64) -> Vec<i64> {
    let mut whole: Vec<i64> = numbers.iter().map(|number| number.floor() as i64).collect();
    let mut order: Vec<usize> = (0..numbers.len()).collect();
    let lost = |index: usize| numbers[index] - numbers[index].floor();
    order.sort_by(|&a, &b| lost(b).total_cmp(&lost(a)).then(a.cmp(&b)));
    let left = total - whole.iter().sum::<i64>();
    let count = numbers.len().max(1) as i64;
    let (each, more) = (left.div_euclid(count), left.rem_euclid(count));
    for (place, &index) in order.iter().enumerate() {
        whole[index] += each + i64::from((place as i64) < more);
    }
    whole
}

/// Rounds shares that sum to one to whole steps that sum to `all`, heaviest first.
pub(super) fn row_in_steps(shares: &[(u16, f64)], all: i64) -> Vec<(u16, i64)> {
    let numbers: Vec<f64> = shares.iter().map(|(_, share)| share * all as f64).collect();
    let joints = shares.iter().map(|&(joint, _)| joint);
    let mut steps: Vec<(u16, i64)> = joints.zip(whole_steps(&numbers, all)).collect();
    steps.sort_by_key(|&(joint, step)| (-step, joint));
    steps
}

impl Weights {
    /// The step of weights in 16 bits.
    pub(crate) const SHORT_STEP: f32 = 1.0 / (1 << 15) as f32;

    /// Rounds weights to steps of 2⁻¹⁵: a skin of a rig with such weights stores each in 16 bits
    /// and reads fewer bytes per vertex. They still sum to exactly one; weights below one step may
    /// be dropped.
    #[must_use]
    pub fn in_16_bits(&self) -> Weights {
        let mut short = self.none_of_as_many();
        let mut row = Vec::new();
        for vertex in 0..self.vertex_count() {
            let (joints, values) = self.row(vertex);
            let weights = values.iter().map(|&weight| f64::from(weight));
            row.clear();
            row.extend(joints.iter().copied().zip(weights));
            let mut steps = row_in_steps(&row, 1 << 15);
            steps.retain(|&(_, step)| step > 0);
            short.push_row(&steps, |step| step as f32 * Weights::SHORT_STEP);
        }
        short
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_sum_to_what_they_must() {
        assert_eq!(whole_steps(&[0.4, 0.4, 0.2], 1), [1, 0, 0]);
        assert_eq!(whole_steps(&[-0.5, 0.5, 0.0], 0), [0, 0, 0]);
        assert_eq!(whole_steps(&[1.2, 1.2], 9), [5, 4]);
        assert!(whole_steps(&[], 3).is_empty());
    }
}
