//! What shall happen at virtual moments: timers, their firings, and clock changes that pass moments one by one.
//!
//! A *timer* has a next moment, once or by a rule. When the clock comes to it, it *falls due*: that makes a *firing*, which
//! has one outcome. An *advance* is a clock change that stands still at each instant at which something is due. All of it
//! is decided here; who claims what, for how long, is in [`leases`].

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

pub use again::{Room, Stood, TooMuch, Undo, rounds_grow_by};
pub use schedule::{Misfire, Repeating, RepeatingError, RuleSource, Schedule};

/// Limit of the searches for moments in one decision: a few milliseconds, in which other writers wait. Further timers are
/// left to the next decision.
pub const FALL_DUE_WORK_MAX: Work = Work(20_000);

/// A timer as far as it matters when it falls due.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timer {
    /// The position of the entry that set it: its place among those that fall due at the same moment.
    pub position: u64,
    /// When.
    pub schedule: Schedule,
    /// Its next moment, which is later than the clock; `None` if it has none.
    pub next: Option<Instant<Virtual>>,
    /// Grows where moments that fell due come again, so that their firings are others.
    pub round: u32,
}

/// One moment of a timer that fell due. In the order in which firings are offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fallen {
    /// The moment.
    pub due: Instant<Virtual>,
    /// The timer's position.
    pub position: u64,
    /// The timer's round.
    pub round: u32,
}

impl Fallen {
    /// Returns the name of the firing, which is the same whenever and however often it is worked out.
    #[must_use]
    pub fn firing_id(&self, timeline: &TimelineId) -> FiringId {
        let Self { due, position, round } = self;
        let text = format!("timenav firing\n{timeline}\n{position}\n{}\n{round}", due.micros());
        let mut bytes = [0; 16];
        bytes.copy_from_slice(&sha256(&[text.as_bytes()]).as_bytes()[..16]);
        FiringId::made(&type_id("firing", bytes))
    }
}

/// Moments of a rule that came and did not fall due, as its timer says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// The timer's position.
    pub position: u64,
    /// The first of them.
    pub from: Instant<Virtual>,
    /// The last of them.
    pub to: Instant<Virtual>,
}

/// What fell due, and what was skipped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FellDue {
    /// Firings, in the order in which they are offered.
    pub fallen: Vec<Fallen>,
    /// Moments that were skipped.
    pub skipped: Vec<Skipped>,
}

/// How the clock comes to moments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coming {
    /// It stands still at each: an advance.
    OneByOne,
    /// It may have come to several together, and each timer says what becomes of them. With `is_full`, so many firings
    /// wait that no more of rules are made.
    Together {
        /// What it has come to, which may be later than what may fall due by now.
        now: Instant<Virtual>,
        /// Whether so many firings wait.
        is_full: bool,
    },
}

/// Lets timers fall due whose moments the clock has come to, the earliest first. Each timer goes on to its next moment.
/// `timers` are in the order of their moments and positions.
/// Moments later than `upto` stay, and so do those left after `firings_max` firings or [`FALL_DUE_WORK_MAX`]. Each call
/// makes progress.
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
        is_before_end.then_some(Reverse((Fallen { due, position: timer.position, round: timer.round }, number)))
    };
    let mut waiting: BinaryHeap<_> =
        timers.iter().enumerate().filter_map(|(number, timer)| due_of(number, timer)).collect();
    while fell.fallen.len() < firings_max
        && (work < FALL_DUE_WORK_MAX || (fell.fallen.is_empty() && fell.skipped.is_empty()))
        && let Some(Reverse((one, number))) = waiting.pop()
    {
        let timer = &mut timers[number];
        timer.next = timer.schedule.after_at_cost(one.due, &mut work);
        waiting.extend(due_of(number, timer));
        fell.fallen.push(one);
    }
    fell
}

/// Takes a timer past moments that came together, where it says so or too many firings wait.
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
        // The last one fires; those before it do not.
        (Misfire::Once, Some(last)) => {
            let before = last.checked_sub(Span::from_micros(1));
            (before.and_then(|before| repeating.last_between(first, before, work)).unwrap_or(first), Some(last))
        }
    };
    timer.next = next;
    Some(Skipped { position: timer.position, from: first, to })
}

/// What would fall due while a clock moves, if nobody set any timers meanwhile.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Foreseen {
    /// The first firings, in the order in which they would be offered.
    pub firings: Vec<Fallen>,
    /// How many there would be, as far as was counted.
    pub count: u64,
    /// How many there would be of each timer, by position.
    pub by_timer: Vec<(u64, u64)>,
    /// Whether all were counted.
    pub is_complete: bool,
}

/// Foresees what falls due up to a moment that a clock goes to one by one. It shows so many firings, and counts so many.
#[must_use]
pub fn foresee(mut timers: Vec<Timer>, upto: Instant<Virtual>, (shown_max, count_max): (usize, u64)) -> Foreseen {
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
    foreseen.firings = fall_due(&mut timers, upto, Coming::OneByOne, shown_max).fallen;
    foreseen
}

/// What became of a firing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FiringState {
    /// Nothing yet.
    Pending,
    /// Whoever claimed it said that it is done.
    Acknowledged,
    /// It was tried as often as it may be.
    Failed,
    /// Its moment comes again in another round.
    Superseded,
}

impl FiringState {
    /// Every state, by its number where it is kept.
    pub const ALL: [Self; 4] = [Self::Pending, Self::Acknowledged, Self::Failed, Self::Superseded];

    /// Returns its name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Acknowledged => "acknowledged",
            Self::Failed => "failed",
            Self::Superseded => "superseded",
        }
    }

    /// Returns the state of a name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == name)
    }
}

/// How an advance stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AdvanceState {
    /// It goes on.
    Running,
    /// It came to its destination.
    Settled,
    /// Timers kept arming themselves for the same instant.
    Stuck,
    /// It was stopped on its way: somebody paused the clock, or an instant was held too long.
    Stopped,
}

impl AdvanceState {
    /// Every state.
    pub const ALL: [Self; 4] = [Self::Running, Self::Settled, Self::Stuck, Self::Stopped];

    /// Returns its name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Settled => "settled",
            Self::Stuck => "stuck",
            Self::Stopped => "stopped",
        }
    }

    /// Returns the state of a name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == name)
    }
}

/// A clock change that passes moments one by one, on its way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Advance {
    /// Its name.
    pub advance_id: AdvanceId,
    /// The position of the entry that began it.
    pub position: u64,
    /// Where the clock stood.
    pub from: Instant<Virtual>,
    /// Where it goes.
    pub to: Instant<Virtual>,
    /// The place of the clock at the end.
    pub location: Option<String>,
    /// Whether the clock goes on from there.
    pub is_running: bool,
    /// How many instants it has come to.
    pub step: u64,
    /// The position of the entry that tells of the last one.
    pub stepped: u64,
    /// When that was, by the host.
    pub held_since: Instant<Wall>,
    /// How many firings were made at that instant.
    pub at_instant: u64,
    /// How many of them have no outcome yet.
    pub open: u64,
    /// What came of it so far.
    pub counts: Counts,
}

/// What came of an advance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Firings that were made.
    pub fired: u64,
    /// Those that were acknowledged.
    pub acknowledged: u64,
    /// Those that failed.
    pub failed: u64,
}

impl Counts {
    /// Returns how many firings have no outcome.
    #[must_use]
    pub const fn unheard(&self) -> u64 {
        self.fired.saturating_sub(self.acknowledged).saturating_sub(self.failed)
    }
}

/// What is known of a timeline's timers without looking at any of them, and whose clock is shown wrong.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Timers {
    /// The earliest moment of an armed timer.
    pub next: Option<Instant<Virtual>>,
    /// How many timers are armed.
    pub armed: u64,
    /// How many firings have no outcome.
    pub pending: u64,
    /// The advance that goes on.
    pub advance: Option<Advance>,
    /// The position of the last entry that changed timers or firings.
    pub last: Option<u64>,
    /// What positions of timers begin with that are set on this timeline: those that a fork took along come before.
    pub base: u64,
    /// Whether there has ever been a timer here whose firings are sent to a webhook.
    pub webhooks: bool,
    /// The first timer whose firings are sent to webhooks: as `base`, unless whoever forked has those of timers sent too
    /// that came along. Those that the other timeline does not send itself are before it, and all that came with an
    /// adoption.
    pub sends_from: u64,
    /// Whose clock is shown wrong on purpose.
    pub faults: Arc<Faults>,
}

/// What an advance does next, once nothing holds its instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Move {
    /// The clock comes to the next instant.
    To(Instant<Virtual>),
    /// It has come to its destination.
    End,
}

impl Timers {
    /// Returns whether a clock that shows `here` passes a timer on its way to `to`.
    #[must_use]
    pub fn is_between(&self, here: Instant<Virtual>, to: Instant<Virtual>) -> bool {
        to > here && self.next.is_some_and(|next| next <= to)
    }

    /// Returns whether moments have come that did not fall due yet, with a clock that shows `now`.
    #[must_use]
    pub fn is_behind(&self, now: Instant<Virtual>) -> bool {
        self.advance.is_none() && self.next.is_some_and(|next| next <= now)
    }

    /// Returns whether another timer may be armed.
    #[must_use]
    pub const fn has_room(&self) -> bool {
        self.armed < TIMERS_PER_TIMELINE_MAX as u64
    }

    /// Returns whether firings of timers that came along are sent to webhooks.
    #[must_use]
    pub const fn sends_carried(&self) -> bool {
        self.sends_from < self.base
    }

    /// Returns the position of a timer that the entry at a position of the timeline sets.
    #[must_use]
    pub const fn position_of(&self, entry: u64) -> u64 {
        self.base + entry
    }

    /// Returns what is known of timers once another service goes on with so many entries: it sends no webhooks for those
    /// that are there already, whose secrets it could not open. Those whose clocks were wrong were users there.
    #[must_use]
    pub fn arrived(&self, entries: u64) -> Self {
        let sends_from = if self.last.is_some() { self.position_of(entries) } else { self.sends_from };
        Self { sends_from, faults: Arc::default(), ..self.clone() }
    }

    /// A timer is there whose firings wait in a queue.
    pub fn fires_into(&mut self, queue: &QueueId) {
        self.webhooks |= *queue == QueueId::of_webhooks();
    }

    /// A timer was armed for a moment.
    pub fn arm(&mut self, next: Instant<Virtual>) {
        self.armed += 1;
        self.next = Some(self.next.map_or(next, |earliest| earliest.min(next)));
    }

    /// Firings were made: at the instant of an advance, where one goes on.
    pub fn fired(&mut self, count: u64) {
        self.pending += count;
        if let Some(advance) = &mut self.advance {
            advance.counts.fired += count;
            advance.at_instant += count;
            advance.open += count;
        }
    }

    /// A firing has come to its outcome. `of_advance` is the position at which its advance began, `made` that of the entry
    /// that made it.
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
    /// Returns whether timers keep arming themselves for the same instant.
    #[must_use]
    pub const fn is_stuck(&self) -> bool {
        self.at_instant > FIRINGS_AT_INSTANT_MAX
    }

    /// Returns whether nothing holds its instant and none is left before its destination, where `next` is the earliest moment
    /// of an armed timer.
    #[must_use]
    pub fn is_done(&self, next: Option<Instant<Virtual>>) -> bool {
        self.open == 0 && !self.is_stuck() && self.next_move(next) == Move::End
    }

    /// Returns until when, by the host, its instant may be held.
    #[must_use]
    pub fn held_until(&self) -> Instant<Wall> {
        let longest = Span::from_secs(HOLD_SECONDS_MAX);
        longest.and_then(|span| self.held_since.checked_add(span)).unwrap_or(Instant::MAX)
    }

    /// Returns what the advance does next, where `next` is the earliest moment of an armed timer.
    #[must_use]
    pub fn next_move(&self, next: Option<Instant<Virtual>>) -> Move {
        next.filter(|next| *next <= self.to).map_or(Move::End, Move::To)
    }

    /// Returns what becomes of the clock where the advance ends: it is at its destination, and goes on as it went before; or
    /// it stands where it was stopped. Cannot fail: live path and replay share it.
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

    /// The clock comes to an instant, told by the entry at a position. What is left over of the same instant is no new step.
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
