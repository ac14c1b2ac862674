//! Entries about retention, which are read before all others.

use timenav_core::ledger::LeafRecord;
use timenav_core::scan::{Depth, FindingKind, LedgerScan};

use super::ScanWalk;
use crate::integrity::scan::pruned::{self, Pruned, RetentionEntry};
use crate::ports::store_error::StoreError;

/// Entries about retention in order. Each is read when it is needed, because one may name thousands of runs.
pub(super) struct RetentionEntries {
    /// Positions, and whether each is a policy.
    rows: std::vec::IntoIter<(u64, bool)>,
    /// `None` after all were read.
    ledger: Option<LedgerScan>,
    is_proven: bool,
}

impl ScanWalk<'_, '_> {
    /// Unless the scan reads all entries, each entry about retention is proven to be in the tree.
    pub(super) async fn pruned(&mut self) -> Result<Pruned, StoreError> {
        let mut pruned = Pruned::default();
        let policies: Vec<u64> =
            self.snapshot.head.retention.as_slice().iter().map(|(position, _)| *position).collect();
        let sweeps = self.request.source.sweep_rows(self.snapshot.head.key, self.size()).await?;
        let mut retention_entries = self.retention_entries(&policies, &sweeps, self.request.depth != Depth::Full);
        while let Some((position, retention)) = self.next_retention_entry(&mut retention_entries).await? {
            pruned.take(position, &retention);
        }
        pruned.sort();
        Ok(pruned)
    }

    /// Loads the sweeps that name something before `end` and were not loaded yet.
    pub(super) async fn open_sweeps(&mut self, pruned: &mut Pruned, end: u64) -> Result<(), StoreError> {
        let (source, key) = (self.request.source, self.snapshot.head.key);
        while let Some(position) = pruned.next_before(end) {
            let row = source.entry_row(key, position).await?;
            let retention =
                row.and_then(|row| pruned::retention_entry(&LeafRecord::decode(&row.leaf).ok()?, &row.payload));
            match retention {
                Some(RetentionEntry::Sweep(recorded_at, sweep)) => pruned.sweep(position, recorded_at, &sweep),
                Some(RetentionEntry::Policy(_)) | None => {
                    self.findings.add(FindingKind::StateMismatch, Some(position), "the entry changed during the scan");
                }
            }
        }
        Ok(())
    }

    /// Begins to read the entries about retention. All of them must be read to end it.
    pub(super) fn retention_entries(&self, policies: &[u64], sweeps: &[u64], is_proven: bool) -> RetentionEntries {
        let is_policy = policies.iter().map(|position| (*position, true));
        let mut rows: Vec<(u64, bool)> = is_policy.chain(sweeps.iter().map(|position| (*position, false))).collect();
        rows.sort_unstable();
        let ledger = LedgerScan::after(self.request.timeline.as_str(), self.snapshot.head.frontier.clone(), Vec::new());
        RetentionEntries { rows: rows.into_iter(), ledger: Some(ledger), is_proven }
    }

    pub(super) async fn next_retention_entry(
        &mut self,
        retention_entries: &mut RetentionEntries,
    ) -> Result<Option<(u64, RetentionEntry)>, StoreError> {
        let (source, key) = (self.request.source, self.snapshot.head.key);
        while let Some((position, is_policy)) = retention_entries.rows.next() {
            if let Some(ledger) = retention_entries.ledger.as_mut().filter(|_| retention_entries.is_proven) {
                self.prove(ledger, position).await?;
            }
            let row = source.entry_row(key, position).await?;
            let record = row.as_ref().and_then(|row| LeafRecord::decode(&row.leaf).ok().map(|record| (row, record)));
            let retention = record.and_then(|(row, record)| pruned::retention_entry(&record, &row.payload));
            if let Some(retention) =
                retention.filter(|retention| matches!(retention, RetentionEntry::Policy(_)) == is_policy)
            {
                return Ok(Some((position, retention)));
            }
            let table = if is_policy { "policies" } else { "sweeps" };
            let evidence = format!("table {table}, {position}: no entry created this row");
            self.findings.add(FindingKind::StateMismatch, Some(position), evidence);
        }
        if let Some(ledger) = retention_entries.ledger.take() {
            self.findings.append(ledger.into_findings());
        }
        Ok(None)
    }
}
