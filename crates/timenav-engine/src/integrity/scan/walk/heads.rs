use std::collections::HashMap;

use timenav_core::ids::TimelineId;
use timenav_core::ledger::CommittedHead;
use timenav_core::scan::FindingKind;

use super::ScanWalk;
use crate::integrity::scan::replay::RecordedHeads;
use crate::integrity::scan::report::Checked;
use crate::integrity::scan::tree;
use crate::ledger::head::TimelineKey;
use crate::ports::store_error::StoreError;

#[derive(Default)]
pub(super) struct Heads {
    known: HashMap<TimelineId, Option<(TimelineKey, u64)>>,
    found: Vec<(u64, FindingKind, String)>,
    count: u64,
}

impl ScanWalk<'_, '_> {
    /// Checks that the ledgers still have the trees that `system` was committed to.
    pub(super) async fn compare_heads(&mut self, recorded: &[RecordedHeads]) -> Result<(), StoreError> {
        for RecordedHeads { position, subject, heads } in recorded {
            let origin = self.request.keys.current.name();
            let service_name = origin.rsplit_once('/').map_or(origin, |(service, _)| service).to_owned();
            if heads.subject(&service_name) != *subject {
                let evidence = "the entry commits to a tree that does not match the checkpoints it lists";
                self.findings.add(FindingKind::LeafMismatch, Some(*position), evidence);
            }
            for head in heads.as_slice() {
                self.heads.count += 1;
                if let Some((kind, evidence)) = self.compare_head(head).await? {
                    self.heads.found.push((*position, kind, evidence));
                }
            }
        }
        Ok(())
    }

    async fn compare_head(&mut self, head: &CommittedHead) -> Result<Option<(FindingKind, String)>, StoreError> {
        let CommittedHead { root, size, timeline_id } = head;
        let Some((key, entries)) = self.known_timeline(timeline_id).await? else {
            let evidence = format!("`system` was committed to timeline `{timeline_id}`, but there is no such ledger");
            return Ok(Some((FindingKind::Rollback, evidence)));
        };
        if entries < *size {
            let evidence =
                format!("`system` was committed to {size} entries of timeline `{timeline_id}`, but it has {entries}");
            return Ok(Some((FindingKind::Rollback, evidence)));
        }
        let found = tree::root(self.request.source, key, *size, &mut self.findings).await?;
        Ok(found.filter(|found| found != root).map(|_| {
            let evidence =
                format!("`system` was committed to {size} entries of timeline `{timeline_id}`, but they differ now");
            (FindingKind::Fork, evidence)
        }))
    }

    async fn known_timeline(&mut self, timeline: &TimelineId) -> Result<Option<(TimelineKey, u64)>, StoreError> {
        if let Some(known) = self.heads.known.get(timeline) {
            return Ok(*known);
        }
        let source = self.request.source;
        let snapshot = match source.snapshot(timeline).await {
            Ok(snapshot) => snapshot.map(|snapshot| (snapshot.head.key, snapshot.head.frontier.size())),
            // A damaged head is reported by the scan of that timeline.
            Err(StoreError::Damaged(_)) => None,
            Err(error) => return Err(error),
        };
        let known = match snapshot {
            Some(known) => Some(known),
            None => source.ended(timeline).await?.map(|ended| (ended.key, ended.size)),
        };
        self.heads.known.insert(timeline.clone(), known);
        Ok(known)
    }

    /// Reports the findings, except those that an operator accepted later as a rollback.
    pub(super) fn report_heads(&mut self, rollback_accepted: Option<u64>) {
        let mut accepted = 0;
        for (position, kind, evidence) in std::mem::take(&mut self.heads.found) {
            if rollback_accepted.is_some_and(|accepted| position < accepted) {
                accepted += 1;
            } else {
                self.findings.add(kind, Some(position), evidence);
            }
        }
        if accepted > 0 {
            self.not_checked.push(format!(
                "{accepted} commitments to trees of timelines are from before an operator accepted a rollback, and do not \
                 match."
            ));
        }
        if self.heads.count > 0 {
            self.checked.push(Checked { what: "heads", count: self.heads.count });
        }
    }
}
