//! Errors that end an import.

use std::io;

use crate::limits::{CSV_COLUMNS_MAX, FEATURE_BYTES_MAX, RECORD_BYTES_MAX, TRACE_SPANS_MAX};

/// Why a file cannot be read further, or not at all. Earlier records have been handed over.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// Reading the input failed.
    #[error("the input ended early at line {line}: {source}")]
    Io {
        /// The current line.
        line: u64,
        source: io::Error,
    },
    /// A mapping was given for a format that does not use one.
    #[error(
        "a mapping is for CSV, GeoJSON, ndjson, json and logfmt; records of other formats name their fields themselves"
    )]
    MappingUnused,
    /// The CSV file has no header.
    #[error("the file is empty; its first row names the columns")]
    HeaderMissing,
    /// The header of the CSV file is not text.
    #[error("the first row, at line {line}, cannot be read: {detail}")]
    HeaderUnreadable { line: u64, detail: String },
    /// The CSV file has more than [`CSV_COLUMNS_MAX`] columns.
    #[error("the first row has {columns} columns; at most {CSV_COLUMNS_MAX} are supported")]
    TooManyColumns { columns: usize },
    /// The mapping names a column that the CSV file does not have.
    #[error("the mapping fills `{field}` from the column `{column}`, which the file does not have; {hint}")]
    ColumnUnknown {
        /// The mapped field.
        field: &'static str,
        /// The missing column.
        column: String,
        /// The most similar column, or all of them.
        hint: String,
    },
    /// No column of the CSV file is the time of events.
    #[error(
        "it is not clear which column is the time of the events; name it in the mapping, as in `time=<column>` for \
         timestamps or `time=<column>|unix` for seconds since 1970 (`timenav import --guess` proposes a mapping); {hint}"
    )]
    TimeUnmapped {
        /// The existing columns.
        hint: String,
    },
    /// A CSV row is longer than [`RECORD_BYTES_MAX`].
    #[error(
        "the row that starts at line {line} has more than {RECORD_BYTES_MAX} bytes; is a quotation mark not closed?"
    )]
    RowTooLarge {
        /// The first line of the row.
        line: u64,
    },
    /// A GeoJSON feature, or another member of the collection, is longer than [`FEATURE_BYTES_MAX`].
    #[error("at line {line}, after {features} features: a value has more than {FEATURE_BYTES_MAX} bytes")]
    FeatureTooLarge {
        /// The current line.
        line: u64,
        /// Number of features read before.
        features: u64,
    },
    /// The text is not JSON, or ends too early.
    #[error("at line {line}, column {column}, after {records} records: {detail}")]
    MalformedJson {
        line: u64,
        /// In bytes, from 1.
        column: u64,
        /// Number of records read before.
        records: u64,
        detail: String,
    },
    /// Something that is read as a whole is too long.
    #[error("{what} has more than {bytes_max} bytes; it was being read at line {line}")]
    PartTooLarge {
        /// Its description: `a trace document`.
        what: &'static str,
        /// The current line.
        line: u64,
        /// The limit.
        bytes_max: usize,
    },
    /// A document has more than [`TRACE_SPANS_MAX`] spans.
    #[error("a trace document has more than {TRACE_SPANS_MAX} spans; send its traces one by one")]
    TooManySpans {
        /// The last line of the document.
        line: u64,
    },
    /// The text does not have the given format.
    #[error("this is not {format}: {detail}")]
    NotOfFormat {
        format: &'static str,
        /// The current line.
        line: u64,
        /// What is expected.
        detail: String,
    },
    /// The file is not text.
    #[error("the file is not UTF-8 text: {what}")]
    NotText {
        /// Its type, and what to do with it.
        what: &'static str,
    },
    /// The text is JSON, but not GeoJSON.
    #[error("this is not a GeoJSON feature collection: {detail}")]
    NotGeoJson {
        /// The line where this was detected.
        line: u64,
        /// What is expected.
        detail: String,
    },
}

impl ImportError {
    /// Returns the line at which reading ended; 0 if nothing was read.
    #[must_use]
    pub const fn line(&self) -> u64 {
        match self {
            Self::MappingUnused => 0,
            Self::HeaderMissing
            | Self::NotText { .. }
            | Self::TooManyColumns { .. }
            | Self::ColumnUnknown { .. }
            | Self::TimeUnmapped { .. } => 1,
            Self::Io { line, .. }
            | Self::HeaderUnreadable { line, .. }
            | Self::RowTooLarge { line }
            | Self::FeatureTooLarge { line, .. }
            | Self::MalformedJson { line, .. }
            | Self::PartTooLarge { line, .. }
            | Self::TooManySpans { line }
            | Self::NotOfFormat { line, .. }
            | Self::NotGeoJson { line, .. } => *line,
        }
    }

    /// Returns the stable error code, like [`crate::RecordError::code`].
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Io { .. } => "input_failed",
            Self::MappingUnused => "conflicting_parameters",
            Self::HeaderMissing | Self::HeaderUnreadable { .. } | Self::TooManyColumns { .. } => "malformed_csv",
            Self::ColumnUnknown { .. } | Self::NotText { .. } | Self::NotGeoJson { .. } | Self::NotOfFormat { .. } => {
                "invalid_parameter"
            }
            Self::TimeUnmapped { .. } => "missing_parameter",
            Self::RowTooLarge { .. }
            | Self::FeatureTooLarge { .. }
            | Self::PartTooLarge { .. }
            | Self::TooManySpans { .. } => "record_too_large",
            Self::MalformedJson { .. } => "malformed_json",
        }
    }
}
