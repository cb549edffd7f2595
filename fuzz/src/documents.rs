//! Small valid glTF files, and mutations of their JSON and their numbers.

use crate::input::Input;
use crate::tiny::Tiny;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::OnceLock;
use supple::centers::{CenterOptions, Centers};
use supple::mush::{Mush, MushOptions};
use supple::point_handles::{HandleOptions, place_handles};
use supple::twist::{TwistOptions, split};
use supple::bind::BindMethod;
use supple_io::gltf::{self, Loaded};

/// Files of every kind that Supple knows.
pub fn all() -> &'static [Tiny] {
    static ALL: OnceLock<Vec<Tiny>> = OnceLock::new();
    ALL.get_or_init(|| {
        let mut files = vec![
            Tiny::new(),
            Tiny::rich(),
            Tiny::twins(),
            cubic(),
            unskinned(),
        ];
        files.extend(stored().iter().cloned());
        files.extend([with_handles(), with_twist()]);
        files.extend(hostile());
        files
    })
}

/// Files that broke Supple before, if they are beside the repository, and small: larger ones would
/// take seconds each. They are run by the tests of the command.
fn hostile() -> Vec<Tiny> {
    const LARGEST: usize = 100_000;
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/hostile");
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "glb"));
    paths.sort();
    let files = paths.iter().filter_map(|path| std::fs::read(path).ok());
    let small = files.filter(|bytes| bytes.len() <= LARGEST);
    small.map(|bytes| Tiny::opened(&bytes)).collect()
}

/// Files with centers of rotation and with bakes of direct delta mush.
pub fn stored() -> &'static [Tiny] {
    static STORED: OnceLock<Vec<Tiny>> = OnceLock::new();
    STORED.get_or_init(|| {
        let bases = [Tiny::new(), Tiny::twins()];
        let stored = bases
            .iter()
            .flat_map(|base| [with_centers(base), with_mush(base)]);
        stored.collect()
    })
}

fn loaded(file: &Tiny) -> Loaded {
    gltf::from_slice(&file.glb(), "base").expect("a valid file")
}

fn with_centers(file: &Tiny) -> Tiny {
    let Loaded {
        asset,
        mut document,
        ..
    } = loaded(file);
    let (mesh, weights) = (asset.rig.mesh(), asset.rig.weights());
    let options = CenterOptions::PAPER;
    let centers = Centers::bake(mesh, weights, &options).expect("centers");
    let set = document.set_centers(&asset.rig, &centers, &options);
    set.expect("a file with a skin");
    Tiny::of(&document)
}

fn with_mush(file: &Tiny) -> Tiny {
    let Loaded {
        asset,
        mut document,
        ..
    } = loaded(file);
    let baked = Mush::bake(&asset.rig, &MushOptions::default()).expect("a bake");
    let set = document.set_mush(&asset.rig, &baked.mush, &MushOptions::default(), 4);
    set.expect("a file with a skin");
    Tiny::of(&document)
}

fn with_handles() -> Tiny {
    let Loaded {
        asset, document, ..
    } = loaded(&Tiny::new());
    let surface = document.surface_at_rest(&asset.rig).expect("a surface");
    let places = [0, 2].map(|vertex: usize| surface.positions()[vertex].as_dvec3());
    let options = HandleOptions {
        automatic: false,
        given: places.to_vec(),
        ..HandleOptions::default()
    };
    let handles = place_handles(&surface, &options).expect("handles");
    let bound = handles.bind(&surface, &BindMethod::Rigid, &|_| {});
    let weights = bound.expect("weights").weights;
    let with = document.with_point_handles(&asset.rig, &handles, &weights);
    Tiny::of(&with.expect("handles in the file").document)
}

fn with_twist() -> Tiny {
    let Loaded {
        asset,
        mut document,
        ..
    } = loaded(&Tiny::new());
    let twisted = split(&asset, 0, &TwistOptions::default()).expect("a bone");
    document.add_twist_joint(&twisted).expect("a skin");
    Tiny::of(&document)
}

/// Every interpolation and every channel.
fn cubic() -> Tiny {
    let mut file = Tiny::new();
    let times = file.floats("SCALAR", &[0.0, 0.5, 2.0]);
    let numbers: Vec<f32> = (0..27).map(|at| at as f32 / 4.0 - 3.0).collect();
    let vectors = file.floats("VEC3", &numbers);
    let stepped = file.floats("VEC3", &numbers[..9]);
    let animation = &mut file.json["animations"][0];
    animation["samplers"] = json!([
        animation["samplers"][0],
        { "input": times, "output": vectors, "interpolation": "CUBICSPLINE" },
        { "input": times, "output": stepped, "interpolation": "STEP" },
    ]);
    animation["channels"] = json!([
        animation["channels"][0],
        { "sampler": 1, "target": { "node": 1, "path": "translation" } },
        { "sampler": 2, "target": { "node": 0, "path": "scale" } },
    ]);
    file
}

fn unskinned() -> Tiny {
    let mut file = Tiny::rich();
    file.json["skins"] = json!([]);
    for node in file.json["nodes"].as_array_mut().into_iter().flatten() {
        if let Some(node) = node.as_object_mut() {
            node.shift_remove("skin");
        }
    }
    file
}

/// Changes a file in up to eight places, as the input says; returns its bytes.
pub fn mutated(input: &mut Input, base: &Tiny) -> Vec<u8> {
    let mut file = base.clone();
    for _ in 0..1 + input.below(8) {
        if input.is_empty() {
            break;
        }
        match input.below(4) {
            0 => change_numbers(input, &mut file.bin),
            _ => change_json(input, &mut file.json),
        }
    }
    let mut bytes = match input.below(4) {
        0 => text(&file),
        _ => file.glb(),
    };
    if input.rarely(4) {
        // A key that is there twice, or any other slip of the text.
        let at = input.below(bytes.len());
        match input.below(3) {
            0 => {
                let copied = at..(at + input.below(64)).min(bytes.len());
                let copy = bytes[copied].to_vec();
                bytes.splice(at..at, copy);
            }
            1 => bytes[at] = input.byte(),
            _ => bytes.truncate(at),
        }
    }
    bytes
}

/// As a `.gltf` with its buffer as a data URI.
fn text(file: &Tiny) -> Vec<u8> {
    let mut json = file.json.clone();
    let encoded = STANDARD.encode(&file.bin);
    if let Some(buffer) = json.pointer_mut("/buffers/0")
        && buffer.is_object()
    {
        buffer["uri"] = json!(format!("data:application/octet-stream;base64,{encoded}"));
    }
    json.to_string().into_bytes()
}

/// Puts floats, bytes or nothing where numbers were.
fn change_numbers(input: &mut Input, bin: &mut Vec<u8>) {
    if bin.len() < 4 {
        return;
    }
    let at = input.below(bin.len());
    match input.below(4) {
        0 => bin[at] = input.byte(),
        1 if input.rarely(8) => bin.truncate(at),
        _ => {
            let at = (at / 4 * 4).min(bin.len() - 4);
            bin[at..at + 4].copy_from_slice(&input.any_number().to_le_bytes());
        }
    }
}

/// Keys whose presence changes how a file is read.
const KEYS: [&str; 38] = [
    "sparse",
    "byteStride",
    "byteOffset",
    "normalized",
    "targets",
    "weights",
    "extras",
    "extensions",
    "skin",
    "mesh",
    "children",
    "matrix",
    "rotation",
    "scale",
    "translation",
    "JOINTS_0",
    "JOINTS_1",
    "WEIGHTS_0",
    "WEIGHTS_1",
    "TANGENT",
    "TEXCOORD_0",
    "_SUPPLE_CENTER",
    "SUPPLE_direct_delta_mush",
    "supple",
    "indices",
    "mode",
    "material",
    "name",
    "inverseBindMatrices",
    "skeleton",
    "joints",
    "uri",
    "count",
    "min",
    "max",
    "interpolation",
    "camera",
    "extensionsRequired",
];

/// Changes one value somewhere in the JSON.
fn change_json(input: &mut Input, root: &mut Value) {
    let path = some_path(input, root);
    let copied = match input.below(4) {
        0 => {
            let other = some_path(input, root);
            root.pointer(&other).cloned()
        }
        _ => None,
    };
    let Some(value) = root.pointer_mut(&path) else {
        return;
    };
    if let Some(copied) = copied {
        *value = copied;
        return;
    }
    match input.below(8) {
        0 => *value = any_value(input),
        1 => {
            let inner = value.take();
            *value = json!([inner]);
        }
        2 => {
            let first = match &*value {
                Value::Array(list) => list.first().cloned(),
                Value::Object(map) => map.values().next().cloned(),
                Value::String(text) => Some(json!(text.len())),
                other => Some(json!(other.to_string())),
            };
            *value = first.unwrap_or(Value::Null);
        }
        3 => *value = changed_number(input, value),
        _ => match value {
            Value::Array(list) => change_list(input, list),
            Value::Object(map) => {
                if input.flag() && !map.is_empty() {
                    let at = input.below(map.len());
                    let key = map.keys().nth(at).cloned().unwrap_or_default();
                    map.shift_remove(&key);
                } else {
                    let key = *input.pick(&KEYS);
                    map.insert(key.to_owned(), any_value(input));
                }
            }
            other => *other = changed_number(input, other),
        },
    }
}

fn change_list(input: &mut Input, list: &mut Vec<Value>) {
    if list.is_empty() {
        return list.push(any_value(input));
    }
    let at = input.below(list.len());
    match input.below(5) {
        0 => drop(list.remove(at)),
        1 => list.insert(at, list[at].clone()),
        2 => {
            let copies = vec![list[at].clone(); input.below(40)];
            list.extend(copies);
        }
        3 => {
            let other = input.below(list.len());
            list.swap(at, other);
        }
        _ => list.clear(),
    }
}

/// The address of a value below the root.
fn some_path(input: &mut Input, root: &Value) -> String {
    let mut path = String::new();
    let mut value = root;
    loop {
        let (step, below) = match value {
            Value::Array(list) if !list.is_empty() => {
                let at = input.below(list.len());
                (at.to_string(), &list[at])
            }
            Value::Object(map) if !map.is_empty() => {
                let at = input.below(map.len());
                let Some((key, below)) = map.iter().nth(at) else {
                    return path;
                };
                (key.replace('~', "~0").replace('/', "~1"), below)
            }
            _ => return path,
        };
        path.push('/');
        path.push_str(&step);
        value = below;
        if input.rarely(8) {
            return path;
        }
    }
}

fn changed_number(input: &mut Input, value: &Value) -> Value {
    let Some(number) = value.as_f64() else {
        return any_value(input);
    };
    match (input.below(6), value.as_i64()) {
        (0, Some(whole)) => json!(whole.saturating_add(1)),
        (1, Some(whole)) => json!(whole.saturating_sub(1)),
        (2, Some(whole)) => json!(whole.saturating_mul(2)),
        (3, Some(_)) => json!(input.below(16)),
        (4, _) => json!(-number),
        _ => extreme_number(input),
    }
}

fn extreme_number(input: &mut Input) -> Value {
    match input.below(5) {
        0 => json!(input.word()),
        1 => json!(*input.pick(&[
            u64::MAX,
            u64::MAX - 3,
            i64::MAX as u64,
            1 << 32,
            (1 << 32) - 1,
            1 << 20,
            65_535,
            65_536,
            255,
            256,
        ])),
        2 => json!(-(input.below(1 << 20) as i64)),
        // JSON has no NaN: those become null.
        3 => json!(input.any_number()),
        _ => json!(input.any_double()),
    }
}

fn any_value(input: &mut Input) -> Value {
    match input.below(14) {
        0 => Value::Null,
        1 => json!(input.flag()),
        2..6 => json!(input.below(12)),
        6 | 7 => extreme_number(input),
        8 => json!(*input.pick(&["", "a", "../x", "data:,", "MASK", "VEC3", "SCALAR", "2.0"])),
        9 => json!([]),
        10 => {
            let length = *input.pick(&[1, 2, 3, 4, 16]);
            let numbers = (0..length).map(|_| input.any_number());
            json!(numbers.collect::<Vec<f32>>())
        }
        11 => {
            let length = input.below(5);
            let numbers = (0..length).map(|_| input.below(6));
            json!(numbers.collect::<Vec<usize>>())
        }
        12 => json!({}),
        _ => json!({ *input.pick(&KEYS): input.below(8) }),
    }
}
