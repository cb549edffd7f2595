//! The choice of moments and clips that show most, and show different things.

/// Something that could be shown.
pub(crate) struct Candidate {
    /// Its worth by itself.
    pub score: f64,
    /// A vector with one entry per kind of artifact; only its direction matters.
    pub signature: Vec<f64>,
}

/// Candidates worth less than this share of the best one are not worth a row of pictures.
const WORTH_SHOWING: f64 = 0.2;

/// Picks up to `most`, best first, each worth less the more it is like those before it; `apart`
/// decides which pairs may both be picked.
pub(crate) fn pick(
    candidates: &[Candidate],
    most: usize,
    apart: impl Fn(usize, usize) -> bool,
) -> Vec<usize> {
    let mut picked: Vec<usize> = Vec::new();
    let mut least = 0.0;
    while picked.len() < most {
        let worth = |index: usize| {
            let candidate = &candidates[index];
            let known = picked.iter().map(|&other| {
                if other == index || !apart(index, other) {
                    1.0
                } else {
                    likeness(&candidate.signature, &candidates[other].signature)
                }
            });
            candidate.score * (1.0 - known.fold(0.0, f64::max))
        };
        let best = (0..candidates.len())
            .map(|index| (index, worth(index)))
            .filter(|(_, worth)| worth.is_finite() && *worth > 0.0)
            // Of equals the first.
            .reduce(|best, next| if next.1 > best.1 { next } else { best });
        let Some((index, worth)) = best.filter(|(_, worth)| *worth > least) else {
            break;
        };
        if picked.is_empty() {
            least = worth * WORTH_SHOWING;
        }
        picked.push(index);
    }
    picked
}

/// The squared cosine between two signatures: 0 for nothing in common, 1 for the same direction.
fn likeness(a: &[f64], b: &[f64]) -> f64 {
    let dot = |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).map(|(a, b)| a * b).sum() };
    let lengths = dot(a, a) * dot(b, b);
    if lengths > 0.0 {
        (dot(a, b).powi(2) / lengths).min(1.0)
    } else {
        1.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidate(score: f64, signature: &[f64]) -> Candidate {
        Candidate {
            score,
            signature: signature.to_vec(),
        }
    }

    #[test]
    fn the_best_comes_first_and_the_same_is_not_told_twice() {
        let candidates = [
            candidate(1.0, &[1.0, 0.0]),
            candidate(3.0, &[3.0, 0.1]),
            candidate(2.9, &[2.9, 0.1]),
            candidate(1.5, &[0.1, 1.5]),
        ];
        assert_eq!(pick(&candidates, 3, |_, _| true), [1, 3]);
        assert_eq!(pick(&candidates, 1, |_, _| true), [1]);
    }

    #[test]
    fn neighbours_and_trifles_are_left_out() {
        let candidates = [
            candidate(3.0, &[1.0, 0.0, 0.0]),
            candidate(2.0, &[0.0, 1.0, 0.0]),
            candidate(0.3, &[0.0, 0.0, 1.0]),
        ];
        assert_eq!(pick(&candidates, 3, |_, _| true), [0, 1]);
        assert_eq!(pick(&candidates, 3, |a, b| a.abs_diff(b) > 1), [0]);
    }

    #[test]
    fn nothing_happens_nothing_is_shown() {
        assert!(pick(&[], 3, |_, _| true).is_empty());
        let still = [candidate(0.0, &[0.0]), candidate(f64::NAN, &[1.0])];
        assert!(pick(&still, 3, |_, _| true).is_empty());
    }
}
