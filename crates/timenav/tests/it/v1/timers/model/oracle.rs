//! The model of timers: a list of moments, independent of how the service finds them.

use std::collections::BTreeMap;

use super::super::plans::{Plan, To, UNCLAIMED_QUEUES, When};
use crate::support::dice::Dice;

/// How rule moments that a clock jumps over are handled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Misfire {
    All,
    Once,
    Skip,
}

impl Misfire {
    pub(super) const ALL: [(Self, &'static str); 3] = [(Self::All, "all"), (Self::Once, "once"), (Self::Skip, "skip")];
}

/// The behavior of a firing's target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    Prompt,
    /// Extends its lease first.
    Slow,
    /// The first attempt fails.
    FailsOnce,
    /// Every attempt fails.
    Fails,
    /// The first worker never responds again.
    Vanishes,
}

impl Fate {
    /// Returns the behavior for a timer at a moment of an advance. Jumped-over firings are simply acknowledged.
    pub(super) fn of(timer_id: &str, due: i64) -> Self {
        let seed = timer_id.bytes().fold(due.unsigned_abs(), |seed, byte| seed.wrapping_mul(31) + u64::from(byte));
        match Dice::new(seed).below(60) {
            0 => Self::Fails,
            1 => Self::FailsOnce,
            2 => Self::Vanishes,
            3..20 => Self::Slow,
            _ => Self::Prompt,
        }
    }
}

#[derive(Clone, Debug)]
pub(super) struct Timer {
    pub(super) plan: Plan,
    pub(super) misfire: Misfire,
    /// Among timers with a single moment, the one set first fires first.
    pub(super) position: u64,
    pub(super) next: Option<i64>,
    pub(super) is_cancelled: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Firing {
    pub(super) timer_id: String,
    pub(super) due: i64,
    pub(super) state: &'static str,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Model {
    pub(super) now: i64,
    pub(super) timers: BTreeMap<String, Timer>,
    pub(super) firings: Vec<Firing>,
}

impl Model {
    /// Sets a timer. If its only moment has passed, it fires at once.
    pub(super) fn set(&mut self, plan: Plan, misfire: Misfire, position: u64) {
        let next = plan.when.first(self.now);
        let timer_id = plan.timer_id.clone();
        self.timers.insert(timer_id, Timer { plan, misfire, position, next, is_cancelled: false });
        self.jump(self.now);
    }

    pub(super) fn change(&mut self, timer_id: &str, when: When, misfire: Misfire) {
        let next = when.first(self.now);
        let timer = self.timers.get_mut(timer_id).expect("it is known");
        (timer.plan.when, timer.misfire, timer.next) = (when, misfire, next);
    }

    pub(super) fn cancel(&mut self, timer_id: &str) {
        let timer = self.timers.get_mut(timer_id).expect("it is known");
        timer.is_cancelled = timer.next.take().is_some();
    }

    /// Returns what fires on the way to a moment, if the clock stops at each instant.
    pub(super) fn foreseen(&self, to: i64) -> Vec<Firing> {
        let moments = |timer: &Timer| {
            let (timer_id, position) = (timer.plan.timer_id.clone(), timer.position);
            let due = timer.plan.when.moments(timer.next, to).into_iter();
            due.map(move |due| (due, position, timer_id.clone())).collect::<Vec<_>>()
        };
        let mut all: Vec<(i64, u64, String)> = self.timers.values().flat_map(moments).collect();
        all.sort();
        let firing = |(due, _, timer_id): (i64, u64, String)| {
            let state = match self.timers[&timer_id].plan.to {
                To::Queue(UNCLAIMED_QUEUES) => "pending",
                To::Queue(_) if Fate::of(&timer_id, due) == Fate::Fails => "failed",
                To::Queue(_) | To::Timeline => "acknowledged",
            };
            Firing { timer_id, due, state }
        };
        all.into_iter().map(firing).collect()
    }

    /// Advances the clock past each instant. Returns what fires.
    pub(super) fn advance(&mut self, to: i64) -> Vec<Firing> {
        let fired = self.foreseen(to);
        self.firings.extend(fired.iter().cloned());
        self.pass(to);
        fired
    }

    /// Jumps the clock over everything due on the way.
    pub(super) fn jump(&mut self, to: i64) {
        for firing in self.foreseen(to) {
            let timer = &self.timers[&firing.timer_id];
            let is_alone = timer.plan.when.moments(timer.next, to).len() == 1;
            let is_last = timer.plan.when.after(firing.due).is_none_or(|next| next > to);
            let fires = match timer.misfire {
                Misfire::All => true,
                Misfire::Once => is_alone || is_last,
                Misfire::Skip => is_alone,
            };
            if fires {
                let state = if firing.state == "failed" { "acknowledged" } else { firing.state };
                self.firings.push(Firing { state, ..firing });
            }
        }
        self.pass(to);
    }

    fn pass(&mut self, to: i64) {
        self.now = to;
        for timer in self.timers.values_mut() {
            if let Some(last) = timer.plan.when.moments(timer.next, to).last() {
                // A timer with a single moment has no other, even if the clock went back before it.
                timer.next = if let When::Once(_) = timer.plan.when { None } else { timer.plan.when.after(*last) };
            }
        }
    }

    /// Rewinds the clock. With `refire`, timers re-arm.
    pub(super) fn rewind(&mut self, to: i64, refire: bool) {
        self.now = to;
        if !refire {
            return;
        }
        for timer in self.timers.values_mut().filter(|timer| !timer.is_cancelled) {
            let when = &timer.plan.when;
            let is_own = |due: i64| when.after(due - 1) == Some(due) && timer.next.is_none_or(|next| due < next);
            let comes_again =
                |one: &&mut Firing| one.timer_id == timer.plan.timer_id && one.due > to && is_own(one.due);
            let mut earliest: Option<i64> = None;
            for firing in self.firings.iter_mut().filter(comes_again) {
                earliest = Some(earliest.map_or(firing.due, |earliest| earliest.min(firing.due)));
                if firing.state == "pending" {
                    firing.state = "superseded";
                }
            }
            timer.next = earliest.or(timer.next);
        }
    }

    /// Returns the forked timeline: finished timers are not inherited.
    pub(super) fn fork(&self) -> Self {
        let firings: Vec<Firing> = self.firings.iter().filter(|one| one.state == "pending").cloned().collect();
        let is_taken =
            |timer: &Timer| timer.next.is_some() || firings.iter().any(|firing| firing.timer_id == timer.plan.timer_id);
        let timers = self.timers.iter().filter(|(_, timer)| is_taken(timer));
        Self { now: self.now, timers: timers.map(|(id, timer)| (id.clone(), timer.clone())).collect(), firings }
    }

    /// Returns pending firings in delivery order.
    pub(super) fn pending(&self) -> Vec<(i64, u64, String)> {
        let pending = self.firings.iter().filter(|one| one.state == "pending");
        let placed = |one: &Firing| (one.due, self.timers[&one.timer_id].position, one.timer_id.clone());
        let mut pending: Vec<(i64, u64, String)> = pending.map(placed).collect();
        pending.sort();
        pending
    }

    /// Returns armed timers in firing order.
    pub(super) fn armed(&self) -> Vec<(String, i64)> {
        let armed = self.timers.values().filter_map(|timer| Some((timer.next?, timer.position, &timer.plan.timer_id)));
        let mut armed: Vec<_> = armed.collect();
        armed.sort_unstable();
        armed.into_iter().map(|(next, _, timer_id)| (timer_id.clone(), next)).collect()
    }
}
