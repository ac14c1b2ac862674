//! Looking for tampering: the entries of a timeline, its tree, its checkpoints, and its tables.
//!
//! A scan changes nothing and repairs nothing. It needs what is kept ([`ScanSource`]) and the
//! public key that is trusted, and no engine: `timenav verify` runs it on the files of a service
//! that does not run.

use std::sync::Arc;

use timenav_core::ids::TimelineId;
use timenav_core::ledger::{Checkpoint, TrustedKeys};
use timenav_core::scan::{Depth, Finding, FindingKind, Findings, Mark, open_kept, open_signed};

use crate::archive::{ScanSource, Snapshot};
use crate::entropy::Entropy;
use crate::gazetteer::Gazetteer;
use crate::store_error::StoreError;

mod detection;
mod events;
mod payloads;
mod places;
mod replay;
mod report;
mod rows;
mod sample;
mod tree;
mod unkept;
mod walk;

pub use detection::{AskedScan, Detection};
pub(crate) use places::ScanPlaces;
pub use places::{SCANS_RUNNING_MAX, SCANS_RUNNING_PER_USER_MAX};
pub use report::{Checked, Scan};
pub use unkept::made_before;

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
    /// Picks the entries of a sample.
    pub entropy: &'a dyn Entropy,
    /// Checkpoints from elsewhere. They must have been read before the scan begins.
    pub kept: Vec<KeptCheckpoint>,
    /// Timelines of which a checkpoint should be kept outside, and is not: this one, and on `system` any.
    pub unkept: Vec<TimelineId>,
}

/// Scans a timeline. `None` where there is none and none was ever signed.
///
/// # Errors
/// What is kept cannot be read at all. Damage is a finding, not an error.
pub async fn scan(
    request: &ScanRequest<'_>,
    progress: &mut (dyn FnMut(Progress) + Send),
) -> Result<Option<Scan>, StoreError> {
    progress(Progress::default());
    let differences = request.source.schema_differences().await?;
    let mut findings = Findings::default();
    for difference in differences {
        findings.add(FindingKind::SchemaMismatch, None, difference);
    }
    let foreign = (!findings.is_empty()).then(|| findings.clone());
    match (scan_tables(request, findings, progress).await, foreign) {
        // What is laid out otherwise may not be readable at all. That it is so is what was found.
        (Err(StoreError::Unavailable(what)), Some(mut findings)) => {
            findings.add(FindingKind::StateMismatch, None, format!("a table cannot be read: {what}"));
            Ok(Some(report::without_snapshot(request, findings)))
        }
        (scanned, _) => scanned,
    }
}

async fn scan_tables(
    request: &ScanRequest<'_>,
    mut findings: Findings,
    progress: &mut (dyn FnMut(Progress) + Send),
) -> Result<Option<Scan>, StoreError> {
    let marks = open_marks(request, &mut findings);
    let snapshot = match request.source.snapshot(&request.timeline).await {
        Ok(Some(snapshot)) => snapshot,
        Ok(None) if request.kept.is_empty() => return Ok(None),
        Ok(None) => {
            for mark in &marks {
                let evidence =
                    format!("the checkpoint {} signs {} entries, and there is no such ledger", mark.from, mark.size);
                findings.add(FindingKind::Rollback, Some(0), evidence);
            }
            return Ok(Some(report::without_snapshot(request, findings)));
        }
        Err(StoreError::Damaged(what)) => {
            findings.add(FindingKind::StateMismatch, None, format!("the newest state cannot be read: {what}"));
            return Ok(Some(report::without_snapshot(request, findings)));
        }
        Err(error) => return Err(error),
    };
    let signed = open_newest(request, &snapshot, &mut findings);
    walk::walk(request, snapshot, signed, marks, findings, progress).await.map(Some)
}

/// Reads the checkpoints from elsewhere.
fn open_marks(request: &ScanRequest<'_>, findings: &mut Findings) -> Vec<Mark> {
    let mut marks = Vec::new();
    for timeline in &request.unkept {
        let evidence =
            format!("no checkpoint of timeline `{timeline}` is kept outside the database, where those of others are");
        findings.add(FindingKind::ExternalCheckpointInconsistent, None, evidence);
    }
    for kept in &request.kept {
        match open_kept(&kept.note, &request.keys, request.verify) {
            Ok(Checkpoint { size, root, .. }) => marks.push(Mark { from: kept.from, size, root, found: None }),
            Err(unsigned) => {
                let evidence = format!("the checkpoint {}: {}", kept.from, unsigned.evidence);
                findings.add(unsigned.kind, unsigned.size, evidence);
            }
        }
    }
    marks
}

/// Reads the newest checkpoint in the database.
fn open_newest(request: &ScanRequest<'_>, snapshot: &Snapshot, findings: &mut Findings) -> Option<Checkpoint> {
    match open_signed(&snapshot.head.checkpoint, &request.keys, request.verify) {
        Ok(signed) => Some(signed),
        Err(unsigned) => {
            let size = snapshot.head.frontier.size();
            let evidence = format!("the checkpoint in the database: {}", unsigned.evidence);
            findings.add(unsigned.kind, Some(unsigned.size.unwrap_or(size)), evidence);
            None
        }
    }
}

/// The findings of a scan so far, sorted out for the report.
pub(crate) struct Outcome {
    pub(crate) findings: Vec<Finding>,
    pub(crate) untold: u64,
}

impl Outcome {
    fn new(findings: Findings, good_checkpoints: &[u64]) -> Self {
        let untold = findings.untold();
        Self { findings: findings.into_sorted(good_checkpoints), untold }
    }
}
