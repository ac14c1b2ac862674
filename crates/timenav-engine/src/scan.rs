//! Looking for tampering: the entries of a timeline, its tree, its checkpoints, and its tables.
//!
//! A scan changes nothing and repairs nothing. It needs what is kept ([`ScanSource`]) and the
//! public key that is trusted, and no engine: `timenav verify` runs it on the files of a service
//! that does not run.

use std::sync::Arc;

use timenav_core::access::Demand;
use timenav_core::ids::TimelineId;
use timenav_core::ledger::{Checkpoint, VerifierKey, origin};
use timenav_core::scan::{Depth, Finding, FindingKind, Findings, Mark, open_signed};

use crate::caller::Caller;
use crate::command::{Command, LedgerPosition};
use crate::engine::Engine;
use crate::entropy::Entropy;
use crate::refusal::Refusal;
use crate::store::StoreError;

mod payloads;
mod replay;
mod report;
mod rows;
mod source;
mod tree;
mod walk;

pub use report::{Checked, Scan};
pub use source::{EntryRow, KeptEvent, KeptRows, ScanSource, Snapshot};

/// How far a scan has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Entries read.
    pub done: u64,
    /// Entries to be read.
    pub total: u64,
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
    /// The key that is trusted, named after the ledger.
    pub key: VerifierKey,
    /// The arithmetic of signatures.
    pub verify: &'a VerifySignature,
    /// Picks the entries of a sample.
    pub entropy: &'a dyn Entropy,
    /// Checkpoints from elsewhere. They must have been read before the scan begins.
    pub kept: Vec<KeptCheckpoint>,
}

/// A scan and where the asking for it stands in the ledger.
#[derive(Clone, Debug)]
pub struct Detection {
    /// What was found.
    pub scan: Scan,
    /// The entry that says who asked.
    pub ledger: LedgerPosition,
}

/// Scans a timeline. `None` where there is none and none was ever signed.
///
/// # Errors
/// What is kept cannot be read at all. Damage is a finding, not an error.
pub async fn scan(
    request: &ScanRequest<'_>,
    progress: &mut (dyn FnMut(Progress) + Send),
) -> Result<Option<Scan>, StoreError> {
    let mut findings = Findings::default();
    let marks = open_kept(request, &mut findings);
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
fn open_kept(request: &ScanRequest<'_>, findings: &mut Findings) -> Vec<Mark> {
    let mut marks = Vec::new();
    for kept in &request.kept {
        match open_signed(&kept.note, &request.key, request.verify) {
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
    match open_signed(&snapshot.head.checkpoint, &request.key, request.verify) {
        Ok(signed) => Some(signed),
        Err(unsigned) => {
            let size = snapshot.head.frontier.size();
            let evidence = format!("the checkpoint in the database: {}", unsigned.evidence);
            findings.add(unsigned.kind, Some(unsigned.size.unwrap_or(size)), evidence);
            None
        }
    }
}

impl Engine {
    /// Looks for tampering with a timeline. The asking is an entry before the looking begins.
    /// Dropping the future ends the scan.
    ///
    /// # Errors
    /// There is no such timeline, the caller may not, or the ledger cannot be written or read.
    pub async fn detect_tampering(
        &self,
        caller: &Caller,
        timeline: &TimelineId,
        depth: Depth,
        progress: &mut (dyn FnMut(Progress) + Send),
    ) -> Result<Detection, Refusal> {
        self.admit(caller, timeline, Demand::Inspect, "detect_tampering").await?;
        let command = Command::LogScan { depth: depth.to_string() };
        let answer = self.submit(caller, timeline.clone(), command, None).await?;
        let kept = self.kept_checkpoints(timeline).await?;
        let origin = origin(&self.options().service_name, timeline.as_str());
        let signer = Arc::clone(&self.doors().signer);
        let key = VerifierKey::new(&origin, signer.public_key());
        let request = ScanRequest {
            source: self.store(),
            timeline: timeline.clone(),
            depth,
            key: key.map_err(|error| Refusal::Damaged(error.to_string()))?,
            verify: &move |public, message, signature| signer.verify(public, message, signature),
            entropy: &*self.doors().entropy,
            kept,
        };
        let scanned = scan(&request, progress).await?;
        let scan = scanned.ok_or_else(|| Refusal::NotFound { what: "timeline", id: timeline.to_string() })?;
        if scan.tampering_detected() {
            let findings = scan.findings.len();
            tracing::warn!(timeline_id = %timeline, %depth, findings, "tampering or damage detected: {}", scan.details);
        }
        Ok(Detection { scan, ledger: answer.ledger })
    }

    /// Returns the checkpoints outside the database: those kept outside, and the one in memory.
    async fn kept_checkpoints(&self, timeline: &TimelineId) -> Result<Vec<KeptCheckpoint>, Refusal> {
        let in_memory = self.state(timeline).map(|state| state.head.checkpoint.to_string());
        let outside = Arc::clone(&self.doors().outside);
        // It is a file, and may be a long one.
        let last = tokio::task::spawn_blocking(move || outside.last()).await;
        let last = last.map_err(|error| Refusal::Unavailable(error.to_string()))?;
        let last = last.map_err(|error| Refusal::Unavailable(error.to_string()))?;
        let outside = last.into_iter().find(|(id, _)| id == timeline).map(|(_, note)| note);
        let outside = outside.map(|note| KeptCheckpoint { from: "kept outside", note });
        let in_memory = in_memory.map(|note| KeptCheckpoint { from: "in the service's memory", note });
        Ok(outside.into_iter().chain(in_memory).collect())
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
