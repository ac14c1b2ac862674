use timenav_core::ids::AnchorId;
use timenav_engine::{Anchor, TimelineKey};

use super::values::{Failed, sql};
use crate::postgres::connection::sessions::Object;
use crate::postgres::transaction::batch::records;

const SELECT_PAGE: &str = "SELECT * FROM anchors WHERE timeline = $1 AND position > $2 ORDER BY position LIMIT $3";
const SELECT_NAMED: &str = "SELECT a.*, w.number
    FROM unnest($1::bigint[], $2::text[]) WITH ORDINALITY AS w (timeline, anchor_id, number)
    JOIN anchors a ON a.timeline = w.timeline AND a.anchor_id = w.anchor_id";

pub(super) async fn named(on: &Object, keys: &[(TimelineKey, AnchorId)]) -> Result<Vec<Option<Anchor>>, Failed> {
    let mut all: Vec<Option<Anchor>> = keys.iter().map(|_| None).collect();
    if keys.is_empty() {
        return Ok(all);
    }
    let timelines: Vec<i64> = keys.iter().map(|(timeline, _)| timeline.0).collect();
    let ids: Vec<&str> = keys.iter().map(|(_, anchor_id)| anchor_id.as_str()).collect();
    for (anchor, number) in records::<(Anchor, i64)>(on, SELECT_NAMED, &[&timelines, &ids]).await? {
        if let Some(place) = usize::try_from(number - 1).ok().and_then(|at| all.get_mut(at)) {
            *place = Some(anchor);
        }
    }
    Ok(all)
}

/// Returns anchors in the order in which they were set, starting after `after`.
pub(super) async fn page(
    on: &Object,
    timeline: TimelineKey,
    after: Option<u64>,
    items_max: usize,
) -> Result<Vec<Anchor>, Failed> {
    let values = (after.map_or(-1, sql), sql(items_max as u64));
    records(on, SELECT_PAGE, &[&timeline.0, &values.0, &values.1]).await
}
