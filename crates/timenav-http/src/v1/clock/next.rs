//! `POST /v1/advance-to-next`: advances to the next moment at which a timer fires, and settles it.

use crate::schema::ToSchema;
use serde::Deserialize;
use timenav_core::clock::ClockCommand;
use timenav_core::ids::TimelineId;
use timenav_core::time::{Instant, Virtual};

use crate::request::call::Change;
use crate::response::answer::Changed;
use crate::response::problem::Failure;
use crate::route::Route;
use crate::v1::clock::followers::Patience;
use crate::v1::clock::{ClockBody, GENERATION, INSIDE, INSIDE_SAYS, Operation, clock_change, foresee, once_done};
use crate::v1::parameters::timeline;
use crate::wire::{self, HostTime, Text, Words};

pub(crate) fn routes() -> Vec<Route> {
    vec![
        Route::change("/advance-to-next", "advance_to_next", "Moves the clock to the next due timer", advance)
            .takes::<NextRequest>()
            .gives::<ClockBody>()
            .heeds_if_match(GENERATION)
            .heeds(INSIDE, INSIDE_SAYS, "id")
            .tag("clock"),
    ]
}

/// A move to the next timer.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NextRequest {
    /// The destination if no timer fires before it. A clock that has already reached it stays. Without `until`, the
    /// clock moves to the next timer, and the request is rejected if no timer is armed.
    #[schema(value_type = Option<String>, format = "timestamp", example = "2005-08-29T11:10:00Z")]
    until: Option<Text<Instant<Virtual>>>,
    /// How long to wait for timers and then for followers, in host time. The clock continues after that. Defaults to
    /// `30s` if a timer fires, otherwise to `5s`; `0s` does not wait.
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

async fn advance(
    Change { app, caller, idempotency, headers, request }: Change<NextRequest>,
) -> Result<Changed<ClockBody>, Failure> {
    let command = ClockCommand::ToNext { until: request.until.map(|Text(until)| until) };
    let timeline = timeline(request.timeline_id);
    if request.dry_run == Some(true) {
        return foresee(&app, &caller, timeline, command).await;
    }
    let patience = Patience::of(request.wait, request.followers)?;
    let change = clock_change(command, &headers)?;
    let step = app.engine.change_clock(&caller, timeline, change, idempotency).await?;
    once_done(&app, &step, Operation::Shift, patience).await
}
