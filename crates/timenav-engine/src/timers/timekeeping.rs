//! Time-driven work: firing timers, moving advances on, expiring leases.
//!
//! Nothing here waits. The timekeeper calls [`Engine::keep_time`], sleeps until the returned instant or until
//! [`Engine::time_changed`], and calls again. Due work is decided by the writer, so that two timekeepers do nothing
//! twice.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use async_recursion::async_recursion as boxed;
use futures_util::future::join_all;
use timenav_core::ids::{AdvanceId, FiringId, QueueId, TimelineId, type_id};
use timenav_core::time::{Instant, Span, Wall};
use timenav_core::timers::leases::{Retry, Under};
use timenav_core::timers::retries::Pace;
use timenav_core::timers::{Advance, AdvanceState, FiringState};

use crate::engine::Engine;
use crate::ledger::changes::{LookUp, Reach};
use crate::ledger::head::TimelineState;
use crate::ports::shared_leases::Keeper;
use crate::ports::timer_rows::TimerQuery;
use crate::requests::background::{Background, BackgroundTraces};
use crate::requests::refusal::Refusal;
use crate::timers::agenda::Next;
use crate::timers::pacing::pace_of_ended;
use crate::timers::timing::{OpenFirings, Stepping, Timing};
use crate::writer::deciding::timers::advances::{SeenInstant, StepAdvance, StopAdvance};
use crate::writer::deciding::timers::{FireTimers, SettleFirings};

/// How often to handle one timeline before the others get their turn.
const TURNS_MAX: usize = 256;
/// How often to repeat a prefetch if others set timers in the meantime.
const LOOK_UPS_MAX: usize = 4;
/// The delay after a failed write.
const AFTER_FAILURE: Span = Span::from_micros(1_000_000);
const NOT_IN_TIME: &str = "nobody acknowledged it in time";

enum Instance {
    Left,
    /// It is held; if a host time is given, the hold ends by then.
    Held(Option<Instant<Wall>>),
}

#[derive(Default)]
struct Done {
    turns: usize,
    has_failed: bool,
}

impl Engine {
    /// Ends an advance that waits for nothing and has nothing left on its way. A worker that acknowledges the last
    /// firing and moves the clock right afterwards is therefore not rejected just because the timekeeper has not run
    /// yet. Returns whether it has ended.
    pub(crate) async fn end_if_done(&self, timeline: &TimelineId) -> Result<bool, Refusal> {
        let Some(state) = self.state(timeline) else { return Ok(false) };
        let timers = &state.head.timers;
        let Some(advance) = &timers.advance else { return Ok(true) };
        if !advance.is_done(timers.next) {
            return Ok(false);
        }
        if self.timing().leases().begin_step(timeline, &[], self.now()).is_err() {
            return Ok(false);
        }
        let _stepping = Stepping::begun(self.timing(), timeline);
        let (advance_id, state) = (advance.advance_id.clone(), AdvanceState::Settled);
        let unless_held = Some(advance.stepped);
        let end = StopAdvance { advance_id, state, held_by: None, at: None, keeper: None, unless_held };
        match self.submit_service(timeline.clone(), end).await {
            // Another writer ended it, or set a timer before its end.
            Ok(_) | Err(Refusal::ChangedMeanwhile) => Ok(true),
            Err(refusal) => Err(refusal),
        }
    }

    /// Only the first call has an effect.
    pub fn trace_background(&self, traces: Arc<dyn BackgroundTraces>) {
        _ = self.shared().background.set(traces);
    }

    pub(crate) fn timing(&self) -> &Arc<Timing> {
        &self.shared().timing
    }

    pub(crate) fn new_advance_id(&self) -> Result<AdvanceId, Refusal> {
        AdvanceId::new(&type_id("advance", self.uuid())).map_err(|error| Refusal::id("advance_id", error))
    }

    /// Waits until there may be work earlier than the last returned instant.
    #[boxed]
    pub async fn time_changed(&self) {
        self.timing().keeper.notified().await;
    }

    /// Does all due work. Returns when to call again, if there is no change before.
    #[boxed]
    pub async fn keep_time(&self) -> Option<Instant<Wall>> {
        self.end_leases().await;
        self.share_time().await;
        let due = self.timing().agenda().take(self.now());
        let look = |timeline| async move {
            let (began, mut done) = (self.now(), Done::default());
            let next = self.keep_time_on(timeline, &mut done).await;
            if done.turns > 0 {
                self.shared().note_background((Background::FireTimers, Some(timeline)), began, done.has_failed);
            }
            self.timing().agenda().checked(timeline, next);
        };
        join_all(due.iter().map(look)).await;
        let leases = self.timing().leases().next_end(self.now());
        self.timing().agenda().next().into_iter().chain(leases).min()
    }

    /// Fires timers up to the reading of a timeline's clock.
    pub(crate) async fn fire_due_timers(&self, timeline: &TimelineId) -> Result<(), Refusal> {
        for _ in 0..TURNS_MAX {
            match self.fire_timers(timeline, None).await {
                Ok(()) => {}
                Err(Refusal::ChangedMeanwhile) => break,
                Err(refusal) => return Err(refusal),
            }
        }
        self.timing().wake_claims();
        Ok(())
    }

    /// Fires timers, after prefetching the events they record.
    async fn fire_timers(&self, timeline: &TimelineId, keeper: Option<Keeper>) -> Result<(), Refusal> {
        let mut look_up = LookUp::default();
        for _ in 0..LOOK_UPS_MAX {
            let fire = FireTimers { keeper: keeper.clone(), look_up };
            let Some(needed) = self.submit_service(timeline.clone(), fire).await?.change.look_up else { break };
            look_up = needed;
        }
        Ok(())
    }

    /// Reads as many timers as are likely to fall due, at one instant or several.
    async fn step(
        &self,
        timeline: &TimelineId,
        reach: Reach,
        mut step: impl FnMut(LookUp) -> StepAdvance,
    ) -> Result<(), Refusal> {
        let mut look_up = LookUp { reach, ..LookUp::default() };
        for _ in 0..LOOK_UPS_MAX {
            let moved = self.submit_service(timeline.clone(), step(look_up)).await?.change;
            let Some(needed) = moved.look_up else { break };
            look_up = needed;
        }
        Ok(())
    }

    async fn keep_time_on(&self, timeline: &TimelineId, done_here: &mut Done) -> Next {
        let mut fired = false;
        for _ in 0..TURNS_MAX {
            let Some(state) = self.state(timeline) else {
                self.timing().forget(timeline);
                return Next::Unless;
            };
            let keeps_time = self.keeps_time(timeline);
            if !keeps_time || state.head.timers.advance.is_none() {
                self.timing().forget_open_firings(timeline);
            }
            if !keeps_time {
                return Next::Unless;
            }
            let host = self.host(&state);
            let timers = &state.head.timers;
            let done = match &timers.advance {
                Some(advance) => match self.take_on(&state, advance, host).await {
                    Ok(Instance::Held(until)) => return Next::EachTime(self.until_followed(&state).or(until)),
                    Ok(Instance::Left) => Ok(()),
                    Err(refusal) => Err(refusal),
                },
                None if timers.is_behind(state.head.clock.now(host)) => {
                    fired = true;
                    self.fire_timers(timeline, self.keeper(timeline)).await
                }
                None => {
                    if fired {
                        self.timing().wake_claims();
                    }
                    let clock = &state.head.clock;
                    let moment = timers.next.filter(|_| clock.is_running()).and_then(|next| clock.host_when(next));
                    return moment.map_or(Next::Unless, Next::At);
                }
            };
            done_here.turns += 1;
            let done = match done {
                // Another service did it, or the advance was stopped.
                Err(Refusal::ChangedMeanwhile) => self.find_keeper(&state).await,
                done => done,
            };
            match done {
                Ok(()) => {}
                Err(Refusal::Ended { .. } | Refusal::HandedOver { .. } | Refusal::NotFound { .. }) => {
                    self.timing().forget(timeline);
                    return Next::Unless;
                }
                // The service stops or cannot write; waiting callers are notified.
                Err(Refusal::Unavailable(_) | Refusal::Diverged(_)) => {
                    done_here.has_failed = true;
                    return self.after_failure();
                }
                Err(refusal) => {
                    done_here.has_failed = true;
                    tracing::error!(%timeline, %refusal, "timers could not be processed; will retry");
                    self.stop_damaged(&state, &refusal).await;
                    return self.after_failure();
                }
            }
        }
        self.timing().wake_claims();
        Next::At(self.now())
    }

    fn after_failure(&self) -> Next {
        Next::At(self.now().checked_add(AFTER_FAILURE).unwrap_or(Instant::MAX))
    }

    fn until_followed(&self, state: &TimelineState) -> Option<Instant<Wall>> {
        let waited_for = self.follow_steps(state);
        if waited_for.is_none() && self.follower_registry().followers().any_confirms_steps(&state.head.id) {
            // Claims may have waited for followers until now.
            self.timing().wake_claims();
        }
        waited_for.map(|(_, until)| until)
    }

    async fn take_on(
        &self,
        state: &TimelineState,
        advance: &Advance,
        host: Instant<Wall>,
    ) -> Result<Instance, Refusal> {
        let (timeline, advance_id) = (&state.head.id, &advance.advance_id);
        if advance.is_stuck() {
            let last = self.last_fired(state, advance).await?;
            self.stop(timeline, advance, AdvanceState::Stuck, last).await?;
            return Ok(Instance::Left);
        }
        if let Some(keeper) = self.keeper(timeline) {
            return self.take_on_shared(state, advance, (keeper, host)).await;
        }
        let open = self.open_firings(state, advance).await?;
        let now = self.now();
        let begun = self.timing().leases().begin_step(timeline, &open, now);
        if let Err(held_by) = begun {
            let until = advance.held_until();
            if host < until {
                let leases = self.timing().leases().next_end(now);
                return Ok(Instance::Held(leases.into_iter().chain([until]).min()));
            }
            self.stop(timeline, advance, AdvanceState::Stopped, Some(held_by)).await?;
            return Ok(Instance::Left);
        }
        let stepping = Stepping::begun(self.timing(), timeline);
        let (listening, is_resumed) = self.listened_to(timeline, now);
        // Without listeners, nothing holds an instant.
        let sends = state.head.timers.webhooks;
        let is_unheard = !is_resumed && listening.iter().all(|queue| *queue == QueueId::of_webhooks() && !sends);
        let reach = if is_unheard { Reach::Many } else { Reach::enough_for(advance.at_instant) };
        let step = |look_up| {
            let (advance_id, listening, left) = (advance_id.clone(), listening.clone(), SeenInstant::unheld(advance));
            StepAdvance { advance_id, listening, is_resumed, look_up, left, keeper: None, _lasting: None }
        };
        let stepped = self.step(timeline, reach, step).await;
        drop(stepping);
        stepped.map(|()| Instance::Left)
    }

    /// Returns the queues of a timeline with listeners here, and whether every queue counts as having one.
    fn listened_to(&self, timeline: &TimelineId, now: Instant<Wall>) -> (HashSet<QueueId>, bool) {
        let leases = self.timing().leases();
        (leases.listening_queues(timeline, now), leases.is_resumed(timeline, now))
    }

    /// Returns the next step of an advance, to be decided together with pending outcomes if its instant waits for
    /// nothing else. The step then needs no commit of its own. In other cases, including those that need more
    /// prefetched state, the timekeeper moves the advance on.
    pub(crate) fn step_with_outcomes(&self, timeline: &TimelineId) -> Option<StepAdvance> {
        let state = self.state(timeline)?;
        let advance = state.head.timers.advance.as_ref().filter(|advance| advance.open > 0)?;
        let left = SeenInstant::settled(advance, state.head.frontier.size());
        // Usually about as many timers fall due at the next instant as at this one.
        let look_up = LookUp { reach: Reach::enough_for(advance.at_instant), ..LookUp::default() };
        if self.has_others() {
            let keeper = self.keeper(timeline)?;
            let is_all = self.timing().leases().settling(timeline) as u64 >= advance.open;
            return is_all.then(|| self.shared_step(keeper, timeline, (advance, left), look_up));
        }
        let now = self.now();
        if !self.timing().leases().begin_step_with_outcomes(timeline, advance.open, now) {
            return None;
        }
        let stepping = Stepping::begun(self.timing(), timeline);
        let (listening, is_resumed) = self.listened_to(timeline, now);
        let (advance_id, lasting) = (advance.advance_id.clone(), Some(Box::new(stepping) as Box<dyn Send + Sync>));
        Some(StepAdvance { advance_id, listening, is_resumed, look_up, left, keeper: None, _lasting: lasting })
    }

    /// Stops an advance that cannot continue because the database contradicts the ledger. Waiting callers are notified.
    async fn stop_damaged(&self, state: &TimelineState, refusal: &Refusal) {
        let Some(advance) = state.head.timers.advance.as_ref().filter(|_| matches!(refusal, Refusal::Damaged(_)))
        else {
            return;
        };
        let (timeline, why) = (&state.head.id, Some(refusal.to_string()));
        if let Err(refusal) = self.stop(timeline, advance, AdvanceState::Stopped, why).await {
            tracing::error!(%timeline, %refusal, "an advance could not be stopped");
        }
    }

    /// Like [`Engine::take_on`], on a shared database: activity is locked from the check until the step.
    async fn take_on_shared(
        &self,
        state: &TimelineState,
        advance: &Advance,
        (keeper, host): (Keeper, Instant<Wall>),
    ) -> Result<Instance, Refusal> {
        let timeline = &state.head.id;
        if let Some(held_by) = self.shared_holder(state, advance, self.now()).await? {
            let until = advance.held_until();
            if host < until {
                // Changes by others are not signaled, so check again soon.
                return Ok(Instance::Held(Some(until)));
            }
            self.stop(timeline, advance, AdvanceState::Stopped, Some(held_by)).await?;
            return Ok(Instance::Left);
        }
        let left = SeenInstant::unheld(advance);
        let step = |look_up| self.shared_step(keeper.clone(), timeline, (advance, left), look_up);
        self.step(timeline, Reach::enough_for(advance.at_instant), step).await?;
        self.timing().wake_claims();
        Ok(Instance::Left)
    }

    async fn stop(
        &self,
        timeline: &TimelineId,
        advance: &Advance,
        state: AdvanceState,
        held_by: Option<String>,
    ) -> Result<(), Refusal> {
        let (advance_id, at) = (advance.advance_id.clone(), Some(SeenInstant::unheld(advance)));
        let stop = StopAdvance { advance_id, state, held_by, at, keeper: self.keeper(timeline), unless_held: None };
        self.submit_service(timeline.clone(), stop).await.map(|_| ())
    }

    /// Returns the timer that fired last at an advance's instant, as one that re-arms itself for the same instant.
    async fn last_fired(&self, state: &TimelineState, advance: &Advance) -> Result<Option<String>, Refusal> {
        let (here, key) = (state.head.clock.now(self.host(state)), state.head.key);
        let max = usize::try_from(advance.at_instant).unwrap_or(usize::MAX);
        // Pending firings may have an earlier due time, if their timers were set late.
        let open = TimerQuery::PendingSince(advance.stepped, max);
        let mut firings = self.store().timer_rows(key, open).await?.firings;
        let of_instant = TimerQuery::OfAdvance(advance.position, here, here, max);
        firings.extend(self.store().timer_rows(key, of_instant).await?.firings);
        let last = firings.iter().max_by_key(|firing| (firing.made, firing.due_firing));
        let count = advance.at_instant;
        Ok(last.map(|last| format!("the timer `{}` (the last of {count} to fire at this instant)", last.timer_id)))
    }

    pub(crate) async fn open_firings(&self, state: &TimelineState, advance: &Advance) -> Result<OpenFirings, Refusal> {
        if advance.open == 0 {
            return Ok(Arc::default());
        }
        let (timeline, last) = (&state.head.id, state.head.timers.last);
        if let Some(known) = self.timing().open_firings(timeline, last) {
            return Ok(known);
        }
        let max = usize::try_from(advance.at_instant).unwrap_or(usize::MAX);
        let look_up = TimerQuery::PendingSince(advance.stepped, max);
        let found = self.store().timer_rows(state.head.key, look_up).await?;
        let open: OpenFirings = found.firings.into_iter().map(|firing| (firing.firing_id, firing.queue)).collect();
        self.timing().keep_open_firings(timeline, last, Arc::clone(&open));
        Ok(open)
    }

    /// Retries or fails firings whose leases have expired.
    async fn end_leases(&self) {
        let now = self.now();
        let (ended, waited) = {
            let mut leases = self.timing().leases();
            (leases.expired(now), leases.waited(now))
        };
        if ended.is_empty() && !waited {
            return;
        }
        let mut by_timeline: BTreeMap<TimelineId, Vec<(FiringId, Retry)>> = BTreeMap::new();
        for (timeline, firing_id) in ended {
            let pace = self.state(&timeline).map_or(Pace::Steady, |state| pace_of_ended(&state));
            let retry = self.timing().leases().fail(&firing_id, pace, now);
            by_timeline.entry(timeline).or_default().push((firing_id, retry));
        }
        for (timeline, ended) in by_timeline {
            let Some(state) = self.state(&timeline) else { continue };
            let exhausted = self.notify_ended(&state, ended).exhausted;
            if !exhausted.is_empty() {
                self.fail_exhausted(timeline, exhausted, None).await;
            }
        }
        self.timing().wake_claims();
    }

    /// Records the failure of firings that have reached the maximum number of attempts. On a shared store, `keeper` is
    /// the timekeeper that found them. If another service keeps the time by now, it is responsible.
    pub(crate) async fn fail_exhausted(&self, timeline: TimelineId, firing_ids: Vec<FiringId>, keeper: Option<Keeper>) {
        let reason = Some(NOT_IN_TIME.to_owned());
        let (outcome, under) = (FiringState::Failed, Under::Anybody);
        let (settled_ids, left) = (firing_ids.clone(), Vec::new());
        let outcome = SettleFirings { firing_ids: settled_ids, left, outcome, reason, under, keeper };
        match self.submit_service(timeline.clone(), outcome).await {
            Ok(_) => {
                let mut leases = self.timing().leases();
                for firing_id in &firing_ids {
                    leases.settle(firing_id);
                }
            }
            // The service stops or cannot write, which is reported elsewhere. The firings get another attempt.
            Err(Refusal::Unavailable(_) | Refusal::Diverged(_)) => {}
            Err(Refusal::ChangedMeanwhile) => {
                tracing::info!(%timeline, "another service is the timekeeper of the timeline and records the failures");
            }
            Err(refusal) => tracing::error!(%timeline, %refusal, "the outcome of firings could not be recorded"),
        }
    }
}
