//! Durations in words, and in letters that are units elsewhere: what would be right.

use super::DurationError;

/// Returns the duration of a number and a unit that is written out, such as `2` and `hours`.
pub(crate) fn spelled_out(number: &str, unit: &str) -> Option<String> {
    let unit = unit.to_lowercase();
    let unit = unit.strip_suffix('s').filter(|rest| !rest.is_empty()).unwrap_or(&unit);
    Some(match unit {
        "s" | "sec" | "second" => format!("{number}s"),
        "m" | "min" | "minute" => format!("{number}m"),
        "h" | "hr" | "hour" => format!("{number}h"),
        "d" | "day" => format!("{number}d"),
        "w" | "wk" | "week" => format!("{number}w"),
        "mo" | "mon" | "mth" | "month" => format!("P{number}M"),
        "y" | "yr" | "year" => format!("P{number}Y"),
        _ => return None,
    })
}

/// Returns a better error, where it is clear what was meant.
pub(super) fn explained(text: &str, error: DurationError) -> DurationError {
    if !matches!(error, DurationError::NotADuration | DurationError::UnitUnknown { .. }) || text.starts_with('P') {
        return error;
    }
    let end = text.find(|next: char| !next.is_ascii_digit() && next != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    if number.is_empty() {
        return error;
    }
    let corrected = match unit.trim() {
        // `m` is minutes, so this might be either.
        "M" => Some(format!("`P{number}M` for months, or `{number}m` for minutes")),
        unit => spelled_out(number, unit).map(|corrected| format!("`{corrected}`")),
    };
    match corrected {
        Some(corrected) => DurationError::OtherWords { text: text.to_owned(), corrected },
        None => error,
    }
}
