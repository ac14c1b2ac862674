//! Tamper detection: the comparisons, and the kinds of findings.
//!
//! The caller passes in all data, entry by entry, and only the right edge of the tree is kept. The engine compares the
//! contents of payloads and the state derived from them; this module only defines the finding kinds for that.

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
pub use signed::{Unsigned, open_signed, open_stored};

/// Findings of one kind beyond this number are only counted.
pub const FINDINGS_PER_KIND_MAX: usize = 100;

named! {
    /// The kind of a difference. `docs/security.md` lists the attacks that cause each kind.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum FindingKind {
        /// An entry differs from the one that the tree was built over, or states another position.
        LeafMismatch = "leaf-mismatch",
        SequenceGap = "sequence-gap",
        /// The root over the entries differs from that of the stored tree.
        RootMismatch = "root-mismatch",
        /// The stored tree differs from the one in its checkpoint.
        CheckpointMismatch = "checkpoint-mismatch",
        /// The entries differ from those of a signed checkpoint stored elsewhere.
        ExternalCheckpointInconsistent = "external-checkpoint-inconsistent",
        /// There are fewer entries than were signed.
        Rollback = "rollback",
        /// Two signed checkpoints belong to different histories.
        Fork = "fork",
        /// A checkpoint belongs to another ledger.
        OriginMismatch = "origin-mismatch",
        /// The database schema differs from that of the service: a trigger, a view, a missing index.
        SchemaMismatch = "schema-mismatch",
        /// A table differs from the state derived from the entries.
        StateMismatch = "state-mismatch",
        /// A checkpoint is not a signed note, or its signature is not valid.
        BadSignature = "bad-signature",
        /// A checkpoint is signed by a key other than the pinned one, or an entry names another signing key.
        UnknownKey = "unknown-key",
        UnknownFormat = "unknown-format",
        PayloadMismatch = "payload-mismatch",
        /// A sweep lists an entry that it may not prune.
        SweepMismatch = "sweep-mismatch",
        /// A tile of the tree has other hashes than those of the signed entries.
        TileMismatch = "tile-mismatch",
        /// An entry was recorded before the previous one.
        HostTimeWentDown = "host-time-went-down",
        /// The virtual time in an entry is not what the clock showed.
        ClockDiscontinuity = "clock-discontinuity",
        /// The actor of an entry did not have the permission for it.
        UnauthorizedEntry = "unauthorized-entry",
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    pub kind: FindingKind,
    /// The first affected entry; for findings about a checkpoint, its size.
    pub position: Option<u64>,
    /// Size of the largest verified checkpoint that ends before it.
    pub last_good_checkpoint: Option<u64>,
    /// The found and the expected data, as a sentence.
    pub evidence: String,
}

/// Findings, and the number of findings that were only counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Findings {
    findings: Vec<Finding>,
    omitted: u64,
}

impl Findings {
    pub fn add(&mut self, kind: FindingKind, position: Option<u64>, evidence: impl Into<String>) {
        if self.findings.iter().filter(|finding| finding.kind == kind).count() >= FINDINGS_PER_KIND_MAX {
            self.omitted += 1;
            return;
        }
        self.findings.push(Finding { kind, position, last_good_checkpoint: None, evidence: evidence.into() });
    }

    pub fn append(&mut self, other: Self) {
        self.omitted += other.omitted;
        for finding in other.findings {
            self.add(finding.kind, finding.position, finding.evidence);
        }
    }

    /// Adds the findings of another ledger, without their positions, which do not apply to this one.
    pub fn append_of(&mut self, ledger: &str, other: Self) {
        self.omitted += other.omitted;
        for Finding { kind, position, evidence, .. } in other.findings {
            let at = position.map_or_else(String::new, |position| format!(", entry {position}"));
            self.add(kind, Some(0), format!("`{ledger}`{at}: {evidence}"));
        }
    }

    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.findings.is_empty()
    }

    #[must_use]
    pub fn has(&self, kind: FindingKind) -> bool {
        self.findings.iter().any(|finding| finding.kind == kind)
    }

    #[must_use]
    pub fn first(&self) -> Option<&Finding> {
        self.findings.first()
    }

    #[must_use]
    pub const fn omitted(&self) -> u64 {
        self.omitted
    }

    /// Returns the findings ordered by position, each with the last of `good_checkpoints` before it.
    #[must_use]
    pub fn into_sorted(mut self, good_checkpoints: &[u64]) -> Vec<Finding> {
        for finding in &mut self.findings {
            let before = |size: &u64| finding.position.is_none_or(|position| *size <= position);
            finding.last_good_checkpoint = good_checkpoints.iter().copied().filter(before).max();
        }
        self.findings.sort_by_key(|finding| (finding.position.unwrap_or(u64::MAX), finding.kind));
        self.findings
    }
}
