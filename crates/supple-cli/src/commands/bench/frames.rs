//! A frame of every direct method: on one thread and on all, with and without normals.

use super::scenes::{self, FrameScene};
use super::timing::{best_of, nanoseconds_each, ratio};
use super::{Bench, Character, Table};
use crate::failure::Failure;
use glam::Vec3;
use serde_json::{Value, json};
use std::time::Duration;
use supple::{Method, Output, Palette, Rig, Skin, Workspace, exec};

/// The time for which one frame is repeated.
const MOMENT: Duration = Duration::from_millis(50);

pub(super) fn table(bench: &Bench, methods: &[Method]) -> Result<Table, Failure> {
    let mut table = Table::default();
    bench.for_each(&scenes::CARRIED, |character| {
        let palette = scenes::first_pose(&character.asset);
        for mut scene in scenes_of(bench, character)? {
            for method in methods {
                bench.show_progress(&format!("{}, {}", character.name, method.name()));
                push(&mut table, &mut scene, method, &palette)?;
            }
        }
        Ok(())
    })?;
    Ok(table)
}

/// A file as it is; a built-in character with different numbers of influences.
fn scenes_of(bench: &Bench, character: &Character) -> Result<Vec<FrameScene>, Failure> {
    let rig = &character.asset.rig;
    if bench.file.is_some() {
        return Ok(vec![FrameScene::new(
            rig.clone(),
            rig.weights().max_influences(),
        )]);
    }
    let limited = |most: usize| {
        let weights = scenes::limited(rig, most)?;
        let rig = Rig::new(rig.mesh().clone(), rig.skeleton().clone(), weights)?;
        Ok(FrameScene::new(rig, most))
    };
    scenes::INFLUENCES.into_iter().map(limited).collect()
}

fn push(
    table: &mut Table,
    scene: &mut FrameScene,
    method: &Method,
    palette: &Palette,
) -> Result<(), Failure> {
    let skin = scene.skin(method)?;
    let vertices = skin.vertex_count();
    let mean = scene.mean_influences(method);
    let mut line = json!({
        "method": method.name(),
        "vertices": vertices,
        "influences": format!("{} ({mean:.1} on average)", scene.most),
        "bytes_per_vertex": skin.bytes_per_vertex(false, false),
    });
    let mut objects = Vec::new();
    let all = exec::threads();
    for (threads, on) in [(1, "1 thread"), (all, "all threads")] {
        if threads == 1 && on != "1 thread" {
            continue;
        }
        for (normals, what) in [(false, ""), (true, " with normals")] {
            let bytes_per_vertex = skin.bytes_per_vertex(normals, false);
            let bytes = (bytes_per_vertex * vertices as f64) as usize;
            let time = exec::on_threads(threads, || frame(&skin, palette, normals))?;
            let copy = exec::on_threads(threads, || copy(bytes / 2))?;
            let (ns_per_vertex, copy_share) = (nanoseconds_each(time, vertices), ratio(copy, time));
            let cell = format!("{ns_per_vertex:.2} ({:.0} %)", 100.0 * copy_share);
            line[format!("ns{what}, {on} (of copy)")] = Value::from(cell);
            objects.push(json!({
                "bench": "frame",
                "method": method.name(),
                "vertices": vertices,
                "influences": scene.most,
                "mean_influences": mean,
                "threads": threads,
                "normals": normals,
                "ns_per_vertex": ns_per_vertex,
                "bytes_per_vertex": bytes_per_vertex,
                "copy_share": copy_share,
            }));
        }
    }
    table.push_line(line, objects);
    Ok(())
}

fn frame(skin: &Skin, palette: &Palette, with_normals: bool) -> Result<Duration, Failure> {
    let mut workspace = Workspace::default();
    let mut positions = vec![Vec3::ZERO; skin.vertex_count()];
    let mut normals = vec![Vec3::ZERO; skin.vertex_count()];
    let (_, time) = best_of(MOMENT, || {
        let output = Output {
            positions: &mut positions,
            normals: with_normals.then_some(&mut normals),
            tangents: None,
        };
        skin.deform(palette, &mut workspace, output)
    })?;
    Ok(time)
}

/// Measures the time to copy a number of bytes: to read and write them once.
fn copy(bytes: usize) -> Result<Duration, Failure> {
    let from = vec![1u8; bytes];
    let mut to = vec![0u8; bytes];
    /// The bytes that one thread copies at a time.
    const PIECE: usize = 1 << 16;
    let (_, time) = best_of(MOMENT, || {
        exec::for_each_run(
            0..bytes.div_ceil(PIECE),
            1,
            &mut to[..],
            &|part: &mut [u8], start, middle| part.split_at_mut((middle - start) * PIECE),
            &|pieces, part| {
                part.copy_from_slice(&from[pieces.start * PIECE..][..part.len()]);
            },
        );
        Ok::<(), Failure>(())
    })?;
    std::hint::black_box(to);
    Ok(time)
}
