//! Sealed records, and the erasing of what may be erased.

use std::time::Duration;

use rusqlite::{Connection, OptionalExtension, Transaction, params};
use timenav_core::data::SealedData;
use timenav_core::ids::{DataId, TimelineId};
use timenav_engine::{DataRecord, ErasedContent, Erasure, StoreError, TimelineKey};

use super::connection::BUSY_WAIT;
use super::values::{count, damaged, entry_key, failed, id, sql};

/// How long emptying the log may wait for readers: as long do all writers.
const READERS_WAIT: Duration = Duration::from_millis(500);

const INSERT: &str = "INSERT INTO data_records (data_id, timeline, position, erased, format, kind, salt, nonce,
    commitment, ciphertext) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)";
const SELECT: &str = "SELECT t.timeline_id, d.position, d.erased, d.format, d.kind, d.salt, d.nonce, d.commitment,
    d.ciphertext FROM data_records d JOIN timelines t ON t.timeline = d.timeline WHERE d.data_id = ?1";
const ERASE_RECORD: &str = "UPDATE data_records SET erased = ?1, salt = x'', nonce = x'', commitment = x'',
    ciphertext = x'' WHERE data_id = ?2 AND timeline = ?3 AND position = ?4 AND erased IS NULL";
const ERASE_EVENT: &str = "DELETE FROM events WHERE timeline = ?1 AND event_id = ?2 AND position = ?3";
const ERASE_PAYLOAD: &str = "UPDATE entries SET salt = x'', payload = x'' WHERE entry = ?1";

pub(super) fn insert(
    transaction: &Transaction<'_>,
    timeline: TimelineKey,
    record: &DataRecord,
) -> rusqlite::Result<()> {
    let sealed = &record.sealed;
    transaction.prepare_cached(INSERT)?.execute(params![
        record.data_id.as_str(),
        timeline.0,
        sql(record.position),
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

/// Takes content out of the tables. What is not there any more needs no erasing.
pub(super) fn erase(transaction: &Transaction<'_>, timeline: TimelineKey, erasure: &Erasure) -> rusqlite::Result<()> {
    let position = sql(erasure.position);
    match &erasure.content {
        ErasedContent::Data(data_id) => {
            let row = params![sql(erasure.by), data_id.as_str(), timeline.0, position];
            transaction.prepare_cached(ERASE_RECORD)?.execute(row)?;
        }
        ErasedContent::Event(event_id) => {
            transaction.prepare_cached(ERASE_EVENT)?.execute(params![timeline.0, event_id.as_str(), position])?;
            transaction.prepare_cached(ERASE_PAYLOAD)?.execute([entry_key(timeline, erasure.position)])?;
        }
    }
    Ok(())
}

/// Folds the write-ahead log into the file and empties it: it holds what was just erased.
pub(super) fn forget_log(connection: &Connection) {
    let emptied = (|| {
        connection.busy_timeout(READERS_WAIT)?;
        let busy = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, bool>(0))?;
        connection.busy_timeout(BUSY_WAIT)?;
        connection.pragma_update(None, "secure_delete", false)?;
        Ok::<_, rusqlite::Error>(busy)
    })();
    match emptied {
        Ok(false) => {}
        // What was asked for is durable; the log is written over as it goes on.
        Ok(true) => tracing::warn!("something was erased, but a reader holds on to the log that still has it"),
        Err(error) => tracing::warn!(%error, "something was erased, but the log that still has it was not emptied"),
    }
}

pub(super) fn record(
    connection: &Connection,
    data_id: &DataId,
) -> Result<Option<(TimelineId, DataRecord)>, StoreError> {
    let mut select = connection.prepare_cached(SELECT).map_err(failed)?;
    let found = select.query_row([data_id.as_str()], |row| {
        let numbers: (i64, Option<i64>, i64, i64) = (row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?);
        let blobs: [Vec<u8>; 4] = [row.get(5)?, row.get(6)?, row.get(7)?, row.get(8)?];
        Ok((row.get::<_, String>(0)?, numbers, blobs))
    });
    let Some((timeline, (position, erased, format, kind), blobs)) = found.optional().map_err(failed)? else {
        return Ok(None);
    };
    let byte = |number: i64| u8::try_from(number).map_err(|_| damaged("a format or kind that is no byte"));
    let [salt, nonce, commitment, ciphertext] = blobs;
    let sealed = SealedData { format: byte(format)?, kind: byte(kind)?, salt, nonce, commitment, ciphertext };
    let erased = erased.map(count).transpose()?;
    let record = DataRecord { data_id: data_id.clone(), position: count(position)?, erased, sealed };
    Ok(Some((id(TimelineId::new(&timeline))?, record)))
}
