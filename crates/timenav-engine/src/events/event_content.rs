//! The JSON form of events in the store, in hashes and in responses.
//!
//! What is written here must stay readable forever: fields may be added, but none may be removed or change its meaning.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use timenav_core::event::{Assertion, Cause, CauseKind, EventDraft, EventKind, Precision};
use timenav_core::ids::EventId;
use timenav_core::place::{Geo, Point};
use timenav_core::time::parse_timestamp;

use crate::requests::json::{json, raw};
use crate::requests::stored::try_map;

/// An event as stored and returned. Also the payload of `record_event`.
#[derive(Serialize, Deserialize)]
struct EventContent<'a> {
    #[serde(borrow)]
    event_id: Cow<'a, str>,
    #[serde(borrow)]
    time: Cow<'a, str>,
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    end_time: Option<Cow<'a, str>>,
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    precision: Option<Cow<'a, str>>,
    #[serde(default, borrow)]
    description: Cow<'a, str>,
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    name: Option<Cow<'a, str>>,
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    location: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    geo: Option<GeoContent>,
    #[serde(default, borrow, skip_serializing_if = "Vec::is_empty")]
    causes: Vec<CauseContent<'a>>,
    #[serde(default, skip_serializing_if = "<[String]>::is_empty")]
    actors: Cow<'a, [String]>,
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    kind: Option<Cow<'a, str>>,
    #[serde(default, borrow, skip_serializing_if = "Vec::is_empty")]
    asserts: Vec<AssertionContent<'a>>,
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    attributes: Option<&'a RawValue>,
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    source: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sequence: Option<u64>,
}

#[derive(Serialize, Deserialize)]
struct AssertionContent<'a> {
    #[serde(borrow)]
    subject: Cow<'a, str>,
    #[serde(borrow)]
    predicate: Cow<'a, str>,
    #[serde(borrow)]
    value: &'a RawValue,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct GeoContent {
    lat: f64,
    lon: f64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    radius_m: Option<f64>,
}

impl GeoContent {
    pub(crate) fn of(geo: Geo) -> Self {
        Self { lat: geo.point.lat(), lon: geo.point.lon(), radius_m: geo.radius_m }
    }

    pub(crate) fn geo(&self) -> Option<Geo> {
        Some(Geo { point: Point::new(self.lat, self.lon)?, radius_m: self.radius_m })
    }
}

#[derive(Serialize, Deserialize)]
pub(crate) struct CauseContent<'a> {
    #[serde(borrow)]
    event_id: Cow<'a, str>,
    #[serde(borrow)]
    kind: Cow<'a, str>,
}

impl<'a> CauseContent<'a> {
    pub(crate) fn of(cause: &'a Cause) -> Self {
        Self { event_id: cause.event_id.as_str().into(), kind: cause.kind.as_str().into() }
    }

    pub(crate) fn cause(&self) -> Option<Cause> {
        let mut kinds = [CauseKind::Requires, CauseKind::Contributes].into_iter();
        Some(Cause {
            kind: kinds.find(|kind| kind.as_str() == self.kind)?,
            event_id: EventId::new(&self.event_id).ok()?,
        })
    }
}

pub(crate) fn event_content(event_id: &EventId, draft: &EventDraft) -> String {
    let attributes = draft.attributes.as_deref();
    let content = EventContent {
        event_id: event_id.as_str().into(),
        time: draft.time.to_string().into(),
        end_time: draft.end_time.map(|time| time.to_string().into()),
        precision: draft.precision.map(|precision| precision.as_str().into()),
        description: draft.description.as_str().into(),
        name: draft.name.as_deref().map(Into::into),
        location: draft.location.as_deref().map(Into::into),
        geo: draft.geo.map(GeoContent::of),
        causes: draft.causes.iter().map(CauseContent::of).collect(),
        actors: draft.actors.as_slice().into(),
        kind: draft.kind.map(|kind| kind.as_str().into()),
        asserts: draft.asserts.iter().map(assertion_content).collect(),
        // A draft's attributes are valid JSON already; anything else is a defect of the caller.
        attributes: attributes.and_then(raw),
        source: draft.source.as_deref().map(Into::into),
        sequence: draft.sequence,
    };
    json(&content)
}

fn assertion_content(assertion: &Assertion) -> AssertionContent<'_> {
    // A draft's values are valid JSON already, like its attributes.
    let value = raw(&assertion.value).unwrap_or(RawValue::NULL);
    AssertionContent {
        subject: assertion.subject.as_str().into(),
        predicate: assertion.predicate.as_str().into(),
        value,
    }
}

pub(crate) fn event_draft(content: &str) -> Option<EventDraft> {
    let stored: EventContent<'_> = serde_json::from_str(content).ok()?;
    let causes = stored.causes.iter().map(CauseContent::cause);
    let asserts = stored.asserts.into_iter().map(|AssertionContent { subject, predicate, value }| Assertion {
        subject: subject.into_owned(),
        predicate: predicate.into_owned(),
        value: value.get().to_owned(),
    });
    let precision = |word| Precision::ALL.into_iter().find(|precision| precision.as_str() == word);
    let kind = |word| EventKind::ALL.into_iter().find(|kind| kind.as_str() == word);
    Some(EventDraft {
        event_id: Some(EventId::new(&stored.event_id).ok()?),
        time: parse_timestamp(&stored.time).ok()?,
        end_time: try_map(stored.end_time, |text| parse_timestamp(&text).ok())?,
        precision: try_map(stored.precision, precision)?,
        description: stored.description.into_owned(),
        name: stored.name.map(Cow::into_owned),
        location: stored.location.map(Cow::into_owned),
        geo: try_map(stored.geo, |geo| geo.geo())?,
        causes: causes.collect::<Option<_>>()?,
        actors: stored.actors.into_owned(),
        kind: try_map(stored.kind, kind)?,
        asserts: asserts.collect(),
        attributes: stored.attributes.map(|text| text.get().to_owned()),
        source: stored.source.map(Cow::into_owned),
        sequence: stored.sequence,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use timenav_core::time::Instant;

    #[test]
    fn event_content_is_read_back() {
        let event_id = EventId::new("e").unwrap();
        let full = EventDraft {
            event_id: Some(event_id.clone()),
            end_time: Some(Instant::MAX),
            precision: Some(Precision::Day),
            name: Some("\u{1} \"n\"".to_owned()),
            location: Some("東京".to_owned()),
            geo: Some(Geo { point: Point::new(29.95, -90.07).unwrap(), radius_m: Some(0.1) }),
            causes: vec![Cause { event_id: event_id.clone(), kind: CauseKind::Contributes }],
            actors: vec!["ada".to_owned()],
            kind: Some(EventKind::Scheduled),
            asserts: vec![Assertion { subject: "s".into(), predicate: "p".into(), value: r#"{"a":1e21}"#.into() }],
            attributes: Some(r#"{"b":[null,"é"]}"#.to_owned()),
            source: Some("s".to_owned()),
            sequence: Some(7),
            ..EventDraft::at(Instant::MIN, "d")
        };
        let plain = EventDraft { event_id: Some(event_id.clone()), ..EventDraft::at(Instant::EPOCH, "") };
        for draft in [full, plain] {
            let content = event_content(&event_id, &draft);
            assert_eq!(event_draft(&content).unwrap(), draft);
            assert_eq!(event_content(&event_id, &event_draft(&content).unwrap()), content);
        }
    }

    #[test]
    fn invalid_event_content_is_not_read() {
        for text in ["", "{}", "[]", r#"{"event_id":"e","time":"yesterday"}"#] {
            assert_eq!(event_draft(text), None, "{text}");
        }
    }
}
