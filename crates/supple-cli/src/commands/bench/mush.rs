//! Direct delta mush: how long a bake takes, pruned and not.

use super::timing::{MOMENT, best_of, clocked, milliseconds, nanoseconds_each};
use super::{Bench, Table, scenes};
use crate::failure::Failure;
use glam::Vec3;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use supple::deform::{BakedData, DirectDeltaMush};
use supple::mush::{Mush, MushOptions};
use supple::{Asset, Method, Normals, Output, Skin, Workspace};

/// The unpruned bake is computed for built-in characters of at most this many vertices.
const MOST_EXACT: usize = 60_000;

/// Bakes from a rigid bind, with `--radius-from-bones` off and on.
pub(super) fn bakes(bench: &Bench) -> Result<Table, Failure> {
    let mut table = Table::default();
    let mut characters = scenes::MUSHED.to_vec();
    characters.extend(bench.exact.then_some(scenes::LARGE));
    bench.for_each(&characters, |character| {
        let rig = &character.asset.rig;
        let vertices = rig.mesh().vertex_count();
        for radius_from_bones in [false, true] {
            let options = scenes::mush_options(radius_from_bones);
            let (baked, time) = best_of(MOMENT, || Mush::bake(rig, &options))?;
            let influences = baked.mush.weights().influence_count();
            let mut row = json!({
                "bench": "mush",
                "what": "direct delta mush",
                "character": character.name,
                "vertices": vertices,
                "joints": rig.skeleton().joints().len(),
                "radius_from_bones": radius_from_bones,
                "influences": influences as f64 / vertices.max(1) as f64,
                "ms": milliseconds(time),
                "ns_per_vertex": nanoseconds_each(time, vertices),
            });
            if bench.exact && (bench.file.is_some() || vertices <= MOST_EXACT) {
                let (time, difference) = time_unpruned(&character.asset, baked.mush, &options)?;
                row["unpruned_ms"] = Value::from(milliseconds(time));
                row["largest_difference"] = Value::from(difference);
            }
            table.push(row);
        }
        Ok(())
    })?;
    Ok(table)
}

/// Measures a bake that solves every joint on the whole surface and drops no influence: its time,
/// and the largest difference of deformed vertices from it, as a share of the character's size.
fn time_unpruned(
    asset: &Asset,
    pruned: Mush,
    options: &MushOptions,
) -> Result<(Duration, f64), Failure> {
    let rig = &asset.rig;
    let options = MushOptions {
        prune: 0.0,
        ..options.clone()
    };
    let (unpruned, time) = clocked(|| Mush::bake(rig, &options))?;
    let [pruned, unpruned] = [pruned, unpruned.mush].map(|mush| {
        let method = Method::DirectDeltaMush(DirectDeltaMush::default());
        let baked = BakedData {
            mush: Some(Arc::new(mush)),
            ..BakedData::default()
        };
        Skin::bake_with(rig, &method, Normals::Transported, &baked)
    });
    let skins = [pruned?, unpruned?];
    let mut workspace = Workspace::default();
    let mut surfaces = [(); 2].map(|()| vec![Vec3::ZERO; rig.mesh().vertex_count()]);
    let mut largest: f32 = 0.0;
    for palette in scenes::poses(asset) {
        for (skin, positions) in skins.iter().zip(&mut surfaces) {
            let output = Output {
                positions,
                normals: None,
                tangents: None,
            };
            skin.deform(&palette, &mut workspace, output)?;
        }
        let pairs = surfaces[0].iter().zip(&surfaces[1]);
        largest = pairs.map(|(a, b)| a.distance(*b)).fold(largest, f32::max);
    }
    let extent = rig.mesh().extent();
    Ok((time, f64::from(largest / extent)))
}
