use std::borrow::Cow;

use timenav_core::event::{DraftError, EventDraft};

use crate::limits::DETAIL_BYTES_MAX;

#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    /// The first line, from 1. For GeoJSON, whose records are not bound to lines, the number of the feature.
    pub line: u64,
    /// The event, which always has an id.
    pub event: Result<EventDraft, RecordError>,
    /// Information that the event does not contain.
    pub notes: Vec<RecordNote>,
}

impl Item {
    pub(crate) const fn new(line: u64, event: Result<EventDraft, RecordError>) -> Self {
        Self { line, event, notes: Vec::new() }
    }

    pub(crate) fn noted(line: u64, event: Result<(EventDraft, Vec<RecordNote>), RecordError>) -> Self {
        match event {
            Ok((draft, notes)) => Self { line, event: Ok(draft), notes },
            Err(error) => Self::new(line, Err(error)),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordNote {
    /// `recurrence_kept`, `time_in_part`, `zone_assumed`, `line_left_out`, `offset_assumed`, `duration_negative` or
    /// `long_text_kept`.
    pub code: &'static str,
    /// What was omitted, and what was done instead.
    pub detail: Cow<'static, str>,
}

impl RecordNote {
    pub(crate) const RECURRENCE_KEPT: Self = Self {
        code: "recurrence_kept",
        detail: Cow::Borrowed(
            "the event repeats; only its first occurrence was recorded, with the rule in its attributes",
        ),
    };
    pub(crate) fn left_out(line: u64, detail: &str) -> Self {
        let detail = clipped(format!("line {line} is skipped: {detail}"));
        Self { code: "line_left_out", detail: Cow::Owned(detail) }
    }

    /// Returns the note that a calendar defines a time zone, but not for the time of an event.
    pub(crate) fn offset_assumed(zone: &str, offset: &str, local: &str) -> Self {
        let detail = format!(
            "the VTIMEZONE `{zone}` does not say which offset {local} has; {offset}, the nearest that it lists, is assumed"
        );
        Self { code: Self::OFFSET_ASSUMED, detail: Cow::Owned(clipped(detail)) }
    }
    pub(crate) const OFFSET_ASSUMED: &'static str = "offset_assumed";

    /// Returns the note that UTC is used for times without a zone. Only the first record of a file has it.
    pub(crate) fn zone_assumed(field: &str) -> Self {
        let detail = format!("`{field}` has no zone, so UTC is assumed; set another in `{field}.zone`");
        Self { code: Self::ZONE_ASSUMED, detail: Cow::Owned(detail) }
    }
    pub(crate) const ZONE_ASSUMED: &'static str = "zone_assumed";

    pub(crate) fn long_text_kept(field: &str, bytes: usize, bytes_max: usize) -> Self {
        let detail = format!(
            "`{field}` can have at most {bytes_max} bytes, but its text has {bytes}; it is stored as the attribute \
             `{field}`"
        );
        Self { code: "long_text_kept", detail: Cow::Owned(detail) }
    }

    pub(crate) const DURATION_NEGATIVE: Self = Self {
        code: "duration_negative",
        detail: Cow::Borrowed("the duration is negative; the event has no end, and the duration is in its attributes"),
    };

    pub(crate) const TIME_IN_PART: Self = Self {
        code: "time_in_part",
        detail: Cow::Borrowed(
            "a part of the time is missing, such as the month; the finer parts after it, such as the day, are ignored",
        ),
    };
}

/// Why a record is not an event. Later records are still read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{detail}")]
pub struct RecordError {
    /// `malformed_json`, `malformed_csv`, `malformed_logfmt`, `malformed_calendar`, `missing_parameter`,
    /// `invalid_parameter`, `unknown_parameter`, `time_out_of_range` or `record_too_large`.
    pub code: &'static str,
    /// The path of the field, such as `causes/3`. `None` for errors about the record as a whole.
    pub field: Option<String>,
    pub detail: String,
}

impl RecordError {
    pub(crate) const MALFORMED_JSON: &'static str = "malformed_json";
    pub(crate) const MALFORMED_CSV: &'static str = "malformed_csv";
    pub(crate) const MALFORMED_LOGFMT: &'static str = "malformed_logfmt";
    pub(crate) const MALFORMED_CALENDAR: &'static str = "malformed_calendar";
    pub(crate) const MISSING: &'static str = "missing_parameter";
    pub(crate) const INVALID: &'static str = "invalid_parameter";
    pub(crate) const UNKNOWN: &'static str = "unknown_parameter";
    pub(crate) const OUT_OF_RANGE: &'static str = "time_out_of_range";
    pub(crate) const TOO_LARGE: &'static str = "record_too_large";

    pub(crate) fn whole(code: &'static str, detail: impl Into<String>) -> Self {
        Self { code, field: None, detail: clipped(detail.into()) }
    }

    pub(crate) fn of(code: &'static str, field: impl Into<String>, detail: impl Into<String>) -> Self {
        Self { code, field: Some(clipped(field.into())), detail: clipped(detail.into()) }
    }

    pub(crate) fn invalid(field: impl Into<String>, detail: impl Into<String>) -> Self {
        Self::of(Self::INVALID, field, detail)
    }
}

impl From<DraftError> for RecordError {
    fn from(error: DraftError) -> Self {
        Self::invalid(error.field, error.detail)
    }
}

pub(crate) fn clipped(mut text: String) -> String {
    if text.len() > DETAIL_BYTES_MAX {
        text.truncate(text.floor_char_boundary(DETAIL_BYTES_MAX - '…'.len_utf8()));
        text.push('…');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn details_are_cut_between_characters() {
        let check = |text: String, expected_bytes: usize| {
            assert_eq!(clipped(text).len(), expected_bytes);
        };
        check("x".repeat(DETAIL_BYTES_MAX), DETAIL_BYTES_MAX);
        check("x".repeat(DETAIL_BYTES_MAX + 1), DETAIL_BYTES_MAX);
        check("é".repeat(DETAIL_BYTES_MAX), DETAIL_BYTES_MAX - 1);
    }
}
