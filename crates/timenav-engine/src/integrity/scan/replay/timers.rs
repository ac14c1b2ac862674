use std::collections::{BTreeMap, BTreeSet};

use timenav_core::fault::Faults;
use timenav_core::ids::FiringId;
use timenav_core::ledger::LeafRecord;
use timenav_core::scan::{FindingKind, Findings};
use timenav_core::time::{Instant, Virtual};
use timenav_core::timers::{Advance, DueFiring, FiringState, Timers};

use super::Replay;
use crate::integrity::scan::replay::timer_sums::{RowSum, definition_of, of_advance, of_firing, of_timer};
use crate::ledger::action::{Action, OnAdvance};
use crate::ledger::payload::{AdvancePayload, FaultSet, StatePayload, TimerRestored, faults_of, timers_text};
use crate::ports::timer_rows::{FiringEnd, FiringRow, TimerMove, TimerRow, TimerRows};
use crate::requests::json::read;
use crate::writer::project::TimerRowsBefore;

/// The timers of a ledger as of the entries read so far. Armed timers and pending firings are stored like in the
/// tables; of all other rows, only the sum.
#[derive(Default)]
pub(super) struct RecordedTimers {
    state: Timers,
    armed: BTreeMap<u64, (TimerRow, [u8; 32])>,
    by_next: BTreeSet<(Instant<Virtual>, u64)>,
    pending: BTreeMap<DueFiring, FiringRow>,
    /// Firings of the last timer entry that are events, and whether these have been recorded.
    recording: BTreeMap<FiringId, bool>,
    at_rest: RowSum,
    settled: RowSum,
    advances: RowSum,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::integrity::scan) struct TimerSums {
    pub(in crate::integrity::scan) timers: RowSum,
    pub(in crate::integrity::scan) firings: RowSum,
    pub(in crate::integrity::scan) advances: RowSum,
}

impl TimerSums {
    /// Returns the number of rows.
    pub(in crate::integrity::scan) fn compare(&self, stored: &Self, findings: &mut Findings) -> u64 {
        let tables = [
            ("timers", self.timers, stored.timers),
            ("firings", self.firings, stored.firings),
            ("advances", self.advances, stored.advances),
        ];
        for (table, expected, stored) in tables {
            if expected != stored {
                let (found, expected_count) = (stored.count(), expected.count());
                let evidence = if found == expected_count {
                    format!("table {table}: the {found} rows are not what the entries lead to")
                } else {
                    format!("table {table} has {found} rows, but the entries lead to {expected_count}")
                };
                findings.add(FindingKind::StateMismatch, None, evidence);
            }
        }
        tables.iter().map(|(_, _, stored)| stored.count()).sum()
    }
}

impl RecordedTimers {
    pub(super) const fn state(&self) -> &Timers {
        &self.state
    }

    /// Timers set before an adoption belong to the other service.
    pub(super) fn adopted(&mut self, position: u64) {
        self.state = self.state.arrived(position);
    }

    /// Checks what an entry says about the rows before it. Restored timers that were at rest are removed, because only
    /// the entry has their rows. `None` if they are not as it says.
    pub(super) fn check(&mut self, payload: &StatePayload<'_>) -> Option<()> {
        match payload {
            StatePayload::TimersRestored(restored) => {
                restored.timers.iter().try_for_each(|timer| self.check_restored(timer))
            }
            StatePayload::Fault(set) => (set.before == self.state.faults.changed).then_some(()),
            _ => Some(()),
        }
    }

    fn check_restored(&mut self, TimerRestored { position, was, .. }: &TimerRestored<'_>) -> Option<()> {
        match was {
            None => (!self.armed.contains_key(position)).then_some(()),
            Some(was) if was.is_armed() => {
                let (row, _) = self.armed.get(position)?;
                let previous = was.row(*position, Some(row))?;
                ((previous.next, previous.round) == (row.next, row.round)).then_some(())
            }
            Some(was) => {
                let row = was.row(*position, None)?;
                self.at_rest.remove(&of_timer(&row, &definition_of(&row)));
                Some(())
            }
        }
    }

    /// Checks the list of all faults in an entry that was applied.
    pub(super) fn check_faults(&self, set: &FaultSet) -> Option<()> {
        (faults_of(&set.faults)? == Faults::clone(&self.state.faults).since(None)).then_some(())
    }

    /// Applies what follows from an entry. Returns the settled firings; `None` if one was not pending, or a timer was
    /// not armed.
    pub(super) fn apply(&mut self, state: Timers, rows: TimerRows) -> Option<Vec<FiringRow>> {
        let TimerRows { removed, set, moved, fired, settled, advances } = rows;
        self.state = state;
        for position in removed {
            self.disarm(position);
        }
        for row in set {
            let known = self.disarm(row.position).map(|(_, definition)| definition);
            // The rows kept here have no definition, and neither has a row made from one of them.
            let definition = known.filter(|_| row.schedule.is_empty()).unwrap_or_else(|| definition_of(&row));
            self.put(row, definition);
        }
        for TimerMove { position, next, round, is_cancelled } in moved {
            let (row, definition) = self.disarm(position)?;
            self.put(TimerRow { next, round, is_cancelled, ..row }, definition);
        }
        self.state.next = self.by_next.first().map(|(next, _)| *next);
        let ended = settled.into_iter().map(|end| self.settle(end)).collect::<Option<Vec<_>>>()?;
        let of_events = fired.iter().filter(|firing| firing.records_event());
        self.recording.extend(of_events.map(|firing| (firing.firing_id.clone(), false)));
        self.pending.extend(fired.into_iter().map(|firing| (firing.due_firing, firing)));
        for row in &advances {
            self.advances.add(&of_advance(row));
        }
        Some(ended)
    }

    fn put(&mut self, row: TimerRow, definition: [u8; 32]) {
        if let Some(next) = row.next {
            self.by_next.insert((next, row.position));
            // The long parts of its definition are only in the hash.
            let (schedule, deliver, payload) = ("".into(), "".into(), "".into());
            self.armed.insert(row.position, (TimerRow { schedule, deliver, payload, ..row }, definition));
        } else {
            self.at_rest.add(&of_timer(&row, &definition));
        }
    }

    fn disarm(&mut self, position: u64) -> Option<(TimerRow, [u8; 32])> {
        let (row, definition) = self.armed.remove(&position)?;
        self.by_next.remove(&(row.next?, position));
        Some((row, definition))
    }

    pub(super) fn advance(&self) -> Option<&Advance> {
        self.state.advance.as_ref()
    }

    pub(super) fn text(&self) -> String {
        timers_text(&self.state)
    }

    pub(super) fn sums(&self) -> TimerSums {
        let mut sums = TimerSums { timers: self.at_rest, firings: self.settled, advances: self.advances };
        self.armed.values().for_each(|(row, definition)| sums.timers.add(&of_timer(row, definition)));
        self.pending.values().for_each(|firing| sums.firings.add(&of_firing(firing)));
        sums
    }

    /// Settles a firing, and returns it; `None` if it was not pending.
    fn settle(&mut self, FiringEnd { due_firing, state, settled, reason }: FiringEnd) -> Option<FiringRow> {
        let firing = self.pending.remove(&due_firing)?;
        let firing = FiringRow { state, settled: Some(settled), reason, ..firing };
        self.settled.add(&of_firing(&firing));
        Some(firing)
    }
}

impl TimerRowsBefore for RecordedTimers {
    fn timer(&self, position: u64) -> Option<&TimerRow> {
        self.armed.get(&position).map(|(row, _)| row)
    }

    fn firing(&self, due_firing: &DueFiring) -> Option<&FiringRow> {
        self.pending.get(due_firing)
    }
}

impl Replay {
    /// Checks that each event recorded by the service is that of a firing, and recorded once.
    pub(super) fn check_firing_of(&mut self, record: &LeafRecord<'_>, position: u64) {
        let is_of_service = record.authority.as_ref().is_some_and(|authority| authority.key.is_empty());
        if !is_of_service || !self.from_the_start || self.blind.is_some() {
            return;
        }
        let firing_id = FiringId::new(&record.subject).ok();
        let recorded = firing_id.and_then(|firing_id| self.timers.recording.insert(firing_id, true));
        if recorded != Some(false) {
            let evidence = "the service recorded an event, but no timer fired that records it";
            self.findings.add(FindingKind::StateMismatch, Some(position), evidence);
        }
    }

    /// Checks that each settled firing that is an event is done if the event was recorded, and failed otherwise.
    pub(super) fn check_recorded(&mut self, settled: &[FiringRow], position: u64) {
        // Without reading from the start, events by the service are not tracked.
        let is_known = self.from_the_start && self.blind.is_none();
        for firing in settled.iter().filter(|firing| firing.state != FiringState::Superseded) {
            let state = firing.state;
            let recorded = self.timers.recording.remove(&firing.firing_id);
            if is_known && firing.records_event() && (recorded == Some(true)) != (state == FiringState::Acknowledged) {
                let evidence = format!(
                    "the entry says that {} is {}, but its event says otherwise",
                    firing.firing_id,
                    state.as_str()
                );
                self.findings.add(FindingKind::StateMismatch, Some(position), evidence);
            }
        }
    }

    /// Returns the sums of the timer tables; `None` if the entries do not determine all rows.
    pub(in crate::integrity::scan) fn timer_sums(&self) -> Option<TimerSums> {
        (self.blind.is_none() && self.from_the_start).then(|| self.timers.sums())
    }
}

pub(in crate::integrity::scan) fn is_of_timers(record: &LeafRecord<'_>, payload: &[u8]) -> bool {
    let Some(action) = Action::of(record) else { return false };
    let ends_advance = match action.on_advance() {
        OnAdvance::BeginsOrEnds if action == Action::EndAdvance => true,
        OnAdvance::BeginsOrEnds => {
            read::<AdvancePayload>(payload).is_some_and(|payload_record| payload_record.ended.is_some())
        }
        OnAdvance::Steps | OnAdvance::Nothing => false,
    };
    ends_advance || action.on_timers().is_some()
}
