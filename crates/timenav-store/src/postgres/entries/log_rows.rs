//! Reads entries for the log of who did what.

use std::ops::Range;

use timenav_engine::{LogRow, Pace, TimelineKey};

use crate::persistence::leaf;
use crate::postgres::connection::sessions::Object;
use crate::postgres::entries::contents;
use crate::postgres::entries::leaf::make_whole;
use crate::postgres::values::Failed;

const ROWS_MAX: usize = 512;
/// Approximate bytes read at a time.
const ROWS_BYTES: usize = 1024 * 1024;

pub(in crate::postgres) async fn log_rows(
    on: &Object,
    timeline: TimelineKey,
    range: Range<u64>,
    newest_first: bool,
    bytes_max: usize,
) -> Result<Vec<LogRow>, Failed> {
    let (mut found, mut bytes, mut range) = (Vec::new(), 0, range);
    let mut pace = Pace::new(ROWS_MAX, ROWS_BYTES);
    'read: while !range.is_empty() {
        let rows_max = pace.rows();
        let rows = contents::walk(on, timeline, (range.start, range.end - 1), newest_first, rows_max).await?;
        let is_last = rows.len() < rows_max;
        pace.took(rows.len(), contents::bytes_count(&rows));
        for stored in rows {
            if newest_first {
                range.end = stored.position;
            } else {
                range.start = stored.position + 1;
            }
            // A leaf in the short form is a read entry. Only read entries need more than their leaf.
            let reads = leaf::is_short(&stored.leaf).then_some((stored.salt, stored.payload));
            bytes += reads.as_ref().map_or(0, |(_, payload)| payload.len());
            if bytes > bytes_max && !found.is_empty() {
                break 'read;
            }
            found.push(LogRow { position: stored.position, leaf: stored.leaf, reads });
        }
        if is_last {
            break;
        }
    }
    make_whole(on, timeline, found.iter_mut().map(|row| (row.position, &mut row.leaf)).collect()).await?;
    Ok(found)
}
