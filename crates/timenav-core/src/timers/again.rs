//! Recurring moments: a clock is rewound, history returns to an anchor, or a timeline is forked.
//!
//! Firings keep their outcomes. A moment that recurs creates another firing, in another round of its timer, so that
//! consumers that drop duplicates do not drop the new firing.

use std::collections::{BTreeMap, BTreeSet};

use super::{DueFiring, Timer, Timers};
use crate::limits::{RESTORE_SCANNED_MAX, RESTORED_BYTES_MAX, RESTORED_FIRINGS_MAX, TIMERS_PER_TIMELINE_MAX};
use crate::time::{Instant, Virtual};

impl Timer {
    /// Returns whether a rewind to `destination` returns the timer to its moment `due`, which fell due before. Of
    /// several such moments the timer returns to the earliest. A moment of a previous schedule does not count.
    #[must_use]
    pub fn returns_to(&self, due: Instant<Virtual>, destination: Instant<Virtual>) -> bool {
        due > destination && self.next.is_none_or(|next| due < next) && self.schedule.has(due)
    }
}

impl Timers {
    pub fn supersede(&mut self, count: u64) {
        self.pending = self.pending.saturating_sub(count);
    }
}

/// A timer's earlier state. `D` is the rest of its definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PreviousState<D> {
    /// `None` if unchanged.
    pub definition: Option<D>,
    /// Its next moment, if it had one.
    pub next: Option<Instant<Virtual>>,
    /// `None` if unchanged.
    pub round: Option<u32>,
    pub is_cancelled: bool,
}

/// Reconstructs the timers of a timeline at an earlier position: the current ones, with later entries undone. Entries
/// are passed newest first, each with the previous state of what it changed.
#[derive(Clone, Debug)]
pub struct Undo<D> {
    /// Timers that were changed. `None` for timers that did not exist.
    timers: BTreeMap<u64, Option<PreviousState<D>>>,
    /// The highest round that each of them has had since.
    rounds: BTreeMap<u64, u32>,
    /// Firings that were pending, according to the entries.
    pending: BTreeSet<DueFiring>,
    /// Firings that did not exist.
    made: BTreeSet<DueFiring>,
}

impl<D> Default for Undo<D> {
    fn default() -> Self {
        Self { timers: BTreeMap::new(), rounds: BTreeMap::new(), pending: BTreeSet::new(), made: BTreeSet::new() }
    }
}

impl<D> Undo<D> {
    /// Undoes the setting of a timer.
    pub fn set(&mut self, position: u64) {
        self.timers.insert(position, None);
    }

    /// Undoes a change to a timer. `None` if it did not exist before.
    pub fn record_state(&mut self, position: u64, before: Option<PreviousState<D>>) {
        let round = before.as_ref().and_then(|before| before.round).unwrap_or_default();
        let highest = self.rounds.entry(position).or_default();
        *highest = round.max(*highest);
        // Fields that this entry did not change keep their later value.
        let later = self.timers.remove(&position).flatten();
        let before = before.map(|before| match later {
            Some(later) => PreviousState {
                definition: before.definition.or(later.definition),
                round: before.round.or(later.round),
                ..before
            },
            None => before,
        });
        self.timers.insert(position, before);
    }

    /// Undoes a timer's move past a moment.
    pub fn passed(&mut self, position: u64, moment: Instant<Virtual>, round: Option<u32>) {
        self.record_state(
            position,
            Some(PreviousState { definition: None, next: Some(moment), round, is_cancelled: false }),
        );
    }

    /// Undoes the creation of a firing.
    pub fn made(&mut self, due_firing: DueFiring) {
        self.pending.remove(&due_firing);
        self.made.insert(due_firing);
    }

    pub fn settled(&mut self, due_firing: DueFiring) {
        self.pending.insert(due_firing);
    }

    /// Returns the timers that were changed, by position. `None` for timers that did not exist.
    #[must_use]
    pub const fn timers(&self) -> &BTreeMap<u64, Option<PreviousState<D>>> {
        &self.timers
    }

    /// Returns the firings that were pending, given those that are pending `now`.
    pub fn pending(&self, now: impl IntoIterator<Item = DueFiring>) -> BTreeSet<DueFiring> {
        let mut pending = self.pending.clone();
        pending.extend(now);
        pending.retain(|due_firing| !self.made.contains(due_firing));
        pending
    }

    /// Returns the highest round that a timer is known to have had, given its current round, if it exists.
    #[must_use]
    pub fn highest_round(&self, position: u64, now: Option<u32>) -> Option<u32> {
        now.into_iter().chain(self.rounds.get(&position).copied()).max()
    }
}

/// Returns the increment to the rounds of a recurring timer that gives all its firings new ids. `highest` is the
/// highest round so far, `rounds` are the rounds that recur.
pub fn rounds_grow_by(highest: u32, rounds: impl IntoIterator<Item = u32>) -> u32 {
    let lowest = rounds.into_iter().min().unwrap_or(highest);
    (highest + 1).saturating_sub(lowest)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooMuch {
    pub what: &'static str,
    pub max: usize,
}

/// The volume of a restore so far, checked against its limits.
#[derive(Clone, Copy, Debug, Default)]
pub struct Room {
    timers: usize,
    bytes: usize,
    firings: usize,
    examined: usize,
}

impl Room {
    /// Counts a timer of that size.
    ///
    /// # Errors
    /// A limit is exceeded.
    pub fn timer(&mut self, bytes: usize) -> Result<(), TooMuch> {
        self.timers += 1;
        self.bytes += bytes;
        within(self.timers, "timers to restore", TIMERS_PER_TIMELINE_MAX)?;
        within(self.bytes, "bytes of timers to restore", RESTORED_BYTES_MAX)
    }

    /// Counts a pending firing.
    ///
    /// # Errors
    /// The limit is exceeded.
    pub fn firing(&mut self) -> Result<(), TooMuch> {
        self.firings += 1;
        within(self.firings, "firings without an outcome", RESTORED_FIRINGS_MAX)
    }

    /// Counts rows that were read.
    ///
    /// # Errors
    /// The limit is exceeded.
    pub fn look(&mut self, count: usize) -> Result<(), TooMuch> {
        self.examined += count;
        within(self.examined, "firings and changes of timers since then", RESTORE_SCANNED_MAX)
    }
}

const fn within(count: usize, what: &'static str, max: usize) -> Result<(), TooMuch> {
    if count > max { Err(TooMuch { what, max }) } else { Ok(()) }
}
