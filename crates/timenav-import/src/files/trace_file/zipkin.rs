//! Zipkin: an array of spans, or of arrays of spans (version 2 of its JSON).

use serde::Deserialize;
use serde_json::Value;
use timenav_core::event::CauseKind;

use super::halves::{Glance, Halves, Role};
use super::span::{Span, duration, parent_id, span_id, start_and_end, trace_id};
use super::{Dialect, Drafted, EachSpan, Unwalked};
use crate::json::json_object::Members;
use crate::json::json_stream::array_values;
use crate::{Format, RecordError};

pub(super) struct Zipkin;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Outline {
    trace_id: String,
    id: String,
    kind: Option<String>,
    shared: Option<bool>,
    local_endpoint: Option<Endpoint>,
    timestamp: Option<u64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Endpoint {
    service_name: Option<String>,
}

impl Dialect for Zipkin {
    type Surroundings = ();
    const FORMAT: Format = Format::Zipkin;

    fn walk<'t>(document: &'t str, each: EachSpan<'_, 't, ()>) -> Result<(), Unwalked> {
        let walked = array_values(document, &mut |item| {
            // A search returns a list of traces, each a list of spans.
            if item.starts_with('[') { array_values(item, &mut |span| each(&(), span)) } else { each(&(), item) }
        });
        walked.map_err(|stopped| match Unwalked::of(stopped, "") {
            Unwalked::Enough => Unwalked::Enough,
            Unwalked::Shape(_) => {
                Unwalked::Shape("a document must be an array of spans, or of arrays of spans".to_owned())
            }
        })
    }

    fn glance((): &(), span: &str) -> Option<Glance> {
        let outline: Outline = serde_json::from_str(span).ok()?;
        let service = outline.local_endpoint.and_then(|endpoint| endpoint.service_name).unwrap_or_default();
        Some(Glance {
            trace: trace_id("traceId", &outline.trace_id).ok()?,
            span: span_id("id", &outline.id).ok()?,
            role: role(outline.kind.as_deref(), outline.shared == Some(true)),
            service,
            start: outline.timestamp.filter(|micros| *micros > 0),
        })
    }

    fn draft((): &(), halves: &Halves, span: &str) -> Result<Drafted, RecordError> {
        let mut members = Members::parse(span, "a span")?;
        let trace = trace_id("traceId", &members.required_text("traceId", "a span")?)?;
        let id = span_id("id", &members.required_text("id", "a span")?)?;
        let parent = parent_id(&mut members, "parentId", &id)?;
        // Zipkin writes 0 for unknown.
        let start = members.count("timestamp")?.filter(|micros| *micros > 0);
        let mut notes = Vec::new();
        let duration = duration(&mut members, &mut notes)?.filter(|micros| *micros > 0);
        let (start, end) = start_and_end(("timestamp", "duration"), start, duration)?;
        let is_shared = members.get("shared") == Some(&Value::Bool(true));
        let role = role(members.get("kind").and_then(Value::as_str), is_shared);
        let service = members.get("localEndpoint").and_then(|endpoint| endpoint.get("serviceName"));
        let service = service.and_then(Value::as_str).unwrap_or_default().to_owned();
        let name = members.text("name")?.unwrap_or_default();
        members.put("trace_id", Value::String(trace.clone()));
        members.put("span_id", Value::String(id.clone()));
        if let Some(parent) = &parent {
            members.put("parent_span_id", Value::String(parent.clone()));
        }
        let parents = parent.into_iter().map(|parent| (trace.clone(), parent, CauseKind::Requires)).collect();
        Span { trace, id, role, service, name, start, end, parents, attributes: members, notes }.into_draft(halves)
    }
}

fn role(kind: Option<&str>, is_shared: bool) -> Role {
    match kind {
        _ if is_shared => Role::SharingServer,
        Some("CLIENT") => Role::Client,
        Some("SERVER") => Role::Server,
        _ => Role::Other,
    }
}
