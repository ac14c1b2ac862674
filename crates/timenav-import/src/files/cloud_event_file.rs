//! `CloudEvents` 1.0 in JSON: a single one, a batch, or one per line.

mod binary;
#[cfg(test)]
mod tests;

use std::io::Read;

use serde_json::Value;
use timenav_core::event::{Cause, CauseKind, EventDraft};
use timenav_core::ids::EventId;
use timenav_core::limits::{EVENT_SEQUENCE_MAX, SOURCE_BYTES_MAX};

use crate::content_id::id_of_name;
use crate::event_record::instant;
use crate::json::json_object::{self, Members};
use crate::json::json_stream::{self, Part};
use crate::limits::RECORD_BYTES_MAX;
use crate::{ImportError, Item, RecordError, Sink, assembly};
pub use binary::cloud_event_of_parts;

const WHAT: &str = "a CloudEvent";
const VERSION: &str = "1.0";

pub(crate) fn read(input: &mut dyn Read, sink: Sink<'_>) -> Result<(), ImportError> {
    let part = Part { what: WHAT, bytes_max: RECORD_BYTES_MAX };
    let mut number = 0;
    json_stream::values(part, input, &mut |text, _| {
        number += 1;
        let event = draft(text).and_then(assembly::finish);
        Ok(sink(Item::new(number, event)))
    })
}

fn draft(text: &str) -> Result<EventDraft, RecordError> {
    let mut members = Members::parse(text, WHAT)?;
    check(&members)?;
    let version = members.required_text("specversion", WHAT)?;
    if version != VERSION {
        let detail = format!("only version `{VERSION}` is supported, not `{}`", crate::item::clipped(version));
        return Err(RecordError::invalid("specversion", detail));
    }
    let id = members.required_text("id", WHAT)?;
    let source = members.required_text("source", WHAT)?;
    let kind = members.required_text("type", WHAT)?;
    let time = members.text("time")?.ok_or_else(|| {
        let detail = "the event does not say when it happened";
        RecordError::of(RecordError::MISSING, "time", detail)
    })?;
    let mut draft = EventDraft::at(instant("time", &time)?, "");
    draft.event_id = Some(event_id(&source, &id));
    draft.causes = cause(&members, &source)?;
    draft.sequence = sequence(&mut members);
    json_object::entitle(&mut draft, kind.clone());
    members.put("type", Value::String(kind));
    members.put("id", Value::String(id));
    if source.len() > SOURCE_BYTES_MAX {
        members.put("source", Value::String(source));
    } else {
        draft.source = Some(source);
    }
    draft.attributes = members.into_attributes()?;
    Ok(draft)
}

/// Checks names and values according to the specification (§3, and §3 of its JSON format).
fn check(members: &Members) -> Result<(), RecordError> {
    if members.get("data").is_some() && members.get("data_base64").is_some() {
        return Err(RecordError::invalid("data_base64", "a CloudEvent has `data` or `data_base64`, not both"));
    }
    for name in members.names() {
        if matches!(name, "data" | "data_base64") {
            continue;
        }
        let is_right = name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
        if name.is_empty() || !is_right {
            let detail = "attribute names can contain only lower-case letters and digits";
            return Err(RecordError::of(RecordError::UNKNOWN, name, detail));
        }
        match members.get(name) {
            Some(Value::String(text)) if text.contains(char::is_control) => {
                return Err(RecordError::invalid(name, "an attribute cannot contain control characters"));
            }
            Some(Value::Array(_) | Value::Object(_)) => {
                return Err(RecordError::invalid(name, "an attribute must be a string, a boolean or a number"));
            }
            Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) | None => {}
        }
    }
    Ok(())
}

/// Returns the event id, which includes the source because ids are only unique within it: `<id>@<source>`, or a derived
/// id if that is not valid.
fn event_id(source: &str, id: &str) -> EventId {
    let name = format!("{id}@{source}");
    let legal = if id.contains('@') { None } else { EventId::new(&name).ok() };
    // Attributes contain no line ends, so the pair is unambiguous.
    legal.unwrap_or_else(|| id_of_name(&format!("{id}\n{source}")))
}

/// Returns the cause, an event of the same source.
fn cause(members: &Members, source: &str) -> Result<Vec<Cause>, RecordError> {
    match members.get("causationid") {
        None => Ok(Vec::new()),
        Some(Value::String(id)) if !id.is_empty() => {
            Ok(vec![Cause { event_id: event_id(source, id), kind: CauseKind::Requires }])
        }
        Some(_) => Err(RecordError::invalid("causationid", "this is the id of an event of the same source")),
    }
}

/// Takes the source's sequence number. A sequence that is not a number stays an attribute.
fn sequence(members: &mut Members) -> Option<u64> {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let number = match members.get("sequence")? {
        Value::Number(number) => number.as_u64(),
        Value::String(text) if is_number(text) => text.parse().ok(),
        _ => None,
    };
    number.filter(|number| *number <= EVENT_SEQUENCE_MAX)
}
