use rusqlite::{Connection, OptionalExtension, params};
use timenav_core::ids::{EventId, TimelineId};
use timenav_core::time::{Instant, Wall};
use timenav_engine::{IdempotencyRecord, StoreError, StoredOutcome};

use super::values::{POSITION_MAX, each, failed, records, sql};
use crate::persistence::leaf;
use crate::persistence::outcomes::named_timeline;

const SELECT: &str = "SELECT * FROM outcomes WHERE key = ?1";
const SELECT_OF: &str = "SELECT * FROM outcomes INDEXED BY outcomes_by_event WHERE timeline_id = ?1 AND event_id = ?2";
const SELECT_PAGE: &str = "SELECT * FROM outcomes WHERE ?1 IS NULL OR key > ?1 ORDER BY key LIMIT ?2";

/// One entry, by the name of its live or ended timeline.
const SELECT_LEAF: &str = "SELECT leaf FROM (SELECT timeline FROM timelines WHERE timeline_id = ?1
        UNION ALL SELECT timeline FROM ended_timelines WHERE timeline_id = ?1) AS t
    CROSS JOIN entries ON entry = (t.timeline << 40) + ?2";

pub(super) fn named(connection: &Connection, key: &[u8; 32]) -> Result<Option<IdempotencyRecord>, StoreError> {
    Ok(records(connection, SELECT, [key])?.pop())
}

pub(super) fn of_events(
    connection: &Connection,
    timeline: &TimelineId,
    event_ids: &[EventId],
) -> Result<Vec<IdempotencyRecord>, StoreError> {
    let mut found = Vec::new();
    for event_id in event_ids {
        found.extend(records(connection, SELECT_OF, params![timeline.as_str(), event_id.as_str()])?);
    }
    Ok(found)
}

/// Returns outcomes in key order, starting after `after`. The timeline of an outcome is read from the outcome itself.
pub(super) fn page(
    connection: &Connection,
    after: Option<[u8; 32]>,
    rows_max: usize,
) -> Result<Vec<StoredOutcome>, StoreError> {
    let mut found = Vec::new();
    each(connection, SELECT_PAGE, params![after, sql(rows_max as u64)], |record: IdempotencyRecord| {
        let goes_with = named_timeline(&record.outcome);
        found.push(StoredOutcome { record, goes_with });
    })?;
    Ok(found)
}

/// Returns the full leaf of each of these entries.
pub(super) fn leaves(
    connection: &Connection,
    entries: &[(TimelineId, u64)],
) -> Result<Vec<Option<Vec<u8>>>, StoreError> {
    let mut select = connection.prepare_cached(SELECT_LEAF).map_err(failed)?;
    let mut read = |(timeline, position): &(TimelineId, u64)| {
        if *position > POSITION_MAX {
            return Ok(None);
        }
        let stored = select.query_row(params![timeline.as_str(), sql(*position)], |row| row.get::<_, Vec<u8>>(0));
        let stored = stored.optional().map_err(failed)?;
        Ok(stored.map(|stored| leaf::whole(&stored, timeline.as_str(), *position).into_owned()))
    };
    entries.iter().map(&mut read).collect()
}

pub(super) fn have_expired(connection: &Connection, before: Instant<Wall>) -> Result<bool, StoreError> {
    let select = "SELECT EXISTS (SELECT 1 FROM outcomes WHERE expires_at < ?1)";
    let mut select = connection.prepare_cached(select).map_err(failed)?;
    select.query_row([before.micros()], |row| row.get(0)).map_err(failed)
}

pub(super) fn forget(connection: &Connection, before: Instant<Wall>, rows_max: usize) -> Result<(), StoreError> {
    let delete = "DELETE FROM outcomes WHERE key IN (SELECT key FROM outcomes WHERE expires_at < ?1 LIMIT ?2)";
    let mut delete = connection.prepare_cached(delete).map_err(failed)?;
    delete.execute([before.micros(), sql(rows_max as u64)]).map_err(failed)?;
    Ok(())
}
