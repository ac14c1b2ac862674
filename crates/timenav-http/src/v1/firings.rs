//! Firings: claimed from queues, acknowledged, failed; and what came of an advance.

use axum::Json;
use axum::extract::State;
use futures_util::future::{Either, select};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use timenav_core::ids::{AdvanceId, FiringId, QueueId, TimelineId, TimerId};
use timenav_core::limits::{
    CLAIM_WAIT_SECONDS_MAX, FIRINGS_PER_REQUEST_MAX, LEASE_SECONDS_DEFAULT, LEASE_SECONDS_MAX, LEASE_SECONDS_MIN,
    SETTLE_WAIT_SECONDS_DEFAULT, SETTLE_WAIT_SECONDS_MAX,
};
use timenav_core::time::Span;
use timenav_core::timers::AdvanceState;
use timenav_engine::{
    Claim, ClaimedFiring, FiringAnswer, FiringRow, FiringsRequest, ForeseenFiring, Foresight, HorizonUse, Receipt,
    Refusal,
};
use tokio::time::timeout;
use utoipa::ToSchema;

use super::parameters::timeline;
use crate::answer::{Changed, LedgerBody};
use crate::auth::Authenticated;
use crate::idempotency::Idempotent;
use crate::params::{InPath, Params};
use crate::problem::Failure;
use crate::route::Route;
use crate::state::App;
use crate::wire::{self, HostTime, Text};

const TAG: &str = "timers";

pub(crate) fn routes() -> Vec<Route> {
    vec![
        Route::change("/queues/{queue}/claim", "claim_firings", "Claims firings of a queue, and waits for some", claim)
            .takes::<ClaimRequest>()
            .gives::<ClaimedBody>()
            .anew()
            .tag(TAG),
        Route::change("/firings/ack", "acknowledge_firings", "Says that firings are done", acknowledge)
            .takes::<AcknowledgeRequest>()
            .gives::<FiringsSettledBody>()
            .tag(TAG),
        Route::change("/firings/fail", "fail_firings", "Says that an attempt at firings failed", fail)
            .takes::<FailRequest>()
            .gives::<FiringsSettledBody>()
            .anew()
            .tag(TAG),
        Route::change("/firings/extend", "extend_firings", "Keeps claimed firings for longer", extend)
            .takes::<ExtendRequest>()
            .gives::<ExtendedBody>()
            .anew()
            .tag(TAG),
        Route::lookup(
            "/advances/{advance_id}",
            "advance",
            "Tells what fired while the clock moved, and what came of it",
            advance,
            HorizonUse::Refused,
        )
        .takes::<AdvanceRequest>()
        .gives::<ReceiptBody>()
        .tag(TAG),
    ]
}

/// What to claim.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ClaimRequest {
    /// At most so many firings. Defaults to 1.
    #[schema(value_type = Option<usize>, minimum = 1, maximum = 1_000, example = 10)]
    #[serde(default, deserialize_with = "wire::number")]
    max: Option<usize>,
    /// How long to wait if there is none, in host time. Defaults to `0s`; at most `60s`.
    #[schema(value_type = Option<String>, format = "duration", example = "20s")]
    wait: Option<Text<HostTime>>,
    /// For how long the firings are yours, in host time. Defaults to `30s`; after that others are given them.
    #[schema(value_type = Option<String>, format = "duration", example = "30s")]
    ack_timeout: Option<Text<HostTime>>,
    /// The timeline. Defaults to the API key's.
    #[schema(value_type = Option<String>, format = "timeline-id", example = "main")]
    timeline_id: Option<Text<TimelineId>>,
}

/// Which firings are done.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AcknowledgeRequest {
    /// The firings.
    #[schema(value_type = Vec<String>, format = "id", min_items = 1, max_items = 1_000)]
    firing_ids: Vec<Text<FiringId>>,
    /// The timeline. Defaults to the API key's.
    #[schema(value_type = Option<String>, format = "timeline-id", example = "main")]
    timeline_id: Option<Text<TimelineId>>,
}

/// Which firings were tried in vain.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct FailRequest {
    /// The firings.
    #[schema(value_type = Vec<String>, format = "id", min_items = 1, max_items = 1_000)]
    firing_ids: Vec<Text<FiringId>>,
    /// Why.
    #[schema(max_length = 1_024, example = "the card was declined")]
    reason: Option<String>,
    /// The timeline. Defaults to the API key's.
    #[schema(value_type = Option<String>, format = "timeline-id", example = "main")]
    timeline_id: Option<Text<TimelineId>>,
}

/// Which firings take longer.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExtendRequest {
    /// The firings.
    #[schema(value_type = Vec<String>, format = "id", min_items = 1, max_items = 1_000)]
    firing_ids: Vec<Text<FiringId>>,
    /// For how long they are yours from now on, in host time. Defaults to `30s`.
    #[schema(value_type = Option<String>, format = "duration", example = "60s")]
    ttl: Option<Text<HostTime>>,
    /// The timeline. Defaults to the API key's.
    #[schema(value_type = Option<String>, format = "timeline-id", example = "main")]
    timeline_id: Option<Text<TimelineId>>,
}

/// Which advance to read.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AdvanceRequest {
    /// How long to wait while it goes on, in host time. Defaults to `0s`.
    #[schema(value_type = Option<String>, format = "duration", example = "30s")]
    wait: Option<Text<HostTime>>,
    /// The timeline. Defaults to the API key's.
    #[schema(value_type = Option<String>, format = "timeline-id", example = "main")]
    timeline_id: Option<Text<TimelineId>>,
}

/// Firings in your hands.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ClaimedBody {
    /// A sentence that sums up the result.
    status: String,
    /// The timeline.
    timeline_id: String,
    /// The queue.
    queue: String,
    /// The firings, in the order in which they fell due.
    firings: Vec<ClaimedFiringBody>,
}

/// A firing in your hands.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ClaimedFiringBody {
    /// The id of the firing: the same however often it is handed out.
    firing_id: String,
    /// The timer that fired.
    timer_id: String,
    /// The timeline.
    timeline_id: String,
    /// The moment at which it fell due.
    due: String,
    /// The round of the timer.
    round: u32,
    /// The generation of the clock.
    generation: u64,
    /// How many instants the advance has come to. Absent outside an advance.
    #[serde(skip_serializing_if = "Option::is_none")]
    step: Option<u64>,
    /// Which attempt this is, from 1.
    attempt: u32,
    /// Firings with the same key are worked on one after the other.
    #[serde(skip_serializing_if = "Option::is_none")]
    order_key: Option<String>,
    /// What the timer was set with.
    #[schema(value_type = Value)]
    payload: Value,
    /// Host time until which it is yours.
    leased_until: String,
}

/// One moment of a timer that fell due.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct FiringBody {
    /// The id of the firing.
    firing_id: String,
    /// The timer that fired.
    timer_id: String,
    /// The moment at which it fell due.
    due: String,
    /// The round of the timer.
    round: u32,
    /// The queue that it waits in.
    queue: String,
    /// `pending`, `acknowledged`, `failed` or `superseded`.
    #[schema(value_type = String)]
    state: &'static str,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

/// How firings stand.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct FiringsSettledBody {
    /// A sentence that says what happened.
    status: String,
    /// The timeline.
    timeline_id: String,
    /// The firings, in the order in which they were named.
    firings: Vec<FiringStateBody>,
    /// Their place in the ledger. Absent if they are tried again.
    #[serde(skip_serializing_if = "Option::is_none")]
    ledger: Option<LedgerBody>,
}

/// How a firing stands.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct FiringStateBody {
    /// The id of the firing.
    firing_id: String,
    /// `pending`, `acknowledged`, `failed` or `superseded`.
    #[schema(value_type = String)]
    state: &'static str,
}

/// Firings that are kept for longer.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ExtendedBody {
    /// A sentence that says what happened.
    status: String,
    /// The timeline.
    timeline_id: String,
    /// The firings, in the order in which they were named.
    firings: Vec<ExtendedFiringBody>,
}

/// A firing that is kept for longer, or was lost.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ExtendedFiringBody {
    /// The id of the firing.
    firing_id: String,
    /// `leased`, or `lost` if it is not yours any more.
    #[schema(value_type = String)]
    state: &'static str,
    /// Host time until which it is yours.
    #[serde(skip_serializing_if = "Option::is_none")]
    leased_until: Option<String>,
}

/// What came of an advance.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ReceiptBody {
    /// A sentence that sums up the result.
    status: String,
    /// The timeline.
    timeline_id: String,
    /// What fired, and what came of it.
    settled: SettledBody,
}

/// What fired while the clock moved, and what came of it.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SettledBody {
    /// `settled` at the destination, `running` on the way; `stopped` if the clock was paused or somebody held it for too
    /// long, `stuck` if timers kept arming themselves for the same instant.
    #[schema(value_type = String)]
    state: &'static str,
    /// The id of the advance.
    advance_id: String,
    /// The timeline.
    timeline_id: String,
    /// What the clock showed before.
    from: String,
    /// The destination.
    to: String,
    /// How far the clock has come.
    reached: String,
    /// How many instants it stood at.
    step: u64,
    /// How many firings there were.
    fired: u64,
    /// How many were acknowledged.
    acknowledged: u64,
    /// How many failed.
    failed: u64,
    /// How many nobody has acknowledged yet: their queues have no listener. They go to the next one.
    unheard: u64,
    /// Who held the instant it was stopped at.
    #[serde(skip_serializing_if = "Option::is_none")]
    held_by: Option<String>,
    /// The first 100 firings.
    firings: Vec<FiringBody>,
}

/// What would fire if the clock were moved.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct WouldFireBody {
    /// Where the clock would go.
    to: String,
    /// How many firings there would be.
    count: u64,
    /// Whether all were counted. Timers that handlers would set on the way are not.
    complete: bool,
    /// The first 1,000 firings, in their order.
    firings: Vec<WouldFireFiringBody>,
    /// How many firings each timer would have.
    timers: Vec<WouldFireTimerBody>,
}

/// A firing that would be.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct WouldFireFiringBody {
    /// The timer.
    timer_id: String,
    /// The moment at which it would fire.
    due: String,
    /// The queue that the firing would wait in.
    queue: String,
}

/// How often a timer would fire.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct WouldFireTimerBody {
    /// The timer.
    timer_id: String,
    /// How often.
    count: u64,
}

impl WouldFireBody {
    pub(crate) fn of(foresight: &Foresight) -> Self {
        let firing = |one: &ForeseenFiring| WouldFireFiringBody {
            timer_id: one.timer_id.to_string(),
            due: one.due.to_string(),
            queue: one.queue.to_string(),
        };
        let timer =
            |(timer_id, count): &(TimerId, u64)| WouldFireTimerBody { timer_id: timer_id.to_string(), count: *count };
        Self {
            to: foresight.to.to_string(),
            count: foresight.count,
            complete: foresight.is_complete,
            firings: foresight.firings.iter().map(firing).collect(),
            timers: foresight.by_timer.iter().map(timer).collect(),
        }
    }
}

/// Claims firings. A request that is broken off while it waits gives back what it was about to get.
async fn claim(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    InPath(queue): InPath,
    Params(request): Params<ClaimRequest>,
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
        let closing = app.options.closing.cancelled();
        let claiming = timeout(host(wait), select(Box::pin(claiming), Box::pin(closing)));
        match claiming.await {
            Ok(Either::Left((claimed, _))) => claimed?,
            Ok(Either::Right(_)) | Err(_) => Vec::new(),
        }
    } else {
        claiming.await?
    };
    let status = match claimed.len() {
        1 => "1 firing.".to_owned(),
        count => format!("{count} firings."),
    };
    let firings = claimed.into_iter().map(|firing| ClaimedFiringBody::of(firing, &timeline_id)).collect();
    let queue = claim.queue.to_string();
    Ok(Json(ClaimedBody { status, timeline_id: timeline_id.to_string(), queue, firings }))
}

/// Says that firings are done.
async fn acknowledge(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    Idempotent(idempotency): Idempotent,
    Params(request): Params<AcknowledgeRequest>,
) -> Result<Changed<FiringsSettledBody>, Failure> {
    let asked = firings_of(request.timeline_id, request.firing_ids);
    let answer = app.engine.acknowledge(&caller, asked, idempotency).await?;
    Ok(settled(answer))
}

/// Says that an attempt at firings failed.
async fn fail(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    Params(request): Params<FailRequest>,
) -> Result<Changed<FiringsSettledBody>, Failure> {
    let asked = firings_of(request.timeline_id, request.firing_ids);
    let answer = app.engine.fail_firings(&caller, asked, request.reason).await?;
    Ok(settled(answer))
}

/// Keeps claimed firings for longer.
async fn extend(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    Params(request): Params<ExtendRequest>,
) -> Result<Json<ExtendedBody>, Failure> {
    let ttl = lease("ttl", request.ttl)?;
    let asked = firings_of(request.timeline_id, request.firing_ids);
    let (timeline_id, extended) = app.engine.extend_leases(&caller, asked, ttl).await?;
    let lost = extended.iter().filter(|(_, until)| until.is_none()).count();
    let status = match lost {
        0 => "The firings are yours for longer.".to_owned(),
        lost => format!("{lost} of {} firings are not yours any more.", extended.len()),
    };
    let one = |(firing_id, until): (FiringId, Option<_>)| ExtendedFiringBody {
        firing_id: firing_id.to_string(),
        state: if until.is_some() { "leased" } else { "lost" },
        leased_until: until.map(|until: timenav_core::time::Instant<_>| until.to_string()),
    };
    let firings = extended.into_iter().map(one).collect();
    Ok(Json(ExtendedBody { status, timeline_id: timeline_id.to_string(), firings }))
}

/// Tells what came of an advance.
async fn advance(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    InPath(advance_id): InPath,
    Params(request): Params<AdvanceRequest>,
) -> Result<Json<ReceiptBody>, Failure> {
    let missing = |id: &str| Refusal::NotFound { what: "advance", id: id.to_owned() };
    let advance_id = AdvanceId::new(&advance_id).map_err(|_| missing(&advance_id))?;
    let range = (0, SETTLE_WAIT_SECONDS_MAX);
    let wait = request.wait.map(|Text(wait)| wire::host_time("wait", wait, range)).transpose()?;
    let timeline = timeline(request.timeline_id);
    let receipt = app.engine.read_receipt(&caller, timeline, &advance_id).await?;
    let timeline_id = receipt.timeline_id.clone();
    let receipt = if receipt.state == AdvanceState::Running && wait.is_some() {
        wait_for(&app, (&timeline_id, &advance_id), wait).await;
        app.engine.check_told(&caller, "advance").await?;
        app.engine.receipt(&timeline_id, &advance_id).await?
    } else {
        receipt
    };
    let status = receipt_sentence(&receipt, "");
    let settled = SettledBody::of(&receipt);
    Ok(Json(ReceiptBody { status, timeline_id: timeline_id.to_string(), settled }))
}

/// Waits until an advance does not go on any more, but no longer than somebody wants to wait, or the service runs.
pub(crate) async fn wait_for(app: &App, (timeline, advance_id): (&TimelineId, &AdvanceId), wait: Option<Span>) {
    let wait = wait.or_else(|| Span::from_secs(SETTLE_WAIT_SECONDS_DEFAULT)).unwrap_or(Span::ZERO);
    let settled = Box::pin(app.engine.until_settled(timeline, advance_id));
    let closing = Box::pin(app.options.closing.cancelled());
    // Who waited long enough is told how far it has come.
    let _ = timeout(host(wait), select(settled, closing)).await;
}

/// Says what came of an advance, after a sentence about the clock.
pub(crate) fn receipt_sentence(receipt: &Receipt, of_clock: &str) -> String {
    let counts = receipt.counts;
    let fired = if counts.fired == 1 { "1 timer fired".to_owned() } else { format!("{} timers fired", counts.fired) };
    let what = match receipt.state {
        AdvanceState::Settled => String::new(),
        AdvanceState::Running => format!(" The advance is still on its way to {}.", receipt.to),
        AdvanceState::Stopped => format!(" The advance to {} was stopped.", receipt.to),
        AdvanceState::Stuck => {
            format!(" The advance to {} is stuck: timers kept arming themselves for now.", receipt.to)
        }
    };
    let (acknowledged, failed, unheard) = (counts.acknowledged, counts.failed, counts.unheard());
    let said = format!(
        "{of_clock}{what} On the way {fired}: {acknowledged} acknowledged, {failed} failed, {unheard} unheard."
    );
    said.trim_start().to_owned()
}

fn host(span: Span) -> std::time::Duration {
    std::time::Duration::from_micros(u64::try_from(span.micros()).unwrap_or(0))
}

fn lease(field: &str, asked: Option<Text<HostTime>>) -> Result<Span, Failure> {
    let range = (LEASE_SECONDS_MIN, LEASE_SECONDS_MAX);
    let asked = asked.map(|Text(asked)| wire::host_time(field, asked, range)).transpose()?;
    Ok(asked.or_else(|| Span::from_secs(LEASE_SECONDS_DEFAULT)).unwrap_or(Span::ZERO))
}

fn firings_of(timeline_id: Option<Text<TimelineId>>, firing_ids: Vec<Text<FiringId>>) -> FiringsRequest {
    let firing_ids = firing_ids.into_iter().map(|text| text.0).collect();
    FiringsRequest { timeline: timeline(timeline_id), firing_ids }
}

fn settled(answer: FiringAnswer) -> Changed<FiringsSettledBody> {
    let status = match answer.firings.len() {
        1 => answer.firings.first().map_or_else(String::new, |(_, state)| format!("The firing is {}.", state.as_str())),
        count => format!("{count} firings."),
    };
    let one = |(firing_id, state): &(FiringId, timenav_core::timers::FiringState)| FiringStateBody {
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
        let ClaimedFiring { firing, payload, generation, step, attempt, leased_until } = claimed;
        Self {
            firing_id: firing.firing_id.to_string(),
            timer_id: firing.timer_id.to_string(),
            timeline_id: timeline_id.to_string(),
            due: firing.fallen.due.to_string(),
            round: firing.fallen.round,
            generation,
            step,
            attempt,
            order_key: firing.order_key,
            payload: serde_json::from_str(&payload).unwrap_or_default(),
            leased_until: leased_until.to_string(),
        }
    }
}

impl FiringBody {
    pub(crate) fn of(firing: &FiringRow) -> Self {
        Self {
            firing_id: firing.firing_id.to_string(),
            timer_id: firing.timer_id.to_string(),
            due: firing.fallen.due.to_string(),
            round: firing.fallen.round,
            queue: firing.queue.to_string(),
            state: firing.state.as_str(),
            reason: firing.reason.clone(),
        }
    }
}

impl SettledBody {
    pub(crate) fn of(receipt: &Receipt) -> Self {
        Self {
            state: receipt.state.as_str(),
            advance_id: receipt.advance_id.to_string(),
            timeline_id: receipt.timeline_id.to_string(),
            from: receipt.from.to_string(),
            to: receipt.to.to_string(),
            reached: receipt.reached.to_string(),
            step: receipt.step,
            fired: receipt.counts.fired,
            acknowledged: receipt.counts.acknowledged,
            failed: receipt.counts.failed,
            unheard: receipt.counts.unheard(),
            held_by: receipt.held_by.clone(),
            firings: receipt.firings.iter().map(FiringBody::of).collect(),
        }
    }
}
