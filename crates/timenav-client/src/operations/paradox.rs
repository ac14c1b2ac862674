//! Interventions in events and the paradoxes that they create (`/v1/manipulate-event`, `/v1/monitor-paradox`,
//! `/v1/check-timeline`).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::client::Client;
use crate::instant::Instant;
use crate::operations::cause::Cause;
use crate::operations::event::Event;
use crate::operations::intervention::{Effect, Intervention};
use crate::operations::ledger::LedgerPosition;
use crate::options::options;
use crate::string_enum::string_enum;
use crate::transport::arguments::{ClockDuration, Moment, TimeRange};
use crate::transport::call::{Call, page};

string_enum! {
    /// How the service handles an intervention that would create a paradox: it reports the paradox or rejects the
    /// request.
    OnParadox { Report = "report", Reject = "reject", }
}

/// The outcome of an intervention.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Manipulation {
    /// A sentence about the outcome.
    pub status: String,
    /// The timeline.
    pub timeline_id: String,
    /// The event.
    pub event_id: String,
    /// The id of the intervention; absent after a dry run.
    pub intervention_id: Option<String>,
    /// The effect of the action.
    pub effect: Effect,
    /// The event before the intervention, if it occurred.
    pub before: Option<Event>,
    /// The event after the intervention, if it occurs.
    pub after: Option<Event>,
    /// The first 100 events that require the event, nearest first.
    pub downstream: Vec<String>,
    /// The number of these events, up to 10,000.
    pub downstream_count: u64,
    /// Paradoxes that the intervention creates.
    pub paradoxes_created: Vec<Paradox>,
    /// Paradoxes that the intervention resolves.
    pub paradoxes_resolved: Vec<Paradox>,
    /// Whether it was a dry run, which changes nothing.
    pub dry_run: bool,
    /// Its ledger entry; absent after a dry run.
    pub ledger: Option<LedgerPosition>,
}

/// A paradox, or an observation about the data.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Paradox {
    /// The code of the kind, such as `P01`.
    pub code: String,
    /// The name of the kind, such as `effect_before_cause`.
    pub kind: String,
    /// `definite` or `possible`; `exact` or `probable` for duplicates.
    pub grade: String,
    /// `critical`, `high`, `medium` or `low`.
    pub severity: String,
    /// Whether it is an observation about the data instead of a paradox.
    pub is_observation: bool,
    /// The events, interventions and firings that it involves, in order.
    pub events: Vec<String>,
    /// The evidence. Its members depend on the kind.
    pub witness: Map<String, Value>,
    /// An explanation in one sentence.
    pub explanation: String,
    /// The position of the first ledger entry that it involves.
    pub first: u64,
    /// The position of the ledger entry that created it.
    pub since: u64,
    /// A key that is stable while the paradox exists.
    pub key: String,
}

/// One page of paradoxes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ParadoxPage {
    /// A sentence about the outcome.
    pub status: String,
    /// The timeline.
    pub timeline_id: String,
    /// The paradoxes.
    pub paradoxes: Vec<Paradox>,
    /// The number of paradoxes on all pages.
    pub total: u64,
    /// The number of paradoxes on the timeline, by code and grade.
    pub counts: BTreeMap<String, Value>,
    /// The number of observations on the timeline, by code and grade.
    pub observations: BTreeMap<String, Value>,
    /// Whether there is another page.
    pub has_more: bool,
    /// The cursor of the next page.
    pub next_cursor: Option<String>,
    /// The last ledger position visible to all pages.
    pub as_of: Option<u64>,
}

page!(ParadoxPage, paradoxes: Paradox);

/// Whether an event occurs, with its causes and consequences.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TimelineCheck {
    /// A sentence about the outcome.
    pub status: String,
    /// The timeline.
    pub timeline_id: String,
    /// The event in the request.
    pub significant_event: String,
    /// Whether the event exists and is not canceled.
    pub active: bool,
    /// The reading of the clock.
    pub current_time: Instant,
    /// `past`, `present` or `future`.
    pub relation: Option<String>,
    /// The id of the event, if it exists.
    pub event_id: Option<String>,
    /// The current version of the event, if it occurs.
    pub event: Option<Event>,
    /// Its first 100 causes, nearest first.
    pub causes: Vec<CheckedCause>,
    /// Whether all required causes occur.
    pub causes_intact: bool,
    /// Events that depend on the event.
    pub consequences: Consequences,
    /// The interventions in the event, in order.
    pub interventions: Vec<Intervention>,
    /// The first 100 paradoxes that involve the event.
    pub paradoxes: Vec<Paradox>,
    /// Events with a similar id or name.
    pub candidates: Vec<Candidate>,
}

/// A direct or indirect cause.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CheckedCause {
    /// The event or intervention.
    pub event_id: String,
    /// `active`, `cancelled` or `unrecorded`.
    pub state: String,
    /// 1 for a direct cause.
    pub distance: u64,
    /// Whether the event requires it.
    pub required: bool,
}

/// Events that depend on an event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Consequences {
    /// The number of events.
    pub count: u64,
    /// The ids of the first events.
    pub event_ids: Vec<String>,
}

/// An event with a similar id or name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Candidate {
    /// The event.
    pub event_id: String,
    /// Its name.
    pub name: Option<String>,
}

impl Call<'_, Manipulation> {
    options! {
        /// Sets the effect. Defaults to the one that the action describes.
        effect: Effect,
        /// Returns the effects without changing anything.
        dry_run: bool,
        /// Sets how a paradox is handled. Defaults to `report`.
        on_paradox: into OnParadox,
    }

    /// Sets the causes of the intervention.
    pub fn causes(self, causes: impl IntoIterator<Item = impl Into<Cause>>) -> Self {
        let causes: Vec<Cause> = causes.into_iter().map(Into::into).collect();
        self.set("causes", causes)
    }
}

impl Call<'_, ParadoxPage> {
    options! {
        /// Lists paradoxes of these kinds, by code (`P01`) or name.
        kinds: list,
        /// Includes other lists: `observations` about the data.
        include: list,
        /// Searches the ledger as it was: at a position, an anchor or a host time.
        as_of: into Moment,
        /// Sets the top speed of actors, in km/h, for `P07`. Defaults to 900.
        speed_kmh: f64,
        /// Sets the tolerated difference between clocks. Defaults to zero.
        tolerance: into ClockDuration,
        /// Sets the number of paradoxes per page.
        limit: u32,
    }
}

impl Call<'_, TimelineCheck> {
    options! {
        /// Checks the ledger as it was: at a position, an anchor or a host time.
        as_of: into Moment,
    }
}

impl Client {
    /// Intervenes in an event (`POST /v1/manipulate-event`).
    ///
    /// `action` begins with a verb: `cancel`, `restore`, `delay` or `advance` and a duration, `move` and a timestamp,
    /// `relocate to` a place, `describe` or `rename` and a text. Any other text is a note.
    pub fn manipulate_event(&self, event_id: &str, action: &str, time: Instant) -> Call<'_, Manipulation> {
        let call = self.post(&["v1", "manipulate-event"]).on_default_timeline();
        call.set("event_id", event_id).set("action", action).set("time", time)
    }

    /// Lists the paradoxes of a timeline (`GET /v1/monitor-paradox`).
    pub fn monitor_paradox(&self, timeline_id: &str, time_range: impl Into<TimeRange>) -> Call<'_, ParadoxPage> {
        let call = self.get(&["v1", "monitor-paradox"]);
        call.set("timeline_id", timeline_id).set("time_range", time_range.into())
    }

    /// Checks whether an event occurs, by its id or name (`GET /v1/check-timeline`).
    pub fn check_timeline(&self, timeline_id: &str, significant_event: &str) -> Call<'_, TimelineCheck> {
        let call = self.get(&["v1", "check-timeline"]);
        call.set("timeline_id", timeline_id).set("significant_event", significant_event)
    }
}
