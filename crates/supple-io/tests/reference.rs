//! Linear blend skinning of every shared model, compared with an independent evaluation in double
//! precision.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stderr)]

mod common;
mod plain_gltf;

use glam::{DMat3, DVec3, Vec3};
use plain_gltf::{Moved, PlainFile};
use std::path::Path;
use supple::{Method, Normals, Player, Pose};
use supple_io::gltf::{self, Loaded};

/// Relative to the model's extent, and to a normal's length. `f32` leaves a few roundings of 6e-8.
const TOLERANCE: f64 = 1e-6;

/// The error from the quantisation of Fox_quantized.glb at these times, relative to the extent:
/// 3.5e-4 in exact arithmetic.
const QUANTIZATION: f64 = 3.6e-4;

/// Fractions of a clip's duration: the ends, times between keys, and beyond the end.
const FRACTIONS: [f64; 7] = [0.0, 0.123, 0.37, 0.5, 0.77, 1.0, 1.5];
/// For files with many clips.
const FEW_FRACTIONS: [f64; 2] = [0.37, 1.5];
const MANY_CLIPS: usize = 20;

/// A loaded file.
struct Subject {
    loaded: Loaded,
}

struct Surface {
    positions: Vec<Vec3>,
    normals: Vec<Vec3>,
}

impl Subject {
    fn load(path: &Path) -> Subject {
        Subject {
            loaded: gltf::load(path).unwrap(),
        }
    }

    /// By the same player that `supple deform` uses.
    fn deform(&self, pose: &Pose) -> Surface {
        let mut player =
            Player::new(&self.loaded.asset, &Method::Linear, Normals::Transported).unwrap();
        player.pose(pose).unwrap();
        Surface {
            positions: player.positions().to_vec(),
            normals: player.normals().to_vec(),
        }
    }

    fn at(&self, clip: usize, time: f64) -> Surface {
        let asset = &self.loaded.asset;
        self.deform(&asset.pose_at(&asset.clips[clip], time))
    }
}

fn extent(points: impl Iterator<Item = DVec3> + Clone) -> f64 {
    let low = points.clone().fold(DVec3::INFINITY, DVec3::min);
    let high = points.fold(DVec3::NEG_INFINITY, DVec3::max);
    (high - low).length()
}

fn largest_distance<'a>(
    a: impl IntoIterator<Item = &'a Vec3>,
    b: impl IntoIterator<Item = DVec3>,
) -> f64 {
    let pairs = a.into_iter().zip(b);
    pairs.fold(0.0, |largest: f64, (a, b)| {
        let distance = a.as_dvec3().distance(b);
        // NaN is the largest error of all.
        if distance > largest || distance.is_nan() {
            distance
        } else {
            largest
        }
    })
}

fn assert_close(found: &Surface, expected: &[Moved], what: &str) {
    assert_eq!(found.positions.len(), expected.len(), "{what}: vertices");
    let expected = expected
        .iter()
        .map(|vertex| DVec3::from_array(vertex.position));
    let relative = largest_distance(&found.positions, expected.clone()) / extent(expected);
    assert!(
        relative <= TOLERANCE,
        "{what}: off by {relative:e} of the extent"
    );
}

#[test]
fn every_model_deforms_as_equation_1_says() {
    for path in common::models() {
        let name = path.file_name().unwrap().display();
        let subject = Subject::load(&path);
        let plain = PlainFile::open(&path);
        let asset = &subject.loaded.asset;
        assert_close(
            &subject.deform(&asset.rest_pose()),
            &plain.pose(None),
            &format!("{name} at rest"),
        );
        assert_eq!(asset.clips.len(), plain.clip_count(), "{name}");
        let many = asset.clips.len() > MANY_CLIPS;
        let fractions = if many {
            &FEW_FRACTIONS[..]
        } else {
            &FRACTIONS[..]
        };
        for (index, clip) in asset.clips.iter().enumerate() {
            assert_eq!(
                clip.duration(),
                plain.duration(index),
                "{name}: {}",
                clip.name
            );
            for fraction in fractions {
                let time = fraction * clip.duration();
                let what = format!("{name}: '{}' at {time} s", clip.name);
                assert_close(
                    &subject.at(index, time),
                    &plain.pose(Some((index, time))),
                    &what,
                );
            }
        }
    }
}

#[test]
fn normals_follow_the_inverse_transpose_of_the_blend() {
    for path in common::models() {
        let name = path.file_name().unwrap().display();
        let subject = Subject::load(&path);
        let plain = PlainFile::open(&path);
        let asset = &subject.loaded.asset;
        let (surface, expected) = match asset.clips.first() {
            Some(clip) => {
                let time = 0.37 * clip.duration();
                (subject.at(0, time), plain.pose(Some((0, time))))
            }
            None => (subject.deform(&asset.rest_pose()), plain.pose(None)),
        };
        for (vertex, moved) in expected.iter().enumerate() {
            // Where a file has no normals, the library's own are transported.
            let computed = || asset.rig.mesh().normals()[vertex].as_dvec3();
            let bind = moved.bind_normal.map_or_else(computed, DVec3::from_array);
            let rows = moved.blend.map(|row| DVec3::new(row[0], row[1], row[2]));
            let linear = DMat3::from_cols(rows[0], rows[1], rows[2]).transpose();
            let expected = (linear.inverse().transpose() * bind).normalize();
            let error = surface.normals[vertex].as_dvec3().distance(expected);
            assert!(
                error <= TOLERANCE,
                "{name}: the normal of vertex {vertex} is off by {error:e}"
            );
        }
    }
}

/// Two models of the same rig at the same times, and the extent of the first.
fn both(first: &str, second: &str, mut compare: impl FnMut(&Surface, &Surface, f64)) {
    let models = common::models();
    let find = |name: &str| {
        models
            .iter()
            .find(|path| path.file_name().is_some_and(|file| file == name))
    };
    let (Some(first), Some(second)) = (find(first), find(second)) else {
        assert!(
            models.is_empty(),
            "{first} and {second} are among the models"
        );
        return;
    };
    let (first, second) = (Subject::load(first), Subject::load(second));
    let clips = &first.loaded.asset.clips;
    for (index, clip) in clips.iter().enumerate() {
        for fraction in FRACTIONS {
            let time = fraction * clip.duration();
            let (a, b) = (first.at(index, time), second.at(index, time));
            let extent = extent(a.positions.iter().map(|position| position.as_dvec3()));
            compare(&a, &b, extent);
        }
    }
}

#[test]
fn a_quantized_model_deforms_almost_like_the_original() {
    both("Fox.glb", "Fox_quantized.glb", |fox, quantized, extent| {
        let original = fox.positions.iter().map(|position| position.as_dvec3());
        let error = largest_distance(&quantized.positions, original);
        assert!(error <= QUANTIZATION * extent, "off by {error} of {extent}");
        assert!(error > 0.0, "the files are the same");
    });
}

#[test]
fn a_mirror_above_the_skeleton_mirrors_surface_and_normals_exactly() {
    both("Fox.glb", "Fox_mirrored_root.glb", |fox, mirrored, _| {
        let negated = |v: &Vec3| Vec3::new(-v.x, v.y, v.z);
        let expected: Vec<Vec3> = fox.positions.iter().map(negated).collect();
        assert_eq!(mirrored.positions, expected);
        let expected: Vec<Vec3> = fox.normals.iter().map(negated).collect();
        assert_eq!(mirrored.normals, expected);
    });
}

#[test]
fn sparse_accessors_give_the_same_surface_exactly() {
    both(
        "RiggedSimple.glb",
        "RiggedSimple_sparse.glb",
        |plain, sparse, _| {
            assert_eq!(plain.positions, sparse.positions);
            assert_eq!(plain.normals, sparse.normals);
        },
    );
}
