use std::sync::Arc;

use timenav_core::clock::Clock;
use timenav_core::ids::{FiringId, QueueId, TimerId};
use timenav_core::limits::{CATCH_UP_MOMENTS_MAX, PENDING_OF_RULES_MAX, TIMERS_PER_TIMELINE_MAX};
use timenav_core::time::{Instant, Virtual, Wall};
use timenav_core::timers::leases::{HeldByOther, Under};
use timenav_core::timers::{Coming, FellDue, FiringState, Repeating, Schedule, Skipped};

use self::upcoming::{Upcoming, check_next};
use super::outcomes::{Outcome, record_outcomes};
use super::recording::{Recording, record_events};
use super::{Aim, Command, CommandSpec, Needs, NeedsAtWork, TimersNeeded};
use crate::ledger::action::Action;
use crate::ledger::changes::{FiringsAfter, LookUp, Reach, TimerAfter, TimersMoved};
use crate::ledger::payload::{
    ClockRecord, ScheduleRecord, StatePayload, TimerCancelled, TimerSet, TimersFired, schedule_of,
};
use crate::ports::shared_leases::{Held, Keeper};
use crate::ports::timer_changes::{OrderKeyChange, ScheduleChange};
use crate::ports::timer_rows::{FiringRow, TimerQuery, TimerRow};
use crate::requests::json::json;
use crate::requests::refusal::Refusal;
use crate::writer::draft::{Done, Draft, Ledger};
use crate::writer::project::KnownTimerRows;

pub(crate) mod advances;
pub(crate) mod redelivering;
pub(crate) mod restoring;
pub(crate) mod upcoming;

/// The number of timers to read to find the next one other than a given one.
const NEXT_BUT_ONE: usize = 2;

#[derive(Clone, Debug)]
pub(crate) struct TimerPlan {
    pub(crate) schedule: Schedule,
    pub(crate) deliver: Arc<str>,
    pub(crate) queue: QueueId,
    pub(crate) order_key: Option<String>,
    pub(crate) payload: Arc<str>,
}

pub(crate) struct SetTimer {
    pub(crate) timer_id: TimerId,
    pub(crate) plan: TimerPlan,
}

impl Command for SetTimer {
    type Output = TimerAfter;

    fn spec(&self) -> CommandSpec<'_> {
        CommandSpec::of(Action::SetTimer, Aim::TimelineOrNew)
    }

    fn needs(&self) -> Needs<'_> {
        let queries = vec![TimerQuery::Named(self.timer_id.clone())];
        Needs { timers: TimersNeeded { queries, is_exact: false }, ..Needs::default() }
    }

    /// If the timer exists with an identical definition, nothing changes.
    fn decide(&self, draft: &mut Draft<'_>) -> Result<Done<TimerAfter>, Refusal> {
        let ledger = draft.aimed()?;
        let query = TimerQuery::Named(self.timer_id.clone());
        let known = draft.timer_set_now(ledger, &self.timer_id);
        let known = known.or_else(|| draft.known_timers(ledger, &query)?.timers.first());
        let TimerPlan { schedule, deliver, queue, order_key, payload } = &self.plan;
        let schedule_text: Arc<str> = json(&ScheduleRecord::of(schedule)).into();
        if let Some(known) = known {
            let is_same = known.schedule == schedule_text
                && known.deliver == *deliver
                && known.order_key == *order_key
                && known.payload == *payload;
            if !is_same {
                return Err(Refusal::AlreadyExists { what: "timer", id: self.timer_id.to_string() });
            }
            let (timer, position) = (known.clone(), draft.last_position(ledger));
            return Ok(draft.done(ledger, position, TimerAfter { timer, changed: false }));
        }
        let host = draft.host(ledger);
        let head = &draft.state(ledger).head;
        if !head.timers.has_room() {
            let what = "armed timers on this timeline";
            return Err(Refusal::LimitReached { what, max: TIMERS_PER_TIMELINE_MAX });
        }
        let next = first_moment(schedule, head.clock.now(host))?;
        let timer = TimerRow {
            position: head.timers.position_of(head.frontier.size()),
            timer_id: self.timer_id.clone(),
            next: Some(next),
            round: 0,
            is_cancelled: false,
            schedule: schedule_text,
            deliver: Arc::clone(deliver),
            queue: queue.clone(),
            order_key: order_key.clone(),
            payload: Arc::clone(payload),
            set_by: draft.actor().name().to_owned(),
            set_at: host,
        };
        let set = TimerSet::of(&timer, None, head.timers.last).ok_or_else(no_json)?;
        let (entry, payload) = ((Action::SetTimer, timer.timer_id.as_str()), StatePayload::TimerSet(set));
        let position = draft.record(ledger, entry, &payload, host)?;
        Ok(draft.done(ledger, position, TimerAfter { timer, changed: true }))
    }
}

pub(crate) enum TimerChange {
    To(Box<TimerChanges>),
    Cancel,
}

impl TimerChange {
    const fn action(&self) -> Action {
        match self {
            Self::To(_) => Action::ChangeTimer,
            Self::Cancel => Action::CancelTimer,
        }
    }
}

/// The changed parts of a timer; `None` for unchanged ones.
#[derive(Clone, Debug, Default)]
pub(crate) struct TimerChanges {
    pub(crate) schedule: Option<ScheduleChange>,
    pub(crate) deliver: Option<(Arc<str>, QueueId)>,
    pub(crate) order_key: Option<OrderKeyChange>,
    pub(crate) payload: Option<Arc<str>>,
}

pub(crate) struct ChangeTimer {
    pub(crate) timer_id: TimerId,
    pub(crate) change: TimerChange,
}

impl Command for ChangeTimer {
    type Output = TimerAfter;

    fn spec(&self) -> CommandSpec<'_> {
        CommandSpec::of(self.change.action(), Aim::Timeline)
    }

    fn needs(&self) -> Needs<'_> {
        let timers = vec![TimerQuery::Named(self.timer_id.clone()), TimerQuery::Earliest(NEXT_BUT_ONE)];
        Needs { timers: TimersNeeded::exactly(timers), ..Needs::default() }
    }

    fn decide(&self, draft: &mut Draft<'_>) -> Result<Done<TimerAfter>, Refusal> {
        let ledger = draft.aimed()?;
        let missing = || Refusal::NotFound { what: "timer", id: self.timer_id.to_string() };
        let named = draft.known_timers(ledger, &TimerQuery::Named(self.timer_id.clone()));
        let before = named.and_then(|found| found.timers.first()).ok_or_else(missing)?;
        if before.next.is_none() {
            return match &self.change {
                // It is not armed any more, so there is nothing left to cancel.
                TimerChange::Cancel => {
                    let (timer, position) = (before.clone(), draft.last_position(ledger));
                    Ok(draft.done(ledger, position, TimerAfter { timer, changed: false }))
                }
                TimerChange::To(_) => Err(Refusal::TimerNotArmed { timer_id: self.timer_id.to_string() }),
            };
        }
        let earliest = draft.known_timers(ledger, &TimerQuery::Earliest(NEXT_BUT_ONE));
        let earliest = earliest.map(|found| found.timers.as_slice()).unwrap_or_default();
        check_next(draft, ledger, earliest)?;
        let others = earliest.iter().filter(|one| one.position != before.position);
        let next_of_others = others.filter_map(|timer| timer.next).min();
        let host = draft.host(ledger);
        let now = draft.state(ledger).head.clock.now(host);
        let timer = match &self.change {
            TimerChange::Cancel => TimerRow { next: None, is_cancelled: true, ..before.clone() },
            TimerChange::To(changes) => changed(before, changes, now)?,
        };
        let last = draft.state(ledger).head.timers.last;
        let payload = match &self.change {
            TimerChange::Cancel => StatePayload::TimerCancelled(TimerCancelled {
                timer_id: timer.timer_id.to_string(),
                position: timer.position,
                next: before.next.map(|next| next.to_string()),
                before: last,
            }),
            TimerChange::To(_) => {
                StatePayload::TimerChanged(TimerSet::of(&timer, Some(before), last).ok_or_else(no_json)?)
            }
        };
        let (entry, known) = ((self.change.action(), timer.timer_id.as_str()), KnownTimerRows::of_timers([before]));
        let position = draft.record_on_timers(ledger, entry, &payload, &known, host)?;
        draft.set_next_timer(ledger, next_of_others.into_iter().chain(timer.next).min());
        Ok(draft.done(ledger, position, TimerAfter { timer, changed: true }))
    }
}

fn changed(before: &TimerRow, changes: &TimerChanges, now: Instant<Virtual>) -> Result<TimerRow, Refusal> {
    let TimerChanges { schedule, deliver, order_key, payload } = changes;
    let mut timer = before.clone();
    if let Some(schedule) = schedule {
        let schedule = schedule_after(before, schedule)?;
        timer.next = Some(first_moment(&schedule, now)?);
        timer.schedule = json(&ScheduleRecord::of(&schedule)).into();
        // A past due time may be part of the new schedule too, and must get a different firing id.
        timer.round += 1;
    }
    if let Some((deliver, queue)) = deliver {
        (timer.deliver, timer.queue) = (Arc::clone(deliver), queue.clone());
    }
    if let Some(order_key) = order_key {
        timer.order_key = match order_key {
            OrderKeyChange::To(order_key) => Some(order_key.clone()),
            OrderKeyChange::Removed => None,
        };
    }
    if let Some(payload) = payload {
        timer.payload = Arc::clone(payload);
    }
    Ok(timer)
}

/// Past due times are not caught up with again.
fn schedule_after(before: &TimerRow, change: &ScheduleChange) -> Result<Schedule, Refusal> {
    let misfire = match change {
        ScheduleChange::To(schedule) => return Ok(schedule.clone()),
        ScheduleChange::Misfire(misfire) => *misfire,
    };
    match schedule_of(before).ok_or_else(no_json)? {
        Schedule::Repeating(repeating) => {
            Ok(Schedule::Repeating(Box::new(Repeating { misfire, catch_up: false, ..*repeating })))
        }
        Schedule::At(_) => Err(Refusal::invalid(
            "misfire",
            "this timer fires once, so it has no misfire policy; give it a rule with `every` or `cron`",
        )),
    }
}

fn first_moment(schedule: &Schedule, now: Instant<Virtual>) -> Result<Instant<Virtual>, Refusal> {
    let field = match schedule {
        Schedule::At(_) => "at",
        Schedule::Repeating(repeating) => repeating.source.field(),
    };
    let never = || Refusal::invalid(field, "the timer would never fire: the last moment of its rule has passed");
    let first = schedule.first(now).ok_or_else(never)?;
    let (passed, is_complete) = schedule.count(first, now, CATCH_UP_MOMENTS_MAX + 1);
    if !is_complete || passed > CATCH_UP_MOMENTS_MAX {
        let detail = format!(
            "more than {CATCH_UP_MOMENTS_MAX} moments of the rule have passed; give a later start, or leave out \
             `catch_up`"
        );
        return Err(Refusal::invalid("catch_up", detail));
    }
    Ok(first)
}

fn no_json() -> Refusal {
    Refusal::Damaged("a stored timer is not JSON".to_owned())
}

/// Fire timers that the clock has passed by running or by jumping.
#[derive(Default)]
pub(crate) struct FireTimers {
    /// The timekeeper, if several services share the store and this is not requested as part of a clock change.
    pub(crate) keeper: Option<Keeper>,
    pub(crate) look_up: LookUp,
}

impl Command for FireTimers {
    type Output = TimersMoved;

    fn spec(&self) -> CommandSpec<'_> {
        CommandSpec::of(Action::FireTimers, Aim::Timeline)
    }

    fn needs(&self) -> Needs<'_> {
        let at_work = self.keeper.as_ref().map(|_| NeedsAtWork::default());
        let timers = TimersNeeded::exactly(vec![self.look_up.reach.query()]);
        Needs { timers, at_work, ..Needs::with_lookup(&self.look_up) }
    }

    /// Idempotent: the second of two concurrent requests finds nothing due.
    fn decide(&self, draft: &mut Draft<'_>) -> Result<Done<TimersMoved>, Refusal> {
        let ledger = draft.aimed()?;
        draft.check_keeper(ledger, self.keeper.as_ref(), None)?;
        let host = draft.host(ledger);
        let head = &draft.state(ledger).head;
        let displayed = head.clock.now(host);
        if !head.timers.is_behind(displayed) {
            return Err(Refusal::ChangedMeanwhile);
        }
        // The prefetched state covers what was due by then. The clock may have moved since.
        let then = self.look_up.now.filter(|then| *then <= displayed && head.timers.is_behind(*then));
        let now = then.unwrap_or(displayed);
        let mut upcoming = Upcoming::of(draft, ledger, self.look_up.reach)?;
        if self.look_up.reach != Reach::Many && !upcoming.knows(now) {
            return Ok(look_up_first(draft, ledger, self.look_up.of_many()));
        }
        let is_full = draft.state(ledger).head.timers.pending >= PENDING_OF_RULES_MAX;
        let coming = Coming::Together { now, is_full };
        if let Err(look_up) = Recording::of(draft, ledger, &upcoming, (now, coming), &self.look_up)? {
            return Ok(look_up_first(draft, ledger, look_up));
        }
        let fell = upcoming.fall_due(now, coming);
        let fired = fell.due_firing.len() as u64;
        let (position, _) = fire(draft, ledger, &upcoming, (&fell, None), host)?;
        Ok(draft.done(ledger, position, TimersMoved { fired, ..TimersMoved::default() }))
    }
}

pub(super) fn look_up_first(draft: &Draft<'_>, ledger: Ledger, look_up: LookUp) -> Done<TimersMoved> {
    let moved = TimersMoved { look_up: Some(look_up), ..TimersMoved::default() };
    draft.done(ledger, draft.last_position(ledger), moved)
}

/// Appends the entry of fired timers, and the events that they record. `clock` is the clock at their instant, in an
/// advance. Returns the position of the last entry, and the queues of the firings.
pub(super) fn fire(
    draft: &mut Draft<'_>,
    ledger: Ledger,
    upcoming: &Upcoming,
    (fell, clock): (&FellDue, Option<Clock>),
    host: Instant<Wall>,
) -> Result<(u64, Vec<QueueId>), Refusal> {
    let FellDue { due_firing, skipped } = fell;
    let head = &draft.state(ledger).head;
    let advance = head.timers.advance.as_ref().zip(clock.as_ref());
    let next_of = |position: u64| upcoming.row(position).and_then(|(_, timer)| timer.next).map(Instant::micros);
    let fired = due_firing.iter().map(|one| (one.position, one.due.micros(), one.round, next_of(one.position)));
    let skipped = skipped.iter().map(|one: &Skipped| {
        let next = next_of(one.position);
        (one.position, one.from.micros(), one.to.micros(), next)
    });
    let is_new_instant = |clock: &Clock| clock.now(host) > head.clock.now(host);
    let payload = StatePayload::TimersFired(TimersFired {
        clock: advance.map(|(_, clock)| ClockRecord::of(clock)),
        advance_id: advance.map(|(advance, _)| advance.advance_id.to_string()),
        step: advance.map(|(advance, clock)| advance.step + u64::from(is_new_instant(clock))),
        fired: fired.collect(),
        skipped: skipped.collect(),
        before: head.timers.last,
    });
    let first = draft.step_mut(ledger).timers.fired.len();
    let position = draft.record_on_timers(ledger, (Action::FireTimers, "timers"), &payload, upcoming, host)?;
    draft.set_next_timer(ledger, upcoming.next());
    let new = &draft.step_mut(ledger).timers.fired[first..];
    let (recording, waiting): (Vec<_>, Vec<_>) = new.iter().partition(|firing| firing.records_event());
    let recording: Vec<FiringRow> = recording.into_iter().cloned().collect();
    let queues = waiting.into_iter().map(|firing| firing.queue.clone()).collect();
    let recorded = record_events(draft, ledger, upcoming, &recording, host)?;
    Ok((recorded.unwrap_or(position), queues))
}

pub(crate) struct SettleFirings {
    pub(crate) firing_ids: Vec<FiringId>,
    /// Those to return unchanged.
    pub(crate) left: Vec<FiringId>,
    pub(crate) outcome: FiringState,
    pub(crate) reason: Option<String>,
    pub(crate) under: Under,
    /// The timekeeper, if several services share the store and the request is not by a user.
    pub(crate) keeper: Option<Keeper>,
}

impl Command for SettleFirings {
    type Output = FiringsAfter;

    fn spec(&self) -> CommandSpec<'_> {
        CommandSpec::of(Action::SettleFirings, Aim::Timeline)
    }

    fn needs(&self) -> Needs<'_> {
        let timers = vec![TimerQuery::Firings(self.firing_ids.clone())];
        // Claims are locked while an outcome is being recorded. With a keeper, only the keeper is looked up.
        let firings = if self.keeper.is_some() { &[] } else { self.firing_ids.as_slice() };
        let at_work = Some(NeedsAtWork { open_since: None, firings });
        Needs { timers: TimersNeeded::exactly(timers), at_work, ..Needs::default() }
    }

    /// A firing that is already settled keeps its outcome.
    fn decide(&self, draft: &mut Draft<'_>) -> Result<Done<FiringsAfter>, Refusal> {
        let ledger = draft.aimed()?;
        draft.check_keeper(ledger, self.keeper.as_ref(), None)?;
        let query = TimerQuery::Firings(self.firing_ids.clone());
        let known = draft.known_timers(ledger, &query).map(|found| found.firings.as_slice()).unwrap_or_default();
        let mut after = Vec::with_capacity(self.firing_ids.len());
        let mut settled: Vec<&FiringRow> = Vec::new();
        for firing_id in &self.firing_ids {
            let missing = || Refusal::NotFound { what: "firing", id: firing_id.to_string() };
            let firing = known.iter().find(|firing| firing.firing_id == *firing_id).ok_or_else(missing)?;
            let is_open = firing.state == FiringState::Pending && !self.left.contains(firing_id);
            if is_open && !settled.iter().any(|one| one.due_firing == firing.due_firing) {
                settled.push(firing);
            }
            after.push((firing_id.clone(), if is_open { self.outcome } else { firing.state }));
        }
        let leased = draft.leased(ledger, &self.firing_ids).iter();
        let is_of_other = |held: &&Held| {
            let is_open = settled.iter().any(|firing| firing.firing_id == held.firing_id);
            is_open && !self.under.has(&held.lease_id, &held.holder)
        };
        let of_others: Vec<HeldByOther> = leased.filter(is_of_other).map(Held::of_other).collect();
        if !of_others.is_empty() {
            return Err(Refusal::lease_lost(of_others));
        }
        let change = FiringsAfter { firings: after, is_withheld: false };
        if settled.is_empty() {
            return Ok(draft.done(ledger, draft.last_position(ledger), change));
        }
        let outcome = |firing| Outcome { firing, state: self.outcome, reason: self.reason.clone() };
        let outcomes: Vec<Outcome<'_>> = settled.into_iter().map(outcome).collect();
        let host = draft.host(ledger);
        let position = record_outcomes(draft, ledger, &outcomes, host)?;
        Ok(draft.done(ledger, position, change))
    }
}
