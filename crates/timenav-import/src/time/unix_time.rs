use timenav_core::time::{Instant, Virtual};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UnixUnit {
    Seconds,
    Millis,
    Micros,
    Nanos,
}

impl UnixUnit {
    /// Power of ten from the unit to microseconds.
    const fn micros_exponent(self) -> i32 {
        match self {
            Self::Seconds => 6,
            Self::Millis => 3,
            Self::Micros => 0,
            Self::Nanos => -3,
        }
    }

    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Seconds => "seconds",
            Self::Millis => "milliseconds",
            Self::Micros => "microseconds",
            Self::Nanos => "nanoseconds",
        }
    }
}

/// Parses a decimal number as an instant: `1517966773`, `-0.25`, `1.517966773e9`.
///
/// Truncates to microseconds, towards the past. None if the text is not a number, has too many digits, or is out of
/// range.
pub(crate) fn parse_unix(text: &str, unit: UnixUnit) -> Option<Instant<Virtual>> {
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i16>().ok()?),
        None => (text, 0),
    };
    let (negative, digits) = match mantissa.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, mantissa.strip_prefix('+').unwrap_or(mantissa)),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let mut number: i128 = 0;
    for byte in whole.bytes().chain(fraction.bytes()) {
        let digit = byte.is_ascii_digit().then(|| i128::from(byte - b'0'))?;
        number = number.checked_mul(10)?.checked_add(digit)?;
    }
    let number = if negative { -number } else { number };
    let exponent = i32::from(exponent) + unit.micros_exponent() - i32::try_from(fraction.len()).ok()?;
    Instant::from_micros(i64::try_from(shifted(number, exponent)?).ok()?)
}

/// `number` × 10^`exponent`, rounded down.
fn shifted(number: i128, exponent: i32) -> Option<i128> {
    match 10_i128.checked_pow(exponent.unsigned_abs()) {
        Some(power) if exponent >= 0 => number.checked_mul(power),
        Some(power) => Some(number.div_euclid(power)),
        None if exponent >= 0 => (number == 0).then_some(0),
        None => Some(if number < 0 { -1 } else { 0 }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(text: &str, unit: UnixUnit, expected_micros: Option<i64>) {
        let instant = parse_unix(text, unit);
        assert_eq!(instant.map(Instant::micros), expected_micros, "{text}");
    }

    #[test]
    fn unix_times_are_parsed_exactly() {
        check("0", UnixUnit::Seconds, Some(0));
        check("1614136748", UnixUnit::Seconds, Some(1_614_136_748_000_000));
        check("1517966773840", UnixUnit::Millis, Some(1_517_966_773_840_000));
        check("1517966773840123", UnixUnit::Micros, Some(1_517_966_773_840_123));
        check("1517966773840123999", UnixUnit::Nanos, Some(1_517_966_773_840_123));
        check("1517966773.840123", UnixUnit::Seconds, Some(1_517_966_773_840_123));
        check("1.51796677384e9", UnixUnit::Seconds, Some(1_517_966_773_840_000));
        check("15179667738400E-1", UnixUnit::Millis, Some(1_517_966_773_840_000_000 / 1_000));
        check("+.5", UnixUnit::Seconds, Some(500_000));
        check("5.", UnixUnit::Seconds, Some(5_000_000));
        check("0e9999", UnixUnit::Seconds, Some(0));
        check("1e-9999", UnixUnit::Seconds, Some(0));
    }

    #[test]
    fn digits_below_a_microsecond_are_truncated_toward_the_past() {
        check("0.0000019", UnixUnit::Seconds, Some(1));
        check("-0.0000011", UnixUnit::Seconds, Some(-2));
        check("-1e-9999", UnixUnit::Seconds, Some(-1));
        check("-1.5", UnixUnit::Micros, Some(-2));
    }

    #[test]
    fn unix_times_are_limited_to_the_instant_range() {
        check("253402300799999999", UnixUnit::Micros, Some(253_402_300_799_999_999));
        check("253402300800000000", UnixUnit::Micros, None);
        check("-377705116800000000", UnixUnit::Micros, Some(-377_705_116_800_000_000));
        check("-377705116800000001", UnixUnit::Micros, None);
        check("1e30", UnixUnit::Seconds, None);
        check("1e9999", UnixUnit::Seconds, None);
    }

    #[test]
    fn other_texts_are_not_numbers() {
        for text in ["", "-", ".", "+", "e5", "1e", "1e99999", "0x10", "1_000", "1,5", "--1"] {
            check(text, UnixUnit::Seconds, None);
        }
        for text in ["inf", "NaN", "٣", "1 ", "1.2.3", "12-3", &"9".repeat(10_000)] {
            check(text, UnixUnit::Seconds, None);
        }
    }

    proptest! {
        #[test]
        fn every_microsecond_is_read_back(micros in -377_705_116_800_000_000_i64..=253_402_300_799_999_999) {
            check(&micros.to_string(), UnixUnit::Micros, Some(micros));
            let sign = if micros < 0 { "-" } else { "" };
            let (whole, fraction) = (micros.unsigned_abs() / 1_000_000, micros.unsigned_abs() % 1_000_000);
            check(&format!("{sign}{whole}.{fraction:06}"), UnixUnit::Seconds, Some(micros));
        }

        #[test]
        fn parsing_arbitrary_text_does_not_panic(text in "[-+0-9.eE]{0,60}") {
            let _ = parse_unix(&text, UnixUnit::Millis);
        }
    }
}
