//! Methods as functions of vertex attributes.

use super::{NewFile, refuse_options};
use crate::args::method::method_text;
use crate::args::shaders::{InfluenceCount, ShaderLanguage, ShadersArguments};
use crate::failure::Failure;
use clap::ValueEnum;
use supple::Method;
use supple_gpu::shaders::{
    FunctionLanguage, InfluenceSets, JointMotions, PALETTE_HEADER, PALETTE_HEADER_NAME,
    attribute_function,
};

pub(super) fn files(options: &ShadersArguments) -> Result<Vec<NewFile>, Failure> {
    let packed = &options.packed;
    refuse_options(
        "packed",
        &[
            ("--stage", packed.stage.is_some()),
            ("--positions-only", packed.positions_only),
            ("--tangents", packed.tangents),
            ("--short", packed.short),
            ("--buffers", packed.character.is_some()),
            ("--clip", packed.moment.clip.is_some()),
            ("--time", packed.moment.time.is_some()),
            ("--frame", packed.moment.frame.is_some()),
            ("--fps", packed.moment.fps.is_some()),
        ],
    )?;
    let languages = match &options.language[..] {
        [] => ShaderLanguage::value_variants(),
        wanted => wanted,
    };
    let sets = match options.influences {
        Some(InfluenceCount::Eight) => InfluenceSets::Eight,
        Some(InfluenceCount::Four) | None => InfluenceSets::Four,
    };
    let motions = match options.stretch {
        true => JointMotions::Stretching,
        false => JointMotions::Rigid,
    };
    let mut files = vec![NewFile {
        name: PALETTE_HEADER_NAME.to_owned(),
        content: PALETTE_HEADER.as_bytes().to_vec(),
    }];
    let wanted = match &options.methods.methods[..] {
        [] => with_functions(motions).collect(),
        wanted => wanted.to_vec(),
    };
    for method in &wanted {
        for language in languages {
            let language = language_of(*language);
            let text = attribute_function(method, language, sets, motions);
            let text = text.ok_or_else(|| no_function(method, motions))?;
            files.push(NewFile {
                name: format!("{}.{}", method.name(), language.ending()),
                content: text.into_bytes(),
            });
        }
    }
    Ok(files)
}

fn language_of(wanted: ShaderLanguage) -> FunctionLanguage {
    match wanted {
        ShaderLanguage::Wgsl => FunctionLanguage::Wgsl,
        ShaderLanguage::Glsl => FunctionLanguage::Glsl450,
        ShaderLanguage::Glsl330 => FunctionLanguage::Glsl330,
        ShaderLanguage::GlslEs300 => FunctionLanguage::GlslEs300,
        ShaderLanguage::Hlsl => FunctionLanguage::Hlsl,
        ShaderLanguage::Metal => FunctionLanguage::Metal,
    }
}

/// The methods that attributes and a palette suffice for.
fn with_functions(motions: JointMotions) -> impl Iterator<Item = Method> {
    let (language, sets) = (FunctionLanguage::Wgsl, InfluenceSets::Four);
    let all = Method::ALL
        .iter()
        .filter(move |method| attribute_function(method, language, sets, motions).is_some());
    all.cloned()
}

fn no_function(method: &Method, motions: JointMotions) -> Failure {
    let names: Vec<&str> = with_functions(motions)
        .map(|method| method.name())
        .collect();
    let name = method_text(method);
    Failure::new(format!(
        "'{name}' needs more than vertex attributes and a palette; --layout attributes has {}",
        names.join(", ")
    ))
    .hint("more methods are shaders with --layout packed")
}
