use async_recursion::async_recursion as boxed;
use timenav_core::access::Demand;
use timenav_core::ids::{AdvanceId, TimelineId};
use timenav_core::limits::RECEIPT_FIRINGS_MAX;
use timenav_core::time::{Instant, Virtual, Wall};
use timenav_core::timers::{Advance, AdvanceState, Counts};

use crate::engine::Engine;
use crate::ledger::head::TimelineState;
use crate::ledger::payload::{AdvanceEnded, Reading};
use crate::ports::timer_rows::{FiringRow, TimerQuery};
use crate::requests::caller::Caller;
use crate::requests::json::read;
use crate::requests::refusal::Refusal;

#[derive(Clone, Debug, PartialEq)]
pub struct Receipt {
    pub timeline_id: TimelineId,
    pub advance_id: AdvanceId,
    pub state: AdvanceState,
    pub from: Instant<Virtual>,
    pub to: Instant<Virtual>,
    pub reached: Instant<Virtual>,
    pub step: u64,
    pub counts: Counts,
    /// Who held the instant at which it was stopped, or holds it now. If it is stuck, the timer that fired last.
    pub held_by: Option<String>,
    pub firings: Vec<FiringRow>,
}

impl Engine {
    #[boxed]
    pub async fn until_settled(&self, timeline: &TimelineId, advance_id: &AdvanceId) {
        let goes_on = || {
            let state = self.state(timeline)?;
            let advance = state.head.timers.advance.as_ref()?;
            (advance.advance_id == *advance_id).then_some(())
        };
        let mut growth = self.growth_of(timeline);
        loop {
            growth.size();
            if goes_on().is_none() || !growth.changed().await {
                return;
            }
        }
    }

    /// Returns the result of an advance, for a caller who has just begun it or may read it.
    ///
    /// # Errors
    /// There is no such advance, or the store does not respond.
    #[boxed]
    pub async fn receipt(&self, timeline: &TimelineId, advance_id: &AdvanceId) -> Result<Receipt, Refusal> {
        let missing = || Refusal::NotFound { what: "advance", id: advance_id.to_string() };
        let state = self.state(timeline).ok_or_else(missing)?;
        let (position, mut receipt) = self.advance_receipt(&state, advance_id).await?;
        let query = TimerQuery::OfAdvance(position, receipt.from, receipt.reached, RECEIPT_FIRINGS_MAX);
        receipt.firings = self.store().timer_rows(state.head.key, query).await?.firings;
        Ok(receipt)
    }

    pub(crate) async fn advance_receipt(
        &self,
        state: &TimelineState,
        advance_id: &AdvanceId,
    ) -> Result<(u64, Receipt), Refusal> {
        let missing = || Refusal::NotFound { what: "advance", id: advance_id.to_string() };
        let going = state.head.timers.advance.as_ref().filter(|advance| advance.advance_id == *advance_id);
        if let Some(advance) = going {
            let held_by = match self.held_by(state).await? {
                Some(held_by) => Some(held_by),
                None => self.followed_by(state).await?,
            };
            return Ok((advance.position, Receipt { held_by, ..running(state, advance, self.host(state)) }));
        }
        let query = TimerQuery::Advance(advance_id.clone());
        let row = self.store().timer_rows(state.head.key, query).await?.advances.pop().ok_or_else(missing)?;
        let ended = read::<AdvanceEnded>(row.record.as_bytes());
        let unreadable = || Refusal::Damaged("a stored advance cannot be read".to_owned());
        let receipt = ended.and_then(|ended| ended.receipt(state.head.id.clone()));
        Ok((row.position, receipt.ok_or_else(unreadable)?))
    }

    /// Reads the result of an advance.
    ///
    /// # Errors
    /// The caller is not authorized, there is no such advance, or the ledger cannot be written.
    #[boxed]
    pub async fn read_receipt(
        &self,
        caller: &Caller,
        timeline: Option<TimelineId>,
        advance_id: &AdvanceId,
    ) -> Result<Receipt, Refusal> {
        let reading = Reading::Advance { advance_id: advance_id.to_string() };
        let look = self.look(caller, timeline, Demand::Look, reading).await?;
        self.receipt(&look.timeline(), advance_id).await
    }
}

pub(crate) fn running(state: &TimelineState, advance: &Advance, host: Instant<Wall>) -> Receipt {
    Receipt {
        timeline_id: state.head.id.clone(),
        advance_id: advance.advance_id.clone(),
        state: AdvanceState::Running,
        from: advance.from,
        to: advance.to,
        reached: state.head.clock.now(host),
        step: advance.step,
        counts: advance.counts,
        held_by: None,
        firings: Vec::new(),
    }
}

impl AdvanceEnded {
    pub(crate) fn receipt(&self, timeline_id: TimelineId) -> Option<Receipt> {
        let moment = |text: &str| timenav_core::time::parse_timestamp(text).ok();
        Some(Receipt {
            timeline_id,
            advance_id: AdvanceId::new(&self.advance_id).ok()?,
            state: AdvanceState::parse(&self.state)?,
            from: moment(&self.from)?,
            to: moment(&self.to)?,
            reached: moment(&self.reached)?,
            step: self.step,
            counts: Counts { fired: self.fired, acknowledged: self.acknowledged, failed: self.failed },
            held_by: self.held_by.clone(),
            firings: Vec::new(),
        })
    }
}
