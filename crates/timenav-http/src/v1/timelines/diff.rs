//! Compares two timelines of one family.

use crate::schema::ToSchema;
use axum::Json;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use timenav_core::ids::TimelineId;
use timenav_engine::{
    DiffOf, DiffPage, DiffSide, Difference, EventVersion, FiringDifference, FiringRow, TimelinesDiff, TimerDifference,
    TimerView,
};

use crate::request::call::Read;
use crate::response::problem::Failure;
use crate::route::Route;
use crate::v1::events::raw_json::{VersionPlace, raw_with};
use crate::v1::timers::TimerBody;
use crate::v1::timers::firings::FiringBody;
use crate::wire::{self, Text, items_max};

pub(crate) fn routes() -> Vec<Route> {
    vec![
        Route::lookup(
            "/timelines/diff",
            "timelines_diff",
            "Lists the events, timers or firings that differ between two related timelines: parent and fork, or forks \
             of the same parent",
            timelines_diff,
        )
        .takes::<DiffRequest>()
        .gives::<DiffBody>()
        .bare()
        .conflicts()
        .tag("timelines"),
    ]
}

/// Timelines to compare.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DiffRequest {
    /// One timeline.
    #[schema(value_type = String, format = "timeline-id", example = "main")]
    base: Text<TimelineId>,
    /// The other timeline.
    #[schema(value_type = String, format = "timeline-id", example = "main")]
    compare: Text<TimelineId>,
    /// What to compare: `events`, `timers` (armed ones), or `firings` (their outcomes). Defaults to `events`.
    r#type: Option<DiffType>,
    /// The maximum number per page.
    #[schema(minimum = 1, maximum = 1_000)]
    #[serde(default, deserialize_with = "wire::page_items")]
    limit: Option<usize>,
    /// The `next_cursor` of the previous page.
    #[schema(format = "cursor")]
    cursor: Option<String>,
}

/// The kind of comparison.
#[derive(Clone, Copy, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum DiffType {
    /// Events.
    Events,
    /// Timers.
    Timers,
    /// Firings.
    Firings,
}

/// One page of differences: events by id, timers by name, or firings by moment. A short page can have a next
/// page.
#[derive(Serialize, ToSchema)]
pub(crate) struct DiffBody {
    /// A sentence that sums up the result.
    status: String,
    /// One timeline.
    base: DiffSideBody,
    /// The other timeline.
    compare: DiffSideBody,
    /// The shared history.
    common: SharedHistoryBody,
    /// The differing events. Empty if timers or firings are compared.
    differences: Vec<EventDifferenceBody>,
    /// The timers that differ and are armed on at least one of the timelines, as of the time of this page. Absent
    /// unless timers are compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    timers: Option<Vec<TimerDifferenceBody>>,
    /// The firings with different outcomes since the timelines diverged, as of the time of this page. Absent unless
    /// firings are compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    firings: Option<Vec<FiringDifferenceBody>>,
    /// The cursor of the next page, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
    /// Whether there is another page.
    has_more: bool,
}

/// A timeline being compared.
#[derive(Serialize, ToSchema)]
pub(crate) struct DiffSideBody {
    /// The timeline.
    timeline_id: String,
    /// The last ledger position that all pages include.
    as_of: Option<u64>,
}

/// The history that two timelines share: the first entries of a ledger, and everything before them.
#[derive(Serialize, ToSchema)]
pub(crate) struct SharedHistoryBody {
    /// The timeline of that ledger.
    timeline_id: String,
    /// The number of shared entries.
    size: u64,
}

/// An event that differs.
#[derive(Serialize, ToSchema)]
pub(crate) struct EventDifferenceBody {
    /// The event's id.
    event_id: String,
    /// `only_in_base`, `only_in_compare`, or `differs`.
    #[schema(value_type = String)]
    change: &'static str,
    /// The event on `base`, if it occurs there.
    #[schema(value_type = Option<crate::v1::events::EventBody>)]
    base: Option<Box<RawValue>>,
    /// The event on `compare`, if it occurs there.
    #[schema(value_type = Option<crate::v1::events::EventBody>)]
    compare: Option<Box<RawValue>>,
}

/// A timer that differs.
#[derive(Serialize, ToSchema)]
pub(crate) struct TimerDifferenceBody {
    /// The timer.
    timer_id: String,
    /// `only_in_base`, `only_in_compare`, or `differs`.
    #[schema(value_type = String)]
    change: &'static str,
    /// The timer on `base`, if it exists there.
    base: Option<TimerBody>,
    /// The timer on `compare`, if it exists there.
    compare: Option<TimerBody>,
}

/// A moment of a timer at which the outcomes differ.
#[derive(Serialize, ToSchema)]
pub(crate) struct FiringDifferenceBody {
    /// The timer.
    timer_id: String,
    /// The due time.
    due: String,
    /// `only_in_base`, `only_in_compare`, or `differs`.
    #[schema(value_type = String)]
    change: &'static str,
    /// The firing on `base`, if it was due there.
    base: Option<FiringBody>,
    /// The firing on `compare`, if it was due there.
    compare: Option<FiringBody>,
}

async fn timelines_diff(Read { app, caller, request }: Read<DiffRequest>) -> Result<Json<DiffBody>, Failure> {
    let DiffRequest { base: Text(a), compare: Text(b), r#type, limit, cursor } = request;
    let of = match r#type.unwrap_or(DiffType::Events) {
        DiffType::Events => DiffOf::Events,
        DiffType::Timers => DiffOf::Timers,
        DiffType::Firings => DiffOf::Firings,
    };
    let engine_request = TimelinesDiff { a, b, of, items_max: items_max(limit), cursor };
    let page = app.engine.timelines_diff(&caller, engine_request).await?;
    Ok(Json(DiffBody::of(of, page)))
}

impl DiffBody {
    fn of(of: DiffOf, page: DiffPage) -> Self {
        let differences = page.differences.iter().map(|one| EventDifferenceBody::of(one, &page.a, &page.b)).collect();
        Self {
            status: match of {
                DiffOf::Events => status(page.differences.len(), "event"),
                DiffOf::Timers => status(page.timers.len(), "timer"),
                DiffOf::Firings => status(page.firings.len(), "firing"),
            },
            base: DiffSideBody { timeline_id: page.a.timeline_id.to_string(), as_of: page.a.as_of },
            compare: DiffSideBody { timeline_id: page.b.timeline_id.to_string(), as_of: page.b.as_of },
            common: SharedHistoryBody { timeline_id: page.common.to_string(), size: page.common_size },
            differences,
            timers: (of == DiffOf::Timers).then(|| page.timers.into_iter().map(TimerDifferenceBody::of).collect()),
            firings: (of == DiffOf::Firings).then(|| page.firings.iter().map(FiringDifferenceBody::of).collect()),
            has_more: page.next_cursor.is_some(),
            next_cursor: page.next_cursor,
        }
    }
}

fn status(count: usize, what: &str) -> String {
    match count {
        0 => format!("No {what} differs."),
        1 => format!("1 {what} differs."),
        count => format!("{count} {what}s differ."),
    }
}

const fn change<T>(a: Option<&T>, b: Option<&T>) -> &'static str {
    match (a, b) {
        (Some(_), None) => "only_in_base",
        (None, Some(_)) => "only_in_compare",
        _ => "differs",
    }
}

impl TimerDifferenceBody {
    fn of(difference: TimerDifference) -> Self {
        let TimerDifference { timer_id, a, b } = difference;
        let change = change::<TimerView>(a.as_ref(), b.as_ref());
        Self { timer_id: timer_id.to_string(), change, base: a.map(TimerBody::of), compare: b.map(TimerBody::of) }
    }
}

impl FiringDifferenceBody {
    fn of(difference: &FiringDifference) -> Self {
        let FiringDifference { timer_id, due, a, b } = difference;
        let body = |firing: &Option<FiringRow>| firing.as_ref().map(FiringBody::of);
        let change = change(a.as_ref(), b.as_ref());
        Self { timer_id: timer_id.to_string(), due: due.to_string(), change, base: body(a), compare: body(b) }
    }
}

impl EventDifferenceBody {
    fn of(difference: &Difference, a: &DiffSide, b: &DiffSide) -> Self {
        let on = |version: Option<&EventVersion>, side: &DiffSide| version.and_then(|version| event(version, side));
        let change = change(difference.a.as_ref(), difference.b.as_ref());
        Self {
            event_id: difference.event_id.to_string(),
            change,
            base: on(difference.a.as_ref(), a),
            compare: on(difference.b.as_ref(), b),
        }
    }
}

/// Returns an event with the position of its version, in the format of search results.
fn event(version: &EventVersion, side: &DiffSide) -> Option<Box<RawValue>> {
    let of = side.layers.get(version.layer).filter(|_| version.layer + 1 < side.layers.len());
    raw_with(&version.content, &VersionPlace { position: version.position, timeline_id: of.map(TimelineId::as_str) })
}
