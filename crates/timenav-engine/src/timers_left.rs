//! Timers that a fork did not take along, because they had no moment left: how they stood before, as entries tell it that
//! the fork inherits. A return to an anchor that was set before the fork brings them back.

use std::collections::BTreeMap;

use timenav_core::ledger::LeafRecord;
use timenav_core::time::parse_timestamp;
use timenav_core::timers::Room;

use crate::action::{Action, OnTimers};
use crate::engine::Engine;
use crate::json::read;
use crate::payload::{FiringsSettled, TimerCancelled, TimerSet, TimersFired, TimersRestored};
use crate::refusal::Refusal;
use crate::rows::StoredEntry;
use crate::timer_rows::TimerRow;
use crate::timers_then::{AboutTimers, EntryTold, TimerEntries};

/// Timers that are looked for, and what later entries have told of them so far.
#[derive(Debug, Default)]
struct Left {
    wanted: BTreeMap<u64, Standing>,
    found: BTreeMap<u64, TimerRow>,
}

/// How a timer stood; the newest entry that tells of it counts.
#[derive(Clone, Copy, Debug, Default)]
struct Standing {
    round: Option<u32>,
    is_cancelled: Option<bool>,
}

impl Engine {
    /// Returns timers as they stood at the newest of the entries, by position, and armed for nothing: whoever asks knows
    /// for what they were armed. A timer that these entries do not tell of is left out.
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
                // With the last one that was looked for, there is nothing more to read.
                Some(if left.wanted.is_empty() { told.as_the_first() } else { told })
            };
            self.read_back(entries, 0, room, look).await?;
        }
        left.found.values().try_for_each(|row| room.timer(row.bytes()))?;
        Ok(left.found)
    }
}

impl Left {
    /// Learns what one entry tells, after all later ones. Returns `None` where it cannot be read.
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

    /// Takes what a timer was. Whatever it was before does not count.
    fn find(&mut self, row: TimerRow) {
        let Some(Standing { round, is_cancelled }) = self.wanted.remove(&row.position) else { return };
        let (round, is_cancelled) = (round.unwrap_or(row.round), is_cancelled.unwrap_or(row.is_cancelled));
        self.found.insert(row.position, TimerRow { next: None, round, is_cancelled, ..row });
    }
}
