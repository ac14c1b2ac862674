//! What became of a file, in words.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::Value;

use crate::output::{self, printable};

/// Lines that are named where several records were refused for one reason.
const LINES_NAMED_MAX: usize = 10;

/// Returns what became of a file: the counts, then each reason why records were refused, the most frequent first.
pub(in crate::commands) fn counts_text(path: &Path, answer: &Value) -> String {
    let count = |name: &str| answer[name].as_u64().unwrap_or(0);
    let (taken, unchanged, refused) = (count("taken"), count("unchanged"), count("refused"));
    let name = printable(&path.to_string_lossy());
    let would = if answer["dry_run"] == true { "would be " } else { "" };
    let mut text = format!("{name}: {taken} {would}imported, {unchanged} unchanged, {refused} refused\n");
    let listed = list(answer, "refusals");
    for reason in reasons(listed) {
        let _ = writeln!(text, "  {}", reason.text());
    }
    let more = refused.saturating_sub(listed.len() as u64);
    if more > 0 {
        let _ = writeln!(text, "  and {more} more, whose reasons the service does not list");
    }
    let listed = list(answer, "notes");
    for reason in reasons(listed) {
        let _ = writeln!(text, "  note: {}", reason.text());
    }
    let more = count("noted").saturating_sub(listed.len() as u64);
    if more > 0 {
        let _ = writeln!(text, "  and {more} more notes");
    }
    if let Some(import_id) = answer["import_id"].as_str() {
        let timeline = output::member(answer, "timeline_id");
        let _ = writeln!(text, "  to undo: timenav import --undo {import_id} --timeline {timeline}");
    }
    text
}

fn list<'a>(answer: &'a Value, name: &str) -> &'a [Value] {
    answer[name].as_array().map_or(&[][..], Vec::as_slice)
}

/// Records that the same was said of.
struct Reason<'a> {
    /// The first of them.
    first: &'a Value,
    /// Where they stand.
    lines: Vec<String>,
    /// Whether what was said differs in its words, as where it repeats a wrong value.
    is_varied: bool,
}

/// Groups what was said of records by its code and field, those with most records first.
fn reasons(said: &[Value]) -> Vec<Reason<'_>> {
    let mut reasons: Vec<Reason<'_>> = Vec::new();
    for one in said {
        let is_same =
            |reason: &&mut Reason<'_>| reason.first["code"] == one["code"] && reason.first["field"] == one["field"];
        let line = output::member(one, "line");
        match reasons.iter_mut().find(is_same) {
            Some(reason) => {
                reason.is_varied |= reason.first["detail"] != one["detail"];
                reason.lines.push(line);
            }
            None => reasons.push(Reason { first: one, lines: vec![line], is_varied: false }),
        }
    }
    reasons.sort_by_key(|reason| std::cmp::Reverse(reason.lines.len()));
    reasons
}

impl Reason<'_> {
    fn text(&self) -> String {
        let part = |name: &str| output::member(self.first, name);
        let field = part("field");
        let colon = if field.is_empty() { "" } else { ": " };
        let reason = format!("{field}{colon}{} ({})", part("detail"), part("code"));
        let [line] = self.lines.as_slice() else {
            let named = self.lines.iter().take(LINES_NAMED_MAX).cloned().collect::<Vec<_>>().join(", ");
            let and_so_on = if self.lines.len() > LINES_NAMED_MAX { ", …" } else { "" };
            let alike = if self.is_varied { ", or the like" } else { "" };
            return format!("{} records: {reason}{alike}: lines {named}{and_so_on}", self.lines.len());
        };
        format!("line {line}: {reason}")
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn refusal(line: u64, code: &str, detail: &str) -> Value {
        json!({"line": line, "code": code, "field": "time", "detail": detail})
    }

    #[test]
    fn refusals_are_shown_and_the_rest_counted() {
        let answer = json!({"taken": 5, "unchanged": 1, "refused": 3,
            "refusals": [refusal(7, "missing_parameter", "is missing")],
            "noted": 2, "notes": [{"line": 3, "code": "recurrence_kept", "detail": "it repeats"}]});
        assert_eq!(
            counts_text(Path::new("a.csv"), &answer),
            "a.csv: 5 imported, 1 unchanged, 3 refused\n  line 7: time: is missing (missing_parameter)\n  and 2 more, whose \
             reasons the service does not list\n  note: line 3: it repeats (recurrence_kept)\n  and 1 more notes\n"
        );
    }

    #[test]
    fn refusals_for_one_reason_are_told_together() {
        let mut refusals = vec![refusal(1, "missing_parameter", "is missing")];
        refusals.extend((2..14).map(|line| refusal(line, "invalid_parameter", &format!("`{line}` is no time"))));
        let answer = json!({"taken": 0, "unchanged": 0, "refused": 13, "refusals": refusals});
        assert_eq!(
            counts_text(Path::new("a.csv"), &answer),
            "a.csv: 0 imported, 0 unchanged, 13 refused\n  12 records: time: `2` is no time (invalid_parameter), or the like: \
             lines 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, …\n  line 1: time: is missing (missing_parameter)\n"
        );
    }
}
