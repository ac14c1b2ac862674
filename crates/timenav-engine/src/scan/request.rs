//! What is to be scanned, and how far a scan has come.

use std::sync::Arc;

use timenav_core::ids::TimelineId;
use timenav_core::ledger::TrustedKeys;
use timenav_core::scan::Depth;

use super::powers::ReplayedAuthority;
use crate::archive::ScanSource;
use crate::entropy::Entropy;
use crate::gazetteer::Gazetteer;

/// How far a scan has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// What is being done.
    pub stage: ScanStage,
    /// Entries read.
    pub entries: u64,
    /// Entries to be read.
    pub entries_total: u64,
    /// Bytes of entries and payloads read.
    pub bytes: u64,
}

/// What a scan does, in the order in which it does it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ScanStage {
    /// Checkpoints are verified.
    #[default]
    Checkpoints,
    /// The tree is compared with the checkpoints.
    Tree,
    /// Entries are read.
    Entries,
    /// Tables are compared with what the entries lead to.
    Tables,
}

impl ScanStage {
    /// Returns the word for it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Checkpoints => "checkpoints",
            Self::Tree => "tree",
            Self::Entries => "entries",
            Self::Tables => "tables",
        }
    }
}

/// A checkpoint that was kept elsewhere than in the database.
#[derive(Clone, Debug)]
pub struct KeptCheckpoint {
    /// Where, as in "the checkpoint …".
    pub from: &'static str,
    /// The signed note.
    pub note: String,
}

/// Answers whether a public key has made a signature over a message (RFC 8032).
pub type VerifySignature = dyn Fn(&[u8; 32], &[u8], &[u8; 64]) -> bool + Send + Sync;

/// What is to be scanned, and what it is compared with.
pub struct ScanRequest<'a> {
    /// What is kept.
    pub source: &'a dyn ScanSource,
    /// Which timeline.
    pub timeline: TimelineId,
    /// How much of it.
    pub depth: Depth,
    /// The keys that are trusted, named after the ledger.
    pub keys: TrustedKeys,
    /// The arithmetic of signatures.
    pub verify: &'a VerifySignature,
    /// What events were given the coordinates of their places by; what it gave is not compared without.
    pub gazetteer: Option<Arc<dyn Gazetteer>>,
    /// Who might do what, where scans of other timelines of the same service have replayed it already.
    pub authority: &'a ReplayedAuthority,
    /// Picks the entries of a sample.
    pub entropy: &'a dyn Entropy,
    /// Checkpoints from elsewhere. They must have been read before the scan begins.
    pub kept: Vec<KeptCheckpoint>,
    /// Timelines of which a checkpoint should be kept outside, and is not: this one, and on `system` any.
    pub unkept: Vec<TimelineId>,
}
