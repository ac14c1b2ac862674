//! Clocks that are shown wrong on purpose: of one follower, while all others are shown them right.

use async_recursion::async_recursion as boxed;
use timenav_core::access::Demand;
use timenav_core::fault::{Fault, Faults};
use timenav_core::ids::{FollowerId, FollowerName, TimelineId, UserId};

use crate::action::Action;
use crate::caller::Caller;
use crate::changes::{FaultSaid, LedgerPosition};
use crate::deciding::faults::SetFault;
use crate::deciding::repeated::Again;
use crate::engine::Engine;
use crate::head::TimelineState;
use crate::idempotency::Idempotency;
use crate::json::read;
use crate::one_fact::OneFact;
use crate::payload::{FaultSet, TimelineCreated, faults_of};
use crate::refusal::Refusal;

/// What is to be wrong with the clock of a follower.
#[derive(Clone, Debug)]
pub struct FaultRequest {
    /// Whose clock is followed.
    pub timeline: Option<TimelineId>,
    /// A follower whose stream is open, or was within the last minute.
    pub follower_id: FollowerId,
    /// What is to be wrong; `None` where the clock is to be right again.
    pub fault: Option<Fault>,
}

/// It was said what is wrong with the clock of a user's followers of one name.
#[derive(Clone, Debug)]
pub struct FaultStep {
    /// Whose clock is followed.
    pub timeline_id: TimelineId,
    /// Whose followers.
    pub user_id: UserId,
    /// What they are called.
    pub name: FollowerName,
    /// What is wrong with their clock; `None` where it is right.
    pub fault: Option<Fault>,
    /// Where it stands in the ledger.
    pub ledger: LedgerPosition,
    /// Whether it was said by an earlier request.
    pub replayed: bool,
}

impl Engine {
    /// Says what is wrong with the clock of a follower, and of all followers of that user with that name: from now on, on
    /// this timeline and on forks of it. What they show is wrong; the clock, and what others show, is not.
    ///
    /// # Errors
    /// The caller may not, there is no such follower, it shows no wrong clocks, or there are too many.
    #[boxed]
    pub async fn set_fault(
        &self,
        caller: &Caller,
        request: FaultRequest,
        idempotency: Option<Idempotency>,
    ) -> Result<FaultStep, Refusal> {
        let FaultRequest { timeline, follower_id, fault } = request;
        let timeline = caller.timeline(timeline);
        self.admit(caller, &timeline, Demand::Record, Action::SetFault.word()).await?;
        let again = Again::<FaultSaid>::of(Action::SetFault, &[Demand::Record]);
        let answer = if let Some(answer) = self.answered_before(caller, &timeline, again, idempotency).await? {
            answer
        } else {
            let whose = self.follower_named(&timeline, &follower_id).await?;
            self.submit(caller, timeline.clone(), SetFault { whose, fault }, idempotency).await?
        };
        let FaultSaid { whose: (user_id, name), fault } = answer.change;
        let (ledger, replayed) = (answer.ledger, answer.replayed);
        Ok(FaultStep { timeline_id: timeline, user_id, name, fault, ledger, replayed })
    }

    /// Returns whose follower it is and its name, if it can show a wrong clock as far as that is known here.
    async fn follower_named(
        &self,
        timeline: &TimelineId,
        follower_id: &FollowerId,
    ) -> Result<(UserId, FollowerName), Refusal> {
        self.hear_of_followers(timeline).await?;
        let followers = self.roll().followers().of(timeline, self.now());
        let follower = followers.into_iter().find(|follower| follower.follower_id == *follower_id);
        let follower = follower.ok_or_else(|| Refusal::NotFound { what: "follower", id: follower_id.to_string() })?;
        if follower.shows_faults == Some(false) {
            let detail = format!(
                "`{}` shows the clock as it is told: only `timenav exec` and `timenav sntp` can show it wrong",
                follower.name
            );
            return Err(Refusal::invalid("follower_id", detail));
        }
        Ok((follower.user_id, follower.name))
    }

    /// Returns what is wrong with the clock of a user's followers of one name; `None` where it is right.
    #[must_use]
    pub fn fault_of(&self, timeline: &TimelineId, whose: &(UserId, FollowerName)) -> Option<Fault> {
        self.state(timeline)?.head.timers.faults.get(whose)
    }

    /// Returns whose clocks were wrong on a timeline when it had so many entries.
    pub(crate) async fn faults_at(&self, state: &TimelineState, size: u64) -> Result<Faults, Refusal> {
        let faults = &state.head.timers.faults;
        let mut entry = faults.changed;
        if entry.is_none_or(|position| position < size) {
            return Ok(Faults::clone(faults).since(None));
        }
        let damaged =
            |position: u64| Refusal::Damaged(format!("entry {position}: whose clock is wrong cannot be read"));
        // Each tells of the one before it.
        while let Some(position) = entry {
            let kept = self.store().entry(state.head.key, position).await?;
            let told: Option<FaultSet> = kept.and_then(|kept| read(&kept.payload));
            let told = told.ok_or_else(|| damaged(position))?;
            if position < size {
                return faults_of(&told.faults).ok_or_else(|| damaged(position));
            }
            entry = told.before.filter(|before| *before < position);
        }
        // Before all of them it is as the timeline began.
        let kept = self.store().entry(state.head.key, 0).await?;
        let begun = kept.and_then(|kept| read::<TimelineCreated>(&kept.payload)).and_then(|made| made.fork);
        begun.map_or_else(|| Ok(Faults::default()), |fork| faults_of(&fork.faults).ok_or_else(|| damaged(0)))
    }
}
