//! The names of the methods, their options, and what to say about them.

use super::dual_quaternion::{Antipodality, DualQuaternion};
use std::fmt;
use std::str::FromStr;
use thiserror::Error;

/// A skinning method and its options.
#[derive(Clone, Debug, PartialEq)]
pub enum Method {
    /// Each vertex follows its heaviest joint.
    Rigid,
    /// Linear blend skinning, eq. (1) of the course.
    Linear,
    /// Dual quaternions, blended linearly (§4 of the course).
    DualQuaternion(DualQuaternion),
}

impl Method {
    /// Every method with its default options.
    pub const ALL: &[Method] = &[
        Method::Rigid,
        Method::Linear,
        Method::DualQuaternion(DualQuaternion {
            antipodality: Antipodality::PerVertex,
        }),
    ];

    /// The name on the command line, without options.
    pub fn name(&self) -> &'static str {
        self.words().name
    }

    /// Shorter or older names for the same method.
    pub fn aliases(&self) -> &'static [&'static str] {
        self.words().aliases
    }

    /// One line for people who choose.
    pub fn summary(&self) -> &'static str {
        self.words().summary
    }

    fn words(&self) -> Words {
        match self {
            Method::Rigid => Words {
                name: "rigid",
                aliases: &[],
                summary: "each vertex follows its heaviest joint; hard creases, nothing blended",
            },
            Method::Linear => Words {
                name: "linear",
                aliases: &["lbs"],
                summary: "linear blend skinning, what every engine has; collapses at strong bends and twists",
            },
            Method::DualQuaternion(_) => Words {
                name: "dual-quaternion",
                aliases: &["dqs"],
                summary: "blends whole motions instead of matrices; twists keep their thickness, bends bulge",
            },
        }
    }

    /// The option after the colon, where it is not the default.
    fn option(&self) -> Option<String> {
        match self {
            Method::DualQuaternion(DualQuaternion {
                antipodality: Antipodality::PerJoint,
            }) => Some("per-joint".to_owned()),
            _ => None,
        }
    }

    /// What may follow the name after a colon.
    fn options(&self) -> &'static str {
        match self {
            Method::DualQuaternion(_) => "per-vertex, per-joint",
            _ => "none",
        }
    }

    /// The method with the option that follows its name after a colon.
    fn with_option(self, option: &str) -> Option<Method> {
        match (self, option) {
            (Method::DualQuaternion(_), "per-joint") => {
                let antipodality = Antipodality::PerJoint;
                Some(Method::DualQuaternion(DualQuaternion { antipodality }))
            }
            (Method::DualQuaternion(_), "per-vertex") => {
                Some(Method::DualQuaternion(DualQuaternion::default()))
            }
            _ => None,
        }
    }
}

/// What a method is called.
struct Words {
    name: &'static str,
    aliases: &'static [&'static str],
    summary: &'static str,
}

/// Why a text is no method.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum UnknownMethod {
    /// A name that is no method's.
    #[error("there is no method '{0}'; known: {known}", known = known_methods())]
    Name(String),
    /// A method that does not have this option.
    #[error("the method '{method}' has no option '{option}'; known: {known}")]
    Option {
        /// Which method.
        method: &'static str,
        /// What followed the colon.
        option: String,
        /// What may follow.
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
            known: method.options(),
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
        let error = "linear:per-joint".parse::<Method>().unwrap_err();
        assert_eq!(
            error.to_string(),
            "the method 'linear' has no option 'per-joint'; known: none"
        );
        let error = "wobbly".parse::<Method>().unwrap_err();
        assert_eq!(
            error.to_string(),
            "there is no method 'wobbly'; known: rigid, linear, dual-quaternion"
        );
    }
}
