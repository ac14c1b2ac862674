//! What a text means as a place, as far as its form and the gazetteer know.

use std::sync::Arc;

use timenav_core::event::EventDraft;
use timenav_core::place::{LocationQuery, Point, parse_location};
use timenav_core::time::Zone;

use crate::doors::Doors;
use crate::event_columns::EventColumns;
use crate::gazetteer::Gazetteer;

/// Returns the zone of the calendar that holds at a location, or `None` where that is not known.
///
/// An IANA zone name is that zone, whatever else is called so; coordinates, and the name of a known
/// place, are where they are.
pub(crate) fn known_zone(gazetteer: Option<&dyn Gazetteer>, location: &str) -> Option<Zone> {
    if let Some(zone) = Zone::named(location) {
        return Some(zone);
    }
    let gazetteer = gazetteer?;
    let name = match parse_location(location).ok()? {
        LocationQuery::Near { center, .. } => Some(gazetteer.zone_at(center)),
        LocationQuery::Named(name) => gazetteer.zone_of(&name),
        LocationQuery::Anywhere | LocationQuery::Within(_) | LocationQuery::Area(_) => None,
    };
    name.and_then(Zone::named)
}

/// Returns the zone whose calendar a clock at a location uses; UTC where none is known.
pub(crate) fn zone_of(doors: &Doors, location: Option<&str>) -> Zone {
    location.and_then(|location| known_zone(doors.gazetteer.as_deref(), location)).unwrap_or_else(Zone::utc)
}

/// Returns the point that an event is found by: its own, or the middle of the place that its location names, if that is a
/// city.
pub(crate) fn point_of(gazetteer: Option<&dyn Gazetteer>, draft: &EventDraft) -> Option<Point> {
    let own = draft.geo.map(|geo| geo.point);
    own.or_else(|| named_point(gazetteer?, draft.location.as_ref()?))
}

/// Returns what an event is found by.
pub(crate) fn columns_of(gazetteer: Option<&dyn Gazetteer>, draft: &EventDraft) -> Arc<EventColumns> {
    Arc::new(EventColumns::of(draft, point_of(gazetteer, draft)))
}

/// Returns the middle of the place that a text names, if that is a city.
pub(crate) fn named_point(gazetteer: &dyn Gazetteer, location: &str) -> Option<Point> {
    match gazetteer.find(location)?.location {
        LocationQuery::Near { center, .. } => Some(center),
        // An area has no middle that would be true.
        LocationQuery::Area(_) | LocationQuery::Anywhere | LocationQuery::Within(_) | LocationQuery::Named(_) => None,
    }
}
