use async_recursion::async_recursion as boxed;
use timenav_core::access::Demand;
use timenav_core::ids::{AdvanceId, QueueId, TimelineId, TimerId};
use timenav_core::limits::FIRINGS_SCANNED_MAX;
use timenav_core::time::{Instant, Virtual};
use timenav_core::timers::{DueFiring, FiringState};

use crate::engine::Engine;
use crate::ledger::head::TimelineKey;
use crate::ledger::payload::Reading;
use crate::ports::timer_rows::{FiringRow, TimerQuery};
use crate::read::read_view::ReadView;
use crate::requests::caller::Caller;
use crate::requests::refusal::Refusal;

const BLOCK_FIRINGS: usize = 1_000;

/// A filter for firings. All conditions must hold.
#[derive(Clone, Debug, Default)]
pub struct FiringFilter {
    pub timer_id: Option<TimerId>,
    /// Firings of that advance, up to the instant it has reached.
    pub advance_id: Option<AdvanceId>,
    pub state: Option<FiringState>,
    pub queue: Option<QueueId>,
}

/// One page of firings in the order of delivery.
#[derive(Clone, Debug)]
pub struct FiringPage {
    pub timeline_id: TimelineId,
    pub firings: Vec<FiringRow>,
    pub next_cursor: Option<String>,
}

struct Search {
    key: TimelineKey,
    timer: Option<u64>,
    /// The position at which the advance began, and the last instant it reached.
    advance: Option<(u64, Instant<Virtual>)>,
    state: Option<FiringState>,
    queue: Option<QueueId>,
}

impl Engine {
    /// Lists firings. A page may be short or empty if many rows had to be examined.
    ///
    /// # Errors
    /// The caller is not authorized, there is no such timer or advance, the cursor belongs to another query, or the
    /// ledger cannot be written.
    #[boxed]
    pub async fn firings(
        &self,
        caller: &Caller,
        timeline: Option<TimelineId>,
        filter: FiringFilter,
        (items_max, cursor): (usize, Option<&str>),
    ) -> Result<FiringPage, Refusal> {
        let timeline = caller.timeline(timeline);
        let query = format!("firings {timeline} {filter:?}");
        let admitted = self.authorize_read(caller, timeline, Demand::Look, filter.reading()).await?;
        let from = cursor.map(|text| self.open_cursor(caller, &query, text)).transpose()?;
        let look = admitted.look().await?;
        let (search, mut after) = self.firings_examined(&look, filter).await?;
        if let Some(cursor) = from {
            // The cursor's field for the ledger size stores the round here.
            let round = u32::try_from(cursor.as_of).map_err(|_| Refusal::Cursor)?;
            let due = Instant::from_micros(cursor.micros).ok_or(Refusal::Cursor)?;
            after = Some(DueFiring { due, position: cursor.position, round });
        }
        let (mut firings, mut examined, mut is_all) = (Vec::new(), 0, false);
        while !is_all && firings.len() <= items_max && examined < FIRINGS_SCANNED_MAX {
            let rows = self.store().timer_rows(search.key, search.query(after)).await?.firings;
            is_all = rows.len() < BLOCK_FIRINGS;
            examined += rows.len();
            for row in rows {
                if search.is_past(&row) {
                    is_all = true;
                    break;
                }
                after = Some(row.due_firing);
                if search.fits(&row) {
                    firings.push(row);
                }
                if firings.len() > items_max {
                    break;
                }
            }
        }
        let has_more = firings.len() > items_max;
        firings.truncate(items_max);
        let last = if has_more { firings.last().map(|row| row.due_firing) } else { after.filter(|_| !is_all) };
        let next_cursor =
            last.map(|last| self.cursor(caller, &query, last.round.into(), last.due.micros(), last.position));
        Ok(FiringPage { timeline_id: look.timeline(), firings, next_cursor })
    }

    /// Returns the resolved filter, and the firing to start after.
    async fn firings_examined(
        &self,
        look: &ReadView,
        filter: FiringFilter,
    ) -> Result<(Search, Option<DueFiring>), Refusal> {
        let FiringFilter { timer_id, advance_id, state, queue } = filter;
        let key = look.state.head.key;
        let timer = match timer_id {
            None => None,
            Some(timer_id) => {
                let found = self.store().timer_rows(key, TimerQuery::Named(timer_id.clone())).await?.timers.pop();
                let missing = || Refusal::NotFound { what: "timer", id: timer_id.to_string() };
                Some(found.ok_or_else(missing)?.position)
            }
        };
        let mut after = None;
        let advance = match advance_id {
            None => None,
            Some(advance_id) => {
                let (position, receipt) = self.advance_receipt(&look.state, &advance_id).await?;
                let before = receipt.from.micros().checked_sub(1).and_then(Instant::from_micros);
                // After all firings of the previous due time.
                let last = |due| DueFiring { due, position: i64::MAX.unsigned_abs(), round: u32::MAX };
                after = before.map(last);
                Some((position, receipt.reached))
            }
        };
        Ok((Search { key, timer, advance, state, queue }, after))
    }
}

impl FiringFilter {
    fn reading(&self) -> Reading {
        Reading::Firings {
            advance_id: self.advance_id.as_ref().map(ToString::to_string),
            queue: self.queue.as_ref().map(ToString::to_string),
            state: self.state.map(|state| state.as_str().to_owned()),
            timer_id: self.timer_id.as_ref().map(ToString::to_string),
        }
    }
}

impl Search {
    fn query(&self, after: Option<DueFiring>) -> TimerQuery {
        match (self.timer, self.state) {
            (Some(position), _) => TimerQuery::FiringsOfAfter(position, after, BLOCK_FIRINGS),
            (None, Some(FiringState::Pending)) => TimerQuery::PendingAfter(after, BLOCK_FIRINGS),
            (None, _) => TimerQuery::FiringsAfter(after, BLOCK_FIRINGS),
        }
    }

    /// Returns whether this and all later firings are beyond the instant that the advance has reached.
    fn is_past(&self, firing: &FiringRow) -> bool {
        self.advance.is_some_and(|(_, reached)| firing.due_firing.due > reached)
    }

    fn fits(&self, firing: &FiringRow) -> bool {
        self.advance.is_none_or(|(position, _)| firing.advance == Some(position))
            && self.state.is_none_or(|state| firing.state == state)
            && self.queue.as_ref().is_none_or(|queue| firing.queue == *queue)
    }
}
