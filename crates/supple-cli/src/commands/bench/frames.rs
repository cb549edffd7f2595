//! What a frame takes: every direct method, with and without normals, at four and eight influences,
//! on one thread and on all.

use super::scenes::{self, FrameScene};
use super::{SHORT_MOMENT, best_of, built_in, clocked, markdown};
use crate::failure::Failure;
use crate::source::Source;
use glam::Vec3;
use serde_json::{Value, json};
use std::path::Path;
use std::time::Duration;
use supple::{Method, Normals, Output, Palette, Rig, Skin, Workspace, exec};

/// A method at a size.
pub(super) struct Row {
    method: String,
    vertices: usize,
    /// The most joints that a vertex has.
    influences: usize,
    mean_influences: f64,
    threads: usize,
    normals: bool,
    time: Duration,
    bytes_per_vertex: f64,
    /// What copying as many bytes takes on as many threads.
    copy: Duration,
}

/// The built-in character at several sizes.
pub(super) fn time_characters(
    methods: &[Method],
    tell: impl Fn(&Path, &Method),
) -> Result<Vec<Row>, Failure> {
    let mut rows = Vec::new();
    for character in scenes::CARRIED {
        let file = built_in(character);
        let source = Source::open(&file)?;
        let palette = scenes::poses(&source.asset).swap_remove(0);
        let rig = &source.asset.rig;
        for most in scenes::INFLUENCES {
            let weights = scenes::limited(rig, most)?;
            let rig = Rig::new(rig.mesh().clone(), rig.skeleton().clone(), weights)?;
            let mut scene = FrameScene::new(rig, most);
            for method in methods {
                tell(&file, method);
                rows.extend(time_scene(&mut scene, method, &palette)?);
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
    let rig = source.asset.rig.clone();
    let palette = scenes::poses(&source.asset).swap_remove(0);
    let most = rig.weights().max_influences();
    let mut scene = FrameScene::new(rig, most);
    let mut rows = Vec::new();
    for method in methods {
        tell(method);
        rows.extend(time_scene(&mut scene, method, &palette)?);
    }
    Ok(rows)
}

fn time_scene(
    scene: &mut FrameScene,
    method: &Method,
    palette: &Palette,
) -> Result<Vec<Row>, Failure> {
    let method_with_bake = scene.prepared(method)?;
    let skin = Skin::bake(&scene.rig, &method_with_bake, Normals::Transported)?;
    let mut rows = Vec::new();
    for threads in thread_counts() {
        for normals in [false, true] {
            let time = exec::on_threads(threads, || frame(&skin, palette, normals))?;
            let bytes_per_vertex = skin.bytes_per_vertex(normals, false);
            let bytes = (bytes_per_vertex * skin.vertex_count() as f64) as usize;
            rows.push(Row {
                method: method.name().to_owned(),
                vertices: skin.vertex_count(),
                influences: scene.most,
                mean_influences: scene.mean_influences(&method_with_bake),
                threads,
                normals,
                time,
                bytes_per_vertex,
                copy: exec::on_threads(threads, || copy(bytes / 2))?,
            });
        }
    }
    Ok(rows)
}

/// One, and all that there are.
fn thread_counts() -> impl Iterator<Item = usize> {
    let all = exec::threads();
    [1, all].into_iter().take(if all > 1 { 2 } else { 1 })
}

fn frame(skin: &Skin, palette: &Palette, with_normals: bool) -> Result<Duration, Failure> {
    let mut workspace = Workspace::default();
    let mut positions = vec![Vec3::ZERO; skin.vertex_count()];
    let mut normals = vec![Vec3::ZERO; skin.vertex_count()];
    let (_, time) = best_of(SHORT_MOMENT, || {
        clocked(|| {
            let output = Output {
                positions: &mut positions,
                normals: with_normals.then_some(&mut normals),
                tangents: None,
            };
            skin.deform(palette, &mut workspace, output)
        })
    })?;
    Ok(time)
}

/// How long copying so many bytes takes: reading them, and writing them elsewhere.
fn copy(bytes: usize) -> Result<Duration, Failure> {
    let from = vec![1u8; bytes];
    let mut to = vec![0u8; bytes];
    /// What one thread copies at a time.
    const PIECE: usize = 1 << 16;
    let (_, time) = best_of(SHORT_MOMENT, || {
        clocked(|| {
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
        })
    })?;
    std::hint::black_box(to);
    Ok(time)
}

impl Row {
    fn ns_per_vertex(&self) -> f64 {
        self.time.as_secs_f64() * 1e9 / self.vertices.max(1) as f64
    }

    fn copy_share(&self) -> f64 {
        self.copy.as_secs_f64() / self.time.as_secs_f64().max(f64::MIN_POSITIVE)
    }

    pub(super) fn to_json(&self) -> Value {
        json!({
            "bench": "frame",
            "method": self.method,
            "vertices": self.vertices,
            "influences": self.influences,
            "mean_influences": self.mean_influences,
            "threads": self.threads,
            "normals": self.normals,
            "ns_per_vertex": self.ns_per_vertex(),
            "bytes_per_vertex": self.bytes_per_vertex,
            "copy_share": self.copy_share(),
        })
    }
}

/// For people: a line for each method at each size, the cells by threads and normals.
pub(super) fn table(rows: &[Row]) -> String {
    let mut lines: Vec<(&Row, Vec<&Row>)> = Vec::new();
    for row in rows {
        let same = |(first, _): &&mut (&Row, Vec<&Row>)| {
            first.method == row.method
                && first.vertices == row.vertices
                && first.influences == row.influences
        };
        match lines.iter_mut().rev().find(same) {
            Some((_, cells)) => cells.push(row),
            None => lines.push((row, vec![row])),
        }
    }
    let head = [
        "frames",
        "vertices",
        "influences",
        "bytes per vertex",
        "1 thread: ns",
        "of copy",
        "with normals: ns",
        "of copy",
        "all threads: ns",
        "of copy",
        "with normals: ns",
        "of copy",
    ];
    let lines = lines.into_iter().map(|(first, cells)| {
        let find = |alone: bool, normals: bool| {
            let mut cells = cells.iter();
            cells.find(|row| (row.threads == 1) == alone && row.normals == normals)
        };
        let pair = |alone: bool, normals: bool| match find(alone, normals) {
            Some(row) => [
                format!("{:.2}", row.ns_per_vertex()),
                format!("{:.0} %", 100.0 * row.copy_share()),
            ],
            None => [String::new(), String::new()],
        };
        let [a, b] = pair(true, false);
        let [c, d] = pair(true, true);
        let [e, f] = pair(false, false);
        let [g, h] = pair(false, true);
        [
            first.method.clone(),
            first.vertices.to_string(),
            format!(
                "{} ({:.1} in the mean)",
                first.influences, first.mean_influences
            ),
            format!("{:.0}", first.bytes_per_vertex),
            a,
            b,
            c,
            d,
            e,
            f,
            g,
            h,
        ]
    });
    markdown(head, lines)
}
