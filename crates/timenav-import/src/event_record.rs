//! One event as JSON: a line of NDJSON, and an item of `POST /v1/events`.

mod explanation;
mod object;
mod unique;

#[cfg(test)]
mod tests;

use serde::Deserialize;
#[cfg(feature = "schema")]
use serde_json::json;
use serde_json::{Map, Value};
use timenav_core::event::{Assertion, Cause, CauseKind, EventDraft, EventKind, Precision};
use timenav_core::ids::EventId;
use timenav_core::place::{Geo, Point};
use timenav_core::time::{Instant, TimestampError, Virtual, parse_timestamp};
#[cfg(not(feature = "schema"))]
use timenav_schema::ToSchema;
#[cfg(feature = "schema")]
use utoipa::ToSchema;
#[cfg(feature = "schema")]
use utoipa::openapi::schema::{ObjectBuilder, SchemaType, Type};

use crate::attributes;
use crate::item::RecordError;
pub(crate) use explanation::without_position;

/// An event to record. A field that is `null` counts as omitted.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct EventRecord {
    /// The event's id on its timeline: 1 to 128 letters, digits, `.`, `_`, `-`, `:` and `@`, starting with a letter or
    /// digit. Defaults to a generated id.
    #[schema(format = "id", example = "moon-landing")]
    pub event_id: Option<String>,
    /// The time or start of the event: an RFC 3339 timestamp with a zone. Years before 0 or with more than four digits
    /// need a sign and six digits.
    #[schema(value_type = String, format = "timestamp", required, nullable = false, example = "1969-07-20T20:17:40Z")]
    pub time: Option<String>,
    /// The end of the event: a timestamp like `time`.
    #[schema(format = "timestamp", example = "1969-07-21T17:54:01Z")]
    pub end_time: Option<String>,
    /// The precision of `time` and `end_time`. Defaults to microseconds.
    pub precision: Option<PrecisionRecord>,
    /// What happened, in a sentence or two. Defaults to empty.
    #[schema(max_length = 16_384, example = "The lunar module Eagle lands on the moon.")]
    pub description: Option<String>,
    /// A short title.
    #[schema(min_length = 1, max_length = 256, example = "Moon landing")]
    pub name: Option<String>,
    /// The place, in words.
    #[schema(min_length = 1, max_length = 512, example = "Sea of Tranquility")]
    pub location: Option<String>,
    /// The coordinates.
    #[serde(default, deserialize_with = "object::optional")]
    pub geo: Option<GeoRecord>,
    /// Its causes. A cause can be recorded later than its effect.
    #[schema(max_items = 256)]
    pub causes: Option<Vec<CauseRecord>>,
    /// The participants.
    #[schema(format = "actor", max_items = 256, example = json!(["Neil Armstrong", "Buzz Aldrin"]))]
    pub actors: Option<Vec<String>>,
    /// Whether the event was observed, is scheduled or is predicted. Defaults to `observed`.
    pub kind: Option<EventKindRecord>,
    /// States that hold while the event lasts. Two events that give the same predicate of the same subject different
    /// values at the same time contradict each other.
    #[schema(max_items = 64)]
    pub asserts: Option<Vec<AssertionRecord>>,
    /// Anything else, at most 65,536 bytes of JSON.
    #[schema(value_type = Option<Object>, example = json!({"mission": "Apollo 11"}))]
    #[serde(default, deserialize_with = "unique::optional_object")]
    pub attributes: Option<Map<String, Value>>,
    /// The source of the record.
    #[schema(min_length = 1, max_length = 512)]
    pub source: Option<String>,
    /// The source's own sequence number for the record, without gaps.
    #[schema(maximum = 9_007_199_254_740_991.0)]
    #[serde(default, deserialize_with = "object::whole_number")]
    pub sequence: Option<u64>,
}

/// A state that holds while an event lasts.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AssertionRecord {
    /// The subject of the state.
    #[schema(value_type = String, required, nullable = false, min_length = 1, max_length = 128, example = "door-7")]
    pub subject: Option<String>,
    /// The property. It has one value at a time.
    #[schema(value_type = String, required, nullable = false, min_length = 1, max_length = 128, example = "state")]
    pub predicate: Option<String>,
    /// The value: any JSON except `null`, at most 1,024 bytes.
    #[schema(schema_with = any_but_null, required)]
    #[serde(default, deserialize_with = "unique::optional_value")]
    pub value: Option<Value>,
}

/// Describes the value of an assertion.
#[cfg(feature = "schema")]
fn any_but_null() -> ObjectBuilder {
    let types = [Type::String, Type::Number, Type::Boolean, Type::Object, Type::Array];
    let value = ObjectBuilder::new().schema_type(SchemaType::from_iter(types)).examples([json!("open")]);
    value.description(Some("The value: any JSON except `null`, at most 1,024 bytes."))
}

/// A point on the earth (WGS 84), and optionally a radius.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct GeoRecord {
    /// Degrees north, negative south.
    #[schema(value_type = f64, required, nullable = false, minimum = -90.0, maximum = 90.0, example = 28.57)]
    pub lat: Option<f64>,
    /// Degrees east, negative west.
    #[schema(value_type = f64, required, nullable = false, minimum = -180.0, maximum = 180.0, example = -80.65)]
    pub lon: Option<f64>,
    /// The radius of the circle in which the event happened, in meters.
    #[schema(minimum = 0.0, maximum = 20_037_508.0)]
    pub radius_m: Option<f64>,
}

/// A cause: the id of a required event, or an object with more detail.
#[derive(Clone, Debug, PartialEq, ToSchema)]
#[schema(example = "launch-of-apollo-11")]
#[serde(untagged)]
pub enum CauseRecord {
    /// The id of a required event.
    #[schema(format = "id")]
    Id(String),
    /// An event with its strength as a cause.
    Object(CauseObject),
}

/// A cause with its strength.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CauseObject {
    /// The event that was the cause.
    #[schema(value_type = String, format = "id", required, nullable = false)]
    pub event_id: Option<String>,
    /// The strength. Defaults to `requires`.
    pub kind: Option<CauseKindRecord>,
}

/// The strength of a cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum CauseKindRecord {
    /// Without the cause there is no effect.
    Requires,
    /// The cause added to the effect.
    Contributes,
}

/// How the event is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum EventKindRecord {
    /// It was seen.
    Observed,
    /// It is planned.
    Scheduled,
    /// It is foreseen.
    Predicted,
}

/// The precision of a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum PrecisionRecord {
    /// Only the year.
    Year,
    /// The month.
    Month,
    /// The day.
    Day,
    /// The hour.
    Hour,
    /// The minute.
    Minute,
    /// The second.
    Second,
}

impl EventRecord {
    pub const FIELDS: [&'static str; 15] = [
        "event_id",
        "time",
        "end_time",
        "precision",
        "description",
        "name",
        "location",
        "geo",
        "causes",
        "actors",
        "kind",
        "asserts",
        "attributes",
        "source",
        "sequence",
    ];

    /// Reads a record from JSON text.
    ///
    /// # Errors
    /// The text is not JSON, or not the JSON of an event. The error names the field.
    pub fn from_json(text: &[u8]) -> Result<Self, RecordError> {
        if text.trim_ascii_start().first() != Some(&b'{') {
            // A struct could be read from an array too, by the order of its fields.
            return Err(explanation::not_an_object(text));
        }
        let record = serde_json::from_slice(text).map_err(|_| explanation::of_failure(text))?;
        attributes::check_text(text, "")?;
        Ok(record)
    }

    /// Returns the draft of the event, with an id only if the record has one.
    ///
    /// # Errors
    /// `time` is left out, a text is not what its field asks for, or a limit is broken.
    pub fn into_draft(self) -> Result<EventDraft, RecordError> {
        let time = self.time.ok_or_else(|| {
            let detail = "an event needs a `time`, such as `\"time\": \"2024-07-20T20:17:40Z\"`";
            RecordError::of(RecordError::MISSING, "time", detail)
        })?;
        let causes = self.causes.unwrap_or_default().into_iter().enumerate();
        let asserts = self.asserts.unwrap_or_default().into_iter().enumerate();
        let draft = EventDraft {
            event_id: self.event_id.map(|id| event_id("event_id", &id)).transpose()?,
            time: instant("time", &time)?,
            end_time: self.end_time.map(|text| instant("end_time", &text)).transpose()?,
            precision: self.precision.map(Precision::from),
            description: self.description.unwrap_or_default(),
            name: self.name,
            location: self.location,
            geo: self.geo.map(GeoRecord::into_geo).transpose()?,
            causes: causes.map(|(index, cause)| cause.into_cause(index)).collect::<Result<_, _>>()?,
            actors: self.actors.unwrap_or_default(),
            kind: self.kind.map(EventKind::from),
            asserts: asserts.map(|(index, one)| one.into_assertion(index)).collect::<Result<_, _>>()?,
            attributes: self.attributes.as_ref().map(attributes::canonical).transpose()?,
            source: self.source,
            sequence: self.sequence,
        };
        draft.check()?;
        Ok(draft)
    }
}

pub(crate) fn instant(field: &str, text: &str) -> Result<Instant<Virtual>, RecordError> {
    parse_timestamp(text).map_err(|error| match error {
        TimestampError::OutOfRange => RecordError::of(RecordError::OUT_OF_RANGE, field, error.to_string()),
        other => RecordError::invalid(field, other.to_string()),
    })
}

fn event_id(field: impl Into<String>, text: &str) -> Result<EventId, RecordError> {
    EventId::new(text).map_err(|error| RecordError::invalid(field, error.to_string()))
}

impl GeoRecord {
    fn into_geo(self) -> Result<Geo, RecordError> {
        let missing = |field, detail| RecordError::of(RecordError::MISSING, field, detail);
        let lat = self.lat.ok_or_else(|| missing("geo/lat", "a point needs a `lat` and a `lon`"))?;
        let lon = self.lon.ok_or_else(|| missing("geo/lon", "a point needs a `lat` and a `lon`"))?;
        Ok(Geo { point: point("geo/lat", "geo/lon", lat, lon)?, radius_m: self.radius_m })
    }
}

/// Returns the point, or says which of its coordinates is out of range.
pub(crate) fn point(lat_field: &str, lon_field: &str, lat: f64, lon: f64) -> Result<Point, RecordError> {
    Point::new(lat, lon).ok_or_else(|| {
        if (-90.0..=90.0).contains(&lat) {
            let detail = format!("a longitude must be from -180 to 180 degrees, not {lon}");
            RecordError::invalid(lon_field, detail)
        } else {
            let detail = format!("a latitude must be from -90 to 90 degrees, not {lat}");
            RecordError::invalid(lat_field, detail)
        }
    })
}

impl CauseRecord {
    /// Returns the cause; `index` is its place in the list, which errors name.
    ///
    /// # Errors
    /// An id is left out, or is none.
    pub fn into_cause(self, index: usize) -> Result<Cause, RecordError> {
        let (field, id, kind) = match self {
            Self::Id(id) => (format!("causes/{index}"), id, None),
            Self::Object(CauseObject { event_id, kind }) => {
                let field = format!("causes/{index}/event_id");
                let Some(id) = event_id else {
                    let detail = "a cause needs the `event_id` of an event";
                    return Err(RecordError::of(RecordError::MISSING, field, detail));
                };
                (field, id, kind)
            }
        };
        let kind = kind.map_or(CauseKind::Requires, CauseKind::from);
        Ok(Cause { event_id: event_id(field, &id)?, kind })
    }
}

impl AssertionRecord {
    /// Returns the assertion; `index` is its place in the list, which errors name.
    pub(crate) fn into_assertion(self, index: usize) -> Result<Assertion, RecordError> {
        let missing = |name: &str| {
            let detail = "an assertion needs a `subject`, a `predicate` and a `value`";
            RecordError::of(RecordError::MISSING, format!("asserts/{index}/{name}"), detail)
        };
        let value = self.value.ok_or_else(|| missing("value"))?;
        Ok(Assertion {
            subject: self.subject.ok_or_else(|| missing("subject"))?,
            predicate: self.predicate.ok_or_else(|| missing("predicate"))?,
            value: attributes::canonical_value(&value, &format!("asserts/{index}/value"))?,
        })
    }
}

impl From<EventKindRecord> for EventKind {
    fn from(word: EventKindRecord) -> Self {
        match word {
            EventKindRecord::Observed => Self::Observed,
            EventKindRecord::Scheduled => Self::Scheduled,
            EventKindRecord::Predicted => Self::Predicted,
        }
    }
}

impl From<CauseKindRecord> for CauseKind {
    fn from(word: CauseKindRecord) -> Self {
        match word {
            CauseKindRecord::Requires => Self::Requires,
            CauseKindRecord::Contributes => Self::Contributes,
        }
    }
}

impl From<PrecisionRecord> for Precision {
    fn from(word: PrecisionRecord) -> Self {
        match word {
            PrecisionRecord::Year => Self::Year,
            PrecisionRecord::Month => Self::Month,
            PrecisionRecord::Day => Self::Day,
            PrecisionRecord::Hour => Self::Hour,
            PrecisionRecord::Minute => Self::Minute,
            PrecisionRecord::Second => Self::Second,
        }
    }
}
