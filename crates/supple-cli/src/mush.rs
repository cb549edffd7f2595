//! The options of delta mush and direct delta mush, and the bake that all variants of a run share.

use crate::failure::Failure;
use crate::progress;
use crate::source::Source;
use crate::wording::{listed, many, mush_options, unusable};
use clap::{Args, ValueEnum};
use std::sync::Arc;
use supple::deform::{DirectDeltaMush, MushSource};
use supple::laplacian::EdgeWeights;
use supple::mush::{Baked, Connections, Mush, MushOptions};
use supple::smoothing::Steps;
use supple::{Method, Rig};

/// Explicit steps of the default number that are stable on any mesh: a wide reach for rotations …
const EXPLICIT_LAMBDA: f64 = 0.5;
/// … and a third of it for translations, as among the implicit ones.
const EXPLICIT_KAPPA: f64 = EXPLICIT_LAMBDA / 3.0;

/// How many names are offered where none fits.
const NEAR_NAMES: usize = 5;

/// How delta mush and direct delta mush smooth.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Options of delta-mush and ddm")]
pub(crate) struct MushArguments {
    /// How many steps of smoothing: more spread every bend and twist over more of the limb
    /// [default: 20]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    iterations: Option<u32>,
    /// λ, how smoothly the skin turns: larger spreads a twist over more of the limb, smaller keeps
    /// it at the joint [default: 3]
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    lambda: Option<f64>,
    /// κ, how smoothly the skin is carried along (ddm): smaller keeps a bend tight, with the bone
    /// close under the skin, as on a knuckle; below λ. Twists do not change with it [default:
    /// 1]
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    kappa: Option<f64>,
    /// α, how much the bones carry the skin, as κ says, instead of the smoothed surface (ddm):
    /// from 0, which is delta mush and cuts the corner of a bend, up to but not including 1,
    /// where elbows stay pointed and the skin slides over them [default: 0.8]
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    alpha: Option<f64>,
    /// A share of α around one joint, by its name or by its number in the file's own order, as in
    /// Hips=0.3: less there smooths away the clefts of hips. May be given several times
    #[arg(long, value_name = "JOINT=SHARE", value_parser = parse_alpha_at)]
    alpha_at: Vec<AlphaAt>,
    /// How neighbours count for each other [default: uniform]
    #[arg(long, value_name = "KIND", value_enum)]
    laplacian: Option<Laplacian>,
    /// How a step is taken [default: implicit]
    #[arg(long, value_name = "KIND", value_enum)]
    smoothing: Option<Smoothing>,
    /// Whether the distance to the bones scales λ and κ, so that smoothing reaches as far as a
    /// limb is thick, however fine the mesh [default: on; off if --iterations, --lambda,
    /// --kappa or --alpha is given]
    #[arg(long, value_name = "WHETHER", value_enum)]
    radius_from_bones: Option<Switch>,
    /// Bind each vertex to its heaviest joint alone first: painted weights are not needed, and
    /// smoothing replaces them
    #[arg(long)]
    rigid: bool,
    /// At most this many joints per vertex (ddm): the lighter ones fade out without a crease
    /// [default: all that matter]
    #[arg(long, value_name = "K")]
    max_influences: Option<usize>,
    /// How far leaving out light joints may move a vertex, as a share of the character's size
    /// (ddm), while no joint carries a vertex farther than one such size from where another
    /// does, and the patch of skin around it keeps its shape [default: 0.000004]
    #[arg(long, value_name = "ERROR", allow_negative_numbers = true)]
    prune: Option<f64>,
}

/// How neighbours count for each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Laplacian {
    /// All alike: takes any mesh
    Uniform,
    /// By the angles of the triangles: does not care how the surface is cut into them
    Cotangent,
}

/// How a step of smoothing is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Smoothing {
    /// Stable for steps of any size
    Implicit,
    /// As delta mush was first described: for steps up to 1; without --lambda and --kappa, and with
    /// --radius-from-bones off, 0.5 and a third of it are taken. With --radius-from-bones on,
    /// steps are cut to at most 1, so that 20 of them reach about 3 edges, however thick the limb
    Explicit,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Switch {
    On,
    Off,
}

/// A share of `α` around a joint.
#[derive(Clone, Debug, PartialEq)]
struct AlphaAt {
    joint: String,
    share: f64,
}

fn parse_alpha_at(text: &str) -> Result<AlphaAt, String> {
    // Names may hold an equals sign themselves.
    let parts = text.rsplit_once('=');
    let parsed = parts.and_then(|(joint, share)| Some((joint, share.trim().parse().ok()?)));
    match parsed {
        Some((joint, share)) if !joint.is_empty() => Ok(AlphaAt {
            joint: joint.to_owned(),
            share,
        }),
        _ => Err("expected a joint and a share from 0 to 1, such as Elbow.L=0.3".to_owned()),
    }
}

impl MushArguments {
    /// The options that were given, by their names, and which methods use them.
    fn given(&self) -> Vec<(&'static str, UsedBy)> {
        use UsedBy::{All, Direct};
        let options = [
            ("--iterations", All, self.iterations.is_some()),
            ("--lambda", All, self.lambda.is_some()),
            ("--kappa", Direct, self.kappa.is_some()),
            ("--alpha", Direct, self.alpha.is_some()),
            ("--alpha-at", Direct, !self.alpha_at.is_empty()),
            ("--laplacian", All, self.laplacian.is_some()),
            ("--smoothing", All, self.smoothing.is_some()),
            ("--radius-from-bones", All, self.radius_from_bones.is_some()),
            ("--rigid", All, self.rigid),
            ("--max-influences", Direct, self.max_influences.is_some()),
            ("--prune", Direct, self.prune.is_some()),
        ];
        let given = options.into_iter().filter(|(.., given)| *given);
        given.map(|(name, used_by, _)| (name, used_by)).collect()
    }

    /// Refuses values that are out of range, and options that none of the methods uses, before
    /// anything is loaded.
    pub(crate) fn check(&self, methods: &[Method]) -> Result<(), Failure> {
        for (option, used_by) in self.given() {
            if methods.iter().any(|method| used_by.is(method)) {
                continue;
            }
            let methods: Vec<String> = methods.iter().map(|method| format!("'{method}'")).collect();
            let takers = Method::ALL.iter().filter(|method| used_by.is(method));
            let takers: Vec<&str> = takers.map(Method::name).collect();
            let message = format!("{option} means nothing to {}", methods.join(", "));
            let hint = format!("methods that take it: {}", takers.join(", "));
            return Err(Failure::usage(message).hint(hint));
        }
        let by_joint = self.alpha_at.iter().map(|at| (0, at.share)).collect();
        Ok(self.with_alpha_at(by_joint).check()?)
    }

    /// The options for a character.
    pub(crate) fn options(&self, source: &Source) -> Result<MushOptions, Failure> {
        let mut by_joint = Vec::new();
        for AlphaAt { joint, share } in &self.alpha_at {
            let joints = find_joints(source, joint)?;
            by_joint.extend(joints.into_iter().map(|joint| (joint, *share)));
        }
        Ok(self.with_alpha_at(by_joint))
    }

    fn with_alpha_at(&self, alpha_at_joints: Vec<(usize, f64)>) -> MushOptions {
        let usual = MushOptions::DEFAULT;
        let by_hand = self.iterations.is_some()
            || self.lambda.is_some()
            || self.kappa.is_some()
            || self.alpha.is_some();
        let radius_from_bones = match self.radius_from_bones {
            Some(wanted) => wanted == Switch::On,
            None => !by_hand,
        };
        let (steps, lambda, kappa) = match self.smoothing {
            Some(Smoothing::Explicit) if !radius_from_bones => {
                (Steps::Explicit, EXPLICIT_LAMBDA, EXPLICIT_KAPPA)
            }
            Some(Smoothing::Explicit) => (Steps::Explicit, usual.lambda, usual.kappa),
            Some(Smoothing::Implicit) | None => (Steps::Implicit, usual.lambda, usual.kappa),
        };
        MushOptions {
            iterations: self.iterations.unwrap_or(usual.iterations),
            lambda: self.lambda.unwrap_or(lambda),
            kappa: self.kappa.unwrap_or(kappa),
            alpha: self.alpha.unwrap_or(usual.alpha),
            edge_weights: match self.laplacian {
                Some(Laplacian::Cotangent) => EdgeWeights::Cotangent,
                Some(Laplacian::Uniform) | None => EdgeWeights::Uniform,
            },
            steps,
            radius_from_bones,
            rigid: self.rigid,
            max_influences: self.max_influences,
            prune: self.prune.unwrap_or(usual.prune),
            alpha_at_joints,
        }
    }
}

/// The methods that use an option.
#[derive(Clone, Copy)]
enum UsedBy {
    /// Delta mush and direct delta mush.
    All,
    /// Direct delta mush alone: what is about carrying the skin by bones, or about what is stored.
    Direct,
}

impl UsedBy {
    fn is(self, method: &Method) -> bool {
        match self {
            UsedBy::All => smooths(method),
            UsedBy::Direct => matches!(method, Method::DirectDeltaMush(_)),
        }
    }
}

/// True for methods that take some of these options.
fn smooths(method: &Method) -> bool {
    matches!(method, Method::DeltaMush(_) | Method::DirectDeltaMush(_))
}

/// The joints of a name (a node may be bound in several ways), else the one of a number in the
/// file's own order.
pub(crate) fn find_joints(source: &Source, wish: &str) -> Result<Vec<usize>, Failure> {
    let skeleton = source.asset.rig.skeleton();
    let names: Vec<&str> = (0..skeleton.joints().len())
        .map(|joint| skeleton.joint_name(joint))
        .collect();
    let named: Vec<usize> = (0..names.len())
        .filter(|&joint| names[joint] == wish)
        .collect();
    if !named.is_empty() {
        return Ok(named);
    }
    let order = source.joints_in_file_order();
    let number = wish.parse::<usize>().ok();
    if let Some(&joint) = number.and_then(|number| order.get(number)) {
        return Ok(vec![joint]);
    }
    let wish_in_lower_case = wish.to_lowercase();
    let likeness = |name: &str| strsim::jaro_winkler(&name.to_lowercase(), &wish_in_lower_case);
    let mut near: Vec<&str> = names
        .iter()
        .copied()
        .filter(|name| !name.is_empty())
        .collect();
    near.sort_by(|a, b| likeness(b).total_cmp(&likeness(a)));
    near.dedup();
    near.truncate(NEAR_NAMES);
    let failure = Failure::usage(format!("there is no joint '{wish}'"));
    Err(match near.is_empty() {
        true => failure.hint(format!(
            "the joints have no names; their numbers go from 0 to {}",
            names.len().saturating_sub(1)
        )),
        false => failure.hint(format!(
            "the names most like it, of {}: {}",
            many(names.len(), "joint"),
            listed(near.into_iter())
        )),
    })
}

/// Bakes a character, and tells what was connected for it.
pub(crate) fn bake(rig: &Rig, options: &MushOptions) -> Result<Mush, Failure> {
    let spinner = progress::spinner("baking direct delta mush");
    let baked = Mush::bake(rig, options);
    spinner.finish_and_clear();
    let Baked { mush, connections } = baked?;
    tell_of(&connections);
    Ok(mush)
}

/// A surface of one piece needs no words.
fn tell_of(connections: &Connections) {
    let Connections {
        pieces,
        pieces_left,
        links,
    } = *connections;
    match (pieces, links) {
        (0 | 1, _) => {}
        (_, 0) => crate::tell(&format!(
            "note: {pieces} pieces, none of them close enough to another to be connected"
        )),
        _ => crate::tell(&format!(
            "note: {pieces} pieces, {} connected; {} left",
            many(links, "pair") + " of close points",
            many(pieces_left, "piece")
        )),
    }
}

impl Source {
    /// Gives the methods that smooth their options, and the variants of direct delta mush the bake
    /// of the file, if it fits and is by the wanted options; else all of them share one that is
    /// made now.
    pub(crate) fn prepare_mush(
        &self,
        methods: &mut [Method],
        wanted: &MushArguments,
    ) -> Result<(), Failure> {
        if !methods.iter().any(smooths) {
            return Ok(());
        }
        let options = self.mush_options(wanted)?;
        let is_direct = |method: &Method| matches!(method, Method::DirectDeltaMush(_));
        let direct = methods.iter().any(is_direct);
        let mush = match direct {
            true => Some(self.stored_or_baked(&options)?),
            false => None,
        };
        if !direct {
            self.tell_of_mush_options(&options);
            tell_of(&Connections::of(&self.asset.rig, &options)?);
        }
        for method in methods {
            match (method, &mush) {
                (Method::DeltaMush(delta_mush), _) => delta_mush.smoothing = options.clone(),
                (Method::DirectDeltaMush(DirectDeltaMush { source, .. }), Some(mush)) => {
                    *source = MushSource::Known(mush.clone());
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// The options for this character: those of the bake that it came with, if none is wished for.
    /// Where that bake was made from a rigid bind, any other is too: the weights that the file
    /// has now are the outcome of that bake, and their heaviest joints are what is left of the
    /// bind.
    pub(crate) fn mush_options(&self, wanted: &MushArguments) -> Result<MushOptions, Failure> {
        let given = wanted.options(self)?;
        let stored = self.stored_mush.as_ref();
        let Some(recorded) = stored.and_then(|stored| stored.options.as_ref()) else {
            return Ok(given);
        };
        Ok(match wanted.given().is_empty() {
            true => recorded.clone(),
            false => MushOptions {
                rigid: given.rigid || recorded.rigid,
                ..given
            },
        })
    }

    /// The bake of the file, if it fits and is by these options, else a new one. Tells which.
    fn stored_or_baked(&self, options: &MushOptions) -> Result<Arc<Mush>, Failure> {
        if let Some(stored) = &self.stored_mush {
            match stored.fitting().filter(|_| stored.is_by(options)) {
                Some(mush) => {
                    let how = unusual(options);
                    crate::tell(&format!(
                        "note: using the bake of direct delta mush stored in the file{how}"
                    ));
                    return Ok(mush.clone());
                }
                None if stored.fitting().is_some() => crate::tell(&format!(
                    "note: the bake of direct delta mush stored in the file is by other options ({}); baked anew by those given",
                    stored
                        .options
                        .as_ref()
                        .map(mush_options)
                        .unwrap_or_default()
                )),
                None => self.tell_of_unusable_mush(&format!("baked anew{}", unusual(options))),
            }
            self.tell_of_smoothed_weights(options);
        }
        Ok(Arc::new(bake(&self.asset.rig, options)?))
    }

    /// Where the bake of the file is of no use, tells why, what is done instead, and how to mend
    /// that.
    pub(crate) fn tell_of_unusable_mush(&self, done: &str) {
        let stored = self.stored_mush.as_ref();
        let unusable = stored.and_then(|stored| unusable(&stored.state));
        if let Some((word, why)) = unusable {
            crate::tell(&format!(
                "note: the numbers of direct delta mush stored in the file are {word} ({why}); {done}; 'supple bake -m ddm' stores new ones"
            ));
        }
    }

    /// Tells by which options delta mush smooths, where they are the unusual ones of the file's
    /// bake.
    fn tell_of_mush_options(&self, options: &MushOptions) {
        let stored = self.stored_mush.as_ref();
        if stored.is_some_and(|stored| stored.is_by(options)) && *options != MushOptions::DEFAULT {
            crate::tell(&format!(
                "note: smoothing with the options of the bake stored in the file{}",
                unusual(options)
            ));
        }
    }

    /// Tells that the file's weights are not what a bake should start from, where its own bake has
    /// replaced them.
    pub(crate) fn tell_of_smoothed_weights(&self, options: &MushOptions) {
        if self.stored_mush.is_some() && !options.rigid {
            crate::tell(
                "note: the weights of the file come from an earlier bake, so that they are smoothed twice; the original file, or --rigid, gives a better bake",
            );
        }
    }
}

/// How a bake was made, where that is not the usual way.
fn unusual(options: &MushOptions) -> String {
    match *options == MushOptions::DEFAULT {
        true => String::new(),
        false => format!(" ({})", mush_options(options)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_by_hand_switch_the_radius_off_and_explicit_steps_are_stable() {
        let usual = MushArguments::default();
        let options = |arguments: &MushArguments| arguments.with_alpha_at(Vec::new());
        assert_eq!(options(&usual), MushOptions::DEFAULT);
        let by_hand = MushArguments {
            alpha: Some(0.5),
            ..usual.clone()
        };
        assert!(!options(&by_hand).radius_from_bones);
        let wanted = MushArguments {
            radius_from_bones: Some(Switch::On),
            ..by_hand.clone()
        };
        assert!(options(&wanted).radius_from_bones);
        let explicit = MushArguments {
            smoothing: Some(Smoothing::Explicit),
            ..usual
        };
        assert_eq!(options(&explicit).lambda, MushOptions::DEFAULT.lambda);
        let explicit = MushArguments {
            kappa: Some(0.25),
            ..explicit
        };
        let explicit = options(&explicit);
        assert_eq!((explicit.lambda, explicit.kappa), (EXPLICIT_LAMBDA, 0.25));
    }

    #[test]
    fn shares_of_alpha_are_read_or_explained() {
        let at = parse_alpha_at("a=b=0.25").unwrap();
        assert_eq!((at.joint.as_str(), at.share), ("a=b", 0.25));
        for bad in ["Elbow", "=0.5", "Elbow=much"] {
            assert!(parse_alpha_at(bad).is_err(), "{bad}");
        }
    }
}
