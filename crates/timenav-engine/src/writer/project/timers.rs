use std::collections::BTreeSet;

use timenav_core::ids::TimelineId;
use timenav_core::time::Instant;
use timenav_core::timers::{DueFiring, FiringState};

use crate::ledger::payload::{FiringsSettled, OutcomeOfFiring, TimersFired, TimersRestored, due_firing_of};
use crate::ports::timer_rows::{FiringEnd, FiringRow, TimerMove, TimerRow, TimerRows};

#[cfg(test)]
mod tests;

#[derive(Clone, Copy)]
pub(crate) struct TimersEntry<'a> {
    /// The timeline as named in firing ids.
    pub(crate) timeline: &'a TimelineId,
    pub(crate) position: u64,
    /// Position of the entry that began the advance in progress.
    pub(crate) advance: Option<u64>,
}

/// `fire_timers`: the firings, and the next due time of each of their timers. `armed` looks up a timer as it was before
/// the entry. `None` if a timer is unknown or an instant is out of range.
pub(crate) fn timers_fired<'r>(
    told: &TimersFired,
    entry: TimersEntry<'_>,
    armed: impl Fn(u64) -> Option<&'r TimerRow>,
) -> Option<TimerRows> {
    let firing = |&(timer, due, round, _): &(u64, i64, u32, Option<i64>)| {
        let row = armed(timer)?;
        let due_firing = due_firing_of(&(timer, due, round))?;
        Some(FiringRow {
            due_firing,
            firing_id: due_firing.firing_id(entry.timeline),
            timer_id: row.timer_id.clone(),
            queue: row.queue.clone(),
            order_key: row.order_key.clone(),
            state: FiringState::Pending,
            made: entry.position,
            settled: None,
            advance: entry.advance,
            reason: None,
        })
    };
    let fired = told.fired.iter().map(firing).collect::<Option<_>>()?;
    let mut rows = TimerRows { fired, ..TimerRows::default() };
    let mut seen = BTreeSet::new();
    let of_fired = told.fired.iter().map(|(timer, _, round, next)| (*timer, Some(*round), *next));
    let of_skipped = told.skipped.iter().map(|(timer, _, _, next)| (*timer, None, *next));
    for (position, round, next) in of_fired.chain(of_skipped) {
        // A timer with several due times in one entry has the same next due time in each of them.
        if !seen.insert(position) {
            continue;
        }
        let next = match next {
            Some(micros) => Some(Instant::from_micros(micros)?),
            None => None,
        };
        let round = round.unwrap_or(armed(position)?.round);
        rows.moved.push(TimerMove { position, next, round, is_cancelled: false });
    }
    Some(rows)
}

/// `settle_firings`: the outcome of each firing. `None` if an instant or an outcome cannot be parsed.
pub(crate) fn firings_settled(told: &FiringsSettled, position: u64) -> Option<Vec<FiringEnd>> {
    let end = |outcome: &OutcomeOfFiring| {
        Some(FiringEnd {
            due_firing: due_firing_of(&(outcome.timer, outcome.due, outcome.round))?,
            state: FiringState::parse(&outcome.outcome)?,
            settled: position,
            reason: outcome.reason.clone(),
        })
    };
    told.outcomes.iter().map(end).collect()
}

/// `restore_timers`: superseded and re-created firings. `None` if one cannot be parsed.
pub(crate) fn firings_restored(told: &TimersRestored<'_>, entry: TimersEntry<'_>) -> Option<TimerRows> {
    let superseded = |due_firing: DueFiring| FiringEnd {
        due_firing,
        state: FiringState::Superseded,
        settled: entry.position,
        reason: None,
    };
    let settled =
        told.superseded.iter().map(|due_firing| due_firing_of(due_firing).map(superseded)).collect::<Option<_>>()?;
    let fired = told.fired.iter().map(|again| again.row(entry.timeline, entry.position)).collect::<Option<_>>()?;
    Some(TimerRows { fired, settled, ..TimerRows::default() })
}
