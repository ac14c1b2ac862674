//! Text form of instants: RFC 3339 with the expanded years of ISO 8601 and the suffix of RFC 9557.

use std::fmt;

use super::civil::{Civil, CivilText, HOUR_MICROS, MINUTE_MICROS, SECOND_MICROS, days_in_month};
use super::leap_second::follows_leap_second;
use super::zone::LocalOffsets;
use super::{Instant, Zone};
use reader::{LocalTime, Offset, Reader, ZoneSuffix};

mod reader;
#[cfg(test)]
mod tests;

/// Longest accepted timestamp, in bytes: nine digits of fraction, the longest zone name, a calendar suffix.
pub const TIMESTAMP_BYTES_MAX: usize = 96;

/// Formats the instant in UTC: `2024-07-20T20:17:40Z`, `-002150-01-01T00:00:00.5Z`.
///
/// Years 0 to 9999 have four digits (RFC 3339), earlier ones have a minus sign and six (ISO 8601, expanded
/// representation; year 0 is 1 BCE). A fraction of one to six digits is included only if it is not zero.
/// [`parse_timestamp`] parses it to the same instant.
impl<S> fmt::Display for Instant<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(CivilText::new(Civil::from_micros(self.micros())).with_zulu().as_str())
    }
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TimestampError {
    #[error("the timestamp is empty: write one such as `2024-07-20T20:17:40Z`")]
    Empty,
    #[error("a timestamp can have at most {TIMESTAMP_BYTES_MAX} bytes, not {bytes}")]
    TooLong { bytes: usize },
    #[error("not a timestamp: write a date, a time and a zone, such as `2024-07-20T20:17:40Z`")]
    NotATimestamp,
    #[error("the time of day and its zone are missing: write `{corrected}`")]
    DateAlone {
        /// The start of the day in UTC.
        corrected: String,
    },
    #[error(
        "the time zone is missing: end it in `Z`, an offset such as `+02:00`, or a zone such as `[Europe/Paris]`, like \
         `{corrected}`"
    )]
    ZoneMissing {
        /// The same time in UTC.
        corrected: String,
    },
    #[error("clocks in {zone} skip that local time: write an offset, such as `{offset}`, or another time")]
    LocalTimeSkipped {
        zone: String,
        /// The offset before the gap.
        offset: String,
    },
    #[error("clocks in {zone} show that local time twice: write the offset `{first}` or `{second}` before the zone")]
    LocalTimeTwice {
        zone: String,
        /// The offset of the first occurrence.
        first: String,
        /// The offset of the second occurrence.
        second: String,
    },
    /// The offset starts with a space: a `+` that was decoded as a form field.
    #[error("the offset has a space instead of a sign: in a query string, write `+` as `%2B`")]
    OffsetSignMissing,
    #[error("{rest:?} does not belong after a timestamp")]
    Trailing { rest: String },
    #[error("a year must have four digits, or a sign and six: write the year -43 as `-000043`; the last year is 9999")]
    YearDigits,
    #[error("the year -000000 does not exist: write 1 BCE as `0000`")]
    NegativeYearZero,
    #[error("the {field} is {value}; it must be from {min} to {max}")]
    FieldOutOfRange { field: &'static str, value: i64, min: i64, max: i64 },
    #[error("month {month} of the year {year} has {days} days, not {day}")]
    NoSuchDay { year: i64, month: i64, day: i64, days: i64 },
    #[error("the hour 24 does not exist: write midnight as `00:00:00` of the following day")]
    HourTwentyFour,
    #[error("no leap second occurred then: second 60 exists only at 23:59:60Z on days such as 2016-12-31")]
    NotALeapSecond,
    #[error("the time is outside -009999-01-01T00:00:00Z to 9999-12-31T23:59:59.999999Z")]
    OutOfRange,
    #[error(
        "[{}] is not a suffix: write one zone such as `[Europe/Paris]`, and tags after it",
        .suffix.escape_debug()
    )]
    SuffixMalformed { suffix: String },
    /// A suffix is marked critical and not supported (RFC 9557, section 3.3).
    #[error("[{suffix}] is marked critical but not supported: leave it out, or leave out its `!`")]
    SuffixCritical { suffix: String },
    #[error("the time zone {zone:?} is unknown: write an IANA name such as `Europe/Paris`")]
    ZoneUnknown { zone: String },
    #[error("the offset {offset} and the zone {zone} disagree: at that time its offset is {zone_offset}")]
    ZoneDisagrees {
        offset: String,
        zone: String,
        /// The offset of the zone at that instant.
        zone_offset: String,
    },
}

/// Parses a timestamp: `2024-07-20T20:17:40Z`, `-000043-03-15T12:00:00+00:50`,
/// `2024-07-20T22:17:40+02:00[Europe/Paris]`.
///
/// - The syntax is that of RFC 3339 and ISO 8601: seconds and minutes are optional, and so are dashes and colons. The
///   separator is `T`, `t` or a space, and the decimal sign a point or a comma.
/// - Digits finer than a microsecond are truncated, toward the past in all years.
/// - A year has four digits, or a sign and six. Year 0 is 1 BCE; `-000000` does not exist.
/// - The second 60 is accepted if a leap second was inserted there, and means the second after it.
/// - A zone in brackets must agree with the offset. `Z` and `-00:00` do not specify local time and agree with all zones
///   (RFC 9557, section 2.2). An offset without seconds may be the zone's local mean time rounded to a minute, as in
///   Temporal; one with seconds must match exactly.
/// - Without an offset, the zone in brackets determines it: `2028-02-29T09:00[Asia/Tokyo]`. A local time that is
///   skipped or repeated there is rejected.
/// - Other suffixes are ignored unless they are critical (`[!u-ca=hebrew]`).
///
/// # Errors
/// [`TimestampError`] describes the error and the correct form.
pub fn parse_timestamp<S>(text: &str) -> Result<Instant<S>, TimestampError> {
    parse_zoned(text).map(|(instant, _)| instant)
}

/// Parses a timestamp like [`parse_timestamp`], and also returns the named zone in its brackets.
///
/// # Errors
/// [`TimestampError`] describes the error and the correct form.
pub fn parse_zoned<S>(text: &str) -> Result<(Instant<S>, Option<Zone>), TimestampError> {
    if let Some(instant) = plain(text) {
        return Ok((instant, None));
    }
    if text.is_empty() {
        return Err(TimestampError::Empty);
    }
    if text.len() > TIMESTAMP_BYTES_MAX {
        return Err(TimestampError::TooLong { bytes: text.len() });
    }
    let mut reader = Reader::new(text);
    let local = reader.local_time()?;
    let offset = reader.offset()?;
    let missing = matches!(offset, Offset::Missing).then(|| reader.zone_missing());
    let zone = reader.suffixes()?;
    if let (Some(missing), None) = (missing, &zone) {
        return Err(missing);
    }
    let at = instant(&local, offset, zone.as_ref())?;
    let zone = match zone {
        Some(ZoneSuffix::Named(zone)) => Some(zone),
        Some(ZoneSuffix::Offset { .. }) | None => None,
    };
    Ok((at, zone))
}

impl<S> Instant<S> {
    /// Parses an instant in its canonical text form, and returns `None` for anything else. [`parse_timestamp`] accepts
    /// more, such as the second 60 of a leap second.
    #[must_use]
    pub fn written(text: &str) -> Option<Self> {
        let other = || parse_timestamp(text).ok().filter(|instant: &Self| instant.to_string() == text);
        plain(text).or_else(other)
    }
}

/// Fast path for the canonical form in the years 0 to 9999, which almost all timestamps have.
fn plain<S>(text: &str) -> Option<Instant<S>> {
    let (fixed, end) = text.as_bytes().split_first_chunk::<19>()?;
    let [y0, y1, y2, y3, b'-', mo0, mo1, b'-', d0, d1, b'T', h0, h1, b':', mi0, mi1, b':', s0, s1] = *fixed else {
        return None;
    };
    let month = decimal(&[mo0, mo1])?;
    let civil = Civil { year: decimal(&[y0, y1, y2, y3])?, month, day: decimal(&[d0, d1])?, day_micros: 0 };
    let (hour, minute, second) = (decimal(&[h0, h1])?, decimal(&[mi0, mi1])?, decimal(&[s0, s1])?);
    let is_date = (1..=12).contains(&month) && (1..=days_in_month(civil.year, month)).contains(&civil.day);
    if !is_date || hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let fraction = match end {
        b"Z" => 0,
        // A trailing zero is not canonical.
        [b'.', digits @ .., b'Z'] if (1..=6).contains(&digits.len()) && digits.last() != Some(&b'0') => {
            (digits.len()..6).fold(decimal(digits)?, |micros, _| micros * 10)
        }
        _ => return None,
    };
    let day_micros = hour * HOUR_MICROS + minute * MINUTE_MICROS + second * SECOND_MICROS + fraction;
    Instant::from_micros(Civil { day_micros, ..civil }.micros()?)
}

fn decimal(digits: &[u8]) -> Option<i64> {
    digits.iter().try_fold(0, |number, digit| digit.is_ascii_digit().then(|| number * 10 + i64::from(digit - b'0')))
}

fn instant<S>(local: &LocalTime, offset: Offset, zone: Option<&ZoneSuffix>) -> Result<Instant<S>, TimestampError> {
    let local_micros = local.civil.micros().ok_or(TimestampError::OutOfRange)?;
    let offset_seconds = match (offset, zone) {
        (Offset::Unknown, _) | (Offset::Missing, None) => 0,
        (Offset::Missing, Some(zone)) => local_offset(local_micros, zone)?,
        (Offset::Seconds(seconds) | Offset::Minutes(seconds), None) => seconds,
        (Offset::Seconds(seconds), Some(zone)) => agreed_offset(local_micros, seconds, zone, |offset| offset)?,
        (Offset::Minutes(seconds), Some(zone)) => agreed_offset(local_micros, seconds, zone, rounded_to_minute)?,
    };
    let micros = local_micros.checked_sub(offset_seconds * SECOND_MICROS).ok_or(TimestampError::OutOfRange)?;
    if local.is_leap_second {
        second_after_leap_second(micros)
    } else {
        Instant::from_micros(micros).ok_or(TimestampError::OutOfRange)
    }
}

/// Returns the instant one second after one in second 59, if there was a leap second between them.
fn second_after_leap_second<S>(micros: i64) -> Result<Instant<S>, TimestampError> {
    let following = micros.checked_add(SECOND_MICROS).ok_or(TimestampError::OutOfRange)?;
    let second_start = following - following.rem_euclid(SECOND_MICROS);
    if follows_leap_second(Civil::from_micros(second_start)) {
        Instant::from_micros(following).ok_or(TimestampError::OutOfRange)
    } else {
        Err(TimestampError::NotALeapSecond)
    }
}

/// Returns the offset of a zone, in seconds, if it equals the written one, either exactly or `rounded`.
fn agreed_offset(
    local_micros: i64,
    written: i64,
    zone: &ZoneSuffix,
    rounded: impl Fn(i64) -> i64,
) -> Result<i64, TimestampError> {
    let offset = match zone {
        ZoneSuffix::Offset { seconds, .. } => *seconds,
        ZoneSuffix::Named(zone) => {
            let micros = local_micros.saturating_sub(written * SECOND_MICROS);
            zone.offset_seconds(micros)
        }
    };
    if written == offset || written == rounded(offset) {
        return Ok(offset);
    }
    Err(TimestampError::ZoneDisagrees {
        offset: offset_text(written),
        zone: zone.name().to_owned(),
        zone_offset: offset_text(offset),
    })
}

/// Returns the offset of a zone at a local time, in seconds, if it is unambiguous.
fn local_offset(local_micros: i64, zone: &ZoneSuffix) -> Result<i64, TimestampError> {
    let named = match zone {
        ZoneSuffix::Offset { seconds, .. } => return Ok(*seconds),
        ZoneSuffix::Named(zone) => zone,
    };
    let zone = || named.name().to_owned();
    match named.offsets_of_local(local_micros) {
        LocalOffsets::One(seconds) => Ok(seconds),
        LocalOffsets::None { before } => {
            Err(TimestampError::LocalTimeSkipped { zone: zone(), offset: offset_text(before) })
        }
        LocalOffsets::Two(first, second) => {
            Err(TimestampError::LocalTimeTwice { zone: zone(), first: offset_text(first), second: offset_text(second) })
        }
    }
}

fn rounded_to_minute(seconds: i64) -> i64 {
    (seconds.abs() + 30) / 60 * 60 * seconds.signum()
}

fn offset_text(seconds: i64) -> String {
    CivilText::default().with_offset(seconds).as_str().to_owned()
}
