use std::collections::VecDeque;
use std::pin::pin;

use async_recursion::async_recursion as boxed;
use timenav_core::access::Demand;
use timenav_core::clock::{Clock, ClockCommand};
use timenav_core::fault::Fault;
use timenav_core::ids::{AdvanceId, FollowerName, TimelineId, UserId};
use timenav_core::time::{Instant, Virtual, Wall};

use crate::clock::followers::{FollowAs, FollowedBy, check_name};
use crate::engine::Engine;
use crate::events::location::known_zone;
use crate::ledger::changes::{ClockAfter, LedgerPosition};
use crate::ledger::head::TimelineState;
use crate::ledger::payload::{Reading, clock_in};
use crate::ports::timer_rows::TimerQuery;
use crate::ports::wall_clock::OriginBoot;
use crate::read::live::Growth;
use crate::requests::caller::Caller;
use crate::requests::expected::Expected;
use crate::requests::idempotency::Idempotency;
use crate::requests::refusal::Refusal;
use crate::writer::deciding::clocks::{AdvanceContext, ChangeClock};
use crate::writer::submission::Answer;

/// Maximum number of changes that a listener may lag or have missed and still receive.
pub const RETAINED_CHANGES_MAX: usize = 256;
/// Rounds of firing due timers before a move: on a very fast clock, more become due in the meantime.
const TICKS_BEFORE_MAX: usize = 16;
/// Entries read to find missed changes. Some changed nothing, such as pausing a paused clock.
const CLOCK_ENTRIES_READ_MAX: usize = 4 * RETAINED_CHANGES_MAX;

#[derive(Clone, Debug)]
pub struct ClockView {
    pub timeline_id: TimelineId,
    pub clock: Clock,
    pub current_time: Instant<Virtual>,
    /// The reading in the location's calendar, if that differs from UTC.
    pub local_time: Option<String>,
    pub advance: Option<AdvanceSeen>,
    /// The lag of deliveries, if there are firings without an outcome. The clock waits for them only in an advance.
    pub lag: Option<DeliveryLag>,
    /// Its origin by the boot clock of the service's kernel. `None` while the host's clock lags the last entry of the
    /// timeline, because the origin would then give another time than the clock shows.
    pub origin_boot: Option<OriginBoot>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeliveryLag {
    pub pending: u64,
    pub oldest: Instant<Virtual>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AdvanceSeen {
    pub advance_id: AdvanceId,
    pub step: u64,
    pub to: Instant<Virtual>,
}

impl AdvanceSeen {
    fn of(state: &TimelineState, clock: &Clock) -> Option<Self> {
        let advance = state.head.timers.advance.as_ref().filter(|_| state.head.clock == *clock)?;
        Some(Self { advance_id: advance.advance_id.clone(), step: advance.step, to: advance.to })
    }
}

#[derive(Clone, Debug)]
pub struct ClockStep {
    pub view: ClockView,
    pub changed: bool,
    pub ledger: LedgerPosition,
    /// Whether this is the outcome of an earlier request with the same idempotency key.
    pub replayed: bool,
    /// The advance that was started, if there are timers on the way.
    pub advance_id: Option<AdvanceId>,
}

#[derive(Clone, Debug)]
pub struct ClockChange {
    pub command: ClockCommand,
    pub expected: Option<Expected>,
    /// Whether a forward move stops at each timer. Otherwise the clock jumps, and the timers fire afterwards.
    pub settle: bool,
    pub is_inside: bool,
    /// Whether timers fire again for due times that a rewind goes back over.
    pub refire: bool,
}

impl From<ClockCommand> for ClockChange {
    fn from(command: ClockCommand) -> Self {
        Self { command, expected: None, settle: true, is_inside: false, refire: false }
    }
}

pub struct ClockStream {
    /// What to send the listener first: the changes it missed, or the current clock.
    pub missed: Vec<Clock>,
    /// Whether changes were lost, so that `missed` does not continue what the listener knows.
    pub reset: bool,
    /// The newest generation that the listener knows after `missed`.
    pub sent_generation: u64,
    pub changes: ClockChanges,
    pub follower: Option<FollowedBy>,
}

/// Changes are read from the ledger whenever it has grown.
pub struct ClockChanges {
    engine: Engine,
    timeline: TimelineId,
    growth: Growth,
    read: u64,
    pending: VecDeque<ClockNews>,
    last: Option<Clock>,
    /// The follower for whom a fault may be injected, and the fault that its listener knows.
    sent_fault: Option<((UserId, FollowerName), Option<Fault>)>,
}

impl ClockChanges {
    /// `None` if the listener lags so far that changes are lost, or if the ledger cannot be read.
    #[boxed]
    pub async fn next(&mut self) -> Option<ClockNews> {
        loop {
            if let Some(change) = self.pending.pop_front() {
                return Some(change);
            }
            // The timeline may have ended before this began to listen.
            if self.engine.has_ended(&self.timeline) || !self.growth.changed().await {
                return None;
            }
            let state = self.engine.state(&self.timeline)?;
            let now = &state.head.clock;
            match now.generation.checked_sub(self.read)? {
                // An advance has reached another instant.
                0 if self.last.as_ref() != Some(now) => self.pending.push_back(ClockNews::of(now.clone())),
                0 => {
                    if self.is_otherwise_wrong(&state) {
                        self.pending.push_back(ClockNews { clock: now.clone(), is_of_fault: true });
                    }
                    continue;
                }
                1 => self.pending.push_back(ClockNews::of(now.clone())),
                _ => {
                    let (missed, reset) = self.engine.missed(&state, Some(self.read)).await.ok()?;
                    if reset {
                        return None;
                    }
                    self.pending.extend(missed.into_iter().map(ClockNews::of));
                }
            }
            self.read = now.generation;
            self.last = Some(now.clone());
            // Each message includes the current fault, so it counts as sent.
            self.is_otherwise_wrong(&state);
        }
    }

    /// Compares the follower's injected fault with the one its listener knows, and records the new one as known.
    fn is_otherwise_wrong(&mut self, state: &TimelineState) -> bool {
        let Some((whose, sent_generation)) = &mut self.sent_fault else { return false };
        let now = state.head.timers.faults.get(whose);
        std::mem::replace(sent_generation, now) != now
    }
}

#[derive(Clone, Debug)]
pub struct ClockNews {
    pub clock: Clock,
    /// Whether the clock is unchanged and only the injected fault has changed.
    pub is_of_fault: bool,
}

impl ClockNews {
    const fn of(clock: Clock) -> Self {
        Self { clock, is_of_fault: false }
    }
}

impl Engine {
    pub(crate) fn view_clock(&self, timeline_id: TimelineId, clock: Clock, host: Instant<Wall>) -> ClockView {
        let current_time = clock.now(host);
        // Otherwise the clock does not move until the host's clock has reached the last entry.
        let boot = self.ports().clock.boot().filter(|_| host <= self.now());
        let origin_boot = boot.map(|boot| boot.origin_of(&clock));
        ClockView { origin_boot, ..self.clock_reading(timeline_id, clock, current_time) }
    }

    pub(crate) fn clock_reading(
        &self,
        timeline_id: TimelineId,
        clock: Clock,
        current_time: Instant<Virtual>,
    ) -> ClockView {
        let gazetteer = self.ports().gazetteer.as_deref();
        let zone = clock.location.as_deref().and_then(|location| known_zone(gazetteer, location));
        let local_time = zone.map(|zone| zone.local_time(current_time));
        ClockView { timeline_id, clock, current_time, local_time, advance: None, lag: None, origin_boot: None }
    }

    pub(crate) fn clock_step(&self, answer: Answer<ClockAfter>) -> ClockStep {
        let ClockAfter { clock, current_time, changed, advance_id } = answer.change;
        let view = self.clock_reading(answer.timeline_id, clock, current_time);
        ClockStep { view, changed, ledger: answer.ledger, replayed: answer.replayed, advance_id }
    }

    /// Changes a clock: travel, pause, resume, fast-forward, next due time, rewind, rate.
    ///
    /// # Errors
    /// The caller is not authorized, the precondition fails, the clock rejects the change, or the ledger cannot be
    /// written.
    pub async fn change_clock(
        &self,
        caller: &Caller,
        timeline: Option<TimelineId>,
        change: impl Into<ClockChange>,
        idempotency: Option<Idempotency>,
    ) -> Result<ClockStep, Refusal> {
        self.change_clock_by(caller, timeline, change.into(), idempotency).await
    }

    #[boxed]
    async fn change_clock_by(
        &self,
        caller: &Caller,
        timeline: Option<TimelineId>,
        change: ClockChange,
        idempotency: Option<Idempotency>,
    ) -> Result<ClockStep, Refusal> {
        let timeline = caller.timeline(timeline);
        let ClockChange { command, expected, settle, is_inside, refire } = change;
        let is_forward = matches!(
            command,
            ClockCommand::Travel { .. }
                | ClockCommand::FastForward(_)
                | ClockCommand::Elapse { .. }
                | ClockCommand::ToNext { .. }
        );
        let passes = settle && is_forward;
        if passes {
            self.check_firings(&timeline, &command).await?;
        }
        for attempt in 1..=TICKS_BEFORE_MAX {
            let advance_id = if passes { Some(self.new_advance_id()?) } else { None };
            let advance_context = AdvanceContext { advance_id, is_inside };
            let coming_again = if refire { self.refiring(caller, &timeline, &command).await } else { Ok(None) };
            let refire = match coming_again {
                // The state can appear damaged while others change the rows being read.
                Err(Refusal::Damaged(_)) if attempt < TICKS_BEFORE_MAX => {
                    tokio::task::yield_now().await;
                    continue;
                }
                coming_again => coming_again?,
            };
            let superseded = refire.as_ref().map(|refire| self.superseding(&timeline, &refire.restoring));
            let change = ChangeClock { command: command.clone(), expected: expected.clone(), advance_context, refire };
            match self.submit(caller, timeline.clone(), change, idempotency).await {
                Err(Refusal::TimersBehind) => self.fire_due_timers(&timeline).await?,
                Err(Refusal::ChangedMeanwhile) => {}
                Err(Refusal::AdvanceInProgress { is_inside: false, .. })
                    if attempt < TICKS_BEFORE_MAX && self.end_if_done(&timeline).await? => {}
                Err(refusal) => return Err(refusal),
                Ok(answer) => {
                    if let Some(superseded) = superseded.filter(|_| !answer.replayed) {
                        superseded.end_all();
                    }
                    return Ok(self.clock_step(answer));
                }
            }
        }
        Err(Refusal::TimersBehind)
    }

    /// Changes a clock like [`Engine::change_clock`], after the advances of others that are running or queued before
    /// it. Waits for its turn for at most `patience`.
    ///
    /// # Errors
    /// Those of [`Engine::change_clock`]; or its turn has not come in time.
    pub async fn change_clock_in_turn(
        &self,
        caller: &Caller,
        timeline: Option<TimelineId>,
        (change, patience): (ClockChange, impl Future),
        idempotency: Option<Idempotency>,
    ) -> Result<ClockStep, Refusal> {
        let timeline = caller.timeline(timeline);
        let mut patience = pin!(patience);
        loop {
            let changed = self.change_clock(caller, Some(timeline.clone()), change.clone(), idempotency).await;
            let Err(Refusal::AdvanceInProgress { advance_id, is_inside: false }) = &changed else { return changed };
            let Ok(advance_id) = AdvanceId::new(advance_id) else { return changed };
            tokio::select! {
                biased;
                () = self.until_settled(&timeline, &advance_id) => {}
                _ = &mut patience => return changed,
            }
        }
    }

    /// Reads a clock.
    ///
    /// # Errors
    /// The caller is not authorized, there is no such timeline, or the ledger cannot be written.
    #[boxed]
    pub async fn read_clock(&self, caller: &Caller, timeline: Option<TimelineId>) -> Result<ClockView, Refusal> {
        // Use the clock as of after the entry is written, so that the response is as fresh as possible.
        let look = self.look(caller, timeline, Demand::Look, Reading::Clock {}).await?;
        let view = self.view_clock(look.timeline(), look.state.head.clock.clone(), look.host);
        let lag = self.lag(&look.state).await?;
        Ok(ClockView { advance: AdvanceSeen::of(&look.state, &view.clock), lag, ..view })
    }

    async fn lag(&self, state: &TimelineState) -> Result<Option<DeliveryLag>, Refusal> {
        let pending = state.head.timers.pending;
        if pending == 0 {
            return Ok(None);
        }
        // Firings without an outcome are listed in the order in which they were created.
        let query = TimerQuery::PendingSince(0, 1);
        let oldest = self.store().timer_rows(state.head.key, query).await?.firings.pop();
        Ok(oldest.map(|oldest| DeliveryLag { pending, oldest: oldest.due_firing.due }))
    }

    /// Watches a clock from now on, or from the generation after `seen`.
    ///
    /// # Errors
    /// As [`Engine::read_clock`].
    #[boxed]
    pub async fn watch_clock(
        &self,
        caller: &Caller,
        timeline: Option<TimelineId>,
        seen: Option<u64>,
    ) -> Result<(TimelineId, ClockStream), Refusal> {
        self.open_stream(caller, timeline, seen, None).await
    }

    /// Watches a clock as a named follower, which confirms its changes. The current clock comes first, unless changes
    /// were missed.
    ///
    /// # Errors
    /// As [`Engine::watch_clock`]; or the name is reserved, or the clock has reached its limit of followers.
    #[boxed]
    pub async fn follow_clock(
        &self,
        caller: &Caller,
        timeline: Option<TimelineId>,
        seen: Option<u64>,
        follow: FollowAs,
    ) -> Result<(TimelineId, ClockStream), Refusal> {
        check_name(&follow.name)?;
        let timeline = caller.timeline(timeline);
        self.open_stream(caller, Some(timeline), seen, Some(follow)).await
    }

    async fn open_stream(
        &self,
        caller: &Caller,
        timeline: Option<TimelineId>,
        seen: Option<u64>,
        follow: Option<FollowAs>,
    ) -> Result<(TimelineId, ClockStream), Refusal> {
        let name = follow.as_ref().map(|follow| follow.name.to_string());
        let look = self.look(caller, timeline, Demand::Look, Reading::ClockStream { follow: name }).await?;
        let timeline = look.timeline();
        // From here on, clock changes wait for this follower, and it receives them.
        let follower = match follow {
            Some(follow) => Some(self.begin_following(caller, &timeline, follow).await?),
            None => None,
        };
        // Subscribe before the clock is read, so that no change is missed in between.
        let growth = self.growth_of(&timeline);
        let state = self.state(&timeline).unwrap_or(look.state);
        let (mut missed, reset) = self.missed(&state, seen).await?;
        if follower.is_some() && missed.is_empty() {
            // The follower learns its id from it, and confirms the state it knows.
            missed.push(state.head.clock.clone());
        }
        let sent_generation = state.head.clock.generation;
        let (engine, pending) = (self.clone(), VecDeque::new());
        let last = Some(state.head.clock.clone());
        let sent_fault = follower.as_ref().map(|follower| (follower.whose().clone(), None));
        let mut changes = ClockChanges {
            engine,
            timeline: timeline.clone(),
            growth,
            read: sent_generation,
            pending,
            last,
            sent_fault,
        };
        // The first messages include the fault.
        changes.is_otherwise_wrong(&state);
        Ok((timeline, ClockStream { missed, reset, sent_generation, changes, follower }))
    }

    /// Returns what to send first to a listener that knows the clock up to generation `seen`: the changes since, or the
    /// current clock. The flag is set if changes were lost.
    async fn missed(&self, state: &TimelineState, seen: Option<u64>) -> Result<(Vec<Clock>, bool), Refusal> {
        let now = state.head.clock.clone();
        let Some(seen) = seen else { return Ok((vec![now], false)) };
        let count = match now.generation.checked_sub(seen) {
            Some(0) => return Ok((Vec::new(), false)),
            Some(count) if count <= RETAINED_CHANGES_MAX as u64 => count,
            Some(_) | None => return Ok((vec![now], true)),
        };
        // Changes are not kept in memory: they are read from the ledger, before and after a restart.
        let likely = usize::try_from(count).unwrap_or(CLOCK_ENTRIES_READ_MAX);
        for entries_max in [likely, CLOCK_ENTRIES_READ_MAX] {
            let payloads = self.store().clock_payloads(state.head.key, state.head.clock_entry, entries_max).await?;
            let mut missed: Vec<Clock> = payloads.iter().filter_map(|payload| clock_in(payload)).collect();
            missed.retain(|clock| clock.generation > seen);
            // An entry that changed nothing has the same clock as the one before.
            missed.dedup_by_key(|clock| clock.generation);
            missed.reverse();
            if missed.len() as u64 == count {
                return Ok((missed, false));
            }
        }
        Ok((vec![now], true))
    }

    #[must_use]
    pub fn watched(&self, timeline: &TimelineId, clock: Clock) -> ClockView {
        let state = self.state(timeline);
        let host = state.as_ref().map_or_else(|| self.now(), |state| self.host(state));
        let advance = state.and_then(|state| AdvanceSeen::of(&state, &clock));
        ClockView { advance, ..self.view_clock(timeline.clone(), clock, host) }
    }

    #[must_use]
    pub fn clock_after(&self, timeline: &TimelineId) -> Option<ClockView> {
        let clock = self.state(timeline)?.head.clock.clone();
        Some(self.watched(timeline, clock))
    }

    #[must_use]
    pub fn may_watch(&self, caller: &Caller, timeline: &TimelineId) -> bool {
        self.check_still(caller, timeline, Demand::Look).is_ok()
    }
}
