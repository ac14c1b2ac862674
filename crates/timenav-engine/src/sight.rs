//! How far one read sees: what lies beyond a key's horizon is no part of its answer.
//!
//! What was known at a position is a matter of layers, which end there. Here is the rest: what the clock showed at the
//! entry of the read.

use timenav_core::clock::Clock;
use timenav_core::horizon::{Horizon, latest_instant};
use timenav_core::time::{Instant, TimeRange, Virtual};

use crate::event_content::event_draft;
use crate::refusal::Refusal;
use crate::rows::{EventVersion, KnownEvent, StoredEvent};
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

    /// Returns a question that finds nothing that begins later than is seen; `None` where the whole range does.
    pub(crate) fn narrow(&self, mut query: EventQuery) -> Option<EventQuery> {
        if let Some(until) = self.until() {
            query.range = TimeRange::new(query.range.start(), Some(query.range.last().min(until))).ok()?;
        }
        Some(query)
    }

    /// Leaves out events that tell of something later than is seen, such as when they end.
    pub(crate) fn retain(&self, events: &mut Vec<StoredEvent>) {
        if self.until().is_some() {
            events.retain(|event| self.shows(&event.content));
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

    fn shows(&self, content: &str) -> bool {
        // What cannot be read is not shown.
        let latest = event_draft(content).map(|draft| latest_instant(&draft));
        latest.is_some_and(|latest| self.until().is_none_or(|until| latest <= until))
    }
}
