//! Holds, which pause the advances of a timeline, without a firing.

use crate::schema::ToSchema;
use axum::Json;
use serde::{Deserialize, Serialize};
use timenav_core::ids::{LeaseId, TimelineId};
use timenav_core::text::counted;
use timenav_core::timers::holds::Hold;
use timenav_engine::{HoldRequest, Refusal};

use crate::request::call::{Change, Read};
use crate::request::params::InPath;
use crate::response::answer::Changed;
use crate::response::problem::Failure;
use crate::route::Route;
use crate::v1::parameters::timeline;
use crate::v1::timers::firings::lease;
use crate::wire::{HostTime, Text};

const TAG: &str = "timers";

pub(crate) fn routes() -> Vec<Route> {
    vec![
        Route::change("/holds", "hold_advances", "Holds advances of the clock at their current instant", hold)
            .takes::<HoldAdvancesRequest>()
            .gives::<HoldCreatedBody>()
            .tag(TAG),
        Route::lookup("/holds", "holds", "Lists the holds on the clock", holds)
            .takes::<HoldsRequest>()
            .gives::<HoldsBody>()
            .tag(TAG),
        Route::change("/holds/{hold_id}/release", "release_hold", "Releases a hold on the clock", release)
            .takes::<HoldsRequest>()
            .gives::<ReleasedBody>()
            .anew()
            .tag(TAG),
    ]
}

/// A hold to set or extend.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct HoldAdvancesRequest {
    /// The reason, shown to everyone who waits for the advance.
    #[schema(min_length = 1, max_length = 256, example = "a person looks at the invoices")]
    reason: String,
    /// How long the hold lasts from now on, in host time. Defaults to `30s`; at most `10m`.
    #[schema(value_type = Option<String>, format = "duration", example = "2m")]
    ttl: Option<Text<HostTime>>,
    /// The caller's hold to extend. Without it, a new hold is created.
    #[schema(value_type = Option<String>, format = "id", example = "hold_01kan5hcbje6e8xbnhpb5dvnfa")]
    hold_id: Option<Text<LeaseId>>,
    /// The timeline. Defaults to the API key's.
    #[schema(value_type = Option<String>, format = "timeline-id", example = "main")]
    timeline_id: Option<Text<TimelineId>>,
}

/// The timeline of the holds.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct HoldsRequest {
    /// The timeline. Defaults to the API key's.
    #[schema(value_type = Option<String>, format = "timeline-id", example = "main")]
    timeline_id: Option<Text<TimelineId>>,
}

/// A hold, which keeps advances waiting.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct HoldBody {
    /// The id of the hold.
    hold_id: String,
    /// The user who holds the clock.
    owner: String,
    /// The owner's reason.
    reason: String,
    /// Host time when the hold ends.
    expires_at: String,
}

/// A hold.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct HoldCreatedBody {
    /// A sentence that says what happened.
    status: String,
    /// The timeline.
    timeline_id: String,
    /// The hold.
    hold: HoldBody,
}

/// The holds on a clock.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct HoldsBody {
    /// A sentence that sums up the result.
    status: String,
    /// The timeline.
    timeline_id: String,
    /// The holds, the one that ends next first.
    holds: Vec<HoldBody>,
}

/// A hold that has ended.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ReleasedBody {
    /// A sentence that says what happened.
    status: String,
    /// The timeline.
    timeline_id: String,
    /// The id of the hold.
    hold_id: String,
}

async fn hold(
    Change { app, caller, idempotency, request, .. }: Change<HoldAdvancesRequest>,
) -> Result<Changed<HoldCreatedBody>, Failure> {
    let ttl = lease("ttl", request.ttl)?;
    let lease_id = request.hold_id.map(|text| text.0);
    let engine_request = HoldRequest { timeline: timeline(request.timeline_id), lease_id, reason: request.reason, ttl };
    let (timeline_id, hold, replayed) = app.engine.hold_advances(&caller, engine_request, idempotency).await?;
    let status = format!("Advances of `{timeline_id}` are held until {}, or until you release the hold.", hold.until);
    let body = HoldCreatedBody { status, timeline_id: timeline_id.to_string(), hold: HoldBody::of(hold) };
    Ok(Changed::ok(body, replayed))
}

async fn holds(Read { app, caller, request }: Read<HoldsRequest>) -> Result<Json<HoldsBody>, Failure> {
    let (timeline_id, holds) = app.engine.holds(&caller, timeline(request.timeline_id)).await?;
    let status = match holds.len() {
        0 => "No holds.".to_owned(),
        count => format!("{}.", counted(count, "hold")),
    };
    let holds = holds.into_iter().map(HoldBody::of).collect();
    Ok(Json(HoldsBody { status, timeline_id: timeline_id.to_string(), holds }))
}

async fn release(
    InPath(hold_id): InPath,
    Change { app, caller, request, .. }: Change<HoldsRequest>,
) -> Result<Json<ReleasedBody>, Failure> {
    let missing = |_| Refusal::NotFound { what: "hold", id: hold_id.clone() };
    let hold_id = LeaseId::new(&hold_id).map_err(missing)?;
    let timeline_id = app.engine.release_hold(&caller, timeline(request.timeline_id), &hold_id).await?;
    let status = "The hold has ended. Advances continue, unless something else holds them.".to_owned();
    Ok(Json(ReleasedBody { status, timeline_id: timeline_id.to_string(), hold_id: hold_id.to_string() }))
}

impl HoldBody {
    fn of(hold: Hold) -> Self {
        let Hold { lease_id, owner, reason, until } = hold;
        Self { hold_id: lease_id.to_string(), owner, reason, expires_at: until.to_string() }
    }
}
