//! Where events were: a circle on the earth, or a name.

use super::names::Names;
use super::site::{Map, NONE};
use crate::event::EventDraft;
use crate::place::Point;

/// Where an event was.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Place {
    /// Nobody said.
    Unknown,
    /// A circle.
    At { point: Point, radius_m: f64 },
    /// A name, by its number: two of them are the same place if the numbers are.
    Named(u32),
}

/// The places of a view.
#[derive(Debug, Default)]
pub(super) struct Places {
    names: Names,
}

/// Longest way that a degree of latitude or of longitude can be, in metres, with some to spare.
const DEGREE_METRES_MAX: f64 = 112_000.0;
/// Half the way around the earth, in metres, with some to spare.
const APART_METRES_MAX: f64 = 20_040_000.0;

impl Places {
    /// Returns the number of the place of a draft.
    pub(super) fn number(&mut self, draft: &EventDraft) -> u32 {
        match (draft.geo, draft.location.as_deref()) {
            (Some(geo), _) => {
                let mut bytes = [0; 25];
                let numbers = [geo.point.lat(), geo.point.lon(), geo.radius_m.unwrap_or(0.0)];
                for (slot, number) in bytes[1..].as_chunks_mut().0.iter_mut().zip(numbers) {
                    *slot = number.to_le_bytes();
                }
                self.names.number(&bytes)
            }
            (None, Some(name)) => {
                let mut bytes = Vec::with_capacity(name.len() + 1);
                bytes.push(1);
                bytes.extend_from_slice(name.as_bytes());
                self.names.number(&bytes)
            }
            (None, None) => NONE,
        }
    }

    /// Returns the place of that number.
    pub(super) fn place(&self, number: u32) -> Place {
        if number == NONE {
            return Place::Unknown;
        }
        match self.names.bytes_of(number) {
            [0, rest @ ..] => {
                let [lat, lon, radius_m] = [0, 1, 2].map(|at| {
                    rest.as_chunks().0.get(at).map_or(f64::NAN, |bytes: &[u8; 8]| f64::from_le_bytes(*bytes))
                });
                Point::new(lat, lon).map_or(Place::Unknown, |point| Place::At { point, radius_m })
            }
            _ => Place::Named(number),
        }
    }

    /// Returns the name of a named place.
    pub(super) fn name(&self, number: u32) -> &str {
        self.names.text(number).get(1..).unwrap_or_default()
    }

    /// Returns how many there are.
    pub(super) fn count(&self) -> usize {
        self.names.count()
    }

    /// Forgets all but the first ones.
    pub(super) fn truncate(&mut self, count: usize) {
        self.names.truncate(count);
    }
}

/// Returns a distance in metres that two points are not farther apart than. It costs next to
/// nothing, unlike the distance itself.
pub(super) fn at_most_apart_m(one: Point, other: Point) -> f64 {
    let lon = (one.lon() - other.lon()).abs();
    let degrees = (one.lat() - other.lat()).abs() + lon.min(360.0 - lon);
    (degrees * DEGREE_METRES_MAX).min(APART_METRES_MAX)
}

/// How far each actor ever was from anywhere else: all within a box.
#[derive(Debug, Default)]
pub(super) struct Extents {
    boxes: Map<u32, [f64; 4]>,
}

impl Extents {
    /// Takes note of where an actor was. What was once there stays: it only widens a search.
    pub(super) fn add(&mut self, actor: u32, point: Point) {
        let (lat, lon) = (point.lat(), point.lon());
        let [south, north, west, east] = self.boxes.entry(actor).or_insert([lat, lat, lon, lon]);
        (*south, *north) = (south.min(lat), north.max(lat));
        (*west, *east) = (west.min(lon), east.max(lon));
    }

    /// Returns a distance in metres that the actor was never farther apart from itself than.
    pub(super) fn metres(&self, actor: u32) -> f64 {
        let Some([south, north, west, east]) = self.boxes.get(&actor) else { return 0.0 };
        ((north - south + east - west) * DEGREE_METRES_MAX).min(APART_METRES_MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::place::Geo;
    use crate::time::Instant;

    #[test]
    fn places_are_kept_as_they_are() {
        let mut places = Places::default();
        let mut draft = EventDraft::at(Instant::EPOCH, "");
        assert_eq!(places.number(&draft), NONE);
        draft.location = Some("Paris".to_owned());
        let named = places.number(&draft);
        assert_eq!((places.place(named), places.name(named)), (Place::Named(named), "Paris"));
        let point = Point::new(48.85, 2.35).unwrap();
        draft.geo = Some(Geo { point, radius_m: Some(5.0) });
        let at = places.number(&draft);
        assert_eq!(places.place(at), Place::At { point, radius_m: 5.0 });
        assert_eq!(places.number(&draft), at);
    }

    #[test]
    fn nothing_is_farther_than_said() {
        let points =
            [(0.0, 0.0), (89.0, 10.0), (-89.9, -170.0), (0.1, 179.9), (0.1, -179.9), (45.0, 90.0), (90.0, 0.0)];
        let points = points.map(|(lat, lon)| Point::new(lat, lon).unwrap());
        for one in points {
            for other in points {
                assert!(one.distance_m(other) <= at_most_apart_m(one, other), "{one:?} {other:?}");
            }
        }
    }
}
