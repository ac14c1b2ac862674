use crate::schema::ToSchema;
use axum::Json;
use futures_util::future::{Either, select};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use timenav_core::ids::{FiringId, LeaseId, QueueId, TimelineId};
use timenav_core::limits::{
    CLAIM_WAIT_SECONDS_MAX, FIRINGS_PER_REQUEST_MAX, LEASE_SECONDS_DEFAULT, LEASE_SECONDS_MAX, LEASE_SECONDS_MIN,
};
use timenav_core::text::counted;
use timenav_core::time::Span;
use timenav_core::timers::FiringState;
use timenav_engine::{Claim, ClaimedFiring, Engine, FiringAnswer, FiringRow, FiringsRequest, Refusal};
use tokio::time::timeout;

use crate::request::auth::access_end;
use crate::request::call::Change;
use crate::request::params::InPath;
use crate::response::answer::{Changed, LedgerBody};
use crate::response::problem::Failure;
use crate::route::Route;
use crate::v1::parameters::timeline;
use crate::wire::{self, HostTime, Text};

mod list;
mod stream;

use list::{FiringsBody, FiringsRequest as ListRequest};
use stream::{FiringsStreamBody, FiringsStreamRequest, MESSAGES};

const TAG: &str = "timers";

pub(crate) fn routes() -> Vec<Route> {
    vec![
        Route::change(
            "/queues/{queue}/claim",
            "claim_firings",
            "Claims firings of a queue, and can wait for them",
            claim,
        )
        .takes::<ClaimRequest>()
        .gives::<ClaimedBody>()
        .anew()
        .tag(TAG),
        Route::lookup("/firings", "firings", "Lists firings by due time", list::list)
            .takes::<ListRequest>()
            .gives::<FiringsBody>()
            .tag(TAG),
        Route::change("/firings/ack", "acknowledge_firings", "Acknowledges firings", acknowledge)
            .takes::<AcknowledgeRequest>()
            .gives::<FiringsSettledBody>()
            .tag(TAG),
        Route::change("/firings/fail", "fail_firings", "Reports that an attempt at firings failed", fail)
            .takes::<FailRequest>()
            .gives::<FiringsSettledBody>()
            .tag(TAG),
        Route::change(
            "/firings/{firing_id}/redeliver",
            "redeliver_firing",
            "Delivers a failed firing again",
            redeliver,
        )
        .takes::<RedeliverRequest>()
        .gives::<FiringsSettledBody>()
        .tag(TAG),
        Route::change("/firings/extend", "extend_firings", "Extends the leases of claimed firings", extend)
            .takes::<ExtendRequest>()
            .gives::<ExtendedBody>()
            .anew()
            .tag(TAG),
        Route::lookup(
            "/firings/stream",
            "firings_stream",
            "Streams changes of firings without claiming any",
            stream::watch,
        )
        .takes::<FiringsStreamRequest>()
        .streams::<FiringsStreamBody>(MESSAGES)
        .heeds("Last-Event-ID", "The id of the last message received: later messages are sent first", "place-in-stream")
        .tag(TAG),
    ]
}

/// Firings to claim.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ClaimRequest {
    /// The maximum number of firings. Defaults to 1.
    #[schema(value_type = Option<usize>, minimum = 1, maximum = 1_000, example = 10)]
    #[serde(default, deserialize_with = "wire::number")]
    max: Option<usize>,
    /// How long to wait for a firing, in host time. Defaults to `0s`; at most `60s`.
    #[schema(value_type = Option<String>, format = "duration", example = "20s")]
    wait: Option<Text<HostTime>>,
    /// How long the lease lasts, in host time. Defaults to `30s`; after that, other workers can claim the firings.
    #[schema(value_type = Option<String>, format = "duration", example = "30s")]
    ack_timeout: Option<Text<HostTime>>,
    /// The timeline. Defaults to the API key's.
    #[schema(value_type = Option<String>, format = "timeline-id", example = "main")]
    timeline_id: Option<Text<TimelineId>>,
}

/// Firings to acknowledge.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AcknowledgeRequest {
    /// The firings.
    #[schema(value_type = Vec<String>, format = "id", min_items = 1, max_items = 1_000)]
    firing_ids: Vec<Text<FiringId>>,
    /// The `lease_id` of each firing. A firing that has since been claimed again is rejected (`lease_lost`). Without
    /// lease ids, a firing is rejected if another user has claimed it.
    #[schema(value_type = Option<Vec<String>>, format = "id", min_items = 1, max_items = 1_000)]
    lease_ids: Option<Vec<Text<LeaseId>>>,
    /// The timeline. Defaults to the API key's.
    #[schema(value_type = Option<String>, format = "timeline-id", example = "main")]
    timeline_id: Option<Text<TimelineId>>,
}

/// Firings whose attempt failed.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct FailRequest {
    /// The firings.
    #[schema(value_type = Vec<String>, format = "id", min_items = 1, max_items = 1_000)]
    firing_ids: Vec<Text<FiringId>>,
    /// The `lease_id` of each firing. A firing that has since been claimed again is rejected (`lease_lost`). Without
    /// lease ids, a firing is rejected if another user has claimed it.
    #[schema(value_type = Option<Vec<String>>, format = "id", min_items = 1, max_items = 1_000)]
    lease_ids: Option<Vec<Text<LeaseId>>>,
    /// The reason for the failure.
    #[schema(max_length = 1_024, example = "the card was declined")]
    reason: Option<String>,
    /// The timeline. Defaults to the API key's.
    #[schema(value_type = Option<String>, format = "timeline-id", example = "main")]
    timeline_id: Option<Text<TimelineId>>,
}

/// Leases to extend.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExtendRequest {
    /// The firings.
    #[schema(value_type = Vec<String>, format = "id", min_items = 1, max_items = 1_000)]
    firing_ids: Vec<Text<FiringId>>,
    /// The `lease_id` of each firing. A firing that has since been claimed again is `lost`. Without lease ids, a firing
    /// is lost if another user has claimed it.
    #[schema(value_type = Option<Vec<String>>, format = "id", min_items = 1, max_items = 1_000)]
    lease_ids: Option<Vec<Text<LeaseId>>>,
    /// How long the leases last from now on, in host time. Defaults to `30s`.
    #[schema(value_type = Option<String>, format = "duration", example = "60s")]
    ttl: Option<Text<HostTime>>,
    /// The timeline. Defaults to the API key's.
    #[schema(value_type = Option<String>, format = "timeline-id", example = "main")]
    timeline_id: Option<Text<TimelineId>>,
}

/// The timeline of a firing to deliver again.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RedeliverRequest {
    /// The timeline. Defaults to the API key's.
    #[schema(value_type = Option<String>, format = "timeline-id", example = "main")]
    timeline_id: Option<Text<TimelineId>>,
}

/// Firings leased to the caller.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ClaimedBody {
    /// A sentence that sums up the result.
    status: String,
    /// The timeline.
    timeline_id: String,
    /// The queue.
    queue: String,
    /// The firings, by due time.
    firings: Vec<ClaimedFiringBody>,
}

/// A firing leased to the caller.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ClaimedFiringBody {
    /// The id of the firing, the same for all attempts.
    firing_id: String,
    /// The timer that fired.
    timer_id: String,
    /// The timeline.
    timeline_id: String,
    /// The due time.
    due: String,
    /// The round of the timer.
    round: u32,
    /// The generation of the clock.
    generation: u64,
    /// The number of instants that the advance has reached. Absent outside an advance.
    #[serde(skip_serializing_if = "Option::is_none")]
    step: Option<u64>,
    /// The number of this attempt, from 1.
    attempt: u32,
    /// The id of this claim's lease; every claim has a new one. Send it in `lease_ids` with the outcome.
    lease_id: String,
    /// Firings with the same key are processed one after the other.
    #[serde(skip_serializing_if = "Option::is_none")]
    order_key: Option<String>,
    /// The payload of the timer.
    #[schema(value_type = Value)]
    payload: Value,
    /// Host time when the lease ends.
    leased_until: String,
}

/// A due moment of a timer.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct FiringBody {
    /// The id of the firing.
    firing_id: String,
    /// The timer that fired.
    timer_id: String,
    /// The due time.
    due: String,
    /// The round of the timer.
    round: u32,
    /// The queue of the firing: `timenav:webhook` if the service sends it. Absent if it records an event.
    #[serde(skip_serializing_if = "Option::is_none")]
    queue: Option<String>,
    /// The event that it recorded, if its timer records events.
    #[serde(skip_serializing_if = "Option::is_none")]
    event_id: Option<String>,
    /// `pending`, `acknowledged`, `failed` or `superseded`.
    #[schema(value_type = String)]
    state: &'static str,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

/// The states of firings.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct FiringsSettledBody {
    /// A sentence that says what happened.
    status: String,
    /// The timeline.
    timeline_id: String,
    /// The firings, in the requested order.
    firings: Vec<FiringStateBody>,
    /// Their place in the ledger. Absent if the firings are retried.
    #[serde(skip_serializing_if = "Option::is_none")]
    ledger: Option<LedgerBody>,
}

/// The state of a firing.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct FiringStateBody {
    /// The id of the firing.
    firing_id: String,
    /// `pending`, `acknowledged`, `failed` or `superseded`.
    #[schema(value_type = String)]
    state: &'static str,
}

/// Firings whose leases were extended.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ExtendedBody {
    /// A sentence that says what happened.
    status: String,
    /// The timeline.
    timeline_id: String,
    /// The firings, in the requested order.
    firings: Vec<ExtendedFiringBody>,
}

/// A firing whose lease was extended or lost.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ExtendedFiringBody {
    /// The id of the firing.
    firing_id: String,
    /// `leased`, or `lost` if the caller has no lease on it any more.
    #[schema(value_type = String)]
    state: &'static str,
    /// Host time when the lease ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    leased_until: Option<String>,
}

/// An aborted request gives back the firings that it was about to claim.
async fn claim(
    InPath(queue): InPath,
    Change { app, caller, request, .. }: Change<ClaimRequest>,
) -> Result<Json<ClaimedBody>, Failure> {
    let queue = QueueId::new(&queue).map_err(|error| Failure::invalid("queue", error.to_string()))?;
    let max = request.max.unwrap_or(1);
    if !(1..=FIRINGS_PER_REQUEST_MAX).contains(&max) {
        return Err(Failure::invalid("max", format!("claim 1 to {FIRINGS_PER_REQUEST_MAX} firings at a time")));
    }
    let wait = request.wait.map(|Text(wait)| wire::host_time("wait", wait, (0, CLAIM_WAIT_SECONDS_MAX)));
    let wait = wait.transpose()?.unwrap_or(Span::ZERO);
    let ttl = lease("ack_timeout", request.ack_timeout)?;
    let timeline_id = caller.timeline(timeline(request.timeline_id));
    let claim = Claim { queue, max, ttl, waits: wait > Span::ZERO };
    let claiming = app.engine.claim(&caller, Some(timeline_id.clone()), &claim);
    let claimed = if claim.waits {
        let over = access_end(app.engine.clone(), caller.clone(), timeline_id.clone(), Engine::may_claim);
        let end = select(Box::pin(app.options.closing.cancelled()), Box::pin(over));
        match timeout(host(wait), select(Box::pin(claiming), end)).await {
            Ok(Either::Left((claimed, _))) => claimed?,
            Ok(Either::Right((Either::Right(_), _))) => {
                // The caller has lost access: this claim is rejected and logged.
                app.engine.claim(&caller, Some(timeline_id.clone()), &Claim { waits: false, ..claim.clone() }).await?
            }
            Ok(Either::Right((Either::Left(_), _))) | Err(_) => Vec::new(),
        }
    } else {
        claiming.await?
    };
    let status = format!("{}.", counted(claimed.len(), "firing"));
    let firings = claimed.into_iter().map(|firing| ClaimedFiringBody::of(firing, &timeline_id)).collect();
    let queue = claim.queue.to_string();
    Ok(Json(ClaimedBody { status, timeline_id: timeline_id.to_string(), queue, firings }))
}

async fn acknowledge(
    Change { app, caller, idempotency, request, .. }: Change<AcknowledgeRequest>,
) -> Result<Changed<FiringsSettledBody>, Failure> {
    let requested = firings_of(request.timeline_id, request.firing_ids, request.lease_ids)?;
    let answer = app.engine.acknowledge(&caller, requested, idempotency).await?;
    Ok(settled(&answer))
}

async fn fail(
    Change { app, caller, idempotency, request, .. }: Change<FailRequest>,
) -> Result<Changed<FiringsSettledBody>, Failure> {
    let requested = firings_of(request.timeline_id, request.firing_ids, request.lease_ids)?;
    let answer = app.engine.fail_firings(&caller, requested, request.reason, idempotency).await?;
    Ok(settled(&answer))
}

/// Delivers a failed firing again, as another firing of the same moment.
async fn redeliver(
    InPath(firing_id): InPath,
    Change { app, caller, idempotency, request, .. }: Change<RedeliverRequest>,
) -> Result<Changed<FiringsSettledBody>, Failure> {
    let missing = |_| Refusal::NotFound { what: "firing", id: firing_id.clone() };
    let firing_id = FiringId::new(&firing_id).map_err(missing)?;
    let answer = app.engine.redeliver(&caller, timeline(request.timeline_id), firing_id, idempotency).await?;
    Ok(settled(&answer))
}

async fn extend(Change { app, caller, request, .. }: Change<ExtendRequest>) -> Result<Json<ExtendedBody>, Failure> {
    let ttl = lease("ttl", request.ttl)?;
    let requested = firings_of(request.timeline_id, request.firing_ids, request.lease_ids)?;
    let (timeline_id, extended) = app.engine.extend_leases(&caller, requested, ttl).await?;
    let lost = extended.iter().filter(|(_, until)| until.is_none()).count();
    let status = match lost {
        0 => "The leases were extended.".to_owned(),
        lost => format!("The leases of {lost} of {} firings were lost.", extended.len()),
    };
    let one = |(firing_id, until): (FiringId, Option<_>)| ExtendedFiringBody {
        firing_id: firing_id.to_string(),
        state: if until.is_some() { "leased" } else { "lost" },
        leased_until: until.map(|until: timenav_core::time::Instant<_>| until.to_string()),
    };
    let firings = extended.into_iter().map(one).collect();
    Ok(Json(ExtendedBody { status, timeline_id: timeline_id.to_string(), firings }))
}

pub(crate) fn host(span: Span) -> std::time::Duration {
    std::time::Duration::from_micros(u64::try_from(span.micros()).unwrap_or(0))
}

pub(crate) fn lease(field: &str, requested: Option<Text<HostTime>>) -> Result<Span, Failure> {
    let range = (LEASE_SECONDS_MIN, LEASE_SECONDS_MAX);
    let requested = requested.map(|Text(requested)| wire::host_time(field, requested, range)).transpose()?;
    Ok(requested.or_else(|| Span::from_secs(LEASE_SECONDS_DEFAULT)).unwrap_or(Span::ZERO))
}

fn firings_of(
    timeline_id: Option<Text<TimelineId>>,
    firing_ids: Vec<Text<FiringId>>,
    lease_ids: Option<Vec<Text<LeaseId>>>,
) -> Result<FiringsRequest, Failure> {
    let firing_ids = firing_ids.into_iter().map(|text| text.0).collect();
    let lease_ids: Option<Vec<LeaseId>> = lease_ids.map(|ids| ids.into_iter().map(|text| text.0).collect());
    if lease_ids.as_ref().is_some_and(|ids| !(1..=FIRINGS_PER_REQUEST_MAX).contains(&ids.len())) {
        let detail = format!("give 1 to {FIRINGS_PER_REQUEST_MAX} leases, or leave it out");
        return Err(Failure::invalid("lease_ids", detail));
    }
    Ok(FiringsRequest { timeline: timeline(timeline_id), firing_ids, lease_ids })
}

fn settled(answer: &FiringAnswer) -> Changed<FiringsSettledBody> {
    let status = match answer.firings.len() {
        1 => answer.firings.first().map_or_else(String::new, |(_, state)| format!("The firing is {}.", state.as_str())),
        count => format!("{count} firings."),
    };
    let one = |(firing_id, state): &(FiringId, FiringState)| FiringStateBody {
        firing_id: firing_id.to_string(),
        state: state.as_str(),
    };
    let body = FiringsSettledBody {
        status,
        timeline_id: answer.timeline_id.to_string(),
        firings: answer.firings.iter().map(one).collect(),
        ledger: answer.ledger.map(Into::into),
    };
    Changed::ok(body, answer.replayed)
}

impl ClaimedFiringBody {
    fn of(claimed: ClaimedFiring, timeline_id: &TimelineId) -> Self {
        let ClaimedFiring { firing, payload, generation, step, attempt, lease_id, leased_until, .. } = claimed;
        Self {
            firing_id: firing.firing_id.to_string(),
            timer_id: firing.timer_id.to_string(),
            timeline_id: timeline_id.to_string(),
            due: firing.due_firing.due.to_string(),
            round: firing.due_firing.round,
            generation,
            step,
            attempt,
            lease_id: lease_id.to_string(),
            order_key: firing.order_key,
            payload: serde_json::from_str(&payload).unwrap_or_default(),
            leased_until: leased_until.to_string(),
        }
    }
}

impl FiringBody {
    pub(crate) fn of(firing: &FiringRow) -> Self {
        let is_event = firing.records_event() && firing.state == FiringState::Acknowledged;
        Self {
            firing_id: firing.firing_id.to_string(),
            timer_id: firing.timer_id.to_string(),
            due: firing.due_firing.due.to_string(),
            round: firing.due_firing.round,
            queue: (!firing.records_event()).then(|| firing.queue.to_string()),
            event_id: Some(firing.firing_id.to_string()).filter(|_| is_event),
            state: firing.state.as_str(),
            reason: firing.reason.clone(),
        }
    }
}
