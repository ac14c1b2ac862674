//! Rows of timers, made anew from the entries of a timeline that comes from elsewhere.
//!
//! As rows are believed, what no service wrote is refused: a timer that cannot be read would keep others from falling due.

use std::collections::{BTreeSet, HashMap, HashSet};

use timenav_core::ids::TimerId;
use timenav_core::ledger::sha256;
use timenav_core::limits::{
    RESTORED_FIRINGS_MAX, TIMER_ORDER_KEY_BYTES_MAX, TIMER_PAYLOAD_BYTES_MAX, TIMERS_PER_TIMELINE_MAX,
};
use timenav_core::timers::Timers;

use crate::payload::schedule_of;
use crate::timer_rows::{FiringEnd, FiringRow, TimerMove, TimerRow, TimerRows};

#[cfg(test)]
mod tests;

/// What stands for the name of a timer: sixteen bytes of its hash.
type NameHash = [u8; 16];

/// The round of a firing, and its moment in microseconds.
type Fired = (u32, i64);

/// Rows that entries made.
#[derive(Default)]
pub(super) struct TimersMade {
    pub(super) rows: TimerRows,
    /// The names of timers that are there, by position.
    known: HashMap<u64, NameHash>,
    /// The last firing of each timer that fired, whether it is there or not: it may come back.
    last: HashMap<u64, Fired>,
    names: HashMap<NameHash, u64>,
    /// Timers that were taken away before an entry said so: another one of the name came back first.
    early: HashSet<u64>,
    /// What is wrong with one.
    wrong: Option<String>,
}

impl TimersMade {
    /// Puts a timer whose parts are all told, by an entry that sets or changes it.
    pub(super) fn set(&mut self, row: &TimerRow) {
        if self.other_of_name(row).is_some() {
            self.refuse(row, "is set twice");
        }
        self.put(row);
    }

    /// Puts a timer that comes back. Another one of its name goes, as another record of the entry says, or the next entry.
    pub(super) fn set_again(&mut self, row: &TimerRow) {
        if let Some(other) = self.other_of_name(row) {
            self.gone(other);
            self.early.insert(other);
        }
        self.put(row);
    }

    /// Returns the position of another timer of the name of one.
    fn other_of_name(&self, row: &TimerRow) -> Option<u64> {
        self.names.get(&name_hash(&row.timer_id)).copied().filter(|position| *position != row.position)
    }

    fn put(&mut self, row: &TimerRow) {
        let name = name_hash(&row.timer_id);
        match self.known.get(&row.position) {
            Some(known) if *known == name => {}
            Some(_) => self.refuse(row, "is another one from there on"),
            None => {
                self.names.insert(name, row.position);
                self.known.insert(row.position, name);
            }
        }
        let lengths = [row.schedule.len(), row.deliver.len(), row.payload.len()];
        if lengths.into_iter().any(|bytes| bytes > TIMER_PAYLOAD_BYTES_MAX) {
            self.refuse(row, "is too large");
        }
        if row.order_key.as_ref().is_some_and(|key| key.len() > TIMER_ORDER_KEY_BYTES_MAX) {
            self.refuse(row, "has an `order_key` that is too long");
        }
        if schedule_of(row).is_none() {
            self.refuse(row, "has a schedule that cannot be read");
        }
        self.rows.set.push(row.clone());
    }

    /// Takes a timer on to another moment, or to none. What it is stays.
    pub(super) fn moved(&mut self, row: &TimerRow) {
        let TimerRow { position, next, round, is_cancelled, .. } = *row;
        self.rows.moved.push(TimerMove { position, next, round, is_cancelled });
    }

    /// Takes a timer away, and its name with it.
    pub(super) fn gone(&mut self, position: u64) {
        if self.early.remove(&position) {
            return;
        }
        if let Some(name) = self.known.remove(&position) {
            self.names.remove(&name);
        }
        self.rows.gone.push(position);
    }

    /// Takes a moment that fell due. In a round, those of one timer come in their order.
    pub(super) fn fired(&mut self, firing: &FiringRow) {
        let fired = fired_of(firing);
        if self.last.insert(firing.fallen.position, fired).is_some_and(|before| before >= fired) {
            self.refuse_firing(firing);
        }
        self.rows.fired.push(firing.clone());
    }

    /// Takes firings that come again by one entry, in any order: in rounds that their timers did not have.
    pub(super) fn fired_again(&mut self, firings: &[FiringRow]) {
        let mut again: HashMap<u64, BTreeSet<Fired>> = HashMap::new();
        for firing in firings {
            let (position, fired) = (firing.fallen.position, fired_of(firing));
            let is_had = self.last.get(&position).is_some_and(|(round, _)| *round >= fired.0);
            if is_had || !again.entry(position).or_default().insert(fired) {
                self.refuse_firing(firing);
            }
            self.rows.fired.push(firing.clone());
        }
        let last = again.into_iter().filter_map(|(position, fired)| Some((position, *fired.last()?)));
        self.last.extend(last);
    }

    fn refuse_firing(&mut self, firing: &FiringRow) {
        let timer_id = &firing.timer_id;
        self.wrong.get_or_insert_with(|| format!("the timer `{timer_id}` fires again for a moment that it had"));
    }

    /// Takes the outcome of a firing, told by the entry at a position.
    pub(super) fn settled(&mut self, firing: &FiringRow, settled: u64) {
        let FiringRow { fallen, state, ref reason, .. } = *firing;
        self.rows.settled.push(FiringEnd { fallen, state, settled, reason: reason.clone() });
    }

    /// Returns the rows that were made since the last time. `state` is what is known of timers by now, and `is_restored`
    /// says whether the last entry restored timers.
    ///
    /// # Errors
    /// What no service keeps, or this one does not adopt.
    pub(super) fn take(&mut self, state: &Timers, is_restored: bool) -> Result<TimerRows, String> {
        if !is_restored && !self.early.is_empty() {
            return Err("timers of the same name are there".to_owned());
        }
        if state.armed > TIMERS_PER_TIMELINE_MAX as u64 {
            return Err(format!("a timeline can have at most {TIMERS_PER_TIMELINE_MAX} armed timers"));
        }
        if state.pending > RESTORED_FIRINGS_MAX as u64 {
            return Err(format!(
                "more than {RESTORED_FIRINGS_MAX} firings have no outcome, which is too many to take along"
            ));
        }
        self.wrong.take().map_or_else(|| Ok(std::mem::take(&mut self.rows)), Err)
    }

    fn refuse(&mut self, row: &TimerRow, what: &str) {
        self.wrong.get_or_insert_with(|| format!("the timer `{}` {what}", row.timer_id));
    }
}

/// Returns what one firing of a timer differs from another by.
const fn fired_of(firing: &FiringRow) -> Fired {
    (firing.fallen.round, firing.fallen.due.micros())
}

/// Returns what stands for the name of a timer.
fn name_hash(timer_id: &TimerId) -> NameHash {
    let mut short = NameHash::default();
    short.copy_from_slice(&sha256(&[timer_id.as_str().as_bytes()]).as_bytes()[..size_of::<NameHash>()]);
    short
}
