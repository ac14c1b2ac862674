//! A sweep on its way.

use sha2::{Digest, Sha256};

use super::super::retention::{LetGoClass, RetentionPolicies};
use super::super::runs::{PositionRuns, RunsError};
use super::{Hash, Sweep, SweptEntry};
use crate::time::{Instant, Span, Wall};

/// What became of an entry that was offered to a sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SweepOffer {
    /// The sweep names it.
    Named,
    /// It is kept: it is of another class, kept forever, too young, or decided by another policy.
    Kept,
    /// The sweep has no room for it: the next one takes it.
    Full,
}

/// Collects what one sweep names: entries that one policy decides about.
#[derive(Clone, Debug)]
pub struct SweepDraft<'p> {
    class: LetGoClass,
    policies: &'p RetentionPolicies,
    /// The position at which the sweep will stand, at least.
    size: u64,
    host: Instant<Wall>,
    floor: Span,
    /// The policy, and what everything was recorded before; known from the first entry on.
    decided: Option<(u64, Instant<Wall>)>,
    positions: PositionRuns,
    hasher: Sha256,
}

impl<'p> SweepDraft<'p> {
    /// Returns a sweep that names nothing yet.
    ///
    /// `size` is the ledger's size and `host` the host time at which the sweep is decided; its entry must be
    /// recorded no earlier. `floor` is the least that anything is kept, as the service is configured,
    /// whatever the policy says.
    #[must_use]
    pub fn new(
        class: LetGoClass,
        policies: &'p RetentionPolicies,
        size: u64,
        host: Instant<Wall>,
        floor: Span,
    ) -> Self {
        let (decided, positions, hasher) = (None, PositionRuns::default(), Sha256::new());
        Self { class, policies, size, host, floor, decided, positions, hasher }
    }

    /// Names an entry if it may be let go. Entries are offered by rising positions, each at most once;
    /// one whose payload is gone already need not be.
    pub fn offer(&mut self, entry: &SweptEntry<'_>) -> SweepOffer {
        if LetGoClass::of(entry.action) != Some(self.class) {
            return SweepOffer::Kept;
        }
        let Some((policy, period)) = self.policies.deciding(self.class, entry.position, self.size) else {
            return SweepOffer::Kept;
        };
        let Some(cutoff) = self.host.checked_sub(period.max(self.floor)) else { return SweepOffer::Kept };
        let decided = self.decided.unwrap_or((policy, cutoff));
        if decided != (policy, cutoff) || entry.recorded_at >= cutoff {
            return SweepOffer::Kept;
        }
        match self.positions.push(entry.position) {
            Ok(()) => {
                self.decided = Some(decided);
                self.hasher.update(entry.leaf_hash.as_bytes());
                SweepOffer::Named
            }
            Err(RunsError::Full) => SweepOffer::Full,
            Err(RunsError::Order) => SweepOffer::Kept,
        }
    }

    /// Returns the sweep, or `None` where there is nothing to let go.
    #[must_use]
    pub fn finish(self, asked_by: &str) -> Option<Sweep<'_>> {
        let (policy, cutoff) = self.decided?;
        let leaf_hashes = Hash::from_bytes(self.hasher.finalize().into());
        let Self { class, positions, .. } = self;
        Some(Sweep { asked_by: asked_by.into(), class, cutoff, leaf_hashes, policy, positions })
    }
}
