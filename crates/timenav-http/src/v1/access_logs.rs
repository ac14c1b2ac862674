//! The access log: who did what on a timeline, and when.

use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use timenav_core::ids::{TimelineId, UserId};
use timenav_core::time::{TimeRange, Wall};
use timenav_engine::{AccessLogs, HorizonUse, LogEntry, LogOrder};
use utoipa::ToSchema;

use crate::auth::Authenticated;
use crate::params::Params;
use crate::problem::Failure;
use crate::route::Route;
use crate::state::App;
use crate::wire::{self, ActionName, Text, items_max};

pub(crate) fn routes() -> Vec<Route> {
    vec![
        Route::lookup(
            "/access-logs",
            "access_logs",
            "Reads who did what on a timeline, and when",
            access_logs,
            HorizonUse::Refused,
        )
        .takes::<AccessLogsRequest>()
        .gives::<AccessLogsBody>()
        .tag("access"),
    ]
}

/// Which entries to read.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AccessLogsRequest {
    /// The timeline.
    #[schema(value_type = String, format = "timeline-id", example = "main")]
    timeline_id: Text<TimelineId>,
    /// `<start>/<end>` in host time, both ends included; `..` is an open end.
    #[schema(value_type = String, format = "time-range", example = "../..")]
    time_range: Text<TimeRange<Wall>>,
    /// Only what this user did; `unknown` for those whom nobody could identify.
    #[schema(value_type = Option<String>, format = "id", example = "alice")]
    user_id: Option<Text<UserId>>,
    /// Only this action, such as `read` or `unauthorized_access_attempt`.
    #[schema(value_type = Option<String>, format = "action", example = "unauthorized_access_attempt")]
    action: Option<Text<ActionName>>,
    /// Which entries come first: those made first, if it is left out.
    order: Option<OrderBody>,
    /// At most so many on the page.
    #[schema(minimum = 1, maximum = 1_000)]
    #[serde(default, deserialize_with = "wire::page_items")]
    limit: Option<usize>,
    /// The `next_cursor` of the page before.
    #[schema(format = "cursor")]
    cursor: Option<String>,
}

/// Which entries come first.
#[derive(Clone, Copy, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum OrderBody {
    /// Those that were made first.
    Oldest,
    /// Those that were made last.
    Newest,
}

/// One page of the access log, in the order that was asked for.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct AccessLogsBody {
    /// What was found, in a sentence.
    status: String,
    /// The timeline.
    timeline_id: String,
    /// The entries.
    logs: Vec<LogBody>,
    /// Asks for the next page, where there is one. A page of a filtered log may be short, or
    /// empty, and have a next one.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
    /// Whether there is a next page.
    has_more: bool,
}

/// One entry.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct LogBody {
    /// The acting user; `unknown` where nobody could be identified.
    user_id: String,
    /// What was done.
    action: String,
    /// Host time at which it was done.
    timestamp: String,
    /// What it was done to.
    subject: String,
    /// What the timeline's clock showed, for those who may look at clocks.
    #[serde(skip_serializing_if = "Option::is_none")]
    clock_time: Option<String>,
    /// The position in the ledger of the entry that tells of it.
    position: u64,
    /// Which of the reads that the entry tells of, counted from 0. Reads of the same moment share an entry.
    #[serde(skip_serializing_if = "Option::is_none")]
    index: Option<u32>,
}

/// Reads who did what on a timeline, and when.
async fn access_logs(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    Params(request): Params<AccessLogsRequest>,
) -> Result<Json<AccessLogsBody>, Failure> {
    let timeline_id = request.timeline_id.0;
    let asked = AccessLogs {
        timeline: timeline_id.clone(),
        range: request.time_range.0,
        user_id: request.user_id.map(|text| text.0.to_string()),
        action: request.action.map(|text| text.0.0),
        order: request.order.map(Into::into).unwrap_or_default(),
        items_max: items_max(request.limit),
        cursor: request.cursor,
    };
    let page = app.engine.access_logs(&caller, asked).await?;
    let logs: Vec<LogBody> = page.logs.into_iter().map(Into::into).collect();
    Ok(Json(AccessLogsBody {
        status: match logs.len() {
            0 => format!(
                "No entries. `time_range` is of host time, which is {} now, not of the clock's.",
                app.engine.now()
            ),
            1 => "1 entry.".to_owned(),
            count => format!("{count} entries."),
        },
        timeline_id: timeline_id.to_string(),
        logs,
        has_more: page.next_cursor.is_some(),
        next_cursor: page.next_cursor,
    }))
}

impl From<OrderBody> for LogOrder {
    fn from(order: OrderBody) -> Self {
        match order {
            OrderBody::Oldest => Self::Oldest,
            OrderBody::Newest => Self::Newest,
        }
    }
}

impl From<LogEntry> for LogBody {
    fn from(entry: LogEntry) -> Self {
        Self {
            user_id: entry.user_id,
            action: entry.action,
            timestamp: entry.timestamp.to_string(),
            subject: entry.subject,
            clock_time: entry.clock_time.map(|at| at.to_string()),
            position: entry.position,
            index: entry.index,
        }
    }
}
