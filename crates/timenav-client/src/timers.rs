//! A timer to set, put together by what it does.

use serde_json::{Map, Value, json};

use crate::instant::Instant;
use crate::schemas::{DeliverRequest, EveryRequest, MisfireWord};

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

    /// Fires by a rule of iCalendar: an RRULE of RFC 5545, with `SKIP` of RFC 7529.
    #[must_use]
    pub fn every(rule: &EveryRequest) -> Self {
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

    /// Says where firings go: to a queue, to the timeline as events, or to an address.
    #[must_use]
    pub fn deliver(self, to: &DeliverRequest) -> Self {
        self.member("deliver", json!(to))
    }

    /// Says what becomes of moments of a rule that come together, because the clock jumped over them. Defaults to `all`.
    #[must_use]
    pub fn misfire(self, misfire: &MisfireWord) -> Self {
        self.member("misfire", json!(misfire))
    }

    /// Has moments of a rule fire that had passed when the timer was set: at most 10,000.
    #[must_use]
    pub fn catch_up(self) -> Self {
        self.member("catch_up", json!(true))
    }

    /// Returns what is sent.
    pub(crate) const fn members(&self) -> &Map<String, Value> {
        &self.members
    }

    fn member(mut self, name: &str, value: Value) -> Self {
        self.members.insert(name.to_owned(), value);
        self
    }
}
