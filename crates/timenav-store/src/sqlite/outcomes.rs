use rusqlite::{Connection, OptionalExtension, Row, params};
use timenav_core::ids::{EventId, TimelineId};
use timenav_core::time::{Instant, Wall};
use timenav_engine::{IdempotencyRecord, StoreError, StoredOutcome};

use super::values::{POSITION_MAX, bytes, failed, id, instant, sql};
use crate::kept::leaf;
use crate::kept::outcomes::told_of;

const SELECT: &str = "SELECT key, fingerprint, expires_at, outcome, timeline_id, event_id FROM outcomes";

/// One entry, by the name of its live or ended timeline.
const SELECT_LEAF: &str = "SELECT leaf FROM (SELECT timeline FROM timelines WHERE timeline_id = ?1
        UNION ALL SELECT timeline FROM ended_timelines WHERE timeline_id = ?1) AS t
    CROSS JOIN entries ON entry = (t.timeline << 40) + ?2";

pub(super) fn named(connection: &Connection, key: &[u8; 32]) -> Result<Option<IdempotencyRecord>, StoreError> {
    let mut select = connection.prepare_cached(&format!("{SELECT} WHERE key = ?1")).map_err(failed)?;
    let mut rows = select.query([key]).map_err(failed)?;
    rows.next().map_err(failed)?.map(outcome).transpose()
}

pub(super) fn of_events(
    connection: &Connection,
    timeline: &TimelineId,
    event_ids: &[EventId],
) -> Result<Vec<IdempotencyRecord>, StoreError> {
    let select = format!("{SELECT} INDEXED BY outcomes_by_event WHERE timeline_id = ?1 AND event_id = ?2");
    let mut select = connection.prepare_cached(&select).map_err(failed)?;
    let mut found = Vec::new();
    for event_id in event_ids {
        let mut rows = select.query(params![timeline.as_str(), event_id.as_str()]).map_err(failed)?;
        while let Some(row) = rows.next().map_err(failed)? {
            found.push(outcome(row)?);
        }
    }
    Ok(found)
}

/// Returns outcomes in key order, starting after `after`. The timeline of an outcome is read from the outcome itself.
pub(super) fn page(
    connection: &Connection,
    after: Option<[u8; 32]>,
    rows_max: usize,
) -> Result<Vec<StoredOutcome>, StoreError> {
    let select = format!("{SELECT} WHERE ?1 IS NULL OR key > ?1 ORDER BY key LIMIT ?2");
    let mut select = connection.prepare_cached(&select).map_err(failed)?;
    let mut rows = select.query(params![after, sql(rows_max as u64)]).map_err(failed)?;
    let mut found = Vec::new();
    while let Some(row) = rows.next().map_err(failed)? {
        let record = outcome(row)?;
        let goes_with = told_of(&record.outcome);
        found.push(StoredOutcome { record, goes_with });
    }
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
        let kept = select.query_row(params![timeline.as_str(), sql(*position)], |row| row.get::<_, Vec<u8>>(0));
        let kept = kept.optional().map_err(failed)?;
        Ok(kept.map(|kept| leaf::whole(&kept, timeline.as_str(), *position).into_owned()))
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

fn outcome(row: &Row<'_>) -> Result<IdempotencyRecord, StoreError> {
    let blob = |at: usize| row.get::<_, Vec<u8>>(at).map_err(failed).and_then(|blob| bytes(&blob));
    let text = |at: usize| row.get::<_, Option<String>>(at).map_err(failed);
    let event = text(4)?.zip(text(5)?);
    let event = event.map(|(on, event)| Ok::<_, StoreError>((id(TimelineId::new(&on))?, id(EventId::new(&event))?)));
    Ok(IdempotencyRecord {
        key: blob(0)?,
        fingerprint: blob(1)?,
        expires_at: instant(row.get(2).map_err(failed)?)?,
        outcome: row.get(3).map_err(failed)?,
        event: event.transpose()?,
    })
}
