use crate::event::EventDraft;
use crate::paradox::names::Names;
use crate::paradox::site::{Map, NONE};
use crate::place::Point;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::paradox) enum Place {
    Unknown,
    At {
        point: Point,
        radius_m: f64,
    },
    /// The number of a name. Equal numbers mean the same place.
    Named(u32),
}

#[derive(Debug, Default)]
pub(in crate::paradox) struct Places {
    names: Names,
}

/// Upper bound for the length of a degree of latitude or longitude, in meters.
const DEGREE_METRES_MAX: f64 = 112_000.0;
/// Upper bound for half the circumference of the earth, in meters.
const APART_METRES_MAX: f64 = 20_040_000.0;

impl Places {
    pub(in crate::paradox) fn number(&mut self, draft: &EventDraft) -> u32 {
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

    pub(in crate::paradox) fn place(&self, number: u32) -> Place {
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

    pub(in crate::paradox) fn name(&self, number: u32) -> &str {
        self.names.text(number).get(1..).unwrap_or_default()
    }

    pub(in crate::paradox) fn count(&self) -> usize {
        self.names.count()
    }

    pub(in crate::paradox) fn truncate(&mut self, count: usize) {
        self.names.truncate(count);
    }
}

/// Returns an upper bound for the distance of two points, in meters. It is much cheaper than the distance itself.
pub(in crate::paradox) fn at_most_apart_m(one: Point, other: Point) -> f64 {
    let lon = (one.lon() - other.lon()).abs();
    let degrees = (one.lat() - other.lat()).abs() + lon.min(360.0 - lon);
    (degrees * DEGREE_METRES_MAX).min(APART_METRES_MAX)
}

#[derive(Debug, Default)]
pub(in crate::paradox) struct Extents {
    boxes: Map<u32, [f64; 4]>,
}

impl Extents {
    /// Adds a place of an actor. Places are never removed, which only makes searches wider.
    pub(in crate::paradox) fn add(&mut self, actor: u32, point: Point) {
        let (lat, lon) = (point.lat(), point.lon());
        let [south, north, west, east] = self.boxes.entry(actor).or_insert([lat, lat, lon, lon]);
        (*south, *north) = (south.min(lat), north.max(lat));
        (*west, *east) = (west.min(lon), east.max(lon));
    }

    /// Returns an upper bound for the distance between any two places of an actor, in meters.
    pub(in crate::paradox) fn metres(&self, actor: u32) -> f64 {
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
    fn places_are_stored_unchanged() {
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
    fn distance_bound_is_never_exceeded() {
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
