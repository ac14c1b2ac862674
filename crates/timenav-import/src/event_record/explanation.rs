//! Explains why a text is not a record.
//!
//! The normal parser is fast and not specific. Only if it fails is the text parsed again.

use serde_json::Value;
use serde_path_to_error::Segment;

use super::EventRecord;
use crate::item::{RecordError, clipped};
use crate::json::plain_words::{in_plain_words, no_json};
use crate::suggestion;

const GEO_FIELDS: [&str; 3] = ["lat", "lon", "radius_m"];
const CAUSE_FIELDS: [&str; 2] = ["event_id", "kind"];
const ASSERTION_FIELDS: [&str; 3] = ["subject", "predicate", "value"];

/// Returns the error for a text that does not start like an object.
pub(super) fn not_an_object(text: &[u8]) -> RecordError {
    match serde_json::from_slice::<Value>(text) {
        Ok(_) => RecordError::whole(
            RecordError::INVALID,
            "an event must be a JSON object, such as `{\"time\": \"2024-07-20T20:17:40Z\"}`",
        ),
        Err(error) => malformed(&error),
    }
}

pub(super) fn of_failure(text: &[u8]) -> RecordError {
    let value = match serde_json::from_slice::<Value>(text) {
        Ok(value) => value,
        Err(error) => return malformed(&error),
    };
    if let Some(error) = unknown_field(&value) {
        return error;
    }
    let mut reader = serde_json::Deserializer::from_slice(text);
    match serde_path_to_error::deserialize::<_, EventRecord>(&mut reader) {
        Ok(_) => RecordError::whole(RecordError::INVALID, "the text is not one event"),
        Err(error) => {
            let field = path(error.path());
            let detail = without_position(error.inner());
            // The path contains names from the input.
            let field = Some(clipped(field)).filter(|field| !field.is_empty());
            RecordError { field, ..RecordError::whole(RecordError::INVALID, detail) }
        }
    }
}

fn malformed(error: &serde_json::Error) -> RecordError {
    RecordError::whole(RecordError::MALFORMED_JSON, no_json(error))
}

/// Returns the text of an error in plain words, without the line and column at its end.
pub(crate) fn without_position(error: &serde_json::Error) -> String {
    let mut text = error.to_string();
    let position = format!(" at line {} column {}", error.line(), error.column());
    if text.ends_with(&position) {
        text.truncate(text.len() - position.len());
    }
    in_plain_words(&text)
}

fn path(path: &serde_path_to_error::Path) -> String {
    let segments = path.iter().map(|segment| match segment {
        Segment::Seq { index } => index.to_string(),
        Segment::Map { key } => key.clone(),
        Segment::Enum { variant } => variant.clone(),
        Segment::Unknown => "?".to_owned(),
    });
    segments.collect::<Vec<_>>().join("/")
}

fn unknown_field(event: &Value) -> Option<RecordError> {
    let in_geo = || stranger("geo/", event.get("geo")?, GEO_FIELDS);
    stranger("", event, EventRecord::FIELDS)
        .or_else(in_geo)
        .or_else(|| stranger_in("causes", event, CAUSE_FIELDS))
        .or_else(|| stranger_in("asserts", event, ASSERTION_FIELDS))
}

fn stranger_in<const COUNT: usize>(list: &str, event: &Value, fields: [&'static str; COUNT]) -> Option<RecordError> {
    let mut items = event.get(list)?.as_array()?.iter().enumerate();
    items.find_map(|(index, item)| stranger(&format!("{list}/{index}/"), item, fields))
}

fn stranger<const COUNT: usize>(path: &str, value: &Value, fields: [&'static str; COUNT]) -> Option<RecordError> {
    let name = value.as_object()?.keys().find(|name| !fields.contains(&name.as_str()))?;
    let name_text = clipped(name.clone());
    let hint = suggestion::hint("the fields", name, fields);
    let detail = format!("`{name_text}` is not a field; {hint}");
    Some(RecordError::of(RecordError::UNKNOWN, format!("{path}{name_text}"), detail))
}
