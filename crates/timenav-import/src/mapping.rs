//! Which column or property fills which field.
//!
//! ```text
//! mapping  = "" | object | pair *( "," pair )
//! object   = a JSON object of strings: { field: value, … }
//! pair     = field "=" value
//! value    = "" | source [ "|" suffix ]
//! source   = column | template
//! template = text with "{" column "}" in it; "{{" and "}}" are braces
//! suffix   = "unix" | "unix_ms" | "unix_us" | "sum" | "split" [ ":" separator ]
//! ```

mod template;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use crate::field::{FIELDS, Field};
use crate::item::clipped;
use crate::limits::{MAPPING_BYTES_MAX, TEMPLATE_COLUMNS_MAX};
use crate::suggestion;
use crate::unix_time::UnixUnit;

pub(crate) use template::Template;

/// Which column of CSV, or which property of a GeoJSON feature, fills which field of an event.
///
/// The default maps nothing: every field is filled from the columns that are named like it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mapping {
    sources: BTreeMap<Field, Source>,
}

/// Where a field comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// From nowhere, not even from a column that is named like it.
    Nothing,
    /// From columns.
    Columns {
        /// Which, and what is between them.
        template: Template<String>,
        /// How their text is read.
        reading: Reading,
    },
}

/// How a text is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Reading {
    /// As the field is read by default.
    Default,
    /// As a number of time since 1970.
    Unix(UnixUnit),
    /// As a timestamp and durations, with ` + ` between them.
    Sum,
    /// As a list of pieces with blanks between them.
    SplitAtBlanks,
    /// As a list of pieces with this text between them.
    SplitAt(String),
}

/// What is wrong with a mapping.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MappingError {
    /// More than [`MAPPING_BYTES_MAX`].
    #[error("a mapping can have at most {MAPPING_BYTES_MAX} bytes")]
    TooLong,
    /// It begins like a JSON object and is not one of texts.
    #[error("the mapping must be a JSON object of strings, such as `{{\"time\": \"column\"}}`: {detail}")]
    NotAnObject {
        /// What is wrong.
        detail: String,
    },
    /// A part without `=`.
    #[error("`{part}` is not `field=column`; values with commas need the JSON form, such as `{{\"name\": \"a, b\"}}`")]
    NotAPair {
        /// The part.
        part: String,
    },
    /// No such field.
    #[error("`{field}` is not a field that can be mapped; {hint}")]
    FieldUnknown {
        /// The field.
        field: String,
        /// The nearest one, or all of them.
        hint: String,
    },
    /// A field stands there twice, perhaps once as `lat` and once as `geo.lat`.
    #[error("`{field}` is mapped twice; map it once")]
    FieldTwice {
        /// The field.
        field: &'static str,
    },
    /// What follows `|` is not known, or not for this field.
    #[error("`|{suffix}` does not apply to `{field}`; {rule}")]
    SuffixUnknown {
        /// The field.
        field: &'static str,
        /// What was said.
        suffix: String,
        /// What can be said.
        rule: &'static str,
    },
    /// A brace without the other.
    #[error(
        "the template of `{field}` has a single brace; write `{{column}}` for a column, and `{{{{` or `}}}}` for a brace"
    )]
    BraceUnpaired {
        /// The field.
        field: &'static str,
    },
    /// A template with more than [`TEMPLATE_COLUMNS_MAX`] columns.
    #[error("the template of `{field}` has more than {TEMPLATE_COLUMNS_MAX} columns")]
    ColumnsTooMany {
        /// The field.
        field: &'static str,
    },
    /// Braces, or a place before `|`, without a column.
    #[error("the value of `{field}` has no column; write `{{column}}` or `column`")]
    ColumnMissing {
        /// The field.
        field: &'static str,
    },
}

impl Mapping {
    /// Reads a mapping: `time=when|unix,description={name} ({status})`, or the same as a JSON
    /// object of texts. An empty value keeps a field empty.
    ///
    /// # Errors
    /// The text is too long, has another form, or names what is not known.
    pub fn parse(text: &str) -> Result<Self, MappingError> {
        if text.len() > MAPPING_BYTES_MAX {
            return Err(MappingError::TooLong);
        }
        let text = text.trim();
        let mut mapping = Self::default();
        if text.starts_with('{') {
            let object: BTreeMap<String, Option<String>> = serde_json::from_str(text)
                .map_err(|error| MappingError::NotAnObject { detail: clipped(error.to_string()) })?;
            for (word, value) in object {
                mapping.add(&word, value.as_deref().unwrap_or(""))?;
            }
        } else if !text.is_empty() {
            for part in text.split(',') {
                let (word, value) = part
                    .split_once('=')
                    .ok_or_else(|| MappingError::NotAPair { part: clipped(part.trim().to_owned()) })?;
                mapping.add(word.trim(), value)?;
            }
        }
        Ok(mapping)
    }

    fn add(&mut self, word: &str, value: &str) -> Result<(), MappingError> {
        let field = Field::from_word(word).ok_or_else(|| {
            let fields: [_; FIELDS] = Field::ALL.map(Field::as_str);
            let hint = suggestion::hint("the fields", word, fields);
            MappingError::FieldUnknown { field: clipped(word.to_owned()), hint }
        })?;
        match self.sources.insert(field, Source::parse(field, value.trim())?) {
            None => Ok(()),
            Some(_) => Err(MappingError::FieldTwice { field: field.as_str() }),
        }
    }

    /// Returns whether nothing is mapped.
    #[must_use]
    pub fn is_automatic(&self) -> bool {
        self.sources.is_empty()
    }

    /// Returns where the field comes from, if that is said.
    pub(crate) fn source(&self, field: Field) -> Option<&Source> {
        self.sources.get(&field)
    }
}

impl Source {
    fn parse(field: Field, value: &str) -> Result<Self, MappingError> {
        if value.is_empty() {
            return Ok(Self::Nothing);
        }
        let (columns, suffix) = match template::suffix_start(value) {
            Some(bar) => (value[..bar].trim_end(), Some(&value[bar + 1..])),
            None => (value, None),
        };
        let template = Template::parse(field, columns)?;
        let reading = suffix.map_or(Ok(Reading::Default), |suffix| Reading::parse(field, suffix))?;
        Ok(Self::Columns { template, reading })
    }
}

impl Reading {
    fn parse(field: Field, suffix: &str) -> Result<Self, MappingError> {
        let unknown =
            |rule| MappingError::SuffixUnknown { field: field.as_str(), suffix: clipped(suffix.to_owned()), rule };
        match field {
            Field::Time | Field::EndTime => match suffix.trim() {
                "unix" => Ok(Self::Unix(UnixUnit::Seconds)),
                "unix_ms" => Ok(Self::Unix(UnixUnit::Millis)),
                "unix_us" => Ok(Self::Unix(UnixUnit::Micros)),
                "sum" => Ok(Self::Sum),
                _ => Err(unknown("times take `|unix`, `|unix_ms`, `|unix_us` and `|sum`")),
            },
            Field::Causes | Field::Actors | Field::Asserts => match suffix.split_once(':') {
                None if suffix.trim() == "split" => Ok(Self::SplitAtBlanks),
                Some(("split", separator)) if !separator.is_empty() => Ok(Self::SplitAt(separator.to_owned())),
                None | Some(_) => Err(unknown("lists take `|split` and `|split:<separator>`")),
            },
            Field::EventId
            | Field::Precision
            | Field::Description
            | Field::Name
            | Field::Location
            | Field::Lat
            | Field::Lon
            | Field::RadiusM
            | Field::Source
            | Field::Kind
            | Field::Sequence
            | Field::Attributes => Err(unknown("only times and lists take a suffix")),
        }
    }
}
