//! Table settings that cannot be detected from the file.

use serde_json::Value;

use super::MappingError;
use super::line_pattern::LinePattern;
use crate::item::clipped;
use crate::limits::{CSV_COLUMNS_MAX, RECORD_BYTES_MAX};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Table {
    /// Detected from the first row by default.
    pub(crate) delimiter: Option<Delimiter>,
    /// A double quote by default.
    pub(crate) quote: Option<Quote>,
    /// What escapes a quote inside a quoted text; by default, a second quote.
    pub(crate) escape: Option<u8>,
    pub(crate) comment: Option<String>,
    pub(crate) skip_lines: u32,
    /// Rows to skip between the header and the first record.
    pub(crate) skip_rows: u32,
    /// Column names, if the file has no header.
    pub(crate) columns: Option<TableColumns>,
    /// Whether cells missing at the end of a row are read as empty.
    pub(crate) fills_short_rows: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Delimiter {
    Byte(u8),
    /// Any run of blanks and tabs.
    Blanks,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Quote {
    None,
    Byte(u8),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TableColumns {
    /// In file order.
    Named(Vec<String>),
    Fixed(Vec<FixedColumn>),
    Pattern(LinePattern),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FixedColumn {
    pub(crate) name: String,
    /// Position of the first character, counted from 0.
    pub(crate) start: usize,
    /// Position after the last character.
    pub(crate) end: usize,
}

impl Table {
    pub(crate) const WORDS: [&'static str; 9] =
        ["delimiter", "quote", "escape", "comment", "skip_lines", "skip_rows", "columns", "pattern", "short_rows"];

    /// Stores an option. Returns false if it is not a table option.
    pub(super) fn add(&mut self, word: &str, value: &Value) -> Result<bool, MappingError> {
        let wrong = |rule: &str| MappingError::OptionWrong {
            option: word.to_owned(),
            given: clipped(value.as_str().map_or_else(|| value.to_string(), str::to_owned)),
            rule: rule.to_owned(),
        };
        let text = || value.as_str().ok_or_else(|| wrong("it must be a string"));
        let count = || {
            let digits = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            digits.parse::<u32>().map_err(|_| wrong("it must be a number of rows"))
        };
        match word {
            "delimiter" => {
                let rule = "columns must be separated by one ASCII character, or `comma`, `tab`, `semicolon`, `pipe`, \
                            `space` or `blanks` (any number of them)";
                self.delimiter = Some(delimiter(text()?).ok_or_else(|| wrong(rule))?);
            }
            "quote" => {
                self.quote = Some(match text()?.as_bytes() {
                    [] | b"none" => Quote::None,
                    [byte] if byte.is_ascii_punctuation() => Quote::Byte(*byte),
                    _ => return Err(wrong("the quotation mark must be one ASCII character, or `none`")),
                });
            }
            "escape" => {
                self.escape = match text()?.as_bytes() {
                    [] | b"none" => None,
                    [byte] if byte.is_ascii_punctuation() => Some(*byte),
                    _ => return Err(wrong("the escape character must be one ASCII character, or `none`")),
                }
            }
            "comment" => self.comment = Some(text()?.to_owned()).filter(|start| !start.is_empty()),
            "skip_lines" => self.skip_lines = count()?,
            "skip_rows" => self.skip_rows = count()?,
            "columns" | "pattern" if self.columns.is_some() => {
                return Err(wrong("define the columns by `columns` or by `pattern`, not by both"));
            }
            "columns" => self.columns = Some(columns(value).map_err(wrong)?),
            "pattern" => {
                let pattern = LinePattern::new(text()?).map_err(|rule| wrong(&rule))?;
                self.columns = Some(TableColumns::Pattern(pattern));
            }
            "short_rows" => {
                self.fills_short_rows = match text()? {
                    "fill" => true,
                    "refuse" => false,
                    _ => return Err(wrong("it must be `refuse` or `fill`")),
                }
            }
            _ => return Ok(false),
        }
        Ok(true)
    }
}

fn delimiter(text: &str) -> Option<Delimiter> {
    match text {
        "comma" => Some(Delimiter::Byte(b',')),
        "tab" | "\\t" => Some(Delimiter::Byte(b'\t')),
        "semicolon" => Some(Delimiter::Byte(b';')),
        "pipe" => Some(Delimiter::Byte(b'|')),
        "space" => Some(Delimiter::Byte(b' ')),
        "blanks" => Some(Delimiter::Blanks),
        _ => match text.as_bytes() {
            [byte] if byte.is_ascii() && !matches!(byte, b'\n' | b'\r' | b'"' | 0) => Some(Delimiter::Byte(*byte)),
            _ => None,
        },
    }
}

/// Reads column names: a list, a `|`-separated text, or an object of name to position.
fn columns(value: &Value) -> Result<TableColumns, &'static str> {
    const RULE: &str =
        "columns must be a list of names, or an object of names and positions, such as `{\"date\": \"1-8\"}`";
    let columns = match value {
        Value::String(names) => TableColumns::Named(names.split('|').map(|name| name.trim().to_owned()).collect()),
        Value::Array(names) => {
            let names = names.iter().map(|name| name.as_str().map(|name| name.trim().to_owned()));
            TableColumns::Named(names.collect::<Option<_>>().ok_or(RULE)?)
        }
        Value::Object(places) => {
            let fixed = places.iter().map(|(name, place)| fixed(name, place.as_str()?));
            TableColumns::Fixed(fixed.collect::<Option<_>>().ok_or(RULE)?)
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => return Err(RULE),
    };
    let count = match &columns {
        TableColumns::Named(names) => names.len(),
        TableColumns::Fixed(columns) => columns.len(),
        TableColumns::Pattern(pattern) => pattern.names().count(),
    };
    match count {
        0 => Err(RULE),
        1..=CSV_COLUMNS_MAX => Ok(columns),
        _ => Err("there are too many columns"),
    }
}

/// Parses a column range: `1-8` (inclusive), or `9-` for the rest of the line.
fn fixed(name: &str, place: &str) -> Option<FixedColumn> {
    let (first, last) = place.split_once('-').unwrap_or((place, place));
    let first: usize = first.trim().parse().ok()?;
    let last = match last.trim() {
        "" => RECORD_BYTES_MAX,
        last => last.parse().ok()?,
    };
    let is_right = first >= 1 && first <= last && last <= RECORD_BYTES_MAX;
    is_right.then(|| FixedColumn { name: name.trim().to_owned(), start: first - 1, end: last })
}
