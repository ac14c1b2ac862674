use std::borrow::Cow;
use std::sync::Arc;

use serde::Deserialize;
use timenav_core::event::EventDraft;
use timenav_core::place::{LocationQuery, Point, parse_location};
use timenav_core::time::Zone;

use crate::events::event_columns::EventColumns;
use crate::events::event_content::GeoContent;
use crate::ports::all::Ports;
use crate::ports::gazetteer::Gazetteer;

/// Returns the time zone of a location; `None` if it is unknown.
///
/// An IANA zone name always means that zone. Coordinates and names of known places mean the zone there.
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

/// Returns the time zone of a clock's location; UTC if it is unknown.
pub(crate) fn zone_of(ports: &Ports, location: Option<&str>) -> Zone {
    location.and_then(|location| known_zone(ports.gazetteer.as_deref(), location)).unwrap_or_else(Zone::utc)
}

/// Returns the point to find an event by: its own, or the center of its named place, if that is a city.
pub(crate) fn point_of(gazetteer: Option<&dyn Gazetteer>, draft: &EventDraft) -> Option<Point> {
    let own = draft.geo.map(|geo| geo.point);
    own.or_else(|| named_point(gazetteer?, draft.location.as_ref()?))
}

#[derive(Deserialize)]
struct Place<'a> {
    geo: Option<GeoContent>,
    #[serde(borrow)]
    location: Option<Cow<'a, str>>,
}

/// Like [`point_of`], from the JSON of an event. Nothing else is parsed.
pub(crate) fn point_in(gazetteer: Option<&dyn Gazetteer>, content: &str) -> Option<Point> {
    let Place { geo, location } = serde_json::from_str(content).ok()?;
    match geo {
        Some(geo) => geo.geo().map(|geo| geo.point),
        None => named_point(gazetteer?, &location?),
    }
}

pub(crate) fn columns_of(gazetteer: Option<&dyn Gazetteer>, draft: &EventDraft) -> Arc<EventColumns> {
    Arc::new(EventColumns::of(draft, point_of(gazetteer, draft)))
}

pub(crate) fn named_point(gazetteer: &dyn Gazetteer, location: &str) -> Option<Point> {
    match gazetteer.find(location)?.location {
        LocationQuery::Near { center, .. } => Some(center),
        // The center of an area would be arbitrary.
        LocationQuery::Area(_) | LocationQuery::Anywhere | LocationQuery::Within(_) | LocationQuery::Named(_) => None,
    }
}
