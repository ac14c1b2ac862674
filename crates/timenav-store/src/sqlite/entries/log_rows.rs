//! Reads entries for the log of who did what.

use std::ops::Range;

use rusqlite::Connection;
use timenav_engine::{LogRow, StoreError, TimelineKey};

use crate::sqlite::entries::contents::{self, Contents, StoredContents};
use crate::sqlite::entries::leaf::Leaves;
use crate::sqlite::values::{POSITION_MAX, entry_key, position};

pub(in crate::sqlite) fn log_rows(
    connection: &Connection,
    timeline: TimelineKey,
    range: &Range<u64>,
    newest_first: bool,
    bytes_max: usize,
) -> Result<Vec<LogRow>, StoreError> {
    let last = range.end.saturating_sub(1).min(POSITION_MAX);
    let (leaves, mut found, mut bytes) = (Leaves::new(connection, timeline), Vec::new(), 0);
    contents::walk(
        connection,
        [entry_key(timeline, range.start), entry_key(timeline, last)],
        newest_first,
        |stored| {
            let StoredContents { key, leaf, contents: Contents { salt, payload }, .. } = stored;
            let position = position(timeline, key)?;
            // A leaf in the short form is a read entry. Only read entries need more than their leaf.
            let reads = (leaf.first() != Some(&b'{')).then_some((salt, payload));
            bytes += reads.as_ref().map_or(0, |(_, payload)| payload.len());
            if bytes > bytes_max && !found.is_empty() {
                return Ok(false);
            }
            found.push(LogRow { position, leaf: leaves.whole(position, leaf)?.into_owned(), reads });
            Ok(true)
        },
    )?;
    Ok(found)
}
