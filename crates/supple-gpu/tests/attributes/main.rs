//! Functions of vertex attributes: run on lavapipe, in WebGL2 and through the C header, on the
//! numbers of real glTF files, and compared with the library.

#![allow(clippy::unwrap_used, clippy::panic)]

mod case;
#[path = "../common/device.rs"]
mod device;
#[path = "../../../supple-io/tests/common/mod.rs"]
mod files;
mod raw_gltf;
mod tools;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use case::{Case, Skinned, WITH_CENTERS, WITH_MUSH, cases};
use glam::{Vec3, Vec4Swizzles};
use std::fmt::Write;
use std::sync::LazyLock;
use supple::Method;
use supple::characters::{self, Character};
use supple_gpu::Gpu;
use supple_gpu::shaders::{FunctionLanguage, InfluenceSets, JointMotions, attribute_function};
use supple_io::gltf::{self, Document};
use tools::{is_installed, run};

/// The models, and what each is for.
const MODELS: [&str; 6] = [
    "khronos/CesiumMan.glb",         // turned by a node above the joints
    "khronos/Fox.glb",               // in centimetres
    "khronos/Fox_quantized.glb",     // a scale in the bind matrices
    "khronos/Fox_mirrored_root.glb", // mirrored as a whole
    "characters/mannequiny.glb",     // three primitives
    "makehuman/makehuman_body.glb",  // eight influences, 163 joints
];

/// Every method on every model, each in one of two poses.
static CASES: LazyLock<Vec<Case>> = LazyLock::new(|| {
    let figure = characters::build(Character::Figure, 2000).unwrap();
    let document = Document::from_asset(&figure).unwrap();
    let figure = document.read("figure").unwrap();
    let mut all = cases("figure", &figure.document, &figure.asset, 0);
    let folder = files::shared("models");
    for (number, model) in MODELS.iter().enumerate() {
        if let Some(folder) = &folder {
            let loaded = gltf::load(&folder.join(model)).unwrap();
            all.extend(cases(model, &loaded.document, &loaded.asset, number % 2));
        }
    }
    all
});

fn methods() -> Vec<Method> {
    let names = WITH_CENTERS.iter().chain(&WITH_MUSH);
    names.map(|name| name.parse().unwrap()).collect()
}

/// How the function of a method is called, with what the tests name its inputs.
fn call(method: &Method) -> &'static str {
    match method.name() {
        "linear" | "ddm-v5" => "skin_linear(rest, joints_0, weights_0, joints_1, weights_1)",
        "dual-quaternion" => "skin_dual_quaternion(rest, joints_0, weights_0, joints_1, weights_1)",
        "linear-dual-blend" => {
            "skin_linear_dual_blend(rest, share, joints_0, weights_0, joints_1, weights_1)"
        }
        "cor" => "skin_cor(rest, center, joints_0, weights_0, joints_1, weights_1)",
        "ddm" => "skin_ddm(rest, center, influences)",
        "ddm-v2" => "skin_ddm_v2(rest, center, influences)",
        "ddm-v4" => "skin_ddm_v4(rest, center, influences)",
        other => panic!("{other}"),
    }
}

/// The share of the size of the numbers by which results may differ.
///
/// Both sides round in single precision, by 2⁻²⁴ of a number each time. A vertex of eight
/// influences is the sum of eight products with a turned point, of about twelve operations each in
/// a row: 20 roundings at most add up on either side, besides those of the palette, and a rotation
/// that is off by three of them moves a point twice as far.
///
/// The rotation of direct delta mush v0 is the best fit to a patch. Rounding turns it further where
/// a patch is thin, but that hardly moves a vertex near its patch.
const ROUNDING: f32 = 64.0 * f32::EPSILON / 2.0;

/// The length by which normals and tangents may differ.
const ROUNDING_OF_TURNS: f32 = 8.0 * ROUNDING;

fn assert_close(case: &Case, skinned: &[Skinned], on: &str) {
    assert_eq!(skinned.len(), case.expected.len());
    for (vertex, (found, expected)) in skinned.iter().zip(&case.expected).enumerate() {
        let vector = |numbers: &[f32; 4]| glam::Vec4::from_array(*numbers);
        let off = [0, 1, 2].map(|part| {
            let off = vector(&found[part]).xyz() - vector(&expected[part]).xyz();
            match off.length() {
                off if off.is_nan() => f32::INFINITY,
                off => off,
            }
        });
        let allowed = [ROUNDING * case.size, ROUNDING_OF_TURNS, ROUNDING_OF_TURNS];
        assert!(
            off.iter()
                .zip(allowed)
                .all(|(off, allowed)| *off <= allowed),
            "{} on {on}, vertex {vertex}: off by {off:?}, {allowed:?} is allowed\nfound {found:?}\n\
             expected {expected:?}",
            case.name
        );
        assert_eq!(
            found[2][3], expected[2][3],
            "{} on {on}: side of the tangent",
            case.name
        );
    }
}

/// Dispatches the WGSL of a case.
fn on_gpu(gpu: &Gpu, case: &Case) -> Vec<Skinned> {
    let (language, sets) = (FunctionLanguage::Wgsl, InfluenceSets::Eight);
    let function = attribute_function(&case.method, language, sets, case.motions);
    let call = call(&case.method);
    let source = format!(
        "{}
@group(1) @binding(0) var<storage, read> vertices: array<array<vec4f, 8>>;
@group(1) @binding(1) var<storage, read_write> skinned: array<array<vec4f, 3>>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {{
    if id.x >= arrayLength(&vertices) {{
        return;
    }}
    let v = vertices[id.x];
    let rest = SkinVertex(v[0].xyz, v[1].xyz, v[2]);
    let share = v[0].w;
    let center = v[3].xyz;
    let influences = vec2u(u32(v[1].w), u32(v[3].w));
    let joints_0 = vec4u(v[4]);
    let weights_0 = v[5];
    let joints_1 = vec4u(v[6]);
    let weights_1 = v[7];
    let result = {call};
    let position = vec4f(result.position, 0.0);
    skinned[id.x] = array(position, vec4f(result.normal, 0.0), result.tangent);
}}
",
        function.unwrap()
    );
    let device = gpu.device();
    let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: None,
        source: wgpu::ShaderSource::Wgsl(source.into()),
    });
    let pipeline = device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: None,
        layout: None,
        module: &module,
        entry_point: Some("main"),
        compilation_options: Default::default(),
        cache: None,
    });
    let buffer = |bytes: &[u8], size: usize| {
        let buffer = device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: size.max(16) as u64,
            usage: wgpu::BufferUsages::STORAGE
                | wgpu::BufferUsages::COPY_DST
                | wgpu::BufferUsages::COPY_SRC,
            mapped_at_creation: false,
        });
        gpu.queue().write_buffer(&buffer, 0, bytes);
        buffer
    };
    let filled = |bytes: &[u8]| buffer(bytes, bytes.len());
    let mut inputs = vec![filled(bytemuck::cast_slice(&case.palette))];
    if case.method.name().starts_with("ddm") && case.method.name() != "ddm-v5" {
        inputs.push(filled(bytemuck::cast_slice(&case.mush)));
    }
    let bytes = 48 * case.vertices.len();
    let outputs = [
        filled(bytemuck::cast_slice(case.vertices.as_flattened())),
        buffer(&[], bytes),
    ];
    let mut encoder = device.create_command_encoder(&Default::default());
    let mut pass = encoder.begin_compute_pass(&Default::default());
    pass.set_pipeline(&pipeline);
    for (number, buffers) in (0..).zip([&inputs[..], &outputs]) {
        let resources = buffers.iter().map(wgpu::Buffer::as_entire_binding);
        let group = gpu.bind_group(&pipeline.get_bind_group_layout(number), resources);
        pass.set_bind_group(number, &group, &[]);
    }
    pass.dispatch_workgroups(case.vertices.len().div_ceil(64) as u32, 1, 1);
    drop(pass);
    gpu.queue().submit([encoder.finish()]);
    let read = gpu.read(&outputs[1], bytes as u64).unwrap();
    as_skinned(&bytemuck::pod_collect_to_vec(&read))
}

fn as_skinned(vectors: &[[f32; 4]]) -> Vec<Skinned> {
    vectors.as_chunks::<3>().0.to_vec()
}

#[test]
fn wgsl_deforms_as_the_library_does() {
    let Some(gpu) = device::gpu() else { return };
    for case in &*CASES {
        assert_close(case, &on_gpu(gpu, case), "lavapipe");
    }
}

/// A vertex shader of GLSL ES around a function. Its outputs are captured.
fn webgl_source(case: &Case) -> String {
    let (language, sets) = (FunctionLanguage::GlslEs300, InfluenceSets::Eight);
    let function = attribute_function(&case.method, language, sets, case.motions).unwrap();
    let inputs = (0..8).fold(String::new(), |mut inputs, number| {
        let _ = writeln!(inputs, "layout(location = {number}) in vec4 v{number};");
        inputs
    });
    format!(
        "#version 300 es
{function}
{inputs}
out vec4 skinned_position;
out vec4 skinned_normal;
out vec4 skinned_tangent;

void main() {{
    SkinVertex rest = SkinVertex(v0.xyz, v1.xyz, v2);
    float share = v0.w;
    vec3 center = v3.xyz;
    uvec2 influences = uvec2(v1.w, v3.w);
    uvec4 joints_0 = uvec4(v4);
    vec4 weights_0 = v5;
    uvec4 joints_1 = uvec4(v6);
    vec4 weights_1 = v7;
    SkinVertex skinned = {};
    skinned_position = vec4(skinned.position, 0.0);
    skinned_normal = vec4(skinned.normal, 0.0);
    skinned_tangent = skinned.tangent;
    gl_Position = vec4(0.0);
}}
",
        call(&case.method)
    )
}

/// The results of all cases in WebGL2.
fn in_webgl(cases: &[Case]) -> Vec<Vec<Skinned>> {
    let encoded = |vectors: &[[f32; 4]]| STANDARD.encode(bytemuck::cast_slice::<_, u8>(vectors));
    let runs: Vec<_> = cases
        .iter()
        .map(|case| {
            serde_json::json!({
                "source": webgl_source(case),
                "vertices": encoded(case.vertices.as_flattened()),
                "palette": encoded(&case.palette),
                "mush": encoded(&case.mush),
            })
        })
        .collect();
    let runs = serde_json::to_string(&runs).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let page = include_str!("page.html").replace("RUNS", &runs);
    std::fs::write(folder.path().join("page.html"), page).unwrap();
    let profile = format!(
        "--user-data-dir={}",
        folder.path().join("profile").display()
    );
    let address = format!("file://{}", folder.path().join("page.html").display());
    let options = [
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--use-angle=swiftshader",
        "--enable-unsafe-swiftshader",
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        &profile,
        "--dump-dom",
        &address,
    ];
    let output = run("chromium", &options, folder.path());
    let page = String::from_utf8(output.stdout).unwrap();
    let result = page
        .split_once(r#"<pre id="result">"#)
        .and_then(|(_, rest)| rest.split_once("</pre>"))
        .map_or(&page[..], |(result, _)| result);
    let Some(results) = result.strip_prefix("results:") else {
        panic!("{result}");
    };
    let numbers = results
        .split(',')
        .map(|result| STANDARD.decode(result).unwrap());
    numbers
        .map(|bytes| as_skinned(&bytemuck::pod_collect_to_vec(&bytes)))
        .collect()
}

#[test]
fn glsl_es_deforms_in_webgl_as_the_library_does() {
    if !is_installed("chromium") {
        return;
    }
    let results = in_webgl(&CASES);
    assert_eq!(results.len(), CASES.len());
    for (case, skinned) in CASES.iter().zip(results) {
        assert_close(case, &skinned, "WebGL2");
    }
}

/// The rotations that the C header makes are those of the library, up to their sign.
#[test]
fn the_palette_in_c_is_the_librarys() {
    let asset = characters::build(Character::Figure, 2000).unwrap();
    let document = Document::from_asset(&asset)
        .unwrap()
        .read("figure")
        .unwrap();
    let case = cases("figure", &document.document, &document.asset, 0)
        .into_iter()
        .find(|case| case.method.name() == "cor" && case.motions == JointMotions::Rigid)
        .unwrap();
    let rig = &document.asset.rig;
    let clip = document.asset.clips.first().unwrap();
    let pose = document
        .asset
        .pose_at(clip, clip.start() + 0.47 * clip.duration());
    let palette = rig.skeleton().palette(&pose).unwrap();
    let motions = case.palette.as_chunks::<2>().0;
    assert_eq!(motions.len(), palette.posed_from_bind.len());
    for map in &palette.posed_from_bind {
        let same = motions.iter().any(|[q, shift]| {
            let rotation = glam::Quat::from_array(*q);
            let shift = glam::Vec4::from_array(*shift);
            let axes = [Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z];
            (shift.w - 1.0).abs() < 1e-6
                && axes.iter().all(|&point| {
                    let moved = rotation * point + shift.xyz();
                    moved.distance(map.transform_point(point)) < 1e-6
                })
        });
        assert!(same, "no motion in the palette is {map:?}");
    }
}

/// Every language has a compiler here but Metal, whose functions are C++.
#[test]
fn functions_compile_in_every_language() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: String| std::fs::write(folder.path().join(name), text).unwrap();
    write("metal_stdlib", include_str!("shim.h").to_owned());
    let has_glslang = is_installed("glslangValidator");
    let has_cpp = is_installed("c++");
    for method in methods() {
        for (sets, motions) in [
            (InfluenceSets::Four, JointMotions::Rigid),
            (InfluenceSets::Eight, JointMotions::Rigid),
            (InfluenceSets::Eight, JointMotions::Stretching),
        ] {
            let wgsl = attribute_function(&method, FunctionLanguage::Wgsl, sets, motions);
            if wgsl.is_none() {
                // A mix with linear blending doesn't stretch first.
                assert_eq!(method.name(), "linear-dual-blend");
                continue;
            }
            let text = |language| attribute_function(&method, language, sets, motions).unwrap();
            for language in FunctionLanguage::ALL {
                let lines = text(language);
                let widest = lines.lines().map(|line| line.chars().count()).max();
                assert!(widest.unwrap() <= 100, "{method} in {language:?}:\n{lines}");
            }
            let module = naga::front::wgsl::parse_str(&text(FunctionLanguage::Wgsl)).unwrap();
            naga::valid::Validator::new(
                naga::valid::ValidationFlags::all(),
                naga::valid::Capabilities::empty(),
            )
            .validate(&module)
            .unwrap();
            if has_glslang {
                for (version, language) in [
                    ("450", FunctionLanguage::Glsl450),
                    ("330", FunctionLanguage::Glsl330),
                    ("300 es", FunctionLanguage::GlslEs300),
                ] {
                    let main = "void main() { gl_Position = vec4(0.0); }";
                    write(
                        "a.vert",
                        format!("#version {version}\n{}\n{main}\n", text(language)),
                    );
                    run("glslangValidator", &["a.vert"], folder.path());
                }
                let main = "float4 main() : SV_Position { return float4(0, 0, 0, 0); }";
                write(
                    "a.hlsl",
                    format!("{}\n{main}\n", text(FunctionLanguage::Hlsl)),
                );
                let options = [
                    "-D", "-V", "-e", "main", "-S", "vert", "-o", "a.spv", "a.hlsl",
                ];
                run("glslangValidator", &options, folder.path());
            }
            if has_cpp {
                write("a.cpp", text(FunctionLanguage::Metal));
                let options = [
                    "-fsyntax-only",
                    "-std=c++14",
                    "-Wall",
                    "-Werror",
                    "-I.",
                    "a.cpp",
                ];
                run("c++", &options, folder.path());
            }
        }
    }
}

/// The header is also C++, where engines are written in that.
#[test]
fn the_header_is_c_plus_plus_as_well() {
    if !is_installed("c++") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let header = supple_gpu::shaders::PALETTE_HEADER;
    std::fs::write(folder.path().join("skin_palette.h"), header).unwrap();
    std::fs::write(folder.path().join("a.cpp"), "#include \"skin_palette.h\"\n").unwrap();
    let options = ["-fsyntax-only", "-Wall", "-Wextra", "-Werror", "a.cpp"];
    run("c++", &options, folder.path());
    assert!(header.lines().all(|line| line.len() <= 100));
}
