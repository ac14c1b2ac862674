//! Travel, pause, resume, fast-forward, rewind, rate; reading and watching a clock.

use std::collections::VecDeque;
use std::pin::pin;

use async_recursion::async_recursion as boxed;
use timenav_core::access::Demand;
use timenav_core::clock::{Clock, ClockCommand};
use timenav_core::fault::Fault;
use timenav_core::ids::{AdvanceId, FollowerName, TimelineId, UserId};
use timenav_core::time::{Instant, Virtual, Wall};

use crate::asked::Answer;
use crate::caller::Caller;
use crate::changes::{ClockAfter, LedgerPosition};
use crate::deciding::clocks::{ChangeClock, Passing};
use crate::engine::Engine;
use crate::expected::Expected;
use crate::followers::{FollowAs, FollowedBy, check_name};
use crate::head::TimelineState;
use crate::idempotency::Idempotency;
use crate::live::Growth;
use crate::location::known_zone;
use crate::payload::{Reading, clock_in};
use crate::refusal::Refusal;
use crate::timer_rows::TimersWanted;
use crate::wall_clock::OriginBoot;

/// Changes that a listener may be behind, or have missed, and is told all the same.
pub const KEPT_CHANGES_MAX: usize = 256;
/// How often timers that the clock has come to are let fall due before it is moved: a very fast one comes to others
/// meanwhile.
const TICKS_BEFORE_MAX: usize = 16;
/// Entries about a clock that are looked through for what a listener missed. Some of them changed nothing, such as the
/// pausing of a paused clock.
const CLOCK_ENTRIES_READ_MAX: usize = 4 * KEPT_CHANGES_MAX;

/// A clock at one reading.
#[derive(Clone, Debug)]
pub struct ClockView {
    /// Whose clock.
    pub timeline_id: TimelineId,
    /// The clock.
    pub clock: Clock,
    /// Its reading.
    pub current_time: Instant<Virtual>,
    /// Where the location's calendar differs from UTC, its reading there.
    pub local_time: Option<String>,
    /// The advance that goes on.
    pub advance: Option<AdvanceSeen>,
    /// How far deliveries are behind, where there are firings without an outcome. The clock never waits for them but in an
    /// advance.
    pub lag: Option<DeliveryLag>,
    /// Its origin by the boot clock of the service's kernel. `None` where that would tell another time than the clock
    /// shows: while the host's clock is behind the last entry of the timeline.
    pub origin_boot: Option<OriginBoot>,
}

/// How far deliveries are behind a clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeliveryLag {
    /// How many firings have no outcome.
    pub pending: u64,
    /// The moment of the one that was made first.
    pub oldest: Instant<Virtual>,
}

/// A clock change that passes timers one by one, as it is seen on its way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AdvanceSeen {
    /// Its name.
    pub advance_id: AdvanceId,
    /// How many instants it has come to.
    pub step: u64,
    /// Where it goes.
    pub to: Instant<Virtual>,
}

impl AdvanceSeen {
    fn of(state: &TimelineState, clock: &Clock) -> Option<Self> {
        let advance = state.head.timers.advance.as_ref().filter(|_| state.head.clock == *clock)?;
        Some(Self { advance_id: advance.advance_id.clone(), step: advance.step, to: advance.to })
    }
}

/// A clock after an operation on it.
#[derive(Clone, Debug)]
pub struct ClockStep {
    /// The clock after the operation.
    pub view: ClockView,
    /// Whether the operation changed it.
    pub changed: bool,
    /// Where the operation stands in the ledger.
    pub ledger: LedgerPosition,
    /// Whether this is the outcome of an earlier request with the same idempotency key.
    pub replayed: bool,
    /// The advance that began, where timers are on the way.
    pub advance_id: Option<AdvanceId>,
}

/// A change of a clock.
#[derive(Clone, Debug)]
pub struct ClockChange {
    /// What to do.
    pub command: ClockCommand,
    /// What the clock must be for it to be done.
    pub expected: Option<Expected>,
    /// Whether a clock that goes forward stands still at each timer on its way. Otherwise it jumps, and they fall due
    /// after that.
    pub settle: bool,
    /// Whether a handler of a firing asks.
    pub is_inside: bool,
    /// Whether timers fire again whose moments come again, where the clock goes back.
    pub refire: bool,
}

impl From<ClockCommand> for ClockChange {
    fn from(command: ClockCommand) -> Self {
        Self { command, expected: None, settle: true, is_inside: false, refire: false }
    }
}

/// A timeline's clock, change by change.
pub struct ClockStream {
    /// What the listener is to be told first: the changes it missed, or the clock as it is.
    pub missed: Vec<Clock>,
    /// Whether changes were lost, so that `missed` is no continuation of what the listener knows.
    pub reset: bool,
    /// The newest generation that the listener knows after `missed`.
    pub told: u64,
    /// Every later change, in order.
    pub changes: ClockChanges,
    /// The follower whose stream it is, where it has a name.
    pub follower: Option<FollowedBy>,
}

/// Changes of a clock from some moment on: whenever the ledger has grown, they are read from it.
pub struct ClockChanges {
    engine: Engine,
    timeline: TimelineId,
    growth: Growth,
    /// The generation of the last change that was read.
    read: u64,
    /// Changes that were read and not told yet.
    untold: VecDeque<ClockNews>,
    /// The clock after the last of them.
    last: Option<Clock>,
    /// Whose clock may be shown wrong, and what was wrong with it when its listener was told last.
    shown: Option<((UserId, FollowerName), Option<Fault>)>,
}

impl ClockChanges {
    /// Waits for the next change. `None` once the listener is so far behind that changes are lost, or the ledger cannot be
    /// read: who comes back is told them from the ledger.
    #[boxed]
    pub async fn next(&mut self) -> Option<ClockNews> {
        loop {
            if let Some(news) = self.untold.pop_front() {
                return Some(news);
            }
            // It may have ended before this began to listen.
            if self.engine.has_ended(&self.timeline) || !self.growth.changed().await {
                return None;
            }
            let state = self.engine.state(&self.timeline)?;
            let now = &state.head.clock;
            match now.generation.checked_sub(self.read)? {
                // An advance has come to another instant.
                0 if self.last.as_ref() != Some(now) => self.untold.push_back(ClockNews::of(now.clone())),
                0 => {
                    if self.is_otherwise_wrong(&state) {
                        self.untold.push_back(ClockNews { clock: now.clone(), is_of_fault: true });
                    }
                    continue;
                }
                1 => self.untold.push_back(ClockNews::of(now.clone())),
                _ => {
                    let (missed, reset) = self.engine.missed(&state, Some(self.read)).await.ok()?;
                    if reset {
                        return None;
                    }
                    self.untold.extend(missed.into_iter().map(ClockNews::of));
                }
            }
            self.read = now.generation;
            self.last = Some(now.clone());
            // Each message says what is wrong.
            self.is_otherwise_wrong(&state);
        }
    }

    /// Returns whether something else is wrong with what the listener is to show than it was told last, and counts it as
    /// told.
    fn is_otherwise_wrong(&mut self, state: &TimelineState) -> bool {
        let Some((whose, told)) = &mut self.shown else { return false };
        let now = state.head.timers.faults.get(whose);
        std::mem::replace(told, now) != now
    }
}

/// One message to whoever listens to a clock.
#[derive(Clone, Debug)]
pub struct ClockNews {
    /// The clock.
    pub clock: Clock,
    /// Whether it is as it was, and only how it is shown wrong has changed.
    pub is_of_fault: bool,
}

impl ClockNews {
    const fn of(clock: Clock) -> Self {
        Self { clock, is_of_fault: false }
    }
}

impl Engine {
    /// Returns the view of a clock at a host instant.
    pub(crate) fn view_clock(&self, timeline_id: TimelineId, clock: Clock, host: Instant<Wall>) -> ClockView {
        let current_time = clock.now(host);
        // Otherwise the clock stands until the host's has come to the last entry.
        let boot = self.doors().clock.boot().filter(|_| host <= self.now());
        let origin_boot = boot.map(|boot| boot.origin_of(&clock));
        ClockView { origin_boot, ..self.clock_reading(timeline_id, clock, current_time) }
    }

    pub(crate) fn clock_reading(
        &self,
        timeline_id: TimelineId,
        clock: Clock,
        current_time: Instant<Virtual>,
    ) -> ClockView {
        let gazetteer = self.doors().gazetteer.as_deref();
        let zone = clock.location.as_deref().and_then(|location| known_zone(gazetteer, location));
        let local_time = zone.map(|zone| zone.local_time(current_time));
        ClockView { timeline_id, clock, current_time, local_time, advance: None, lag: None, origin_boot: None }
    }

    /// Returns what an operation on a clock is answered with.
    pub(crate) fn clock_step(&self, answer: Answer<ClockAfter>) -> ClockStep {
        let ClockAfter { clock, current_time, changed, advance_id } = answer.change;
        let view = self.clock_reading(answer.timeline_id, clock, current_time);
        ClockStep { view, changed, ledger: answer.ledger, replayed: answer.replayed, advance_id }
    }

    /// Changes a clock: travel, pause, resume, fast-forward, to the next moment, rewind, rate.
    ///
    /// # Errors
    /// The caller may not, the clock is not as expected or refuses, or the ledger cannot be written.
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
                | ClockCommand::Spend { .. }
                | ClockCommand::ToNext { .. }
        );
        let passes = settle && is_forward;
        if passes {
            self.check_firings(&timeline, &command).await?;
        }
        for attempt in 1..=TICKS_BEFORE_MAX {
            let advance_id = if passes { Some(self.new_advance_id()?) } else { None };
            let passing = Passing { advance_id, is_inside };
            let coming_again = if refire { self.refiring(caller, &timeline, &command).await } else { Ok(None) };
            let refire = match coming_again {
                // So it looks too while others change what is read.
                Err(Refusal::Damaged(_)) if attempt < TICKS_BEFORE_MAX => {
                    tokio::task::yield_now().await;
                    continue;
                }
                coming_again => coming_again?,
            };
            let superseded = refire.as_ref().map(|refire| self.superseding(&timeline, &refire.restoring));
            let change = ChangeClock { command: command.clone(), expected: expected.clone(), passing, refire };
            match self.submit(caller, timeline.clone(), change, idempotency).await {
                Err(Refusal::TimersBehind) => self.let_fall_due(&timeline).await?,
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

    /// Changes a clock as [`Engine::change_clock`] does, after the advances of others that are under way and come before. Waits
    /// for its turn until `patience` is at its end.
    ///
    /// # Errors
    /// As those of [`Engine::change_clock`]; its turn has not come.
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
    /// The caller may not, there is no such timeline, or the ledger cannot be written.
    #[boxed]
    pub async fn read_clock(&self, caller: &Caller, timeline: Option<TimelineId>) -> Result<ClockView, Refusal> {
        // The clock as it goes after the entry, so that the answer is as fresh as can be.
        let look = self.look(caller, timeline, Demand::Look, Reading::Clock {}).await?;
        let view = self.view_clock(look.timeline(), look.state.head.clock.clone(), look.host);
        let lag = self.lag(&look.state).await?;
        Ok(ClockView { advance: AdvanceSeen::of(&look.state, &view.clock), lag, ..view })
    }

    /// Returns how far deliveries are behind the clock of a timeline.
    async fn lag(&self, state: &TimelineState) -> Result<Option<DeliveryLag>, Refusal> {
        let pending = state.head.timers.pending;
        if pending == 0 {
            return Ok(None);
        }
        // Those without an outcome are found in the order in which they were made.
        let wanted = TimersWanted::PendingSince(0, 1);
        let oldest = self.store().timer_rows(state.head.key, wanted).await?.firings.pop();
        Ok(oldest.map(|oldest| DeliveryLag { pending, oldest: oldest.fallen.due }))
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

    /// Watches a clock under a name, to confirm its changes. The clock as it is comes first, unless changes were missed.
    ///
    /// # Errors
    /// As [`Engine::watch_clock`]; or the name is reserved, or the clock has as many followers as it may have.
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
        // Whoever changes the clock from here on waits for this one, and it is told the change.
        let follower = match follow {
            Some(follow) => Some(self.begin_following(caller, &timeline, follow).await?),
            None => None,
        };
        // Listened to before the clock is read, so that no change comes between.
        let size = || self.state(&timeline).map_or(0, |state| state.head.frontier.size());
        let growth = self.live().listen_to_growth(&timeline, size);
        let state = self.state(&timeline).unwrap_or(look.state);
        let (mut missed, reset) = self.missed(&state, seen).await?;
        if follower.is_some() && missed.is_empty() {
            // So it learns its id, and confirms what it knows.
            missed.push(state.head.clock.clone());
        }
        let told = state.head.clock.generation;
        let (engine, untold) = (self.clone(), VecDeque::new());
        let last = Some(state.head.clock.clone());
        let shown = follower.as_ref().map(|follower| (follower.whose().clone(), None));
        let mut changes = ClockChanges { engine, timeline: timeline.clone(), growth, read: told, untold, last, shown };
        // The messages that are written first say it.
        changes.is_otherwise_wrong(&state);
        Ok((timeline, ClockStream { missed, reset, told, changes, follower }))
    }

    /// Returns what a listener is to be told first who knows the clock up to generation `seen`: the changes since, or
    /// the clock as it is. Whether that is a continuation of what it knows comes beside it.
    async fn missed(&self, state: &TimelineState, seen: Option<u64>) -> Result<(Vec<Clock>, bool), Refusal> {
        let now = state.head.clock.clone();
        let Some(seen) = seen else { return Ok((vec![now], false)) };
        let count = match now.generation.checked_sub(seen) {
            Some(0) => return Ok((Vec::new(), false)),
            Some(count) if count <= KEPT_CHANGES_MAX as u64 => count,
            Some(_) | None => return Ok((vec![now], true)),
        };
        // Nothing of it is kept in memory: the ledger tells it, before and after a restart.
        let likely = usize::try_from(count).unwrap_or(CLOCK_ENTRIES_READ_MAX);
        for entries_max in [likely, CLOCK_ENTRIES_READ_MAX] {
            let payloads = self.store().clock_payloads(state.head.key, state.head.clock_entry, entries_max).await?;
            let mut missed: Vec<Clock> = payloads.iter().filter_map(|payload| clock_in(payload)).collect();
            missed.retain(|clock| clock.generation > seen);
            // An entry that changed nothing tells of the clock as it was.
            missed.dedup_by_key(|clock| clock.generation);
            missed.reverse();
            if missed.len() as u64 == count {
                return Ok((missed, false));
            }
        }
        Ok((vec![now], true))
    }

    /// Returns what a clock that was watched shows now.
    #[must_use]
    pub fn watched(&self, timeline: &TimelineId, clock: Clock) -> ClockView {
        let state = self.state(timeline);
        let host = state.as_ref().map_or_else(|| self.now(), |state| self.host(state));
        let advance = state.and_then(|state| AdvanceSeen::of(&state, &clock));
        ClockView { advance, ..self.view_clock(timeline.clone(), clock, host) }
    }

    /// Returns a timeline's clock as it stands, for whoever has just changed it.
    #[must_use]
    pub fn clock_after(&self, timeline: &TimelineId) -> Option<ClockView> {
        let clock = self.state(timeline)?.head.clock.clone();
        Some(self.watched(timeline, clock))
    }

    /// Returns whether a caller may still watch a timeline's clock.
    #[must_use]
    pub fn may_watch(&self, caller: &Caller, timeline: &TimelineId) -> bool {
        self.check_still(caller, timeline, Demand::Look).is_ok()
    }
}
