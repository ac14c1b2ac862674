use timenav_core::ledger::{ADOPT_ACTION, LeafRecord};
use timenav_core::scan::{FilledTile, LedgerScan};

use crate::integrity::scan::hashing::HashedRow;
use crate::integrity::scan::replay::{
    EntryData, ForgottenOutcomes, Recorded, RecordedData, RecordedEvent, RecordedHeads, Replay,
};
use crate::ports::archive::EntryRow;
use crate::read::long_work::yielding;

#[derive(Default)]
pub(super) struct Block {
    pub(super) events: Vec<RecordedEvent>,
    pub(super) data: Vec<RecordedData>,
    pub(super) filled: Vec<FilledTile>,
    pub(super) forgotten: Vec<ForgottenOutcomes>,
    pub(super) heads: Vec<RecordedHeads>,
}

/// `is_pruned` returns whether the payload of an entry was pruned, given whether it is missing.
pub(super) fn take(
    (ledger, replay): (&mut LedgerScan, &mut Replay),
    rows: &[HashedRow],
    end: u64,
    mut is_pruned: impl FnMut(&LeafRecord<'_>, &EntryRow, bool) -> bool,
) -> Block {
    let mut block = Block::default();
    for HashedRow { row, hashes } in yielding(rows) {
        if row.position > ledger.position() {
            let first = ledger.position();
            ledger.gap(row.position);
            replay.lose(first);
        }
        let bytes = row.as_bytes();
        let fitted = ledger.payloads_count();
        // Computing a root is expensive, and it is only needed at an adoption.
        let adopted_after = is_adopt(&row.leaf).then(|| ledger.root());
        let Some(record) = ledger.hashed_entry(bytes, hashes) else {
            replay.lose(row.position);
            continue;
        };
        let payload = (!bytes.is_erased()).then_some(bytes.payload);
        let fits = payload.is_none() || ledger.payloads_count() > fitted;
        if !fits {
            replay.lose(row.position);
        }
        let is_pruned = is_pruned(&record, row, payload.is_none());
        let data = EntryData { position: row.position, payload, readers: hashes.readers() };
        let recorded = replay.entry(&record, data, Some(row.marks), is_pruned);
        if let Some(root) = adopted_after {
            replay.compare_adopted(row.position, payload, root);
        }
        match recorded.filter(|_| fits) {
            Some(Recorded::Event(event)) => block.events.push(event),
            Some(Recorded::Data(data)) => block.data.push(data),
            None => {}
        }
    }
    if ledger.position() < end {
        let first = ledger.position();
        ledger.gap(end);
        replay.lose(first);
    }
    block.filled = ledger.take_filled();
    block.forgotten = replay.take_forgotten();
    block.heads = replay.take_heads();
    block
}

/// Returns whether a leaf is an adoption: a leaf of version 2 begins with its action.
fn is_adopt(leaf: &[u8]) -> bool {
    leaf.strip_prefix(b"{\"action\":\"").and_then(|rest| rest.strip_prefix(ADOPT_ACTION.as_bytes())).is_some()
}
