//! Lines of syslog that say which version they are of (RFC 5424).

use serde_json::{Map, Value, json};

use super::Settings;
use super::roles::is_moment;
use crate::limits::GUESS_ROWS_MAX;

/// How the lines are made (RFC 5424, section 6). Some who write them into files leave the priority out. A text may begin
/// with a byte order mark.
const PATTERN: &str = r"^(?:<(?<priority>\d{1,3})>)?1 (?<time>\S+) (?<host>\S+) (?<app>\S+) (?<process>\S+) (?<message>\S+) (?<data>-|(?:\[(?:[^\]\\]|\\.)*\])+)(?: (?:\xEF\xBB\xBF)?(?<text>.*))?$";
/// Where a line says that it knows nothing, beside the time and the text.
const COLUMNS: [&str; 5] = ["host", "app", "process", "message", "data"];
/// What stands for nothing.
const NOTHING: &str = "-";

/// Returns what the mapping says, if these are such lines.
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

/// Returns whether a line begins with a priority, the version and a time.
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
