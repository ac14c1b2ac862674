use std::sync::Arc;

use timenav_core::ledger::LeafRecord;
use timenav_core::time::{Instant, Wall, parse_timestamp};
use timenav_core::timers::AdvanceState;

use super::{LedgerStream, LedgerUpdate};
use crate::clock::receipts::{Receipt, running};
use crate::ledger::action::{Action, OnAdvance};
use crate::ledger::head::TimelineState;
use crate::ledger::payload::AdvancePayload;
use crate::ports::lookups::OneFact as _;
use crate::requests::json::read;
use crate::requests::refusal::Refusal;

impl LedgerStream {
    /// Returns the newest state if the entry at a position records the current instant of an advance. Instants that the
    /// advance has already left are skipped, because there may be a million of them.
    pub(super) fn newest_step(&self, position: u64) -> Option<Arc<TimelineState>> {
        let state = self.engine.state(&self.timeline_id)?;
        state.head.timers.advance.as_ref().filter(|advance| advance.stepped == position)?;
        Some(state)
    }

    pub(super) async fn advance_of(&self, position: u64, leaf: &[u8]) -> Result<Option<LedgerUpdate>, Refusal> {
        let record = LeafRecord::decode(leaf).map_err(|error| Refusal::Damaged(error.to_string()))?;
        let update = |receipt: Receipt| LedgerUpdate::Advance(Box::new(receipt));
        match Action::of(&record).map_or(OnAdvance::Nothing, Action::on_advance) {
            OnAdvance::Steps => {
                let state = self.newest_step(position);
                let step = state.and_then(|state| {
                    let advance = state.head.timers.advance.as_ref()?;
                    Some(running(&state, advance, self.engine.host(&state)))
                });
                Ok(step.map(update))
            }
            OnAdvance::BeginsOrEnds => {
                let entry = self.engine.store().entry(self.key, position).await?;
                let entry = entry.ok_or_else(|| Refusal::Damaged(format!("entry {position} is missing")))?;
                let Some(AdvancePayload { advance, ended }) = read(&entry.payload) else { return Ok(None) };
                if let Some(ended) = ended {
                    return Ok(ended.receipt(self.timeline_id.clone()).map(update));
                }
                let begun = advance.and_then(|begun| begun.advance(position, record_host(&record)?));
                Ok(begun.map(|advance| {
                    update(Receipt {
                        timeline_id: self.timeline_id.clone(),
                        advance_id: advance.advance_id,
                        state: AdvanceState::Running,
                        from: advance.from,
                        to: advance.to,
                        reached: advance.from,
                        step: advance.step,
                        counts: advance.counts,
                        held_by: None,
                        firings: Vec::new(),
                    })
                }))
            }
            OnAdvance::Nothing => Ok(None),
        }
    }
}

pub(super) fn record_host(record: &LeafRecord<'_>) -> Option<Instant<Wall>> {
    parse_timestamp(&record.recorded_at).ok()
}
