//! Content lines: `NAME;PARAMETER=value:value` (RFC 5545 §3.1).

use super::local_time::written;
use crate::RecordError;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ContentLine {
    /// In upper case.
    pub(super) name: String,
    /// Parameter names are in upper case.
    pub(super) parameters: Vec<(String, String)>,
    /// The raw value.
    pub(super) value: String,
}

impl ContentLine {
    pub(super) fn parse(line: &str) -> Result<Self, RecordError> {
        let end =
            line.find([';', ':']).ok_or_else(|| super::malformed("a line must be a name, a colon and a value"))?;
        let (name, mut rest) = line.split_at(end);
        if !is_name(name) {
            return Err(super::malformed("the name of a property can contain only letters, digits and `-`"));
        }
        let mut parameters = Vec::new();
        while let Some(after) = rest.strip_prefix(';') {
            let (parameter, left) = parameter(after)?;
            parameters.push(parameter);
            rest = left;
        }
        let mut value =
            rest.strip_prefix(':').ok_or_else(|| super::malformed("there must be a colon before the value"))?;
        // `TZID=GMT+05:30:20120904T020000`: zone names with a colon are often not quoted. Times contain no colon.
        if let Some((name, zone)) = parameters.last_mut()
            && name == "TZID"
            && let Some((more, time)) = value.rsplit_once(':')
            && time.split(',').next().and_then(written).is_some()
        {
            zone.extend([":", more.split(';').next().unwrap_or_default()]);
            value = time;
        }
        Ok(Self { name: name.to_ascii_uppercase(), parameters, value: value.to_owned() })
    }

    pub(super) fn parameter(&self, name: &str) -> Option<&str> {
        self.parameters.iter().find(|(given, _)| given == name).map(|(_, value)| value.as_str())
    }

    /// Returns the unescaped value.
    pub(super) fn text(&self) -> String {
        unescaped(&self.value)
    }
}

/// Returns whether the text is a valid name of a property, parameter or component.
pub(super) fn is_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.'))
}

/// Parses `NAME=value,"value"`, and returns it with the rest of the text.
fn parameter(text: &str) -> Result<((String, String), &str), RecordError> {
    let wrong = || super::malformed("a parameter must be a name, `=` and a value");
    let (name, mut rest) = text.split_once('=').ok_or_else(wrong)?;
    if !is_name(name) {
        return Err(wrong());
    }
    let mut value = String::new();
    loop {
        let piece;
        if let Some(quoted) = rest.strip_prefix('"') {
            (piece, rest) = quoted.split_once('"').ok_or_else(|| super::malformed("a quotation mark is not closed"))?;
        } else {
            let end = rest.find([';', ':', ',']).unwrap_or(rest.len());
            (piece, rest) = rest.split_at(end);
        }
        value.push_str(&decoded(piece));
        match rest.strip_prefix(',') {
            Some(after) => {
                value.push(',');
                rest = after;
            }
            None => return Ok(((name.to_ascii_uppercase(), value), rest)),
        }
    }
}

/// Decodes the `^` escapes of RFC 6868.
fn decoded(text: &str) -> String {
    let mut decoded = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(character) = chars.next() {
        let unescaped_char = match (character, chars.peek()) {
            ('^', Some('n')) => '\n',
            ('^', Some('\'')) => '"',
            ('^', Some('^')) => '^',
            (other, _) => {
                decoded.push(other);
                continue;
            }
        };
        decoded.push(unescaped_char);
        chars.next();
    }
    decoded
}

/// Unescapes a text (§3.3.11).
fn unescaped(text: &str) -> String {
    let mut unescaped = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(character) = chars.next() {
        match character {
            '\\' => match chars.next() {
                Some('n' | 'N') => unescaped.push('\n'),
                Some(unescaped_char @ ('\\' | ';' | ',' | ':' | '"')) => unescaped.push(unescaped_char),
                Some(other) => unescaped.extend(['\\', other]),
                None => unescaped.push('\\'),
            },
            other => unescaped.push(other),
        }
    }
    unescaped
}

pub(super) fn items(value: &str) -> Vec<String> {
    let mut items = Vec::new();
    let mut start = 0;
    let mut is_escaped = false;
    for (at, byte) in value.bytes().enumerate() {
        if byte == b',' && !is_escaped {
            items.push(unescaped(&value[start..at]));
            start = at + 1;
        }
        is_escaped = byte == b'\\' && !is_escaped;
    }
    items.push(unescaped(&value[start..]));
    items
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_lines_are_parsed_into_name_parameters_and_value() {
        let check = |line: &str, name: &str, parameters: &[(&str, &str)], value: &str| {
            let parsed = ContentLine::parse(line).unwrap();
            let given: Vec<(&str, &str)> = parsed.parameters.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
            assert_eq!((parsed.name.as_str(), given.as_slice(), parsed.value.as_str()), (name, parameters, value));
        };
        check("summary:a:b;c", "SUMMARY", &[], "a:b;c");
        check("X-A:", "X-A", &[], "");
        check("A;tzid=x/Y:1", "A", &[("TZID", "x/Y")], "1");
        check("A;B=\"x;:,y\",z;C=:1", "A", &[("B", "x;:,y,z"), ("C", "")], "1");
        check("A;CN=^'x^'^n^^^a:1", "A", &[("CN", "\"x\"\n^^a")], "1");
        check("A;TZID=GMT+05:30:20120904", "A", &[("TZID", "GMT+05:30")], "20120904");
        check("A;TZID=GMT+05:30;B=c:20120904", "A", &[("TZID", "GMT+05:30")], "20120904");
        check("A;TZID=x:http://a", "A", &[("TZID", "x")], "http://a");
        for wrong in ["", "A", "A;B", "A;B=1", "A;B=\"1:2", ";B=1:2", "A B:1", "A;;B=1:2", ":1"] {
            assert!(ContentLine::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn calendar_texts_are_unescaped() {
        assert_eq!(unescaped(r"a\nb\Nc\\d\;e\,f\xg\"), "a\nb\nc\\d;e,f\\xg\\");
        assert_eq!(items(r"a,b\,c,d\\,e"), ["a", "b,c", "d\\", "e"]);
        assert_eq!(items(""), [""]);
    }
}
