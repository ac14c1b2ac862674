use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use timenav_core::clock::{Clock, ClockState};
use timenav_core::ids::{AdvanceId, FiringId, TimelineId};
use timenav_core::ledger::LeafRecord;
use timenav_core::scan::{FindingKind, Findings};
use timenav_core::time::{Instant, Virtual, Wall};
use timenav_core::timers::{Advance, DueFiring, FiringState, Timers};

use super::Replay;
use crate::integrity::scan::replay::timer_sums::{RowSum, definition_of, of_advance, of_firing, of_timer};
use crate::ledger::action::{Action, OnAdvance, OnTimers};
use crate::ledger::payload::{
    AdvanceEnded, AdvanceOver, AdvanceTold, FaultSet, FiringsSettled, ForkRecord, TimerCancelled, TimerRestored,
    TimerSet, TimersFired, TimersRestored, faults_of, timers_text, whose,
};
use crate::ports::timer_rows::{AdvanceRow, FiringEnd, FiringRow, TimerMove, TimerRow};
use crate::requests::json::{json, read};
use crate::writer::project::{TimersEntry, firings_restored, firings_settled, timers_fired};

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
    pub(in crate::integrity::scan) fn compare(&self, kept: &Self, findings: &mut Findings) -> u64 {
        let tables = [
            ("timers", self.timers, kept.timers),
            ("firings", self.firings, kept.firings),
            ("advances", self.advances, kept.advances),
        ];
        for (table, expected, kept) in tables {
            if expected != kept {
                let (found, told) = (kept.count(), expected.count());
                let evidence = if found == told {
                    format!("table {table}: the {found} rows are not what the entries lead to")
                } else {
                    format!("table {table} has {found} rows, but the entries lead to {told}")
                };
                findings.add(FindingKind::StateMismatch, None, evidence);
            }
        }
        tables.iter().map(|(_, _, kept)| kept.count()).sum()
    }
}

impl RecordedTimers {
    /// `None` if it has no due time.
    fn arm(&mut self, row: TimerRow) -> Option<()> {
        row.next?;
        let definition = definition_of(&row);
        self.stand(row, definition);
        Some(())
    }

    /// Timers set before an adoption belong to the other service.
    pub(super) fn adopted(&mut self, position: u64) {
        self.state = self.state.arrived(position);
    }

    fn stand(&mut self, row: TimerRow, definition: [u8; 32]) {
        self.state.fires_into(&row.queue);
        if let Some(next) = row.next {
            self.by_next.insert((next, row.position));
            self.state.armed += 1;
            // The long parts of its definition are only in the hash.
            let (schedule, deliver, payload) = ("".into(), "".into(), "".into());
            self.armed.insert(row.position, (TimerRow { schedule, deliver, payload, ..row }, definition));
        } else {
            self.at_rest.add(&of_timer(&row, &definition));
        }
        self.state.next = self.by_next.first().map(|(next, _)| *next);
    }

    /// `None` if its previous state is not the one in the entry.
    fn restore(&mut self, told: &TimerRestored<'_>) -> Option<()> {
        let TimerRestored { position, was, is } = told;
        let known = match was {
            None if self.armed.contains_key(position) => return None,
            None => None,
            Some(was) if was.is_armed() => {
                let (row, definition) = self.disarm(*position)?;
                let stood = was.row(*position, Some(&row))?;
                ((stood.next, stood.round) == (row.next, row.round)).then_some(())?;
                Some((row, definition))
            }
            Some(was) => {
                let row = was.row(*position, None)?;
                let definition = definition_of(&row);
                self.at_rest.remove(&of_timer(&row, &definition));
                Some((row, definition))
            }
        };
        let Some(is) = is else { return Some(()) };
        let row = is.row(*position, known.as_ref().map(|(row, _)| row))?;
        let definition = match known.filter(|_| !is.is_whole()) {
            Some((_, definition)) => definition,
            None => definition_of(&row),
        };
        self.stand(row, definition);
        Some(())
    }

    fn disarm(&mut self, position: u64) -> Option<(TimerRow, [u8; 32])> {
        let (row, definition) = self.armed.remove(&position)?;
        self.by_next.remove(&(row.next?, position));
        self.state.armed = self.state.armed.saturating_sub(1);
        self.state.next = self.by_next.first().map(|(next, _)| *next);
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

    fn end(&mut self, ended: &AdvanceEnded, position: u64) -> Option<()> {
        let advance = self.state.advance.take()?;
        let told = AdvanceEnded::of(
            &advance,
            timenav_core::timers::AdvanceState::parse(&ended.state)?,
            timenav_core::time::parse_timestamp(&ended.reached).ok()?,
            ended.held_by.clone(),
        );
        let row = AdvanceRow {
            position: advance.position,
            advance_id: AdvanceId::new(&ended.advance_id).ok()?,
            ended: position,
            record: json(&told).into(),
        };
        self.advances.add(&of_advance(&row));
        Some(())
    }
}

impl Replay {
    /// Returns `None` if it cannot be parsed.
    pub(super) fn timers_told(
        &mut self,
        action: Action,
        record: &LeafRecord<'_>,
        (position, recorded_at): (u64, Instant<Wall>),
        payload: &[u8],
    ) -> Option<()> {
        match action.on_timers()? {
            OnTimers::Sets => {
                let own = self.timers.state.position_of(position);
                let row = read::<TimerSet<'_>>(payload)?.row(own, &record.actor, recorded_at)?;
                self.timers.arm(row)?;
            }
            OnTimers::Changes => {
                let told: TimerSet<'_> = read(payload)?;
                let (before, _) = self.timers.disarm(told.changes()?)?;
                let row = told.row(before.position, &before.set_by, before.set_at)?;
                self.timers.arm(row)?;
            }
            OnTimers::Cancels => {
                let told: TimerCancelled = read(payload)?;
                let (row, definition) = self.timers.disarm(told.position)?;
                let row = TimerRow { next: None, is_cancelled: true, ..row };
                self.timers.at_rest.add(&of_timer(&row, &definition));
            }
            OnTimers::Fires => {
                let told: TimersFired = read(payload)?;
                self.fired(&told, position, recorded_at)?;
            }
            OnTimers::Settles => {
                let told: FiringsSettled = read(payload)?;
                self.settled(&told, position)?;
            }
            OnTimers::Restores => {
                let told: TimersRestored<'_> = read(payload)?;
                self.restored(&told, position)?;
            }
        }
        self.timers.state.last = Some(position);
        Some(())
    }

    pub(super) const fn timers_begin(&mut self, base: u64, sends_from: u64) {
        self.timers.state.base = base;
        self.timers.state.sends_from = sends_from;
    }

    pub(super) fn faults_begin(&mut self, fork: &ForkRecord) -> Option<()> {
        self.timers.state.faults = faults_of(&fork.faults)?.into();
        Some(())
    }

    /// `None` if it does not follow from the previous ones.
    pub(super) fn fault_told(&mut self, position: u64, payload: &[u8]) -> Option<()> {
        let told: FaultSet = read(payload)?;
        let faults = Arc::make_mut(&mut self.timers.state.faults);
        if told.before != faults.changed {
            return None;
        }
        let fault = match told.fault {
            Some(fault) => Some(fault.fault()?),
            None => None,
        };
        faults.set(position, whose(&told.user_id, &told.follower)?, fault);
        (faults_of(&told.faults)? == faults.clone().since(None)).then_some(())
    }

    pub(super) fn advance_told(&mut self, position: u64, recorded_at: Instant<Wall>, payload: &[u8]) -> Option<()> {
        let AdvanceTold { advance, ended } = read(payload)?;
        if let Some(begun) = advance {
            self.timers.state.advance = Some(begun.advance(position, recorded_at)?);
        }
        if let Some(ended) = ended {
            self.timers.end(&ended, position)?;
        }
        Some(())
    }

    pub(super) fn advance_over(&mut self, (position, recorded_at): (u64, Instant<Wall>), payload: &[u8]) -> Option<()> {
        let told: AdvanceOver = read(payload)?;
        self.check_advanced(&told, (position, recorded_at));
        self.change_clock(position, payload);
        self.timers.end(&told.ended, position)
    }

    fn fired(&mut self, told: &TimersFired, position: u64, recorded_at: Instant<Wall>) -> Option<()> {
        if let Some(clock) = &told.clock {
            let clock = clock.clock()?;
            self.come_to(&clock, position, recorded_at);
        }
        let timeline = TimelineId::kept(&self.timeline_id).ok()?.told();
        let timers = &mut self.timers;
        let advance = timers.state.advance.as_ref().map(|advance| advance.position);
        let entry = TimersEntry { timeline: &timeline, position, advance };
        let rows = timers_fired(told, entry, |timer| timers.armed.get(&timer).map(|(row, _)| row))?;
        timers.state.fired(rows.fired.len() as u64);
        let of_events = rows.fired.iter().filter(|firing| firing.records_event());
        timers.recording.extend(of_events.map(|firing| (firing.firing_id.clone(), false)));
        timers.pending.extend(rows.fired.into_iter().map(|firing| (firing.due_firing, firing)));
        for TimerMove { position, next, round, is_cancelled } in rows.moved {
            let (row, definition) = timers.disarm(position)?;
            timers.stand(TimerRow { next, round, is_cancelled, ..row }, definition);
        }
        Some(())
    }

    fn restored(&mut self, told: &TimersRestored<'_>, position: u64) -> Option<()> {
        let timeline = TimelineId::kept(&self.timeline_id).ok()?.told();
        let rows = firings_restored(told, TimersEntry { timeline: &timeline, position, advance: None })?;
        let timers = &mut self.timers;
        timers.state.supersede(rows.settled.len() as u64);
        for end in rows.settled {
            timers.settle(end)?;
        }
        told.timers.iter().try_for_each(|timer| timers.restore(timer))?;
        timers.state.fired(rows.fired.len() as u64);
        timers.pending.extend(rows.fired.into_iter().map(|firing| (firing.due_firing, firing)));
        Some(())
    }

    /// Moves the clock of an advance to an instant, which must not be earlier than before or beyond the target.
    fn come_to(&mut self, clock: &Clock, position: u64, recorded_at: Instant<Wall>) {
        let before = self.clock.replace(clock.clone());
        self.clock_entry = position;
        self.marks.clock_entry = Some(position.cast_signed());
        let Some(before) = before else { return };
        let (here, there) = (before.now(recorded_at), clock.now(recorded_at));
        let is_standing = matches!(clock.state, ClockState::Paused { .. }) && !before.is_running();
        let advance = self.timers.state.advance.as_mut();
        let is_on_its_way = advance.as_ref().is_some_and(|advance| there <= advance.to);
        if !is_standing || clock.generation != before.generation || there < here || !is_on_its_way {
            let evidence = format!("the clock went from {here} to {there}, but no advance took it there");
            self.findings.add(FindingKind::ClockDiscontinuity, Some(position), evidence);
        }
        if let Some(advance) = advance {
            advance.step_to(there > here, position, recorded_at);
        }
    }

    fn settled(&mut self, told: &FiringsSettled, position: u64) -> Option<()> {
        for end in firings_settled(told, position)? {
            let firing = self.timers.settle(end)?;
            self.check_recorded(&firing, position);
            self.timers.state.settled(firing.state, firing.advance, firing.made);
        }
        Some(())
    }

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

    /// Checks that a firing that is an event is done if the event was recorded, and failed otherwise.
    fn check_recorded(&mut self, firing: &FiringRow, position: u64) {
        let state = firing.state;
        let recorded = self.timers.recording.remove(&firing.firing_id);
        // Without reading from the start, events by the service are not tracked.
        let is_known = self.from_the_start && self.blind.is_none();
        if is_known && firing.records_event() && (recorded == Some(true)) != (state == FiringState::Acknowledged) {
            let evidence =
                format!("the entry says that {} is {}, but its event says otherwise", firing.firing_id, state.as_str());
            self.findings.add(FindingKind::StateMismatch, Some(position), evidence);
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
        OnAdvance::BeginsOrEnds => read::<AdvanceTold>(payload).is_some_and(|told| told.ended.is_some()),
        OnAdvance::Steps | OnAdvance::Nothing => false,
    };
    ends_advance || action.on_timers().is_some()
}
