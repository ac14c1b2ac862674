//! Source: WHATWG HTML, server-sent events. The message id is a ledger position.

use crate::schema::ToSchema;
use axum::response::IntoResponse;
use axum::response::sse::Event;
use http::HeaderMap;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use timenav_core::ids::TimelineId;
use timenav_core::time::Duration;
use timenav_engine::{LedgerMessage, LedgerUpdate, Topic, WatchLedger, WatchedParadoxes};

use crate::request::call::Read;
use crate::response::problem::Failure;
use crate::route::{Messages, Route};
use crate::state::App;
use crate::v1::clock::ClockBody;
use crate::v1::events::filter::{Attributes, filter};
use crate::v1::events::paradoxes::{ParadoxBody, includes_observations, kinds, settings};
use crate::v1::events::raw_json::{VersionPlace, raw_with};
use crate::v1::parameters::timeline;
use crate::v1::streaming::{PLACE_PATTERN, Place, event_at, last_event_id, message_stream, place};
use crate::v1::timers::advances::AdvanceProgressBody;
use crate::wire::{self, Text, Topics, Words};

pub(crate) fn routes() -> Vec<Route> {
    vec![
        Route::lookup(
            "/stream",
            "stream",
            "Streams a timeline: one message for each change in the chosen topics",
            watch,
        )
        .takes::<StreamRequest>()
        .streams::<StreamBody>(Messages {
            names: &[
                "clock",
                "events",
                "interventions",
                "paradox-created",
                "paradox-resolved",
                "advances",
                "due",
                "reset",
            ],
            id: PLACE_PATTERN,
            what: "One message for each ledger entry that changes something, and for each range with events that the \
                   clock has passed; the id begins with the position of the entry",
            may_be_silent: true,
        })
        .conflicts()
        .heeds("Last-Event-ID", "The id of the last message received: later messages are sent first", "place-in-stream")
        .tag("timelines"),
    ]
}

/// Topics and filters of a stream.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct StreamRequest {
    /// The topics, separated by commas: `clock`, `events` (recorded and corrected), `interventions`, `paradoxes`
    /// (created and resolved), `advances` (start, each instant, end), `due` (ranges of time with events that the clock
    /// has passed). Defaults to all but `due`.
    #[schema(value_type = Option<String>, format = "topics", example = "clock,events")]
    topics: Option<Text<Topics>>,
    /// Only events that contain these words or word prefixes before or after a change, ignoring case and accents: in
    /// name, description, location, id, actors or attributes. Clocks, paradoxes and `due` are not filtered.
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
    /// Only paradoxes of these kinds, by code (`P01`) or name (`effect_before_cause`), as a list or separated by commas.
    #[schema(schema_with = crate::v1::events::paradoxes::kinds_schema, required = false)]
    kinds: Option<Words>,
    /// Also include `observations` about the data.
    #[schema(schema_with = crate::v1::events::paradoxes::include_schema, required = false)]
    include: Option<Words>,
    /// The top speed of actors in km/h, for `P07`. Defaults to 900.
    #[schema(exclusive_minimum = 0.0, maximum = 1_100_000_000.0, example = 900)]
    #[serde(default, deserialize_with = "wire::number")]
    speed_kmh: Option<f64>,
    /// How far clocks may differ before one time counts as earlier than another. Defaults to none.
    #[schema(value_type = Option<String>, format = "duration", example = "90s")]
    tolerance: Option<Text<Duration>>,
    /// The timeline. Defaults to the API key's.
    #[schema(value_type = Option<String>, format = "timeline-id", example = "main")]
    timeline_id: Option<Text<TimelineId>>,
}

/// A message. Its event is the topic, for paradoxes `paradox-created` or `paradox-resolved`; or `reset` if messages are
/// missing: read the current state again.
#[derive(Serialize, ToSchema)]
pub(crate) struct StreamBody {
    /// The timeline.
    timeline_id: String,
    /// Position of the ledger entry, or of the newest entry if the message has none. The message's id begins with it.
    /// If an entry has several messages, the ids of all but the last have an index after it, from 0 (`17.0`). Ids of
    /// `due` messages have the clock's time after it (`17@951868800000000`). Each id ends with a hash of the entry
    /// (`17~5f3c9a0e1d2b4c68`).
    position: u64,
    /// The clock after the change.
    #[serde(skip_serializing_if = "Option::is_none")]
    clock: Option<ClockBody>,
    /// The change of an event (`recorded`, `corrected` or `manipulated`) or of a paradox (`made` or `resolved`).
    #[schema(value_type = Option<String>)]
    #[serde(skip_serializing_if = "Option::is_none")]
    change: Option<&'static str>,
    /// The event's id.
    #[serde(skip_serializing_if = "Option::is_none")]
    event_id: Option<String>,
    /// The event as it was recorded or corrected; absent if it has been erased since.
    #[schema(value_type = Option<crate::v1::events::EventBody>)]
    #[serde(skip_serializing_if = "Option::is_none")]
    event: Option<Box<RawValue>>,
    /// The intervention, with the event `after` it; absent if it has been erased since.
    #[schema(value_type = Option<crate::v1::events::event_history::InterventionBody>)]
    #[serde(skip_serializing_if = "Option::is_none")]
    intervention: Option<Box<RawValue>>,
    /// The new or resolved paradox. A resolved one is as it was before.
    #[serde(skip_serializing_if = "Option::is_none")]
    paradox: Option<ParadoxBody>,
    /// The advance: its start, its newest instant, or its receipt. Earlier instants may be skipped.
    #[serde(skip_serializing_if = "Option::is_none")]
    advance: Option<AdvanceProgressBody>,
    /// The time that the clock has passed, if it has events. `GET /v1/monitor-events` lists them.
    #[serde(skip_serializing_if = "Option::is_none")]
    due: Option<DueBody>,
}

/// A range of time with events that the clock has passed. Both ends are included.
#[derive(Serialize, ToSchema)]
pub(crate) struct DueBody {
    /// Its first instant.
    from: String,
    /// Its last instant.
    to: String,
    /// Both, as a `time_range`.
    time_range: String,
}

/// Watches a timeline until the client, the permission or the service ends.
async fn watch(
    headers: HeaderMap,
    Read { app, caller, request }: Read<StreamRequest>,
) -> Result<impl IntoResponse, Failure> {
    let seen = last_event_id(&headers)?.map(|Place(seen)| seen);
    let topics = request.topics.map_or_else(|| Topic::OF_ENTRIES.to_vec(), |topics| topics.0.0);
    let paradoxes = WatchedParadoxes {
        kinds: request.kinds.map(|words| kinds(&words)).transpose()?,
        observations: request.include.map(|words| includes_observations(&words)).transpose()?.unwrap_or(false),
        settings: settings(request.speed_kmh, request.tolerance.map(|text| text.0))?.unwrap_or_default(),
    };
    let filter = filter(request.text, (request.actor, request.source), request.attribute)?;
    let watch = WatchLedger { timeline: timeline(request.timeline_id), topics, paradoxes, filter, seen };
    let place = place(&app, &caller)?;
    let watched = app.engine.watch_ledger(&caller, watch).await?;
    Ok(message_stream(app, caller, watched, place, message))
}

fn message(app: &App, timeline_id: &TimelineId, sent: LedgerMessage) -> Option<Event> {
    let position = sent.position;
    let place = VersionPlace { position, timeline_id: None };
    let mut body = StreamBody {
        timeline_id: timeline_id.to_string(),
        position,
        clock: None,
        change: None,
        event_id: None,
        event: None,
        intervention: None,
        paradox: None,
        advance: None,
        due: None,
    };
    let message = event_at(&sent);
    let name = match sent.update {
        // A message without data only sets the id with which the client resumes.
        LedgerUpdate::Mark => return Some(message),
        LedgerUpdate::Reset => "reset",
        LedgerUpdate::Clock(clock) => {
            body.clock = Some(ClockBody::part(&app.engine.watched(timeline_id, clock)));
            Topic::Clock.as_str()
        }
        LedgerUpdate::Event { event_id, is_correction, content } => {
            body.change = Some(if is_correction { "corrected" } else { "recorded" });
            body.event_id = Some(event_id);
            body.event = content.and_then(|content| raw_with(&content, &place));
            Topic::Events.as_str()
        }
        LedgerUpdate::Intervention { event_id, content } => {
            body.change = Some("manipulated");
            body.event_id = Some(event_id);
            body.intervention = content.and_then(|content| raw_with(&content, &place));
            Topic::Interventions.as_str()
        }
        // Part of the firings stream.
        LedgerUpdate::Firing(_) | LedgerUpdate::Gap => return None,
        LedgerUpdate::Due { from, to } => {
            body.due = Some(DueBody { from: from.to_string(), to: to.to_string(), time_range: format!("{from}/{to}") });
            Topic::Due.as_str()
        }
        LedgerUpdate::Advance(receipt) => {
            body.advance = Some(AdvanceProgressBody::of(&receipt));
            Topic::Advances.as_str()
        }
        LedgerUpdate::Paradox { is_resolved, paradox } => {
            body.change = Some(if is_resolved { "resolved" } else { "created" });
            body.paradox = Some(ParadoxBody::of(&paradox));
            if is_resolved { "paradox-resolved" } else { "paradox-created" }
        }
    };
    message.event(name).json_data(body).ok()
}
