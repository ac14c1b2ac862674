use std::collections::BTreeMap;

use sha2::{Digest, Sha256};

use super::{Hash, Sweep, SweptEntry};
use crate::ledger::is_erasable;
use crate::ledger::retention::{PruneClass, Retention, RetentionPolicies};
use crate::ledger::runs::PositionRuns;
use crate::time::{Instant, Wall};

/// Faults beyond this number are only counted.
const FAULTS_MAX: usize = 100;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PayloadFate {
    Retained,
    /// It was erased, according to an entry.
    Erased,
    /// It was pruned by the sweep at that position, which was permitted.
    Pruned {
        sweep: u64,
    },
    /// It is missing without a valid reason: `payload-mismatch`.
    Unexplained,
}

/// Why a sweep does not justify the removal of what it lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SweepFaultKind {
    #[error("no earlier policy allows this pruning")]
    Policy,
    #[error("its cutoff is later than its policy allows")]
    Cutoff,
    #[error("it lists entries that do not come before it")]
    Ahead,
    #[error("it lists entry {position}, which belongs to another class")]
    Class { position: u64 },
    #[error("it lists entry {position}, which was not recorded before its cutoff")]
    TooYoung { position: u64 },
    #[error("it lists entry {position}, which another policy keeps longer")]
    RetainedLonger { position: u64 },
    #[error("the leaf hashes at its positions do not match those it lists")]
    LeafHashes,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the sweep at position {sweep}: {kind}")]
pub struct SweepFault {
    pub sweep: u64,
    pub kind: SweepFaultKind,
}

struct Audited {
    position: u64,
    /// The last position that it lists.
    last: u64,
    class: PruneClass,
    cutoff: Instant<Wall>,
    policy: u64,
    leaf_hashes: Hash,
    is_sound: bool,
    hasher: Sha256,
}

#[derive(Clone, Copy)]
struct NamedRun {
    first: u64,
    last: u64,
    sweep: u64,
}

/// Compares missing payloads with sweeps and erasures.
///
/// A sweep comes after the entries that it lists, so a ledger is read twice: first only its policies, sweeps and
/// erasures, then all its entries. Memory grows with the number of these records, not with the number of entries that
/// they list. A caller that knows where each sweep's range begins can add it right before its first listed entry, and
/// end it after its last. Memory is then limited to the sweeps that cover the current position.
#[derive(Default)]
pub struct SweepAudit {
    policies: RetentionPolicies,
    sweeps: BTreeMap<u64, Audited>,
    /// In descending order of first positions once all are known; taken from the end.
    runs: Vec<NamedRun>,
    /// The runs that include the last entry, or have just ended.
    open: Vec<NamedRun>,
    erased: Vec<(u64, u64)>,
    is_sorted: bool,
    faults: Vec<SweepFault>,
    omitted: u64,
}

impl SweepAudit {
    /// Adds a policy, in the first pass. Policies must come in ascending order, and before sweeps.
    pub fn policy(&mut self, position: u64, retention: Retention) {
        self.policies.set(position, retention);
    }

    /// Adds the positions that an erasure of events lists, in the first pass.
    pub fn erased(&mut self, positions: &PositionRuns) {
        self.erased.extend_from_slice(positions.as_slice());
        self.is_sorted = false;
    }

    /// Adds a sweep, with its position and recording time. Must be called before the first entry that it lists.
    pub fn sweep(&mut self, position: u64, recorded_at: Instant<Wall>, sweep: &Sweep<'_>) {
        let named = self.policies.at(sweep.policy).filter(|_| sweep.policy < position);
        let policy = named.and_then(|policy| policy.period(sweep.class));
        let allowed = policy.map(|period| recorded_at.checked_sub(period));
        let fault = match allowed {
            None => Some(SweepFaultKind::Policy),
            Some(allowed) if allowed.is_none_or(|allowed| sweep.cutoff > allowed) => Some(SweepFaultKind::Cutoff),
            Some(_) if sweep.positions.last() >= Some(position) => Some(SweepFaultKind::Ahead),
            Some(_) => None,
        };
        if let Some(kind) = fault {
            self.add(position, kind);
        }
        let run = |(first, last): &(u64, u64)| NamedRun { first: *first, last: *last, sweep: position };
        self.runs.extend(sweep.positions.as_slice().iter().map(run));
        let Sweep { class, cutoff, policy, leaf_hashes, .. } = *sweep;
        let (is_sound, last) = (fault.is_none(), sweep.positions.last().unwrap_or_default());
        let hasher = Sha256::new();
        self.sweeps.insert(position, Audited { position, last, class, cutoff, policy, leaf_hashes, is_sound, hasher });
        self.is_sorted = false;
    }

    /// Finishes and removes the sweeps that list nothing from a position on.
    pub fn end_before(&mut self, position: u64) {
        let is_over = |_: &u64, sweep: &mut Audited| sweep.last < position;
        let over: Vec<Audited> = self.sweeps.extract_if(.., is_over).map(|(_, sweep)| sweep).collect();
        if over.is_empty() {
            return;
        }
        self.runs.retain(|run| position <= run.last);
        self.open.retain(|run| position <= run.last);
        for sweep in over {
            self.compare_hashes(sweep);
        }
    }

    /// Checks an entry, in the second pass, and returns what happened to its payload. Entries must come in ascending
    /// order and without gaps, otherwise the leaf hashes of sweeps do not match.
    pub fn entry(&mut self, entry: &SweptEntry<'_>, is_missing: bool) -> PayloadFate {
        self.sort();
        while let Some(run) = self.runs.pop_if(|run| run.first <= entry.position) {
            self.open.push(run);
        }
        // Includes runs that ended in a gap: a caller may read only part of a ledger.
        self.open.retain(|run| entry.position <= run.last);
        let mut pruned = None;
        for number in 0..self.open.len() {
            let sweep = self.open[number].sweep;
            let Some(audited) = self.sweeps.get_mut(&sweep) else { continue };
            audited.hasher.update(entry.leaf_hash.as_bytes());
            match self.check(&self.sweeps[&sweep], entry) {
                Ok(true) => pruned = Some(sweep),
                Ok(false) => {}
                Err(kind) => self.add(sweep, kind),
            }
        }
        match pruned {
            _ if !is_missing => PayloadFate::Retained,
            _ if is_erasable(entry.action) && self.is_erased(entry.position) => PayloadFate::Erased,
            Some(sweep) => PayloadFate::Pruned { sweep },
            None => PayloadFate::Unexplained,
        }
    }

    /// Returns the faults of sweeps, and the number of further faults that were only counted.
    #[must_use]
    pub fn finish(mut self) -> (Vec<SweepFault>, u64) {
        for sweep in std::mem::take(&mut self.sweeps).into_values() {
            self.compare_hashes(sweep);
        }
        (self.faults, self.omitted)
    }

    #[cfg(test)]
    pub(super) fn remembered(&self) -> usize {
        self.runs.len() + self.open.len()
    }

    fn compare_hashes(&mut self, sweep: Audited) {
        if Hash::from_bytes(sweep.hasher.finalize().into()) != sweep.leaf_hashes {
            self.add(sweep.position, SweepFaultKind::LeafHashes);
        }
    }

    /// Returns whether a sweep permits pruning; `false` if it is not valid, which was reported already.
    fn check(&self, sweep: &Audited, entry: &SweptEntry<'_>) -> Result<bool, SweepFaultKind> {
        let position = entry.position;
        if PruneClass::of(entry.action) != Some(sweep.class) {
            return Err(SweepFaultKind::Class { position });
        }
        if entry.recorded_at >= sweep.cutoff {
            return Err(SweepFaultKind::TooYoung { position });
        }
        if !sweep.is_sound {
            return Ok(false);
        }
        let named = self.policies.at(sweep.policy).and_then(|policy| policy.period(sweep.class));
        let deciding = self.policies.deciding(sweep.class, position, sweep.position);
        let is_due = deciding.zip(named).is_some_and(|((_, period), named)| period <= named);
        if is_due { Ok(true) } else { Err(SweepFaultKind::RetainedLonger { position }) }
    }

    fn is_erased(&self, position: u64) -> bool {
        let after = self.erased.partition_point(|(first, _)| *first <= position);
        after.checked_sub(1).is_some_and(|at| position <= self.erased[at].1)
    }

    /// Sorts the runs before the first entry.
    fn sort(&mut self) {
        if self.is_sorted {
            return;
        }
        self.runs.sort_by_key(|run| std::cmp::Reverse(run.first));
        self.erased.sort_unstable();
        self.erased.dedup_by(|next, before| {
            let joins = next.0 <= before.1.saturating_add(1);
            if joins {
                before.1 = before.1.max(next.1);
            }
            joins
        });
        self.is_sorted = true;
    }

    fn add(&mut self, sweep: u64, kind: SweepFaultKind) {
        if self.faults.len() < FAULTS_MAX {
            self.faults.push(SweepFault { sweep, kind });
        } else {
            self.omitted += 1;
        }
    }
}
