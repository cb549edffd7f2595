//! What a frame takes on the GPU, by its own clock, beside a copy of as many bytes.

use super::scenes::{self, FrameScene};
use super::{built_in, markdown};
use crate::console;
use crate::failure::Failure;
use crate::posing;
use crate::source::Source;
use serde_json::{Value, json};
use std::path::Path;
use std::time::Duration;
use supple::{Method, Normals, Palette, Rig, Skin};
use supple_gpu::{Format, Gpu, GpuError, GpuSkin, time_copy, time_frame};

/// How often everything is timed; the best counts.
const ROUNDS: usize = 8;

/// A method at a size.
pub(super) struct Row {
    device: String,
    method: String,
    vertices: usize,
    instances: usize,
    /// The most joints that a vertex has.
    influences: usize,
    time: Duration,
    /// What is read and written.
    bytes: u64,
    /// What copying as many bytes takes.
    copy: Duration,
}

/// A small character, on which it is soon seen whether a method has a shader.
const SMALL: &str = "bar:2000";

/// Those of the methods that have a shader. If they were named, all of them must.
pub(super) fn with_shader(methods: Vec<Method>, named: bool) -> Result<Vec<Method>, Failure> {
    let rig = Source::open(&built_in(SMALL))?.asset.rig;
    let mut scene = FrameScene::new(rig, scenes::INFLUENCES[0]);
    let mut found = Vec::new();
    for method in methods {
        let with_bake = scene.prepared(&method)?;
        let skin = Skin::bake(&scene.rig, &with_bake, Normals::Transported)?;
        match skin.stream_layout() {
            Some(_) => found.push(method),
            None if named => return Err(posing::no_shader(&method)),
            None => {}
        }
    }
    Ok(found)
}

/// One large character, and a crowd of a smaller one.
pub(super) fn time_characters(
    methods: &[Method],
    tell: impl Fn(&Path, &Method),
) -> Result<Vec<Row>, Failure> {
    let gpu = Gpu::new()?;
    let mut rows = Vec::new();
    for (character, instances) in scenes::ON_GPU {
        let file = built_in(character);
        let source = Source::open(&file)?;
        let palette = scenes::poses(&source.asset).swap_remove(0);
        let rig = &source.asset.rig;
        for most in scenes::INFLUENCES {
            let here = |method: &&Method| scenes::influences_on_gpu(method) == most;
            if !methods.iter().any(|method| here(&method)) {
                continue;
            }
            let weights = scenes::weights_on_gpu(rig, most)?;
            let rig = Rig::new(rig.mesh().clone(), rig.skeleton().clone(), weights)?;
            let mut scene = FrameScene::new(rig, most);
            for method in methods.iter().filter(here) {
                tell(&file, method);
                match time_scene(&gpu, &mut scene, method, &palette, instances) {
                    Ok(row) => rows.push(row),
                    // Others may still fit.
                    Err(Untimed::TooLarge(why)) => {
                        console::tell(&format!("note: {character}, {method}: {why}"))
                    }
                    Err(Untimed::Failed(failure)) => return Err(failure),
                }
            }
        }
    }
    Ok(rows)
}

/// A file as it is.
pub(super) fn time_file(
    source: &Source,
    methods: &[Method],
    tell: impl Fn(&Method),
) -> Result<Vec<Row>, Failure> {
    let gpu = Gpu::new()?;
    let rig = source.asset.rig.clone();
    let palette = scenes::poses(&source.asset).swap_remove(0);
    let most = rig.weights().max_influences();
    let mut scene = FrameScene::new(rig, most);
    let mut rows = Vec::new();
    for method in methods {
        tell(method);
        rows.push(time_scene(&gpu, &mut scene, method, &palette, 1)?);
    }
    Ok(rows)
}

/// Why there is no time.
enum Untimed {
    /// A buffer that this GPU does not have.
    TooLarge(GpuError),
    Failed(Failure),
}

impl From<GpuError> for Untimed {
    fn from(error: GpuError) -> Untimed {
        match error {
            GpuError::TooLarge { .. } => Untimed::TooLarge(error),
            other => Untimed::Failed(other.into()),
        }
    }
}

impl From<Untimed> for Failure {
    fn from(untimed: Untimed) -> Failure {
        match untimed {
            Untimed::TooLarge(error) => error.into(),
            Untimed::Failed(failure) => failure,
        }
    }
}

fn time_scene(
    gpu: &Gpu,
    scene: &mut FrameScene,
    method: &Method,
    palette: &Palette,
    instances: usize,
) -> Result<Row, Untimed> {
    let failed = Untimed::Failed;
    let method_with_bake = scene
        .prepared(method)
        .map_err(|error| failed(error.into()))?;
    let skin = Skin::bake(&scene.rig, &method_with_bake, Normals::Transported)
        .map_err(|error| failed(error.into()))?;
    let mut on_gpu = GpuSkin::new(gpu, &skin, Format::default(), instances)?;
    on_gpu.pose(gpu, &vec![palette.clone(); instances])?;
    let bytes = on_gpu.bytes();
    Ok(Row {
        device: gpu.name().to_owned(),
        method: method.name().to_owned(),
        vertices: skin.vertex_count(),
        instances,
        influences: scene.most,
        time: time_frame(gpu, &on_gpu, ROUNDS)?,
        bytes,
        copy: time_copy(gpu, bytes / 2, ROUNDS)?,
    })
}

impl Row {
    fn all_vertices(&self) -> f64 {
        (self.vertices * self.instances).max(1) as f64
    }

    fn ns_per_vertex(&self) -> f64 {
        self.time.as_secs_f64() * 1e9 / self.all_vertices()
    }

    fn bytes_per_vertex(&self) -> f64 {
        self.bytes as f64 / self.all_vertices()
    }

    fn gigabytes_per_second(&self) -> f64 {
        self.bytes as f64 * 1e-9 / self.time.as_secs_f64().max(f64::MIN_POSITIVE)
    }

    fn copy_share(&self) -> f64 {
        self.copy.as_secs_f64() / self.time.as_secs_f64().max(f64::MIN_POSITIVE)
    }

    pub(super) fn to_json(&self) -> Value {
        json!({
            "bench": "gpu-frame",
            "device": self.device,
            "method": self.method,
            "vertices": self.vertices,
            "instances": self.instances,
            "influences": self.influences,
            "normals": true,
            "ns_per_vertex": self.ns_per_vertex(),
            "bytes_per_vertex": self.bytes_per_vertex(),
            "gigabytes_per_second": self.gigabytes_per_second(),
            "copy_share": self.copy_share(),
        })
    }
}

/// For people: a line for each.
pub(super) fn table(rows: &[Row]) -> String {
    let device = rows.first().map_or("", |row| &row.device);
    let head = format!("frames on {device}");
    let head = [
        head.as_str(),
        "vertices",
        "instances",
        "influences",
        "bytes per vertex",
        "ns per vertex",
        "GB/s",
        "of copy",
    ];
    let lines = rows.iter().map(|row| {
        [
            row.method.clone(),
            row.vertices.to_string(),
            row.instances.to_string(),
            row.influences.to_string(),
            format!("{:.0}", row.bytes_per_vertex()),
            format!("{:.4}", row.ns_per_vertex()),
            format!("{:.0}", row.gigabytes_per_second()),
            format!("{:.0} %", 100.0 * row.copy_share()),
        ]
    });
    markdown(head, lines)
}
