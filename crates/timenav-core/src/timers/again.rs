//! Moments that come again: a clock goes back, history returns to an anchor, a timeline is forked.
//!
//! What was decided stays decided: firings keep their outcomes. A moment that comes again makes another firing, in another
//! round of its timer, so that whoever drops repetitions does not drop what is new.

use std::collections::{BTreeMap, BTreeSet};

use super::{Fallen, Timer, Timers};
use crate::limits::{RESTORED_BYTES_MAX, RESTORED_FIRINGS_MAX, RESTORED_LOOKED_MAX, TIMERS_PER_TIMELINE_MAX};
use crate::time::{Instant, Virtual};

impl Timer {
    /// Returns whether the timer goes back to a moment of its own that fell due, where its clock goes back to a
    /// destination. Of several such moments it goes back to the earliest. A moment of a schedule that it had before is not
    /// its own any more.
    #[must_use]
    pub fn returns_to(&self, due: Instant<Virtual>, destination: Instant<Virtual>) -> bool {
        due > destination && self.next.is_none_or(|next| due < next) && self.schedule.has(due)
    }
}

impl Timers {
    /// A timer goes back to a moment. `was_armed` says whether it had one before.
    pub fn rearm(&mut self, was_armed: bool, next: Instant<Virtual>) {
        self.armed += u64::from(!was_armed);
        self.next = Some(self.next.map_or(next, |earliest| earliest.min(next)));
    }

    /// Moments of firings without an outcome come again.
    pub fn supersede(&mut self, count: u64) {
        self.pending = self.pending.saturating_sub(count);
    }
}

/// How a timer stood. `D` is what else is known of it beside its moments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stood<D> {
    /// What it was; `None` where it is still the same.
    pub definition: Option<D>,
    /// Its next moment, if it had one.
    pub next: Option<Instant<Virtual>>,
    /// Its round; `None` where it is still the same.
    pub round: Option<u32>,
    /// Whether it was cancelled.
    pub is_cancelled: bool,
}

/// The timers of a timeline at an earlier position: as they are, with what entries since then have done to them taken back.
/// The entries are told from the newest to the oldest, and each says how what it changed was before.
#[derive(Clone, Debug)]
pub struct Undo<D> {
    /// Timers that something was done to; `None` those that were not there.
    timers: BTreeMap<u64, Option<Stood<D>>>,
    /// The highest round that each of them has had since.
    rounds: BTreeMap<u64, u32>,
    /// Firings that had no outcome, as far as entries tell.
    pending: BTreeSet<Fallen>,
    /// Firings that were not there.
    made: BTreeSet<Fallen>,
}

impl<D> Default for Undo<D> {
    fn default() -> Self {
        Self { timers: BTreeMap::new(), rounds: BTreeMap::new(), pending: BTreeSet::new(), made: BTreeSet::new() }
    }
}

impl<D> Undo<D> {
    /// Takes back that a timer was set.
    pub fn set(&mut self, position: u64) {
        self.timers.insert(position, None);
    }

    /// Takes back whatever was done to a timer: it stood otherwise before, or was not there.
    pub fn stood(&mut self, position: u64, before: Option<Stood<D>>) {
        let round = before.as_ref().and_then(|before| before.round).unwrap_or_default();
        let highest = self.rounds.entry(position).or_default();
        *highest = round.max(*highest);
        // What has not changed since is still known.
        let later = self.timers.remove(&position).flatten();
        let before = before.map(|before| match later {
            Some(later) => Stood {
                definition: before.definition.or(later.definition),
                round: before.round.or(later.round),
                ..before
            },
            None => before,
        });
        self.timers.insert(position, before);
    }

    /// Takes back that a timer went on from a moment.
    pub fn passed(&mut self, position: u64, moment: Instant<Virtual>, round: Option<u32>) {
        self.stood(position, Some(Stood { definition: None, next: Some(moment), round, is_cancelled: false }));
    }

    /// Takes back that a firing was made.
    pub fn made(&mut self, fallen: Fallen) {
        self.pending.remove(&fallen);
        self.made.insert(fallen);
    }

    /// Takes back that a firing came to an outcome.
    pub fn settled(&mut self, fallen: Fallen) {
        self.pending.insert(fallen);
    }

    /// Returns the timers that something was done to, by position; `None` those that were not there.
    #[must_use]
    pub const fn timers(&self) -> &BTreeMap<u64, Option<Stood<D>>> {
        &self.timers
    }

    /// Returns the firings that had no outcome, where `now` are those that have none now.
    pub fn pending(&self, now: impl IntoIterator<Item = Fallen>) -> BTreeSet<Fallen> {
        let mut pending = self.pending.clone();
        pending.extend(now);
        pending.retain(|fallen| !self.made.contains(fallen));
        pending
    }

    /// Returns the highest round that a timer is known to have had, where it has `now`, if it is there.
    #[must_use]
    pub fn highest_round(&self, position: u64, now: Option<u32>) -> Option<u32> {
        now.into_iter().chain(self.rounds.get(&position).copied()).max()
    }
}

/// Returns by how much the rounds of a timer grow that comes again, so that none of its firings has the name of an earlier
/// one: `highest` is the highest round that it has had, `rounds` are those that come again.
pub fn rounds_grow_by(highest: u32, rounds: impl IntoIterator<Item = u32>) -> u32 {
    let lowest = rounds.into_iter().min().unwrap_or(highest);
    (highest + 1).saturating_sub(lowest)
}

/// What there is more of than may come again at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooMuch {
    /// What.
    pub what: &'static str,
    /// How much there may be of it.
    pub max: usize,
}

/// How much has come again so far.
#[derive(Clone, Copy, Debug, Default)]
pub struct Room {
    timers: usize,
    bytes: usize,
    firings: usize,
    looked: usize,
}

impl Room {
    /// Counts a timer with so many bytes.
    ///
    /// # Errors
    /// There is no room for it.
    pub fn timer(&mut self, bytes: usize) -> Result<(), TooMuch> {
        self.timers += 1;
        self.bytes += bytes;
        within(self.timers, "timers that stood otherwise", TIMERS_PER_TIMELINE_MAX)?;
        within(self.bytes, "bytes of timers that stood otherwise", RESTORED_BYTES_MAX)
    }

    /// Counts a firing without an outcome.
    ///
    /// # Errors
    /// There is no room for it.
    pub fn firing(&mut self) -> Result<(), TooMuch> {
        self.firings += 1;
        within(self.firings, "firings without an outcome", RESTORED_FIRINGS_MAX)
    }

    /// Counts what is looked through.
    ///
    /// # Errors
    /// It has been too much.
    pub fn look(&mut self, count: usize) -> Result<(), TooMuch> {
        self.looked += count;
        within(self.looked, "firings and changes of timers since then", RESTORED_LOOKED_MAX)
    }
}

const fn within(count: usize, what: &'static str, max: usize) -> Result<(), TooMuch> {
    if count > max { Err(TooMuch { what, max }) } else { Ok(()) }
}
