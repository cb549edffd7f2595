//! Every shader has the text that `pins.txt` says, in every language.
//!
//! Results of the GPU are not pinned, since devices round differently.

#![allow(clippy::unwrap_used)]

use std::path::Path;
use supple::characters::{self, Character};
use supple::{Method, Normals, Skin, exec};
use supple_gpu::Format;
use supple_gpu::shaders::{
    FunctionLanguage, InfluenceSets, JointMotions, Language, PALETTE_HEADER, PALETTE_HEADER_NAME,
    Stage, attribute_function, description, pass_description, passes, shader, translate,
    vertex_functions,
};
use supple_pins::Pins;

#[test]
fn shaders_have_their_pinned_text() {
    let pins = Pins::on_threads(&[1, 2, 7], |threads| exec::on_threads(threads, pins));
    pins.check(Path::new(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/pins/pins.txt"
    )));
}

fn pins() -> Pins {
    let mut pins = Pins::default();
    let all = Format {
        tangents: true,
        ..Format::default()
    };
    let short = Format {
        normals: false,
        ..Format::SHORT
    };
    // What a shader reads depends on the method alone.
    let rig = characters::build(Character::Bar, characters::MIN_VERTICES)
        .unwrap()
        .rig;
    for method in Method::ALL {
        let name = method.to_string();
        let skin = Skin::bake(&rig, method, Normals::Transported).unwrap();
        let Some(layout) = skin.stream_layout() else {
            continue;
        };
        for (kind, format) in [("all", all), ("short", short)] {
            let mut shaders = Vec::new();
            for stage in Stage::ALL {
                let text = shader(&layout, format, stage).unwrap();
                let words = description(&name, &layout, format, stage);
                shaders.push((format!("{stage:?}").to_lowercase(), text, words));
            }
            for &pass in passes(layout.kernel) {
                let words = pass_description(&name, pass, &layout, format);
                let text = pass.shader(&layout, format);
                shaders.push((pass.entry_point().to_owned(), text, words));
            }
            for (what, text, words) in shaders {
                let name = format!("{name}/{kind}/{what}");
                pins.pin(format!("{name}.txt"), &words);
                for language in Language::ALL {
                    let text = translate(&text, language).unwrap();
                    pins.pin(format!("{name}.{}", language.ending()), &text);
                }
            }
            let functions = vertex_functions(&layout, format).unwrap();
            pins.pin(format!("{name}/{kind}/functions.wgsl"), &functions);
        }
    }
    for method in Method::ALL {
        for (kind, sets, motions) in [
            ("four", InfluenceSets::Four, JointMotions::Rigid),
            ("eight", InfluenceSets::Eight, JointMotions::Rigid),
            ("stretch", InfluenceSets::Eight, JointMotions::Stretching),
        ] {
            for language in FunctionLanguage::ALL {
                if let Some(text) = attribute_function(method, language, sets, motions) {
                    let ending = language.ending();
                    pins.pin(format!("{method}/{kind}.{ending}"), &text);
                }
            }
        }
    }
    pins.pin(PALETTE_HEADER_NAME, PALETTE_HEADER);
    pins
}
