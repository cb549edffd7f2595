//! One sentence per joint region that names the method that keeps its thickness best.

use crate::phrases::join_names;
use crate::thickness::{TORN, Thickness};

/// The outcome of a method for a region at one moment.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Outcome<'a> {
    /// The name of the method in running text, beginning small: "linear blending".
    pub method: &'a str,
    /// True if that is a plural: "dual quaternions lose".
    pub plural: bool,
    /// True if the character uses it now (linear blending): every sentence says what it does.
    pub is_current: bool,
    /// The thickness of the region; `None` where it cannot be measured.
    pub thickness: Option<Thickness>,
    /// The mean change of lengths on the skin; 0 is no change.
    pub distortion: f64,
    /// True if the method could not deform some poses of this joint.
    pub failed: bool,
}

/// Changes of thickness below this are not seen.
const NOTHING: f64 = 0.04;

/// Only a joint that changes by more than this with some method is worth a sentence.
const WORTH_SAYING: f64 = 0.1;

/// Methods whose errors differ by less than this share of the worst one are alike, but never if by
/// more than this much; where no two are twice as far apart, nobody wins.
const ALIKE: f64 = 0.1;
const MOST_ALIKE: f64 = 0.05;

/// A difference in distortion from which on it is worth a word.
const DISTORTED: f64 = 0.05;

/// A winner's skin is torn if it is distorted so many times as much as that of the least distorted,
/// and by so much more. Less says nothing: skin that loses volume is distorted least.
const PRICE: (f64, f64) = (2.0, 0.2);

/// "All but" spares a list of at least so many names, by naming at most so many.
const ALL_BUT: (usize, usize) = (4, 2);

/// Of more names than the first number, as many as the second are listed.
const MOST_NAMES: (usize, usize) = (5, 3);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Keeps,
    Loses,
    Bulges,
    LosesAndBulges,
    Breaks,
}

fn kind_of(thickness: Thickness) -> Kind {
    match (thickness.loss() >= NOTHING, thickness.gain() >= NOTHING) {
        _ if thickness.gain() > TORN => Kind::Breaks,
        (true, true) => Kind::LosesAndBulges,
        (true, false) => Kind::Loses,
        (false, true) => Kind::Bulges,
        (false, false) => Kind::Keeps,
    }
}

/// The change of thickness by one method, in words: "loses 42 % of its thickness".
pub(crate) fn thickness_words(thickness: Thickness) -> String {
    did(&[thickness], false)
}

/// An outcome that can be judged by its thickness, and its place in the list.
#[derive(Clone, Copy)]
struct Judged {
    index: usize,
    thickness: Thickness,
}

/// The outcomes whose thickness is known, of methods that can do every pose of the joint.
fn judged(outcomes: &[Outcome<'_>]) -> Vec<Judged> {
    let judge = |(index, outcome): (usize, &Outcome<'_>)| {
        let thickness = outcome.thickness.filter(|_| !outcome.failed)?;
        Some(Judged { index, thickness })
    };
    outcomes.iter().enumerate().filter_map(judge).collect()
}

/// The difference below which errors count as alike. Torn skin does not make the rest alike.
fn tolerance(judged: &[Judged]) -> f64 {
    let whole = judged
        .iter()
        .filter(|judged| kind_of(judged.thickness) != Kind::Breaks);
    let worst = whole
        .map(|judged| judged.thickness.error())
        .fold(WORTH_SAYING, f64::max);
    (ALIKE * worst).min(MOST_ALIKE)
}

/// The methods that hold up best, by their indices; none if nothing worth mentioning happens, or
/// all are alike.
pub(crate) fn winners(outcomes: &[Outcome<'_>]) -> Vec<usize> {
    let judged = judged(outcomes);
    let errors = || judged.iter().map(|judged| judged.thickness.error());
    let (best, worst) = (
        errors().fold(f64::INFINITY, f64::min),
        errors().fold(0.0, f64::max),
    );
    let tolerance = tolerance(&judged);
    if worst < WORTH_SAYING || worst - best <= 2.0 * tolerance {
        return Vec::new();
    }
    let near = |judged: &&Judged| judged.thickness.error() - best <= tolerance;
    // What looks like the current state is not called best beside something that looks better.
    let current = judged
        .iter()
        .find(|judged| outcomes[judged.index].is_current);
    let current = current.map(|judged| judged.thickness.error());
    let improved = current.filter(|current| current - best > tolerance);
    let improves = |judged: &&Judged| {
        improved.is_none_or(|current| current - judged.thickness.error() > tolerance)
    };
    judged
        .iter()
        .filter(near)
        .filter(improves)
        .map(|judged| judged.index)
        .collect()
}

/// The sentence about a region; `None` where no method changes it visibly.
pub(crate) fn sentence(outcomes: &[Outcome<'_>]) -> Option<String> {
    let judged = judged(outcomes);
    let worst = judged
        .iter()
        .max_by(|a, b| a.thickness.error().total_cmp(&b.thickness.error()));
    let mut clauses = match worst {
        Some(worst) if worst.thickness.error() >= WORTH_SAYING => {
            let winners = winners(outcomes);
            match winners.is_empty() {
                true => all_alike(outcomes, &judged),
                false => apart(outcomes, &judged, worst, &winners),
            }
        }
        _ => {
            let clause = least_distorted(outcomes)?;
            let measured = judged.len() == outcomes.iter().filter(|other| !other.failed).count();
            vec![match worst.filter(|_| measured) {
                Some(worst) => format!(
                    "changes its thickness by no more than {} with any method; {clause}",
                    percent(worst.thickness.error())
                ),
                None => clause,
            }]
        }
    };
    let places = |wanted: &dyn Fn(&Outcome<'_>) -> bool| -> Vec<usize> {
        (0..outcomes.len())
            .filter(|&index| wanted(&outcomes[index]))
            .collect()
    };
    let failed = places(&|outcome| outcome.failed);
    if !failed.is_empty() {
        clauses.push(format!(
            "{} cannot do every pose of this joint",
            names(outcomes, &failed)
        ));
    }
    let unknown = places(&|outcome| !outcome.failed && outcome.thickness.is_none());
    if !unknown.is_empty() && !judged.is_empty() {
        clauses.push(format!(
            "the thickness with {} cannot be measured",
            names(outcomes, &unknown)
        ));
    }
    Some(format!("{}.", clauses.join("; ")))
}

/// Clauses where no method stands out by thickness.
fn all_alike(outcomes: &[Outcome<'_>], judged: &[Judged]) -> Vec<String> {
    let mut clauses = by_kind(outcomes, judged);
    clauses.extend(least_distorted(outcomes));
    clauses
}

/// One clause for every way in which some methods fail: "a loses 12 %", "b bulges by 12 %".
fn by_kind(outcomes: &[Outcome<'_>], judged: &[Judged]) -> Vec<String> {
    let mut rest = judged.to_vec();
    let mut clauses = Vec::new();
    while let Some(first) = rest.first() {
        let kind = kind_of(first.thickness);
        let (same, others): (Vec<_>, Vec<_>) = rest
            .into_iter()
            .partition(|judged| kind_of(judged.thickness) == kind);
        clauses.push(clause(outcomes, &same));
        rest = others;
    }
    clauses
}

/// Methods, and what they did: "linear blending loses 42 % of its thickness".
fn clause(outcomes: &[Outcome<'_>], members: &[Judged]) -> String {
    let places: Vec<usize> = members.iter().map(|judged| judged.index).collect();
    let changes: Vec<Thickness> = members.iter().map(|judged| judged.thickness).collect();
    let plural = is_plural(outcomes, &places);
    format!("{} {}", names(outcomes, &places), did(&changes, plural))
}

/// Clauses where methods differ: the worst, the worst of another kind, and the best.
fn apart(
    outcomes: &[Outcome<'_>],
    judged: &[Judged],
    worst: &Judged,
    winners: &[usize],
) -> Vec<String> {
    let tolerance = tolerance(judged);
    let (best, rest): (Vec<Judged>, Vec<Judged>) = judged
        .iter()
        .partition(|judged| winners.contains(&judged.index));
    let alike = |to: &Judged| -> Vec<Judged> {
        let (kind, error) = (kind_of(to.thickness), to.thickness.error());
        let near = |other: &&Judged| {
            kind_of(other.thickness) == kind
                && (kind == Kind::Breaks || (other.thickness.error() - error).abs() <= tolerance)
        };
        rest.iter().filter(near).copied().collect()
    };
    let fails_otherwise = |other: &&Judged| {
        let kind = kind_of(other.thickness);
        kind != kind_of(worst.thickness) && kind != Kind::Keeps
    };
    let other = rest
        .iter()
        .filter(fails_otherwise)
        .max_by(|a, b| a.thickness.error().total_cmp(&b.thickness.error()));
    let current = rest.iter().find(|judged| outcomes[judged.index].is_current);
    // What the character has now comes first, then the worst, then the worst that fails otherwise;
    // each with those that fare alike.
    let mut groups: Vec<Vec<Judged>> = Vec::new();
    for first in current.into_iter().chain([worst]).chain(other) {
        let is_named = |judged: &Judged| {
            let mut named = groups.iter().flatten();
            named.any(|other| other.index == judged.index)
        };
        if !is_named(first) {
            let group = alike(first).into_iter().filter(|judged| !is_named(judged));
            groups.push(group.collect());
        }
    }
    let mut clauses: Vec<String> = groups.iter().map(|group| clause(outcomes, group)).collect();

    let plural = is_plural(outcomes, winners);
    let hold = verb("hold", plural);
    let how = by_kind(outcomes, &best);
    let who = names(outcomes, winners);
    clauses.push(match how.len() {
        1 => {
            let changes: Vec<Thickness> = best.iter().map(|judged| judged.thickness).collect();
            format!("{who} {hold} up best and {}", did(&changes, plural))
        }
        _ => format!("{who} {hold} up best ({})", how.join("; ")),
    });
    clauses.extend(price(outcomes, winners));
    clauses
}

/// The distortion that the winners cause, if it is large.
fn price(outcomes: &[Outcome<'_>], winners: &[usize]) -> Option<String> {
    let distortions: Vec<f64> = winners
        .iter()
        .map(|&index| outcomes[index].distortion)
        .collect();
    let cheapest = distortions.iter().copied().fold(f64::INFINITY, f64::min);
    let smoothest = least_distortion(outcomes)?;
    (cheapest > PRICE.0 * smoothest && cheapest - smoothest > PRICE.1).then(|| {
        format!(
            "the price is skin that changes its lengths by {} on average, against {} with {}",
            range(distortions.iter().copied()),
            percent(smoothest),
            names(outcomes, &reading(outcomes, smoothest)),
        )
    })
}

fn least_distortion(outcomes: &[Outcome<'_>]) -> Option<f64> {
    let known = outcomes.iter().filter(|outcome| !outcome.failed);
    known.map(|outcome| outcome.distortion).reduce(f64::min)
}

/// The methods whose distortion reads the same.
fn reading(outcomes: &[Outcome<'_>], distortion: f64) -> Vec<usize> {
    let same = |&index: &usize| {
        let outcome = &outcomes[index];
        !outcome.failed && whole_percent(outcome.distortion) == whole_percent(distortion)
    };
    (0..outcomes.len()).filter(same).collect()
}

/// "the skin is least distorted by …", where that makes a difference.
fn least_distorted(outcomes: &[Outcome<'_>]) -> Option<String> {
    let known = outcomes.iter().filter(|outcome| !outcome.failed);
    let most = known.map(|outcome| outcome.distortion).reduce(f64::max)?;
    let least = least_distortion(outcomes)?;
    (most - least >= DISTORTED).then(|| {
        let best = reading(outcomes, least);
        format!(
            "{} {} the skin least ({} on average), {} most ({})",
            names(outcomes, &best),
            verb("distort", is_plural(outcomes, &best)),
            percent(least),
            names(outcomes, &reading(outcomes, most)),
            percent(most)
        )
    })
}

/// "linear blending, the spline and log-matrix", or shorter: "all but log-matrix", "all methods".
fn names(outcomes: &[Outcome<'_>], members: &[usize]) -> String {
    let listed = |places: &mut dyn Iterator<Item = usize>| {
        join_names(places.map(|index| outcomes[index].method))
    };
    let missing = outcomes.len() - members.len();
    match (members.len(), missing) {
        (1, _) => listed(&mut members.iter().copied()),
        (2, 0) => "both methods".to_owned(),
        (_, 0) => "all methods".to_owned(),
        (count, missing) if count >= ALL_BUT.0 && missing <= ALL_BUT.1 => {
            let mut others = (0..outcomes.len()).filter(|index| !members.contains(index));
            format!("all but {}", listed(&mut others))
        }
        (count, _) if count > MOST_NAMES.0 => {
            let first = members.iter().take(MOST_NAMES.1);
            let first: Vec<&str> = first.map(|&index| outcomes[index].method).collect();
            format!("{} and {} others", first.join(", "), count - first.len())
        }
        _ => listed(&mut members.iter().copied()),
    }
}

fn is_plural(outcomes: &[Outcome<'_>], members: &[usize]) -> bool {
    members.len() > 1 || members.iter().any(|&index| outcomes[index].plural)
}

/// "loses", "lose".
pub(crate) fn verb(stem: &str, plural: bool) -> String {
    let ending = if plural { "" } else { "s" };
    format!("{stem}{ending}")
}

/// The common failure of some methods in words: "loses 42 % of its thickness and bulges by 9 %",
/// "bulge by 7 to 9 %".
fn did(changes: &[Thickness], plural: bool) -> String {
    let losses = || changes.iter().map(|change| change.loss());
    let gains = || changes.iter().map(|change| change.gain());
    let verb = |stem: &str| verb(stem, plural);
    let bulge = || format!("{} by {}", verb("bulge"), range(gains()));
    match changes.first().map(|&change| kind_of(change)) {
        Some(Kind::Loses) => format!("{} {} of its thickness", verb("lose"), range(losses())),
        Some(Kind::Bulges) => bulge(),
        Some(Kind::LosesAndBulges) => format!(
            "{} {} of its thickness and {}",
            verb("lose"),
            range(losses()),
            bulge()
        ),
        Some(Kind::Breaks) => format!("{} the skin, by {}", verb("tear"), range(gains())),
        Some(Kind::Keeps) | None => {
            let kept = match losses().any(|loss| whole_percent(loss) > 0) {
                true => format!(
                    "{} of its thickness",
                    range(losses().map(|loss| 1.0 - loss))
                ),
                false => "its thickness".to_owned(),
            };
            match gains().any(|gain| whole_percent(gain) > 0) {
                true => format!(
                    "{} {kept}, with a bulge of {}",
                    verb("keep"),
                    range(gains())
                ),
                false => format!("{} {kept}", verb("keep")),
            }
        }
    }
}

/// "42 %", "7 to 9 %", "up to 3 %".
fn range(shares: impl Iterator<Item = f64> + Clone) -> String {
    let least = shares.clone().map(whole_percent).min().unwrap_or(0);
    let most = shares.map(whole_percent).max().unwrap_or(0);
    match least {
        _ if least == most => percent_of(most),
        0 => format!("up to {}", percent_of(most)),
        _ => format!("{least} to {}", percent_of(most)),
    }
}

fn whole_percent(share: f64) -> i64 {
    (share * 100.0).round() as i64
}

fn percent_of(whole: i64) -> String {
    format!("{whole}\u{202f}%")
}

/// A share in whole percent.
fn percent(share: f64) -> String {
    percent_of(whole_percent(share))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(method: &str, thinnest: f64, thickest: f64) -> Outcome<'_> {
        Outcome {
            method,
            plural: method.ends_with('s'),
            is_current: method == "linear blending",
            thickness: Some(Thickness { thinnest, thickest }),
            distortion: 0.1,
            failed: false,
        }
    }

    fn said(outcomes: &[Outcome<'_>]) -> String {
        sentence(outcomes)
            .unwrap_or_default()
            .replace('\u{202f}', " ")
    }

    #[test]
    fn the_worst_the_other_way_to_fail_and_the_best_are_named() {
        let outcomes = [
            outcome("linear blending", 0.58, 1.0),
            outcome("dual quaternions", 1.0, 1.09),
            outcome("swing-twist", 0.98, 1.01),
        ];
        assert_eq!(
            said(&outcomes),
            "linear blending loses 42 % of its thickness; dual quaternions bulge by 9 %; \
             swing-twist holds up best and keeps 98 % of its thickness, with a bulge of 1 %."
        );
        assert_eq!(winners(&outcomes), [2]);
    }

    #[test]
    fn what_linear_blending_does_is_always_said() {
        let outcomes = [
            outcome("log-matrix", 0.2, 1.0),
            outcome("linear blending", 0.7, 1.0),
            outcome("swing-twist", 0.98, 1.0),
        ];
        assert_eq!(
            said(&outcomes),
            "linear blending loses 30 % of its thickness; log-matrix loses 80 % of its thickness; \
             swing-twist holds up best and keeps 98 % of its thickness."
        );
    }

    #[test]
    fn long_lists_of_methods_are_cut() {
        let bad = ["a", "b", "c"].map(|method| outcome(method, 0.5, 1.0));
        let good = ["d", "e", "f", "g", "h", "i"].map(|method| outcome(method, 1.0, 1.0));
        let outcomes: Vec<Outcome<'_>> = bad.into_iter().chain(good).collect();
        assert_eq!(
            said(&outcomes),
            "a, b and c lose 50 % of its thickness; d, e, f and 3 others hold up best and keep its \
             thickness."
        );
    }

    #[test]
    fn what_looks_like_linear_blending_is_not_called_best() {
        let outcomes = [
            outcome("worst", 0.4, 1.0),
            outcome("linear blending", 0.56, 1.0),
            outcome("delta mush", 0.60, 1.0),
            outcome("centers", 0.64, 1.0),
        ];
        assert_eq!(winners(&outcomes), [3]);
        assert_eq!(
            winners(&outcomes[..3]),
            [1, 2],
            "neither looks better than the other"
        );
    }

    #[test]
    fn losing_here_and_bulging_there_is_worse_than_either() {
        let outcomes = [
            outcome("a", 0.62, 1.31),
            outcome("b", 0.61, 1.0),
            outcome("c", 1.0, 1.03),
        ];
        assert_eq!(
            said(&outcomes),
            "a loses 38 % of its thickness and bulges by 31 %; b loses 39 % of its thickness; \
             c holds up best and keeps its thickness, with a bulge of 3 %."
        );
        // Whether the loss or the gain is a hair larger does not matter.
        let tie = |loss: f64, gain: f64| {
            [
                outcome("a", 1.0 - loss, 1.0 + gain),
                outcome("b", 0.95, 1.0),
            ]
        };
        assert_eq!(said(&tie(0.2001, 0.2)), said(&tie(0.2, 0.2001)));
    }

    #[test]
    fn opposite_failures_are_not_one() {
        let opposite = [
            outcome("a", 0.88, 1.0),
            outcome("b", 1.0, 1.125),
            outcome("c", 0.4, 1.0),
        ];
        assert_eq!(
            said(&opposite),
            "c loses 60 % of its thickness; a and b hold up best \
             (a loses 12 % of its thickness; b bulges by 13 %)."
        );
        assert_eq!(winners(&opposite), [0, 1]);
        assert_eq!(
            said(&opposite[..2]),
            "a loses 12 % of its thickness; b bulges by 13 %."
        );
        assert!(winners(&opposite[..2]).is_empty(), "neither is better");
    }

    #[test]
    fn unknown_thickness_wins_nothing() {
        let unknown = Outcome {
            thickness: None,
            ..outcome("unknown", 1.0, 1.0)
        };
        let outcomes = [outcome("a", 0.5, 1.0), outcome("b", 0.8, 1.0), unknown];
        assert_eq!(winners(&outcomes), [1]);
        assert_eq!(
            said(&outcomes),
            "a loses 50 % of its thickness; b holds up best and loses 20 % of its thickness; \
             the thickness with unknown cannot be measured."
        );
        assert_eq!(said(&outcomes[2..]), "");
    }

    #[test]
    fn torn_skin_does_not_make_the_rest_alike() {
        let outcomes = [
            outcome("a", 1.0, 6.0),
            outcome("b", 0.8, 1.0),
            outcome("c", 0.95, 1.0),
        ];
        assert_eq!(winners(&outcomes), [2]);
        assert!(said(&outcomes).starts_with("a tears the skin, by 500 %; b loses 20 %"));
    }

    #[test]
    fn ties_are_ties() {
        let outcomes = [
            outcome("linear blending", 0.80, 1.0),
            outcome("spherical blending", 0.81, 1.0),
            outcome("log-matrix", 0.79, 1.0),
        ];
        assert_eq!(
            said(&outcomes),
            "all methods lose 19 to 21 % of its thickness."
        );
        assert_eq!(
            said(&outcomes[..2]),
            "both methods lose 19 to 20 % of its thickness."
        );
        assert_eq!(
            said(&outcomes[..1]),
            "linear blending loses 20 % of its thickness."
        );
        let several = [
            outcome("a", 0.5, 1.0),
            outcome("b", 0.99, 1.0),
            outcome("c", 0.985, 1.0),
            outcome("d", 0.98, 1.0),
            outcome("e", 0.99, 1.0),
        ];
        assert_eq!(
            said(&several),
            "a loses 50 % of its thickness; \
             all but a hold up best and keep 98 to 99 % of its thickness."
        );
        assert_eq!(
            said(&several[..4]),
            "a loses 50 % of its thickness; \
             b, c and d hold up best and keep 98 to 99 % of its thickness."
        );
    }

    #[test]
    fn nobody_is_best_and_worst_at_once() {
        let close = [
            outcome("a", 1.0, 1.09),
            outcome("b", 1.0, 1.095),
            outcome("c", 1.0, 1.12),
        ];
        assert_eq!(
            said(&close),
            "c bulges by 12 %; a and b hold up best and bulge by 9 %."
        );
    }

    #[test]
    fn where_nothing_happens_nothing_is_said() {
        let calm = [outcome("a", 0.99, 1.01), outcome("b", 0.98, 1.0)];
        assert_eq!(said(&calm), "");
        assert!(winners(&calm).is_empty());
        assert_eq!(said(&[]), "");
        let stretched = Outcome {
            distortion: 0.4,
            ..outcome("b", 0.98, 1.0)
        };
        assert_eq!(
            said(&[calm[0].clone(), stretched, outcome("c", 1.0, 1.0)]),
            "changes its thickness by no more than 2 % with any method; \
             a and c distort the skin least (10 % on average), b most (40 %)."
        );
    }

    #[test]
    fn the_price_of_thickness_and_poses_that_cannot_be_done_are_told() {
        let outcomes = [
            outcome("linear blending", 0.7, 1.0),
            Outcome {
                distortion: 0.8,
                ..outcome("rigid", 1.0, 1.0)
            },
            Outcome {
                failed: true,
                ..outcome("log-matrix", 1.0, 1.0)
            },
        ];
        assert_eq!(
            said(&outcomes),
            "linear blending loses 30 % of its thickness; \
             rigid holds up best and keeps its thickness; \
             the price is skin that changes its lengths by 80 % on average, \
             against 10 % with linear blending; \
             log-matrix cannot do every pose of this joint."
        );
        // A winner that distorts as little as any: nothing has a price.
        let free = [
            outcomes[0].clone(),
            outcomes[1].clone(),
            outcome("b", 0.99, 1.0),
        ];
        assert!(!said(&free).contains("price"), "{}", said(&free));
    }
}
