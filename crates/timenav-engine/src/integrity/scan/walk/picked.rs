use timenav_core::ledger::{PruneClass, inclusion_nodes, is_erasable, leaf_hash, verify_inclusion};
use timenav_core::scan::{FindingKind, LedgerScan};

use super::super::report::Checked;
use super::super::request::{ScanRequest, ScanStage};
use super::super::{sample, tree};
use super::ScanWalk;
use crate::integrity::scan::pruned::{self, RetentionEntry};
use crate::ports::store_error::StoreError;

impl ScanWalk<'_, '_> {
    pub(super) async fn sample(&mut self, count: u64) -> Result<(), StoreError> {
        let positions = sample::picked(count, self.size(), || random(self.request));
        let mut ledger =
            LedgerScan::after(self.request.timeline.as_str(), self.snapshot.head.frontier.clone(), Vec::new());
        let total = positions.len() as u64;
        self.enter(ScanStage::Entries, total);
        for (done, position) in (1..).zip(positions) {
            let bytes = self.prove(&mut ledger, position).await?;
            self.advance(done, bytes);
        }
        self.sampled = total;
        let pruned = self.explain_sampled().await?;
        self.checked.push(Checked { what: "pruned", count: pruned });
        self.checked.push(Checked { what: "entries", count: ledger.entries_count() });
        self.checked.push(Checked { what: "payloads", count: ledger.payloads_count() });
        self.findings.append(ledger.into_findings());
        Ok(())
    }

    /// Determines whether missing payloads of sampled reads and rejections were pruned. Returns how many were.
    async fn explain_sampled(&mut self) -> Result<u64, StoreError> {
        let mut missing = std::mem::take(&mut self.missing_sampled);
        if missing.count() == 0 {
            return Ok(0);
        }
        // Include sweeps committed since the scan began.
        let source = self.request.source;
        let newest = source.snapshot(&self.request.timeline).await?;
        let head = newest.as_ref().map_or(&self.snapshot.head, |newest| &newest.head);
        let policies: Vec<u64> = head.retention.as_slice().iter().map(|(position, _)| *position).collect();
        let sweeps = source.sweep_rows(head.key, head.frontier.size()).await?;
        let (mut pruned, mut retention_entries) = (0, self.retention_entries(&policies, &sweeps, true));
        while let Some((position, entry)) = self.next_retention_entry(&mut retention_entries).await? {
            match entry {
                RetentionEntry::Policy(retention) => missing.policy(position, retention),
                RetentionEntry::Sweep(recorded_at, sweep) => {
                    let findings = &mut self.findings;
                    pruned += pruned::explain(&mut missing, position, recorded_at, &sweep, findings).len() as u64;
                }
            }
        }
        for position in missing.positions() {
            let evidence = "the payload is gone, but no sweep pruned it";
            self.findings.add(FindingKind::PayloadMismatch, Some(position), evidence);
        }
        Ok(pruned)
    }

    pub(super) async fn prove(&mut self, ledger: &mut LedgerScan, position: u64) -> Result<u64, StoreError> {
        let (source, key, size) = (self.request.source, self.snapshot.head.key, self.size());
        let Some(row) = source.entry_row(key, position).await? else {
            self.findings.add(FindingKind::SequenceGap, Some(position), "the entry is missing");
            return Ok(0);
        };
        let record = ledger.entry(row.as_bytes()).filter(|_| row.as_bytes().is_erased());
        if let Some(record) = record {
            let is_swept = PruneClass::of(&record.action).is_some();
            if let Some(entry) = pruned::swept(&record, &row).filter(|_| is_swept) {
                self.missing_sampled.add(&entry);
            } else if !is_swept && !is_erasable(&record.action) {
                let evidence = format!("the payload of `{}` is gone, which nothing may erase", record.action);
                self.findings.add(FindingKind::PayloadMismatch, Some(position), evidence);
            }
        }
        let bytes = row.bytes_count();
        let Ok(nodes) = inclusion_nodes(position, size) else { return Ok(bytes) };
        let Some(proof) = tree::hashes(source, key, &nodes, position, &mut self.findings).await? else {
            return Ok(bytes);
        };
        let root = self.signed.as_ref().map_or_else(|| self.snapshot.head.frontier.root(), |signed| signed.root);
        if let Err(error) = verify_inclusion(position, size, &leaf_hash(&row.leaf), &proof, &root) {
            self.findings.add(FindingKind::LeafMismatch, Some(position), error.to_string());
        }
        Ok(bytes)
    }
}

fn random(request: &ScanRequest<'_>) -> u64 {
    let mut bytes = [0; 8];
    request.entropy.fill(&mut bytes);
    u64::from_be_bytes(bytes)
}
