//! Two timelines of one family, compared.

use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use timenav_core::ids::TimelineId;
use timenav_engine::{DiffPage, DiffSide, Difference, EventVersion, HorizonUse, TimelinesDiff};
use utoipa::ToSchema;

use super::events::EventBody;
use super::kept::{VersionPlace, raw_with};
use crate::auth::Authenticated;
use crate::params::Params;
use crate::problem::Failure;
use crate::route::Route;
use crate::state::App;
use crate::wire::{self, Text, items_max};

pub(crate) fn routes() -> Vec<Route> {
    vec![
        Route::lookup(
            "/timelines/diff",
            "timelines_diff",
            "Lists the events that differ between two related timelines: one forked from the other, or both from the \
             same one",
            timelines_diff,
            HorizonUse::Refused,
        )
        .takes::<DiffRequest>()
        .gives::<DiffBody>()
        .bare()
        .conflicts()
        .tag("timelines"),
    ]
}

/// Which timelines to compare.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DiffRequest {
    /// One timeline.
    #[schema(value_type = String, format = "timeline-id", example = "main")]
    a: Text<TimelineId>,
    /// The other.
    #[schema(value_type = String, format = "timeline-id", example = "main")]
    b: Text<TimelineId>,
    /// The maximum number per page.
    #[schema(minimum = 1, maximum = 1_000)]
    #[serde(default, deserialize_with = "wire::page_items")]
    limit: Option<usize>,
    /// The `next_cursor` of the previous page.
    #[schema(format = "cursor")]
    cursor: Option<String>,
}

/// One page of the events that differ, ordered by id. A page can be short and still have a next one.
#[derive(Serialize, ToSchema)]
pub(crate) struct DiffBody {
    /// A sentence that sums up the result.
    status: String,
    /// One timeline.
    a: DiffSideBody,
    /// The other.
    b: DiffSideBody,
    /// What both share.
    common: CommonBody,
    /// The events.
    differences: Vec<DifferenceBody>,
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
    /// The last ledger position that all pages take into account.
    as_of: Option<u64>,
}

/// What two timelines share: the beginning of a ledger, and everything before it.
#[derive(Serialize, ToSchema)]
pub(crate) struct CommonBody {
    /// The timeline whose ledger it is.
    timeline_id: String,
    /// How many of its entries both share.
    size: u64,
}

/// An event that differs.
#[derive(Serialize, ToSchema)]
pub(crate) struct DifferenceBody {
    /// The event's id.
    event_id: String,
    /// `only_in_a`, `only_in_b`, or `differs`.
    #[schema(value_type = String)]
    change: &'static str,
    /// The event on `a`, if it occurs there.
    #[schema(value_type = Option<EventBody>)]
    a: Option<Box<RawValue>>,
    /// The event on `b`, if it occurs there.
    #[schema(value_type = Option<EventBody>)]
    b: Option<Box<RawValue>>,
}

/// Compares two timelines.
async fn timelines_diff(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    Params(request): Params<DiffRequest>,
) -> Result<Json<DiffBody>, Failure> {
    let DiffRequest { a: Text(a), b: Text(b), limit, cursor } = request;
    let page = app.engine.timelines_diff(&caller, TimelinesDiff { a, b, items_max: items_max(limit), cursor }).await?;
    Ok(Json(DiffBody::from(page)))
}

impl From<DiffPage> for DiffBody {
    fn from(page: DiffPage) -> Self {
        let differences = page.differences.iter().map(|one| DifferenceBody::of(one, &page.a, &page.b)).collect();
        Self {
            status: match page.differences.len() {
                0 => "No event differs.".to_owned(),
                1 => "1 event differs.".to_owned(),
                count => format!("{count} events differ."),
            },
            a: DiffSideBody { timeline_id: page.a.timeline_id.to_string(), as_of: page.a.as_of },
            b: DiffSideBody { timeline_id: page.b.timeline_id.to_string(), as_of: page.b.as_of },
            common: CommonBody { timeline_id: page.common.to_string(), size: page.common_size },
            differences,
            has_more: page.next_cursor.is_some(),
            next_cursor: page.next_cursor,
        }
    }
}

impl DifferenceBody {
    fn of(difference: &Difference, a: &DiffSide, b: &DiffSide) -> Self {
        let on = |version: Option<&EventVersion>, side: &DiffSide| version.and_then(|version| event(version, side));
        let change = match (&difference.a, &difference.b) {
            (Some(_), None) => "only_in_a",
            (None, Some(_)) => "only_in_b",
            _ => "differs",
        };
        Self {
            event_id: difference.event_id.to_string(),
            change,
            a: on(difference.a.as_ref(), a),
            b: on(difference.b.as_ref(), b),
        }
    }
}

/// Returns an event with the place of its version, in the shape in which it is found.
fn event(version: &EventVersion, side: &DiffSide) -> Option<Box<RawValue>> {
    let of = side.layers.get(version.layer).filter(|_| version.layer + 1 < side.layers.len());
    raw_with(&version.content, &VersionPlace { position: version.position, timeline_id: of.map(TimelineId::as_str) })
}
