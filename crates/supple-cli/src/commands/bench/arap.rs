//! As-rigid-as-possible skinning: what setting up takes, a round of its energy, a frame, and
//! switching a handle.

use super::scenes;
use super::{MOMENT, best_of, built_in, clocked, markdown, milliseconds, readable};
use crate::failure::Failure;
use crate::source::Source;
use glam::Vec3;
use serde_json::{Value, json};
use std::path::Path;
use std::time::Duration;
use supple::arap::{Arap, ArapOptions, ArapState};
use supple::deform::DeformError;
use supple::{Asset, Palette};

/// One character.
pub(super) struct Row {
    character: String,
    vertices: usize,
    handles: usize,
    set_up: Duration,
    round: Duration,
    /// Of three rounds, first guess and all.
    frame: Duration,
    switch: Duration,
    others: Option<&'static str>,
}

/// The built-in characters.
pub(super) fn time_characters(tell: impl Fn(&Path)) -> Result<Vec<Row>, Failure> {
    let mut rows = Vec::new();
    for (character, others) in scenes::KEPT_RIGID {
        let file = built_in(character);
        tell(&file);
        let row = time_file(&file, &Source::open(&file)?.asset)?;
        rows.push(Row { others, ..row });
    }
    Ok(rows)
}

/// All that there is to time on one character.
pub(super) fn time_file(file: &Path, asset: &Asset) -> Result<Row, Failure> {
    let rig = &asset.rig;
    let poses = scenes::poses(asset);
    let palette = &poses[poses.len() - 1];
    let (mut arap, set_up) = best_of(MOMENT, || clocked(|| prepared(asset, 3)))?;
    let three_rounds = frame(&arap, palette)?;
    let few = frame(&prepared(asset, 1)?, palette)?;
    let many = frame(&prepared(asset, 11)?, palette)?;
    let held = arap.report().held;
    let busiest = (0..held.len()).max_by_key(|&handle| held[handle]);
    let mut on = true;
    let (_, switch) = best_of(MOMENT, || {
        on = !on;
        clocked(|| match busiest {
            Some(handle) => arap.set_active(handle, on).map_err(DeformError::from),
            None => Ok(()),
        })
    })?;
    Ok(Row {
        character: file.display().to_string(),
        vertices: rig.mesh().vertex_count(),
        handles: rig.skeleton().joints().len(),
        set_up,
        round: many.saturating_sub(few) / 10,
        frame: three_rounds,
        switch,
        others: None,
    })
}

fn prepared(asset: &Asset, iterations: usize) -> Result<Arap, DeformError> {
    let options = ArapOptions {
        iterations,
        ..ArapOptions::DEFAULT
    };
    Ok(Arap::new(&asset.rig, &options)?)
}

fn frame(arap: &Arap, palette: &Palette) -> Result<Duration, Failure> {
    let mut state = ArapState::default();
    let mut positions = vec![Vec3::ZERO; arap.vertex_count()];
    let (_, time) = best_of(MOMENT, || {
        clocked(|| {
            let frame = arap.deform(palette, &mut state, &mut positions);
            frame.map_err(DeformError::from)
        })
    })?;
    Ok(time)
}

impl Row {
    pub(super) fn to_json(&self) -> Value {
        json!({
            "bench": "arap",
            "character": self.character,
            "vertices": self.vertices,
            "handles": self.handles,
            "set_up_ms": milliseconds(self.set_up),
            "round_ms": milliseconds(self.round),
            "frame_ms": milliseconds(self.frame),
            "switch_ms": milliseconds(self.switch),
        })
    }
}

/// For people.
pub(super) fn table(rows: &[Row]) -> String {
    let head = [
        "arap",
        "vertices",
        "handles",
        "others, 2 cores",
        "set-up",
        "a round",
        "a frame of 3",
        "switch a handle",
    ];
    let fine = |time: Duration| match milliseconds(time) {
        10.0.. => readable(time),
        milliseconds => format!("{milliseconds:.2} ms"),
    };
    let lines = rows.iter().map(|row| {
        [
            row.character.clone(),
            row.vertices.to_string(),
            row.handles.to_string(),
            row.others.unwrap_or_default().to_owned(),
            fine(row.set_up),
            fine(row.round),
            fine(row.frame),
            fine(row.switch),
        ]
    });
    markdown(head, lines)
}
