//! Timers that a fork did not inherit because they had no due time left, as recorded by inherited entries. A return to
//! an anchor from before the fork restores them.

use std::collections::BTreeMap;

use timenav_core::ledger::LeafRecord;
use timenav_core::time::parse_timestamp;
use timenav_core::timers::Room;

use crate::engine::Engine;
use crate::ledger::action::{Action, OnTimers};
use crate::ledger::payload::{FiringsSettled, TimerCancelled, TimerSet, TimersFired, TimersRestored};
use crate::ports::rows::StoredEntry;
use crate::ports::timer_rows::TimerRow;
use crate::requests::json::read;
use crate::requests::refusal::Refusal;
use crate::timers::timers_at::{AboutTimers, TimerEntries, TimerEntryInfo};

#[derive(Debug, Default)]
struct DroppedTimers {
    timers: BTreeMap<u64, KnownState>,
    found: BTreeMap<u64, TimerRow>,
}

#[derive(Clone, Copy, Debug, Default)]
struct KnownState {
    round: Option<u32>,
    is_cancelled: Option<bool>,
}

impl Engine {
    /// Returns timers without a due time, which the caller knows. Timers without an entry are missing.
    pub(crate) async fn timers_left(
        &self,
        entries: TimerEntries,
        positions: impl IntoIterator<Item = u64>,
        room: &mut Room,
    ) -> Result<BTreeMap<u64, TimerRow>, Refusal> {
        let timers = positions.into_iter().map(|position| (position, KnownState::default())).collect();
        let mut left = DroppedTimers { timers, ..DroppedTimers::default() };
        if !left.timers.is_empty() {
            let look = |entry: &StoredEntry| {
                let learned = left.learn(entry, entries.base)?;
                // Stop when all timers are found.
                Some(if left.timers.is_empty() { learned.as_the_first() } else { learned })
            };
            self.read_back(entries, 0, room, look).await?;
        }
        left.found.values().try_for_each(|row| room.timer(row.bytes()))?;
        Ok(left.found)
    }
}

impl DroppedTimers {
    /// Processes one entry, from the newest to the oldest. Returns `None` if it cannot be parsed.
    fn learn(&mut self, entry: &StoredEntry, base: u64) -> Option<AboutTimers> {
        let record = LeafRecord::decode(&entry.leaf).ok()?;
        let payload = entry.payload.as_slice();
        let before = match Action::of(&record).and_then(Action::on_timers) {
            Some(OnTimers::Sets) => {
                let timer_set: TimerSet<'_> = read(payload)?;
                let set_at = parse_timestamp(&record.recorded_at).ok()?;
                self.find(timer_set.row(base + entry.seq, &record.actor, set_at)?);
                timer_set.before()
            }
            Some(OnTimers::Changes) => {
                let timer_set: TimerSet<'_> = read(payload)?;
                let was = timer_set.previous_state()?.definition?;
                self.find(timer_set.row(was.position, &was.set_by, was.set_at)?);
                timer_set.before()
            }
            Some(OnTimers::Cancels) => {
                let timer_set: TimerCancelled = read(payload)?;
                self.set_known(timer_set.position, KnownState { round: None, is_cancelled: Some(true) });
                timer_set.before
            }
            Some(OnTimers::Fires) => {
                let timer_set: TimersFired = read(payload)?;
                for (position, _, round, _) in &timer_set.fired {
                    self.set_known(*position, KnownState { round: Some(*round), is_cancelled: Some(false) });
                }
                timer_set.before
            }
            Some(OnTimers::Settles) => read::<FiringsSettled>(payload)?.before,
            Some(OnTimers::Restores) => {
                let timer_set: TimersRestored<'_> = read(payload)?;
                for timer in &timer_set.timers {
                    let Some(is) = &timer.is else { continue };
                    let previous = is.previous_state(timer.position)?;
                    self.set_known(
                        timer.position,
                        KnownState { round: previous.round, is_cancelled: Some(previous.is_cancelled) },
                    );
                    previous.definition.into_iter().for_each(|row| self.find(row));
                }
                timer_set.before
            }
            None => return Some(AboutTimers::Nothing),
        };
        Some(AboutTimers::Entry(TimerEntryInfo { before, defines: false }))
    }

    fn set_known(&mut self, position: u64, state: KnownState) {
        if let Some(known) = self.timers.get_mut(&position) {
            known.round = known.round.or(state.round);
            known.is_cancelled = known.is_cancelled.or(state.is_cancelled);
        }
    }

    /// Stores the definition of a timer. Earlier definitions are irrelevant.
    fn find(&mut self, row: TimerRow) {
        let Some(KnownState { round, is_cancelled }) = self.timers.remove(&row.position) else { return };
        let (round, is_cancelled) = (round.unwrap_or(row.round), is_cancelled.unwrap_or(row.is_cancelled));
        self.found.insert(row.position, TimerRow { next: None, round, is_cancelled, ..row });
    }
}
