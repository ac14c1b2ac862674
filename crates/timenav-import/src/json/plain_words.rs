//! Rewords JSON parser errors for users.
//!
//! Serde's messages name Rust types. Users know lists, objects and texts.

const TOO_LARGE: &str = "is too large for a double, which ends at 1.8e308: write it as a string";
const HALF_A_PAIR: &str =
    "has one half of a surrogate pair: write both halves, such as `\\ud83d\\ude00`, or the character itself";

/// Rewords a deserializer error. Unrecognised messages are the project's own and stay unchanged.
#[must_use]
pub fn in_plain_words(message: &str) -> String {
    let typed = message.strip_prefix("invalid type: ").or_else(|| message.strip_prefix("invalid value: "));
    if let Some((given, expected)) = typed.and_then(|typed| typed.split_once(", expected ")) {
        return mistyped(given, expected);
    }
    if let Some((given, known)) = message.strip_prefix("unknown variant `").and_then(|rest| rest.split_once('`')) {
        return unknown_word(given, known);
    }
    if let Some((_, expected)) = message.strip_prefix("invalid length ").and_then(|rest| rest.split_once(", expected "))
    {
        return format!("expected {} of another length", kind(expected).0);
    }
    if message.starts_with("number out of range") {
        return format!("this number {TOO_LARGE}");
    }
    if is_half_a_pair(message) {
        return format!("this string {HALF_A_PAIR}");
    }
    if message.starts_with("data did not match any variant") {
        return "this value has none of the allowed forms".to_owned();
    }
    message.to_owned()
}

#[must_use]
pub fn no_json(error: &serde_json::Error) -> String {
    let place = if error.line() > 1 {
        format!("line {}, column {}", error.line(), error.column())
    } else {
        format!("column {}", error.column())
    };
    if error.is_eof() && (error.line(), error.column()) == (1, 0) {
        return "the JSON is missing; an object looks like {\"name\": \"text\", \"number\": 5}".to_owned();
    }
    if error.is_eof() {
        return format!("the JSON ends too early, at {place}: a bracket, a brace or a quotation mark is still open");
    }
    let message = error.to_string();
    let says = |start: &str| message.starts_with(start);
    if says("trailing comma") {
        format!("there is a comma before a closing bracket or brace, at {place}: remove it")
    } else if says("trailing characters") {
        format!("there is data after the end of the JSON, at {place}: send one value")
    } else if says("number out of range") {
        format!("the number at {place} {TOO_LARGE}")
    } else if is_half_a_pair(&message) {
        format!("the string at {place} {HALF_A_PAIR}")
    } else if says("invalid unicode code point") {
        format!("the text is not UTF-8, at {place}")
    } else if says("recursion limit") {
        format!("lists and objects are nested too deeply, at {place}")
    } else if says("control character") {
        format!(
            "the string at {place} has a line break, a tab or another control character: write it as `\\n`, `\\t`, `\\u0000`"
        )
    } else {
        format!("this is not JSON from {place} on; an object looks like {{\"name\": \"text\", \"number\": 5}}")
    }
}

/// Whether a string has a lone surrogate such as `\ud83d` (RFC 8259 §7).
fn is_half_a_pair(message: &str) -> bool {
    message.starts_with("lone leading surrogate") || message.starts_with("unexpected end of hex escape")
}

/// The given value is never repeated: it may be a secret.
fn mistyped(given: &str, expected: &str) -> String {
    let (expected, is_text) = kind(expected);
    let is_whole = expected.starts_with("a whole number");
    let is_below = given.contains("`-") && expected.ends_with("0 or more");
    let given = match given.split([' ', '`']).next().unwrap_or_default() {
        "boolean" => "a boolean",
        "floating" if is_whole => "a fraction",
        "integer" if is_below => "a negative number",
        "integer" if is_whole => "one of so many digits",
        "integer" | "floating" => "a number",
        "string" | "character" => "a text",
        "null" | "unit" | "Option" => "`null`",
        "sequence" => "a list",
        "map" => "an object",
        _ => return format!("expected {expected}"),
    };
    match (is_text, given) {
        (true, "a text") => format!("expected {expected}"),
        (true, "a number" | "a boolean") => {
            format!("expected {expected}, as a string in quotation marks, not {given}")
        }
        _ => format!("expected {expected}, not {given}"),
    }
}

/// The expected type, and whether it is text.
fn kind(expected: &str) -> (&str, bool) {
    match expected {
        "a string" | "a borrowed string" | "a character" => ("a string in quotation marks", false),
        "a sequence" => ("a list in square brackets", false),
        "a map" => ("an object in braces", false),
        "a boolean" => ("`true` or `false`", false),
        "u8" | "u16" | "u32" | "u64" | "usize" => ("a whole number, 0 or more", false),
        "i8" | "i16" | "i32" | "i64" => ("a whole number", false),
        "f32" | "f64" => ("a number", false),
        "an object" | "any JSON" => (expected, false),
        other if other.starts_with("struct ") => ("an object in braces", false),
        other if other.starts_with("an array") || other.starts_with("a tuple") => ("a list in square brackets", false),
        other => (other, !other.contains(" or ") && !other.contains("object")),
    }
}

fn unknown_word(given: &str, known: &str) -> String {
    let words: Vec<&str> = known.split('`').skip(1).step_by(2).collect();
    let list = format!("`{}`", words.join("`, `"));
    match crate::suggestion::nearest(given, words) {
        Some(near) => format!("`{given}` is not allowed here; did you mean `{near}`? Use {list}"),
        None => format!("`{given}` is not allowed here; use {list}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn type_errors_are_written_in_plain_words() {
        for (message, expected) in [
            ("invalid type: string \"bob\", expected a sequence", "expected a list in square brackets, not a text"),
            ("invalid type: integer `5`, expected a string", "expected a string in quotation marks, not a number"),
            ("invalid type: sequence, expected an object", "expected an object, not a list"),
            ("invalid type: map, expected a boolean", "expected `true` or `false`, not an object"),
            ("invalid type: null, expected struct Geo", "expected an object in braces, not `null`"),
            ("invalid value: integer `-1`, expected u64", "expected a whole number, 0 or more, not a negative number"),
            (
                "invalid value: integer `5000000000`, expected u32",
                "expected a whole number, 0 or more, not one of so many digits",
            ),
            ("invalid type: floating point `0.5`, expected i64", "expected a whole number, not a fraction"),
            (
                "invalid type: integer `5`, expected an event's id",
                "expected an event's id, as a string in quotation marks, not a number",
            ),
            (
                "unknown variant `clok`, expected `clock` or `all`",
                "`clok` is not allowed here; did you mean `clock`? Use `clock`, `all`",
            ),
            ("unknown variant `5`, expected one of `a1`, `b2`", "`5` is not allowed here; use `a1`, `b2`"),
            (
                "number out of range at line 1 column 9",
                "this number is too large for a double, which ends at 1.8e308: write it as a string",
            ),
            ("a rate is a number", "a rate is a number"),
        ] {
            assert_eq!(in_plain_words(message), expected);
        }
    }

    #[test]
    fn invalid_json_is_reported_with_the_reason() {
        let reason = |bytes: &[u8]| no_json(&serde_json::from_slice::<serde_json::Value>(bytes).unwrap_err());
        assert_eq!(reason(b"{\"a\": \"\xff\"}"), "the text is not UTF-8, at column 8");
        assert!(reason(b"").starts_with("the JSON is missing"));
        assert!(reason(b"[1,").contains("ends too early, at column 3"));
    }

    #[test]
    fn given_value_is_not_repeated_in_errors() {
        for message in
            ["invalid type: string \"s3cret\", expected a map", "invalid type: integer `5324`, expected a key"]
        {
            let words_of_error = in_plain_words(message);
            assert!(!words_of_error.contains("s3cret") && !words_of_error.contains("5324"), "{words_of_error}");
        }
    }

    #[test]
    fn json_errors_suggest_a_correction() {
        for (json, expected) in [
            (
                "[1e400]",
                "the number at column 6 is too large for a double, which ends at 1.8e308: write it as a string",
            ),
            (r#"["\ud800"]"#, "has one half of a surrogate pair: write both halves"),
            (r#"["\ud800\n"]"#, "has one half of a surrogate pair: write both halves"),
            (r#"["\ud800\u0041"]"#, "has one half of a surrogate pair: write both halves"),
            (r#"["\udc00"]"#, "has one half of a surrogate pair: write both halves"),
        ] {
            let error = serde_json::from_str::<serde_json::Value>(json).unwrap_err();
            assert!(no_json(&error).contains(expected), "{json}: {}", no_json(&error));
        }
    }
}
