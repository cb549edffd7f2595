//! Centers of rotation: how long a bake takes, and the exact sum.

use super::timing::{MOMENT, best_of, clocked, milliseconds, nanoseconds_each};
use super::{Bench, Table, scenes};
use crate::failure::Failure;
use serde_json::{Value, json};
use std::time::Duration;
use supple::Rig;
use supple::centers::{CenterOptions, Centers, exact};

/// The exact sum is computed for built-in characters of at most this many vertices.
const MOST_EXACT: usize = 50_000;

pub(super) fn bakes(bench: &Bench) -> Result<Table, Failure> {
    let mut table = Table::default();
    bench.for_each(&scenes::CENTERED, |character| {
        let rig = &character.asset.rig;
        let (mesh, weights) = (rig.mesh(), rig.weights());
        let options = CenterOptions::default();
        let (centers, time) = best_of(MOMENT, || Centers::bake(mesh, weights, &options))?;
        let vertices = mesh.vertex_count();
        let mut row = json!({
            "bench": "centers",
            "what": "centers of rotation",
            "character": character.name,
            "vertices": vertices,
            "triangles": mesh.triangles().len(),
            "joints": rig.skeleton().joints().len(),
            "influences": weights.influence_count() as f64 / vertices.max(1) as f64,
            "ms": milliseconds(time),
            "ns_per_vertex": nanoseconds_each(time, vertices),
        });
        if bench.exact && (bench.file.is_some() || vertices <= MOST_EXACT) {
            let (time, error) = time_exact(rig, &options, &centers)?;
            row["exact_ms"] = Value::from(milliseconds(time));
            row["largest_error"] = Value::from(error);
        }
        table.push(row);
        Ok(())
    })?;
    Ok(table)
}

/// Measures the exact sum: its time, and the largest distance of a baked center from it, as a share
/// of the character's size.
fn time_exact(
    rig: &Rig,
    options: &CenterOptions,
    baked: &Centers,
) -> Result<(Duration, f64), Failure> {
    let (exact, time) = clocked(|| exact(rig.mesh(), rig.weights(), options))?;
    let extent = rig.mesh().extent();
    let both = baked.points().iter().zip(&exact);
    let errors = both.filter_map(|pair| match pair {
        (Some(baked), Some(exact)) => Some(baked.as_dvec3().distance(*exact) / f64::from(extent)),
        _ => None,
    });
    Ok((time, errors.fold(0.0, f64::max)))
}
