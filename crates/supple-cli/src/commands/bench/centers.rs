//! Centers of rotation: what a bake takes, and what a brush stroke takes.

use super::scenes::{self, PaperModel};
use super::{
    MOMENT, SHORT_MOMENT, best_of, built_in, clocked, markdown, median_and_slowest, milliseconds,
    readable, readable_with_slowest,
};
use crate::failure::Failure;
use crate::source::Source;
use serde_json::{Value, json};
use std::path::Path;
use std::time::Duration;
use supple::centers::{CenterOptions, Centers, LiveCenters, exact};
use supple::{Rig, Weights};

/// The paper's models, and how times grow.
pub(super) fn time_characters(with_exact: bool, tell: impl Fn(&Path)) -> Result<Vec<Row>, Failure> {
    let mut rows = Vec::new();
    for model in &scenes::PAPER {
        let file = built_in(model.character);
        tell(&file);
        rows.extend(time_rows(
            &file,
            Some(model),
            &Source::open(&file)?,
            with_exact,
        )?);
    }
    for character in ["figure:10000", "figure:100000", "figure:1000000"] {
        let file = built_in(character);
        tell(&file);
        let source = Source::open(&file)?;
        rows.push(bake_row(&file, &source.asset.rig, None, false)?);
    }
    Ok(rows)
}

/// All that there is to time on one character.
pub(super) fn time_rows(
    file: &Path,
    paper: Option<&PaperModel>,
    source: &Source,
    with_exact: bool,
) -> Result<Vec<Row>, Failure> {
    let rig = &source.asset.rig;
    let mut rows = vec![bake_row(file, rig, paper, with_exact)?];
    // On the largest of the paper's models, and on a file of the user's.
    let largest = paper.is_none_or(|model| model.character == scenes::PAPER[0].character);
    if largest && rig.mesh().vertex_count() >= scenes::PAINTED {
        let crowded = scenes::crowded_weights(rig)?;
        rows.push(time_bake(file, rig, &crowded, "crowded weights", false)?);
        rows.push(stroke_row(file, rig)?);
    }
    Ok(rows)
}

/// One line of the table.
pub(super) struct Row {
    character: String,
    what: &'static str,
    vertices: usize,
    triangles: usize,
    joints: usize,
    influences: f64,
    time: Duration,
    /// Of many strokes: the slowest.
    slowest: Option<Duration>,
    exact: Option<Exact>,
    paper: Option<Duration>,
}

/// The direct sum.
struct Exact {
    time: Duration,
    /// How far the baked centers are from it at most, as a share of the extent.
    error: f64,
}

fn bake_row(
    file: &Path,
    rig: &Rig,
    paper: Option<&PaperModel>,
    with_exact: bool,
) -> Result<Row, Failure> {
    let row = time_bake(file, rig, rig.weights(), "bake", with_exact)?;
    Ok(Row {
        what: paper.map_or(row.what, |model| model.name),
        paper: paper.map(|model| Duration::from_secs_f64(model.seconds)),
        ..row
    })
}

fn time_bake(
    file: &Path,
    rig: &Rig,
    weights: &Weights,
    what: &'static str,
    with_exact: bool,
) -> Result<Row, Failure> {
    let mesh = rig.mesh();
    let options = CenterOptions::default();
    let (centers, time) = best_of(MOMENT, || {
        clocked(|| Centers::bake(mesh, weights, &options))
    })?;
    let exact = match with_exact {
        true => {
            let (exact, time) = clocked(|| exact(mesh, weights, &options))?;
            let extent = f64::from(mesh.bounds().map_or(1.0, |bounds| bounds.extent()));
            let both = centers.points().iter().zip(&exact);
            let errors = both.filter_map(|pair| match pair {
                (Some(baked), Some(exact)) => Some(baked.as_dvec3().distance(*exact) / extent),
                _ => None,
            });
            let error = errors.fold(0.0, f64::max);
            Some(Exact { time, error })
        }
        false => None,
    };
    Ok(Row {
        character: file.display().to_string(),
        what,
        vertices: mesh.vertex_count(),
        triangles: mesh.triangles().len(),
        joints: rig.skeleton().joints().len(),
        influences: weights.influence_count() as f64 / mesh.vertex_count().max(1) as f64,
        time,
        slowest: None,
        exact,
        paper: None,
    })
}

/// How many places of the body are painted.
const STROKES: usize = 40;

/// A stroke and its undoing, in many places.
fn stroke_row(file: &Path, rig: &Rig) -> Result<Row, Failure> {
    let mut live = LiveCenters::new(rig.mesh(), rig.weights(), &CenterOptions::default())?;
    let mut times = Vec::new();
    for stroke in scenes::strokes(rig, STROKES)? {
        let (_, time) = best_of(SHORT_MOMENT, || {
            let timed = clocked(|| live.update(&stroke.weights, &stroke.painted))?;
            live.update(rig.weights(), &stroke.painted)?;
            Ok(timed)
        })?;
        times.push(time);
    }
    let (time, slowest) = median_and_slowest(times);
    let row = Row {
        character: file.display().to_string(),
        what: "brush stroke",
        vertices: rig.mesh().vertex_count(),
        triangles: rig.mesh().triangles().len(),
        joints: rig.skeleton().joints().len(),
        influences: rig.weights().influence_count() as f64 / rig.mesh().vertex_count() as f64,
        time,
        slowest,
        exact: None,
        paper: None,
    };
    Ok(row)
}

impl Row {
    pub(super) fn to_json(&self) -> Value {
        let mut row = json!({
            "bench": "centers",
            "what": self.what,
            "character": self.character,
            "vertices": self.vertices,
            "triangles": self.triangles,
            "joints": self.joints,
            "influences": self.influences,
            "ms": milliseconds(self.time),
        });
        let more = [
            ("slowest_ms", self.slowest.map(milliseconds)),
            (
                "exact_ms",
                self.exact.as_ref().map(|exact| milliseconds(exact.time)),
            ),
            (
                "largest_error",
                self.exact.as_ref().map(|exact| exact.error),
            ),
            ("paper_ms", self.paper.map(milliseconds)),
        ];
        for (name, value) in more {
            if let Some(value) = value {
                row[name] = json!(value);
            }
        }
        row
    }
}

/// For people. As Markdown, so that it can stand in a page as it is.
pub(super) fn table(rows: &[Row]) -> String {
    let head = [
        "centers of rotation",
        "character",
        "vertices",
        "joints",
        "influences",
        "the paper",
        "exact sum",
        "Supple",
        "a vertex",
        "largest error",
    ];
    let lines = rows.iter().map(|row| {
        let per_vertex = row.time.as_secs_f64() * 1e9 / row.vertices.max(1) as f64;
        [
            row.what.to_owned(),
            row.character.clone(),
            row.vertices.to_string(),
            row.joints.to_string(),
            format!("{:.1}", row.influences),
            row.paper.map(readable).unwrap_or_default(),
            row.exact
                .as_ref()
                .map(|exact| readable(exact.time))
                .unwrap_or_default(),
            readable_with_slowest(row.time, row.slowest),
            format!("{per_vertex:.0} ns"),
            row.exact
                .as_ref()
                .map(|exact| format!("{:.1e}", exact.error))
                .unwrap_or_default(),
        ]
    });
    markdown(head, lines)
}
