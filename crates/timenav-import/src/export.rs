//! Export of events to files, the counterpart of import.
//!
//! Writers are pure: they convert the stored JSON of events to text. Everything that a format can represent is imported
//! unchanged; `docs/import-export.md` lists what it cannot.

pub(crate) mod spreadsheet;
mod calendar;
mod features;
mod stored;
mod table;
#[cfg(test)]
mod tests;

use std::str::FromStr;

use timenav_core::named;
use timenav_core::time::{Instant, Wall};

use crate::suggestion;
use stored::Stored;
pub use table::{AttributeColumns, WrongColumns};

named! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum ExportFormat {
        /// One JSON object per line.
        Ndjson = "ndjson",
        /// Comma-separated values with a header (RFC 4180).
        Csv = "csv",
        /// A feature collection (RFC 7946).
        GeoJson = "geojson",
        /// A calendar (RFC 5545).
        ICalendar = "icalendar",
    }
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{given}` is not a format that can be exported; {hint}")]
pub struct UnknownExportFormat {
    given: String,
    hint: String,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an event cannot be exported: {detail}")]
pub struct ExportError {
    detail: String,
}

impl ExportError {
    fn new(detail: impl std::fmt::Display) -> Self {
        Self { detail: detail.to_string() }
    }
}

impl ExportFormat {
    #[must_use]
    pub const fn content_type(self) -> &'static str {
        match self {
            Self::Ndjson => "application/x-ndjson",
            Self::Csv => "text/csv; charset=utf-8; header=present",
            Self::GeoJson => "application/geo+json",
            Self::ICalendar => "text/calendar; charset=utf-8",
        }
    }

    /// Returns the usual file extension, without its dot.
    #[must_use]
    pub const fn extension(self) -> &'static str {
        match self {
            Self::Ndjson => "ndjson",
            Self::Csv => "csv",
            Self::GeoJson => "geojson",
            Self::ICalendar => "ics",
        }
    }

    /// Returns the format of a file extension, given without its dot.
    #[must_use]
    pub fn from_extension(extension: &str) -> Option<Self> {
        if extension.eq_ignore_ascii_case("jsonl") {
            return Some(Self::Ndjson);
        }
        Self::ALL.into_iter().find(|format| format.extension().eq_ignore_ascii_case(extension))
    }
}

impl FromStr for ExportFormat {
    type Err = UnknownExportFormat;

    fn from_str(text: &str) -> Result<Self, UnknownExportFormat> {
        let named = Self::parse(text);
        named.ok_or_else(|| UnknownExportFormat {
            given: crate::item::clipped(text.to_owned()),
            hint: suggestion::hint("the formats", text, Self::ALL.map(Self::as_str)),
        })
    }
}

/// Writes one file: [`Export::begin`], [`Export::event`] for each event, [`Export::end`].
///
/// Each call appends to a buffer that the caller may empty at any time. Memory use is therefore that of one event,
/// regardless of the size of the file.
#[derive(Clone, Debug)]
pub struct Export {
    format: ExportFormat,
    stamp: Instant<Wall>,
    columns: AttributeColumns,
    written: u64,
    left_out: u64,
}

impl Export {
    /// Returns a writer. `stamp` is the creation time of the file, which calendars include.
    #[must_use]
    pub fn new(format: ExportFormat, stamp: Instant<Wall>) -> Self {
        Self { format, stamp, columns: AttributeColumns::default(), written: 0, left_out: 0 }
    }

    /// Adds columns, which only tables use.
    #[must_use]
    pub fn with_columns(self, columns: AttributeColumns) -> Self {
        Self { columns, ..self }
    }

    pub fn begin(&self, out: &mut String) {
        match self.format {
            ExportFormat::Ndjson => {}
            ExportFormat::Csv => table::header(&self.columns, out),
            ExportFormat::GeoJson => out.push_str("{\"type\":\"FeatureCollection\",\"features\":["),
            ExportFormat::ICalendar => calendar::begin(out),
        }
    }

    /// Writes one event, given as its stored JSON.
    ///
    /// # Errors
    /// The text is not an event. Nothing is written.
    pub fn event(&mut self, json: &str, out: &mut String) -> Result<(), ExportError> {
        let event = Stored::parse(json)?;
        let is_first = self.written == 0;
        let whole = out.len();
        let outcome = match self.format {
            ExportFormat::Ndjson => {
                event.line(out);
                Ok(true)
            }
            ExportFormat::Csv => table::row(&event, &self.columns, out).map(|()| true),
            ExportFormat::GeoJson => {
                out.push_str(if is_first { "\n" } else { ",\n" });
                features::feature(&event, out).map(|()| true)
            }
            ExportFormat::ICalendar => calendar::event(&event, self.stamp, out),
        };
        match outcome {
            Ok(true) => self.written += 1,
            Ok(false) => self.left_out += 1,
            Err(_) => out.truncate(whole),
        }
        outcome.map(|_| ())
    }

    pub fn end(&self, out: &mut String) {
        match self.format {
            ExportFormat::Ndjson | ExportFormat::Csv => {}
            ExportFormat::GeoJson => out.push_str("\n]}\n"),
            ExportFormat::ICalendar => calendar::end(self.left_out, out),
        }
    }

    #[must_use]
    pub const fn written(&self) -> u64 {
        self.written
    }

    /// Returns the number of events that the format cannot represent.
    #[must_use]
    pub const fn left_out(&self) -> u64 {
        self.left_out
    }
}
