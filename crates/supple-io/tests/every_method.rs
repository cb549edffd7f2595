//! Every skinning method on every shared model: finite numbers, whatever the file and the time.

#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use glam::Vec3;
use std::path::Path;
use supple::clip::Clip;
use supple::deform::BakedData;
use supple::mush::{Mush, MushOptions};
use supple::{Asset, Method, Normals, Player, Skin, exec};
use supple_io::gltf;

/// Times of a clip, as shares of its length: the ends, between keys, and beyond.
const SHARES: [f64; 5] = [0.0, 0.137, 0.5, 0.811, 1.3];
/// A file with very many clips is asked for some of them, spread over all.
const MOST_CLIPS: usize = 12;

fn some_clips(asset: &Asset) -> impl Iterator<Item = &Clip> {
    let every = asset.clips.len().div_ceil(MOST_CLIPS).max(1);
    asset.clips.iter().step_by(every)
}

fn first_not_finite(vectors: &[Vec3]) -> Option<usize> {
    vectors.iter().position(|vector| !vector.is_finite())
}

fn check(path: &Path) {
    let name = path.file_name().unwrap().display().to_string();
    let asset = gltf::load(path).unwrap().asset;
    // Baked once for all variants: on large models that is most of the work.
    let mush = Mush::bake(&asset.rig, &MushOptions::default())
        .unwrap()
        .mush;
    let baked = BakedData {
        mush: Some(mush.into()),
        ..BakedData::default()
    };
    for (index, method) in Method::ALL.iter().enumerate() {
        // Each kind of normals meets each method on some model.
        let normals = Normals::ALL[(index + name.len()) % 3];
        let mut player = Skin::bake_with(&asset.rig, method, normals, &baked)
            .and_then(|skin| Player::with_skin(&asset, skin))
            .unwrap_or_else(|error| panic!("{name}, {method}: {error}"));
        for clip in some_clips(&asset) {
            for share in SHARES {
                let what = format!("{name}, {method}, '{}' at {share}", clip.name);
                let pose = asset.pose_at(clip, share * clip.duration());
                player
                    .pose(&pose)
                    .unwrap_or_else(|error| panic!("{what}: {error}"));
                assert_eq!(first_not_finite(player.positions()), None, "{what}");
                assert_eq!(first_not_finite(player.normals()), None, "{what}: normals");
            }
        }
    }
}

#[test]
fn every_method_gives_finite_numbers_on_every_model() {
    let models = common::models();
    exec::map(models.len(), |model| check(&models[model]));
}

/// The same character in another unit of length and with other bind matrices: its file stores
/// positions as integers.
#[test]
fn every_method_does_the_same_to_a_quantised_file() {
    let models = common::models();
    let named = |name: &str| models.iter().find(|path| path.ends_with(name));
    let (Some(plain), Some(quantised)) = (named("Fox.glb"), named("Fox_quantized.glb")) else {
        assert!(models.is_empty(), "the foxes are gone");
        return;
    };
    let [plain, quantised] = [plain, quantised].map(|path| gltf::load(path).unwrap().asset);
    let extent = plain.rig.mesh().extent();
    // Rounded weights choose another heaviest joint here and there.
    for method in Method::ALL
        .iter()
        .filter(|method| **method != Method::Rigid)
    {
        let posed = |asset: &Asset| {
            let mut player = Player::new(asset, method, Normals::Transported).unwrap();
            player.pose(&asset.pose_at(&asset.clips[0], 0.3)).unwrap();
            player.positions().to_vec()
        };
        let (a, b) = (posed(&plain), posed(&quantised));
        let apart = a
            .iter()
            .zip(&b)
            .map(|(a, b)| a.distance(*b))
            .fold(0.0, f32::max);
        // Positions on a grid of 16 bits are half a step off. Rounding also makes other handles
        // active in `arap`, and its rounds magnify that.
        let allowed = match method {
            Method::Arap(_) => 1e-3,
            _ => 5e-5,
        };
        assert!(
            apart < allowed * extent,
            "{method}: {} of the extent",
            apart / extent
        );
    }
}
