use sha2::{Digest, Sha256};

use super::{Hash, Sweep, SweptEntry};
use crate::ledger::retention::{PruneClass, RetentionPolicies};
use crate::ledger::runs::{PositionRuns, RunsError};
use crate::time::{Instant, Span, Wall};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SweepOffer {
    Named,
    /// It is kept: it is of another class, kept forever, too young, or another policy decides.
    Retained,
    /// The sweep is full, and the entry belongs in the next one.
    Full,
}

/// Collects the entries of one sweep. One policy decides about all of them.
#[derive(Clone, Debug)]
pub struct SweepDraft<'p> {
    class: PruneClass,
    policies: &'p RetentionPolicies,
    /// Lower bound for the sweep's own position.
    size: u64,
    host: Instant<Wall>,
    floor: Span,
    /// The policy and the cutoff; known once the first entry is listed.
    decided: Option<(u64, Instant<Wall>)>,
    positions: PositionRuns,
    hasher: Sha256,
}

impl<'p> SweepDraft<'p> {
    /// Returns an empty sweep.
    ///
    /// `size` is the ledger's size and `host` the host time at which the sweep is decided; its entry must not be
    /// recorded earlier. `floor` is the configured minimum retention, which overrides any shorter policy.
    #[must_use]
    pub fn new(
        class: PruneClass,
        policies: &'p RetentionPolicies,
        size: u64,
        host: Instant<Wall>,
        floor: Span,
    ) -> Self {
        let (decided, positions, hasher) = (None, PositionRuns::default(), Sha256::new());
        Self { class, policies, size, host, floor, decided, positions, hasher }
    }

    /// Lists an entry if it may be pruned. Entries must be offered in ascending order, each at most once. Entries whose
    /// payload is already gone can be omitted.
    pub fn offer(&mut self, entry: &SweptEntry<'_>) -> SweepOffer {
        if PruneClass::of(entry.action) != Some(self.class) {
            return SweepOffer::Retained;
        }
        let Some((policy, period)) = self.policies.deciding(self.class, entry.position, self.size) else {
            return SweepOffer::Retained;
        };
        let Some(cutoff) = self.host.checked_sub(period.max(self.floor)) else { return SweepOffer::Retained };
        let decided = self.decided.unwrap_or((policy, cutoff));
        if decided != (policy, cutoff) || entry.recorded_at >= cutoff {
            return SweepOffer::Retained;
        }
        match self.positions.push(entry.position) {
            Ok(()) => {
                self.decided = Some(decided);
                self.hasher.update(entry.leaf_hash.as_bytes());
                SweepOffer::Named
            }
            Err(RunsError::Full) => SweepOffer::Full,
            Err(RunsError::Order) => SweepOffer::Retained,
        }
    }

    /// Returns the sweep, or `None` if there is nothing to prune.
    #[must_use]
    pub fn finish(self, requested_by: &str) -> Option<Sweep<'_>> {
        let (policy, cutoff) = self.decided?;
        let leaf_hashes = Hash::from_bytes(self.hasher.finalize().into());
        let Self { class, positions, .. } = self;
        Some(Sweep { requested_by: requested_by.into(), class, cutoff, leaf_hashes, policy, positions })
    }
}
