//! Timers, their firings, and advances.
//!
//! A *timer* has a next moment, once or by a rule. When the clock reaches it, the timer *falls due*, which creates a
//! *firing*. Each firing has exactly one outcome. An *advance* is a clock change that stops at each instant at which a
//! timer is due. This module decides what fires; [`leases`] decides who claims which firing, and for how long.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use crate::clock::{self, Clock, ClockMoved, Moment};
use crate::fault::Faults;
use crate::ids::{AdvanceId, FiringId, QueueId, TimelineId, type_id};
use crate::ledger::sha256;
use crate::limits::{FIRINGS_AT_INSTANT_MAX, HOLD_SECONDS_MAX, TIMERS_PER_TIMELINE_MAX};
use crate::recurrence::Work;
use crate::time::{Instant, Span, Virtual, Wall};

mod again;
pub mod holds;
pub mod leases;
pub mod retries;
mod schedule;
#[cfg(test)]
mod tests;

pub use again::{PreviousState, Room, TooMuch, Undo, rounds_grow_by};
pub use schedule::{Misfire, Repeating, RepeatingError, RuleSource, Schedule};

/// Limit on the searches for moments in one decision: a few milliseconds, during which other writers wait. The
/// remaining timers are left to the next decision.
pub const FALL_DUE_WORK_MAX: Work = Work(20_000);

/// The part of a timer that decides when it falls due.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timer {
    /// The position of the entry that set it. Orders timers that fall due at the same moment.
    pub position: u64,
    pub schedule: Schedule,
    /// Its next moment, later than the clock; `None` if it has none.
    pub next: Option<Instant<Virtual>>,
    /// Incremented when moments that fell due recur, so that the new firings have other ids.
    pub round: u32,
}

/// One moment of a timer that fell due. Ordered as firings are offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DueFiring {
    pub due: Instant<Virtual>,
    pub position: u64,
    pub round: u32,
}

impl DueFiring {
    /// Returns the id of the firing. It is derived from the fields, so every computation gives the same id.
    #[must_use]
    pub fn firing_id(&self, timeline: &TimelineId) -> FiringId {
        let Self { due, position, round } = self;
        let text = format!("timenav firing\n{timeline}\n{position}\n{}\n{round}", due.micros());
        let mut bytes = [0; 16];
        bytes.copy_from_slice(&sha256(&[text.as_bytes()]).as_bytes()[..16]);
        FiringId::made(&type_id("firing", bytes))
    }
}

/// Moments of a rule that passed without firing, according to the timer's [`Misfire`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Skipped {
    pub position: u64,
    pub from: Instant<Virtual>,
    pub to: Instant<Virtual>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FellDue {
    /// Firings, in the order in which they are offered.
    pub due_firing: Vec<DueFiring>,
    pub skipped: Vec<Skipped>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coming {
    /// The clock stopped at each moment: an advance.
    OneByOne,
    /// It may have passed several at once; each timer's [`Misfire`] decides.
    Together {
        /// What the clock shows, which may be later than the last moment that may fall due now.
        now: Instant<Virtual>,
        /// Whether too many firings are pending. If so, rules create no more.
        is_full: bool,
    },
}

/// Fires the timers whose moments the clock has reached, earliest first, and moves each to its next moment.
/// `timers` are ordered by moment and position.
///
/// Moments later than `upto` remain, as do all others after `firings_max` firings or [`FALL_DUE_WORK_MAX`]. Each call
/// fires or skips one timer at least.
pub fn fall_due(timers: &mut [Timer], upto: Instant<Virtual>, coming: Coming, firings_max: usize) -> FellDue {
    let mut fell = FellDue::default();
    let mut work = Work::default();
    // The first timer that is left to the next decision. Nothing after it fires in this one.
    let mut end = None;
    if let Coming::Together { now, is_full } = coming {
        for timer in timers.iter_mut() {
            if work < FALL_DUE_WORK_MAX {
                fell.skipped.extend(skip(timer, now, is_full, &mut work));
            } else if let Some(next) = timer.next {
                end = end.into_iter().chain([(next, timer.position)]).min();
            }
        }
    }
    let due_of = |number: usize, timer: &Timer| {
        let due = timer.next.filter(|next| *next <= upto)?;
        let is_before_end = end.is_none_or(|end| (due, timer.position) < end);
        is_before_end.then_some(Reverse((DueFiring { due, position: timer.position, round: timer.round }, number)))
    };
    let mut waiting: BinaryHeap<_> =
        timers.iter().enumerate().filter_map(|(number, timer)| due_of(number, timer)).collect();
    while fell.due_firing.len() < firings_max
        && (work < FALL_DUE_WORK_MAX || (fell.due_firing.is_empty() && fell.skipped.is_empty()))
        && let Some(Reverse((one, number))) = waiting.pop()
    {
        let timer = &mut timers[number];
        timer.next = timer.schedule.after_at_cost(one.due, &mut work);
        waiting.extend(due_of(number, timer));
        fell.due_firing.push(one);
    }
    fell
}

/// Moves a timer past moments reached together, by its misfire policy or because too many firings are pending.
fn skip(timer: &mut Timer, now: Instant<Virtual>, is_full: bool, work: &mut Work) -> Option<Skipped> {
    let first = timer.next.filter(|next| *next <= now)?;
    let Schedule::Repeating(repeating) = &timer.schedule else { return None };
    if !is_full && repeating.misfire == Misfire::All {
        return None;
    }
    let last = repeating.last_between(first, now, work);
    let (to, next) = match (repeating.misfire, last) {
        _ if is_full => (last.unwrap_or(first), timer.schedule.after_at_cost(last.unwrap_or(first), work)),
        (Misfire::All, _) | (_, None) => return None,
        (Misfire::Skip, Some(last)) => (last, timer.schedule.after_at_cost(last, work)),
        // Only the last one fires.
        (Misfire::Once, Some(last)) => {
            let before = last.checked_sub(Span::from_micros(1));
            (before.and_then(|before| repeating.last_between(first, before, work)).unwrap_or(first), Some(last))
        }
    };
    timer.next = next;
    Some(Skipped { position: timer.position, from: first, to })
}

/// What would fall due while a clock moves, if no timers were set in the meantime.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Foreseen {
    /// The first firings, in the order in which they would be offered.
    pub firings: Vec<DueFiring>,
    /// The number of firings, as far as they were counted.
    pub count: u64,
    /// The number of firings of each timer, by position.
    pub by_timer: Vec<(u64, u64)>,
    pub is_complete: bool,
}

/// Predicts what falls due in an advance to `upto`. Lists up to `firings_max` firings, and counts up to `count_max`.
#[must_use]
pub fn foresee(mut timers: Vec<Timer>, upto: Instant<Virtual>, (firings_max, count_max): (usize, u64)) -> Foreseen {
    let mut foreseen = Foreseen { is_complete: true, ..Foreseen::default() };
    for timer in &timers {
        let Some(first) = timer.next.filter(|first| *first <= upto) else { continue };
        let left = (count_max + 1).saturating_sub(foreseen.count);
        let (count, is_complete) = timer.schedule.count(first, upto, left);
        foreseen.count += count;
        foreseen.is_complete &= is_complete;
        foreseen.by_timer.push((timer.position, count));
        if foreseen.count > count_max {
            foreseen.is_complete = false;
            break;
        }
    }
    foreseen.firings = fall_due(&mut timers, upto, Coming::OneByOne, firings_max).due_firing;
    foreseen
}

named! {
    /// In the order of their stored numbers.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum FiringState {
        Pending = "pending",
        /// The worker that claimed it reported success.
        Acknowledged = "acknowledged",
        Failed = "failed",
        /// Its moment recurs in another round.
        Superseded = "superseded",
    }
}

named! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum AdvanceState {
        Running = "running",
        /// It reached its destination.
        Settled = "settled",
        /// Timers kept arming themselves for the same instant.
        Stuck = "stuck",
        /// It was stopped on the way: the clock was paused, or an instant was held too long.
        Stopped = "stopped",
    }
}

/// A clock change in progress that stops at each due moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Advance {
    pub advance_id: AdvanceId,
    /// The position of the entry that began it.
    pub position: u64,
    pub from: Instant<Virtual>,
    pub to: Instant<Virtual>,
    /// The clock's location at the destination.
    pub location: Option<String>,
    /// Whether the clock runs after it gets there.
    pub is_running: bool,
    /// Number of instants reached.
    pub step: u64,
    /// The position of the entry that recorded the last instant.
    pub stepped: u64,
    /// When the last instant was reached, in host time.
    pub held_since: Instant<Wall>,
    /// Number of firings created at that instant.
    pub at_instant: u64,
    /// Number of firings without an outcome.
    pub open: u64,
    pub counts: Counts,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub fired: u64,
    pub acknowledged: u64,
    pub failed: u64,
}

impl Counts {
    /// Returns the number of firings without an outcome.
    #[must_use]
    pub const fn unheard(&self) -> u64 {
        self.fired.saturating_sub(self.acknowledged).saturating_sub(self.failed)
    }
}

/// A summary of a timeline's timers, available without reading any of them, and the active clock faults.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Timers {
    /// The earliest moment of an armed timer.
    pub next: Option<Instant<Virtual>>,
    pub armed: u64,
    /// Number of firings without an outcome.
    pub pending: u64,
    pub advance: Option<Advance>,
    /// The position of the last entry that changed timers or firings.
    pub last: Option<u64>,
    /// Offset of the positions of timers set here. Inherited timers have lower positions.
    pub base: u64,
    /// Whether any timer of this timeline has ever used a webhook.
    pub webhooks: bool,
    /// Position of the first timer whose firings are sent to webhooks. Equals `base`, unless the fork's creator opted
    /// in to sending for inherited timers. Timers for which the parent does not send are before it, and so are all
    /// timers of an adopted timeline.
    pub sends_from: u64,
    pub faults: Arc<Faults>,
}

/// What an advance does next, once nothing holds its current instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Move {
    To(Instant<Virtual>),
    End,
}

impl Timers {
    /// Returns whether a clock that moves from `here` to `to` passes a timer.
    #[must_use]
    pub fn is_between(&self, here: Instant<Virtual>, to: Instant<Virtual>) -> bool {
        to > here && self.next.is_some_and(|next| next <= to)
    }

    /// Returns whether moments have passed that did not fall due yet, for a clock that shows `now`.
    #[must_use]
    pub fn is_behind(&self, now: Instant<Virtual>) -> bool {
        self.advance.is_none() && self.next.is_some_and(|next| next <= now)
    }

    #[must_use]
    pub const fn has_room(&self) -> bool {
        self.armed < TIMERS_PER_TIMELINE_MAX as u64
    }

    /// Returns whether firings of inherited timers are sent to webhooks.
    #[must_use]
    pub const fn sends_carried(&self) -> bool {
        self.sends_from < self.base
    }

    /// Returns the position of a timer that the timeline's entry `entry` sets.
    #[must_use]
    pub const fn position_of(&self, entry: u64) -> u64 {
        self.base + entry
    }

    /// Returns the state after another service adopts the timeline with `entries` entries. It sends no webhooks for
    /// existing timers, because it cannot decrypt their secrets. Faults are dropped, because they name users of the
    /// previous service.
    #[must_use]
    pub fn arrived(&self, entries: u64) -> Self {
        let sends_from = if self.last.is_some() { self.position_of(entries) } else { self.sends_from };
        Self { sends_from, faults: Arc::default(), ..self.clone() }
    }

    pub fn fires_into(&mut self, queue: &QueueId) {
        self.webhooks |= *queue == QueueId::of_webhooks();
    }

    pub fn arm(&mut self, next: Instant<Virtual>) {
        self.armed += 1;
        self.next = Some(self.next.map_or(next, |earliest| earliest.min(next)));
    }

    /// Records new firings, at the current instant of the advance if one is in progress.
    pub fn fired(&mut self, count: u64) {
        self.pending += count;
        if let Some(advance) = &mut self.advance {
            advance.counts.fired += count;
            advance.at_instant += count;
            advance.open += count;
        }
    }

    /// `of_advance` is the position at which the firing's advance began, `made` that of the entry that created it.
    pub fn settled(&mut self, outcome: FiringState, of_advance: Option<u64>, made: u64) {
        self.pending = self.pending.saturating_sub(1);
        let Some(advance) = self.advance.as_mut().filter(|advance| of_advance == Some(advance.position)) else {
            return;
        };
        match outcome {
            FiringState::Acknowledged => advance.counts.acknowledged += 1,
            FiringState::Failed => advance.counts.failed += 1,
            FiringState::Pending | FiringState::Superseded => {}
        }
        if made >= advance.stepped {
            advance.open = advance.open.saturating_sub(1);
        }
    }
}

impl Advance {
    #[must_use]
    pub const fn is_stuck(&self) -> bool {
        self.at_instant > FIRINGS_AT_INSTANT_MAX
    }

    /// Returns whether nothing holds the current instant and no timer is due before the destination. `next` is the
    /// earliest moment of an armed timer.
    #[must_use]
    pub fn is_done(&self, next: Option<Instant<Virtual>>) -> bool {
        self.open == 0 && !self.is_stuck() && self.next_move(next) == Move::End
    }

    /// Returns until when the current instant may be held, in host time.
    #[must_use]
    pub fn held_until(&self) -> Instant<Wall> {
        let longest = Span::from_secs(HOLD_SECONDS_MAX);
        longest.and_then(|span| self.held_since.checked_add(span)).unwrap_or(Instant::MAX)
    }

    #[must_use]
    pub fn next_move(&self, next: Option<Instant<Virtual>>) -> Move {
        next.filter(|next| *next <= self.to).map_or(Move::End, Move::To)
    }

    /// Returns the clock at the end of the advance. If settled, it is at the destination and runs if it ran before;
    /// otherwise it is paused where it is. Infallible: the live path and replay share it.
    #[must_use]
    pub fn over(&self, clock: &Clock, state: AdvanceState, host: Instant<Wall>) -> Clock {
        let here = clock.moment(host);
        let moment = match state {
            AdvanceState::Settled => {
                Moment { at: self.to, running: self.is_running, rate: here.rate, location: self.location.clone() }
            }
            AdvanceState::Running | AdvanceState::Stuck | AdvanceState::Stopped => Moment { running: false, ..here },
        };
        clock::apply(clock, &ClockMoved { host, moment })
    }

    /// Moves to an instant recorded at `position`. The rest of the same instant is not a new step.
    pub fn step_to(&mut self, is_new_instant: bool, position: u64, host: Instant<Wall>) {
        if is_new_instant {
            self.step += 1;
            self.at_instant = 0;
            self.open = 0;
            self.stepped = position;
            self.held_since = host;
        }
    }
}
