//! Keeps checkpoints outside after the responses, within the lag that the options allow.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::{Condvar, Mutex};
use timenav_core::ids::TimelineId;
use timenav_core::time::{Instant, Span, Wall};

use crate::ledger::head::TimelineState;
use crate::ports::wall_clock::WallClock;

/// Committed states whose checkpoints are not kept outside yet.
#[derive(Default)]
pub(crate) struct Keeper {
    pending: Mutex<Pending>,
    changed: Condvar,
}

#[derive(Default)]
struct Pending {
    /// The newest state of each timeline.
    states: HashMap<TimelineId, Arc<TimelineState>>,
    /// Since when a disk write has been in progress.
    keeping_since: Option<Instant<Wall>>,
    /// The number of additions, and how many of them are kept.
    added: u64,
    stored_size: u64,
    /// Whether a caller waits for the pending states.
    is_urgent: bool,
    is_closed: bool,
}

impl Keeper {
    /// Adds committed states, in their order. Waits if the disk write in progress takes longer than the lag, so that
    /// changes are not acknowledged faster than their checkpoints are kept.
    pub(crate) fn add(&self, states: &[Arc<TimelineState>], lag: Span, clock: &dyn WallClock) {
        let is_late =
            |pending: &mut Pending| pending.keeping_since.is_some_and(|since| clock.measured().since(since) > lag);
        let mut pending = self.pending.lock();
        self.changed.wait_while(&mut pending, is_late);
        pending.added += 1;
        let is_first = pending.states.is_empty();
        pending.states.extend(states.iter().map(|state| (state.head.id.clone(), Arc::clone(state))));
        // Later ones are taken together with the first.
        if is_first {
            self.changed.notify_all();
        }
    }

    /// Returns once everything added so far is kept outside, or keeping it has failed. Blocks the thread.
    pub(crate) fn flush(&self) {
        let mut pending = self.pending.lock();
        let added = pending.added;
        pending.is_urgent = pending.stored_size < added;
        self.changed.notify_all();
        // Not until nothing is pending: under load, that may never be.
        self.changed.wait_while(&mut pending, |pending| pending.stored_size < added);
    }

    /// Ends [`Keeper::run`] once everything added so far is kept.
    pub(crate) fn close(&self) {
        self.pending.lock().is_closed = true;
        self.changed.notify_all();
    }

    /// Passes states on to `keep`, a lag after the first of them was added, until the keeper is closed.
    pub(crate) fn run(&self, lag: Span, clock: &dyn WallClock, mut keep: impl FnMut(&[Arc<TimelineState>])) {
        let lag = Duration::from_micros(lag.micros().unsigned_abs());
        let mut pending = self.pending.lock();
        loop {
            self.changed.wait_while(&mut pending, |pending| pending.states.is_empty() && !pending.is_closed);
            self.changed.wait_while_for(&mut pending, |pending| !pending.is_urgent && !pending.is_closed, lag);
            let states: Vec<_> = std::mem::take(&mut pending.states).into_values().collect();
            let added = pending.added;
            pending.is_urgent = false;
            if states.is_empty() && pending.is_closed {
                return;
            }
            pending.keeping_since = Some(clock.measured());
            drop(pending);
            keep(&states);
            pending = self.pending.lock();
            pending.keeping_since = None;
            pending.stored_size = added;
            self.changed.notify_all();
        }
    }
}
