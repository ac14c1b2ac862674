//! What ends by itself when whoever asked for firings, or told of them, is gone.

use timenav_core::ids::{FiringId, QueueId, TimelineId};

use crate::engine::Engine;

/// Somebody waits for the firings of a queue.
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
        // An advance that waits for this queue alone knows from now on until when.
        timing.wake_keeper();
    }
}

/// Firings that are claimed and on their way to whoever claimed them.
pub(crate) struct HandedOver<'a> {
    pub(crate) engine: &'a Engine,
    pub(crate) timeline: &'a TimelineId,
    /// Which attempt at which firing it is.
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
