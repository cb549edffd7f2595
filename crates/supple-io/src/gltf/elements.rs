//! Elements of a file's JSON arrays, by type and by index.

use super::fault::Fault;
use crate::text::shortened;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// The elements of a top-level array; none if it is absent. Errors name the element.
pub(super) fn section<T: DeserializeOwned>(json: &Value, key: &str) -> Result<Vec<T>, Fault> {
    let elements = match json.get(key) {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Array(elements)) => elements,
        Some(_) => return Err(Fault::new(key, "not an array")),
    };
    let typed = |(index, element): (usize, &Value)| {
        T::deserialize(element)
            .map_err(|error| Fault::new(format!("{key}[{index}]"), shortened(&error.to_string())))
    };
    elements.iter().enumerate().map(typed).collect()
}

/// Checks an index from the file.
pub(super) fn in_range(index: usize, count: usize, what: &str, place: &str) -> Result<(), Fault> {
    if index < count {
        return Ok(());
    }
    Err(Fault::new(
        place,
        format!("names {what} {index}, but there are {count}"),
    ))
}
