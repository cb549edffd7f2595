//! Peak memory per byte of input, of the most demanding work and of every command that reads a
//! character: characters of very many joints, copies of one triangle, triangles around one vertex.
//! SECURITY.md has the numbers.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a bench prints, and may stop"
)]

#[path = "common/counting.rs"]
mod counting;

use glam::{DVec3, Vec3};
use std::f32::consts::TAU;
use std::hint::black_box;
use std::process::{Command, Stdio};
use std::time::Duration;
use supple::bind::{BindGroup, BindMethod, bind_groups};
use supple::edit::{Edit, EditRegion, Editor};
use supple::mush::{Mush, MushOptions};
use supple::skeleton::{Node, Skeleton};
use supple::transform::{Local, Trs};
use supple::weights::WeightsBuilder;
use supple::{Asset, Mesh, Rig};
use supple_io::gltf::Document;

/// The distance between joints of a chain.
const BONE: f64 = 0.01;

/// A name and how to make a character of some size.
type RigFamily = (&'static str, fn(usize) -> Rig, [usize; 2]);

/// A name and what is done to a character.
type Work = (&'static str, fn(&Rig));

/// Commands, each with its arguments behind the file, and what it writes.
const COMMANDS: [(&str, &[&str], &str); 16] = [
    ("info", &["--json"], ""),
    ("convert", &[], "o.glb"),
    ("deform", &["-m", "linear"], "o.npy"),
    ("deform", &["-m", "cor"], "o.npy"),
    ("deform", &["-m", "ddm"], "o.npy"),
    ("deform", &["-m", "arap"], "o.npy"),
    ("pose", &["--turn", "joint1=0,0,30"], "o.glb"),
    ("twist", &["--joint", "joint0"], "o.glb"),
    ("bake", &["-m", "cor"], "o.glb"),
    ("bake", &["-m", "ddm"], "o.glb"),
    ("weights", &["-m", "heat"], "o.glb"),
    ("weights", &["-m", "geodesic"], "o.glb"),
    ("weights", &["-m", "bbw"], "o.glb"),
    ("handles", &[], "o.json"),
    ("render", &["--size", "64x64"], "o.png"),
    ("compare", &["-m", "linear,dqs", "--size", "40x40"], "o"),
];

fn main() {
    let shapes: [RigFamily; 3] = [
        ("joints", tube, [1000, 4000]),
        ("copies of a triangle", copies, [5000, 20_000]),
        ("triangles around a vertex", fan, [1000, 4000]),
    ];
    let works: [Work; 6] = [
        ("weights -m heat", |rig| bound(rig, 2)),
        ("weights -m geodesic", |rig| bound(rig, 3)),
        ("weights -m bbw", |rig| bound(rig, 4)),
        ("bake -m ddm", |rig| {
            let _ = black_box(Mush::bake(rig, &MushOptions::default()));
        }),
        ("weights edit --smooth 5", |rig| {
            let smooth = Edit::Smooth {
                steps: 5,
                strength: 0.5,
                joints: Vec::new(),
            };
            let editor = Editor::new(rig);
            let _ = black_box(editor.apply(rig.weights(), &smooth, &EditRegion::All));
        }),
        ("quality of weights", |rig| {
            black_box(supple::quality::WeightQuality::of(rig));
        }),
    ];
    println!("peak memory in MiB, and per byte of input");
    for (name, make, sizes) in shapes {
        for (what, work) in works {
            let cells = sizes.map(|size| {
                let rig = make(size);
                let peak = counting::peak(|| work(&rig)) as f64;
                let mebibytes = peak / f64::from(1 << 20);
                format!("{size}: {mebibytes:8.1} ({:6.0})", peak / input_bytes(&rig))
            });
            println!("{what:24} {name:26} {}", cells.join("   "));
        }
    }
    println!();
    println!("peak memory of whole commands on one thread, per byte of the file, beyond that of");
    println!("the smallest file");
    let small = command_peaks(&tube(20));
    let mut worst = (0.0, String::new());
    for (name, make, [_, size]) in shapes {
        let rig = make(size);
        let file = bytes_of_file(&rig);
        for ((command, arguments, _), (peak, least)) in COMMANDS
            .iter()
            .zip(command_peaks(&rig).into_iter().zip(&small))
        {
            let per_byte = (peak - least) / file;
            let what = format!("{command} {} on {size} {name}", arguments.join(" "));
            println!(
                "{what:60} {:8.1} MiB {per_byte:6.0}",
                peak / f64::from(1 << 20)
            );
            if per_byte > worst.0 {
                worst = (per_byte, what);
            }
        }
    }
    println!("the worst: {}, {:.0} bytes for each byte", worst.1, worst.0);
}

/// A character as a file holds it.
fn file_of(rig: &Rig) -> Vec<u8> {
    let asset = Asset {
        name: String::new(),
        parts: Vec::new(),
        morphs: Vec::new(),
        rest_morph_weights: Vec::new(),
        clips: Vec::new(),
        props: Vec::new(),
        rig: rig.clone(),
    };
    Document::from_asset(&asset).unwrap().to_glb().unwrap()
}

fn bytes_of_file(rig: &Rig) -> f64 {
    file_of(rig).len() as f64
}

/// The peak memory of each command, in bytes; zero where the system does not tell.
fn command_peaks(rig: &Rig) -> Vec<f64> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("rig.glb"), file_of(rig)).unwrap();
    let peak = |(command, arguments, out): &(&str, &[&str], &str)| {
        let mut run = Command::new(env!("CARGO_BIN_EXE_supple"));
        run.args([command, "rig.glb"]).args(*arguments);
        if !out.is_empty() {
            run.args(["-o", out]);
        }
        run.current_dir(folder.path());
        run.env("RAYON_NUM_THREADS", "1");
        peak_of_process(run.stdout(Stdio::null()).stderr(Stdio::null()))
    };
    COMMANDS.iter().map(peak).collect()
}

/// The most memory that a process has had, as Linux counts it; it is asked every millisecond.
fn peak_of_process(command: &mut Command) -> f64 {
    let mut child = command.spawn().unwrap();
    let status = format!("/proc/{}/status", child.id());
    let mut peak: f64 = 0.0;
    while child.try_wait().unwrap().is_none() {
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kibibytes: Option<f64> =
            line.and_then(|line| line.trim().strip_suffix(" kB")?.parse().ok());
        peak = kibibytes.unwrap_or(0.0).max(peak);
        std::thread::sleep(Duration::from_millis(1));
    }
    peak * 1024.0
}

/// The size of a character in a file, without names: positions, triangles, four influences,
/// matrices.
fn input_bytes(rig: &Rig) -> f64 {
    let vertices = rig.mesh().vertex_count() * (12 + 16 + 8);
    let triangles = rig.mesh().triangles().len() * 12;
    let joints = rig.skeleton().joints().len() * 64;
    (vertices + triangles + joints) as f64
}

fn bound(rig: &Rig, method: usize) {
    let method = &BindMethod::all()[method];
    let groups = [BindGroup::whole(rig.mesh(), rig.skeleton())];
    let bound = bind_groups(rig.mesh(), rig.skeleton(), &groups, method, &|_| {});
    let _ = black_box(bound);
}

fn chain(joints: usize) -> Skeleton {
    let node = |joint: usize| Node {
        name: format!("joint{joint}"),
        parent: joint.checked_sub(1),
        rest: Local::Trs(Trs::from_translation(DVec3::Y * BONE)),
    };
    let all: Vec<usize> = (0..joints).collect();
    Skeleton::bound_at_rest((0..joints).map(node).collect(), &all).unwrap()
}

/// A surface held by the joints of a chain, each vertex by the two nearest in height.
fn held(places: Vec<Vec3>, triangles: Vec<[u32; 3]>, joints: usize) -> Rig {
    let mut weights = WeightsBuilder::new(joints).unwrap();
    for place in &places {
        let near = ((f64::from(place.y) / BONE).max(0.0) as usize).min(joints - 1);
        let row = [(near, 0.6), ((near + 1).min(joints - 1), 0.4)];
        weights.push(row, 0).unwrap();
    }
    let mesh = Mesh::new(places, None, None, triangles).unwrap();
    Rig::new(mesh, chain(joints), weights.finish().0).unwrap()
}

/// A tube with a ring of vertices for every ten joints.
fn tube(joints: usize) -> Rig {
    const AROUND: u32 = 16;
    let rings = joints as u32 / 10;
    let place = |at: u32| {
        let (sine, cosine) = (TAU * (at % AROUND) as f32 / AROUND as f32).sin_cos();
        let height = (at / AROUND) as f32 * 10.0 * BONE as f32;
        Vec3::new(0.3 * cosine, height, 0.3 * sine)
    };
    let sides = (0..(rings - 1) * AROUND).flat_map(|a| {
        let b = a / AROUND * AROUND + (a + 1) % AROUND;
        [[a, a + AROUND, b], [b, a + AROUND, b + AROUND]]
    });
    let sides = sides.collect();
    held((0..rings * AROUND).map(place).collect(), sides, joints)
}

fn copies(count: usize) -> Rig {
    held(
        vec![Vec3::ZERO, Vec3::X, Vec3::Y],
        vec![[0, 1, 2]; count],
        2,
    )
}

/// A cone of so many triangles around its tip.
fn fan(count: usize) -> Rig {
    let count = count as u32;
    let rim = |at: u32| {
        let (sine, cosine) = (TAU * at as f32 / count as f32).sin_cos();
        Vec3::new(cosine, 0.0, sine)
    };
    let places = std::iter::once(Vec3::Y)
        .chain((0..count).map(rim))
        .collect();
    let triangles = (0..count).map(|at| [0, 1 + (at + 1) % count, 1 + at]);
    held(places, triangles.collect(), 2)
}
