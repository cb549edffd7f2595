//! `supple measure`: errors of posed surfaces against a reference.

use crate::args::measure::MeasureArguments;
use crate::console;
use crate::failure::Failure;
use crate::progress;
use crate::source::Source;
use crate::wording::{many, measure, printable};
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::Path;
use supple::metrics::{ErrorStatistics, Gauge, ReferenceErrors, SurfaceErrors};
use supple_io::npy::{self, Sequence};

pub(crate) fn run(options: &MeasureArguments) -> Result<(), Failure> {
    let source = Source::open(&options.mesh)?;
    let measured = Positions::open(&options.measured)?;
    let reference = Positions::open(&options.reference)?;
    let frames = common_frames(&measured, &reference)?;
    for positions in [&measured, &reference] {
        positions.check_fit(&source, &options.mesh)?;
    }
    let comparison = Comparison::of(&source, &measured.sequence, &reference.sequence, frames)?;
    match options.json {
        true => {
            let json = comparison.to_json(options, &measured, &reference);
            console::print_json(&format!("{json:#}"))
        }
        false => console::print(&comparison.to_text(&measured, &reference)),
    }
}

/// An array of positions, and the file that it came from.
struct Positions<'a> {
    path: &'a Path,
    sequence: Sequence,
}

impl Positions<'_> {
    fn open(path: &Path) -> Result<Positions<'_>, Failure> {
        let sequence = npy::read_sequence(path)?;
        Ok(Positions { path, sequence })
    }

    /// The file and its shape, for messages.
    fn described(&self) -> String {
        format!("{} {:?}", self.path.display(), self.sequence.shape())
    }

    fn check_fit(&self, source: &Source, mesh: &Path) -> Result<(), Failure> {
        let vertices = source.asset.rig.mesh().vertex_count();
        if self.sequence.vertices() == vertices {
            return Ok(());
        }
        let message = format!(
            "{} does not fit the mesh of {} [{vertices}, 3]",
            self.described(),
            mesh.display()
        );
        Err(Failure::new(message).hint(
            "the array needs one row per vertex of the mesh, as 'supple deform -o A.npy' writes",
        ))
    }
}

/// The number of frames to compare; a single frame is compared with all of the other array.
fn common_frames(a: &Positions<'_>, b: &Positions<'_>) -> Result<usize, Failure> {
    let frames = (a.sequence.frames(), b.sequence.frames());
    let alike = matches!(frames, (1, _) | (_, 1)) || frames.0 == frames.1;
    if alike && a.sequence.vertices() == b.sequence.vertices() {
        return Ok(frames.0.max(frames.1));
    }
    let message = format!(
        "the shapes do not fit together: {} and {}",
        a.described(),
        b.described()
    );
    Err(Failure::new(message).hint("expected (vertices, 3) or (frames, vertices, 3) for both"))
}

/// The errors of every frame, and of all of them.
struct Comparison<'a> {
    source: &'a Source,
    gauge: Gauge,
    all: SurfaceErrors,
    frames: Vec<Frame>,
}

struct Frame {
    errors: SurfaceErrors,
    /// Volumes of the measured surface and of the reference; `None` for sheets.
    volumes: Option<[f64; 2]>,
}

impl Frame {
    /// Change of volume, `measured / reference − 1`.
    fn volume_change(&self) -> Option<f64> {
        let [measured, reference] = self.volumes?;
        let change = measured / reference - 1.0;
        change.is_finite().then_some(change)
    }
}

impl<'a> Comparison<'a> {
    fn of(
        source: &'a Source,
        measured: &Sequence,
        reference: &Sequence,
        count: usize,
    ) -> Result<Comparison<'a>, Failure> {
        let rig = &source.asset.rig;
        let gauge = Gauge::new(rig);
        let mut errors = ReferenceErrors::new(rig);
        let mut frames = Vec::with_capacity(count);
        let bar = progress::bar(count, "measuring");
        for frame in 0..count {
            let [a, b] = [measured, reference]
                .map(|sequence| sequence.frame(frame.min(sequence.frames() - 1)));
            let own = errors.add(&a, &b);
            frames.push(Frame {
                errors: own.map_err(|error| Failure::new(error.to_string()))?,
                volumes: gauge.volume(&a).zip(gauge.volume(&b)).map(|(a, b)| [a, b]),
            });
            bar.inc(1);
        }
        bar.finish_and_clear();
        Ok(Comparison {
            source,
            gauge,
            all: errors.summary(),
            frames,
        })
    }

    fn extent(&self) -> f64 {
        f64::from(self.source.asset.rig.mesh().extent())
    }

    /// The joint with the largest weight at a vertex; none if the file has no weights.
    fn heaviest_joint(&self, vertex: usize) -> Option<usize> {
        let mut influences = self.source.asset.rig.weights().of(vertex);
        let heaviest = influences
            .next()
            .filter(|_| !self.source.has_no_weights())?;
        Some(heaviest.joint)
    }

    /// The frame with the largest change of volume.
    fn worst_volume(&self) -> Option<(usize, f64, [f64; 2])> {
        let changes = self
            .frames
            .iter()
            .enumerate()
            .filter_map(|(at, frame)| Some((at, frame.volume_change()?, frame.volumes?)));
        changes.max_by(|a, b| a.1.abs().total_cmp(&b.1.abs()))
    }

    fn to_text(&self, measured: &Positions<'_>, reference: &Positions<'_>) -> String {
        let mut text = format!(
            "{} against {}: {} of {}\n\n",
            printable(&measured.described()),
            printable(&reference.described()),
            many(self.frames.len(), "frame"),
            many(measured.sequence.vertices(), "vertex"),
        );
        let _ = writeln!(
            text,
            "{:<9}{:>12}{:>12}{:>12}{:>12}   worst",
            "", "mean", "RMS", "95 %", "largest"
        );
        let extent = self.extent().max(f64::MIN_POSITIVE);
        let share: &dyn Fn(f64) -> String = &|value| format!("{:.4} %", 100.0 * value / extent);
        let degrees: &dyn Fn(f64) -> String = &|value| format!("{value:.2}°");
        let rows = [
            ("surface", &self.all.surface_distance, share),
            ("vertex", &self.all.vertex_distance, share),
            ("normal", &self.all.normal_degrees, degrees),
        ];
        for (name, errors, shown) in rows {
            let numbers = [
                errors.mean,
                errors.rms,
                errors.percentile_95,
                errors.largest,
            ];
            let [mean, rms, percentile, largest] = numbers.map(shown);
            let _ = writeln!(
                text,
                "{name:<9}{mean:>12}{rms:>12}{percentile:>12}{largest:>12}   {}",
                self.worst_place(errors)
            );
        }
        let _ = writeln!(
            text,
            "\ndistances in % of the extent, the diagonal of the bounding box at rest: {}",
            measure(self.extent())
        );
        if let Some((frame, change, [measured, reference])) = self.worst_volume() {
            let holes = match self.gauge.holes() {
                0 => String::new(),
                holes => format!(" ({} closed)", many(holes, "hole")),
            };
            let _ = writeln!(
                text,
                "volume{holes}: at worst {:+.2} %, {} against {}, in frame {frame}",
                100.0 * change,
                measure(measured),
                measure(reference),
            );
        }
        text
    }

    /// "vertex 812 in frame 30, held by 'forearm.L'".
    fn worst_place(&self, errors: &ErrorStatistics) -> String {
        let Some(vertex) = errors.worst_vertex.filter(|_| errors.largest > 0.0) else {
            return "-".to_owned();
        };
        let joint = self.heaviest_joint(vertex);
        let joint = joint.map(|joint| format!(", held by {}", self.source.joint_label(joint)));
        let frame = match self.frames.len() {
            1 => String::new(),
            _ => format!(" in frame {}", errors.worst_frame),
        };
        format!("vertex {vertex}{frame}{}", joint.unwrap_or_default())
    }

    fn to_json(
        &self,
        options: &MeasureArguments,
        measured: &Positions<'_>,
        reference: &Positions<'_>,
    ) -> Value {
        let mesh = self.source.asset.rig.mesh();
        let array = |positions: &Positions<'_>| {
            json!({
                "file": positions.path.to_string_lossy(),
                "shape": positions.sequence.shape(),
            })
        };
        let frame = |(at, frame): (usize, &Frame)| {
            let mut json = self.errors_json(&frame.errors);
            json["frame"] = json!(at);
            json["volume"] = match frame.volumes {
                Some([measured, reference]) => json!({
                    "measured": measured,
                    "reference": reference,
                    "change": frame.volume_change(),
                }),
                None => Value::Null,
            };
            json
        };
        let frames: Vec<Value> = self.frames.iter().enumerate().map(frame).collect();
        json!({
            "measured": array(measured),
            "reference": array(reference),
            "mesh": {
                "file": options.mesh.to_string_lossy(),
                "vertices": mesh.vertex_count(),
                "triangles": mesh.triangles().len(),
                "holes": self.gauge.holes(),
                "extent": self.extent(),
            },
            "all_frames": self.errors_json(&self.all),
            "frames": frames,
        })
    }

    fn errors_json(&self, errors: &SurfaceErrors) -> Value {
        let extent = self.extent();
        let distance = |errors: &ErrorStatistics| {
            let mut json = self.statistics_json(errors);
            let keys = ["mean", "rms", "percentile_95", "largest"];
            for key in keys {
                let share = json[key].as_f64().map(|value| value / extent);
                let share = share.filter(|share| share.is_finite());
                json[format!("{key}_of_extent")] = json!(share);
            }
            json
        };
        json!({
            "surface_distance": distance(&errors.surface_distance),
            "vertex_distance": distance(&errors.vertex_distance),
            "normal_degrees": self.statistics_json(&errors.normal_degrees),
        })
    }

    fn statistics_json(&self, errors: &ErrorStatistics) -> Value {
        let joint = errors
            .worst_vertex
            .and_then(|vertex| self.heaviest_joint(vertex));
        let skeleton = self.source.asset.rig.skeleton();
        json!({
            "mean": errors.mean,
            "rms": errors.rms,
            "percentile_95": errors.percentile_95,
            "largest": errors.largest,
            "worst_frame": errors.worst_frame,
            "worst_vertex": errors.worst_vertex,
            "worst_joint": joint.map(|joint| skeleton.joint_name(joint)),
        })
    }
}
