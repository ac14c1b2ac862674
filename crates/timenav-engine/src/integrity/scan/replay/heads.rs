use timenav_core::ids::TimelineId;
use timenav_core::ledger::{CommittedHeads, LeafRecord};

use super::Replay;
use crate::ledger::payload::RollbackAccepted;

/// Maximum number of accepted losses that a scan reports as sentences.
const ACCEPTED_REPORTED_MAX: usize = 32;

#[derive(Clone, Debug)]
pub(in crate::integrity::scan) struct RecordedHeads {
    pub(in crate::integrity::scan) position: u64,
    /// The subject in its leaf, which must match the commitments.
    pub(in crate::integrity::scan) subject: String,
    pub(in crate::integrity::scan) heads: CommittedHeads,
}

#[derive(Default)]
pub(super) struct RecordedAcceptances {
    newest: Option<u64>,
    sentences: Vec<String>,
}

impl Replay {
    /// Returns `None` if it cannot be parsed or is not on `system`.
    pub(super) fn committed(&mut self, record: &LeafRecord<'_>, position: u64, payload: &[u8]) -> Option<()> {
        let heads = CommittedHeads::decode(payload).ok().filter(|_| record.timeline_id == TimelineId::SYSTEM)?;
        self.heads.push(RecordedHeads { position, subject: record.subject.to_string(), heads });
        Some(())
    }

    pub(in crate::integrity::scan) fn take_heads(&mut self) -> Vec<RecordedHeads> {
        std::mem::take(&mut self.heads)
    }

    pub(super) fn accept_rollback(&mut self, position: u64, payload: Option<&[u8]>) {
        self.accepted.newest = Some(position);
        let accepted_rollback: Option<RollbackAccepted> =
            payload.and_then(|payload| serde_json::from_slice(payload).ok());
        if let Some(accepted_rollback) = accepted_rollback {
            self.accepted.sentences.extend(accepted_rollback.sentences(position));
            self.accepted.sentences.truncate(ACCEPTED_REPORTED_MAX);
        }
    }

    pub(in crate::integrity::scan) fn take_accepted(&mut self) -> Vec<String> {
        std::mem::take(&mut self.accepted.sentences)
    }

    pub(in crate::integrity::scan) const fn rollback_accepted(&self) -> Option<u64> {
        self.accepted.newest
    }
}
