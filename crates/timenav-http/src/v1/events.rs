use std::borrow::Cow;
use std::collections::BTreeMap;

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, HeaderValue, Method, Uri, header};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use timenav_core::event::EventDraft;
use timenav_core::ids::TimelineId;
use timenav_core::limits::EVENTS_PER_REQUEST_MAX;
use timenav_core::text::counted;
use timenav_core::time::{TimeRange, Virtual};
use timenav_engine::{Action, EventPage, MonitorEvents, Refusal};
use timenav_import::EventRecord;
#[cfg(feature = "schema")]
use utoipa::PartialSchema;
#[cfg(feature = "schema")]
use utoipa::openapi::schema::{ArrayBuilder, OneOfBuilder, Type};
#[cfg(feature = "schema")]
use utoipa::openapi::{Ref, RefOr, Schema};

use crate::schema::ToSchema;

use self::filter::{Attributes, EventOrder};
use self::raw_json::{VersionPlace, write_with};
use self::resolved::ResolvedBody;
use super::parameters::timeline;
use crate::request::auth::Authenticated;
use crate::request::call::Read;
use crate::request::entity_tag::expect_timeline;
use crate::request::idempotency::Idempotent;
use crate::request::params::{JsonBody, QueryParams, SentAsQuery, conflict, from_json, malformed};
use crate::response::answer::{Changed, LedgerBody, created_first};
use crate::response::problem::{Failure, FaultKind, ParameterFault};
use crate::route::Route;
use crate::state::App;
use crate::wire::{self, Location, MomentText, Text, items_max};

pub(crate) mod aggregate;
pub(crate) mod check_timeline;
pub(crate) mod effect;
pub(crate) mod erasing;
pub(crate) mod event_history;
pub(crate) mod export;
pub(crate) mod filter;
pub(crate) mod import;
pub(crate) mod raw_json;
pub(crate) mod paradoxes;
pub(crate) mod resolved;
pub(crate) mod scan_events;
pub(crate) mod stream;

const TAG: &str = "events";

pub(crate) fn routes() -> Vec<Route> {
    vec![
        Route::change("/events", "record_events", "Records one or more events, all or none", record_events)
            .takes_body::<EventsRequest>()
            .gives::<RecordedBody>()
            .heeds_if_there()
            .created()
            .tag(TAG),
        Route::lookup("/monitor-events", "monitor_events", "Finds events by place and time", monitor_events)
            .takes::<MonitorRequest>()
            .gives::<EventsBody>()
            .linked()
            .tag(TAG),
    ]
}

/// One event or several. The schema for the OpenAPI document; the body is parsed by hand for better errors.
pub(crate) enum EventsRequest {}

#[cfg(feature = "schema")]
impl EventsRequest {
    const ONE: &str = "NewEvent";

    fn one() -> RefOr<Schema> {
        let mut one = EventRecord::schema();
        // A single event may name its timeline among its fields.
        if let (RefOr::T(Schema::Object(one)), RefOr::T(Schema::Object(target))) = (&mut one, RecordTarget::schema()) {
            one.properties.extend(target.properties);
        }
        one
    }
}

#[cfg(feature = "schema")]
impl ToSchema for EventsRequest {
    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        schemas.push((Self::ONE.to_owned(), Self::one()));
        schemas.push((EventRecord::name().into_owned(), EventRecord::schema()));
        EventRecord::schemas(schemas);
    }
}

#[cfg(feature = "schema")]
impl PartialSchema for EventsRequest {
    fn schema() -> RefOr<Schema> {
        let one = Ref::from_schema_name(Self::ONE);
        let record = Ref::from_schema_name(EventRecord::name());
        let several = ArrayBuilder::new()
            .items(record)
            .min_items(Some(1))
            .max_items(Some(EVENTS_PER_REQUEST_MAX))
            .description(Some("Several events, all or none of which are recorded."));
        OneOfBuilder::new().description(Some("One event, or several.")).item(one).item(several).into()
    }
}

/// A recorded event: its OpenAPI schema has an id.
#[cfg(feature = "schema")]
pub(crate) enum CorrectedRecord {}

#[cfg(feature = "schema")]
impl ToSchema for CorrectedRecord {
    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        EventRecord::schemas(schemas);
    }
}

#[cfg(feature = "schema")]
impl PartialSchema for CorrectedRecord {
    fn schema() -> RefOr<Schema> {
        let mut schema = EventRecord::schema();
        if let RefOr::T(Schema::Object(object)) = &mut schema {
            object.description = Some("The complete event, as it should have been recorded.".to_owned());
            object.required.push("event_id".to_owned());
            if let Some(RefOr::T(Schema::Object(event_id))) = object.properties.get_mut("event_id") {
                event_id.schema_type = Type::String.into();
                event_id.description = Some("The id of the event.".to_owned());
            }
        }
        schema
    }
}

/// On which timeline to record.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RecordTarget {
    /// The timeline. Defaults to the API key's.
    #[schema(value_type = Option<String>, format = "changeable-timeline-id", example = "main")]
    timeline_id: Option<Text<TimelineId>>,
}

/// Events to find.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct MonitorRequest {
    /// `*` for anywhere, `lat,lon` or a `geo:` URI with `;u=meters`, `bbox:west,south,east,north`, or the text of the
    /// events' own location.
    #[schema(value_type = String, format = "location", example = "bbox:-98,18,-81,31")]
    location: Text<Location>,
    /// `<start>/<end>`, both ends included; `..` leaves an end open, and one end can be a duration.
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
    /// Whether to include events that began before the range and last into it. Defaults to `false`.
    #[serde(default, deserialize_with = "wire::truth")]
    overlapping: Option<bool>,
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

/// Events that were recorded.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct RecordedBody {
    /// A sentence that says what happened.
    status: String,
    /// The timeline.
    timeline_id: String,
    /// `true` if this request created the timeline. Absent otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    timeline_created: Option<bool>,
    /// The ids, in the order given.
    event_ids: Vec<String>,
    /// The place of the last event in the ledger; the others come right before it.
    ledger: LedgerBody,
}

/// One page of events, ordered by time, then position, or in reverse.
#[derive(Serialize, ToSchema)]
pub(crate) struct EventsBody {
    /// A sentence that sums up the result.
    status: String,
    /// The timeline.
    timeline_id: String,
    /// The events.
    #[schema(value_type = Vec<EventBody>)]
    events: Vec<Box<RawValue>>,
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

/// An event as it was recorded.
#[derive(ToSchema)]
#[expect(dead_code, reason = "documents in OpenAPI the JSON that the engine stores")]
pub(crate) struct EventContentBody {
    /// The event's id.
    event_id: String,
    /// The time or start of the event.
    time: String,
    /// The end of the event.
    end_time: Option<String>,
    /// The precision of the times.
    precision: Option<String>,
    /// What happened.
    description: String,
    /// A short title.
    name: Option<String>,
    /// The place, in words.
    location: Option<String>,
    /// The coordinates: `lat`, `lon` and optionally `radius_m`.
    geo: Option<timenav_import::GeoRecord>,
    /// The causes.
    causes: Option<Vec<timenav_import::CauseObject>>,
    /// The participants.
    actors: Option<Vec<String>>,
    /// Whether the event was `observed`, is `scheduled` or is `predicted`.
    kind: Option<String>,
    /// States that hold while it lasts.
    asserts: Option<Vec<timenav_import::AssertionRecord>>,
    /// Anything else.
    #[schema(value_type = Option<Object>)]
    attributes: Option<()>,
    /// The source of the record.
    source: Option<String>,
    /// The source's own number for the record.
    sequence: Option<u64>,
}

/// An event as it was recorded, and its place in the ledger.
#[derive(ToSchema)]
#[expect(dead_code, reason = "documents in OpenAPI a body that is built from stored JSON")]
pub(crate) struct EventBody {
    #[serde(flatten)]
    content: EventContentBody,
    /// Position of the ledger entry that created this version.
    position: u64,
    /// The timeline of that ledger, if this timeline was forked from it.
    timeline_id: Option<String>,
}

async fn record_events(
    State(app): State<App>,
    Authenticated(caller): Authenticated,
    Idempotent(idempotency): Idempotent,
    headers: HeaderMap,
    QueryParams(target): QueryParams<RecordTarget>,
    JsonBody(body): JsonBody,
) -> Result<Changed<RecordedBody>, Failure> {
    let (named, drafts) = drafts(&body)?;
    app.rates.records(&caller.user_id, drafts.len()).map_err(Failure::TooMany)?;
    let alone = !body.trim_ascii_start().starts_with(b"[");
    let timeline = same(timeline(target.timeline_id), named)?;
    let timeline_id = caller.timeline(timeline);
    expect_timeline(&app, &headers, (&caller, &timeline_id), Action::RecordEvent).await?;
    let recorded = app.engine.record_events(&caller, Some(timeline_id), drafts, idempotency).await;
    let recorded = recorded.map_err(|refusal| Failure::from(refusal).about_one(alone))?;
    let status = format!("{} recorded.", counted(recorded.event_ids.len(), "event"));
    let (status, timeline_created) = created_first(recorded.ledger, recorded.timeline_id.as_str(), status);
    let body = RecordedBody {
        status,
        timeline_created,
        timeline_id: recorded.timeline_id.to_string(),
        event_ids: recorded.event_ids.iter().map(ToString::to_string).collect(),
        ledger: recorded.ledger.into(),
    };
    Ok(Changed::created(body, recorded.replayed))
}

async fn monitor_events(
    method: Method,
    uri: Uri,
    sent_as_query: Option<axum::Extension<SentAsQuery>>,
    Read { app, caller, request }: Read<MonitorRequest>,
) -> Result<Response, Failure> {
    let Location { text: location_text, query: location } = request.location.0;
    let filter = filter::filter(request.text, (request.actor, request.source), request.attribute)?;
    let page = app
        .engine
        .monitor_events(
            &caller,
            MonitorEvents {
                timeline: timeline(request.timeline_id),
                location_text,
                location,
                range: request.time_range.0,
                overlapping: request.overlapping.unwrap_or(false),
                as_of: request.as_of.map(|moment| (moment.text, moment.as_of)),
                filter,
                newest_first: EventOrder::is_newest_first(request.order),
                items_max: items_max(request.limit),
                cursor: request.cursor,
            },
        )
        .await?;
    let linked = method == Method::GET && sent_as_query.is_none();
    let link = page.next_cursor.as_deref().filter(|_| linked).and_then(|cursor| next_link(&uri, cursor));
    let mut headers = HeaderMap::new();
    headers.extend(link.map(|link| (header::LINK, link)));
    let resolved = ResolvedBody::of(&page);
    Ok((headers, json(page, resolved)?).into_response())
}

/// Serializes a page. Events are stored in their response format, so they are copied instead of parsed and serialized.
fn json(page: EventPage, location_resolved: ResolvedBody) -> Result<Response, Failure> {
    let body = EventsBody {
        status: filter::status(page.events.len(), page.searched_until.is_some()),
        timeline_id: page.timeline_id.to_string(),
        events: Vec::new(),
        location_resolved,
        as_of: page.as_of,
        has_more: page.next_cursor.is_some(),
        next_cursor: page.next_cursor,
        searched_until: page.searched_until.map(|time| time.to_string()),
    };
    let frame = serde_json::to_string(&body).map_err(|error| malformed(&error))?;
    let empty = "\"events\":[";
    let at = frame.find(empty).map_or(frame.len(), |start| start + empty.len());
    let events_bytes: usize = page.events.iter().map(|event| event.content.len() + 32).sum();
    let mut text = String::with_capacity(frame.len() + events_bytes);
    text.push_str(&frame[..at]);
    for (index, event) in page.events.iter().enumerate() {
        if index > 0 {
            text.push(',');
        }
        let of = Some(&page.layers[event.layer]).filter(|of| **of != page.timeline_id);
        let place = VersionPlace { position: event.position, timeline_id: of.map(TimelineId::as_str) };
        write_with(&event.content, &place, &mut text)
            .ok_or_else(|| Refusal::Damaged(format!("the event at position {} is not an object", event.position)))?;
    }
    text.push_str(&frame[at..]);
    Ok(([(header::CONTENT_TYPE, "application/json")], text).into_response())
}

/// Returns a `Link` to the next page (RFC 8288) if all parameters are in the query string.
fn next_link(uri: &Uri, cursor: &str) -> Option<HeaderValue> {
    let query = uri.query().filter(|query| query.contains("location=") && query.contains("time_range="))?;
    let others = query.split('&').filter(|pair| !pair.starts_with("cursor="));
    let pairs: Vec<&str> = others.collect();
    HeaderValue::from_str(&format!("<{}?{}&cursor={cursor}>; rel=\"next\"", uri.path(), pairs.join("&"))).ok()
}

/// Parses one event or several. A single event may name its timeline among its fields.
fn drafts(body: &[u8]) -> Result<(Option<TimelineId>, Vec<EventDraft>), Failure> {
    let body = body.trim_ascii();
    if body.first() == Some(&b'[') {
        let items: Vec<&RawValue> = serde_json::from_slice(body).map_err(|error| malformed(&error))?;
        if items.len() > EVENTS_PER_REQUEST_MAX {
            // Rejected before any event is parsed. The engine returns the same error for an empty list.
            let count = items.len();
            let detail =
                format!("a request can record 1 to {EVENTS_PER_REQUEST_MAX} events, not {count}; import larger files");
            return Err(Failure::invalid("", detail));
        }
        let one = |(index, item): (usize, &&RawValue)| draft(item.get().as_bytes(), &index.to_string());
        return Ok((None, items.iter().enumerate().map(one).collect::<Result<_, _>>()?));
    }
    let (named, rest) = take_timeline(body)?;
    Ok((named, vec![draft(&rest, "")?]))
}

fn take_timeline(body: &[u8]) -> Result<(Option<TimelineId>, Cow<'_, [u8]>), Failure> {
    // Other faults of the object are reported when the rest is parsed.
    let mut fields: BTreeMap<String, &RawValue> = serde_json::from_slice(body).unwrap_or_default();
    let Some(named) = fields.remove("timeline_id") else { return Ok((None, body.into())) };
    let target: RecordTarget = from_json(format!("{{\"timeline_id\":{named}}}").as_bytes())?;
    let rest = serde_json::to_vec(&fields).map_err(|error| malformed(&error))?;
    Ok((timeline(target.timeline_id), rest.into()))
}

/// Returns the timeline of the query string or the body; both must agree.
fn same(of_query: Option<TimelineId>, of_body: Option<TimelineId>) -> Result<Option<TimelineId>, Failure> {
    match (of_query, of_body) {
        (Some(a), Some(b)) if a != b => Err(conflict("timeline_id")),
        (a, b) => Ok(a.or(b)),
    }
}

pub(crate) fn draft(json: &[u8], prefix: &str) -> Result<EventDraft, Failure> {
    let draft = EventRecord::from_json(json).and_then(EventRecord::into_draft);
    draft.map_err(|error| {
        let kind = match error.code {
            "malformed_json" => return Failure::MalformedJson { detail: error.detail },
            "missing_parameter" => FaultKind::Missing,
            "unknown_parameter" => FaultKind::Unknown,
            "time_out_of_range" => FaultKind::OutOfRange,
            _ => FaultKind::Invalid,
        };
        let field = error.field.unwrap_or_default();
        let path = [prefix, &field].iter().filter(|part| !part.is_empty()).copied().collect::<Vec<_>>().join("/");
        Failure::Parameter(ParameterFault { kind, path, detail: error.detail })
    })
}
