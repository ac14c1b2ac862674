use timenav_core::ids::TimelineId;
use timenav_core::ledger::{ForkedFrom, Hash, HeadStatement, Held, TimelineCounts, TimelineFacts};
use timenav_core::scan::FindingKind;

use super::Replay;
use crate::integrity::scan::request::ScanRequest;
use crate::ledger::stored_statement::signed_by;
use crate::ports::archive::Snapshot;

impl Replay {
    /// Compares the signed statement with the result of all entries, if they lead to the signed root. Returns the
    /// number of compared statements. With an entry of version 1, only the tree was signed.
    pub(in crate::integrity::scan) fn compare_statement(
        &mut self,
        request: &ScanRequest<'_>,
        snapshot: &Snapshot,
        root: Hash,
    ) -> u64 {
        let stated = |held| self.statement(request, snapshot, (root, held)).filter(|_| self.is_stated);
        let origins: Vec<(u64, &str)> =
            self.origins.iter().map(|origin| (origin.end, origin.origin.as_str())).collect();
        let is_handed_over = self.handed_over.is_some();
        let Some(whole) = stated(Held { is_handed_over, origins: &origins, retention: &self.policies }) else {
            return 0;
        };
        // Versions before feature level 7 included only this.
        let former = stated(Held::NOTHING);
        let current = &request.keys.current;
        let is_signed = signed_by(&snapshot.head.statement).any(|signed| {
            let is_by_key = |stated: &HeadStatement| stated.verify(signed.signature, current, request.verify).is_ok();
            is_by_key(&whole) || former.as_ref().is_some_and(is_by_key)
        });
        if !is_signed {
            let evidence = format!(
                "table timelines, {}: the head statement was not signed by the key with the id {} for what the \
                 entries lead to",
                self.timeline_id,
                current.id()
            );
            self.findings.add(FindingKind::StateMismatch, None, evidence);
        }
        1
    }

    fn statement(
        &self,
        request: &ScanRequest<'_>,
        snapshot: &Snapshot,
        (root, held): (Hash, Held<'_>),
    ) -> Option<HeadStatement> {
        if self.blind.is_some() || !self.from_the_start {
            return None;
        }
        let fork_of = self.fork.as_ref().and_then(|fork| TimelineId::new(&fork.fork_of).ok());
        let forked = self.fork.as_ref().zip(fork_of.as_ref());
        let timers = self.timers.text();
        let facts = TimelineFacts {
            clock: self.clock.as_ref()?,
            counts: TimelineCounts {
                anchors: self.anchors_count,
                data: self.data_count,
                events: u64::try_from(self.events_count()).ok()?,
                overrides: self.overrides_count,
            },
            directory_root: (self.timeline_id == TimelineId::SYSTEM).then(|| self.directory.root()),
            fork: match forked {
                Some((fork, timeline_id)) => {
                    Some(ForkedFrom { timeline_id, size: fork.size, root: Hash::from_hex(&fork.root)? })
                }
                None => None,
            },
            held,
            permissions: self.permissions.as_ref()?,
            timers: &timers,
        };
        Some(HeadStatement {
            origin: request.keys.current.name().to_owned(),
            size: snapshot.head.frontier.size(),
            root,
            state_hash: facts.hash(),
            index_root: None,
        })
    }
}
