//! Hashes the entries of a block in parallel, because their hashes are independent.

use futures_util::future::try_join_all;
use timenav_core::scan::EntryHashes;

use crate::ports::archive::EntryRow;
use crate::ports::store_error::StoreError;
use crate::read::long_work::{off_thread, yielding};

const PARTS: usize = 4;

pub(super) struct HashedRow {
    pub(super) row: EntryRow,
    pub(super) hashes: EntryHashes,
}

/// Hashes entries, not on threads that serve requests.
pub(super) async fn hash(mut rows: Vec<EntryRow>) -> Result<Vec<HashedRow>, StoreError> {
    let (rows_count, part_length) = (rows.len(), rows.len().div_ceil(PARTS).max(1));
    let mut parts = Vec::with_capacity(PARTS);
    while !rows.is_empty() {
        let rest = rows.split_off(rows.len().min(part_length));
        let part = std::mem::replace(&mut rows, rest);
        let hashed = |row: EntryRow| HashedRow { hashes: EntryHashes::of(&row.as_bytes()), row };
        parts.push(off_thread(move || yielding(part).map(hashed).collect::<Vec<_>>()));
    }
    let parts = try_join_all(parts).await?;
    let mut whole = Vec::with_capacity(rows_count);
    whole.extend(parts.into_iter().flatten());
    Ok(whole)
}
