//! A frame on the GPU by its own clock, and a copy of as many bytes.

use super::scenes::{self, FrameScene};
use super::timing::{nanoseconds_each, ratio};
use super::{Bench, Character, Table};
use crate::console;
use crate::device;
use crate::failure::Failure;
use serde_json::{Value, json};
use std::time::Duration;
use supple::weights::WeightsError;
use supple::{Method, Palette, Rig, Skin, Weights};
use supple_gpu::timing::{time_copy, time_frame};
use supple_gpu::{Format, Gpu, GpuError, GpuSkin};

/// The number of measurements; the best counts.
const ROUNDS: usize = 8;

/// The characters whose frames are timed on the GPU, and how many instances of each.
const ON_GPU: [(&str, usize); 2] = [("figure:4000000", 1), ("figure:10000", 1000)];

/// With how many influences: direct delta mush gathers from more joints than others blend.
fn influences_on_gpu(method: &Method) -> usize {
    let [few, many] = scenes::INFLUENCES;
    match method {
        Method::DirectDeltaMush(_) => many,
        _ => few,
    }
}

/// Weights of which every vertex has so many, so that nothing is gained by vertices that have
/// fewer. Direct delta mush starts from those of the character, and finds its own.
fn weights_on_gpu(rig: &Rig, most: usize) -> Result<Weights, WeightsError> {
    if most > scenes::INFLUENCES[0] {
        return scenes::limited(rig, most);
    }
    scenes::limited_weights(
        &scenes::crowded_weights(rig)?,
        most,
        rig.skeleton().joints().len(),
    )
}

/// A small character, enough to see whether a method has a shader.
const SMALL: &str = "@bar:2000";

/// The methods that have a shader. Methods given by name must have one.
pub(super) fn with_shader(methods: Vec<Method>, named: bool) -> Result<Vec<Method>, Failure> {
    let rig = Character::open(SMALL.as_ref())?.asset.rig;
    let mut scene = FrameScene::new(rig, scenes::INFLUENCES[0]);
    let mut found = Vec::new();
    for method in methods {
        let skin = scene.skin(&method)?;
        match skin.stream_layout() {
            Some(_) => found.push(method),
            None if named => return Err(device::no_shader(&method)),
            None => {}
        }
    }
    Ok(found)
}

/// The user's file, else one large character and a crowd of a smaller one.
pub(super) fn table(bench: &Bench, methods: &[Method]) -> Result<Table, Failure> {
    let gpu = device::open_gpu()?;
    let mut table = Table::default();
    let characters = ON_GPU.map(|(character, _)| character);
    let mut crowds = ON_GPU.into_iter().map(|(_, instances)| instances);
    bench.for_each(&characters, |character| {
        let rig = &character.asset.rig;
        let palette = scenes::first_pose(&character.asset);
        let (instances, counts) = match bench.file {
            Some(_) => (1, vec![rig.weights().max_influences()]),
            None => (crowds.next().unwrap_or(1), scenes::INFLUENCES.to_vec()),
        };
        let palettes = vec![palette; instances];
        for most in counts {
            let wanted =
                |method: &&Method| bench.file.is_some() || influences_on_gpu(method) == most;
            let methods: Vec<&Method> = methods.iter().filter(wanted).collect();
            if methods.is_empty() {
                continue;
            }
            let weights = match bench.file {
                Some(_) => rig.weights().clone(),
                None => weights_on_gpu(rig, most)?,
            };
            let rig = Rig::new(rig.mesh().clone(), rig.skeleton().clone(), weights)?;
            let mut scene = FrameScene::new(rig, most);
            for method in methods {
                bench.show_progress(&format!("{}, {}", character.name, method.name()));
                let skin = scene.skin(method)?;
                match time(&gpu, &skin, &palettes) {
                    Ok(times) => table.push(row(&gpu, method, &skin, &scene, instances, times)),
                    // Others may still fit.
                    Err(error @ GpuError::TooLarge { .. }) => {
                        console::eprint(&format!("note: {}, {method}: {error}", character.name));
                    }
                    Err(error) => return Err(error.into()),
                }
            }
        }
        Ok(())
    })?;
    Ok(table)
}

/// The times of one frame.
struct Times {
    frame: Duration,
    /// The time to copy as many bytes.
    copy: Duration,
    bytes: u64,
}

fn time(gpu: &Gpu, skin: &Skin, palettes: &[Palette]) -> Result<Times, GpuError> {
    let mut on_gpu = GpuSkin::new(gpu, skin, Format::default(), palettes.len())?;
    on_gpu.pose(gpu, palettes)?;
    let bytes = on_gpu.bytes();
    Ok(Times {
        frame: time_frame(gpu, &on_gpu, ROUNDS)?,
        copy: time_copy(gpu, bytes / 2, ROUNDS)?,
        bytes,
    })
}

fn row(
    gpu: &Gpu,
    method: &Method,
    skin: &Skin,
    scene: &FrameScene,
    instances: usize,
    times: Times,
) -> Value {
    let all_vertices = skin.vertex_count() * instances;
    let bytes = times.bytes as f64;
    json!({
        "bench": "gpu-frame",
        "device": gpu.name(),
        "method": method.name(),
        "vertices": skin.vertex_count(),
        "instances": instances,
        "influences": scene.most,
        "normals": true,
        "ns_per_vertex": nanoseconds_each(times.frame, all_vertices),
        "bytes_per_vertex": bytes / all_vertices.max(1) as f64,
        "gigabytes_per_second": bytes * 1e-9 / times.frame.as_secs_f64().max(f64::MIN_POSITIVE),
        "copy_share": ratio(times.copy, times.frame),
    })
}
