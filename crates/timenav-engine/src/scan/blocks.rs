//! Entries read block by block, so that memory holds a few blocks and no more, however long a ledger is and however large
//! its entries are.

use crate::archive::{EntryRow, EntryRows, ScanSource};
use crate::head::TimelineKey;
use crate::store_error::StoreError;

/// Entries of a block, at most; large ones make it shorter. A scan holds four blocks in memory, and no more of a ledger:
/// one is read, one is hashed, one is replayed, and of one the changes of events are compared.
pub(super) const BLOCK_ENTRIES: u64 = 1_024;

/// Returns the entries there are from a position on, and where the block ends, `size` at most.
pub(super) async fn read(
    source: &dyn ScanSource,
    key: TimelineKey,
    first: u64,
    size: u64,
) -> Result<(Vec<EntryRow>, u64), StoreError> {
    let limit = size.min(first.saturating_add(BLOCK_ENTRIES));
    let EntryRows { rows, end } = source.entry_rows(key, first, limit).await?;
    Ok((rows, end))
}
