//! The members of records in JSON.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use serde_json::{Map, Value};

use super::markers::Markers;
use super::{Column, Settings};
use crate::Format;
use crate::json_file::logfmt_as_json;
use crate::json_stream::{self, Part};
use crate::limits::{GUESS_ROWS_MAX, RECORD_BYTES_MAX};

/// How deep objects are looked into for a list of records, and for members.
const DEPTH_MAX: usize = 3;
/// What features say once more in their properties.
const IN_GEOMETRY: [&str; 6] = ["lat", "latitude", "lon", "lng", "long", "longitude"];
/// Longest text of a member that is looked at, in bytes.
const TEXT_BYTES_MAX: usize = 512;

/// Returns the members of the records by their paths, and where the records are.
pub(super) fn columns(format: Format, text: &str) -> (Vec<Column>, Settings) {
    let mut settings = Settings::new();
    let mut records = match format {
        Format::GeoJson => properties(text),
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
        // The document goes on behind what was looked at.
        records = values(text, Some(&path));
        settings.push(("records", Value::from(path)));
    }
    let mut members: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (number, record) in records.iter().enumerate() {
        let mut found = Vec::new();
        collect(record, "", DEPTH_MAX, &mut found);
        for (path, text) in found {
            let texts = members.entry(path).or_default();
            texts.resize(number, String::new());
            texts.push(text);
        }
    }
    if format == Format::GeoJson {
        // Where a feature is, its geometry says.
        members.retain(|name, _| !IN_GEOMETRY.iter().any(|word| name.eq_ignore_ascii_case(word)));
    }
    let column = |(name, mut texts): (String, Vec<String>)| {
        texts.resize(records.len(), String::new());
        let mut markers = Markers::default();
        for text in &texts {
            markers.note(text);
        }
        Column { name, texts, markers }
    };
    (members.into_iter().map(column).collect(), settings)
}

/// Returns the properties of the features of a collection, or of those that stand one after the other.
fn properties(text: &str) -> Vec<Map<String, Value>> {
    let mut features = values(text, Some("features"));
    if features.is_empty() {
        features = values(&text.replace('\u{1E}', " "), None);
    }
    let of = |mut feature: Map<String, Value>| match feature.remove("properties") {
        Some(Value::Object(properties)) => properties,
        _ => Map::new(),
    };
    features.into_iter().map(of).collect()
}

fn of_lines(text: &str, read: impl Fn(&str) -> Option<Map<String, Value>>) -> Vec<Map<String, Value>> {
    text.lines().filter_map(read).take(GUESS_ROWS_MAX).collect()
}

/// Returns the records of a document as far as it goes.
fn values(text: &str, path: Option<&str>) -> Vec<Map<String, Value>> {
    let part = Part { what: "a record", bytes_max: RECORD_BYTES_MAX };
    let mut records = Vec::new();
    let _ = json_stream::values_at(part, path, &mut text.as_bytes(), &mut |text, _| {
        records.extend(serde_json::from_str::<Map<String, Value>>(text).ok());
        Ok(if records.len() < GUESS_ROWS_MAX { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
    });
    records
}

/// Returns the path of the first list of objects inside of an object.
fn list_in(object: &Map<String, Value>, depth: usize) -> Option<String> {
    let is_list = |value: &Value| value.as_array().is_some_and(|items| items.first().is_some_and(Value::is_object));
    if let Some((name, _)) = object.iter().find(|(_, value)| is_list(value)) {
        return Some(name.clone());
    }
    let mut inner = object.iter().filter_map(|(name, value)| Some((name, value.as_object().filter(|_| depth > 0)?)));
    inner.find_map(|(name, inner)| Some(format!("{name}.{}", list_in(inner, depth - 1)?)))
}

/// Returns the path of a list that begins in what was looked at, and does not end there: the first name before `[{`.
fn list_in_start(text: &str) -> Option<String> {
    let (before, _) = text.split_once('[')?;
    let name = before.trim_end().strip_suffix(':')?.trim_end().strip_suffix('"')?;
    let (_, name) = name.rsplit_once('"')?;
    // Only that of the outermost object is known by its name alone.
    (before.matches('{').count() == before.matches('}').count() + 1).then(|| name.to_owned())
}

/// Collects the texts of an object and of those in it, by their paths.
fn collect(object: &Map<String, Value>, before: &str, depth: usize, found: &mut Vec<(String, String)>) {
    for (name, value) in object {
        let path = if before.is_empty() { name.clone() } else { format!("{before}.{name}") };
        match value {
            Value::Object(inner) if depth > 0 => collect(inner, &path, depth - 1, found),
            Value::String(text) if text.len() <= TEXT_BYTES_MAX => found.push((path, text.trim().to_owned())),
            Value::Number(number) => found.push((path, number.to_string())),
            Value::Null | Value::Bool(_) | Value::String(_) | Value::Array(_) | Value::Object(_) => {}
        }
    }
}
