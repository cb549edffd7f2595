//! Weights: what computing them takes, by each method, and what a dab of a brush and whole edits
//! take.

use super::scenes;
use super::{
    MOMENT, SHORT_MOMENT, best_of, built_in, clocked, markdown, median_and_slowest, milliseconds,
    readable_with_slowest,
};
use crate::commands::weights::explained;
use crate::failure::Failure;
use crate::source::Source;
use serde_json::{Value, json};
use std::path::Path;
use std::time::Duration;
use supple::Rig;
use supple::weights::bind::{BindGroup, BindMethod, bind_groups};
use supple::weights::edit::{Editor, Place, Region};

/// Built-in characters, as large as those that other programs were timed with.
pub(super) fn time_characters(tell: impl Fn(&Path)) -> Result<Vec<Row>, Failure> {
    let mut rows = Vec::new();
    for binding in scenes::bindings() {
        let file = built_in(binding.character);
        tell(&file);
        let rig = Source::open(&file)?.asset.rig;
        let group = scenes::held_by(&rig, binding.joints);
        rows.push(Row {
            others: binding.others,
            ..bind_row(&file, &rig, &[group], &binding.method)?
        });
    }
    let file = built_in(scenes::EDITED);
    tell(&file);
    rows.extend(edit_rows(&file, &Source::open(&file)?.asset.rig)?);
    Ok(rows)
}

/// All that there is to time on one character. Where no skin says what is bound to which joints,
/// only edits.
pub(super) fn time_file(file: &Path, rig: &Rig, groups: &[BindGroup]) -> Result<Vec<Row>, Failure> {
    let mut rows = Vec::new();
    if !groups.is_empty() {
        for method in BindMethod::all() {
            rows.push(bind_row(file, rig, groups, &method)?);
        }
    }
    rows.extend(edit_rows(file, rig)?);
    Ok(rows)
}

/// One line of the table.
pub(super) struct Row {
    what: &'static str,
    character: String,
    vertices: usize,
    joints: usize,
    /// Inside of the body, for methods that use them.
    voxels: Option<usize>,
    time: Duration,
    /// Of many dabs: the slowest.
    slowest: Option<Duration>,
    others: Option<&'static str>,
}

impl Row {
    fn new(what: &'static str, file: &Path, rig: &Rig, time: Duration) -> Row {
        Row {
            what,
            character: file.display().to_string(),
            vertices: rig.mesh().vertex_count(),
            joints: rig.skeleton().joints().len(),
            voxels: None,
            time,
            slowest: None,
            others: None,
        }
    }
}

fn bind_row(
    file: &Path,
    rig: &Rig,
    groups: &[BindGroup],
    method: &BindMethod,
) -> Result<Row, Failure> {
    let (mesh, skeleton) = (rig.mesh(), rig.skeleton());
    let (bound, time) = best_of(MOMENT, || {
        clocked(|| {
            bind_groups(mesh, skeleton, groups, method, &|_| {})
                .map_err(|error| explained(error, skeleton))
        })
    })?;
    Ok(Row {
        joints: groups.iter().map(|group| group.joints.len()).sum(),
        voxels: Some(bound.report.voxels).filter(|voxels| *voxels > 0),
        ..Row::new(method.name(), file, rig, time)
    })
}

/// How many places of the body are dabbed.
const DABS: usize = 40;

/// Dabs all over the body, each by itself, and edits of every vertex. Crowded weights give them
/// something to do.
fn edit_rows(file: &Path, rig: &Rig) -> Result<Vec<Row>, Failure> {
    let weights = scenes::crowded_weights(rig)?;
    let editor = Editor::new(rig);
    let vertices = rig.mesh().vertex_count();
    let mut times = Vec::new();
    for dab in 0..DABS.min(vertices) {
        let vertex = dab * vertices / DABS;
        let joint = weights.of(vertex).last().map_or(0, |last| last.joint);
        let brush = scenes::brush(rig.mesh(), joint);
        let (_, time) = best_of(SHORT_MOMENT, || {
            let mut stroke = editor.stroke(&weights)?;
            clocked(|| stroke.dab(&brush, Place::Vertex(vertex)))
        })?;
        times.push(time);
    }
    let (time, slowest) = median_and_slowest(times);
    let mut rows = vec![Row {
        slowest,
        ..Row::new("brush dab", file, rig, time)
    }];
    for (what, edit) in scenes::edits() {
        let (_, time) = best_of(MOMENT, || {
            clocked(|| editor.apply(&weights, &edit, &Region::All))
        })?;
        rows.push(Row::new(what, file, rig, time));
    }
    Ok(rows)
}

impl Row {
    pub(super) fn to_json(&self) -> Value {
        let mut row = json!({
            "bench": "weights",
            "what": self.what,
            "character": self.character,
            "vertices": self.vertices,
            "joints": self.joints,
            "ms": milliseconds(self.time),
        });
        if let Some(voxels) = self.voxels {
            row["voxels"] = json!(voxels);
        }
        if let Some(slowest) = self.slowest {
            row["slowest_ms"] = json!(milliseconds(slowest));
        }
        if let Some(others) = self.others {
            row["others"] = json!(others);
        }
        row
    }
}

/// For people. As Markdown, so that it can stand in a page as it is.
pub(super) fn table(rows: &[Row]) -> String {
    let head = [
        "weights",
        "character",
        "vertices",
        "joints",
        "voxels",
        "others, 2 cores",
        "Supple",
    ];
    let lines = rows.iter().map(|row| {
        [
            row.what.to_owned(),
            row.character.clone(),
            row.vertices.to_string(),
            row.joints.to_string(),
            row.voxels
                .map(|voxels| voxels.to_string())
                .unwrap_or_default(),
            row.others.unwrap_or_default().to_owned(),
            readable_with_slowest(row.time, row.slowest),
        ]
    });
    markdown(head, lines)
}
