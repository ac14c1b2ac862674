//! JSON and logs of any structure: one event per object, by a mapping or common names.

mod logfmt;
pub(crate) use logfmt::as_json as logfmt_as_json;
#[cfg(test)]
mod tests;

use std::io::Read;

use serde_json::Value;
use timenav_core::event::EventDraft;
use timenav_core::ids::EventId;

use crate::content_id::id_of_name;
use crate::files::ndjson_file;
use crate::json::json_fields::{Fields, Kind, Properties};
use crate::json::json_stream::{self, Part};
use crate::limits::RECORD_BYTES_MAX;
use crate::mapping::Mapping;
use crate::{ImportError, Item, RecordError, RecordNote, Sink, assembly, attributes};

/// The attribute for an id that is not valid.
const RECORD_ID: &str = "record_id";
const RECORD: Part = Part { what: "a record", bytes_max: RECORD_BYTES_MAX };

/// Reads the items of an array, possibly within an object, or consecutive objects.
pub(crate) fn read(mapping: &Mapping, input: &mut dyn Read, sink: Sink<'_>) -> Result<(), ImportError> {
    let mut number = 0;
    json_stream::values_at(RECORD, mapping.records(), input, &mut |text, _| {
        number += 1;
        Ok(sink(Item::noted(number, draft(mapping, text))))
    })
}

pub(crate) fn read_lines(mapping: &Mapping, input: &mut dyn Read, sink: Sink<'_>) -> Result<(), ImportError> {
    ndjson_file::read_by(input, sink, &|line| draft(mapping, text_of(line)?))
}

/// Reads lines such as `time=2024-07-20T20:17:40Z level=info msg="It has landed"`.
pub(crate) fn read_logfmt(mapping: &Mapping, input: &mut dyn Read, sink: Sink<'_>) -> Result<(), ImportError> {
    ndjson_file::read_by(input, sink, &|line| draft(mapping, &logfmt::as_json(text_of(line)?)?))
}

fn text_of(line: &[u8]) -> Result<&str, RecordError> {
    str::from_utf8(line).map_err(|_| {
        RecordError::whole(RecordError::MALFORMED_JSON, "the line is not UTF-8; save the file in that encoding")
    })
}

fn draft(mapping: &Mapping, text: &str) -> Result<(EventDraft, Vec<RecordNote>), RecordError> {
    let malformed = |detail: String| RecordError::whole(RecordError::MALFORMED_JSON, detail);
    if !text.trim_start().starts_with('{') {
        // Errors in the JSON itself are reported first.
        let value = serde_json::from_str::<serde::de::IgnoredAny>(text);
        return Err(value.map_or_else(
            |error| malformed(crate::json::plain_words::no_json(&error)),
            |_| RecordError::whole(RecordError::INVALID, "a record must be a JSON object"),
        ));
    }
    let members = Properties::of_object(text).map_err(malformed)?;
    let fields = Fields::new(Kind::Record, mapping, &members, false);
    let (mut draft, mut notes) = assembly::draft(&fields)?;
    let mut attributes = fields.complete(&mut draft, &mut notes)?;
    if let Some(name) = fields.event_id_text()? {
        let event_id = EventId::new(&name).ok();
        draft.event_id = Some(event_id.clone().unwrap_or_else(|| id_of_name(&name)));
        if event_id.is_none() {
            attributes.get_or_insert_default().entry(RECORD_ID).or_insert(Value::from(name));
        }
    }
    draft.attributes = attributes.as_ref().map(attributes::canonical).transpose()?;
    Ok((assembly::finish(draft)?, notes))
}
