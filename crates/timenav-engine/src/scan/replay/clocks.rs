//! What the clock showed, and how it was changed.

use timenav_core::ledger::LeafRecord;
use timenav_core::scan::FindingKind;
use timenav_core::time::{Instant, Wall};

use super::Replay;
use crate::json::read;
use crate::payload::ClockTold;

impl Replay {
    /// The virtual time in an entry is what the clock showed at its host time.
    pub(super) fn check_reading(&mut self, record: &LeafRecord<'_>, position: u64, recorded_at: Instant<Wall>) {
        let Some(clock) = self.clock.as_ref().filter(|_| self.blind.is_none()) else { return };
        let expected = clock.now(recorded_at);
        if Instant::written(&record.clock_time) != Some(expected) {
            let evidence = format!("the entry says the clock showed {}, but it showed {expected}", record.clock_time);
            self.findings.add(FindingKind::ClockDiscontinuity, Some(position), evidence);
        }
    }

    /// Takes the clock that an entry tells of.
    pub(super) fn change_clock(&mut self, position: u64, payload: &[u8]) {
        let Some(told) = read::<ClockTold>(payload) else { return };
        let Some(clock) = told.clock() else { return };
        if let Some(before) = &self.clock {
            let steps = u64::from(told.is_change());
            if clock.generation != before.generation + steps || (steps == 0 && clock != *before) {
                let evidence = format!(
                    "the clock went from generation {} to {} in a single change",
                    before.generation, clock.generation
                );
                self.findings.add(FindingKind::ClockDiscontinuity, Some(position), evidence);
            }
        }
        self.clock = Some(clock);
        self.clock_entry = position;
        self.marks.clock_entry = Some(position.cast_signed());
    }
}
