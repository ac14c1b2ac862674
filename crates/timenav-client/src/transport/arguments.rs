use std::ops::{RangeFrom, RangeFull, RangeInclusive, RangeToInclusive};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::instant::Instant;

/// The additional response timeout if the duration of the wait depends on a calendar.
const WAIT_UNKNOWN: Duration = Duration::from_mins(1);

/// A duration in the format of the API: numbers with units, such as `1d12h`, or ISO 8601, such as `P1M`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ClockDuration(String);

impl ClockDuration {
    /// Returns the text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the duration, or `WAIT_UNKNOWN` if it depends on a calendar or is invalid.
    pub(crate) fn duration_or_unknown(&self) -> Duration {
        self.duration().unwrap_or(WAIT_UNKNOWN)
    }

    fn duration(&self) -> Option<Duration> {
        let text = self.0.to_ascii_lowercase();
        let mut rest = text.strip_prefix("pt").unwrap_or(&text);
        let mut seconds = 0.0;
        while !rest.is_empty() {
            let (number, after) = rest.split_at(rest.find(char::is_alphabetic)?);
            let end = after.find(|sign: char| !sign.is_alphabetic()).unwrap_or(after.len());
            let (unit, after) = after.split_at(end);
            seconds += number.parse::<f64>().ok()?
                * match unit {
                    "us" | "\u{b5}s" | "\u{3bc}s" => 1e-6,
                    "ms" => 1e-3,
                    "s" => 1.0,
                    "m" => 60.0,
                    "h" => 3_600.0,
                    _ => return None,
                };
            rest = after;
        }
        Duration::try_from_secs_f64(seconds).ok()
    }
}

impl From<&str> for ClockDuration {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

impl From<String> for ClockDuration {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl From<Duration> for ClockDuration {
    /// Truncates to whole microseconds, the resolution of the API.
    fn from(duration: Duration) -> Self {
        let text = match duration.subsec_micros() {
            0 => format!("{}s", duration.as_secs()),
            micros => format!("{}.{micros:06}s", duration.as_secs()),
        };
        Self(text)
    }
}

/// A state of a ledger: a position, the id of an anchor, or a host time.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum Moment {
    /// The position of an entry.
    Position(u64),
    /// The id of an anchor, or a host time.
    Text(String),
}

impl From<u64> for Moment {
    fn from(position: u64) -> Self {
        Self::Position(position)
    }
}

impl From<&str> for Moment {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Moment {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<Instant> for Moment {
    fn from(host_time: Instant) -> Self {
        Self::Text(host_time.to_string())
    }
}

/// A time range in the format of the API: `<start>/<end>` or `<start>/<duration>`, with both ends included. `..` is an
/// open end.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct TimeRange(String);

impl From<&str> for TimeRange {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

impl From<String> for TimeRange {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl From<RangeInclusive<Instant>> for TimeRange {
    fn from(range: RangeInclusive<Instant>) -> Self {
        Self(format!("{}/{}", range.start(), range.end()))
    }
}

impl From<RangeFrom<Instant>> for TimeRange {
    fn from(range: RangeFrom<Instant>) -> Self {
        Self(format!("{}/..", range.start))
    }
}

impl From<RangeToInclusive<Instant>> for TimeRange {
    fn from(range: RangeToInclusive<Instant>) -> Self {
        Self(format!("../{}", range.end))
    }
}

impl From<RangeFull> for TimeRange {
    fn from(_: RangeFull) -> Self {
        Self("../..".to_owned())
    }
}

/// An entity tag for a conditional request.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct EntityTag(pub(crate) String);

impl From<u64> for EntityTag {
    /// Converts the generation of a clock, or another numeric version.
    fn from(version: u64) -> Self {
        Self(format!("\"{version}\""))
    }
}

impl From<&str> for EntityTag {
    /// Converts an entity tag from a response, in quotation marks; `*` matches any version.
    fn from(tag: &str) -> Self {
        Self(tag.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_formatted_exactly_and_parsed_without_calendar_units() {
        let written = |duration: Duration| ClockDuration::from(duration).as_str().to_owned();
        assert_eq!(written(Duration::from_millis(1_500)), "1.500000s");
        assert_eq!(written(Duration::from_mins(2)), "120s");
        let check = |text: &str, seconds: Option<f64>| {
            assert_eq!(ClockDuration::from(text).duration(), seconds.map(Duration::from_secs_f64), "{text}");
        };
        check("30s", Some(30.0));
        check("1h30m", Some(5_400.0));
        check("PT1M0.5S", Some(60.5));
        check("1s500ms", Some(1.5));
        check("20us", Some(0.000_02));
        check("P1M", None);
        check("1d", None);
        check("soon", None);
        check("7", None);
    }

    #[test]
    fn time_ranges_include_both_ends() {
        let at = |text: &str| text.parse::<Instant>().unwrap();
        let (start, end) = (at("2028-02-29T00:00:00Z"), at("2028-03-01T00:00:00Z"));
        let check = |range: TimeRange, text: &str| assert_eq!(range.0, text);
        check((start..=end).into(), "2028-02-29T00:00:00Z/2028-03-01T00:00:00Z");
        check((start..).into(), "2028-02-29T00:00:00Z/..");
        check((..=end).into(), "../2028-03-01T00:00:00Z");
        check((..).into(), "../..");
    }
}
