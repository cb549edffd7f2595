//! The options of delta mush and direct delta mush, which several commands have.

use crate::failure::Failure;
use clap::{Args, ValueEnum};
use supple::Method;
use supple::mush::MushOptions;
use supple::mush::Steps;
use supple::surface::EdgeWeights;

/// Explicit steps of the default number that are stable on any mesh: a wide reach for rotations …
const EXPLICIT_LAMBDA: f64 = 0.5;
/// … and a third of it for translations, as among the implicit ones.
const EXPLICIT_KAPPA: f64 = EXPLICIT_LAMBDA / 3.0;

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
    pub(crate) alpha_at: Vec<AlphaAt>,
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
pub(crate) struct AlphaAt {
    pub(crate) joint: String,
    pub(crate) share: f64,
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
    pub(crate) fn given(&self) -> Vec<(&'static str, UsedBy)> {
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

    pub(crate) fn with_alpha_at(&self, alpha_at_joints: Vec<(usize, f64)>) -> MushOptions {
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
pub(crate) enum UsedBy {
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
pub(crate) fn smooths(method: &Method) -> bool {
    matches!(method, Method::DeltaMush(_) | Method::DirectDeltaMush(_))
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
