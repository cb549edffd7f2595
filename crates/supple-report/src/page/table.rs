//! All measures of all methods in one table.

use super::elements::key;
use crate::comparison::{FrameMeasures, SlowMeasures};
use crate::findings::{JointFindings, measures_at};
use crate::methods::Entry;
use crate::study::Study;
use crate::thickness::Thickness;
use maud::{Markup, html};

/// A column: one number per method.
pub(super) struct Column {
    pub title: &'static str,
    pub explanation: &'static str,
    pub values: Vec<Option<f64>>,
    /// The format of a number.
    pub write: fn(f64) -> String,
    /// The scale from good to bad; none for numbers that are neither. Measures of stretch and
    /// bulging are neither: skin that loses volume does less of both than skin that keeps its
    /// thickness.
    pub scale: Option<Scale>,
}

/// A scale from good to bad.
pub(super) struct Scale {
    /// The badness of a number.
    pub badness: fn(f64) -> f64,
    /// The difference of badness from the best, given its number, below which nobody would notice.
    pub alike: fn(f64) -> f64,
}

/// The difference of shares, such as volumes, that can be seen.
const VISIBLE: f64 = 0.05;

/// The same of angles between normals, in degrees.
const VISIBLE_DEGREES: f64 = 5.0;

/// The difference of times that could be due to the machine, as a share.
const NOISE: f64 = 0.1;

/// Percent with a sign, from a share.
pub(super) fn signed_percent(share: f64) -> String {
    let percent = share * 100.0;
    let digits = usize::from(percent.abs() < 9.95);
    let rounded = format!("{:.digits$}", percent.abs());
    let sign = if rounded.trim_matches(['0', '.']).is_empty() {
        ""
    } else if percent < 0.0 {
        "\u{2212}"
    } else {
        "+"
    };
    format!("{sign}{rounded}\u{202f}%")
}

/// Percent without a sign, from a share.
pub(super) fn plain_percent(share: f64) -> String {
    signed_percent(share)
        .trim_start_matches(['+', '\u{2212}'])
        .to_owned()
}

fn degrees(value: f64) -> String {
    format!("{value:.1}°")
}

fn nanoseconds(value: f64) -> String {
    let digits = usize::from(value < 9.95);
    format!("{value:.digits$}\u{202f}ns")
}

fn count(value: f64) -> String {
    format!("{value:.0}")
}

/// The columns of a study, over all clips that it shows.
pub(super) fn columns(study: &Study<'_>, findings: &JointFindings) -> Vec<Column> {
    let methods = study.comparison.method_count();
    let numbers = |method: usize| {
        let clips = study.shown.iter();
        clips.flat_map(move |shown| {
            shown.samples.frames[method]
                .iter()
                .filter_map(|frame| frame.as_ref().ok())
        })
    };
    let slow = |method: usize| {
        let clips = study.shown.iter();
        clips.flat_map(move |shown| shown.samples.slow[method].iter().flatten())
    };
    let each = |value: &dyn Fn(usize) -> Option<f64>| -> Vec<Option<f64>> {
        let finite = |method| value(method).filter(|value| value.is_finite());
        (0..methods).map(finite).collect()
    };
    let most =
        |of: fn(&FrameMeasures) -> f64| each(&|method| numbers(method).map(of).reduce(f64::max));
    let most_slow =
        |of: fn(&SlowMeasures) -> f64| each(&|method| slow(method).map(of).reduce(f64::max));
    // The value farthest from zero, or from one.
    let farthest = |a: f64, b: f64| if b.abs() > a.abs() { b } else { a };
    // As the sentences tell it: each joint at its own moment.
    let thickness = |method: usize| {
        let joints = findings.joints.iter().map(|joint| joint.at);
        joints.filter_map(move |at| measures_at(study, method, at)?.regions[at.region].thickness)
    };
    let columns = vec![
        Column {
            title: "Volume",
            explanation: "Largest change of the body’s volume against the file’s rest pose. Flesh \
                          keeps its volume, so 0 is best.",
            values: each(&|method| {
                numbers(method)
                    .filter_map(|numbers| numbers.volume_change)
                    .reduce(farthest)
            }),
            write: signed_percent,
            scale: Some(Scale {
                badness: f64::abs,
                alike: |_| VISIBLE,
            }),
        },
        Column {
            title: "Thinnest joint",
            explanation: "The thickness that remains at the joint with the largest loss, of those \
                under ‘Joint by joint’ at their moments. 100 % is best.",
            values: each(&|method| {
                thickness(method)
                    .map(|thickness| thickness.thinnest)
                    .reduce(f64::min)
            }),
            write: plain_percent,
            scale: Some(Scale {
                badness: |kept| -kept.min(1.0),
                alike: |_| VISIBLE,
            }),
        },
        Column {
            title: "Largest bulge",
            explanation: "Bulging of the skin around the joint that bulges most, of those under \
                          ‘Joint by joint’ at their moments.",
            values: each(&|method| thickness(method).map(Thickness::gain).reduce(f64::max)),
            write: signed_percent,
            scale: None,
        },
        Column {
            title: "Most stretched",
            explanation: "Stretch of the most stretched hundredth of the skin, at the worst \
                          moment.",
            values: most(|numbers| numbers.stretched),
            write: signed_percent,
            scale: None,
        },
        Column {
            title: "Most compressed",
            explanation: "Compression of the most compressed hundredth of the skin, at the worst \
                          moment.",
            values: each(&|method| {
                numbers(method)
                    .map(|numbers| -numbers.compressed)
                    .reduce(f64::min)
            }),
            write: signed_percent,
            scale: None,
        },
        Column {
            title: "Skin distortion",
            explanation: "Change of lengths on the skin: the root mean square over directions, \
                          the mean over the whole body, at the worst moment.",
            values: most(|numbers| numbers.distortion),
            write: plain_percent,
            scale: None,
        },
        Column {
            title: "Edge lengths",
            explanation: "Root mean square change in length of the mesh’s edges, at the worst of \
                          every fourth moment.",
            values: most_slow(|slow| slow.edge_change),
            write: plain_percent,
            scale: None,
        },
        Column {
            title: "Area",
            explanation: "Change of the skin’s area against rest, at the worst of every fourth \
                          moment.",
            values: each(&|method| slow(method).map(|slow| slow.area_change).reduce(farthest)),
            write: signed_percent,
            scale: None,
        },
        Column {
            title: "Local bending",
            explanation: "Deviation of each point’s surroundings from a rotation (root of the \
                          as-rigid-as-possible energy), at the worst of every fourth moment.",
            values: most_slow(|slow| slow.rigid_energy.max(0.0).sqrt()),
            write: plain_percent,
            scale: None,
        },
        Column {
            title: "Normal error",
            explanation: "Mean angle between the normals of the method and those of the surface it \
                made: large angles look wrongly lit. At the worst of every fourth moment.",
            values: most_slow(|slow| slow.normal_degrees),
            write: degrees,
            scale: Some(Scale {
                badness: |value| value,
                alike: |_| VISIBLE_DEGREES,
            }),
        },
        Column {
            title: "Pops",
            explanation: "Moments at which some of the blended skin jumps from one frame to the \
                          next, played at 30 frames per second (ten seconds around a picture, or \
                          less of large characters), beyond those that every method has.",
            values: each(&|method| {
                let clips = study.shown.iter().filter_map(|shown| {
                    let common = shown.pops.iter().flatten().min()?;
                    Some((shown.pops[method]? - common) as f64)
                });
                clips.reduce(|a, b| a + b)
            }),
            write: count,
            scale: Some(Scale {
                badness: |value| value,
                alike: |_| 0.5,
            }),
        },
        Column {
            title: "Differs from linear",
            explanation: "Root mean square distance from linear blending over the blended skin, as \
                          a share of the body’s size, in the clip where it is largest.",
            values: each(&|method| {
                let clips = study.shown.iter();
                clips
                    .filter_map(|shown| shown.samples.from_linear[method])
                    .reduce(f64::max)
            }),
            write: plain_percent,
            scale: None,
        },
        Column {
            title: "Time per vertex",
            explanation: "Measured on this machine, on one processor core: positions and normals, \
                          the fastest of several runs, in the first pose of the pictures that the \
                          method can do.",
            values: each(&|method| study.costs[method]),
            write: nanoseconds,
            scale: Some(Scale {
                badness: |value| value,
                alike: |best| NOISE * best,
            }),
        },
    ];
    columns
        .into_iter()
        .filter(|column| column.values.iter().any(Option::is_some))
        .collect()
}

/// For each method, true if it is the best of a column, or looks like it. None if all do.
pub(super) fn best(column: &Column) -> Vec<bool> {
    let none = vec![false; column.values.len()];
    let Some(Scale { badness, alike }) = &column.scale else {
        return none;
    };
    let known = column.values.iter().flatten().copied();
    let Some(best) = known.min_by(|a, b| badness(*a).total_cmp(&badness(*b))) else {
        return none;
    };
    let is_alike = |value: f64| badness(value) - badness(best) <= alike(best);
    let is_best = |value: &Option<f64>| value.is_some_and(is_alike);
    match column.values.iter().flatten().all(|&value| is_alike(value)) {
        true => none,
        false => column.values.iter().map(is_best).collect(),
    }
}

/// The methods that have a value in a column.
pub(super) fn known_values(column: &Column) -> Vec<(usize, f64)> {
    let values = column.values.iter().enumerate();
    values
        .filter_map(|(method, value)| Some((method, (*value)?)))
        .collect()
}

/// The table, and what its columns mean.
pub(super) fn table(columns: &[Column], entries: &[Entry], failures: &[usize]) -> Markup {
    let marks: Vec<Vec<bool>> = columns.iter().map(best).collect();
    html! {
        div.table {
            table {
                thead {
                    tr {
                        th scope="col" { "Method" }
                        @for column in columns {
                            th scope="col" title=(column.explanation) { (column.title) }
                        }
                    }
                }
                tbody {
                    @for (method, entry) in entries.iter().enumerate() {
                        tr {
                            th scope="row" {
                                span {
                                    (key(method))
                                    span { (entry.title) (failure_note(failures[method])) }
                                }
                            }
                            @for (column, marks) in columns.iter().zip(&marks) {
                                @let best = marks[method].then_some("best");
                                td class=[best] {
                                    (column.values[method].map_or("–".to_owned(), column.write))
                                }
                            }
                        }
                    }
                }
            }
        }
        details {
            summary { "What the columns mean" }
            dl.columns {
                @for column in columns { dt { (column.title) } dd { (column.explanation) } }
            }
        }
    }
}

fn failure_note(failures: usize) -> Markup {
    html! {
        @match failures {
            0 => {}
            1 => small { "1 pose not possible" }
            count => small { (count) " poses not possible" }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(values: &[Option<f64>], badness: Option<fn(f64) -> f64>) -> Column {
        Column {
            title: "",
            explanation: "",
            values: values.to_vec(),
            write: signed_percent,
            scale: badness.map(|badness| Scale {
                badness,
                alike: |_| VISIBLE,
            }),
        }
    }

    #[test]
    fn numbers_are_short_and_signed() {
        let written = [-0.314, 0.05, 0.0001, -0.0001, 1.5].map(signed_percent);
        assert_eq!(
            written,
            [
                "−31\u{202f}%",
                "+5.0\u{202f}%",
                "0.0\u{202f}%",
                "0.0\u{202f}%",
                "+150\u{202f}%"
            ]
        );
        assert_eq!(plain_percent(-0.2), "20\u{202f}%");
        assert_eq!(
            (nanoseconds(4.23), degrees(2.14)),
            ("4.2\u{202f}ns".to_owned(), "2.1°".to_owned())
        );
    }

    #[test]
    fn the_best_are_those_that_look_the_same() {
        let volume = column(&[Some(-0.3), Some(0.02), Some(-0.06), None], Some(f64::abs));
        assert_eq!(best(&volume), [false, true, true, false]);
        let kept = column(
            &[Some(0.7), Some(0.94), Some(1.3)],
            Some(|kept| -kept.min(1.0)),
        );
        assert_eq!(best(&kept), [false, false, true]);
        let same = column(&[Some(0.1), Some(0.14), None], Some(f64::abs));
        assert_eq!(best(&same), [false; 3], "no one stands out");
        let neither = column(&[Some(0.1), Some(0.2)], None);
        assert_eq!(best(&neither), [false, false]);
    }
}
