//! The buffers that packed shaders read, as bytes, with a description for code that isn't Rust.

use super::NewFile;
use crate::args::mush::MushArguments;
use crate::args::shaders::PackedArguments;
use crate::failure::Failure;
use crate::posing;
use crate::source::Source;
use serde_json::{Value, json};
use std::path::Path;
use supple::{Method, Normals, Skin};
use supple_gpu::Format;
use supple_gpu::shaders::{InputBuffer, Stage, dispatch_size, input_buffers, passes};

/// The buffers of each method for the wanted character and pose; nothing if none is wanted.
pub(super) fn files(
    options: &PackedArguments,
    methods: &[Method],
    format: Format,
    stage: Stage,
) -> Result<Vec<NewFile>, Failure> {
    let moment = &options.moment;
    let Some(file) = &options.character else {
        let timed = moment.time.is_some() || moment.frame.is_some() || moment.fps.is_some();
        if timed || moment.clip.is_some() {
            return Err(Failure::usage("a clip or a time needs --buffers FILE"));
        }
        return Ok(Vec::new());
    };
    let source = Source::open(file)?;
    let pose = posing::wanted_pose(&source.asset, moment)?;
    let palette = source.asset.rig.skeleton().palette(&pose)?;
    let mut methods = methods.to_vec();
    let baked = source.prepare(&mut methods, &MushArguments::default())?;
    let mut files = Vec::new();
    for method in &methods {
        let rig = &source.asset.rig;
        let skin = Skin::bake_with(rig, method, Normals::Transported, &baked)?;
        let Some(layout) = skin.stream_layout() else {
            // Of all methods, those without a shader are left out.
            continue;
        };
        if !passes(layout.kernel).is_empty() {
            return Err(Failure::new(format!(
                "'{method}' smooths in passes that fill further buffers; --buffers has methods of \
                 one pass, such as ddm"
            )));
        }
        let buffers = input_buffers(&skin, format, std::slice::from_ref(&palette))
            .map_err(|error| Failure::new(error.to_string()))?;
        let name = method.to_string().replace(':', "-");
        let outputs = match stage {
            Stage::Compute => outputs(skin.vertex_count(), format),
            Stage::Vertex => Vec::new(),
        };
        let described = buffers.iter().map(|buffer| described(&name, buffer));
        let description = json!({
            "method": method.to_string(),
            "character": file_name(file),
            "vertices": skin.vertex_count(),
            "joints": skin.joint_count(),
            "instances": 1,
            "byteOrder": "little",
            "dispatch": dispatch_size(&skin, 1),
            "buffers": described.collect::<Vec<Value>>(),
            "outputs": outputs,
        });
        let text = serde_json::to_string_pretty(&description)
            .map_err(|error| Failure::new(error.to_string()))?;
        files.push(NewFile {
            name: format!("{name}-buffers.json"),
            content: format!("{text}\n").into_bytes(),
        });
        files.extend(buffers.into_iter().map(|buffer| NewFile {
            name: bytes_name(&name, &buffer),
            content: buffer.bytes,
        }));
    }
    Ok(files)
}

fn file_name(file: &Path) -> String {
    let name = file.file_name().unwrap_or(file.as_os_str());
    name.to_string_lossy().into_owned()
}

fn bytes_name(method: &str, buffer: &InputBuffer) -> String {
    format!("{method}-{}.bin", buffer.name)
}

fn described(method: &str, buffer: &InputBuffer) -> Value {
    json!({
        "group": 0,
        "binding": buffer.binding,
        "name": buffer.name,
        "file": bytes_name(method, buffer),
        "usage": buffer.usage,
        "type": buffer.element,
        "stride": buffer.stride,
        "length": buffer.bytes.len() / buffer.stride,
        "bytes": buffer.bytes.len(),
        "meaning": buffer.meaning,
    })
}

/// The buffers that the compute shader writes.
fn outputs(vertices: usize, format: Format) -> Vec<Value> {
    let outputs = [
        ("positions", "f32", 4, 3 * vertices, true),
        ("normals", "f32", 4, 3 * vertices, format.normals),
        ("tangents", "vec4<f32>", 16, vertices, format.tangents),
    ];
    let output = |(binding, (name, element, stride, length, wanted))| {
        let meaning = match wanted {
            true => format!("written: {name}, vertex after vertex"),
            false => "nothing: any buffer can be bound".to_owned(),
        };
        json!({
            "group": 1,
            "binding": binding,
            "name": name,
            "usage": "storage",
            "type": element,
            "stride": stride,
            "length": if wanted { length } else { 0 },
            "meaning": meaning,
        })
    };
    (0..).zip(outputs).map(output).collect::<Vec<Value>>()
}
