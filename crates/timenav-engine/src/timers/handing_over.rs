//! Guards that release claims when the claimer has gone.

use timenav_core::ids::{FiringId, QueueId, TimelineId};

use crate::engine::Engine;

/// A listener of a queue, until this is dropped.
pub(crate) struct Listening<'a> {
    engine: &'a Engine,
    timeline: &'a TimelineId,
    queue: &'a QueueId,
}

impl<'a> Listening<'a> {
    pub(crate) fn begin(engine: &'a Engine, timeline: &'a TimelineId, queue: &'a QueueId) -> Self {
        engine.timing().leases().listen(timeline, queue, engine.now());
        Self { engine, timeline, queue }
    }
}

impl Drop for Listening<'_> {
    fn drop(&mut self) {
        let timing = self.engine.timing();
        timing.leases().leave(self.timeline, self.queue, self.engine.now());
        // An advance that waits only for this queue now has a deadline.
        timing.wake_keeper();
    }
}

/// Claimed firings that have not reached their claimer yet.
pub(crate) struct HandedOver<'a> {
    pub(crate) engine: &'a Engine,
    pub(crate) timeline: &'a TimelineId,
    pub(crate) attempts: Vec<(FiringId, u32)>,
}

impl Drop for HandedOver<'_> {
    fn drop(&mut self) {
        if self.attempts.is_empty() {
            return;
        }
        let attempts = std::mem::take(&mut self.attempts);
        if self.engine.has_others() {
            return self.engine.give_back_later(self.timeline, attempts);
        }
        let firing_ids: Vec<FiringId> = attempts.into_iter().map(|(firing_id, _)| firing_id).collect();
        self.engine.timing().leases().give_back(&firing_ids);
        self.engine.timing().wake_claims();
    }
}
