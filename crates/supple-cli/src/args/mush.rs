//! Options of delta mush and direct delta mush, shared by several commands.

use crate::failure::Failure;
use clap::{Args, ValueEnum};
use supple::Method;
use supple::mush::EdgeWeights;
use supple::mush::MushOptions;
use supple::mush::Steps;

/// λ of explicit smoothing: stable on any mesh with the default number of steps.
const EXPLICIT_LAMBDA: f64 = 0.5;
/// κ of explicit smoothing: a third of λ, as for implicit smoothing.
const EXPLICIT_KAPPA: f64 = EXPLICIT_LAMBDA / 3.0;

/// Options of delta mush and direct delta mush.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Options of delta-mush and ddm")]
pub(crate) struct MushArguments {
    /// Number of smoothing steps: more of them spread bends and twists over more of the limb
    /// [default: 20]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    iterations: Option<u32>,
    /// λ, smoothing of rotations: larger spreads a twist over more of the limb, smaller keeps it
    /// at the joint [default: 3]
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    lambda: Option<f64>,
    /// κ, smoothing of translations (ddm), below λ: smaller keeps a bend tight, with the bone close
    /// under the skin, as in a knuckle; twists are not affected [default: 1]
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    kappa: Option<f64>,
    /// α, share of the bones in carrying the skin (ddm), from 0 to below 1: 0 is delta mush, with
    /// volume loss at bends; near 1, elbows stay pointed and the skin slides over them [default:
    /// 0.8]
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    alpha: Option<f64>,
    /// Factor for α around one joint, by name or number: Hips=0.3 smooths away the creases at the
    /// hips. May be given several times
    #[arg(long, value_name = "JOINT=SHARE", value_parser = parse_alpha_at)]
    pub(crate) alpha_at: Vec<AlphaAt>,
    /// Weights of neighbours in the Laplacian [default: uniform]
    #[arg(long, value_name = "KIND", value_enum)]
    laplacian: Option<Laplacian>,
    /// Kind of smoothing step [default: implicit]
    #[arg(long, value_name = "KIND", value_enum)]
    smoothing: Option<Smoothing>,
    /// Scale λ and κ by the distance to the bones, so that smoothing reaches as far as a limb is
    /// thick, for meshes of any resolution [default: on; off if --iterations, --lambda, --kappa or
    /// --alpha is given]
    #[arg(long, value_name = "WHETHER", value_enum)]
    radius_from_bones: Option<Switch>,
    /// Start from a rigid bind: each vertex follows only its heaviest joint, and smoothing replaces
    /// painted weights
    #[arg(long)]
    rigid: bool,
    /// Largest number of influences per vertex (ddm); lighter ones fade out without a crease
    /// [default: no limit]
    #[arg(long, value_name = "N")]
    max_influences: Option<usize>,
    /// Largest error from dropping light influences (ddm), as a share of the character's size, in
    /// poses in which the joints of a vertex stay within one such size [default: 0.000004]
    #[arg(long, value_name = "ERROR", allow_negative_numbers = true)]
    prune: Option<f64>,
}

/// Weights of neighbours in the Laplacian.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Laplacian {
    /// All neighbours alike, for any mesh
    Uniform,
    /// By the angles of the triangles, independent of the triangulation
    Cotangent,
}

/// Kind of smoothing step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Smoothing {
    /// Stable for any λ and κ
    Implicit,
    /// As in the paper on delta mush, for λ and κ up to 1. With --radius-from-bones off, the
    /// defaults are λ 0.5 and κ a third of it; with it on, both are cut to at most 1, so that 20
    /// steps reach about 3 edges
    Explicit,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Switch {
    On,
    Off,
}

/// A factor for `α` around a joint.
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
    /// The names of the options that were given, and the methods that use them.
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

    /// Checks the ranges of values, and that some method uses each option, before anything is
    /// loaded.
    pub(crate) fn check(&self, methods: &[Method]) -> Result<(), Failure> {
        for (option, used_by) in self.given() {
            if methods.iter().any(|method| used_by.is(method)) {
                continue;
            }
            let methods: Vec<String> = methods.iter().map(|method| format!("'{method}'")).collect();
            let takers = Method::ALL.iter().filter(|method| used_by.is(method));
            let takers: Vec<&str> = takers.map(Method::name).collect();
            let message = format!("{option} has no effect on {}", methods.join(", "));
            let hint = format!("methods with this option: {}", takers.join(", "));
            return Err(Failure::usage(message).hint(hint));
        }
        let by_joint = self.alpha_at.iter().map(|at| (0, at.share)).collect();
        Ok(self.with_alpha_at(by_joint).check()?)
    }

    pub(crate) fn with_alpha_at(&self, alpha_at_joints: Vec<(usize, f64)>) -> MushOptions {
        let usual = MushOptions::default();
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
    /// Only direct delta mush, for its translations and its stored influences.
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

/// True if a method uses any of these options.
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
        assert_eq!(options(&usual), MushOptions::default());
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
        assert_eq!(options(&explicit).lambda, MushOptions::default().lambda);
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
