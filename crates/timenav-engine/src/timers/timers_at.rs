//! Computes the state of timers at an earlier position by undoing later changes.
//!
//! Each entry about timers names the previous one, and contains the previous state of what it changes. Only the entries
//! about timers since then have to be read.

use std::collections::BTreeMap;

use timenav_core::ledger::LeafRecord;
use timenav_core::time::{Instant, Virtual, parse_timestamp};
use timenav_core::timers::{DueFiring, PreviousState, Room, Undo};

use crate::engine::Engine;
use crate::ledger::action::{Action, OnTimers};
use crate::ledger::head::TimelineKey;
use crate::ledger::payload::{
    FiringsSettled, ForkRecord, TimelineCreated, TimerCancelled, TimerSet, TimersFired, TimersRestored, due_firing_of,
};
use crate::ports::facts::{FactsQuery, QueryOrigin};
use crate::ports::rows::StoredEntry;
use crate::ports::timer_rows::TimerRow;
use crate::requests::json::read;
use crate::requests::refusal::Refusal;
use crate::requests::stored::try_map;

const BLOCK_ENTRIES: u64 = 256;

#[derive(Clone, Copy, Debug)]
pub(crate) struct TimerEntries {
    pub(crate) key: TimelineKey,
    /// The first position of its own timers.
    pub(crate) base: u64,
    /// The newest of the entries.
    pub(crate) last: Option<u64>,
}

impl Engine {
    /// Undoes the changes by entries from a position on. Returns the last entry about timers before it.
    pub(crate) async fn take_back(
        &self,
        entries: TimerEntries,
        first: u64,
        (undo, room): (&mut Undo<TimerRow>, &mut Room),
    ) -> Result<Option<u64>, Refusal> {
        self.read_back(entries, first, room, |entry| taken_back(entry, entries.base, undo)).await
    }

    /// Reads entries about timers back to a position, from the newest on. Returns the last one before it.
    pub(crate) async fn read_back(
        &self,
        entries: TimerEntries,
        first: u64,
        room: &mut Room,
        mut look: impl FnMut(&StoredEntry) -> Option<AboutTimers> + Send,
    ) -> Result<Option<u64>, Refusal> {
        let TimerEntries { key, last, .. } = entries;
        let (mut next, mut block) = (last, 1);
        while let Some(end) = next.filter(|position| *position >= first) {
            let from = (end + 1).saturating_sub(block).max(first);
            let positions = (from..=end).map(|position| (key, position)).collect();
            let found = self
                .store()
                .facts(FactsQuery { entries: positions, ..FactsQuery::default() }, QueryOrigin::Reader)
                .await?;
            let found: BTreeMap<u64, StoredEntry> =
                found.entries.into_iter().flatten().map(|entry| (entry.seq, entry)).collect();
            let mut read = 0;
            while let Some(position) = next.filter(|position| *position >= from) {
                let entry = found.get(&position).ok_or_else(|| unreadable(position))?;
                let info = look(entry).ok_or_else(|| unreadable(position))?;
                next = info.entry_info().ok_or_else(|| unreadable(position))?.before;
                if next.is_some_and(|before| before >= position) {
                    return Err(unreadable(position));
                }
                read += 1;
            }
            room.look(read)?;
            // If entries about timers are dense, read more at a time.
            block = if read as u64 * 2 >= block { (block * 2).min(BLOCK_ENTRIES) } else { 1 };
        }
        Ok(next)
    }

    pub(crate) async fn forked(&self, key: TimelineKey) -> Result<Option<ForkRecord>, Refusal> {
        let query = FactsQuery { entries: vec![(key, 0)], ..FactsQuery::default() };
        let first = self.store().facts(query, QueryOrigin::Reader).await?.entries.pop().flatten();
        let created = first.and_then(|first| read::<TimelineCreated>(&first.payload));
        Ok(created.ok_or_else(|| unreadable(0))?.fork)
    }
}

fn unreadable(position: u64) -> Refusal {
    Refusal::Damaged(format!("entry {position} cannot be read"))
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct TimerEntryInfo {
    pub(crate) before: Option<u64>,
    /// Whether it changed definitions of timers, and not only their state.
    pub(crate) defines: bool,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum AboutTimers {
    Nothing,
    Entry(TimerEntryInfo),
}

impl AboutTimers {
    pub(crate) const fn entry_info(self) -> Option<TimerEntryInfo> {
        match self {
            Self::Nothing => None,
            Self::Entry(info) => Some(info),
        }
    }

    pub(crate) const fn as_the_first(self) -> Self {
        match self {
            Self::Nothing => Self::Nothing,
            Self::Entry(info) => Self::Entry(TimerEntryInfo { before: None, ..info }),
        }
    }
}

/// Returns `None` if it cannot be parsed.
pub(crate) fn taken_back(entry: &StoredEntry, base: u64, undo: &mut Undo<TimerRow>) -> Option<AboutTimers> {
    let record = LeafRecord::decode(&entry.leaf).ok()?;
    let payload = entry.payload.as_slice();
    let (before, defines) = match Action::of(&record).and_then(Action::on_timers) {
        Some(OnTimers::Sets) => {
            undo.set(base + entry.seq);
            (read::<TimerSet<'_>>(payload)?.before(), false)
        }
        Some(OnTimers::Changes) => {
            let timer_set: TimerSet<'_> = read(payload)?;
            undo.record_state(timer_set.changes()?, Some(timer_set.previous_state()?));
            (timer_set.before(), true)
        }
        Some(OnTimers::Cancels) => {
            let timer_set: TimerCancelled = read(payload)?;
            undo.passed(timer_set.position, parse_timestamp(timer_set.next.as_ref()?).ok()?, None);
            (timer_set.before, false)
        }
        Some(OnTimers::Fires) => {
            let timer_set: TimersFired = read(payload)?;
            taken_back_firings(&timer_set, undo)?;
            (timer_set.before, false)
        }
        Some(OnTimers::Settles) => {
            let timer_set: FiringsSettled = read(payload)?;
            for outcome in &timer_set.outcomes {
                undo.settled(due_firing_of(&(outcome.timer, outcome.due, outcome.round))?);
            }
            (timer_set.before, false)
        }
        Some(OnTimers::Restores) => {
            let timer_set: TimersRestored<'_> = read(payload)?;
            taken_back_restored(&timer_set, undo)?;
            (timer_set.before, true)
        }
        None => return Some(AboutTimers::Nothing),
    };
    Some(AboutTimers::Entry(TimerEntryInfo { before, defines }))
}

fn taken_back_firings(fired: &TimersFired, undo: &mut Undo<TimerRow>) -> Option<()> {
    // The earlier state of each timer is that of its first due time in the entry.
    let mut first_states: BTreeMap<u64, (Instant<Virtual>, Option<u32>)> = BTreeMap::new();
    for (timer, due, round, _) in &fired.fired {
        let due = Instant::from_micros(*due)?;
        undo.made(DueFiring { due, position: *timer, round: *round });
        let first = first_states.entry(*timer).or_insert((due, Some(*round)));
        *first = (due.min(first.0), Some(*round));
    }
    for (timer, from, ..) in &fired.skipped {
        let from = Instant::from_micros(*from)?;
        let first = first_states.entry(*timer).or_insert((from, None));
        first.0 = from.min(first.0);
    }
    for (timer, (first, round)) in first_states {
        undo.passed(timer, first, round);
    }
    Some(())
}

fn taken_back_restored(restored: &TimersRestored<'_>, undo: &mut Undo<TimerRow>) -> Option<()> {
    if restored.inherited {
        // They are in that state on the origin already.
        return Some(());
    }
    for timer in &restored.timers {
        let before: Option<PreviousState<TimerRow>> =
            try_map(timer.was.as_ref(), |was| was.previous_state(timer.position))?;
        undo.record_state(timer.position, before);
    }
    for due_firing in &restored.superseded {
        undo.settled(due_firing_of(due_firing)?);
    }
    for again in &restored.fired {
        undo.made(due_firing_of(&(again.timer, again.due, again.round))?);
    }
    Some(())
}
