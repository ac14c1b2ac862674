//! What tells of timelines that went over from one service to another.

use std::fmt::Write as _;
use std::sync::Arc;

use rusqlite::{Connection, OptionalExtension, TransactionBehavior, params};
use timenav_engine::{Action, Origin, RotationNote, StoreError, TimelineKey};

use super::values::{damaged, entry_key, failed, sql};

const SELECT_LEAF: &str = "SELECT leaf FROM entries WHERE entry = ?1";
const SELECT_NOTE: &str = "SELECT note FROM rotation_notes WHERE timeline = ?1 AND position = ?2";

const INSERT_NOTE: &str = "INSERT INTO rotation_notes (timeline, position, note) VALUES (?1, ?2, ?3)
    ON CONFLICT DO NOTHING";

/// Returns how it is kept whose entries a ledger begins with.
pub(super) fn text(origins: &[Origin]) -> String {
    origins.iter().fold(String::new(), |mut text, Origin { end, origin }| {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{end} {origin}");
        text
    })
}

/// Reads what [`text`] writes.
pub(super) fn read(text: &str) -> Result<Arc<[Origin]>, StoreError> {
    let one = |line: &str| {
        let (end, origin) = line.split_once(' ')?;
        Some(Origin { end: end.parse().ok()?, origin: origin.to_owned() })
    };
    let origins: Option<Arc<[Origin]>> = text.lines().map(one).collect();
    origins.ok_or_else(|| damaged("whose entries a ledger begins with cannot be read"))
}

/// Returns whether a timeline was handed over. No row says so, which another hand could change: the ledger does, with its
/// last entry, but for those that the service itself has written after it.
pub(super) fn is_handed_over(connection: &Connection, timeline: TimelineKey, size: u64) -> Result<bool, StoreError> {
    let mut select = connection.prepare_cached(SELECT_LEAF).map_err(failed)?;
    for position in (0..size).rev() {
        let leaf: Option<Vec<u8>> =
            select.query_row([entry_key(timeline, position)], |row| row.get(0)).optional().map_err(failed)?;
        let action = leaf.as_deref().and_then(action);
        if !matches!(action, Some(Action::RotateSigningKey | Action::AcceptRollback)) {
            return Ok(action == Some(Action::HandedOver));
        }
    }
    Ok(false)
}

/// Returns what an entry says was done, without reading the rest of it: it begins with that.
fn action(leaf: &[u8]) -> Option<Action> {
    let rest = leaf.strip_prefix(b"{\"action\":\"")?;
    let end = rest.iter().position(|byte| *byte == b'"')?;
    Action::parse(std::str::from_utf8(&rest[..end]).ok()?)
}

pub(super) fn rotation_note(
    connection: &Connection,
    timeline: TimelineKey,
    position: u64,
) -> Result<Option<String>, StoreError> {
    let mut select = connection.prepare_cached(SELECT_NOTE).map_err(failed)?;
    select.query_row(params![timeline.0, sql(position)], |row| row.get(0)).optional().map_err(failed)
}

/// Keeps checkpoints of rotations. One that is kept stays.
pub(super) fn keep_rotations(connection: &mut Connection, notes: &[RotationNote]) -> Result<(), StoreError> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
    let mut insert = transaction.prepare_cached(INSERT_NOTE).map_err(failed)?;
    for RotationNote { timeline, position, note } in notes {
        insert.execute(params![timeline.0, sql(*position), &**note]).map_err(failed)?;
    }
    drop(insert);
    transaction.commit().map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origins_are_read_as_they_are_kept() {
        let origins = [(7, "a.example/x"), (u64::MAX, "b.example/x")];
        let origins = origins.map(|(end, origin)| Origin { end, origin: origin.to_owned() });
        for count in 0..=2 {
            assert_eq!(*read(&text(&origins[..count])).unwrap(), origins[..count]);
        }
        for wrong in ["7\n", "x a\n", " a\n"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
