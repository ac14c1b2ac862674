//! Events with what hangs on them.

use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use timenav_core::ids::TimelineId;
use timenav_core::time::{TimeRange, Virtual};
use timenav_engine::{EventMarks, EventSummary, HorizonUse, MonitorEvents, StoredEvent};
use utoipa::ToSchema;

use super::events::EventBody;
use super::kept::raw_with;
use super::parameters::timeline;
use super::resolved::ResolvedBody;
use crate::auth::Authenticated;
use crate::idempotency::Idempotent;
use crate::params::Params;
use crate::problem::Failure;
use crate::route::Route;
use crate::state::App;
use crate::wire::{self, Location, MomentText, Text, items_max};

pub(crate) fn routes() -> Vec<Route> {
    vec![
        Route::change(
            "/scan-events",
            "scan_events",
            "Finds events with their effects, interventions and paradoxes",
            scan_events,
        )
        .takes::<ScanEventsRequest>()
        .gives::<ScannedBody>()
        .looks(HorizonUse::Honored)
        .anew()
        .tag("events"),
    ]
}

/// Which events to find.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ScanEventsRequest {
    /// Where, as `monitor-events` understands it.
    #[schema(value_type = String, format = "location", example = "New Orleans")]
    location: Text<Location>,
    /// `<start>/<end>`, both ends included, as `monitor-events` understands it.
    #[schema(value_type = String, format = "time-range", example = "2005-08-28T00:00:00Z/2005-08-29T06:00:00Z")]
    time_range: Text<TimeRange<Virtual>>,
    /// The timeline; that of the API key if it is left out.
    #[schema(value_type = Option<String>, format = "timeline-id", example = "main")]
    timeline_id: Option<Text<TimelineId>>,
    /// At most so many on the page.
    #[schema(minimum = 1, maximum = 1_000)]
    #[serde(default, deserialize_with = "wire::page_items")]
    limit: Option<usize>,
    /// As the ledger told it then: a position, the id of an anchor, or a host time. Now if it is left out.
    #[schema(schema_with = wire::moment_schema, required = false)]
    #[serde(default, deserialize_with = "wire::moment")]
    as_of: Option<MomentText>,
    /// The `next_cursor` of the page before.
    #[schema(format = "cursor")]
    cursor: Option<String>,
}

/// One page of events, ordered by time, with what hangs on each.
#[derive(Serialize, ToSchema)]
pub(crate) struct ScannedBody {
    /// What was found, in a sentence.
    status: String,
    /// The timeline.
    timeline_id: String,
    /// The events.
    #[schema(value_type = Vec<ScannedEventBody>)]
    events: Vec<Box<RawValue>>,
    /// All that the question finds, in numbers; on the first page.
    #[serde(skip_serializing_if = "Option::is_none")]
    summary: Option<SummaryBody>,
    /// How the location was understood.
    location_resolved: ResolvedBody,
    /// The last position of the ledger that all pages of this query show.
    as_of: Option<u64>,
    /// Asks for the next page, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
    /// Whether there is a next page.
    has_more: bool,
}

/// An event and what hangs on it.
#[derive(ToSchema)]
#[expect(dead_code, reason = "says in the OpenAPI document what is put together from JSON that the engine keeps")]
pub(crate) struct ScannedEventBody {
    #[schema(inline)]
    #[serde(flatten)]
    event: EventBody,
    /// What happened because of it, directly: at most 100.
    effects: Vec<EffectOfBody>,
    /// What was done to it, in order.
    interventions: Vec<String>,
    /// Codes of the kinds of paradoxes that it is a part of.
    paradoxes: Vec<String>,
}

/// The same, to be put behind the fields of an event.
#[derive(Serialize)]
struct MarksBody {
    position: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    timeline_id: Option<String>,
    effects: Vec<EffectOfBody>,
    interventions: Vec<String>,
    paradoxes: Vec<&'static str>,
}

/// Something that happened because of an event.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct EffectOfBody {
    /// The event or intervention.
    event_id: String,
    /// `requires` or `contributes`.
    #[schema(value_type = String)]
    kind: &'static str,
}

/// All that a question finds, in numbers.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SummaryBody {
    /// How many events, counted to 100 000.
    count: usize,
    /// Whether there may be more.
    is_cut: bool,
    /// When the first one happens.
    first: Option<String>,
    /// When the last one happens, of those that were counted.
    last: Option<String>,
    /// How many happen in each of 24 equal stretches between the first and the last.
    histogram: Vec<BucketBody>,
}

/// One stretch of a histogram.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct BucketBody {
    /// Where it begins.
    from: String,
    /// How many events happen in it.
    count: usize,
}

/// Finds events with their effects, interventions and paradoxes. Nothing is changed, so that only the form of an
/// `Idempotency-Key` is checked.
async fn scan_events(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    Idempotent(_): Idempotent,
    Params(request): Params<ScanEventsRequest>,
) -> Result<Json<ScannedBody>, Failure> {
    let Location { text: location_text, query: location } = request.location.0;
    let request = MonitorEvents {
        timeline: timeline(request.timeline_id),
        location_text,
        location,
        range: request.time_range.0,
        as_of: request.as_of.map(|moment| (moment.text, moment.as_of)),
        items_max: items_max(request.limit),
        cursor: request.cursor,
    };
    let (page, marks, summary) = app.engine.scan_events(&caller, request).await?;
    let location_resolved = ResolvedBody::of(&page);
    let inherited = |event: &StoredEvent| {
        let name = page.layers.get(event.layer).filter(|name| **name != page.timeline_id);
        name.map(ToString::to_string)
    };
    let events = page.events.iter().zip(marks).filter_map(|(event, marks)| scanned(event, inherited(event), &marks));
    Ok(Json(ScannedBody {
        status: match page.events.len() {
            0 => "No events.".to_owned(),
            1 => "1 event.".to_owned(),
            count => format!("{count} events."),
        },
        timeline_id: page.timeline_id.to_string(),
        events: events.collect(),
        summary: summary.map(SummaryBody::from),
        location_resolved,
        as_of: page.as_of,
        has_more: page.next_cursor.is_some(),
        next_cursor: page.next_cursor.clone(),
    }))
}

fn scanned(event: &StoredEvent, timeline_id: Option<String>, marks: &EventMarks) -> Option<Box<RawValue>> {
    let effect = |(event_id, kind): &(_, timenav_core::event::CauseKind)| {
        let event_id: &timenav_core::ids::EventId = event_id;
        EffectOfBody { event_id: event_id.to_string(), kind: kind.as_str() }
    };
    let marks = MarksBody {
        position: event.position,
        timeline_id,
        effects: marks.effects.iter().map(effect).collect(),
        interventions: marks.interventions.iter().map(ToString::to_string).collect(),
        paradoxes: marks.paradoxes.iter().map(|kind| kind.code()).collect(),
    };
    raw_with(&event.content, &marks)
}

impl From<EventSummary> for SummaryBody {
    fn from(summary: EventSummary) -> Self {
        let bucket =
            |(from, count): (timenav_core::time::Instant<Virtual>, usize)| BucketBody { from: from.to_string(), count };
        Self {
            count: summary.count,
            is_cut: summary.is_cut,
            first: summary.first.map(|time| time.to_string()),
            last: summary.last.map(|time| time.to_string()),
            histogram: summary.histogram.into_iter().map(bucket).collect(),
        }
    }
}
