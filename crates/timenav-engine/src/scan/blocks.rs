//! Entries read block by block, so that memory holds a few blocks and no more, however long a ledger is and however large
//! its entries are.

use crate::archive::{EntryRow, ScanSource};
use crate::head::TimelineKey;
use crate::store_error::StoreError;

/// Entries of a block, at most. A scan holds four blocks in memory, and no more of a ledger: one is read, one is
/// hashed, one is replayed, and of one the changes of events are compared.
pub(super) const BLOCK_ENTRIES: u64 = 1_024;
/// A block that has so many bytes gets no more entries.
pub(super) const BLOCK_BYTES: u64 = 8 * 1024 * 1024;
/// Entries asked of the store at a time. The largest hold more than a hundred kilobytes each.
const ASKED_ENTRIES: u64 = 256;

/// Returns the entries there are from a position on, and where the block ends, `size` at most.
pub(super) async fn read(
    source: &dyn ScanSource,
    key: TimelineKey,
    first: u64,
    size: u64,
) -> Result<(Vec<EntryRow>, u64), StoreError> {
    let limit = size.min(first.saturating_add(BLOCK_ENTRIES));
    let (mut rows, mut end, mut bytes) = (Vec::new(), first, 0);
    while end < limit && bytes < BLOCK_BYTES {
        let to = limit.min(end + ASKED_ENTRIES);
        let more = source.entry_rows(key, end, to).await?;
        bytes += more.iter().map(EntryRow::bytes_count).sum::<u64>();
        rows.extend(more);
        end = to;
    }
    Ok((rows, end))
}
