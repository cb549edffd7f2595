//! Pictures drawn on the GPU: those of the CPU, up to anti-aliasing.

#![cfg(feature = "gpu")]
#![allow(clippy::unwrap_used)] // in the helpers of the tests below

#[path = "../../supple-gpu/tests/common/device.rs"]
mod device;

use device::gpu;
use supple::centers::{CenterOptions, Centers};
use supple::characters::{Character, build};
use supple::{Asset, Method, Normals, Player};
use supple_gpu::GpuError;
use supple_render::{
    Camera, GpuPainter, Image, Lamps, Look, Overlays, PosedSkin, Settings, Silhouette, View, render,
};

const SETTINGS: Settings = Settings {
    width: 200,
    height: 160,
    samples_per_axis: 2,
    lamps: Lamps::FEW,
    background: supple_render::Background {
        center: glam::Vec3::splat(0.9),
        corner: glam::Vec3::splat(0.6),
    },
};

/// Levels of 255 by which both may differ beside their anti-aliasing.
const CLOSE: u8 = 6;

/// The share of pixels that differ from all of the nine around the same place, and the mean
/// difference in levels.
fn difference(a: &Image, b: &Image) -> (f64, f64) {
    let (width, height) = (a.width(), a.height());
    assert_eq!((width, height), (b.width(), b.height()));
    let (mut strange, mut sum) = (0, 0.0);
    for row in 0..height {
        for column in 0..width {
            let near = |x: usize, most: usize| x.saturating_sub(1)..=(x + 1).min(most - 1);
            let around: Vec<[u8; 3]> = near(row, height)
                .flat_map(|row| near(column, width).map(move |column| row * width + column))
                .map(|pixel| a.pixels()[pixel])
                .collect();
            let found = b.pixels()[row * width + column];
            let own = a.pixels()[row * width + column];
            let fits = (0..3).all(|channel| {
                let levels = around.iter().map(|pixel| pixel[channel]);
                let low = levels.clone().min().unwrap().saturating_sub(CLOSE);
                let high = levels.max().unwrap().saturating_add(CLOSE);
                (low..=high).contains(&found[channel])
            });
            strange += usize::from(!fits);
            sum += (0..3)
                .map(|channel| f64::from(own[channel].abs_diff(found[channel])) / 3.0)
                .sum::<f64>();
        }
    }
    let pixels = (width * height) as f64;
    (strange as f64 / pixels, sum / pixels)
}

fn assert_same_picture(asset: &Asset, method: &str, look: &Look, vertex_shader: bool) {
    let Some(gpu) = gpu() else { return };
    let method: Method = method.parse().unwrap();
    let mut player = Player::new(asset, &method, Normals::Transported).unwrap();
    let clip = asset.clips.first().unwrap();
    player
        .pose(&asset.pose_at(clip, clip.start() + 0.37 * clip.duration()))
        .unwrap();
    let mut silhouette = Silhouette::default();
    silhouette.add(&player);
    let camera = Camera::framing(silhouette.points(), View::THREE_QUARTER, SETTINGS.aspect());
    let scene = look.scene(&player, silhouette.ground());
    let expected = render(&scene, &camera, &SETTINGS);
    let mut painter = GpuPainter::new(gpu, &SETTINGS).unwrap();
    let mut posed = None;
    if vertex_shader {
        painter = painter.with_skin(player.skin()).unwrap();
        let (shape, palette) = (player.shape(), player.palette());
        posed = Some(PosedSkin { shape, palette });
    }
    // The second picture is the first again.
    let found = painter.render(&scene, &camera, posed).unwrap();
    assert_eq!(found, painter.render(&scene, &camera, posed).unwrap());
    let (strange, mean) = difference(&expected, &found);
    assert!(
        strange < 2e-3 && mean < 0.5,
        "{method}: {strange} of all pixels are strange, {mean} levels in the mean"
    );
    // Nor is it just the backdrop.
    let empty = supple_render::Scene::default();
    let (_, emptiness) = difference(&found, &render(&empty, &camera, &SETTINGS));
    assert!(emptiness > 2.0, "{emptiness}");
}

#[test]
fn skins_deform_themselves_in_the_vertex_shader() {
    let asset = build(Character::Figure, 3000).unwrap();
    let look = Look::new(&asset, Overlays::default());
    for method in ["linear", "dual-quaternion", "cor", "ddm", "delta-mush"] {
        assert_same_picture(&asset, method, &look, true);
    }
}

#[test]
fn surfaces_that_were_deformed_elsewhere_are_drawn_as_they_are() {
    let asset = build(Character::Tentacle, 2000).unwrap();
    let look = Look::new(&asset, Overlays::default());
    assert_same_picture(&asset, "log-matrix", &look, false);
}

#[test]
fn overlays_are_those_of_the_cpu() {
    let asset = build(Character::Bar, 2000).unwrap();
    let all = Overlays {
        skeleton: true,
        weights: true,
        wireframe: true,
    };
    assert_same_picture(&asset, "linear", &Look::new(&asset, all), true);
    let glass = Look::new(&asset, Overlays::default());
    let rig = &asset.rig;
    let centers = Centers::bake(rig.mesh(), rig.weights(), &CenterOptions::PAPER).unwrap();
    let glass = glass.with_centers(&asset, centers.into());
    assert_same_picture(&asset, "cor", &glass, true);
}

#[test]
fn pictures_of_no_size_and_of_too_much_are_told() {
    let Some(gpu) = gpu() else { return };
    let camera = Camera::framing([], View::FRONT, 1.0);
    let sized = |width| Settings { width, ..SETTINGS };
    let mut none = GpuPainter::new(gpu, &sized(0)).unwrap();
    let scene = supple_render::Scene::default();
    assert_eq!(
        none.render(&scene, &camera, None).unwrap().pixels().len(),
        0
    );
    let huge = GpuPainter::new(gpu, &sized(1 << 24));
    assert!(matches!(huge, Err(GpuError::PictureSize { .. })));
}
