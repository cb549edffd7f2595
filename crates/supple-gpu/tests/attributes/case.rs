//! Characters as an engine has them: the numbers of a glTF file, and what Supple makes of them.

use crate::raw_gltf::{RawFile, index};
use crate::tools::run;
use glam::{DVec3, Vec3, Vec4};
use std::path::Path;
use supple::centers::{CenterOptions, Centers};
use supple::deform::BakedData;
use supple::mesh::Shape;
use supple::mush::{Mush, MushOptions};
use supple::transform::Local;
use supple::{Asset, Method, Normals, Output, Palette, Skin, Workspace};
use supple_gpu::shaders::JointMotions;
use supple_io::gltf::{self, Document, MUSH_EXTENSION};

/// Vertices are picked evenly from larger characters.
const MOST_VERTICES: usize = 1500;

/// Eight vectors of a vertex: position and share; normal and first influence; tangent; center and
/// count of influences; joints and weights, twice each.
pub type VertexWords = [[f32; 4]; 8];

/// A deformed vertex: position, normal, tangent.
pub type Skinned = [[f32; 4]; 3];

/// A character in a pose, for methods that read the same file.
pub struct Case {
    pub name: String,
    pub method: Method,
    pub motions: JointMotions,
    pub vertices: Vec<VertexWords>,
    /// Vectors per joint, as the method reads them.
    pub palette: Vec<[f32; 4]>,
    pub mush: Vec<[f32; 4]>,
    pub expected: Vec<Skinned>,
    /// The size of the numbers that are rounded.
    pub size: f32,
}

/// Methods with a function, by the file that they read.
pub const WITH_CENTERS: [&str; 4] = ["linear", "dual-quaternion", "linear-dual-blend:0.3", "cor"];
pub const WITH_MUSH: [&str; 4] = ["ddm", "ddm-v2", "ddm-v4", "ddm-v5"];

/// Of these, those that stretch first.
const STRETCHING: [&str; 5] = ["dual-quaternion", "cor", "ddm", "ddm-v2", "ddm-v4"];

/// All methods on a character, in one pose; and in that pose with some joints stretched.
pub fn cases(name: &str, document: &Document, asset: &Asset, pose: usize) -> Vec<Case> {
    let rig = &asset.rig;
    let options = CenterOptions::PAPER;
    let centers = Centers::bake(rig.mesh(), rig.weights(), &options).unwrap();
    let mut with_centers = document.clone();
    with_centers.set_centers(rig, &centers, &options).unwrap();
    let options = MushOptions::default();
    let mush = Mush::bake(rig, &options).unwrap().mush;
    let mut with_mush = document.clone();
    with_mush.set_mush(rig, &mush, &options, 8).unwrap();
    let mut cases = Vec::new();
    for motions in [JointMotions::Rigid, JointMotions::Stretching] {
        for (document, methods) in [(&with_centers, WITH_CENTERS), (&with_mush, WITH_MUSH)] {
            let is_wanted =
                |method: &&str| motions == JointMotions::Rigid || STRETCHING.contains(method);
            let methods: Vec<&str> = methods.into_iter().filter(is_wanted).collect();
            cases.extend(of_file(name, document, &methods, (pose, motions)));
        }
    }
    cases
}

/// A pose of a character, within its first clip or its last one, or at rest. No joint stretches, or
/// some do.
fn palette_of(asset: &Asset, (which, motions): (usize, JointMotions)) -> Palette {
    let clip = match which {
        0 => asset.clips.first(),
        _ => asset.clips.last(),
    };
    let rest = asset.rest_pose();
    let mut pose = clip.map_or_else(
        || rest.clone(),
        |clip| asset.pose_at(clip, clip.start() + 0.47 * clip.duration()),
    );
    // Far from the root: not all joints together.
    let first = pose.locals.len() / 2;
    for (node, (local, rest)) in pose.locals.iter_mut().zip(&rest.locals).enumerate() {
        if let (Local::Trs(local), Local::Trs(rest)) = (local, rest) {
            local.scale = rest.scale;
            if motions == JointMotions::Stretching && node >= first && node % 3 == 0 {
                local.scale *= DVec3::new(1.2, 0.9, 1.1);
            }
        }
    }
    asset.rig.skeleton().palette(&pose).unwrap()
}

fn of_file(
    name: &str,
    document: &Document,
    methods: &[&str],
    (pose, motions): (usize, JointMotions),
) -> Vec<Case> {
    let bytes = document.to_glb().unwrap();
    let loaded = gltf::from_slice(&bytes, name).unwrap();
    let raw = RawFile::parse(&bytes);
    let asset = &loaded.asset;
    let palette = palette_of(asset, (pose, motions));
    let baked = BakedData {
        centers: loaded.stored_centers.map(|stored| stored.centers),
        mush: loaded.stored_mush.and_then(|stored| stored.mush),
        ..BakedData::default()
    };
    let filled = filled(&raw, asset, &palette);
    let every = filled.vertices.len().div_ceil(MOST_VERTICES).max(1);
    let mut vertices: Vec<VertexWords> = filled.vertices.into_iter().step_by(every).collect();
    // Only the influences of picked vertices.
    let mut mush = Vec::new();
    for vertex in &mut vertices {
        let (first, count) = (3 * vertex[1][3] as usize, 3 * vertex[3][3] as usize);
        vertex[1][3] = (mush.len() / 3) as f32;
        mush.extend_from_slice(&filled.mush[first..first + count]);
    }
    let mesh = asset.rig.mesh();
    let tangents: Vec<Vec4> = mesh.normals().iter().copied().map(tangent).collect();
    let shape = Shape {
        positions: mesh.positions(),
        normals: mesh.normals(),
        tangents: Some(&tangents),
    };
    let cases = methods.iter().map(|method| {
        let method: Method = method.parse().unwrap();
        // A file has ddm-v5 as its skin, of up to eight joints per vertex.
        let played = match method.name() {
            "ddm-v5" => &Method::Linear,
            _ => &method,
        };
        let skin = Skin::bake_with(&asset.rig, played, Normals::Transported, &baked).unwrap();
        let expected = deformed(&skin, shape, &palette);
        let places = expected.iter().map(|skinned| skinned[0]);
        let maps = palette.posed_from_bind.iter();
        let shifts = maps.flat_map(|map| map.rows.map(|row| row.w));
        let size = places
            .flatten()
            .chain(shifts)
            .fold(0.0, |most: f32, number| most.max(number.abs()));
        Case {
            name: format!("{method} of {name} in pose {pose}, {motions:?}"),
            palette: match (method.name(), motions) {
                ("linear" | "ddm-v5", _) => filled.matrices.clone(),
                (_, JointMotions::Rigid) => filled.motions.clone(),
                (_, JointMotions::Stretching) => filled.stretches.clone(),
            },
            method,
            motions,
            vertices: vertices.clone(),
            mush: mush.clone(),
            expected: expected.into_iter().step_by(every).collect(),
            size,
        }
    });
    cases.collect()
}

/// Any tangent of a normal.
fn tangent(normal: Vec3) -> Vec4 {
    normal.normalize().any_orthonormal_vector().extend(-1.0)
}

fn deformed(skin: &Skin, shape: Shape<'_>, palette: &Palette) -> Vec<Skinned> {
    let count = skin.vertex_count();
    let (mut positions, mut normals) = (vec![Vec3::ZERO; count], vec![Vec3::ZERO; count]);
    let mut tangents = vec![Vec4::ZERO; count];
    let output = Output {
        positions: &mut positions,
        normals: Some(&mut normals),
        tangents: Some(&mut tangents),
    };
    skin.deform_shape(shape, palette, &mut Workspace::default(), output)
        .unwrap();
    let surface = positions.iter().zip(&normals).zip(&tangents);
    surface
        .map(|((position, normal), tangent)| {
            let point = |vector: &Vec3| vector.extend(0.0).to_array();
            [point(position), point(normal), tangent.to_array()]
        })
        .collect()
}

/// What `skin_palette.h` fills for a file, and its vertices.
struct Filled {
    vertices: Vec<VertexWords>,
    matrices: Vec<[f32; 4]>,
    motions: Vec<[f32; 4]>,
    stretches: Vec<[f32; 4]>,
    mush: Vec<[f32; 4]>,
}

/// The rig's joint of each joint of the only skin.
fn joints_of_skin(raw: &RawFile, asset: &Asset) -> Vec<usize> {
    let skins = raw.json["skins"].as_array().unwrap();
    assert_eq!(skins.len(), 1);
    let skeleton = asset.rig.skeleton();
    let joints = skins[0]["joints"].as_array().unwrap().iter();
    joints
        .map(|node| {
            let name = raw.json["nodes"][index(node)]["name"].as_str().unwrap();
            let named = |&joint: &usize| skeleton.joint_name(joint) == name;
            (0..skeleton.joints().len()).find(named).unwrap()
        })
        .collect()
}

fn filled(raw: &RawFile, asset: &Asset, palette: &Palette) -> Filled {
    let joints = joints_of_skin(raw, asset);
    let columns = |palette: &Palette| -> Vec<f32> {
        let matrix = |&joint: &usize| {
            let [x, y, z] = palette.posed_from_bind[joint].rows;
            let columns = (0..4).map(|column| [x[column], y[column], z[column]]);
            let last = [0.0, 0.0, 0.0, 1.0];
            let columns = columns.zip(last).map(|([x, y, z], w)| [x, y, z, w]);
            columns.collect::<Vec<_>>().concat()
        };
        joints.iter().flat_map(matrix).collect()
    };
    let mut vertices: Vec<VertexWords> = Vec::new();
    let (mut counts, mut mush_joints, mut shares) = (Vec::new(), Vec::new(), Vec::new());
    let (mut patches, mut scales): (Vec<i16>, Vec<f32>) = (Vec::new(), Vec::new());
    for primitive in raw.primitives() {
        let attributes = &primitive["attributes"];
        let read = |name: &str| attributes.get(name).map(|accessor| raw.attribute(accessor));
        let of = |numbers: &Option<Vec<f32>>, vertex: usize| -> [f32; 4] {
            let own = numbers.as_ref().map(|numbers| &numbers[4 * vertex..]);
            own.map_or([0.0; 4], |own| own[..4].try_into().unwrap())
        };
        let positions = read("POSITION").unwrap();
        let normals = read("NORMAL");
        let mush = primitive["extensions"].get(MUSH_EXTENSION);
        let centers = mush.map(|mush| raw.attribute(&mush["centers"]));
        let centers = centers.or_else(|| read("_CENTER_OF_ROTATION"));
        let sets = ["JOINTS_0", "WEIGHTS_0", "JOINTS_1", "WEIGHTS_1"].map(read);
        let start = vertices.len();
        for vertex in 0..positions.len() / 3 {
            let three = |numbers: &[f32]| Vec3::from_slice(&numbers[3 * vertex..]);
            let rig_normal = asset.rig.mesh().normals()[start + vertex];
            let normal = normals.as_deref().map_or(rig_normal, three).normalize();
            let center = centers.as_deref().map_or(Vec3::ZERO, three);
            let [joints_0, weights_0, joints_1, weights_1] = sets.each_ref();
            vertices.push([
                three(&positions).extend(0.3).to_array(),
                normal.extend(0.0).to_array(),
                tangent(rig_normal).to_array(),
                center.extend(0.0).to_array(),
                of(joints_0, vertex),
                of(weights_0, vertex),
                of(joints_1, vertex),
                of(weights_1, vertex),
            ]);
        }
        if let Some(mush) = mush {
            let whole = |name: &str| raw.stored(&mush[name]).into_iter();
            counts.extend(whole("counts").map(|number| number as u16));
            mush_joints.extend(whole("joints").map(|number| number as u16));
            shares.extend(whole("shares").map(|number| number as u16));
            patches.extend(whole("patches").map(|number| number as i16));
            scales.extend(raw.attribute(&mush["scales"]));
        }
    }
    if counts.is_empty() {
        counts = vec![0; vertices.len()];
        scales = vec![0.0; 4 * vertices.len()];
    }
    let skin = &raw.json["skins"][0];
    let sizes = [joints.len(), vertices.len(), mush_joints.len()].map(|size| size as u32);
    let input = [
        bytes_of(&sizes, u32::to_le_bytes),
        bytes_of(
            &columns(&asset.rig.skeleton().rest_palette()),
            f32::to_le_bytes,
        ),
        bytes_of(&columns(palette), f32::to_le_bytes),
        bytes_of(
            &raw.attribute(&skin["inverseBindMatrices"]),
            f32::to_le_bytes,
        ),
        bytes_of(&counts, u16::to_le_bytes),
        bytes_of(&mush_joints, u16::to_le_bytes),
        bytes_of(&shares, u16::to_le_bytes),
        bytes_of(&patches, i16::to_le_bytes),
        bytes_of(&scales, f32::to_le_bytes),
    ];
    let output = run_c(&input.concat());
    let (matrices, output) = output.split_at(48 * joints.len());
    let (motions, output) = output.split_at(32 * joints.len());
    let (stretches, output) = output.split_at(80 * joints.len());
    let (mush, ranges) = output.split_at(48 * mush_joints.len());
    let ranges: Vec<[u32; 2]> = bytemuck::pod_collect_to_vec(ranges);
    for (vertex, [first, count]) in vertices.iter_mut().zip(ranges) {
        vertex[1][3] = first as f32;
        vertex[3][3] = count as f32;
    }
    Filled {
        vertices,
        matrices: bytemuck::pod_collect_to_vec(matrices),
        motions: bytemuck::pod_collect_to_vec(motions),
        stretches: bytemuck::pod_collect_to_vec(stretches),
        mush: bytemuck::pod_collect_to_vec(mush),
    }
}

fn bytes_of<T: Copy, const N: usize>(numbers: &[T], bytes: fn(T) -> [u8; N]) -> Vec<u8> {
    numbers.iter().flat_map(|&number| bytes(number)).collect()
}

/// Runs `main.c`, compiled by the compiler that Rust links with.
fn run_c(input: &[u8]) -> Vec<u8> {
    use std::sync::{LazyLock, Mutex};
    static PROGRAM: LazyLock<(tempfile::TempDir, Mutex<()>)> = LazyLock::new(|| {
        let folder = tempfile::tempdir().unwrap();
        let header = supple_gpu::shaders::PALETTE_HEADER;
        let name = supple_gpu::shaders::PALETTE_HEADER_NAME;
        std::fs::write(folder.path().join(name), header).unwrap();
        std::fs::write(folder.path().join("main.c"), include_str!("main.c")).unwrap();
        let strict = [
            "-std=c99", "-O1", "-Wall", "-Wextra", "-Werror", "-o", "main",
        ];
        run(
            "cc",
            &[&strict[..], &["main.c", "-lm"]].concat(),
            folder.path(),
        );
        (folder, Mutex::new(()))
    });
    let (folder, one_at_a_time) = &*PROGRAM;
    let _guard = one_at_a_time.lock().unwrap();
    let folder: &Path = folder.path();
    std::fs::write(folder.join("in"), input).unwrap();
    let program = folder.join("main");
    run(program.to_str().unwrap(), &["in", "out"], folder);
    std::fs::read(folder.join("out")).unwrap()
}
