//! Lines of a log that begin with their time, and have no columns beside it.

use serde_json::{Value, json};

use super::markers::Markers;
use super::roles::is_moment;
use super::{Column, Settings};
use crate::limits::GUESS_ROWS_MAX;
use crate::time_format::TimeFormat;

/// How syslog writes times (RFC 3164, section 4.1.2): always as wide, and without a year.
const SYSLOG: &str = "MMM D HH:mm:ss";
const SYSLOG_CHARS: usize = 15;
const LEAP_DAY: &str = "Feb 29 ";
/// What is taken for the year where lines say none: the second is the first one with a 29 February.
const YEARS: [&str; 2] = ["1970", "1972"];

/// Lines that begin with a time, as wide in most of them.
pub(super) struct Lines {
    pub(super) columns: Vec<Column>,
    pub(super) settings: Settings,
    /// What the mapping says of times without a year, with the text behind them, and which year is taken.
    pub(super) without_year: Option<(&'static str, Settings)>,
}

/// Returns what the lines are, if they begin with a time. The first line of a table names its columns instead. What
/// programs write below a line, such as where they failed, does not.
pub(super) fn of(text: &str) -> Option<Lines> {
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).take(GUESS_ROWS_MAX).collect();
    let first = lines.first()?;
    let (width, has_year) = match width_of_moment(first) {
        Some(width) => (width, true),
        None => (width_of_syslog(first)?, false),
    };
    let has_same = |line: &&&str| {
        let other = if has_year { width_of_moment(line) } else { width_of_syslog(line) };
        other == Some(width)
    };
    if lines.iter().filter(has_same).count() * 2 < lines.len() {
        return None;
    }
    let cut = |line: &&str, from: usize, to: usize| {
        line.chars().skip(from).take(to - from).collect::<String>().trim().to_owned()
    };
    let column = |name: &str, from: usize, to: usize| Column {
        name: name.to_owned(),
        // What stands below a line says nothing of the others.
        texts: lines.iter().filter(has_same).map(|line| cut(line, from, to)).collect(),
        // A time and a text are no numbers.
        markers: Markers::default(),
    };
    let columns = vec![column("time", 0, width), column("text", width + 1, usize::MAX)];
    let places = json!({ "time": format!("1-{width}"), "text": format!("{}-", width + 2) });
    let without_year = (!has_year).then(|| {
        let year = YEARS[usize::from(lines.iter().any(|line| line.starts_with(LEAP_DAY)))];
        let time = Value::from(format!("{year} {{time}}|YYYY {SYSLOG}"));
        (year, vec![("time", time), ("description", Value::from("text"))])
    });
    Some(Lines { columns, settings: vec![("columns", places)], without_year })
}

/// Returns how many characters the time has with which a line begins, in one word or in two.
fn width_of_moment(line: &str) -> Option<usize> {
    let ends = line.match_indices(' ').map(|(end, _)| end).take(2);
    let time = ends.map(|end| &line[..end]).filter(|start| is_moment(start)).last()?;
    Some(time.chars().count())
}

fn width_of_syslog(line: &str) -> Option<usize> {
    let (time, rest) = line.split_at_checked(SYSLOG_CHARS)?;
    let is_time = TimeFormat::parse(SYSLOG).is_some_and(|format| format.read(time).is_some());
    (is_time && rest.starts_with(' ')).then_some(SYSLOG_CHARS)
}
