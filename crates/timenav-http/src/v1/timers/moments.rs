//! `GET /v1/timer-preview`: previews the firing times of a rule before a timer is set.

use crate::schema::ToSchema;
use axum::Json;
use serde::{Deserialize, Serialize};
use timenav_core::ids::TimelineId;
use timenav_core::time::{Instant, Virtual};
use timenav_core::timers::{Misfire, Repeating, RepeatingError, RuleSource};
use timenav_engine::TimerMoments;

use super::super::parameters::timeline;
use super::when::{ZonedInstant, every, utc};
use crate::request::call::Read;
use crate::response::problem::Failure;
use crate::route::Route;
use crate::wire::{self, Text, items_max};

pub(super) fn route() -> Route {
    let summary = "Lists the moments of a rule without setting a timer";
    Route::lookup("/timer-preview", "timer_preview", summary, timer_preview)
        .takes::<TimerMomentsRequest>()
        .gives::<TimerPreviewBody>()
}

/// A rule whose moments to list.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TimerMomentsRequest {
    /// An iCalendar rule (an RRULE of RFC 5545, with `SKIP` of RFC 7529), or a cron expression of five fields: minute,
    /// hour, day of month, month, weekday.
    #[schema(min_length = 1, max_length = 1_024, example = "FREQ=MONTHLY;BYMONTHDAY=31;SKIP=BACKWARD")]
    rule: String,
    /// Start of an iCalendar rule (DTSTART). Defaults to the clock's current time.
    #[schema(value_type = Option<String>, format = "timestamp", example = "2027-01-31T09:00:00Z")]
    starts: Option<Text<ZonedInstant>>,
    /// The time zone of the rule. Defaults to the zone in brackets in `starts`, or to `UTC`.
    #[schema(min_length = 1, max_length = 64, example = "Europe/Paris")]
    zone: Option<String>,
    /// Only moments later than this one. Defaults to the clock's current time.
    #[schema(value_type = Option<String>, format = "timestamp", example = "2027-01-31T09:00:00Z")]
    after: Option<Text<Instant<Virtual>>>,
    /// The timeline with the clock. Defaults to the API key's.
    #[schema(value_type = Option<String>, format = "timeline-id", example = "main")]
    timeline_id: Option<Text<TimelineId>>,
    /// The maximum number of moments.
    #[schema(minimum = 1, maximum = 1_000)]
    #[serde(default, deserialize_with = "wire::page_items")]
    limit: Option<usize>,
}

/// The moments of a rule.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct TimerPreviewBody {
    /// A sentence that sums up the result.
    status: String,
    /// The timeline.
    timeline_id: String,
    /// The moments, the earliest first.
    #[schema(example = json!(["2027-01-31T09:00:00Z"]))]
    moments: Vec<String>,
    /// Whether there are later ones: pass the last one as `after`.
    has_more: bool,
}

async fn timer_preview(
    Read { app, caller, request }: Read<TimerMomentsRequest>,
) -> Result<Json<TimerPreviewBody>, Failure> {
    let TimerMomentsRequest { rule, starts, zone, after, timeline_id, limit } = request;
    let timeline_id = caller.timeline(timeline(timeline_id));
    let now = || app.engine.clock_after(&timeline_id).map_or(Instant::EPOCH, |view| view.current_time);
    // Every part of an iCalendar rule has a value; no part of a cron expression has one.
    let source = match (rule.contains('='), starts) {
        (true, starts) => every(rule, starts, zone, now),
        (false, None) => RuleSource::Cron { expression: rule, zone: zone.unwrap_or_else(utc) },
        (false, Some(_)) => {
            let detail = "a cron expression has no start; leave it out, or give `after`";
            return Err(Failure::invalid("starts", detail));
        }
    };
    let repeating = Repeating::read(source, Misfire::All, false).map_err(|error| {
        let field = if matches!(error, RepeatingError::Zone(_)) { "zone" } else { "rule" };
        Failure::invalid(field, error.to_string())
    })?;
    let limits = (after.map(|after| after.0), items_max(limit));
    Ok(Json(app.engine.timer_moments(&caller, timeline_id, &repeating.rule, limits).await?.into()))
}

impl From<TimerMoments> for TimerPreviewBody {
    fn from(TimerMoments { timeline_id, moments, has_more }: TimerMoments) -> Self {
        let status = match (&*moments, has_more) {
            ([], _) => "A timer with this rule would not fire.".to_owned(),
            ([only], false) => format!("A timer with this rule would fire once, at {only}."),
            ([first, ..], _) => format!("A timer with this rule would next fire at {first}."),
        };
        let moments = moments.iter().map(ToString::to_string).collect();
        Self { status, timeline_id: timeline_id.to_string(), moments, has_more }
    }
}
