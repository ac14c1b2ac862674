use std::sync::Arc;

use async_recursion::async_recursion as boxed;
use timenav_core::access::{self, Demand};
use timenav_core::fault::{Fault, Faults};
use timenav_core::followers::{Awaited, AwaitedStatus, Confirmed, Follower, FollowerPlace, Step, is_confirmed};
use timenav_core::ids::{FollowerId, FollowerName, TimelineId, UserId, type_id};
use timenav_core::limits::{FOLLOWERS_NAMED_MAX, FOLLOWERS_PER_TIMELINE_MAX};
use timenav_core::time::{Instant, Wall};

use crate::engine::Engine;
use crate::ledger::head::TimelineState;
use crate::ledger::payload::Reading;
use crate::requests::caller::Caller;
use crate::requests::refusal::Refusal;

const RESERVED: &str = "`all` means all followers; choose another name, such as `web-1`";

/// A follower with a stream that is open until this value is dropped.
pub struct FollowedBy {
    engine: Engine,
    timeline: TimelineId,
    follower_id: FollowerId,
    whose: (UserId, FollowerName),
}

impl FollowedBy {
    #[must_use]
    pub const fn follower_id(&self) -> &FollowerId {
        &self.follower_id
    }

    pub(crate) const fn whose(&self) -> &(UserId, FollowerName) {
        &self.whose
    }

    #[must_use]
    pub fn fault(&self) -> Option<Fault> {
        self.engine.fault_of(&self.timeline, &self.whose)
    }
}

impl Drop for FollowedBy {
    fn drop(&mut self) {
        let host = self.engine.now();
        self.engine.follower_registry().followers().leave(&self.timeline, &self.follower_id, host);
        self.engine.follower_registry().notify();
        self.engine.share_follower_later(&self.timeline, &self.follower_id);
        // Firings may have waited for it.
        self.engine.timing().wake_claims();
    }
}

#[derive(Clone, Debug)]
pub struct FollowAs {
    pub name: FollowerName,
    /// Whether it also confirms each step of an advance, so that firings wait for that.
    pub steps: bool,
    /// The host and process of the follower, as reported by it. Not recorded in the ledger.
    pub place: FollowerPlace,
    pub shows_faults: bool,
}

#[derive(Clone, Debug)]
pub struct Confirmation {
    pub timeline: Option<TimelineId>,
    pub follower_id: FollowerId,
    pub generation: u64,
    /// How many instants the advance of that generation had reached; 0 without an advance.
    pub step: u64,
}

#[derive(Clone, Debug)]
pub struct FollowersSeen {
    pub timeline_id: TimelineId,
    pub step: Step,
    pub changed_at: Instant<Wall>,
    pub faults: Arc<Faults>,
    /// The followers at all services on the same database.
    pub followers: Vec<Follower>,
    /// Whether there may be unknown others, because not all services on the database report them.
    pub may_be_elsewhere: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WhichFollowers {
    /// All followers of users who may write to the timeline. Others cannot delay anyone.
    All,
    /// All followers with these names, of any user. Each name must have at least one follower.
    Named(Vec<FollowerName>),
}

impl WhichFollowers {
    /// Parses a list of names; `all` alone means all followers.
    ///
    /// # Errors
    /// The list is empty or too long, or contains `all` and other names.
    pub fn named(mut names: Vec<FollowerName>) -> Result<Self, Refusal> {
        if let [name] = names.as_slice()
            && name.is_all()
        {
            return Ok(Self::All);
        }
        if names.is_empty() || names.len() > FOLLOWERS_NAMED_MAX || names.iter().any(FollowerName::is_all) {
            let detail = format!("give `all`, or the names of 1 to {FOLLOWERS_NAMED_MAX} followers");
            return Err(Refusal::invalid("followers", detail));
        }
        names.sort_unstable();
        names.dedup();
        Ok(Self::Named(names))
    }
}

#[derive(Clone, Debug)]
pub struct WaitFor {
    timeline: TimelineId,
    generation: u64,
    awaited: Awaited,
}

impl WaitFor {
    #[must_use]
    pub fn until(self, generation: u64) -> Self {
        Self { generation, ..self }
    }

    #[must_use]
    pub const fn generation(&self) -> u64 {
        self.generation
    }
}

impl Engine {
    /// Registers a follower with all services on the database, before its stream opens.
    pub(crate) async fn begin_following(
        &self,
        caller: &Caller,
        timeline: &TimelineId,
        FollowAs { name, steps, place, shows_faults }: FollowAs,
    ) -> Result<FollowedBy, Refusal> {
        let follower_id = type_id("follower", self.uuid());
        let follower_id = FollowerId::new(&follower_id).map_err(|error| Refusal::id("follower_id", error))?;
        let follower = Follower {
            follower_id: follower_id.clone(),
            timeline: timeline.clone(),
            user_id: caller.user_id.clone(),
            name: name.clone(),
            place,
            since: self.now(),
            confirmed: None,
            left: None,
            steps,
            shows_faults: Some(shows_faults),
            is_late: false,
        };
        let too_many = |_| Refusal::LimitReached { what: "followers of this clock", max: FOLLOWERS_PER_TIMELINE_MAX };
        self.follower_registry().followers().begin(follower).map_err(too_many)?;
        self.follower_registry().notify();
        let whose = (caller.user_id.clone(), name);
        let open = FollowedBy { engine: self.clone(), timeline: timeline.clone(), follower_id, whose };
        self.share_follower(timeline, open.follower_id()).await?;
        Ok(open)
    }

    /// Records that a follower has applied a clock change and all earlier ones. Not recorded in the ledger. Its stream
    /// may be open at any service on the database.
    ///
    /// # Errors
    /// The caller is not authorized, has no such follower with an open stream, or the clock has not reached that
    /// generation.
    #[boxed]
    pub async fn confirm(&self, caller: &Caller, confirmation: Confirmation) -> Result<(Follower, u64), Refusal> {
        let Confirmation { timeline, follower_id, generation, step } = confirmation;
        let timeline = caller.timeline(timeline);
        let mut state = self.admit(caller, &timeline, Demand::Look, "confirm_clock").await?;
        let confirmed = Confirmed { step: Step { generation, number: step }, at: self.now() };
        if confirmed.step > come_to(&state) {
            // Another service may have moved the clock and notified the follower already.
            self.catch_up_with(&timeline).await?;
            state = self.state(&timeline).unwrap_or(state);
        }
        let newest = state.head.clock.generation;
        if generation > newest {
            let detail = format!("the clock has not reached that generation; it is at {newest}");
            return Err(Refusal::invalid("generation", detail));
        }
        let reached = come_to(&state).number;
        if generation == newest && step > reached {
            let detail = format!("the advance has not reached that step; it is at {reached}");
            return Err(Refusal::invalid("step", detail));
        }
        let whose = (&timeline, &caller.user_id);
        let follower = self.follower_registry().followers().confirm(whose, &follower_id, confirmed).cloned();
        let follower = if let Some(follower) = follower {
            if let Err(refusal) = self.share_follower(&timeline, &follower_id).await {
                tracing::debug!(%refusal, "the other services will detect a confirmation later");
            }
            follower
        } else {
            let follower = self.confirm_elsewhere((&state, &caller.user_id), &follower_id, confirmed).await?;
            follower.ok_or_else(|| Refusal::NotFound { what: "follower", id: follower_id.to_string() })?
        };
        self.follower_registry().notify();
        if follower.steps && state.head.timers.advance.is_some() {
            self.timing().wake_claims();
        }
        Ok((follower, newest))
    }

    /// Lists the followers of a clock: all of them for callers who may write, otherwise only the caller's own.
    ///
    /// # Errors
    /// The caller is not authorized, there is no such timeline, or the ledger cannot be written.
    #[boxed]
    pub async fn followers(&self, caller: &Caller, timeline: Option<TimelineId>) -> Result<FollowersSeen, Refusal> {
        let look = self.look(caller, timeline, Demand::Look, Reading::Followers {}).await?;
        let timeline_id = look.timeline();
        let sees_all = self.decide(caller, &timeline_id, Demand::Record).is_ok();
        self.learn_followers(&timeline_id).await?;
        let mut followers = self.follower_registry().followers().of(&timeline_id, self.now());
        followers.retain(|follower| sees_all || follower.user_id == caller.user_id);
        let (step, (changed_at, _)) = (come_to(&look.state), look.state.head.clock.origin());
        let faults = Arc::clone(&look.state.head.timers.faults);
        let may_be_elsewhere = self.misses_followers();
        Ok(FollowersSeen { timeline_id, step, changed_at, faults, followers, may_be_elsewhere })
    }

    /// Returns the followers that the response to a change waits for: the present followers of users who may write.
    #[boxed]
    pub async fn wait_for(&self, timeline: &TimelineId, generation: u64, which: WhichFollowers) -> WaitFor {
        self.learn_followers_or_continue(timeline).await;
        let awaited = match which {
            WhichFollowers::Named(names) => Awaited::Named(names),
            WhichFollowers::All => {
                let there: Vec<Follower> = self.follower_registry().followers().there(timeline).cloned().collect();
                let state = self.state(timeline);
                let may_write = |follower: &Follower| self.may_write(state.as_deref(), &follower.user_id);
                Awaited::These(there.into_iter().filter(may_write).collect())
            }
        };
        WaitFor { timeline: timeline.clone(), generation, awaited }
    }

    #[boxed]
    pub async fn until_confirmed(&self, wait: &WaitFor) {
        let _waiting = self.follower_registry().wait(&wait.timeline);
        self.learn_followers_or_continue(&wait.timeline).await;
        loop {
            let changed = self.follower_registry().changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            if is_confirmed(&self.statuses_of(wait)) {
                return;
            }
            changed.await;
        }
    }

    #[must_use]
    pub fn statuses_of(&self, wait: &WaitFor) -> Vec<AwaitedStatus> {
        self.follower_registry().followers().statuses(&wait.timeline, &wait.awaited, wait.generation)
    }

    /// The step of an awaited change, and its host time; `None` once the clock has changed again.
    #[must_use]
    pub fn changed_at(&self, wait: &WaitFor) -> Option<(Step, Instant<Wall>)> {
        let state = self.state(&wait.timeline)?;
        let (changed_at, _) = state.head.clock.origin();
        Some((come_to(&state), changed_at)).filter(|(step, _)| step.generation == wait.generation)
    }

    /// Like [`Engine::learn_followers`], but only logs an error, because the change stays in effect either way.
    async fn learn_followers_or_continue(&self, timeline: &TimelineId) {
        if let Err(refusal) = self.learn_followers(timeline).await {
            tracing::warn!(%timeline, %refusal, "the followers at other services could not be read");
        }
    }

    /// Returns the position below which firings may be offered, given the confirmations of an advance's current
    /// instant; `None` if no follower is awaited.
    pub(crate) async fn offered_below(&self, state: &TimelineState) -> Result<Option<u64>, Refusal> {
        let Some(advance) = &state.head.timers.advance else { return Ok(None) };
        self.learn_followers(&state.head.id).await?;
        Ok(self.follow_steps(state).map(|_| advance.stepped))
    }

    /// Returns the followers that the firings of an advance's current instant wait for, and the deadline in host time.
    /// After the deadline, they are no longer awaited.
    pub(crate) fn follow_steps(&self, state: &TimelineState) -> Option<(Vec<FollowerName>, Instant<Wall>)> {
        let advance = state.head.timers.advance.as_ref()?;
        let instant = (&state.head.id, state.head.clock.generation, advance);
        let may_write = |user_id: &UserId| self.may_write(Some(state), user_id);
        self.follower_registry().followers().waited_for(instant, self.host(state), may_write)
    }

    pub(crate) async fn followed_by(&self, state: &TimelineState) -> Result<Option<String>, Refusal> {
        let has_firings = state.head.timers.advance.as_ref().is_some_and(|advance| advance.open > 0);
        if !has_firings {
            return Ok(None);
        }
        self.learn_followers(&state.head.id).await?;
        let Some((names, _)) = self.follow_steps(state) else { return Ok(None) };
        let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        Ok(Some(format!("followers that have not confirmed the instant: {}", names.join(", "))))
    }

    /// Returns whether a user may write to a timeline, regardless of a key's scopes.
    fn may_write(&self, state: Option<&TimelineState>, user_id: &UserId) -> bool {
        let lists = state.filter(|state| !state.head.id.is_system()).map(|state| &*state.head.permissions);
        access::decide(self.directory().caller_access(user_id, None, lists, self.for_expiry()), Demand::Record).is_ok()
    }
}

fn come_to(state: &TimelineState) -> Step {
    let number = state.head.timers.advance.as_ref().map_or(0, |advance| advance.step);
    Step { generation: state.head.clock.generation, number }
}

pub(crate) fn check_name(name: &FollowerName) -> Result<(), Refusal> {
    if name.is_all() { Err(Refusal::invalid("follow", RESERVED)) } else { Ok(()) }
}
