use std::time::Duration;

use rusqlite::{Connection, Transaction, params};
use timenav_core::ids::{DataId, TimelineId};
use timenav_engine::{DataRecord, ErasedContent, Erasure, StoreError, TimelineKey};

use super::connection::BUSY_WAIT;
use super::values::{entry_key, failed, id, records, sql};
use crate::sqlite::entries::contents;
use crate::sqlite::text_index;

/// How long emptying the log may wait for readers. All writers wait as long.
const READERS_WAIT: Duration = Duration::from_millis(500);

/// The first record on a live timeline. A bundle with a record of the same id is rejected, so there is only one.
const SELECT: &str = "SELECT d.*, t.timeline_id FROM data_records d JOIN timelines t ON t.timeline = d.timeline
    WHERE d.data_id = ?1 ORDER BY d.timeline LIMIT 1";
const SELECT_AT: &str = "SELECT * FROM data_records WHERE timeline = ?1 AND position = ?2";
const ERASE_RECORD: &str = "UPDATE data_records SET erased = ?1, salt = x'', nonce = x'', commitment = x'',
    ciphertext = x'' WHERE data_id = ?2 AND timeline = ?3 AND position = ?4 AND erased IS NULL";
/// Without the hint, SQLite uses the primary key and reads all events of the timeline.
const ERASE_EVENT: &str =
    "DELETE FROM events INDEXED BY events_by_id WHERE timeline = ?1 AND event_id = ?2 AND position = ?3";

/// Deletes content from the tables. Missing content is not an error.
pub(super) fn erase(transaction: &Transaction<'_>, timeline: TimelineKey, erasure: &Erasure) -> Result<(), StoreError> {
    if let ErasedContent::Event(event_id) = &erasure.content {
        text_index::erasing::erase(transaction, timeline, (event_id.as_str(), erasure.position))?;
    }
    erase_rows(transaction, timeline, erasure).map_err(failed)
}

fn erase_rows(transaction: &Transaction<'_>, timeline: TimelineKey, erasure: &Erasure) -> rusqlite::Result<()> {
    let position = sql(erasure.position);
    match &erasure.content {
        ErasedContent::Data(data_id) => {
            let row = params![sql(erasure.by), data_id.as_str(), timeline.0, position];
            transaction.prepare_cached(ERASE_RECORD)?.execute(row)?;
        }
        ErasedContent::Event(event_id) => {
            transaction.prepare_cached(ERASE_EVENT)?.execute(params![timeline.0, event_id.as_str(), position])?;
            let key = entry_key(timeline, erasure.position);
            contents::prune(transaction, key, key)?;
        }
        ErasedContent::Reads(left) => contents::leave(transaction, entry_key(timeline, erasure.position), left)?,
    }
    Ok(())
}

/// Folds the write-ahead log into the file and truncates it, because it contains what was just erased.
pub(super) fn forget_log(connection: &Connection) {
    let emptied = (|| {
        connection.busy_timeout(READERS_WAIT)?;
        let busy = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, bool>(0))?;
        connection.busy_timeout(BUSY_WAIT)?;
        Ok::<_, rusqlite::Error>(busy)
    })();
    match emptied {
        Ok(false) => {}
        // The erasure is durable, and new commits overwrite the log.
        Ok(true) => tracing::warn!("erased data is still in the database log, because a reader uses it"),
        Err(error) => tracing::warn!(%error, "erased data is still in the database log, which could not be emptied"),
    }
}

pub(super) fn record(
    connection: &Connection,
    data_id: &DataId,
) -> Result<Option<(TimelineId, DataRecord)>, StoreError> {
    let found = records::<(DataRecord, String)>(connection, SELECT, [data_id.as_str()])?.pop();
    found.map(|(record, timeline)| Ok((id(TimelineId::parse_stored(&timeline))?, record))).transpose()
}

/// Like [`record`], for the record added by an entry. Includes ended timelines that a fork continues.
pub(super) fn record_at(
    connection: &Connection,
    timeline: TimelineKey,
    position: u64,
) -> Result<Option<DataRecord>, StoreError> {
    Ok(records(connection, SELECT_AT, params![timeline.0, sql(position)])?.pop())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::SqliteStore;
    use super::super::values::count;
    use super::*;

    const ROWS: i64 = 2_000;
    const MARK: &str = "erased and not to be found";

    fn marks(path: &Path) -> usize {
        let bytes = std::fs::read(path).unwrap();
        bytes.windows(MARK.len()).filter(|piece| *piece == MARK.as_bytes()).count()
    }

    /// Inserted rows move others to other pages. SQLite leaves nearly nothing on the old pages, a copy nothing at all.
    #[test]
    fn erased_payloads_are_absent_from_former_pages_and_copies() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.db");
        let store = SqliteStore::open(&path).unwrap();
        let mut writer = store.shared.writer.lock();
        let step = |number: i64| (number * 1_237) % ROWS;
        let transaction = writer.transaction().unwrap();
        for position in (0..ROWS).map(step) {
            let text = format!("{MARK} {position}").repeat(10);
            let entry = "INSERT INTO entries (entry, leaf, salt, payload) VALUES (?1, x'01', x'02', ?2)";
            transaction
                .execute(entry, params![entry_key(TimelineKey(2), sql_count(position)), text.as_bytes()])
                .unwrap();
            let event = "INSERT INTO events (timeline, cell, time, position, event_id, content)
                VALUES (2, -1, ?1, ?2, ?3, ?4)";
            transaction.execute(event, params![step(position), position, format!("event-{position}"), text]).unwrap();
        }
        transaction.commit().unwrap();
        forget_log(&writer);
        let before = marks(&path);
        assert!(before > 30_000, "else nothing is tried");
        let transaction = writer.transaction().unwrap();
        for position in 0..ROWS {
            let event_id = timenav_core::ids::EventId::new(&format!("event-{position}")).unwrap();
            let erasure = Erasure { position: sql_count(position), by: 1, content: ErasedContent::Event(event_id) };
            erase(&transaction, TimelineKey(2), &erasure).unwrap();
        }
        transaction.commit().unwrap();
        forget_log(&writer);
        assert!(marks(&path) * 1_000 < before, "{} of {before}", marks(&path));
        let copied = folder.path().join("y.db");
        super::super::copy(&path, &copied, |_, _| {}).unwrap();
        assert_eq!(marks(&copied), 0);
    }

    fn sql_count(number: i64) -> u64 {
        count(number).unwrap()
    }
}
