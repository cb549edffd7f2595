//! Every picture has the bytes that `pins.txt` says, on 1, 2 and 7 threads.
//!
//! The comparison page is not pinned: it tells how long methods take.

#![allow(clippy::unwrap_used)]

use std::path::Path;
use supple::centers::{CenterOptions, Centers};
use supple::characters::{self, Character};
use supple::exec;
use supple::point_handles::{HandleOptions, place_handles};
use supple::{Asset, Method, Normals, Player};
use supple_pins::Pins;
use supple_render::{
    Camera, Image, Lamps, Look, Overlays, SegmentedBody, Settings, Silhouette, View, render,
    write_gif,
};

/// A row of joints, a hand with fingers, and a whole figure.
const SUBJECTS: [Character; 3] = [Character::Bar, Character::Arm, Character::Figure];

#[test]
fn pictures_have_their_pinned_bytes_on_any_number_of_threads() {
    let pins = Pins::on_threads(&[1, 2, 7], |threads| exec::on_threads(threads, pins));
    pins.check(Path::new(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/pins/pins.txt"
    )));
}

fn pins() -> Pins {
    let mut pins = Pins::default();
    for character in SUBJECTS {
        let asset = characters::build(character, characters::MIN_VERTICES).unwrap();
        let name = |what: &str| format!("{}/{what}", character.name());
        pin_pictures(&mut pins, &asset, name);
    }
    pins
}

fn settings() -> Settings {
    Settings {
        width: 48,
        height: 40,
        samples_per_axis: 2,
        lamps: Lamps::FEW,
        ..Settings::default()
    }
}

fn pin_pictures(pins: &mut Pins, asset: &Asset, name: impl Fn(&str) -> String) {
    let plain = Overlays::default();
    let all = Overlays {
        skeleton: true,
        weights: true,
        wireframe: true,
    };
    let rig = &asset.rig;
    let centers = Centers::bake(rig.mesh(), rig.weights(), &CenterOptions::PAPER).unwrap();
    let looks = [
        ("plain", Look::new(asset, plain)),
        ("overlays", Look::new(asset, all)),
        (
            "centers",
            Look::new(asset, plain).with_centers(asset, centers.into()),
        ),
    ];
    let mut player = Player::new(asset, &Method::Linear, Normals::Transported).unwrap();
    let clip = &asset.clips[0];
    let mut frames = Vec::new();
    for (what, look) in &looks {
        player
            .pose(&asset.pose_at(clip, 0.37 * clip.duration()))
            .unwrap();
        let image = picture(&player, look, &settings());
        let mut file = Vec::new();
        image.write_png(&mut file).unwrap();
        pins.pin(name(&format!("{what}.pixels")), image.pixels());
        pins.pin(name(&format!("{what}.png")), &file);
    }
    for share in [0.2, 0.3, 0.4] {
        player
            .pose(&asset.pose_at(clip, share * clip.duration()))
            .unwrap();
        frames.push(picture(&player, &looks[0].1, &settings()));
    }
    let mut file = Vec::new();
    write_gif(&mut file, &frames, 12.0).unwrap();
    pins.pin(name("clip.gif"), &file);
    let mesh = asset.rig.mesh();
    let handles = place_handles(mesh, &HandleOptions::default()).unwrap();
    let body = SegmentedBody::new(mesh, &handles);
    let camera = body.camera(View::THREE_QUARTER, settings().aspect());
    let image = render(&body.scene(None), &camera, &settings());
    pins.pin(name("handles.pixels"), image.pixels());
}

fn picture(player: &Player<'_>, look: &Look, settings: &Settings) -> Image {
    let mut whole = Silhouette::default();
    whole.add(player);
    let camera = Camera::framing(whole.points(), View::THREE_QUARTER, settings.aspect());
    render(&look.scene(player, whole.ground()), &camera, settings)
}
