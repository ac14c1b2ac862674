//! Consuming the members of a JSON object; the rest becomes attributes.

use serde_json::{Map, Value};
use timenav_core::event::EventDraft;
use timenav_core::limits::{DESCRIPTION_BYTES_MAX, EVENT_NAME_BYTES_MAX};

use crate::attributes;
use crate::event_record::without_position;
use crate::item::RecordError;
use crate::json::long_integers;
use crate::limits::RECORD_BYTES_MAX;

/// The remaining members of an object. A `null` member counts as absent.
pub(crate) struct Members {
    map: Map<String, Value>,
}

impl Members {
    /// Parses a record. `what` describes it in errors: `a span`.
    pub(crate) fn parse(text: &str, what: &str) -> Result<Self, RecordError> {
        if text.len() > RECORD_BYTES_MAX {
            let detail = format!("{what} can have at most {RECORD_BYTES_MAX} bytes");
            return Err(RecordError::whole(RecordError::TOO_LARGE, detail));
        }
        match serde_json::from_str(&long_integers::quoted(text)) {
            Ok(Value::Object(map)) => Ok(Self::of(map)),
            Ok(_) => Err(RecordError::whole(RecordError::INVALID, format!("{what} must be a JSON object"))),
            Err(error) => Err(RecordError::whole(RecordError::MALFORMED_JSON, without_position(&error))),
        }
    }

    /// Returns the members of an object that are not `null`.
    pub(crate) fn of(mut map: Map<String, Value>) -> Self {
        map.retain(|_, value| !value.is_null());
        Self { map }
    }

    pub(crate) fn text(&mut self, name: &str) -> Result<Option<String>, RecordError> {
        match self.map.remove(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(RecordError::invalid(name, "this must be a string")),
        }
    }

    pub(crate) fn required_text(&mut self, name: &str, what: &str) -> Result<String, RecordError> {
        let given = self.text(name)?.filter(|text| !text.is_empty());
        given.ok_or_else(|| RecordError::of(RecordError::MISSING, name, format!("{what} needs a `{name}`")))
    }

    /// Takes a whole number of at least 0, written as a number or a string of digits.
    pub(crate) fn count(&mut self, name: &str) -> Result<Option<u64>, RecordError> {
        let Some(value) = self.map.remove(name) else { return Ok(None) };
        let count = match &value {
            Value::Number(number) => number.as_u64(),
            Value::String(digits) => {
                digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok()).flatten()
            }
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
        };
        let invalid = || RecordError::invalid(name, "this must be a whole number, 0 or more");
        count.map(Some).ok_or_else(invalid)
    }

    pub(crate) fn list(&mut self, name: &str) -> Result<Vec<Value>, RecordError> {
        match self.map.remove(name) {
            None => Ok(Vec::new()),
            Some(Value::Array(items)) => Ok(items),
            Some(_) => Err(RecordError::invalid(name, "this must be a list")),
        }
    }

    pub(crate) fn object(&mut self, name: &str) -> Result<Option<Self>, RecordError> {
        match self.map.remove(name) {
            None => Ok(None),
            Some(Value::Object(map)) => Ok(Some(Self::of(map))),
            Some(_) => Err(RecordError::invalid(name, "this must be an object")),
        }
    }

    pub(crate) fn take(&mut self, name: &str) -> Option<Value> {
        self.map.remove(name)
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Value> {
        self.map.get(name)
    }

    /// Adds a member, unless it is `null` or empty.
    pub(crate) fn put(&mut self, name: &str, value: Value) {
        let is_empty = match &value {
            Value::Null => true,
            Value::Array(items) => items.is_empty(),
            Value::Object(object) => object.is_empty(),
            Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
        };
        if !is_empty {
            self.map.insert(name.to_owned(), value);
        }
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.map.keys().map(String::as_str)
    }

    /// Returns the remaining members. An integer that no double represents becomes a string of its digits.
    pub(crate) fn into_attributes(self) -> Result<Option<String>, RecordError> {
        if self.map.is_empty() {
            return Ok(None);
        }
        let mut value = Value::Object(self.map);
        attributes::make_exact(&mut value);
        match value {
            Value::Object(object) => attributes::canonical(&object).map(Some),
            _ => Ok(None),
        }
    }
}

/// Sets a text as the name of the event, or as its description if it is too long for a name.
pub(crate) fn entitle(draft: &mut EventDraft, text: String) {
    if (1..=EVENT_NAME_BYTES_MAX).contains(&text.len()) {
        draft.name = Some(text);
    } else if text.len() <= DESCRIPTION_BYTES_MAX {
        draft.description = text;
    } else {
        // The check of limits will reject it.
        draft.name = Some(text);
    }
}
