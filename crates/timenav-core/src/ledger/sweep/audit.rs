//! Whether what is missing from a ledger may be missing.

use std::collections::BTreeMap;

use sha2::{Digest, Sha256};

use super::super::is_erasable;
use super::super::retention::{LetGoClass, Retention, RetentionPolicies};
use super::super::runs::PositionRuns;
use super::{Hash, Sweep, SweptEntry};
use crate::time::{Instant, Wall};

/// Faults that are told one by one. More are counted.
const FAULTS_MAX: usize = 100;

/// What became of an entry's payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PayloadFate {
    /// It is there.
    Kept,
    /// It was erased, and an entry says so.
    Erased,
    /// It was let go by the sweep at that position, which may do so.
    LetGo {
        /// Position of the sweep.
        sweep: u64,
    },
    /// It is missing, and nothing allows that: `payload-mismatch`.
    Unexplained,
}

/// Why a sweep does not let go what it names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SweepFaultKind {
    /// The policy that it names is not one for this class, or does not come before it.
    #[error("no earlier policy allows what it pruned")]
    Policy,
    /// Its cutoff is later than the policy allowed when the sweep was recorded.
    #[error("its cutoff is later than its policy allows")]
    Cutoff,
    /// It names entries that do not come before it.
    #[error("it lists entries that do not come before it")]
    Ahead,
    /// It names an entry of another class.
    #[error("it lists entry {position}, which belongs to another class")]
    Class {
        /// The entry.
        position: u64,
    },
    /// It names an entry that was not recorded before its cutoff.
    #[error("it lists entry {position}, which was not recorded before its cutoff")]
    TooYoung {
        /// The entry.
        position: u64,
    },
    /// It names an entry that a longer policy keeps.
    #[error("it lists entry {position}, which another policy keeps longer")]
    KeptLonger {
        /// The entry.
        position: u64,
    },
    /// The leaf hashes at its positions are not those that it was made over.
    #[error("the leaf hashes at its positions are not the ones it lists")]
    LeafHashes,
}

/// What is wrong with a sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the sweep at position {sweep}: {kind}")]
pub struct SweepFault {
    /// Position of the sweep.
    pub sweep: u64,
    /// What.
    pub kind: SweepFaultKind,
}

/// A sweep, and what was seen of its positions.
struct Audited {
    position: u64,
    /// The last position that it names.
    last: u64,
    class: LetGoClass,
    cutoff: Instant<Wall>,
    policy: u64,
    leaf_hashes: Hash,
    /// Whether its policy and its cutoff are right.
    is_sound: bool,
    hasher: Sha256,
}

/// A run of positions that a sweep names.
#[derive(Clone, Copy)]
struct NamedRun {
    first: u64,
    last: u64,
    /// The position of the sweep.
    sweep: u64,
}

/// Compares what is missing from a ledger with what was let go.
///
/// A sweep stands behind what it names, so a ledger is read twice: first its policies, sweeps and erasures
/// alone, then all its entries. What is remembered grows with these records, not with the entries that they name.
/// Whoever knows where sweeps begin may hand over each right before the first entry that it names, and end those that
/// are read past: then those alone are remembered that name something around the entry that is read.
#[derive(Default)]
pub struct SweepAudit {
    policies: RetentionPolicies,
    /// By their positions.
    sweeps: BTreeMap<u64, Audited>,
    /// By their first positions, once all are known; those that are reached are taken from the end.
    runs: Vec<NamedRun>,
    /// Those that the last entry is in, or was.
    open: Vec<NamedRun>,
    erased: Vec<(u64, u64)>,
    is_sorted: bool,
    faults: Vec<SweepFault>,
    untold: u64,
}

impl SweepAudit {
    /// Takes a policy, in the first reading: policies come by rising positions, and before sweeps.
    pub fn policy(&mut self, position: u64, retention: Retention) {
        self.policies.set(position, retention);
    }

    /// Takes the positions that an erasure of events names, in the first reading.
    pub fn erased(&mut self, positions: &PositionRuns) {
        self.erased.extend_from_slice(positions.as_slice());
        self.is_sorted = false;
    }

    /// Takes a sweep before the first entry that it names: what its own entry says, where that stands, and when it was
    /// recorded.
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

    /// Ends the sweeps that name nothing from a position on, and forgets them.
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

    /// Takes an entry, in the second reading, and says what became of its payload. Entries come by rising
    /// positions: all of them, or the hashes that sweeps tell of are not those that were seen.
    pub fn entry(&mut self, entry: &SweptEntry<'_>, is_missing: bool) -> PayloadFate {
        self.sort();
        while let Some(run) = self.runs.pop_if(|run| run.first <= entry.position) {
            self.open.push(run);
        }
        // Also those that ended in what was left out: whoever reads a part of a ledger begins in the middle.
        self.open.retain(|run| entry.position <= run.last);
        let mut let_go = None;
        for number in 0..self.open.len() {
            let sweep = self.open[number].sweep;
            let Some(audited) = self.sweeps.get_mut(&sweep) else { continue };
            audited.hasher.update(entry.leaf_hash.as_bytes());
            match self.check(&self.sweeps[&sweep], entry) {
                Ok(true) => let_go = Some(sweep),
                Ok(false) => {}
                Err(kind) => self.add(sweep, kind),
            }
        }
        match let_go {
            _ if !is_missing => PayloadFate::Kept,
            _ if is_erasable(entry.action) && self.is_erased(entry.position) => PayloadFate::Erased,
            Some(sweep) => PayloadFate::LetGo { sweep },
            None => PayloadFate::Unexplained,
        }
    }

    /// Returns what is wrong with the sweeps, and how many faults there are beyond those that are told.
    #[must_use]
    pub fn finish(mut self) -> (Vec<SweepFault>, u64) {
        for sweep in std::mem::take(&mut self.sweeps).into_values() {
            self.compare_hashes(sweep);
        }
        (self.faults, self.untold)
    }

    /// Returns how many runs of positions are remembered.
    #[cfg(test)]
    pub(super) fn remembered(&self) -> usize {
        self.runs.len() + self.open.len()
    }

    fn compare_hashes(&mut self, sweep: Audited) {
        if Hash::from_bytes(sweep.hasher.finalize().into()) != sweep.leaf_hashes {
            self.add(sweep.position, SweepFaultKind::LeafHashes);
        }
    }

    /// Returns whether a sweep lets go an entry that it names; `false` where the sweep is not sound at all,
    /// which is told already.
    fn check(&self, sweep: &Audited, entry: &SweptEntry<'_>) -> Result<bool, SweepFaultKind> {
        let position = entry.position;
        if LetGoClass::of(entry.action) != Some(sweep.class) {
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
        if is_due { Ok(true) } else { Err(SweepFaultKind::KeptLonger { position }) }
    }

    fn is_erased(&self, position: u64) -> bool {
        let after = self.erased.partition_point(|(first, _)| *first <= position);
        after.checked_sub(1).is_some_and(|at| position <= self.erased[at].1)
    }

    /// Puts runs in order before the first entry.
    fn sort(&mut self) {
        if self.is_sorted {
            return;
        }
        self.runs.sort_by_key(|run| std::cmp::Reverse(run.first));
        self.erased.sort_unstable();
        // One run a piece: what several name is joined.
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
            self.untold += 1;
        }
    }
}
