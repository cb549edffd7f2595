//! Weights: how long each method takes to compute them.

use super::timing::{MOMENT, best_of, milliseconds};
use super::{Bench, Character, Table, scenes};
use crate::commands::weights::explained;
use crate::failure::Failure;
use serde_json::{Value, json};
use supple::bind::{BindMethod, bind_groups};

pub(super) fn table(bench: &Bench) -> Result<Table, Failure> {
    let mut table = Table::default();
    bench.for_each(&scenes::BOUND, |character| {
        // A file without skins has no vertices that may be bound to joints.
        if !character.groups.is_empty() {
            for method in BindMethod::all() {
                push(&mut table, character, &method)?;
            }
        }
        Ok(())
    })?;
    Ok(table)
}

fn push(table: &mut Table, character: &Character, method: &BindMethod) -> Result<(), Failure> {
    let (rig, groups) = (&character.asset.rig, &character.groups);
    let (mesh, skeleton) = (rig.mesh(), rig.skeleton());
    let (bound, time) = best_of(MOMENT, || {
        bind_groups(mesh, skeleton, groups, method, &|_| {})
            .map_err(|error| explained(error, skeleton))
    })?;
    let joints: usize = groups.iter().map(|group| group.joints.len()).sum();
    let mut row = json!({
        "bench": "weights",
        "what": method.name(),
        "character": character.name,
        "vertices": mesh.vertex_count(),
        "joints": joints,
        "ms": milliseconds(time),
    });
    if bound.report.voxels > 0 {
        row["voxels"] = Value::from(bound.report.voxels);
    }
    table.push(row);
    Ok(())
}
