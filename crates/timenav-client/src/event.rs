//! Events: recording, finding and reading them (`/v1/events`, `/v1/monitor-events`, `/v1/scan-events`).

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::arguments::{Moment, TimeRange};
use crate::call::{Call, page};
use crate::cause::Cause;
use crate::client::Client;
use crate::instant::Instant;
use crate::intervention::Intervention;
use crate::ledger::LedgerPosition;
use crate::options::options;
use crate::place::{Geo, ResolvedLocation};
use crate::words::words;

words! {
    /// How an event is known.
    EventKind { Observed = "observed", Scheduled = "scheduled", Predicted = "predicted", }
}

words! {
    /// How precisely a time is known.
    Precision {
        Year = "year", Month = "month", Day = "day", Hour = "hour", Minute = "minute", Second = "second",
    }
}

words! {
    /// Which items come first.
    Order { Oldest = "oldest", Newest = "newest", }
}

/// A state that holds while an event lasts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Assertion {
    /// What the state is about.
    pub subject: String,
    /// The property. It has one value at a time.
    pub predicate: String,
    /// The value.
    pub value: Value,
}

impl Assertion {
    /// Returns an assertion. Its value may be any JSON but `null`.
    #[must_use]
    pub fn new(subject: impl Into<String>, predicate: impl Into<String>, value: impl Into<Value>) -> Self {
        Self { subject: subject.into(), predicate: predicate.into(), value: value.into() }
    }
}

/// An event to record.
#[derive(Clone, Debug, Serialize)]
#[serde(transparent)]
#[must_use]
pub struct NewEvent {
    members: Map<String, Value>,
}

impl NewEvent {
    /// Returns an event that happened, or began, at a moment.
    pub fn new(time: Instant) -> Self {
        Self { members: Map::new() }.set("time", time)
    }

    options! {
        /// Sets the id. Defaults to one that the service makes.
        event_id: into String,
        /// Sets the end.
        end_time: Instant,
        /// Sets a short title.
        name: into String,
        /// Describes what happened.
        description: into String,
        /// Sets the place, in words.
        location: into String,
        /// Sets the place on the earth.
        geo: Geo,
        /// Names participants.
        actors: list,
        /// Sets other attributes.
        attributes: into Map<String, Value>,
        /// Sets how the event is known. Defaults to `observed`.
        kind: into EventKind,
        /// Sets how precisely the times are known. Defaults to microseconds.
        precision: into Precision,
        /// Names the source of the record.
        source: into String,
        /// Sets the source's own number for the record.
        sequence: u64,
    }

    /// Sets the causes: ids of events that it requires, or [`Cause`]s.
    pub fn causes(self, causes: impl IntoIterator<Item = impl Into<Cause>>) -> Self {
        let causes: Vec<Cause> = causes.into_iter().map(Into::into).collect();
        self.set("causes", causes)
    }

    /// Sets the states that hold while it lasts.
    pub fn asserts(self, asserts: impl IntoIterator<Item = Assertion>) -> Self {
        self.set("asserts", asserts.into_iter().collect::<Vec<_>>())
    }

    fn set(mut self, name: &str, value: impl Serialize) -> Self {
        self.members.insert(name.to_owned(), serde_json::json!(value));
        self
    }
}

/// An event as it was recorded.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Event {
    /// The id of the event.
    pub event_id: String,
    /// When it happened or began.
    pub time: Instant,
    /// When it ended.
    pub end_time: Option<Instant>,
    /// A short title.
    pub name: Option<String>,
    /// What happened.
    pub description: String,
    /// The place, in words.
    pub location: Option<String>,
    /// The place on the earth.
    pub geo: Option<Geo>,
    /// The participants.
    #[serde(default)]
    pub actors: Vec<String>,
    /// States that hold while it lasts.
    #[serde(default)]
    pub asserts: Vec<Assertion>,
    /// Other attributes.
    #[serde(default)]
    pub attributes: Map<String, Value>,
    /// Its causes.
    #[serde(default)]
    pub causes: Vec<Cause>,
    /// How it is known.
    pub kind: Option<EventKind>,
    /// How precisely the times are known.
    pub precision: Option<Precision>,
    /// The source of the record.
    pub source: Option<String>,
    /// The source's own number for the record.
    pub sequence: Option<u64>,
    /// The position of the ledger entry with this version; absent in an [`EventVersion`] and a
    /// [`Manipulation`](crate::Manipulation).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub position: Option<u64>,
    /// The timeline of that ledger, if this timeline was forked from it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeline_id: Option<String>,
}

/// Events that were recorded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct EventsRecorded {
    /// A sentence about the outcome.
    pub status: String,
    /// The timeline.
    pub timeline_id: String,
    /// The ids, in the order of the request.
    pub event_ids: Vec<String>,
    /// The last ledger entry.
    pub ledger: LedgerPosition,
    /// Whether the request created the timeline.
    pub timeline_created: Option<bool>,
}

/// An event with its history.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct EventRead {
    /// A sentence about the outcome.
    pub status: String,
    /// The timeline.
    pub timeline_id: String,
    /// The id of the event.
    pub event_id: String,
    /// Whether it occurs: it is not canceled.
    pub stands: bool,
    /// The current version, if it occurs.
    pub event: Option<Event>,
    /// All versions, oldest first.
    pub versions: Vec<EventVersion>,
    /// The interventions in it, in order.
    pub interventions: Vec<Intervention>,
    /// The last ledger position that was considered.
    pub as_of: Option<u64>,
}

/// A version of an event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct EventVersion {
    /// The event; absent if it does not occur in this version.
    pub event: Option<Event>,
    /// The position of its ledger entry.
    pub position: u64,
    /// The position of the entry that replaced it.
    pub until: Option<u64>,
    /// The timeline of that ledger.
    pub timeline_id: String,
}

/// One page of events.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct EventPage {
    /// A sentence about the outcome.
    pub status: String,
    /// The timeline.
    pub timeline_id: String,
    /// The events.
    pub events: Vec<Event>,
    /// How the location was understood.
    pub location_resolved: ResolvedLocation,
    /// Whether there is another page.
    pub has_more: bool,
    /// The cursor of the next page.
    pub next_cursor: Option<String>,
    /// The last ledger position that all pages consider.
    pub as_of: Option<u64>,
    /// The time up to which events were searched, if the page ends because these were many.
    pub searched_to: Option<Instant>,
}

page!(EventPage, events: Event);

/// One page of events with their effects.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ScanPage {
    /// A sentence about the outcome.
    pub status: String,
    /// The timeline.
    pub timeline_id: String,
    /// The events.
    pub events: Vec<ScannedEvent>,
    /// How the location was understood.
    pub location_resolved: ResolvedLocation,
    /// Whether there is another page.
    pub has_more: bool,
    /// The cursor of the next page.
    pub next_cursor: Option<String>,
    /// The last ledger position that all pages consider.
    pub as_of: Option<u64>,
    /// All events that match, on the first page.
    pub summary: Option<ScanSummary>,
}

page!(ScanPage, events: ScannedEvent);

/// An event and what depends on it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ScannedEvent {
    /// The event.
    #[serde(flatten)]
    pub event: Event,
    /// Its first 100 direct effects.
    pub effects: Vec<Cause>,
    /// Its interventions, in order.
    pub interventions: Vec<String>,
    /// Codes of the paradoxes that involve it.
    pub paradoxes: Vec<String>,
}

/// A summary of all events that match.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ScanSummary {
    /// Their number.
    pub count: u64,
    /// Whether there may be more.
    pub is_cut: bool,
    /// The time of the first.
    pub first: Option<Instant>,
    /// The time of the last that was counted.
    pub last: Option<Instant>,
}

/// Options of both operations that find events.
macro_rules! filters {
    ($page:ty) => {
        impl Call<'_, $page> {
            options! {
                /// Finds events with this actor.
                actor: into String,
                /// Finds events with this source.
                source: into String,
                /// Finds events with these words.
                text: into String,
                /// Searches the ledger as it was: at a position, an anchor or a host time.
                as_of: into Moment,
                /// Sets which events come first. Defaults to the oldest.
                order: into Order,
                /// Sets the number of events per page.
                limit: u32,
            }

            /// Finds events whose attribute has this value, or one of several if it is called again for the same key.
            pub fn attribute(mut self, key: &str, value: impl Into<String>) -> Self {
                self.add_attribute(key, value.into());
                self
            }
        }
    };
}

filters!(EventPage);
filters!(ScanPage);

impl Call<'_, EventPage> {
    options! {
        /// Finds events too that began before the range and last into it. Defaults to `false`.
        overlapping: bool,
    }
}

impl Call<'_, EventRead> {
    options! {
        /// Reads the ledger as it was: at a position, an anchor or a host time.
        as_of: into Moment,
    }
}

impl Client {
    /// Records up to 1,000 events, all or none (`POST /v1/events`).
    pub fn record_events(&self, events: impl IntoIterator<Item = NewEvent>) -> Call<'_, EventsRecorded> {
        self.post(&["v1", "events"]).content(events.into_iter().collect::<Vec<_>>()).on_default_timeline()
    }

    /// Reads an event with its history (`GET /v1/events/{event_id}`).
    pub fn event(&self, event_id: &str) -> Call<'_, EventRead> {
        self.get(&["v1", "events", event_id]).on_default_timeline()
    }

    /// Finds events by place and time (`GET /v1/monitor-events`).
    ///
    /// `location` is `*` for anywhere, `lat,lon`, `geo:lat,lon;u=meters`, `bbox:west,south,east,north`, or a text.
    pub fn monitor_events(&self, location: &str, time_range: impl Into<TimeRange>) -> Call<'_, EventPage> {
        let call = self.get(&["v1", "monitor-events"]).on_default_timeline();
        call.set("location", location).set("time_range", time_range.into())
    }

    /// Finds events with their effects, interventions and paradoxes (`POST /v1/scan-events`).
    pub fn scan_events(&self, location: &str, time_range: impl Into<TimeRange>) -> Call<'_, ScanPage> {
        let call = self.post(&["v1", "scan-events"]).on_default_timeline();
        call.set("location", location).set("time_range", time_range.into())
    }
}
