//! Sweeps: the payloads that a retention policy prunes, listed before the first one is destroyed.
//!
//! A sweep is committed first, and then destroys. If it is interrupted, it is completed later, so a listed payload that
//! still exists is not a finding.

use std::borrow::Cow;

use crate::ledger::Hash;
use crate::ledger::canonical::{Malformed, Scanner, Writer};
use crate::ledger::retention::PruneClass;
use crate::ledger::runs::PositionRuns;
use crate::time::{Instant, Wall};

mod audit;
mod draft;
mod missing;

#[cfg(test)]
mod tests;

pub use audit::{PayloadFate, SweepAudit, SweepFault, SweepFaultKind};
pub use draft::{SweepDraft, SweepOffer};
pub use missing::MissingPayloads;

pub const SWEEP_ACTION: &str = "sweep";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SweptEntry<'a> {
    pub position: u64,
    pub action: &'a str,
    pub recorded_at: Instant<Wall>,
    /// The hash of the entry's bytes, from [`leaf_hash`](crate::ledger::leaf_hash).
    pub leaf_hash: Hash,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sweep<'a> {
    /// The user who requested it, or the service itself.
    pub requested_by: Cow<'a, str>,
    pub class: PruneClass,
    /// All listed entries were recorded before this host time.
    pub cutoff: Instant<Wall>,
    /// SHA-256 over the concatenated leaf hashes at its positions.
    pub leaf_hashes: Hash,
    /// Position of the policy that permits it.
    pub policy: u64,
    /// The positions; not empty.
    pub positions: PositionRuns,
}

impl<'a> Sweep<'a> {
    /// Returns the payload of the entry: RFC 8785 JSON with sorted keys.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut writer = Writer::default();
        writer.raw("{\"asked_by\":").text(&self.requested_by);
        writer.raw(",\"class\":").text(self.class.as_str());
        writer.raw(",\"count\":").integer(self.positions.count());
        writer.raw(",\"cutoff\":").instant(self.cutoff);
        writer.raw(",\"leaf_hashes_sha256\":").hash(&self.leaf_hashes);
        writer.raw(",\"policy\":").integer(self.policy).raw(",\"positions\":");
        self.positions.write(&mut writer).raw("}");
        writer.into_bytes()
    }

    /// Parses the output of [`Sweep::encode`], and nothing else. [`SweepAudit`] checks whether the sweep is permitted.
    ///
    /// # Errors
    /// The encoding differs, there are no positions, or their count is wrong.
    pub fn decode(payload: &'a [u8]) -> Result<Self, Malformed> {
        let mut scanner = Scanner::new(payload)?;
        scanner.expect("{\"asked_by\":\"")?;
        let requested_by = scanner.text()?;
        scanner.expect(",\"class\":\"")?;
        let is_here = |class: &PruneClass| scanner.skip(class.as_str());
        let class = PruneClass::ALL.into_iter().find(is_here).ok_or(scanner.malformed("`reads` or `refusals`"))?;
        scanner.expect("\",\"count\":")?;
        let count = scanner.integer()?;
        scanner.expect(",\"cutoff\":\"")?;
        let cutoff = scanner.instant()?;
        scanner.expect(",\"leaf_hashes_sha256\":\"")?;
        let leaf_hashes = scanner.hash()?;
        scanner.expect(",\"policy\":")?;
        let policy = scanner.integer()?;
        scanner.expect(",\"positions\":")?;
        let wrong = scanner.malformed("as many positions as its count, at least one");
        let positions = PositionRuns::scan(&mut scanner)?;
        scanner.expect("}")?;
        scanner.end()?;
        if positions.is_empty() || positions.count() != count {
            return Err(wrong);
        }
        Ok(Self { requested_by, class, cutoff, leaf_hashes, policy, positions })
    }

    #[must_use]
    pub fn into_owned(self) -> Sweep<'static> {
        Sweep { requested_by: self.requested_by.into_owned().into(), ..self }
    }
}
