//! Arguments of `supple bake`.

use super::method::{parse_method, possible_method, wrong_method};
use super::mush::MushArguments;
use super::{file_help, file_summary};
use clap::Args;
use clap::builder::{PossibleValue, TypedValueParser};
use std::ffi::OsStr;
use std::path::PathBuf;
use supple::Method;
use supple::deform::{CentersOfRotation, DirectDeltaMush, MushSource, MushVariant};

/// Store what a method computes once per character in its file
#[derive(Args)]
#[command(after_help = "\
-m cor stores centers of rotation as the vertex attribute _CENTER_OF_ROTATION: three floats in the
space of POSITION, which any engine can read. All else stays as it was, so that every viewer shows
the file as before. The extras of the mesh say how and from what the centers were computed: deform,
render and compare use them as long as they fit, and tell when they are stale.

-m ddm stores what direct delta mush computes, for all its variants, in the extension
SUPPLE_direct_delta_mush of the mesh primitives, about 24 bytes per joint of a vertex. The ordinary
skin becomes that of ddm-v5, at most 4 joints per vertex (or --max-influences), so that a program
that does not know the extension shows an approximation. Any skin will do to start from, also one
in which each vertex follows a single joint. Keep the original file: its weights are replaced.
-m ddm-v5 --as-skin stores the skin alone. --check also measures, in poses of the clips, how far
the stored numbers and the ordinary skin are from the bake.

Examples:
  supple bake hero.glb -m cor -o hero-cor.glb
  supple bake @figure:20000 -m cor --sigma 0.2 -o figure.glb
  supple deform hero-cor.glb -m cor --clip Run --time 0.4 -o run.obj
  supple bake hero.glb -m ddm --rigid -o hero-ddm.glb
  supple bake hero.glb -m ddm-v5 --as-skin --rigid -o hero-smooth.glb")]
pub(crate) struct BakeArguments {
    #[arg(value_name = "FILE", help = file_summary(), long_help = file_help())]
    pub(crate) file: PathBuf,
    /// The skinning method to bake for
    #[arg(short, long = "method", value_name = "METHOD", value_parser = BakeableParser)]
    pub(crate) method: Bakeable,
    #[command(flatten)]
    pub(crate) centers: CenterArguments,
    /// ddm-v5: store nothing but the weights, as the ordinary skin of the file
    #[arg(long)]
    pub(crate) as_skin: bool,
    /// ddm: measure how far the stored numbers and the ordinary skin are from the bake
    #[arg(long)]
    pub(crate) check: bool,
    /// Where to write: .glb or .gltf
    #[arg(short, long = "out", value_name = "OUT")]
    pub(crate) out: PathBuf,
    #[command(flatten)]
    pub(crate) mush: MushArguments,
}

/// How centers of rotation are computed.
#[derive(Args)]
pub(crate) struct CenterArguments {
    /// cor: how alike weights must be for a part of the surface to count; larger takes in more of
    /// it (the paper's σ) [default: 0.1]
    #[arg(long, value_name = "S", allow_negative_numbers = true)]
    pub(crate) sigma: Option<f64>,
    /// cor: triangles whose corners' weights differ by this much are cut into smaller ones (the
    /// paper's ε) [default: 0.1]
    #[arg(long, value_name = "E", allow_negative_numbers = true)]
    pub(crate) epsilon: Option<f64>,
    /// cor: how far centers may be from the exact sum, as a share of the character's size
    /// [default: 0.00003]
    #[arg(long, value_name = "A", allow_negative_numbers = true)]
    pub(crate) accuracy: Option<f64>,
}

/// What can be baked into a file.
#[derive(Clone, Copy)]
pub(crate) enum Bakeable {
    /// Centers of rotation.
    Centers,
    /// Direct delta mush: the same for all its variants.
    Mush(MushVariant),
}

impl Bakeable {
    /// What a method has to bake: most have nothing that a file could hold.
    pub(crate) fn of(method: &Method) -> Option<Bakeable> {
        match method {
            Method::CentersOfRotation(_) => Some(Bakeable::Centers),
            Method::DirectDeltaMush(options) => Some(Bakeable::Mush(options.variant)),
            _ => None,
        }
    }

    /// The method that it is for.
    pub(crate) fn method(self) -> Method {
        match self {
            Bakeable::Centers => Method::CentersOfRotation(CentersOfRotation::default()),
            Bakeable::Mush(variant) => Method::DirectDeltaMush(DirectDeltaMush {
                variant,
                source: MushSource::default(),
            }),
        }
    }
}

/// Names of methods that have something to bake.
#[derive(Clone)]
pub(crate) struct BakeableParser;

impl BakeableParser {
    fn offered() -> impl Iterator<Item = &'static Method> + Clone {
        let bakeable = |method: &&Method| Bakeable::of(method).is_some();
        Method::ALL.iter().filter(bakeable)
    }
}

impl TypedValueParser for BakeableParser {
    type Value = Bakeable;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<Bakeable, clap::Error> {
        let offered = BakeableParser::offered();
        let method = parse_method(offered.clone(), command, argument, value)?;
        let Some(bakeable) = Bakeable::of(&method) else {
            let names: Vec<_> = offered.map(Method::name).collect();
            let names = names.join(", ");
            let message =
                format!("the method '{method}' has nothing to bake; those that have: {names}");
            return Err(wrong_method(command, &message));
        };
        match value.to_string_lossy().split_once(':') {
            None => Ok(bakeable),
            Some((name, option)) => {
                let message = format!(
                    "'{option}' says how signs are chosen when deforming, which is not stored; bake with -m {name}"
                );
                Err(wrong_method(command, &message))
            }
        }
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(BakeableParser::offered().map(possible_method)))
    }
}
