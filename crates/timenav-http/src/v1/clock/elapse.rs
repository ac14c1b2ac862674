//! `POST /v1/elapse`: advances a paused clock by the cost of completed work.

use std::future::pending;

use crate::schema::ToSchema;
use serde::Deserialize;
use timenav_core::clock::ClockCommand;
use timenav_core::ids::TimelineId;
use timenav_core::limits::SETTLE_WAIT_SECONDS_DEFAULT;
use timenav_core::time::{Duration, Instant, Virtual};
use tokio::time::timeout;

use crate::request::call::Change;
use crate::response::answer::Changed;
use crate::response::problem::Failure;
use crate::route::Route;
use crate::v1::clock::followers::Patience;
use crate::v1::clock::{ClockBody, GENERATION, INSIDE, INSIDE_SAYS, Operation, clock_change, foresee, once_done};
use crate::v1::parameters::timeline;
use crate::v1::timers::firings::host;
use crate::wire::{self, HostTime, Text, Words};

pub(crate) fn routes() -> Vec<Route> {
    vec![
        Route::change("/elapse", "elapse", "Moves a paused clock forward by the duration of work", elapse)
            .takes::<ElapseRequest>()
            .gives::<ClockBody>()
            .heeds_if_match(GENERATION)
            .heeds(INSIDE, INSIDE_SAYS, "id")
            .tag("clock"),
    ]
}

/// Work to charge to a paused clock.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ElapseRequest {
    /// The duration of the work: one or more numbers with units (`us`, `ms`, `s`, `m` for minutes, `h`, `d`, `w`), or
    /// ISO 8601.
    #[schema(value_type = String, format = "duration", example = "20m")]
    duration: Text<Duration>,
    /// The clock's time when the work began. The clock moves to `since` plus `duration`, unless it is later already, so
    /// parallel work counts once. Without `since`, the clock moves on from its current time, so durations add up.
    #[schema(value_type = Option<String>, format = "timestamp", example = "2005-08-29T11:10:00Z")]
    since: Option<Text<Instant<Virtual>>>,
    /// How long to wait for earlier advances, and then for timers and followers, in host time. The clock continues
    /// after that. Defaults to `30s`; `0s` does not wait.
    #[schema(value_type = Option<String>, format = "duration", example = "30s")]
    wait: Option<Text<HostTime>>,
    /// Whether to report only which timers would fire, without moving the clock. Defaults to `false`.
    #[serde(default, deserialize_with = "wire::truth")]
    dry_run: Option<bool>,
    #[schema(schema_with = crate::v1::clock::followers::followers_schema, required = false)]
    followers: Option<Words>,
    /// The timeline. Defaults to the API key's.
    #[schema(value_type = Option<String>, format = "timeline-id", example = "main")]
    timeline_id: Option<Text<TimelineId>>,
}

async fn elapse(
    Change { app, caller, idempotency, headers, request }: Change<ElapseRequest>,
) -> Result<Changed<ClockBody>, Failure> {
    let command = ClockCommand::Elapse { by: request.duration.0, since: request.since.map(|Text(since)| since) };
    let timeline = timeline(request.timeline_id);
    if request.dry_run == Some(true) {
        return foresee(&app, &caller, timeline, command).await;
    }
    let patience = Patience::of(request.wait, request.followers)?;
    let change = clock_change(command, &headers)?;
    let turn = timeout(host(patience.span(SETTLE_WAIT_SECONDS_DEFAULT)), pending::<()>());
    let step = app.engine.change_clock_in_turn(&caller, timeline, (change, turn), idempotency).await?;
    once_done(&app, &step, Operation::Shift, patience).await
}
