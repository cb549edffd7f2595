//! `supple shaders`: methods as shaders for engines.

use crate::args::shaders::{ShaderStage, ShadersArguments};
use crate::console;
use crate::failure::Failure;

use crate::source::Source;
use crate::wording::printable;
use std::fmt::Write;
use supple::{Method, Normals, Skin};
use supple_gpu::Format;
use supple_gpu::shaders::{
    Language, Stage, description, pass_description, passes, shader, translate,
};
use supple_io::whole_file::{check_folder_writable, make_folders, write_whole};

/// A character to bake; shaders depend on the method only.
const ANY_CHARACTER: &str = "@bar:2000";

pub(crate) fn run(options: &ShadersArguments) -> Result<(), Failure> {
    check_folder_writable(&options.out).map_err(|error| Failure::writing(&options.out, error))?;
    let format = Format {
        normals: !options.positions_only,
        tangents: options.tangents,
        ..if options.short {
            Format::SHORT
        } else {
            Format::default()
        }
    };
    let stage = match options.stage {
        ShaderStage::Compute => Stage::Compute,
        ShaderStage::Vertex => Stage::Vertex,
    };
    let all = options.methods.methods.is_empty();
    let methods = if all {
        Method::ALL
    } else {
        &options.methods.methods[..]
    };
    let rig = Source::open(ANY_CHARACTER.as_ref())?.asset.rig;
    let mut texts = Vec::new();
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
            for language in Language::ALL {
                let text =
                    translate(&wgsl, language).map_err(|error| Failure::new(error.to_string()))?;
                let file = format!("{name}.{}", language.ending());
                texts.push((options.out.join(file), with_description(&before, &text)));
            }
        }
    }
    let made = make_folders(&options.out);
    let made = made.map_err(|error| Failure::writing(&options.out, error))?;
    let mut written = String::new();
    for (path, text) in &texts {
        let content = |file: &mut dyn std::io::Write| file.write_all(text.as_bytes());
        write_whole(path, content).map_err(|error| Failure::writing(path, error))?;
        let _ = writeln!(written, "{}", printable(&path.to_string_lossy()));
    }
    drop(made);
    console::print(&written)
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
