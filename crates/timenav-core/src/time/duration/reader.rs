use super::DurationError;
use crate::time::civil::{DAY_MICROS, HOUR_MICROS, MILLISECOND_MICROS, MINUTE_MICROS, SECOND_MICROS};

/// The sum of a duration's parts. Neither is negative.
#[derive(Default)]
pub(super) struct Sum {
    pub(super) months: u32,
    pub(super) micros: i64,
    /// The number that has a fraction. No other number may follow it.
    fraction_number: Option<String>,
}

#[derive(Clone, Copy)]
enum Length {
    Months(u32),
    Micros(i64),
}

/// The valid units at some point of the text, largest first.
struct Units {
    lengths: &'static [(&'static str, Length)],
    list: &'static str,
    decimal_signs: &'static [char],
}

const SHORT: Units = Units {
    lengths: &[
        ("w", Length::Micros(7 * DAY_MICROS)),
        ("d", Length::Micros(DAY_MICROS)),
        ("h", Length::Micros(HOUR_MICROS)),
        ("m", Length::Micros(MINUTE_MICROS)),
        ("s", Length::Micros(SECOND_MICROS)),
        ("ms", Length::Micros(MILLISECOND_MICROS)),
        ("us", Length::Micros(1)),
        // The micro sign and the Greek letter look the same.
        ("\u{b5}s", Length::Micros(1)),
        ("\u{3bc}s", Length::Micros(1)),
    ],
    list: "`w` `d` `h` `m` `s` `ms` `us`",
    // No comma, because `1,500h` is ambiguous.
    decimal_signs: &['.'],
};
const ISO_DATE: Units = Units {
    lengths: &[
        ("Y", Length::Months(12)),
        ("M", Length::Months(1)),
        ("W", Length::Micros(7 * DAY_MICROS)),
        ("D", Length::Micros(DAY_MICROS)),
    ],
    list: "`Y` `M` `W` `D`, or after a `T` `H` `M` `S`",
    decimal_signs: &['.', ','],
};
const ISO_TIME: Units = Units {
    lengths: &[
        ("H", Length::Micros(HOUR_MICROS)),
        ("M", Length::Micros(MINUTE_MICROS)),
        ("S", Length::Micros(SECOND_MICROS)),
    ],
    list: "`H` `M` `S`",
    decimal_signs: &['.', ','],
};

const SIGNS: [char; 2] = ['+', '-'];

pub(super) fn sum(text: &str) -> Result<Sum, DurationError> {
    if text.starts_with(SIGNS) && text.trim_start_matches(SIGNS).starts_with('P') {
        return Err(DurationError::Signed);
    }
    let mut sum = Sum::default();
    let Some(iso) = text.strip_prefix('P') else {
        sum.add(text, &SHORT)?;
        return Ok(sum);
    };
    match iso.split_once('T') {
        Some((_, "")) => return Err(DurationError::NotADuration),
        Some((date, time)) => {
            sum.add(date, &ISO_DATE)?;
            sum.add(time, &ISO_TIME)?;
        }
        None if iso.is_empty() => return Err(DurationError::NotADuration),
        None => sum.add(iso, &ISO_DATE)?,
    }
    Ok(sum)
}

impl Sum {
    fn add(&mut self, text: &str, units: &Units) -> Result<(), DurationError> {
        let mut rest = text;
        let mut lengths = units.lengths;
        while !rest.is_empty() {
            if let Some(number) = self.fraction_number.take() {
                return Err(DurationError::FractionNotLast { number });
            }
            let number = Number::read(rest, units.decimal_signs)?;
            rest = &rest[number.text.len()..];
            let unit = leading(rest, char::is_alphabetic);
            if rest.is_empty() {
                return Err(DurationError::UnitMissing { number: number.text.to_owned(), units: units.list });
            }
            let length = length_of(unit, &mut lengths, units)?;
            self.add_number(&number, length)?;
            rest = &rest[unit.len()..];
        }
        Ok(())
    }

    fn add_number(&mut self, number: &Number<'_>, length: Length) -> Result<(), DurationError> {
        if !number.fraction.is_empty() {
            self.fraction_number = Some(number.text.to_owned());
        }
        let added = match length {
            Length::Months(_) if !number.fraction.is_empty() => {
                return Err(DurationError::FractionOfMonth { number: number.text.to_owned() });
            }
            Length::Months(unit) => self.add_months(number.months(unit)),
            Length::Micros(unit) => self.add_micros(number.micros(unit)),
        };
        added.ok_or(DurationError::OutOfRange)
    }

    fn add_months(&mut self, more: Option<u32>) -> Option<()> {
        self.months = self.months.checked_add(more?)?;
        Some(())
    }

    fn add_micros(&mut self, more: Option<i64>) -> Option<()> {
        self.micros = self.micros.checked_add(more?)?;
        Some(())
    }
}

/// Finds a unit among those that may follow, and removes it and all larger ones from them.
fn length_of(unit: &str, left: &mut &'static [(&'static str, Length)], units: &Units) -> Result<Length, DurationError> {
    if let Some(position) = left.iter().position(|(name, _)| *name == unit) {
        let (_, length) = left[position];
        *left = &left[position + 1..];
        return Ok(length);
    }
    if units.lengths.iter().any(|(name, _)| *name == unit) {
        Err(DurationError::UnitOrder { unit: unit.to_owned() })
    } else if unit.is_empty() {
        Err(DurationError::NotADuration)
    } else {
        Err(DurationError::UnitUnknown { unit: unit.to_owned(), units: units.list })
    }
}

struct Number<'text> {
    text: &'text str,
    whole: &'text str,
    /// The digits after the decimal sign.
    fraction: &'text str,
}

impl<'text> Number<'text> {
    fn read(text: &'text str, decimal_signs: &[char]) -> Result<Self, DurationError> {
        let whole = leading_digits(text);
        if whole.is_empty() {
            let is_signed = !leading_digits(text.trim_start_matches(SIGNS)).is_empty();
            return Err(if is_signed { DurationError::Signed } else { DurationError::NotADuration });
        }
        let Some(after_sign) = text[whole.len()..].strip_prefix(decimal_signs) else {
            return Ok(Self { text: whole, whole, fraction: "" });
        };
        let fraction = leading_digits(after_sign);
        if fraction.is_empty() {
            return Err(DurationError::NotADuration);
        }
        // Both decimal signs are one byte long.
        Ok(Self { text: &text[..whole.len() + 1 + fraction.len()], whole, fraction })
    }

    fn months(&self, unit: u32) -> Option<u32> {
        self.whole.parse::<u32>().ok()?.checked_mul(unit)
    }

    /// Returns the number times a unit, in microseconds, truncated.
    fn micros(&self, unit: i64) -> Option<i64> {
        // Exact for any number of digits: (a + floor(x)) / 10 and (a + x) / 10 have the same floor.
        let fraction =
            self.fraction.bytes().rev().fold(0, |finer, digit| (i64::from(digit - b'0') * unit + finer) / 10);
        self.whole.parse::<i64>().ok()?.checked_mul(unit)?.checked_add(fraction)
    }
}

fn leading_digits(text: &str) -> &str {
    leading(text, |next| next.is_ascii_digit())
}

fn leading(text: &str, belongs: impl Fn(char) -> bool) -> &str {
    let end = text.find(|next| !belongs(next)).unwrap_or(text.len());
    &text[..end]
}
