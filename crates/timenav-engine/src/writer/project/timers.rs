use std::collections::BTreeSet;

use timenav_core::ids::TimelineId;
use timenav_core::time::Instant;
use timenav_core::timers::{DueFiring, FiringState, Timers};

use super::{Before, Changes, Entry};
use crate::ledger::payload::{
    ClockRecord, FiringsSettled, OutcomeOfFiring, TimerCancelled, TimerRestored, TimerSet, TimerStateRecord,
    TimersFired, TimersRestored, due_firing_of,
};
use crate::ports::timer_rows::{FiringEnd, FiringRow, TimerMove, TimerRows};
use crate::requests::stored::try_map;

#[cfg(test)]
mod tests;

/// `set_timer`.
pub(super) fn set(set: &TimerSet<'_>, entry: Entry<'_>, before: Before<'_>) -> Option<Changes> {
    let row = set.row(before.timers.position_of(entry.position), entry.actor, entry.recorded_at)?;
    let mut timers = before.timers.clone();
    timers.arm(row.next?);
    timers.fires_into(&row.queue);
    Some(changes(entry, timers, TimerRows { set: vec![row], ..TimerRows::default() }))
}

/// `change_timer`. Only an armed timer can be changed, and it remains armed.
pub(super) fn changed(set: &TimerSet<'_>, entry: Entry<'_>, before: Before<'_>) -> Option<Changes> {
    let known = before.rows.timer(set.changes()?)?;
    let row = set.row(known.position, &known.set_by, known.set_at)?;
    row.next?;
    let mut timers = before.timers.clone();
    timers.fires_into(&row.queue);
    Some(changes(entry, timers, TimerRows { set: vec![row], ..TimerRows::default() }))
}

/// `cancel_timer`.
pub(super) fn cancelled(cancelled: &TimerCancelled, entry: Entry<'_>, before: Before<'_>) -> Option<Changes> {
    let known = before.rows.timer(cancelled.position)?;
    let moved = TimerMove { position: known.position, next: None, round: known.round, is_cancelled: true };
    let armed = before.timers.armed.saturating_sub(1);
    let timers = Timers { armed, ..before.timers.clone() };
    Some(changes(entry, timers, TimerRows { moved: vec![moved], ..TimerRows::default() }))
}

/// `fire_timers`: the firings, and the next due time of each of their timers. In an advance, also the clock at their
/// instant. `None` if a timer is unknown or an instant is out of range.
pub(super) fn fired(fired: &TimersFired, entry: Entry<'_>, before: Before<'_>) -> Option<Changes> {
    let mut timers = before.timers.clone();
    let clock = try_map(fired.clock.as_ref(), ClockRecord::clock)?;
    if let (Some(clock), Some(was), Some(advance)) = (&clock, before.clock, &mut timers.advance) {
        let is_new_instant = clock.now(entry.recorded_at) > was.now(entry.recorded_at);
        advance.step_to(is_new_instant, entry.position, entry.recorded_at);
    }
    let timeline = TimelineId::parse_stored(entry.timeline).ok()?.entry_name();
    let firing = |&(timer, due, round, _): &(u64, i64, u32, Option<i64>)| {
        let row = before.rows.timer(timer)?;
        let due_firing = due_firing_of(&(timer, due, round))?;
        Some(FiringRow {
            due_firing,
            firing_id: due_firing.firing_id(&timeline),
            timer_id: row.timer_id.clone(),
            queue: row.queue.clone(),
            order_key: row.order_key.clone(),
            state: FiringState::Pending,
            made: entry.position,
            settled: None,
            advance: before.timers.advance.as_ref().map(|advance| advance.position),
            reason: None,
        })
    };
    let firings: Vec<FiringRow> = fired.fired.iter().map(firing).collect::<Option<_>>()?;
    let moved = moved(fired, before)?;
    timers.fired(firings.len() as u64);
    timers.armed = timers.armed.saturating_sub(moved.iter().filter(|timer| timer.next.is_none()).count() as u64);
    let rows = TimerRows { fired: firings, moved, ..TimerRows::default() };
    Some(Changes { clock, ..changes(entry, timers, rows) })
}

fn moved(fired: &TimersFired, before: Before<'_>) -> Option<Vec<TimerMove>> {
    let mut moved = Vec::new();
    let mut seen = BTreeSet::new();
    let of_fired = fired.fired.iter().map(|(timer, _, round, next)| (*timer, Some(*round), *next));
    let of_skipped = fired.skipped.iter().map(|(timer, _, _, next)| (*timer, None, *next));
    for (position, round, next) in of_fired.chain(of_skipped) {
        // A timer with several due times in one entry has the same next due time in each of them.
        if !seen.insert(position) {
            continue;
        }
        let next = try_map(next, Instant::from_micros)?;
        let round = match round {
            Some(round) => round,
            None => before.rows.timer(position)?.round,
        };
        moved.push(TimerMove { position, next, round, is_cancelled: false });
    }
    Some(moved)
}

/// `settle_firings`: the outcome of each firing. `None` if one is unknown, or an instant or an outcome is invalid.
pub(super) fn settled(settled: &FiringsSettled, entry: Entry<'_>, before: Before<'_>) -> Option<Changes> {
    let end = |outcome: &OutcomeOfFiring| {
        Some(FiringEnd {
            due_firing: due_firing_of(&(outcome.timer, outcome.due, outcome.round))?,
            state: FiringState::parse(&outcome.outcome)?,
            settled: entry.position,
            reason: outcome.reason.clone(),
        })
    };
    let ends: Vec<FiringEnd> = settled.outcomes.iter().map(end).collect::<Option<_>>()?;
    let mut timers = before.timers.clone();
    for end in &ends {
        let firing = before.rows.firing(&end.due_firing)?;
        timers.settled(end.state, firing.advance, firing.made);
    }
    Some(changes(entry, timers, TimerRows { settled: ends, ..TimerRows::default() }))
}

/// `restore_timers`: restored timers, and superseded and re-created firings. `None` if one is invalid or unknown.
pub(super) fn restored(restored: &TimersRestored<'_>, entry: Entry<'_>, before: Before<'_>) -> Option<Changes> {
    let timeline = TimelineId::parse_stored(entry.timeline).ok()?.entry_name();
    let superseded = |due_firing: DueFiring| FiringEnd {
        due_firing,
        state: FiringState::Superseded,
        settled: entry.position,
        reason: None,
    };
    let settled: Vec<FiringEnd> =
        restored.superseded.iter().map(|one| due_firing_of(one).map(superseded)).collect::<Option<_>>()?;
    let fired: Vec<FiringRow> =
        restored.fired.iter().map(|again| again.row(&timeline, entry.position)).collect::<Option<_>>()?;
    let mut timers = before.timers.clone();
    timers.supersede(settled.len() as u64);
    timers.fired(fired.len() as u64);
    let (mut set, mut removed) = (Vec::new(), Vec::new());
    for timer in &restored.timers {
        let TimerRestored { position, was, is } = timer;
        let was_armed = was.as_ref().is_some_and(TimerStateRecord::is_armed);
        timers.armed = timers.armed.saturating_sub(u64::from(was_armed));
        let Some(is) = is else {
            removed.push(*position);
            continue;
        };
        let of_entry = try_map(was.as_ref().filter(|was| was.is_whole()), |was| was.row(*position, None))?;
        let row = is.row(*position, of_entry.as_ref().or_else(|| before.rows.timer(*position)))?;
        timers.armed += u64::from(row.next.is_some());
        timers.fires_into(&row.queue);
        set.push(row);
    }
    Some(changes(entry, timers, TimerRows { removed, set, fired, settled, ..TimerRows::default() }))
}

fn changes(entry: Entry<'_>, timers: Timers, timer_rows: TimerRows) -> Changes {
    let timers = Timers { last: Some(entry.position), ..timers };
    Changes { timers: Some(timers), timer_rows, ..Changes::default() }
}
