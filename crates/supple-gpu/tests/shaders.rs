//! The shaders as text: valid, and fit for other languages.

#![allow(clippy::unwrap_used)]

mod common;

use common::*;
use naga::valid::{Capabilities, ValidationFlags, Validator};
use naga::{back, front};
use std::collections::HashSet;
use supple::characters::{self, Character};
use supple_gpu::{Attributes, kernels, shader};

/// Every shader there is, by the method that it is for.
fn shaders() -> Vec<(String, String)> {
    let asset = characters::build(Character::Bar, 2000).unwrap();
    let mut shaders = Vec::new();
    for method in methods() {
        let layout = bake(&asset.rig, &method).stream_layout().unwrap();
        for (normals, tangents) in [(false, false), (true, false), (true, true)] {
            let text = shader(&layout, Attributes { normals, tangents }).unwrap();
            shaders.push((method.to_string(), text));
        }
    }
    shaders
}

#[test]
fn every_kernel_has_a_method_that_is_tested() {
    let asset = characters::build(Character::Bar, 2000).unwrap();
    let mut kernels: HashSet<_> = kernels().collect();
    for method in methods() {
        kernels.remove(&bake(&asset.rig, &method).stream_layout().unwrap().kernel);
    }
    kernels.remove(&supple::deform::Kernel::AnimationSpace);
    assert!(kernels.is_empty(), "{kernels:?}");
}

#[test]
fn every_shader_is_valid_and_becomes_glsl_hlsl_and_metal() {
    for (method, text) in shaders() {
        let module = front::wgsl::parse_str(&text)
            .unwrap_or_else(|error| panic!("{method}: {}", error.emit_to_string(&text)));
        let mut validator = Validator::new(ValidationFlags::all(), Capabilities::empty());
        let info = validator
            .validate(&module)
            .unwrap_or_else(|error| panic!("{method}: {}", error.emit_to_string(&text)));
        let glsl = back::glsl::Options {
            version: back::glsl::Version::Desktop(430),
            ..Default::default()
        };
        let pipeline = back::glsl::PipelineOptions {
            shader_stage: naga::ShaderStage::Compute,
            entry_point: "deform".into(),
            multiview: None,
        };
        let mut written = String::new();
        let policies = naga::proc::BoundsCheckPolicies::default();
        back::glsl::Writer::new(&mut written, &module, &info, &glsl, &pipeline, policies)
            .unwrap()
            .write()
            .unwrap();
        assert!(written.contains("void main()"), "{method}");
        let mut written = String::new();
        let (options, pipeline) = Default::default();
        back::hlsl::Writer::new(&mut written, &options, &pipeline)
            .write(&module, &info, None)
            .unwrap();
        assert!(written.contains("void deform("), "{method}");
        let (options, pipeline) = Default::default();
        let (written, _) = back::msl::write_string(&module, &info, &options, &pipeline).unwrap();
        assert!(written.contains("kernel void deform("), "{method}");
    }
}
