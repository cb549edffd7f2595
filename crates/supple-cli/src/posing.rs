//! Poses from clips, and players in them.

use crate::args::common::{Moment, PosedCharacter};
use crate::args::method::method_text;
use crate::args::mush::MushArguments;
use crate::console;
use crate::device::{self, Gpu, on_gpu};
use crate::failure::Failure;
use crate::source::Source;
use crate::wording::{listed, many, numbered_joint};
use std::path::Path;
use supple::arap::ArapReport;
use supple::clip::Clip;
use supple::{Asset, Method, Player, Pose, Skin};
use supple_io::text::quoted;

/// Opens the GPU, if one is wanted, and the file of a character. First checks what can be checked
/// without them: the options of the methods, and whether the output can be written.
pub(crate) fn open(
    character: &PosedCharacter,
    methods: &[Method],
    mush: &MushArguments,
    out: &Path,
) -> Result<(Option<Gpu>, Source), Failure> {
    mush.check(methods)?;
    Failure::unless_writable(out)?;
    let gpu = device::open(character.device.device)?;
    Ok((gpu, Source::open(&character.file)?))
}

/// The clip of the command line, by name or number; none if neither a clip nor a time is given.
pub(crate) fn wanted_clip<'a>(
    asset: &'a Asset,
    moment: &Moment,
) -> Result<Option<&'a Clip>, Failure> {
    let Some(wanted) = &moment.clip else {
        let timed = moment.time.is_some() || moment.frame.is_some();
        if timed && asset.clips.is_empty() {
            return Err(Failure::new("the character has no clip for the given time"));
        }
        return Ok(asset.clips.first().filter(|_| timed));
    };
    let found = find_clip(asset, wanted)?;
    Ok(asset.clips.get(found))
}

/// Finds a clip by name, ignoring case and separators, else by number.
pub(crate) fn find_clip(asset: &Asset, wanted: &str) -> Result<usize, Failure> {
    let clips = &asset.clips;
    let exact = clips.iter().position(|clip| clip.name == *wanted);
    let alike = || {
        clips
            .iter()
            .position(|clip| plain(&clip.name) == plain(wanted))
    };
    let by_number = || {
        wanted
            .parse::<usize>()
            .ok()
            .filter(|&index| index < clips.len())
    };
    let found = exact.or_else(alike).or_else(by_number);
    found.ok_or_else(|| no_such_clip(asset, wanted))
}

/// A name in lower case, with its words joined by underscores.
fn plain(name: &str) -> String {
    name.to_lowercase().replace([' ', '-'], "_")
}

fn no_such_clip(asset: &Asset, wanted: &str) -> Failure {
    let failure = Failure::new(format!("there is no clip '{wanted}'"));
    if asset.clips.is_empty() {
        return failure.hint("the character has no clips");
    }
    let names = asset.clips.iter().map(|clip| clip.name.as_str());
    failure.hint(format!("clips: {}", listed(names)))
}

/// Frames per second without `--fps`.
pub(crate) const USUAL_FPS: f64 = 30.0;

/// The pose of the command line, else the rest pose.
pub(crate) fn wanted_pose(asset: &Asset, moment: &Moment) -> Result<Pose, Failure> {
    if moment.fps.is_some() && moment.frame.is_none() {
        let message = "--fps has no effect on a single pose without --frame";
        return Err(Failure::usage(message).hint("--time is in seconds"));
    }
    let fps = moment.fps.unwrap_or(USUAL_FPS);
    let Some(clip) = wanted_clip(asset, moment)? else {
        return Ok(asset.rest_pose());
    };
    let frame_time = moment.frame.map(|frame| f64::from(frame) / fps);
    Ok(asset.pose_at(clip, moment.time.or(frame_time).unwrap_or(0.0)))
}

/// An asset that plays, deformed by the processor or on a GPU; `method` is what the skin was baked
/// for.
pub(crate) fn player<'a>(
    asset: &'a Asset,
    method: &Method,
    skin: Skin,
    gpu: Option<&Gpu>,
) -> Result<Player<'a>, Failure> {
    let player = Player::with_skin(asset, skin)?;
    report_handles(asset, method, player.skin().arap_report());
    match gpu {
        Some(gpu) => on_gpu(player, method, gpu),
        None => Ok(player),
    }
}

/// Prints notes about pieces that as-rigid-as-possible skinning cannot hold, and joints that hold
/// nothing.
pub(crate) fn report_handles(asset: &Asset, method: &Method, report: Option<&ArapReport>) {
    let Some(report) = report else {
        return;
    };
    if let Some(first) = report.loose.first() {
        let pieces = many(report.loose.len(), "piece");
        let mut parts = asset.parts.iter();
        let part = parts.find(|part| part.vertices.contains(&first.vertex));
        let of_part = match part.map(|part| part.name.as_str()) {
            None | Some("") => String::new(),
            Some(name) => format!(" of {}", quoted(name)),
        };
        console::eprint(&format!(
            "note: no joint holds {pieces} of the surface; '{}' uses linear blending there \
             (the first piece has vertex {}{of_part})",
            method_text(method),
            first.vertex
        ));
    }
    if let Some(&first) = report.idle.first() {
        let joints = many(report.idle.len(), "joint");
        let first = match asset.rig.skeleton().joint_name(first) {
            "" => format!("joint {first}"),
            name => quoted(name),
        };
        console::eprint(&format!(
            "note: '{}' finds no vertices for {joints} to hold; the first is {first}",
            method_text(method)
        ));
    }
}

/// Fails if a vertex is not finite, and names the joint that causes it.
pub(crate) fn check_finite(player: &Player<'_>) -> Result<(), Failure> {
    let Some(vertex) = player.first_not_finite() else {
        return Ok(());
    };
    let rig = &player.asset().rig;
    let held_by = |wanted: &dyn Fn(usize) -> bool| {
        let mut joints = rig.weights().of(vertex).map(|influence| influence.joint);
        joints.find(|&joint| wanted(joint))
    };
    let is_finite = |joint: usize| {
        let map = player.palette().posed_from_bind.get(joint);
        map.is_some_and(|map| map.rows.iter().all(|row| row.is_finite()))
    };
    let broken = held_by(&|joint| !is_finite(joint));
    let faulty = || held_by(&|joint| rig.skeleton().bind_fault(joint).is_some());
    let Some(joint) = broken.or_else(faulty) else {
        let message = format!("vertex {vertex} is not finite in this pose");
        return Err(Failure::new(message)
            .hint("the scales of nested joints multiply; 'supple info' shows the odd ones"));
    };
    let label = numbered_joint(rig.skeleton(), joint);
    let reason = match rig.skeleton().bind_fault(joint) {
        Some(fault) => format!("the bind matrix of {label} {fault}"),
        None => format!("{label} scales or moves it beyond the range of 32-bit floats"),
    };
    let message = format!("vertex {vertex} is not finite in this pose: {reason}");
    Err(Failure::new(message)
        .hint("the scales of nested joints multiply; 'supple info' shows the odd ones"))
}
