use serde_json::Value;
use timenav_core::event::{Cause, CauseKind, EventDraft};
use timenav_core::ids::EventId;
use timenav_core::limits::{EVENT_CAUSES_MAX, ID_BYTES_MAX};
use timenav_core::time::{Instant, Virtual};

use super::Drafted;
use super::halves::{Halves, Role, SERVER_HALF};
use crate::json::json_object::{self, Members};
use crate::limits::TRACE_ORIGIN_BYTES_MAX;
use crate::{RecordError, RecordNote};

/// Longest trace id, in hexadecimal digits; span ids have half.
const TRACE_DIGITS_MAX: usize = 32;
pub(super) const SPAN_DIGITS_MAX: usize = 16;
/// Microseconds, in Zipkin and Jaeger.
const DURATION: &str = "duration";
/// Shorter ids have lost their leading zeros.
const DIGITS_MIN: usize = 16;

pub(super) type Time = Instant<Virtual>;

pub(super) struct Span {
    pub(super) trace: String,
    pub(super) id: String,
    pub(super) role: Role,
    pub(super) service: String,
    pub(super) name: String,
    pub(super) start: Time,
    pub(super) end: Option<Time>,
    /// Each as trace, span and kind of cause.
    pub(super) parents: Vec<(String, String, CauseKind)>,
    pub(super) attributes: Members,
    pub(super) notes: Vec<RecordNote>,
}

/// Reads the source of spans, which is copied to each of them. `what` names it: `a resource`.
pub(super) fn origin(what: &str, text: &str) -> Result<Members, RecordError> {
    if text.len() <= TRACE_ORIGIN_BYTES_MAX {
        return Members::parse(text, what).map_err(|error| RecordError { field: Some(what.to_owned()), ..error });
    }
    let detail = format!("what the spans of one {what} share can have at most {TRACE_ORIGIN_BYTES_MAX} bytes");
    Err(RecordError::of(RecordError::TOO_LARGE, what, detail))
}

pub(super) fn trace_id(field: &str, text: &str) -> Result<String, RecordError> {
    hex_id(field, text, TRACE_DIGITS_MAX)
}

pub(super) fn span_id(field: &str, text: &str) -> Result<String, RecordError> {
    hex_id(field, text, SPAN_DIGITS_MAX)
}

/// None if empty or all zeros, the invalid id of W3C Trace Context, which many exporters write for a root.
pub(super) fn other_span_id(field: &str, text: &str) -> Result<Option<String>, RecordError> {
    if is_no_id(text) { Ok(None) } else { span_id(field, text).map(Some) }
}

pub(super) fn is_no_id(text: &str) -> bool {
    text.bytes().all(|byte| byte == b'0')
}

/// The parent id in a member. None if the span names itself.
pub(super) fn parent_id(members: &mut Members, field: &str, own: &str) -> Result<Option<String>, RecordError> {
    let Some(text) = members.text(field)? else { return Ok(None) };
    Ok(other_span_id(field, &text)?.filter(|parent| parent != own))
}

/// Takes a span's duration. A negative one is left among the members, with a note.
pub(super) fn duration(members: &mut Members, notes: &mut Vec<RecordNote>) -> Result<Option<u64>, RecordError> {
    let is_negative = match members.get(DURATION) {
        Some(Value::Number(number)) => number.as_f64().is_some_and(|number| number < 0.0),
        Some(Value::String(digits)) => digits.parse().is_ok_and(|number: i64| number < 0),
        _ => false,
    };
    if is_negative {
        notes.push(RecordNote::DURATION_NEGATIVE);
        return Ok(None);
    }
    members.count(DURATION)
}

/// The digits in lower case, with leading zeros restored.
fn hex_id(field: &str, text: &str, digits_max: usize) -> Result<String, RecordError> {
    let is_right = (1..=digits_max).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_hexdigit())
        && text.bytes().any(|byte| byte != b'0');
    if is_right {
        return Ok(format!("{:0>DIGITS_MIN$}", text.to_ascii_lowercase()));
    }
    let detail = format!("this must be an id of 1 to {digits_max} hexadecimal digits, not all of them 0");
    Err(RecordError::invalid(field, detail))
}

pub(super) fn instant(field: &str, micros: u64) -> Result<Time, RecordError> {
    let instant = i64::try_from(micros).ok().and_then(Instant::from_micros);
    instant.ok_or_else(|| {
        let detail = format!("{micros} microseconds since 1970 is after the year 9999");
        RecordError::of(RecordError::OUT_OF_RANGE, field, detail)
    })
}

/// Start, and end if there is a duration.
pub(super) fn start_and_end(
    fields: (&str, &str),
    start: Option<u64>,
    duration: Option<u64>,
) -> Result<(Time, Option<Time>), RecordError> {
    let (start_field, duration_field) = fields;
    let micros = start.ok_or_else(|| {
        let detail = "the span does not say when it started";
        RecordError::of(RecordError::MISSING, start_field, detail)
    })?;
    let end = duration.map(|duration| instant(duration_field, micros.saturating_add(duration))).transpose()?;
    Ok((instant(start_field, micros)?, end))
}

impl Span {
    pub(super) fn into_draft(mut self, halves: &Halves) -> Result<Drafted, RecordError> {
        // A span is never its own cause.
        self.parents.retain(|(trace, span, _)| *trace != self.trace || *span != self.id);
        let start = u64::try_from(self.start.micros()).unwrap_or(0);
        let suffix = halves.suffix(&self.trace, &self.id, self.role, start);
        let mut causes: Vec<Cause> = Vec::new();
        // The parent is attached to the client's event, unless nobody reported that one.
        let hangs_on_client =
            suffix.is_some() && (halves.has_client_half(&self.trace, &self.id) || self.parents.is_empty());
        if hangs_on_client {
            causes.push(Cause { event_id: event_id(&self.trace, &self.id, "")?, kind: CauseKind::Requires });
        }
        for (trace, span, kind) in &self.parents {
            let is_own_parent = *kind == CauseKind::Requires && *trace == self.trace;
            if hangs_on_client && is_own_parent {
                continue;
            }
            let on_half = halves.hangs_on_server_half(trace, span, &self.service);
            let event_id = event_id(trace, span, if on_half { SERVER_HALF } else { "" })?;
            // One cause too many is enough to be refused later.
            if causes.len() <= EVENT_CAUSES_MAX && causes.iter().all(|known| known.event_id != event_id) {
                causes.push(Cause { event_id, kind: *kind });
            }
        }
        let mut draft = EventDraft::at(self.start, "");
        draft.event_id = Some(event_id(&self.trace, &self.id, suffix.as_deref().unwrap_or_default())?);
        draft.end_time = self.end;
        draft.causes = causes;
        let mut attributes = self.attributes;
        if self.service.len() > ID_BYTES_MAX {
            attributes.put("service", Value::String(self.service));
        } else if !self.service.is_empty() {
            draft.actors.push(self.service);
        }
        json_object::entitle(&mut draft, self.name);
        draft.attributes = attributes.into_attributes()?;
        Ok((draft, self.notes))
    }
}

/// The event id of a span or of one half of it.
pub(super) fn event_id(trace: &str, span: &str, suffix: &str) -> Result<EventId, RecordError> {
    EventId::new(&format!("{trace}:{span}{suffix}")).map_err(|error| RecordError::invalid("id", error.to_string()))
}
