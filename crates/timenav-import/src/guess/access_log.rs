//! Web server access logs: the common and the combined format, with additional columns of some servers.

use csv::{ReaderBuilder, StringRecord};
use serde_json::{Map, Value, json};

use super::Settings;
use crate::limits::GUESS_ROWS_MAX;
use crate::time::time_format::TimeFormat;

/// The time format, in two words.
const TIME: &str = "[%d/%b/%Y:%H:%M:%S %z]";
/// The columns before the time.
const BEFORE: [&str; 3] = ["host", "identity", "user"];
/// The columns from the time on: the common format has the first five, the combined one all.
const FROM_TIME: [&str; 7] = ["at", "zone", "request", "status", "bytes", "referrer", "agent"];
const COMMON: usize = 5;
const NOTHING: &str = "-";

pub(super) fn of(text: &str) -> Option<Settings> {
    let mut lines = ReaderBuilder::new();
    lines.has_headers(false).flexible(true).delimiter(b' ').escape(Some(b'\\'));
    let lines: Vec<StringRecord> =
        lines.from_reader(text.as_bytes()).records().take(GUESS_ROWS_MAX).filter_map(Result::ok).collect();
    let first = lines.first()?;
    // Some servers put the virtual host first.
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

/// Returns whether a cell and the next one are the time.
fn is_time(line: &StringRecord, at: usize) -> bool {
    let (Some(at), Some(zone)) = (line.get(at), line.get(at + 1)) else { return false };
    let format = TimeFormat::parse(TIME);
    format.is_some_and(|format| format.read(&format!("{at} {zone}")).is_some())
}
