//! Shaders in other languages, for other engines.

use naga::back;
use naga::valid::{Capabilities, ModuleInfo, ValidationFlags, Validator};
use thiserror::Error;

/// A language that shaders can be translated to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Language {
    /// The language of WebGPU, in which shaders are written.
    Wgsl,
    /// The language of OpenGL, version 4.30.
    Glsl,
    /// The language of Direct3D.
    Hlsl,
    /// The language of Metal, version 2.0.
    Metal,
}

impl Language {
    /// All languages.
    pub const ALL: [Language; 4] = [
        Language::Wgsl,
        Language::Glsl,
        Language::Hlsl,
        Language::Metal,
    ];

    /// The extension of its files.
    pub fn ending(self) -> &'static str {
        match self {
            Language::Wgsl => "wgsl",
            Language::Glsl => "glsl",
            Language::Hlsl => "hlsl",
            Language::Metal => "metal",
        }
    }
}

/// Why a shader could not be translated.
#[derive(Debug, Error)]
#[error("the shader cannot be written as .{}: {why}", .language.ending())]
#[non_exhaustive]
pub struct ExportError {
    language: Language,
    why: String,
}

/// Translates a shader into another language, from the WGSL text of [`crate::shaders::shader`] or
/// of [`crate::shaders::Pass::shader`].
///
/// # Errors
///
/// If the text is not valid WGSL, or the language cannot express it.
pub fn translate(wgsl: &str, language: Language) -> Result<String, ExportError> {
    let because = |why: String| ExportError { language, why };
    let module = naga::front::wgsl::parse_str(wgsl);
    let module = module.map_err(|error| because(error.emit_to_string(wgsl)))?;
    let mut validator = Validator::new(ValidationFlags::all(), Capabilities::empty());
    let info = validator.validate(&module);
    let info = info.map_err(|error| because(error.emit_to_string(wgsl)))?;
    let entry_point = module.entry_points.first();
    let entry_point = entry_point.ok_or_else(|| because("it has no entry point".to_owned()))?;
    match language {
        Language::Wgsl => Ok(wgsl.to_owned()),
        Language::Glsl => {
            to_glsl(&module, &info, entry_point).map_err(|error| because(error.to_string()))
        }
        Language::Hlsl => {
            let mut text = String::new();
            let (options, pipeline) = Default::default();
            let written =
                back::hlsl::Writer::new(&mut text, &options, &pipeline).write(&module, &info, None);
            written.map_err(|error| because(error.to_string()))?;
            Ok(text)
        }
        Language::Metal => {
            let places = places(&module);
            let sizes_buffer = Some(places.len() as u8);
            let resources = places.into_iter().map(|place| {
                let target = back::msl::BindTarget {
                    buffer: Some(place.number),
                    mutable: place.written,
                    ..Default::default()
                };
                (place.binding, target)
            });
            let resources = back::msl::EntryPointResources {
                resources: resources.collect(),
                sizes_buffer,
                ..Default::default()
            };
            let options = back::msl::Options {
                lang_version: METAL_VERSION,
                fake_missing_bindings: false,
                per_entry_point_map: [(entry_point.name.clone(), resources)].into(),
                ..Default::default()
            };
            let pipeline = Default::default();
            let written = back::msl::write_string(&module, &info, &options, &pipeline);
            let (text, about) = written.map_err(|error| because(error.to_string()))?;
            for entry_point in about.entry_point_names {
                entry_point.map_err(|error| because(error.to_string()))?;
            }
            Ok(text)
        }
    }
}

/// A binding in languages without groups.
struct BoundResource {
    binding: naga::ResourceBinding,
    number: u8,
    written: bool,
}

/// All bindings, those of group 0 first. In Metal, the sizes of buffers follow.
fn places(module: &naga::Module) -> Vec<BoundResource> {
    let variables = module.global_variables.iter();
    let bound = variables.filter_map(|(_, variable)| Some((variable.binding?, variable.space)));
    let mut bound: Vec<_> = bound.collect();
    bound.sort_by_key(|(binding, _)| (binding.group, binding.binding));
    let place = |(number, (binding, space)): (u8, (naga::ResourceBinding, naga::AddressSpace))| {
        let written = match space {
            naga::AddressSpace::Storage { access } => access.contains(naga::StorageAccess::STORE),
            _ => false,
        };
        BoundResource {
            binding,
            number,
            written,
        }
    };
    (0..).zip(bound).map(place).collect()
}

/// The oldest version of Metal that has instances.
const METAL_VERSION: (u8, u8) = (2, 0);

fn to_glsl(
    module: &naga::Module,
    info: &ModuleInfo,
    entry_point: &naga::EntryPoint,
) -> Result<String, back::glsl::Error> {
    let options = back::glsl::Options {
        version: back::glsl::Version::Desktop(430),
        binding_map: places(module)
            .into_iter()
            .map(|place| (place.binding, place.number))
            .collect(),
        ..Default::default()
    };
    let pipeline = back::glsl::PipelineOptions {
        shader_stage: entry_point.stage,
        entry_point: entry_point.name.clone(),
        multiview: None,
    };
    let mut text = String::new();
    let policies = naga::proc::BoundsCheckPolicies::default();
    back::glsl::Writer::new(&mut text, module, info, &options, &pipeline, policies)?.write()?;
    Ok(text)
}
