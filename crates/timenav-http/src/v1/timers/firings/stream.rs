//! Firings for observers. Source: WHATWG HTML, server-sent events. The message id is a ledger position.

use crate::schema::ToSchema;
use axum::response::IntoResponse;
use axum::response::sse::Event;
use http::HeaderMap;
use serde::{Deserialize, Serialize};
use timenav_core::ids::{QueueId, TimelineId};
use timenav_core::timers::FiringState;
use timenav_engine::{FiringRow, FiringUpdate, LedgerMessage, LedgerUpdate, WatchFirings};

use crate::request::call::Read;
use crate::response::problem::Failure;
use crate::route::Messages;
use crate::state::App;
use crate::v1::parameters::timeline;
use crate::v1::streaming::{PLACE_PATTERN, Place, event_at, last_event_id, message_stream, place};
use crate::wire::Text;

pub(super) const MESSAGES: Messages = Messages {
    names: &["firing", "gap", "reset"],
    id: PLACE_PATTERN,
    what: "One message for each change of a firing; the id begins with the position of the newest reported entry",
    may_be_silent: true,
};

/// Firings to observe.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct FiringsStreamRequest {
    /// Only firings of this queue; `timenav:webhook` for those that the service sends. Defaults to all firings of the
    /// timeline.
    #[schema(value_type = Option<String>, format = "id", example = "billing")]
    queue: Option<Text<QueueId>>,
    /// The timeline. Defaults to the API key's.
    #[schema(value_type = Option<String>, format = "timeline-id", example = "main")]
    timeline_id: Option<Text<TimelineId>>,
}

/// A message. Its event is `firing`; `gap` if claims may be missing; or `reset` if entries are missing: read the
/// current state again.
#[derive(Serialize, ToSchema)]
pub(super) struct FiringsStreamBody {
    /// The timeline.
    timeline_id: String,
    /// Position of the newest reported entry. The message's id begins with it. If an entry reports several firings, the
    /// ids of all but the last have an index after it, from 0 (`17.0`). Each id ends with a hash of the entry
    /// (`17~5f3c9a0e1d2b4c68`).
    position: u64,
    /// The firing and its change.
    #[serde(skip_serializing_if = "Option::is_none")]
    firing: Option<FiringUpdateBody>,
}

/// A firing and its change.
#[derive(Serialize, ToSchema)]
pub(super) struct FiringUpdateBody {
    /// The change: `offered` when it was due, `redelivered` after a failure, `leased` by a claim, `extended`,
    /// `tried_again` after a failed attempt, or the outcome `acknowledged`, `failed` or `superseded`.
    #[schema(value_type = String)]
    change: &'static str,
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
    /// Firings with the same key are processed one after the other.
    #[serde(skip_serializing_if = "Option::is_none")]
    order_key: Option<String>,
    /// The user who claimed it.
    #[serde(skip_serializing_if = "Option::is_none")]
    claimed_by: Option<String>,
    /// The number of this attempt, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    attempt: Option<u32>,
    /// Host time when the lease ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    leased_until: Option<String>,
    /// Host time before which it is not retried.
    #[serde(skip_serializing_if = "Option::is_none")]
    not_before: Option<String>,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

/// Observes firings until the client, the permission or the service ends.
pub(super) async fn watch(
    headers: HeaderMap,
    Read { app, caller, request }: Read<FiringsStreamRequest>,
) -> Result<impl IntoResponse, Failure> {
    let seen = last_event_id(&headers)?.map(|Place(seen)| seen);
    let queue = request.queue.map(|Text(queue)| queue);
    let place = place(&app, &caller)?;
    let watch = WatchFirings { timeline: timeline(request.timeline_id), queue, seen };
    let watched = app.engine.watch_firings(&caller, watch).await?;
    Ok(message_stream(app, caller, watched, place, message))
}

fn message(_app: &App, timeline_id: &TimelineId, sent: LedgerMessage) -> Option<Event> {
    let message = event_at(&sent);
    let (name, firing) = match sent.update {
        // A message without data only sets the id with which the client resumes.
        LedgerUpdate::Mark => return Some(message),
        LedgerUpdate::Reset => ("reset", None),
        LedgerUpdate::Gap => ("gap", None),
        LedgerUpdate::Firing(firing) => ("firing", Some(FiringUpdateBody::of(*firing))),
        // Part of the topic stream.
        LedgerUpdate::Clock(_)
        | LedgerUpdate::Due { .. }
        | LedgerUpdate::Event { .. }
        | LedgerUpdate::Intervention { .. }
        | LedgerUpdate::Advance(_)
        | LedgerUpdate::Paradox { .. } => {
            return None;
        }
    };
    let body = FiringsStreamBody { timeline_id: timeline_id.to_string(), position: sent.position, firing };
    message.event(name).json_data(body).ok()
}

impl FiringUpdateBody {
    fn of((row, update): (FiringRow, FiringUpdate)) -> Self {
        let records_event = row.records_event();
        let mut body = Self {
            change: "",
            firing_id: row.firing_id.to_string(),
            timer_id: row.timer_id.to_string(),
            due: row.due_firing.due.to_string(),
            round: row.due_firing.round,
            queue: (!records_event).then(|| row.queue.to_string()),
            event_id: None,
            order_key: row.order_key,
            claimed_by: None,
            attempt: None,
            leased_until: None,
            not_before: None,
            reason: None,
        };
        body.change = match update {
            FiringUpdate::Offered => "offered",
            FiringUpdate::Redelivered => "redelivered",
            FiringUpdate::Leased { holder, attempt, until } => {
                (body.claimed_by, body.attempt) = (Some(holder.to_string()), Some(attempt));
                body.leased_until = Some(until.to_string());
                "leased"
            }
            FiringUpdate::Extended(until) => {
                body.leased_until = Some(until.to_string());
                "extended"
            }
            FiringUpdate::AttemptEnded(not_before) => {
                body.not_before = Some(not_before.to_string());
                "tried_again"
            }
            FiringUpdate::Settled(state, reason) => {
                body.reason = reason;
                let is_event = records_event && state == FiringState::Acknowledged;
                body.event_id = Some(body.firing_id.clone()).filter(|_| is_event);
                state.as_str()
            }
        };
        body
    }
}
