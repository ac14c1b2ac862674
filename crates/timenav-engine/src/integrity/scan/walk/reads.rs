use timenav_core::ledger::{LeafRecord, ReadsEntry, reads_in};
use timenav_core::scan::FindingKind;

use super::ScanWalk;
use crate::integrity::scan::replay::Replay;
use crate::ports::store_error::StoreError;

impl ScanWalk<'_, '_> {
    /// Checks that erased single reads are missing, or their whole entry.
    pub(super) async fn compare_reads(&mut self, replay: &Replay) -> Result<(), StoreError> {
        let (source, key) = (self.request.source, self.snapshot.head.key);
        for (by, position, numbers) in replay.reads_of_erasures() {
            let row = source.entry_row(key, position).await?.filter(|_| position < by);
            let is_missing = row.is_some_and(|row| {
                let is_of_reads = LeafRecord::decode(&row.leaf).is_ok_and(|record| ReadsEntry::of(&record).is_some());
                let reads = reads_in(&row.payload).unwrap_or_default();
                let is_there = (0..).zip(&reads).any(|(number, read)| read.is_some() && numbers.contains(number));
                is_of_reads && !is_there && (row.payload.is_empty() || numbers.last() < Some(reads.len() as u64))
            });
            if !is_missing {
                let evidence =
                    format!("it says that reads of the entry at position {position} were erased, but they were not");
                self.findings.add(FindingKind::StateMismatch, Some(by), evidence);
            }
        }
        Ok(())
    }
}
