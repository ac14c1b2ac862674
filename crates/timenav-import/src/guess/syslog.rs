//! Syslog lines with a version (RFC 5424).

use serde_json::{Map, Value, json};

use super::Settings;
use super::roles::is_moment;
use crate::limits::GUESS_ROWS_MAX;

/// RFC 5424, section 6. Some files omit the priority. A text may start with a byte order mark.
const PATTERN: &str = r"^(?:<(?<priority>\d{1,3})>)?1 (?<time>\S+) (?<host>\S+) (?<app>\S+) (?<process>\S+) (?<message>\S+) (?<data>-|(?:\[(?:[^\]\\]|\\.)*\])+)(?: (?:\xEF\xBB\xBF)?(?<text>.*))?$";
/// Columns other than time and text that can be missing.
const COLUMNS: [&str; 5] = ["host", "app", "process", "message", "data"];
const NOTHING: &str = "-";

pub(super) fn of(text: &str) -> Option<Settings> {
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).take(GUESS_ROWS_MAX).collect();
    let is_one = |line: &&&str| is_of_version_1(line);
    if !lines.first().is_some_and(|first| is_of_version_1(first))
        || lines.iter().filter(is_one).count() * 10 < lines.len() * 9
    {
        return None;
    }
    let missing: Map<String, Value> = COLUMNS.into_iter().map(|column| (column.to_owned(), json!([NOTHING]))).collect();
    Some(vec![
        ("pattern", Value::from(PATTERN)),
        ("time", Value::from("time")),
        ("description", Value::from("text")),
        ("actors", Value::from("host")),
        ("missing", Value::Object(missing)),
    ])
}

/// Returns whether a line starts with a priority, the version and a time.
fn is_of_version_1(line: &str) -> bool {
    let after_priority = line.strip_prefix('<').and_then(|rest| rest.split_once('>'));
    let is_priority = |text: &str| text.len() <= 3 && text.parse::<u16>().is_ok_and(|priority| priority <= 191);
    let rest = match after_priority {
        Some((priority, rest)) if is_priority(priority) => rest,
        Some(_) => return false,
        None => line,
    };
    let time = rest.strip_prefix("1 ").and_then(|rest| rest.split(' ').next());
    time.is_some_and(is_moment)
}
