use timenav_core::ledger::Checkpoint;
use timenav_core::scan::{EntryBytes, FindingKind, Findings, LedgerScan, Mark};

use super::report::{self, Outcome};
use super::request::{Progress, ScanRequest, ScanStage};
use super::{Checked, Scan, blocks, tree};
use crate::ledger::head::EndedTimeline;
use crate::ports::archive::ScanSource;
use crate::ports::store_error::StoreError;

pub(super) async fn compare_tree(source: &dyn ScanSource, ended: &EndedTimeline) -> Result<Findings, StoreError> {
    let mut findings = Findings::default();
    let root = tree::root(source, ended.key, ended.size, &mut findings).await?;
    if root.is_some_and(|root| root != ended.root) {
        let evidence = format!("the tree of `{}`, which has ended, does not match its final tree", ended.id);
        findings.add(FindingKind::CheckpointMismatch, None, evidence);
    }
    Ok(findings)
}

/// Payloads may be pruned; existing ones are compared.
pub(super) async fn walk(
    request: &ScanRequest<'_>,
    ended: &EndedTimeline,
    marks: Vec<Mark>,
    mut findings: Findings,
    progress: &mut (dyn FnMut(Progress) + Send),
) -> Result<Scan, StoreError> {
    let EndedTimeline { key, size, root, .. } = *ended;
    for mark in marks.iter().filter(|mark| mark.size > size) {
        let evidence =
            format!("the checkpoint {} covers {} entries, but the timeline ended with {size}", mark.from, mark.size);
        findings.add(FindingKind::Rollback, Some(size), evidence);
    }
    let marks = marks.into_iter().filter(|mark| mark.size <= size).collect();
    let mut ledger = LedgerScan::new(request.timeline.entry_name().as_str(), marks);
    let (mut at, mut bytes) = (0, 0);
    while at < size {
        let (rows, end) = blocks::read(request.source, key, at, size).await?;
        for row in rows {
            if row.position > ledger.position() {
                ledger.gap(row.position);
            }
            let (position, leaf, salt, payload) = (row.position, &row.leaf, &row.salt, &row.payload);
            bytes += (leaf.len() + salt.len() + payload.len()) as u64;
            ledger.entry(EntryBytes { position, leaf, salt, payload });
        }
        if ledger.position() < end {
            ledger.gap(end);
        }
        let filled = ledger.take_filled();
        tree::compare_tiles(request.source, key, &mut ledger, filled).await?;
        at = end;
        progress(Progress { stage: ScanStage::Entries, entries: at, entries_total: size, bytes });
    }
    let partial = ledger.take_partial();
    tree::compare_tiles(request.source, key, &mut ledger, partial).await?;
    let checked = vec![
        Checked { what: "entries", count: ledger.entries_count() },
        Checked { what: "payloads", count: ledger.payloads_count() },
        Checked { what: "tiles", count: ledger.tiles_count() },
    ];
    let frontier = tree::frontier(request.source, key, size, &mut findings).await?.unwrap_or_default();
    // The root is in an entry of `system`, signed with that ledger.
    let ended_name = Checkpoint { origin: String::new(), size, root, extensions: Vec::new() };
    let (found, good) = ledger.finish(&frontier, Some(&ended_name));
    findings.append(found);
    let outcome = Outcome::new(findings, &good);
    let mut not_checked = vec![
        "The timeline has ended: contents of its entries may be gone, and tables were not compared with them."
            .to_owned(),
    ];
    not_checked.extend(report::not_checked(request, size, 0));
    Ok(Scan { root: Some(root), ..report::of(request, outcome, size, (checked, not_checked)) })
}
