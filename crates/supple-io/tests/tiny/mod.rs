//! Small valid files, made in memory, for tests to break or to look at.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use supple::centers::{CenterOptions, Centers};
use supple::{Method, Normals, Player};
use supple_io::LoadError;
use supple_io::gltf::{self, CENTER_ATTRIBUTE, Document, Loaded, SaveError};

pub const UNSIGNED_BYTE: u32 = 5121;
pub const UNSIGNED_SHORT: u32 = 5123;
pub const FLOAT: u32 = 5126;

/// The accessors of [`Tiny::new`].
pub const POSITION: usize = 0;
pub const NORMAL: usize = 1;
pub const JOINTS: usize = 2;
pub const WEIGHTS: usize = 3;
pub const INDICES: usize = 4;
pub const BIND: usize = 5;
pub const TIMES: usize = 6;
pub const ROTATIONS: usize = 7;

/// A glTF file as its JSON and its one buffer. Accessor n has buffer view n to itself.
#[derive(Clone)]
pub struct Tiny {
    pub json: Value,
    pub bin: Vec<u8>,
}

impl Tiny {
    /// A square on two joints: nodes 0 and 1 are the joints, node 2 has the mesh, one clip turns
    /// node 1.
    pub fn new() -> Tiny {
        let mut tiny = Tiny {
            json: json!({
                "asset": { "version": "2.0" },
                "scene": 0,
                "scenes": [{ "nodes": [0, 2] }],
                "nodes": [
                    { "name": "root", "children": [1] },
                    { "name": "tip", "translation": [0.0, 1.0, 0.0] },
                    { "name": "body", "mesh": 0, "skin": 0 },
                ],
                "meshes": [{ "primitives": [{
                    "attributes": {
                        "POSITION": POSITION,
                        "NORMAL": NORMAL,
                        "JOINTS_0": JOINTS,
                        "WEIGHTS_0": WEIGHTS,
                    },
                    "indices": INDICES,
                }] }],
                "skins": [{ "joints": [0, 1], "inverseBindMatrices": BIND }],
                "animations": [{
                    "name": "turn",
                    "channels": [{ "sampler": 0, "target": { "node": 1, "path": "rotation" } }],
                    "samplers": [{ "input": TIMES, "output": ROTATIONS }],
                }],
                "accessors": [],
                "bufferViews": [],
                "buffers": [{ "byteLength": 0 }],
            }),
            bin: Vec::new(),
        };
        tiny.floats(
            "VEC3",
            &[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 2.0, 0.0, 0.0, 2.0, 0.0],
        );
        tiny.json["accessors"][POSITION]["min"] = json!([0.0, 0.0, 0.0]);
        tiny.json["accessors"][POSITION]["max"] = json!([1.0, 2.0, 0.0]);
        tiny.floats("VEC3", &[0.0, 0.0, 1.0].repeat(4));
        tiny.append("VEC4", UNSIGNED_BYTE, 4, &[0, 1, 0, 0].repeat(4));
        tiny.floats(
            "VEC4",
            &[
                1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.25, 0.75, 0.0, 0.0, 0.5, 0.5, 0.0, 0.0,
            ],
        );
        let corners = [0u16, 1, 2, 0, 2, 3].map(u16::to_le_bytes);
        tiny.append("SCALAR", UNSIGNED_SHORT, 6, corners.as_flattened());
        let identity = glam::Mat4::IDENTITY.to_cols_array();
        let down = glam::Mat4::from_translation(glam::Vec3::NEG_Y).to_cols_array();
        tiny.floats("MAT4", &[identity, down].concat());
        tiny.floats("SCALAR", &[0.0, 1.0]);
        tiny.json["accessors"][TIMES]["min"] = json!([0.0]);
        tiny.json["accessors"][TIMES]["max"] = json!([1.0]);
        let half = std::f32::consts::FRAC_1_SQRT_2;
        tiny.floats("VEC4", &[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, half, half]);
        tiny
    }

    /// [`Tiny::new`] with a thing of every kind around it, and morph targets and sparse data in it.
    pub fn rich() -> Tiny {
        let mut tiny = Tiny::new();
        let marked = |what: &str| json!({ "ACME_mark": { "on": what, "accessor": 3 } });
        let texture = tiny.floats("VEC2", &[0.0, 0.0, 1.0, 0.0, 1.0, 1.0, 0.0, 1.0]);
        let color = tiny.append("VEC4", UNSIGNED_BYTE, 4, &[9, 8, 7, 255].repeat(4));
        tiny.json["accessors"][color]["normalized"] = json!(true);
        let custom = tiny.floats("SCALAR", &[0.5, 1.5, 2.5, 3.5]);
        tiny.json["accessors"][custom]["extras"] = json!({ "unit": "mm" });
        tiny.json["accessors"][custom]["extensions"] = marked("accessor");
        tiny.json["bufferViews"][custom]["name"] = json!("custom numbers");
        tiny.json["bufferViews"][custom]["extensions"] = marked("bufferView");
        let centers = tiny.floats("VEC3", &[0.5, 0.75, 0.0].repeat(4));
        let raised = tiny.floats("VEC3", &[0.0, 0.0, 0.5].repeat(4));
        let lowered = tiny.floats("VEC3", &[0.0, 0.0, -0.5].repeat(4));
        // One vertex of a target that is otherwise zero.
        let positions = tiny.append("SCALAR", UNSIGNED_BYTE, 1, &[2]);
        let values = tiny.floats("VEC3", &[0.25, 0.25, 0.25]);
        let target = tiny.floats("VEC3", &[0.0; 12]);
        tiny.json["accessors"][target]["sparse"] = json!({
            "count": 1,
            "indices": { "bufferView": positions, "componentType": UNSIGNED_BYTE },
            "values": { "bufferView": values },
        });
        let prop = tiny.floats("VEC3", &[0.0, 0.0, 0.0, 0.1, 0.0, 0.0, 0.0, 0.1, 0.0]);
        let unused = tiny.floats("SCALAR", &[42.0]);
        tiny.json["accessors"][unused]["name"] = json!("nothing refers to this");
        let image = tiny.append("SCALAR", UNSIGNED_BYTE, 9, b"\x89PNG\r\n\x1a\nX");
        tiny.json["accessors"].as_array_mut().unwrap().pop();

        let json = &mut tiny.json;
        json["asset"] = json!({
            "version": "2.0", "generator": "by hand", "copyright": "nobody",
            "extras": { "a": [1, 2.5, null] },
        });
        json["extras"] = json!({ "top": true });
        json["extensions"] = marked("root");
        json["extensionsUsed"] = json!(["KHR_materials_unlit"]);
        json["scenes"] = json!([
            {
                "name": "first", "nodes": [0, 2, 3],
                "extras": { "light": 3 }, "extensions": marked("scene"),
            },
            { "name": "a scene without nodes" },
        ]);
        let nodes = json["nodes"].as_array_mut().unwrap();
        nodes[1]["extras"] = json!("a string");
        nodes[1]["children"] = json!([4]);
        nodes[2]["extensions"] = marked("node");
        nodes[2]["weights"] = json!([0.25, 0.5]);
        nodes.push(json!({
            "name": "eye", "camera": 0, "translation": [0.0, 1.0, 5.0], "extras": { "fov": 1 },
        }));
        nodes.push(json!({ "name": "hat", "mesh": 1, "scale": [2.0, 2.0, 2.0] }));
        json["cameras"] = json!([{
            "type": "perspective", "perspective": { "yfov": 0.7, "znear": 0.1, "extras": 1 },
            "extras": { "lens": "35" },
        }]);
        json["samplers"] = json!([{ "magFilter": 9729, "wrapS": 33071, "extras": {} }]);
        json["images"] = json!([
            { "name": "inside", "bufferView": image, "mimeType": "image/png", "extras": 7 },
            { "name": "in the text", "uri": "data:image/png;base64,iVBORw0KGgo=" },
        ]);
        json["textures"] = json!([
            { "source": 0, "sampler": 0 },
            { "source": 1, "extensions": marked("texture") },
        ]);
        json["materials"] = json!([{
            "name": "paint", "doubleSided": true, "alphaMode": "MASK", "alphaCutoff": 0.3,
            "pbrMetallicRoughness": {
                "baseColorTexture": { "index": 0, "texCoord": 0 }, "metallicFactor": 0.1,
            },
            "emissiveTexture": { "index": 1 }, "emissiveFactor": [0.1, 0.2, 0.3],
            "extensions": { "KHR_materials_unlit": {} }, "extras": { "who": "me" },
        }]);
        let mesh = &mut json["meshes"][0];
        mesh["name"] = json!("square");
        mesh["weights"] = json!([0.0, 0.0]);
        mesh["extras"] = json!({
            "targetNames": ["up", "corner"],
            "supple": {
                "what": "a later release may write",
                "centerOfRotation": {
                    "sigma": 0.2, "epsilon": 0.1, "accuracy": 0.001, "source": "0123456789abcdef",
                },
            },
        });
        mesh["extensions"] = marked("mesh");
        let primitive = &mut mesh["primitives"][0];
        primitive["material"] = json!(0);
        primitive["extras"] = json!([1]);
        primitive["extensions"] = marked("primitive");
        primitive["targets"] =
            json!([{ "POSITION": raised, "NORMAL": lowered }, { "POSITION": target }]);
        for (name, accessor) in [
            ("TEXCOORD_0", texture),
            ("COLOR_0", color),
            ("_CUSTOM", custom),
            (CENTER_ATTRIBUTE, centers),
        ] {
            primitive["attributes"][name] = json!(accessor);
        }
        let meshes = json["meshes"].as_array_mut().unwrap();
        meshes.push(json!({
            "name": "hat", "primitives": [{ "attributes": { "POSITION": prop }, "material": 0 }],
        }));
        json["skins"][0]["name"] = json!("bones");
        json["skins"][0]["skeleton"] = json!(0);
        json["skins"][0]["extras"] = json!({ "rig": 1 });
        json["skins"][0]["extensions"] = marked("skin");
        let animation = &mut json["animations"][0];
        animation["extras"] = json!({ "loop": true });
        animation["extensions"] = marked("animation");
        animation["samplers"][0]["extras"] = json!("ease");
        animation["channels"][0]["extras"] = json!(0);
        animation["channels"][0]["target"]["extensions"] = marked("target");
        json["buffers"][0]["name"] = json!("numbers");
        json["buffers"][0]["extras"] = json!({ "kept": "yes" });
        tiny.move_to_own_buffer(texture);
        tiny
    }

    /// Moves a view into a second buffer, which is a data URI.
    fn move_to_own_buffer(&mut self, view: usize) {
        let view = &mut self.json["bufferViews"][view];
        let number = |key: &str| view[key].as_u64().unwrap() as usize;
        let (start, length) = (number("byteOffset"), number("byteLength"));
        let encoded = STANDARD.encode(&self.bin[start..start + length]);
        self.bin[start..start + length].fill(0);
        *view = json!({ "buffer": 1, "byteLength": length });
        let uri = format!("data:application/octet-stream;base64,{encoded}");
        let buffer = json!({ "byteLength": length, "uri": uri });
        self.json["buffers"].as_array_mut().unwrap().push(buffer);
    }

    /// Stores numbers in a view of their own; returns the accessor, which has the view's index.
    pub fn append(&mut self, kind: &str, component: u32, count: usize, bytes: &[u8]) -> usize {
        self.bin.resize(self.bin.len().next_multiple_of(4), 0);
        let view = json!({ "buffer": 0, "byteOffset": self.bin.len(), "byteLength": bytes.len() });
        self.bin.extend_from_slice(bytes);
        self.json["buffers"][0]["byteLength"] = json!(self.bin.len());
        let views = self.json["bufferViews"].as_array_mut().unwrap();
        views.push(view);
        let index = views.len() - 1;
        let accessor = json!({
            "bufferView": index, "componentType": component, "count": count, "type": kind,
        });
        let accessors = self.json["accessors"].as_array_mut().unwrap();
        accessors.push(accessor);
        assert_eq!(index, accessors.len() - 1);
        index
    }

    /// Stores floats; returns the accessor.
    pub fn floats(&mut self, kind: &str, values: &[f32]) -> usize {
        let width = match kind {
            "SCALAR" => 1,
            "VEC2" => 2,
            "VEC3" => 3,
            "VEC4" => 4,
            "MAT4" => 16,
            other => panic!("a {other}"),
        };
        let bytes: Vec<u8> = values
            .iter()
            .flat_map(|value| value.to_le_bytes())
            .collect();
        self.append(kind, FLOAT, values.len() / width, &bytes)
    }

    /// As a `.glb`.
    pub fn glb(&self) -> Vec<u8> {
        let mut text = self.json.to_string().into_bytes();
        text.resize(text.len().next_multiple_of(4), b' ');
        let mut bin = self.bin.clone();
        bin.resize(bin.len().next_multiple_of(4), 0);
        let mut out = b"glTF".to_vec();
        let length = 12 + 8 + text.len() + 8 + bin.len();
        for word in [2, length as u32, text.len() as u32, 0x4E4F_534A] {
            out.extend_from_slice(&word.to_le_bytes());
        }
        out.extend_from_slice(&text);
        for word in [bin.len() as u32, 0x004E_4942] {
            out.extend_from_slice(&word.to_le_bytes());
        }
        out.extend_from_slice(&bin);
        out
    }
}

/// Files made from others.
impl Tiny {
    /// The document as Supple writes it.
    pub fn of(document: &Document) -> Tiny {
        Tiny::opened(&document.to_glb().unwrap())
    }

    /// A GLB file.
    pub fn opened(bytes: &[u8]) -> Tiny {
        let (json, bin) = open_glb(bytes);
        let bin = bin.to_vec();
        Tiny { json, bin }
    }

    /// Two nodes show the same mesh.
    pub fn twins() -> Tiny {
        let mut file = Tiny::new();
        let twin = json!({ "name": "twin", "mesh": 0, "skin": 0 });
        file.json["nodes"].as_array_mut().unwrap().push(twin);
        file
    }

    /// Adds the mesh once more, as a mesh and on a node of its own.
    pub fn repeat_mesh(&mut self) {
        let mesh = self.json["meshes"][0].clone();
        self.json["meshes"].as_array_mut().unwrap().push(mesh);
        let node = json!({ "mesh": 1, "skin": 0 });
        self.json["nodes"].as_array_mut().unwrap().push(node);
    }

    /// The same character under a node that scales and mirrors all of it.
    pub fn under_a_scaled_node(mut self, scale: [f32; 3]) -> Tiny {
        let nodes = self.json["nodes"].as_array_mut().unwrap();
        let root = nodes.len();
        nodes.push(json!({ "scale": scale }));
        let below = std::mem::replace(&mut self.json["scenes"][0]["nodes"], json!([root]));
        self.json["nodes"][root]["children"] = below;
        self
    }
}

/// A GLB's JSON and its BIN chunk.
pub fn open_glb(bytes: &[u8]) -> (Value, &[u8]) {
    let length = u32::from_le_bytes(bytes[12..16].try_into().unwrap()) as usize;
    let json = serde_json::from_slice(&bytes[20..20 + length]).unwrap();
    (json, &bytes[28 + length..])
}

pub fn load(file: &Tiny) -> Result<Loaded, LoadError> {
    gltf::from_slice(&file.glb(), "tiny")
}

/// Loads a file after a change.
pub fn changed(change: impl FnOnce(&mut Tiny)) -> Result<Loaded, LoadError> {
    let mut file = Tiny::new();
    change(&mut file);
    load(&file)
}

/// Asserts that a changed file is refused, at a place and for a reason that hold these words.
#[track_caller]
pub fn refused(place_words: &str, problem_words: &str, change: impl FnOnce(&mut Tiny)) {
    match changed(change) {
        Err(LoadError::Malformed { place, problem, .. }) => {
            assert!(
                place.contains(place_words),
                "the place is '{place}' ({problem})"
            );
            assert!(
                problem.contains(problem_words),
                "at {place} the problem is '{problem}'"
            );
        }
        Err(error) => panic!("refused by the file system: {error}"),
        Ok(_) => panic!("was loaded, expected an error at {place_words}"),
    }
}

impl Tiny {
    /// The bytes of an accessor of this module.
    pub fn bytes(&mut self, accessor: usize) -> &mut [u8] {
        let view = &self.json["bufferViews"][accessor];
        let number = |key: &str| view[key].as_u64().unwrap() as usize;
        let start = number("byteOffset");
        &mut self.bin[start..start + number("byteLength")]
    }

    pub fn set_float(&mut self, accessor: usize, at: usize, value: f32) {
        self.bytes(accessor)[at * 4..][..4].copy_from_slice(&value.to_le_bytes());
    }

    pub fn primitive(&mut self) -> &mut Value {
        &mut self.json["meshes"][0]["primitives"][0]
    }

    /// Points an attribute at new numbers.
    pub fn set_attribute(&mut self, name: &str, accessor: usize) {
        self.primitive()["attributes"][name] = json!(accessor);
    }
}

/// Deforms, changes and writes a loaded file in every way.
pub fn exercise(loaded: Loaded) {
    let Loaded {
        asset,
        mut document,
        ..
    } = loaded;
    document.to_glb().unwrap();
    document.to_gltf();
    let pose = match asset.clips.first() {
        Some(clip) => asset.pose_at(clip, 0.5 * clip.duration()),
        None => asset.rest_pose(),
    };
    let mut player = Player::new(&asset, &Method::Linear, Normals::Transported).unwrap();
    player.pose(&pose).unwrap();
    match document.posed(&player, &pose) {
        Ok(posed) => drop(posed.to_glb().unwrap()),
        Err(error) => assert!(matches!(error, SaveError::NotFinite(_)), "{error}"),
    }
    document.set_weights(asset.rig.weights()).unwrap();
    let (mesh, weights) = (asset.rig.mesh(), asset.rig.weights());
    let centers = Centers::from_points(mesh.positions(), mesh, weights).unwrap();
    if let Err(error) = document.set_centers(&asset.rig, &centers, &CenterOptions::PAPER) {
        let expected = matches!(
            error,
            SaveError::NoSkin | SaveError::ExtrasNotAnObject { .. }
        );
        assert!(expected, "{error}");
    }
    let written = document.to_glb().unwrap();
    gltf::from_slice(&written, "what was written").unwrap();
}
