//! What is the same of every run of events, whatever keeps them: when its events begin, and in which order they come.

use std::cmp::Ordering;

use timenav_core::place::{LocationQuery, Point};
use timenav_core::time::{Instant, Virtual};
use timenav_engine::{EventPlace, EventQuery, Pattern, StoredEvent, lasts_into};

/// What events are ordered by: time, layer, position; or what is the less the greater these are.
pub(crate) type Key = (i64, usize, u64);

/// When the events of a run begin, in microseconds, both ends included.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stretch {
    first: i64,
    last: i64,
    /// Where these begin before the range that is asked for: when that begins, and they have to last until then.
    until: Option<Instant<Virtual>>,
}

impl Stretch {
    /// Returns that of what begins in the range that is asked for.
    pub(crate) fn of(query: &EventQuery) -> Self {
        Self { first: query.range.first().micros(), last: query.range.last().micros(), until: None }
    }

    /// Returns that of what begins before the range, from a microsecond on.
    pub(crate) fn before(query: &EventQuery, earliest: i64) -> Self {
        let until = query.range.first();
        Self { first: earliest, last: until.micros().saturating_sub(1), until: Some(until) }
    }

    /// Returns the time and position after which a layer's events are asked for. Of one time, those of an earlier layer come
    /// first; or the other way round.
    pub(crate) fn after(self, query: &EventQuery, layer: usize) -> (i64, i64) {
        let (begin, is_ahead): (_, fn(Self, i64) -> bool) = if query.newest_first {
            ((self.last, i64::MAX), |stretch, time| time <= stretch.last)
        } else {
            ((self.first, -1), |stretch, time| time >= stretch.first)
        };
        match query.after {
            Some(place) if is_ahead(self, place.0.micros()) => (place.0.micros(), position_after(place, layer)),
            _ => begin,
        }
    }

    /// Returns the time at which the run ends, in the order that is asked for.
    pub(crate) const fn end(self, query: &EventQuery) -> i64 {
        if query.newest_first { self.first } else { self.last }
    }

    /// Returns whether an event that begins in the stretch is meant, by its JSON.
    pub(crate) fn means(self, content: &str) -> bool {
        self.until.is_none_or(|until| lasts_into(content, until))
    }
}

fn position_after((_, last, position): EventPlace, layer: usize) -> i64 {
    match layer.cmp(&last) {
        Ordering::Less => i64::MAX,
        Ordering::Equal => i64::try_from(position).unwrap_or(i64::MAX),
        Ordering::Greater => -1,
    }
}

/// Returns what puts events into the order of a query.
pub(crate) fn key(query: &EventQuery, event: &StoredEvent, layer: usize) -> Key {
    let (time, position) = (event.time.micros(), event.position);
    if query.newest_first { (!time, !layer, !position) } else { (time, layer, position) }
}

/// Returns whether an event that a run has found by its cell, by time or by name is where the pattern says: a cell holds a
/// little more than the place that was asked for.
pub(crate) fn is_where(pattern: &Pattern, point: Option<Point>) -> bool {
    match pattern {
        Pattern::Event(_) | Pattern::Location(LocationQuery::Anywhere | LocationQuery::Named(_)) => true,
        Pattern::Location(
            location @ (LocationQuery::Near { .. } | LocationQuery::Within(_) | LocationQuery::Area(_)),
        ) => location.matches(point, None),
    }
}
