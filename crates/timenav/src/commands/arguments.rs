//! Converts arguments to members of a request body.

use serde_json::{Map, Value};
use timenav_core::ids::TimelineId;

/// Inserts a member into a request body unless it is `None`.
pub(super) fn insert(body: &mut Map<String, Value>, name: &str, value: Option<impl Into<Value>>) {
    if let Some(value) = value {
        body.insert(name.to_owned(), value.into());
    }
}

/// Parses a timeline id.
pub(super) fn timeline_id(text: &str) -> Result<TimelineId, String> {
    TimelineId::new(text).map_err(|error| error.to_string())
}
