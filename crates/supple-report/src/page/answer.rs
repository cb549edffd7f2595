//! The answer at the top of a character's part: what to use, why, and the commands for it.

use super::elements::isolated;
use super::writer::Writer;
use crate::Subject;
use crate::command_line::{argument, stem};
use crate::findings::{Effect, JointFinding};
use crate::names::{capitalised, clean, without_side};
use crate::phrases::join_names;
use crate::recommendation::{ForLinear, Recommendation, TwistAdvice, bones};
use crate::verdict::thickness_words;
use maud::{Markup, html};
use std::collections::HashSet;

/// The most joints whose numbers are given as reasons.
const MOST_REASONS: usize = 3;

/// A command to copy, and what it does.
pub(crate) struct Command {
    pub line: String,
    pub purpose: String,
}

/// The answer in words.
pub(crate) struct Answer {
    /// One sentence: what to use.
    pub headline: String,
    pub commands: Vec<Command>,
}

impl Writer<'_, '_> {
    /// The recommended method, the reasons, and the commands.
    pub fn answer(&self, subject: &Subject<'_>) -> Markup {
        let Some(recommendation) = &self.recommendation else {
            return Markup::default();
        };
        let commands = self.commands(recommendation, &subject.file);
        html! {
            div.answer {
                p.verdict { (self.advice(recommendation)) }
                @for reason in self.reasons(recommendation) { p { (reason) } }
                @if !commands.is_empty() {
                    div.commands {
                        @for command in &commands {
                            p.purpose { (command.purpose) }
                            div.command {
                                pre { code { (clean(&command.line)) } }
                                button type="button" hidden { "Copy" }
                            }
                        }
                    }
                }
            }
        }
    }

    /// The recommended method and the commands as plain text.
    pub fn answer_in_words(&self, subject: &Subject<'_>) -> Option<Answer> {
        let recommendation = self.recommendation.as_ref()?;
        Some(Answer {
            headline: plain_text(&self.advice(recommendation)),
            commands: self.commands(recommendation, &subject.file),
        })
    }

    /// "Use centers of rotation; if your engine only supports linear blending, …".
    fn advice(&self, recommendation: &Recommendation) -> Markup {
        let best = recommendation.best;
        let keep = recommendation.current == Some(best);
        let for_linear = self.for_linear(&recommendation.for_linear);
        let name = &self.entries[best].title_in_text;
        html! {
            @if keep && for_linear.is_none() {
                "Keep " (name) "."
            } @else if let Some(help) = &for_linear {
                @if keep {
                    "Keep " (name) ", and " (help) "."
                } @else {
                    "Use " b { (name) }
                    "; if your engine only supports linear blending, " (help) "."
                }
            } @else {
                "Use " b { (name) } "."
            }
        }
    }

    /// "add twist joints to both forearms and bake ddm-v5".
    fn for_linear(&self, ForLinear { skin, twist }: &ForLinear) -> Option<Markup> {
        let skin = skin.map(|method| self.entries[method].method.name());
        let joints = match twist.len() {
            1 => "a twist joint",
            _ => "twist joints",
        };
        match (twist.is_empty(), skin) {
            (true, None) => None,
            (true, Some(skin)) => Some(html! { "bake " code { (skin) } " as the skin" }),
            (false, None) => Some(html! { "add " (joints) " to " (isolated(&bones(twist))) }),
            (false, Some(skin)) => Some(html! {
                "add " (joints) " to " (isolated(&bones(twist))) " and bake " code { (skin) }
            }),
        }
    }

    /// The numbers behind the advice.
    fn reasons(&self, recommendation: &Recommendation) -> Vec<Markup> {
        let best = recommendation.best;
        let joints = self.findings.joints.len();
        let mut reasons = Vec::new();
        match recommendation.current {
            Some(current) if current == best => reasons.push(html! {
                "No other method looks visibly better in these motions."
            }),
            Some(current) => {
                let better = &recommendation.better_at;
                // One of a left and a right joint is enough.
                let mut known = HashSet::new();
                let others = better.iter().map(|&at| &self.findings.joints[at]);
                let others =
                    others.filter(|joint| known.insert(without_side(self.region_title(joint))));
                let examples: Vec<String> = others
                    .take(MOST_REASONS)
                    .filter_map(|joint| self.instead(joint, best, current))
                    .collect();
                reasons.push(html! {
                    "At the worst moments, visibly better than linear blending at "
                    (better.len()) " of " (joints)
                    (if joints == 1 { " joint" } else { " joints" })
                    @if !examples.is_empty() { ": " (isolated(&join_names(&examples))) }
                    "."
                    @if !recommendation.worse_at.is_empty() {
                        " Worse at " (isolated(&self.joint_list(&recommendation.worse_at))) "."
                    }
                });
            }
            None => reasons.push(html! {
                "Of the methods compared, it keeps the thickness best at the joints below."
            }),
        }
        let twist = &recommendation.for_linear.twist;
        reasons.extend(twist.first().map(|advice| self.twist_reason(advice)));
        reasons
    }

    /// "the left elbow keeps 97 % of its thickness instead of 58 %".
    fn instead(&self, joint: &JointFinding, best: usize, current: usize) -> Option<String> {
        let (Effect::Thickness(new), Effect::Thickness(old)) =
            (joint.worst[best], joint.worst[current])
        else {
            return None;
        };
        let title = self.joint_title(joint);
        let (new, old) = (thickness_words(new), thickness_words(old));
        Some(format!("the {title} {new} (linear blending: {old})"))
    }

    fn twist_reason(&self, advice: &TwistAdvice) -> Markup {
        let joint = &self.findings.joints[advice.finding];
        html! {
            "With a twist joint in " (isolated(&format!("the {}", advice.title)))
            ", linear blending "
            (thickness_words(advice.thickness))
            " at " (isolated(&format!("the {}", self.joint_title(joint)))) "."
        }
    }

    fn joint_list(&self, places: &[usize]) -> String {
        let titles = places
            .iter()
            .map(|&at| format!("the {}", self.joint_title(&self.findings.joints[at])));
        join_names(titles.collect::<Vec<String>>())
    }

    fn commands(&self, recommendation: &Recommendation, file: &str) -> Vec<Command> {
        let mut commands = Vec::new();
        let stem = stem(file);
        let method = &self.entries[recommendation.best].method;
        let name = method.name();
        let title = &self.entries[recommendation.best].title_in_text;
        let input = argument(file);
        if recommendation.current != Some(recommendation.best) {
            let output = argument(&format!("{stem}-{name}.glb"));
            if name == "ddm-v5" {
                commands.push(Command {
                    line: format!("supple bake {input} -m {name} --as-skin -o {output}"),
                    purpose: "Replace the weights of the file; every engine can play the result:"
                        .to_owned(),
                });
            } else if name == "cor" || name.starts_with("ddm") {
                commands.push(Command {
                    line: format!("supple bake {input} -m {name} -o {output}"),
                    purpose: format!("Store the data of {title} in the file:"),
                });
            }
            if let Some(layout) = shader_layout(name) {
                commands.push(Command {
                    line: format!("supple shaders -m {name}{layout} -o shaders"),
                    purpose: format!("Write {title} as shaders for your engine:"),
                });
            }
        }
        commands.extend(for_linear_commands(&recommendation.for_linear, file));
        commands
    }
}

/// The option of `supple shaders` for a method; `None` if it has no shader, or if every engine has
/// one.
fn shader_layout(method: &str) -> Option<&'static str> {
    match method {
        "cor" | "ddm" | "ddm-v2" | "ddm-v4" | "dual-quaternion" | "linear-dual-blend" => Some(""),
        "ddm-v1" | "ddm-v3" | "delta-mush" | "spherical" | "stretch-twist" | "swing-twist" => {
            Some(" --layout packed")
        }
        _ => None,
    }
}

/// The text of a piece of a page: without tags, and with the characters that templates escape.
fn plain_text(markup: &Markup) -> String {
    let pieces = markup.0.split('<');
    let text = pieces.map(|piece| piece.split_once('>').map_or(piece, |(_, text)| text));
    let escapes = [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&amp;", "&"),
    ];
    let unescape = |text: String, (escape, character)| text.replace(escape, character);
    escapes.into_iter().fold(text.collect(), unescape)
}

/// The commands for an engine with linear blending alone.
fn for_linear_commands(ForLinear { skin, twist }: &ForLinear, file: &str) -> Vec<Command> {
    let stem = stem(file);
    let mut commands = Vec::new();
    let mut input = file.to_owned();
    if !twist.is_empty() {
        let joints: Vec<String> = twist
            .iter()
            .map(|advice| format!(" --joint {}", argument(&advice.name)))
            .collect();
        let output = format!("{stem}-twist.glb");
        commands.push(Command {
            line: format!(
                "supple twist {}{} -o {}",
                argument(&input),
                joints.concat(),
                argument(&output)
            ),
            purpose: "For linear blending, add twist joints:".to_owned(),
        });
        input = output;
    }
    if skin.is_some() {
        commands.push(Command {
            line: format!(
                "supple bake {} -m ddm-v5 --as-skin -o {}",
                argument(&input),
                argument(&format!("{stem}-linear.glb"))
            ),
            purpose: "For linear blending, replace the weights by better ones:".to_owned(),
        });
    }
    commands
}

/// The title of the figure that compares two methods.
pub(super) fn against(current: &str, best: &str) -> String {
    format!("{} on the left, {best} on the right", capitalised(current))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_of_a_piece_of_a_page_is_what_is_read() {
        let hostile = "<b>&amp; \"x\"";
        let markup = html! { "Use " b { (hostile) } "; " code { "a > b" } "." };
        assert_eq!(plain_text(&markup), "Use <b>&amp; \"x\"; a > b.");
    }
}
