//! Data that Supple stores in the extras of a file.

use serde_json::{Map, Value, json};

/// The member of `extras` that holds what is Supple's.
pub(super) const OWN: &str = "supple";

/// The extras of a mesh, created if there are none; none if they are not an object.
pub(super) fn extras_of(mesh: &mut Value) -> Option<&mut Map<String, Value>> {
    let extras = mesh.as_object_mut()?.entry("extras").or_insert(Value::Null);
    if extras.is_null() {
        *extras = json!({});
    }
    extras.as_object_mut()
}

/// Removes the member at the end of a path of keys, and objects that become empty by that. True if
/// it was there.
pub(super) fn remove_member(json: &mut Value, path: &[&str]) -> bool {
    let (Some((key, rest)), Some(object)) = (path.split_first(), json.as_object_mut()) else {
        return false;
    };
    let Some(member) = object.get_mut(*key) else {
        return false;
    };
    let removed = rest.is_empty() || remove_member(member, rest);
    let emptied = member.as_object().is_some_and(Map::is_empty);
    if removed && (rest.is_empty() || emptied) {
        object.shift_remove(*key);
    }
    removed
}
