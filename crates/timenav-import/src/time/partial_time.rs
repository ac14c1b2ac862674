//! From the parts of a time to an instant and its precision.

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::fmt::Write as _;
use std::sync::LazyLock;

use timenav_core::event::Precision;
use timenav_core::time::{Instant, TimestampError, Virtual, parse_timestamp};

use crate::mapping::{TimePart, TimeRules, YearNumbering};
use crate::time::time_format::{Era, Partial, TimeFormat, Year, number_alone, seconds_alone, whole, year_alone};

static DATES: LazyLock<Vec<TimeFormat>> = LazyLock::new(|| {
    formats(&[
        "YYYY-MM-DD",
        "YYYYMMDD",
        "YYYY/MM/DD",
        "YYYY.MM.DD",
        "YYYY-MM",
        "YYYY/MM",
        "D MMM YYYY",
        "D-MMM-YYYY",
        "MMM D, YYYY",
        "MMM D YYYY",
        "MMM YYYY",
        "YYYY",
    ])
});
static TIMES_OF_DAY: LazyLock<Vec<TimeFormat>> =
    LazyLock::new(|| formats(&["HH:mm:ss", "HH:mm", "HH:mm:ssZ", "HH:mmZ", "h:mm:ss A", "h:mm A", "hhmmss", "hhmm"]));
/// Date patterns accepted in place of a timestamp.
static DATES_ALONE: LazyLock<Vec<TimeFormat>> = LazyLock::new(|| formats(&["YYYY-MM-DD", "YYYY/MM/DD"]));

fn formats(patterns: &[&str]) -> Vec<TimeFormat> {
    patterns.iter().filter_map(|pattern| TimeFormat::parse(pattern)).collect()
}

pub(crate) struct PartText<'a> {
    pub(crate) part: TimePart,
    pub(crate) text: Cow<'a, str>,
    pub(crate) format: Option<&'a TimeFormat>,
    pub(crate) name: Option<&'a str>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Known {
    pub(crate) at: Instant<Virtual>,
    /// None if exact.
    pub(crate) precision: Option<Precision>,
    /// Whether a finer part is present and a coarser one missing.
    pub(crate) has_gap: bool,
    /// Whether it has a time of day, but neither an offset nor a zone.
    pub(crate) is_zone_assumed: bool,
}

impl Known {
    pub(crate) const fn exactly(at: Instant<Virtual>) -> Self {
        Self { at, precision: None, has_gap: false, is_zone_assumed: false }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Wrong {
    /// The time is valid but outside the supported range.
    pub(crate) is_out_of_range: bool,
    pub(crate) detail: String,
}

impl From<String> for Wrong {
    fn from(detail: String) -> Self {
        Self { is_out_of_range: false, detail }
    }
}

/// The error says which part is wrong and why.
pub(crate) fn of_parts(texts: &[PartText<'_>], rules: &TimeRules) -> Result<Known, Wrong> {
    let mut partial = Partial::default();
    for text in texts {
        take(text, &mut partial).map_err(|detail| match text.name {
            Some(name) => format!("`{name}`: {detail}"),
            None => detail,
        })?;
    }
    known(&partial, rules)
}

pub(crate) fn of_format(text: &str, format: &TimeFormat, rules: &TimeRules) -> Result<Known, Wrong> {
    let partial = format.read(text).ok_or_else(|| unlike(text, format))?;
    known(&partial, rules)
}

fn unlike(text: &str, format: &TimeFormat) -> String {
    let mut detail = format!("`{text}` is not written as `{}`", format.as_str());
    if let Some(short) = format.with_short_year(text) {
        let _ = write!(detail, "; a year of two digits is `{short}`");
    }
    detail
}

fn take(part: &PartText<'_>, partial: &mut Partial) -> Result<(), String> {
    let text = part.text.trim();
    let number = |what: &str| number_alone(text).map(Some).ok_or_else(|| format!("`{text}` is not a valid {what}"));
    match part.part {
        TimePart::Year => {
            partial.year = match part.format {
                Some(format) => format.read(whole(text)).ok_or_else(|| unlike(text, format))?.year,
                None => Some(year_alone(text).ok_or_else(|| {
                    format!("`{text}` is not a year; years are written like `1945`, `-2150` or `2150 BCE`")
                })?),
            };
        }
        // 0 stands for an unknown month or day.
        TimePart::Month => partial.month = number("month; months are 1 to 12, or English names")?.filter(|n| *n != 0),
        TimePart::Day => partial.day = number("day; days are 1 to 31")?.filter(|n| *n != 0),
        TimePart::Hour => partial.hour = number("hour; hours are 0 to 23")?,
        TimePart::Minute => partial.minute = number("minute; minutes are 0 to 59")?,
        TimePart::Second => {
            let (second, fraction) = seconds_alone(text)
                .ok_or_else(|| format!("`{text}` is not a valid second; seconds are 0 to 59.999999"))?;
            (partial.second, partial.fraction) = (Some(second), fraction);
        }
        TimePart::Date => {
            let hint = "state the order of its parts, as in `date=column|DD/MM/YYYY`";
            let read = written(part, &DATES, "date", hint)?;
            partial.year = read.year;
            partial.month = read.month;
            partial.day = read.day;
        }
        TimePart::TimeOfDay => {
            let hint = "state the order of its parts, as in `time_of_day=column|hhmmss`";
            let read = written(part, &TIMES_OF_DAY, "time of day", hint)?;
            (partial.hour, partial.minute, partial.second) = (read.hour, read.minute, read.second);
            partial.fraction = read.fraction;
            partial.offset_minutes = read.offset_minutes;
        }
    }
    Ok(())
}

/// Tries the part's own pattern, or else the usual ones.
fn written(part: &PartText<'_>, usual: &[TimeFormat], what: &str, hint: &str) -> Result<Partial, String> {
    let text = part.text.trim();
    if let Some(format) = part.format {
        return format.read(text).ok_or_else(|| unlike(text, format));
    }
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let is_alike = |format: &&TimeFormat| {
        // Lost leading zeros are restored only where the mapping gives the pattern.
        let pattern = format.as_str();
        let is_solid = pattern.bytes().all(|byte| byte.is_ascii_lowercase()) || pattern == "YYYYMMDD";
        !is_solid || digits == pattern.len()
    };
    let mut read = usual.iter().filter(is_alike).filter_map(|format| format.read(text));
    read.next().ok_or_else(|| format!("`{text}` is an ambiguous {what}; {hint}"))
}

/// The earliest instant that fits the known parts.
fn known(partial: &Partial, rules: &TimeRules) -> Result<Known, Wrong> {
    let year = partial.year.ok_or_else(|| "the year is missing".to_owned())?;
    let year = astronomical(year, rules.numbering)?;
    let parts = [partial.month, partial.day, partial.hour, partial.minute, partial.second];
    let given = parts.iter().take_while(|part| part.is_some()).count();
    let has_gap = parts.iter().skip(given).any(Option::is_some);
    let is_given = |place: usize| place < given;
    let part = |place: usize, least: i64| parts[place].filter(|_| is_given(place)).unwrap_or(least);
    let fraction = partial.fraction.as_deref().filter(|_| is_given(4));
    let year_text = if (0..=9999).contains(&year) { format!("{year:04}") } else { format!("{year:+07}") };
    let text = format!(
        "{year_text}-{:02}-{:02}T{:02}:{:02}:{:02}",
        part(0, 1),
        part(1, 1),
        part(2, 0),
        part(3, 0),
        part(4, 0)
    );
    let offset = partial.offset_minutes.unwrap_or(0);
    let local: Instant<Virtual> = parse_timestamp(&format!("{text}Z"))
        .map_err(|error| Wrong { is_out_of_range: error == TimestampError::OutOfRange, detail: error.to_string() })?;
    let outside = || Wrong { is_out_of_range: true, detail: TimestampError::OutOfRange.to_string() };
    let local = Instant::from_micros(local.micros() + micros(fraction)).ok_or_else(outside)?;
    let at = match (&rules.zone, partial.offset_minutes) {
        (Some(zone), None) => zone.instant_of_local(local),
        (None, _) | (Some(_), Some(_)) => Instant::from_micros(local.micros() - offset * 60 * 1_000_000),
    };
    let precision = match given {
        0 => Some(Precision::Year),
        1 => Some(Precision::Month),
        2 => Some(Precision::Day),
        3 => Some(Precision::Hour),
        4 => Some(Precision::Minute),
        _ => fraction.is_none().then_some(Precision::Second),
    };
    let is_zone_assumed = is_given(2) && rules.zone.is_none() && partial.offset_minutes.is_none();
    Ok(Known { at: at.ok_or_else(outside)?, precision, has_gap, is_zone_assumed })
}

/// The year as in timestamps, where 0 is 1 BCE.
fn astronomical(year: Year, numbering: YearNumbering) -> Result<i64, String> {
    match (year, numbering) {
        (Year { number, era: Some(Era::Before) }, _) if number > 0 => Ok(1 - number),
        (Year { number, era: Some(Era::Common) }, _) if number > 0 => Ok(number),
        (Year { era: Some(_), .. }, _) => Err("a year with an era must be 1 or more".to_owned()),
        (Year { number, era: None }, YearNumbering::Astronomical) => Ok(number),
        (Year { number: 0, era: None }, YearNumbering::Historical) => {
            Err("year 0 does not exist, because 1 CE follows 1 BCE; if 0 means 1 BCE, map `year_numbering` as \
             `astronomical`; if it means unknown, map `missing`"
                .to_owned())
        }
        (Year { number, era: None }, YearNumbering::Historical) => Ok(if number < 0 { number + 1 } else { number }),
    }
}

/// Microseconds of a fraction of a second, truncated.
fn micros(fraction: Option<&str>) -> i64 {
    let digits = fraction.unwrap_or_default().bytes().chain(std::iter::repeat(b'0')).take(6);
    digits.fold(0, |micros, digit| micros * 10 + i64::from(digit - b'0'))
}

/// Reads a timestamp without a zone, or a date alone. None if it is neither; the caller then reports the timestamp
/// parser's error.
pub(crate) fn of_usual(text: &str, rules: &TimeRules) -> Option<Known> {
    let partial = DATES_ALONE.iter().find_map(|format| format.read(text));
    if let Some(partial) = partial {
        return known(&partial, rules).ok();
    }
    let zone = rules.zone.as_ref()?;
    let local: Instant<Virtual> = parse_timestamp(&format!("{text}Z")).ok()?;
    Some(Known::exactly(zone.instant_of_local(local)?))
}
