use std::collections::BTreeMap;

use serde_json::Value;

use super::MappingError;
use crate::coordinates::pair;
use crate::item::clipped;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Missing {
    everywhere: Vec<String>,
    columns: BTreeMap<String, Vec<String>>,
    /// Placeholder positions, each latitude and longitude.
    places: Vec<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct MissingHere(Vec<String>);

/// Key for all columns in the object form.
const EVERYWHERE: &str = "*";

impl Missing {
    /// Accepts a text, a list of texts, or an object with either per column.
    pub(super) fn add(&mut self, column: Option<&str>, value: &Value) -> Result<(), MappingError> {
        let wrong = || MappingError::OptionWrong {
            option: "missing".to_owned(),
            given: clipped(value.to_string()),
            rule:
                "it must be a list of strings, such as `[\"0\", \"NA\"]`, or an object with such a list for each column"
                    .to_owned(),
        };
        let texts: Vec<String> = match value {
            Value::String(texts) => texts.split('|').map(|text| text.trim().to_owned()).collect(),
            Value::Array(texts) => texts.iter().map(text_of).collect::<Option<Vec<_>>>().ok_or_else(wrong)?,
            Value::Number(number) => vec![number.to_string()],
            Value::Object(columns) if column.is_none() => {
                for (name, value) in columns {
                    if value.is_object() {
                        return Err(wrong());
                    }
                    self.add(Some(name), value)?;
                }
                return Ok(());
            }
            Value::Null | Value::Bool(_) | Value::Object(_) => return Err(wrong()),
        };
        let known = match column.map(str::trim).filter(|column| *column != EVERYWHERE) {
            None => &mut self.everywhere,
            Some(column) => self.columns.entry(column.to_owned()).or_default(),
        };
        // Blank cells are always missing.
        known.extend(texts.into_iter().filter(|text| !text.is_empty()));
        Ok(())
    }

    /// Accepts one position or a list.
    pub(super) fn add_place(&mut self, value: &Value) -> Result<(), MappingError> {
        let wrong = || MappingError::OptionWrong {
            option: "geo.missing".to_owned(),
            given: clipped(value.as_str().map_or_else(|| value.to_string(), str::to_owned)),
            rule: "it must be a latitude and a longitude that mean an unknown place, such as `0,0`, or a list of them"
                .to_owned(),
        };
        let list = std::slice::from_ref(value);
        for place in value.as_array().map_or(list, Vec::as_slice) {
            let place = place.as_str().filter(|place| pair(place, false).is_some()).ok_or_else(wrong)?;
            self.places.push(place.to_owned());
        }
        Ok(())
    }

    pub(crate) fn includes_place(&self, lat: f64, lon: f64) -> bool {
        self.places.iter().any(|place| pair(place, false) == Some((lat, lon)))
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &String> {
        self.columns.keys()
    }

    /// The texts for a column: its own and those for all columns.
    pub(crate) fn here(&self, column: &str) -> MissingHere {
        let own = self.columns.get(column).into_iter().flatten();
        MissingHere(self.everywhere.iter().chain(own).cloned().collect())
    }

    pub(crate) fn includes(&self, column: &str, text: &str) -> bool {
        let own = self.columns.get(column).into_iter().flatten();
        self.everywhere.iter().chain(own).any(|missing| says(missing, text.trim()))
    }
}

fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.trim().to_owned()),
        Value::Number(number) => Some(number.to_string()),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

impl MissingHere {
    pub(crate) fn includes(&self, text: &str) -> bool {
        !self.0.is_empty() && self.0.iter().any(|missing| says(missing, text.trim()))
    }
}

/// Numbers are compared by value: `0` equals `0.0`.
fn says(missing: &str, text: &str) -> bool {
    missing == text || same_number(missing, text)
}

fn same_number(one: &str, other: &str) -> bool {
    let is_decimal = |text: &str| {
        text.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'-' | b'+'))
            && text.bytes().any(|byte| byte.is_ascii_digit())
    };
    let number = |text: &str| is_decimal(text).then(|| text.parse::<f64>().ok()).flatten();
    number(one).is_some_and(|one| number(other) == Some(one))
}
