//! The camera of pictures: what it frames, and where the pictures keep it.

use super::Picture;
use super::panel::Panel;
use crate::args::render::Focus;
use crate::failure::Failure;
use crate::joints::find_node;
use crate::posing;
use crate::source::Source;
use std::fmt;
use std::path::Path;
use std::str::FromStr;
use supple::clip::Clip;
use supple::deform::DeformError;
use supple::metrics::Gauge;
use supple::{Bounds, Player};
use supple_io::text::quoted;
use supple_render::{Camera, ParseCameraError, Silhouette, read_comments};

/// A vertex moves if it leaves its place by more than this share of the character's size.
const MOVING: f32 = 0.01;

/// The size of a close-up, relative to the part that moves.
const SURROUNDINGS: f32 = 1.25;

/// The same relative to the skin around a joint, so that the limbs on both sides are seen.
const AROUND_JOINT: f32 = 2.2;

/// The number of frames of a clip that are searched for moving parts, for a single picture.
const FOCUS_FRAMES: usize = 20;

/// The largest number of frames of a GIF.
const MOST_FRAMES: usize = 10_000;

/// Frames of equal length; the end of the clip, where a loop is back at its start, is left out.
pub(super) struct Frames<'a> {
    clip: &'a Clip,
    fps: f64,
    count: usize,
}

impl<'a> Frames<'a> {
    pub(super) fn of(clip: &'a Clip, fps: f64) -> Result<Frames<'a>, Failure> {
        let seconds = clip.duration() - clip.start();
        let count = (seconds * fps).round().max(1.0);
        if count > MOST_FRAMES as f64 {
            let message = format!(
                "the clip {} lasts {seconds} s, which makes more than {MOST_FRAMES} frames",
                quoted(&clip.name)
            );
            return Err(Failure::new(message).hint("choose a lower --fps"));
        }
        Ok(Frames {
            clip,
            fps,
            count: count as usize,
        })
    }

    /// A fixed number of frames of a clip, to find the parts that move.
    pub(super) fn few(clip: &'a Clip) -> Frames<'a> {
        Frames {
            clip,
            fps: FOCUS_FRAMES as f64 / (clip.duration() - clip.start()).max(1e-3),
            count: FOCUS_FRAMES,
        }
    }

    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// Poses all panels. Frames are played in order, as some methods start from the previous one.
    pub(super) fn show(&self, frame: usize, panels: &mut [Panel<'_>]) -> Result<(), Failure> {
        for panel in panels {
            self.pose(frame, &mut panel.player)?;
        }
        Ok(())
    }

    fn pose(&self, frame: usize, player: &mut Player<'_>) -> Result<(), DeformError> {
        if frame == 0 {
            player.start_afresh();
        }
        let time = self.clip.start() + frame as f64 / self.fps;
        let pose = player.asset().pose_at(self.clip, time);
        player.pose(&pose)
    }
}

/// A camera, and the height of the ground.
#[derive(Clone, Copy)]
pub(super) struct Shot {
    pub(super) camera: Camera,
    pub(super) ground: Option<f32>,
}

/// What the comments with cameras start with.
const COMMENT: &str = "supple camera: ";

impl fmt::Display for Shot {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{COMMENT}{}", self.camera)?;
        match self.ground {
            Some(height) => write!(out, " ground {height}"),
            None => Ok(()),
        }
    }
}

impl FromStr for Shot {
    type Err = ParseCameraError;

    fn from_str(text: &str) -> Result<Shot, ParseCameraError> {
        let text = text.strip_prefix(COMMENT).ok_or(ParseCameraError)?;
        let (camera, ground) = match text.split_once(" ground ") {
            Some((camera, ground)) => {
                let ground = ground
                    .parse::<f32>()
                    .ok()
                    .filter(|ground| ground.is_finite());
                (camera, Some(ground.ok_or(ParseCameraError)?))
            }
            None => (text, None),
        };
        Ok(Shot {
            camera: camera.parse()?,
            ground,
        })
    }
}

impl Shot {
    /// The camera of a picture that this command drew.
    pub(super) fn of_picture(path: &Path) -> Result<Shot, Failure> {
        let file = std::fs::read(path).map_err(|error| Failure::about(path, error.to_string()))?;
        let comments = read_comments(&file);
        let shot = comments.iter().find_map(|comment| comment.parse().ok());
        shot.ok_or_else(|| {
            Failure::about(path, "the picture has no camera")
                .hint("give --camera a .png or .gif as 'supple render' wrote it")
        })
    }

    /// Frames all panels in all positions of a clip, or the part that moves.
    ///
    /// # Errors
    /// A position is not finite.
    pub(super) fn of(
        picture: &Picture,
        panels: &mut [Panel<'_>],
        frames: Option<&Frames<'_>>,
    ) -> Result<Shot, Failure> {
        let mut whole = Silhouette::default();
        let focused = picture.focused.as_deref().unwrap_or_default();
        let mut part = Silhouette::default();
        for Panel { player, .. } in panels {
            posing::check_finite(player)?;
            whole.add(player);
            add_vertices(&mut part, player, focused);
            let Some(frames) = frames else { continue };
            for frame in 0..frames.count {
                frames.pose(frame, player)?;
                posing::check_finite(player)?;
                whole.add(player);
                add_vertices(&mut part, player, focused);
            }
            if picture.focus == Focus::Moving {
                add_moving(&mut part, player, frames)?;
            }
        }
        let framed = match picture.focused {
            Some(_) => part.widened(AROUND_JOINT),
            None => part
                .close_up(&whole, SURROUNDINGS)
                .unwrap_or_else(|| whole.points().collect()),
        };
        Ok(Shot {
            camera: Camera::framing(framed, picture.view, picture.settings.aspect()),
            ground: whole.ground(),
        })
    }
}

fn add_vertices(part: &mut Silhouette, player: &Player<'_>, vertices: &[u32]) {
    let positions = player.positions();
    let points = vertices.iter().map(|&vertex| positions[vertex as usize]);
    part.add_points(&points.collect::<Vec<_>>());
}

/// The vertices of the skin around a joint: where it blends with its parent, or if nothing does,
/// all that it influences.
pub(super) fn skin_around(source: &Source, joint: &str) -> Result<Vec<u32>, Failure> {
    let node = find_node(source, joint)?;
    let rig = &source.asset.rig;
    let joints = rig.skeleton().joints().iter();
    let is_there = joints
        .map(|joint| joint.node == node)
        .collect::<Vec<bool>>();
    let gauge = Gauge::new(rig);
    let mut region: Vec<u32> = Vec::new();
    for joint in (0..is_there.len()).filter(|&joint| is_there[joint]) {
        if let Some(found) = gauge.region_of_joint(joint) {
            let triangles = rig.mesh().triangles();
            region.extend(
                found
                    .triangles
                    .iter()
                    .flat_map(|&triangle| triangles[triangle]),
            );
        }
    }
    if region.is_empty() {
        let weights = rig.weights();
        let influences = |vertex: &u32| {
            weights
                .of(*vertex as usize)
                .any(|held| is_there[held.joint])
        };
        region.extend((0..weights.vertex_count() as u32).filter(influences));
    }
    if region.is_empty() {
        let message = format!("the joint {} influences no vertex", quoted(joint));
        return Err(Failure::usage(message).hint("give another one to --focus"));
    }
    region.sort_unstable();
    region.dedup();
    Ok(region)
}

/// Adds the vertices that move at any time of the clip, in all frames.
fn add_moving(
    moving: &mut Silhouette,
    player: &mut Player<'_>,
    frames: &Frames<'_>,
) -> Result<(), Failure> {
    frames.pose(0, player)?;
    let start = player.positions().to_vec();
    let extent = Bounds::around(start.iter().copied())
        .unwrap_or_default()
        .extent();
    let mut moves = vec![false; start.len()];
    for frame in 0..frames.count {
        frames.pose(frame, player)?;
        for (moves, (now, then)) in moves.iter_mut().zip(player.positions().iter().zip(&start)) {
            *moves |= now.distance(*then) > MOVING * extent;
        }
    }
    for frame in 0..frames.count {
        frames.pose(frame, player)?;
        let points = player.positions().iter().zip(&moves);
        let points: Vec<_> = points
            .filter(|(_, moves)| **moves)
            .map(|(point, _)| *point)
            .collect();
        moving.add_points(&points);
    }
    Ok(())
}
