use std::sync::Arc;

use async_recursion::async_recursion as boxed;
use timenav_core::access::Demand;
use timenav_core::ids::{QueueId, TimelineId, TimerId, type_id};
use timenav_core::limits::{TIMER_EVENT_BYTES_MAX, TIMER_ORDER_KEY_BYTES_MAX, TIMER_PAYLOAD_BYTES_MAX};
use timenav_core::recurrence::Rule;
use timenav_core::time::{Instant, Virtual};
use timenav_core::timers::{FiringState, Schedule};

use crate::engine::Engine;
use crate::ledger::changes::{LedgerPosition, TimerAfter};
use crate::ledger::payload::{Delivery, Reading, schedule_of};
use crate::ports::timer_changes::{OrderKeyChange, ScheduleChange};
use crate::ports::timer_rows::{FiringRow, TimerQuery, TimerRow, TimerStatus};
use crate::requests::caller::Caller;
use crate::requests::idempotency::Idempotency;
use crate::requests::json::raw;
use crate::requests::refusal::Refusal;
use crate::timers::skipped::SkippedMoments;
use crate::writer::deciding::timers::{ChangeTimer, SetTimer, TimerChange, TimerChanges, TimerPlan};
use crate::writer::submission::Answer;

const FIRINGS_LISTED_MAX: usize = 100;

#[derive(Clone, Debug, Default)]
pub struct TimerRequest {
    pub schedule: Option<Schedule>,
    /// Where to send its firings. Defaults to the queue `default`.
    pub deliver: Option<Delivery>,
    pub order_key: Option<String>,
    /// The payload handed to workers, as JSON.
    pub payload: Option<Arc<str>>,
}

/// A request to change a timer. Fields that are `None` stay as they are.
#[derive(Clone, Debug, Default)]
pub struct TimerChangeRequest {
    pub schedule: Option<ScheduleChange>,
    pub deliver: Option<Delivery>,
    pub order_key: Option<OrderKeyChange>,
    pub payload: Option<Arc<str>>,
}

#[derive(Clone, Debug)]
pub struct TimerView {
    pub row: TimerRow,
    pub schedule: Schedule,
}

impl TimerView {
    pub(crate) fn of(row: TimerRow) -> Result<Self, Refusal> {
        let schedule = schedule_of(&row);
        let schedule = schedule.ok_or_else(|| Refusal::Damaged("a stored timer cannot be read".to_owned()))?;
        Ok(Self { row, schedule })
    }

    #[must_use]
    pub const fn status(&self) -> TimerStatus {
        match (self.row.next, self.row.is_cancelled) {
            (_, true) => TimerStatus::Cancelled,
            (Some(_), false) => TimerStatus::Armed,
            (None, false) => TimerStatus::Done,
        }
    }
}

#[derive(Clone, Debug)]
pub struct TimerSetStep {
    pub timeline_id: TimelineId,
    pub timer: TimerView,
    pub changed: bool,
    pub ledger: LedgerPosition,
    pub replayed: bool,
}

#[derive(Clone, Debug)]
pub struct TimerDetails {
    pub timeline_id: TimelineId,
    pub timer: TimerView,
    /// Its newest firings.
    pub firings: Vec<FiringRow>,
    /// Due times of its rule that did not fire, if any.
    pub skipped: Option<SkippedMoments>,
}

#[derive(Clone, Debug)]
pub struct TimerPage {
    pub timeline_id: TimelineId,
    pub timers: Vec<TimerView>,
    pub next_cursor: Option<String>,
}

#[derive(Clone, Debug)]
pub struct TimerMoments {
    /// The timeline whose clock applies.
    pub timeline_id: TimelineId,
    /// The earliest first.
    pub moments: Vec<Instant<Virtual>>,
    pub has_more: bool,
}

fn step(answer: Answer<TimerAfter>) -> Result<TimerSetStep, Refusal> {
    let Answer { timeline_id, change, ledger, replayed } = answer;
    let TimerAfter { timer, changed } = change;
    Ok(TimerSetStep { timeline_id, timer: TimerView::of(timer)?, changed, ledger, replayed })
}

impl Engine {
    /// Sets a timer. If an identical one exists, nothing changes.
    ///
    /// # Errors
    /// The caller is not authorized, another timer has the name, a limit is reached, or the ledger cannot be written.
    #[boxed]
    pub async fn set_timer(
        &self,
        caller: &Caller,
        timeline: Option<TimelineId>,
        (timer_id, request): (Option<TimerId>, TimerRequest),
        idempotency: Option<Idempotency>,
    ) -> Result<TimerSetStep, Refusal> {
        let timeline = caller.timeline(timeline);
        let made = || TimerId::new(&type_id("timer", self.uuid())).map_err(|error| Refusal::id("timer_id", error));
        let timer_id = timer_id.map_or_else(made, Ok)?;
        let TimerRequest { schedule, deliver, order_key, payload } = request;
        check(deliver.as_ref(), order_key.as_deref(), payload.as_deref())?;
        let schedule = schedule
            .ok_or_else(|| Refusal::invalid("at", "give the time of the timer, with `at`, `every` or `cron`"))?;
        let deliver = deliver.unwrap_or_else(|| Delivery::Queue(QueueId::unnamed()));
        let (deliver, queue) = self.stored_delivery(&timeline, deliver)?;
        let payload = payload.unwrap_or_else(|| "null".into());
        let plan = TimerPlan { schedule, deliver, queue, order_key, payload };
        step(self.submit(caller, timeline, SetTimer { timer_id, plan }, idempotency).await?)
    }

    /// Changes an armed timer.
    ///
    /// # Errors
    /// The caller is not authorized, there is no such timer or it is not armed, or the ledger cannot be written.
    #[boxed]
    pub async fn change_timer(
        &self,
        caller: &Caller,
        timeline: Option<TimelineId>,
        (timer_id, request): (TimerId, TimerChangeRequest),
        idempotency: Option<Idempotency>,
    ) -> Result<TimerSetStep, Refusal> {
        let timeline = caller.timeline(timeline);
        let TimerChangeRequest { schedule, deliver, order_key, payload } = request;
        check(deliver.as_ref(), order_key.as_ref().and_then(OrderKeyChange::key), payload.as_deref())?;
        let deliver = deliver.map(|deliver| self.stored_delivery(&timeline, deliver)).transpose()?;
        let change = TimerChange::To(Box::new(TimerChanges { schedule, deliver, order_key, payload }));
        step(self.submit(caller, timeline, ChangeTimer { timer_id, change }, idempotency).await?)
    }

    /// Cancels a timer. Its existing firings stay; also returns how many of the newest have no outcome yet.
    ///
    /// # Errors
    /// The caller is not authorized, there is no such timer, or the ledger cannot be written.
    #[boxed]
    pub async fn cancel_timer(
        &self,
        caller: &Caller,
        timeline: Option<TimelineId>,
        timer_id: TimerId,
        idempotency: Option<Idempotency>,
    ) -> Result<(TimerSetStep, usize), Refusal> {
        let timeline = caller.timeline(timeline);
        let change = ChangeTimer { timer_id, change: TimerChange::Cancel };
        let step = step(self.submit(caller, timeline, change, idempotency).await?)?;
        let Some(state) = self.state(&step.timeline_id) else { return Ok((step, 0)) };
        let query = TimerQuery::FiringsOf(step.timer.row.position, FIRINGS_LISTED_MAX);
        let firings = self.store().timer_rows(state.head.key, query).await?.firings;
        let pending = firings.iter().filter(|firing| firing.state == FiringState::Pending).count();
        Ok((step, pending))
    }

    /// Lists timers: armed ones by their next due time, others in the order of their creation.
    ///
    /// # Errors
    /// The caller is not authorized, the cursor belongs to another query, or the ledger cannot be written.
    #[boxed]
    pub async fn timers(
        &self,
        caller: &Caller,
        timeline: Option<TimelineId>,
        status: TimerStatus,
        (items_max, cursor): (usize, Option<&str>),
    ) -> Result<TimerPage, Refusal> {
        let timeline = caller.timeline(timeline);
        let query = format!("timers {timeline} {status:?}");
        let admitted = self.authorize_read(caller, timeline, Demand::Look, Reading::Timers {}).await?;
        let after = cursor.map(|text| self.open_cursor(caller, &query, text)).transpose()?;
        let look = admitted.look().await?;
        let after = after.and_then(|cursor| Some((Instant::from_micros(cursor.micros)?, cursor.position)));
        let listed_query = TimerQuery::Listed(status, after, items_max + 1);
        let mut rows = self.store().timer_rows(look.state.head.key, listed_query).await?.timers;
        let more = rows.len() > items_max;
        rows.truncate(items_max);
        let next_cursor = rows.last().filter(|_| more).map(|last| {
            let micros = last.next.map_or(0, Instant::micros);
            self.cursor(caller, &query, look.size(), micros, last.position)
        });
        let timers = rows.into_iter().map(TimerView::of).collect::<Result<_, _>>()?;
        Ok(TimerPage { timeline_id: look.timeline(), timers, next_cursor })
    }

    /// Returns a number of due times of a schedule after an instant, which defaults to the clock's reading.
    ///
    /// # Errors
    /// The caller is not authorized, or the ledger cannot be written.
    #[boxed]
    pub async fn timer_moments(
        &self,
        caller: &Caller,
        timeline: TimelineId,
        rule: &Rule,
        (after, items_max): (Option<Instant<Virtual>>, usize),
    ) -> Result<TimerMoments, Refusal> {
        let look = self.look(caller, timeline, Demand::Look, Reading::TimerMoments {}).await?;
        let after = after.unwrap_or_else(|| look.state.head.clock.now(look.host));
        let mut moments: Vec<Instant<Virtual>> = rule.after(after).take(items_max + 1).collect();
        let has_more = moments.len() > items_max;
        moments.truncate(items_max);
        Ok(TimerMoments { timeline_id: look.timeline(), moments, has_more })
    }

    /// Returns a timer, its newest firings, and its skipped due times.
    ///
    /// # Errors
    /// The caller is not authorized, there is no such timer, or the ledger cannot be written.
    #[boxed]
    pub async fn timer(
        &self,
        caller: &Caller,
        timeline: Option<TimelineId>,
        timer_id: &TimerId,
    ) -> Result<TimerDetails, Refusal> {
        let reading = Reading::Timer { timer_id: timer_id.to_string() };
        let look = self.look(caller, timeline, Demand::Look, reading).await?;
        let key = look.state.head.key;
        let found = self.store().timer_rows(key, TimerQuery::Named(timer_id.clone())).await?.timers.pop();
        let row = found.ok_or_else(|| Refusal::NotFound { what: "timer", id: timer_id.to_string() })?;
        let query = TimerQuery::FiringsOf(row.position, FIRINGS_LISTED_MAX);
        let firings = self.store().timer_rows(key, query).await?.firings;
        let timer = TimerView::of(row)?;
        let skipped = self.skipped_moments(&look.state, &timer.row, &timer.schedule).await?;
        Ok(TimerDetails { timeline_id: look.timeline(), timer, firings, skipped })
    }
}

impl Engine {
    fn stored_delivery(&self, timeline: &TimelineId, deliver: Delivery) -> Result<(Arc<str>, QueueId), Refusal> {
        let queue = deliver.queue();
        match deliver {
            Delivery::Queue(queue) if queue.is_reserved() => {
                let detail = format!("`{queue}` is not a queue; choose another name");
                Err(Refusal::invalid("deliver/queue", detail))
            }
            Delivery::Queue(_) => Ok((deliver.text(None).into(), queue)),
            Delivery::Timeline(ref event) => {
                let named = |field: &str| format!("deliver/event/{field}");
                event.check().map_err(|error| Refusal::Invalid { field: named(&error.field), detail: error.detail })?;
                let text = deliver.text(None);
                if text.len() > TIMER_EVENT_BYTES_MAX {
                    let detail = format!("the event of a timer can have at most {TIMER_EVENT_BYTES_MAX} bytes of JSON");
                    return Err(Refusal::invalid("deliver/event", detail));
                }
                Ok((text.into(), queue))
            }
            Delivery::Webhook(target) => {
                let (target, sealed) = self.checked_webhook(timeline, target)?;
                Ok((Delivery::Webhook(target).text(sealed).into(), queue))
            }
        }
    }
}

fn check(deliver: Option<&Delivery>, order_key: Option<&str>, payload: Option<&str>) -> Result<(), Refusal> {
    if matches!(deliver, Some(Delivery::Timeline(_))) {
        let detail = "a timer that records events delivers no firings; leave it out";
        for (field, is_there) in [("payload", payload.is_some()), ("order_key", order_key.is_some())] {
            if is_there {
                return Err(Refusal::invalid(field, detail));
            }
        }
    }
    if let Some(order_key) = order_key
        && (order_key.is_empty() || order_key.len() > TIMER_ORDER_KEY_BYTES_MAX)
    {
        let detail = format!("an order key must have 1 to {TIMER_ORDER_KEY_BYTES_MAX} bytes");
        return Err(Refusal::invalid("order_key", detail));
    }
    if let Some(payload) = payload {
        if payload.len() > TIMER_PAYLOAD_BYTES_MAX {
            let detail = format!("a payload can have at most {TIMER_PAYLOAD_BYTES_MAX} bytes of JSON");
            return Err(Refusal::invalid("payload", detail));
        }
        if raw(payload).is_none() {
            return Err(Refusal::invalid("payload", "this is not JSON"));
        }
    }
    Ok(())
}
