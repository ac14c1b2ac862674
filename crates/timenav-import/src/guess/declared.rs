//! Logs with column names in a comment: the W3C extended format, and Zeek logs.

use csv::ReaderBuilder;
use serde_json::Value;

use super::markers::Markers;
use super::{Column, Settings};
use crate::limits::GUESS_ROWS_MAX;

/// The start of the line with the column names.
const NAMES: &str = "#fields";
/// Returns the columns, and the mapping settings for the log.
pub(super) fn columns(text: &str) -> Option<(Vec<Column>, Settings)> {
    let comments = text.lines().take_while(|line| line.starts_with('#'));
    let names = comments.filter(|line| line.get(..NAMES.len()).is_some_and(|start| start.eq_ignore_ascii_case(NAMES)));
    let names = names.last()?[NAMES.len()..].trim_start_matches(':');
    let names: Vec<&str> = names.split_whitespace().collect();
    let rows: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).take(GUESS_ROWS_MAX).collect();
    let is_by_tabs = rows.iter().filter(|row| row.contains('\t')).count() * 2 > rows.len();
    let (delimiter, word) = if is_by_tabs { (b'\t', "tab") } else { (b' ', "space") };
    let text = rows.join("\n");
    let mut reader =
        ReaderBuilder::new().has_headers(false).flexible(true).delimiter(delimiter).from_reader(text.as_bytes());
    let rows: Vec<csv::StringRecord> = reader.records().filter_map(Result::ok).collect();
    let column = |(place, name): (usize, &&str)| Column {
        name: (*name).to_owned(),
        texts: rows.iter().map(|row| row.get(place).unwrap_or_default().trim().to_owned()).collect(),
        markers: Markers::default(),
    };
    let columns: Vec<Column> = names.iter().enumerate().map(column).collect();
    let settings =
        vec![("delimiter", Value::from(word)), ("comment", Value::from("#")), ("columns", Value::from(names))];
    Some((columns, settings))
}
