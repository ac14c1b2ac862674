//! Reads entries in blocks, to bound memory regardless of the size of ledgers and entries.

use crate::ledger::head::TimelineKey;
use crate::ports::archive::{EntryRow, EntryRows, ScanSource};
use crate::ports::store_error::StoreError;

/// Maximum number of entries in a block; large entries make it shorter. A scan holds four blocks in memory: one being
/// read, one being hashed, one being replayed, and one whose events are compared.
pub(super) const BLOCK_ENTRIES: u64 = 1_024;

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
