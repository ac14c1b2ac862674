//! Looking for tampering: what is compared with what, and how a difference is called.
//!
//! Everything here is fed by the caller, entry by entry, and remembers no more than the right edge
//! of the tree. What a payload says, and what follows from it, is the engine's to compare; the
//! words for it are here.

use std::fmt;

mod depth;
mod fingerprint;
mod hashes;
mod ledger;
mod signed;

#[cfg(test)]
mod tests;

pub use depth::{Depth, DepthError, SAMPLE_ENTRIES_MAX};
pub use fingerprint::{FactKey, Fingerprint};
pub use hashes::{EntryBytes, EntryHashes, ReadBy};
pub use ledger::{FilledTile, LedgerScan, Mark, compare_checkpoints};
pub use signed::{Unsigned, open_kept, open_signed};

/// Findings of one kind that are told one by one. More are counted.
pub const FINDINGS_PER_KIND_MAX: usize = 100;

/// What kind of difference was found. `docs/security.md` says which attack shows as which.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FindingKind {
    /// An entry is not the one that the tree was built over, or says that it stands elsewhere.
    LeafMismatch,
    /// An entry is missing.
    SequenceGap,
    /// The root that follows from the entries is not the one of the tree that is kept.
    RootMismatch,
    /// The tree is not the one that the checkpoint beside it signs.
    CheckpointMismatch,
    /// The entries are not those of a signed checkpoint kept outside.
    ExternalCheckpointInconsistent,
    /// There are fewer entries than were signed.
    Rollback,
    /// Two signed checkpoints tell of two histories.
    Fork,
    /// A checkpoint is of another ledger.
    OriginMismatch,
    /// The database is laid out otherwise than the service does: a trigger, a view, an index that is missing.
    SchemaMismatch,
    /// A table is not what follows from the entries.
    StateMismatch,
    /// A checkpoint is no signed note, or its signature is wrong.
    BadSignature,
    /// A checkpoint is signed by another key than the one pinned, or an entry says that another one signs.
    UnknownKey,
    /// An entry is of a format version that this program does not know.
    UnknownFormat,
    /// A payload is not the one that its entry was made for.
    PayloadMismatch,
    /// A sweep names what it may not let go.
    SweepMismatch,
    /// A tile of the tree holds other hashes than those of the entries that were signed.
    TileMismatch,
    /// An entry was recorded before the one that stands before it.
    HostTimeWentDown,
    /// The virtual time in an entry is not what the clock showed.
    ClockDiscontinuity,
    /// Whoever is named in an entry might not do what it tells of.
    UnauthorizedEntry,
}

impl FindingKind {
    /// Every kind.
    pub const ALL: [Self; 19] = [
        Self::LeafMismatch,
        Self::SequenceGap,
        Self::RootMismatch,
        Self::CheckpointMismatch,
        Self::ExternalCheckpointInconsistent,
        Self::Rollback,
        Self::Fork,
        Self::OriginMismatch,
        Self::SchemaMismatch,
        Self::StateMismatch,
        Self::BadSignature,
        Self::UnknownKey,
        Self::UnknownFormat,
        Self::PayloadMismatch,
        Self::SweepMismatch,
        Self::TileMismatch,
        Self::HostTimeWentDown,
        Self::ClockDiscontinuity,
        Self::UnauthorizedEntry,
    ];

    /// Returns the word on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::LeafMismatch => "leaf-mismatch",
            Self::SequenceGap => "sequence-gap",
            Self::RootMismatch => "root-mismatch",
            Self::CheckpointMismatch => "checkpoint-mismatch",
            Self::ExternalCheckpointInconsistent => "external-checkpoint-inconsistent",
            Self::Rollback => "rollback",
            Self::Fork => "fork",
            Self::OriginMismatch => "origin-mismatch",
            Self::SchemaMismatch => "schema-mismatch",
            Self::StateMismatch => "state-mismatch",
            Self::BadSignature => "bad-signature",
            Self::UnknownKey => "unknown-key",
            Self::UnknownFormat => "unknown-format",
            Self::PayloadMismatch => "payload-mismatch",
            Self::SweepMismatch => "sweep-mismatch",
            Self::TileMismatch => "tile-mismatch",
            Self::HostTimeWentDown => "host-time-went-down",
            Self::ClockDiscontinuity => "clock-discontinuity",
            Self::UnauthorizedEntry => "unauthorized-entry",
        }
    }
}

impl fmt::Display for FindingKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One difference between what is kept and what must be there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What kind.
    pub kind: FindingKind,
    /// The first entry concerned; for what is about a checkpoint, its size.
    pub position: Option<u64>,
    /// Size of the largest signed checkpoint known to be right that ends before it.
    pub last_good_checkpoint: Option<u64>,
    /// What was found and what should have been there, in a sentence.
    pub evidence: String,
}

/// Findings, and how many there were beyond those that are told one by one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Findings {
    told: Vec<Finding>,
    untold: u64,
}

impl Findings {
    /// Adds a finding.
    pub fn add(&mut self, kind: FindingKind, position: Option<u64>, evidence: impl Into<String>) {
        if self.told.iter().filter(|finding| finding.kind == kind).count() >= FINDINGS_PER_KIND_MAX {
            self.untold += 1;
            return;
        }
        self.told.push(Finding { kind, position, last_good_checkpoint: None, evidence: evidence.into() });
    }

    /// Adds all of these.
    pub fn append(&mut self, other: Self) {
        self.untold += other.untold;
        for finding in other.told {
            self.add(finding.kind, finding.position, finding.evidence);
        }
    }

    /// Adds what was found on another ledger, whose positions are not those of this one.
    pub fn append_of(&mut self, ledger: &str, other: Self) {
        self.untold += other.untold;
        for Finding { kind, position, evidence, .. } in other.told {
            let at = position.map_or_else(String::new, |position| format!(", entry {position}"));
            self.add(kind, Some(0), format!("`{ledger}`{at}: {evidence}"));
        }
    }

    /// Returns whether there are none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.told.is_empty()
    }

    /// Returns whether there is one of that kind.
    #[must_use]
    pub fn has(&self, kind: FindingKind) -> bool {
        self.told.iter().any(|finding| finding.kind == kind)
    }

    /// Returns the first one.
    #[must_use]
    pub fn first(&self) -> Option<&Finding> {
        self.told.first()
    }

    /// Returns how many findings are counted only.
    #[must_use]
    pub const fn untold(&self) -> u64 {
        self.untold
    }

    /// Returns the findings by position, each with the last good one of these checkpoints.
    #[must_use]
    pub fn into_sorted(mut self, good_checkpoints: &[u64]) -> Vec<Finding> {
        for finding in &mut self.told {
            let before = |size: &u64| finding.position.is_none_or(|position| *size <= position);
            finding.last_good_checkpoint = good_checkpoints.iter().copied().filter(before).max();
        }
        self.told.sort_by_key(|finding| (finding.position.unwrap_or(u64::MAX), finding.kind));
        self.told
    }
}
