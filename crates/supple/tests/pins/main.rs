//! Every output of the library has the bits that `pins.txt` says, on 1, 2 and 7 threads.

#![cfg(all(
    feature = "arap",
    feature = "bind",
    feature = "ik",
    feature = "metrics"
))]
#![allow(clippy::unwrap_used)]

mod bake;
mod bind;
mod deform;
mod edit;
mod measure;
mod motion;
mod subject;

use std::path::Path;
use subject::Subject;
use supple::characters::{self, Character};
use supple::exec;
use supple_pins::{Numbers, Pins};

/// A row of joints, a hand with fingers, and a whole figure.
const SUBJECTS: [Character; 3] = [Character::Bar, Character::Arm, Character::Figure];

#[test]
fn outputs_have_their_pinned_bits_on_any_number_of_threads() {
    let pins = Pins::on_threads(&[1, 2, 7], |threads| {
        // Instruction sets do not know of threads: all of them on one are enough.
        let sets = match threads {
            1 => deform::Sets::All,
            _ => deform::Sets::Best,
        };
        exec::on_threads(threads, || pins(sets))
    });
    pins.check(Path::new(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/pins/pins.txt"
    )));
}

fn pins(sets: deform::Sets) -> Pins {
    let mut pins = Pins::default();
    for &character in Character::ALL {
        pin_character(&mut pins, character);
    }
    for character in SUBJECTS {
        let subject = Subject::new(character);
        motion::pin(&mut pins, &subject);
        bind::pin(&mut pins, &subject);
        let bakes = bake::pin(&mut pins, &subject);
        edit::pin(&mut pins, &subject);
        measure::pin(&mut pins, &subject);
        deform::pin(&mut pins, &subject, &bakes, sets);
    }
    pins
}

/// The character as it is built.
fn pin_character(pins: &mut Pins, character: Character) {
    let asset = characters::build(character, characters::MIN_VERTICES).unwrap();
    let (mesh, skeleton) = (asset.rig.mesh(), asset.rig.skeleton());
    let name = |what: &str| format!("{}/build/{what}", character.name());
    let surface = (mesh.positions(), mesh.normals(), mesh.triangles());
    pins.pin(name("mesh"), &surface);
    pins.pin(name("skeleton"), &Numbers(skeleton));
    pins.pin(name("weights"), &subject::rows(asset.rig.weights()));
    pins.pin(name("clips"), &Numbers(&asset.clips));
}
