//! Projection of an entry: the rows that it creates or ends, and its effect on the state of its timeline.
//!
//! The writer commits the result of these functions, and a scan compares the tables with it. The functions are pure:
//! they take the entry and, if needed, the previous rows by value.
//!
//! Not projected, because no entry contains it: the bytes of sealed records, the marks of sweeps, stored outcomes of
//! requests, and secrets of credentials. Users, credentials and the list of timelines follow from the entries of
//! `system`, by [`DirectoryChange`](crate::access::directory::DirectoryChange).

use std::collections::HashMap;
use std::sync::Arc;

use timenav_core::access::Permissions;
use timenav_core::anchor::Anchor;
use timenav_core::clock::Clock;
use timenav_core::ledger::Retention;
use timenav_core::time::{Instant, Wall};
use timenav_core::timers::{DueFiring, Timers};

use crate::ledger::payload::{FaultRecord, FaultSet, StatePayload, TimelineCreated, faults_of, whose};
use crate::ports::timer_rows::{FiringRow, TimerRow, TimerRows};
use crate::requests::stored::try_map;

mod clock;
mod events;
mod timers;

pub(crate) use events::{EventChange, EventMade};

#[derive(Clone, Copy)]
pub(crate) struct Entry<'a> {
    /// The timeline as stored.
    pub(crate) timeline: &'a str,
    pub(crate) position: u64,
    pub(crate) recorded_at: Instant<Wall>,
    pub(crate) actor: &'a str,
}

/// The state before an entry.
#[derive(Clone, Copy)]
pub(crate) struct Before<'a> {
    /// `None` in a replay that begins in the middle, until an entry records the clock.
    pub(crate) clock: Option<&'a Clock>,
    pub(crate) timers: &'a Timers,
    pub(crate) rows: &'a dyn TimerRowsBefore,
}

/// The rows of timers and firings that the entry names, as they were before it.
pub(crate) trait TimerRowsBefore {
    fn timer(&self, position: u64) -> Option<&TimerRow>;

    fn firing(&self, due_firing: &DueFiring) -> Option<&FiringRow>;
}

#[derive(Default)]
pub(crate) struct KnownTimerRows<'a> {
    timers: HashMap<u64, &'a TimerRow>,
    firings: HashMap<DueFiring, &'a FiringRow>,
}

impl<'a> KnownTimerRows<'a> {
    pub(crate) fn of_timers(timers: impl IntoIterator<Item = &'a TimerRow>) -> Self {
        Self { timers: timers.into_iter().map(|timer| (timer.position, timer)).collect(), ..Self::default() }
    }

    pub(crate) fn of_firings(firings: impl IntoIterator<Item = &'a FiringRow>) -> Self {
        Self { firings: firings.into_iter().map(|firing| (firing.due_firing, firing)).collect(), ..Self::default() }
    }
}

impl TimerRowsBefore for KnownTimerRows<'_> {
    fn timer(&self, position: u64) -> Option<&TimerRow> {
        self.timers.get(&position).copied()
    }

    fn firing(&self, due_firing: &DueFiring) -> Option<&FiringRow> {
        self.firings.get(due_firing).copied()
    }
}

/// What an entry changes. `None` if unchanged.
#[derive(Default)]
pub(crate) struct Changes {
    /// The clock that the entry records, which may be the same as before.
    pub(crate) clock: Option<Clock>,
    pub(crate) permissions: Option<Permissions>,
    pub(crate) anchor: Option<Anchor>,
    pub(crate) retention: Option<Retention>,
    pub(crate) sealed: Option<SealedRow>,
    /// The summary after the entry. Its `next` is that of the timers set by the entry, or from before: the earliest of
    /// all armed timers is known only to the caller.
    pub(crate) timers: Option<Timers>,
    pub(crate) timer_rows: TimerRows,
}

/// The key of a sealed record, and the hash of its content as hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SealedRow {
    pub(crate) data_id: String,
    pub(crate) sha256: String,
}

/// Returns what follows from an entry; `None` if its payload is invalid, or does not follow from the state before.
pub(crate) fn project(payload: &StatePayload<'_>, entry: Entry<'_>, before: Before<'_>) -> Option<Changes> {
    Some(match payload {
        StatePayload::Created(created) => timeline_created(created)?,
        StatePayload::Clock(changed) => clock::changed(changed, entry, before)?,
        StatePayload::AdvanceEnded(ended) => clock::advance_ended(ended, entry, before)?,
        StatePayload::Anchor(set) => {
            Changes { anchor: Some(set.anchor(entry.position, entry.recorded_at)?), ..Changes::default() }
        }
        StatePayload::Permissions(set) => Changes { permissions: Some(set.permissions()?), ..Changes::default() },
        StatePayload::Retention(retention) => Changes { retention: Some(*retention), ..Changes::default() },
        StatePayload::Sealed(sealed) => {
            let row = SealedRow { data_id: sealed.data_id.clone(), sha256: sealed.sha256.clone() };
            Changes { sealed: Some(row), ..Changes::default() }
        }
        StatePayload::Fault(set) => fault_set(set, entry, before)?,
        StatePayload::TimerSet(set) => timers::set(set, entry, before)?,
        StatePayload::TimerChanged(set) => timers::changed(set, entry, before)?,
        StatePayload::TimerCancelled(cancelled) => timers::cancelled(cancelled, entry, before)?,
        StatePayload::TimersFired(fired) => timers::fired(fired, entry, before)?,
        StatePayload::FiringsSettled(settled) => timers::settled(settled, entry, before)?,
        StatePayload::TimersRestored(restored) => timers::restored(restored, entry, before)?,
    })
}

/// The state of a new timeline. Timers that a fork inherits are restored by later entries.
fn timeline_created(created: &TimelineCreated) -> Option<Changes> {
    let fork = created.fork.as_ref();
    let base = fork.and_then(|fork| fork.timers_base).unwrap_or_default();
    let sends_from = fork.and_then(|fork| fork.webhooks_from).unwrap_or(base);
    let faults = faults_of(fork.map_or(&[], |fork| fork.faults.as_slice()))?.into();
    Some(Changes {
        clock: Some(created.clock.clock()?),
        permissions: Some(created.permissions.permissions()?),
        timers: Some(Timers { base, sends_from, faults, ..Timers::default() }),
        ..Changes::default()
    })
}

fn fault_set(set: &FaultSet, entry: Entry<'_>, before: Before<'_>) -> Option<Changes> {
    let fault = try_map(set.fault.as_ref(), FaultRecord::fault)?;
    let mut timers = before.timers.clone();
    Arc::make_mut(&mut timers.faults).set(entry.position, whose(&set.user_id, &set.follower)?, fault);
    Some(Changes { timers: Some(timers), ..Changes::default() })
}
