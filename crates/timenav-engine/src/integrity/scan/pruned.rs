//! Pruned contents in a scan: missing contents are compared with what sweeps may name.

use timenav_core::ledger::{
    LeafRecord, MissingPayloads, PayloadFate, PruneClass, Retention, SET_RETENTION_ACTION, SWEEP_ACTION, Sweep,
    SweepAudit, SweepFaultKind, SweptEntry, leaf_hash,
};
use timenav_core::scan::{FindingKind, Findings};
use timenav_core::time::{Instant, Wall, parse_timestamp};

use crate::ports::archive::EntryRow;

pub(super) enum RetentionEntry {
    Policy(Retention),
    Sweep(Instant<Wall>, Sweep<'static>),
}

/// State of pruned contents. First receives policies and the start of each sweep, then all entries read by the scan.
/// Only keeps those positions named by sweeps that are near the entries being read.
#[derive(Default)]
pub(super) struct Pruned {
    audit: SweepAudit,
    /// Positions of sweeps, with the first position that each names.
    sweeps: Vec<(u64, u64)>,
    /// Sweeps that are not loaded: the first position each names, and its own position; the next one is last.
    waiting: Vec<(u64, u64)>,
    /// Missing contents that no sweep had named when the scan began. A later sweep may name them.
    missing: MissingPayloads,
}

impl Pruned {
    /// The positions named by a sweep are loaded again before they are needed.
    pub(super) fn take(&mut self, position: u64, entry: &RetentionEntry) {
        match entry {
            RetentionEntry::Policy(retention) => {
                self.audit.policy(position, *retention);
                self.missing.policy(position, *retention);
            }
            RetentionEntry::Sweep(_, sweep) => {
                let first = sweep.positions.as_slice().first().map_or(0, |(first, _)| *first);
                self.sweeps.push((position, first));
                self.waiting.push((first, position));
            }
        }
    }

    /// Sorts the sweeps by the order in which they are needed, once all are known.
    pub(super) fn sort(&mut self) {
        self.waiting.sort_unstable_by_key(|sweep| std::cmp::Reverse(*sweep));
    }

    /// Takes the position of the next sweep that names something before `end`, which must then be loaded.
    pub(super) fn next_before(&mut self, end: u64) -> Option<u64> {
        self.waiting.pop_if(|(first, _)| *first < end).map(|(_, position)| position)
    }

    pub(super) fn sweep(&mut self, position: u64, recorded_at: Instant<Wall>, sweep: &Sweep<'_>) {
        self.audit.sweep(position, recorded_at, sweep);
    }

    /// Removes sweeps that name nothing from a position on.
    pub(super) fn end_before(&mut self, position: u64) {
        self.audit.end_before(position);
    }

    pub(super) fn positions(&self) -> Vec<u64> {
        self.sweeps.iter().map(|(position, _)| *position).collect()
    }

    /// Returns whether its payload is missing because it was pruned.
    pub(super) fn entry(&mut self, record: &LeafRecord<'_>, row: &EntryRow, is_missing: bool) -> bool {
        if self.sweeps.is_empty() && !is_missing {
            return false;
        }
        let Some(entry) = swept(record, row) else { return false };
        match self.audit.entry(&entry, is_missing) {
            PayloadFate::Pruned { .. } => true,
            PayloadFate::Retained | PayloadFate::Erased => false,
            PayloadFate::Unexplained => {
                if PruneClass::of(entry.action).is_some() {
                    self.missing.add(&entry);
                }
                false
            }
        }
    }

    /// Processes an entry written after the scan began. Returns which missing payloads it explains.
    pub(super) fn later(&mut self, position: u64, entry: &RetentionEntry, findings: &mut Findings) -> Vec<u64> {
        match entry {
            RetentionEntry::Policy(retention) => {
                self.missing.policy(position, *retention);
                Vec::new()
            }
            RetentionEntry::Sweep(recorded_at, sweep) => {
                explain(&mut self.missing, position, *recorded_at, sweep, findings)
            }
        }
    }

    /// `first` is where reading began; earlier entries were not compared.
    pub(super) fn finish(self, first: u64, findings: &mut Findings) {
        let Self { audit, sweeps, .. } = self;
        let (faults, omitted) = audit.finish();
        for fault in faults {
            let is_seen = sweeps.iter().any(|(position, from)| *position == fault.sweep && *from >= first);
            if is_seen || fault.kind != SweepFaultKind::LeafHashes {
                findings.add(FindingKind::SweepMismatch, Some(fault.sweep), fault.to_string());
            }
        }
        if omitted > 0 {
            findings.add(FindingKind::SweepMismatch, None, format!("sweeps have {omitted} more faults"));
        }
    }
}

pub(super) fn explain(
    missing: &mut MissingPayloads,
    position: u64,
    recorded_at: Instant<Wall>,
    sweep: &Sweep<'_>,
    findings: &mut Findings,
) -> Vec<u64> {
    let before: Vec<u64> = missing.positions().filter(|position| sweep.positions.contains(*position)).collect();
    if let Err(fault) = missing.sweep(position, recorded_at, sweep) {
        findings.add(FindingKind::SweepMismatch, Some(position), fault.to_string());
    }
    before.into_iter().filter(|position| !missing.contains(*position)).collect()
}

pub(super) fn retention_entry(record: &LeafRecord<'_>, payload: &[u8]) -> Option<RetentionEntry> {
    match &*record.action {
        SET_RETENTION_ACTION => Retention::decode(payload).ok().map(RetentionEntry::Policy),
        SWEEP_ACTION => {
            let recorded_at = parse_timestamp(&record.recorded_at).ok()?;
            Sweep::decode(payload).ok().map(|sweep| RetentionEntry::Sweep(recorded_at, sweep.into_owned()))
        }
        _ => None,
    }
}

/// Returns an entry in the form for sweeps; `None` if its time cannot be parsed.
pub(super) fn swept<'a>(record: &'a LeafRecord<'_>, row: &EntryRow) -> Option<SweptEntry<'a>> {
    let recorded_at = parse_timestamp(&record.recorded_at).ok()?;
    Some(SweptEntry { position: row.position, action: &record.action, recorded_at, leaf_hash: leaf_hash(&row.leaf) })
}
