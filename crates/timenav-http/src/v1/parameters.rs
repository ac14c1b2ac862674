use crate::schema::ToSchema;
use serde::Deserialize;
use timenav_core::ids::TimelineId;
use timenav_engine::Refusal;

use crate::response::problem::Failure;
use crate::wire::Text;

/// Takes no parameters.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NoParameters {}

pub(crate) fn timeline(named: Option<Text<TimelineId>>) -> Option<TimelineId> {
    named.map(|named| named.0)
}

/// Reads a timeline id from a path. An invalid id names no timeline.
pub(crate) fn named(timeline_id: &str) -> Result<TimelineId, Failure> {
    let refusal = |_| Refusal::NotFound { what: "timeline", id: timeline_id.to_owned() }.into();
    TimelineId::new(timeline_id).map_err(refusal)
}
