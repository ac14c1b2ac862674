//! A model of the timers of one timeline: a list of times, independent of how the service finds them. Times are whole
//! seconds.

use timenav_core::timers::DueFiring;

use crate::engine::*;

pub(super) const SECOND: i64 = 1_000_000;

/// The schedule of a timer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum When {
    Once(i64),
    /// A number of times, with this many seconds in between.
    Every {
        start: i64,
        step: i64,
        count: i64,
        misfire: Misfire,
        catch_up: bool,
    },
}

/// The delivery target of firings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// A queue without a listener while the clock moves.
    Queue,
    /// Each is an event on the timeline.
    Event,
    /// Each is sent, and accepted at once.
    Webhook,
}

/// The definition of a timer. The number distinguishes it from identical ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Plan {
    pub(super) when: When,
    pub(super) target: Target,
    pub(super) number: usize,
    /// The user who set it, if not the first operator.
    pub(super) set_by: Option<UserId>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Timer {
    pub(super) name: String,
    pub(super) plan: Plan,
    pub(super) next: Option<i64>,
    pub(super) round: u32,
    pub(super) is_cancelled: bool,
}

/// A firing in delivery order: its due time, the position of its timer, and the round.
pub(super) type Fired = (i64, u64, u32);

/// The timers of one timeline by their positions, and their firings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Timing {
    pub(super) timers: BTreeMap<u64, Timer>,
    pub(super) firings: BTreeMap<Fired, FiringState>,
    /// Timers before this position were inherited by a fork, and record with the permission of its creator.
    pub(super) base: u64,
    /// Webhooks of timers before this position are not sent.
    pub(super) sends_from: u64,
}

/// Permissions for the effects of timers when they fire.
pub(super) struct Leave {
    /// Users who may record events.
    pub(super) recorders: BTreeSet<UserId>,
    /// Firings of timers before this position are not sent.
    pub(super) sends_from: u64,
}

/// How a clock reaches due times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Coming {
    /// It stops at each.
    OneByOne,
    /// It reaches all of them at once.
    Together,
}

impl When {
    fn all(&self) -> Vec<i64> {
        match self {
            Self::Once(at) => vec![*at],
            Self::Every { start, step, count, .. } => (0..*count).map(|number| start + number * step).collect(),
        }
    }

    /// Returns the first due time of a timer that is set while the clock shows `now`.
    pub(super) fn first(&self, now: Instant<Virtual>) -> Option<i64> {
        match self {
            Self::Every { catch_up: false, .. } => self.all().into_iter().find(|due| !has_come(*due, now)),
            Self::Once(_) | Self::Every { .. } => self.all().first().copied(),
        }
    }

    /// Returns the due times from `next` on that fire once a clock has reached `now`.
    fn firing(&self, next: i64, now: Instant<Virtual>, coming: Coming) -> Vec<i64> {
        let mut come: Vec<i64> = self.all().into_iter().filter(|due| *due >= next && has_come(*due, now)).collect();
        // A clock that stops at each of them skips none.
        if coming == Coming::Together && come.len() > 1 {
            match self {
                Self::Once(_) | Self::Every { misfire: Misfire::All, .. } => {}
                Self::Every { misfire: Misfire::Once, .. } => drop(come.drain(..come.len() - 1)),
                Self::Every { misfire: Misfire::Skip, .. } => come.clear(),
            }
        }
        come
    }
}

pub(super) fn has_come(due: i64, now: Instant<Virtual>) -> bool {
    due * SECOND <= now.micros()
}

pub(super) fn firing_id((due, position, round): Fired, timeline: &TimelineId) -> FiringId {
    DueFiring { due: moment(due * SECOND), position, round }.firing_id(timeline)
}

impl Timing {
    pub(super) fn named(&self, name: &str) -> Option<(u64, &Timer)> {
        let found = self.timers.iter().find(|(_, timer)| timer.name == name);
        found.map(|(position, timer)| (*position, timer))
    }

    /// Returns the earliest due time.
    pub(super) fn next(&self) -> Option<Instant<Virtual>> {
        let next = self.timers.values().filter_map(|timer| timer.next).min();
        next.map(|next| moment(next * SECOND))
    }

    /// Returns whether an armed timer is due between two readings of a clock.
    pub(super) fn comes_between(&self, from: Instant<Virtual>, to: Instant<Virtual>) -> bool {
        let armed = self.timers.values().filter(|timer| timer.next.is_some());
        armed.flat_map(|timer| timer.plan.when.all()).any(|due| !has_come(due, from) && has_come(due, to))
    }

    pub(super) fn is_due(&self, now: Instant<Virtual>) -> bool {
        self.timers.values().filter_map(|timer| timer.next).any(|next| has_come(next, now))
    }

    pub(super) fn set(&mut self, (position, name): (u64, String), plan: Plan, now: Instant<Virtual>) {
        let next = plan.when.first(now);
        self.timers.insert(position, Timer { name, plan, next, round: 0, is_cancelled: false });
    }

    /// Changes the definition of a timer. Setting a schedule begins another round, even if it is the same.
    pub(super) fn change(&mut self, name: &str, when: Option<&When>, target: Target, now: Instant<Virtual>) {
        let timer = self.timers.values_mut().find(|timer| timer.name == name).expect("it is there");
        timer.plan.target = target;
        if let Some(when) = when {
            timer.next = when.first(now);
            timer.plan.when = when.clone();
            timer.round += 1;
        }
    }

    pub(super) fn cancel(&mut self, name: &str) {
        let timer = self.timers.values_mut().find(|timer| timer.name == name).expect("it is there");
        timer.is_cancelled |= timer.next.take().is_some();
    }

    /// Fires the timers that a clock has reached. Returns the firings that record an event.
    pub(super) fn fall_due(&mut self, now: Instant<Virtual>, coming: Coming, leave: &Leave) -> Vec<Fired> {
        let mut recorded = Vec::new();
        for (position, timer) in &mut self.timers {
            let Some(next) = timer.next.filter(|next| has_come(*next, now)) else { continue };
            for due in timer.plan.when.firing(next, now, coming) {
                let fired = (due, *position, timer.round);
                let set_by = timer.plan.set_by.as_ref().filter(|_| *position >= self.base);
                let state = match timer.plan.target {
                    Target::Queue => FiringState::Pending,
                    Target::Event if set_by.is_none_or(|user| leave.recorders.contains(user)) => {
                        FiringState::Acknowledged
                    }
                    Target::Webhook if *position >= leave.sends_from => FiringState::Acknowledged,
                    Target::Event | Target::Webhook => FiringState::Failed,
                };
                assert_eq!(self.firings.insert(fired, state), None, "{fired:?} is another one");
                let is_recorded = timer.plan.target == Target::Event && state == FiringState::Acknowledged;
                recorded.extend(is_recorded.then_some(fired));
            }
            timer.next = timer.plan.when.all().into_iter().find(|due| *due >= next && !has_come(*due, now));
        }
        recorded
    }

    /// Makes due times recur for a clock that goes back.
    pub(super) fn refire(&mut self, destination: Instant<Virtual>) {
        for (position, timer) in self.timers.iter_mut().filter(|(_, timer)| !timer.is_cancelled) {
            let moments = timer.plan.when.all();
            let next = timer.next;
            let comes_again =
                |due: i64| !has_come(due, destination) && next.is_none_or(|next| due < next) && moments.contains(&due);
            let again = self.firings.iter_mut().filter(|((due, of, _), _)| of == position && comes_again(*due));
            let mut earliest = None;
            for ((due, ..), state) in again {
                earliest.get_or_insert(*due);
                if *state == FiringState::Pending {
                    *state = FiringState::Superseded;
                }
            }
            if earliest.is_some() {
                timer.next = earliest;
                timer.round += 1;
            }
        }
    }

    /// Restores timers to an earlier state. Recurring times get a new round here, whose number the service decides.
    pub(super) fn take_back(&mut self, then: &Self, rounds: &BTreeMap<u64, u32>) {
        let in_flight = then.pending();
        for state in self.firings.values_mut().filter(|state| **state == FiringState::Pending) {
            *state = FiringState::Superseded;
        }
        let before = std::mem::take(&mut self.timers);
        for (position, restored) in &then.timers {
            let again: Vec<Fired> = in_flight.iter().filter(|(_, of, _)| of == position).copied().collect();
            let now = before.get(position);
            let same = now.filter(|now| again.is_empty() && Timer { round: now.round, ..restored.clone() } == **now);
            let round = same.map_or_else(|| rounds[position], |same| same.round);
            if same.is_none() {
                let fired = self.firings.keys().filter(|(_, of, _)| of == position).map(|(.., round)| *round);
                let highest = fired.chain(now.map(|now| now.round)).max();
                assert!(highest.is_none_or(|highest| highest < round), "{position}: {highest:?}, and then {round}");
            }
            self.timers.insert(*position, Timer { round, ..restored.clone() });
            for (due, position, was) in again {
                let fired = (due, position, was + round - restored.round);
                assert_eq!(self.firings.insert(fired, FiringState::Pending), None, "{fired:?} is another one");
            }
        }
    }

    /// Returns what a fork inherits. Finished firings are not inherited.
    pub(super) fn fork(&self) -> Self {
        let in_flight = self.pending();
        let is_taken =
            |position: u64, timer: &Timer| timer.next.is_some() || in_flight.iter().any(|(_, of, _)| *of == position);
        let timers = self.timers.iter().filter(|(position, timer)| is_taken(**position, timer));
        Self {
            timers: timers.map(|(position, timer)| (*position, timer.clone())).collect(),
            firings: in_flight.iter().map(|fired| (*fired, FiringState::Pending)).collect(),
            base: self.base,
            sends_from: self.sends_from,
        }
    }

    /// Returns the firings without an outcome, in delivery order.
    pub(super) fn pending(&self) -> Vec<Fired> {
        let pending = self.firings.iter().filter(|(_, state)| **state == FiringState::Pending);
        pending.map(|(fired, _)| *fired).collect()
    }
}
