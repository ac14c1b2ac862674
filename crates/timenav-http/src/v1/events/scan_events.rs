use crate::schema::ToSchema;
use axum::Json;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use timenav_core::ids::TimelineId;
use timenav_core::time::{TimeRange, Virtual};
use timenav_engine::{EventMarks, EventSummary, MonitorEvents, StoredEvent};

use crate::request::call::Change;
use crate::response::problem::Failure;
use crate::route::Route;
use crate::v1::events::EventBody;
use crate::v1::events::filter::{self, Attributes, EventOrder};
use crate::v1::events::raw_json::raw_with;
use crate::v1::events::resolved::ResolvedBody;
use crate::v1::parameters::timeline;
use crate::wire::{self, Location, MomentText, Text, items_max};

pub(crate) fn routes() -> Vec<Route> {
    vec![
        Route::lookup_by_post(
            "/scan-events",
            "scan_events",
            "Finds events with their effects, interventions and paradoxes",
            scan_events,
        )
        .takes::<ScanEventsRequest>()
        .gives::<ScannedBody>()
        .anew()
        .tag("events"),
    ]
}

/// Events to find.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ScanEventsRequest {
    /// The place, as in `monitor-events`.
    #[schema(value_type = String, format = "location", example = "New Orleans")]
    location: Text<Location>,
    /// `<start>/<end>`, both ends included, as in `monitor-events`.
    #[schema(value_type = String, format = "time-range", example = "2005-08-28T00:00:00Z/2005-08-29T06:00:00Z")]
    time_range: Text<TimeRange<Virtual>>,
    /// Only events that contain these words or word prefixes, ignoring case and accents: in name, description,
    /// location, id, actors or attributes.
    #[schema(format = "words", example = "hurricane")]
    text: Option<String>,
    /// Only events with exactly this actor.
    #[schema(format = "actor", example = "Katrina")]
    actor: Option<String>,
    /// Only events with exactly this source.
    #[schema(min_length = 1, max_length = 512, example = "https://www.nhc.noaa.gov")]
    source: Option<String>,
    /// Only events with these attribute values.
    #[schema(schema_with = crate::v1::events::filter::attributes_schema, required = false)]
    #[serde(default)]
    attribute: Option<Attributes>,
    /// The order of events. Defaults to the earliest first.
    order: Option<EventOrder>,
    /// The timeline. Defaults to the API key's.
    #[schema(value_type = Option<String>, format = "timeline-id", example = "main")]
    timeline_id: Option<Text<TimelineId>>,
    /// The maximum number per page.
    #[schema(minimum = 1, maximum = 1_000)]
    #[serde(default, deserialize_with = "wire::page_items")]
    limit: Option<usize>,
    /// As of a ledger position, an anchor id, or a host time. Defaults to now.
    #[schema(schema_with = wire::moment_schema, required = false)]
    #[serde(default, deserialize_with = "wire::moment")]
    as_of: Option<MomentText>,
    /// The `next_cursor` of the previous page.
    #[schema(format = "cursor")]
    cursor: Option<String>,
}

/// One page of events with their effects, interventions and paradoxes, ordered by time or newest first.
#[derive(Serialize, ToSchema)]
pub(crate) struct ScannedBody {
    /// A sentence that sums up the result.
    status: String,
    /// The timeline.
    timeline_id: String,
    /// The events.
    #[schema(value_type = Vec<ScannedEventBody>)]
    events: Vec<Box<RawValue>>,
    /// A summary of all events found; on the first page.
    #[serde(skip_serializing_if = "Option::is_none")]
    summary: Option<SummaryBody>,
    /// How the location was resolved.
    location_resolved: ResolvedBody,
    /// The last ledger position that all pages of this query include.
    as_of: Option<u64>,
    /// The cursor of the next page, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
    /// Whether there is another page.
    has_more: bool,
    /// The time up to which events were searched, if the page ends there because there are many. Continue with
    /// `next_cursor`.
    #[serde(skip_serializing_if = "Option::is_none")]
    searched_until: Option<String>,
}

/// An event with its effects, interventions and paradoxes.
#[derive(ToSchema)]
#[expect(dead_code, reason = "documents in OpenAPI a body that is built from stored JSON")]
pub(crate) struct ScannedEventBody {
    #[schema(inline)]
    #[serde(flatten)]
    event: EventBody,
    /// Its direct consequences: at most 100.
    effects: Vec<EventEffectBody>,
    /// Its interventions, in order.
    interventions: Vec<String>,
    /// Codes of the kinds of paradoxes that involve it.
    paradoxes: Vec<String>,
}

/// The same as members added to an event.
#[derive(Serialize)]
struct MarksBody {
    position: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    timeline_id: Option<String>,
    effects: Vec<EventEffectBody>,
    interventions: Vec<String>,
    paradoxes: Vec<&'static str>,
}

/// An effect of an event.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct EventEffectBody {
    /// The event or intervention.
    event_id: String,
    /// `requires` or `contributes`.
    #[schema(value_type = String)]
    kind: &'static str,
}

/// A summary of all events found.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SummaryBody {
    /// The number of matching events, among up to 100,000 that are checked.
    count: usize,
    /// Whether there may be more.
    truncated: bool,
    /// The time of the first event.
    first: Option<String>,
    /// The time of the last counted event.
    last: Option<String>,
    /// The number of events in each of 24 equal intervals between the first and the last.
    histogram: Vec<BucketBody>,
}

/// An interval of a histogram.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct BucketBody {
    /// Start of the interval.
    from: String,
    /// The number of events in it.
    count: usize,
}

/// Nothing is changed, so only the format of an `Idempotency-Key` is checked.
async fn scan_events(
    Change { app, caller, request, .. }: Change<ScanEventsRequest>,
) -> Result<Json<ScannedBody>, Failure> {
    let Location { text: location_text, query: location } = request.location.0;
    let filter = filter::filter(request.text, (request.actor, request.source), request.attribute)?;
    let request = MonitorEvents {
        timeline: timeline(request.timeline_id),
        location_text,
        location,
        range: request.time_range.0,
        as_of: request.as_of.map(|moment| (moment.text, moment.as_of)),
        filter,
        newest_first: EventOrder::is_newest_first(request.order),
        overlapping: false,
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
        status: filter::status(page.events.len(), page.searched_until.is_some()),
        timeline_id: page.timeline_id.to_string(),
        events: events.collect(),
        summary: summary.map(SummaryBody::from),
        location_resolved,
        as_of: page.as_of,
        has_more: page.next_cursor.is_some(),
        next_cursor: page.next_cursor.clone(),
        searched_until: page.searched_until.map(|time| time.to_string()),
    }))
}

fn scanned(event: &StoredEvent, timeline_id: Option<String>, marks: &EventMarks) -> Option<Box<RawValue>> {
    let effect = |(event_id, kind): &(_, timenav_core::event::CauseKind)| {
        let event_id: &timenav_core::ids::EventId = event_id;
        EventEffectBody { event_id: event_id.to_string(), kind: kind.as_str() }
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
            truncated: summary.is_cut,
            first: summary.first.map(|time| time.to_string()),
            last: summary.last.map(|time| time.to_string()),
            histogram: summary.histogram.into_iter().map(bucket).collect(),
        }
    }
}
