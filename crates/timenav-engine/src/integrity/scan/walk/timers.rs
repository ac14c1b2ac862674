use timenav_core::ledger::LeafRecord;

use super::{BLOCK_ENTRIES, ScanWalk};
use crate::integrity::scan::replay::timer_sums::{definition_of, of_advance, of_firing, of_timer};
use crate::integrity::scan::replay::{Replay, TimerSums, is_of_timers};
use crate::ledger::head::TimelineKey;
use crate::ports::store_error::StoreError;
use crate::ports::timer_rows::TimerQuery;

const BLOCK_ROWS: usize = 500;

impl ScanWalk<'_, '_> {
    /// Nothing is reported if a timer fired during the scan. Returns the number of compared rows.
    pub(super) async fn compare_timers(&mut self, replay: &Replay) -> Result<u64, StoreError> {
        let Some(expected) = replay.timer_sums() else { return Ok(0) };
        let stored = match self.stored_timer_sums(self.snapshot.head.key).await {
            Ok(stored) => stored,
            Err(error) => return self.damage(error, "timers").map(|()| 0),
        };
        if expected != stored && self.have_timers_moved().await? {
            self.not_checked.push("Timers were not compared with the entries: they fired during the scan.".to_owned());
            return Ok(0);
        }
        Ok(expected.compare(&stored, &mut self.findings))
    }

    pub(super) async fn stored_timer_sums(&mut self, key: TimelineKey) -> Result<TimerSums, StoreError> {
        let source = self.request.source;
        let mut sums = TimerSums::default();
        let mut after = None;
        loop {
            let found = source.timer_rows(key, TimerQuery::ByPosition(after, BLOCK_ROWS)).await?.timers;
            for timer in &found {
                sums.timers.add(&of_timer(timer, &definition_of(timer)));
            }
            let Some(last) = found.last() else { break };
            after = Some(last.position);
        }
        let mut after = None;
        loop {
            let found = source.timer_rows(key, TimerQuery::FiringsAfter(after, BLOCK_ROWS)).await?.firings;
            for firing in &found {
                sums.firings.add(&of_firing(firing));
            }
            let Some(last) = found.last() else { break };
            after = Some(last.due_firing);
        }
        let mut after = None;
        loop {
            let found = source.timer_rows(key, TimerQuery::Advances(after, BLOCK_ROWS)).await?.advances;
            for advance in &found {
                sums.advances.add(&of_advance(advance));
            }
            let Some(last) = found.last() else { break };
            after = Some(last.position);
        }
        Ok(sums)
    }

    async fn have_timers_moved(&mut self) -> Result<bool, StoreError> {
        let (source, key) = (self.request.source, self.snapshot.head.key);
        let mut at = self.size();
        loop {
            let rows = source.entry_rows(key, at, at + BLOCK_ENTRIES).await?.rows;
            let Some(last) = rows.last() else { return Ok(false) };
            at = last.position + 1;
            let is_one = |leaf: &[u8], payload: &[u8]| {
                LeafRecord::decode(leaf).is_ok_and(|record| is_of_timers(&record, payload))
            };
            if rows.iter().any(|row| is_one(&row.leaf, &row.payload)) {
                return Ok(true);
            }
        }
    }
}
