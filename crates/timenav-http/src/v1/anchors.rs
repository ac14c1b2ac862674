//! Anchors: named moments on a timeline to return to.

use crate::schema::ToSchema;
use axum::Json;
use serde::{Deserialize, Serialize};
use timenav_core::ids::{AnchorId, TimelineId};
use timenav_core::text::counted;
use timenav_core::time::{Instant, Virtual};
use timenav_engine::{
    Action, Anchor, AnchorMarked, AnchorPage, AnchorRequest, AnchorReturn, Answer, Refusal, ReturnScope,
};

use super::clock::{ClockBody, GENERATION, INSIDE, INSIDE_SAYS, Operation, is_inside, once_done};
use super::parameters::timeline;
use crate::request::call::{Change, Read};
use crate::request::entity_tag::{expect_timeline, if_match};
use crate::request::params::InPath;
use crate::response::answer::{Changed, LedgerBody, created_first};
use crate::response::problem::Failure;
use crate::route::Route;
use crate::v1::clock::followers::Patience;
use crate::wire::{self, HostTime, Text, Words, items_max};

const TAG: &str = "anchors";

pub(crate) fn routes() -> Vec<Route> {
    vec![
        Route::change("/set-anchor", "set_anchor", "Sets an anchor: a moment to return to later", set_anchor)
            .takes::<SetAnchorRequest>()
            .gives::<AnchorSetBody>()
            .heeds_if_there()
            .tag(TAG),
        Route::lookup("/anchors", "anchors", "Lists anchors in the order they were set, inherited ones first", anchors)
            .takes::<AnchorsRequest>()
            .gives::<AnchorsBody>()
            .tag(TAG),
        Route::lookup("/anchors/{anchor_id}", "anchor", "Returns an anchor", anchor)
            .takes::<AnchorRead>()
            .gives::<AnchorReadBody>()
            .tag(TAG),
        Route::change(
            "/return-to-anchor",
            "return_to_anchor",
            "Returns the clock, events and timers to an anchor",
            return_to_anchor,
        )
        .takes::<ReturnRequest>()
        .gives::<ClockBody>()
        .heeds_if_match(GENERATION)
        .heeds(INSIDE, INSIDE_SAYS, "id")
        .tag(TAG),
    ]
}

/// An anchor to set.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SetAnchorRequest {
    /// The moment to mark. Defaults to the clock's current time.
    #[schema(value_type = Option<String>, format = "timestamp", example = "2005-08-29T11:10:00Z")]
    timestamp: Option<Text<Instant<Virtual>>>,
    /// The purpose of the anchor.
    #[schema(max_length = 16_384, example = "before the levees fail")]
    description: Option<String>,
    /// Whether changing history before the anchor is a paradox. Defaults to `true`.
    #[serde(default, deserialize_with = "wire::truth")]
    fixed: Option<bool>,
    /// The timeline. Defaults to the API key's.
    #[schema(value_type = Option<String>, format = "changeable-timeline-id", example = "main")]
    timeline_id: Option<Text<TimelineId>>,
}

/// An anchor to return to.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReturnRequest {
    /// The anchor.
    #[schema(value_type = String, format = "id")]
    anchor_id: Text<AnchorId>,
    /// The extent: `clock` for moment, place, rate and state, or `all` for events and timers too, as of when the anchor
    /// was set. Defaults to `all`.
    scope: Option<Scope>,
    /// Whether to report only the effect on timers, firings and events. Nothing changes. Defaults to `false`.
    #[serde(default, deserialize_with = "wire::truth")]
    dry_run: Option<bool>,
    /// How long to wait for followers, in host time. Defaults to `5s`; `0s` does not wait.
    #[schema(value_type = Option<String>, format = "duration", example = "5s")]
    wait: Option<Text<HostTime>>,
    #[schema(schema_with = crate::v1::clock::followers::followers_schema, required = false)]
    followers: Option<Words>,
    /// The timeline. Defaults to the API key's.
    #[schema(value_type = Option<String>, format = "timeline-id", example = "main")]
    timeline_id: Option<Text<TimelineId>>,
}

/// The extent of a return.
#[derive(Clone, Copy, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Scope {
    /// The clock.
    Clock,
    /// The clock, events and timers.
    All,
}

/// Anchors to list.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AnchorsRequest {
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

/// The timeline of the anchor to return.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AnchorRead {
    /// The timeline. Defaults to the API key's.
    #[schema(value_type = Option<String>, format = "timeline-id", example = "main")]
    timeline_id: Option<Text<TimelineId>>,
}

/// An anchor that was set.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct AnchorSetBody {
    /// A sentence that says what happened.
    status: String,
    /// `true` if this request created the timeline. Absent otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    timeline_created: Option<bool>,
    /// The id of the anchor.
    anchor_id: String,
    /// The moment it marks.
    timestamp: String,
    /// Its place in the ledger.
    ledger: LedgerBody,
}

/// One page of anchors.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct AnchorsBody {
    /// A sentence that sums up the result.
    status: String,
    /// The timeline.
    timeline_id: String,
    /// The anchors.
    anchors: Vec<AnchorBody>,
    /// The cursor of the next page, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
    /// Whether there is another page.
    has_more: bool,
}

/// One anchor.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct AnchorReadBody {
    /// A sentence that sums up the result.
    status: String,
    /// The anchor.
    anchor: AnchorBody,
}

/// An anchor.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct AnchorBody {
    /// The id of the anchor.
    anchor_id: String,
    /// The moment it marks.
    timestamp: String,
    /// The purpose of the anchor.
    description: String,
    /// Whether changing history before it is a paradox.
    fixed: bool,
    /// Position of the ledger entry that set the anchor.
    position: u64,
    /// The timeline of that ledger: the requested one, or an ancestor of it.
    timeline_id: String,
    /// Host time when it was set.
    set_at: String,
}

async fn set_anchor(
    Change { app, caller, idempotency, headers, request }: Change<SetAnchorRequest>,
) -> Result<Changed<AnchorSetBody>, Failure> {
    let anchor = AnchorRequest {
        timestamp: request.timestamp.map(|text| text.0),
        description: request.description.unwrap_or_default(),
        fixed: request.fixed.unwrap_or(true),
    };
    let timeline_id = caller.timeline(timeline(request.timeline_id));
    expect_timeline(&app, &headers, (&caller, &timeline_id), Action::SetAnchor).await?;
    let Answer { change: AnchorMarked { anchor_id, timestamp }, ledger, replayed, .. } =
        app.engine.set_anchor(&caller, Some(timeline_id.clone()), anchor, idempotency).await?;
    let status = format!("The anchor marks {timestamp}.");
    let (status, timeline_created) = created_first(ledger, timeline_id.as_str(), status);
    let body = AnchorSetBody {
        status,
        timeline_created,
        anchor_id: anchor_id.to_string(),
        timestamp: timestamp.to_string(),
        ledger: ledger.into(),
    };
    Ok(Changed::ok(body, replayed))
}

async fn return_to_anchor(
    Change { app, caller, idempotency, headers, request }: Change<ReturnRequest>,
) -> Result<Changed<ClockBody>, Failure> {
    let scope = match request.scope.unwrap_or(Scope::All) {
        Scope::Clock => ReturnScope::Clock,
        Scope::All => ReturnScope::All,
    };
    let anchor_id = request.anchor_id.0;
    if request.dry_run == Some(true) {
        let foresight = app.engine.preview_return(&caller, timeline(request.timeline_id), &anchor_id, scope).await?;
        return Ok(Changed::ok(ClockBody::foreseen(&foresight), false));
    }
    let patience = Patience::of(request.wait, request.followers)?;
    let how = AnchorReturn { scope, expected: if_match(&headers)?, is_inside: is_inside(&headers)? };
    let step =
        app.engine.return_to_anchor(&caller, timeline(request.timeline_id), &anchor_id, how, idempotency).await?;
    once_done(&app, &step, Operation::Return { anchor_id: anchor_id.as_str() }, patience).await
}

async fn anchors(Read { app, caller, request }: Read<AnchorsRequest>) -> Result<Json<AnchorsBody>, Failure> {
    let items_max = items_max(request.limit);
    let page = app.engine.anchors(&caller, timeline(request.timeline_id), items_max, request.cursor.as_deref()).await?;
    Ok(Json(page.into()))
}

async fn anchor(
    InPath(anchor_id): InPath,
    Read { app, caller, request }: Read<AnchorRead>,
) -> Result<Json<AnchorReadBody>, Failure> {
    let missing = |_| Refusal::NotFound { what: "anchor", id: anchor_id.clone() };
    let named = AnchorId::new(&anchor_id).map_err(missing)?;
    let found = app.engine.anchor(&caller, timeline(request.timeline_id), &named).await?;
    let status = format!("The anchor marks {}.", found.1.timestamp);
    Ok(Json(AnchorReadBody { status, anchor: found.into() }))
}

impl From<AnchorPage> for AnchorsBody {
    fn from(page: AnchorPage) -> Self {
        Self {
            status: format!("{}.", counted(page.anchors.len(), "anchor")),
            timeline_id: page.timeline_id.to_string(),
            anchors: page.anchors.into_iter().map(Into::into).collect(),
            has_more: page.next_cursor.is_some(),
            next_cursor: page.next_cursor,
        }
    }
}

impl From<(TimelineId, Anchor)> for AnchorBody {
    fn from((timeline_id, anchor): (TimelineId, Anchor)) -> Self {
        Self {
            anchor_id: anchor.anchor_id.to_string(),
            timestamp: anchor.timestamp.to_string(),
            description: anchor.description,
            fixed: anchor.fixed,
            position: anchor.position,
            timeline_id: timeline_id.to_string(),
            set_at: anchor.set_at.to_string(),
        }
    }
}
