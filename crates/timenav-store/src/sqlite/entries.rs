use rusqlite::{Connection, OptionalExtension};
use timenav_core::ledger::Salt;
use timenav_engine::{StoreError, StoredEntry, TimelineKey};

use self::contents::Contents;
use self::leaf::Leaves;
use super::values::{POSITION_MAX, bytes, count, entry_key, failed};

pub(crate) mod contents;
pub(crate) mod leaf;
pub(crate) mod log_rows;
pub(crate) mod origins;
pub(crate) mod tiles;

const SELECT_ENTRY: &str = "SELECT leaf, salt, payload, events_count, clock_entry FROM entries WHERE entry = ?1";

pub(super) fn entry(
    connection: &Connection,
    timeline: TimelineKey,
    seq: u64,
) -> Result<Option<StoredEntry>, StoreError> {
    if seq > POSITION_MAX {
        return Ok(None);
    }
    let mut select = connection.prepare_cached(SELECT_ENTRY).map_err(failed)?;
    let key = entry_key(timeline, seq);
    let found = select.query_row([key], |row| {
        let (leaf, inline) = (row.get::<_, Vec<u8>>(0)?, Contents { salt: row.get(1)?, payload: row.get(2)? });
        // SQLite keeps its snapshot while the row is being read.
        let contents = contents::of_one(connection, key, &leaf, inline)?;
        Ok((leaf, contents, row.get::<_, i64>(3)?, row.get::<_, i64>(4)?))
    });
    let Some(found) = found.optional().map_err(failed)? else { return Ok(None) };
    let (leaf, Contents { salt, payload }, events_count, clock_entry) = found;
    let leaf = Leaves::new(connection, timeline).whole(seq, &leaf)?.into_owned();
    // Empty if the payload was erased, or if single reads of the entry were.
    let salt = if salt.is_empty() { [0; Salt::BYTES] } else { bytes(&salt)? };
    let (salt, events_count) = (Salt::from_bytes(salt), count(events_count)?);
    Ok(Some(StoredEntry { seq, leaf, salt, payload, events_count, clock_entry: count(clock_entry)? }))
}
