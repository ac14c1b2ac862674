//! Computes the restoration of timers when history returns to an anchor.
//!
//! Timers that differ now, and firings that were pending then, get a new round. An acknowledgment of an old firing
//! therefore cannot settle the re-created one.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use timenav_core::anchor::Anchor;
use timenav_core::time::{Instant, Virtual};
use timenav_core::timers::{DueFiring, Room, Undo, rounds_grow_by};

use crate::engine::Engine;
use crate::ledger::head::{TimelineKey, TimelineState};
use crate::ledger::payload::is_same_timer;
use crate::ports::timer_rows::{FiringRow, TimerQuery, TimerRow};
use crate::requests::refusal::Refusal;
use crate::timers::timers_at::TimerEntries;
use crate::writer::deciding::timers::restoring::{GoingBack, Restoring, TimerChanged};

const BLOCK_TIMERS: usize = 1_000;
const BLOCK_FIRINGS: usize = 500;

struct AnchoredTimers {
    undo: Undo<TimerRow>,
    rows: BTreeMap<u64, TimerRow>,
    /// Timers that do not exist now, because the fork did not inherit them.
    left: BTreeMap<u64, TimerRow>,
    in_flight: BTreeMap<DueFiring, FiringRow>,
}

impl Engine {
    pub(crate) async fn timers_returning(
        &self,
        state: &TimelineState,
        layer: usize,
        anchor: &Anchor,
    ) -> Result<GoingBack, Refusal> {
        let (key, timers) = (state.head.key, &state.head.timers);
        let seen = Arc::clone(timers);
        if timers.last.is_none() && timers.base == 0 {
            let restoring = Restoring { next: timers.next, ..Restoring::default() };
            return Ok(GoingBack { restoring, seen, destination: None });
        }
        let mut room = Room::default();
        let (undo, before) = self.undone_to(state, (layer, anchor.position + 1), &mut room).await?;
        let pending = self.pending_firings(key, &mut room).await?;
        let in_flight = undo.pending(pending.keys().copied());
        let positions: BTreeSet<u64> =
            undo.timers().keys().copied().chain(in_flight.iter().map(|one| one.position)).collect();
        let rows = self.timers_at(key, positions.iter().copied().collect(), &mut room).await?;
        let rows: BTreeMap<u64, TimerRow> = rows.into_iter().map(|row| (row.position, row)).collect();
        let is_left = |position: &u64| {
            let is_known = match undo.timers().get(position) {
                None => false,
                Some(restored) => restored.as_ref().is_none_or(|restored| restored.definition.is_some()),
            };
            !is_known && !rows.contains_key(position)
        };
        let left: Vec<u64> = positions.iter().copied().filter(is_left).collect();
        let left = self.timers_left(before, left, &mut room).await?;
        let in_flight = self.firings_of_layers(state, in_flight, &pending).await?;
        let then = AnchoredTimers { undo, rows, left, in_flight };
        let (mut changed, mut fired) = (Vec::new(), Vec::new());
        for position in positions {
            then.restore(position, &mut changed, &mut fired)?;
        }
        let moments = changed.iter().filter_map(|timer: &TimerChanged| timer.is.as_ref()?.next).min();
        let next = moments.into_iter().chain(self.next_of_others(key, &changed).await?).min();
        let superseded = pending.into_values().collect();
        let restoring = Restoring { timers: changed, superseded, fired, next };
        Ok(GoingBack { restoring, seen, destination: None })
    }

    /// Undoes the changes of timers since a ledger size of a layer. Also returns the entries before it.
    async fn undone_to(
        &self,
        state: &TimelineState,
        (layer, size): (usize, u64),
        room: &mut Room,
    ) -> Result<(Undo<TimerRow>, TimerEntries), Refusal> {
        let mut undo = Undo::default();
        let timers = &state.head.timers;
        let mut entries = TimerEntries { key: state.head.key, base: timers.base, last: timers.last };
        for number in (layer..=state.ancestors.len()).rev() {
            let first = if number == layer { size } else { 0 };
            let last = self.take_back(entries, first, (&mut undo, room)).await?;
            if number > layer {
                let damaged =
                    || Refusal::Damaged("the first entry of a fork does not name another timeline".to_owned());
                let fork = self.forked(entries.key).await?.ok_or_else(damaged)?;
                let key = state.ancestors[number - 1].timeline;
                let base = self.forked(key).await?.and_then(|fork| fork.timers_base).unwrap_or_default();
                entries = TimerEntries { key, base, last: fork.timers_last };
            } else {
                entries.last = last;
            }
        }
        Ok((undo, entries))
    }

    async fn firings_of_layers(
        &self,
        state: &TimelineState,
        remaining: BTreeSet<DueFiring>,
        pending: &BTreeMap<DueFiring, FiringRow>,
    ) -> Result<BTreeMap<DueFiring, FiringRow>, Refusal> {
        let layers = state.layers_now();
        let names = state.names_of(&layers);
        let mut found = BTreeMap::new();
        let mut left: Vec<DueFiring> = Vec::new();
        for due_firing in remaining {
            match pending.get(&due_firing) {
                Some(row) => drop(found.insert(due_firing, row.clone())),
                None => left.push(due_firing),
            }
        }
        for (layer, name) in layers.iter().zip(&names).rev() {
            for some in left.chunks(BLOCK_FIRINGS) {
                let firing_ids = some.iter().map(|due_firing| due_firing.firing_id(&name.entry_name())).collect();
                let rows = self.store().timer_rows(layer.timeline, TimerQuery::Firings(firing_ids)).await?.firings;
                found.extend(rows.into_iter().map(|row| (row.due_firing, row)));
            }
            left.retain(|due_firing| !found.contains_key(due_firing));
        }
        if left.is_empty() { Ok(found) } else { Err(Refusal::Damaged("a firing is missing".to_owned())) }
    }

    async fn next_of_others(
        &self,
        key: TimelineKey,
        changed: &[TimerChanged],
    ) -> Result<Option<Instant<Virtual>>, Refusal> {
        let changed: BTreeSet<u64> =
            changed.iter().filter_map(|timer| timer.was.as_ref()).map(|row| row.position).collect();
        let mut after = None;
        loop {
            let query = TimerQuery::ArmedUntil(Instant::MAX, after, BLOCK_TIMERS);
            let rows = self.store().timer_rows(key, query).await?.timers;
            if let Some(other) = rows.iter().find(|row| !changed.contains(&row.position)) {
                return Ok(other.next);
            }
            let Some(last) = rows.last() else { return Ok(None) };
            after = last.next.map(|next| (next, last.position));
        }
    }
}

impl AnchoredTimers {
    fn state_at(&self, position: u64) -> Result<Option<TimerRow>, Refusal> {
        state_at(&self.undo, position, self.rows.get(&position).or_else(|| self.left.get(&position)))
    }

    fn restore(
        &self,
        position: u64,
        changed: &mut Vec<TimerChanged>,
        fired: &mut Vec<FiringRow>,
    ) -> Result<(), Refusal> {
        let (now, then) = (self.rows.get(&position), self.state_at(position)?);
        let in_flight: Vec<&FiringRow> =
            self.in_flight.values().filter(|firing| firing.due_firing.position == position).collect();
        let is_same = match (now, &then) {
            (Some(now), Some(then)) => {
                is_same_timer(now, then) && (now.next, now.is_cancelled) == (then.next, then.is_cancelled)
            }
            (None, None) => true,
            _ => false,
        };
        if is_same && in_flight.is_empty() {
            return Ok(());
        }
        let highest = self.undo.highest_round(position, now.map(|row| row.round)).unwrap_or_default();
        let rounds = in_flight.iter().map(|firing| firing.due_firing.round).chain(then.as_ref().map(|row| row.round));
        let more = rounds_grow_by(highest, rounds);
        let is = then.map(|row| TimerRow { round: row.round + more, ..row });
        let again = |firing: &FiringRow| {
            let due_firing = DueFiring { round: firing.due_firing.round + more, ..firing.due_firing };
            FiringRow { due_firing, ..firing.clone() }
        };
        fired.extend(in_flight.into_iter().map(again));
        changed.push(TimerChanged { was: now.cloned(), is });
        Ok(())
    }
}

pub(crate) fn state_at(
    undo: &Undo<TimerRow>,
    position: u64,
    now: Option<&TimerRow>,
) -> Result<Option<TimerRow>, Refusal> {
    let before = match undo.timers().get(&position) {
        None => return Ok(now.cloned()),
        Some(None) => return Ok(None),
        Some(Some(before)) => before,
    };
    let row = before.definition.as_ref().or(now);
    let row = row.ok_or_else(|| Refusal::Damaged("a timer is missing".to_owned()))?;
    let round = before.round.or(now.map(|row| row.round)).unwrap_or(row.round);
    Ok(Some(TimerRow { next: before.next, round, is_cancelled: before.is_cancelled, ..row.clone() }))
}
