use std::collections::{BTreeMap, BTreeSet};

use timenav_core::ids::{FiringId, TimelineId};
use timenav_core::timers::{DueFiring, Room, Timers, Undo};

use crate::anchors::returning::state_at;
use crate::engine::Engine;
use crate::ledger::head::TimelineKey;
use crate::ports::facts::{FactsQuery, QueryOrigin};
use crate::ports::rows::StoredEntry;
use crate::ports::timer_rows::{FiringRow, TimerQuery, TimerRow, TimerStatus};
use crate::requests::refusal::Refusal;
use crate::timers::timers_at::{TimerEntries, taken_back};
use crate::writer::deciding::timelines::Carried;
use crate::writer::deciding::timers::restoring::{Restoring, TimerChanged};

const BLOCK_TIMERS: usize = 500;
const BLOCK_FIRINGS: usize = 500;
const BLOCK_ENTRIES: u64 = 64;
/// How often timers are read again if others change their definitions in the meantime.
const ATTEMPTS_MAX: usize = 16;

impl Engine {
    /// Concurrent changes are harmless: they are undone, like all other changes since that size.
    pub(crate) async fn timers_carried(&self, of: &TimelineId, size: u64) -> Result<Carried, Refusal> {
        for attempt in 1..=ATTEMPTS_MAX {
            match self.try_carry(of, size).await {
                Ok(Some(carried)) => return Ok(carried),
                Ok(None) => {}
                // The state can look damaged while others change the rows being read.
                Err(Refusal::Damaged(_)) if attempt < ATTEMPTS_MAX => tokio::task::yield_now().await,
                Err(refusal) => return Err(refusal),
            }
        }
        Err(Refusal::ChangedMeanwhile)
    }

    /// Returns nothing if definitions of timers changed in the meantime.
    async fn try_carry(&self, of: &TimelineId, size: u64) -> Result<Option<Carried>, Refusal> {
        let state = self.existing_state(of)?;
        if *state.head.timers == Timers::default() {
            return Ok(Some(Carried::default()));
        }
        let (key, base, mut room) = (state.head.key, state.head.timers.base, Room::default());
        let mut rows = self.armed_timers(key, &mut room).await?;
        let mut pending = self.pending_firings(key, &mut room).await?;
        // Read entries after the rows, so that they include all changes in the rows, even those that readers do not see
        // yet.
        let newest = self.existing_state(of)?;
        let seen = newest.head.frontier.size();
        let later = self.entries_from(key, seen).await?;
        let mut undo = Undo::default();
        for entry in later.iter().rev() {
            taken_back(entry, base, &mut undo).ok_or_else(|| unreadable(entry))?;
        }
        let entries = TimerEntries { key, base, last: newest.head.timers.last };
        let last = self.take_back(entries, size, (&mut undo, &mut room)).await?;
        let in_flight = undo.pending(pending.keys().copied());
        let settled = in_flight.iter().filter(|due_firing| !pending.contains_key(due_firing));
        let settled: Vec<FiringId> = settled.map(|due_firing| due_firing.firing_id(&of.entry_name())).collect();
        for some in settled.chunks(BLOCK_FIRINGS) {
            let found = self.store().timer_rows(key, TimerQuery::Firings(some.to_vec())).await?.firings;
            pending.extend(found.into_iter().map(|row| (row.due_firing, row)));
        }
        let of_timers = undo.timers().iter().filter(|(_, before)| before.is_some()).map(|(position, _)| *position);
        let needed: BTreeSet<u64> = of_timers.chain(in_flight.iter().map(|due_firing| due_firing.position)).collect();
        let unknown = needed.into_iter().filter(|position| !rows.contains_key(position)).collect();
        let found = self.timers_at(key, unknown, &mut room).await?;
        rows.extend(found.into_iter().map(|row| (row.position, row)));
        for entry in self.entries_from(key, seen + later.len() as u64).await? {
            let payload_record = taken_back(&entry, base, &mut Undo::default()).ok_or_else(|| unreadable(&entry))?;
            if payload_record.entry_info().is_some_and(|payload_record| payload_record.defines) {
                return Ok(None);
            }
        }
        let restoring = restoring(&undo, &rows, &in_flight, &pending)?;
        Ok(Some(Carried { restoring, base: base + size, last }))
    }

    async fn armed_timers(&self, key: TimelineKey, room: &mut Room) -> Result<BTreeMap<u64, TimerRow>, Refusal> {
        let (mut found, mut after) = (BTreeMap::new(), None);
        loop {
            let query = TimerQuery::Listed(TimerStatus::Armed, after, BLOCK_TIMERS);
            let rows = self.store().timer_rows(key, query).await?.timers;
            let Some(last) = rows.last() else { return Ok(found) };
            after = last.next.map(|next| (next, last.position));
            for row in rows {
                // A timer that moves on in the meantime is read twice.
                if !found.contains_key(&row.position) {
                    room.timer(row.bytes())?;
                }
                found.insert(row.position, row);
            }
        }
    }

    async fn entries_from(&self, key: TimelineKey, first: u64) -> Result<Vec<StoredEntry>, Refusal> {
        let mut found: Vec<StoredEntry> = Vec::new();
        loop {
            let from = first + found.len() as u64;
            let positions = (from..from + BLOCK_ENTRIES).map(|position| (key, position)).collect();
            let read = self
                .store()
                .facts(FactsQuery { entries: positions, ..FactsQuery::default() }, QueryOrigin::Reader)
                .await?;
            let before = found.len();
            found.extend(read.entries.into_iter().map_while(|entry| entry));
            if ((found.len() - before) as u64) < BLOCK_ENTRIES {
                return Ok(found);
            }
        }
    }
}

fn unreadable(entry: &StoredEntry) -> Refusal {
    Refusal::Damaged(format!("entry {} cannot be read", entry.seq))
}

/// Returns the initial timers of a fork: armed ones, and those of pending firings.
fn restoring(
    undo: &Undo<TimerRow>,
    rows: &BTreeMap<u64, TimerRow>,
    in_flight: &BTreeSet<DueFiring>,
    firings: &BTreeMap<DueFiring, FiringRow>,
) -> Result<Restoring, Refusal> {
    let missing = || Refusal::Damaged("a firing is missing".to_owned());
    let fired: Option<Vec<FiringRow>> = in_flight.iter().map(|due_firing| firings.get(due_firing).cloned()).collect();
    let needed: BTreeSet<u64> = in_flight.iter().map(|due_firing| due_firing.position).collect();
    let positions: BTreeSet<u64> = rows.keys().chain(undo.timers().keys()).copied().collect();
    let mut timers = Vec::new();
    for position in positions {
        let row = state_at(undo, position, rows.get(&position))?;
        let row = row.filter(|row| row.next.is_some() || needed.contains(&position));
        timers.extend(row.map(|row| TimerChanged { was: None, is: Some(row) }));
    }
    let next = timers.iter().filter_map(|timer| timer.is.as_ref()?.next).min();
    Ok(Restoring { timers, superseded: Vec::new(), fired: fired.ok_or_else(missing)?, next })
}
