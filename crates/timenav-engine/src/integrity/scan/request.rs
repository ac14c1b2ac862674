use std::sync::Arc;

use timenav_core::ids::TimelineId;
use timenav_core::ledger::TrustedKeys;
use timenav_core::scan::Depth;

use super::powers::ReplayedAuthority;
use crate::ports::archive::ScanSource;
use crate::ports::entropy::Entropy;
use crate::ports::gazetteer::Gazetteer;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    pub stage: ScanStage,
    pub entries: u64,
    pub entries_total: u64,
    pub bytes: u64,
}

/// The stages of a scan, in order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ScanStage {
    #[default]
    Checkpoints,
    Tree,
    Entries,
    Tables,
}

impl ScanStage {
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

#[derive(Clone, Debug)]
pub struct ReferenceCheckpoint {
    /// Where it was kept, to follow "the checkpoint".
    pub from: &'static str,
    pub note: String,
}

/// Verifies an Ed25519 signature by a public key over a message (RFC 8032).
pub type VerifySignature = dyn Fn(&[u8; 32], &[u8], &[u8; 64]) -> bool + Send + Sync;

pub struct ScanRequest<'a> {
    pub source: &'a dyn ScanSource,
    pub timeline: TimelineId,
    pub depth: Depth,
    /// The trusted keys, named after the ledger.
    pub keys: TrustedKeys,
    pub verify: &'a VerifySignature,
    /// The gazetteer used for coordinates of events. Without it, those are not compared.
    pub gazetteer: Option<Arc<dyn Gazetteer>>,
    /// The history of permissions, if scans of other timelines of the service have replayed it already.
    pub authority: &'a ReplayedAuthority,
    pub entropy: &'a dyn Entropy,
    /// Checkpoints kept outside the database. They must have been read before the scan begins.
    pub references: Vec<ReferenceCheckpoint>,
    /// Timelines without a checkpoint outside that should have one: this timeline or, for `system`, any.
    pub unkept: Vec<TimelineId>,
}
