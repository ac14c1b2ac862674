use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::client::Client;
use crate::error::Error;
use crate::instant::Instant;
use crate::operations::clock::Clock;
use crate::operations::event::Event;
use crate::operations::intervention::Intervention;
use crate::operations::paradox::Paradox;
use crate::transport::request::Request;
use crate::transport::sse::ServerSentEvent;
use crate::watch::Watch;

/// A message of a watch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WatchMessage<T> {
    /// A change.
    Update(T),
    /// Messages may be missing here.
    Gap(Gap),
}

/// A gap in a watch.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Gap {
    /// The id of the message.
    pub id: String,
    /// Whether messages of any kind may be missing: reload your state. This happens after an interruption of more than
    /// 100,000 entries, or if the connection was lost before the service had sent an id. If false, only claims,
    /// extensions and failed attempts may be missing, which are not in the ledger.
    pub is_reset: bool,
}

/// A change of a firing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FiringChange {
    /// It became due, for the first time or again after a return, and waits in its queue.
    Offered,
    /// It replaces a failed firing with the same due time.
    Redelivered,
    /// A worker claimed it.
    Leased,
    /// Its lease was extended.
    Extended,
    /// An attempt failed, or its lease expired, and it will be retried.
    TriedAgain,
    /// It was acknowledged.
    Acknowledged,
    /// It has failed permanently.
    Failed,
    /// It was pending when the clock went back, and is obsolete.
    Superseded,
    /// A change unknown to this version.
    #[serde(other)]
    Other,
}

/// A change of a firing.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FiringUpdate {
    /// The id of the message, to resume after it.
    pub id: String,
    /// The timeline.
    pub timeline_id: String,
    /// The position of the newest reported ledger entry.
    pub position: u64,
    /// The firing and its change.
    pub firing: WatchedFiring,
}

/// A firing and its change.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct WatchedFiring {
    /// The change.
    pub change: FiringChange,
    /// The id of the firing.
    pub firing_id: String,
    /// The timer that fired.
    pub timer_id: String,
    /// The due time, in virtual time.
    pub due: Instant,
    /// The round of the timer.
    pub round: u32,
    /// The queue; `timenav:webhook` if the firing is sent as a webhook. `None` if it records an event.
    pub queue: Option<String>,
    /// The event that it recorded, if its timer records events.
    pub event_id: Option<String>,
    /// Firings with the same key are delivered one at a time.
    pub order_key: Option<String>,
    /// The user who claimed it.
    pub claimed_by: Option<String>,
    /// The number of the attempt, from 1.
    pub attempt: Option<u32>,
    /// Host time at which the lease ends.
    pub leased_until: Option<Instant>,
    /// Earliest host time of the next attempt.
    pub not_before: Option<Instant>,
    /// The reason of the failure.
    pub reason: Option<String>,
}

/// A range of virtual time with events that the clock has passed. Both ends are included.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DueRange {
    /// The id of the message, to resume after it.
    pub id: String,
    /// The timeline.
    pub timeline_id: String,
    /// The position of the newest reported ledger entry.
    pub position: u64,
    /// Its first instant.
    pub first: Instant,
    /// Its last instant.
    pub last: Instant,
    /// The range in the format of `GET /v1/monitor-events`.
    pub time_range: String,
}

/// A range of virtual time with events that a clock has passed. Both ends are included.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct PassedRange {
    /// Its first instant.
    #[serde(rename = "from")]
    pub first: Instant,
    /// Its last instant.
    #[serde(rename = "to")]
    pub last: Instant,
    /// The range in the format of `GET /v1/monitor-events`.
    pub time_range: String,
}

/// A message of `GET /v1/stream`, which [`Client::watch`] opens: parse it with [`ServerSentEvent::json`]. Its members
/// depend on the name of the message.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct StreamMessage {
    /// The timeline.
    pub timeline_id: String,
    /// The position of the newest reported ledger entry.
    pub position: u64,
    /// The clock after the change.
    pub clock: Option<Clock>,
    /// The change of an event or a paradox: `recorded`, `corrected`, `manipulated`, `created` or `resolved`.
    pub change: Option<String>,
    /// The event's id.
    pub event_id: Option<String>,
    /// The event as recorded or corrected; absent if it has been erased since.
    pub event: Option<Event>,
    /// The intervention on the event; absent if it has been erased since.
    pub intervention: Option<Intervention>,
    /// The paradox that was created or resolved. A resolved one is sent as it was before.
    pub paradox: Option<Paradox>,
    /// The virtual time that the clock has passed, if it contains events.
    pub due: Option<PassedRange>,
}

impl Client {
    /// Watches the firings of a queue without claiming any; with `None`, all firings of the timeline.
    ///
    /// All changes after this returns are reported, even if the connection is lost (`GET /v1/firings/stream`). After a
    /// lost connection, [`WatchMessage::Gap`] marks where claims, extensions and failed attempts may be missing.
    ///
    /// # Errors
    /// The service does not respond, or rejects the request.
    pub async fn watch_firings<'a>(
        &self,
        queue: impl Into<Option<&'a str>>,
    ) -> Result<Watch<WatchMessage<FiringUpdate>>, Error> {
        self.watch_as(self.firings_of(queue.into())?, firing_update).await
    }

    /// Like [`Client::watch_firings`], resuming after the message with this id.
    ///
    /// # Errors
    /// The service does not respond or rejects the request, or the id is invalid.
    pub async fn watch_firings_after<'a>(
        &self,
        queue: impl Into<Option<&'a str>>,
        last_event_id: &str,
    ) -> Result<Watch<WatchMessage<FiringUpdate>>, Error> {
        self.watch_as(self.firings_of(queue.into())?.last_event_id(last_event_id)?, firing_update).await
    }

    /// Watches the events that the clock passes, as ranges of virtual time.
    ///
    /// All events that the clock passes after this returns are reported, even if the connection is lost (`GET
    /// /v1/stream?topics=due`). A range that begins before the end of the previous one means that the clock went back.
    ///
    /// # Errors
    /// The service does not respond, or rejects the request.
    pub async fn watch_due(&self) -> Result<Watch<WatchMessage<DueRange>>, Error> {
        self.watch_as(self.due()?, due_range).await
    }

    /// Like [`Client::watch_due`], resuming after the message with this id: events that the clock has passed since then
    /// are reported first.
    ///
    /// # Errors
    /// The service does not respond or rejects the request, or the id is invalid.
    pub async fn watch_due_after(&self, last_event_id: &str) -> Result<Watch<WatchMessage<DueRange>>, Error> {
        self.watch_as(self.due()?.last_event_id(last_event_id)?, due_range).await
    }

    fn firings_of(&self, queue: Option<&str>) -> Result<Request, Error> {
        self.get::<()>(&["v1", "firings", "stream"]).on_default_timeline().set("queue", queue).build()
    }

    fn due(&self) -> Result<Request, Error> {
        self.get::<()>(&["v1", "stream"]).on_default_timeline().set("topics", "due").build()
    }
}

#[derive(Deserialize)]
struct FiringMessage {
    timeline_id: String,
    position: u64,
    firing: WatchedFiring,
}

#[derive(Deserialize)]
struct DueMessage {
    timeline_id: String,
    position: u64,
    due: PassedRange,
}

fn firing_update(event: ServerSentEvent) -> Result<Option<WatchMessage<FiringUpdate>>, serde_json::Error> {
    read(event, "firing", |id, message: FiringMessage| {
        let FiringMessage { timeline_id, position, firing } = message;
        FiringUpdate { id, timeline_id, position, firing }
    })
}

fn due_range(event: ServerSentEvent) -> Result<Option<WatchMessage<DueRange>>, serde_json::Error> {
    read(event, "due", |id, message: DueMessage| {
        let DueMessage { timeline_id, position, due: PassedRange { first, last, time_range } } = message;
        DueRange { id, timeline_id, position, first, last, time_range }
    })
}

/// Parses a message; `None` if its kind is unknown to this version.
fn read<M: DeserializeOwned, T>(
    event: ServerSentEvent,
    name: &str,
    update: impl FnOnce(String, M) -> T,
) -> Result<Option<WatchMessage<T>>, serde_json::Error> {
    let ServerSentEvent { event, id, data } = event;
    Ok(match event.as_str() {
        message if message == name => Some(WatchMessage::Update(update(id, serde_json::from_str(&data)?))),
        "gap" => Some(WatchMessage::Gap(Gap { id, is_reset: false })),
        "reset" => Some(WatchMessage::Gap(Gap { id, is_reset: true })),
        _ => None,
    })
}
