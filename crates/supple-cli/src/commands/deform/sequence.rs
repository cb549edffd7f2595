//! All frames of a clip in one file.

use crate::args::deform::DeformArguments;
use crate::failure::Failure;
use crate::output::DocumentKind;
use crate::source::Source;
use crate::wording::{bytes, many};
use crate::{posing, progress};
use indicatif::ProgressBar;
use std::io;
use std::path::Path;
use supple::{Clip, Player, Pose};
use supple_io::gltf::Document;
use supple_io::sequence::{SequenceFormat, SequenceWriter};
use supple_io::text::quoted;
use supple_io::whole_file::write_whole;

/// The largest number of frames: 55 minutes at 30 per second.
const MOST_FRAMES: usize = 100_000;

/// The largest file of positions.
const MOST_BYTES: u64 = 64_000_000_000;

/// The largest number of frames as morph targets: the animation has one weight for each pair of
/// them.
const MOST_MORPH_FRAMES: usize = 2_000;

/// The most memory for morph targets, of which all are held at once.
const MOST_MORPH_BYTES: u64 = 500_000_000;

/// How the frames of a clip are written.
#[derive(Clone, Copy)]
pub(super) enum SequenceKind {
    /// Frame after frame, without keeping them.
    Streamed(SequenceFormat),
    /// As morph targets, which are kept in memory.
    Document(DocumentKind),
}

impl SequenceKind {
    fn most_frames(self) -> usize {
        match self {
            SequenceKind::Streamed(_) => MOST_FRAMES,
            SequenceKind::Document(_) => MOST_MORPH_FRAMES,
        }
    }
}

/// The frames of a clip from time 0 to the one nearest to its end: frame N is that of `--frame N`.
pub(super) struct Frames<'a> {
    clip: &'a Clip,
    fps: f64,
    count: usize,
}

impl<'a> Frames<'a> {
    /// The frames of the wanted clip, else of the first one; too many or too large ones are
    /// refused.
    pub(super) fn of(
        source: &'a Source,
        options: &DeformArguments,
        kind: SequenceKind,
    ) -> Result<Frames<'a>, Failure> {
        let asset = &source.asset;
        let moment = &options.character.moment;
        let clip = posing::wanted_clip(asset, moment)?.or(asset.clips.first());
        let clip = clip.ok_or_else(|| {
            Failure::new("the character has no clip").hint("a sequence has the frames of a clip")
        })?;
        let fps = moment.fps.unwrap_or(posing::USUAL_FPS);
        let count = (clip.duration() * fps).round() + 1.0;
        let most = kind.most_frames();
        if count > most as f64 {
            let message = format!(
                "the clip {} lasts {} s, which makes {count} frames, more than {most}",
                quoted(&clip.name),
                clip.duration()
            );
            return Err(Failure::new(message).hint(match kind {
                SequenceKind::Streamed(_) => "choose a lower --fps",
                SequenceKind::Document(_) => {
                    "choose a lower --fps, or write .npy, .pc2 or .mdd, which hold more"
                }
            }));
        }
        let frames = Frames {
            clip,
            fps,
            count: count as usize,
        };
        frames.check_size(source, kind)?;
        Ok(frames)
    }

    fn check_size(&self, source: &Source, kind: SequenceKind) -> Result<(), Failure> {
        let mesh = source.asset.rig.mesh();
        let (each, most) = match kind {
            SequenceKind::Streamed(_) => (12, MOST_BYTES),
            // Positions, normals and, where there are any, tangents.
            SequenceKind::Document(_) if mesh.tangents().is_some() => (36, MOST_MORPH_BYTES),
            SequenceKind::Document(_) => (24, MOST_MORPH_BYTES),
        };
        let vertices = mesh.vertex_count();
        let size = self.count as u64 * vertices as u64 * each;
        if size <= most {
            return Ok(());
        }
        let message = format!(
            "{} of {} make {}, more than {}",
            many(self.count, "frame"),
            many(vertices, "vertex"),
            bytes(size),
            bytes(most)
        );
        Err(Failure::new(message).hint(match kind {
            SequenceKind::Streamed(_) => "choose a lower --fps",
            SequenceKind::Document(_) => {
                "morph targets are all in memory: choose a lower --fps, or write .npy, .pc2 or .mdd"
            }
        }))
    }

    /// Poses a frame; frames are posed in order, as some methods start from the one before.
    fn show(&self, frame: usize, player: &mut Player<'_>) -> Result<Pose, Failure> {
        let pose = player.asset().pose_at(self.clip, frame as f64 / self.fps);
        player.pose(&pose)?;
        posing::check_finite(player)?;
        Ok(pose)
    }

    /// Writes all frames.
    pub(super) fn write(
        &self,
        kind: SequenceKind,
        source: &Source,
        player: &mut Player<'_>,
        out: &Path,
    ) -> Result<(), Failure> {
        match kind {
            SequenceKind::Streamed(format) => self.stream(format, player, out),
            SequenceKind::Document(kind) => self.write_document(kind, source, player, out),
        }
    }

    fn stream(
        &self,
        format: SequenceFormat,
        player: &mut Player<'_>,
        out: &Path,
    ) -> Result<(), Failure> {
        let bar = progress::bar(self.count, "deforming");
        // An error other than that of the file.
        let mut failed = None;
        let written = write_whole(out, |out| {
            let vertices = player.positions().len();
            let mut writer = SequenceWriter::new(out, format, self.count, vertices, self.fps)?;
            for frame in 0..self.count {
                if let Err(failure) = self.show(frame, player) {
                    failed = Some(failure);
                    return Err(io::Error::other("no frame"));
                }
                writer.push(player.positions())?;
                bar.inc(1);
            }
            writer.finish()
        });
        bar.finish_and_clear();
        written.map_err(|error| failed.unwrap_or_else(|| Failure::writing(out, error)))
    }

    fn write_document(
        &self,
        kind: DocumentKind,
        source: &Source,
        player: &mut Player<'_>,
        out: &Path,
    ) -> Result<(), Failure> {
        let bar = progress::bar(self.count, "deforming");
        let document = self.as_morph_targets(source, player, &bar);
        bar.finish_and_clear();
        kind.write(&mut document?, out)
    }

    fn as_morph_targets(
        &self,
        source: &Source,
        player: &mut Player<'_>,
        bar: &ProgressBar,
    ) -> Result<Document, Failure> {
        let first = self.show(0, player)?;
        let mut morphs = source.document()?.morph_sequence(player, &first)?;
        for frame in 1..self.count {
            self.show(frame, player)?;
            morphs.push(player)?;
            bar.inc(1);
        }
        Ok(morphs.finish(&self.clip.name, self.fps)?)
    }
}
