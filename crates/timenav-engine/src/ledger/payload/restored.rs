//! The payload of restored timers: their state as of another instant, or on another timeline.

use serde::{Deserialize, Serialize};
use timenav_core::ids::{QueueId, TimelineId, TimerId};
use timenav_core::time::Instant;
use timenav_core::timers::{DueFiring, FiringState};

use super::timer_record::{TimerStateRecord, is_zero};
use crate::ports::timer_rows::{FiringRow, TimerRow};

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct TimerRestored<'a> {
    pub(crate) position: u64,
    /// The state before. Absent if the timer did not exist.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub(crate) was: Option<TimerStateRecord<'a>>,
    /// The state after. Absent if the timer is removed.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    pub(crate) is: Option<TimerStateRecord<'a>>,
}

impl<'a> TimerRestored<'a> {
    /// Returns the record of a timer at a position. The definition of an armed timer is omitted unless it changes or
    /// the timer is removed, because readers of the whole ledger know it. `None` if a part of the rows is not JSON.
    pub(crate) fn of(position: u64, was: Option<&'a TimerRow>, is: Option<&'a TimerRow>) -> Option<Self> {
        let is_other = match (was, is) {
            (Some(was), Some(is)) => !is_same_timer(was, is),
            (None, _) | (_, None) => true,
        };
        let state_of = |row: Option<&'a TimerRow>, is_whole: bool| match row {
            Some(row) => TimerStateRecord::of(row, is_whole).map(Some),
            None => Some(None),
        };
        let is_at_rest = was.is_some_and(|was| was.next.is_none());
        Some(Self { position, was: state_of(was, is_at_rest || is_other)?, is: state_of(is, is_other)? })
    }
}

/// Returns whether two rows have the same definition, regardless of their state.
pub(crate) fn is_same_timer(one: &TimerRow, other: &TimerRow) -> bool {
    let TimerRow { timer_id, schedule, deliver, order_key, payload, set_by, set_at, .. } = one;
    *timer_id == other.timer_id
        && *schedule == other.schedule
        && *deliver == other.deliver
        && *order_key == other.order_key
        && *payload == other.payload
        && *set_by == other.set_by
        && *set_at == other.set_at
}

/// A firing: the timer, the due time, and the round.
pub(crate) type DueFiringRecord = (u64, i64, u32);

pub(crate) const fn due_firing_record(due_firing: &DueFiring) -> DueFiringRecord {
    (due_firing.position, due_firing.due.micros(), due_firing.round)
}

pub(crate) fn due_firing_of(&(position, due, round): &DueFiringRecord) -> Option<DueFiring> {
    Some(DueFiring { due: Instant::from_micros(due)?, position, round })
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct FiredAgain {
    pub(crate) timer: u64,
    pub(crate) due: i64,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(crate) round: u32,
    pub(crate) timer_id: String,
    pub(crate) queue: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) order_key: Option<String>,
}

impl FiredAgain {
    pub(crate) fn of(firing: &FiringRow) -> Self {
        Self {
            timer: firing.due_firing.position,
            due: firing.due_firing.due.micros(),
            round: firing.due_firing.round,
            timer_id: firing.timer_id.to_string(),
            queue: firing.queue.to_string(),
            order_key: firing.order_key.clone(),
        }
    }

    pub(crate) fn row(&self, timeline: &TimelineId, made: u64) -> Option<FiringRow> {
        let due_firing = due_firing_of(&(self.timer, self.due, self.round))?;
        Some(FiringRow {
            due_firing,
            firing_id: due_firing.firing_id(timeline),
            timer_id: TimerId::new(&self.timer_id).ok()?,
            queue: QueueId::new(&self.queue).ok()?,
            order_key: self.order_key.clone(),
            state: FiringState::Pending,
            made,
            settled: None,
            advance: None,
            reason: None,
        })
    }
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct TimersRestored<'a> {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) anchor_id: Option<String>,
    /// Whether the timers are inherited from the timeline that this one was forked from, where they are in that state
    /// already.
    #[serde(default, skip_serializing_if = "super::parts::is_not")]
    pub(crate) inherited: bool,
    #[serde(borrow, default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) timers: Vec<TimerRestored<'a>>,
    /// Pending firings whose due times recur, or were not reached.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) superseded: Vec<DueFiringRecord>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) fired: Vec<FiredAgain>,
    /// The last entry before that changed timers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) before: Option<u64>,
}
