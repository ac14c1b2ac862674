//! Lines of a web server's access log: the common format, the combined one, and what servers add before and behind them.

use csv::{ReaderBuilder, StringRecord};
use serde_json::{Map, Value, json};

use super::Settings;
use crate::limits::GUESS_ROWS_MAX;
use crate::time_format::TimeFormat;

/// How they write the time, in two words.
const TIME: &str = "[%d/%b/%Y:%H:%M:%S %z]";
/// What a line says up to the time.
const BEFORE: [&str; 3] = ["host", "identity", "user"];
/// What a line says from the time on: the common format has the first five, the combined one all.
const FROM_TIME: [&str; 7] = ["at", "zone", "request", "status", "bytes", "referrer", "agent"];
const COMMON: usize = 5;
/// What stands for nothing.
const NOTHING: &str = "-";

/// Returns what the mapping says, if these are lines of an access log.
pub(super) fn of(text: &str) -> Option<Settings> {
    let mut lines = ReaderBuilder::new();
    lines.has_headers(false).flexible(true).delimiter(b' ').escape(Some(b'\\'));
    let lines: Vec<StringRecord> =
        lines.from_reader(text.as_bytes()).records().take(GUESS_ROWS_MAX).filter_map(Result::ok).collect();
    let first = lines.first()?;
    // Some servers say first which of their names was asked for.
    let at = (BEFORE.len()..=BEFORE.len() + 1).find(|at| is_time(first, *at))?;
    let width = first.len();
    let is_alike = |line: &&StringRecord| line.len() == width && is_time(line, at);
    if width < at + COMMON || lines.iter().filter(is_alike).count() * 10 < lines.len() * 9 {
        return None;
    }
    let server = (at > BEFORE.len()).then_some("server");
    let known: Vec<&str> = server.into_iter().chain(BEFORE).chain(FROM_TIME).collect();
    let name =
        |number: usize| known.get(number).map_or_else(|| format!("column {}", number + 1), |name| (*name).to_owned());
    let columns: Vec<String> = (0..width).map(name).collect();
    let has_nothing = |number: &usize| lines.iter().any(|line| line.get(*number) == Some(NOTHING));
    let missing: Map<String, Value> =
        (0..width).filter(has_nothing).map(|number| (name(number), json!([NOTHING]))).collect();
    let mut settings: Settings = vec![
        ("delimiter", Value::from("space")),
        ("escape", Value::from("\\")),
        ("columns", Value::from(columns)),
        ("time", Value::from(format!("{{at}} {{zone}}|{TIME}"))),
        ("name", Value::from("request")),
        ("actors", Value::from("host")),
    ];
    if !missing.is_empty() {
        settings.push(("missing", Value::Object(missing)));
    }
    Some(settings)
}

/// Returns whether the cell at a place and the one behind it are the time.
fn is_time(line: &StringRecord, at: usize) -> bool {
    let (Some(at), Some(zone)) = (line.get(at), line.get(at + 1)) else { return false };
    let format = TimeFormat::parse(TIME);
    format.is_some_and(|format| format.read(&format!("{at} {zone}")).is_some())
}
