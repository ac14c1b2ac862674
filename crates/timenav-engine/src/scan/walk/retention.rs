//! What the ledger tells of retention, read before its entries are.

use timenav_core::ledger::LeafRecord;
use timenav_core::scan::{Depth, FindingKind, LedgerScan};

use super::super::let_go::{self, LetGo, Told};
use super::Way;
use crate::store_error::StoreError;

impl Way<'_, '_> {
    /// Returns what the ledger tells of retention, before its entries are read one by one. Where not all of them are, each
    /// that tells of it is shown to be in the tree.
    pub(super) async fn let_go(&mut self) -> Result<LetGo, StoreError> {
        let mut let_go = LetGo::default();
        let policies: Vec<u64> =
            self.snapshot.head.retention.as_slice().iter().map(|(position, _)| *position).collect();
        let sweeps = self.request.source.sweep_rows(self.snapshot.head.key, self.size()).await?;
        for (position, told) in self.told(policies, sweeps, self.request.depth != Depth::Full).await? {
            let_go.take(position, &told);
        }
        Ok(let_go)
    }

    /// Returns what entries tell of retention that rows lead to, in the order of their positions.
    pub(super) async fn told(
        &mut self,
        policies: Vec<u64>,
        sweeps: Vec<u64>,
        is_proven: bool,
    ) -> Result<Vec<(u64, Told)>, StoreError> {
        let (source, key) = (self.request.source, self.snapshot.head.key);
        let is_policy = policies.iter().map(|position| (*position, true));
        let mut rows: Vec<(u64, bool)> = is_policy.chain(sweeps.iter().map(|position| (*position, false))).collect();
        rows.sort_unstable();
        let mut all = Vec::with_capacity(rows.len());
        let mut ledger =
            LedgerScan::after(self.request.timeline.as_str(), self.snapshot.head.frontier.clone(), Vec::new());
        for (position, is_policy) in rows {
            if is_proven {
                self.prove(&mut ledger, position).await?;
            }
            let row = source.entry_rows(key, position, position + 1).await?.pop();
            let record = row.as_ref().and_then(|row| LeafRecord::decode(&row.leaf).ok().map(|record| (row, record)));
            let told = record.and_then(|(row, record)| let_go::told(&record, &row.payload));
            if let Some(told) = told.filter(|told| matches!(told, Told::Policy(_)) == is_policy) {
                all.push((position, told));
                continue;
            }
            let table = if is_policy { "policies" } else { "sweeps" };
            let evidence = format!("table {table}, {position}: no entry created this row");
            self.findings.add(FindingKind::StateMismatch, Some(position), evidence);
        }
        self.findings.append(ledger.into_findings());
        Ok(all)
    }
}
