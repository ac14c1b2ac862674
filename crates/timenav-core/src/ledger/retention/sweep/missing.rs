//! Missing payloads of a ledger that is read in a single pass, until a later entry explains them.

use std::collections::BTreeMap;

use super::{Hash, PayloadFate, Sweep, SweepAudit, SweepFault, SweepFaultKind, SweptEntry};
use crate::ledger::is_erasable;
use crate::ledger::retention::{PruneClass, Retention, RetentionPolicies};
use crate::ledger::runs::PositionRuns;
use crate::time::{Instant, Wall};

#[derive(Clone, Copy, Debug)]
struct Missing {
    class: Option<PruneClass>,
    is_erasable: bool,
    recorded_at: Instant<Wall>,
    leaf_hash: Hash,
}

/// Missing payloads that no entry has explained so far, of a ledger that is read once in ascending order. Memory grows
/// with the number of missing payloads.
///
/// A sweep is compared only with those of its entries whose payload is missing, because the others are not remembered.
/// [`SweepAudit`] reads a ledger twice and compares everything.
#[derive(Clone, Debug, Default)]
pub struct MissingPayloads {
    policies: RetentionPolicies,
    missing: BTreeMap<u64, Missing>,
}

impl MissingPayloads {
    pub fn add(&mut self, entry: &SweptEntry<'_>) {
        let SweptEntry { position, action, recorded_at, leaf_hash } = *entry;
        let (class, is_erasable) = (PruneClass::of(action), is_erasable(action));
        self.missing.insert(position, Missing { class, is_erasable, recorded_at, leaf_hash });
    }

    /// Adds a policy. Ignored unless it comes after the previous ones.
    pub fn policy(&mut self, position: u64, retention: Retention) {
        if self.policies.as_slice().last().is_none_or(|(last, _)| *last < position) {
            self.policies.set(position, retention);
        }
    }

    /// Marks a position as erased by an erasure of events. Returns whether this explains a missing payload, which it
    /// does only for entries about events.
    pub fn remove(&mut self, position: u64) -> bool {
        let is_named = self.missing.get(&position).is_some_and(|missing| missing.is_erasable);
        is_named && self.missing.remove(&position).is_some()
    }

    /// Applies an erasure of events. Returns how many missing payloads it explains.
    pub fn erased(&mut self, positions: &PositionRuns) -> u64 {
        let named = self.in_runs(positions);
        named.into_iter().map(|(position, _)| u64::from(self.remove(position))).sum()
    }

    /// Applies a sweep, with its position and recording time. Returns how many missing payloads it explains.
    ///
    /// # Errors
    /// It lists an entry that may not be pruned. Nothing is explained by it.
    pub fn sweep(&mut self, position: u64, recorded_at: Instant<Wall>, sweep: &Sweep<'_>) -> Result<u64, SweepFault> {
        let mut audit = SweepAudit::default();
        for (policy, retention) in self.policies.as_slice() {
            audit.policy(*policy, *retention);
        }
        audit.sweep(position, recorded_at, sweep);
        let named = self.in_runs(&sweep.positions);
        let is_all = named.len() as u64 == sweep.positions.count();
        let mut pruned = Vec::new();
        for (position, missing) in named {
            let Missing { class, recorded_at, leaf_hash, .. } = missing;
            let entry = SweptEntry { position, action: class.map_or("", word), recorded_at, leaf_hash };
            if matches!(audit.entry(&entry, true), PayloadFate::Pruned { .. }) {
                pruned.push(position);
            }
        }
        let (faults, _) = audit.finish();
        let counts = |fault: &SweepFault| is_all || fault.kind != SweepFaultKind::LeafHashes;
        if let Some(fault) = faults.into_iter().find(counts) {
            return Err(fault);
        }
        for position in &pruned {
            self.missing.remove(position);
        }
        Ok(pruned.len() as u64)
    }

    /// Applies a sweep that comes after the first `size` entries, when only the policies of these are known. It may
    /// rely on a later policy, which can keep these entries for longer, but not for shorter. Returns how many missing
    /// payloads it explains.
    ///
    /// # Errors
    /// It lists an entry that may not be pruned, as far as that is known. Nothing is explained by it.
    pub fn later_sweep(
        &mut self,
        size: u64,
        (position, recorded_at): (u64, Instant<Wall>),
        sweep: &Sweep<'_>,
    ) -> Result<u64, SweepFault> {
        if sweep.policy < size {
            return self.sweep(position, recorded_at, sweep);
        }
        let named = self.in_runs(&sweep.positions);
        for (at, missing) in &named {
            let remaining = self
                .policies
                .deciding(sweep.class, *at, size)
                .and_then(|(_, remaining)| recorded_at.checked_sub(remaining));
            let kind = if missing.class != Some(sweep.class) {
                SweepFaultKind::Class { position: *at }
            } else if missing.recorded_at >= sweep.cutoff {
                SweepFaultKind::TooYoung { position: *at }
            } else if remaining.is_none_or(|remaining| sweep.cutoff > remaining) {
                SweepFaultKind::RetainedLonger { position: *at }
            } else {
                continue;
            };
            return Err(SweepFault { sweep: position, kind });
        }
        for (at, _) in &named {
            self.missing.remove(at);
        }
        Ok(named.len() as u64)
    }

    #[must_use]
    pub fn contains(&self, position: u64) -> bool {
        self.missing.contains_key(&position)
    }

    pub fn positions(&self) -> impl Iterator<Item = u64> {
        self.missing.keys().copied()
    }

    #[must_use]
    pub fn count(&self) -> usize {
        self.missing.len()
    }

    fn in_runs(&self, positions: &PositionRuns) -> Vec<(u64, Missing)> {
        let runs = positions.as_slice().iter();
        let in_run = |(first, last): &(u64, u64)| self.missing.range(*first..=*last);
        runs.flat_map(in_run).map(|(position, missing)| (*position, *missing)).collect()
    }
}

const fn word(class: PruneClass) -> &'static str {
    match class {
        PruneClass::Reads => "read",
        PruneClass::Refusals => "unauthorized_access_attempt",
    }
}
