//! Methods as complete shaders that read packed buffers.

mod buffers;

use super::{NewFile, refuse_options};
use crate::args::shaders::{ShaderLanguage, ShaderStage, ShadersArguments};
use crate::failure::Failure;
use crate::source::Source;
use supple::{Method, Normals, Skin};
use supple_gpu::Format;
use supple_gpu::shaders::{
    Language, Stage, description, pass_description, passes, shader, translate,
};

/// A character to bake; shaders depend on the method only.
const ANY_CHARACTER: &str = "@bar:2000";

pub(super) fn files(options: &ShadersArguments) -> Result<Vec<NewFile>, Failure> {
    refuse_options(
        "attributes",
        &[
            ("--max-influences", options.influences.is_some()),
            ("--stretch", options.stretch),
        ],
    )?;
    let languages = languages(&options.language)?;
    let packed = &options.packed;
    let format = Format {
        normals: !packed.positions_only,
        tangents: packed.tangents,
        ..if packed.short {
            Format::SHORT
        } else {
            Format::default()
        }
    };
    let stage = match packed.stage {
        Some(ShaderStage::Vertex) => Stage::Vertex,
        Some(ShaderStage::Compute) | None => Stage::Compute,
    };
    let all = options.methods.methods.is_empty();
    let methods = if all {
        Method::ALL
    } else {
        &options.methods.methods[..]
    };
    let rig = Source::open(ANY_CHARACTER.as_ref())?.asset.rig;
    let mut files = Vec::new();
    for method in methods {
        let layout = Skin::bake(&rig, method, Normals::Transported)?.stream_layout();
        let text = layout.and_then(|layout| Some((layout, shader(&layout, format, stage)?)));
        let Some((layout, wgsl)) = text else {
            if all {
                continue;
            }
            let message = format!("the method '{method}' has no shader");
            return Err(Failure::new(message).hint(match method {
                Method::DeltaMush(_) => {
                    "delta-mush with tangent frames has one; ddm bakes best-fit frames"
                }
                _ => "without -m, all methods with a shader are written",
            }));
        };
        let name = method.to_string();
        let before = description(&name, &layout, format, stage);
        let mut shaders = vec![(name.clone(), before, wgsl)];
        shaders.extend(passes(layout.kernel).iter().map(|&pass| {
            let before = pass_description(&name, pass, &layout, format);
            let name = format!("{name}-{}", pass.entry_point());
            (name, before, pass.shader(&layout, format))
        }));
        for (name, before, wgsl) in shaders {
            // File names cannot have a colon, nor entry points a hyphen.
            let name = name.replace([':', '_'], "-");
            for &language in &languages {
                let text =
                    translate(&wgsl, language).map_err(|error| Failure::new(error.to_string()))?;
                files.push(NewFile {
                    name: format!("{name}.{}", language.ending()),
                    content: with_description(&before, &text).into_bytes(),
                });
            }
        }
    }
    files.extend(buffers::files(packed, methods, format, stage)?);
    Ok(files)
}

/// The wanted languages; all if none is named.
fn languages(wanted: &[ShaderLanguage]) -> Result<Vec<Language>, Failure> {
    if wanted.is_empty() {
        return Ok(Language::ALL.to_vec());
    }
    let language = |wanted: &ShaderLanguage| match wanted {
        ShaderLanguage::Wgsl => Ok(Language::Wgsl),
        ShaderLanguage::Glsl => Ok(Language::Glsl),
        ShaderLanguage::Hlsl => Ok(Language::Hlsl),
        ShaderLanguage::Metal => Ok(Language::Metal),
        ShaderLanguage::Glsl330 | ShaderLanguage::GlslEs300 => Err(Failure::usage(
            "GLSL 3.30 and GLSL ES 3.00 have no storage buffers, which --layout packed needs",
        )
        .hint("--layout attributes reads textures instead")),
    };
    wanted.iter().map(language).collect()
}

/// Adds a description to a shader; in GLSL the version stays on the first line.
fn with_description(description: &str, text: &str) -> String {
    match text.split_once('\n') {
        Some((version, rest)) if version.starts_with("#version") => {
            format!("{version}\n{description}\n{rest}")
        }
        _ => format!("{description}\n{text}"),
    }
}
