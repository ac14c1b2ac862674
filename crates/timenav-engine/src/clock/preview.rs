//! Dry runs of clock changes: timers that would fire on the way, and timers that going back would re-arm.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use async_recursion::async_recursion as boxed;
use timenav_core::access::{self, Demand};
use timenav_core::clock::{self, ClockCommand, Moment, Surroundings};
use timenav_core::ids::{AnchorId, EventId, FiringId, QueueId, TimelineId, TimerId};
use timenav_core::limits::{DRY_RUN_FIRINGS_MAX, FIRINGS_PER_ADVANCE_MAX};
use timenav_core::time::{Instant, Virtual};
use timenav_core::timers::{DueFiring, Foreseen, Timer, foresee};

use crate::access::directory;
use crate::anchors::commands::ReturnScope;
use crate::clock::clocks::{ClockChange, ClockView};
use crate::engine::Engine;
use crate::events::location::zone_of;
use crate::ledger::action::Action;
use crate::ledger::head::TimelineState;
use crate::ledger::payload::{Reading, is_same_timer, schedule_of};
use crate::ports::timer_rows::{FiringRow, TimerQuery, TimerRow};
use crate::read::read_view::ReadView;
use crate::requests::caller::Caller;
use crate::requests::refusal::{Refusal, denial_code};
use crate::writer::deciding::history::HistoryRestored;
use crate::writer::deciding::logged::LogRefusal;
use crate::writer::deciding::timers::restoring::{Restoring, TimerChanged};

const BLOCK_TIMERS: usize = 1_000;
/// How often the result is recomputed if the data changes while it is read.
const ATTEMPTS_MAX: usize = 8;

#[derive(Clone, Debug)]
pub struct PreviewedFiring {
    pub timer_id: TimerId,
    pub due: Instant<Virtual>,
    /// The queue of the firing; `None` if it would be recorded as an event.
    pub queue: Option<QueueId>,
}

#[derive(Clone, Debug)]
pub struct PreviewedTimer {
    pub timer_id: TimerId,
    pub next: Instant<Virtual>,
}

/// A pending firing with a due time that would recur, or would not have been reached.
#[derive(Clone, Debug)]
pub struct PreviewedEnd {
    pub firing_id: FiringId,
    pub timer_id: TimerId,
    pub due: Instant<Virtual>,
    pub queue: QueueId,
}

#[derive(Clone, Debug)]
pub struct FirstOf<T> {
    pub first: Vec<T>,
    pub count: u64,
}

impl<T> FirstOf<T> {
    fn of(mut all: Vec<T>) -> Self {
        let count = all.len() as u64;
        all.truncate(DRY_RUN_FIRINGS_MAX);
        Self { first: all, count }
    }
}

/// The effect on timers and firings with due times that would recur or would not have been reached.
#[derive(Clone, Debug)]
pub struct RefirePreview {
    /// Timers that would be armed for another due time or changed otherwise, the earliest first.
    pub rearmed: FirstOf<PreviewedTimer>,
    /// Armed timers that would be disarmed, in the order of their creation.
    pub disarmed: FirstOf<TimerId>,
    /// Firings that would be superseded, in the order of delivery.
    pub superseded: FirstOf<PreviewedEnd>,
}

#[derive(Clone, Debug)]
pub struct ClockPreview {
    pub view: ClockView,
    pub to: Instant<Virtual>,
    pub is_back: bool,
    pub firings: Vec<PreviewedFiring>,
    pub count: u64,
    pub by_timer: Vec<(TimerId, u64)>,
    pub is_complete: bool,
    /// The effect on timers and firings if the clock goes back; `None` if only the clock would move.
    pub again: Option<RefirePreview>,
    /// The events that would be restored; `None` if only the clock would move.
    pub events: Option<FirstOf<EventId>>,
}

impl Engine {
    /// Dry run of a clock change.
    ///
    /// # Errors
    /// The caller may not move clocks, the clock rejects the change, too many timers would recur, or the ledger cannot
    /// be written.
    pub async fn preview_clock_change(
        &self,
        caller: &Caller,
        timeline: Option<TimelineId>,
        change: impl Into<ClockChange>,
    ) -> Result<ClockPreview, Refusal> {
        self.preview_change(caller, timeline, change.into()).await
    }

    #[boxed]
    async fn preview_change(
        &self,
        caller: &Caller,
        timeline: Option<TimelineId>,
        change: ClockChange,
    ) -> Result<ClockPreview, Refusal> {
        let ClockChange { command, refire, .. } = change;
        let look = self.look(caller, timeline, Demand::Steer, Reading::Foresee {}).await?;
        let moved = self.moved(&look.state, &command)?;
        self.admit_preview(caller, &look, moved.as_ref()).await?;
        let to = self.reached(&look.state, moved);
        if !refire {
            return self.clock_preview(&look, to, None).await;
        }
        for attempt in 1..=ATTEMPTS_MAX {
            let state = self.state(&look.state.head.id).unwrap_or_else(|| Arc::clone(&look.state));
            match self.going_back(caller, state, &command).await {
                // The state can appear damaged while others change the rows being read.
                Err(Refusal::Damaged(_)) if attempt < ATTEMPTS_MAX => tokio::task::yield_now().await,
                again => return self.clock_preview(&look, to, again?.map(|back| back.restoring)).await,
            }
        }
        Err(Refusal::ChangedMeanwhile)
    }

    /// Dry run of a return to an anchor.
    ///
    /// # Errors
    /// The caller may not return there, there is no such anchor, too much has changed since, or the ledger cannot be
    /// written.
    #[boxed]
    pub async fn preview_return(
        &self,
        caller: &Caller,
        timeline: Option<TimelineId>,
        anchor_id: &AnchorId,
        scope: ReturnScope,
    ) -> Result<ClockPreview, Refusal> {
        let timeline = caller.timeline(timeline);
        if scope == ReturnScope::All {
            // The effect on events is only shown to callers who could carry it out.
            self.admit(caller, &timeline, Demand::Intervene, Action::ReturnToAnchor.word()).await?;
        }
        let look = self.look(caller, timeline, Demand::Steer, Reading::Foresee {}).await?;
        for attempt in 1..=ATTEMPTS_MAX {
            let state = self.state(&look.state.head.id).unwrap_or_else(|| Arc::clone(&look.state));
            let returning = match self.returning(&state, anchor_id, scope).await {
                Err(Refusal::Damaged(_)) if attempt < ATTEMPTS_MAX => {
                    tokio::task::yield_now().await;
                    continue;
                }
                returning => returning?,
            };
            let moved = self.moved(&state, &ClockCommand::Restore(returning.anchor.restored()))?;
            self.admit_preview(caller, &look, moved.as_ref()).await?;
            let to = self.reached(&state, moved);
            let foresight = self.clock_preview(&look, to, returning.timers.map(|timers| timers.restoring)).await?;
            let event_ids = |history: HistoryRestored| {
                FirstOf::of(history.compensations.into_iter().map(|one| one.event_id).collect())
            };
            return Ok(ClockPreview { events: returning.history.map(event_ids), ..foresight });
        }
        Err(Refusal::ChangedMeanwhile)
    }

    async fn clock_preview(
        &self,
        look: &ReadView,
        to: Instant<Virtual>,
        restoring: Option<Restoring>,
    ) -> Result<ClockPreview, Refusal> {
        let view = self.view_clock(look.timeline(), look.state.head.clock.clone(), look.host);
        let is_back = to < view.current_time;
        let changed = restoring.as_ref().map_or(&[][..], |restoring| &restoring.timers);
        let (foreseen, rows) = self.foreseen(&look.state, to, changed).await?;
        let queue_of = |queue: &QueueId| Some(queue).filter(|queue| **queue != QueueId::of_timeline()).cloned();
        let firing = |one: &DueFiring| {
            let row = rows.get(&one.position)?;
            let (timer_id, queue) = (row.timer_id.clone(), queue_of(&row.queue));
            Some((*one, PreviewedFiring { timer_id, due: one.due, queue }))
        };
        let mut firings: BTreeMap<DueFiring, PreviewedFiring> = foreseen.firings.iter().filter_map(firing).collect();
        let counted = |(position, count): &(u64, u64)| Some((rows.get(position)?.timer_id.clone(), *count));
        let mut by_timer: BTreeMap<TimerId, u64> = foreseen.by_timer.iter().filter_map(counted).collect();
        // Firings without an outcome would be delivered again.
        let fired = restoring.iter().flat_map(|restoring| &restoring.fired).filter(|firing| !firing.records_event());
        let mut count = foreseen.count;
        for FiringRow { due_firing, timer_id, queue, .. } in fired {
            let again = PreviewedFiring { timer_id: timer_id.clone(), due: due_firing.due, queue: queue_of(queue) };
            firings.insert(*due_firing, again);
            *by_timer.entry(timer_id.clone()).or_default() += 1;
            count += 1;
        }
        Ok(ClockPreview {
            view,
            to,
            is_back,
            firings: firings.into_values().take(DRY_RUN_FIRINGS_MAX).collect(),
            count,
            by_timer: by_timer.into_iter().collect(),
            is_complete: foreseen.is_complete,
            again: restoring.map(|restoring| again(restoring, to)),
            events: None,
        })
    }

    pub(crate) async fn check_firings(&self, timeline: &TimelineId, command: &ClockCommand) -> Result<(), Refusal> {
        let Some(state) = self.state(timeline) else { return Ok(()) };
        // Missing authorization and errors of the clock are reported when the change is decided.
        let Ok(moved) = self.moved(&state, command) else { return Ok(()) };
        let to = self.reached(&state, moved);
        if !state.head.timers.is_between(state.head.clock.now(self.host(&state)), to) {
            return Ok(());
        }
        let (foreseen, rows) = self.foreseen(&state, to, &[]).await?;
        if foreseen.count <= FIRINGS_PER_ADVANCE_MAX {
            return Ok(());
        }
        let most = foreseen.by_timer.iter().max_by_key(|(_, count)| *count);
        let timer_id = most.and_then(|(position, _)| rows.get(position)).map(|row| row.timer_id.to_string());
        let (timer_id, count) = (timer_id.unwrap_or_default(), foreseen.count);
        Err(Refusal::TooManyFirings { timer_id, count, max: FIRINGS_PER_ADVANCE_MAX })
    }

    /// Rejects a dry run if the caller may not travel to its target. Logged like an actual attempt.
    async fn admit_preview(&self, caller: &Caller, look: &ReadView, moved: Option<&Moment>) -> Result<(), Refusal> {
        let Some(moved) = moved else { return Ok(()) };
        let level = directory::caller_access(&self.directory(), caller, None, self.now()).restriction;
        let (before, window_days) = (look.state.head.clock.rate(), self.options().limited_access_window_days);
        let Err(denial) = access::decide_clock(level, moved, before, self.now(), window_days) else { return Ok(()) };
        let log = LogRefusal::new(Reading::Foresee {}.operation(), denial_code(denial), &denial);
        let logged = self.submit(caller, look.timeline(), log, None).await;
        Err(logged.err().unwrap_or_else(|| denial.into()))
    }

    /// Returns the target of a command and the clock's state after it; `None` if it changes nothing.
    fn moved(&self, state: &TimelineState, command: &ClockCommand) -> Result<Option<Moment>, Refusal> {
        let (clock, host) = (&state.head.clock, self.host(state));
        let zone = zone_of(self.ports(), clock.location.as_deref());
        let moved = clock::decide(clock, command, Surroundings { zone: &zone, next: state.head.timers.next }, host)?;
        Ok(moved.map(|moved| moved.moment))
    }

    fn reached(&self, state: &TimelineState, moved: Option<Moment>) -> Instant<Virtual> {
        moved.map_or_else(|| state.head.clock.now(self.host(state)), |moved| moved.at)
    }

    async fn foreseen(
        &self,
        state: &TimelineState,
        to: Instant<Virtual>,
        changed: &[TimerChanged],
    ) -> Result<(Foreseen, HashMap<u64, TimerRow>), Refusal> {
        let was = changed.iter().filter_map(|timer| Some(timer.was.as_ref()?.position));
        let was: HashSet<u64> = was.collect();
        let is_due = |row: &&TimerRow| row.next.is_some_and(|next| next <= to);
        let mut found: Vec<TimerRow> =
            changed.iter().filter_map(|timer| timer.is.as_ref()).filter(is_due).cloned().collect();
        let (mut timers, mut rows, mut after) = (Vec::new(), HashMap::new(), None);
        loop {
            for row in found {
                let unreadable = || Refusal::Damaged("a stored timer cannot be read".to_owned());
                let schedule = schedule_of(&row).ok_or_else(unreadable)?;
                timers.push(Timer { position: row.position, schedule, next: row.next, round: row.round });
                rows.insert(row.position, row);
            }
            let query = TimerQuery::ArmedUntil(to, after, BLOCK_TIMERS);
            found = self.store().timer_rows(state.head.key, query).await?.timers;
            let Some(last) = found.last() else { break };
            after = last.next.map(|next| (next, last.position));
            found.retain(|row| !was.contains(&row.position));
        }
        Ok((foresee(timers, to, (DRY_RUN_FIRINGS_MAX, FIRINGS_PER_ADVANCE_MAX)), rows))
    }
}

fn again(restoring: Restoring, to: Instant<Virtual>) -> RefirePreview {
    let Restoring { timers, mut superseded, .. } = restoring;
    let (mut rearmed, mut disarmed) = (Vec::new(), Vec::new());
    for TimerChanged { was, is } in &timers {
        let was_armed = was.as_ref().is_some_and(|was| was.next.is_some());
        match is.as_ref().and_then(|is| Some((is, is.next?))) {
            Some((is, next)) => {
                let is_as_now = was.as_ref().is_some_and(|was| was.next == is.next && is_same_timer(was, is));
                // Otherwise only its firings recur. A timer already due at the target fires at once, and is listed as a
                // firing.
                if !is_as_now && next > to {
                    rearmed.push(PreviewedTimer { timer_id: is.timer_id.clone(), next });
                }
            }
            None => disarmed.extend(was.as_ref().filter(|_| was_armed).map(|was| was.timer_id.clone())),
        }
    }
    // Timers with the same due time keep their firing order.
    rearmed.sort_by_key(|timer| timer.next);
    superseded.sort_by_key(|firing| firing.due_firing);
    let end = |FiringRow { firing_id, timer_id, due_firing, queue, .. }| PreviewedEnd {
        firing_id,
        timer_id,
        due: due_firing.due,
        queue,
    };
    RefirePreview {
        rearmed: FirstOf::of(rearmed),
        disarmed: FirstOf::of(disarmed),
        superseded: FirstOf::of(superseded.into_iter().map(end).collect()),
    }
}
