use std::fmt;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, SeqAccess, Visitor};
use serde_json::value::RawValue;
use timenav_core::limits::RADIUS_METERS_MAX;
use timenav_core::named;
use timenav_core::place::{Geo, Point};

use crate::RecordError;
use crate::event_record::without_position;
use crate::limits::GEOMETRY_DEPTH_MAX;

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Place {
    /// The point, or the center of the bounding box with a covering radius. `None` without positions.
    pub(super) geo: Option<Geo>,
    /// The third coordinate of a point.
    pub(super) altitude: Option<f64>,
}

/// Returns the place of a geometry. `bbox` is the bounding box of its feature, if it has one.
pub(super) fn place(geometry: &RawValue, bbox: Option<&RawValue>) -> Result<Place, RecordError> {
    let mut extent = Extent { crosses: crosses(bbox), ..Extent::default() };
    let kind = extent.add_geometry(geometry, GEOMETRY_DEPTH_MAX)?;
    let altitude = if kind == Kind::Point { extent.altitude } else { None };
    Ok(Place { geo: extent.circle(), altitude })
}

named! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    enum Kind {
        Point = "Point",
        MultiPoint = "MultiPoint",
        LineString = "LineString",
        MultiLineString = "MultiLineString",
        Polygon = "Polygon",
        MultiPolygon = "MultiPolygon",
        GeometryCollection = "GeometryCollection",
    }
}

#[derive(Deserialize)]
struct Geometry<'a> {
    #[serde(rename = "type")]
    kind: Option<String>,
    #[serde(borrow)]
    coordinates: Option<&'a RawValue>,
    #[serde(borrow)]
    geometries: Option<Vec<&'a RawValue>>,
    #[serde(borrow)]
    bbox: Option<&'a RawValue>,
}

/// Returns whether a bounding box crosses the antimeridian: its west is greater than its east (RFC 7946 §5.2).
fn crosses(bbox: Option<&RawValue>) -> bool {
    let edges = bbox.and_then(|bbox| serde_json::from_str::<Vec<f64>>(bbox.get()).ok());
    edges.is_some_and(|edges| match edges[..] {
        [west, _, east, _] | [west, _, _, east, _, _] => west > east,
        _ => false,
    })
}

/// The bounding box of positions.
///
/// A geometry that crosses the antimeridian is cut there into parts (RFC 7946 §3.1.9), which are close together but at
/// both ends of the number range. Longitudes of whole parts are therefore tracked twice, from −180 to 180 and from 0 to
/// 360, and the narrower box is used. For a geometry that is not cut, a `bbox` may state that it crosses.
#[derive(Default)]
struct Extent {
    lat: Interval,
    lon: Interval,
    lon_eastward: Interval,
    /// The longitudes of the current part: a point, a line or a ring.
    part_lon: Interval,
    /// The longitudes of all positions, from 0 to 360.
    positions_eastward: Interval,
    /// Whether a `bbox` states that lines cross the antimeridian. If so, only `positions_eastward` is used.
    crosses: bool,
    altitude: Option<f64>,
}

#[derive(Clone, Copy)]
struct Interval {
    min: f64,
    max: f64,
}

impl Default for Interval {
    fn default() -> Self {
        Self { min: f64::INFINITY, max: f64::NEG_INFINITY }
    }
}

impl Interval {
    fn add(&mut self, value: f64) {
        self.min = self.min.min(value);
        self.max = self.max.max(value);
    }

    fn middle(self) -> f64 {
        f64::midpoint(self.min, self.max)
    }

    fn width(self) -> f64 {
        self.max - self.min
    }
}

impl Extent {
    fn add_geometry(&mut self, text: &RawValue, depth_left: usize) -> Result<Kind, RecordError> {
        let invalid = |detail: String| RecordError::invalid("geometry", detail);
        if !text.get().starts_with('{') {
            return Err(invalid("a geometry must be an object or null".to_owned()));
        }
        let Some(depth_left) = depth_left.checked_sub(1) else {
            let detail = format!("geometry collections can be nested at most {GEOMETRY_DEPTH_MAX} levels deep");
            return Err(invalid(detail));
        };
        let geometry: Geometry<'_> =
            serde_json::from_str(text.get()).map_err(|error| invalid(without_position(&error)))?;
        self.crosses |= crosses(geometry.bbox);
        let word = geometry.kind.unwrap_or_default();
        let kind = Kind::parse(&word).ok_or_else(|| {
            let kinds = Kind::ALL.map(Kind::as_str).join("`, `");
            RecordError::invalid("geometry/type", format!("the type of a geometry must be one of `{kinds}`"))
        })?;
        let lists_around_positions = match kind {
            Kind::Point => 0,
            Kind::MultiPoint | Kind::LineString => 1,
            Kind::MultiLineString | Kind::Polygon => 2,
            Kind::MultiPolygon => 3,
            Kind::GeometryCollection => {
                let parts = geometry
                    .geometries
                    .ok_or_else(|| invalid("a geometry collection needs `geometries`".to_owned()))?;
                for part in parts {
                    self.add_geometry(part, depth_left)?;
                }
                return Ok(kind);
            }
        };
        let coordinates = geometry.coordinates.ok_or_else(|| {
            let detail = format!("a {} needs `coordinates`", kind.as_str());
            RecordError::of(RecordError::MISSING, "geometry/coordinates", detail)
        })?;
        let is_connected = kind != Kind::MultiPoint;
        Coordinates { extent: self, lists_around_positions, is_connected }
            .deserialize(&mut serde_json::Deserializer::from_str(coordinates.get()))
            .map_err(|error| RecordError::invalid("geometry/coordinates", without_position(&error)))?;
        self.end_part();
        Ok(kind)
    }

    fn add(&mut self, lon: f64, lat: f64) {
        self.lat.add(lat);
        self.part_lon.add(lon);
        self.positions_eastward.add(if lon < 0.0 { lon + 360.0 } else { lon });
    }

    fn end_part(&mut self) {
        let part = std::mem::take(&mut self.part_lon);
        if part.min > part.max {
            return;
        }
        self.lon.add(part.min);
        self.lon.add(part.max);
        let (west, east) = match (part.min < 0.0, part.max > 0.0) {
            // The part is on both sides of 0, where the range from 0 to 360 wraps.
            (true, true) => (0.0, 360.0),
            (true, false) => (part.min + 360.0, part.max + 360.0),
            (false, _) => (part.min, part.max),
        };
        self.lon_eastward.add(west);
        self.lon_eastward.add(east);
    }

    /// Returns the circle around the box, or the point if there is only one.
    fn circle(&self) -> Option<Geo> {
        let lon = if self.crosses {
            self.positions_eastward
        } else if self.lon_eastward.width() < self.lon.width() {
            self.lon_eastward
        } else {
            self.lon
        };
        let middle = if lon.middle() > 180.0 { lon.middle() - 360.0 } else { lon.middle() };
        let point = Point::new(self.lat.middle(), middle)?;
        if self.lat.width() == 0.0 && lon.width() == 0.0 {
            return Some(Geo { point, radius_m: None });
        }
        Some(Geo { point, radius_m: Some(radius_m(point, self.lat, lon.width() / 2.0)) })
    }
}

/// Returns the distance from the center of a box to its farthest point, in whole meters.
fn radius_m(middle: Point, lat: Interval, half_width: f64) -> f64 {
    // Distance increases with the difference of longitudes, so the farthest point is on a side. Up to a quarter of the
    // circumference it is a corner, beyond that it may be between two corners.
    if half_width > 90.0 {
        return RADIUS_METERS_MAX;
    }
    let east = middle.lon() + half_width;
    let east = if east > 180.0 { east - 360.0 } else { east };
    let corners = [lat.min, lat.max].into_iter().filter_map(|lat| Point::new(lat, east));
    let farthest = corners.map(|corner| middle.distance_m(corner)).fold(0.0, f64::max);
    farthest.ceil().min(RADIUS_METERS_MAX)
}

struct Coordinates<'e> {
    extent: &'e mut Extent,
    lists_around_positions: u8,
    /// Whether consecutive positions are connected by lines.
    is_connected: bool,
}

impl<'de> DeserializeSeed<'de> for Coordinates<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Coordinates<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.lists_around_positions {
            0 => "a position: [longitude, latitude]",
            1 => "a list of positions",
            _ => "a list of lists of positions",
        })
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        let Self { extent, lists_around_positions, is_connected } = self;
        if let Some(inner) = lists_around_positions.checked_sub(1) {
            loop {
                let coordinates = Coordinates { extent: &mut *extent, lists_around_positions: inner, is_connected };
                if items.next_element_seed(coordinates)?.is_none() {
                    break;
                }
                if inner > 0 || !is_connected {
                    extent.end_part();
                }
            }
            return Ok(());
        }
        // Empty coordinates count as no geometry (RFC 7946 §3.1).
        let Some(lon) = items.next_element::<f64>()? else { return Ok(()) };
        let lat = items
            .next_element::<f64>()?
            .ok_or_else(|| A::Error::custom("a position needs a longitude and a latitude"))?;
        if Point::new(lat, lon).is_none() {
            return Err(A::Error::custom(format!(
                "[{lon}, {lat}] is out of range; a position is [longitude, latitude] with -180 to \
                 180 and -90 to 90"
            )));
        }
        // Some catalogs write `null` for an unknown altitude.
        extent.altitude = items.next_element::<Option<f64>>()?.flatten();
        while items.next_element::<IgnoredAny>()?.is_some() {}
        extent.add(lon, lat);
        Ok(())
    }
}
