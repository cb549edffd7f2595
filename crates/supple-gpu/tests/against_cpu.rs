//! Every shader against the CPU's version of the same method.

#![allow(clippy::unwrap_used)]

mod common;

use common::device::gpu;
use common::*;
use glam::{DAffine3, DVec3, Vec3, Vec4};
use std::sync::Arc;
use supple::characters::{self, Character};
use supple::deform::{BakedData, DeltaMush, DirectDeltaMush, MushVariant};
use supple::mesh::Shape;
use supple::mush::EdgeWeights;
use supple::mush::Steps;
use supple::mush::{Mush, MushOptions, PatchPart};
use supple::{Affine, Asset, Mesh, Method, Output, Palette, Rig, Skin, Workspace};
use supple_gpu::{DeformedSurface, Format, Gpu, GpuError, GpuSkin};

fn assert_same(asset: &Asset, skin: &Skin, per_clip: usize, what: &str) {
    let Some(gpu) = gpu() else { return };
    let poses = poses(asset, per_clip);
    let found = on_gpu(gpu, skin, &poses, Format::default());
    let vertices = skin.vertex_count();
    for (pose, palette) in poses.iter().enumerate() {
        let expected = on_cpu(skin, palette);
        let own = pose * vertices..(pose + 1) * vertices;
        let (off, vertex) = farthest(&found.positions[own.clone()], &expected.positions);
        let off = off / extent(&expected.positions);
        assert!(
            off <= CLOSE,
            "{what}, pose {pose}, vertex {vertex}: off by {off:e} of the extent"
        );
        let (off, vertex) = farthest(&found.normals[own], &expected.normals);
        assert!(
            off <= 100.0 * CLOSE,
            "{what}, pose {pose}, normal {vertex}: off by {off:e}"
        );
    }
}

#[test]
fn every_method_deforms_built_in_characters_as_the_cpu_does() {
    for character in Character::ALL {
        let asset = characters::build(*character, 2000).unwrap();
        let (methods, baked) = methods(&asset.rig);
        for method in methods {
            let skin = bake_with(&asset.rig, &method, &baked);
            let what = format!("{character:?}, {method}");
            assert_same(&asset, &skin, 3, &what);
        }
    }
}

/// Both kinds of steps, any number of them, any weights of edges.
#[test]
fn smoothing_is_that_of_the_cpu_whatever_it_is() {
    let asset = characters::build(Character::Arm, 2000).unwrap();
    let default = MushOptions::default();
    let cases = [
        MushOptions {
            steps: Steps::Explicit,
            lambda: 0.7,
            kappa: 0.1,
            radius_from_bones: false,
            ..default.clone()
        },
        MushOptions {
            iterations: 0,
            ..default.clone()
        },
        MushOptions {
            iterations: 1,
            edge_weights: EdgeWeights::Cotangent,
            ..default.clone()
        },
        MushOptions {
            iterations: 200,
            rigid: true,
            ..default
        },
    ];
    for smoothing in cases {
        let what = format!("{smoothing:?}");
        let method = Method::DeltaMush(DeltaMush {
            smoothing,
            ..DeltaMush::default()
        });
        assert_same(&asset, &bake(&asset.rig, &method), 1, &what);
    }
}

/// Joints that stretch, shear and mirror; each instance its own.
#[test]
fn stretched_and_mirrored_joints_come_out_as_on_the_cpu() {
    let Some(gpu) = gpu() else { return };
    for character in [Character::Arm, Character::Figure, Character::Cloth] {
        let asset = characters::build(character, 2000).unwrap();
        let plain = poses(&asset, 1).pop().unwrap();
        let palettes = [
            plain.clone(),
            stretched(&plain, [1.3, 0.8, 1.1], 2),
            stretched(&plain, [-1.0, 1.0, 1.0], 1),
            stretched(&plain, [2.5, 2.5, 2.5], 1),
            stretched(&plain, [3.0, 0.2, 1.0], 2),
            stretched(&plain, [1.0, 1.0, 0.01], 2),
        ];
        let (methods, baked) = methods(&asset.rig);
        for method in methods {
            let skin = bake_with(&asset.rig, &method, &baked);
            // Where joints are stretched very differently, v1 magnifies what it gathers, and
            // rounding with it: up to 2.3e-5 of the extent were seen.
            let even = if method.name() == "ddm-v1" {
                4
            } else {
                palettes.len()
            };
            let what = format!("{character:?}, {method}");
            assert_same_places(gpu, &skin, &palettes[..even], &what);
        }
    }
}

/// Joints exactly half a turn apart, and less than rounding off it: which way is shorter is a tie,
/// which must be decided as on the CPU.
#[test]
fn joints_half_a_turn_apart_tie_as_on_the_cpu() {
    let Some(gpu) = gpu() else { return };
    for character in [Character::Bar, Character::Arm] {
        let asset = characters::build(character, 2000).unwrap();
        let joints = asset.rig.skeleton().joints();
        let rest = asset.rig.skeleton().rest_palette();
        let axes = [
            DVec3::X,
            DVec3::new(0.6, 0.0, 0.8),
            DVec3::new(-0.48, 0.6, 0.64),
        ];
        let turned = |axis, off: f64| {
            let turn = DAffine3::from_axis_angle(axis, std::f64::consts::PI + off);
            let mut palette = rest.clone();
            // Every second joint, so that parents and children are half a turn apart.
            for (joint, map) in palette.posed_from_bind.iter_mut().enumerate() {
                let depth = std::iter::successors(Some(joint), |&at| joints[at].parent).count();
                if depth % 2 == 0 {
                    *map = Affine::from(turn * DAffine3::from(*map));
                }
            }
            palette
        };
        let palettes: Vec<Palette> = axes
            .into_iter()
            .flat_map(|axis| [0.0, 1e-7, -1e-7].map(|off| turned(axis, off)))
            .collect();
        // All methods with shaders that add quaternions.
        for name in [
            "dual-quaternion",
            "dual-quaternion:per-joint",
            "linear-dual-blend",
            "spherical",
            "cor",
            "ddm-v2",
            "ddm-v4",
        ] {
            let method: Method = name.parse().unwrap();
            let skin = bake(&asset.rig, &method);
            assert_same_places(gpu, &skin, &palettes, &format!("{character:?}, {method}"));
        }
    }
}

/// The divisions of v1: patches of all kinds, including those that only a file can have, as they
/// are, stretched, and pressed into a plane or a line.
#[test]
fn patches_that_tell_no_rotation_have_the_cpus_answer_in_v1() {
    let Some(gpu) = gpu() else { return };
    type Change = fn(&PatchPart) -> PatchPart;
    let kinds: [(&str, Change); 4] = [
        ("as baked", |part| *part),
        ("a line", |part| PatchPart {
            lever: part.lever * Vec3::X,
            moments: [part.moments[0], 0.0, 0.0, 0.0, 0.0, 0.0],
            ..*part
        }),
        ("a point", |part| PatchPart {
            lever: Vec3::ZERO,
            moments: [0.0; 6],
            ..*part
        }),
        ("no points at all", |part| {
            let [xx, xy, xz, yy, yz, zz] = part.moments;
            let moments = [xx, xy, xz, -yy, yz, zz];
            PatchPart { moments, ..*part }
        }),
    ];
    for character in [Character::Cloth, Character::Figure] {
        let asset = characters::build(character, 2000).unwrap();
        let plain = poses(&asset, 1).pop().unwrap();
        let palettes = [
            plain.clone(),
            stretched(&plain, [3.0, 0.2, 1.0], 2),
            stretched(&plain, [1.0, 0.0, 1.0], 1),
            stretched(&plain, [0.0, 1.0, 0.0], 1),
        ];
        let baked = Mush::bake(&asset.rig, &MushOptions::default())
            .unwrap()
            .mush;
        for (kind, change) in kinds {
            let mut parts = Vec::new();
            for vertex in 0..baked.centers().len() {
                match baked.parts(vertex) {
                    // One joint has nothing to tell.
                    [alone] => parts.push(*alone),
                    several => parts.extend(several.iter().map(change)),
                }
            }
            let (weights, centers) = (baked.weights().clone(), baked.centers().to_vec());
            let mush = Mush::from_parts(weights, parts, centers).unwrap();
            let method = Method::DirectDeltaMush(DirectDeltaMush {
                variant: MushVariant::V1,
                ..DirectDeltaMush::default()
            });
            let data = BakedData {
                mush: Some(Arc::new(mush)),
                ..BakedData::default()
            };
            let skin = bake_with(&asset.rig, &method, &data);
            assert_same_places(gpu, &skin, &palettes, &format!("{character:?}, {kind}"));
        }
    }
}

/// Every so many joints, from the first on, stretched before all else.
fn stretched(plain: &Palette, sides: [f64; 3], every: usize) -> Palette {
    let mut palette = plain.clone();
    let factors = DAffine3::from_scale(DVec3::from_array(sides));
    for map in palette.posed_from_bind.iter_mut().step_by(every) {
        *map = Affine::from(DAffine3::from(*map) * factors);
    }
    palette
}

fn assert_same_places(gpu: &Gpu, skin: &Skin, palettes: &[Palette], what: &str) {
    let found = on_gpu(gpu, skin, palettes, Format::default());
    for (instance, palette) in palettes.iter().enumerate() {
        let expected = on_cpu(skin, palette);
        let own = instance * skin.vertex_count()..(instance + 1) * skin.vertex_count();
        let (off, vertex) = farthest(&found.positions[own], &expected.positions);
        let off = off / extent(&expected.positions);
        assert!(
            off <= CLOSE,
            "{what}, instance {instance}, vertex {vertex}: off by {off:e} of the extent"
        );
    }
}

/// Rest pose and rigid motion, of the GPU alone.
#[test]
fn at_rest_all_is_as_bound_and_rigid_motions_move_rigidly() {
    let Some(gpu) = gpu() else { return };
    let asset = characters::build(Character::Figure, 2000).unwrap();
    let poses = poses(&asset, 1);
    let (methods, baked) = methods(&asset.rig);
    for method in methods {
        let skin = bake_with(&asset.rig, &method, &baked);
        let rest = &asset.rig.mesh().positions();
        let posed = poses.last().unwrap().clone();
        let (elsewhere, motion) = moved(&posed);
        let palettes = [poses[0].clone(), posed, elsewhere];
        let found = on_gpu(gpu, &skin, &palettes, Format::default()).positions;
        let [at_rest, posed, elsewhere] = [0, 1, 2].map(|instance| {
            let first = instance * skin.vertex_count();
            &found[first..first + skin.vertex_count()]
        });
        let size = extent(rest);
        let off = farthest(at_rest, rest).0 / size;
        assert!(off <= CLOSE, "{method} at rest: {off:e}");
        let expected: Vec<_> = posed
            .iter()
            .map(|place| motion.transform_point3(place.as_dvec3()).as_vec3())
            .collect();
        let off = farthest(elsewhere, &expected).0 / size;
        assert!(off <= CLOSE, "{method} elsewhere: {off:e}");
    }
}

#[test]
fn tangents_come_along() {
    let Some(gpu) = gpu() else { return };
    let asset = characters::build(Character::Tentacle, 2000).unwrap();
    let mesh = asset.rig.mesh();
    let across = |normal: &Vec3| normal.any_orthonormal_vector().extend(-1.0);
    let tangents = mesh.normals().iter().map(across).collect();
    let mesh = Mesh::new(
        mesh.positions().to_vec(),
        Some(mesh.normals().to_vec()),
        Some(tangents),
        mesh.triangles().to_vec(),
    )
    .unwrap();
    let skeleton = asset.rig.skeleton().clone();
    let rig = Rig::new(mesh, skeleton, asset.rig.weights().clone()).unwrap();
    let palette = poses(&asset, 1).pop().unwrap();
    for method in [Method::Linear, "delta-mush".parse().unwrap()] {
        assert_same_tangents(gpu, &bake(&rig, &method), &palette);
    }
}

fn assert_same_tangents(gpu: &Gpu, skin: &Skin, palette: &Palette) {
    let full = Format {
        tangents: true,
        ..Format::default()
    };
    let mut expected = vec![Vec4::ZERO; skin.vertex_count()];
    let output = Output {
        positions: &mut vec![Vec3::ZERO; skin.vertex_count()],
        normals: None,
        tangents: Some(&mut expected),
    };
    let workspace = &mut Workspace::default();
    skin.deform(palette, workspace, output).unwrap();
    let short = Format {
        tangents: true,
        ..Format::SHORT
    };
    for (format, close) in [(full, 1e-4), (short, 2e-3)] {
        let found = on_gpu(gpu, skin, std::slice::from_ref(palette), format).tangents;
        assert_eq!(found.len(), expected.len());
        for (vertex, (found, expected)) in found.iter().zip(&expected).enumerate() {
            let off = found.distance(*expected);
            assert!(off < close, "{format:?}, {vertex}: {found} for {expected}");
        }
    }
}

/// As morph targets make them: frames are still those of the surface that was baked.
#[test]
fn another_rest_shape_is_deformed_as_on_the_cpu() {
    let Some(gpu) = gpu() else { return };
    let asset = characters::build(Character::Arm, 2000).unwrap();
    let palette = poses(&asset, 1).pop().unwrap();
    let mesh = asset.rig.mesh();
    let surface = mesh.positions().iter().zip(mesh.normals());
    let swollen: Vec<Vec3> = surface
        .map(|(place, normal)| *place + *normal * (0.02 * (place.x * 20.0).sin()))
        .collect();
    let shape = Shape {
        positions: &swollen,
        normals: mesh.normals(),
        tangents: None,
    };
    let (methods, baked) = methods(&asset.rig);
    for method in methods {
        let skin = bake_with(&asset.rig, &method, &baked);
        let mut expected = vec![Vec3::ZERO; skin.vertex_count()];
        let output = Output {
            positions: &mut expected,
            normals: None,
            tangents: None,
        };
        let workspace = &mut Workspace::default();
        skin.deform_shape(shape, &palette, workspace, output)
            .unwrap();
        let mut on_gpu = GpuSkin::new(gpu, &skin, Format::default(), 1).unwrap();
        on_gpu.set_rest(gpu, shape).unwrap();
        let palettes = std::slice::from_ref(&palette);
        let found = on_gpu.deform(gpu, palettes).unwrap().positions;
        let (off, vertex) = farthest(&found, &expected);
        let off = off / extent(&expected);
        assert!(
            off <= CLOSE,
            "{method}, vertex {vertex}: off by {off:e} of the extent"
        );
    }
}

/// Rounded to 16 bits, not more than that.
#[test]
fn in_16_bits_all_is_nearly_the_same_and_takes_less_room() {
    let Some(gpu) = gpu() else { return };
    let asset = characters::build(Character::Figure, 2000).unwrap();
    let poses = poses(&asset, 1);
    let (methods, baked) = methods(&asset.rig);
    for method in methods {
        let skin = bake_with(&asset.rig, &method, &baked);
        let bytes = |format| {
            let mut skin = GpuSkin::new(gpu, &skin, format, poses.len()).unwrap();
            skin.pose(gpu, &poses).unwrap();
            skin.bytes()
        };
        // What is smoothed is not rounded, and most of what is moved then.
        let smooths = skin.stream_smoothing().is_some();
        let (of_short, of_full) = if smooths { (1, 1) } else { (5, 4) };
        assert!(
            bytes(Format::SHORT) * of_short < bytes(Format::default()) * of_full,
            "{method}"
        );
        let full = on_gpu(gpu, &skin, &poses, Format::default());
        let short = on_gpu(gpu, &skin, &poses, Format::SHORT);
        let off = farthest(&short.positions, &full.positions).0 / extent(&full.positions);
        assert!(off < 2e-4, "{method}: off by {off:e} of the extent");
        let off = farthest(&short.normals, &full.normals).0;
        assert!(off < 0.02, "{method}: normals off by {off:e}");
    }
}

#[test]
fn what_cannot_be_done_is_told() {
    let Some(gpu) = gpu() else { return };
    let asset = characters::build(Character::Bar, 2000).unwrap();
    let log_matrix = bake(&asset.rig, &"log-matrix".parse().unwrap());
    let format = Format::default();
    let refused = GpuSkin::new(gpu, &log_matrix, format, 1);
    assert!(matches!(refused, Err(GpuError::NoShader)));
    let best_fit = bake(&asset.rig, &"delta-mush:best-fit".parse().unwrap());
    let refused = GpuSkin::new(gpu, &best_fit, format, 1);
    assert!(matches!(refused, Err(GpuError::NoShader)));
    let linear = bake(&asset.rig, &Method::Linear);
    let tangents = Format {
        tangents: true,
        ..format
    };
    let refused = GpuSkin::new(gpu, &linear, tangents, 1);
    assert!(matches!(refused, Err(GpuError::NoTangents)));
    let mut one = GpuSkin::new(gpu, &linear, format, 1).unwrap();
    let refused = one.deform(gpu, &poses(&asset, 1));
    assert!(matches!(refused, Err(GpuError::Instances { room: 1, .. })));
    assert_eq!(one.deform(gpu, &[]).unwrap(), DeformedSurface::default());
}
