//! Time range and sort order of a run of events, shared by both backends.

use std::cmp::Ordering;

use timenav_core::place::{LocationQuery, Point};
use timenav_core::time::{Instant, Virtual};
use timenav_engine::{EventPlace, EventQuery, Pattern, StoredEvent, lasts_into};

/// Sort key of an event: time, layer and position, or their complements for descending order.
pub(crate) type Key = (i64, usize, u64);

/// Range of start times of the events of a run, in microseconds, both ends included.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stretch {
    first: i64,
    last: i64,
    /// For events that begin before the requested range: the start of that range, until which they must last.
    until: Option<Instant<Virtual>>,
}

impl Stretch {
    /// Returns the range of the events that begin in the requested range.
    pub(crate) fn of(query: &EventQuery) -> Self {
        Self { first: query.range.first().micros(), last: query.range.last().micros(), until: None }
    }

    /// Returns the range of the events that begin before the requested range, at `earliest` or later.
    pub(crate) fn before(query: &EventQuery, earliest: i64) -> Self {
        let until = query.range.first();
        Self { first: earliest, last: until.micros().saturating_sub(1), until: Some(until) }
    }

    /// Returns the time and position after which to read a layer's events. At equal times an earlier layer comes first,
    /// or last in descending order.
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

    /// Returns the time at which the run ends, in the requested order.
    pub(crate) const fn end(self, query: &EventQuery) -> i64 {
        if query.newest_first { self.first } else { self.last }
    }

    /// Returns whether an event that begins in this range matches, given its JSON.
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

pub(crate) fn key(query: &EventQuery, event: &StoredEvent, layer: usize) -> Key {
    let (time, position) = (event.time.micros(), event.position);
    if query.newest_first { (!time, !layer, !position) } else { (time, layer, position) }
}

/// Returns whether an event found by cell, time or name lies in the pattern's place: cells extend beyond the place.
pub(crate) fn is_where(pattern: &Pattern, point: Option<Point>) -> bool {
    match pattern {
        Pattern::Event(_) | Pattern::Location(LocationQuery::Anywhere | LocationQuery::Named(_)) => true,
        Pattern::Location(
            location @ (LocationQuery::Near { .. } | LocationQuery::Within(_) | LocationQuery::Area(_)),
        ) => location.matches(point, None),
    }
}
