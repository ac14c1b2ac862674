use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use timenav_core::ids::TimerId;
use timenav_core::time::{Instant, Wall, parse_timestamp};
use timenav_core::timers::PreviousState;

use super::delivery::DeliverRecord;
use crate::ports::timer_rows::TimerRow;
use crate::requests::json::{raw, read};
use crate::requests::stored::try_map;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct TimerRecord<'a> {
    timer_id: String,
    #[serde(borrow)]
    schedule: &'a RawValue,
    #[serde(borrow)]
    deliver: &'a RawValue,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    order_key: Option<String>,
    #[serde(borrow)]
    payload: &'a RawValue,
}

impl<'a> TimerRecord<'a> {
    /// Returns the definition of a timer; `None` if a part of the row is not JSON.
    pub(super) fn of(row: &'a TimerRow) -> Option<Self> {
        Some(Self {
            timer_id: row.timer_id.to_string(),
            schedule: raw(&row.schedule)?,
            deliver: raw(&row.deliver)?,
            order_key: row.order_key.clone(),
            payload: raw(&row.payload)?,
        })
    }

    pub(super) fn schedule(&self) -> &'a str {
        self.schedule.get()
    }

    /// Returns the row of a new timer at a position, without a due time. `None` if the record is invalid.
    pub(super) fn row(&self, position: u64, set_by: &str, set_at: Instant<Wall>) -> Option<TimerRow> {
        let Self { timer_id, schedule, deliver, order_key, payload } = self;
        Some(TimerRow {
            position,
            timer_id: TimerId::new(timer_id).ok()?,
            next: None,
            round: 0,
            is_cancelled: false,
            schedule: schedule.get().into(),
            deliver: deliver.get().into(),
            queue: read::<DeliverRecord<'_>>(deliver.get().as_bytes())?.queue()?,
            order_key: order_key.clone(),
            payload: payload.get().into(),
            set_by: set_by.to_owned(),
            set_at,
        })
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct TimerStateRecord<'a> {
    /// Its definition. Absent if that is known.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    timer: Option<TimerRecord<'a>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    set_by: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    set_at: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    next: Option<String>,
    #[serde(default, skip_serializing_if = "is_zero")]
    round: u32,
    #[serde(default, skip_serializing_if = "super::parts::is_not")]
    cancelled: bool,
}

impl<'a> TimerStateRecord<'a> {
    /// Returns the state of a timer, with its definition if `is_whole`. `None` if a part of the row is not JSON.
    pub(crate) fn of(row: &'a TimerRow, is_whole: bool) -> Option<Self> {
        Some(Self {
            timer: if is_whole { Some(TimerRecord::of(row)?) } else { None },
            set_by: is_whole.then(|| row.set_by.clone()),
            set_at: is_whole.then(|| row.set_at.to_string()),
            next: row.next.map(|next| next.to_string()),
            round: row.round,
            cancelled: row.is_cancelled,
        })
    }

    pub(crate) const fn is_whole(&self) -> bool {
        self.timer.is_some()
    }

    pub(crate) fn next(&self) -> Option<&str> {
        self.next.as_deref()
    }

    pub(crate) const fn round(&self) -> u32 {
        self.round
    }

    pub(crate) const fn is_armed(&self) -> bool {
        self.next.is_some()
    }

    /// Returns the row of the timer at a position. If the definition is not included, it comes from `known`. `None` if
    /// it is not known either, or if the record is invalid.
    pub(crate) fn row(&self, position: u64, known: Option<&TimerRow>) -> Option<TimerRow> {
        let row = match &self.timer {
            Some(timer) => {
                let set_at: Instant<Wall> = parse_timestamp(self.set_at.as_ref()?).ok()?;
                timer.row(position, self.set_by.as_ref()?, set_at)?
            }
            None => known?.clone(),
        };
        let next = self.next.as_deref().map(parse_timestamp).transpose().ok()?;
        Some(TimerRow { next, round: self.round, is_cancelled: self.cancelled, ..row })
    }

    pub(crate) fn previous_state(&self, position: u64) -> Option<PreviousState<TimerRow>> {
        let definition = try_map(self.timer.as_ref(), |_| self.row(position, None))?;
        let next = self.next.as_deref().map(parse_timestamp).transpose().ok()?;
        Some(PreviousState { definition, next, round: Some(self.round), is_cancelled: self.cancelled })
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde requires a reference")]
pub(super) const fn is_zero(number: &u32) -> bool {
    *number == 0
}
