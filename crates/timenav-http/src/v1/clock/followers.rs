use crate::schema::ToSchema;
use axum::Json;
use http::{HeaderMap, HeaderValue};
use serde::{Deserialize, Deserializer, Serialize};
use timenav_core::followers::{
    AwaitedState, AwaitedStatus, Follower, FollowerHost, FollowerPlace, FollowerProcess, Step,
};
use timenav_core::ids::{FollowerId, FollowerName, TimelineId};
use timenav_core::limits::{FOLLOWER_HOST_BYTES_MAX, FOLLOWER_PROCESS_MAX, SETTLE_WAIT_SECONDS_MAX};
use timenav_core::text::counted;
use timenav_core::time::{Duration, Instant, Span, Wall};
use timenav_engine::{Confirmation, FollowersSeen, WaitFor, WhichFollowers};

use crate::request::call::{Change, Read};
use crate::response::problem::Failure;
use crate::route::Route;
use crate::v1::clock::faults::FaultBody;
use crate::v1::parameters::timeline;
use crate::wire::{self, HostTime, Text, Words};

/// Followers named in the status sentence. The list has all of them.
const NAMED_IN_SENTENCE_MAX: usize = 5;
/// Request headers in which a follower reports its host and process.
pub(crate) const HOST: &str = "Timenav-Host";
pub(crate) const PROCESS: &str = "Timenav-Process";

pub(crate) fn routes() -> Vec<Route> {
    vec![
        Route::lookup(
            "/followers",
            "followers",
            "Lists the followers of the clock and their newest confirmations",
            followers,
        )
        .takes::<FollowersRequest>()
        .gives::<FollowersBody>()
        .tag("clock"),
        Route::change(
            "/followers/confirm",
            "confirm_clock",
            "Confirms that a follower has applied a clock change",
            confirm,
        )
        .takes::<ConfirmRequest>()
        .gives::<ConfirmedBody>()
        .anew()
        .tag("clock"),
    ]
}

/// The clock of the followers.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct FollowersRequest {
    /// The timeline. Defaults to the API key's.
    #[schema(value_type = Option<String>, format = "timeline-id", example = "main")]
    timeline_id: Option<Text<TimelineId>>,
}

/// The change that a follower has applied.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ConfirmRequest {
    /// The follower, by the id in the messages of its stream.
    #[schema(value_type = String, format = "id", example = "follower_01kan5hcbje6e8xbnhpb5dvnfa")]
    follower_id: Text<FollowerId>,
    /// The applied generation of the clock. It confirms all earlier ones.
    #[schema(value_type = u64, minimum = 0, maximum = 9_007_199_254_740_991_i64, example = 7)]
    #[serde(deserialize_with = "generation")]
    generation: u64,
    /// The applied step of that generation's advance, as in `advance` of the message. It confirms all earlier steps.
    /// Defaults to none.
    #[schema(value_type = Option<u64>, minimum = 0, maximum = 9_007_199_254_740_991_i64, example = 2)]
    #[serde(default, deserialize_with = "wire::number")]
    step: Option<u64>,
    /// The timeline. Defaults to the API key's.
    #[schema(value_type = Option<String>, format = "timeline-id", example = "main")]
    timeline_id: Option<Text<TimelineId>>,
}

/// The followers of a clock.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct FollowersBody {
    /// A sentence that sums up the result.
    status: String,
    /// The timeline.
    timeline_id: String,
    /// The generation of the clock.
    generation: u64,
    /// `true` if followers connected to other services on the database are not listed, until `timenav upgrade
    /// --finish`. Absent otherwise.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    partial: bool,
    /// The followers: connected ones by time of connection, then those that disconnected in the last minute. Users
    /// without write access to the timeline see only their own.
    followers: Vec<FollowerBody>,
}

/// A named reader of the clock's stream.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct FollowerBody {
    /// The id of the follower. Each connection has a new one.
    follower_id: String,
    /// The name of the follower. Several can have the same name.
    name: String,
    /// The follower's user.
    user_id: String,
    /// The follower's host, if the follower sent it (`Timenav-Host`). Only the service with the open stream shows it,
    /// if several share a database.
    #[serde(skip_serializing_if = "Option::is_none")]
    host: Option<String>,
    /// The id of its process on that host or in its container, if the follower sent it (`Timenav-Process`).
    #[serde(skip_serializing_if = "Option::is_none")]
    process: Option<u32>,
    /// `up_to_date` if it has confirmed the newest change, `lagging` if it has not, `disconnected` if its stream has
    /// ended.
    #[schema(value_type = String)]
    state: &'static str,
    /// Host time when its stream was opened.
    since: String,
    /// The newest generation of the clock that the follower has confirmed. Absent before the first confirmation.
    #[serde(skip_serializing_if = "Option::is_none")]
    generation: Option<u64>,
    /// The newest step of that generation's advance that the follower has confirmed.
    #[serde(skip_serializing_if = "Option::is_none")]
    step: Option<u64>,
    /// Whether it confirms the steps of advances. Firings of an instant wait for these confirmations.
    steps: bool,
    /// The clock error that the follower must apply. Absent if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    fault: Option<FaultBody>,
    /// Host time of that confirmation.
    #[serde(skip_serializing_if = "Option::is_none")]
    confirmed_at: Option<String>,
    /// The duration, in host time, from the newest change or advance step to its confirmation, or from the opening of
    /// the stream if that was later. Absent without a confirmation.
    #[serde(skip_serializing_if = "Option::is_none")]
    latency: Option<String>,
    /// Host time when its stream ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    disconnected_at: Option<String>,
}

/// The confirmations of a follower.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ConfirmedBody {
    /// A sentence that says what happened.
    status: String,
    /// The timeline.
    timeline_id: String,
    /// The follower.
    follower_id: String,
    /// The newest generation that the follower has confirmed.
    generation: u64,
}

/// The followers that have to confirm a change, and their confirmations.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ConfirmationsBody {
    /// `confirmed` if all followers have confirmed, `waiting` if some had not when the response was sent.
    #[schema(value_type = String)]
    state: &'static str,
    /// The generation of the clock to confirm.
    generation: u64,
    /// `true` if followers connected to other services on the database were not waited for, until `timenav upgrade
    /// --finish`. Absent otherwise.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    partial: bool,
    /// The followers that have to confirm.
    followers: Vec<FollowerConfirmationBody>,
}

/// Whether a follower has confirmed a change.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct FollowerConfirmationBody {
    /// The name of the follower.
    name: String,
    /// `confirmed`; `lagging` if it is connected and has not confirmed; `disconnected`; `unknown` if no follower has this
    /// name.
    #[schema(value_type = String)]
    state: &'static str,
    /// The id of the follower, if it is or was connected.
    #[serde(skip_serializing_if = "Option::is_none")]
    follower_id: Option<String>,
    /// The follower's user.
    #[serde(skip_serializing_if = "Option::is_none")]
    user_id: Option<String>,
    /// The newest generation of the clock that the follower has confirmed.
    #[serde(skip_serializing_if = "Option::is_none")]
    generation: Option<u64>,
    /// Host time of that confirmation.
    #[serde(skip_serializing_if = "Option::is_none")]
    confirmed_at: Option<String>,
    /// The duration, in host time, from the change to its confirmation, or from the opening of the stream if that was
    /// later. Absent without a confirmation, or if the clock has changed again.
    #[serde(skip_serializing_if = "Option::is_none")]
    latency: Option<String>,
}

/// How long the response to a clock change waits, and for which followers.
pub(crate) struct Patience {
    wait: Option<Span>,
    pub(crate) which: Option<WhichFollowers>,
}

impl Patience {
    /// Reads the wait parameters before anything is changed.
    pub(crate) fn of(wait: Option<Text<HostTime>>, followers: Option<Words>) -> Result<Self, Failure> {
        let range = (0, SETTLE_WAIT_SECONDS_MAX);
        let wait = wait.map(|Text(wait)| wire::host_time("wait", wait, range)).transpose()?;
        let invalid = |error| Failure::invalid("followers", format!("{error}; or write `all`"));
        let name = |word: &String| FollowerName::new(word).map_err(invalid);
        let names = followers.map(|Words(words)| words.iter().map(name).collect::<Result<Vec<_>, _>>()).transpose()?;
        Ok(Self { wait, which: names.map(WhichFollowers::named).transpose()? })
    }

    /// Returns the wait, by default `seconds_default`.
    pub(crate) fn span(&self, seconds_default: i64) -> Span {
        self.wait.or_else(|| Span::from_secs(seconds_default)).unwrap_or(Span::ZERO)
    }
}

#[cfg(feature = "schema")]
pub(crate) fn followers_schema() -> utoipa::openapi::Schema {
    let description = "The followers that have to confirm the change before the response is sent: `all` (those of \
        users with write access to the timeline), or names, as a list or separated by commas. The response lists their \
        confirmations. The change is applied either way. Defaults to none.";
    wire::words_schema("follower-name", description)
}

pub(crate) fn sentence(statuses: &[AwaitedStatus]) -> String {
    let missing: Vec<&AwaitedStatus> = statuses.iter().filter(|one| one.state != AwaitedState::Confirmed).collect();
    if missing.is_empty() {
        return match statuses.len() {
            0 => "No follower has to confirm it.".to_owned(),
            1 => "1 follower has confirmed it.".to_owned(),
            count => format!("All {count} followers have confirmed it."),
        };
    }
    let named = missing.iter().take(NAMED_IN_SENTENCE_MAX);
    let named: Vec<String> = named.map(|one| format!("`{}` ({})", one.name, one.state.as_str())).collect();
    let more = match missing.len().saturating_sub(NAMED_IN_SENTENCE_MAX) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("Not confirmed by {}{more}.", named.join(", "))
}

async fn followers(Read { app, caller, request }: Read<FollowersRequest>) -> Result<Json<FollowersBody>, Failure> {
    let seen = app.engine.followers(&caller, timeline(request.timeline_id)).await?;
    let status = match seen.followers.len() {
        0 => "No followers.".to_owned(),
        count => format!("{}.", counted(count, "follower")),
    };
    Ok(Json(FollowersBody {
        status,
        timeline_id: seen.timeline_id.to_string(),
        generation: seen.step.generation,
        partial: seen.may_be_elsewhere,
        followers: seen.followers.iter().map(|follower| FollowerBody::of(follower, &seen)).collect(),
    }))
}

async fn confirm(Change { app, caller, request, .. }: Change<ConfirmRequest>) -> Result<Json<ConfirmedBody>, Failure> {
    let ConfirmRequest { follower_id: Text(follower_id), generation, step, timeline_id } = request;
    let step = step.unwrap_or(0);
    let confirmation = Confirmation { timeline: timeline(timeline_id), follower_id, generation, step };
    let (follower, newest) = app.engine.confirm(&caller, confirmation).await?;
    let generation = follower.confirmed.map_or(generation, |confirmed| confirmed.step.generation);
    let status = if generation >= newest {
        format!("`{}` has confirmed the newest change.", follower.name)
    } else {
        format!("`{}` has confirmed a change, and {} followed it.", follower.name, newest - generation)
    };
    let (timeline_id, follower_id) = (follower.timeline.to_string(), follower.follower_id.to_string());
    Ok(Json(ConfirmedBody { status, timeline_id, follower_id, generation }))
}

fn generation<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    let number = wire::number::<D, u64>(deserializer)?;
    number.ok_or_else(|| serde::de::Error::custom("a generation must be a number, as in the messages of the stream"))
}

impl FollowerBody {
    fn of(follower: &Follower, seen: &FollowersSeen) -> Self {
        let state = match (follower.is_there(), follower.has_confirmed(seen.step.generation)) {
            (true, true) => "up_to_date",
            (true, false) => "lagging",
            (false, _) => "disconnected",
        };
        Self {
            follower_id: follower.follower_id.to_string(),
            name: follower.name.to_string(),
            user_id: follower.user_id.to_string(),
            host: follower.place.host.as_ref().map(|host| host.as_str().to_owned()),
            process: follower.place.process.map(FollowerProcess::number),
            state,
            since: follower.since.to_string(),
            generation: follower.confirmed.map(|confirmed| confirmed.step.generation),
            step: follower.confirmed.map(|confirmed| confirmed.step.number).filter(|number| *number > 0),
            steps: follower.steps,
            fault: seen.faults.get(&(follower.user_id.clone(), follower.name.clone())).as_ref().map(FaultBody::of),
            confirmed_at: follower.confirmed.map(|confirmed| confirmed.at.to_string()),
            latency: follower.took(seen.step, seen.changed_at).map(length),
            disconnected_at: follower.left.map(|left| left.to_string()),
        }
    }
}

impl ConfirmationsBody {
    /// `changed` is the newest change and its host time, if the clock has not changed since.
    pub(crate) fn of(
        wait: &WaitFor,
        statuses: &[AwaitedStatus],
        changed: Option<(Step, Instant<Wall>)>,
        partial: bool,
    ) -> Self {
        let is_confirmed = statuses.iter().all(|one| one.state == AwaitedState::Confirmed);
        Self {
            state: if is_confirmed { "confirmed" } else { "waiting" },
            generation: wait.generation(),
            partial,
            followers: statuses.iter().map(|statuses| FollowerConfirmationBody::of(statuses, changed)).collect(),
        }
    }
}

impl FollowerConfirmationBody {
    fn of(statuses: &AwaitedStatus, changed: Option<(Step, Instant<Wall>)>) -> Self {
        let follower = statuses.follower.as_ref();
        let confirmed = follower.and_then(|follower| follower.confirmed);
        Self {
            name: statuses.name.to_string(),
            state: statuses.state.as_str(),
            follower_id: follower.map(|follower| follower.follower_id.to_string()),
            user_id: follower.map(|follower| follower.user_id.to_string()),
            generation: confirmed.map(|confirmed| confirmed.step.generation),
            confirmed_at: confirmed.map(|confirmed| confirmed.at.to_string()),
            latency: follower.zip(changed).and_then(|(follower, (step, at))| follower.took(step, at)).map(length),
        }
    }
}

pub(crate) fn place(headers: &HeaderMap) -> Result<FollowerPlace, Failure> {
    let text = |name: &'static str, right: &str| {
        let mut given = headers.get_all(name).iter();
        match (given.next().map(HeaderValue::to_str), given.next()) {
            (None, _) => Ok(None),
            (Some(Ok(text)), None) => Ok(Some(text)),
            (Some(_), _) => Err(Failure::invalid(name, right)),
        }
    };
    let right = format!("send one host name of 1 to {FOLLOWER_HOST_BYTES_MAX} visible ASCII characters");
    let host = text(HOST, &right)?.map(|host| FollowerHost::new(host).ok_or_else(|| Failure::invalid(HOST, &right)));
    let right = format!("send one process id, a number from 1 to {FOLLOWER_PROCESS_MAX}");
    let process = text(PROCESS, &right)?.map(|number| {
        // `parse` would accept a sign.
        let number = number.bytes().all(|byte| byte.is_ascii_digit()).then(|| number.parse().ok()).flatten();
        number.and_then(FollowerProcess::new).ok_or_else(|| Failure::invalid(PROCESS, &right))
    });
    Ok(FollowerPlace { host: host.transpose()?, process: process.transpose()? })
}

fn length(span: Span) -> String {
    let duration = Duration::new(0, span).filter(|_| span > Span::ZERO);
    duration.map_or_else(|| "PT0S".to_owned(), |duration| duration.to_string())
}
