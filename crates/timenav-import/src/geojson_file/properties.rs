//! The properties of a feature, and which of them is which field.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::assembly::{self, Cell};
use crate::attributes;
use crate::event_record::without_position;
use crate::field::{FIELDS, Field};
use crate::limits::{RECORD_BYTES_MAX, TEMPLATE_TEXT_BYTES_MAX};
use crate::mapping::{Mapping, Reading, Source, Template};
use crate::unix_time::UnixUnit;
use crate::{CauseRecord, RecordError};

/// How a number is a time where nothing is said: as JavaScript counts.
static MILLIS: Reading = Reading::Unix(UnixUnit::Millis);
static DEFAULT: Reading = Reading::Default;

/// The properties of a feature that are not null, by name.
pub(super) struct Properties<'a> {
    members: BTreeMap<String, &'a RawValue>,
}

impl<'a> Properties<'a> {
    /// Reads the object; none has no properties.
    pub(super) fn new(text: Option<&'a RawValue>) -> Result<Self, RecordError> {
        let Some(text) = text.map(RawValue::get) else {
            return Ok(Self { members: BTreeMap::new() });
        };
        if text.len() > RECORD_BYTES_MAX {
            let detail = format!("the properties of a feature can have at most {RECORD_BYTES_MAX} bytes");
            return Err(RecordError::of(RecordError::TOO_LARGE, "properties", detail));
        }
        let members: BTreeMap<String, Option<&RawValue>> = parsed("properties", text)?;
        let given = members.into_iter().filter_map(|(name, value)| Some((name, value?)));
        Ok(Self { members: given.collect() })
    }
}

fn parsed<'a, T: serde::Deserialize<'a>>(field: &str, text: &'a str) -> Result<T, RecordError> {
    serde_json::from_str(text).map_err(|error| RecordError::invalid(field, without_position(&error)))
}

/// A value that has a text.
pub(super) enum Scalar<'a> {
    Text(String),
    /// The digits as they are written.
    Number(&'a str),
    Truth(&'a str),
}

impl<'a> Scalar<'a> {
    /// Returns the value, or none if it is a list, an object or a string that is not Unicode.
    pub(super) fn of(value: &'a RawValue) -> Option<Self> {
        let text = value.get();
        match text.as_bytes().first()? {
            b'"' => serde_json::from_str(text).ok().map(Self::Text),
            b'-' | b'0'..=b'9' => Some(Self::Number(text)),
            b't' | b'f' => Some(Self::Truth(text)),
            _ => None,
        }
    }

    fn into_text(self) -> Cow<'a, str> {
        match self {
            Self::Text(text) => Cow::Owned(text),
            Self::Number(text) | Self::Truth(text) => Cow::Borrowed(text),
        }
    }
}

/// Which properties of one feature are which field.
pub(super) struct Fields<'a> {
    properties: &'a Properties<'a>,
    chosen: [Chosen<'a>; FIELDS],
}

/// Where a field of one feature comes from.
#[derive(Clone, Copy)]
enum Chosen<'a> {
    Nothing,
    Property { name: &'a str, value: &'a RawValue, reading: &'a Reading },
    Template { template: &'a Template<String>, reading: &'a Reading },
}

impl<'a> Fields<'a> {
    /// Chooses the properties. Only what fits a field is chosen where nothing is mapped.
    pub(super) fn new(mapping: &'a Mapping, properties: &'a Properties<'a>, has_feature_id: bool) -> Self {
        let chosen = Field::ALL.map(|field| match mapping.source(field) {
            Some(Source::Nothing) => Chosen::Nothing,
            Some(Source::Columns { template, reading }) => match template.whole_column() {
                None => Chosen::Template { template, reading },
                Some(name) => properties.members.get(name).map_or(Chosen::Nothing, |value| Chosen::Property {
                    name,
                    value,
                    reading,
                }),
            },
            None if field == Field::EventId && has_feature_id => Chosen::Nothing,
            None => {
                let mut named = field
                    .properties()
                    .iter()
                    .filter_map(|name| properties.members.get(*name).map(|value| (*name, *value)));
                let fitting = named.find(|(_, value)| fits(field, value));
                fitting.map_or(Chosen::Nothing, |(name, value)| Chosen::Property { name, value, reading: &DEFAULT })
            }
        });
        Self { properties, chosen }
    }

    /// Returns what the properties say about a field. Ids and lists have their own functions.
    pub(super) fn cell(&self, field: Field) -> Result<Option<Cell<'a>>, RecordError> {
        match (field, self.chosen[field.index()]) {
            (Field::EventId | Field::Attributes, _) => Ok(None),
            // Without a point beside it, it says how far around the geometry.
            (Field::RadiusM, Chosen::Property { reading: Reading::Default, .. }) if !self.has_point() => Ok(None),
            (Field::Causes | Field::Actors | Field::Asserts, Chosen::Property { value, .. }) if is_list(value) => {
                Ok(None)
            }
            (_, chosen) => self.text(field, chosen),
        }
    }

    /// Returns what the properties say about the id of the event.
    pub(super) fn event_id_text(&self) -> Result<Option<String>, RecordError> {
        let cell = self.text(Field::EventId, self.chosen[Field::EventId.index()])?;
        Ok(cell.map(|cell| cell.text.into_owned()))
    }

    fn has_point(&self) -> bool {
        let is_chosen = |field: Field| !matches!(self.chosen[field.index()], Chosen::Nothing);
        is_chosen(Field::Lat) || is_chosen(Field::Lon)
    }

    /// Returns how far around its point the feature lies, where a property says so.
    pub(super) fn radius_m(&self) -> Option<f64> {
        match self.chosen[Field::RadiusM.index()] {
            Chosen::Property { value, .. } => value.get().parse().ok(),
            Chosen::Nothing | Chosen::Template { .. } => None,
        }
    }

    /// Returns the attributes that a property has in one object, if one has.
    pub(super) fn attributes(&self) -> Result<Option<Map<String, Value>>, RecordError> {
        match self.chosen[Field::Attributes.index()] {
            Chosen::Property { value, .. } if value.get().starts_with('{') => {
                parsed("attributes", value.get()).map(Some)
            }
            chosen => {
                let cell = self.text(Field::Attributes, chosen)?;
                cell.map(|cell| assembly::attributes(&cell)).transpose()
            }
        }
    }

    /// Returns the items of a field that is a JSON array.
    pub(super) fn list<T: DeserializeOwned>(&self, field: Field) -> Result<Option<Vec<T>>, RecordError> {
        match self.chosen[field.index()] {
            Chosen::Property { value, .. } if is_list(value) => parsed(field.as_str(), value.get()).map(Some),
            Chosen::Nothing | Chosen::Property { .. } | Chosen::Template { .. } => Ok(None),
        }
    }

    fn text(&self, field: Field, chosen: Chosen<'a>) -> Result<Option<Cell<'a>>, RecordError> {
        let cell = match chosen {
            Chosen::Nothing => return Ok(None),
            Chosen::Property { name, value, reading } => {
                let scalar = Scalar::of(value).ok_or_else(|| {
                    let detail = format!("property `{name}`: a string or a number can be a field");
                    RecordError::invalid(field.as_str(), detail)
                })?;
                let counts_millis = matches!(field, Field::Time | Field::EndTime)
                    && matches!((&scalar, reading), (Scalar::Number(_), Reading::Default));
                let reading = if counts_millis { &MILLIS } else { reading };
                let text = match scalar.into_text() {
                    Cow::Owned(text) if is_prose(field) => Cow::Owned(text),
                    Cow::Owned(text) => Cow::Owned(text.trim().to_owned()),
                    Cow::Borrowed(text) => Cow::Borrowed(text),
                };
                Cell { text, reading, origin: ("property", Some(name)) }
            }
            Chosen::Template { template, reading } => {
                let text = template.fill(|name| {
                    let value = self.properties.members.get(name)?;
                    Scalar::of(value).map(Scalar::into_text)
                });
                let text = text.map_err(|_| {
                    let detail = format!("the template produces more than {TEMPLATE_TEXT_BYTES_MAX} bytes");
                    RecordError::invalid(field.as_str(), detail)
                })?;
                let text = text.unwrap_or_default();
                Cell { text, reading, origin: ("property", None) }
            }
        };
        Ok((!cell.text.is_empty()).then_some(cell))
    }

    /// Returns the properties that are no field.
    pub(super) fn left_over(&self) -> Result<Map<String, Value>, RecordError> {
        let is_taken = |name: &str| {
            self.chosen.iter().any(|chosen| match chosen {
                Chosen::Property { name: taken, .. } => *taken == name,
                Chosen::Nothing | Chosen::Template { .. } => false,
            })
        };
        let free = self.properties.members.iter().filter(|(name, _)| !is_taken(name));
        let attribute = |(name, value): (&String, &&RawValue)| {
            let field = format!("properties/{name}");
            Ok((name.clone(), exact(value.get(), parsed(&field, value.get())?)))
        };
        free.map(attribute).collect()
    }
}

/// Returns whether blanks at the ends of a text mean something, as in any other text.
fn is_prose(field: Field) -> bool {
    matches!(field, Field::Description | Field::Name | Field::Location | Field::Source)
}

fn is_list(value: &RawValue) -> bool {
    value.get().starts_with('[')
}

/// Returns whether a value that happens to be named like a field can be meant by it.
fn fits(field: Field, value: &RawValue) -> bool {
    match Scalar::of(value) {
        Some(Scalar::Text(text)) if field.is_usual_word() => field.can_mean(&text),
        Some(Scalar::Text(_)) if field == Field::RadiusM => false,
        Some(Scalar::Text(text)) => !text.trim().is_empty() || (is_prose(field) && !text.is_empty()),
        Some(Scalar::Number(digits)) if field.is_usual_word() => field.can_mean(digits),
        Some(Scalar::Number(_)) => field != Field::Precision,
        Some(Scalar::Truth(_)) => false,
        None => match field {
            Field::Causes => serde_json::from_str::<Vec<CauseRecord>>(value.get()).is_ok(),
            Field::Actors => serde_json::from_str::<Vec<String>>(value.get()).is_ok(),
            Field::Asserts | Field::Attributes => field.can_mean(value.get()),
            Field::EventId
            | Field::Time
            | Field::EndTime
            | Field::Precision
            | Field::Description
            | Field::Name
            | Field::Location
            | Field::Lat
            | Field::Lon
            | Field::RadiusM
            | Field::Source
            | Field::Kind
            | Field::Sequence => false,
        },
    }
}

/// Returns the value, or its digits as a string if it is an integer that canonical JSON would
/// change.
fn exact(text: &str, value: Value) -> Value {
    // No double beyond 15 digits is sure to be an integer that was written.
    let is_long_integer = text.len() > 15 && text.bytes().all(|byte| byte == b'-' || byte.is_ascii_digit());
    let is_inexact = is_long_integer && (value.is_f64() || attributes::inexact(&value).is_some());
    if is_inexact { Value::from(text) } else { value }
}
