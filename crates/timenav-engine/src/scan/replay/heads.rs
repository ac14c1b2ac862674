//! What entries `heads` commit `system` to.

use timenav_core::ids::TimelineId;
use timenav_core::ledger::{CommittedHeads, LeafRecord};

use super::Replay;
use crate::payload::RollbackAccepted;

/// Losses that a scan tells of in sentences. The ledger has them all.
const ACCEPTED_TOLD_MAX: usize = 32;

/// What an entry `heads` says, to be compared with the ledgers it is about.
#[derive(Clone, Debug)]
pub(in crate::scan) struct ToldHeads {
    /// The entry.
    pub(in crate::scan) position: u64,
    /// What it commits to, as its leaf says.
    pub(in crate::scan) subject: String,
    /// The trees.
    pub(in crate::scan) heads: CommittedHeads,
}

/// What entries say of rollbacks that operators accepted.
#[derive(Default)]
pub(super) struct AcceptedTold {
    /// The newest of them.
    newest: Option<u64>,
    /// A sentence for each loss.
    sentences: Vec<String>,
}

impl Replay {
    /// Takes what an entry commits to. Returns `None` where it cannot be read, or stands elsewhere than on `system`.
    pub(super) fn committed(&mut self, record: &LeafRecord<'_>, position: u64, payload: &[u8]) -> Option<()> {
        let heads = CommittedHeads::decode(payload).ok().filter(|_| record.timeline_id == TimelineId::SYSTEM)?;
        self.heads.push(ToldHeads { position, subject: record.subject.to_string(), heads });
        Some(())
    }

    /// Returns what entries `heads` say, and forgets it.
    pub(in crate::scan) fn take_heads(&mut self) -> Vec<ToldHeads> {
        std::mem::take(&mut self.heads)
    }

    /// Takes what an entry says of a rollback that an operator accepted.
    pub(super) fn accept_rollback(&mut self, position: u64, payload: Option<&[u8]>) {
        self.accepted.newest = Some(position);
        let told: Option<RollbackAccepted> = payload.and_then(|payload| serde_json::from_slice(payload).ok());
        if let Some(told) = told {
            self.accepted.sentences.extend(told.sentences(position));
            self.accepted.sentences.truncate(ACCEPTED_TOLD_MAX);
        }
    }

    /// Returns what entries say of rollbacks that operators accepted, a sentence for each loss, and forgets it.
    pub(in crate::scan) fn take_accepted(&mut self) -> Vec<String> {
        std::mem::take(&mut self.accepted.sentences)
    }

    /// Returns the newest entry by which an operator accepted that the database was taken back.
    pub(in crate::scan) const fn rollback_accepted(&self) -> Option<u64> {
        self.accepted.newest
    }
}
