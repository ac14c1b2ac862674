//! What requests that may be sent twice were answered.

use rusqlite::{Connection, Row, params};
use timenav_core::ids::{EventId, TimelineId};
use timenav_engine::{IdempotencyRecord, StoreError};

use super::values::{bytes, failed, id, instant};

const SELECT: &str = "SELECT key, fingerprint, expires_at, outcome, timeline_id, event_id FROM outcomes";

/// Returns the outcome kept under a key.
pub(super) fn named(connection: &Connection, key: &[u8; 32]) -> Result<Option<IdempotencyRecord>, StoreError> {
    let mut select = connection.prepare_cached(&format!("{SELECT} WHERE key = ?1")).map_err(failed)?;
    let mut rows = select.query([key]).map_err(failed)?;
    rows.next().map_err(failed)?.map(outcome).transpose()
}

/// Returns the outcomes that hold the content of these events.
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
