//! The grammar of timestamps. The caller interprets the parts.

use super::TimestampError;
use crate::time::Zone;
use crate::time::civil::{Civil, HOUR_MICROS, MINUTE_MICROS, SECOND_MICROS, days_in_month};

/// A position in a text. It only advances over ASCII, so it is always at a character boundary.
pub(super) struct Reader<'text> {
    text: &'text str,
    at: usize,
}

pub(super) struct LocalTime {
    /// Second 59 if the second is 60.
    pub(super) civil: Civil,
    pub(super) is_leap_second: bool,
}

pub(super) enum Offset {
    /// `Z` or `-00:00`: the time is in UTC, and the local offset is unknown.
    Unknown,
    /// In seconds.
    Seconds(i64),
    /// In seconds, but written as hours and minutes, so it may be rounded.
    Minutes(i64),
    /// There is none: the zone in brackets determines it.
    Missing,
}

pub(super) enum ZoneSuffix {
    Named(Zone),
    Offset {
        text: String,
        /// Offset from UTC, in seconds.
        seconds: i64,
    },
}

impl ZoneSuffix {
    pub(super) fn name(&self) -> &str {
        match self {
            Self::Named(zone) => zone.name(),
            Self::Offset { text, .. } => text,
        }
    }
}

impl<'text> Reader<'text> {
    pub(super) const fn new(text: &'text str) -> Self {
        Self { text, at: 0 }
    }

    pub(super) fn local_time(&mut self) -> Result<LocalTime, TimestampError> {
        let date = self.date()?;
        match self.peek() {
            Some(b'T' | b't' | b' ') => self.at += 1,
            None | Some(b'Z' | b'z') => {
                return Err(TimestampError::DateAlone { corrected: format!("{}T00:00:00Z", self.passed()) });
            }
            Some(_) => return Err(TimestampError::NotATimestamp),
        }
        self.time_of_day(date)
    }

    pub(super) fn offset(&mut self) -> Result<Offset, TimestampError> {
        match self.peek() {
            Some(b'Z' | b'z') => {
                self.at += 1;
                Ok(Offset::Unknown)
            }
            Some(b'+' | b'-') => self.numeric_offset(),
            Some(b' ') if self.digits_ahead(1) > 0 => Err(TimestampError::OffsetSignMissing),
            Some(b'[') => Ok(Offset::Missing),
            None => Err(self.zone_missing()),
            Some(_) => Err(self.trailing()),
        }
    }

    /// Parses the suffixes in brackets through the end of the text. The zone, if any, comes first.
    pub(super) fn suffixes(&mut self) -> Result<Option<ZoneSuffix>, TimestampError> {
        let mut zone = None;
        let mut is_first = true;
        while self.peek() == Some(b'[') {
            let suffix = self.bracketed()?;
            let (body, is_critical) = match suffix.strip_prefix('!') {
                Some(body) => (body, true),
                None => (suffix, false),
            };
            if !body.contains('=') && is_first && !body.is_empty() {
                zone = Some(zone_suffix(body)?);
            } else if !is_tag(body) {
                return Err(TimestampError::SuffixMalformed { suffix: suffix.to_owned() });
            } else if is_critical {
                return Err(TimestampError::SuffixCritical { suffix: suffix.to_owned() });
            }
            is_first = false;
        }
        if self.at < self.text.len() { Err(self.trailing()) } else { Ok(zone) }
    }

    pub(super) fn zone_missing(&self) -> TimestampError {
        TimestampError::ZoneMissing { corrected: format!("{}Z", self.passed()) }
    }

    fn date(&mut self) -> Result<Civil, TimestampError> {
        let is_negative = self.peek() == Some(b'-');
        let is_signed = is_negative || self.peek() == Some(b'+');
        self.at += usize::from(is_signed);
        let year_digits = if is_signed { 6 } else { 4 };
        let digits = self.digits_ahead(0);
        let has_dashes = self.byte(self.at + digits) == Some(b'-');
        if digits == 0 || (digits != year_digits && digits != year_digits + 4) {
            let is_year = digits > 0 && has_dashes;
            return Err(if is_year { TimestampError::YearDigits } else { TimestampError::NotATimestamp });
        }
        let magnitude = self.number(year_digits)?;
        if is_negative && magnitude == 0 {
            return Err(TimestampError::NegativeYearZero);
        }
        let year = if is_negative { -magnitude } else { magnitude };
        let is_extended = digits == year_digits;
        self.dash(is_extended)?;
        let month = self.number(2)?;
        self.dash(is_extended)?;
        let day = self.number(2)?;
        checked("month", month, 1, 12)?;
        let days = days_in_month(year, month);
        if (1..=days).contains(&day) {
            Ok(Civil { year, month, day, day_micros: 0 })
        } else {
            Err(TimestampError::NoSuchDay { year, month, day, days })
        }
    }

    fn time_of_day(&mut self, date: Civil) -> Result<LocalTime, TimestampError> {
        let hour = self.number(2)?;
        let has_colons = self.peek() == Some(b':');
        let minute = self.next_part(has_colons)?;
        let second = if minute.is_some() { self.next_part(has_colons)? } else { None };
        let fraction = if second.is_some() { self.fraction()? } else { 0 };
        let (minute, second) = (minute.unwrap_or(0), second.unwrap_or(0));
        if hour == 24 {
            return Err(TimestampError::HourTwentyFour);
        }
        checked("hour", hour, 0, 23)?;
        checked("minute", minute, 0, 59)?;
        let is_leap_second = second == 60;
        let second = if is_leap_second { 59 } else { second };
        checked("second", second, 0, 59)?;
        let day_micros = hour * HOUR_MICROS + minute * MINUTE_MICROS + second * SECOND_MICROS + fraction;
        Ok(LocalTime { civil: Civil { day_micros, ..date }, is_leap_second })
    }

    /// Parses `±hh`, `±hh:mm` or `±hh:mm:ss`, with or without the colons.
    fn numeric_offset(&mut self) -> Result<Offset, TimestampError> {
        let is_negative = self.peek() == Some(b'-');
        self.at += 1;
        let hours = self.number(2)?;
        let has_colons = self.peek() == Some(b':');
        let minutes = self.next_part(has_colons)?;
        let seconds = if minutes.is_some() { self.next_part(has_colons)? } else { None };
        let has_seconds = seconds.is_some();
        let (minutes, seconds) = (minutes.unwrap_or(0), seconds.unwrap_or(0));
        checked("hour of the offset", hours, 0, 23)?;
        checked("minute of the offset", minutes, 0, 59)?;
        checked("second of the offset", seconds, 0, 59)?;
        let total = hours * 3_600 + minutes * 60 + seconds;
        let signed = if is_negative { -total } else { total };
        Ok(match (is_negative, total, has_seconds) {
            (true, 0, _) => Offset::Unknown,
            (_, _, true) => Offset::Seconds(signed),
            (_, _, false) => Offset::Minutes(signed),
        })
    }

    /// Parses two more digits of a time of day, if there are any.
    fn next_part(&mut self, has_colons: bool) -> Result<Option<i64>, TimestampError> {
        let goes_on = match self.peek() {
            Some(b':') => has_colons,
            Some(byte) => !has_colons && byte.is_ascii_digit(),
            None => false,
        };
        if !goes_on {
            return Ok(None);
        }
        self.at += usize::from(has_colons);
        self.number(2).map(Some)
    }

    /// Parses an optional fraction, as microseconds, truncated.
    fn fraction(&mut self) -> Result<i64, TimestampError> {
        if !matches!(self.peek(), Some(b'.' | b',')) {
            return Ok(0);
        }
        self.at += 1;
        let digits = self.digits_ahead(0);
        if digits == 0 {
            return Err(TimestampError::NotATimestamp);
        }
        let digits_used = digits.min(6);
        let mut micros = self.number(digits_used)?;
        for _ in digits_used..6 {
            micros *= 10;
        }
        self.at += digits - digits_used;
        Ok(micros)
    }

    /// Parses a number of exactly that many digits, at most six.
    fn number(&mut self, digits: usize) -> Result<i64, TimestampError> {
        let mut value = 0;
        for _ in 0..digits {
            let digit = self.peek().filter(u8::is_ascii_digit).ok_or(TimestampError::NotATimestamp)?;
            value = value * 10 + i64::from(digit - b'0');
            self.at += 1;
        }
        Ok(value)
    }

    fn dash(&mut self, is_expected: bool) -> Result<(), TimestampError> {
        if is_expected && self.peek() != Some(b'-') {
            return Err(TimestampError::NotATimestamp);
        }
        self.at += usize::from(is_expected);
        Ok(())
    }

    fn bracketed(&mut self) -> Result<&'text str, TimestampError> {
        let body = self.rest().get(1..).unwrap_or_default();
        let (suffix, _) = body.split_once(']').ok_or_else(|| self.trailing())?;
        self.at += suffix.len() + 2;
        Ok(suffix)
    }

    fn byte(&self, at: usize) -> Option<u8> {
        self.text.as_bytes().get(at).copied()
    }

    fn peek(&self) -> Option<u8> {
        self.byte(self.at)
    }

    /// Returns the number of consecutive digits, starting `skipped` bytes ahead.
    fn digits_ahead(&self, skipped: usize) -> usize {
        let bytes = self.text.as_bytes().get(self.at + skipped..).unwrap_or_default();
        bytes.iter().take_while(|byte| byte.is_ascii_digit()).count()
    }

    fn passed(&self) -> &'text str {
        self.text.get(..self.at).unwrap_or_default()
    }

    fn rest(&self) -> &'text str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn trailing(&self) -> TimestampError {
        TimestampError::Trailing { rest: self.rest().to_owned() }
    }
}

fn checked(field: &'static str, value: i64, min: i64, max: i64) -> Result<(), TimestampError> {
    if (min..=max).contains(&value) { Ok(()) } else { Err(TimestampError::FieldOutOfRange { field, value, min, max }) }
}

fn zone_suffix(body: &str) -> Result<ZoneSuffix, TimestampError> {
    let unknown = || TimestampError::ZoneUnknown { zone: body.to_owned() };
    if !body.starts_with(['+', '-']) {
        return Zone::named(body).map(ZoneSuffix::Named).ok_or_else(unknown);
    }
    let mut reader = Reader::new(body);
    let offset = reader.numeric_offset().map_err(|_| unknown())?;
    if reader.at < body.len() {
        return Err(unknown());
    }
    let seconds = match offset {
        Offset::Unknown | Offset::Missing => 0,
        Offset::Seconds(seconds) | Offset::Minutes(seconds) => seconds,
    };
    Ok(ZoneSuffix::Offset { text: body.to_owned(), seconds })
}

/// Returns whether the text is a `key=value` tag of RFC 9557, section 4.1.
fn is_tag(body: &str) -> bool {
    let Some((key, value)) = body.split_once('=') else {
        return false;
    };
    let is_key_start = |byte: u8| byte.is_ascii_lowercase() || byte == b'_';
    let is_key = key.bytes().next().is_some_and(is_key_start)
        && key.bytes().all(|byte| is_key_start(byte) || byte.is_ascii_digit() || byte == b'-');
    let is_word = |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_alphanumeric());
    is_key && value.split('-').all(is_word)
}
