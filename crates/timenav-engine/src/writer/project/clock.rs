use timenav_core::ids::AdvanceId;
use timenav_core::time::{Instant, Virtual, parse_timestamp};
use timenav_core::timers::{AdvanceState, Timers};

use super::{Before, Changes, Entry};
use crate::ledger::payload::{AdvanceEnded, AdvanceOver, ClockChanged};
use crate::ports::timer_rows::{AdvanceRow, TimerRows};
use crate::requests::json::json;

#[cfg(test)]
mod tests;

/// All clock actions. One may begin an advance, or end the one that it interrupts.
pub(super) fn changed(change: &ClockChanged, entry: Entry<'_>, before: Before<'_>) -> Option<Changes> {
    let mut changes = Changes { clock: Some(change.clock.clock()?), ..Changes::default() };
    if let Some(begun) = &change.advance {
        let advance = begun.advance(entry.position, entry.recorded_at)?;
        changes.timers = Some(Timers { advance: Some(advance), ..before.timers.clone() });
    }
    if let Some(ended) = &change.ended {
        end(&mut changes, ended, entry, before)?;
    }
    Some(changes)
}

/// `end_advance`.
pub(super) fn advance_ended(over: &AdvanceOver, entry: Entry<'_>, before: Before<'_>) -> Option<Changes> {
    let mut changes = Changes { clock: Some(over.clock.clock()?), ..Changes::default() };
    end(&mut changes, &over.ended, entry, before)?;
    Some(changes)
}

/// The counts of the row are those before the entry, whatever the entry says.
fn end(changes: &mut Changes, ended: &AdvanceEnded, entry: Entry<'_>, before: Before<'_>) -> Option<()> {
    let advance = before.timers.advance.as_ref()?;
    let reached: Instant<Virtual> = parse_timestamp(&ended.reached).ok()?;
    let record = AdvanceEnded::of(advance, AdvanceState::parse(&ended.state)?, reached, ended.held_by.clone());
    let row = AdvanceRow {
        position: advance.position,
        advance_id: AdvanceId::new(&ended.advance_id).ok()?,
        ended: entry.position,
        record: json(&record).into(),
    };
    changes.timers = Some(Timers { advance: None, ..before.timers.clone() });
    changes.timer_rows = TimerRows { advances: vec![row], ..TimerRows::default() };
    Some(())
}
