//! Durations with units in words: `2 hours 30 minutes`, `1 week, 2 days and 6 h`, `1.5 days`.

use super::reader;
use super::{Duration, DurationError};
use crate::time::Span;

/// Returns the shortest form of a unit, as ISO 8601 with `P` for months and years.
fn unit(word: &str) -> Option<(&'static str, &'static str)> {
    Some(match word.to_lowercase().as_str() {
        "us" | "µs" | "μs" | "usec" | "usecs" | "micro" | "micros" | "microsec" | "microsecs" | "microsecond"
        | "microseconds" => ("", "us"),
        "ms" | "msec" | "msecs" | "milli" | "millis" | "millisec" | "millisecs" | "millisecond" | "milliseconds" => {
            ("", "ms")
        }
        "s" | "sec" | "secs" | "second" | "seconds" => ("", "s"),
        "m" | "min" | "mins" | "minute" | "minutes" => ("", "m"),
        "h" | "hr" | "hrs" | "hour" | "hours" => ("", "h"),
        "d" | "day" | "days" => ("", "d"),
        "w" | "wk" | "wks" | "week" | "weeks" => ("", "w"),
        "mo" | "mos" | "mon" | "mons" | "mth" | "mths" | "month" | "months" => ("P", "M"),
        "y" | "yr" | "yrs" | "year" | "years" => ("P", "Y"),
        _ => return None,
    })
}

/// Parses a duration in words. Returns `error`, that of the short form, if it is not one.
pub(super) fn parse(text: &str, error: DurationError) -> Result<Duration, DurationError> {
    let is_other = matches!(error, DurationError::NotADuration | DurationError::UnitUnknown { .. });
    let Some(parts) = parts(text).filter(|_| is_other && !text.starts_with('P')) else { return Err(error) };
    // In the short form `m` is minutes, in ISO 8601 `M` is months.
    if let Some((number, _)) = parts.iter().find(|(_, word)| *word == "M") {
        return Err(DurationError::MonthsOrMinutes { number: (*number).to_owned() });
    }
    if parts.is_empty() {
        return Err(error);
    }
    let (mut months, mut micros) = (0u32, 0i64);
    for (number, word) in parts {
        let Some((before, unit)) = unit(word) else { return Err(error) };
        let zero = if number.starts_with('.') { "0" } else { "" };
        let part = match reader::sum(&format!("{before}{zero}{number}{unit}")) {
            Ok(part) => part,
            Err(DurationError::NotADuration) => return Err(error),
            Err(of_part) => return Err(of_part),
        };
        months = months.checked_add(part.months).ok_or(DurationError::OutOfRange)?;
        micros = micros.checked_add(part.micros).ok_or(DurationError::OutOfRange)?;
    }
    Duration::new(months, Span::from_micros(micros)).ok_or(DurationError::Zero)
}

/// Splits a text into numbers, each with the word after it.
fn parts(text: &str) -> Option<Vec<(&str, &str)>> {
    let mut parts = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let (number, after) = rest.split_at(end_of(rest, |next| next.is_ascii_digit() || next == '.'));
        let (word, after) = after.split_at(end_of(after, |next| !next.is_ascii_digit() && next != '.'));
        if number.is_empty() {
            return None;
        }
        let word = if after.is_empty() { word } else { without_joint(word) };
        parts.push((number, word.trim()));
        rest = after;
    }
    Some(parts)
}

/// Removes a comma or `and` from the end of a word that another part follows.
fn without_joint(word: &str) -> &str {
    let word = word.trim_end();
    let word = word.strip_suffix(" and").unwrap_or(word).trim_end();
    word.strip_suffix(',').unwrap_or(word)
}

fn end_of(text: &str, belongs: impl Fn(char) -> bool) -> usize {
    text.find(|next| !belongs(next)).unwrap_or(text.len())
}
