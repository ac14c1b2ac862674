//! Timer firings: their effects, and whether they still occur.
//!
//! A firing is not an event. Events name it as a cause by its id. The event that a timer records has the same id, and
//! is an effect of the firing without naming it. A firing occurs until its moment is revoked.

use crate::ids::{AnchorId, TimerId};
use crate::paradox::report::{Taken, TimerDetail};
use crate::paradox::site::Map;
use crate::time::{Instant, Virtual};
use crate::timers::DueFiring;

#[derive(Debug, Default)]
pub(in crate::paradox) struct Firings {
    pub(in crate::paradox) base: u64,
    timers: Map<u64, Timer>,
    of: Map<u32, Firing>,
    anchors: Map<AnchorId, u64>,
    /// The anchor and the position of the last return. One return can have several records.
    pub(in crate::paradox) returned: Option<(u64, u64)>,
}

#[derive(Debug, Default)]
struct Timer {
    id: Option<TimerId>,
    /// In the order of the ledger.
    fired: Vec<u32>,
}

#[derive(Clone, Debug)]
pub(in crate::paradox) struct Firing {
    timer: u64,
    pub(in crate::paradox) round: u32,
    pub(in crate::paradox) due: Instant<Virtual>,
    pub(in crate::paradox) position: u64,
    /// When it was revoked and restored, in ledger order. Most firings never are.
    pub(in crate::paradox) changes: Vec<(u64, Option<Taken>)>,
}

impl Firing {
    /// Returns when and how it was revoked, if it does not occur anymore.
    pub(in crate::paradox) fn taken(&self) -> Option<(u64, Taken)> {
        let (position, taken) = self.changes.last()?;
        Some((*position, (*taken)?))
    }

    /// Returns whether it occurred at a ledger position.
    fn existed_at(&self, position: u64) -> bool {
        let last = self.changes.iter().rfind(|(at, _)| *at <= position);
        self.position <= position && last.is_none_or(|(_, taken)| taken.is_none())
    }
}

impl Firings {
    pub(in crate::paradox) fn get(&self, node: u32) -> Option<&Firing> {
        self.of.get(&node)
    }

    pub(in crate::paradox) fn anchor_set(&mut self, anchor_id: &AnchorId, position: u64) {
        self.anchors.insert(anchor_id.clone(), position);
    }

    pub(in crate::paradox) fn put_back(&mut self, node: u32, before: Option<Firing>) {
        if let Some(before) = before {
            self.of.insert(node, before);
        } else {
            let removed = self.of.remove(&node);
            // The latest firing is always undone first.
            removed.and_then(|removed| self.timers.get_mut(&removed.timer)?.fired.pop());
        }
    }

    pub(in crate::paradox) fn name(&mut self, entry: u64, timer_id: &TimerId) {
        self.timers.entry(self.base + entry).or_default().id = Some(timer_id.clone());
    }

    /// Creates a firing, unless it is known already.
    pub(in crate::paradox) fn made(&mut self, node: u32, position: u64, due_firing: DueFiring) -> Option<Firing> {
        if self.of.contains_key(&node) {
            return None;
        }
        let DueFiring { due, position: timer, round } = due_firing;
        self.timers.entry(timer).or_default().fired.push(node);
        Some(Firing { timer, round, due, position, changes: Vec::new() })
    }

    /// Returns the firings that differ from their state when an anchor was set: those to restore, and those to revoke.
    /// `None` if the record belongs to the same return as the previous one.
    pub(in crate::paradox) fn return_to(
        &mut self,
        anchor_id: &AnchorId,
        position: u64,
    ) -> Option<(Vec<u32>, Vec<u32>)> {
        let anchor = *self.anchors.get(anchor_id)?;
        let is_same = self.returned == Some((anchor, position.saturating_sub(1)));
        self.returned = Some((anchor, position));
        if is_same {
            return None;
        }
        let differs = |(node, one): (&u32, &Firing)| (one.existed_at(anchor) != one.taken().is_none()).then_some(*node);
        let mut differing: Vec<u32> = self.of.iter().filter_map(differs).collect();
        differing.sort_unstable();
        Some(differing.into_iter().partition(|node| self.get(*node).is_some_and(|one| one.existed_at(anchor))))
    }

    pub(in crate::paradox) fn of_timer(&self, timer: u64, is_so: impl Fn(&Firing) -> bool) -> Vec<u32> {
        let fired = self.timers.get(&timer).map_or(&[][..], |timer| &timer.fired);
        let is_match = |node: &&u32| self.get(**node).is_some_and(|one| one.taken().is_none() && is_so(one));
        fired.iter().filter(is_match).copied().collect()
    }

    pub(in crate::paradox) fn timer_detail(&self, node: u32) -> Option<TimerDetail> {
        let firing = self.get(node)?;
        let timer_id = self.timers.get(&firing.timer)?.id.clone();
        Some(TimerDetail { timer_id, due: firing.due, taken: firing.taken().map(|(_, taken)| taken) })
    }

    /// Returns the ledger positions at which a firing was created and revoked.
    pub(in crate::paradox) fn positions(&self, node: u32) -> impl Iterator<Item = u64> {
        let firing = self.get(node);
        let taken = firing.and_then(Firing::taken).map(|(position, _)| position);
        firing.map(|firing| firing.position).into_iter().chain(taken)
    }
}
