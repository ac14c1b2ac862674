//! Scans for tampering: the entries of a timeline, its tree, its checkpoints, and its tables.
//!
//! A scan changes and repairs nothing. It needs the stored data ([`ScanSource`](crate::ScanSource)) and the trusted
//! public key, but no engine: `timenav verify` runs it on the files of a stopped service.
use async_recursion::async_recursion as boxed;
use timenav_core::ledger::Checkpoint;
use timenav_core::scan::{FindingKind, Findings, Mark, open_stored};

use crate::ledger::stored_statement::{carried_fault, open_newest};
use crate::ports::archive::Snapshot;
use crate::ports::store_error::StoreError;

pub(crate) mod pruned;
mod authority;
mod blocks;
mod compared;
mod directory;
mod ended;
mod events;
mod facts;
mod hashing;
mod powers;
mod pass;
mod replay;
mod request;
mod report;
mod rows;
mod sample;
mod tables;
mod tree;
mod unkept;
mod walk;

pub use powers::ReplayedAuthority;
pub use report::{Checked, Scan};
pub use request::{Progress, ReferenceCheckpoint, ScanRequest, ScanStage, VerifySignature};
pub use unkept::made_before;

/// Scans a timeline. `None` if it does not exist and was never signed.
///
/// # Errors
/// The store cannot be read at all. Damage is a finding, not an error.
#[boxed]
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
        // Tables with a different schema may be unreadable, which is a finding.
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
        Ok(None) => {
            if let Some(ended) = request.source.ended(&request.timeline).await? {
                return ended::walk(request, &ended, marks, findings, progress).await.map(Some);
            }
            if request.references.is_empty() {
                return Ok(None);
            }
            for mark in &marks {
                let evidence =
                    format!("the checkpoint {} covers {} entries, but there is no such ledger", mark.from, mark.size);
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
    let signed = open_head(request, &snapshot, &mut findings);
    // The state of a scan is large, so keep it out of the awaiting future.
    Box::pin(walk::walk(request, snapshot, signed, marks, findings, progress)).await.map(Some)
}

fn open_marks(request: &ScanRequest<'_>, findings: &mut Findings) -> Vec<Mark> {
    let mut marks = Vec::new();
    for timeline in &request.unkept {
        let evidence = format!(
            "no checkpoint of timeline `{timeline}` is kept outside the database, but those of other timelines are"
        );
        findings.add(FindingKind::ExternalCheckpointInconsistent, None, evidence);
    }
    for reference in &request.references {
        match open_stored(&reference.note, &request.keys, request.verify) {
            Ok(Checkpoint { size, root, .. }) => marks.push(Mark { from: reference.from, size, root, found: None }),
            Err(unsigned) => {
                let evidence = format!("the checkpoint {}: {}", reference.from, unsigned.evidence);
                findings.add(unsigned.kind, unsigned.size, evidence);
            }
        }
    }
    marks
}

fn open_head(request: &ScanRequest<'_>, snapshot: &Snapshot, findings: &mut Findings) -> Option<Checkpoint> {
    match open_newest(&snapshot.head, &request.keys, request.verify) {
        Ok(signed) => {
            if let Some(evidence) = carried_fault(&snapshot.head, &signed, &request.keys, request.verify) {
                findings.add(FindingKind::StateMismatch, None, evidence);
            }
            Some(signed)
        }
        Err(unsigned) => {
            let size = snapshot.head.frontier.size();
            let evidence = format!("the newest head in the database: {}", unsigned.evidence);
            findings.add(unsigned.kind, Some(unsigned.size.unwrap_or(size)), evidence);
            None
        }
    }
}
