use std::time::Duration;

use rusqlite::{Connection, OptionalExtension, Row, Transaction, params};
use timenav_core::data::SealedData;
use timenav_core::ids::{DataId, TimelineId};
use timenav_engine::{DataRecord, ErasedContent, Erasure, StoreError, TimelineKey};

use super::connection::BUSY_WAIT;
use super::values::{count, damaged, entry_key, failed, id, sql};
use crate::sqlite::entries::contents;

/// How long emptying the log may wait for readers. All writers wait as long.
const READERS_WAIT: Duration = Duration::from_millis(500);

const INSERT: &str = "INSERT INTO data_records (timeline, position, data_id, erased, format, kind, salt, nonce,
    commitment, ciphertext) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)";
/// The first record on a live timeline. A bundle with a record of the same id is rejected, so there is only one.
const SELECT: &str = "SELECT d.position, d.data_id, d.erased, d.format, d.kind, d.salt, d.nonce, d.commitment,
    d.ciphertext, t.timeline_id FROM data_records d JOIN timelines t ON t.timeline = d.timeline WHERE d.data_id = ?1
    ORDER BY d.timeline LIMIT 1";
const SELECT_AT: &str = "SELECT position, data_id, erased, format, kind, salt, nonce, commitment, ciphertext
    FROM data_records WHERE timeline = ?1 AND position = ?2";
const ERASE_RECORD: &str = "UPDATE data_records SET erased = ?1, salt = x'', nonce = x'', commitment = x'',
    ciphertext = x'' WHERE data_id = ?2 AND timeline = ?3 AND position = ?4 AND erased IS NULL";
/// Without the hint, SQLite uses the primary key and reads all events of the timeline.
const ERASE_EVENT: &str =
    "DELETE FROM events INDEXED BY events_by_id WHERE timeline = ?1 AND event_id = ?2 AND position = ?3";

pub(super) fn insert(
    transaction: &Transaction<'_>,
    timeline: TimelineKey,
    record: &DataRecord,
) -> rusqlite::Result<()> {
    let sealed = &record.sealed;
    transaction.prepare_cached(INSERT)?.execute(params![
        timeline.0,
        sql(record.position),
        record.data_id.as_str(),
        record.erased.map(sql),
        sealed.format,
        sealed.kind,
        sealed.salt,
        sealed.nonce,
        sealed.commitment,
        sealed.ciphertext,
    ])?;
    Ok(())
}

/// Deletes content from the tables. Missing content is not an error.
pub(super) fn erase(transaction: &Transaction<'_>, timeline: TimelineKey, erasure: &Erasure) -> rusqlite::Result<()> {
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
    let mut select = connection.prepare_cached(SELECT).map_err(failed)?;
    let found = select.query_row([data_id.as_str()], |row| Ok((kept(row)?, row.get::<_, String>(9)?)));
    let Some((kept, timeline)) = found.optional().map_err(failed)? else { return Ok(None) };
    Ok(Some((id(TimelineId::kept(&timeline))?, kept.read()?)))
}

/// Like [`record`], for the record added by an entry. Includes ended timelines that a fork continues.
pub(super) fn record_at(
    connection: &Connection,
    timeline: TimelineKey,
    position: u64,
) -> Result<Option<DataRecord>, StoreError> {
    let mut select = connection.prepare_cached(SELECT_AT).map_err(failed)?;
    let found = select.query_row(params![timeline.0, sql(position)], kept).optional().map_err(failed)?;
    found.map(Kept::read).transpose()
}

struct Kept {
    data_id: String,
    /// Position, erasing entry, format and kind.
    numbers: (i64, Option<i64>, i64, i64),
    /// Salt, nonce, commitment and ciphertext.
    blobs: [Vec<u8>; 4],
}

fn kept(row: &Row<'_>) -> rusqlite::Result<Kept> {
    let numbers = (row.get(0)?, row.get(2)?, row.get(3)?, row.get(4)?);
    Ok(Kept { data_id: row.get(1)?, numbers, blobs: [row.get(5)?, row.get(6)?, row.get(7)?, row.get(8)?] })
}

impl Kept {
    fn read(self) -> Result<DataRecord, StoreError> {
        let (position, erased, format, kind) = self.numbers;
        let byte = |number: i64| u8::try_from(number).map_err(|_| damaged("a format or kind that is not a byte"));
        let [salt, nonce, commitment, ciphertext] = self.blobs;
        let sealed = SealedData { format: byte(format)?, kind: byte(kind)?, salt, nonce, commitment, ciphertext };
        let erased = erased.map(count).transpose()?;
        Ok(DataRecord { data_id: id(DataId::new(&self.data_id))?, position: count(position)?, erased, sealed })
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::SqliteStore;
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
