use std::fmt;

use super::{Duration, DurationError, Instant, TIMESTAMP_BYTES_MAX, TimestampError, Zone, parse_duration, parse_zoned};

#[cfg(test)]
mod tests;

/// Longest accepted time range, in bytes: two timestamps and a slash.
pub const TIME_RANGE_BYTES_MAX: usize = 2 * TIMESTAMP_BYTES_MAX + 1;

/// The text of an open end (ISO 8601-2, section 4.4).
const OPEN: &str = "..";

/// A time range. Both ends are inclusive, and each can be open. The start is never after the end; they can be equal.
pub struct TimeRange<S> {
    start: Option<Instant<S>>,
    end: Option<Instant<S>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RangePart {
    /// The part before the slash.
    Start,
    /// The part after the slash.
    End,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RangeError {
    #[error("a time range can have at most {TIME_RANGE_BYTES_MAX} bytes, not {bytes}")]
    TooLong { bytes: usize },
    #[error("a time range has two parts, `<start>/<end>`, such as `2024-07-20T00:00:00Z/2024-07-21T00:00:00Z`")]
    NotTwoParts,
    #[error("the {part} of the range is empty: write `..` to leave it open")]
    PartEmpty { part: RangePart },
    #[error("the {part} of the range is wrong: {error}")]
    Timestamp { part: RangePart, error: TimestampError },
    #[error("the {part} of the range is wrong: {error}")]
    Duration { part: RangePart, error: DurationError },
    #[error("the {part} of the range is a duration, so the other part must be a timestamp")]
    DurationAlone { part: RangePart },
    #[error("the {part} of the range is outside the years -9999 to 9999")]
    OutOfRange { part: RangePart },
    #[error("the end of the range, {end}, is before its start, {start}")]
    EndBeforeStart {
        /// In UTC.
        start: String,
        /// In UTC.
        end: String,
    },
}

impl fmt::Display for RangePart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Start => "start",
            Self::End => "end",
        })
    }
}

impl<S> TimeRange<S> {
    /// Returns the range with these ends, `None` for an open one.
    ///
    /// # Errors
    /// [`RangeError::EndBeforeStart`]. Two equal ends are a range of one instant.
    pub fn new(start: Option<Instant<S>>, end: Option<Instant<S>>) -> Result<Self, RangeError> {
        match (start, end) {
            (Some(start), Some(end)) if end < start => {
                Err(RangeError::EndBeforeStart { start: start.to_string(), end: end.to_string() })
            }
            (start, end) => Ok(Self { start, end }),
        }
    }

    /// Returns the range with two open ends.
    #[must_use]
    pub const fn everything() -> Self {
        Self { start: None, end: None }
    }

    #[must_use]
    pub const fn start(&self) -> Option<Instant<S>> {
        self.start
    }

    #[must_use]
    pub const fn end(&self) -> Option<Instant<S>> {
        self.end
    }

    /// Returns the first instant of the range: [`Instant::MIN`] if the start is open.
    #[must_use]
    pub fn first(&self) -> Instant<S> {
        self.start.unwrap_or(Instant::MIN)
    }

    /// Returns the last instant of the range: [`Instant::MAX`] if the end is open.
    #[must_use]
    pub fn last(&self) -> Instant<S> {
        self.end.unwrap_or(Instant::MAX)
    }

    #[must_use]
    pub fn contains(&self, at: Instant<S>) -> bool {
        (self.first()..=self.last()).contains(&at)
    }
}

/// Formats `<start>/<end>` in UTC, with `..` for an open end. [`parse_time_range`] parses it to the same range.
impl<S> fmt::Display for TimeRange<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.start {
            Some(start) => write!(f, "{start}/")?,
            None => write!(f, "{OPEN}/")?,
        }
        match self.end {
            Some(end) => write!(f, "{end}"),
            None => f.write_str(OPEN),
        }
    }
}

/// Parses a time range: `<start>/<end>`, `<start>/<duration>` or `<duration>/<end>`, with `..` for an open end.
///
/// The parts are those of [`parse_timestamp`](super::parse_timestamp) and [`parse_duration`]. Months and years of a
/// duration are counted on the calendar of the zone in the brackets of the other part, or else in UTC.
///
/// # Errors
/// [`RangeError`] describes the invalid part.
pub fn parse_time_range<S>(text: &str) -> Result<TimeRange<S>, RangeError> {
    if text.len() > TIME_RANGE_BYTES_MAX {
        return Err(RangeError::TooLong { bytes: text.len() });
    }
    let (start, end) = two_parts(text).ok_or(RangeError::NotTwoParts)?;
    match (read_part(start, RangePart::Start)?, read_part(end, RangePart::End)?) {
        (Part::Length(length), Part::At(end, zone)) => {
            let start = length.earlier(end, &zone);
            let start = start.ok_or(RangeError::OutOfRange { part: RangePart::Start })?;
            TimeRange::new(Some(start), Some(end))
        }
        (Part::At(start, zone), Part::Length(length)) => {
            let end = length.later(start, &zone);
            let end = end.ok_or(RangeError::OutOfRange { part: RangePart::End })?;
            TimeRange::new(Some(start), Some(end))
        }
        (Part::Length(_), Part::Length(_) | Part::Open) => Err(RangeError::DurationAlone { part: RangePart::Start }),
        (Part::Open, Part::Length(_)) => Err(RangeError::DurationAlone { part: RangePart::End }),
        (start @ (Part::At(..) | Part::Open), end @ (Part::At(..) | Part::Open)) => {
            TimeRange::new(start.instant(), end.instant())
        }
    }
}

enum Part<S> {
    Open,
    /// With the zone whose calendar counts.
    At(Instant<S>, Zone),
    Length(Duration),
}

impl<S> Part<S> {
    fn instant(self) -> Option<Instant<S>> {
        match self {
            Self::At(at, _) => Some(at),
            Self::Open | Self::Length(_) => None,
        }
    }
}

fn read_part<S>(text: &str, part: RangePart) -> Result<Part<S>, RangeError> {
    if text.is_empty() {
        Err(RangeError::PartEmpty { part })
    } else if text == OPEN {
        Ok(Part::Open)
    } else if is_like_duration(text) {
        parse_duration(text).map(Part::Length).map_err(|error| RangeError::Duration { part, error })
    } else {
        let zoned = parse_zoned(text).map_err(|error| RangeError::Timestamp { part, error });
        zoned.map(|(at, zone)| Part::At(at, zone.unwrap_or_else(Zone::utc)))
    }
}

/// Returns whether a text looks like a duration: it starts with `P`, or with a number and ends in a unit. Timestamps end
/// in a digit, a `Z` or a bracket.
fn is_like_duration(text: &str) -> bool {
    let unsigned = text.trim_start_matches(['+', '-']);
    unsigned.starts_with('P')
        || (unsigned.starts_with(|first: char| first.is_ascii_digit())
            && !unsigned.contains(['-', ':', '['])
            && text.ends_with(|last: char| last.is_alphabetic() && !matches!(last, 'Z' | 'z')))
}

/// Splits at the only slash outside of a zone such as `[Europe/Paris]`.
fn two_parts(text: &str) -> Option<(&str, &str)> {
    let mut is_in_brackets = false;
    let mut slashes = text.char_indices().filter(|&(_, next)| {
        is_in_brackets = next == '[' || (is_in_brackets && next != ']');
        next == '/' && !is_in_brackets
    });
    let (at, _) = slashes.next()?;
    if slashes.next().is_some() {
        return None;
    }
    Some((&text[..at], &text[at + 1..]))
}

// Implemented manually: a derive would add the same bound to `S`, which is never a value.
impl<S> Clone for TimeRange<S> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<S> Copy for TimeRange<S> {}
impl<S> PartialEq for TimeRange<S> {
    fn eq(&self, other: &Self) -> bool {
        (self.start, self.end) == (other.start, other.end)
    }
}
impl<S> Eq for TimeRange<S> {}
impl<S> fmt::Debug for TimeRange<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
