//! Sweeps: what a retention policy lets go, named before the first byte goes.
//!
//! A sweep is committed first and destroys afterwards. Cut off in between, it is finished later: what is
//! named and still there is no finding.

use std::borrow::Cow;

use super::Hash;
use super::canonical::{Malformed, Scanner, Writer};
use super::retention::LetGoClass;
use super::runs::PositionRuns;
use crate::time::{Instant, Wall};

mod audit;
mod draft;
mod missing;

#[cfg(test)]
mod tests;

pub use audit::{PayloadFate, SweepAudit, SweepFault, SweepFaultKind};
pub use draft::{SweepDraft, SweepOffer};
pub use missing::MissingPayloads;

/// The action of an entry that tells of a sweep.
pub const SWEEP_ACTION: &str = "sweep";

/// An entry as sweeps see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SweptEntry<'a> {
    /// Its position.
    pub position: u64,
    /// What was done.
    pub action: &'a str,
    /// Host time of the recording.
    pub recorded_at: Instant<Wall>,
    /// The hash of its bytes, from [`leaf_hash`](super::leaf_hash).
    pub leaf_hash: Hash,
}

/// What one sweep lets go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sweep<'a> {
    /// Who asked: a user, or the service itself.
    pub asked_by: Cow<'a, str>,
    /// The class of everything it names.
    pub class: LetGoClass,
    /// Everything it names was recorded before this host time.
    pub cutoff: Instant<Wall>,
    /// SHA-256 over the leaf hashes at its positions, one after the other.
    pub leaf_hashes: Hash,
    /// Position of the policy that lets it go.
    pub policy: u64,
    /// The positions; one at least.
    pub positions: PositionRuns,
}

impl<'a> Sweep<'a> {
    /// Returns the payload of its entry: RFC 8785 JSON with sorted keys.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut writer = Writer::default();
        writer.raw("{\"asked_by\":").text(&self.asked_by);
        writer.raw(",\"class\":").text(self.class.as_str());
        writer.raw(",\"count\":").integer(self.positions.count());
        writer.raw(",\"cutoff\":").instant(self.cutoff);
        writer.raw(",\"leaf_hashes_sha256\":").hash(&self.leaf_hashes);
        writer.raw(",\"policy\":").integer(self.policy).raw(",\"positions\":");
        self.positions.write(&mut writer).raw("}");
        writer.into_bytes()
    }

    /// Reads what [`Sweep::encode`] writes, and nothing else. Whether it may let go what it names is for
    /// [`SweepAudit`] to say.
    ///
    /// # Errors
    /// The bytes are written otherwise, name no position, or miscount them.
    pub fn decode(payload: &'a [u8]) -> Result<Self, Malformed> {
        let mut scanner = Scanner::new(payload)?;
        scanner.expect("{\"asked_by\":\"")?;
        let asked_by = scanner.text()?;
        scanner.expect(",\"class\":\"")?;
        let is_here = |class: &LetGoClass| scanner.skip(class.as_str());
        let class = LetGoClass::ALL.into_iter().find(is_here).ok_or(scanner.malformed("`reads` or `refusals`"))?;
        scanner.expect("\",\"count\":")?;
        let count = scanner.integer()?;
        scanner.expect(",\"cutoff\":\"")?;
        let cutoff = scanner.instant()?;
        scanner.expect(",\"leaf_hashes_sha256\":\"")?;
        let leaf_hashes = scanner.hash()?;
        scanner.expect(",\"policy\":")?;
        let policy = scanner.integer()?;
        scanner.expect(",\"positions\":")?;
        let wrong = scanner.malformed("as many positions as it counts, one at least");
        let positions = PositionRuns::scan(&mut scanner)?;
        scanner.expect("}")?;
        scanner.end()?;
        if positions.is_empty() || positions.count() != count {
            return Err(wrong);
        }
        Ok(Self { asked_by, class, cutoff, leaf_hashes, policy, positions })
    }

    /// Returns the sweep, free of the bytes it was read from.
    #[must_use]
    pub fn into_owned(self) -> Sweep<'static> {
        Sweep { asked_by: self.asked_by.into_owned().into(), ..self }
    }
}
