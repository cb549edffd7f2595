//! Tables in Markdown, made of JSON objects.

use super::timing::readable;
use serde_json::{Map, Value};
use std::time::Duration;

/// Lines for people, and the same as JSON for programs.
#[derive(Default)]
pub(super) struct Table {
    lines: Vec<Map<String, Value>>,
    objects: Vec<Value>,
}

impl Table {
    /// Adds an object, and a line with its values; keys are the heads of the columns.
    pub(super) fn push(&mut self, object: Value) {
        self.push_line(object.clone(), [object]);
    }

    /// Adds a line that sums up several objects.
    pub(super) fn push_line(&mut self, line: Value, objects: impl IntoIterator<Item = Value>) {
        self.lines.extend(line.as_object().cloned());
        self.objects.extend(objects);
    }

    pub(super) fn into_objects(self) -> Vec<Value> {
        self.objects
    }

    /// The table with aligned columns. Lines without a value for a column have an empty cell.
    pub(super) fn to_markdown(&self) -> String {
        let mut keys: Vec<&String> = Vec::new();
        for key in self.lines.iter().flat_map(Map::keys) {
            if key != "bench" && !keys.contains(&key) {
                keys.push(key);
            }
        }
        let mut rows: Vec<Vec<String>> = vec![keys.iter().map(|key| head(key)).collect()];
        for line in &self.lines {
            rows.push(keys.iter().map(|key| cell(key, line.get(*key))).collect());
        }
        let width = |column: usize| {
            let cells = rows.iter().map(|row| row[column].chars().count());
            cells.max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..keys.len()).map(width).collect();
        rows.insert(1, widths.iter().map(|&width| "-".repeat(width)).collect());
        let mut text = String::new();
        for row in &rows {
            for (cell, &width) in row.iter().zip(&widths) {
                text += &format!("| {cell:<width$} ");
            }
            text += "|\n";
        }
        text
    }
}

/// The head of a column: a duration brings its own unit.
fn head(key: &str) -> String {
    match key.strip_suffix("_ms") {
        _ if key == "ms" => "time".to_owned(),
        Some(what) => what.replace('_', " "),
        None => key.replace('_', " "),
    }
}

fn cell(key: &str, value: Option<&Value>) -> String {
    let Some(value) = value else {
        return String::new();
    };
    match (value, value.as_f64()) {
        (Value::String(text), _) => text.clone(),
        (Value::Bool(on), _) => if *on { "on" } else { "off" }.to_owned(),
        (_, Some(number)) if key == "ms" || key.ends_with("_ms") => {
            readable(Duration::from_secs_f64(number / 1e3))
        }
        (_, Some(number)) if key.ends_with("_share") => format!("{:.0} %", 100.0 * number),
        (_, Some(number)) if value.is_f64() => match number.abs() {
            0.0 | 100.0.. => format!("{number:.0}"),
            1.0.. => format!("{number:.1}"),
            0.001.. => format!("{number:.4}"),
            _ => format!("{number:.1e}"),
        },
        _ => value.to_string(),
    }
}
