//! Durations as written by callers: `90m`, `1d12h`, `P1M`, `P1Y2M10DT2H30M`, `2 hours 30 minutes`.

use std::fmt;

use super::civil::{DAY_MICROS, HOUR_MICROS, MINUTE_MICROS, SECOND_MICROS};
use super::{Instant, Span, Zone};

mod reader;
#[cfg(test)]
mod tests;
mod words;

pub const DURATION_BYTES_MAX: usize = 64;

/// A duration: calendar months, followed by an exact [`Span`].
///
/// Neither is negative, and at least one is positive. A day is 86 400 seconds and a week seven days; only months and
/// years depend on the calendar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Duration {
    months: u32,
    exact: Span,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DurationError {
    #[error("the duration is empty: write one such as `90m`, `1d12h` or `P1M`")]
    Empty,
    #[error("a duration can have at most {DURATION_BYTES_MAX} bytes, not {bytes}")]
    TooLong { bytes: usize },
    #[error(
        "not a duration: write numbers and units such as `90m`, `1.5h` or `1d12h`, or ISO 8601 such as `PT2H` or `P1M`"
    )]
    NotADuration,
    #[error("a duration must be positive: write it without a sign")]
    Signed,
    /// The duration is zero, or less than a microsecond.
    #[error("a duration must be longer than zero: the shortest is one microsecond, `1us`")]
    Zero,
    #[error("the unit of {number} is missing: write one of {units}")]
    UnitMissing { number: String, units: &'static str },
    #[error("the unit {unit:?} is unknown there: write one of {units}")]
    UnitUnknown {
        unit: String,
        /// The valid units at this point.
        units: &'static str,
    },
    #[error("`M` could mean months or minutes: write `P{number}M` for months, or `{number}m` for minutes")]
    MonthsOrMinutes { number: String },
    #[error("the unit `{unit}` appears twice or after a smaller one: write each once, largest first")]
    UnitOrder { unit: String },
    /// A number has a fraction and is not the last one (ISO 8601-1, section 5.5.2.3).
    #[error("{number} has a fraction: only the last number may have one")]
    FractionNotLast { number: String },
    #[error("{number} has a fraction: months and years must be whole, as they differ in length")]
    FractionOfMonth { number: String },
    /// The duration is more than 292 000 years. The whole range of time has 20 000.
    #[error("the duration is longer than all of time, which spans 20,000 years")]
    OutOfRange,
}

impl Duration {
    /// Returns `None` if the exact part is negative, or both are zero.
    #[must_use]
    pub const fn new(months: u32, exact: Span) -> Option<Self> {
        if exact.micros() < 0 || (months == 0 && exact.micros() == 0) { None } else { Some(Self { months, exact }) }
    }

    #[must_use]
    pub const fn months(&self) -> u32 {
        self.months
    }

    #[must_use]
    pub const fn exact(&self) -> Span {
        self.exact
    }

    #[must_use]
    pub fn checked_add(&self, other: Self) -> Option<Self> {
        let micros = self.exact.micros().checked_add(other.exact.micros())?;
        Self::new(self.months.checked_add(other.months)?, Span::from_micros(micros))
    }

    /// Returns the instant this much later, or `None` outside −9999…9999.
    ///
    /// Months are added on the calendar of `zone`, at the same local time. A day that the month does not have becomes
    /// its last day, a skipped time moves forward by the length of the gap, and of a repeated time the first occurrence
    /// is used. Then the exact part is added.
    #[must_use]
    pub fn later<S>(&self, from: Instant<S>, zone: &Zone) -> Option<Instant<S>> {
        zone.months_later(from, i64::from(self.months))?.checked_add(self.exact)
    }

    /// Returns the instant this much earlier, or `None` outside −9999…9999. Months are subtracted first, as in
    /// [`Duration::later`].
    ///
    /// Going back does not always undo going forward: March 31, one month earlier and one month later again, is March
    /// 28. Without months it does.
    #[must_use]
    pub fn earlier<S>(&self, from: Instant<S>, zone: &Zone) -> Option<Instant<S>> {
        zone.months_later(from, -i64::from(self.months))?.checked_sub(self.exact)
    }
}

/// Formats the duration in ISO 8601, with each unit filled before the next smaller one, without weeks:
/// `P1Y2M10DT2H30M0.5S`. [`parse_duration`] parses it to the same duration.
impl fmt::Display for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let micros = self.exact.micros();
        f.write_str("P")?;
        part(f, i64::from(self.months / 12), "Y")?;
        part(f, i64::from(self.months % 12), "M")?;
        part(f, micros / DAY_MICROS, "D")?;
        let of_day = micros % DAY_MICROS;
        if of_day != 0 {
            f.write_str("T")?;
        }
        part(f, of_day / HOUR_MICROS, "H")?;
        part(f, of_day % HOUR_MICROS / MINUTE_MICROS, "M")?;
        let of_minute = of_day % MINUTE_MICROS;
        let fraction = of_minute % SECOND_MICROS;
        if fraction == 0 {
            return part(f, of_minute / SECOND_MICROS, "S");
        }
        let digits = format!("{fraction:06}");
        write!(f, "{}.{}S", of_minute / SECOND_MICROS, digits.trim_end_matches('0'))
    }
}

fn part(f: &mut fmt::Formatter<'_>, value: i64, unit: &str) -> fmt::Result {
    if value == 0 { Ok(()) } else { write!(f, "{value}{unit}") }
}

/// Parses a duration: `90m`, `1.5h`, `1d12h`, ISO 8601: `PT2H`, `P1M`, `P1Y2M10DT2H30M`, `P2W`, or words: `2 hours 30
/// minutes`.
///
/// - The short form has the units `w d h m s ms us`; `m` is minutes, and `µs` is `us`. ISO 8601 has `Y M W D` and,
///   after a `T`, `H M S`. Each unit occurs at most once, largest first.
/// - Words have any order, and a space, a comma or `and` in between.
/// - The last number may have a fraction with a point, or in ISO 8601 a comma, except for months and years. In words,
///   each number may. Digits finer than a microsecond are truncated.
///
/// # Errors
/// [`DurationError`] describes the error and the correct form.
pub fn parse_duration(text: &str) -> Result<Duration, DurationError> {
    if text.is_empty() {
        return Err(DurationError::Empty);
    }
    if text.len() > DURATION_BYTES_MAX {
        return Err(DurationError::TooLong { bytes: text.len() });
    }
    match reader::sum(text) {
        Ok(sum) => Duration::new(sum.months, Span::from_micros(sum.micros)).ok_or(DurationError::Zero),
        Err(error) => words::parse(text, error),
    }
}
