//! Spreadsheet dates: days since 1899-12-30, with the time of day as a fraction.

use timenav_core::event::Precision;
use timenav_core::time::{Instant, Virtual};

/// From the spreadsheet day 0 to 1970.
const DAYS_BEFORE_1970: i64 = 25_569;
const DAY_MILLIS: i64 = 86_400_000;
/// The spreadsheet day 29 February 1900, which did not exist. Earlier numbers are one day off.
const NO_DAY: i64 = 60;
/// More than the days until the year 9999.
const DAYS_MAX: i64 = 4_000_000;
/// Digits of the fraction that are sufficient for milliseconds.
const FRACTION_DIGITS: usize = 12;

/// Parses a day number, and returns its precision. The time of day is rounded to milliseconds, because the numbers are
/// doubles. `None` if it is not within 1900-01-01 to 9999-12-31, or is the day that did not exist.
pub(crate) fn parse_excel(text: &str) -> Option<(Instant<Virtual>, Option<Precision>)> {
    let (whole, fraction) = text.split_once(['.', ',']).unwrap_or((text, ""));
    let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !is_digits(whole) || !is_digits(fraction) {
        return None;
    }
    let day: i64 = whole.parse().ok().filter(|day| (1..DAYS_MAX).contains(day) && *day != NO_DAY)?;
    let day = if day < NO_DAY { day + 1 } else { day };
    let digits = fraction.bytes().chain(std::iter::repeat(b'0')).take(FRACTION_DIGITS);
    let parts = digits.fold(0_i128, |parts, digit| parts * 10 + i128::from(digit - b'0'));
    let scale = 10_i128.pow(u32::try_from(FRACTION_DIGITS).unwrap_or(0));
    let millis = i64::try_from((parts * i128::from(DAY_MILLIS) + scale / 2) / scale).ok()?;
    let at = Instant::from_micros(((day - DAYS_BEFORE_1970) * DAY_MILLIS + millis).checked_mul(1_000)?)?;
    Some((at, (parts == 0).then_some(Precision::Day)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spreadsheet_dates_are_parsed() {
        let check = |text: &str, expected: &str| {
            let read = parse_excel(text).map(|(at, precision)| match precision {
                Some(precision) => format!("{at} {}", precision.as_str()),
                None => at.to_string(),
            });
            assert_eq!(read.unwrap_or_default(), expected, "{text}");
        };
        check("45351", "2024-02-29T00:00:00Z day");
        check("45351.0", "2024-02-29T00:00:00Z day");
        check("45350.5451388889", "2024-02-28T13:05:00Z");
        check("45350,5", "2024-02-28T12:00:00Z");
        check("45350.999999999999", "2024-02-29T00:00:00Z");
        check("1", "1900-01-01T00:00:00Z day");
        check("59", "1900-02-28T00:00:00Z day");
        check("61", "1900-03-01T00:00:00Z day");
        check("2958465", "9999-12-31T00:00:00Z day");
        for wrong in ["", "0", "60", "60.5", "-1", "2958466", "4e4", "1.2.3", "1,234.5", "x", "99999999999999999999"] {
            check(wrong, "");
        }
    }
}
