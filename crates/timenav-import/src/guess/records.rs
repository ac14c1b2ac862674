use std::collections::BTreeMap;
use std::ops::ControlFlow;

use serde_json::{Map, Value};

use super::markers::Markers;
use super::roles::Shape;
use super::{Column, Settings};
use crate::Format;
use crate::files::json_file::logfmt_as_json;
use crate::json::json_stream::{self, Part};
use crate::limits::{GUESS_ROWS_MAX, RECORD_BYTES_MAX};

/// How deep objects are searched for a list of records, and for members.
const DEPTH_MAX: usize = 3;
/// Longest member text that is examined, in bytes.
const TEXT_BYTES_MAX: usize = 512;

/// Returns the members of the records by path, the settings for the list of records, and other facts.
pub(super) fn columns(format: Format, text: &str) -> (Vec<Column>, Settings, Shape) {
    let mut settings = Settings::new();
    let mut shape = Shape { is_of_records: true, ..Shape::default() };
    let mut records = match format {
        Format::GeoJson => {
            let features = features(text);
            let with = features.iter().filter(|feature| feature.get("geometry").is_some_and(Value::is_object)).count();
            shape.geometries = Some((with, features.len()));
            features.into_iter().map(properties).collect()
        }
        Format::Json => values(text, None),
        Format::Logfmt => of_lines(text, |line| serde_json::from_str(&logfmt_as_json(line).ok()?).ok()),
        _ => of_lines(text, |line| serde_json::from_str(line).ok()),
    };
    if format == Format::Json
        && let [single] = records.as_slice()
        && let Some(path) = list_in(single, DEPTH_MAX)
    {
        records = values(text, Some(&path));
        settings.push(("records", Value::from(path)));
    } else if format == Format::Json
        && records.is_empty()
        && let Some(path) = list_in_start(text)
    {
        // The document continues after the examined part.
        records = values(text, Some(&path));
        settings.push(("records", Value::from(path)));
    }
    let mut members: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (number, record) in records.iter().enumerate() {
        let mut found = Vec::new();
        collect(record, "", DEPTH_MAX, &mut found, &mut shape.pairs);
        for (path, text) in found {
            let texts = members.entry(path).or_default();
            texts.resize(number, String::new());
            texts.push(text);
        }
    }
    let column = |(name, mut texts): (String, Vec<String>)| {
        texts.resize(records.len(), String::new());
        let mut markers = Markers::default();
        for text in &texts {
            markers.note(text);
        }
        Column { name, texts, markers }
    };
    (members.into_iter().map(column).collect(), settings, shape)
}

pub(super) fn has_features(text: &str) -> bool {
    features(text).iter().any(|feature| feature.get("type").and_then(Value::as_str) == Some("Feature"))
}

fn features(text: &str) -> Vec<Map<String, Value>> {
    let features = values(text, Some("features"));
    if features.is_empty() { values(&text.replace('\u{1E}', " "), None) } else { features }
}

fn properties(mut feature: Map<String, Value>) -> Map<String, Value> {
    match feature.remove("properties") {
        Some(Value::Object(properties)) => properties,
        _ => Map::new(),
    }
}

fn of_lines(text: &str, read: impl Fn(&str) -> Option<Map<String, Value>>) -> Vec<Map<String, Value>> {
    text.lines().filter_map(read).take(GUESS_ROWS_MAX).collect()
}

/// Returns the records of a possibly truncated document.
fn values(text: &str, path: Option<&str>) -> Vec<Map<String, Value>> {
    let part = Part { what: "a record", bytes_max: RECORD_BYTES_MAX };
    let mut records = Vec::new();
    let _ = json_stream::values_at(part, path, &mut text.as_bytes(), &mut |text, _| {
        records.extend(serde_json::from_str::<Map<String, Value>>(text).ok());
        Ok(if records.len() < GUESS_ROWS_MAX { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
    });
    records
}

/// Returns the path of the longest list of objects within an object, preferring outer ones.
fn list_in(object: &Map<String, Value>, depth: usize) -> Option<String> {
    let length = |value: &Value| {
        let items = value.as_array().filter(|items| items.first().is_some_and(Value::is_object));
        items.map_or(0, Vec::len)
    };
    let lists = object.iter().rev().filter(|(_, value)| length(value) > 0);
    if let Some((name, _)) = lists.max_by_key(|(_, value)| length(value)) {
        return Some(name.clone());
    }
    let mut inner = object.iter().filter_map(|(name, value)| Some((name, value.as_object().filter(|_| depth > 0)?)));
    inner.find_map(|(name, inner)| Some(format!("{name}.{}", list_in(inner, depth - 1)?)))
}

/// Returns the path of a list that starts in the examined part but does not end there: the first name before `[{`.
fn list_in_start(text: &str) -> Option<String> {
    let (before, _) = text.split_once('[')?;
    let name = before.trim_end().strip_suffix(':')?.trim_end().strip_suffix('"')?;
    let (_, name) = name.rsplit_once('"')?;
    // Only in the outermost object is the name the complete path.
    (before.matches('{').count() == before.matches('}').count() + 1).then(|| name.to_owned())
}

/// Collects texts by path, and the coordinates of points. Other lists of two numbers are only named.
fn collect(
    object: &Map<String, Value>,
    before: &str,
    depth: usize,
    found: &mut Vec<(String, String)>,
    pairs: &mut Vec<String>,
) {
    let is_point = object.get("type").and_then(Value::as_str) == Some("Point");
    for (name, value) in object {
        let path = if before.is_empty() { name.clone() } else { format!("{before}.{name}") };
        match value {
            Value::Object(inner) if depth > 0 => collect(inner, &path, depth - 1, found, pairs),
            Value::String(text) if text.len() <= TEXT_BYTES_MAX => found.push((path, text.trim().to_owned())),
            Value::Number(number) => found.push((path, number.to_string())),
            Value::Array(items) if (2..=3).contains(&items.len()) && items.iter().all(Value::is_number) => {
                if is_point && name == "coordinates" {
                    let number = |(number, item): (usize, &Value)| (format!("{path}.{number}"), item.to_string());
                    found.extend(items.iter().take(2).enumerate().map(number));
                } else if !pairs.contains(&path) && pairs.len() < GUESS_ROWS_MAX {
                    pairs.push(path);
                }
            }
            Value::Null | Value::Bool(_) | Value::String(_) | Value::Array(_) | Value::Object(_) => {}
        }
    }
}
