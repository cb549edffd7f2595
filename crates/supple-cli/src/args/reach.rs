//! Options of inverse kinematics, shared by several commands.

use clap::Args;
use glam::DVec3;
use std::f64::consts::PI;

const HEADING: &str = "Posing";

#[derive(Args)]
#[command(next_help_heading = HEADING)]
pub(crate) struct ReachArguments {
    /// Turn a joint by degrees about its own axes, x then y then z, on top of the pose, before
    /// others move or reach. May be given several times, also for one joint
    #[arg(
        long,
        value_name = "JOINT=X,Y,Z",
        value_parser = parse_turned,
        allow_hyphen_values = true
    )]
    pub(crate) turn: Vec<(String, [f64; 3])>,
    /// Turn joints so that one reaches a position: JOINT=X,Y,Z in the world, or JOINT+=X,Y,Z
    /// relative to where it is. May be given several times
    #[arg(
        long,
        value_name = "JOINT=X,Y,Z",
        value_parser = parse_placed,
        allow_hyphen_values = true
    )]
    pub(crate) reach: Vec<Placed>,
    /// Move a joint and everything below it before others reach: pelvis+=0,-0.2,0 for a squat. May
    /// be given several times, parents first
    #[arg(
        long = "move",
        value_name = "JOINT=X,Y,Z",
        value_parser = parse_placed,
        allow_hyphen_values = true
    )]
    pub(crate) shift: Vec<Placed>,
    /// Pole target: a position that the elbow or knee of a reaching joint bends toward [default:
    /// the side that it bends to now]
    #[arg(
        long,
        value_name = "JOINT=X,Y,Z",
        value_parser = parse_placed,
        allow_hyphen_values = true,
        requires = "reach"
    )]
    pub(crate) pole: Vec<Placed>,
    /// Orientation of a reaching joint in the world: JOINT=keep, or JOINT=X,Y,Z in degrees about
    /// the world's axes, relative to the rest pose [default: it follows its bone]
    #[arg(
        long,
        value_name = "JOINT=TURN",
        value_parser = parse_oriented,
        allow_hyphen_values = true,
        requires = "reach"
    )]
    pub(crate) orient: Vec<(String, Orientation)>,
    /// Number of joints above a reaching one that turn; N without a joint is for all [default: the
    /// joints of its limb]
    #[arg(long, value_name = "JOINT=N", value_parser = parse_chain, requires = "reach")]
    pub(crate) chain: Vec<(Option<String>, usize)>,
    /// Limit of a joint, in degrees from rest: JOINT=hinge:0..150 or JOINT=cone:80,-45..45. May be
    /// given several times
    #[arg(
        long,
        value_name = "JOINT=LIMIT",
        value_parser = parse_limited,
        allow_hyphen_values = true,
        requires = "reach"
    )]
    pub(crate) limit: Vec<(String, LimitSetting)>,
    /// Stiffness of a joint, from 0 to 1 (does not turn). May be given several times
    #[arg(long, value_name = "JOINT=SHARE", value_parser = parse_stiff, requires = "reach")]
    pub(crate) stiff: Vec<(String, f64)>,
}

/// A joint and a position, absolute or relative.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Placed {
    pub(crate) joint: String,
    /// Each coordinate, and whether it is relative to the joint.
    numbers: [(f64, bool); 3],
}

impl Placed {
    pub(crate) fn from(&self, here: DVec3) -> DVec3 {
        let number = |axis: usize| match self.numbers[axis] {
            (number, true) => here[axis] + number,
            (number, false) => number,
        };
        DVec3::from_array([0, 1, 2].map(number))
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Orientation {
    Keep,
    /// Degrees about x, y and z of the world.
    FromRest([f64; 3]),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum LimitSetting {
    Hinge {
        range: [f64; 2],
        axis: Option<DVec3>,
    },
    Cone {
        swing: f64,
        twist: [f64; 2],
    },
}

fn number(text: &str) -> Option<f64> {
    let number = text.trim().parse::<f64>().ok();
    number.filter(|number| number.is_finite())
}

/// The texts before and after the last equals sign.
fn halves(text: &str) -> Option<(&str, &str)> {
    let halves = text.rsplit_once('=');
    halves.filter(|(joint, _)| !joint.is_empty())
}

fn three<T>(text: &str, read: impl Fn(&str) -> Option<T>) -> Option<[T; 3]> {
    let parts: Option<Vec<T>> = text.split(',').map(read).collect();
    parts?.try_into().ok()
}

fn parse_placed(text: &str) -> Result<Placed, String> {
    let placed = halves(text).and_then(|(joint, place)| {
        let (joint, all_relative) = match joint.strip_suffix('+') {
            Some(joint) => (joint, true),
            None => (joint, false),
        };
        let numbers = three(place, |part| {
            let part = part.trim();
            let relative = all_relative || part.starts_with('+');
            Some((number(part.trim_start_matches('+'))?, relative))
        })?;
        Some(Placed {
            joint: joint.to_owned(),
            numbers,
        })
    });
    placed.ok_or_else(|| {
        "expected a joint and three numbers, such as hand.L=0.3,1.2,0.4 or hand.L+=0,0.1,0"
            .to_owned()
    })
}

fn parse_oriented(text: &str) -> Result<(String, Orientation), String> {
    let oriented = halves(text).and_then(|(joint, turn)| {
        let orientation = match turn {
            "keep" => Orientation::Keep,
            _ => Orientation::FromRest(three(turn, number)?),
        };
        Some((joint.to_owned(), orientation))
    });
    oriented.ok_or_else(|| {
        "expected a joint and 'keep' or three angles, such as foot.L=keep or hand.L=0,90,0"
            .to_owned()
    })
}

fn parse_turned(text: &str) -> Result<(String, [f64; 3]), String> {
    let turned =
        halves(text).and_then(|(joint, turn)| Some((joint.to_owned(), three(turn, number)?)));
    turned.ok_or_else(|| "expected a joint and three angles, such as hand.L=0,90,0".to_owned())
}

fn parse_chain(text: &str) -> Result<(Option<String>, usize), String> {
    let (joint, count) = match halves(text) {
        Some((joint, count)) => (Some(joint.to_owned()), count),
        None => (None, text),
    };
    match count.parse() {
        Ok(count) if count > 0 => Ok((joint, count)),
        _ => Err("expected a number of joints above zero, such as 3 or hand.L=3".to_owned()),
    }
}

/// Degrees as FROM..TO, in radians.
fn range(text: &str) -> Option<[f64; 2]> {
    let (least, most) = text.split_once("..")?;
    Some([number(least)?.to_radians(), number(most)?.to_radians()])
}

fn parse_limited(text: &str) -> Result<(String, LimitSetting), String> {
    let limited = halves(text).and_then(|(joint, limit)| {
        let (kind, angles) = limit.split_once(':')?;
        let setting = match kind {
            "hinge" => {
                let (angles, axis) = match angles.split_once('@') {
                    Some((angles, axis)) => (angles, Some(DVec3::from(three(axis, number)?))),
                    None => (angles, None),
                };
                LimitSetting::Hinge {
                    range: range(angles)?,
                    axis,
                }
            }
            "cone" => {
                let (swing, twist) = match angles.split_once(',') {
                    Some((swing, twist)) => (swing, range(twist)?),
                    None => (angles, [-PI, PI]),
                };
                LimitSetting::Cone {
                    swing: number(swing)?.to_radians(),
                    twist,
                }
            }
            _ => return None,
        };
        Some((joint.to_owned(), setting))
    });
    limited.ok_or_else(|| {
        "expected a joint and a limit in degrees, such as forearm.L=hinge:0..150 \
         or upper_arm.L=cone:80,-45..45"
            .to_owned()
    })
}

fn parse_stiff(text: &str) -> Result<(String, f64), String> {
    let stiff = halves(text).and_then(|(joint, share)| Some((joint.to_owned(), number(share)?)));
    let stiff = stiff.filter(|(_, share)| (0.0..=1.0).contains(share));
    stiff.ok_or_else(|| "expected a joint and a share from 0 to 1, such as spine=0.5".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_read_absolute_and_relative() {
        let placed = parse_placed("hand.L=0.3,-1,2e-1").unwrap();
        assert_eq!(placed.joint, "hand.L");
        assert_eq!(placed.from(DVec3::ONE), DVec3::new(0.3, -1.0, 0.2));
        let placed = parse_placed("a=b+=0,-0.5,0").unwrap();
        assert_eq!(placed.joint, "a=b");
        assert_eq!(placed.from(DVec3::ONE), DVec3::new(1.0, 0.5, 1.0));
        let placed = parse_placed("hand=+0,1.5,+-0.5").unwrap();
        assert_eq!(placed.from(DVec3::ONE), DVec3::new(1.0, 1.5, 0.5));
        for bad in [
            "hand",
            "hand=1,2",
            "=1,2,3",
            "hand=1,2,nan",
            "hand=1,2,3,4",
            "hand=a,b,c",
        ] {
            assert!(parse_placed(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn limits_chains_and_turns_are_read_or_explained() {
        let (joint, setting) = parse_limited("elbow=hinge:0..180@1,0,0").unwrap();
        assert_eq!(joint, "elbow");
        let hinge = LimitSetting::Hinge {
            range: [0.0, PI],
            axis: Some(DVec3::X),
        };
        assert_eq!(setting, hinge);
        let (_, setting) = parse_limited("neck=cone:90").unwrap();
        let cone = LimitSetting::Cone {
            swing: PI / 2.0,
            twist: [-PI, PI],
        };
        assert_eq!(setting, cone);
        for bad in [
            "neck",
            "neck=cone",
            "neck=cone:x",
            "neck=hinge:5",
            "neck=ball:5..6",
        ] {
            assert!(parse_limited(bad).is_err(), "{bad}");
        }
        assert_eq!(parse_chain("3"), Ok((None, 3)));
        assert_eq!(parse_chain("hand=3"), Ok((Some("hand".to_owned()), 3)));
        assert!(parse_chain("hand=0").is_err() && parse_chain("x").is_err());
        let keep = ("foot".to_owned(), Orientation::Keep);
        assert_eq!(parse_oriented("foot=keep"), Ok(keep));
        assert!(parse_oriented("foot=1,2").is_err());
        assert!(parse_stiff("spine=2").is_err() && parse_stiff("spine=0.5").is_ok());
    }
}
