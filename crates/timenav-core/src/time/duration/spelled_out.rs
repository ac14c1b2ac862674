//! Corrections for durations in words, or with unit letters that have another meaning here.

use super::{Duration, DurationError, parse_duration};

/// Returns the duration of a number and a unit that is written out, such as `2` and `hours`. `M` alone is rejected: it
/// could mean months or minutes.
pub(crate) fn spelled_out(number: &str, unit: &str) -> Option<String> {
    let zero = if number.starts_with('.') { "0" } else { "" };
    let before_unit = |before: &str, unit: &str| format!("{before}{zero}{number}{unit}");
    Some(match unit.to_lowercase().as_str() {
        "m" if unit == "M" => return None,
        "us" | "µs" | "μs" | "usec" | "usecs" | "micro" | "micros" | "microsec" | "microsecs" | "microsecond"
        | "microseconds" => before_unit("", "us"),
        "ms" | "msec" | "msecs" | "milli" | "millis" | "millisec" | "millisecs" | "millisecond" | "milliseconds" => {
            before_unit("", "ms")
        }
        "s" | "sec" | "secs" | "second" | "seconds" => before_unit("", "s"),
        "m" | "min" | "mins" | "minute" | "minutes" => before_unit("", "m"),
        "h" | "hr" | "hrs" | "hour" | "hours" => before_unit("", "h"),
        "d" | "day" | "days" => before_unit("", "d"),
        "w" | "wk" | "wks" | "week" | "weeks" => before_unit("", "w"),
        "mo" | "mos" | "mon" | "mons" | "mth" | "mths" | "month" | "months" => before_unit("P", "M"),
        "y" | "yr" | "yrs" | "year" | "years" => before_unit("P", "Y"),
        _ => return None,
    })
}

/// Replaces an error by a more specific one if the intended duration is clear.
pub(super) fn explained(text: &str, error: DurationError) -> DurationError {
    if !matches!(error, DurationError::NotADuration | DurationError::UnitUnknown { .. }) || text.starts_with('P') {
        return error;
    }
    let Some(parts) = parts(text) else { return error };
    let corrected = match parts.as_slice() {
        // `m` is minutes, so `M` is ambiguous.
        [(number, "M")] => Some(format!("`P{number}M` for months, or `{number}m` for minutes")),
        [(number, unit)] => spelled_out(number, unit).map(|corrected| format!("`{corrected}`")),
        parts => sum(parts).map(|sum| format!("`{sum}`")),
    };
    match corrected {
        Some(corrected) => DurationError::OtherWords { text: text.to_owned(), corrected },
        None => error,
    }
}

/// Splits a text into numbers, each with the unit after it.
fn parts(text: &str) -> Option<Vec<(&str, &str)>> {
    let mut parts = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let (number, behind) = rest.split_at(end_of(rest, |next| next.is_ascii_digit() || next == '.'));
        let (unit, behind) = behind.split_at(end_of(behind, |next| !next.is_ascii_digit() && next != '.'));
        if number.is_empty() {
            return None;
        }
        parts.push((number, unit.trim()));
        rest = behind;
    }
    Some(parts)
}

fn end_of(text: &str, belongs: impl Fn(char) -> bool) -> usize {
    text.find(|next| !belongs(next)).unwrap_or(text.len())
}

/// Adds up numbers with units. Next to other units, `M` means months, as in ISO 8601.
fn sum(parts: &[(&str, &str)]) -> Option<Duration> {
    let lengths = parts.iter().map(|&(number, unit)| {
        let unit = if unit == "M" { "months" } else { unit };
        parse_duration(&spelled_out(number, unit)?).ok()
    });
    lengths.reduce(|sum, length| sum?.checked_add(length?))?
}
