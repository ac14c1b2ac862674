//! Event attributes in canonical JSON (RFC 8785).

use serde_json::{Map, Number, Value};

use crate::item::{RecordError, clipped};
use crate::json::long_integers::{lost_integer, lost_integer_detail};
use crate::limits::ATTRIBUTES_DEPTH_MAX;

/// Fails if the object is nested too deep, or contains an integer that canonical JSON, whose numbers are IEEE 754
/// doubles, would change.
pub(crate) fn canonical(object: &Map<String, Value>) -> Result<String, RecordError> {
    for (name, value) in object {
        check_value(value, "attributes")
            .map_err(|detail| RecordError::invalid(format!("attributes/{name}"), detail))?;
    }
    serde_json_canonicalizer::to_string(object).map_err(|error| RecordError::invalid("attributes", error.to_string()))
}

/// Rejects JSON with an integer that parsing has changed. Errors name `field`, or its member if that is empty.
pub(crate) fn check_text(json: &[u8], field: &str) -> Result<(), RecordError> {
    let Some((path, digits)) = lost_integer(json) else { return Ok(()) };
    let parts = [field, &path].into_iter().filter(|part| !part.is_empty());
    let path = clipped(parts.collect::<Vec<_>>().join("/"));
    Err(RecordError::invalid(path, lost_integer_detail(&digits)))
}

/// Fails for `null`, deep nesting, and integers that canonical JSON would change.
pub(crate) fn canonical_value(value: &Value, field: &str) -> Result<String, RecordError> {
    if value.is_null() {
        return Err(RecordError::invalid(field, "a value can be any JSON except `null`"));
    }
    check_value(value, "a value").map_err(|detail| RecordError::invalid(field, detail))?;
    serde_json_canonicalizer::to_string(value).map_err(|error| RecordError::invalid(field, error.to_string()))
}

fn check_value(value: &Value, what: &str) -> Result<(), String> {
    if depth(value) >= ATTRIBUTES_DEPTH_MAX {
        return Err(format!("{what} can be nested at most {ATTRIBUTES_DEPTH_MAX} levels deep"));
    }
    inexact(value).map_or(Ok(()), |number| Err(lost_integer_detail(&number.to_string())))
}

/// Replaces every integer that canonical JSON would change by a string of its digits.
pub(crate) fn make_exact(value: &mut Value) {
    match value {
        Value::Null | Value::Bool(_) | Value::String(_) => {}
        Value::Number(number) if is_exact(number) => {}
        Value::Number(number) => *value = Value::String(number.to_string()),
        Value::Array(items) => items.iter_mut().for_each(make_exact),
        Value::Object(object) => object.values_mut().for_each(make_exact),
    }
}

/// Returns the nesting depth of lists and objects, including the value itself.
fn depth(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Value::Object(object) => 1 + object.values().map(depth).max().unwrap_or(0),
    }
}

/// Returns the first integer that canonical JSON would change.
fn inexact(value: &Value) -> Option<&Number> {
    match value {
        Value::Null | Value::Bool(_) | Value::String(_) => None,
        Value::Number(number) => (!is_exact(number)).then_some(number),
        Value::Array(items) => items.iter().find_map(inexact),
        Value::Object(object) => object.values().find_map(inexact),
    }
}

/// Returns whether the digits are preserved. Doubles are written with the fewest digits that identify them, so beyond
/// 2^53 even an integer that is a double can have other digits.
fn is_exact(number: &Number) -> bool {
    let canonical = || serde_json_canonicalizer::to_string(number);
    number.as_i128().is_none_or(|integer| canonical().is_ok_and(|digits| digits == integer.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(json: &str, expected: Result<&str, &str>) {
        let object: Map<String, Value> = serde_json::from_str(json).unwrap();
        let canonical = canonical(&object).map_err(|error| error.field.unwrap());
        assert_eq!(canonical.as_deref().map_err(String::as_str), expected, "{json}");
    }

    #[test]
    fn attributes_are_written_in_canonical_form() {
        check("{}", Ok("{}"));
        check(r#"{ "b": 1.0, "a": [1e2, null, {"d": "\u0041\/", "c": -0.0}] }"#, {
            Ok(r#"{"a":[100,null,{"c":0,"d":"A/"}],"b":1}"#)
        });
        // Names are sorted by UTF-16 code units: U+1F600 before U+FB33 (RFC 8785 §3.2.3).
        let sorted = "{\"1\":3,\"é\":4,\"\u{1F600}\":2,\"\u{FB33}\":1}";
        check("{\"\u{FB33}\": 1, \"\u{1F600}\": 2, \"1\": 3, \"é\": 4}", Ok(sorted));
    }

    #[test]
    fn attribute_nesting_is_limited() {
        for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
            let nested = |depth: usize| {
                let inside = if open == "[" { "" } else { "0" };
                format!("{{\"n\":{}{inside}{}}}", open.repeat(depth - 1), close.repeat(depth - 1))
            };
            check(&nested(ATTRIBUTES_DEPTH_MAX), Ok(&nested(ATTRIBUTES_DEPTH_MAX)));
            check(&nested(ATTRIBUTES_DEPTH_MAX + 1), Err("attributes/n"));
        }
    }

    #[test]
    fn integers_that_would_lose_digits_are_rejected() {
        check(r#"{"n": 9007199254740992}"#, Ok(r#"{"n":9007199254740992}"#));
        check(r#"{"n": 9007199254740993}"#, Err("attributes/n"));
        check(r#"{"n": -9007199254740993}"#, Err("attributes/n"));
        check(r#"{"n": 18446744073709551615}"#, Err("attributes/n"));
        // Found by fuzzing: a double that is written as 90035949627370500, which was rejected.
        check(r#"{"n": 90035949627370496}"#, Err("attributes/n"));
        check(r#"{"n": 90035949627370500}"#, Ok(r#"{"n":90035949627370500}"#));
        check(r#"{"a": {"b": [9007199254740993]}}"#, Err("attributes/a"));
        check(r#"{"n": 1e300}"#, Ok(r#"{"n":1e+300}"#));
    }
}
