//! Calendar arithmetic and its text form, without time zones.
//!
//! jiff provides both, but its range of instants ends a day earlier, and text is formatted several times in every
//! request that changes something.

#[cfg(test)]
mod tests;

pub(super) const SECOND_MICROS: i64 = 1_000_000;
pub(super) const MILLISECOND_MICROS: i64 = 1_000;
pub(super) const MINUTE_MICROS: i64 = 60 * SECOND_MICROS;
pub(super) const HOUR_MICROS: i64 = 60 * MINUTE_MICROS;
/// Leap seconds do not exist here.
pub(super) const DAY_MICROS: i64 = 24 * HOUR_MICROS;

/// A date and time of day in the proleptic Gregorian calendar; year 0 is 1 BCE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Civil {
    /// Any year. Years outside −9999…9999 occur before a zone offset is subtracted.
    pub year: i64,
    /// 1 to 12.
    pub month: i64,
    /// 1 to [`days_in_month`].
    pub day: i64,
    /// Microseconds since the start of the day.
    pub day_micros: i64,
}

impl Civil {
    /// Returns the date and time that many microseconds after 1970-01-01T00:00:00.
    ///
    /// The algorithm is Howard Hinnant's `civil_from_days`: it counts in eras of 400 years, which all have 146 097
    /// days, and in years that start in March.
    pub(super) const fn from_micros(micros: i64) -> Self {
        Self { day_micros: micros.rem_euclid(DAY_MICROS), ..Self::from_days(micros.div_euclid(DAY_MICROS)) }
    }

    /// Returns the start of the day that many days after 1970-01-01.
    #[must_use]
    pub const fn from_days(days: i64) -> Self {
        let days = days + 719_468;
        let era = days.div_euclid(146_097);
        let day_of_era = days.rem_euclid(146_097);
        let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let month_from_march = (5 * day_of_year + 2) / 153;
        let is_before_march = month_from_march >= 10;
        Self {
            year: year_of_era + era * 400 + if is_before_march { 1 } else { 0 },
            month: month_from_march + if is_before_march { -9 } else { 3 },
            day: day_of_year - (153 * month_from_march + 2) / 5 + 1,
            day_micros: 0,
        }
    }

    /// Returns microseconds since 1970-01-01T00:00:00; `None` on overflow. The inverse of [`Civil::from_micros`].
    pub(super) const fn micros(self) -> Option<i64> {
        match self.days().checked_mul(DAY_MICROS) {
            Some(micros) => micros.checked_add(self.day_micros),
            None => None,
        }
    }

    /// Returns the number of its day since 1970-01-01. The inverse of [`Civil::from_days`].
    #[must_use]
    pub const fn days(self) -> i64 {
        let (year, month_from_march) =
            if self.month <= 2 { (self.year - 1, self.month + 9) } else { (self.year, self.month - 3) };
        let era = year.div_euclid(400);
        let year_of_era = year.rem_euclid(400);
        let day_of_year = (153 * month_from_march + 2) / 5 + self.day - 1;
        let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
        era * 146_097 + day_of_era - 719_468
    }

    /// Returns the same day and time months later or earlier. A day that the month lacks becomes its last day.
    pub(super) fn months_later(self, months: i64) -> Self {
        let count = self.year * 12 + self.month - 1 + months;
        let (year, month) = (count.div_euclid(12), count.rem_euclid(12) + 1);
        Self { year, month, day: self.day.min(days_in_month(year, month)), ..self }
    }
}

/// Returns the number of days of a month (1 to 12).
#[must_use]
pub const fn days_in_month(year: i64, month: i64) -> i64 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Longest text: `-009999-12-31T23:59:59.999999+00:09:21`.
const TEXT_BYTES_MAX: usize = 38;

/// A formatted timestamp on the stack.
pub(super) struct CivilText {
    bytes: [u8; TEXT_BYTES_MAX],
    length: usize,
}

impl Default for CivilText {
    fn default() -> Self {
        Self { bytes: [0; TEXT_BYTES_MAX], length: 0 }
    }
}

impl CivilText {
    /// Formats date and time without a zone: four digits for the years 0 to 9999, a minus sign and six for earlier
    /// ones, and a fraction only if it is not zero.
    pub(super) fn new(civil: Civil) -> Self {
        let mut text = Self::default();
        if civil.year < 0 {
            text.push(b'-');
            text.digits::<6>(-civil.year);
        } else {
            text.digits::<4>(civil.year);
        }
        for (mark, value) in [
            (b'-', civil.month),
            (b'-', civil.day),
            (b'T', civil.day_micros / HOUR_MICROS),
            (b':', civil.day_micros % HOUR_MICROS / MINUTE_MICROS),
            (b':', civil.day_micros % MINUTE_MICROS / SECOND_MICROS),
        ] {
            text.push(mark);
            text.digits::<2>(value);
        }
        let fraction = civil.day_micros % SECOND_MICROS;
        if fraction != 0 {
            text.push(b'.');
            text.digits::<6>(fraction);
            while text.bytes[text.length - 1] == b'0' {
                text.length -= 1;
            }
        }
        text
    }

    pub(super) fn with_zulu(mut self) -> Self {
        self.push(b'Z');
        self
    }

    /// Appends `±hh:mm`, or `±hh:mm:ss` for local mean times, because rounding would change the instant.
    pub(super) fn with_offset(mut self, offset_seconds: i64) -> Self {
        let seconds = offset_seconds.abs();
        self.push(if offset_seconds < 0 { b'-' } else { b'+' });
        self.digits::<2>(seconds / 3_600);
        self.push(b':');
        self.digits::<2>(seconds % 3_600 / 60);
        if seconds % 60 != 0 {
            self.push(b':');
            self.digits::<2>(seconds % 60);
        }
        self
    }

    pub(super) fn as_str(&self) -> &str {
        str::from_utf8(&self.bytes[..self.length]).unwrap_or_default()
    }

    fn push(&mut self, byte: u8) {
        self.bytes[self.length] = byte;
        self.length += 1;
    }

    fn digits<const COUNT: usize>(&mut self, value: i64) {
        let mut left = value;
        for slot in self.bytes[self.length..self.length + COUNT].iter_mut().rev() {
            *slot = b'0' + last_digit(left);
            left /= 10;
        }
        self.length += COUNT;
    }
}

#[expect(clippy::cast_sign_loss, reason = "the remainder of a non-negative value is 0 to 9")]
const fn last_digit(value: i64) -> u8 {
    (value % 10) as u8
}
