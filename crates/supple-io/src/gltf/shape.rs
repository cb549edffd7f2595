//! The shape of a file's JSON: which members are objects, which are lists, and of what.
//!
//! Checked once, when a file is opened. The reader and everything that changes a [`Document`] rely
//! on it: they look members up and change them in place, which needs objects where glTF has
//! objects. Numbers, indices and names are checked where they are read.
//!
//! [`Document`]: super::Document

use super::fault::Fault;
use serde_json::Value;

/// The required type of a member. An absent or null member is not checked.
enum JsonShape {
    /// An object with these members; others may be anything.
    Object(&'static [(&'static str, JsonShape)]),
    /// A list of elements of one shape.
    List(&'static JsonShape),
    /// A whole number, not negative.
    Index,
    /// A number.
    Number,
    /// A string.
    Text,
}

use JsonShape::{Index, List, Number, Object, Text};

/// A list of objects whose members are not checked.
const OBJECTS: JsonShape = List(&Object(&[]));

/// A glTF file, as far as its structure matters. `extensions` and `extras` may be anything:
/// some exporters write an empty list for an empty object.
const FILE: JsonShape = Object(&[
    ("asset", Object(&[])),
    ("extensionsUsed", List(&Text)),
    ("extensionsRequired", List(&Text)),
    ("scenes", List(&Object(&[("nodes", List(&Index))]))),
    (
        "nodes",
        List(&Object(&[
            ("children", List(&Index)),
            ("matrix", List(&Number)),
            ("translation", List(&Number)),
            ("rotation", List(&Number)),
            ("scale", List(&Number)),
            ("weights", List(&Number)),
        ])),
    ),
    (
        "meshes",
        List(&Object(&[
            (
                "primitives",
                List(&Object(&[
                    ("attributes", Object(&[])),
                    ("targets", OBJECTS),
                ])),
            ),
            ("weights", List(&Number)),
        ])),
    ),
    ("skins", List(&Object(&[("joints", List(&Index))]))),
    (
        "animations",
        List(&Object(&[
            ("channels", List(&Object(&[("target", Object(&[]))]))),
            ("samplers", OBJECTS),
        ])),
    ),
    (
        "accessors",
        List(&Object(&[(
            "sparse",
            Object(&[("indices", Object(&[])), ("values", Object(&[]))]),
        )])),
    ),
    ("bufferViews", OBJECTS),
    ("buffers", OBJECTS),
    ("cameras", OBJECTS),
    ("images", OBJECTS),
    ("materials", OBJECTS),
    ("samplers", OBJECTS),
    ("textures", OBJECTS),
]);

/// Refuses JSON that does not have the structure of a glTF file; the place is a JSON path.
pub(super) fn check(json: &Value) -> Result<(), Fault> {
    FILE.check(json, &mut String::new())
}

impl JsonShape {
    fn check(&self, json: &Value, path: &mut String) -> Result<(), Fault> {
        let length = path.len();
        match (self, json) {
            (Object(members), Value::Object(object)) => {
                for (name, shape) in *members {
                    let Some(member) = object.get(*name).filter(|member| !member.is_null()) else {
                        continue;
                    };
                    if length > 0 {
                        path.push('.');
                    }
                    path.push_str(name);
                    shape.check(member, path)?;
                    path.truncate(length);
                }
                Ok(())
            }
            (List(shape), Value::Array(elements)) => {
                for (index, element) in elements.iter().enumerate() {
                    path.push_str(&format!("[{index}]"));
                    shape.check(element, path)?;
                    path.truncate(length);
                }
                Ok(())
            }
            (Index, json) if json.is_u64() => Ok(()),
            (Number, Value::Number(_)) | (Text, Value::String(_)) => Ok(()),
            _ => {
                let place = match path.as_str() {
                    "" => "JSON",
                    path => path,
                };
                Err(Fault::new(place, format!("not {}", self.noun())))
            }
        }
    }

    fn noun(&self) -> &'static str {
        match self {
            Object(_) => "an object",
            List(_) => "an array",
            Index => "a whole number",
            Number => "a number",
            Text => "a string",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_not_as_gltf_has_it_is_named_by_its_path() {
        let cases = [
            (json!([]), "JSON: not an object"),
            (json!({ "animations": 5 }), "animations: not an array"),
            (
                json!({ "animations": [{}, 5] }),
                "animations[1]: not an object",
            ),
            (json!({ "scenes": ["a"] }), "scenes[0]: not an object"),
            (
                json!({ "scenes": [{ "nodes": [0, "a"] }] }),
                "scenes[0].nodes[1]: not a whole number",
            ),
            (
                json!({ "meshes": [{ "primitives": [{ "targets": [{}, []] }] }] }),
                "meshes[0].primitives[0].targets[1]: not an object",
            ),
            (
                json!({ "nodes": [{ "matrix": [1.5, null] }] }),
                "nodes[0].matrix[1]: not a number",
            ),
            (
                json!({ "accessors": [{ "sparse": { "indices": [0, 1] } }] }),
                "accessors[0].sparse.indices: not an object",
            ),
            (
                json!({ "bufferViews": [[0, 4]] }),
                "bufferViews[0]: not an object",
            ),
            (
                json!({ "extensionsUsed": [1] }),
                "extensionsUsed[0]: not a string",
            ),
        ];
        for (json, expected) in cases {
            let Fault { place, problem } = check(&json).unwrap_err();
            assert_eq!(format!("{place}: {problem}"), expected);
        }
        let odd = json!({
            "animations": null, "nodes": [{ "children": null, "extensions": [], "extras": 5 }],
            "ours": [5], "scenes": [{}],
        });
        check(&odd).unwrap();
    }
}
