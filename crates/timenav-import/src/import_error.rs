//! Errors that end an import.

use std::io;

use crate::limits::{CSV_COLUMNS_MAX, FEATURE_BYTES_MAX, RECORD_BYTES_MAX, TRACE_SPANS_MAX};

/// Why a file cannot be read further, or not at all. Earlier records have been handed over.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    #[error("the input ended early at line {line}: {source}")]
    Io { line: u64, source: io::Error },
    #[error(
        "a mapping is for CSV, GeoJSON, ndjson, json and logfmt; records of other formats name their fields themselves"
    )]
    MappingUnused,
    #[error("the file is empty; its first row names the columns")]
    HeaderMissing,
    #[error("the first row, at line {line}, cannot be read: {detail}")]
    HeaderUnreadable { line: u64, detail: String },
    #[error("the first row has {columns} columns; at most {CSV_COLUMNS_MAX} are supported")]
    TooManyColumns { columns: usize },
    #[error("the mapping fills `{field}` from the column `{column}`, which the file does not have; {hint}")]
    ColumnUnknown {
        field: &'static str,
        column: String,
        /// The most similar column, or all of them.
        hint: String,
    },
    #[error(
        "it is not clear which column is the time of the events; name it in the mapping, as in `time=<column>` for \
         timestamps or `time=<column>|unix` for seconds since 1970 (`timenav import --guess` proposes a mapping); {hint}"
    )]
    TimeUnmapped { hint: String },
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
        line: u64,
        /// Number of features read before.
        features: u64,
    },
    #[error("at line {line}, column {column}, after {records} records: {detail}")]
    MalformedJson {
        line: u64,
        /// In bytes, from 1.
        column: u64,
        /// Number of records read before.
        records: u64,
        detail: String,
    },
    #[error("{what} has more than {bytes_max} bytes; it was being read at line {line}")]
    PartTooLarge {
        /// The part that is too long: `a trace document`.
        what: &'static str,
        line: u64,
        bytes_max: usize,
    },
    #[error("a trace document has more than {TRACE_SPANS_MAX} spans; send its traces one by one")]
    TooManySpans {
        /// The last line of the document.
        line: u64,
    },
    #[error("this is not {format}: {detail}")]
    NotOfFormat { format: &'static str, line: u64, detail: String },
    #[error("the file is not UTF-8 text: {what}")]
    NotText {
        /// The file's type, and what to do with it.
        what: &'static str,
    },
    #[error("this is not a GeoJSON feature collection: {detail}")]
    NotGeoJson { line: u64, detail: String },
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
