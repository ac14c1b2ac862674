use rusqlite::{Connection, Row, params};
use timenav_core::clock::Moment;
use timenav_core::ids::AnchorId;
use timenav_engine::{Anchor, StoreError, TimelineKey};

use super::values::{count, failed, id, instant, rate, sql};

const SELECT_ANCHORS: &str = "SELECT position, anchor_id, set_at, timestamp, description, fixed, clock_at,
    clock_running, clock_rate, clock_location FROM anchors
    WHERE timeline = ?1 AND position > ?2 ORDER BY position LIMIT ?3";
const SELECT_ANCHOR: &str = "SELECT position, anchor_id, set_at, timestamp, description, fixed, clock_at,
    clock_running, clock_rate, clock_location FROM anchors WHERE timeline = ?1 AND anchor_id = ?2";

pub(super) fn named(
    connection: &Connection,
    timeline: TimelineKey,
    anchor_id: &AnchorId,
) -> Result<Option<Anchor>, StoreError> {
    let mut select = connection.prepare_cached(SELECT_ANCHOR).map_err(failed)?;
    let mut rows = select.query(params![timeline.0, anchor_id.as_str()]).map_err(failed)?;
    rows.next().map_err(failed)?.map(anchor).transpose()
}

/// Returns anchors in the order in which they were set, starting after `after`.
pub(super) fn page(
    connection: &Connection,
    timeline: TimelineKey,
    after: Option<u64>,
    items_max: usize,
) -> Result<Vec<Anchor>, StoreError> {
    let mut select = connection.prepare_cached(SELECT_ANCHORS).map_err(failed)?;
    let key = params![timeline.0, after.map_or(-1, sql), sql(items_max as u64)];
    let mut rows = select.query(key).map_err(failed)?;
    let mut anchors = Vec::new();
    while let Some(row) = rows.next().map_err(failed)? {
        anchors.push(anchor(row)?);
    }
    Ok(anchors)
}

fn anchor(row: &Row<'_>) -> Result<Anchor, StoreError> {
    let number = |at: usize| row.get::<_, i64>(at).map_err(failed);
    let moment = Moment {
        at: instant(number(6)?)?,
        running: row.get(7).map_err(failed)?,
        rate: rate(number(8)?)?,
        location: row.get(9).map_err(failed)?,
    };
    Ok(Anchor {
        anchor_id: id(AnchorId::new(&row.get::<_, String>(1).map_err(failed)?))?,
        position: count(number(0)?)?,
        set_at: instant(number(2)?)?,
        timestamp: instant(number(3)?)?,
        description: row.get(4).map_err(failed)?,
        fixed: row.get(5).map_err(failed)?,
        moment,
    })
}
