//! Date and time patterns in mappings: `YYYYMMDD`, `hhmmss`, `%d/%b/%Y:%H:%M:%S %z`.

mod reading;
#[cfg(test)]
mod tests;

pub(crate) use reading::{number_alone, seconds_alone, whole, year_alone};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TimeFormat {
    tokens: Vec<Token>,
    text: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    Text(String),
    /// One or more blanks.
    Blanks,
    /// Three or more digits, or with a sign or an era.
    Year,
    /// Two digits, 1969 to 2068 as in POSIX.
    ShortYear,
    Month,
    /// `Jul` or `July`.
    MonthName,
    Day,
    /// Letters that are ignored, such as `Wed`.
    Weekday,
    Hour,
    /// `AM` or `PM`.
    HalfOfDay,
    Minute,
    /// With an optional fraction.
    Second,
    Fraction,
    /// `Z`, `+02:00` or `-0700`.
    Offset,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Partial {
    pub(crate) year: Option<Year>,
    pub(crate) month: Option<i64>,
    pub(crate) day: Option<i64>,
    pub(crate) hour: Option<i64>,
    pub(crate) minute: Option<i64>,
    pub(crate) second: Option<i64>,
    /// Digits of the fraction of a second, unless all are zeros.
    pub(crate) fraction: Option<String>,
    /// Minutes ahead of UTC, if given.
    pub(crate) offset_minutes: Option<i64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Year {
    pub(crate) number: i64,
    pub(crate) era: Option<Era>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Era {
    /// `BC` or `BCE`.
    Before,
    /// `AD` or `CE`.
    Common,
}

impl TimeFormat {
    /// Parses a pattern: `strptime` if it has `%`, or else letters. None if it is neither.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let tokens = if text.contains('%') { of_percents(text)? } else { of_letters(text)? };
        let tells = |token: &Token| !matches!(token, Token::Text(_) | Token::Blanks | Token::Weekday);
        tokens.iter().any(tells).then(|| Self { tokens, text: text.to_owned() })
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }

    pub(crate) fn is_short_year(&self) -> bool {
        self.tokens == [Token::ShortYear]
    }

    /// The pattern with a two-digit year, if that reads the text.
    pub(crate) fn with_short_year(&self, text: &str) -> Option<String> {
        let short = self.text.replace("%Y", "%y").replace("YYYY", "YY").replace("yyyy", "yy");
        let is_other = short != self.text;
        Self::parse(&short).filter(|format| is_other && format.read(text).is_some()).map(|format| format.text)
    }
}

fn of_percents(text: &str) -> Option<Vec<Token>> {
    let mut tokens = Vec::new();
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        if character != '%' {
            push_text(&mut tokens, character);
            continue;
        }
        match characters.next()? {
            'Y' => tokens.push(Token::Year),
            'y' => tokens.push(Token::ShortYear),
            'm' => tokens.push(Token::Month),
            'b' | 'B' | 'h' => tokens.push(Token::MonthName),
            'd' | 'e' => tokens.push(Token::Day),
            'a' | 'A' => tokens.push(Token::Weekday),
            'H' | 'I' | 'k' | 'l' => tokens.push(Token::Hour),
            'p' | 'P' => tokens.push(Token::HalfOfDay),
            'M' => tokens.push(Token::Minute),
            'S' => tokens.push(Token::Second),
            'f' => tokens.push(Token::Fraction),
            'z' => tokens.push(Token::Offset),
            'F' => tokens.extend(of_percents("%Y-%m-%d")?),
            'T' => tokens.extend(of_percents("%H:%M:%S")?),
            'R' => tokens.extend(of_percents("%H:%M")?),
            'D' => tokens.extend(of_percents("%m/%d/%y")?),
            '%' => push_text(&mut tokens, '%'),
            _ => return None,
        }
    }
    Some(tokens)
}

/// Parses runs of letters in either case. `M` is a month, but a minute next to an hour or second.
fn of_letters(text: &str) -> Option<Vec<Token>> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        if let Some(quoted) = rest.strip_prefix('\'') {
            let (literal, after) = quoted.split_once('\'')?;
            literal.chars().for_each(|character| push_text(&mut tokens, character));
            rest = after;
            continue;
        }
        if !first.is_ascii_alphabetic() {
            push_text(&mut tokens, first);
            rest = &rest[first.len_utf8()..];
            continue;
        }
        let run = rest.bytes().take_while(|byte| byte.eq_ignore_ascii_case(&(first as u8))).count();
        rest = &rest[run..];
        let follows_second =
            matches!(tokens.as_slice(), [.., Token::Second, Token::Text(point)] if point == "." || point == ",");
        let token = match (first.to_ascii_uppercase(), run) {
            ('Y', 4) => Token::Year,
            ('Y', 2) => Token::ShortYear,
            ('M', 3 | 4) => Token::MonthName,
            ('M', 1 | 2) if is_minute(&tokens, rest) => Token::Minute,
            ('M', 1 | 2) => Token::Month,
            ('D', 1 | 2) => Token::Day,
            ('E', 1..=4) | ('D', 3 | 4) => Token::Weekday,
            ('H', 1 | 2) => Token::Hour,
            ('A', 1 | 2) => Token::HalfOfDay,
            ('S', _) if follows_second => Token::Fraction,
            ('S', 1 | 2) => Token::Second,
            ('Z', 1..=3) => Token::Offset,
            ('T', 1) => Token::Text(first.to_string()),
            _ => return None,
        };
        tokens.push(token);
    }
    Some(tokens)
}

fn is_minute(before: &[Token], after: &str) -> bool {
    let last = before.iter().rev().find(|token| !matches!(token, Token::Text(_) | Token::Blanks));
    let next = after.chars().find(char::is_ascii_alphabetic);
    matches!(last, Some(Token::Hour)) || (next.is_some_and(|next| next.eq_ignore_ascii_case(&'S')) && last.is_none())
}

fn push_text(tokens: &mut Vec<Token>, character: char) {
    match (tokens.last_mut(), character) {
        (Some(Token::Blanks), ' ' | '\t') => {}
        (_, ' ' | '\t') => tokens.push(Token::Blanks),
        (Some(Token::Text(text)), other) => text.push(other),
        (_, other) => tokens.push(Token::Text(other.to_string())),
    }
}
