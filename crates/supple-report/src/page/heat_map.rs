//! Joints × methods at a glance: how far every method leaves every joint from its shape at rest.

use super::elements::{key, named};
use super::table::{plain_percent, signed_percent};
use super::writer::Writer;
use crate::findings::{Effect, JointFinding};
use crate::phrases::both_sides;
use crate::thickness::Thickness;
use crate::verdict::thickness_words;
use maud::{Markup, html};
use supple::Method;

/// Errors from this one on have the full colour.
const FULL: f64 = 0.5;

/// The share of the full colour from which light text reads better than dark text.
const DEEP: f64 = 0.8;

impl Writer<'_, '_> {
    /// The table; linear blending comes first, whatever the order of methods.
    pub fn heat_map(&self) -> Markup {
        let joints = &self.findings.joints;
        if joints.is_empty() {
            return html! {
                p { "No method changes the skin around any joint visibly in these motions." }
            };
        }
        let is_current = |method: &usize| self.entries[*method].method == Method::Linear;
        let (current, others): (Vec<usize>, Vec<usize>) =
            (0..self.entries.len()).partition(is_current);
        let methods: Vec<usize> = current.into_iter().chain(others).collect();
        let best = self
            .recommendation
            .as_ref()
            .map(|recommendation| recommendation.best);
        html! {
            h3 { "Joint by joint" }
            p {
                "Change of each joint’s thickness by each method, at the method’s own worst \
                 moment: pale cells keep it, red cells lose volume (−) or bulge (+)."
            }
            div.table.heat {
                table style={ "--columns:" (methods.len()) } {
                    thead {
                        tr {
                            th scope="col" { "Joint" }
                            @for &method in &methods {
                                th scope="col" class=[(best == Some(method)).then_some("chosen")] {
                                    (key(method)) span { (self.entries[method].title) }
                                    @if is_current(&method) { small { "standard in engines" } }
                                }
                            }
                        }
                    }
                    tbody {
                        @for (title, joint) in self.rows() {
                            tr {
                                th scope="row" { (named(&title)) }
                                @for &method in &methods {
                                    (cell(joint.worst[method], best == Some(method)))
                                }
                            }
                        }
                    }
                }
            }
            @if joints.iter().flat_map(|joint| &joint.worst).any(is_of_lengths) {
                p.note {
                    "* How much lengths on the skin change; the thickness cannot be measured there."
                }
            }
            @match self.findings.left_out {
                0 => {}
                1 => p { "One more joint changes too, but less, or is one of many in a hand." }
                count => p {
                    (count) " more joints change too, but less, or are among many in a hand."
                }
            }
        }
    }

    /// The joints with their titles; a left and a right one that fare alike share a row.
    fn rows(&self) -> Vec<(String, &JointFinding)> {
        let mut rows: Vec<(String, &JointFinding)> = Vec::new();
        let reads = |joint: &JointFinding| -> Vec<String> {
            joint.worst.iter().map(|effect| reading(*effect)).collect()
        };
        for joint in &self.findings.joints {
            let title = self.region_title(joint);
            let mut alike = rows
                .iter_mut()
                .filter(|(_, other)| reads(other) == reads(joint));
            match alike.find_map(|row| Some((both_sides(&row.0, title)?, row))) {
                Some((both, row)) => row.0 = both,
                None => rows.push((title.to_owned(), joint)),
            }
        }
        rows
    }
}

fn is_of_lengths(effect: &Effect) -> bool {
    matches!(effect, Effect::Distortion(_))
}

/// The text of a cell.
fn reading(effect: Effect) -> String {
    match effect {
        Effect::Fails => "fails".to_owned(),
        Effect::Thickness(thickness) => change(thickness),
        Effect::Distortion(distortion) => format!("±{}*", plain_percent(distortion)),
    }
}

fn cell(effect: Effect, chosen: bool) -> Markup {
    let share = effect.error().map_or(1.0, |error| (error / FULL).min(1.0));
    let meaning = match effect {
        Effect::Fails => "cannot do every pose of this joint".to_owned(),
        Effect::Thickness(thickness) => thickness_words(thickness),
        Effect::Distortion(_) => "how much lengths on the skin change".to_owned(),
    };
    html! {
        td class=[chosen.then_some("chosen")] style={ "--e:" (format!("{share:.2}")) }
            title=(meaning) data-deep=[(share > DEEP).then_some("")]
        { (reading(effect)) }
    }
}

/// The larger of loss and gain, with both where both show.
fn change(thickness: Thickness) -> String {
    let (loss, gain) = (thickness.loss(), thickness.gain());
    let (least, most) = (loss.min(gain), loss.max(gain));
    let word = |loses: bool| match loses {
        true => signed_percent(-loss),
        false => signed_percent(gain),
    };
    match least >= 0.04 && least > 0.4 * most {
        true => format!("{} {}", word(true), word(false)),
        false => word(loss >= gain),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_name_what_is_larger() {
        let change =
            |thinnest, thickest| change(Thickness { thinnest, thickest }).replace('\u{202f}', " ");
        assert_eq!(change(0.26, 1.0), "−74 %");
        assert_eq!(change(0.98, 1.23), "+23 %");
        assert_eq!(change(0.77, 1.23), "−23 % +23 %");
        assert_eq!(change(1.0, 1.0), "0.0 %");
    }
}
