//! Fault injection: one follower shows its clock wrong, while all others show it right.

use async_recursion::async_recursion as boxed;
use timenav_core::access::Demand;
use timenav_core::fault::{Fault, Faults};
use timenav_core::ids::{FollowerId, FollowerName, TimelineId, UserId};

use crate::engine::Engine;
use crate::ledger::action::Action;
use crate::ledger::changes::FaultOutcome;
use crate::ledger::head::TimelineState;
use crate::ledger::payload::{FaultSet, TimelineCreated, faults_of};
use crate::ports::lookups::OneFact;
use crate::requests::caller::Caller;
use crate::requests::idempotency::Idempotency;
use crate::requests::json::read;
use crate::requests::refusal::Refusal;
use crate::writer::deciding::faults::SetFault;
use crate::writer::deciding::repeated::RepeatedRequest;
use crate::writer::submission::Answer;

#[derive(Clone, Debug)]
pub struct FaultRequest {
    pub timeline: Option<TimelineId>,
    /// A follower whose stream is open, or was within the last minute.
    pub follower_id: FollowerId,
    /// `None` removes it.
    pub fault: Option<Fault>,
}

impl Engine {
    /// Injects or removes a fault for all followers of the same user and name as the given one, from now on, on this
    /// timeline and its forks. Only their readings are wrong; the clock and other followers are not affected.
    ///
    /// # Errors
    /// The caller is not authorized, there is no such follower, it does not support faults, or there are too many.
    #[boxed]
    pub async fn set_fault(
        &self,
        caller: &Caller,
        request: FaultRequest,
        idempotency: Option<Idempotency>,
    ) -> Result<Answer<FaultOutcome>, Refusal> {
        let FaultRequest { timeline, follower_id, fault } = request;
        let timeline = caller.timeline(timeline);
        self.admit(caller, &timeline, Demand::Record, Action::SetFault.word()).await?;
        let again = RepeatedRequest::<FaultOutcome>::of(Action::SetFault, &[Demand::Record]);
        if let Some(answer) = self.answered_before(caller, &timeline, again, idempotency).await? {
            return Ok(answer);
        }
        let whose = self.follower_named(&timeline, &follower_id).await?;
        self.submit(caller, timeline, SetFault { whose, fault }, idempotency).await
    }

    async fn follower_named(
        &self,
        timeline: &TimelineId,
        follower_id: &FollowerId,
    ) -> Result<(UserId, FollowerName), Refusal> {
        self.learn_followers(timeline).await?;
        let followers = self.follower_registry().followers().of(timeline, self.now());
        let follower = followers.into_iter().find(|follower| follower.follower_id == *follower_id);
        let follower = follower.ok_or_else(|| Refusal::NotFound { what: "follower", id: follower_id.to_string() })?;
        if follower.shows_faults == Some(false) {
            let detail =
                format!("`{}` does not support clock errors; only `timenav exec` and `timenav sntp` do", follower.name);
            return Err(Refusal::invalid("follower_id", detail));
        }
        Ok((follower.user_id, follower.name))
    }

    #[must_use]
    pub fn fault_of(&self, timeline: &TimelineId, whose: &(UserId, FollowerName)) -> Option<Fault> {
        self.state(timeline)?.head.timers.faults.get(whose)
    }

    pub(crate) async fn faults_at(&self, state: &TimelineState, size: u64) -> Result<Faults, Refusal> {
        let faults = &state.head.timers.faults;
        let mut entry = faults.changed;
        if entry.is_none_or(|position| position < size) {
            return Ok(Faults::clone(faults).since(None));
        }
        let damaged = |position: u64| Refusal::Damaged(format!("entry {position}: the clock errors cannot be read"));
        // Each entry names the previous one.
        while let Some(position) = entry {
            let stored = self.store().entry(state.head.key, position).await?;
            let fault_set: Option<FaultSet> = stored.and_then(|stored| read(&stored.payload));
            let fault_set = fault_set.ok_or_else(|| damaged(position))?;
            if position < size {
                return faults_of(&fault_set.faults).ok_or_else(|| damaged(position));
            }
            entry = fault_set.before.filter(|before| *before < position);
        }
        // Before the first such entry, the faults are those of the timeline's creation.
        let stored = self.store().entry(state.head.key, 0).await?;
        let begun = stored.and_then(|stored| read::<TimelineCreated>(&stored.payload)).and_then(|made| made.fork);
        begun.map_or_else(|| Ok(Faults::default()), |fork| faults_of(&fork.faults).ok_or_else(|| damaged(0)))
    }
}
