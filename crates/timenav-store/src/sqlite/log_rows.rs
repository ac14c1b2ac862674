//! What entries tell of who did what.

use std::ops::Range;

use rusqlite::Connection;
use timenav_engine::{LogRow, StoreError, TimelineKey};

use super::leaf::Leaves;
use super::values::{POSITION_MAX, entry_key, failed, position};

/// What is kept in the short form tells of reads. Only of these the contents are read.
const SELECT_LOG: &str = "SELECT entry, leaf, iif(substr(leaf, 1, 1) = x'7b', NULL, salt),
    iif(substr(leaf, 1, 1) = x'7b', NULL, payload) FROM entries WHERE entry BETWEEN ?1 AND ?2 ORDER BY entry";

pub(super) fn log_rows(
    connection: &Connection,
    timeline: TimelineKey,
    range: &Range<u64>,
    newest_first: bool,
    bytes_max: usize,
) -> Result<Vec<LogRow>, StoreError> {
    let order = if newest_first { " DESC" } else { "" };
    let mut select = connection.prepare_cached(&format!("{SELECT_LOG}{order}")).map_err(failed)?;
    let last = range.end.saturating_sub(1).min(POSITION_MAX);
    let mut rows = select.query([entry_key(timeline, range.start), entry_key(timeline, last)]).map_err(failed)?;
    let (leaves, mut found, mut bytes) = (Leaves::new(connection, timeline), Vec::new(), 0);
    while let Some(row) = rows.next().map_err(failed)? {
        let position = position(timeline, row.get(0).map_err(failed)?)?;
        let kept = row.get_ref(1).and_then(|value| Ok(value.as_blob()?)).map_err(failed)?;
        let (salt, payload): (Option<Vec<u8>>, Option<Vec<u8>>) =
            (row.get(2).map_err(failed)?, row.get(3).map_err(failed)?);
        bytes += payload.as_ref().map_or(0, Vec::len);
        if bytes > bytes_max && !found.is_empty() {
            break;
        }
        let leaf = leaves.whole(position, kept)?.into_owned();
        found.push(LogRow { position, leaf, reads: salt.zip(payload) });
    }
    Ok(found)
}
