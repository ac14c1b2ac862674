use rusqlite::{Connection, OptionalExtension, TransactionBehavior, params};
use timenav_engine::{RotationNote, StoreError, TimelineKey};

use crate::persistence::origins::says_handed_over;
use crate::sqlite::values::{entry_key, failed, sql};

const SELECT_LEAF: &str = "SELECT leaf FROM entries WHERE entry = ?1";
const SELECT_NOTE: &str = "SELECT note FROM rotation_notes WHERE timeline = ?1 AND position = ?2";

const INSERT_NOTE: &str = "INSERT INTO rotation_notes (timeline, position, note) VALUES (?1, ?2, ?3)
    ON CONFLICT DO NOTHING";

/// Returns whether a timeline was handed over. This has no row of its own, which could be tampered with. It follows
/// from the last entry of the ledger, not counting entries that the service itself wrote after the handover.
pub(in crate::sqlite) fn is_handed_over(
    connection: &Connection,
    timeline: TimelineKey,
    size: u64,
) -> Result<bool, StoreError> {
    let mut select = connection.prepare_cached(SELECT_LEAF).map_err(failed)?;
    for position in (0..size).rev() {
        let leaf: Option<Vec<u8>> =
            select.query_row([entry_key(timeline, position)], |row| row.get(0)).optional().map_err(failed)?;
        if let Some(is_handed_over) = says_handed_over(leaf.as_deref().unwrap_or_default()) {
            return Ok(is_handed_over);
        }
    }
    Ok(false)
}

pub(in crate::sqlite) fn rotation_note(
    connection: &Connection,
    timeline: TimelineKey,
    position: u64,
) -> Result<Option<String>, StoreError> {
    let mut select = connection.prepare_cached(SELECT_NOTE).map_err(failed)?;
    select.query_row(params![timeline.0, sql(position)], |row| row.get(0)).optional().map_err(failed)
}

/// Stores checkpoints of key rotations. Existing ones are not overwritten.
pub(in crate::sqlite) fn keep_rotations(connection: &mut Connection, notes: &[RotationNote]) -> Result<(), StoreError> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
    let mut insert = transaction.prepare_cached(INSERT_NOTE).map_err(failed)?;
    for RotationNote { timeline, position, note } in notes {
        insert.execute(params![timeline.0, sql(*position), &**note]).map_err(failed)?;
    }
    drop(insert);
    transaction.commit().map_err(failed)
}
