use async_recursion::async_recursion as boxed;
use timenav_core::ids::TimelineId;
use timenav_core::ledger::{Hash, LeafRecord, inclusion_nodes, leaf_hash, payload_hash, verify_inclusion};
use timenav_core::limits::{EXPIRED_ENDED_AT_ONCE_MAX, PRUNE_ROWS_MAX};
use timenav_core::time::{Instant, Wall};

use crate::engine::Engine;
use crate::ledger::changes::{LedgerPosition, TimelineOver};
use crate::ledger::head::{EndedTimeline, TimelineState};
use crate::ledger::payload::TimelineCreated;
use crate::ledger::tree::{node_hashes, root_at};
use crate::ports::lookups::OneFact as _;
use crate::requests::caller::Caller;
use crate::requests::idempotency::Idempotency;
use crate::requests::json::read;
use crate::requests::refusal::Refusal;
use crate::writer::deciding::timelines::ends::EndTimeline;
use crate::writer::submission::Answer;

const OUTCOMES_FORGOTTEN_MAX: usize = 1_000;
/// Batches of outcomes deleted per call. The rest waits for the next call.
const OUTCOMES_BATCHES_MAX: usize = 64;

#[derive(Clone, Debug)]
pub struct TimelineEnd {
    pub size: u64,
    pub root: Hash,
    pub checkpoint: String,
    pub contents_until: Instant<Wall>,
    /// The number of timelines forked from it. Contents they inherit are kept until all of them have ended.
    pub forks_count: usize,
    pub ledger: LedgerPosition,
    pub replayed: bool,
}

impl Engine {
    /// Ends a timeline. It becomes unreadable, and its name is never used again.
    ///
    /// # Errors
    /// It is `main` or `system`, the caller does not administer it, or the ledger cannot be written.
    #[boxed]
    pub async fn end_timeline(
        &self,
        caller: &Caller,
        timeline: TimelineId,
        idempotency: Option<Idempotency>,
    ) -> Result<TimelineEnd, Refusal> {
        let key = self.state(&timeline).map(|state| state.head.key);
        let answer = self.submit(caller, timeline, EndTimeline, idempotency).await?;
        let Answer { change: TimelineOver { size, root, checkpoint, due_at }, ledger, replayed, .. } = answer;
        let forks_count = key.map_or(0, |key| self.shared().timelines.read().forks_count(key));
        Ok(TimelineEnd { size, root, checkpoint, contents_until: due_at, forks_count, ledger, replayed })
    }

    /// Ends expired timelines, prunes the contents of those that ended long enough ago, and deletes expired outcomes.
    /// Call this regularly: it is cheap if nothing is due. Interrupted work is finished by a later call.
    ///
    /// # Errors
    /// The ledger cannot be written, or the store does not respond.
    #[boxed]
    pub async fn tend(&self) -> Result<(), Refusal> {
        let _turn = self.shared().tending.lock().await;
        self.shared().views.drop_idle(self.now());
        self.tend_ends().await?;
        self.forget_outcomes().await
    }

    /// Deletes expired outcomes in batches, between which other writes can run.
    async fn forget_outcomes(&self) -> Result<(), Refusal> {
        for _ in 0..OUTCOMES_BATCHES_MAX {
            // Nothing is deleted after the store was found to be tampered with.
            if self.failure().is_some() || !self.store().forget_outcomes(self.sure(), OUTCOMES_FORGOTTEN_MAX).await? {
                break;
            }
        }
        Ok(())
    }

    async fn tend_ends(&self) -> Result<(), Refusal> {
        let (now, doubt) = (self.now(), self.doubt_host_clock().await?);
        // An end cannot be undone.
        let expired = self.shared().timelines.read().expired(self.sure(), EXPIRED_ENDED_AT_ONCE_MAX);
        for state in expired {
            self.end_expired(&state).await?;
        }
        if doubt.is_some() {
            return Ok(());
        }
        loop {
            let due = self.shared().timelines.read().due(now);
            let Some(ended) = due else { return Ok(()) };
            self.prune_ended(&ended).await?;
        }
    }

    /// Checks first that the timeline was created with that expiry: its row may have been tampered with.
    async fn end_expired(&self, state: &TimelineState) -> Result<(), Refusal> {
        let id = &state.head.id;
        if !self.was_made_to_expire(state).await? {
            tracing::error!(timeline_id = %id, "a timeline without an expiry expired: its row was modified outside \
                timenav");
            self.shared().timelines.write().expires_not(id);
            return Ok(());
        }
        match self.submit_service(id.clone(), EndTimeline).await {
            // Another request has ended it.
            Ok(_) | Err(Refusal::Ended { .. }) => Ok(()),
            Err(refusal) => Err(refusal),
        }
    }

    /// Returns whether the first entry of a timeline, which must be in its tree, contains an expiry.
    async fn was_made_to_expire(&self, state: &TimelineState) -> Result<bool, Refusal> {
        let (key, size) = (state.head.key, state.head.frontier.size());
        let Some(first) = self.store().entry(key, 0).await? else { return Ok(false) };
        let Ok(record) = LeafRecord::decode(&first.leaf) else { return Ok(false) };
        let Ok(nodes) = inclusion_nodes(0, size) else { return Ok(false) };
        let proof = node_hashes(self.store(), key, &nodes).await?;
        let is_signed = verify_inclusion(0, size, &leaf_hash(&first.leaf), &proof, &state.root).is_ok();
        let is_whole = payload_hash(&first.salt, &first.payload) == record.payload_hash;
        let expires_at = read::<TimelineCreated>(&first.payload).and_then(|made| made.expires_at().ok()?);
        Ok(is_signed && is_whole && expires_at.is_some() && expires_at == state.head.expires_at)
    }

    /// Prunes events, anchors, sealed data, and payloads and salts of entries; leaves and the tree stay.
    async fn prune_ended(&self, ended: &EndedTimeline) -> Result<(), Refusal> {
        // Only destroy the tree that was recorded as ended, regardless of the row.
        if root_at(self.store(), ended.key, ended.size).await.ok() != Some(ended.root) {
            tracing::error!(timeline_id = %ended.id, "an ended timeline does not match what was signed; its contents \
                are kept");
            self.shared().timelines.write().forget(ended.key);
            return Ok(());
        }
        let mut from = Some(0);
        while let Some(at) = from {
            from = self.store().prune_ended(ended, at, PRUNE_ROWS_MAX).await?;
        }
        self.shared().timelines.write().forget(ended.key);
        tracing::info!(timeline_id = %ended.id, entries = ended.size, "the contents of an ended timeline were deleted");
        Ok(())
    }
}
