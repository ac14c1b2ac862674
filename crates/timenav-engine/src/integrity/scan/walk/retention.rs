//! Entries about retention, which are read before all others.

use timenav_core::ledger::LeafRecord;
use timenav_core::scan::{Depth, FindingKind, LedgerScan};

use super::Way;
use crate::integrity::scan::pruned::{self, Pruned, Told};
use crate::ports::store_error::StoreError;

/// Entries about retention in order. Each is read when it is needed, because one may name thousands of runs.
pub(super) struct Telling {
    /// Positions, and whether each is a policy.
    rows: std::vec::IntoIter<(u64, bool)>,
    /// `None` after all were read.
    ledger: Option<LedgerScan>,
    is_proven: bool,
}

impl Way<'_, '_> {
    /// Unless the scan reads all entries, each entry about retention is proven to be in the tree.
    pub(super) async fn pruned(&mut self) -> Result<Pruned, StoreError> {
        let mut pruned = Pruned::default();
        let policies: Vec<u64> =
            self.snapshot.head.retention.as_slice().iter().map(|(position, _)| *position).collect();
        let sweeps = self.request.source.sweep_rows(self.snapshot.head.key, self.size()).await?;
        let mut telling = self.telling(&policies, &sweeps, self.request.depth != Depth::Full);
        while let Some((position, told)) = self.next_told(&mut telling).await? {
            pruned.take(position, &told);
        }
        pruned.sort();
        Ok(pruned)
    }

    /// Loads the sweeps that name something before `end` and were not loaded yet.
    pub(super) async fn open_sweeps(&mut self, pruned: &mut Pruned, end: u64) -> Result<(), StoreError> {
        let (source, key) = (self.request.source, self.snapshot.head.key);
        while let Some(position) = pruned.next_before(end) {
            let row = source.entry_row(key, position).await?;
            let told = row.and_then(|row| pruned::told(&LeafRecord::decode(&row.leaf).ok()?, &row.payload));
            match told {
                Some(Told::Sweep(recorded_at, sweep)) => pruned.sweep(position, recorded_at, &sweep),
                Some(Told::Policy(_)) | None => {
                    self.findings.add(FindingKind::StateMismatch, Some(position), "the entry changed during the scan");
                }
            }
        }
        Ok(())
    }

    /// Begins to read the entries about retention. All of them must be read to end it.
    pub(super) fn telling(&self, policies: &[u64], sweeps: &[u64], is_proven: bool) -> Telling {
        let is_policy = policies.iter().map(|position| (*position, true));
        let mut rows: Vec<(u64, bool)> = is_policy.chain(sweeps.iter().map(|position| (*position, false))).collect();
        rows.sort_unstable();
        let ledger = LedgerScan::after(self.request.timeline.as_str(), self.snapshot.head.frontier.clone(), Vec::new());
        Telling { rows: rows.into_iter(), ledger: Some(ledger), is_proven }
    }

    pub(super) async fn next_told(&mut self, telling: &mut Telling) -> Result<Option<(u64, Told)>, StoreError> {
        let (source, key) = (self.request.source, self.snapshot.head.key);
        while let Some((position, is_policy)) = telling.rows.next() {
            if let Some(ledger) = telling.ledger.as_mut().filter(|_| telling.is_proven) {
                self.prove(ledger, position).await?;
            }
            let row = source.entry_row(key, position).await?;
            let record = row.as_ref().and_then(|row| LeafRecord::decode(&row.leaf).ok().map(|record| (row, record)));
            let told = record.and_then(|(row, record)| pruned::told(&record, &row.payload));
            if let Some(told) = told.filter(|told| matches!(told, Told::Policy(_)) == is_policy) {
                return Ok(Some((position, told)));
            }
            let table = if is_policy { "policies" } else { "sweeps" };
            let evidence = format!("table {table}, {position}: no entry created this row");
            self.findings.add(FindingKind::StateMismatch, Some(position), evidence);
        }
        if let Some(ledger) = telling.ledger.take() {
            self.findings.append(ledger.into_findings());
        }
        Ok(None)
    }
}
