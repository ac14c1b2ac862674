use async_recursion::async_recursion as boxed;
use timenav_core::access::Demand;
use timenav_core::ids::{FiringId, TimelineId};
use timenav_core::limits::FIRINGS_PER_REQUEST_MAX;
use timenav_core::timers::DueFiring;

use crate::engine::Engine;
use crate::ledger::action::Action;
use crate::ports::timer_rows::TimerQuery;
use crate::requests::caller::Caller;
use crate::requests::idempotency::Idempotency;
use crate::requests::refusal::Refusal;
use crate::timers::firings::FiringAnswer;
use crate::writer::deciding::timers::redelivering::Redeliver;

impl Engine {
    /// Redelivers a failed firing as a new one with the same due time, in another round of its timer. Returns the new
    /// one. The outcome of the failed one does not change.
    ///
    /// # Errors
    /// The caller is not authorized, there is no such firing, it has not failed or was redelivered before, an advance
    /// is running, or the ledger cannot be written.
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
        let query = TimerQuery::Firings(vec![firing_id.clone()]);
        let firing = self.store().timer_rows(state.head.key, query).await?.firings.pop().ok_or_else(missing)?;
        let position = firing.due_firing.position;
        let timer = self.store().timer_rows(state.head.key, TimerQuery::At(vec![position])).await?.timers.pop();
        let latest = timer.map_or(firing.due_firing.round, |timer| timer.round);
        let named = state.head.id.entry_name();
        // The last rounds, if there are many.
        let rounds = (firing.due_firing.round + 1..=latest).rev().take(FIRINGS_PER_REQUEST_MAX);
        let later = rounds.map(|round| DueFiring { round, ..firing.due_firing }.firing_id(&named)).collect();
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
