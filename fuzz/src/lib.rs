//! What the fuzz targets share: the bounds that hold for every error, and what holds for every
//! record that was read, whatever the format of its file.

use std::fmt::Display;
use std::io::{self, Read};
use std::ops::ControlFlow;

use serde_json::{Map, Value, json};
use timenav_core::event::EventDraft;
use timenav_core::ids::EventId;
use timenav_import::limits::DETAIL_BYTES_MAX;
use timenav_import::{EventRecord, Format, ImportError, Item, Mapping, RecordError, content_id, read};

/// Longest part of a message that does not come from the input, in bytes.
const OWN_WORDS_BYTES_MAX: usize = 400;
/// Most bytes that one byte of input takes where it is quoted, as in `\u{1f}`.
const QUOTED_BYTES_MAX: usize = 6;
/// Most texts that the error of an import quotes, each cut to [`DETAIL_BYTES_MAX`].
const QUOTES_MAX: usize = 2;

/// Every code that a record can be refused with.
const CODES: [&str; 9] = [
    "malformed_json",
    "malformed_logfmt",
    "malformed_csv",
    "malformed_calendar",
    "missing_parameter",
    "invalid_parameter",
    "unknown_parameter",
    "time_out_of_range",
    "record_too_large",
];

/// Checks the message of an error that quotes at most `quoted_bytes` of the input.
///
/// # Panics
/// The message is empty, or longer than what it quotes calls for.
pub fn check_message(error: &impl Display, quoted_bytes: usize) {
    let message = error.to_string();
    assert!(!message.is_empty(), "an error says something");
    assert!(message.len() <= OWN_WORDS_BYTES_MAX + QUOTED_BYTES_MAX * quoted_bytes, "{message}");
}

/// Checks the message of an error that cuts what it quotes.
///
/// # Panics
/// The message is empty or too long.
pub fn check_clipped_message(error: &impl Display) {
    let message = error.to_string();
    assert!(!message.is_empty(), "an error says something");
    assert!(message.len() <= OWN_WORDS_BYTES_MAX + QUOTES_MAX * DETAIL_BYTES_MAX, "{message}");
}

/// Checks why a record was refused.
///
/// # Panics
/// The error has another code than those documented, or says nothing, or more than it may.
pub fn check_refusal(error: &RecordError) {
    assert!(CODES.contains(&error.code), "{}", error.code);
    assert!((1..=DETAIL_BYTES_MAX).contains(&error.detail.len()), "{error:?}");
    // A member of JSON can have an empty name, and then that is the field.
    assert!(error.field.as_ref().is_none_or(|field| field.len() <= DETAIL_BYTES_MAX), "{error:?}");
}

/// Checks a draft that was read: it keeps the limits, its attributes are canonical, and written as
/// JSON it is read back the same.
///
/// # Panics
/// One of these does not hold.
pub fn check_draft(draft: &EventDraft) {
    draft.check().expect("a draft that was read keeps the limits");
    if let Some(attributes) = &draft.attributes {
        let object: Map<String, Value> = serde_json::from_str(attributes).expect("attributes are an object");
        let canonical = serde_json_canonicalizer::to_string(&object).expect("an object has a canonical form");
        assert_eq!(*attributes, canonical, "attributes are canonical");
    }
    let written = json_of(draft).to_string();
    let read = EventRecord::from_json(written.as_bytes()).and_then(EventRecord::into_draft);
    assert_eq!(read.as_ref(), Ok(draft), "what is written is read back: {written}");
    let id = content_id(draft);
    assert_eq!(EventId::new(id.as_str()), Ok(id), "the id of a content is an id");
}

/// Returns the draft as the engine keeps it: without what it does not have.
///
/// # Panics
/// The draft is none that was read.
#[must_use]
pub fn stored(draft: &EventDraft) -> String {
    let mut event = json_of(draft);
    if let Some(members) = event.as_object_mut() {
        members.retain(|_, value| !value.is_null() && *value != json!([]));
        if let Some(place) = members.get_mut("geo").and_then(Value::as_object_mut) {
            place.retain(|_, value| !value.is_null());
        }
    }
    event.to_string()
}

/// Returns the draft as callers write it.
fn json_of(draft: &EventDraft) -> Value {
    let causes = draft.causes.iter();
    let attributes = draft.attributes.as_ref().map(|text| serde_json::from_str::<Value>(text));
    json!({
        "event_id": draft.event_id.as_ref().map(EventId::as_str),
        "time": draft.time.to_string(),
        "end_time": draft.end_time.map(|at| at.to_string()),
        "precision": draft.precision.map(timenav_core::event::Precision::as_str),
        "description": draft.description,
        "name": draft.name,
        "location": draft.location,
        "geo": draft.geo.map(|geo| {
            json!({"lat": geo.point.lat(), "lon": geo.point.lon(), "radius_m": geo.radius_m})
        }),
        "causes": causes
            .map(|cause| json!({"event_id": cause.event_id.as_str(), "kind": cause.kind.as_str()}))
            .collect::<Vec<_>>(),
        "actors": draft.actors,
        "kind": draft.kind.map(timenav_core::event::EventKind::as_str),
        "sequence": draft.sequence,
        "asserts": draft
            .asserts
            .iter()
            .map(|one| {
                let value: Value = serde_json::from_str(&one.value).expect("a value is JSON");
                json!({"subject": one.subject, "predicate": one.predicate, "value": value})
            })
            .collect::<Vec<_>>(),
        "attributes": attributes.map(|object| object.expect("attributes are an object")),
        "source": draft.source,
    })
}

/// Reads a file and checks every record of it, and that reading it again, slowly or in part, gives
/// the same.
///
/// # Panics
/// One of these does not hold.
pub fn check_import(format: Format, mapping: &Mapping, file: &[u8]) {
    let (items, outcome) = items(format, mapping, file);
    for item in &items {
        match &item.event {
            Ok(draft) => {
                assert!(draft.event_id.is_some(), "every event of a file has an id");
                check_draft(draft);
            }
            Err(error) => check_refusal(error),
        }
    }
    assert!(items.iter().all(|item| item.line > 0), "lines are counted from 1");
    assert!(items.is_sorted_by_key(|item| item.line), "records come in the order of the file");
    if let Err(error) = &outcome {
        check_clipped_message(error);
        assert!(!error.code().is_empty(), "every error has a code");
    }
    let (slowly, slow_outcome) = self::items(format, mapping, Slow(file));
    assert_eq!(slowly, items, "a slow file gives the same");
    assert_eq!(code(&slow_outcome), code(&outcome), "a slow file ends the same");
    if !items.is_empty() {
        check_first_alone(format, mapping, file, &items);
    }
}

fn check_first_alone(format: Format, mapping: &Mapping, file: &[u8], items: &[Item]) {
    let mut first = Vec::new();
    let outcome = read(format, mapping, file, &mut |item| {
        first.push(item);
        ControlFlow::Break(())
    });
    assert!(outcome.is_ok(), "a sink that has enough is no error");
    assert_eq!(first, items[..1], "a sink that has enough is asked no more");
}

fn items(format: Format, mapping: &Mapping, file: impl Read) -> (Vec<Item>, Result<(), ImportError>) {
    let mut items = Vec::new();
    let outcome = read(format, mapping, file, &mut |item| {
        items.push(item);
        ControlFlow::Continue(())
    });
    (items, outcome)
}

fn code(outcome: &Result<(), ImportError>) -> Option<&'static str> {
    outcome.as_ref().err().map(ImportError::code)
}

/// Hands out a few bytes at a time.
struct Slow<'f>(&'f [u8]);

impl Read for Slow<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let few = out.len().min(7);
        self.0.read(&mut out[..few])
    }
}
