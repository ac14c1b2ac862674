use std::collections::HashMap;

use timenav_core::ids::QueueId;
use timenav_core::limits::FIRINGS_AT_ONCE_MAX;
use timenav_core::time::{Instant, Virtual};
use timenav_core::timers::{Coming, DueFiring, FellDue, Timer, fall_due};

use crate::ledger::changes::Reach;
use crate::ledger::payload::schedule_of;
use crate::ports::timer_rows::{FiringRow, TimerRow, TimersFound};
use crate::requests::refusal::Refusal;
use crate::writer::draft::{Draft, Ledger};
use crate::writer::project::TimerRowsBefore;

/// The armed timers that are due next.
pub(in crate::writer::deciding) struct Upcoming {
    rows: Vec<TimerRow>,
    timers: Vec<Timer>,
    places: HashMap<u64, usize>,
    /// The due time of the first timer that was not read: the others are not due earlier.
    known_until: Option<Instant<Virtual>>,
}

impl Upcoming {
    pub(in crate::writer::deciding) fn of(draft: &Draft<'_>, ledger: Ledger, reach: Reach) -> Result<Self, Refusal> {
        let rows = draft.known_timers(ledger, &reach.query()).map(|TimersFound { timers, .. }| timers.clone());
        let mut rows = rows.unwrap_or_default();
        check_next(draft, ledger, &rows)?;
        // The additional row only provides the due time of the first unknown timer.
        let next = if rows.len() > reach.timers_max() { rows.pop() } else { None };
        let timer = |row: &TimerRow| {
            let schedule = schedule_of(row)?;
            Some(Timer { position: row.position, schedule, next: row.next, round: row.round })
        };
        let timers: Option<Vec<Timer>> = rows.iter().map(timer).collect();
        let timers = timers.ok_or_else(|| Refusal::Damaged("a stored timer cannot be read".to_owned()))?;
        let places = rows.iter().enumerate().map(|(place, row)| (row.position, place)).collect();
        Ok(Self { rows, timers, places, known_until: next.and_then(|row| row.next) })
    }

    pub(in crate::writer::deciding) fn next(&self) -> Option<Instant<Virtual>> {
        self.timers.iter().filter_map(|timer| timer.next).chain(self.known_until).min()
    }

    /// Returns whether all timers due up to an instant are known, and not only some.
    pub(in crate::writer::deciding) fn knows(&self, moment: Instant<Virtual>) -> bool {
        self.known_until.is_none_or(|until| moment < until)
    }

    pub(in crate::writer::deciding) fn fall_due(&mut self, upto: Instant<Virtual>, coming: Coming) -> FellDue {
        let upto = self.known_until.map_or(upto, |until| upto.min(until));
        fall_due(&mut self.timers, upto, coming, FIRINGS_AT_ONCE_MAX)
    }

    /// Returns the firings up to an instant that record an event, up to the limit.
    pub(in crate::writer::deciding) fn recording(&self, upto: Instant<Virtual>, coming: Coming) -> Vec<DueFiring> {
        let records = |(row, _): &(&TimerRow, &Timer)| row.queue == QueueId::of_timeline();
        let recording = self.rows.iter().zip(&self.timers).filter(records);
        let mut timers: Vec<Timer> = recording.map(|(_, timer)| timer.clone()).collect();
        let upto = self.known_until.map_or(upto, |until| upto.min(until));
        fall_due(&mut timers, upto, coming, FIRINGS_AT_ONCE_MAX).due_firing
    }

    pub(in crate::writer::deciding) fn row(&self, position: u64) -> Option<(&TimerRow, &Timer)> {
        let place = *self.places.get(&position)?;
        Some((&self.rows[place], &self.timers[place]))
    }
}

impl TimerRowsBefore for Upcoming {
    fn timer(&self, position: u64) -> Option<&TimerRow> {
        self.row(position).map(|(row, _)| row)
    }

    fn firing(&self, _due_firing: &DueFiring) -> Option<&FiringRow> {
        None
    }
}

/// Checks that the earliest stored timer has the due time in the signed head. Otherwise a timer that was changed, added
/// or removed in the database would fire at another time, or never.
pub(in crate::writer::deciding) fn check_next(
    draft: &Draft<'_>,
    ledger: Ledger,
    earliest: &[TimerRow],
) -> Result<(), Refusal> {
    let next = draft.state(ledger).head.timers.next;
    if earliest.first().and_then(|row| row.next) == next {
        return Ok(());
    }
    let detail = "the stored timers do not match the next moment in the ledger; scan this timeline";
    Err(Refusal::Damaged(detail.to_owned()))
}
