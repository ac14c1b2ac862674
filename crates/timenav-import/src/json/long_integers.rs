//! Detects integers that a JSON parser converts to doubles: those that exceed 64 bits, and those written with a
//! fraction of zero. After parsing, lost digits are not noticeable, so the text is searched.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

use serde_json::value::RawValue;

/// The fewest digits that need more than 64 bits.
const DIGITS_MIN: usize = 19;
/// The fewest digits that need more than the 53 bits of a double.
const DIGITS_OF_DOUBLE_MIN: usize = 16;

/// Maximum search depth, as in other parsing. Deeper values are rejected there.
const DEPTH_MAX: usize = 128;

/// Returns path and digits of the first integer that is parsed as a double and not representable as one.
#[must_use]
pub fn lost_integer(json: &[u8]) -> Option<(String, String)> {
    // Almost no text has one, so most are searched only once.
    ranges(json).next()?;
    let raw: &RawValue = serde_json::from_slice(json).ok()?;
    let mut path = Vec::new();
    let digits = find(raw, &mut path, DEPTH_MAX)?;
    path.reverse();
    Some((path.join("/"), digits))
}

/// Returns the error text for such an integer, and for any other that canonical JSON would change.
#[must_use]
pub fn lost_integer_detail(digits: &str) -> String {
    let digits = crate::item::clipped(digits.to_owned());
    format!("{digits} has no exact form as a JSON number (RFC 8785); write it as a string")
}

/// Returns the text with such integers replaced by strings of their digits.
pub(crate) fn quoted(json: &str) -> Cow<'_, str> {
    let mut quoted = String::new();
    let mut copied = 0;
    for Range { start, end } in ranges(json.as_bytes()) {
        quoted.extend([&json[copied..start], "\"", &json[start..end], "\""]);
        copied = end;
    }
    if copied == 0 {
        return json.into();
    }
    quoted.push_str(&json[copied..]);
    quoted.into()
}

/// Finds the first one, up to a depth. The path is built from its last name.
fn find(raw: &RawValue, path: &mut Vec<String>, depth: usize) -> Option<String> {
    let text = raw.get();
    ranges(text.as_bytes()).next()?;
    let below = depth.checked_sub(1)?;
    match text.as_bytes()[0] {
        b'{' => {
            let members: BTreeMap<String, &RawValue> = serde_json::from_str(text).ok()?;
            members.into_iter().find_map(|(name, value)| {
                let digits = find(value, path, below)?;
                path.push(name);
                Some(digits)
            })
        }
        b'[' => {
            let items: Vec<&RawValue> = serde_json::from_str(text).ok()?;
            items.into_iter().enumerate().find_map(|(index, item)| {
                let digits = find(item, path, below)?;
                path.push(index.to_string());
                Some(digits)
            })
        }
        _ => Some(text.to_owned()),
    }
}

/// Returns their positions.
fn ranges(json: &[u8]) -> impl Iterator<Item = Range<usize>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        while let Some(byte) = json.get(at) {
            let start = at;
            match byte {
                b'"' => at = end_of_string(json, at),
                b'-' | b'0'..=b'9' => {
                    let is_of_number = |byte: &u8| matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E' | b'0'..=b'9');
                    at += json[at..].iter().take_while(|byte| is_of_number(byte)).count();
                    if is_lost(&json[start..at]) {
                        return Some(start..at);
                    }
                }
                _ => at += 1,
            }
        }
        None
    })
}

fn end_of_string(json: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(byte) = json.get(at) {
        match byte {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    at
}

fn is_lost(number: &[u8]) -> bool {
    if number.len() < DIGITS_OF_DOUBLE_MIN {
        return false;
    }
    let Ok(text) = str::from_utf8(number) else { return false };
    let (integer, fraction) = text.split_once('.').map_or((text, None), |(integer, rest)| (integer, Some(rest)));
    let digits = integer.strip_prefix('-').unwrap_or(integer);
    let digits_min = if fraction.is_some() { DIGITS_OF_DOUBLE_MIN } else { DIGITS_MIN };
    // A number with a leading 0 is not JSON, which is reported elsewhere.
    if digits.len() < digits_min || digits.starts_with('0') || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return false;
    }
    let is_read_as_double = match fraction {
        Some(fraction) => fraction.bytes().all(|byte| byte == b'0'),
        None => integer.parse::<i64>().is_err() && integer.parse::<u64>().is_err(),
    };
    // A double is formatted here with all its digits and no exponent.
    is_read_as_double && integer.parse::<f64>().is_ok_and(|double| double.to_string() != integer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_that_lose_digits_are_found_with_their_path() {
        let check = |json: &str, expected: Option<(&str, &str)>| {
            let found = lost_integer(json.as_bytes());
            assert_eq!(found.as_ref().map(|(path, digits)| (path.as_str(), digits.as_str())), expected, "{json}");
        };
        for fine in [
            "{}",
            r#"{"n":100000000000000000000}"#,
            r#"{"n":1000000000000000000000}"#,
            r#"{"n":[18446744073709551615,-9223372036854775808,9007199254740993]}"#,
            r#"{"n":0.1000000000000000000001,"m":1.2345678901234567890123e30,"o":1e300}"#,
            // Measurements, and numbers that a double is equal to.
            r#"{"n":1234567890123456.5,"m":9007199254740992.0,"o":100000000000000000000.0,"p":9007199254740993.0e1}"#,
            r#"{"100000000000000000001":"\"100000000000000000001"}"#,
            "100000000000000000001 and more",
        ] {
            check(fine, None);
        }
        check("100000000000000000001", Some(("", "100000000000000000001")));
        check(r#"{"n":9007199254740993.0}"#, Some(("n", "9007199254740993.0")));
        check(r#"{"n":[-123456789012345678.000]}"#, Some(("n/0", "-123456789012345678.000")));
        check(r#"{"n":18446744073709551616}"#, Some(("n", "18446744073709551616")));
        check(r#"{"n":-9223372036854775809}"#, Some(("n", "-9223372036854775809")));
        check(r#"{"a":"\\","b":[0,{"c":123456789012345678901234567890}]}"#, {
            Some(("b/1/c", "123456789012345678901234567890"))
        });
    }

    /// Whoever sends it must not make the service look deeper than it has room for.
    #[test]
    fn deeply_nested_json_is_not_searched() {
        let nested = |depth: usize| format!("{}100000000000000000001{}", "[".repeat(depth), "]".repeat(depth));
        assert!(lost_integer(nested(DEPTH_MAX - 1).as_bytes()).is_some());
        assert_eq!(lost_integer(nested(1_000_000).as_bytes()), None);
    }

    #[test]
    fn long_integers_are_quoted_as_strings() {
        assert_eq!(quoted(r#"{"a":1,"b":[18446744073709551615]}"#), r#"{"a":1,"b":[18446744073709551615]}"#);
        let json = r#"{"a":[100000000000000000001,-100000000000000000001 ],"b":"100000000000000000001"}"#;
        let as_strings = r#"{"a":["100000000000000000001","-100000000000000000001" ],"b":"100000000000000000001"}"#;
        assert_eq!(quoted(json), as_strings);
        // More digits than a double can have.
        let digits = "9".repeat(400);
        assert_eq!(quoted(&digits), format!("\"{digits}\""));
    }
}
