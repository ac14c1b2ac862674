//! Dates, times and durations of calendars (RFC 5545 §3.3.4 to §3.3.6).

use timenav_core::time::{Instant, Virtual, parse_timestamp};

pub(super) const SECOND_MICROS: i64 = 1_000_000;
pub(super) const DAY_MICROS: i64 = 86_400 * SECOND_MICROS;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Written {
    /// The value as written, as if in UTC.
    pub(super) local: Instant<Virtual>,
    pub(super) form: Form,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Date,
    Utc,
    Local,
}

/// Parses `20240720`, `20240720T201740` or `20240720T201740Z`.
pub(super) fn written(text: &str) -> Option<Written> {
    let text = text.trim();
    if !text.is_ascii() {
        return None;
    }
    let (date, form) = match text.len() {
        8 => (text, Form::Date),
        15 => (&text[..8], Form::Local),
        16 if text.ends_with(['Z', 'z']) => (&text[..8], Form::Utc),
        _ => return None,
    };
    let time = if form == Form::Date { "000000" } else { text[8..15].strip_prefix(['T', 't'])? };
    if !date.bytes().chain(time.bytes()).all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let (year, month, day) = (&date[..4], &date[4..6], &date[6..]);
    let timestamp = format!("{year}-{month}-{day}T{}:{}:{}Z", &time[..2], &time[2..4], &time[4..]);
    Some(Written { local: parse_timestamp(&timestamp).ok()?, form })
}

/// A duration: calendar days, followed by an exact time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Duration {
    pub(super) days: i64,
    pub(super) micros: i64,
}

/// Parses `P1DT2H30M`, `-PT15M` or `P2W`.
pub(super) fn duration(text: &str) -> Option<Duration> {
    let text = text.trim();
    let (sign, rest) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    let rest = rest.strip_prefix('P')?;
    let (date, time) = rest.split_once('T').map_or((rest, None), |(date, time)| (date, Some(time)));
    if time == Some("") || (date.is_empty() && time.is_none()) {
        return None;
    }
    let days = units(date, &[('W', 7), ('D', 1)])?;
    let seconds = units(time.unwrap_or_default(), &[('H', 3_600), ('M', 60), ('S', 1)])?;
    Some(Duration { days: sign * days, micros: sign * seconds.checked_mul(SECOND_MICROS)? })
}

/// Adds up numbers with units. Each unit may occur once, in this order.
fn units(text: &str, units: &[(char, i64)]) -> Option<i64> {
    let mut rest = text;
    let mut sum = 0_i64;
    for (unit, worth) in units {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        if let Some(after) = rest[digits..].strip_prefix(*unit) {
            let count: i64 = rest[..digits].parse().ok()?;
            sum = sum.checked_add(count.checked_mul(*worth)?)?;
            rest = after;
        }
    }
    rest.is_empty().then_some(sum)
}

/// Parses `+0130` or `-053045` as seconds.
pub(super) fn offset(text: &str) -> Option<i64> {
    let text = text.trim();
    let sign = match text.as_bytes().first()? {
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    let digits = &text[1..];
    let is_right = matches!(digits.len(), 4 | 6) && digits.bytes().all(|byte| byte.is_ascii_digit());
    let part = |at: usize| digits.get(at..at + 2).map_or(Some(0), |two| two.parse::<i64>().ok());
    if !is_right {
        return None;
    }
    let (hours, minutes, seconds) = (part(0)?, part(2)?, part(4)?);
    (hours < 24 && minutes < 60 && seconds < 60).then_some(sign * (hours * 3_600 + minutes * 60 + seconds))
}

/// Formats an offset in seconds as in timestamps.
pub(super) fn offset_text(offset: i64) -> String {
    let (sign, seconds) = (if offset < 0 { '-' } else { '+' }, offset.abs());
    let text = format!("{sign}{:02}:{:02}", seconds / 3_600, seconds / 60 % 60);
    if seconds % 60 == 0 { text } else { format!("{text}:{:02}", seconds % 60) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calendar_dates_and_times_are_parsed() {
        let check = |text: &str, expected: Option<(&str, Form)>| {
            let found = written(text).map(|found| (found.local.to_string(), found.form));
            assert_eq!(found, expected.map(|(text, form)| (text.to_owned(), form)), "{text}");
        };
        check("20240720", Some(("2024-07-20T00:00:00Z", Form::Date)));
        check("20240720T201740", Some(("2024-07-20T20:17:40Z", Form::Local)));
        check("20240720T201740Z", Some(("2024-07-20T20:17:40Z", Form::Utc)));
        for wrong in ["", "2024-7-20", "20240230", "20240720T20174", "20240720 201740", "20240720T201740X", "2024072é"]
        {
            check(wrong, None);
        }
    }

    #[test]
    fn calendar_durations_are_parsed() {
        let check = |text: &str, expected: Option<(i64, i64)>| {
            assert_eq!(duration(text).map(|found| (found.days, found.micros / SECOND_MICROS)), expected, "{text}");
        };
        check("P1DT2H30M", Some((1, 9_000)));
        check("-PT15M", Some((0, -900)));
        check("P2W", Some((14, 0)));
        check("+PT5S", Some((0, 5)));
        for wrong in
            ["", "P", "PT", "1D", "P1", "P1H", "PT1D", "PT1S1M", "P99999999999999999999D", "P9223372036854775807W"]
        {
            check(wrong, None);
        }
    }

    #[test]
    fn utc_offsets_are_parsed() {
        assert_eq!(offset("+0100"), Some(3_600));
        assert_eq!(offset("-053045"), Some(-19_845));
        assert_eq!([3_600, -19_845, 0].map(offset_text), ["+01:00", "-05:30:45", "+00:00"]);
        for wrong in ["", "0100", "+1", "+2400", "+0160", "+01é"] {
            assert_eq!(offset(wrong), None, "{wrong}");
        }
    }
}
