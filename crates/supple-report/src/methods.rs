//! The methods as the report presents them: the default choice, titles, introductions, colours.

use supple::Method;

/// The methods that a report compares by default: what every engine does, the same with better
/// weights, and the three that most engines could do.
const DEFAULT: [&str; 5] = ["linear", "ddm-v5", "dual-quaternion", "cor", "ddm"];

/// Methods that `--all` leaves out: `rigid`, and those that equal linear blending without training.
const NOT_COMPARED: [&str; 3] = ["rigid", "multi-weight", "animation-space"];

/// The methods that a report compares by default: five, linear blending first.
pub fn default_methods() -> Vec<Method> {
    let named = |name: &&str| Method::ALL.iter().find(|method| method.name() == *name);
    DEFAULT.iter().filter_map(named).cloned().collect()
}

/// All methods that differ from linear blending, after linear blending itself.
pub fn all_methods() -> Vec<Method> {
    let wanted = |method: &&Method| !NOT_COMPARED.contains(&method.name());
    let mut methods: Vec<Method> = Method::ALL.iter().filter(wanted).cloned().collect();
    methods.sort_by_key(|method| *method != Method::Linear);
    methods
}

/// The title and introduction of a method, for readers who do not know it.
struct Words {
    name: &'static str,
    title: &'static str,
    /// "linear blending loses", "dual quaternions bulge".
    plural: bool,
    introduction: &'static str,
}

const WORDS: &[Words] = &[
    Words {
        name: "rigid",
        title: "Rigid",
        plural: false,
        introduction: "Every point follows one bone, as on a jointed puppet. Nothing shrinks, but \
                       the skin tears into hard creases where two bones meet.",
    },
    Words {
        name: "linear",
        title: "Linear blending",
        plural: false,
        introduction: "The standard in game engines: each point moves to the weighted average of \
                       the positions that its bones would give it. Fast and simple, but sharp \
                       bends lose volume, and twists collapse: the candy-wrapper artifact.",
    },
    Words {
        name: "dual-quaternion",
        title: "Dual quaternions",
        plural: true,
        introduction: "Averages the rotations of the bones instead of the points, so that nothing \
            collapses. But strong bends bulge on the outside.",
    },
    Words {
        name: "dual-quaternion-intrinsic",
        title: "Dual quaternions, exact mean",
        plural: true,
        introduction: "The true mean of several bone motions, found by iteration. It looks nearly \
                       like dual quaternions, except where three or more bones turn far apart.",
    },
    Words {
        name: "log-matrix",
        title: "Log-matrix blending",
        plural: false,
        introduction: "Averages the logarithms of the bones’ transforms. Good near the rest pose; \
                       inaccurate when a joint turns far, and some poses are impossible.",
    },
    Words {
        name: "spherical",
        title: "Spherical blending",
        plural: false,
        introduction: "Rotates each point about the best common center of its bones. It keeps \
                       volume much like dual quaternions, of which it is a predecessor.",
    },
    Words {
        name: "linear-dual-blend",
        title: "Linear–dual mix",
        plural: false,
        introduction: "Half linear blending, half dual quaternions: less volume loss than the \
                       former, less bulging than the latter.",
    },
    Words {
        name: "swing-twist",
        title: "Swing–twist",
        plural: false,
        introduction: "Splits each joint’s rotation in two: twists are blended as by dual \
                       quaternions, bends as by linear blending. No candy-wrapper artifact, and no \
                       bulging.",
    },
    Words {
        name: "differential",
        title: "Differential blending",
        plural: false,
        introduction: "Blends bone by bone along the skeleton, so that several full turns, as of \
                       a spinning wrist, are kept.",
    },
    Words {
        name: "stretch-twist",
        title: "Stretch–twist",
        plural: false,
        introduction: "Bones stretch and twist along their whole length, as forearms do, instead \
                       of all at one end. Also for cartoons.",
    },
    Words {
        name: "spline",
        title: "Spline skinning",
        plural: false,
        introduction: "Lays the limb along a smooth curve through its joints, like a hose. Made \
                       for tails, necks and tentacles.",
    },
    Words {
        name: "cor",
        title: "Centers of rotation",
        plural: true,
        introduction: "Gives each point a center of rotation of its own, found once from the \
                       weights. Twists keep their thickness; bends lose less volume than by linear \
                       blending and bulge less than by dual quaternions.",
    },
    Words {
        name: "cor-procrustes",
        title: "Centers of rotation, fitted turns",
        plural: true,
        introduction: "The same centers, but each rotation is the one nearest to linear blending. \
                       It looks much the same until a joint comes close to half a turn: there the \
                       skin snaps over.",
    },
    Words {
        name: "delta-mush",
        title: "Delta mush",
        plural: false,
        introduction: "Deforms the skin roughly, smooths it in every frame, and adds back the \
                       details that smoothing removes. Bends stay clean even where each point \
                       follows one bone alone, but limbs get thin where they twist far without a \
                       twist joint.",
    },
    Words {
        name: "ddm",
        title: "Direct delta mush",
        plural: false,
        introduction: "Delta mush without smoothing in every frame: the patch around each point is \
            found once, and a frame only computes how that patch turns. Soft bends without \
            bulging; sharp bends lose some volume, and limbs get thin where they twist far \
            without a twist joint.",
    },
    Words {
        name: "ddm-v1",
        title: "Direct delta mush, no decomposition",
        plural: false,
        introduction: "The rotation of each patch is taken from its deformation instead of the \
                       nearest rotation, as delta mush itself does. A patch that is compressed \
                       strongly is distorted, or even turned inside out.",
    },
    Words {
        name: "ddm-v2",
        title: "Direct delta mush, blended quaternions",
        plural: false,
        introduction: "The rotation of each point is blended from the rotations of its bones, \
                       which needs half of the data. Bones that shift without turning no longer \
                       tilt the skin between them.",
    },
    Words {
        name: "ddm-v3",
        title: "Direct delta mush, blended matrices",
        plural: false,
        introduction: "As with blended quaternions, but the bones’ rotations are averaged as \
                       matrices. Cheaper still, and uneven where bones turn far apart.",
    },
    Words {
        name: "ddm-v4",
        title: "Direct delta mush, about centers",
        plural: false,
        introduction: "Turns each point about the middle of its patch, which moves by linear \
                       blending: centers of rotation, with weights and centers that need no \
                       painting.",
    },
    Words {
        name: "ddm-v5",
        title: "Linear blending with ddm-v5 weights",
        plural: false,
        introduction: "Linear blending with the weights that direct delta mush finds. Every engine \
                       can show it, with the artifacts of linear blending.",
    },
    Words {
        name: "arap",
        title: "As rigid as possible",
        plural: false,
        introduction: "Blends linearly near the joints only, and lets the rest of the skin find \
                       the shape that stretches it least. Lengths and details stay; the whole skin \
                       is solved anew in every frame.",
    },
    Words {
        name: "animation-space",
        title: "Animation space",
        plural: false,
        introduction: "A richer form of linear blending, whose extra numbers are learned from \
                       examples. Without them it equals linear blending.",
    },
    Words {
        name: "multi-weight",
        title: "Multi-weight enveloping",
        plural: false,
        introduction: "Linear blending with one weight per matrix entry, learned from examples. \
                       Without them it equals linear blending.",
    },
];

/// A method on the page.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub method: Method,
    /// The method with its options as commands name it.
    pub text: String,
    /// For headings: "Dual quaternions".
    pub title: String,
    /// The same inside of a sentence: "dual quaternions".
    pub title_in_text: String,
    /// True if the title is a plural.
    pub plural: bool,
    pub introduction: String,
}

impl Entry {
    pub fn of(method: &Method, text: String) -> Entry {
        let known = WORDS.iter().find(|words| words.name == method.name());
        let mut entry = match known {
            Some(words) => Entry {
                method: method.clone(),
                text,
                title: words.title.to_owned(),
                title_in_text: String::new(),
                plural: words.plural,
                introduction: words.introduction.to_owned(),
            },
            // Without words of its own: the name and summary from the library.
            None => Entry {
                method: method.clone(),
                text,
                title: crate::names::capitalised(&method.name().replace('-', " ")),
                title_in_text: String::new(),
                plural: false,
                introduction: crate::names::capitalised(method.summary()) + ".",
            },
        };
        if let Some((_, option)) = entry.text.split_once(':') {
            entry.title = format!("{} ({option})", entry.title);
        }
        entry.title_in_text = crate::names::uncapitalised(&entry.title);
        entry
    }
}

/// Colours that can be told apart with the common kinds of colour blindness, on light and dark
/// pages. The last is that of the text; further methods repeat them with dashed lines.
pub(crate) const COLORS: [&str; 10] = [
    "#d55e00",
    "#0a7cc4",
    "#009e73",
    "#cc6fa5",
    "#d99a00",
    "#4fb3e8",
    "#8a63c9",
    "#808890",
    "#a5743a",
    "var(--ink)",
];

/// The dashes of a method's line.
pub(crate) fn dashes(index: usize) -> &'static str {
    ["none", "7 4", "2 3"][index / COLORS.len() % 3]
}

/// The colour of a method.
pub(crate) fn color(index: usize) -> &'static str {
    COLORS[index % COLORS.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_method_has_words_and_the_choices_are_methods() {
        for method in Method::ALL {
            let words = WORDS.iter().find(|words| words.name == method.name());
            assert!(words.is_some(), "{method} has no words");
            let entry = Entry::of(method, method.to_string());
            assert!(!entry.title.is_empty() && entry.introduction.ends_with('.'));
        }
        let names = |methods: Vec<Method>| -> Vec<&'static str> {
            methods.iter().map(Method::name).collect()
        };
        assert_eq!(names(default_methods()), DEFAULT);
        let all = names(all_methods());
        assert_eq!(all[0], "linear");
        assert_eq!(all.len() + NOT_COMPARED.len(), Method::ALL.len());
        assert!(DEFAULT.iter().all(|name| all.contains(name)));
    }
}
