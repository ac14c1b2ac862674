use super::{Era, Partial, TimeFormat, Token, Year};

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];
/// Longest fraction accepted; it is truncated later.
const FRACTION_DIGITS_MAX: usize = 12;

impl TimeFormat {
    /// Reads a text by the pattern. None if it does not match.
    ///
    /// Adjacent digits have the width of their letters. Leading zeros that a spreadsheet removed from a time of day are
    /// restored.
    pub(crate) fn read(&self, text: &str) -> Option<Partial> {
        let text = text.trim();
        let padded = self.padded(text);
        let mut reader = Reader::new(padded.as_deref().unwrap_or(text));
        reader.has_fraction = self.tokens.contains(&Token::Fraction);
        let is_digits = |place: usize| self.tokens.get(place).is_some_and(Token::is_digits);
        for (place, token) in self.tokens.iter().enumerate() {
            let is_close = is_digits(place + 1) || (place > 0 && is_digits(place - 1));
            reader.take(token, is_close)?;
        }
        reader.rest.trim().is_empty().then_some(())?;
        reader.end()
    }

    /// The text with leading zeros restored, if the pattern is a time of day made of digits only.
    fn padded(&self, text: &str) -> Option<String> {
        let is_clock = self.tokens.iter().all(|token| matches!(token, Token::Hour | Token::Minute | Token::Second));
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        let length = 2 * self.tokens.len();
        (is_clock && self.tokens.len() > 1 && (1..length).contains(&digits))
            .then(|| format!("{}{text}", "0".repeat(length - digits)))
    }
}

impl Token {
    const fn is_digits(&self) -> bool {
        matches!(
            self,
            Self::Year
                | Self::ShortYear
                | Self::Month
                | Self::Day
                | Self::Hour
                | Self::Minute
                | Self::Second
                | Self::Fraction
        )
    }
}

struct Reader<'t> {
    rest: &'t str,
    partial: Partial,
    is_pm: Option<bool>,
    has_fraction: bool,
}

impl<'t> Reader<'t> {
    fn new(rest: &'t str) -> Self {
        Self { rest, partial: Partial::default(), is_pm: None, has_fraction: false }
    }

    /// Reads one token. `is_close` means that other digits are adjacent.
    fn take(&mut self, token: &Token, is_close: bool) -> Option<()> {
        match token {
            Token::Text(text) => {
                let start = self.rest.get(..text.len()).filter(|start| start.eq_ignore_ascii_case(text))?;
                self.rest = &self.rest[start.len()..];
            }
            Token::Blanks => {
                let after = self.rest.trim_start();
                (after.len() < self.rest.len()).then_some(())?;
                self.rest = after;
            }
            Token::Year => self.partial.year = Some(self.full_year(is_close)?),
            Token::ShortYear => {
                let short = self.number(2, 2)?;
                let number = if short < 69 { 2_000 + short } else { 1_900 + short };
                self.partial.year = Some(Year { number, era: None });
            }
            // 0 stands for an unknown month or day.
            Token::Month => self.partial.month = Some(self.small(is_close)?).filter(|month| *month != 0),
            Token::Day => self.partial.day = Some(self.small(is_close)?).filter(|day| *day != 0),
            Token::MonthName => {
                let word = self.letters();
                self.partial.month = Some(month_of_name(word)?);
                self.rest = self.rest.strip_prefix('.').unwrap_or(self.rest);
            }
            Token::Weekday => {
                (!self.letters().is_empty()).then_some(())?;
                self.rest = self.rest.strip_prefix('.').unwrap_or(self.rest);
            }
            Token::Hour => self.partial.hour = Some(self.small(is_close)?),
            Token::Minute => self.partial.minute = Some(self.small(is_close)?),
            Token::Second => {
                self.partial.second = Some(self.small(is_close)?);
                let after = self.rest.strip_prefix(['.', ',']).filter(|_| !self.has_fraction);
                if let Some(after) = after.filter(|after| after.starts_with(|c: char| c.is_ascii_digit())) {
                    self.rest = after;
                    self.fraction()?;
                }
            }
            Token::Fraction => self.fraction()?,
            Token::HalfOfDay => {
                let word: String = self.letters().chars().filter(|c| *c != '.').collect();
                self.is_pm = match word.to_ascii_lowercase().as_str() {
                    "am" | "a" => Some(false),
                    "pm" | "p" => Some(true),
                    _ => return None,
                };
            }
            Token::Offset => self.partial.offset_minutes = Some(self.offset()?),
        }
        Some(())
    }

    fn end(mut self) -> Option<Partial> {
        match (self.is_pm, self.partial.hour) {
            (None, _) => {}
            (Some(is_pm), Some(hour @ 1..=12)) => {
                self.partial.hour = Some(hour % 12 + if is_pm { 12 } else { 0 });
            }
            (Some(_), _) => return None,
        }
        Some(self.partial)
    }

    fn number(&mut self, digits_min: usize, digits_max: usize) -> Option<i64> {
        let digits = self.rest.bytes().take(digits_max).take_while(u8::is_ascii_digit).count();
        let (number, after) = self.rest.split_at(digits);
        self.rest = after;
        (digits >= digits_min).then(|| number.parse().ok()).flatten()
    }

    /// Reads two digits, or one if no more follow.
    fn small(&mut self, is_close: bool) -> Option<i64> {
        self.rest = self.rest.trim_start_matches(' ');
        self.number(if is_close { 2 } else { 1 }, 2)
    }

    fn fraction(&mut self) -> Option<()> {
        let digits = self.rest.bytes().take_while(u8::is_ascii_digit).count();
        (1..=FRACTION_DIGITS_MAX).contains(&digits).then_some(())?;
        let (fraction, after) = self.rest.split_at(digits);
        self.rest = after;
        let says_more = fraction.bytes().any(|byte| byte != b'0');
        self.partial.fraction = says_more.then(|| fraction.to_owned());
        Some(())
    }

    fn year(&mut self, is_close: bool) -> Option<Year> {
        let (sign, after) = match self.rest.strip_prefix(['-', '\u{2212}']) {
            Some(after) => (-1, after),
            None => (1, self.rest.strip_prefix('+').unwrap_or(self.rest)),
        };
        self.rest = after;
        let number = if is_close { self.number(4, 4)? } else { self.number(1, 6)? };
        let mut era = None;
        if !is_close {
            let word = self.rest.trim_start();
            let letters = word.bytes().take_while(u8::is_ascii_alphabetic).count();
            if let Some(found) = era_of(&word[..letters]) {
                era = Some(found);
                self.rest = &word[letters..];
            }
        }
        Some(Year { number: sign * number, era })
    }

    /// Reads a year next to other parts. Two digits need a sign or an era, because the century is unknown.
    fn full_year(&mut self, is_close: bool) -> Option<Year> {
        let digits = self.rest.bytes().take_while(u8::is_ascii_digit).count();
        let year = self.year(is_close)?;
        (!matches!(digits, 1 | 2) || year.era.is_some()).then_some(year)
    }

    fn letters(&mut self) -> &'t str {
        let is_letter = |byte: &u8| byte.is_ascii_alphabetic();
        let (word, after) = self.rest.split_at(self.rest.bytes().take_while(is_letter).count());
        self.rest = after;
        word
    }

    /// Reads the minutes ahead of UTC.
    fn offset(&mut self) -> Option<i64> {
        for zulu in ["UTC", "GMT", "Z", "z"] {
            if let Some(after) = self.rest.strip_prefix(zulu) {
                self.rest = after;
                return Some(0);
            }
        }
        let sign = match self.rest.bytes().next()? {
            b'+' => 1,
            b'-' => -1,
            _ => return None,
        };
        self.rest = &self.rest[1..];
        let hours = self.number(2, 2)?;
        self.rest = self.rest.strip_prefix(':').unwrap_or(self.rest);
        let minutes = if self.rest.starts_with(|c: char| c.is_ascii_digit()) { self.number(2, 2)? } else { 0 };
        (hours < 24 && minutes < 60).then_some(sign * (hours * 60 + minutes))
    }
}

pub(super) fn era_of(word: &str) -> Option<Era> {
    match word.to_ascii_uppercase().as_str() {
        "BC" | "BCE" => Some(Era::Before),
        "AD" | "CE" => Some(Era::Common),
        _ => None,
    }
}

/// The month, from 1, of an English name or a prefix of at least three letters.
pub(super) fn month_of_name(word: &str) -> Option<i64> {
    let word = word.to_ascii_lowercase();
    // Four-letter `Sept` is common too.
    let names = |name: &&'static str| word.len() >= 3 && name.starts_with(&word);
    MONTHS.iter().position(names).and_then(|place| i64::try_from(place + 1).ok())
}

/// Reads a year alone: `-2150`, `2150 BCE`, `AD 79`, or `1945.0` as spreadsheets write it.
pub(crate) fn year_alone(text: &str) -> Option<Year> {
    let text = text.trim();
    let letters = text.bytes().take_while(u8::is_ascii_alphabetic).count();
    let (before, rest) = text.split_at(letters);
    let rest = rest.trim_start_matches(['.', ' ']);
    let rest = whole(if letters > 0 { rest } else { text });
    let mut reader = Reader::new(rest);
    let mut year = reader.year(false)?;
    if letters > 0 {
        year.era = Some(era_of(before)?);
    }
    reader.rest.trim().is_empty().then_some(year)
}

/// Reads a month, day, hour or minute alone; a month may be a name.
pub(crate) fn number_alone(text: &str) -> Option<i64> {
    let text = whole(text.trim());
    let digits = (1..=6).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    if digits { text.parse().ok() } else { month_of_name(text.trim_end_matches('.')) }
}

/// Reads seconds with an optional fraction: `45`, `45.3`.
pub(crate) fn seconds_alone(text: &str) -> Option<(i64, Option<String>)> {
    let text = text.trim();
    let (number, fraction) = text.split_once(['.', ',']).unwrap_or((text, ""));
    let is_right = |digits: &str, most: usize| digits.len() <= most && digits.bytes().all(|byte| byte.is_ascii_digit());
    if number.is_empty() || !is_right(number, 3) || !is_right(fraction, FRACTION_DIGITS_MAX) {
        return None;
    }
    let says_more = fraction.bytes().any(|byte| byte != b'0');
    Some((number.parse().ok()?, says_more.then(|| fraction.to_owned())))
}

/// Strips a fraction of zeros.
pub(crate) fn whole(text: &str) -> &str {
    match text.split_once('.') {
        Some((number, zeros)) if !number.is_empty() && zeros.bytes().all(|byte| byte == b'0') => number,
        _ => text,
    }
}
