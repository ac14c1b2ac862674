//! How far one read sees: what lies beyond a key's horizon is no part of its answer.
//!
//! What was known at a position is a matter of layers, which end there. Here is the rest: what the clock showed at the
//! entry of the read.

use std::sync::Arc;

use timenav_core::anchor::Anchor;
use timenav_core::clock::Clock;
use timenav_core::horizon::Horizon;
use timenav_core::time::{Instant, TimeRange, Virtual};

use crate::event_filter::{EventFilter, tells_of_later};
use crate::refusal::Refusal;
use crate::rows::{EventVersion, KnownEvent};
use crate::store::EventQuery;

/// How far one read sees. By default everything.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sight {
    horizon: Horizon,
    /// The clock at the entry of the read, and what it showed there.
    seen: Option<(Clock, Instant<Virtual>)>,
}

impl Sight {
    /// Returns the sight of a read that was logged.
    ///
    /// # Errors
    /// There is a horizon, and it is not known what the clock showed.
    pub(crate) fn of(horizon: Horizon, seen: Option<(Clock, Instant<Virtual>)>) -> Result<Self, Refusal> {
        if !horizon.is_open() && seen.is_none() {
            return Err(Refusal::Damaged("the read of a key with a horizon was not logged".to_owned()));
        }
        Ok(Self { horizon, seen })
    }

    /// Returns the clock at the entry of the read, and what it showed there, for a key with a horizon.
    pub(crate) const fn clock(&self) -> Option<&(Clock, Instant<Virtual>)> {
        self.seen.as_ref()
    }

    /// Returns the instant after which nothing is seen.
    pub(crate) fn until(&self) -> Option<Instant<Virtual>> {
        self.seen.as_ref().filter(|_| self.horizon.until_clock).map(|(_, now)| *now)
    }

    /// Returns a question that finds nothing that begins later than is seen.
    pub(crate) fn narrow(&self, mut query: EventQuery) -> EventQuery {
        let Some(until) = self.until() else { return query };
        match TimeRange::new(query.range.start(), Some(query.range.last().min(until))) {
            Ok(range) => query.range = range,
            // All that is asked for is later.
            Err(_) => query.patterns.clear(),
        }
        query
    }

    /// Returns a filter that hides events that tell of something later than is seen, such as when they end.
    pub(crate) fn filter(&self, filter: Arc<EventFilter>) -> Arc<EventFilter> {
        match self.until() {
            Some(until) => Arc::new(filter.seen_until(until)),
            None => filter,
        }
    }

    /// Returns what is seen of an event: all that is known of it, or the version that stands, if that tells of nothing
    /// later than is seen. An older version was wrong when it was known that the event is later.
    pub(crate) fn of_event(&self, mut known: KnownEvent) -> Option<KnownEvent> {
        if self.until().is_none() {
            return Some(known);
        }
        let standing: EventVersion = known.standing().filter(|version| self.shows(&version.content))?.clone();
        known.versions = vec![standing];
        // What was meant to become of an event may be later than what became of it.
        known.interventions.clear();
        Some(known)
    }

    /// Returns whether an anchor is seen: whether it marks nothing later.
    pub(crate) fn shows_anchor(&self, anchor: &Anchor) -> bool {
        self.until().is_none_or(|until| anchor.timestamp <= until)
    }

    fn shows(&self, content: &str) -> bool {
        self.until().is_none_or(|until| !tells_of_later(content, until))
    }
}
