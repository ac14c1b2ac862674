use std::io::{BufRead, BufReader, Cursor, Read};

use csv::{ErrorKind, Reader, ReaderBuilder, StringRecord};

use super::lines::{self, Lines};
use crate::limits::{BUFFER_BYTES, RECORD_BYTES_MAX};
use crate::mapping::{Delimiter, FixedColumn, LinePattern, Mapping, Quote, TableColumns};
use crate::{ImportError, RecordError};

const DELIMITERS: [u8; 4] = [b',', b'\t', b';', b'|'];

pub(super) type Read1 = Result<(), RecordError>;

pub(super) enum Rows<'i> {
    /// With a separator character and quotation marks.
    Delimited(Box<Reader<Lines<Box<dyn Read + 'i>>>>),
    Plain(PlainRows<'i>),
}

/// Rows with fixed columns, a pattern, or blanks as separators.
pub(super) struct PlainRows<'i> {
    input: BufReader<Box<dyn Read + 'i>>,
    columns: PlainColumns,
    /// The start of comment lines. The first column may be anywhere in a line.
    comment: Option<String>,
    line: u64,
    bytes: Vec<u8>,
}

enum PlainColumns {
    Fixed(Vec<FixedColumn>),
    Pattern(LinePattern),
    BetweenBlanks,
}

impl<'i> Rows<'i> {
    /// Skips the lines before the table, and starts reading.
    pub(super) fn new(mapping: &Mapping, input: &'i mut dyn Read) -> Result<Self, ImportError> {
        let table = mapping.table();
        let mut input = BufReader::with_capacity(BUFFER_BYTES, input);
        let mut line = 0;
        for _ in 0..table.skip_lines {
            line += 1;
            let at = |source| ImportError::Io { line, source };
            if lines::skip_line(&mut input).map_err(at)?.is_none() {
                break;
            }
        }
        let has_blanks = matches!(table.delimiter, Some(Delimiter::Blanks));
        let plain = match &table.columns {
            Some(TableColumns::Fixed(columns)) => Some(PlainColumns::Fixed(columns.clone())),
            Some(TableColumns::Pattern(pattern)) => Some(PlainColumns::Pattern(pattern.clone())),
            Some(TableColumns::Named(_)) | None => has_blanks.then_some(PlainColumns::BetweenBlanks),
        };
        if let Some(columns) = plain {
            let input = BufReader::with_capacity(BUFFER_BYTES, Box::new(input) as Box<dyn Read + 'i>);
            let comment = table.comment.clone();
            return Ok(Self::Plain(PlainRows { input, columns, comment, line, bytes: Vec::new() }));
        }
        let mut head = Vec::new();
        let delimiter = match table.delimiter {
            Some(Delimiter::Byte(byte)) => byte,
            Some(Delimiter::Blanks) | None => {
                let comment = table.comment.as_deref().unwrap_or_default();
                let at = |source| ImportError::Io { line: line + 1, source };
                let first = lines::first_line(&mut input, comment, &mut head).map_err(at)?;
                let (named, likely) = (named_delimiter(first), likely_delimiter(first));
                if named.is_some() {
                    line += u64::try_from(head.split(|byte| *byte == b'\n').count() - 1).unwrap_or_default();
                    head.clear();
                }
                named.unwrap_or(likely)
            }
        };
        let input: Box<dyn Read + 'i> = Box::new(Cursor::new(head).chain(input));
        let mut builder = ReaderBuilder::new();
        // The length of a row is checked later, because comments can have any length.
        builder.has_headers(false).flexible(true).buffer_capacity(BUFFER_BYTES).delimiter(delimiter);
        match table.quote {
            None => {}
            Some(Quote::None) => {
                builder.quoting(false);
            }
            Some(Quote::Byte(byte)) => {
                builder.quote(byte);
            }
        }
        builder.escape(table.escape);
        Ok(Self::Delimited(Box::new(builder.from_reader(Lines::new(input, line)))))
    }

    /// Returns the first line of the last row.
    pub(super) fn line(&self) -> u64 {
        match self {
            Self::Delimited(reader) => reader.get_ref().record_line(),
            Self::Plain(rows) => rows.line,
        }
    }

    pub(super) fn next(&mut self, row: &mut StringRecord) -> Result<Option<Read1>, ImportError> {
        match self {
            Self::Delimited(reader) => next_delimited(reader, row),
            Self::Plain(rows) => rows.next(row),
        }
    }
}

fn next_delimited(
    reader: &mut Reader<Lines<Box<dyn Read + '_>>>,
    row: &mut StringRecord,
) -> Result<Option<Read1>, ImportError> {
    reader.get_mut().begin_record();
    let outcome = reader.read_record(row);
    let lines = reader.get_ref();
    let malformed = |detail: String| Ok(Some(Err(RecordError::whole(RecordError::MALFORMED_CSV, detail))));
    if lines.is_record_too_large() {
        return Err(ImportError::RowTooLarge { line: lines.record_line() });
    }
    match outcome.map_err(csv::Error::into_kind) {
        Ok(false) => Ok(None),
        Ok(true) | Err(ErrorKind::Utf8 { .. }) if lines.is_record_open() => {
            malformed("a quotation mark is not closed before the end of the file".to_owned())
        }
        Ok(true) => Ok(Some(Ok(()))),
        Err(ErrorKind::Utf8 { err, .. }) => {
            let field = err.field() + 1;
            malformed(format!("field {field} is not UTF-8; save the file in that encoding"))
        }
        Err(ErrorKind::Io(source)) => Err(ImportError::Io { line: lines.line(), source }),
        // Seeking and serde are not used.
        Err(other) => malformed(format!("{other:?}")),
    }
}

impl PlainRows<'_> {
    fn next(&mut self, row: &mut StringRecord) -> Result<Option<Read1>, ImportError> {
        loop {
            self.line += 1;
            let line = self.line;
            let at = |source| ImportError::Io { line, source };
            self.bytes.clear();
            let bytes_max = u64::try_from(RECORD_BYTES_MAX + 2).unwrap_or(u64::MAX);
            let read = self.input.by_ref().take(bytes_max).read_until(b'\n', &mut self.bytes).map_err(at)?;
            if read == 0 {
                return Ok(None);
            }
            let is_whole = self.bytes.ends_with(b"\n");
            let text = self.bytes.trim_ascii_end();
            let is_comment = |start: &String| text.trim_ascii_start().starts_with(start.as_bytes());
            if is_whole && self.comment.as_ref().is_some_and(is_comment) {
                continue;
            }
            if text.len() > RECORD_BYTES_MAX {
                if !is_whole {
                    self.input.skip_until(b'\n').map_err(at)?;
                }
                let detail = format!("a line can have at most {RECORD_BYTES_MAX} bytes");
                return Ok(Some(Err(RecordError::whole(RecordError::TOO_LARGE, detail))));
            }
            if text.is_empty() {
                continue;
            }
            let Ok(text) = str::from_utf8(text) else {
                let detail = "the line is not UTF-8; save the file in that encoding";
                return Ok(Some(Err(RecordError::whole(RecordError::MALFORMED_CSV, detail))));
            };
            row.clear();
            return Ok(Some(self.columns.cut(text, row)));
        }
    }
}

impl PlainColumns {
    fn cut(&self, line: &str, row: &mut StringRecord) -> Read1 {
        match self {
            Self::Fixed(columns) => columns.iter().for_each(|column| row.push_field(cut(line, column).trim())),
            Self::Pattern(pattern) => return pattern.cut(line, row),
            Self::BetweenBlanks => line.split_whitespace().for_each(|cell| row.push_field(cell)),
        }
        Ok(())
    }
}

/// Returns the part of a line in a column, counted in characters.
fn cut<'t>(line: &'t str, column: &FixedColumn) -> &'t str {
    if line.is_ascii() {
        return line.get(column.start..column.end.min(line.len())).unwrap_or("");
    }
    let byte = |place: usize| line.char_indices().nth(place).map_or(line.len(), |(byte, _)| byte);
    &line[byte(column.start)..byte(column.end)]
}

/// Returns the separator in a first line such as `sep=;`, which spreadsheets use.
fn named_delimiter(line: &[u8]) -> Option<u8> {
    let line = line.trim_ascii();
    let line = line.strip_prefix(b"\"").and_then(|line| line.strip_suffix(b"\"")).unwrap_or(line);
    match line.split_at_checked(4)? {
        (name, [delimiter]) if name.eq_ignore_ascii_case(b"sep=") => Some(*delimiter),
        _ => None,
    }
}

/// Returns the most frequent separator in the first line. Among equally frequent ones, the first of [`DELIMITERS`].
fn likely_delimiter(line: &[u8]) -> u8 {
    let count = |delimiter: u8| {
        let mut is_quoted = false;
        let is_between = |byte: &&u8| {
            is_quoted ^= **byte == b'"';
            **byte == delimiter && !is_quoted
        };
        line.iter().filter(is_between).count()
    };
    // `max_by_key` returns the last of equal ones.
    DELIMITERS.into_iter().rev().max_by_key(|delimiter| count(*delimiter)).unwrap_or(b',')
}
