//! What entries `heads` commit `system` to.

use timenav_core::ids::TimelineId;
use timenav_core::ledger::{CommittedHeads, LeafRecord};

use super::Replay;

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

    /// Returns the newest entry by which an operator accepted that the database was taken back.
    pub(in crate::scan) const fn rollback_accepted(&self) -> Option<u64> {
        self.rollback_accepted
    }
}
