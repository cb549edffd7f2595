//! The shaders as text: valid, and fit for other languages.

#![allow(clippy::unwrap_used)]

mod common;

use common::*;
use std::collections::HashSet;
use supple::characters::{self, Character};
use supple::deform::Kernel;
use supple_gpu::{Format, Language, Stage, description, shader, translate};

/// Every shader there is, by the method that it is for.
fn shaders() -> Vec<(String, Stage, String)> {
    let asset = characters::build(Character::Bar, 2000).unwrap();
    let mut shaders = Vec::new();
    for method in methods(&asset.rig) {
        let layout = bake(&asset.rig, &method).stream_layout().unwrap();
        for (normals, tangents) in [(false, false), (true, false), (true, true)] {
            for widths in [Format::default(), Format::SHORT] {
                let format = Format {
                    normals,
                    tangents,
                    ..widths
                };
                for stage in Stage::ALL {
                    let text = shader(&layout, format, stage).unwrap();
                    shaders.push((method.to_string(), stage, text));
                }
            }
        }
    }
    shaders
}

#[test]
fn every_kernel_has_a_method_that_is_tested() {
    let asset = characters::build(Character::Bar, 2000).unwrap();
    let mut kernels: HashSet<_> = Kernel::ALL.iter().copied().collect();
    for method in methods(&asset.rig) {
        kernels.remove(&bake(&asset.rig, &method).stream_layout().unwrap().kernel);
    }
    assert!(kernels.is_empty(), "{kernels:?}");
}

#[test]
fn every_shader_is_valid_and_becomes_glsl_hlsl_and_metal() {
    for (method, stage, text) in shaders() {
        let entry_points = match stage {
            Stage::Compute => [
                "fn deform(",
                "void main()",
                "void deform(",
                "kernel void deform(",
            ],
            Stage::Vertex => [
                "fn draw(",
                "void main()",
                "draw(uint",
                "vertex drawOutput draw(",
            ],
        };
        for (language, entry_point) in Language::ALL.into_iter().zip(entry_points) {
            let written = translate(&text, language).unwrap();
            assert!(written.contains(entry_point), "{method} as {language:?}");
            let places = match language {
                Language::Wgsl => "@binding(",
                Language::Glsl => "binding = ",
                Language::Hlsl => " : register(",
                _ => " [[buffer(",
            };
            let declared = text.matches("@binding(").count();
            let found = written.matches(places).count();
            // What a kernel does not read may be left out; Metal has one more, for the sizes of buffers.
            let sizes = usize::from(language == Language::Metal);
            let expected = declared - 1 + sizes..=declared + sizes;
            assert!(
                expected.contains(&found),
                "{method} as {language:?}: {found}"
            );
        }
    }
    let error = translate("fn deform() { 1 }", Language::Glsl).unwrap_err();
    assert!(error.to_string().contains(".glsl"), "{error}");
}

/// What the comments say is what the shader declares: every binding once, in order.
#[test]
fn every_binding_is_described() {
    let asset = characters::build(Character::Bar, 2000).unwrap();
    for method in methods(&asset.rig) {
        let layout = bake(&asset.rig, &method).stream_layout().unwrap();
        let format = Format::default();
        for stage in Stage::ALL {
            let text = shader(&layout, format, stage).unwrap();
            let described = description(&method.to_string(), &layout, format, stage);
            let bindings = described.lines().filter(|line| {
                let words: Vec<_> = line.split_whitespace().collect();
                matches!(words[..], [_, number, "uniform" | "storage", ..] if number.parse::<u32>().is_ok())
            });
            assert_eq!(
                bindings.count(),
                text.matches("@binding(").count(),
                "{described}"
            );
            assert!(described.lines().all(|line| line.starts_with("//")));
        }
    }
}
