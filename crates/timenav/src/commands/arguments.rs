//! What is read from the command line, and put into the body of a request.

use serde_json::{Map, Value};
use timenav_core::ids::TimelineId;

/// Inserts a field into the body of a request, unless there is nothing to say.
pub(super) fn insert(body: &mut Map<String, Value>, name: &str, value: Option<impl Into<Value>>) {
    if let Some(value) = value {
        body.insert(name.to_owned(), value.into());
    }
}

/// Reads the name of a timeline on the command line.
pub(super) fn timeline_id(text: &str) -> Result<TimelineId, String> {
    TimelineId::new(text).map_err(|error| error.to_string())
}
