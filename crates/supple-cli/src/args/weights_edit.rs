//! Arguments of `supple weights edit`: operations, in the order of the command line.

use super::{file_help, file_summary};
use crate::failure::Failure;
use clap::builder::{TypedValueParser, ValueParser};
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use glam::Vec3;
use std::path::PathBuf;
use supple::edit::{Axis, Mirror, MirrorSource, Paint, StrokePoint};

/// Prune, limit, smooth, mirror, transfer and paint weights
#[derive(Args)]
#[command(after_help = "\
Operations are done in the order given, and may be given several times. Weights always sum to 1,
vertices at one position get equal weights, and locked joints keep theirs: what one joint gains, the
others lose in proportion. A vertex that would be left without a joint follows the parent joint.

A brush measures distances along the surface, in the unit of the file, so a finger that is close but
far along the skin is not painted.

Examples:
  supple weights edit hero.glb --prune 0.01 --max-influences 4 -o hero-lean.glb
  supple weights edit hero.glb --lock head --smooth 10:0.5 -o hero-smooth.glb
  supple weights edit hero.glb --within mesh:Sleeve --smooth 5 --within all --prune 0.01 -o 2.glb
  supple weights edit hero.glb --mirror +x -o hero-even.glb
  supple weights edit coat.glb --transfer hero.glb --max-influences 4 -o coat-bound.glb
  supple weights edit hero.glb --within hand.L --flood 'forearm.L*=0.5' -o hero-hand.glb
  supple weights edit hero.glb --brush 'neck+=0.3@0,1.5,0.05@0.02,1.5,0.05:0.08' -o hero-neck.glb
  supple weights edit hero.glb --brush-smooth 0.5@0,1.5,0.05:0.1 -o hero-neck.glb")]
pub(crate) struct WeightsEditArguments {
    #[arg(value_name = "FILE", help = file_summary(), long_help = file_help())]
    pub(crate) file: PathBuf,
    /// The file to write: .glb or .gltf
    #[arg(short, long = "out", value_name = "OUT")]
    pub(crate) out: PathBuf,
    #[command(flatten)]
    pub(crate) operations: Operations,
    /// --transfer: largest distance of a matching point of the other surface, as a share of the
    /// character's size [default: 0.05]
    #[arg(long, value_name = "SHARE", help_heading = "Settings")]
    pub(crate) reach: Option<f64>,
    /// --transfer: largest angle between the normals of matching points, in degrees [default: 30]
    #[arg(long, value_name = "DEGREES", help_heading = "Settings")]
    pub(crate) angle: Option<f64>,
    /// --transfer: accept points whose normals are opposite as well
    #[arg(long, help_heading = "Settings")]
    pub(crate) either_side: bool,
    /// --brush: fall-off of the paint towards the border of the brush [default: smooth]
    #[arg(
        long,
        value_name = "KIND",
        value_parser = ["smooth", "linear", "constant"],
        help_heading = "Settings"
    )]
    pub(crate) falloff: Option<String>,
}

impl WeightsEditArguments {
    /// Refuses settings of operations that are not given.
    pub(crate) fn check_settings(&self) -> Result<(), Failure> {
        let Operations(operations) = &self.operations;
        let any = |wanted: fn(&Task) -> bool| operations.iter().any(|done| wanted(&done.task));
        let transfers = any(|task| matches!(task, Task::Transfer(_)));
        let brushes = any(|task| matches!(task, Task::Brush { .. } | Task::BrushSmooth { .. }));
        let settings = [
            ("--reach", self.reach.is_some(), transfers, "--transfer"),
            ("--angle", self.angle.is_some(), transfers, "--transfer"),
            ("--either-side", self.either_side, transfers, "--transfer"),
            (
                "--falloff",
                self.falloff.is_some(),
                brushes,
                "--brush or --brush-smooth",
            ),
        ];
        match settings.iter().find(|(_, given, used, _)| *given && !used) {
            Some((setting, _, _, user)) => {
                let message = format!("{setting} has no effect without {user}");
                Err(Failure::usage(message))
            }
            None => Ok(()),
        }
    }
}

/// The operations, in order.
pub(crate) struct Operations(pub(crate) Vec<Operation>);

/// An operation of the command line.
#[derive(Clone)]
pub(crate) struct Operation {
    /// The text of the option, for messages.
    pub(crate) written: String,
    pub(crate) task: Task,
}

#[derive(Clone)]
pub(crate) enum Task {
    Normalise,
    Prune(f64),
    Limit(usize),
    Smooth {
        steps: u32,
        strength: f64,
        joints: Vec<String>,
    },
    Mirror(Mirror),
    Transfer(PathBuf),
    Flood(JointPaint),
    Brush {
        paint: JointPaint,
        touches: Touches,
    },
    BrushSmooth {
        strength: f64,
        touches: Touches,
    },
    Lock(String),
    Unlock(String),
    Within(String),
}

/// A change to the weight of a joint, given by name.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct JointPaint {
    pub(crate) joint: String,
    operator: Operator,
    value: f64,
}

impl JointPaint {
    pub(crate) fn of(&self, joint: usize) -> Paint {
        let value = self.value;
        match self.operator {
            Operator::Set => Paint::Set { joint, value },
            Operator::Add => Paint::Add {
                joint,
                amount: value,
            },
            Operator::Scale => Paint::Scale {
                joint,
                factor: value,
            },
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Operator {
    Set,
    Add,
    Scale,
}

/// The positions and the radius of a brush.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Touches {
    pub(crate) places: Vec<StrokePoint>,
    pub(crate) radius: f64,
}

/// An option whose value is a task.
struct TaskOption {
    name: &'static str,
    value: &'static str,
    help: &'static str,
    parse: fn(&str) -> Result<Task, String>,
}

/// Named as the option of `weights` and `handles`; before, it was `--limit`.
const LIMIT: &str = "max-influences";

const TASK_OPTIONS: [TaskOption; 11] = [
    TaskOption {
        name: "prune",
        value: "W",
        help: "Drop influences below a weight; a vertex keeps its heaviest",
        parse: |text| Ok(Task::Prune(number(text)?)),
    },
    TaskOption {
        name: LIMIT,
        value: "N",
        help: "Keep at most N influences per vertex; lighter ones fade out without a crease",
        parse: |text| match text.parse() {
            Ok(most) => Ok(Task::Limit(most)),
            Err(_) => Err("expected a number of influences, such as 4".to_owned()),
        },
    },
    TaskOption {
        name: "smooth",
        value: "STEPS[:STRENGTH][=JOINT,…]",
        help: "Smooth along the surface in a number of steps, each of STRENGTH from 0 to 1 \
               [default: 0.5], all joints or those named",
        parse: parse_smooth,
    },
    TaskOption {
        name: "mirror",
        value: "SIDE[@PLANE]",
        help: "Make the weights symmetric: +x copies from the side of larger x, -x from the side \
               of smaller x, x takes the heavier side of each joint; y and z alike. The mirror \
               plane is found from the shape, or given as PLANE",
        parse: parse_mirror,
    },
    TaskOption {
        name: "transfer",
        value: "FILE",
        help: "Transfer the weights of another character at the same place, joints by name: from \
               the closest point if it is near and faces the same way, else filled in along the \
               surface",
        parse: |text| Ok(Task::Transfer(PathBuf::from(text))),
    },
    TaskOption {
        name: "flood",
        value: "JOINT=W",
        help: "Set the weight of a joint everywhere; JOINT+=W adds, JOINT-=W subtracts, JOINT*=F \
               multiplies",
        parse: |text| Ok(Task::Flood(parse_paint(text)?)),
    },
    TaskOption {
        name: "brush",
        value: "JOINT+=W@X,Y,Z:RADIUS",
        help: "The same with a brush at the point of the surface nearest to X,Y,Z, or at vertex N \
               with @vN; more positions make a stroke",
        parse: |text| {
            let (paint, touches) = parse_touches(text)?;
            Ok(Task::Brush {
                paint: parse_paint(paint)?,
                touches,
            })
        },
    },
    TaskOption {
        name: "brush-smooth",
        value: "STRENGTH@X,Y,Z:RADIUS",
        help: "Smooth with a brush",
        parse: |text| {
            let (strength, touches) = parse_touches(text)?;
            Ok(Task::BrushSmooth {
                strength: number(strength)?,
                touches,
            })
        },
    },
    TaskOption {
        name: "lock",
        value: "JOINT",
        help: "Lock the weights of a joint for the following operations",
        parse: |text| Ok(Task::Lock(text.to_owned())),
    },
    TaskOption {
        name: "unlock",
        value: "JOINT",
        help: "Unlock a joint",
        parse: |text| Ok(Task::Unlock(text.to_owned())),
    },
    TaskOption {
        name: "within",
        value: "REGION",
        help: "Restrict the following operations to the vertices of a joint: JOINT, or of a mesh: \
               mesh:NAME; all lifts the restriction",
        parse: |text| Ok(Task::Within(text.to_owned())),
    },
];

impl Args for Operations {
    fn augment_args(mut command: Command) -> Command {
        command = command.arg(
            Arg::new("normalise")
                .long("normalise")
                .visible_alias("normalize")
                .help(
                    "Report problems of the weights in the file, and give vertices at one position \
                     equal weights; weights are always written normalised",
                )
                .help_heading(HEADING)
                .action(ArgAction::SetTrue),
        );
        for option in &TASK_OPTIONS {
            command = command.arg(
                Arg::new(option.name)
                    .long(option.name)
                    .value_name(option.value)
                    .help(option.help)
                    .help_heading(HEADING)
                    .allow_hyphen_values(true)
                    .action(ArgAction::Append)
                    .value_parser(operation_parser(option)),
            );
        }
        command.mut_arg(LIMIT, |limit| limit.alias("limit"))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Operations::augment_args(command)
    }
}

const HEADING: &str = "Operations, in the order given";

fn operation_parser(option: &'static TaskOption) -> ValueParser {
    let text = clap::builder::StringValueParser::new();
    ValueParser::new(text.try_map(|text| {
        Ok::<Operation, String>(Operation {
            task: (option.parse)(&text)?,
            written: format!("{} {text}", option.name),
        })
    }))
}

impl FromArgMatches for Operations {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Operations, clap::Error> {
        let mut numbered: Vec<(usize, Operation)> = Vec::new();
        if matches.get_flag("normalise") {
            let place = matches.index_of("normalise").unwrap_or(0);
            let operation = Operation {
                written: "normalise".to_owned(),
                task: Task::Normalise,
            };
            numbered.push((place, operation));
        }
        for option in &TASK_OPTIONS {
            let places = matches.indices_of(option.name).into_iter().flatten();
            let given = matches.get_many::<Operation>(option.name);
            numbered.extend(places.zip(given.into_iter().flatten().cloned()));
        }
        numbered.sort_by_key(|(place, _)| *place);
        Ok(Operations(
            numbered
                .into_iter()
                .map(|(_, operation)| operation)
                .collect(),
        ))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Operations::from_arg_matches(matches)?;
        Ok(())
    }
}

fn number(text: &str) -> Result<f64, String> {
    let finite = text
        .trim()
        .parse::<f64>()
        .ok()
        .filter(|number| number.is_finite());
    finite.ok_or_else(|| format!("expected a number instead of '{text}'"))
}

fn parse_smooth(text: &str) -> Result<Task, String> {
    let (amount, joints) = match text.split_once('=') {
        Some((amount, joints)) => (amount, joints.split(',').map(str::to_owned).collect()),
        None => (text, Vec::new()),
    };
    let (steps, strength) = match amount.split_once(':') {
        Some((steps, strength)) => (steps, number(strength)?),
        None => (amount, 0.5),
    };
    let steps = steps.trim().parse();
    let steps = steps.map_err(|_| "expected a number of steps, such as 5 or 5:0.3".to_owned())?;
    Ok(Task::Smooth {
        steps,
        strength,
        joints,
    })
}

fn parse_mirror(text: &str) -> Result<Task, String> {
    let (side, plane) = match text.split_once('@') {
        Some((side, plane)) => (side, Some(number(plane)?)),
        None => (text, None),
    };
    let (source, axis) = match side.strip_prefix('+') {
        Some(axis) => (MirrorSource::Positive, axis),
        None => match side.strip_prefix('-') {
            Some(axis) => (MirrorSource::Negative, axis),
            None => (MirrorSource::Heavier, side),
        },
    };
    let mut axes = [Axis::X, Axis::Y, Axis::Z].into_iter();
    let axis = axes.find(|known| known.to_string().eq_ignore_ascii_case(axis));
    let axis = axis.ok_or("expected +x, -x or x, or the same with y or z")?;
    Ok(Task::Mirror(Mirror {
        axis,
        source,
        plane,
    }))
}

fn parse_paint(text: &str) -> Result<JointPaint, String> {
    let expected =
        || format!("expected JOINT=WEIGHT instead of '{text}', such as hand.L=0.5 or hand.L*=0.5");
    // The last one, as names may contain the sign.
    let (left, value) = text.rsplit_once('=').ok_or_else(expected)?;
    let value = number(value)?;
    let (joint, operator, value) = match left.char_indices().last() {
        Some((at, '+')) => (&left[..at], Operator::Add, value),
        Some((at, '-')) => (&left[..at], Operator::Add, -value),
        Some((at, '*')) => (&left[..at], Operator::Scale, value),
        _ => (left, Operator::Set, value),
    };
    if joint.is_empty() {
        return Err(expected());
    }
    Ok(JointPaint {
        joint: joint.to_owned(),
        operator,
        value,
    })
}

/// The text before the first position, and the positions with the radius after them.
fn parse_touches(text: &str) -> Result<(&str, Touches), String> {
    let expected = || format!("expected @X,Y,Z:RADIUS or @vN:RADIUS at the end of '{text}'");
    let (rest, radius) = text.rsplit_once(':').ok_or_else(expected)?;
    let radius = number(radius)?;
    let mut places = Vec::new();
    let mut paint = rest;
    // From the end, as names may contain the sign.
    while let Some((before, place)) = paint.rsplit_once('@') {
        let Some(place) = parse_place(place) else {
            break;
        };
        places.push(place);
        paint = before;
    }
    places.reverse();
    if places.is_empty() {
        return Err(expected());
    }
    Ok((paint, Touches { places, radius }))
}

fn parse_place(text: &str) -> Option<StrokePoint> {
    if let Some(vertex) = text.strip_prefix('v') {
        return vertex.parse().ok().map(StrokePoint::Vertex);
    }
    let coordinates = text.split(',').map(|part| part.trim().parse::<f32>().ok());
    let coordinates: Vec<f32> = coordinates.collect::<Option<_>>()?;
    let place: [f32; 3] = coordinates.try_into().ok()?;
    Some(StrokePoint::Near(Vec3::from_array(place)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paint_and_places_are_read_or_explained() {
        let paint = |text: &str| parse_paint(text).unwrap();
        let expected = |joint: &str, operator: Operator, value: f64| JointPaint {
            joint: joint.to_owned(),
            operator,
            value,
        };
        assert_eq!(paint("hand.L=0.5"), expected("hand.L", Operator::Set, 0.5));
        assert_eq!(paint("a=b+=0.5"), expected("a=b", Operator::Add, 0.5));
        assert_eq!(paint("x-=0.25"), expected("x", Operator::Add, -0.25));
        assert_eq!(
            paint("mixamorig:Hips*=2"),
            expected("mixamorig:Hips", Operator::Scale, 2.0)
        );
        for bad in ["hand", "=1", "+=1", "hand=", "hand=NaN", "hand=much"] {
            assert!(parse_paint(bad).is_err(), "{bad}");
        }
        let (rest, touches) = parse_touches("a@b+=1@1,2,-3@v12:0.5").unwrap();
        assert_eq!(rest, "a@b+=1");
        assert_eq!(
            touches.places,
            [
                StrokePoint::Near(Vec3::new(1.0, 2.0, -3.0)),
                StrokePoint::Vertex(12)
            ]
        );
        assert_eq!(touches.radius, 0.5);
        for bad in [
            "a+=1",
            "a+=1@1,2:0.5",
            "a+=1@1,2,3",
            "a+=1@1,2,3:wide",
            "a+=1@v-1:2",
        ] {
            assert!(parse_touches(bad).is_err(), "{bad}");
        }
        assert!(matches!(
            parse_mirror("-Y@0.5"),
            Ok(Task::Mirror(Mirror {
                axis: Axis::Y,
                source: MirrorSource::Negative,
                plane: Some(0.5)
            }))
        ));
        assert!(parse_mirror("left").is_err());
        assert!(matches!(
            parse_smooth("3:0.25=a,b"),
            Ok(Task::Smooth { steps: 3, strength: 0.25, joints }) if joints == ["a", "b"]
        ));
        assert!(parse_smooth("some").is_err());
    }
}
