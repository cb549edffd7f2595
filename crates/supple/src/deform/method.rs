//! Skinning methods by name: options, summaries, and parsing from the command line.

use super::antipodality::Antipodality;
use super::centers_of_rotation::CentersOfRotation;
use super::delta_mush::{DeltaMush, LocalFrames};
use super::direct_delta_mush::{DirectDeltaMush, MushVariant};
use super::dual_quaternion::DualQuaternion;
use super::dual_quaternion_intrinsic::DualQuaternionIntrinsic;
use super::linear_dual_blend::{DualShare, LinearDualBlend};
#[cfg(feature = "arap")]
use crate::arap::ArapOptions;
use crate::centers::CenterOptions;
use std::fmt;
use std::str::FromStr;
use thiserror::Error;

/// A skinning method and its options.
///
/// Baked, learned or painted data are passed separately, as [`BakedData`](super::BakedData).
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Method {
    /// Each vertex follows its heaviest joint.
    Rigid,
    /// Linear blend skinning, eq. (1) of the course.
    Linear,
    /// Dual quaternions, blended linearly (§4 of the course).
    DualQuaternion(DualQuaternion),
    /// Dual quaternions, blended on their manifold (§4).
    DualQuaternionIntrinsic(DualQuaternionIntrinsic),
    /// Matrix logarithms, blended linearly (§4, eq. 14).
    LogMatrix,
    /// Rotations blended about a center by least squares (§4).
    Spherical,
    /// Linear and dual quaternion skinning, mixed (§4).
    LinearDualBlend(LinearDualBlend),
    /// Joint-based deformers: twist as an angle, swing linearly (§4, §5).
    SwingTwist,
    /// Pieces along the path from the root, blended level by level (§4, eq. 15).
    Differential,
    /// Bones that stretch and twist along their length (§5).
    StretchTwist,
    /// Smooth curves through chains of joints (§5).
    Spline,
    /// Rotations about baked centers (the paper on optimized centers of rotation).
    CentersOfRotation(CentersOfRotation),
    /// The same centers, with rotations by least squares (§5 of that paper).
    CorProcrustes(CenterOptions),
    /// Smoothing of the surface in every frame, with details added back (the paper on direct delta
    /// mush, §3.1).
    DeltaMush(DeltaMush),
    /// Delta mush without smoothing in frames: a patch is baked per vertex (§3.2 to §3.5).
    DirectDeltaMush(DirectDeltaMush),
    /// As rigid as linear blending near the joints allows (the paper on point handles, §3.1).
    #[cfg(feature = "arap")]
    Arap(ArapOptions),
    /// Four learned numbers per influence (§3), from
    /// [`BakedData::animation_space`](super::BakedData::animation_space); without them, linear
    /// blending.
    AnimationSpace,
    /// Twelve learned numbers per influence (§3), from
    /// [`BakedData::multi_weight`](super::BakedData::multi_weight); without them, linear blending.
    MultiWeight,
}

impl Method {
    /// Every method with its default options.
    pub const ALL: &[Method] = &[
        Method::Rigid,
        Method::Linear,
        Method::DualQuaternion(DualQuaternion {
            antipodality: Antipodality::PerVertex,
        }),
        Method::DualQuaternionIntrinsic(DualQuaternionIntrinsic::DEFAULT),
        Method::LogMatrix,
        Method::Spherical,
        Method::LinearDualBlend(LinearDualBlend::DEFAULT),
        Method::SwingTwist,
        Method::Differential,
        Method::StretchTwist,
        Method::Spline,
        Method::CentersOfRotation(CentersOfRotation::DEFAULT),
        Method::CorProcrustes(CenterOptions::PAPER),
        Method::DeltaMush(DeltaMush::DEFAULT),
        Method::DirectDeltaMush(DirectDeltaMush::of(MushVariant::V0)),
        Method::DirectDeltaMush(DirectDeltaMush::of(MushVariant::V1)),
        Method::DirectDeltaMush(DirectDeltaMush::of(MushVariant::V2)),
        Method::DirectDeltaMush(DirectDeltaMush::of(MushVariant::V3)),
        Method::DirectDeltaMush(DirectDeltaMush::of(MushVariant::V4)),
        Method::DirectDeltaMush(DirectDeltaMush::of(MushVariant::V5)),
        #[cfg(feature = "arap")]
        Method::Arap(ArapOptions::DEFAULT),
        Method::AnimationSpace,
        Method::MultiWeight,
    ];

    /// The name on the command line, without options.
    pub fn name(&self) -> &'static str {
        self.words().name
    }

    /// Shorter or older names for the same method.
    pub fn aliases(&self) -> &'static [&'static str] {
        self.words().aliases
    }

    /// A summary in one line.
    pub fn summary(&self) -> &'static str {
        self.words().summary
    }

    fn words(&self) -> Words {
        match self {
            Method::Rigid => Words {
                name: "rigid",
                aliases: &[],
                summary: "each vertex follows its heaviest joint; hard creases, no blending",
            },
            Method::Linear => Words {
                name: "linear",
                aliases: &["lbs"],
                summary: "linear blend skinning, as in every engine; loses volume at strong bends, \
                          candy-wrapper artifact at twists",
            },
            Method::DualQuaternion(_) => Words {
                name: "dual-quaternion",
                aliases: &["dqs"],
                summary: "blends rigid motions instead of matrices; twists keep their volume, \
                          bends bulge",
            },
            Method::DualQuaternionIntrinsic(_) => Words {
                name: "dual-quaternion-intrinsic",
                aliases: &["dib"],
                summary: "the exact mean of rigid motions, by iteration; looks nearly like \
                          dual-quaternion, slower",
            },
            Method::LogMatrix => Words {
                name: "log-matrix",
                aliases: &["lms"],
                summary: "blends matrix logarithms; good near the rest pose, inaccurate beyond a \
                          quarter turn",
            },
            Method::Spherical => Words {
                name: "spherical",
                aliases: &["sbs"],
                summary: "rotates each vertex about the best common center of its joints; a \
                          predecessor of dual-quaternion",
            },
            Method::LinearDualBlend(_) => Words {
                name: "linear-dual-blend",
                aliases: &["ldb"],
                summary: "a mix of linear and dual-quaternion, half and half or by painted shares; \
                          :SHARE sets it",
            },
            Method::SwingTwist => Words {
                name: "swing-twist",
                aliases: &["std"],
                summary: "twists like dual-quaternion, bends like linear: no candy-wrapper \
                          artifact, no bulging",
            },
            Method::Differential => Words {
                name: "differential",
                aliases: &["diff"],
                summary: "blends level by level along the skeleton; supports several full turns",
            },
            Method::StretchTwist => Words {
                name: "stretch-twist",
                aliases: &["stbs"],
                summary: "bones stretch and twist along their length, as forearms do; also for \
                          cartoons",
            },
            Method::Spline => Words {
                name: "spline",
                aliases: &[],
                summary: "limbs follow smooth curves through their joints; for tails, necks, \
                          tentacles",
            },
            Method::CentersOfRotation(_) => Words {
                name: "cor",
                aliases: &["centers-of-rotation"],
                summary: "rotates each vertex about a center baked from its weights; less volume \
                          loss and bulging than most",
            },
            Method::CorProcrustes(_) => Words {
                name: "cor-procrustes",
                aliases: &[],
                summary: "cor with rotations fitted to linear blending; jumps near half a turn; \
                          for comparison only",
            },
            Method::DeltaMush(_) => Words {
                name: "delta-mush",
                aliases: &["dm"],
                summary: "smooths the whole surface in every frame and adds its details back; \
                          needs no painted weights",
            },
            Method::DirectDeltaMush(DirectDeltaMush { variant, .. }) => variant_words(*variant),
            #[cfg(feature = "arap")]
            Method::Arap(_) => Words {
                name: "arap",
                aliases: &["as-rigid-as-possible"],
                summary: "as rigid as possible between joints, by an energy; keeps lengths and \
                          details, solved in every frame",
            },
            Method::AnimationSpace => Words {
                name: "animation-space",
                aliases: &[],
                summary: "four learned weights per joint; without them the same as linear",
            },
            Method::MultiWeight => Words {
                name: "multi-weight",
                aliases: &["mwe"],
                summary: "twelve learned weights per joint; without them the same as linear",
            },
        }
    }

    /// The option after the colon, if it is not the default.
    fn option(&self) -> Option<String> {
        match self {
            Method::DualQuaternion(DualQuaternion {
                antipodality: Antipodality::PerJoint,
            })
            | Method::CentersOfRotation(CentersOfRotation {
                antipodality: Antipodality::PerJoint,
                ..
            }) => Some("per-joint".to_owned()),
            Method::DeltaMush(DeltaMush {
                frames: LocalFrames::BestFit,
                ..
            }) => Some("best-fit".to_owned()),
            Method::LinearDualBlend(LinearDualBlend {
                dual: DualShare::Everywhere(share),
            }) => Some(share.to_string()),
            _ => None,
        }
    }

    /// The options that may follow the name after a colon, in words; `None` if nothing may.
    pub fn options(&self) -> Option<&'static str> {
        match self {
            Method::DualQuaternion(_) | Method::CentersOfRotation(_) => {
                Some("per-vertex, per-joint")
            }
            Method::DeltaMush(_) => Some("tangent, best-fit"),
            Method::LinearDualBlend(_) => Some("the share of dual quaternions, from 0 to 1"),
            _ => None,
        }
    }

    /// The method with an option that follows its name after a colon.
    fn with_option(self, option: &str) -> Option<Method> {
        let antipodality = match option {
            "per-vertex" => Some(Antipodality::PerVertex),
            "per-joint" => Some(Antipodality::PerJoint),
            _ => None,
        };
        match (self, option) {
            (Method::DualQuaternion(_), _) => {
                let antipodality = antipodality?;
                Some(Method::DualQuaternion(DualQuaternion { antipodality }))
            }
            (Method::CentersOfRotation(options), _) => {
                let antipodality = antipodality?;
                Some(Method::CentersOfRotation(CentersOfRotation {
                    antipodality,
                    ..options
                }))
            }
            (Method::DeltaMush(options), _) => {
                let frames = match option {
                    "tangent" => LocalFrames::Tangent,
                    "best-fit" => LocalFrames::BestFit,
                    _ => return None,
                };
                Some(Method::DeltaMush(DeltaMush { frames, ..options }))
            }
            (Method::LinearDualBlend(_), share) => {
                let share = share.parse::<f32>().ok();
                let share = share.filter(|share| (0.0..=1.0).contains(share))?;
                let dual = DualShare::Everywhere(share);
                Some(Method::LinearDualBlend(LinearDualBlend { dual }))
            }
            _ => None,
        }
    }
}

fn variant_words(variant: MushVariant) -> Words {
    match variant {
        MushVariant::V0 => Words {
            name: "ddm",
            aliases: &["direct-delta-mush", "ddm-v0"],
            summary: "direct delta mush: delta mush baked to a few numbers per joint; smooth even \
                      from rigid weights, no bulging, fast",
        },
        MushVariant::V1 => Words {
            name: "ddm-v1",
            aliases: &[],
            summary: "ddm without a decomposition, closest to delta mush; strong bends may turn \
                      inside out",
        },
        MushVariant::V2 => Words {
            name: "ddm-v2",
            aliases: &[],
            summary: "ddm with rotations from blended quaternions; half of the data",
        },
        MushVariant::V3 => Words {
            name: "ddm-v3",
            aliases: &[],
            summary: "ddm with rotations from blended matrices; no matrix square root",
        },
        MushVariant::V4 => Words {
            name: "ddm-v4",
            aliases: &[],
            summary: "ddm as rotation about a center, like cor, with baked weights",
        },
        MushVariant::V5 => Words {
            name: "ddm-v5",
            aliases: &[],
            summary: "linear blending with weights baked by ddm; runs in any engine",
        },
    }
}

/// Name, aliases and summary of a method.
struct Words {
    name: &'static str,
    aliases: &'static [&'static str],
    summary: &'static str,
}

/// Error from parsing the name of a method.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum UnknownMethod {
    /// There is no method of this name.
    #[error("there is no method '{0}'; known: {known}", known = known_methods())]
    Name(String),
    /// The method does not have this option.
    #[error("the method '{method}' has no option '{option}'; known: {known}")]
    Option {
        /// The method.
        method: &'static str,
        /// The text after the colon.
        option: String,
        /// The options of the method.
        known: &'static str,
    },
}

fn known_methods() -> String {
    let names: Vec<_> = Method::ALL.iter().map(Method::name).collect();
    names.join(", ")
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.option() {
            Some(option) => write!(f, "{}:{option}", self.name()),
            None => f.write_str(self.name()),
        }
    }
}

impl FromStr for Method {
    type Err = UnknownMethod;

    fn from_str(text: &str) -> Result<Method, UnknownMethod> {
        let (name, option) = match text.split_once(':') {
            Some((name, option)) => (name, Some(option)),
            None => (text, None),
        };
        let known = |method: &&Method| method.name() == name || method.aliases().contains(&name);
        let found = Method::ALL.iter().find(known).cloned();
        let method = found.ok_or_else(|| UnknownMethod::Name(name.to_owned()))?;
        let Some(option) = option else {
            return Ok(method);
        };
        let unknown = UnknownMethod::Option {
            method: method.name(),
            option: option.to_owned(),
            known: method.options().unwrap_or("none"),
        };
        method.with_option(option).ok_or(unknown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_aliases_find_their_method_and_no_two_share_one() {
        for method in Method::ALL {
            assert_eq!(method.name().parse::<Method>().unwrap(), *method);
            for alias in method.aliases() {
                assert_eq!(alias.parse::<Method>().unwrap(), *method);
            }
        }
        let per_joint: Method = "dqs:per-joint".parse().unwrap();
        assert_eq!(per_joint.to_string(), "dual-quaternion:per-joint");
        let mixed: Method = "linear-dual-blend:0.25".parse().unwrap();
        assert_eq!(mixed.to_string(), "linear-dual-blend:0.25");
        assert!("linear-dual-blend:1.5".parse::<Method>().is_err());
        let error = "linear:per-joint".parse::<Method>().unwrap_err();
        assert_eq!(
            error.to_string(),
            "the method 'linear' has no option 'per-joint'; known: none"
        );
        let error = "wobbly".parse::<Method>().unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("there is no method 'wobbly'; known: {}", known_methods())
        );
    }
}
