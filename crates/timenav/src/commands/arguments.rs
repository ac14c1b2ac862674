use serde_json::{Map, Value};
use timenav_core::ids::TimelineId;

pub(super) fn insert(body: &mut Map<String, Value>, name: &str, value: Option<impl Into<Value>>) {
    if let Some(value) = value {
        body.insert(name.to_owned(), value.into());
    }
}

pub(super) fn timeline_id(text: &str) -> Result<TimelineId, String> {
    TimelineId::new(text).map_err(|error| error.to_string())
}
