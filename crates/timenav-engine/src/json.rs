//! JSON as it is kept.

use serde::{Deserialize, Serialize};

/// Returns a payload as JSON.
pub(crate) fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("payloads are structs of text and numbers, which JSON can hold")
}

/// Returns JSON text as it is, for a payload that holds it. `None` if it is none.
pub(crate) fn raw(json: &str) -> Option<&serde_json::value::RawValue> {
    serde_json::from_str(json).ok()
}

/// Reads a payload; `None` where it is that of something else.
pub(crate) fn read<'a, T: Deserialize<'a>>(payload: &'a [u8]) -> Option<T> {
    serde_json::from_slice(payload).ok()
}
