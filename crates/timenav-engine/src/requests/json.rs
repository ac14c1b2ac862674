use serde::{Deserialize, Serialize};

pub(crate) fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("payloads are structs of text and numbers, which serialize to JSON")
}

/// Returns JSON text as is, for embedding into a payload. `None` if it is not JSON.
pub(crate) fn raw(json: &str) -> Option<&serde_json::value::RawValue> {
    serde_json::from_str(json).ok()
}

pub(crate) fn read<'a, T: Deserialize<'a>>(payload: &'a [u8]) -> Option<T> {
    serde_json::from_slice(payload).ok()
}
