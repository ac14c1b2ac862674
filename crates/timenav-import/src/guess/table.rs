use csv::{ReaderBuilder, StringRecord};
use serde_json::Value;

use super::markers::Markers;
use super::roles::{is_date, is_moment};
use super::{Column, Settings};
use crate::limits::GUESS_ROWS_MAX;

const DELIMITER: &str = "delimiter";
const SKIP_LINES: &str = "skip_lines";
/// The setting for rows after the header that are not records.
pub(super) const SKIP_ROWS: &str = "skip_rows";
const DELIMITERS: [u8; 4] = [b',', b'\t', b';', b'|'];
/// How many rows determine the number of columns.
const ROWS_COUNTED: usize = 100;
/// How many lines may precede the header.
const LINES_BEFORE_MAX: usize = 20;
const COMMENTS: [&str; 3] = ["#", "%", "//"];

/// Returns the columns, the mapping settings for the layout, and the assumptions to report.
pub(super) fn columns(text: &str) -> (Vec<Column>, Settings, Vec<String>) {
    let mut settings = Settings::new();
    let mut notes = Vec::new();
    let (named_lines, text) = behind_named_delimiter(text);
    let comment = COMMENTS.into_iter().find(|start| text.trim_start().starts_with(start));
    let (delimiter, width) = shape(text, comment);
    let is_row =
        |row: &StringRecord| row.len() == width && row.iter().filter(|cell| !cell.trim().is_empty()).count() > 1;
    let first =
        rows(text, delimiter).take(LINES_BEFORE_MAX).position(|(_, row)| is_row(&row) && !begins(&row, comment));
    let first = first.map(|first| longer_names(text, (delimiter, width), comment, first).unwrap_or(first));
    let before = rows(text, delimiter).take(first.unwrap_or_default()).filter(|(_, row)| !begins(row, comment)).last();
    if delimiter != b',' || before.is_some() {
        settings.push((DELIMITER, Value::from(char::from(delimiter).to_string())));
    }
    let rest = match before {
        None => text,
        Some((line, _)) => {
            settings.push((SKIP_LINES, Value::from(line)));
            let end = text.match_indices('\n').nth(usize::try_from(line).unwrap_or_default().saturating_sub(1));
            end.map_or("", |(end, _)| &text[end + 1..])
        }
    };
    if named_lines > 0 {
        skip_more(&mut settings, named_lines, delimiter);
    }
    let mut table = rows(rest, delimiter).map(|(_, row)| row).filter(|row| !begins(row, comment)).peekable();
    let first = table.peek().cloned().unwrap_or_default();
    let sample: Vec<StringRecord> = table.by_ref().take(GUESS_ROWS_MAX).collect();
    let header = if is_record(&first, &sample[sample.len().min(1)..]) {
        let numbered: Vec<String> = (1..=first.len()).map(|number| format!("column {number}")).collect();
        notes.push("the first row is a record and does not name columns; list their names in `columns`".to_owned());
        settings.push(("columns", Value::from(numbered.clone())));
        StringRecord::from(numbered)
    } else {
        first
    };
    let is_named = settings.iter().all(|(word, _)| *word != "columns");
    let mut table = sample.into_iter().skip(usize::from(is_named)).chain(table);
    let mut rows: Vec<StringRecord> = table.by_ref().take(GUESS_ROWS_MAX).collect();
    let mut markers = vec![Markers::default(); header.len()];
    // Missing values may first occur far into the file, so all available rows are examined.
    for row in rows.iter().cloned().chain(table) {
        markers.iter_mut().zip(&row).for_each(|(markers, text)| markers.note(text));
    }
    // A row with the query, as written by archives: one cell in brackets.
    let is_note = |row: &StringRecord| {
        row.get(0).is_some_and(|cell| cell.trim().starts_with('['))
            && row.iter().skip(1).all(|cell| cell.trim().is_empty())
    };
    match (comment, rows.first().is_some_and(is_note)) {
        (Some(comment), _) => settings.push(("comment", Value::from(comment))),
        (None, true) => {
            settings.push(("comment", Value::from("[")));
            rows.retain(|row| !is_note(row));
        }
        (None, false) => {}
    }
    if rows.iter().any(|row| (2..header.len()).contains(&row.len())) {
        settings.push(("short_rows", Value::from("fill")));
    }
    rows.retain(|row| row.len() >= width);
    // A row of words, such as units, above rows of numbers says nothing about the columns.
    if rows.len() > 1 && !has_values(&rows[0]) && rows[1..].iter().all(has_values) {
        rows.remove(0);
    }
    let column = |(place, name): (usize, &str)| Column {
        name: name.trim().to_owned(),
        texts: rows.iter().map(|row| row.get(place).unwrap_or_default().trim().to_owned()).collect(),
        markers: std::mem::take(&mut markers[place]),
    };
    (header.iter().enumerate().map(column).collect(), settings, notes)
}

/// Returns how many lines specify the separator, as written by spreadsheets (`sep=;`), and the rest.
fn behind_named_delimiter(text: &str) -> (u64, &str) {
    let first = text.lines().next().unwrap_or_default().trim_matches('"');
    let is_named = first.len() == 5 && first.to_ascii_lowercase().starts_with("sep=");
    if is_named { (1, text.split_once('\n').map_or("", |(_, rest)| rest)) } else { (0, text) }
}

/// Skips further lines, and sets the separator, which is specified in them.
fn skip_more(settings: &mut Settings, lines: u64, delimiter: u8) {
    let place = settings.iter().position(|(word, _)| *word == SKIP_LINES);
    let before = place.and_then(|place| settings.remove(place).1.as_u64()).unwrap_or_default();
    settings.push((SKIP_LINES, Value::from(before + lines)));
    if !settings.iter().any(|(word, _)| *word == DELIMITER) {
        settings.push((DELIMITER, Value::from(char::from(delimiter).to_string())));
    }
}

/// Returns whether the first row is a record: one of its columns contains a time, as in the rows below.
fn is_record(first: &StringRecord, rows: &[StringRecord]) -> bool {
    let is_count = |text: &str| {
        let whole = text.split('.').next().unwrap_or_default();
        matches!(whole.len(), 10 | 13 | 16)
            && whole.starts_with('1')
            && text.bytes().all(|b| b.is_ascii_digit() || b == b'.')
    };
    let is_day = |text: &str| is_date(text.split(' ').next().unwrap_or_default());
    let kinds: [&dyn Fn(&str) -> bool; 3] = [&is_moment, &is_day, &is_count];
    let is_time = |place: usize, cell: &str| {
        kinds.iter().filter(|kind| kind(cell.trim())).any(|kind| {
            let cells = rows.iter().filter_map(|row| row.get(place)).map(str::trim).filter(|cell| !cell.is_empty());
            let (mut count, mut right) = (0, 0);
            for cell in cells {
                count += 1;
                right += usize::from(kind(cell));
            }
            right * 5 >= count * 4
        })
    };
    first.iter().enumerate().any(|(place, cell)| is_time(place, cell))
}

/// Returns the header row if it comes before the first row of the usual width, which is then a row of values: other
/// rows omit empty cells at their end.
fn longer_names(text: &str, (delimiter, width): (u8, usize), comment: Option<&str>, first: usize) -> Option<usize> {
    let (_, row) = rows(text, delimiter).nth(first)?;
    let names = |row: &StringRecord| {
        let is_filled = row.iter().all(|cell| !cell.trim().is_empty());
        row.len() > width && is_filled && !has_values(row) && !begins(row, comment)
    };
    let before = rows(text, delimiter).take(first).position(|(_, row)| names(&row));
    before.filter(|_| has_values(&row))
}

/// Returns whether a row has a cell that starts with a digit.
fn has_values(row: &StringRecord) -> bool {
    row.iter().any(|cell| cell.trim().starts_with(|c: char| c.is_ascii_digit()))
}

fn begins(row: &StringRecord, comment: Option<&str>) -> bool {
    comment.is_some_and(|start| row.get(0).is_some_and(|cell| cell.trim_start().starts_with(start)))
}

/// Returns the separator, and the number of columns that most rows have.
fn shape(text: &str, comment: Option<&str>) -> (u8, usize) {
    let of = |delimiter: u8| {
        let widths: Vec<usize> = rows(text, delimiter)
            .map(|(_, row)| row)
            .filter(|row| !begins(row, comment))
            .take(ROWS_COUNTED)
            .map(|row| row.len())
            .collect();
        let often = |width: usize| widths.iter().filter(|other| **other == width).count();
        let width = widths.iter().copied().filter(|width| *width > 1).max_by_key(|width| (often(*width), *width));
        width.map_or((0, delimiter, 1), |width| (often(width) * 1_000 / widths.len() * width, delimiter, width))
    };
    let shapes = DELIMITERS.into_iter().rev().map(of);
    shapes.max_by_key(|(weight, _, _)| *weight).map_or((b',', 1), |(_, delimiter, width)| (delimiter, width))
}

fn rows(text: &str, delimiter: u8) -> impl Iterator<Item = (u64, StringRecord)> {
    let reader =
        ReaderBuilder::new().has_headers(false).flexible(true).delimiter(delimiter).from_reader(text.as_bytes());
    reader.into_records().filter_map(Result::ok).map(|row| (row.position().map_or(1, csv::Position::line), row))
}
