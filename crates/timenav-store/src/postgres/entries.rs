use timenav_core::ledger::Salt;
use timenav_engine::{StoredEntry, TimelineKey};

use self::contents::StoredContents;
use self::leaf::make_whole;
use super::values::{Failed, bytes, count};
use crate::postgres::connection::sessions::Object;

pub(crate) mod contents;
pub(crate) mod leaf;
pub(crate) mod log_rows;
pub(crate) mod origins;
pub(crate) mod tiles;

pub(super) async fn named(on: &Object, positions: &[(TimelineKey, u64)]) -> Result<Vec<Option<StoredEntry>>, Failed> {
    if positions.is_empty() {
        return Ok(Vec::new());
    }
    let mut entries = Vec::with_capacity(positions.len());
    for (found, (timeline, _)) in contents::some(on, positions).await?.into_iter().zip(positions) {
        let Some(mut stored) = found else {
            entries.push(None);
            continue;
        };
        make_whole(on, *timeline, vec![(stored.position, &mut stored.leaf)]).await?;
        entries.push(Some(entry(stored)?));
    }
    Ok(entries)
}

fn entry(stored: StoredContents) -> Result<StoredEntry, Failed> {
    let StoredContents { position, leaf, salt, payload, events_count, clock_entry } = stored;
    // Empty if the payload was erased, or if single reads of the entry were.
    let salt = Salt::from_bytes(if salt.is_empty() { [0; Salt::BYTES] } else { bytes(&salt)? });
    let (events_count, clock_entry) = (count(events_count)?, count(clock_entry)?);
    Ok(StoredEntry { seq: position, leaf, salt, payload, events_count, clock_entry })
}
