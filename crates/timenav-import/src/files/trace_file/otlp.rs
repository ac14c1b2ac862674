//! OTLP/JSON spans and logs, as sent by OpenTelemetry exporters or written by its collector, one document per line.

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use timenav_core::event::{Cause, CauseKind, EventDraft};
use timenav_core::limits::ID_BYTES_MAX;

use super::halves::{Glance, Halves, Role};
use super::span::{Span, Time, event_id, instant, is_no_id, origin, parent_id, span_id, start_and_end, trace_id};
use super::{Dialect, Drafted, EachSpan, Unwalked};
use crate::json::json_object::Members;
use crate::json::json_stream::{Stopped, array_values};
use crate::json::object_of::object_of;
use crate::{Format, RecordError};

const SERVICE_NAME: &str = "service.name";
/// Attributes for times finer than a microsecond.
const TIMES: [&str; 2] = ["startTimeUnixNano", "endTimeUnixNano"];
/// When a log record was written and when it was received.
const LOG_TIMES: [&str; 2] = ["timeUnixNano", "observedTimeUnixNano"];
const KINDS: [&str; 6] = ["UNSPECIFIED", "INTERNAL", "SERVER", "CLIENT", "PRODUCER", "CONSUMER"];

pub(super) struct Otlp;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Document<'t> {
    #[serde(borrow)]
    resource_spans: Option<&'t RawValue>,
    #[serde(borrow)]
    resource_logs: Option<&'t RawValue>,
    /// Jaeger's query service wraps its responses in this.
    #[serde(borrow)]
    result: Option<&'t RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ResourceSpans<'t> {
    #[serde(borrow)]
    resource: Option<&'t RawValue>,
    #[serde(borrow)]
    scope_spans: Option<&'t RawValue>,
    /// Older name of `scopeSpans`.
    #[serde(borrow)]
    instrumentation_library_spans: Option<&'t RawValue>,
}

#[derive(Deserialize)]
struct ScopeSpans<'t> {
    #[serde(borrow)]
    scope: Option<&'t RawValue>,
    #[serde(borrow)]
    spans: Option<&'t RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ResourceLogs<'t> {
    #[serde(borrow)]
    resource: Option<&'t RawValue>,
    #[serde(borrow)]
    scope_logs: Option<&'t RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ScopeLogs<'t> {
    #[serde(borrow)]
    scope: Option<&'t RawValue>,
    #[serde(borrow)]
    log_records: Option<&'t RawValue>,
}

/// Source of spans or log records. Copied to each of them.
pub(super) struct Origin {
    resource: Result<Map<String, Value>, RecordError>,
    scope: Result<Map<String, Value>, RecordError>,
    is_log: bool,
}

impl Dialect for Otlp {
    type Surroundings = Origin;
    const FORMAT: Format = Format::Otlp;

    fn walk<'t>(document: &'t str, each: EachSpan<'_, 't, Origin>) -> Result<(), Unwalked> {
        let outermost: Document<'t> = parsed(document)?;
        let inner: Document<'t> = match (outermost.resource_spans, outermost.result) {
            (None, Some(result)) if outermost.resource_logs.is_none() => parsed(result.get())?,
            (Some(_) | None, _) => outermost,
        };
        if inner.resource_spans.is_none() && inner.resource_logs.is_none() {
            return Err(Unwalked::Shape("a document needs `resourceSpans` or `resourceLogs`, an array".to_owned()));
        }
        if let Some(resources) = inner.resource_spans {
            nested(resources.get(), "resourceSpans", &mut |text| resource_spans(text, each))?;
        }
        match inner.resource_logs {
            Some(resources) => nested(resources.get(), "resourceLogs", &mut |text| resource_logs(text, each)),
            None => Ok(()),
        }
    }

    // OpenTelemetry spans never share an id.
    fn glance(_: &Origin, _: &str) -> Option<Glance> {
        None
    }

    fn draft(around: &Origin, halves: &Halves, span: &str) -> Result<Drafted, RecordError> {
        if around.is_log {
            return log_record(around, span).map(|draft| (draft, Vec::new()));
        }
        let mut members = Members::parse(span, "a span")?;
        let trace = trace_id("traceId", &members.required_text("traceId", "a span")?)?;
        let id = span_id("spanId", &members.required_text("spanId", "a span")?)?;
        let mut parents = Vec::new();
        if let Some(parent) = parent_id(&mut members, "parentSpanId", &id)? {
            members.put("parent_span_id", Value::String(parent.clone()));
            parents.push((trace.clone(), parent, CauseKind::Requires));
        }
        parents.extend(linked(&mut members)?);
        let (start, end) = times(&mut members)?;
        let name = members.text("name")?.unwrap_or_default();
        plain_attributes(&mut members)?;
        let (resource, scope) = (around.resource.clone()?, around.scope.clone()?);
        let service = resource.get(SERVICE_NAME).and_then(Value::as_str).unwrap_or_default().to_owned();
        members.put("resource", Value::Object(resource));
        members.put("scope", Value::Object(scope));
        members.put("trace_id", Value::String(trace.clone()));
        members.put("span_id", Value::String(id.clone()));
        let role = Role::Other;
        Span { trace, id, role, service, name, start, end, parents, attributes: members, notes: Vec::new() }
            .into_draft(halves)
    }
}

fn parsed<'t, T: Deserialize<'t>>(text: &'t str) -> Result<T, Unwalked> {
    // Serde would also read a struct from an array, by field order.
    let read = text.starts_with('{').then(|| serde_json::from_str(text).ok()).flatten();
    read.ok_or_else(|| Unwalked::Shape("a document and the items of its arrays must be objects".to_owned()))
}

/// Walks an array whose items are walked in turn.
fn nested<'t>(
    text: &'t str,
    what: &str,
    each: &mut dyn FnMut(&'t str) -> Result<(), Unwalked>,
) -> Result<(), Unwalked> {
    let mut ended = None;
    let walked = array_values(text, &mut |item| {
        each(item).map_err(|unwalked| {
            ended = Some(unwalked);
            Stopped::Enough
        })
    });
    walked.map_err(|stopped| ended.unwrap_or_else(|| Unwalked::of(stopped, what)))
}

fn resource_spans<'t>(text: &'t str, each: EachSpan<'_, 't, Origin>) -> Result<(), Unwalked> {
    let of_resource: ResourceSpans<'t> = parsed(text)?;
    let mut origin =
        Origin { resource: described(of_resource.resource, "resource"), scope: Ok(Map::new()), is_log: false };
    let Some(scopes) = of_resource.scope_spans.or(of_resource.instrumentation_library_spans) else { return Ok(()) };
    nested(scopes.get(), "scopeSpans", &mut |text| {
        let of_scope: ScopeSpans<'t> = parsed(text)?;
        origin.scope = described(of_scope.scope, "scope");
        let Some(spans) = of_scope.spans else { return Ok(()) };
        array_values(spans.get(), &mut |span| each(&origin, span)).map_err(|stopped| Unwalked::of(stopped, "spans"))
    })
}

fn resource_logs<'t>(text: &'t str, each: EachSpan<'_, 't, Origin>) -> Result<(), Unwalked> {
    let of_resource: ResourceLogs<'t> = parsed(text)?;
    let resource = described(of_resource.resource, "resource");
    let mut origin = Origin { resource, scope: Ok(Map::new()), is_log: true };
    let Some(scopes) = of_resource.scope_logs else { return Ok(()) };
    nested(scopes.get(), "scopeLogs", &mut |text| {
        let of_scope: ScopeLogs<'t> = parsed(text)?;
        origin.scope = described(of_scope.scope, "scope");
        let Some(records) = of_scope.log_records else { return Ok(()) };
        let walked = array_values(records.get(), &mut |record| each(&origin, record));
        walked.map_err(|stopped| Unwalked::of(stopped, "logRecords"))
    })
}

/// The event of a log record. Its enclosing span is a cause.
fn log_record(around: &Origin, text: &str) -> Result<EventDraft, RecordError> {
    let mut members = Members::parse(text, "a log record")?;
    let [time_field, observed_field] = LOG_TIMES;
    // Use the receiver's time if the writer gave none.
    let written = members.count(time_field)?.filter(|nanos| *nanos > 0);
    let observed = members.count(observed_field)?.filter(|nanos| *nanos > 0);
    let nanos = written.or(observed).ok_or_else(|| {
        let detail = "the record does not say when it was written or observed";
        RecordError::of(RecordError::MISSING, time_field, detail)
    })?;
    let mut draft = EventDraft::at(instant(time_field, nanos / 1_000)?, "");
    for (name, nanos) in [(time_field, written), (observed_field, observed)] {
        let is_lost = |nanos: &u64| !nanos.is_multiple_of(1_000) || (name == observed_field && written.is_some());
        if let Some(nanos) = nanos.filter(is_lost) {
            members.put(name, Value::String(nanos.to_string()));
        }
    }
    let id = |members: &mut Members, name: &str| -> Result<Option<String>, RecordError> {
        Ok(members.text(name)?.filter(|id| !is_no_id(id)))
    };
    if let (Some(trace), Some(span)) = (id(&mut members, "traceId")?, id(&mut members, "spanId")?) {
        let (trace, span) = (trace_id("traceId", &trace)?, span_id("spanId", &span)?);
        draft.causes.push(Cause { event_id: event_id(&trace, &span, "")?, kind: CauseKind::Contributes });
        members.put("trace_id", Value::String(trace));
        members.put("span_id", Value::String(span));
    }
    draft.name = members.text("eventName")?.filter(|name| !name.is_empty());
    match members.take("body").map(plain) {
        Some(Value::String(text)) => draft.description = text,
        Some(body) => members.put("body", body),
        None => {}
    }
    let attributes = key_values(members.list("attributes")?);
    members.put("attributes", Value::Object(attributes));
    let (resource, scope) = (around.resource.clone()?, around.scope.clone()?);
    let service = resource.get(SERVICE_NAME).and_then(Value::as_str).filter(|service| !service.is_empty());
    draft.actors.extend(service.filter(|service| service.len() <= ID_BYTES_MAX).map(str::to_owned));
    members.put("resource", Value::Object(resource));
    members.put("scope", Value::Object(scope));
    draft.attributes = members.into_attributes()?;
    Ok(draft)
}

/// Reads a resource or scope: its attributes, and a scope's name and version.
fn described(text: Option<&RawValue>, what: &str) -> Result<Map<String, Value>, RecordError> {
    let Some(text) = text.map(RawValue::get) else { return Ok(Map::new()) };
    let mut object = origin(what, text)?;
    let mut described = key_values(object.list("attributes")?);
    for name in ["name", "version"] {
        if let Some(text) = object.text(name)? {
            described.entry(name).or_insert(Value::String(text));
        }
    }
    Ok(described)
}

/// Takes a span's times. They are truncated to microseconds; the exact value is kept in an attribute.
fn times(members: &mut Members) -> Result<(Time, Option<Time>), RecordError> {
    let [start_field, end_field] = TIMES;
    // 0 means unknown.
    let start = members.count(start_field)?.filter(|nanos| *nanos > 0);
    let end = members.count(end_field)?.filter(|nanos| *nanos > 0);
    for (name, nanos) in [(start_field, start), (end_field, end)] {
        if let Some(nanos) = nanos.filter(|nanos| nanos % 1_000 != 0) {
            members.put(name, Value::String(nanos.to_string()));
        }
    }
    let (start, _) = start_and_end((start_field, end_field), start.map(|nanos| nanos / 1_000), None)?;
    let end = end.map(|nanos| instant(end_field, nanos / 1_000)).transpose()?;
    Ok((start, end))
}

/// The targets of a span's links. The links stay, with simplified attributes.
fn linked(members: &mut Members) -> Result<Vec<(String, String, CauseKind)>, RecordError> {
    let mut causes = Vec::new();
    let mut links = members.list("links")?;
    for (index, link) in links.iter_mut().enumerate() {
        let field = |name: &str| format!("links/{index}/{name}");
        let text = |name: &str| {
            let found = link.get(name).and_then(Value::as_str);
            found.ok_or_else(|| RecordError::of(RecordError::MISSING, field(name), format!("a link needs a `{name}`")))
        };
        let (trace, span) = (text("traceId")?, text("spanId")?);
        if !is_no_id(trace) && !is_no_id(span) {
            let (trace, span) = (trace_id(&field("traceId"), trace)?, span_id(&field("spanId"), span)?);
            causes.push((trace, span, CauseKind::Contributes));
        }
        make_plain(link);
    }
    members.put("links", Value::Array(links));
    Ok(causes)
}

/// Simplifies the attributes of a span and its events, and names its kind.
fn plain_attributes(members: &mut Members) -> Result<(), RecordError> {
    let attributes = key_values(members.list("attributes")?);
    members.put("attributes", Value::Object(attributes));
    let mut events = members.list("events")?;
    events.iter_mut().for_each(make_plain);
    members.put("events", Value::Array(events));
    let number = members.get("kind").and_then(Value::as_u64).and_then(|kind| usize::try_from(kind).ok());
    if let Some(word) = number.and_then(|number| KINDS.get(number)) {
        members.put("kind", Value::from(*word));
    }
    Ok(())
}

fn make_plain(value: &mut Value) {
    if let Some(Value::Array(pairs)) = value.get_mut("attributes").map(Value::take) {
        value["attributes"] = Value::Object(key_values(pairs));
    }
}

fn key_values(pairs: Vec<Value>) -> Map<String, Value> {
    object_of(pairs.into_iter().map(|mut pair| {
        let key = pair.get("key").and_then(Value::as_str).unwrap_or_default().to_owned();
        let value = pair.get_mut("value").map(Value::take).unwrap_or_default();
        (key, plain(value))
    }))
}

/// Unwraps an OTLP value. Unknown wrappers stay unchanged.
fn plain(boxed: Value) -> Value {
    let mut object = match boxed {
        Value::Object(object) if object.len() == 1 => object.into_iter(),
        other => return other,
    };
    let Some((name, value)) = object.next() else { return Value::Null };
    match (name.as_str(), value) {
        ("intValue", Value::String(digits)) => {
            // OTLP writes 64-bit integers as text; those that a double holds exactly become numbers.
            let number = digits.parse::<i64>().ok().filter(|number| number.unsigned_abs() < 1 << 53);
            number.map_or(Value::String(digits), Value::from)
        }
        ("arrayValue", list) => Value::Array(values(list).into_iter().map(plain).collect()),
        ("kvlistValue", list) => Value::Object(key_values(values(list))),
        ("stringValue" | "boolValue" | "intValue" | "doubleValue" | "bytesValue", value) => value,
        (_, value) => Value::Object(Map::from_iter([(name, value)])),
    }
}

fn values(mut list: Value) -> Vec<Value> {
    match list.get_mut("values").map(Value::take) {
        Some(Value::Array(items)) => items,
        _ => Vec::new(),
    }
}
