//! Instants as whole microseconds since 1970, from −9999 to 9999, in the proleptic Gregorian calendar.
//!
//! Source of the calendar: H. Hinnant, "chrono-compatible low-level date algorithms".

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

const SECOND: i64 = 1_000_000;
const DAY: i64 = 86_400 * SECOND;

/// An instant of virtual or host time, in whole microseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(i64);

impl Instant {
    /// The earliest instant of a clock: −9999-01-01T00:00:00Z.
    pub const MIN: Self = Self(-377_705_116_800_000_000);
    /// The latest instant of a clock: 9999-12-31T23:59:59.999999Z.
    pub const MAX: Self = Self(253_402_300_799_999_999);

    /// Returns the instant with this number of microseconds since 1970; `None` if it is out of range.
    #[must_use]
    pub const fn from_micros(micros: i64) -> Option<Self> {
        if micros < Self::MIN.0 || micros > Self::MAX.0 { None } else { Some(Self(micros)) }
    }

    /// Returns the microseconds since 1970.
    #[must_use]
    pub const fn micros(self) -> i64 {
        self.0
    }

    /// Returns the instant later by a duration; `None` if it is out of range.
    #[must_use]
    pub fn checked_add(self, duration: Duration) -> Option<Self> {
        Self::from_micros(self.0.checked_add(i64::try_from(duration.as_micros()).ok()?)?)
    }

    pub(crate) fn clamped(micros: i128) -> Self {
        let micros = micros.clamp(i128::from(Self::MIN.0), i128::from(Self::MAX.0));
        i64::try_from(micros).map_or(Self::MAX, Self)
    }
}

const fn days_in_month(year: i64, month: i64) -> i64 {
    match month {
        2 if year % 4 == 0 && year % 100 != 0 || year % 400 == 0 => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

const fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let (era, year_of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let shifted = if month > 2 { month - 3 } else { month + 9 };
    let day_of_year = (153 * shifted + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

const fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let (era, day_of_era) = ((days + 719_468).div_euclid(146_097), (days + 719_468).rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = year_of_era + era * 400 + if month <= 2 { 1 } else { 0 };
    (year, month, day_of_year - (153 * shifted + 2) / 5 + 1)
}

impl fmt::Display for Instant {
    /// Formats the instant like the API: UTC, with fraction digits only if they are not zero.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (days, rest) = (self.0.div_euclid(DAY), self.0.rem_euclid(DAY));
        let (year, month, day) = civil_from_days(days);
        let (seconds, micros) = (rest / SECOND, rest % SECOND);
        if year < 0 { write!(formatter, "-{:06}", -year) } else { write!(formatter, "{year:04}") }?;
        let (hour, minute, second) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
        write!(formatter, "-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}")?;
        if micros > 0 {
            formatter.write_str(format!(".{micros:06}").trim_end_matches('0'))?;
        }
        formatter.write_str("Z")
    }
}

struct Text<'a>(&'a str);

impl Text<'_> {
    fn digits(&mut self, count: usize) -> Option<i64> {
        let (digits, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        if digits.bytes().all(|byte| byte.is_ascii_digit()) { digits.parse().ok() } else { None }
    }

    fn one_of(&mut self, wanted: &str) -> Option<char> {
        let found = self.0.chars().next().filter(|found| wanted.contains(*found))?;
        self.0 = &self.0[found.len_utf8()..];
        Some(found)
    }

    fn year(&mut self) -> Option<i64> {
        let Some(sign) = self.one_of("+-") else { return self.digits(4) };
        let year = self.digits(6)?;
        match sign {
            '-' if year == 0 => None,
            '-' => Some(-year),
            _ => Some(year),
        }
    }

    /// Returns the microseconds of a fraction. Further digits are truncated, toward the past.
    fn fraction(&mut self) -> Option<i64> {
        let end = self.0.find(|found: char| !found.is_ascii_digit()).unwrap_or(self.0.len());
        let (digits, rest) = self.0.split_at(end);
        self.0 = rest;
        let is_valid_length = (1..=9).contains(&digits.len());
        is_valid_length.then(|| format!("{digits:0<6}")[..6].parse().ok())?
    }

    fn offset_minutes(&mut self) -> Option<i64> {
        let sign = match self.one_of("Zz+-")? {
            '+' => 1,
            '-' => -1,
            _ => return Some(0),
        };
        let hours = self.digits(2)?;
        let _ = self.one_of(":");
        Some(sign * (hours * 60 + self.digits(2)?))
    }

    fn instant(mut self) -> Option<Instant> {
        let year = self.year()?;
        self.one_of("-")?;
        let month = self.digits(2)?;
        self.one_of("-")?;
        let day = self.digits(2)?;
        self.one_of("Tt ")?;
        let hour = self.digits(2)?;
        self.one_of(":")?;
        let minute = self.digits(2)?;
        let second = if self.one_of(":").is_some() { self.digits(2)? } else { 0 };
        let micros = if self.one_of(".,").is_some() { self.fraction()? } else { 0 };
        let offset = self.offset_minutes()?;
        let is_civil = (1..=12).contains(&month) && (1..=days_in_month(year, month)).contains(&day);
        if !is_civil || hour > 23 || minute > 59 || second > 59 || !self.0.is_empty() {
            return None;
        }
        let seconds = hour * 3_600 + (minute - offset) * 60 + second;
        Instant::from_micros(days_from_civil(year, month, day) * DAY + seconds * SECOND + micros)
    }
}

/// The error for a text that is not a timestamp with a time zone.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a valid timestamp with a time zone, such as 2028-02-29T09:00:00Z")]
pub struct InvalidInstant(String);

impl FromStr for Instant {
    type Err = InvalidInstant;

    fn from_str(text: &str) -> Result<Self, InvalidInstant> {
        Text(text).instant().ok_or_else(|| InvalidInstant(text.to_owned()))
    }
}

impl<'de> Deserialize<'de> for Instant {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

impl Serialize for Instant {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
