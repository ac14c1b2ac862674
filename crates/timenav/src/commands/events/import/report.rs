use std::fmt::Write as _;
use std::path::Path;

use serde_json::Value;

use crate::output::{self, printable};

const LINES_NAMED_MAX: usize = 10;

/// Formats the result for a file: the counts, then the reasons for rejected records, most frequent first.
pub(in crate::commands) fn counts_text(path: &Path, answer: &Value) -> String {
    let count = |name: &str| answer[name].as_u64().unwrap_or(0);
    let (taken, unchanged, refused) = (count("imported"), count("unchanged"), count("rejected"));
    let name = printable(&path.to_string_lossy());
    let would = if answer["dry_run"] == true { "would be " } else { "" };
    let repeated = match count("repeated") {
        0 => String::new(),
        count => format!("{count} the same as an earlier record in the file, "),
    };
    let mut text = format!("{name}: {taken} {would}imported, {unchanged} unchanged, {repeated}{refused} rejected\n");
    let listed = list(answer, "rejections");
    let reasons = reasons(listed, list(answer, "reasons"));
    for reason in &reasons {
        let _ = writeln!(text, "  {}", reason.text());
    }
    let more = refused.saturating_sub(reasons.iter().map(|reason| reason.count).sum());
    if more > 0 {
        let _ = writeln!(text, "  and {more} more, for which the service lists no reason");
    }
    let listed = list(answer, "warnings");
    for reason in self::reasons(listed, &[]) {
        let _ = writeln!(text, "  note: {}", reason.text());
    }
    let more = count("warning_count").saturating_sub(listed.len() as u64);
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

struct Reason<'a> {
    first: &'a Value,
    count: u64,
    lines: Vec<String>,
    /// Whether the messages differ, for example because they quote the invalid value.
    is_varied: bool,
}

/// Groups rejections by code and field, most frequent first. `counted` may cover more records than are listed.
fn reasons<'a>(listed: &'a [Value], counted: &'a [Value]) -> Vec<Reason<'a>> {
    let none = |first| Reason { first, count: 0, lines: Vec::new(), is_varied: false };
    let mut reasons: Vec<Reason<'_>> = counted.iter().map(none).collect();
    for one in listed {
        let is_same =
            |reason: &Reason<'_>| reason.first["code"] == one["code"] && reason.first["field"] == one["field"];
        let at = reasons.iter().position(is_same).unwrap_or_else(|| {
            reasons.push(none(one));
            reasons.len() - 1
        });
        let reason = &mut reasons[at];
        reason.is_varied |= reason.first["detail"] != one["detail"];
        reason.lines.push(output::member(one, "line"));
    }
    for reason in &mut reasons {
        if reason.lines.is_empty() {
            reason.lines.push(output::member(reason.first, "line"));
        }
        reason.count = reason.first["count"].as_u64().unwrap_or(reason.lines.len() as u64);
    }
    reasons.sort_by_key(|reason| std::cmp::Reverse(reason.count));
    reasons
}

impl Reason<'_> {
    fn text(&self) -> String {
        let part = |name: &str| output::member(self.first, name);
        let field = part("field");
        let colon = if field.is_empty() { "" } else { ": " };
        let reason = format!("{field}{colon}{} ({})", part("detail"), part("code"));
        if self.count == 1 {
            return format!("line {}: {reason}", self.lines[0]);
        }
        let named = self.lines.iter().take(LINES_NAMED_MAX).cloned().collect::<Vec<_>>().join(", ");
        let and_so_on = if self.count > self.lines.len().min(LINES_NAMED_MAX) as u64 { ", …" } else { "" };
        let alike = if self.is_varied { ", or similar" } else { "" };
        format!("{} records: {reason}{alike}: lines {named}{and_so_on}", self.count)
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
    fn rejections_are_shown_and_the_rest_counted() {
        let answer = json!({"imported": 5, "unchanged": 1, "repeated": 2, "rejected": 3,
            "rejections": [refusal(7, "missing_parameter", "is missing")],
            "warning_count": 2, "warnings": [{"line": 3, "code": "recurrence_kept", "detail": "it repeats"}]});
        assert_eq!(
            counts_text(Path::new("a.csv"), &answer),
            "a.csv: 5 imported, 1 unchanged, 2 the same as an earlier record in the file, 3 rejected\n  line 7: time: \
             is missing (missing_parameter)\n  and 2 more, for which the service lists no reason\n  note: line 3: it \
             repeats (recurrence_kept)\n  and 1 more notes\n"
        );
    }

    #[test]
    fn rejections_are_grouped_by_reason() {
        let mut refusals = vec![refusal(1, "missing_parameter", "is missing")];
        refusals.extend((2..14).map(|line| refusal(line, "invalid_parameter", &format!("`{line}` is no time"))));
        let answer = json!({"imported": 0, "unchanged": 0, "rejected": 13, "rejections": refusals});
        assert_eq!(
            counts_text(Path::new("a.csv"), &answer),
            "a.csv: 0 imported, 0 unchanged, 13 rejected\n  12 records: time: `2` is no time (invalid_parameter), or \
             similar: lines 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, …\n  line 1: time: is missing (missing_parameter)\n"
        );
    }

    #[test]
    fn reasons_of_unlisted_rejections_are_counted() {
        let reason = |line: u64, code: &str, count: u64| json!({"line": line, "code": code, "field": "time", "detail": "d", "count": count});
        let answer = json!({"imported": 0, "unchanged": 0, "rejected": 305, "rejections": [refusal(1, "a", "d")],
            "reasons": [reason(7, "b", 300), reason(1, "a", 4), reason(9, "c", 1)]});
        assert_eq!(
            counts_text(Path::new("a.csv"), &answer),
            "a.csv: 0 imported, 0 unchanged, 305 rejected\n  300 records: time: d (b): lines 7, …\n  4 records: time: \
             d (a): lines 1, …\n  line 9: time: d (c)\n"
        );
    }
}
