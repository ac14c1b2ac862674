use crate::schema::ToSchema;
use axum::Json;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use timenav_core::ids::{TimelineId, TimerId};
use timenav_core::text::counted;
use timenav_core::time::{Instant, Virtual};
use timenav_engine::{
    Action, OrderKeyChange, Refusal, SkippedMoments, TimerChangeRequest, TimerDetails, TimerPage, TimerRequest,
    TimerSetStep, TimerStatus, TimerView,
};

use self::firings::FiringBody;
use super::parameters::timeline;
use crate::request::call::{Change, Read};
use crate::request::entity_tag::expect_timeline;
use crate::request::params::InPath;
use crate::response::answer::{Changed, LedgerBody, created_first};
use crate::response::problem::Failure;
use crate::route::{Form, Route};
use crate::wire::{self, Text, items_max};

pub(crate) mod advances;
pub(crate) mod firings;
pub(crate) mod holds;
mod deliver;
mod moments;
mod when;

use deliver::{DeliverBody, DeliverRequest};
use when::{CronBody, CronRequest, EveryBody, EveryRequest, MisfirePolicy, ScheduleFields, When};

const TAG: &str = "timers";

pub(crate) fn routes() -> Vec<Route> {
    vec![
        Route::change("/timers", "set_timer", "Sets a timer that fires when the clock reaches its moment", set_timer)
            .takes::<SetTimerRequest>()
            .gives::<TimerSetBody>()
            .created()
            .or_there()
            .form(Form::default().with("at").without("every").without("cron").without("misfire"))
            .form(Form::default().with("every").without("at").without("cron"))
            .form(Form::default().with("cron").without("at").without("every"))
            .heeds_if_there()
            .tag(TAG),
        Route::lookup("/timers", "timers", "Lists timers, by next moment", timers)
            .takes::<TimersRequest>()
            .gives::<TimersBody>()
            .tag(TAG),
        Route::lookup("/timers/{timer_id}", "timer", "Returns a timer and its newest firings", timer)
            .takes::<TimerTimelineRequest>()
            .gives::<TimerDetailsBody>()
            .tag(TAG),
        Route::alteration("/timers/{timer_id}", "change_timer", "Changes an armed timer", change_timer)
            .takes::<ChangeTimerRequest>()
            .gives::<TimerSetBody>()
            .tag(TAG),
        Route::removal("/timers/{timer_id}", "cancel_timer", "Cancels a timer", cancel_timer)
            .takes::<TimerTimelineRequest>()
            .gives::<TimerSetBody>()
            .stores_response()
            .tag(TAG),
        moments::route().tag(TAG),
    ]
}

/// A timer to set.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SetTimerRequest {
    /// The id of the timer. Defaults to a generated id. Setting an identical timer again changes nothing.
    #[schema(value_type = Option<String>, format = "id", example = "renew-42")]
    timer_id: Option<Text<TimerId>>,
    /// The moment at which the timer fires. If the clock has passed it, the timer fires at once, with that moment.
    #[schema(value_type = Option<String>, format = "timestamp", example = "2027-01-31T09:00:00Z")]
    at: Option<Text<Instant<Virtual>>>,
    /// An iCalendar rule for a recurring timer. Instead of `at`.
    every: Option<EveryRequest>,
    /// A cron expression for a recurring timer. Instead of `at`.
    cron: Option<CronRequest>,
    /// Which moments of a rule fire if the clock jumps over several: `all`, only the last (`once`), or none (`skip`).
    /// Defaults to `all`.
    misfire: Option<MisfirePolicy>,
    /// Whether moments of a rule before the clock's current time fire too: up to 10,000. Defaults to `false`.
    #[serde(default, deserialize_with = "wire::truth")]
    catch_up: Option<bool>,
    /// The delivery of firings. Defaults to the queue `default`.
    deliver: Option<DeliverRequest>,
    /// Any JSON for the handler, up to 65,536 bytes. Defaults to null.
    #[schema(value_type = Value, required = false)]
    payload: Option<Value>,
    /// Firings with the same key are processed one after the other.
    #[schema(min_length = 1, max_length = 256, example = "customer-7")]
    order_key: Option<String>,
    /// The timeline. Defaults to the API key's.
    #[schema(value_type = Option<String>, format = "changeable-timeline-id", example = "main")]
    timeline_id: Option<Text<TimelineId>>,
}

/// Changes of a timer.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ChangeTimerRequest {
    /// The moment at which the timer fires.
    #[schema(value_type = Option<String>, format = "timestamp", example = "2027-02-28T09:00:00Z")]
    at: Option<Text<Instant<Virtual>>>,
    /// An iCalendar rule for a recurring timer.
    every: Option<EveryRequest>,
    /// A cron expression for a recurring timer.
    cron: Option<CronRequest>,
    /// Which moments of a rule fire if the clock jumps over several: `all`, only the last (`once`), or none (`skip`).
    /// Without a new rule, it applies to the timer's current rule.
    misfire: Option<MisfirePolicy>,
    /// The delivery of firings.
    deliver: Option<DeliverRequest>,
    /// Any JSON for the handler, up to 65,536 bytes.
    #[schema(value_type = Value, required = false)]
    #[serde(default, deserialize_with = "wire::also_null")]
    payload: Option<Value>,
    /// Firings with the same key are processed one after the other; null removes the key.
    #[schema(value_type = Option<String>, min_length = 1, max_length = 256, example = "customer-7")]
    #[serde(default, deserialize_with = "order_key_change")]
    order_key: Option<OrderKeyChange>,
    /// The timeline. Defaults to the API key's.
    #[schema(value_type = Option<String>, format = "timeline-id", example = "main")]
    timeline_id: Option<Text<TimelineId>>,
}

fn order_key_change<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<OrderKeyChange>, D::Error> {
    let order_key = Option::<String>::deserialize(deserializer)?;
    Ok(Some(order_key.map_or(OrderKeyChange::Removed, OrderKeyChange::To)))
}

/// Timers to list.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TimersRequest {
    /// `armed` timers, by next moment; `done` or `cancelled` ones. Defaults to `armed`.
    state: Option<TimerStateFilter>,
    /// The timeline. Defaults to the API key's.
    #[schema(value_type = Option<String>, format = "timeline-id", example = "main")]
    timeline_id: Option<Text<TimelineId>>,
    /// The maximum number per page.
    #[schema(minimum = 1, maximum = 1_000)]
    #[serde(default, deserialize_with = "wire::page_items")]
    limit: Option<usize>,
    /// The `next_cursor` of the previous page.
    #[schema(format = "cursor")]
    cursor: Option<String>,
}

/// The state of a timer.
#[derive(Clone, Copy, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum TimerStateFilter {
    /// It will fire.
    Armed,
    /// It has fired for the last time.
    Done,
    /// It was cancelled.
    Cancelled,
}

/// The timeline of a timer.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TimerTimelineRequest {
    /// The timeline. Defaults to the API key's.
    #[schema(value_type = Option<String>, format = "timeline-id", example = "main")]
    timeline_id: Option<Text<TimelineId>>,
}

/// A timer.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct TimerBody {
    /// The id of the timer.
    timer_id: String,
    /// Position of the ledger entry that set it. Timers of the same moment fire in this order.
    position: u64,
    /// `armed`, `done` or `cancelled`.
    #[schema(value_type = String)]
    state: &'static str,
    /// The next moment. Absent unless the timer is armed.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
    /// The moment at which it fires, if it is not recurring.
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<String>,
    /// The iCalendar rule.
    #[serde(skip_serializing_if = "Option::is_none")]
    every: Option<EveryBody>,
    /// The cron expression.
    #[serde(skip_serializing_if = "Option::is_none")]
    cron: Option<CronBody>,
    /// Which moments of the rule fire if the clock jumps over several.
    #[schema(value_type = Option<String>)]
    #[serde(skip_serializing_if = "Option::is_none")]
    misfire: Option<&'static str>,
    /// The delivery of firings.
    deliver: DeliverBody,
    /// The payload for the handler.
    #[schema(value_type = Value)]
    payload: Value,
    /// Firings with the same key are processed one after the other.
    #[serde(skip_serializing_if = "Option::is_none")]
    order_key: Option<String>,
    /// Grows when past moments recur.
    round: u32,
    /// The user who set it.
    set_by: String,
    /// Host time when it was set.
    set_at: String,
}

/// A timer that was set, changed or canceled.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct TimerSetBody {
    /// A sentence that says what happened.
    status: String,
    /// `true` if this request created the timeline. Absent otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    timeline_created: Option<bool>,
    /// The timeline.
    timeline_id: String,
    /// The timer.
    timer: TimerBody,
    /// Its place in the ledger.
    ledger: LedgerBody,
}

/// A timer and its firings.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct TimerDetailsBody {
    /// A sentence that sums up the result.
    status: String,
    /// The timeline.
    timeline_id: String,
    /// The timer.
    timer: TimerBody,
    /// The newest 100 firings, the newest first. `GET /v1/firings` lists all.
    firings: Vec<FiringBody>,
    /// Moments of the rule that did not fire because 10,000 firings were pending, or because of `misfire`. Omitted if
    /// empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    skipped: Option<SkippedMomentsBody>,
}

/// Moments of a rule that have not fired since the timer was set or changed, within the newest 4,096 ledger entries.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SkippedMomentsBody {
    /// The number of moments.
    count: u64,
    /// Whether all were counted: up to 100,000.
    complete: bool,
    /// The first moment.
    from: String,
    /// The last moment.
    to: String,
}

/// One page of timers.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct TimersBody {
    /// A sentence that sums up the result.
    status: String,
    /// The timeline.
    timeline_id: String,
    /// The timers.
    timers: Vec<TimerBody>,
    /// The cursor of the next page, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
    /// Whether there is another page.
    has_more: bool,
}

async fn set_timer(
    Change { app, caller, idempotency, headers, request }: Change<SetTimerRequest>,
) -> Result<Changed<TimerSetBody>, Failure> {
    let timeline_id = caller.timeline(timeline(request.timeline_id));
    expect_timeline(&app, &headers, (&caller, &timeline_id), Action::SetTimer).await?;
    let when = When { at: request.at, every: request.every, cron: request.cron, misfire: request.misfire };
    let schedule = when.schedule(&app, &timeline_id, request.catch_up.unwrap_or(false))?;
    let engine_request = TimerRequest {
        schedule,
        deliver: request.deliver.map(DeliverRequest::read).transpose()?,
        order_key: request.order_key,
        payload: request.payload.map(|payload| payload.to_string().into()),
    };
    let timer_id = request.timer_id.map(|text| text.0);
    let step = app.engine.set_timer(&caller, Some(timeline_id), (timer_id, engine_request), idempotency).await?;
    let sentence = match step.timer.row.next {
        Some(next) if step.changed => format!("The timer fires at {next}."),
        Some(next) => format!("The timer was set before; it fires at {next}."),
        None => "The timer was set before.".to_owned(),
    };
    let (changed, replayed) = (step.changed, step.replayed);
    let body = TimerSetBody::of(step, sentence);
    Ok(if changed { Changed::created(body, replayed) } else { Changed::ok(body, replayed) })
}

async fn change_timer(
    InPath(timer_id): InPath,
    Change { app, caller, idempotency, request, .. }: Change<ChangeTimerRequest>,
) -> Result<Changed<TimerSetBody>, Failure> {
    let timeline_id = caller.timeline(timeline(request.timeline_id));
    let when = When { at: request.at, every: request.every, cron: request.cron, misfire: request.misfire };
    let engine_request = TimerChangeRequest {
        schedule: when.change(&app, &timeline_id)?,
        deliver: request.deliver.map(DeliverRequest::read).transpose()?,
        order_key: request.order_key,
        payload: request.payload.map(|payload| payload.to_string().into()),
    };
    let engine_request = (named(timer_id)?, engine_request);
    let step = app.engine.change_timer(&caller, Some(timeline_id), engine_request, idempotency).await?;
    let next = step.timer.row.next.map_or_else(String::new, |next| format!(" It fires at {next}."));
    let replayed = step.replayed;
    Ok(Changed::ok(TimerSetBody::of(step, format!("The timer was changed.{next}")), replayed))
}

async fn cancel_timer(
    InPath(timer_id): InPath,
    Change { app, caller, idempotency, request, .. }: Change<TimerTimelineRequest>,
) -> Result<Changed<TimerSetBody>, Failure> {
    let timeline = timeline(request.timeline_id);
    let (step, pending) = app.engine.cancel_timer(&caller, timeline, named(timer_id)?, idempotency).await?;
    let replayed = step.replayed;
    let sentence = cancelled_sentence(step.changed, pending);
    Ok(Changed::ok(TimerSetBody::of(step, sentence), replayed))
}

/// Returns a sentence about whether a timer was canceled, and how many of its firings are still delivered.
fn cancelled_sentence(changed: bool, pending: usize) -> String {
    let cancelled = if changed { "The timer was canceled." } else { "The timer no longer fires; nothing changed." };
    match pending {
        0 => cancelled.to_owned(),
        1 => format!("{cancelled} It fired before: 1 firing has no outcome yet and is still delivered."),
        _ => format!("{cancelled} It fired before: {pending} firings have no outcome yet and are still delivered."),
    }
}

async fn timers(Read { app, caller, request }: Read<TimersRequest>) -> Result<Json<TimersBody>, Failure> {
    let status = match request.state.unwrap_or(TimerStateFilter::Armed) {
        TimerStateFilter::Armed => TimerStatus::Armed,
        TimerStateFilter::Done => TimerStatus::Done,
        TimerStateFilter::Cancelled => TimerStatus::Cancelled,
    };
    let page = (items_max(request.limit), request.cursor.as_deref());
    let page = app.engine.timers(&caller, timeline(request.timeline_id), status, page).await?;
    Ok(Json(page.into()))
}

async fn timer(
    InPath(timer_id): InPath,
    Read { app, caller, request }: Read<TimerTimelineRequest>,
) -> Result<Json<TimerDetailsBody>, Failure> {
    let details = app.engine.timer(&caller, timeline(request.timeline_id), &named(timer_id)?).await?;
    let TimerDetails { timeline_id, timer, firings, skipped } = details;
    let timer = TimerBody::of(timer);
    let status = match &timer.next {
        Some(next) => format!("The timer fires at {next}."),
        None => format!("The timer is {}.", timer.state),
    };
    let firings = firings.iter().map(FiringBody::of).collect();
    let skipped = skipped.as_ref().map(SkippedMomentsBody::of);
    Ok(Json(TimerDetailsBody { status, timeline_id: timeline_id.to_string(), timer, firings, skipped }))
}

fn named(timer_id: String) -> Result<TimerId, Failure> {
    TimerId::new(&timer_id).map_err(|_| Refusal::NotFound { what: "timer", id: timer_id }.into())
}

impl SkippedMomentsBody {
    fn of(skipped: &SkippedMoments) -> Self {
        let SkippedMoments { count, is_complete, from, to } = skipped;
        Self { count: *count, complete: *is_complete, from: from.to_string(), to: to.to_string() }
    }
}

impl TimerSetBody {
    fn of(step: TimerSetStep, sentence: String) -> Self {
        let timeline_id = step.timeline_id.to_string();
        let (status, timeline_created) = created_first(step.ledger, &timeline_id, sentence);
        Self { status, timeline_created, timeline_id, timer: TimerBody::of(step.timer), ledger: step.ledger.into() }
    }
}

impl TimerBody {
    pub(crate) fn of(timer: TimerView) -> Self {
        let state = match timer.status() {
            TimerStatus::Armed => "armed",
            TimerStatus::Done => "done",
            TimerStatus::Cancelled => "cancelled",
        };
        let ScheduleFields { at, every, cron, misfire } = ScheduleFields::of(timer.schedule);
        let row = timer.row;
        let deliver = DeliverBody::of(&row);
        Self {
            timer_id: row.timer_id.to_string(),
            position: row.position,
            state,
            next: row.next.map(|next| next.to_string()),
            at,
            every,
            cron,
            misfire,
            deliver,
            payload: serde_json::from_str(&row.payload).unwrap_or_default(),
            order_key: row.order_key,
            round: row.round,
            set_by: row.set_by,
            set_at: row.set_at.to_string(),
        }
    }
}

impl From<TimerPage> for TimersBody {
    fn from(page: TimerPage) -> Self {
        Self {
            status: format!("{}.", counted(page.timers.len(), "timer")),
            timeline_id: page.timeline_id.to_string(),
            timers: page.timers.into_iter().map(TimerBody::of).collect(),
            has_more: page.next_cursor.is_some(),
            next_cursor: page.next_cursor,
        }
    }
}
