use serde_json::{Map, Value};
use timenav_core::ids::TimelineId;

pub(super) fn insert(body: &mut Map<String, Value>, name: &str, value: Option<impl Into<Value>>) {
    if let Some(value) = value {
        body.insert(name.to_owned(), value.into());
    }
}

/// Adds the parameters that are given to a query.
pub(super) fn extend(
    query: &mut Vec<(&'static str, String)>,
    parameters: impl IntoIterator<Item = (&'static str, Option<String>)>,
) {
    query.extend(parameters.into_iter().filter_map(|(name, value)| Some((name, value?))));
}

pub(super) fn timeline_id(text: &str) -> Result<TimelineId, String> {
    TimelineId::new(text).map_err(|error| error.to_string())
}
