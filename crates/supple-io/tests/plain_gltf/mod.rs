//! A second glTF reader, independent of the library: plain, slow, in double precision.
//!
//! It knows what eq. (1) of `skinning-course-direct-methods.txt` needs and nothing else, and it
//! trusts its files.

use base64::Engine;
use serde_json::Value;
use std::collections::HashMap;
use std::path::Path;

pub type Vector = [f64; 3];
/// Rows of a 3×4 matrix.
pub type Matrix = [[f64; 4]; 3];

const IDENTITY: Matrix = [
    [1.0, 0.0, 0.0, 0.0],
    [0.0, 1.0, 0.0, 0.0],
    [0.0, 0.0, 1.0, 0.0],
];

/// A file with its character's meshes decoded.
pub struct PlainFile {
    source: Source,
    /// Nodes with a mesh and a skin; in a file without skins, nodes with a mesh.
    instances: Vec<Instance>,
}

/// A vertex under a pose.
pub struct Moved {
    pub position: Vector,
    /// `Σ w_j T_j`.
    pub blend: Matrix,
    /// The normal before skinning, morph targets added, where the file has one.
    pub bind_normal: Option<Vector>,
}

struct Source {
    json: Value,
    buffers: Vec<Vec<u8>>,
}

struct Instance {
    node: usize,
    /// (node, inverse bind matrix) of each joint.
    joints: Vec<(usize, Matrix)>,
    default_weights: Vec<f64>,
    primitives: Vec<Primitive>,
}

struct Primitive {
    positions: Vec<Vector>,
    normals: Option<Vec<Vector>>,
    /// Offsets of positions and of normals.
    targets: Vec<[Option<Vec<Vector>>; 2]>,
    /// (joint, weight), the weights summing to one.
    influences: Vec<Vec<(usize, f64)>>,
}

/// The animated values of a node at a time.
#[derive(Clone, Default)]
struct Animated {
    translation: Option<Vec<f64>>,
    rotation: Option<Vec<f64>>,
    scale: Option<Vec<f64>>,
    weights: Option<Vec<f64>>,
}

impl PlainFile {
    pub fn open(path: &Path) -> PlainFile {
        let source = Source::open(path);
        let nodes = source.list("nodes");
        let with_mesh = |node: &usize| nodes[*node].get("mesh").is_some();
        let with_skin = |node: &usize| nodes[*node].get("skin").is_some();
        let mesh_nodes: Vec<usize> = (0..nodes.len()).filter(with_mesh).collect();
        let skinned: Vec<usize> = mesh_nodes.iter().copied().filter(with_skin).collect();
        let chosen = if skinned.is_empty() {
            mesh_nodes
        } else {
            skinned
        };
        let instances = chosen
            .into_iter()
            .map(|node| source.instance(node))
            .collect();
        PlainFile { source, instances }
    }

    pub fn clip_count(&self) -> usize {
        self.source.list("animations").len()
    }

    /// The last key of a clip.
    pub fn duration(&self, clip: usize) -> f64 {
        let animation = &self.source.json["animations"][clip];
        let mut end: f64 = 0.0;
        for channel in animation["channels"].as_array().unwrap() {
            let sampler = &animation["samplers"][index(&channel["sampler"])];
            let times = self.source.accessor(index(&sampler["input"]));
            end = times.last().map_or(end, |last| end.max(last[0]));
        }
        end
    }

    /// Every vertex of the character at a time of a clip, or at rest.
    pub fn pose(&self, clip_and_time: Option<(usize, f64)>) -> Vec<Moved> {
        let mut animated = vec![Animated::default(); self.source.list("nodes").len()];
        if let Some((clip, time)) = clip_and_time {
            self.source.animate(clip, time, &mut animated);
        }
        let world = self.source.world_matrices(&animated);
        let mut moved = Vec::new();
        for instance in &self.instances {
            let weights = animated[instance.node].weights.as_ref();
            let weights = weights.unwrap_or(&instance.default_weights);
            let joints = instance.joints.iter();
            let palette: Vec<Matrix> = joints
                .map(|(node, bind)| product(&world[*node], bind))
                .collect();
            for primitive in &instance.primitives {
                for (vertex, influences) in primitive.influences.iter().enumerate() {
                    let mut position = primitive.positions[vertex];
                    let mut normal = primitive.normals.as_ref().map(|normals| normals[vertex]);
                    for ([positions, normals], weight) in primitive.targets.iter().zip(weights) {
                        if let Some(offsets) = positions {
                            position = add_scaled(position, offsets[vertex], *weight);
                        }
                        if let (Some(normal), Some(offsets)) = (&mut normal, normals) {
                            *normal = add_scaled(*normal, offsets[vertex], *weight);
                        }
                    }
                    let mut blend = [[0.0; 4]; 3];
                    for (joint, weight) in influences {
                        for (sum, entry) in blend
                            .iter_mut()
                            .flatten()
                            .zip(palette[*joint].iter().flatten())
                        {
                            *sum += weight * entry;
                        }
                    }
                    moved.push(Moved {
                        position: transform(&blend, position),
                        blend,
                        bind_normal: normal,
                    });
                }
            }
        }
        moved
    }
}

impl Source {
    fn open(path: &Path) -> Source {
        let bytes = std::fs::read(path).unwrap();
        let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
        let (text, binary) = if bytes.starts_with(b"glTF") {
            let json_end = 20 + word(12);
            (&bytes[20..json_end], &bytes[json_end + 8..])
        } else {
            (&bytes[..], &[][..])
        };
        let json: Value = serde_json::from_slice(text).unwrap();
        let mut buffers = Vec::new();
        for buffer in json["buffers"].as_array().unwrap() {
            buffers.push(match buffer["uri"].as_str() {
                None => binary.to_vec(),
                Some(uri) => match uri.split_once(";base64,") {
                    Some((_, data)) => base64::engine::general_purpose::STANDARD
                        .decode(data)
                        .unwrap(),
                    None => std::fs::read(path.with_file_name(uri)).unwrap(),
                },
            });
        }
        Source { json, buffers }
    }

    fn list(&self, key: &str) -> &[Value] {
        self.json[key].as_array().map_or(&[], Vec::as_slice)
    }

    fn instance(&self, node_index: usize) -> Instance {
        let node = &self.json["nodes"][node_index];
        let mesh = &self.json["meshes"][index(&node["mesh"])];
        let joints = match node.get("skin") {
            None => vec![(node_index, IDENTITY)],
            Some(skin) => {
                let skin = &self.json["skins"][index(skin)];
                let matrices = skin
                    .get("inverseBindMatrices")
                    .map(|accessor| self.accessor(index(accessor)));
                let bind = |joint: usize| {
                    matrices
                        .as_ref()
                        .map_or(IDENTITY, |all| from_columns(&all[joint]))
                };
                let joints = skin["joints"].as_array().unwrap().iter().enumerate();
                joints
                    .map(|(joint, node)| (index(node), bind(joint)))
                    .collect()
            }
        };
        let primitives = mesh["primitives"].as_array().unwrap();
        let default_weights = node.get("weights").or(mesh.get("weights"));
        let target_count = primitives[0]["targets"].as_array().map_or(0, Vec::len);
        Instance {
            node: node_index,
            default_weights: default_weights.map_or(vec![0.0; target_count], numbers),
            primitives: primitives
                .iter()
                .map(|primitive| self.primitive(primitive, node.get("skin").is_some()))
                .collect(),
            joints,
        }
    }

    fn primitive(&self, primitive: &Value, skinned: bool) -> Primitive {
        let vectors = |attributes: &Value, name: &str| {
            let accessor = attributes.get(name)?;
            let rows = self.accessor(index(accessor));
            Some(
                rows.into_iter()
                    .map(|row| [row[0], row[1], row[2]])
                    .collect::<Vec<Vector>>(),
            )
        };
        let attributes = &primitive["attributes"];
        let positions = vectors(attributes, "POSITION").unwrap();
        let mut influences = vec![Vec::new(); positions.len()];
        for set in 0.. {
            let Some(joints) = attributes.get(format!("JOINTS_{set}")).filter(|_| skinned) else {
                break;
            };
            let joints = self.accessor(index(joints));
            let weights = self.accessor(index(&attributes[format!("WEIGHTS_{set}")]));
            for ((influences, joints), weights) in influences.iter_mut().zip(joints).zip(weights) {
                let pairs = joints.iter().map(|joint| *joint as usize).zip(weights);
                influences.extend(pairs.filter(|(_, weight)| *weight != 0.0));
            }
        }
        for influences in &mut influences {
            if !skinned {
                influences.push((0, 1.0));
            }
            let sum: f64 = influences.iter().map(|(_, weight)| weight).sum();
            assert!(sum > 0.0, "a vertex without weights");
            influences.iter_mut().for_each(|(_, weight)| *weight /= sum);
        }
        let targets = primitive["targets"].as_array();
        let targets = targets.into_iter().flatten();
        Primitive {
            normals: vectors(attributes, "NORMAL"),
            targets: targets
                .map(|target| [vectors(target, "POSITION"), vectors(target, "NORMAL")])
                .collect(),
            positions,
            influences,
        }
    }

    /// The elements of an accessor, each a row of numbers.
    fn accessor(&self, accessor_index: usize) -> Vec<Vec<f64>> {
        let accessor = &self.json["accessors"][accessor_index];
        let width = match accessor["type"].as_str().unwrap() {
            "SCALAR" => 1,
            "VEC2" => 2,
            "VEC3" => 3,
            "VEC4" => 4,
            "MAT4" => 16,
            other => panic!("a {other}"),
        };
        let component = index(&accessor["componentType"]);
        let size = component_size(component);
        let normalized = accessor["normalized"].as_bool().unwrap_or(false);
        let row = |bytes: &[u8]| -> Vec<f64> {
            let components = bytes[..size * width].chunks_exact(size);
            components
                .map(|bytes| number(component, normalized, bytes))
                .collect()
        };
        let count = index(&accessor["count"]);
        let mut rows = vec![vec![0.0; width]; count];
        if let Some(view) = accessor.get("bufferView") {
            let view = &self.json["bufferViews"][index(view)];
            let stride = view["byteStride"]
                .as_u64()
                .map_or(size * width, |stride| stride as usize);
            let bytes = &self.view(view)[optional(&accessor["byteOffset"])..];
            for (position, target) in rows.iter_mut().enumerate() {
                *target = row(&bytes[position * stride..]);
            }
        }
        if let Some(sparse) = accessor.get("sparse") {
            let part = |name: &str| {
                let part = &sparse[name];
                &self.view(&self.json["bufferViews"][index(&part["bufferView"])])
                    [optional(&part["byteOffset"])..]
            };
            let index_type = index(&sparse["indices"]["componentType"]);
            let index_size = component_size(index_type);
            let positions = part("indices").chunks_exact(index_size);
            let values = part("values").chunks_exact(size * width);
            for (position, value) in positions.zip(values).take(index(&sparse["count"])) {
                rows[number(index_type, false, position) as usize] = row(value);
            }
        }
        rows
    }

    fn view(&self, view: &Value) -> &[u8] {
        let start = optional(&view["byteOffset"]);
        &self.buffers[index(&view["buffer"])][start..start + index(&view["byteLength"])]
    }

    fn animate(&self, clip: usize, time: f64, animated: &mut [Animated]) {
        let animation = &self.json["animations"][clip];
        for channel in animation["channels"].as_array().unwrap() {
            let node = index(&channel["target"]["node"]);
            let path = channel["target"]["path"].as_str().unwrap();
            let sampler = &animation["samplers"][index(&channel["sampler"])];
            let keys = Keys {
                times: self.accessor(index(&sampler["input"])).concat(),
                values: self.accessor(index(&sampler["output"])).concat(),
                interpolation: sampler["interpolation"].as_str().unwrap_or("LINEAR"),
            };
            let animated = &mut animated[node];
            match path {
                "translation" => animated.translation = Some(keys.at(time, false)),
                "rotation" => animated.rotation = Some(keys.at(time, true)),
                "scale" => animated.scale = Some(keys.at(time, false)),
                "weights" => animated.weights = Some(keys.at(time, false)),
                other => panic!("a channel for {other}"),
            }
        }
    }

    fn world_matrices(&self, animated: &[Animated]) -> Vec<Matrix> {
        let nodes = self.list("nodes");
        let mut parent_of = HashMap::new();
        for (parent, node) in nodes.iter().enumerate() {
            for child in node["children"].as_array().into_iter().flatten() {
                parent_of.insert(index(child), parent);
            }
        }
        let local: Vec<Matrix> = nodes
            .iter()
            .zip(animated)
            .map(|(node, animated)| local_matrix(node, animated))
            .collect();
        let world = |node: usize| {
            let mut matrix = local[node];
            let mut above = node;
            while let Some(&parent) = parent_of.get(&above) {
                matrix = product(&local[parent], &matrix);
                above = parent;
            }
            matrix
        };
        (0..nodes.len()).map(world).collect()
    }
}

struct Keys<'a> {
    times: Vec<f64>,
    values: Vec<f64>,
    interpolation: &'a str,
}

impl Keys<'_> {
    /// Appendix C of the glTF 2.0 specification.
    fn at(&self, time: f64, rotation: bool) -> Vec<f64> {
        let cubic = self.interpolation == "CUBICSPLINE";
        let width = self.values.len() / self.times.len() / if cubic { 3 } else { 1 };
        // Of a cubic key: 0 the in-tangent, 1 the value, 2 the out-tangent.
        let part = |key: usize, part: usize| {
            let row = if cubic { key * 3 + part } else { key };
            &self.values[row * width..(row + 1) * width]
        };
        let finished = |mut result: Vec<f64>| {
            if rotation {
                let length = result.iter().map(|x| x * x).sum::<f64>().sqrt();
                result.iter_mut().for_each(|x| *x /= length);
            }
            result
        };
        let after = self
            .times
            .iter()
            .position(|&key| key > time)
            .unwrap_or(self.times.len());
        if after == 0 || after == self.times.len() {
            return finished(part(after.saturating_sub(1), 1).to_vec());
        }
        let (from, to) = (after - 1, after);
        let span = self.times[to] - self.times[from];
        let t = (time - self.times[from]) / span;
        let (start, end) = (part(from, 1), part(to, 1));
        let each = |f: &dyn Fn(usize) -> f64| (0..width).map(f).collect::<Vec<f64>>();
        finished(match self.interpolation {
            "STEP" => start.to_vec(),
            "LINEAR" if rotation => slerp(finished(start.to_vec()), finished(end.to_vec()), t),
            "LINEAR" => each(&|c| start[c] + (end[c] - start[c]) * t),
            "CUBICSPLINE" => {
                let (leaving, arriving) = (part(from, 2), part(to, 0));
                each(&|c| {
                    (2.0 * t.powi(3) - 3.0 * t.powi(2) + 1.0) * start[c]
                        + span * (t.powi(3) - 2.0 * t.powi(2) + t) * leaving[c]
                        + (-2.0 * t.powi(3) + 3.0 * t.powi(2)) * end[c]
                        + span * (t.powi(3) - t.powi(2)) * arriving[c]
                })
            }
            other => panic!("{other} interpolation"),
        })
    }
}

fn slerp(start: Vec<f64>, end: Vec<f64>, t: f64) -> Vec<f64> {
    let dot: f64 = start.iter().zip(&end).map(|(a, b)| a * b).sum();
    let angle = dot.abs().min(1.0).acos();
    let (a, b) = if angle < 1e-6 {
        (1.0 - t, t)
    } else {
        (
            ((1.0 - t) * angle).sin() / angle.sin(),
            (t * angle).sin() / angle.sin(),
        )
    };
    let b = b * dot.signum();
    start.iter().zip(&end).map(|(x, y)| a * x + b * y).collect()
}

fn local_matrix(node: &Value, animated: &Animated) -> Matrix {
    if let Some(matrix) = node.get("matrix") {
        let moved = animated.translation.is_some()
            || animated.rotation.is_some()
            || animated.scale.is_some();
        assert!(!moved, "a clip moves a node that has a matrix");
        return from_columns(&numbers(matrix));
    }
    let part = |animated: &Option<Vec<f64>>, name: &str, default: &[f64]| {
        let own = node.get(name).map_or_else(|| default.to_vec(), numbers);
        animated.clone().unwrap_or(own)
    };
    let t = part(&animated.translation, "translation", &[0.0; 3]);
    let q = part(&animated.rotation, "rotation", &[0.0, 0.0, 0.0, 1.0]);
    let s = part(&animated.scale, "scale", &[1.0; 3]);
    let length = q.iter().map(|x| x * x).sum::<f64>().sqrt();
    let [x, y, z, w] = [0, 1, 2, 3].map(|c: usize| q[c] / length);
    [
        [
            s[0] * (1.0 - 2.0 * (y * y + z * z)),
            s[1] * 2.0 * (x * y - w * z),
            s[2] * 2.0 * (x * z + w * y),
            t[0],
        ],
        [
            s[0] * 2.0 * (x * y + w * z),
            s[1] * (1.0 - 2.0 * (x * x + z * z)),
            s[2] * 2.0 * (y * z - w * x),
            t[1],
        ],
        [
            s[0] * 2.0 * (x * z - w * y),
            s[1] * 2.0 * (y * z + w * x),
            s[2] * (1.0 - 2.0 * (x * x + y * y)),
            t[2],
        ],
    ]
}

fn from_columns(columns: &[f64]) -> Matrix {
    [0, 1, 2].map(|row: usize| [0, 1, 2, 3].map(|column: usize| columns[column * 4 + row]))
}

fn product(a: &Matrix, b: &Matrix) -> Matrix {
    let mut result = [[0.0; 4]; 3];
    for row in 0..3 {
        for column in 0..4 {
            let translation = if column == 3 { a[row][3] } else { 0.0 };
            result[row][column] =
                (0..3).map(|k| a[row][k] * b[k][column]).sum::<f64>() + translation;
        }
    }
    result
}

fn transform(matrix: &Matrix, point: Vector) -> Vector {
    matrix.map(|row| row[0] * point[0] + row[1] * point[1] + row[2] * point[2] + row[3])
}

fn add_scaled(vector: Vector, offset: Vector, weight: f64) -> Vector {
    [0, 1, 2].map(|c: usize| vector[c] + weight * offset[c])
}

fn index(value: &Value) -> usize {
    value.as_u64().unwrap() as usize
}

fn optional(value: &Value) -> usize {
    value.as_u64().unwrap_or(0) as usize
}

fn numbers(value: &Value) -> Vec<f64> {
    value
        .as_array()
        .unwrap()
        .iter()
        .map(|number| number.as_f64().unwrap())
        .collect()
}

fn component_size(component: usize) -> usize {
    match component {
        5120 | 5121 => 1,
        5122 | 5123 => 2,
        5125 | 5126 => 4,
        other => panic!("component type {other}"),
    }
}

fn number(component: usize, normalized: bool, bytes: &[u8]) -> f64 {
    let (value, largest) = match component {
        5120 => (f64::from(bytes[0] as i8), 127.0),
        5121 => (f64::from(bytes[0]), 255.0),
        5122 => (
            f64::from(i16::from_le_bytes([bytes[0], bytes[1]])),
            32_767.0,
        ),
        5123 => (
            f64::from(u16::from_le_bytes([bytes[0], bytes[1]])),
            65_535.0,
        ),
        5125 => (
            f64::from(u32::from_le_bytes(bytes.try_into().unwrap())),
            f64::from(u32::MAX),
        ),
        _ => (
            f64::from(f32::from_le_bytes(bytes.try_into().unwrap())),
            1.0,
        ),
    };
    if normalized {
        (value / largest).max(-1.0)
    } else {
        value
    }
}
