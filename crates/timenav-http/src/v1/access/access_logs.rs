use crate::schema::ToSchema;
use axum::Json;
use serde::{Deserialize, Serialize};
use timenav_core::ids::{TimelineId, UserId};
use timenav_core::time::{TimeRange, Wall};
use timenav_engine::{AccessLogs, LogEntry, LogGap, LogGapReason, LogOrder, ReadOf};

use crate::request::call::Read;
use crate::response::problem::Failure;
use crate::route::Route;
use crate::wire::{self, ActionName, Text, items_max};

use crate::v1::timelines::retention::text;

pub(crate) fn routes() -> Vec<Route> {
    vec![
        Route::lookup_of(
            ReadOf::Ledger,
            "/access-logs",
            "access_logs",
            "Reads the access log of a timeline",
            access_logs,
        )
        .takes::<AccessLogsRequest>()
        .gives::<AccessLogsBody>()
        .tag("access"),
    ]
}

/// Entries to read.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AccessLogsRequest {
    /// The timeline.
    #[schema(value_type = String, format = "timeline-id", example = "main")]
    timeline_id: Text<TimelineId>,
    /// `<start>/<end>` in host time, both ends included; `..` leaves an end open.
    #[schema(value_type = String, format = "time-range", example = "../..")]
    time_range: Text<TimeRange<Wall>>,
    /// Only actions of this user; `unknown` for callers that could not be identified.
    #[schema(value_type = Option<String>, format = "id", example = "alice")]
    user_id: Option<Text<UserId>>,
    /// Only this action, such as `read` or `unauthorized_access_attempt`.
    #[schema(value_type = Option<String>, format = "action", example = "unauthorized_access_attempt")]
    action: Option<Text<ActionName>>,
    /// The order of entries. Defaults to the oldest first.
    order: Option<EntryOrder>,
    /// The maximum number per page.
    #[schema(minimum = 1, maximum = 1_000)]
    #[serde(default, deserialize_with = "wire::page_items")]
    limit: Option<usize>,
    /// The `next_cursor` of the previous page.
    #[schema(format = "cursor")]
    cursor: Option<String>,
}

/// The order of entries.
#[derive(Clone, Copy, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum EntryOrder {
    /// Those that were made first.
    Oldest,
    /// Those that were made last.
    Newest,
}

/// One page of the access log, in the requested order.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct AccessLogsBody {
    /// A sentence that sums up the result.
    status: String,
    /// The timeline.
    timeline_id: String,
    /// The entries.
    logs: Vec<AccessLogEntryBody>,
    /// Reads on this page that no longer name a user because they were erased or pruned, in the same order. The user
    /// filter does not apply to them. An `action` filter other than `read` or `reads` omits them.
    redacted: Vec<GapBody>,
    /// The cursor of the next page, if there is one. With filters, a short or empty page can have a next page.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
    /// Whether there is another page.
    has_more: bool,
}

/// An entry of the access log.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct AccessLogEntryBody {
    /// The acting user; `unknown` if the caller could not be identified.
    user_id: String,
    /// The action.
    action: String,
    /// Host time of the action.
    timestamp: String,
    /// The object of the action.
    subject: String,
    /// The timeline's clock at that time, if the caller can read clocks.
    #[serde(skip_serializing_if = "Option::is_none")]
    clock_time: Option<String>,
    /// The ledger position of its entry.
    position: u64,
    /// The index of the read within the entry, counted from 0. Reads at the same moment share an entry.
    #[serde(skip_serializing_if = "Option::is_none")]
    index: Option<u32>,
}

/// Consecutive log entries of reads that no longer name a user.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct GapBody {
    /// `pruned` by the retention policy, or `erased` on request.
    reason: &'static str,
    /// The number of entries.
    entries: u64,
    /// The number of erased reads. Absent for pruned reads.
    #[serde(skip_serializing_if = "Option::is_none")]
    reads: Option<u64>,
    /// The lowest ledger position.
    first_position: u64,
    /// The highest ledger position.
    last_position: u64,
    /// Host time of the first entry.
    from: String,
    /// Host time of the last entry.
    to: String,
    /// For pruned reads: the policy in force when they were recorded. If it is absent, no policy allows them to be
    /// missing: scan the timeline.
    #[serde(skip_serializing_if = "Option::is_none")]
    policy: Option<GapPolicyBody>,
}

/// The retention of reads, and the entry that set it.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct GapPolicyBody {
    /// The ledger position of its `set_retention`.
    position: u64,
    /// How long the contents of reads are kept; null keeps them forever, until a later policy applies to them.
    #[schema(example = "P30D")]
    reads: Option<String>,
}

async fn access_logs(Read { app, caller, request }: Read<AccessLogsRequest>) -> Result<Json<AccessLogsBody>, Failure> {
    let timeline_id = request.timeline_id.0;
    let engine_request = AccessLogs {
        timeline: timeline_id.clone(),
        range: request.time_range.0,
        user_id: request.user_id.map(|text| text.0.to_string()),
        action: request.action.map(|text| text.0.0),
        order: request.order.map(Into::into).unwrap_or_default(),
        items_max: items_max(request.limit),
        cursor: request.cursor,
    };
    let page = app.engine.access_logs(&caller, engine_request).await?;
    let logs: Vec<AccessLogEntryBody> = page.logs.into_iter().map(Into::into).collect();
    let redacted: Vec<GapBody> = page.gaps.into_iter().map(Into::into).collect();
    Ok(Json(AccessLogsBody {
        status: match logs.len() {
            count if !redacted.is_empty() => with_gaps(count, redacted.iter().map(|gap| gap.entries).sum()),
            0 => format!(
                "No entries. `time_range` is in host time, which is now {}, not in the clock's time.",
                app.engine.now()
            ),
            1 => "1 entry.".to_owned(),
            count => format!("{count} entries."),
        },
        timeline_id: timeline_id.to_string(),
        logs,
        redacted,
        has_more: page.next_cursor.is_some(),
        next_cursor: page.next_cursor,
    }))
}

/// Returns the status sentence: the number of entries, and how many have been pruned.
fn with_gaps(count: usize, gaps: u64) -> String {
    let entries = if count == 1 { "entry" } else { "entries" };
    let more = if gaps == 1 { "entry of reads in this range has" } else { "entries of reads in this range have" };
    format!("{count} {entries}. {gaps} {more} lost some or all reads: see `redacted`.")
}

impl From<LogGap> for GapBody {
    fn from(gap: LogGap) -> Self {
        let (reason, reads, policy) = match gap.reason {
            LogGapReason::Pruned { policy } => ("pruned", None, policy),
            LogGapReason::Erased { reads } => ("erased", Some(reads), None),
        };
        Self {
            reason,
            entries: gap.entries,
            reads,
            first_position: gap.first,
            last_position: gap.last,
            from: gap.from.to_string(),
            to: gap.to.to_string(),
            policy: policy.map(|(position, policy)| GapPolicyBody { position, reads: policy.reads_seconds.map(text) }),
        }
    }
}

impl From<EntryOrder> for LogOrder {
    fn from(order: EntryOrder) -> Self {
        match order {
            EntryOrder::Oldest => Self::Oldest,
            EntryOrder::Newest => Self::Newest,
        }
    }
}

impl From<LogEntry> for AccessLogEntryBody {
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
