//! Lines of `key=value`, a common log format.

use serde_json::{Map, Value};

use crate::RecordError;

/// Converts a line to a JSON object of strings. A key without a value is `true`.
pub(crate) fn as_json(line: &str) -> Result<String, RecordError> {
    let mut object = Map::new();
    let mut rest = line.trim();
    while !rest.is_empty() {
        let end = rest.find(|c: char| c == '=' || c.is_whitespace()).unwrap_or(rest.len());
        let (key, after) = rest.split_at(end);
        if key.is_empty() || key.contains('"') {
            return Err(malformed("a line must be `key=value` pairs, with spaces between them"));
        }
        let (value, left) = match after.strip_prefix('=') {
            None => (Value::Bool(true), after),
            Some(quoted) if quoted.starts_with('"') => {
                let bytes = quoted_bytes(quoted).ok_or_else(|| malformed("a quotation mark is not closed"))?;
                let (quoted, left) = quoted.split_at(bytes);
                // Go programs quote almost like JSON. Anything else is used unchanged.
                let inner = || quoted[1..quoted.len() - 1].to_owned();
                (Value::String(serde_json::from_str(quoted).unwrap_or_else(|_| inner())), left)
            }
            Some(plain) => {
                let end = plain.find(char::is_whitespace).unwrap_or(plain.len());
                let (value, left) = plain.split_at(end);
                (Value::from(value), left)
            }
        };
        if !left.is_empty() && !left.starts_with(char::is_whitespace) {
            return Err(malformed("a value must be followed by a space"));
        }
        object.insert(key.to_owned(), value);
        rest = left.trim_start();
    }
    Ok(Value::Object(object).to_string())
}

fn malformed(detail: &str) -> RecordError {
    RecordError::whole(RecordError::MALFORMED_LOGFMT, detail)
}

/// Returns the length of a quoted text, including the quotation marks.
fn quoted_bytes(text: &str) -> Option<usize> {
    let mut is_escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            b'"' if !is_escaped => return Some(at + 1),
            b'\\' => is_escaped = !is_escaped,
            _ => is_escaped = false,
        }
    }
    None
}
