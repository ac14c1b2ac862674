//! What can be watched: what happens to firings, and which events the clock passes.

use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::client::Client;
use crate::clock::Clock;
use crate::error::Error;
use crate::event::Event;
use crate::instant::Instant;
use crate::intervention::Intervention;
use crate::paradox::Paradox;
use crate::request::Request;
use crate::sse::SentEvent;
use crate::watch::Watch;

/// One message of a watch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Watched<T> {
    /// Something happened.
    News(T),
    /// Something may be missing here.
    Gap(Gap),
}

/// Something may be missing here.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Gap {
    /// The id of the message.
    pub id: String,
    /// Whether everything may be missing, because you were away for more than 100,000 entries: reload what you know. If
    /// not, only claims, extensions and failed attempts are, which no ledger has.
    pub is_reset: bool,
}

/// What happened to a firing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FiringChange {
    /// It fell due, or came again after a return, and waits in its queue.
    Offered,
    /// It is another firing of a moment whose firing had failed.
    Redelivered,
    /// Somebody claimed it.
    Leased,
    /// Whoever has claimed it keeps it for longer.
    Extended,
    /// An attempt failed, or its lease ended.
    TriedAgain,
    /// It is done.
    Acknowledged,
    /// It has failed for good.
    Failed,
    /// It was not done when the clock went back, and need not be any more.
    Superseded,
    /// Something that this version does not know.
    #[serde(other)]
    Other,
}

/// Something that happened to a firing.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FiringNews {
    /// The id of the message: a later watch goes on after it.
    pub id: String,
    /// The timeline.
    pub timeline_id: String,
    /// The position of the newest ledger entry that was told.
    pub position: u64,
    /// The firing, and what happened to it.
    pub firing: WatchedFiring,
}

/// A firing, and what happened to it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct WatchedFiring {
    /// What happened.
    pub change: FiringChange,
    /// The id of the firing.
    pub firing_id: String,
    /// The timer that fired.
    pub timer_id: String,
    /// The moment at which it fell due, in virtual time.
    pub due: Instant,
    /// The round of the timer.
    pub round: u32,
    /// The queue that it waits in: `timenav:webhook` if the service sends it. `None` if it is recorded as an event.
    pub queue: Option<String>,
    /// The event that it recorded, if its timer records events.
    pub event_id: Option<String>,
    /// Firings with the same key are worked on one after the other.
    pub order_key: Option<String>,
    /// Who has claimed it.
    pub claimed_by: Option<String>,
    /// Which attempt this is, from 1.
    pub attempt: Option<u32>,
    /// Host time until which it is leased.
    pub leased_until: Option<Instant>,
    /// Host time before which it is not tried again.
    pub not_before: Option<Instant>,
    /// Why it failed.
    pub reason: Option<String>,
}

/// A stretch of virtual time that the clock has passed, and that has events. Both ends are included.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Passed {
    /// The id of the message: a later watch goes on after it.
    pub id: String,
    /// The timeline.
    pub timeline_id: String,
    /// The position of the newest ledger entry that was told.
    pub position: u64,
    /// Its first instant.
    pub first: Instant,
    /// Its last instant.
    pub last: Instant,
    /// Both, as `GET /v1/monitor-events` takes them.
    pub time_range: String,
}

/// Virtual time that a clock has passed, and that has events. Both ends are included.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct Stretch {
    /// Its first instant.
    #[serde(rename = "from")]
    pub first: Instant,
    /// Its last instant.
    #[serde(rename = "to")]
    pub last: Instant,
    /// Both, as `GET /v1/monitor-events` takes them.
    pub time_range: String,
}

/// A message of `GET /v1/stream`, which [`Client::watch`] opens: read it with [`SentEvent::json`]. Its members depend on the
/// name of the message.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct StreamMessage {
    /// The timeline.
    pub timeline_id: String,
    /// The position of the newest ledger entry that was told.
    pub position: u64,
    /// The clock as it is since then.
    pub clock: Option<Clock>,
    /// What became of an event or a paradox: `recorded`, `corrected`, `manipulated`, `made` or `healed`.
    pub change: Option<String>,
    /// The event's id.
    pub event_id: Option<String>,
    /// The event as it was recorded or corrected; absent if it was erased since.
    pub event: Option<Event>,
    /// What was done to the event; absent if it was erased since.
    pub intervention: Option<Intervention>,
    /// The paradox that is there since, or is gone since and is told as it was.
    pub paradox: Option<Paradox>,
    /// The time that the clock has passed, if it has passed events.
    pub due: Option<Stretch>,
}

impl Client {
    /// Watches what happens to the firings of a queue, and claims none; with `None`, to all firings of the timeline.
    ///
    /// When this returns, everything that happens from now on is told, across lost connections (`GET
    /// /v1/firings/stream`). After one, [`Watched::Gap`] says where claims, extensions and failed attempts may be missing.
    ///
    /// # Errors
    /// The service does not answer, or does not let you.
    pub async fn watch_firings<'a>(
        &self,
        queue: impl Into<Option<&'a str>>,
    ) -> Result<Watch<Watched<FiringNews>>, Error> {
        self.watch_as(self.firings_of(queue.into())?, firing_news).await
    }

    /// As [`Client::watch_firings`], beginning after the message of this id.
    ///
    /// # Errors
    /// The service does not answer or does not let you, or it is no id of a message.
    pub async fn watch_firings_after<'a>(
        &self,
        queue: impl Into<Option<&'a str>>,
        last_event_id: &str,
    ) -> Result<Watch<Watched<FiringNews>>, Error> {
        self.watch_as(self.firings_of(queue.into())?.after(last_event_id)?, firing_news).await
    }

    /// Watches which events the clock passes, as stretches of virtual time, to play them back.
    ///
    /// When this returns, everything that the clock passes from now on is told, across lost connections (`GET
    /// /v1/stream?topics=due`). A stretch that begins before the last one ended says that the clock went back.
    ///
    /// # Errors
    /// The service does not answer, or does not let you.
    pub async fn watch_due(&self) -> Result<Watch<Watched<Passed>>, Error> {
        self.watch_as(self.due()?, passed).await
    }

    /// As [`Client::watch_due`], beginning after the message of this id: what the clock passed since is told first.
    ///
    /// # Errors
    /// The service does not answer or does not let you, or it is no id of a message.
    pub async fn watch_due_after(&self, last_event_id: &str) -> Result<Watch<Watched<Passed>>, Error> {
        self.watch_as(self.due()?.after(last_event_id)?, passed).await
    }

    fn firings_of(&self, queue: Option<&str>) -> Result<Request, Error> {
        self.get::<()>(&["v1", "firings", "stream"]).on_default_timeline().set("queue", queue).request()
    }

    fn due(&self) -> Result<Request, Error> {
        self.get::<()>(&["v1", "stream"]).on_default_timeline().set("topics", "due").request()
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
    due: Stretch,
}

fn firing_news(event: SentEvent) -> Result<Option<Watched<FiringNews>>, serde_json::Error> {
    read(event, "firing", |id, told: FiringMessage| {
        let FiringMessage { timeline_id, position, firing } = told;
        FiringNews { id, timeline_id, position, firing }
    })
}

fn passed(event: SentEvent) -> Result<Option<Watched<Passed>>, serde_json::Error> {
    read(event, "due", |id, told: DueMessage| {
        let DueMessage { timeline_id, position, due: Stretch { first, last, time_range } } = told;
        Passed { id, timeline_id, position, first, last, time_range }
    })
}

/// Reads a message; `None` if it is of a kind that this version does not know.
fn read<M: DeserializeOwned, T>(
    event: SentEvent,
    name: &str,
    news: impl FnOnce(String, M) -> T,
) -> Result<Option<Watched<T>>, serde_json::Error> {
    let SentEvent { event, id, data } = event;
    Ok(match event.as_str() {
        told if told == name => Some(Watched::News(news(id, serde_json::from_str(&data)?))),
        "gap" => Some(Watched::Gap(Gap { id, is_reset: false })),
        "reset" => Some(Watched::Gap(Gap { id, is_reset: true })),
        _ => None,
    })
}
