//! Timers, their firings, and receipts of advances (`/v1/timers`, `/v1/firings`, `/v1/advances/{advance_id}`).

use reqwest::Method;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::advance::receipt::{FiringRecord, FiringState, Receipt};
use crate::client::Client;
use crate::instant::Instant;
use crate::operations::ledger::LedgerPosition;
use crate::options::options;
use crate::string_enum::string_enum;
use crate::transport::arguments::ClockDuration;
use crate::transport::call::{Call, page};
use crate::transport::request::Request;

string_enum! {
    /// The state of a timer.
    TimerState { Armed = "armed", Done = "done", Canceled = "cancelled", }
}

string_enum! {
    /// The misfire policy: how a timer handles due times that the clock has jumped over.
    Misfire { All = "all", Once = "once", Skip = "skip", }
}

/// A timer to set. It fires at a virtual time, or at each time of a rule.
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct Timer {
    members: Map<String, Value>,
}

impl Timer {
    /// Fires once. If the clock has passed the time, the timer fires immediately.
    pub fn at(moment: Instant) -> Self {
        Self::default().set("at", moment)
    }

    /// Fires at the times of an iCalendar rule (RRULE of RFC 5545, with `SKIP` of RFC 7529) that starts at an instant,
    /// in the local time of a zone.
    pub fn every(rule: &str, starts: Instant, zone: &str) -> Self {
        Self::default().set("every", json!({ "rule": rule, "starts": starts, "zone": zone }))
    }

    /// Fires at the times of a cron expression of five fields, in the local time of a zone.
    pub fn cron(expression: &str, zone: &str) -> Self {
        Self::default().set("cron", json!({ "expression": expression, "zone": zone }))
    }

    /// Sets the id. Setting an identical timer again has no effect.
    pub fn id(self, timer_id: &str) -> Self {
        self.set("timer_id", timer_id)
    }

    /// Delivers firings to a queue. Defaults to the queue `default`.
    pub fn queue(self, queue: &str) -> Self {
        self.set("deliver", json!({ "to": "queue", "queue": queue }))
    }

    /// Records each firing as an event with these members.
    pub fn record(self, event: impl Into<Value>) -> Self {
        self.set("deliver", json!({ "to": "timeline", "event": event.into() }))
    }

    /// Sends each firing to a URL. With a secret, the requests are signed.
    pub fn webhook(self, url: &str, secret: Option<&str>) -> Self {
        let mut deliver = json!({ "to": "webhook", "url": url });
        if let Some(secret) = secret {
            deliver["secret"] = secret.into();
        }
        self.set("deliver", deliver)
    }

    /// Fires for up to 10,000 due times that the clock had passed before the timer was set.
    pub fn catch_up(self) -> Self {
        self.set("catch_up", true)
    }

    options! {
        /// Sets the payload of firings, up to 64 KiB of JSON.
        payload: into Value,
        /// Delivers firings with the same key one at a time.
        order_key: into String,
        /// Sets the misfire policy. Defaults to `all`.
        misfire: into Misfire,
    }

    fn set(mut self, name: &str, value: impl Serialize) -> Self {
        self.members.insert(name.to_owned(), json!(value));
        self
    }
}

/// A timer as the service stores it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TimerRecord {
    /// The id of the timer.
    pub timer_id: String,
    /// Its state.
    pub state: TimerState,
    /// The next due time, if it is armed.
    pub next: Option<Instant>,
    /// The due time, if it fires once.
    pub at: Option<Instant>,
    /// Its cron expression.
    pub cron: Option<CronRule>,
    /// Its iCalendar rule.
    pub every: Option<CalendarRule>,
    /// The destination of its firings.
    pub deliver: Delivery,
    /// The payload of firings.
    pub payload: Value,
    /// Firings with the same key are delivered one at a time.
    pub order_key: Option<String>,
    /// The misfire policy.
    pub misfire: Option<Misfire>,
    /// The round, which is incremented when the clock goes back and due times recur.
    pub round: u32,
    /// The user who set it.
    pub set_by: String,
    /// Host time at which it was set.
    pub set_at: Instant,
    /// The position of its ledger entry.
    pub position: u64,
}

/// A cron expression.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CronRule {
    /// Its five fields.
    pub expression: String,
    /// The zone.
    pub zone: String,
}

/// An iCalendar rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CalendarRule {
    /// The RRULE.
    pub rule: String,
    /// The start of the recurrence (DTSTART).
    pub starts: Instant,
    /// The zone.
    pub zone: String,
}

/// The destination of firings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Delivery {
    /// `queue`, `timeline` or `webhook`.
    pub to: String,
    /// The queue.
    pub queue: Option<String>,
    /// The event that each firing records.
    pub event: Option<Map<String, Value>>,
    /// The URL of the webhook.
    pub url: Option<String>,
    /// Whether its requests are signed.
    pub signed: Option<bool>,
}

/// The response to [`Client::set_timer`] or [`Client::cancel_timer`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TimerResponse {
    /// A sentence about the outcome.
    pub status: String,
    /// The timeline.
    pub timeline_id: String,
    /// The timer.
    pub timer: TimerRecord,
    /// The ledger entry.
    pub ledger: LedgerPosition,
    /// Whether the request created the timeline.
    pub timeline_created: Option<bool>,
}

/// A timer with its firings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TimerDetails {
    /// A sentence about the outcome.
    pub status: String,
    /// The timeline.
    pub timeline_id: String,
    /// The timer.
    pub timer: TimerRecord,
    /// Its latest firings.
    pub firings: Vec<FiringRecord>,
}

/// One page of timers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TimerPage {
    /// The timeline.
    pub timeline_id: String,
    /// The timers.
    pub timers: Vec<TimerRecord>,
    /// The cursor of the next page.
    pub next_cursor: Option<String>,
}

page!(TimerPage, timers: TimerRecord);

/// The response to [`Client::receipt`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ReceiptResponse {
    /// A sentence about the outcome.
    pub status: String,
    /// The receipt.
    pub receipt: Receipt,
}

/// One page of firings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct FiringPage {
    /// The timeline.
    pub timeline_id: String,
    /// The firings.
    pub firings: Vec<FiringRecord>,
    /// The cursor of the next page.
    pub next_cursor: Option<String>,
}

page!(FiringPage, firings: FiringRecord);

impl Call<'_, ReceiptResponse> {
    options! {
        /// Sets the maximum wait for the end of the advance, in host time.
        wait: into ClockDuration,
    }
}

impl Call<'_, FiringPage> {
    options! {
        /// Lists firings of one advance.
        advance_id: into String,
        /// Lists firings of one queue.
        queue: into String,
        /// Lists firings with this outcome.
        state: into FiringState,
        /// Lists firings of one timer.
        timer_id: into String,
        /// Sets the number of firings per page.
        limit: u32,
    }
}

impl Call<'_, TimerPage> {
    options! {
        /// Lists timers in one state.
        state: into TimerState,
        /// Sets the number of timers per page.
        limit: u32,
    }
}

impl Client {
    /// Sets a timer (`POST /v1/timers`).
    pub fn set_timer(&self, timer: &Timer) -> Call<'_, TimerResponse> {
        let call = self.post(&["v1", "timers"]).on_default_timeline();
        timer.members.iter().fold(call, |call, (name, value)| call.set(name, value))
    }

    /// Reads a timer with its firings (`GET /v1/timers/{timer_id}`).
    pub fn timer(&self, timer_id: &str) -> Call<'_, TimerDetails> {
        self.get(&["v1", "timers", timer_id]).on_default_timeline()
    }

    /// Lists timers (`GET /v1/timers`).
    pub fn timers(&self) -> Call<'_, TimerPage> {
        self.get(&["v1", "timers"]).on_default_timeline()
    }

    /// Cancels a timer (`DELETE /v1/timers/{timer_id}`).
    pub fn cancel_timer(&self, timer_id: &str) -> Call<'_, TimerResponse> {
        let request = Request::new(Method::DELETE, &["v1", "timers", timer_id]).with_idempotency_key();
        Call::new(self, request, false).on_default_timeline()
    }

    /// Reads the receipt of an advance (`GET /v1/advances/{advance_id}`).
    pub fn receipt(&self, advance_id: &str) -> Call<'_, ReceiptResponse> {
        self.get(&["v1", "advances", advance_id]).on_default_timeline()
    }

    /// Lists firings (`GET /v1/firings`).
    pub fn firings(&self) -> Call<'_, FiringPage> {
        self.get(&["v1", "firings"]).on_default_timeline()
    }
}
