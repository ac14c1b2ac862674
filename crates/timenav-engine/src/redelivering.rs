//! Firings that have failed, delivered again.

use async_recursion::async_recursion as boxed;
use timenav_core::access::Demand;
use timenav_core::ids::{FiringId, TimelineId};
use timenav_core::limits::FIRINGS_PER_REQUEST_MAX;
use timenav_core::timers::Fallen;

use crate::action::Action;
use crate::caller::Caller;
use crate::deciding::redelivering::Redeliver;
use crate::engine::Engine;
use crate::firings::FiringAnswer;
use crate::idempotency::Idempotency;
use crate::refusal::Refusal;
use crate::timer_rows::TimersWanted;

impl Engine {
    /// Delivers a firing again that has failed: it is another firing of the same moment, in another round of its timer, and
    /// the answer tells that one. What failed stays so.
    ///
    /// # Errors
    /// The caller may not, there is no such firing, it has not failed or was delivered again before, an advance goes on, or
    /// the ledger cannot be written.
    #[boxed]
    pub async fn redeliver(
        &self,
        caller: &Caller,
        timeline: Option<TimelineId>,
        firing_id: FiringId,
        idempotency: Option<Idempotency>,
    ) -> Result<FiringAnswer, Refusal> {
        let timeline = caller.timeline(timeline);
        let state = self.admit(caller, &timeline, Demand::Steer, Action::RestoreTimers.word()).await?;
        let missing = || Refusal::NotFound { what: "firing", id: firing_id.to_string() };
        let wanted = TimersWanted::Firings(vec![firing_id.clone()]);
        let firing = self.store().timer_rows(state.head.key, wanted).await?.firings.pop().ok_or_else(missing)?;
        let position = firing.fallen.position;
        let timer = self.store().timer_rows(state.head.key, TimersWanted::At(vec![position])).await?.timers.pop();
        let latest = timer.map_or(firing.fallen.round, |timer| timer.round);
        let named = state.head.id.told();
        // The last ones, where it comes again and again.
        let rounds = (firing.fallen.round + 1..=latest).rev().take(FIRINGS_PER_REQUEST_MAX);
        let later = rounds.map(|round| Fallen { round, ..firing.fallen }.firing_id(&named)).collect();
        let redeliver = Redeliver { firing_id, position, later };
        let answer = self.submit(caller, timeline, redeliver, idempotency).await?;
        Ok(FiringAnswer {
            timeline_id: answer.timeline_id,
            firings: answer.change.firings,
            ledger: Some(answer.ledger),
            replayed: answer.replayed,
        })
    }
}
