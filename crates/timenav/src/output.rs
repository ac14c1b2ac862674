//! All output to stdout and stderr except logs.
//!
//! `println!` panics if the reader of a pipe has gone (`timenav events find | head`), and text from events must not
//! reach a terminal as control sequences.

mod records;

use std::fmt::Write as _;
use std::io::{ErrorKind, Write as _};

use serde_json::Value;

pub(crate) use self::records::{OutputFormat, Records, Table, line};
use crate::exit::Failure;

const COLUMN_CHARS_MAX: usize = 40;
const LAST_COLUMN_CHARS_MAX: usize = 100;

/// Writes text to stdout and flushes it. A closed pipe is [`Failure::OutputClosed`].
pub(crate) fn write(text: &str) -> Result<(), Failure> {
    write_bytes(text.as_bytes())
}

/// Writes bytes to stdout and flushes them. A closed pipe is [`Failure::OutputClosed`].
pub(crate) fn write_bytes(bytes: &[u8]) -> Result<(), Failure> {
    let mut stdout = std::io::stdout().lock();
    let written = stdout.write_all(bytes).and_then(|()| stdout.flush());
    written.map_err(|error| match error.kind() {
        ErrorKind::BrokenPipe => Failure::OutputClosed,
        _ => Failure::Other(anyhow::Error::new(error).context("stdout cannot be written")),
    })
}

/// The first output error of a command that continues nevertheless: its work does not depend on its output.
#[derive(Default)]
pub(crate) struct Unshown(Option<Failure>);

impl Unshown {
    pub(crate) fn after(&mut self, result: Result<(), Failure>) {
        if let (None, Err(failure)) = (&self.0, result) {
            self.0 = Some(failure);
        }
    }

    /// Fails if something could not be written although the reader was there.
    pub(crate) fn end(self) -> Result<(), Failure> {
        match self.0 {
            None | Some(Failure::OutputClosed) => Ok(()),
            Some(failure) => Err(failure),
        }
    }
}

pub(crate) fn complain(text: &str) {
    note(&format!("error: {text}"));
}

/// Reports a failure on stderr, as JSON if that is the output format.
pub(crate) fn report(failure: &Failure, format: OutputFormat) {
    if !format.is_json() {
        if let Some(text) = failure.text() {
            complain(&text);
        }
    } else if let Some(json) = failure.json() {
        let json = json.to_string();
        note(if format == OutputFormat::Json { pretty(&json) } else { json }.trim_end());
    }
}

/// Writes a line to stderr. A failure is ignored because it could not be reported.
pub(crate) fn note(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{}", printable_lines(text));
}

/// Indents JSON without changing names, numbers and strings.
pub(crate) fn pretty(json: &str) -> String {
    let mut out = String::with_capacity(json.len() * 2);
    let mut depth = 0_usize;
    let mut chars = json.trim().chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' => {
                out.push(c);
                copy_string(&mut chars, &mut out);
            }
            '{' | '[' => {
                while chars.next_if(char::is_ascii_whitespace).is_some() {}
                out.push(c);
                if let Some(end) = chars.next_if(|c| matches!(c, '}' | ']')) {
                    out.push(end);
                } else {
                    depth += 1;
                    new_line(&mut out, depth);
                }
            }
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                new_line(&mut out, depth);
                out.push(c);
            }
            ',' => {
                out.push(c);
                new_line(&mut out, depth);
            }
            ':' => out.push_str(": "),
            c if c.is_ascii_whitespace() => {}
            c => out.push(c),
        }
    }
    out.push('\n');
    out
}

fn new_line(out: &mut String, depth: usize) {
    out.push('\n');
    out.extend(std::iter::repeat_n("  ", depth));
}

/// Copies the rest of a JSON string, up to its closing quote.
fn copy_string(chars: &mut impl Iterator<Item = char>, out: &mut String) {
    while let Some(c) = chars.next() {
        out.push(c);
        match c {
            '"' => return,
            '\\' => out.extend(chars.next()),
            _ => {}
        }
    }
}

pub(crate) fn write_json(value: &Value) -> Result<(), Failure> {
    write(&pretty(&value.to_string()))
}

/// Returns the `status` sentence of a response as a line; empty if it has none.
pub(crate) fn status(answer: &Value) -> String {
    match answer["status"].as_str() {
        Some(sentence) => format!("{}\n", printable(sentence)),
        None => String::new(),
    }
}

/// A field is a label and the path of a member, such as `clock/state`. Fields that the response lacks are omitted.
pub(crate) fn fields(answer: &Value, fields: &[(&str, &str)]) -> String {
    let width = fields.iter().map(|(label, _)| label.chars().count()).max().unwrap_or(0);
    let mut text = String::new();
    for (label, path) in fields {
        let value = member(answer, path);
        if !value.is_empty() {
            let _ = writeln!(text, "{label:width$}  {value}");
        }
    }
    text
}

/// Formats a member of a response; empty if it does not exist.
pub(crate) fn member(answer: &Value, path: &str) -> String {
    match answer.pointer(&format!("/{path}")) {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => printable(text),
        Some(Value::Array(items)) if items.iter().all(Value::is_string) => {
            let words: Vec<_> = items.iter().filter_map(Value::as_str).map(printable).collect();
            words.join(", ")
        }
        Some(Value::Number(number)) => {
            let number = number.to_string();
            number.strip_suffix(".0").unwrap_or(&number).to_owned()
        }
        Some(other) => printable(&other.to_string()),
    }
}

/// Formats a table. The first page has a header. A column is a header and the path of a member. Long texts are
/// truncated, except ids and explanations.
pub(crate) fn table(items: &[Value], columns: &[(&str, &str)], is_first: bool) -> String {
    let last = columns.len().saturating_sub(1);
    let chars_max = |index: usize| match columns[index].1 {
        path if path.ends_with("_id") || path == "explanation" => usize::MAX,
        _ if index == last => LAST_COLUMN_CHARS_MAX,
        _ => COLUMN_CHARS_MAX,
    };
    let cells = |item: &Value| -> Vec<String> {
        columns.iter().enumerate().map(|(index, (_, path))| clipped(&member(item, path), chars_max(index))).collect()
    };
    let headings = is_first.then(|| columns.iter().map(|(heading, _)| (*heading).to_owned()).collect());
    aligned(&headings.into_iter().chain(items.iter().map(cells)).collect::<Vec<_>>())
}

fn aligned(rows: &[Vec<String>]) -> String {
    let columns = rows.first().map_or(0, Vec::len);
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(&widths) {
            let _ = write!(line, "{cell:width$}  ");
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

fn clipped(text: &str, chars_max: usize) -> String {
    if text.chars().count() <= chars_max {
        return text.to_owned();
    }
    let mut short: String = text.chars().take(chars_max.saturating_sub(1)).collect();
    short.push('…');
    short
}

/// Returns the text as one line without terminal control characters.
pub(crate) fn printable(text: &str) -> String {
    text.chars().map(|c| if acts_on_terminal(c) { ' ' } else { c }).collect()
}

/// Returns whether a character affects how a terminal shows others: a control character, or a bidirectional one
/// (Unicode Standard Annex #9, section 2), which can make one name look like another.
pub(crate) fn acts_on_terminal(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn printable_lines(text: &str) -> String {
    text.split('\n').map(printable).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printable_text_omits_control_and_direction_characters() {
        assert_eq!(printable("a\u{1b}[2J\u{202e}gpj.exe\u{2069}\u{85}b"), "a [2J gpj.exe  b");
        assert_eq!(printable("שלום, naïve 日本"), "שלום, naïve 日本");
    }

    #[test]
    fn pretty_json_preserves_number_and_key_formatting() {
        let check = |json: &str, expected: &str| assert_eq!(pretty(json), expected);
        check("{}", "{}\n");
        check(" [ ] \n", "[]\n");
        check(
            r#"{"b":1.50,"a":[1,{"c":"x, {y}: \"\\"}]}"#,
            concat!(
                "{\n  \"b\": 1.50,\n  \"a\": [\n    1,\n    {\n",
                "      \"c\": \"x, {y}: \\\"\\\\\"\n    }\n  ]\n}\n",
            ),
        );
    }

    #[test]
    fn pretty_json_parses_to_the_same_value() {
        let value = serde_json::json!({"z": [[], {}, [null, true]], "é\"\\\n": {"a": -1e-7}});
        for text in [value.to_string(), serde_json::to_string_pretty(&value).unwrap()] {
            assert_eq!(serde_json::from_str::<Value>(&pretty(&text)).unwrap(), value);
        }
    }

    #[test]
    fn fields_are_aligned_and_missing_ones_omitted() {
        let answer = serde_json::json!({"a": "x", "b": null, "c": {"d": 1.5}, "g": 60.0, "e": ["r", "w"]});
        let text = fields(
            &answer,
            &[("first", "a"), ("no", "b"), ("longer", "c/d"), ("list", "e"), ("none", "f"), ("whole", "g")],
        );
        assert_eq!(text, "first   x\nlonger  1.5\nlist    r, w\nwhole   60\n");
    }

    #[test]
    fn tables_are_aligned_and_clipped() {
        let items = [
            serde_json::json!({"name": "é", "x_id": "a", "text": "one\ntwo\u{1b}[31m"}),
            serde_json::json!({"name": "x".repeat(50), "x_id": "y".repeat(128), "text": "z".repeat(101)}),
        ];
        let text = table(&items, &[("NAME", "name"), ("ID", "x_id"), ("TEXT", "text")], true);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], format!("NAME{}ID{}TEXT", " ".repeat(38), " ".repeat(128)));
        assert_eq!(lines[1], format!("é{}a{}one two [31m", " ".repeat(41), " ".repeat(129)));
        assert_eq!(lines[2], format!("{}…  {}  {}…", "x".repeat(39), "y".repeat(128), "z".repeat(99)));
    }
}
