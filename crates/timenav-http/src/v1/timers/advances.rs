//! Receipts of clock changes that passed timers.

use crate::schema::ToSchema;
use axum::Json;
use futures_util::future::select;
use serde::{Deserialize, Serialize};
use timenav_core::ids::{AdvanceId, TimelineId};
use timenav_core::limits::{SETTLE_WAIT_SECONDS_DEFAULT, SETTLE_WAIT_SECONDS_MAX};
use timenav_core::text::counted;
use timenav_core::time::Span;
use timenav_core::timers::AdvanceState;
use timenav_engine::{Engine, Receipt, Refusal};
use tokio::time::timeout;

use crate::request::auth::access_end;
use crate::request::call::Read;
use crate::request::params::InPath;
use crate::response::problem::Failure;
use crate::route::Route;
use crate::state::App;
use crate::v1::parameters::timeline;
use crate::v1::timers::firings::{FiringBody, host};
use crate::wire::{self, HostTime, Text};

pub(crate) fn routes() -> Vec<Route> {
    vec![
        Route::lookup(
            "/advances/{advance_id}",
            "receipt",
            "Returns the receipt of an advance: its firings and their outcomes",
            advance,
        )
        .takes::<AdvanceRequest>()
        .gives::<AdvanceReceiptBody>()
        .tag("timers"),
    ]
}

/// An advance to read.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AdvanceRequest {
    /// How long to wait for the end of the advance, in host time. Defaults to `0s`.
    #[schema(value_type = Option<String>, format = "duration", example = "30s")]
    wait: Option<Text<HostTime>>,
    /// The timeline. Defaults to the API key's.
    #[schema(value_type = Option<String>, format = "timeline-id", example = "main")]
    timeline_id: Option<Text<TimelineId>>,
}

/// The receipt of an advance.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct AdvanceReceiptBody {
    /// A sentence that sums up the result.
    status: String,
    /// The timeline.
    timeline_id: String,
    /// The receipt.
    receipt: ReceiptBody,
}

/// The receipt of an advance.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ReceiptBody {
    /// `settled` at the destination, `running` on the way; `stopped` if the clock was paused or held for too long,
    /// `stuck` if timers kept arming themselves for the same instant.
    #[schema(value_type = String)]
    state: &'static str,
    /// The id of the advance.
    advance_id: String,
    /// The timeline.
    timeline_id: String,
    /// The clock's time before the advance.
    from: String,
    /// The destination.
    to: String,
    /// The time that the clock has reached.
    reached: String,
    /// The number of instants at which the clock stopped.
    step: u64,
    /// The number of firings.
    fired: u64,
    /// The number of acknowledged firings.
    acknowledged: u64,
    /// The number of failed firings.
    failed: u64,
    /// The number of firings without an outcome. During the advance, workers may have claimed them. In a settled
    /// advance, their queues have no listener, and the next one gets them.
    unacknowledged: u64,
    /// The worker, hold or followers that the last instant waited for. If the advance is stuck, the last timer to fire.
    #[serde(skip_serializing_if = "Option::is_none")]
    held_by: Option<String>,
    /// The first 100 firings.
    firings: Vec<FiringBody>,
}

/// The progress of an advance.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct AdvanceProgressBody {
    /// `running` at the start and at each instant; then `settled`, `stopped` or `stuck`.
    #[schema(value_type = String)]
    state: &'static str,
    /// The id of the advance. `GET /v1/advances/{advance_id}` lists its firings.
    advance_id: String,
    /// The clock's time before the advance.
    from: String,
    /// The destination.
    to: String,
    /// The instant that the clock has reached.
    reached: String,
    /// The number of instants at which the clock stopped.
    step: u64,
    /// The number of firings.
    fired: u64,
    /// The number of acknowledged firings.
    acknowledged: u64,
    /// The number of failed firings.
    failed: u64,
    /// The number of firings without an outcome. In a settled advance, their queues have no listener.
    unacknowledged: u64,
    /// The worker, hold or followers that the instant waited for. If the advance is stuck, the last timer to fire.
    #[serde(skip_serializing_if = "Option::is_none")]
    held_by: Option<String>,
}

async fn advance(
    InPath(advance_id): InPath,
    Read { app, caller, request }: Read<AdvanceRequest>,
) -> Result<Json<AdvanceReceiptBody>, Failure> {
    let missing = |id: &str| Refusal::NotFound { what: "advance", id: id.to_owned() };
    let advance_id = AdvanceId::new(&advance_id).map_err(|_| missing(&advance_id))?;
    let range = (0, SETTLE_WAIT_SECONDS_MAX);
    let wait = request.wait.map(|Text(wait)| wire::host_time("wait", wait, range)).transpose()?;
    let timeline = timeline(request.timeline_id);
    let receipt = app.engine.read_receipt(&caller, timeline, &advance_id).await?;
    let timeline_id = receipt.timeline_id.clone();
    let receipt = if receipt.state == AdvanceState::Running && wait.is_some() {
        let settled = Box::pin(wait_for(&app, (&timeline_id, &advance_id), wait));
        let over = access_end(app.engine.clone(), caller.clone(), timeline_id.clone(), Engine::may_watch);
        drop(select(settled, Box::pin(over)).await);
        app.engine.check_log_access(&caller, "advance").await?;
        app.engine.check_watching(&caller, &timeline_id)?;
        app.engine.receipt(&timeline_id, &advance_id).await?
    } else {
        receipt
    };
    let status = receipt_sentence(&receipt, "");
    let receipt = ReceiptBody::of(&receipt);
    Ok(Json(AdvanceReceiptBody { status, timeline_id: timeline_id.to_string(), receipt }))
}

/// Waits until an advance is settled, but no longer than `wait` and only while the service runs.
pub(crate) async fn wait_for(app: &App, (timeline, advance_id): (&TimelineId, &AdvanceId), wait: Option<Span>) {
    let wait = wait.or_else(|| Span::from_secs(SETTLE_WAIT_SECONDS_DEFAULT)).unwrap_or(Span::ZERO);
    let settled = Box::pin(app.engine.until_settled(timeline, advance_id));
    let closing = Box::pin(app.options.closing.cancelled());
    // After a timeout the caller gets the progress so far.
    let _ = timeout(host(wait), select(settled, closing)).await;
}

pub(crate) fn receipt_sentence(receipt: &Receipt, of_clock: &str) -> String {
    let counts = receipt.counts;
    let fired = format!("{} fired", counted(counts.fired, "timer"));
    let what = match receipt.state {
        AdvanceState::Settled => String::new(),
        AdvanceState::Running => format!(" The advance is still on its way to {}.", receipt.to),
        AdvanceState::Stopped => format!(" The advance to {} was stopped.", receipt.to),
        AdvanceState::Stuck => {
            let named = receipt.held_by.as_ref().map_or_else(String::new, |last| format!(": {last}"));
            format!(" The advance to {} is stuck, because timers kept arming themselves for now{named}.", receipt.to)
        }
    };
    let (acknowledged, failed, open) = (counts.acknowledged, counts.failed, counts.unheard());
    // Until the advance is settled, handlers may still be working on these firings.
    let word = if receipt.state == AdvanceState::Settled { "unacknowledged" } else { "open" };
    let sentence =
        format!("{of_clock}{what} On the way {fired}: {acknowledged} acknowledged, {failed} failed, {open} {word}.");
    sentence.trim_start().to_owned()
}

impl AdvanceProgressBody {
    pub(crate) fn of(receipt: &Receipt) -> Self {
        Self {
            state: receipt.state.as_str(),
            advance_id: receipt.advance_id.to_string(),
            from: receipt.from.to_string(),
            to: receipt.to.to_string(),
            reached: receipt.reached.to_string(),
            step: receipt.step,
            fired: receipt.counts.fired,
            acknowledged: receipt.counts.acknowledged,
            failed: receipt.counts.failed,
            unacknowledged: receipt.counts.unheard(),
            held_by: receipt.held_by.clone(),
        }
    }
}

impl ReceiptBody {
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
            unacknowledged: receipt.counts.unheard(),
            held_by: receipt.held_by.clone(),
            firings: receipt.firings.iter().map(FiringBody::of).collect(),
        }
    }
}
