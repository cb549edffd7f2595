//! One sentence per joint region: which method holds up. Made from numbers alone.

/// What a method does to a region at its worst.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Outcome<'a> {
    /// What the method is called in running text, beginning small: "linear blending".
    pub method: &'a str,
    /// Whether that is a plural: "dual quaternions lose".
    pub plural: bool,
    /// The least share of its thickness that is left, and the most that it swells to; 1 is unchanged. None where that
    /// cannot be measured.
    pub thickness: Option<(f64, f64)>,
    /// By how much lengths on the skin change, on average; 0 is not at all.
    pub distortion: f64,
    /// Whether there were poses that the method could not do.
    pub failed: bool,
}

/// Changes of thickness below this are not seen.
pub(super) const NOTHING: f64 = 0.04;

/// Only a joint that changes by more than this with some method is worth a sentence.
const WORTH_SAYING: f64 = 0.1;

/// Skin that is so much farther out than at rest has not bulged: it has been torn away.
const BROKEN: f64 = 1.0;

/// Methods closer than this to each other are alike.
const ALIKE: f64 = 0.025;

/// A difference in distortion from which on it is worth a word.
const DISTORTED: f64 = 0.05;

/// How many names a list gives before it only counts.
const MOST_NAMES: usize = 3;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Keeps,
    Loses,
    Bulges,
    Breaks,
}

impl Outcome<'_> {
    /// How far the thickness gets from what it was.
    pub fn error(&self) -> f64 {
        let (loss, gain) = self.changes();
        loss.max(gain).max(0.0)
    }

    fn changes(&self) -> (f64, f64) {
        let (thinnest, thickest) = self.thickness.unwrap_or((1.0, 1.0));
        (1.0 - thinnest, thickest - 1.0)
    }

    fn kind(&self) -> Kind {
        let (loss, gain) = self.changes();
        if self.error() < NOTHING {
            Kind::Keeps
        } else if loss >= gain {
            Kind::Loses
        } else if gain > BROKEN {
            Kind::Breaks
        } else {
            Kind::Bulges
        }
    }
}

/// The sentence on a region, or nothing where no method changes it visibly.
pub(super) fn sentence(title: &str, outcomes: &[Outcome<'_>]) -> Option<String> {
    let known: Vec<&Outcome<'_>> = outcomes.iter().filter(|outcome| !outcome.failed).collect();
    let (best, worst) = extremes(&known)?;

    let mut clauses = if worst.error() < WORTH_SAYING {
        let clause = least_distorted(&known)?;
        let measured = known.iter().all(|outcome| outcome.thickness.is_some());
        vec![match measured {
            true => format!("keeps its thickness about as it was with every method; {clause}"),
            false => clause,
        }]
    } else if worst.error() - best.error() < ALIKE {
        all_alike(&known)
    } else {
        apart(&known, best, worst)
    };
    let failed: Vec<&Outcome<'_>> = outcomes.iter().filter(|outcome| outcome.failed).collect();
    if !failed.is_empty() {
        let cannot = Group::of(failed);
        clauses.push(format!("{} cannot do every pose here", cannot.names()));
    }
    Some(format!("{title}: {}.", clauses.join("; ")))
}

/// The least and the most changed.
fn extremes<'a>(known: &[&'a Outcome<'a>]) -> Option<(&'a Outcome<'a>, &'a Outcome<'a>)> {
    let by_error = |a: &&&Outcome<'_>, b: &&&Outcome<'_>| a.error().total_cmp(&b.error());
    Some((
        known.iter().min_by(by_error)?,
        known.iter().max_by(by_error)?,
    ))
}

/// Clauses where no method stands out by thickness.
fn all_alike(known: &[&Outcome<'_>]) -> Vec<String> {
    let group = Group::of(known.to_vec());
    let who = match known {
        [_] => group.names(),
        [_, _] => "both methods".to_owned(),
        _ => "all methods".to_owned(),
    };
    let mut clauses = vec![format!("{who} {}", group.did())];
    clauses.extend(least_distorted(known));
    clauses
}

/// Clauses where methods differ: the worst, the worst of another kind, and the best.
fn apart<'a>(known: &[&'a Outcome<'a>], best: &Outcome<'_>, worst: &Outcome<'_>) -> Vec<String> {
    let middle = (best.error() + worst.error()) / 2.0;
    let alike = |to: &Outcome<'_>| {
        // Nobody is among the best and the worst at once.
        let near = |outcome: &&&Outcome<'_>| {
            outcome.kind() == to.kind()
                && ((outcome.error() - to.error()).abs() < ALIKE || to.kind() == Kind::Breaks)
                && (outcome.error() > middle) == (to.error() > middle)
        };
        Group::of(known.iter().filter(near).copied().collect())
    };
    let losers = alike(worst);
    let mut clauses = vec![format!("{} {}", losers.names(), losers.did())];
    let fails_otherwise = |outcome: &&&Outcome<'_>| {
        outcome.kind() != worst.kind()
            && outcome.kind() != Kind::Keeps
            && outcome.error() >= best.error() + ALIKE
    };
    let others: Vec<&Outcome<'_>> = known.iter().filter(fails_otherwise).copied().collect();
    let other = extremes(&others).map(|(_, worst)| worst);
    if let Some(other) = other {
        let others = alike(other);
        clauses.push(format!("{} {}", others.names(), others.did()));
    }
    let winners = alike(best);
    clauses.push(format!(
        "{} {} up best and {}",
        winners.names(),
        winners.verb("hold"),
        winners.did()
    ));
    // Thickness is not all: skin that is torn along has kept it too.
    let smoothest = known
        .iter()
        .min_by(|a, b| a.distortion.total_cmp(&b.distortion));
    let price = winners.most(|outcome| outcome.distortion);
    if let Some(smoothest) = smoothest
        && price > 1.5 * smoothest.distortion
        && price - smoothest.distortion > DISTORTED
    {
        clauses.push(format!(
            "the price is skin that changes its lengths by {} on average, against {} with {}",
            percent(price),
            percent(smoothest.distortion),
            smoothest.method
        ));
    }
    clauses
}

/// "the skin is least distorted by …", where that makes a difference.
fn least_distorted(known: &[&Outcome<'_>]) -> Option<String> {
    let by_distortion =
        |a: &&&Outcome<'_>, b: &&&Outcome<'_>| a.distortion.total_cmp(&b.distortion);
    let least = known.iter().min_by(by_distortion)?;
    let most = known.iter().max_by(by_distortion)?;
    (most.distortion - least.distortion >= DISTORTED).then(|| {
        format!(
            "{} {} the skin least ({} on average), {} most ({})",
            least.method,
            if least.plural { "distort" } else { "distorts" },
            percent(least.distortion),
            most.method,
            percent(most.distortion)
        )
    })
}

/// Methods that do the same.
struct Group<'a> {
    members: Vec<&'a Outcome<'a>>,
}

impl<'a> Group<'a> {
    fn of(members: Vec<&'a Outcome<'a>>) -> Group<'a> {
        Group { members }
    }

    fn most(&self, value: impl Fn(&Outcome<'_>) -> f64) -> f64 {
        self.members
            .iter()
            .map(|member| value(member))
            .fold(0.0, f64::max)
    }

    /// "linear blending, the spline and 2 others".
    fn names(&self) -> String {
        let names: Vec<&str> = self.members.iter().map(|member| member.method).collect();
        match names.split_last() {
            None => String::new(),
            Some((only, [])) => (*only).to_owned(),
            Some((last, before)) if names.len() <= MOST_NAMES => {
                format!("{} and {last}", before.join(", "))
            }
            Some(_) => {
                let (shown, rest) = names.split_at(MOST_NAMES - 1);
                format!("{} and {} others", shown.join(", "), rest.len())
            }
        }
    }

    fn verb(&self, stem: &str) -> String {
        let plural = self.members.len() > 1 || self.members.iter().any(|member| member.plural);
        let ending = if plural { "" } else { "s" };
        format!("{stem}{ending}")
    }

    /// "loses 42 % of its thickness", "bulge by 7 to 9 %".
    fn did(&self) -> String {
        let most = self.most(|outcome| outcome.error());
        let errors = self.members.iter().map(|member| member.error());
        let least = errors.fold(f64::INFINITY, f64::min);
        let range = match (whole_percent(least), whole_percent(most)) {
            (least, most) if least == most => percent_of(most),
            (least, most) => format!("{least} to {}", percent_of(most)),
        };
        match self
            .members
            .iter()
            .max_by(|a, b| a.error().total_cmp(&b.error()))
            .map(|m| m.kind())
        {
            None | Some(Kind::Keeps) => {
                let kept = percent(1.0 - most);
                format!("{} {kept} of its thickness", self.verb("keep"))
            }
            Some(Kind::Loses) => format!("{} {range} of its thickness", self.verb("lose")),
            Some(Kind::Breaks) => format!("{} the skin out of all shape", self.verb("tear")),
            Some(Kind::Bulges) => format!("{} by {range}", self.verb("bulge")),
        }
    }
}

fn whole_percent(share: f64) -> i64 {
    (share * 100.0).round() as i64
}

fn percent_of(whole: i64) -> String {
    format!("{whole}\u{202f}%")
}

/// A share in whole percent.
pub(super) fn percent(share: f64) -> String {
    percent_of(whole_percent(share))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(method: &str, thinnest: f64, thickest: f64) -> Outcome<'_> {
        Outcome {
            method,
            plural: method.ends_with('s'),
            thickness: Some((thinnest, thickest)),
            distortion: 0.1,
            failed: false,
        }
    }

    fn told(outcomes: &[Outcome<'_>]) -> String {
        let sentence = sentence("Left elbow", outcomes);
        sentence.unwrap_or_default().replace('\u{202f}', " ")
    }

    #[test]
    fn the_worst_the_other_way_to_fail_and_the_best_are_named() {
        let outcomes = [
            outcome("linear blending", 0.58, 1.0),
            outcome("dual quaternions", 1.0, 1.09),
            outcome("swing-twist", 0.98, 1.01),
        ];
        assert_eq!(
            told(&outcomes),
            "Left elbow: linear blending loses 42 % of its thickness; dual quaternions bulge by 9 %; \
             swing-twist holds up best and keeps 98 % of its thickness."
        );
    }

    #[test]
    fn ties_are_ties() {
        let outcomes = [
            outcome("linear blending", 0.80, 1.0),
            outcome("spherical blending", 0.81, 1.0),
            outcome("log-matrix", 0.79, 1.0),
        ];
        assert_eq!(
            told(&outcomes),
            "Left elbow: all methods lose 19 to 21 % of its thickness."
        );
        assert_eq!(
            told(&outcomes[..2]),
            "Left elbow: both methods lose 19 to 20 % of its thickness."
        );
        assert_eq!(
            told(&outcomes[..1]),
            "Left elbow: linear blending loses 20 % of its thickness."
        );
        let several = [
            outcome("a", 0.5, 1.0),
            outcome("b", 0.99, 1.0),
            outcome("c", 0.985, 1.0),
            outcome("d", 0.98, 1.0),
            outcome("e", 0.99, 1.0),
        ];
        assert_eq!(
            told(&several),
            "Left elbow: a loses 50 % of its thickness; b, c and 2 others hold up best and keep 98 % of its thickness."
        );
    }

    #[test]
    fn nobody_is_best_and_worst_at_once() {
        let close = [
            outcome("a", 1.0, 1.08),
            outcome("b", 1.0, 1.095),
            outcome("c", 1.0, 1.11),
        ];
        assert_eq!(
            told(&close),
            "Left elbow: c bulges by 11 %; a and b hold up best and bulge by 8 to 9 %."
        );
    }

    #[test]
    fn where_nothing_happens_nothing_is_said() {
        let calm = [outcome("a", 0.99, 1.01), outcome("b", 0.98, 1.0)];
        assert_eq!(told(&calm), "");
        assert_eq!(told(&[]), "");
        let stretched = Outcome {
            distortion: 0.4,
            ..outcome("b", 0.98, 1.0)
        };
        assert_eq!(
            told(&[calm[0].clone(), stretched]),
            "Left elbow: keeps its thickness about as it was with every method; \
             a distorts the skin least (10 % on average), b most (40 %)."
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
            told(&outcomes),
            "Left elbow: linear blending loses 30 % of its thickness; rigid holds up best and keeps 100 % of its thickness; \
             the price is skin that changes its lengths by 80 % on average, against 10 % with linear blending; \
             log-matrix cannot do every pose here."
        );
    }
}
