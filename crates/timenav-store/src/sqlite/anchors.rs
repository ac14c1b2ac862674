use rusqlite::{Connection, params};
use timenav_core::ids::AnchorId;
use timenav_engine::{Anchor, StoreError, TimelineKey};

use super::values::{records, sql};

const SELECT_ANCHORS: &str = "SELECT * FROM anchors WHERE timeline = ?1 AND position > ?2 ORDER BY position LIMIT ?3";
const SELECT_ANCHOR: &str = "SELECT * FROM anchors WHERE timeline = ?1 AND anchor_id = ?2";

pub(super) fn named(
    connection: &Connection,
    timeline: TimelineKey,
    anchor_id: &AnchorId,
) -> Result<Option<Anchor>, StoreError> {
    Ok(records(connection, SELECT_ANCHOR, params![timeline.0, anchor_id.as_str()])?.pop())
}

/// Returns anchors in the order in which they were set, starting after `after`.
pub(super) fn page(
    connection: &Connection,
    timeline: TimelineKey,
    after: Option<u64>,
    items_max: usize,
) -> Result<Vec<Anchor>, StoreError> {
    let key = params![timeline.0, after.map_or(-1, sql), sql(items_max as u64)];
    records(connection, SELECT_ANCHORS, key)
}
