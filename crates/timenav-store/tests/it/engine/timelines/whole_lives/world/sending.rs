//! Sends firings to webhooks like the service's sender.

use std::num::NonZeroUsize;

use super::World;
use crate::engine::*;

/// More than are ever pending at once.
const SENT_MAX: usize = 1_000;

impl World<'_> {
    /// Sends pending webhooks to receivers that accept everything. Returns their number.
    ///
    /// # Errors
    /// If the ledger cannot be written.
    pub(super) async fn send_webhooks(&self) -> Result<usize, Refusal> {
        let mut sent = 0;
        for head in self.home().store.open().await.unwrap().heads {
            let query = TimerQuery::Pending(QueueId::of_webhooks(), SENT_MAX);
            let waiting = self.home().store.timer_rows(head.key, query).await.unwrap().firings.len();
            if let Some(waiting) = NonZeroUsize::new(waiting) {
                self.send_all(&head.id, waiting).await?;
                sent += waiting.get();
            }
        }
        Ok(sent)
    }

    async fn send_all(&self, on: &TimelineId, waiting: NonZeroUsize) -> Result<(), Refusal> {
        let engine = &self.home().engine;
        let claimed = engine.claim_webhooks(on, waiting.get()).await?;
        assert_eq!(claimed.len(), waiting.get(), "{on}");
        for one in claimed {
            let is_stopped =
                engine.webhook_sealed_for(on, &one).is_none() || engine.webhook_stopped(on, &one).await?.is_some();
            if is_stopped {
                let firing = (&one.firing.firing_id, one.firing.made, &one.lease_id);
                engine.webhook_refused(on, firing, ("a fork does not send it", true)).await?;
            } else {
                engine.webhook_taken(on, &one.firing.firing_id).await?;
            }
        }
        Ok(())
    }
}
