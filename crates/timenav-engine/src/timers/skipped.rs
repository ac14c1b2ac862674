//! Due times of a rule that did not fire: too many firings were pending, or its misfire policy dropped them.

use timenav_core::ledger::LeafRecord;
use timenav_core::time::{Instant, Virtual};
use timenav_core::timers::{Room, Schedule, Undo};

use crate::engine::Engine;
use crate::ledger::action::{Action, OnTimers};
use crate::ledger::head::TimelineState;
use crate::ledger::payload::{TimerSet, TimersFired, TimersRestored};
use crate::ports::rows::StoredEntry;
use crate::ports::timer_rows::TimerRow;
use crate::requests::json::read;
use crate::requests::refusal::Refusal;
use crate::timers::timers_at::{TimerEntries, taken_back};

/// Skipped due times are only in entries, so that this rare case costs nothing otherwise.
const ENTRIES_EXAMINED_MAX: u64 = 4_096;
const COUNTED_MAX: u64 = 100_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SkippedMoments {
    pub count: u64,
    pub is_complete: bool,
    pub from: Instant<Virtual>,
    pub to: Instant<Virtual>,
}

impl SkippedMoments {
    fn with(before: Option<Self>, schedule: &Schedule, (from, to): (Instant<Virtual>, Instant<Virtual>)) -> Self {
        let nothing = Self { count: 0, is_complete: true, from, to };
        let before = before.unwrap_or(nothing);
        let (count, is_complete) = schedule.count(from, to, COUNTED_MAX.saturating_sub(before.count));
        Self {
            count: before.count + count,
            is_complete: before.is_complete && is_complete,
            from: before.from.min(from),
            to: before.to.max(to),
        }
    }
}

impl Engine {
    /// Returns the due times of a timer that were skipped since it was set, changed, or restored to an earlier one.
    pub(crate) async fn skipped_moments(
        &self,
        state: &TimelineState,
        row: &TimerRow,
        schedule: &Schedule,
    ) -> Result<Option<SkippedMoments>, Refusal> {
        let timers = &state.head.timers;
        if matches!(schedule, Schedule::At(_)) {
            return Ok(None);
        }
        let newest = timers.last.unwrap_or_default().saturating_sub(ENTRIES_EXAMINED_MAX - 1);
        // A timer inherited by a fork is recorded there in its first entries.
        let first = row.position.saturating_sub(timers.base).max(newest);
        let entries = TimerEntries { key: state.head.key, base: timers.base, last: timers.last };
        let (mut skipped, mut is_other, mut room) = (None, false, Room::default());
        let look = |entry: &StoredEntry| {
            let record = taken_back(entry, timers.base, &mut Undo::default())?;
            is_other = is_other || is_changed(entry, row.position)?;
            if !is_other {
                for stretch in stretches(entry, row.position)? {
                    skipped = Some(SkippedMoments::with(skipped, schedule, stretch));
                }
            }
            Some(record)
        };
        self.read_back(entries, first, &mut room, look).await?;
        Ok(skipped)
    }
}

/// Returns whether an entry has replaced or restored the timer: due times skipped before that do not belong to it any
/// more, or recur.
fn is_changed(entry: &StoredEntry, timer: u64) -> Option<bool> {
    let record = LeafRecord::decode(&entry.leaf).ok()?;
    Some(match Action::of(&record).and_then(Action::on_timers) {
        Some(OnTimers::Changes) => read::<TimerSet<'_>>(&entry.payload)?.changes() == Some(timer),
        Some(OnTimers::Restores) => {
            let parsed = read::<TimersRestored<'_>>(&entry.payload)?;
            parsed.timers.iter().any(|restored| restored.position == timer)
        }
        Some(OnTimers::Sets | OnTimers::Cancels | OnTimers::Fires | OnTimers::Settles) | None => false,
    })
}

fn stretches(entry: &StoredEntry, timer: u64) -> Option<Vec<(Instant<Virtual>, Instant<Virtual>)>> {
    let record = LeafRecord::decode(&entry.leaf).ok()?;
    if Action::of(&record) != Some(Action::FireTimers) {
        return Some(Vec::new());
    }
    let parsed: TimersFired = read(&entry.payload)?;
    let of_timer = parsed.skipped.iter().filter(|(position, ..)| *position == timer);
    of_timer.map(|(_, from, to, _)| Some((Instant::from_micros(*from)?, Instant::from_micros(*to)?))).collect()
}
