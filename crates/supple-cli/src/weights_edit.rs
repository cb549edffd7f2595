//! `supple weights edit`: the edits of `supple::weights::edit`, in the order of the command line.

use crate::args::{file_help, file_summary};
use crate::convert::DocumentKind;
use crate::failure::Failure;
use crate::mush::find_joints;
use crate::progress;
use crate::source::Source;
use crate::wording::{listed, many, measure};
use clap::builder::{TypedValueParser, ValueParser};
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use glam::Vec3;
use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use supple::weights::WeightsReport;
use supple::weights::bind::BindGroup;
use supple::weights::edit::{
    Axis, Brush, Change, Edit, EditError, Editor, Falloff, Mirror, MirrorSource, Paint, Place,
    Region, Transfer, TransferReport,
};
use supple::{Rig, Weights};
use supple_io::gltf::SaveError;

#[derive(Args)]
pub(crate) struct WeightsEdit {
    #[arg(value_name = "FILE", help = file_summary(), long_help = file_help())]
    file: PathBuf,
    /// Where to write: .glb or .gltf
    #[arg(short, long = "out", value_name = "OUT")]
    out: PathBuf,
    #[command(flatten)]
    operations: Operations,
    /// transfer: how far the other surface may be to be trusted, as a share of the character's
    /// size [default: 0.05]
    #[arg(long, value_name = "SHARE", help_heading = "Settings")]
    reach: Option<f64>,
    /// transfer: how much the two surfaces may face different ways to be trusted, in degrees
    /// [default: 30]
    #[arg(long, value_name = "DEGREES", help_heading = "Settings")]
    angle: Option<f64>,
    /// transfer: trust what faces the opposite way, too
    #[arg(long, help_heading = "Settings")]
    either_side: bool,
    /// brush: how paint fades to the border of the brush [default: smooth]
    #[arg(long, value_name = "KIND", value_parser = ["smooth", "linear", "constant"], help_heading = "Settings")]
    falloff: Option<String>,
}

impl WeightsEdit {
    /// Refuses settings of operations that are not asked for.
    fn check_settings(&self) -> Result<(), Failure> {
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
                "--brush and --brush-smooth",
            ),
        ];
        match settings.iter().find(|(_, given, used, _)| *given && !used) {
            Some((setting, _, _, user)) => {
                let message = format!("{setting} is for {user}, and changes nothing here");
                Err(Failure::usage(message))
            }
            None => Ok(()),
        }
    }
}

/// What to do, in order.
struct Operations(Vec<Operation>);

/// One option of the command line.
#[derive(Clone)]
struct Operation {
    /// As it was written, for what is told.
    written: String,
    task: Task,
}

#[derive(Clone)]
enum Task {
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

/// What is done to the weight of a joint that is known by its name.
#[derive(Clone, Debug, PartialEq)]
struct JointPaint {
    joint: String,
    operator: Operator,
    value: f64,
}

impl JointPaint {
    fn of(&self, joint: usize) -> Paint {
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
enum Operator {
    Set,
    Add,
    Scale,
}

/// Where a brush touches, and how large it is.
#[derive(Clone, Debug, PartialEq)]
struct Touches {
    places: Vec<Place>,
    radius: f64,
}

/// An option that makes a task of its value.
struct TaskOption {
    name: &'static str,
    value: &'static str,
    help: &'static str,
    parse: fn(&str) -> Result<Task, String>,
}

const TASK_OPTIONS: [TaskOption; 11] = [
    TaskOption {
        name: "prune",
        value: "W",
        help: "Drop influences that weigh less; a vertex keeps its heaviest",
        parse: |text| Ok(Task::Prune(number(text)?)),
    },
    TaskOption {
        name: "limit",
        value: "N",
        help: "At most N influences per vertex, faded out so that no crease appears",
        parse: |text| match text.parse() {
            Ok(most) => Ok(Task::Limit(most)),
            Err(_) => Err("expected a number of influences, such as 4".to_owned()),
        },
    },
    TaskOption {
        name: "smooth",
        value: "STEPS[:STRENGTH][=JOINT,…]",
        help: "Smooth along the surface: so many steps, each by STRENGTH from 0 to 1 (0.5 without); all joints, or those named",
        parse: parse_smooth,
    },
    TaskOption {
        name: "mirror",
        value: "SIDE[@PLANE]",
        help: "Make one side the mirror image of the other: +x takes the weights of the side of larger x, -x those of the smaller, x the heavier of both for each joint; the same with y and z. The mirror stands where the character is most symmetric, or at PLANE",
        parse: parse_mirror,
    },
    TaskOption {
        name: "transfer",
        value: "FILE",
        help: "Take the weights of another character in the same place, joints by their names: of the closest point where that is near and faces the same way, filled in over the surface elsewhere",
        parse: |text| Ok(Task::Transfer(PathBuf::from(text))),
    },
    TaskOption {
        name: "flood",
        value: "JOINT=W",
        help: "Give a joint a weight everywhere; JOINT+=W adds, JOINT-=W takes away, JOINT*=F multiplies",
        parse: |text| Ok(Task::Flood(parse_paint(text)?)),
    },
    TaskOption {
        name: "brush",
        value: "JOINT+=W@X,Y,Z:RADIUS",
        help: "The same around the point of the surface nearest to X,Y,Z (or around vertex N: @vN), as far as RADIUS along the surface; more @PLACEs make a stroke",
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
        help: "Smooth around a point of the surface",
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
        help: "From here on, keep the weights of a joint as they are",
        parse: |text| Ok(Task::Lock(text.to_owned())),
    },
    TaskOption {
        name: "unlock",
        value: "JOINT",
        help: "From here on, let the weights of a joint change again",
        parse: |text| Ok(Task::Unlock(text.to_owned())),
    },
    TaskOption {
        name: "within",
        value: "REGION",
        help: "From here on, change only the vertices that a joint holds: JOINT, or those of a mesh: mesh:NAME; or again all",
        parse: |text| Ok(Task::Within(text.to_owned())),
    },
];

impl Args for Operations {
    fn augment_args(mut command: Command) -> Command {
        command = command.arg(
            Arg::new("normalise")
                .long("normalise")
                .visible_alias("normalize")
                .help("Tell what was wrong with the weights of the file, and let vertices of one place agree; weights are always written normalised")
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
        command
    }

    fn augment_args_for_update(command: Command) -> Command {
        Operations::augment_args(command)
    }
}

const HEADING: &str = "Operations, done in the order given";

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
    let axis = axes.find(|known| known.name().eq_ignore_ascii_case(axis));
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
    // The last one, as names may have the sign in them.
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

/// What comes before the first place, and the places with the radius at their end.
fn parse_touches(text: &str) -> Result<(&str, Touches), String> {
    let expected = || format!("expected @X,Y,Z:RADIUS or @vN:RADIUS at the end of '{text}'");
    let (rest, radius) = text.rsplit_once(':').ok_or_else(expected)?;
    let radius = number(radius)?;
    let mut places = Vec::new();
    let mut paint = rest;
    // From the end, as long as there are places: names may have the sign in them.
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

fn parse_place(text: &str) -> Option<Place> {
    if let Some(vertex) = text.strip_prefix('v') {
        return vertex.parse().ok().map(Place::Vertex);
    }
    let coordinates = text.split(',').map(|part| part.trim().parse::<f32>().ok());
    let coordinates: Vec<f32> = coordinates.collect::<Option<_>>()?;
    let place: [f32; 3] = coordinates.try_into().ok()?;
    Some(Place::Near(Vec3::from_array(place)))
}

pub(crate) fn run(options: &WeightsEdit) -> Result<(), Failure> {
    let kind = DocumentKind::wanted(&options.out)?;
    let Operations(operations) = &options.operations;
    if operations.is_empty() {
        return Err(Failure::usage("there is nothing to do")
            .hint("name an operation, such as --smooth 5 or --limit 4; see --help"));
    }
    options.check_settings()?;
    Failure::unless_writable(&options.out)?;
    let source = Source::open(&options.file)?;
    let (source, mut document) = source.with_document()?;
    let rig = &source.asset.rig;
    let groups = document.bind_groups(rig.mesh(), rig.skeleton());
    if groups.is_empty() {
        return Err(SaveError::NoSkin.into());
    }
    if source.has_no_weights() {
        check_first(operations)?;
    }
    let mut session = Session {
        options,
        source: &source,
        groups,
        editor: Editor::new(rig),
        weights: rig.weights().clone(),
        region: Region::All,
        told: Vec::new(),
    };
    for operation in operations {
        let spinner = progress::spinner(&operation.written);
        let done = session.perform(operation);
        spinner.finish_and_clear();
        done?;
    }
    let Session {
        weights, mut told, ..
    } = session;
    if weights != *rig.weights() {
        told.extend(source.notes_on_stale_bakes());
    }
    let edited = Rig::new(rig.mesh().clone(), rig.skeleton().clone(), weights)?;
    document.set_binding(&edited)?;
    kind.write(&mut document, &options.out)?;
    for line in told {
        crate::tell(&line);
    }
    Ok(())
}

/// In a file without weights, the first thing to do is to get some: whatever else is done would be
/// done to weights that nobody gave.
fn check_first(operations: &[Operation]) -> Result<(), Failure> {
    let mut needy = operations.iter().filter(|operation| {
        let task = &operation.task;
        !matches!(task, Task::Lock(_) | Task::Unlock(_) | Task::Within(_))
    });
    match needy.next() {
        Some(Operation { task, written }) if !matches!(task, Task::Transfer(_)) => {
            let message = format!("the file has no weights yet that --{written} could work on");
            let hint =
                "'supple weights' computes some, and --transfer takes those of another character";
            Err(Failure::new(message).hint(hint))
        }
        _ => Ok(()),
    }
}

/// The weights between two operations.
struct Session<'a> {
    options: &'a WeightsEdit,
    source: &'a Source,
    /// What skins bind to which joints.
    groups: Vec<BindGroup>,
    editor: Editor,
    weights: Weights,
    region: Region,
    /// A line per operation.
    told: Vec<String>,
}

impl Session<'_> {
    fn perform(&mut self, operation: &Operation) -> Result<(), Failure> {
        let Operation { written, task } = operation;
        let edits = match task {
            Task::Normalise => {
                let mended = mended(&self.source.notes.weights);
                self.told.push(format!("note: normalise: {mended}"));
                self.in_region(Edit::CloseSeams)
            }
            Task::Prune(below) => self.in_region(Edit::Prune { below: *below }),
            Task::Limit(most) => self.in_region(Edit::Limit { most: *most }),
            Task::Smooth {
                steps,
                strength,
                joints,
            } => self.in_region(Edit::Smooth {
                steps: *steps,
                strength: *strength,
                joints: self.joints(joints)?,
            }),
            Task::Mirror(mirror) => self.in_region(Edit::Mirror(*mirror)),
            Task::Transfer(file) => return self.transfer(written, file),
            Task::Flood(paint) => self.painted(paint, Edit::Flood)?,
            Task::Brush { paint, touches } => {
                self.painted(paint, |paint| self.stroke(paint, touches))?
            }
            Task::BrushSmooth { strength, touches } => {
                let strength = *strength;
                self.in_region(self.stroke(Paint::Smooth { strength }, touches))
            }
            Task::Lock(joint) => return self.set_locked(joint, true),
            Task::Unlock(joint) => return self.set_locked(joint, false),
            Task::Within(region) => return self.set_region(region),
        };
        // Before the edit, which may change who holds what.
        let limited = match task {
            Task::Limit(most) => Some((*most, self.vertices_in_region())),
            _ => None,
        };
        let mut changes = Vec::with_capacity(edits.len());
        for (edit, region) in edits {
            let change = self.editor.apply(&self.weights, &edit, &region)?;
            self.weights = change.redo(&self.weights)?;
            changes.push(change);
        }
        self.tell_of(written, &changes);
        if let Some((most, vertices)) = limited {
            self.tell_of_more_than(written, most, &vertices);
        }
        if let Task::Brush { touches, .. } | Task::BrushSmooth { touches, .. } = task {
            self.tell_of_far_touches(written, touches);
        }
        Ok(())
    }

    /// Says where locked joints, which are never dropped, are more than a limit allows.
    fn tell_of_more_than(&mut self, written: &str, most: usize, vertices: &[usize]) {
        let beyond = |vertex: &&usize| self.weights.of(**vertex).len() > most;
        let count = vertices.iter().filter(beyond).count();
        if count > 0 {
            let keep = if count == 1 { "keeps" } else { "keep" };
            self.told.push(format!(
                "note: {written}: {} {keep} more than that, as locked joints are not dropped",
                many(count, "vertex")
            ));
        }
    }

    /// Says where a brush found the surface no nearer than it reaches: such a place is rather a
    /// mistake, of the unit or of the axis that is up.
    fn tell_of_far_touches(&mut self, written: &str, touches: &Touches) {
        for place in &touches.places {
            let Place::Near(place) = *place else {
                continue;
            };
            let distance = self.editor.distance_from(place);
            if let Some(distance) = distance.filter(|distance| *distance > touches.radius) {
                let Vec3 { x, y, z } = place;
                self.told.push(format!(
                    "note: {written}: the surface is {} away from {x},{y},{z}, farther than the radius; painted where it is nearest",
                    measure(distance)
                ));
            }
        }
    }

    fn vertices_in_region(&self) -> Vec<usize> {
        let vertices = 0..self.weights.vertex_count();
        vertices
            .filter(|&vertex| self.is_in_region(vertex))
            .collect()
    }

    /// An edit of what may be changed now.
    fn in_region(&self, edit: Edit) -> Vec<(Edit, Region)> {
        vec![(edit, self.region.clone())]
    }

    /// Says what an operation changed, all of it in different places.
    fn tell_of(&mut self, written: &str, changes: &[Change]) {
        let all = many(self.weights.vertex_count(), "vertex");
        let count: usize = changes.iter().map(|change| change.vertices().len()).sum();
        let differences = changes.iter().map(Change::largest_difference);
        let largest = differences.fold(0.0, f32::max);
        self.told.push(match count {
            0 => format!("note: {written}: nothing changed"),
            _ => format!("note: {written}: {count} of {all} changed, by at most {largest:.4}"),
        });
    }

    fn transfer(&mut self, written: &str, file: &Path) -> Result<(), Failure> {
        let other = Source::open(file)?;
        if other.has_no_weights() {
            let message = format!("{} has no weights to take", file.display());
            return Err(Failure::new(message).hint("'supple weights' computes some"));
        }
        let without_weights = other.notes.weights.without_weights;
        let transfer = Transfer {
            reach: self.options.reach.unwrap_or(Transfer::REACH),
            angle: self.options.angle.unwrap_or(Transfer::DEGREES).to_radians(),
            either_side: self.options.either_side,
            ..Transfer::new(Arc::new(other.asset.rig))
        };
        let done = self.editor.transfer(&self.weights, &transfer, &self.region);
        let (change, report) = done?;
        self.weights = change.redo(&self.weights)?;
        self.tell_of(written, &[change]);
        self.told.extend(transfer_notes(&report));
        if without_weights > 0 {
            self.told.push(format!(
                "note: {} of {} had no weights to take, and counted as held by the root of their skin",
                many(without_weights, "vertex"),
                file.display()
            ));
        }
        Ok(())
    }

    fn stroke(&self, paint: Paint, touches: &Touches) -> Edit {
        let falloff = match self.options.falloff.as_deref() {
            Some("linear") => Falloff::Linear,
            Some("constant") => Falloff::Constant,
            _ => Falloff::Smooth,
        };
        let brush = Brush {
            paint,
            radius: touches.radius,
            falloff,
        };
        Edit::Stroke(brush, touches.places.clone())
    }

    /// Paints a joint that is known by its name. Where several are meant, as skins may bind a node
    /// in several ways, every vertex follows the one that its own skin knows.
    fn painted(
        &self,
        paint: &JointPaint,
        edit: impl Fn(Paint) -> Edit,
    ) -> Result<Vec<(Edit, Region)>, Failure> {
        let joints = find_joints(self.source, &paint.joint)?;
        if let [joint] = joints[..] {
            return Ok(self.in_region(edit(paint.of(joint))));
        }
        let mut vertices: Vec<Vec<u32>> = vec![Vec::new(); joints.len()];
        for group in &self.groups {
            let own = joints.iter().position(|joint| group.joints.contains(joint));
            let of_group = group.vertices.iter().cloned().flatten();
            let of_group = of_group.filter(|&vertex| self.is_in_region(vertex));
            vertices[own.unwrap_or(0)].extend(of_group.map(|vertex| vertex as u32));
        }
        let joints = joints.into_iter().zip(vertices);
        Ok(joints
            .map(|(joint, vertices)| (edit(paint.of(joint)), Region::Vertices(vertices)))
            .collect())
    }

    fn is_in_region(&self, vertex: usize) -> bool {
        match &self.region {
            Region::All => true,
            Region::HeldBy(joints) => {
                let mut influences = self.weights.of(vertex);
                influences.any(|influence| joints.contains(&influence.joint))
            }
            Region::Vertices(vertices) => vertices.binary_search(&(vertex as u32)).is_ok(),
        }
    }

    fn joints(&self, names: &[String]) -> Result<Vec<usize>, Failure> {
        let found = names.iter().map(|name| find_joints(self.source, name));
        Ok(found.collect::<Result<Vec<_>, _>>()?.concat())
    }

    fn set_locked(&mut self, name: &str, locked: bool) -> Result<(), Failure> {
        for joint in find_joints(self.source, name)? {
            self.editor.set_locked(joint, locked)?;
        }
        Ok(())
    }

    fn set_region(&mut self, wish: &str) -> Result<(), Failure> {
        self.region = match wish.strip_prefix("mesh:") {
            _ if wish == "all" => Region::All,
            Some(name) => Region::Vertices(self.vertices_of_part(name)?),
            None => Region::HeldBy(find_joints(self.source, wish)?),
        };
        Ok(())
    }

    /// The vertices of all parts of a name, rising.
    fn vertices_of_part(&self, name: &str) -> Result<Vec<u32>, Failure> {
        let parts = &self.source.asset.parts;
        let named = parts.iter().filter(|part| part.name == name);
        let vertices = named.flat_map(|part| part.vertices.clone());
        let mut vertices: Vec<u32> = vertices.map(|vertex| vertex as u32).collect();
        vertices.sort_unstable();
        if vertices.is_empty() {
            let mut meshes: Vec<&str> = parts.iter().map(|part| part.name.as_str()).collect();
            meshes.dedup();
            return Err(Failure::usage(format!("there is no mesh '{name}'"))
                .hint(format!("meshes: {}", listed(meshes.into_iter()))));
        }
        Ok(vertices)
    }
}

/// What reading the file mended.
fn mended(report: &WeightsReport) -> String {
    let mut words = Vec::new();
    let mut word_if = |count: usize, word: &dyn Display| {
        if count > 0 {
            words.push(format!("{} {word}", many(count, "vertex")));
        }
    };
    match report.sum_range {
        Some((low, high)) => {
            let word = format!("did not sum to one (from {low:.4} to {high:.4})");
            word_if(report.unnormalised, &word);
        }
        None => word_if(report.unnormalised, &"did not sum to one"),
    }
    word_if(report.without_weights, &"had no weights");
    if report.negative > 0 {
        words.push(format!("{} were negative", many(report.negative, "weight")));
    }
    match words.is_empty() {
        true => "all weights of the file sum to one".to_owned(),
        false => format!("mended on reading: {}", words.join(", ")),
    }
}

/// What a transfer could trust, and what it could not.
fn transfer_notes(report: &TransferReport) -> Vec<String> {
    let mut notes = vec![format!(
        "note: {} took the weights of the closest one, {} filled in over the surface",
        many(report.matched, "point"),
        match report.filled {
            1 => "1 was".to_owned(),
            count => format!("{count} were"),
        }
    )];
    if report.regardless > 0 {
        notes.push(format!(
            "note: {} lie on pieces that are nowhere near the other surface, and took the closest one all the same",
            many(report.regardless, "point")
        ));
    }
    if !report.unmatched.is_empty() {
        notes.push(format!(
            "note: no joint here has the name of {}; the joints above took their weights",
            listed(report.unmatched.iter().map(String::as_str))
        ));
    }
    notes
}

impl From<EditError> for Failure {
    fn from(error: EditError) -> Failure {
        let failure = match &error {
            EditError::Number { .. }
            | EditError::NoSuchVertex { .. }
            | EditError::NoSuchJoint { .. } => Failure::usage(error.to_string()),
            _ => Failure::new(error.to_string()),
        };
        match error {
            EditError::Locked { .. } => failure.hint("--unlock it before painting it"),
            EditError::NoCounterpart { .. } => {
                failure.hint("is left and right another axis, as in --mirror +y? Else name the sides alike (.L and .R, Left and Right), or give the plane: --mirror +x@PLANE")
            }
            EditError::NoCommonJoint { .. } => {
                failure.hint("weights go to joints of the same name; 'supple info' lists them")
            }
            _ => failure,
        }
    }
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
            [Place::Near(Vec3::new(1.0, 2.0, -3.0)), Place::Vertex(12)]
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
