//! A stored event: JSON whose members are copied mostly unparsed.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::ExportError;

const STATUSES: [&str; 3] = ["TENTATIVE", "CONFIRMED", "CANCELLED"];

/// The raw members of an event. Members that cannot be imported, such as `position`, are omitted.
#[derive(Deserialize)]
pub(super) struct Stored<'e> {
    #[serde(borrow)]
    pub(super) event_id: Option<&'e RawValue>,
    #[serde(borrow)]
    pub(super) time: Option<&'e RawValue>,
    #[serde(borrow)]
    pub(super) end_time: Option<&'e RawValue>,
    #[serde(borrow)]
    pub(super) precision: Option<&'e RawValue>,
    #[serde(borrow)]
    pub(super) description: Option<&'e RawValue>,
    #[serde(borrow)]
    pub(super) name: Option<&'e RawValue>,
    #[serde(borrow)]
    pub(super) location: Option<&'e RawValue>,
    #[serde(borrow)]
    pub(super) geo: Option<&'e RawValue>,
    #[serde(borrow)]
    pub(super) causes: Option<&'e RawValue>,
    #[serde(borrow)]
    pub(super) actors: Option<&'e RawValue>,
    #[serde(borrow)]
    pub(super) kind: Option<&'e RawValue>,
    #[serde(borrow)]
    pub(super) asserts: Option<&'e RawValue>,
    #[serde(borrow)]
    pub(super) attributes: Option<&'e RawValue>,
    #[serde(borrow)]
    pub(super) source: Option<&'e RawValue>,
    #[serde(borrow)]
    pub(super) sequence: Option<&'e RawValue>,
}

/// The coordinates of an event, as raw numbers.
#[derive(Deserialize)]
pub(super) struct Place<'e> {
    #[serde(borrow)]
    pub(super) lat: &'e RawValue,
    #[serde(borrow)]
    pub(super) lon: &'e RawValue,
    #[serde(borrow)]
    pub(super) radius_m: Option<&'e RawValue>,
}

#[derive(Deserialize)]
struct Attributes {
    status: Option<Value>,
}

#[derive(Deserialize)]
pub(super) struct Reason<'e> {
    #[serde(borrow)]
    pub(super) event_id: Cow<'e, str>,
    #[serde(borrow)]
    pub(super) kind: Cow<'e, str>,
}

impl<'e> Stored<'e> {
    pub(super) fn parse(json: &'e str) -> Result<Self, ExportError> {
        let stored: Self = parsed(json)?;
        match (stored.event_id, stored.time) {
            (Some(_), Some(_)) => Ok(stored),
            (None, _) | (_, None) => Err(ExportError::new("it lacks an id or a time")),
        }
    }

    /// Returns the members by name, in the order of API responses.
    pub(super) fn members(&self) -> [(&'static str, Option<&'e RawValue>); 15] {
        [
            ("event_id", self.event_id),
            ("time", self.time),
            ("end_time", self.end_time),
            ("precision", self.precision),
            ("description", self.description),
            ("name", self.name),
            ("location", self.location),
            ("geo", self.geo),
            ("causes", self.causes),
            ("actors", self.actors),
            ("kind", self.kind),
            ("asserts", self.asserts),
            ("attributes", self.attributes),
            ("source", self.source),
            ("sequence", self.sequence),
        ]
    }

    pub(super) fn line(&self, out: &mut String) {
        write_object(self.members().into_iter().filter_map(|(name, value)| Some((name, value?))), out);
        out.push('\n');
    }

    pub(super) fn place(&self) -> Result<Option<Place<'e>>, ExportError> {
        self.geo.map(|geo| parsed(geo.get())).transpose()
    }

    pub(super) fn reasons(&self) -> Result<Vec<Reason<'e>>, ExportError> {
        self.causes.map_or_else(|| Ok(Vec::new()), |causes| parsed(causes.get()))
    }

    /// Returns the attribute `status`, if it is valid for calendar events (RFC 5545 §3.8.1.11).
    pub(super) fn status(&self) -> Result<Option<&'static str>, ExportError> {
        let Some(attributes) = self.attributes else { return Ok(None) };
        let Attributes { status } = parsed(attributes.get())?;
        let Some(Value::String(status)) = status else { return Ok(None) };
        Ok(STATUSES.into_iter().find(|known| known.eq_ignore_ascii_case(status.trim())))
    }

    pub(super) fn people(&self) -> Result<Vec<String>, ExportError> {
        self.actors.map_or_else(|| Ok(Vec::new()), |actors| parsed(actors.get()))
    }
}

pub(super) fn write_object<'v>(members: impl Iterator<Item = (&'v str, &'v RawValue)>, out: &mut String) {
    let mut before = '{';
    for (name, value) in members {
        out.push(before);
        // The names are constants and need no escapes.
        out.push('"');
        out.push_str(name);
        out.push_str("\":");
        out.push_str(value.get());
        before = ',';
    }
    if before == '{' {
        out.push('{');
    }
    out.push('}');
}

/// Returns the text of a member, or an empty one.
pub(super) fn text_of(member: Option<&RawValue>) -> Result<String, ExportError> {
    member.map_or_else(|| Ok(String::new()), |member| parsed(member.get()))
}

fn parsed<'e, T: Deserialize<'e>>(json: &'e str) -> Result<T, ExportError> {
    serde_json::from_str(json).map_err(ExportError::new)
}
