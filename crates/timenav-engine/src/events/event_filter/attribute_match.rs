use serde_json::{Number, Value};

/// The open end of a range, as in ranges of time.
const OPEN: &str = "..";

/// An attribute value to match, parsed once for all events.
#[derive(Clone, Debug)]
pub(super) struct AttributeMatch {
    text: String,
    number: Option<f64>,
    range: Option<NumberRange>,
}

impl AttributeMatch {
    pub(super) fn new(text: &str) -> Self {
        Self { text: text.to_owned(), number: text.parse().ok(), range: NumberRange::read(text) }
    }

    /// Returns whether a value matches, or a list contains one that does.
    pub(super) fn is_in(&self, value: &Value) -> bool {
        match value {
            Value::Array(items) => items.iter().any(|item| self.is(item)),
            value => self.is(value),
        }
    }

    fn is(&self, value: &Value) -> bool {
        match value {
            Value::String(text) => *text == self.text || self.range.is_some_and(|range| range.has(finite(text))),
            Value::Number(number) => self.is_number(number),
            Value::Bool(truth) => truth.to_string() == self.text,
            Value::Null => self.text == "null",
            Value::Array(_) | Value::Object(_) => false,
        }
    }

    fn is_number(&self, number: &Number) -> bool {
        number.to_string() == self.text
            || self
                .number
                .is_some_and(|wanted_value| number.as_f64().is_some_and(|of| of.total_cmp(&wanted_value).is_eq()))
            || self.range.is_some_and(|range| range.has(number.as_f64()))
    }
}

/// A range of numbers, both ends inclusive.
#[derive(Clone, Copy, Debug)]
struct NumberRange {
    from: f64,
    to: f64,
}

impl NumberRange {
    /// Parses `FROM/TO`, where `..` is an open end. Anything else is matched as text only, such as a date or a fraction
    /// whose first number is larger. A fraction whose first number is smaller is both.
    fn read(text: &str) -> Option<Self> {
        let end = |text: &str, open: f64| if text == OPEN { Some(open) } else { finite(text) };
        let (from, to) = text.split_once('/')?;
        let range = Self { from: end(from, f64::NEG_INFINITY)?, to: end(to, f64::INFINITY)? };
        (range.from <= range.to).then_some(range)
    }

    fn has(self, number: Option<f64>) -> bool {
        number.is_some_and(|number| self.from <= number && number <= self.to)
    }
}

/// Parses a text as a number as in CSV, without words such as `inf` and `nan`.
fn finite(text: &str) -> Option<f64> {
    let is_number = text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'.' | b'-' | b'+' | b'e' | b'E'));
    text.parse::<f64>().ok().filter(|number| is_number && number.is_finite())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn number_ranges_include_both_ends() {
        for (wanted_value, value, expected) in [
            ("140/..", json!(140), true),
            ("140/..", json!(139.9), false),
            ("../140", json!(140.0), true),
            ("../140", json!(-1e300), true),
            ("../140", json!(141), false),
            ("-5.5/1e2", json!(-5.5), true),
            ("-5.5/1e2", json!(100), true),
            ("-5.5/1e2", json!(100.1), false),
            ("7/7", json!(7), true),
            ("../..", json!(-7), true),
            ("../..", json!("7.5"), true),
            ("../..", json!("seven"), false),
            ("140/..", json!("155"), true),
            ("140/..", json!("15"), false),
            ("140/..", json!(" 155"), false),
            ("140/..", json!("inf"), false),
            ("../140", json!("nan"), false),
            ("140/..", json!(["weak", 30, 150]), true),
            ("140/..", json!([[150]]), false),
            ("../140", json!(null), false),
            ("../1", json!(true), false),
            ("140/..", json!({ "150": 150 }), false),
            ("9007199254740993/..", json!(9_007_199_254_740_993_u64), true),
        ] {
            assert_eq!(AttributeMatch::new(wanted_value).is_in(&value), expected, "{wanted_value} {value}");
        }
    }

    #[test]
    fn malformed_number_range_is_a_text() {
        for text in ["/", "1/", "/1", "5/3", "a/5", "1/2/3", "2020-01-01/..", "inf/..", "nan/5", "1 / 2"] {
            let wanted_value = AttributeMatch::new(text);
            assert!(wanted_value.is_in(&json!(text)), "{text}");
            for number in [0.0, 1.0, 4.0, 2020.0] {
                assert!(!wanted_value.is_in(&json!(number)), "{text} {number}");
            }
        }
        // A text in the form of a range also matches literally.
        assert!(AttributeMatch::new("1/2").is_in(&json!("1/2")));
        assert!(AttributeMatch::new("1/2").is_in(&json!(1.5)));
    }
}
