//! Helpers shared by the test files.

#![allow(dead_code, reason = "no test uses all of it")]

pub mod device;

use glam::{DAffine3, DQuat, DVec3, Vec3};
use std::sync::Arc;
use supple::deform::{AnimationSpaceWeights, BakedData};
use supple::{Asset, Method, Normals, Output, Palette, Rig, Skin, Workspace};
use supple_gpu::{DeformedSurface, Format, Gpu, GpuSkin};

/// The largest difference between GPU and CPU, relative to the extent of the result.
pub const CLOSE: f32 = 2e-5;

/// Every method that has a shader, and learned weights for those that take them.
pub fn methods(rig: &Rig) -> (Vec<Method>, BakedData) {
    let names = [
        "rigid",
        "linear",
        "dual-quaternion",
        "dual-quaternion:per-joint",
        "linear-dual-blend",
        "spherical",
        "swing-twist",
        "stretch-twist",
        "cor",
        "ddm",
        "ddm-v1",
        "ddm-v2",
        "ddm-v3",
        "ddm-v4",
        "ddm-v5",
        "delta-mush",
    ];
    let mut methods: Vec<Method> = names.iter().map(|name| name.parse().unwrap()).collect();
    // As if learned: two joints carry the vertex a little elsewhere, one as far as the other the
    // opposite way.
    let linear = AnimationSpaceWeights::linear(rig);
    let mut learned = AnimationSpaceWeights::default();
    for vertex in 0..linear.vertex_count() {
        let several = linear.of(vertex).count() > 1;
        let influences = linear.of(vertex).enumerate();
        learned.push(influences.map(|(place, (joint, [x, y, z, share]))| {
            let off = match (several, place) {
                (true, 0) => 0.01,
                (true, 1) => -0.01,
                _ => 0.0,
            };
            (joint, [x + off, y - off, z + 0.5 * off, share])
        }));
    }
    methods.push(Method::AnimationSpace);
    let baked = BakedData {
        animation_space: Some(Arc::new(learned)),
        ..BakedData::default()
    };
    (methods, baked)
}

pub fn bake(rig: &Rig, method: &Method) -> Skin {
    bake_with(rig, method, &BakedData::default())
}

pub fn bake_with(rig: &Rig, method: &Method, baked: &BakedData) -> Skin {
    Skin::bake_with(rig, method, Normals::Transported, baked).unwrap()
}

pub fn on_cpu(skin: &Skin, palette: &Palette) -> DeformedSurface {
    let vertices = skin.vertex_count();
    let mut surface = DeformedSurface {
        positions: vec![Vec3::ZERO; vertices],
        normals: vec![Vec3::ZERO; vertices],
        tangents: Vec::new(),
    };
    let output = Output {
        positions: &mut surface.positions,
        normals: Some(&mut surface.normals),
        tangents: None,
    };
    let workspace = &mut Workspace::default();
    skin.deform(palette, workspace, output).unwrap();
    surface
}

pub fn on_gpu(gpu: &Gpu, skin: &Skin, palettes: &[Palette], format: Format) -> DeformedSurface {
    let mut on_gpu = GpuSkin::new(gpu, skin, format, palettes.len()).unwrap();
    on_gpu.deform(gpu, palettes).unwrap()
}

/// Poses of all clips, some of each; the rest pose first.
pub fn poses(asset: &Asset, per_clip: usize) -> Vec<Palette> {
    let skeleton = asset.rig.skeleton();
    let mut poses = vec![skeleton.rest_palette()];
    for clip in &asset.clips {
        for step in 1..=per_clip {
            // Also at quarters of a clip, where two joints may be exactly half a turn apart.
            let share = step as f64 / (per_clip + 1) as f64;
            let pose = asset.pose_at(clip, clip.start() + share * clip.duration());
            poses.push(skeleton.palette(&pose).unwrap());
        }
    }
    poses
}

/// The largest side of the box around points.
pub fn extent(points: &[Vec3]) -> f32 {
    let low = points.iter().copied().fold(Vec3::INFINITY, Vec3::min);
    let high = points.iter().copied().fold(Vec3::NEG_INFINITY, Vec3::max);
    (high - low).max_element()
}

/// The largest distance, and where it is.
pub fn farthest(found: &[Vec3], expected: &[Vec3]) -> (f32, usize) {
    assert_eq!(found.len(), expected.len());
    let distances = found.iter().zip(expected).map(|(a, b)| a.distance(*b));
    // What is not a number is farther than all.
    let distances = distances.map(|off| if off.is_nan() { f32::INFINITY } else { off });
    let all = distances.enumerate().map(|(vertex, off)| (off, vertex));
    all.fold(
        (0.0, 0),
        |most, one| if one.0 <= most.0 { most } else { one },
    )
}

/// A turn and a step of everything.
pub fn moved(palette: &Palette) -> (Palette, DAffine3) {
    let turn = DQuat::from_axis_angle(DVec3::new(0.6, -0.48, 0.64), 1.9);
    let motion = DAffine3::from_rotation_translation(turn, DVec3::new(0.4, -0.7, 1.1));
    let mut moved = palette.clone();
    for map in &mut moved.posed_from_bind {
        *map = supple::Affine::from(motion * DAffine3::from(*map));
    }
    (moved, motion)
}
