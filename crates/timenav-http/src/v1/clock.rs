pub(crate) mod elapse;
pub(crate) mod faults;
pub(crate) mod followers;
pub(crate) mod foreseen;
pub(crate) mod next;
mod done;
mod stream;
mod view;

use crate::schema::ToSchema;
use axum::Json;
use http::HeaderMap;
use serde::Deserialize;
use timenav_core::clock::{ClockCommand, Rate};
use timenav_core::ids::{FiringId, FollowerName, TimelineId};
use timenav_core::limits::{RATE_MICROS_MAX, RATE_MICROS_MIN};
use timenav_core::time::{Duration, Instant, Virtual};
use timenav_engine::{Caller, ClockChange, ReadOf};

use self::followers::{HOST, PROCESS, Patience};
use super::parameters::timeline;
use crate::request::call::{Change, Read};
use crate::request::entity_tag::if_match;
use crate::response::answer::Changed;
use crate::response::problem::Failure;
use crate::route::{Messages, Route};
use crate::state::App;
use crate::wire::{self, HostTime, Text, Words};

pub(crate) use done::once_done;
pub(crate) use view::{ClockBody, Operation};

const TAG: &str = "clock";
/// Marks a request of a firing handler. The client libraries send it automatically.
pub(crate) const INSIDE: &str = "Timenav-Firing";
pub(crate) const INSIDE_SAYS: &str = "Inside a handler: the id of the firing it handles";
/// Description of `If-Match` on a clock change.
pub(crate) const GENERATION: &str = "Only if the clock still has this generation, in quotation marks: `\"7\"`";

pub(crate) fn routes() -> Vec<Route> {
    vec![
        Route::change("/travel", "travel", "Moves the clock to a date, time and place", travel)
            .takes::<TravelRequest>()
            .gives::<ClockBody>()
            .heeds_if_match(GENERATION)
            .heeds(INSIDE, INSIDE_SAYS, "id"),
        Route::change("/pause-time", "pause_time", "Pauses the clock", pause_time)
            .takes::<PauseRequest>()
            .gives::<ClockBody>()
            .heeds_if_match(GENERATION),
        Route::change("/resume-time", "resume_time", "Resumes a paused clock", resume_time)
            .takes::<PauseRequest>()
            .gives::<ClockBody>()
            .heeds_if_match(GENERATION)
            .heeds(INSIDE, INSIDE_SAYS, "id"),
        Route::change("/fast-forward", "fast_forward", "Moves the clock forward by a duration", fast_forward)
            .takes::<ForwardRequest>()
            .gives::<ClockBody>()
            .heeds_if_match(GENERATION)
            .heeds(INSIDE, INSIDE_SAYS, "id"),
        Route::change("/rewind", "rewind", "Moves the clock back by a duration", rewind)
            .takes::<ShiftRequest>()
            .gives::<ClockBody>()
            .heeds_if_match(GENERATION)
            .heeds(INSIDE, INSIDE_SAYS, "id"),
        Route::change("/set-rate", "set_rate", "Changes the rate of the clock without moving it", set_rate)
            .takes::<RateRequest>()
            .gives::<ClockBody>()
            .heeds_if_match(GENERATION)
            .heeds(INSIDE, INSIDE_SAYS, "id"),
        Route::lookup_of(ReadOf::Clock, "/clock", "clock", "Reads the clock", clock)
            .takes::<ClockRequest>()
            .gives::<ClockBody>(),
        Route::lookup("/clock/stream", "clock_stream", "Streams the clock: one message for each change", stream::watch)
            .takes::<WatchRequest>()
            .conflicts()
            .streams::<ClockBody>(Messages {
                names: &["clock", "reset"],
                id: "^[0-9]+$",
                what: "One message for each change; the id is the generation",
                may_be_silent: false,
            })
            .heeds("Last-Event-ID", "The id of the last message received: later messages are sent first", "message-id")
            .heeds(HOST, "With `follow`, the name of the follower's host, which `followers` lists", "host-name")
            .heeds(PROCESS, "With `follow`, the follower's process id on that host or in its container", "process-id"),
    ]
    .into_iter()
    .map(|route| route.tag(TAG))
    .collect()
}

/// A clock to read.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ClockRequest {
    /// The timeline. Defaults to the API key's.
    #[schema(value_type = Option<String>, format = "timeline-id", example = "main")]
    timeline_id: Option<Text<TimelineId>>,
}

/// A clock to stream.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct WatchRequest {
    /// The name of the follower. Each message then has a `follower_id`, and `POST /v1/followers/confirm` confirms
    /// applied changes. Clock changes with `followers` wait for that. Without a name, changes do not wait for this
    /// reader.
    #[schema(value_type = Option<String>, format = "own-follower-name", example = "web-1")]
    follow: Option<Text<FollowerName>>,
    /// Whether the follower also confirms each `step` of an advance. Firings of an instant then wait for that, up to 5
    /// seconds, so that handlers do not meet a follower at an earlier time. Needs `follow`. Defaults to `false`.
    #[serde(default, deserialize_with = "wire::truth")]
    steps: Option<bool>,
    /// Whether messages include the follower's clock error (`fault`), as set by `POST
    /// /v1/followers/{follower_id}/fault`. Needs `follow`. Defaults to `false`.
    #[serde(default, deserialize_with = "wire::truth")]
    faults: Option<bool>,
    /// The timeline. Defaults to the API key's.
    #[schema(value_type = Option<String>, format = "timeline-id", example = "main")]
    timeline_id: Option<Text<TimelineId>>,
}

/// A clock to pause or resume.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PauseRequest {
    /// How long to wait for followers, in host time. Defaults to `5s`; `0s` does not wait.
    #[schema(value_type = Option<String>, format = "duration", example = "5s")]
    wait: Option<Text<HostTime>>,
    #[schema(schema_with = crate::v1::clock::followers::followers_schema, required = false)]
    followers: Option<Words>,
    /// The timeline. Defaults to the API key's.
    #[schema(value_type = Option<String>, format = "changeable-timeline-id", example = "main")]
    timeline_id: Option<Text<TimelineId>>,
}

/// A move to another time and place.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TravelRequest {
    /// The destination, past or future: an ISO 8601 timestamp with a zone.
    #[schema(value_type = String, format = "timestamp", example = "2005-08-29T11:10:00Z")]
    destination_time: Text<Instant<Virtual>>,
    /// The place to travel to: any text. An IANA zone name, coordinates, or the name of a known place also set the
    /// calendar and the local time. Defaults to the current place.
    #[schema(min_length = 1, max_length = 512, example = "New Orleans")]
    location: Option<String>,
    /// How long to wait for timers and then for followers, in host time. The clock continues after that. Defaults to
    /// `30s` if timers are passed, otherwise to `5s`; `0s` does not wait.
    #[schema(value_type = Option<String>, format = "duration", example = "30s")]
    wait: Option<Text<HostTime>>,
    /// Whether the clock stops at each timer on its way forward until the firings are done. Otherwise it jumps, and the
    /// timers fire afterwards. Defaults to `true`.
    #[serde(default, deserialize_with = "wire::truth")]
    wait_for_timers: Option<bool>,
    /// Whether to report only which timers would fire, and with `refire` which would fire again. Nothing moves.
    /// Defaults to `false`.
    #[serde(default, deserialize_with = "wire::truth")]
    dry_run: Option<bool>,
    /// Whether timers fire again if the clock goes back before their moments. Their pending firings are then
    /// superseded. Defaults to `false`.
    #[serde(default, deserialize_with = "wire::truth")]
    refire: Option<bool>,
    #[schema(schema_with = crate::v1::clock::followers::followers_schema, required = false)]
    followers: Option<Words>,
    /// The timeline. Defaults to the API key's.
    #[schema(value_type = Option<String>, format = "changeable-timeline-id", example = "main")]
    timeline_id: Option<Text<TimelineId>>,
}

/// A move by a duration.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ShiftRequest {
    /// One or more numbers with units (`us`, `ms`, `s`, `m` for minutes, `h`, `d`, `w`), or ISO 8601.
    #[schema(value_type = String, format = "duration", example = "12h")]
    duration: Text<Duration>,
    /// Whether to report only the effect of `refire`: timers that would be armed again and firings that would be
    /// superseded. Nothing moves. Defaults to `false`.
    #[serde(default, deserialize_with = "wire::truth")]
    dry_run: Option<bool>,
    /// Whether timers fire again if the clock goes back before their moments. Their pending firings are then
    /// superseded. Defaults to `false`.
    #[serde(default, deserialize_with = "wire::truth")]
    refire: Option<bool>,
    /// How long to wait for followers, in host time. Defaults to `5s`; `0s` does not wait.
    #[schema(value_type = Option<String>, format = "duration", example = "5s")]
    wait: Option<Text<HostTime>>,
    #[schema(schema_with = crate::v1::clock::followers::followers_schema, required = false)]
    followers: Option<Words>,
    /// The timeline. Defaults to the API key's.
    #[schema(value_type = Option<String>, format = "changeable-timeline-id", example = "main")]
    timeline_id: Option<Text<TimelineId>>,
}

/// A move forward by a duration.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ForwardRequest {
    /// One or more numbers with units (`us`, `ms`, `s`, `m` for minutes, `h`, `d`, `w`), or ISO 8601.
    #[schema(value_type = String, format = "duration", example = "12h")]
    duration: Text<Duration>,
    /// How long to wait for timers and then for followers, in host time. The clock continues after that. Defaults to
    /// `30s` if timers are passed, otherwise to `5s`; `0s` does not wait.
    #[schema(value_type = Option<String>, format = "duration", example = "30s")]
    wait: Option<Text<HostTime>>,
    /// Whether the clock stops at each timer until its firings are done. Otherwise it jumps, and the timers fire
    /// afterwards. Defaults to `true`.
    #[serde(default, deserialize_with = "wire::truth")]
    wait_for_timers: Option<bool>,
    /// Whether to report only which timers would fire, without moving the clock. Defaults to `false`.
    #[serde(default, deserialize_with = "wire::truth")]
    dry_run: Option<bool>,
    #[schema(schema_with = crate::v1::clock::followers::followers_schema, required = false)]
    followers: Option<Words>,
    /// The timeline. Defaults to the API key's.
    #[schema(value_type = Option<String>, format = "changeable-timeline-id", example = "main")]
    timeline_id: Option<Text<TimelineId>>,
}

/// The rate of a clock.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RateRequest {
    /// Virtual seconds per host second: more than 0, with up to six decimal places.
    #[schema(value_type = f64, minimum = 0.000_001, maximum = 1_000_000.0, example = 60.0)]
    #[serde(deserialize_with = "rate")]
    rate: Rate,
    /// How long to wait for followers, in host time. Defaults to `5s`; `0s` does not wait.
    #[schema(value_type = Option<String>, format = "duration", example = "5s")]
    wait: Option<Text<HostTime>>,
    #[schema(schema_with = crate::v1::clock::followers::followers_schema, required = false)]
    followers: Option<Words>,
    /// The timeline. Defaults to the API key's.
    #[schema(value_type = Option<String>, format = "changeable-timeline-id", example = "main")]
    timeline_id: Option<Text<TimelineId>>,
}

pub(crate) fn clock_change(command: ClockCommand, headers: &HeaderMap) -> Result<ClockChange, Failure> {
    Ok(ClockChange { expected: if_match(headers)?, is_inside: is_inside(headers)?, ..ClockChange::from(command) })
}

/// Only the form of the firing id is checked: the firing itself makes no difference.
pub(crate) fn is_inside(headers: &HeaderMap) -> Result<bool, Failure> {
    let Some(value) = headers.get(INSIDE) else { return Ok(false) };
    let id = FiringId::new(value.to_str().unwrap_or(""));
    id.map(|_| true).map_err(|error| Failure::invalid(INSIDE, error.to_string()))
}

/// Returns which timers a clock change would fire or re-arm, without making it.
pub(crate) async fn foresee(
    app: &App,
    caller: &Caller,
    timeline: Option<TimelineId>,
    change: impl Into<ClockChange>,
) -> Result<Changed<ClockBody>, Failure> {
    let foresight = app.engine.preview_clock_change(caller, timeline, change).await?;
    Ok(Changed::ok(ClockBody::foreseen(&foresight), false))
}

async fn travel(
    Change { app, caller, idempotency, headers, request }: Change<TravelRequest>,
) -> Result<Changed<ClockBody>, Failure> {
    let location = request.location.clone();
    let command = ClockCommand::Travel { to: request.destination_time.0, location: request.location };
    let (settle, refire) = (request.wait_for_timers.unwrap_or(true), request.refire == Some(true));
    let change = ClockChange { settle, refire, ..clock_change(command, &headers)? };
    if request.dry_run == Some(true) {
        return foresee(&app, &caller, timeline(request.timeline_id), change).await;
    }
    let patience = Patience::of(request.wait, request.followers)?;
    let step = app.engine.change_clock(&caller, timeline(request.timeline_id), change, idempotency).await?;
    let place = match &location {
        Some(location) => app.engine.place_called(&caller, location).await,
        None => None,
    };
    Ok(ClockBody::travelled(once_done(&app, &step, Operation::Travel, patience).await?, place))
}

/// Pauses a timeline's clock. A paused clock stays as it is.
async fn pause_time(
    Change { app, caller, idempotency, headers, request }: Change<PauseRequest>,
) -> Result<Changed<ClockBody>, Failure> {
    let patience = Patience::of(request.wait, request.followers)?;
    let change = clock_change(ClockCommand::Pause, &headers)?;
    let step = app.engine.change_clock(&caller, timeline(request.timeline_id), change, idempotency).await?;
    once_done(&app, &step, Operation::Pause, patience).await
}

/// Resumes a timeline's clock. A running clock goes on as it is.
async fn resume_time(
    Change { app, caller, idempotency, headers, request }: Change<PauseRequest>,
) -> Result<Changed<ClockBody>, Failure> {
    let patience = Patience::of(request.wait, request.followers)?;
    let change = clock_change(ClockCommand::Resume, &headers)?;
    let step = app.engine.change_clock(&caller, timeline(request.timeline_id), change, idempotency).await?;
    once_done(&app, &step, Operation::Resume, patience).await
}

async fn fast_forward(
    Change { app, caller, idempotency, headers, request }: Change<ForwardRequest>,
) -> Result<Changed<ClockBody>, Failure> {
    let command = ClockCommand::FastForward(request.duration.0);
    if request.dry_run == Some(true) {
        return foresee(&app, &caller, timeline(request.timeline_id), command).await;
    }
    let patience = Patience::of(request.wait, request.followers)?;
    let change = clock_change(command, &headers)?;
    let change = ClockChange { settle: request.wait_for_timers.unwrap_or(true), ..change };
    let step = app.engine.change_clock(&caller, timeline(request.timeline_id), change, idempotency).await?;
    once_done(&app, &step, Operation::Shift, patience).await
}

async fn rewind(
    Change { app, caller, idempotency, headers, request }: Change<ShiftRequest>,
) -> Result<Changed<ClockBody>, Failure> {
    let refire = request.refire == Some(true);
    let change = ClockChange { refire, ..clock_change(ClockCommand::Rewind(request.duration.0), &headers)? };
    if request.dry_run == Some(true) {
        return foresee(&app, &caller, timeline(request.timeline_id), change).await;
    }
    let patience = Patience::of(request.wait, request.followers)?;
    let step = app.engine.change_clock(&caller, timeline(request.timeline_id), change, idempotency).await?;
    once_done(&app, &step, Operation::Shift, patience).await
}

/// The clock continues from its current time.
async fn set_rate(
    Change { app, caller, idempotency, headers, request }: Change<RateRequest>,
) -> Result<Changed<ClockBody>, Failure> {
    let patience = Patience::of(request.wait, request.followers)?;
    let change = clock_change(ClockCommand::SetRate(request.rate), &headers)?;
    let step = app.engine.change_clock(&caller, timeline(request.timeline_id), change, idempotency).await?;
    once_done(&app, &step, Operation::SetRate, patience).await
}

async fn clock(Read { app, caller, request }: Read<ClockRequest>) -> Result<Json<ClockBody>, Failure> {
    let view = app.engine.read_clock(&caller, timeline(request.timeline_id)).await?;
    Ok(Json(ClockBody::read(&view).by_boot(&view)))
}

fn rate<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Rate, D::Error> {
    let factor = wire::number::<D, f64>(deserializer)?;
    factor.and_then(Rate::from_factor).ok_or_else(|| {
        let (min, max) = (RATE_MICROS_MIN, RATE_MICROS_MAX / 1_000_000);
        serde::de::Error::custom(format!("a rate is a number from {min} millionth to {max}; 1 is host speed"))
    })
}
