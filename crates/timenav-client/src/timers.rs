//! Clocks and timers, typed.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::client::Client;
use crate::clock_state::ClockBody;
use crate::error::Error;
use crate::instant::Instant;
use crate::request::Request;

/// A rule of iCalendar: an RRULE of RFC 5545, with `SKIP` of RFC 7529.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Every {
    /// The rule.
    pub rule: String,
    /// From when on it counts. Defaults to what the clock shows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub starts: Option<String>,
    /// The time zone on whose calendar it counts. Defaults to `UTC`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub zone: Option<String>,
}

/// A timer to set: what shall happen at a virtual moment, once or by a rule.
#[derive(Clone, Debug, Default)]
pub struct Timer {
    members: Map<String, Value>,
}

impl Timer {
    /// Fires once, at this moment. One that the clock has passed fires at once.
    #[must_use]
    pub fn at(moment: Instant) -> Self {
        Self::default().member("at", json!(moment))
    }

    /// Fires by a rule.
    #[must_use]
    pub fn every(rule: &Every) -> Self {
        Self::default().member("every", json!(rule))
    }

    /// Fires by a cron expression of five fields, on the clocks of a zone.
    #[must_use]
    pub fn cron(expression: &str, zone: &str) -> Self {
        Self::default().member("cron", json!({ "expression": expression, "zone": zone }))
    }

    /// Gives it a name. Setting the very same timer again changes nothing.
    #[must_use]
    pub fn id(self, timer_id: &str) -> Self {
        self.member("timer_id", json!(timer_id))
    }

    /// Names the queue that its firings wait in. Defaults to `default`.
    #[must_use]
    pub fn queue(self, queue: &str) -> Self {
        self.member("deliver", json!({ "to": "queue", "queue": queue }))
    }

    /// Sets what whoever claims a firing is handed, up to 64 KiB of JSON.
    #[must_use]
    pub fn payload(self, payload: impl Into<Value>) -> Self {
        self.member("payload", payload.into())
    }

    /// Makes firings with the same key be worked on one after the other.
    #[must_use]
    pub fn order_key(self, key: &str) -> Self {
        self.member("order_key", json!(key))
    }

    fn member(mut self, name: &str, value: Value) -> Self {
        self.members.insert(name.to_owned(), value);
        self
    }
}

/// A timer that was set.
#[derive(Clone, Debug, Deserialize)]
#[non_exhaustive]
pub struct TimerSet {
    /// A sentence that says what happened.
    pub status: String,
    /// The timeline.
    pub timeline_id: String,
    /// The timer.
    pub timer: TimerBody,
}

/// A timer, as answers have it.
#[derive(Clone, Debug, Deserialize)]
#[non_exhaustive]
pub struct TimerBody {
    /// Its name.
    pub timer_id: String,
    /// `armed`, `done` or `cancelled`.
    pub state: String,
    /// The moment at which it fires next, if it is armed.
    #[serde(default)]
    pub next: Option<Instant>,
}

impl Client {
    /// Asks what the clock shows. A [`VirtualClock`](crate::VirtualClock) does so once, and then computes it.
    ///
    /// # Errors
    /// The service does not answer, or says no.
    pub async fn clock(&self) -> Result<ClockBody, Error> {
        self.json(self.named(Request::get(&["v1", "clock"]))).await
    }

    /// Moves the clock to a moment, in either direction. Timers on the way settle; [`Client::advance`] has the receipt.
    ///
    /// # Errors
    /// The service does not answer, or says no.
    pub async fn travel(&self, moment: Instant) -> Result<ClockBody, Error> {
        self.change_clock("travel", Map::from_iter([("destination_time".to_owned(), json!(moment))])).await
    }

    /// Moves a paused clock by what somebody's work cost, such as `20m`. With `since`, what the clock showed when the work
    /// began, time that several spend side by side passes once; otherwise it adds up. Timers on the way settle.
    ///
    /// # Errors
    /// The clock runs, the service does not answer, or it says no.
    pub async fn spend(&self, duration: &str, since: Option<Instant>) -> Result<ClockBody, Error> {
        let mut body = Map::from_iter([("duration".to_owned(), json!(duration))]);
        body.extend(since.map(|since| ("since".to_owned(), json!(since))));
        self.change_clock("spend", body).await
    }

    /// Moves the clock back by a duration, such as `P1M` or `12h`.
    ///
    /// # Errors
    /// The service does not answer, or says no.
    pub async fn rewind(&self, duration: &str) -> Result<ClockBody, Error> {
        self.change_clock("rewind", Map::from_iter([("duration".to_owned(), json!(duration))])).await
    }

    /// Changes how many virtual seconds pass in a host second.
    ///
    /// # Errors
    /// The service does not answer, or says no.
    pub async fn set_rate(&self, rate: f64) -> Result<ClockBody, Error> {
        self.change_clock("set-rate", Map::from_iter([("rate".to_owned(), json!(rate))])).await
    }

    /// Pauses the clock.
    ///
    /// # Errors
    /// The service does not answer, or says no.
    pub async fn pause_time(&self) -> Result<ClockBody, Error> {
        self.change_clock("pause-time", Map::new()).await
    }

    /// Lets the clock run.
    ///
    /// # Errors
    /// The service does not answer, or says no.
    pub async fn resume_time(&self) -> Result<ClockBody, Error> {
        self.change_clock("resume-time", Map::new()).await
    }

    /// Sets a timer.
    ///
    /// # Errors
    /// The service does not answer, or says no.
    pub async fn set_timer(&self, timer: &Timer) -> Result<TimerSet, Error> {
        let body = self.with_timeline(timer.members.clone());
        self.json(Request::post(&["v1", "timers"]).json(&body)?).await
    }

    async fn change_clock(&self, operation: &str, body: Map<String, Value>) -> Result<ClockBody, Error> {
        let body = self.with_timeline(body);
        self.json(Request::post(&["v1", operation]).json(&body)?).await
    }

    fn with_timeline(&self, mut body: Map<String, Value>) -> Map<String, Value> {
        body.extend(self.timeline_id().map(|timeline| ("timeline_id".to_owned(), json!(timeline))));
        body
    }
}
