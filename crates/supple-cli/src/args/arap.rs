//! Options of `arap` on the command line: words after colons, `arap:10:l=0.9:follow`.

use supple::arap::{ArapOptions, HandleSmoothing};

/// What may follow `arap:`.
pub(super) const KNOWN_WORDS: &str = "a number of rounds, l=THRESHOLD, tolerance=SHARE, strict, \
                                      unsmoothed, plain, follow, with colons between them";

/// The number of rounds where only a tolerance is given: a fifth of a second at 10,000 vertices.
const MOST_BY_TOLERANCE: usize = 100;

/// The option that a word sets; each may be set once.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Setting {
    Rounds,
    Threshold,
    Tolerance,
    EveryHandle,
    Smoothing,
    Following,
}

/// Reason why words make no options.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum WordFault {
    /// A word is unknown.
    Unknown,
    /// Two words exclude each other, or a number is out of range.
    Invalid(String),
}

/// Reads options; those that are not named have their defaults. A tolerance without a number of
/// rounds has as many as it takes, up to [`MOST_BY_TOLERANCE`].
pub(super) fn options_from_words(words: &str) -> Result<ArapOptions, WordFault> {
    let mut options = ArapOptions::default();
    let mut given: Vec<(Setting, &str)> = Vec::new();
    for word in words.split(':') {
        let setting = take_word(&mut options, word).ok_or(WordFault::Unknown)?;
        if let Some(&(_, before)) = given.iter().find(|(known, _)| *known == setting) {
            return Err(WordFault::Invalid(match before == word {
                true => format!("'{word}' is given twice"),
                false => format!("'{before}' and '{word}' exclude each other"),
            }));
        }
        given.push((setting, word));
    }
    let rounds_are_given = given.iter().any(|(setting, _)| *setting == Setting::Rounds);
    if options.tolerance > 0.0 && !rounds_are_given {
        options.iterations = MOST_BY_TOLERANCE;
    }
    let checked = options.check();
    checked.map_err(|error| WordFault::Invalid(error.to_string()))?;
    Ok(options)
}

/// Changes options as a word says; returns what it is setting, or `None` if it is unknown.
fn take_word(options: &mut ArapOptions, word: &str) -> Option<Setting> {
    let setting = match word.split_once('=') {
        Some(("l", number)) => {
            options.threshold = number.parse().ok()?;
            Setting::Threshold
        }
        Some(("tolerance", number)) => {
            options.tolerance = number.parse().ok()?;
            Setting::Tolerance
        }
        Some(_) => return None,
        None => match word {
            "strict" => {
                options.every_handle = false;
                Setting::EveryHandle
            }
            "follow" => {
                options.follow = true;
                Setting::Following
            }
            "plain" => {
                options.smoothing = HandleSmoothing::Plain;
                Setting::Smoothing
            }
            "unsmoothed" => {
                options.smoothing = HandleSmoothing::None;
                Setting::Smoothing
            }
            number => {
                options.iterations = number.parse().ok()?;
                Setting::Rounds
            }
        },
    };
    Some(setting)
}

/// The words for options that are not the defaults; `None` if all are.
pub(super) fn words(options: &ArapOptions) -> Option<String> {
    let usual = ArapOptions::default();
    let mut words = Vec::new();
    let unsaid = match options.tolerance > 0.0 {
        true => MOST_BY_TOLERANCE,
        false => usual.iterations,
    };
    if options.iterations != unsaid {
        words.push(options.iterations.to_string());
    }
    if options.threshold != usual.threshold {
        words.push(format!("l={}", options.threshold));
    }
    if options.tolerance != usual.tolerance {
        words.push(format!("tolerance={}", options.tolerance));
    }
    if !options.every_handle {
        words.push("strict".to_owned());
    }
    match options.smoothing {
        HandleSmoothing::None => words.push("unsmoothed".to_owned()),
        HandleSmoothing::Plain => words.push("plain".to_owned()),
        HandleSmoothing::Detailed => {}
    }
    if options.follow {
        words.push("follow".to_owned());
    }
    (!words.is_empty()).then(|| words.join(":"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_make_options_and_options_make_words() {
        let text = "10:l=0.9:tolerance=0.001:strict:plain:follow";
        let options = options_from_words(text).unwrap();
        assert_eq!(words(&options).as_deref(), Some(text));
        assert_eq!(words(&ArapOptions::default()), None);
        // A tolerance decides how many rounds there are, unless a number does.
        for (text, rounds) in [
            ("tolerance=0.001", MOST_BY_TOLERANCE),
            ("3:tolerance=0.001", 3),
            ("tolerance=0", 3),
        ] {
            let options = options_from_words(text).unwrap();
            assert_eq!(options.iterations, rounds, "{text}");
            let again = words(&options).map(|words| options_from_words(&words).unwrap());
            assert_eq!(again.unwrap_or_default(), options, "{text}");
        }
    }

    #[test]
    fn bad_words_are_refused() {
        for bad in ["", "l=x", "-3", "faster", "3:"] {
            assert_eq!(options_from_words(bad), Err(WordFault::Unknown), "{bad}");
        }
        for (bad, expected) in [
            ("l=1", "must be at least 0 and below 1"),
            ("l=nan", "must be at least 0 and below 1"),
            ("tolerance=-1", "must be at least 0"),
            ("99999", "must be at most 10000"),
            (
                "plain:unsmoothed",
                "'plain' and 'unsmoothed' exclude each other",
            ),
            ("3:follow:5", "'3' and '5' exclude each other"),
            ("l=0.9:l=0.8", "'l=0.9' and 'l=0.8' exclude each other"),
            ("strict:strict", "'strict' is given twice"),
        ] {
            let Err(WordFault::Invalid(problem)) = options_from_words(bad) else {
                panic!("{bad} is accepted");
            };
            assert!(problem.ends_with(expected), "{problem}");
        }
    }
}
