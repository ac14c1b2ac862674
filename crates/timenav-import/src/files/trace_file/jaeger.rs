//! Jaeger's JSON, as exported by its UI and returned by its query service.

use std::collections::HashMap;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use timenav_core::event::CauseKind;

use super::halves::{Glance, Halves, Role};
use super::span::{Span, duration, is_no_id, origin, parent_id, span_id, start_and_end, trace_id};
use super::{Dialect, Drafted, EachSpan, Unwalked};
use crate::json::json_object::Members;
use crate::json::json_stream::array_values;
use crate::json::object_of::object_of;
use crate::limits::RECORD_BYTES_MAX;
use crate::{Format, RecordError};

pub(super) struct Jaeger;

#[derive(Deserialize)]
struct Document<'t> {
    #[serde(borrow)]
    data: Option<&'t RawValue>,
    #[serde(borrow)]
    spans: Option<&'t RawValue>,
    #[serde(borrow)]
    processes: Option<&'t RawValue>,
}

#[derive(Default)]
pub(super) struct Processes {
    by_key: HashMap<String, Result<Process, RecordError>>,
}

/// Copied to each of its spans.
#[derive(Clone)]
struct Process {
    service: String,
    tags: Map<String, Value>,
}

impl Process {
    fn of(mut members: Members) -> Result<Self, RecordError> {
        let service = members.text("serviceName")?.unwrap_or_default();
        Ok(Self { service, tags: tag_object(members.list("tags")?) })
    }
}

#[derive(Deserialize)]
struct Outline {
    #[serde(rename = "traceID")]
    trace: String,
    #[serde(rename = "spanID")]
    span: String,
    #[serde(rename = "processID")]
    process: Option<String>,
    tags: Option<Vec<Value>>,
    #[serde(rename = "startTime")]
    start: Option<u64>,
}

impl Dialect for Jaeger {
    type Surroundings = Processes;
    const FORMAT: Format = Format::Jaeger;

    fn walk<'t>(document: &'t str, each: EachSpan<'_, 't, Processes>) -> Result<(), Unwalked> {
        let outermost = parsed(document)?;
        match (outermost.data, outermost.spans) {
            (Some(traces), _) => {
                let mut wrong = None;
                let walked = array_values(traces.get(), &mut |text| {
                    let outcome = parsed(text).and_then(|one| trace(&one, each));
                    outcome.map_err(|unwalked| {
                        wrong = Some(unwalked);
                        crate::json::json_stream::Stopped::Enough
                    })
                });
                walked.map_err(|stopped| wrong.unwrap_or_else(|| Unwalked::of(stopped, "data")))
            }
            (None, Some(_)) => trace(&outermost, each),
            (None, None) => Err(Unwalked::Shape("a document needs `data`, an array of traces".to_owned())),
        }
    }

    fn glance(around: &Processes, span: &str) -> Option<Glance> {
        let outline: Outline = serde_json::from_str(span).ok()?;
        let process = outline.process.and_then(|key| around.by_key.get(&key)?.as_ref().ok());
        Some(Glance {
            trace: trace_id("traceID", &outline.trace).ok()?,
            span: span_id("spanID", &outline.span).ok()?,
            role: role(&outline.tags.unwrap_or_default()),
            service: process.map(|process| process.service.clone()).unwrap_or_default(),
            start: outline.start.filter(|micros| *micros > 0),
        })
    }

    fn draft(around: &Processes, halves: &Halves, span: &str) -> Result<Drafted, RecordError> {
        let mut members = Members::parse(span, "a span")?;
        let trace = trace_id("traceID", &members.required_text("traceID", "a span")?)?;
        let id = span_id("spanID", &members.required_text("spanID", "a span")?)?;
        let start = members.count("startTime")?.filter(|micros| *micros > 0);
        let mut notes = Vec::new();
        let duration = duration(&mut members, &mut notes)?;
        let (start, end) = start_and_end(("startTime", "duration"), start, duration)?;
        let mut parents = references(members.list("references")?)?;
        // Older versions write this instead of a reference, or in addition to one.
        let parent = parent_id(&mut members, "parentSpanID", &id)?;
        parents.extend(parent.map(|parent| (trace.clone(), parent, CauseKind::Requires)));
        let name = members.text("operationName")?.unwrap_or_default();
        let tags = members.list("tags")?;
        let role = role(&tags);
        members.put("tags", Value::Object(tag_object(tags)));
        let key = members.text("processID")?;
        let process = match members.object("process")? {
            // Older versions embed the process in the span.
            Some(own) => Some(Process::of(own)?),
            None => key.and_then(|key| around.by_key.get(&key)).cloned().transpose()?,
        };
        let Process { service, tags } = process.unwrap_or(Process { service: String::new(), tags: Map::new() });
        members.put("process", Value::Object(tags));
        members.put("trace_id", Value::String(trace.clone()));
        members.put("span_id", Value::String(id.clone()));
        Span { trace, id, role, service, name, start, end, parents, attributes: members, notes }.into_draft(halves)
    }
}

fn parsed(text: &str) -> Result<Document<'_>, Unwalked> {
    // Serde would also read a struct from an array, by field order.
    let read = text.starts_with('{').then(|| serde_json::from_str(text).ok()).flatten();
    read.ok_or_else(|| Unwalked::Shape("a document and each trace in it must be objects".to_owned()))
}

fn trace<'t>(trace: &Document<'t>, each: EachSpan<'_, 't, Processes>) -> Result<(), Unwalked> {
    let processes = match trace.processes.map(RawValue::get) {
        None => Processes::default(),
        Some(text) if text.len() > RECORD_BYTES_MAX => {
            return Err(Unwalked::Shape(format!("the processes of a trace can have at most {RECORD_BYTES_MAX} bytes")));
        }
        Some(text) => {
            let by_key: HashMap<String, &RawValue> = serde_json::from_str(text)
                .map_err(|_| Unwalked::Shape("`processes` must be an object of processes by their keys".to_owned()))?;
            let process = |(key, text): (String, &RawValue)| (key, origin("process", text.get()).and_then(Process::of));
            Processes { by_key: by_key.into_iter().map(process).collect() }
        }
    };
    let Some(spans) = trace.spans else {
        return Err(Unwalked::Shape("a trace needs `spans`, an array".to_owned()));
    };
    array_values(spans.get(), &mut |span| each(&processes, span)).map_err(|stopped| Unwalked::of(stopped, "spans"))
}

/// Reads references: `CHILD_OF` parents are required causes, `FOLLOWS_FROM` contributing ones.
fn references(items: Vec<Value>) -> Result<Vec<(String, String, CauseKind)>, RecordError> {
    let reference = |(index, item): (usize, Value)| {
        let field = |name: &str| format!("references/{index}/{name}");
        let text = |name: &str| {
            let found = item.get(name).and_then(Value::as_str);
            found.ok_or_else(|| {
                RecordError::of(RecordError::MISSING, field(name), format!("a reference needs a `{name}`"))
            })
        };
        let kind = match text("refType")? {
            "CHILD_OF" => CauseKind::Requires,
            "FOLLOWS_FROM" => CauseKind::Contributes,
            _ => {
                let detail = "a reference must have the type `CHILD_OF` or `FOLLOWS_FROM`";
                return Err(RecordError::invalid(field("refType"), detail));
            }
        };
        let (trace, span) = (text("traceID")?, text("spanID")?);
        if is_no_id(trace) || is_no_id(span) {
            return Ok(None);
        }
        Ok(Some((trace_id(&field("traceID"), trace)?, span_id(&field("spanID"), span)?, kind)))
    };
    items.into_iter().enumerate().filter_map(|item| reference(item).transpose()).collect()
}

fn role(tags: &[Value]) -> Role {
    let kind = tags.iter().find(|tag| tag.get("key").and_then(Value::as_str) == Some("span.kind"));
    match kind.and_then(|tag| tag.get("value")).and_then(Value::as_str) {
        Some("client") => Role::Client,
        Some("server") => Role::Server,
        _ => Role::Other,
    }
}

/// Tags as an object. Malformed tags stay unchanged under a name of their own.
fn tag_object(tags: Vec<Value>) -> Map<String, Value> {
    object_of(tags.into_iter().map(|mut tag| {
        let key = tag.get("key").and_then(Value::as_str).map(str::to_owned);
        match (key, tag.get_mut("value").map(Value::take)) {
            (Some(key), Some(value)) => (key, value),
            (Some(key), None) => (key, Value::Null),
            (None, Some(value)) => (String::new(), value),
            (None, None) => (String::new(), tag),
        }
    }))
}
