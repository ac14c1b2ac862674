//! Which column or property fills which field.
//!
//! ```text
//! mapping  = "" | object | pair *( "," pair )
//! object   = a JSON object: { field: value, option: setting, … }
//! pair     = field "=" value | option "=" setting
//! value    = "" | source [ "|" suffix ]
//! source   = column | template | "'" text "'"
//! template = text with "{" column "}" in it; "{{" and "}}" are braces
//! suffix   = "unix" | "unix_ms" | "unix_us" | "unix_ns" | "sum" | pattern | "split" [ ":" separator ]
//! ```
//!
//! An object inside the object says the same as names with a dot: `{"geo": {"lat": "y"}}` is `geo.lat=y`.

pub(crate) mod field;
mod line_pattern;
mod missing;
mod table;
mod template;
mod time_parts;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use self::field::FIELDS;
use self::field::Field;
use crate::files::encoding::Encoding;
use crate::item::clipped;
use crate::limits::{MAPPING_BYTES_MAX, TEMPLATE_COLUMNS_MAX};
use crate::suggestion;
use crate::time::time_format::TimeFormat;
use crate::time::unix_time::UnixUnit;

pub(crate) use line_pattern::LinePattern;
pub(crate) use missing::{Missing, MissingHere};
pub(crate) use table::{Delimiter, FixedColumn, Quote, Table, TableColumns};
pub(crate) use template::Template;
pub(crate) use time_parts::{PartSource, TimePart, TimeRules, TimeSource, YearNumbering};

/// Which column or JSON member fills which event field, and how the file is encoded. By default, each field is read
/// from the column of the same name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mapping {
    sources: BTreeMap<Field, Source>,
    times: BTreeMap<Field, TimeSource>,
    missing: Missing,
    table: Table,
    /// Path of the record list in a JSON document.
    records: Option<String>,
    encoding: Encoding,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// The field stays empty even if a column has its name.
    Nothing,
    Columns {
        template: Template<String>,
        reading: Reading,
    },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Reading {
    Default,
    Unix(UnixUnit),
    /// Day count of spreadsheets.
    Excel,
    Format(TimeFormat),
    /// A timestamp and durations, joined by ` + `.
    Sum,
    /// Longitude first, then latitude.
    LonLat,
    SplitAtBlanks,
    SplitAt(String),
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MappingError {
    #[error("a mapping can have at most {MAPPING_BYTES_MAX} bytes")]
    TooLong,
    #[error("the mapping must be a JSON object, such as `{{\"time\": \"column\"}}`: {detail}")]
    NotAnObject { detail: String },
    #[error("`{part}` is not `field=column`; values with commas need the JSON form, such as `{{\"name\": \"a, b\"}}`")]
    NotAPair { part: String },
    #[error("`{field}` is not a field that can be mapped; {hint}")]
    FieldUnknown {
        field: String,
        /// The nearest field name, or all of them.
        hint: String,
    },
    /// A field is mapped twice, perhaps once as `lat` and once as `geo.lat`.
    #[error("`{field}` is mapped twice; map it once")]
    FieldTwice { field: &'static str },
    #[error("`|{suffix}` does not apply to `{field}`; {rule}")]
    SuffixUnknown { field: &'static str, suffix: String, rule: &'static str },
    #[error(
        "the template of `{field}` has a single brace; write `{{column}}` for a column, and `{{{{` or `}}}}` for a brace"
    )]
    BraceUnpaired { field: &'static str },
    #[error("the template of `{field}` has more than {TEMPLATE_COLUMNS_MAX} columns")]
    ColumnsTooMany { field: &'static str },
    #[error("the value of `{field}` is the name of a column, or a template: a text in quotation marks")]
    NotAText { field: String },
    #[error("`{option}` cannot be `{given}`: {rule}")]
    OptionWrong { option: String, given: String, rule: String },
    #[error("`{option}`: {rule}")]
    PartsWrong { option: String, rule: String },
    #[error("`{field}` is mapped as a whole and in parts; map it one way")]
    TimeTwice { field: &'static str },
    /// Empty braces, or nothing before `|`.
    #[error("the value of `{field}` has no column; write `{{column}}` or `column`")]
    ColumnMissing { field: &'static str },
}

impl Mapping {
    /// Parses `time=when|unix,description={name} ({status})`, or the equivalent JSON object. An empty value keeps a
    /// field empty.
    ///
    /// # Errors
    /// The text is too long, malformed, or names something unknown.
    pub fn parse(text: &str) -> Result<Self, MappingError> {
        if text.len() > MAPPING_BYTES_MAX {
            return Err(MappingError::TooLong);
        }
        let text = text.trim();
        let mut mapping = Self::default();
        if text.starts_with('{') {
            let object: Map<String, Value> = serde_json::from_str(text)
                .map_err(|error| MappingError::NotAnObject { detail: clipped(error.to_string()) })?;
            for (word, value) in &object {
                mapping.add(word.trim(), value)?;
            }
        } else if !text.is_empty() {
            for part in text.split(',') {
                let (word, value) = part
                    .split_once('=')
                    .ok_or_else(|| MappingError::NotAPair { part: clipped(part.trim().to_owned()) })?;
                mapping.add(word.trim(), &Value::from(value.trim()))?;
            }
        }
        for (field, time) in &mapping.times {
            time.check(*field)?;
            if !time.parts.is_empty() && mapping.sources.contains_key(field) {
                return Err(MappingError::TimeTwice { field: field.as_str() });
            }
        }
        Ok(mapping)
    }

    fn add(&mut self, word: &str, value: &Value) -> Result<(), MappingError> {
        if self.table.add(word, value)? {
            return Ok(());
        }
        match (word.split_once('.'), value) {
            (None, Value::String(path)) if word == "records" => {
                self.records = Some(path.trim().to_owned());
                return Ok(());
            }
            (None, _) if word == "encoding" => {
                self.encoding = value.as_str().and_then(Encoding::named).ok_or_else(|| MappingError::OptionWrong {
                    option: word.to_owned(),
                    given: clipped(value.as_str().map_or_else(|| value.to_string(), str::to_owned)),
                    rule: "it must be `utf-8` or `windows-1252`; save files in another encoding as UTF-8".to_owned(),
                })?;
                return Ok(());
            }
            (Some(("geo", "missing")), _) => return self.missing.add_place(value),
            (None, _) if word == "missing" => return self.missing.add(None, value),
            (Some(("missing", column)), _) => return self.missing.add(Some(column), value),
            _ => {}
        }
        if let Value::Object(parts) = value
            && matches!(word, "time" | "end_time" | "geo")
            && !parts.is_empty()
        {
            return parts.iter().try_for_each(|(part, value)| self.add(&format!("{word}.{}", part.trim()), value));
        }
        let value = match value {
            Value::Null => "",
            Value::String(value) => value.trim(),
            Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
                return Err(MappingError::NotAText { field: clipped(word.to_owned()) });
            }
        };
        let word = match word.split_once('.') {
            Some((whole @ ("time" | "end_time" | "geo"), "column")) => whole,
            Some((time @ ("time" | "end_time"), part)) => {
                let field = if time == "time" { Field::Time } else { Field::EndTime };
                return self.times.entry(field).or_default().add(field, part, value);
            }
            _ => word,
        };
        let field = Field::from_word(word).ok_or_else(|| field_unknown(word))?;
        match self.sources.insert(field, Source::parse(field, value)?) {
            None => Ok(()),
            Some(_) => Err(MappingError::FieldTwice { field: field.as_str() }),
        }
    }

    #[must_use]
    pub fn is_automatic(&self) -> bool {
        *self == Self::default()
    }

    pub(crate) fn source(&self, field: Field) -> Option<&Source> {
        self.sources.get(&field)
    }

    pub(crate) fn time(&self, field: Field) -> Option<&TimeSource> {
        self.times.get(&field)
    }

    pub(crate) fn missing(&self) -> &Missing {
        &self.missing
    }

    pub(crate) fn table(&self) -> &Table {
        &self.table
    }

    pub(crate) fn records(&self) -> Option<&str> {
        self.records.as_deref()
    }

    pub(crate) fn encoding(&self) -> Encoding {
        self.encoding
    }
}

fn field_unknown(word: &str) -> MappingError {
    let fields: [_; FIELDS] = Field::ALL.map(Field::as_str);
    let options = Table::WORDS.into_iter().chain(["missing", "records", "encoding"]);
    let hint = match suggestion::nearest(word, options) {
        Some(option) if suggestion::nearest(word, fields).is_none() => format!("did you mean `{option}`?"),
        Some(_) | None => suggestion::hint("the fields", word, fields),
    };
    MappingError::FieldUnknown { field: clipped(word.to_owned()), hint }
}

/// Splits a value at its suffix.
fn cut(value: &str) -> (&str, Option<&str>) {
    match template::suffix_start(value) {
        Some(bar) => (value[..bar].trim_end(), Some(&value[bar + 1..])),
        None => (value, None),
    }
}

impl Source {
    fn parse(field: Field, value: &str) -> Result<Self, MappingError> {
        if value.is_empty() {
            return Ok(Self::Nothing);
        }
        if let Some(text) = value.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\'')) {
            return Ok(Self::Columns { template: Template::text(text), reading: Reading::Default });
        }
        let (columns, suffix) = cut(value);
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
                "unix_ns" => Ok(Self::Unix(UnixUnit::Nanos)),
                "excel" => Ok(Self::Excel),
                "sum" => Ok(Self::Sum),
                pattern => TimeFormat::parse(pattern).map(Self::Format).ok_or_else(|| {
                    unknown(
                        "times take `|unix`, `|unix_ms`, `|unix_us`, `|unix_ns`, `|excel`, `|sum`, or a pattern such as \
                         `|DD/MM/YYYY HH:mm` or `|%d/%m/%Y %H:%M`",
                    )
                }),
            },
            Field::Causes | Field::Actors | Field::Asserts => match suffix.split_once(':') {
                None if suffix.trim() == "split" => Ok(Self::SplitAtBlanks),
                Some(("split", separator)) if !separator.is_empty() => Ok(Self::SplitAt(separator.to_owned())),
                None | Some(_) => Err(unknown("lists take `|split` and `|split:<separator>`")),
            },
            Field::Geo => match suffix.trim() {
                "lat_lon" => Ok(Self::Default),
                "lon_lat" => Ok(Self::LonLat),
                _ => Err(unknown("a place in one column takes `|lat_lon` and `|lon_lat`")),
            },
            _ => Err(unknown("only times, lists and `geo` take a suffix")),
        }
    }
}
