//! CSV export (RFC 4180), safe to open in spreadsheets.

use std::sync::Arc;

use serde_json::Value;
use serde_json::value::RawValue;
use timenav_core::event::attribute_at;
use timenav_core::limits::EVENT_NAME_BYTES_MAX;

use super::ExportError;
use super::stored::{Place, Stored, text_of};
use crate::export::spreadsheet::guarded;
use crate::item::clipped;
use crate::limits::CSV_COLUMNS_MAX;
use crate::mapping::field::Field;

const PREFIX: &str = "attribute.";

/// The columns, with the names that import expects.
const COLUMNS: [Field; 17] = [
    Field::EventId,
    Field::Time,
    Field::EndTime,
    Field::Precision,
    Field::Name,
    Field::Description,
    Field::Location,
    Field::Lat,
    Field::Lon,
    Field::RadiusM,
    Field::Causes,
    Field::Actors,
    Field::Kind,
    Field::Asserts,
    Field::Attributes,
    Field::Source,
    Field::Sequence,
];

/// Attributes with additional columns, after all others. Each column has the name of its attribute. The column
/// `attributes` still contains all of them with their types, and is used for import.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AttributeColumns(Arc<[String]>);

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WrongColumns {
    #[error("`{0}` names no attribute; columns are a list such as `attribute.status,attribute.amount`")]
    NoAttribute(String),
    #[error("`attribute.{0}` has the name of an existing column")]
    Taken(String),
    #[error("a table can have at most {CSV_COLUMNS_MAX} columns")]
    TooMany,
}

impl AttributeColumns {
    /// Parses a list such as `attribute.status,attribute.amount`.
    ///
    /// # Errors
    /// An item is not an attribute, has the name of another column, or there are too many.
    pub fn parse(list: &str) -> Result<Self, WrongColumns> {
        let mut names: Vec<String> = Vec::new();
        for column in list.split(',') {
            let name = column.strip_prefix(PREFIX).filter(|name| (1..=EVENT_NAME_BYTES_MAX).contains(&name.len()));
            let name = name.ok_or_else(|| WrongColumns::NoAttribute(clipped(column.to_owned())))?;
            let is_taken =
                COLUMNS.iter().any(|field| field.as_str() == name) || names.iter().any(|other| other == name);
            if is_taken {
                return Err(WrongColumns::Taken(clipped(name.to_owned())));
            }
            if COLUMNS.len() + names.len() == CSV_COLUMNS_MAX {
                return Err(WrongColumns::TooMany);
            }
            names.push(name.to_owned());
        }
        Ok(Self(names.into()))
    }
}

pub(super) fn header(more: &AttributeColumns, out: &mut String) {
    out.push_str(&COLUMNS.map(Field::as_str).join(","));
    for name in &*more.0 {
        out.push(',');
        cell(name, out);
    }
    out.push_str("\r\n");
}

pub(super) fn row(event: &Stored<'_>, more: &AttributeColumns, out: &mut String) -> Result<(), ExportError> {
    let place = event.place()?;
    for (number, column) in COLUMNS.into_iter().enumerate() {
        if number > 0 {
            out.push(',');
        }
        let number_of = |member: fn(&Place<'_>) -> Option<String>| place.as_ref().and_then(member).unwrap_or_default();
        match column {
            // A number is not a formula, and a spreadsheet can calculate with it.
            Field::Lat => out.push_str(&number_of(|place| Some(place.lat.get().to_owned()))),
            Field::Lon => out.push_str(&number_of(|place| Some(place.lon.get().to_owned()))),
            Field::RadiusM => out.push_str(&number_of(|place| Some(place.radius_m?.get().to_owned()))),
            // A point has two columns.
            Field::Geo => {}
            Field::Sequence => out.push_str(event.sequence.map(RawValue::get).unwrap_or_default()),
            Field::EventId => cell(&text_of(event.event_id)?, out),
            Field::Time => cell(&text_of(event.time)?, out),
            Field::EndTime => cell(&text_of(event.end_time)?, out),
            Field::Precision => cell(&text_of(event.precision)?, out),
            Field::Name => cell(&text_of(event.name)?, out),
            Field::Description => cell(&text_of(event.description)?, out),
            Field::Location => cell(&text_of(event.location)?, out),
            Field::Causes => cell(&causes(event)?, out),
            Field::Actors => cell(&actors(event)?, out),
            Field::Kind => cell(&text_of(event.kind)?, out),
            Field::Asserts => cell(event.asserts.map(RawValue::get).unwrap_or_default(), out),
            Field::Attributes => cell(event.attributes.map(RawValue::get).unwrap_or_default(), out),
            Field::Source => cell(&text_of(event.source)?, out),
        }
    }
    attributes(event, more, out)?;
    out.push_str("\r\n");
    Ok(())
}

/// Writes the cells of attributes with columns: texts unchanged, everything else as JSON.
fn attributes(event: &Stored<'_>, more: &AttributeColumns, out: &mut String) -> Result<(), ExportError> {
    if more.0.is_empty() {
        return Ok(());
    }
    let all = event.attributes.map(|all| serde_json::from_str(all.get())).transpose().map_err(ExportError::new)?;
    let all: Value = all.unwrap_or_default();
    for name in &*more.0 {
        out.push(',');
        match attribute_at(&all, name, &|of, key| of.get(key)) {
            None | Some(Value::Null) => {}
            Some(Value::String(text)) => cell(text, out),
            // A number is no formula, and a program may calculate with it.
            Some(Value::Number(number)) => out.push_str(&number.to_string()),
            Some(other) => cell(&other.to_string(), out),
        }
    }
    Ok(())
}

/// Returns the ids of the causes, or JSON where that would not say what kind they are.
fn causes(event: &Stored<'_>) -> Result<String, ExportError> {
    let reasons = event.reasons()?;
    if reasons.iter().all(|reason| reason.kind == "requires") {
        let ids: Vec<&str> = reasons.iter().map(|reason| &*reason.event_id).collect();
        return Ok(ids.join(" "));
    }
    Ok(event.causes.map(RawValue::get).unwrap_or_default().to_owned())
}

/// Returns the names of the actors, or JSON where a name could be taken for two, or for JSON.
fn actors(event: &Stored<'_>) -> Result<String, ExportError> {
    let people = event.people()?;
    let is_plain = |name: &String| !name.contains(';') && name.trim() == name && !name.is_empty();
    let begins_as_list = people.first().is_some_and(|name| name.starts_with('['));
    if people.iter().all(is_plain) && !begins_as_list {
        return Ok(people.join(";"));
    }
    Ok(event.actors.map(RawValue::get).unwrap_or_default().to_owned())
}

fn cell(text: &str, out: &mut String) {
    let text = guarded(text);
    if !text.contains([',', '"', '\r', '\n']) {
        out.push_str(&text);
        return;
    }
    out.push('"');
    out.push_str(&text.replace('"', "\"\""));
    out.push('"');
}
