//! The text of the shaders: valid, and translatable to other languages.

#![allow(clippy::unwrap_used)]

mod common;

use common::*;
use std::collections::HashSet;
use supple::characters::{self, Character};
use supple::deform::Kernel;
use supple_gpu::Format;
use supple_gpu::shaders::{
    Language, Stage, description, pass_description, passes, shader, translate,
};

/// A shader as text, with its entry point.
struct Shader {
    method: String,
    entry_point: &'static str,
    text: String,
}

/// Every shader there is, by the method that it is for.
fn shaders() -> Vec<Shader> {
    let asset = characters::build(Character::Bar, 2000).unwrap();
    let mut shaders = Vec::new();
    let (methods, baked) = methods(&asset.rig);
    for method in methods {
        let layout = bake_with(&asset.rig, &method, &baked)
            .stream_layout()
            .unwrap();
        for (normals, tangents) in [(false, false), (true, false), (true, true)] {
            for widths in [Format::default(), Format::SHORT] {
                let format = Format {
                    normals,
                    tangents,
                    ..widths
                };
                let mut push = |entry_point, text| {
                    shaders.push(Shader {
                        method: method.to_string(),
                        entry_point,
                        text,
                    });
                };
                for (stage, entry_point) in Stage::ALL.into_iter().zip(["deform", "draw"]) {
                    push(entry_point, shader(&layout, format, stage).unwrap());
                }
                for pass in passes(layout.kernel) {
                    push(pass.entry_point(), pass.shader(&layout, format));
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
    let (methods, baked) = methods(&asset.rig);
    for method in methods {
        kernels.remove(
            &bake_with(&asset.rig, &method, &baked)
                .stream_layout()
                .unwrap()
                .kernel,
        );
    }
    assert!(kernels.is_empty(), "{kernels:?}");
}

#[test]
fn every_shader_is_valid_and_becomes_glsl_hlsl_and_metal() {
    for shader in shaders() {
        let Shader {
            method,
            entry_point,
            text,
        } = shader;
        let draws = entry_point == "draw";
        for language in Language::ALL {
            let written = translate(&text, language).unwrap();
            let (entry, places) = match language {
                Language::Wgsl => (format!("fn {entry_point}("), "@binding("),
                Language::Glsl => ("void main()".to_owned(), "binding = "),
                Language::Hlsl if draws => ("draw(uint".to_owned(), " : register("),
                Language::Hlsl => (format!("void {entry_point}("), " : register("),
                _ if draws => ("vertex drawOutput draw(".to_owned(), " [[buffer("),
                _ => (format!("kernel void {entry_point}("), " [[buffer("),
            };
            assert!(
                written.contains(&entry),
                "{entry_point} of {method} as {language:?}"
            );
            let declared = text.matches("@binding(").count();
            let found = written.matches(places).count();
            // What a kernel does not read may be left out, such as poses where points are smoothed;
            // Metal has one more, for the sizes of buffers.
            let sizes = usize::from(language == Language::Metal);
            let unread = match entry_point {
                "blend_points" => 2,
                "smooth_points" => 3,
                _ => 1,
            };
            let expected = declared - unread + sizes..=declared + sizes;
            assert!(
                expected.contains(&found),
                "{entry_point} of {method} as {language:?}: {found}"
            );
        }
    }
    let error = translate("fn deform() { 1 }", Language::Glsl).unwrap_err();
    assert!(error.to_string().contains(".glsl"), "{error}");
}

/// The comments describe what the shader declares: every binding once, in order.
#[test]
fn every_binding_is_described() {
    let asset = characters::build(Character::Bar, 2000).unwrap();
    let (methods, baked) = methods(&asset.rig);
    for method in methods {
        let layout = bake_with(&asset.rig, &method, &baked)
            .stream_layout()
            .unwrap();
        let format = Format::default();
        let name = method.to_string();
        let mut shaders = Vec::new();
        for stage in Stage::ALL {
            let described = description(&name, &layout, format, stage);
            shaders.push((shader(&layout, format, stage).unwrap(), described));
        }
        for &pass in passes(layout.kernel) {
            let described = pass_description(&name, pass, &layout, format);
            shaders.push((pass.shader(&layout, format), described));
        }
        for (text, described) in shaders {
            let bindings = described.lines().filter(|line| {
                let words: Vec<_> = line.split_whitespace().collect();
                let is_number = |word: &str| word.parse::<u32>().is_ok();
                matches!(words[..], [_, first, "uniform" | "storage", ..] if is_number(first))
            });
            assert_eq!(
                bindings.count(),
                text.matches("@binding(").count(),
                "{described}"
            );
            assert!(described.lines().all(|line| line.starts_with("//")));
            assert!(described.lines().all(|line| line.chars().count() <= 100));
        }
    }
}
