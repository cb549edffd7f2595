//! Arguments of `supple bake`.

use super::method::{parse_method, possible_method, wrong_method};
use super::mush::MushArguments;
use super::{file_help, file_summary};
use clap::Args;
use clap::builder::{PossibleValue, TypedValueParser};
use std::ffi::OsStr;
use std::path::PathBuf;
use supple::Method;
use supple::deform::{CentersOfRotation, DirectDeltaMush, MushVariant};

/// Bake the data of cor or direct delta mush into the file of a character
#[derive(Args)]
#[command(after_help = "\
Baking saves the computation at load time, and lets engines read its result.

-m cor stores centers of rotation in the vertex attribute _CENTER_OF_ROTATION: three floats in the
space of POSITION. Everything else is kept, so every viewer shows the file as before. The extras of
the mesh record how the centers were computed: deform, render and compare use them while they fit
the surface and its weights, and say so when they are stale.

-m ddm stores the data of direct delta mush for all variants in the mesh extension
SUPPLE_direct_delta_mush, about 24 bytes per influence. The ordinary skin is replaced by that of
ddm-v5 with at most 4 influences per vertex (--max-influences), so that other programs show an
approximation. Start from any skin, even a rigid one, and keep the original file: its weights are
replaced. -m ddm-v5 --as-skin stores the skin only. --check also measures, in poses of the clips,
the error of the stored data and of the ordinary skin.

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
    /// ddm-v5: store only its weights, as the ordinary skin of the file
    #[arg(long)]
    pub(crate) as_skin: bool,
    /// ddm: measure the error of the stored data and of the ordinary skin
    #[arg(long)]
    pub(crate) check: bool,
    /// The file to write: .glb or .gltf
    #[arg(short, long = "out", value_name = "OUT")]
    pub(crate) out: PathBuf,
    #[command(flatten)]
    pub(crate) mush: MushArguments,
}

/// Options of the bake of centers of rotation.
#[derive(Args)]
pub(crate) struct CenterArguments {
    /// cor: how similar the weights of surface and vertex must be to count; larger includes more of
    /// the surface (σ in the paper) [default: 0.1]
    #[arg(long, value_name = "S", allow_negative_numbers = true)]
    pub(crate) sigma: Option<f64>,
    /// cor: triangles are subdivided where the weights of their corners differ by more (ε in the
    /// paper) [default: 0.1]
    #[arg(long, value_name = "E", allow_negative_numbers = true)]
    pub(crate) epsilon: Option<f64>,
    /// cor: largest distance of a center from the exact sum, as a share of the character's size
    /// [default: 0.00003]
    #[arg(long, value_name = "A", allow_negative_numbers = true)]
    pub(crate) accuracy: Option<f64>,
}

/// Data that can be baked into a file.
#[derive(Clone, Copy)]
pub(crate) enum Bakeable {
    /// Centers of rotation.
    Centers,
    /// Direct delta mush: the same for all its variants.
    Mush(MushVariant),
}

impl Bakeable {
    /// The data that a file can store for a method; none for most methods.
    pub(crate) fn of(method: &Method) -> Option<Bakeable> {
        match method {
            Method::CentersOfRotation(_) => Some(Bakeable::Centers),
            Method::DirectDeltaMush(options) => Some(Bakeable::Mush(options.variant)),
            _ => None,
        }
    }

    /// The method that uses the bake.
    pub(crate) fn method(self) -> Method {
        match self {
            Bakeable::Centers => Method::CentersOfRotation(CentersOfRotation::default()),
            Bakeable::Mush(variant) => Method::DirectDeltaMush(DirectDeltaMush {
                variant,
                ..DirectDeltaMush::default()
            }),
        }
    }
}

/// A parser for the names of methods that can be baked.
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
                format!("the method '{method}' has nothing to bake; methods that do: {names}");
            return Err(wrong_method(command, &message));
        };
        match value.to_string_lossy().split_once(':') {
            None => Ok(bakeable),
            Some((name, option)) => {
                let message = format!(
                    "'{option}' affects deforming, which is not stored; \
                     bake with -m {name}"
                );
                Err(wrong_method(command, &message))
            }
        }
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(BakeableParser::offered().map(possible_method)))
    }
}
