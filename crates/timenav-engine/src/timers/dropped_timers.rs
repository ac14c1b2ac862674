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
use crate::timers::timers_at::AboutTimers;
use crate::timers::timers_at::EntryTold;
use crate::timers::timers_at::TimerEntries;

#[derive(Debug, Default)]
struct Left {
    wanted: BTreeMap<u64, Standing>,
    found: BTreeMap<u64, TimerRow>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Standing {
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
        let wanted = positions.into_iter().map(|position| (position, Standing::default())).collect();
        let mut left = Left { wanted, ..Left::default() };
        if !left.wanted.is_empty() {
            let look = |entry: &StoredEntry| {
                let told = left.learn(entry, entries.base)?;
                // Stop when all timers are found.
                Some(if left.wanted.is_empty() { told.as_the_first() } else { told })
            };
            self.read_back(entries, 0, room, look).await?;
        }
        left.found.values().try_for_each(|row| room.timer(row.bytes()))?;
        Ok(left.found)
    }
}

impl Left {
    /// Processes one entry, from the newest to the oldest. Returns `None` if it cannot be parsed.
    fn learn(&mut self, entry: &StoredEntry, base: u64) -> Option<AboutTimers> {
        let record = LeafRecord::decode(&entry.leaf).ok()?;
        let payload = entry.payload.as_slice();
        let before = match Action::of(&record).and_then(Action::on_timers) {
            Some(OnTimers::Sets) => {
                let told: TimerSet<'_> = read(payload)?;
                let set_at = parse_timestamp(&record.recorded_at).ok()?;
                self.find(told.row(base + entry.seq, &record.actor, set_at)?);
                told.before()
            }
            Some(OnTimers::Changes) => {
                let told: TimerSet<'_> = read(payload)?;
                let was = told.stood()?.definition?;
                self.find(told.row(was.position, &was.set_by, was.set_at)?);
                told.before()
            }
            Some(OnTimers::Cancels) => {
                let told: TimerCancelled = read(payload)?;
                self.stands(told.position, Standing { round: None, is_cancelled: Some(true) });
                told.before
            }
            Some(OnTimers::Fires) => {
                let told: TimersFired = read(payload)?;
                for (position, _, round, _) in &told.fired {
                    self.stands(*position, Standing { round: Some(*round), is_cancelled: Some(false) });
                }
                told.before
            }
            Some(OnTimers::Settles) => read::<FiringsSettled>(payload)?.before,
            Some(OnTimers::Restores) => {
                let told: TimersRestored<'_> = read(payload)?;
                for timer in &told.timers {
                    let Some(is) = &timer.is else { continue };
                    let stood = is.stood(timer.position)?;
                    self.stands(
                        timer.position,
                        Standing { round: stood.round, is_cancelled: Some(stood.is_cancelled) },
                    );
                    stood.definition.into_iter().for_each(|row| self.find(row));
                }
                told.before
            }
            None => return Some(AboutTimers::Nothing),
        };
        Some(AboutTimers::Told(EntryTold { before, defines: false }))
    }

    fn stands(&mut self, position: u64, told: Standing) {
        if let Some(known) = self.wanted.get_mut(&position) {
            known.round = known.round.or(told.round);
            known.is_cancelled = known.is_cancelled.or(told.is_cancelled);
        }
    }

    /// Stores the definition of a timer. Earlier definitions are irrelevant.
    fn find(&mut self, row: TimerRow) {
        let Some(Standing { round, is_cancelled }) = self.wanted.remove(&row.position) else { return };
        let (round, is_cancelled) = (round.unwrap_or(row.round), is_cancelled.unwrap_or(row.is_cancelled));
        self.found.insert(row.position, TimerRow { next: None, round, is_cancelled, ..row });
    }
}
