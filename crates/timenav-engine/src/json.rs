//! JSON as it is kept.

use serde::Serialize;

/// Returns a payload as JSON.
pub(crate) fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("payloads are structs of text and numbers, which JSON can hold")
}

/// Returns JSON text as it is, for a payload that holds it. `None` if it is none.
pub(crate) fn raw(json: &str) -> Option<&serde_json::value::RawValue> {
    serde_json::from_str(json).ok()
}
