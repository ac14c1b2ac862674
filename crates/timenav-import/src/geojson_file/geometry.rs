//! The place of a feature: a point, or a circle around all there is.

use std::fmt;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, SeqAccess, Visitor};
use serde_json::value::RawValue;
use timenav_core::limits::RADIUS_METRES_MAX;
use timenav_core::place::{Geo, Point};

use crate::RecordError;
use crate::event_record::without_position;
use crate::limits::GEOMETRY_DEPTH_MAX;

/// Where a feature is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Place {
    /// The point; or the middle of the box around the geometry, and a radius that covers the box.
    /// None if the geometry has no positions.
    pub(super) geo: Option<Geo>,
    /// The third coordinate of a point.
    pub(super) altitude: Option<f64>,
}

/// Returns where the geometry is. `bbox` is the box of its feature, if that has one.
pub(super) fn place(geometry: &RawValue, bbox: Option<&RawValue>) -> Result<Place, RecordError> {
    let mut extent = Extent { crosses: crosses(bbox), ..Extent::default() };
    let kind = extent.add_geometry(geometry, GEOMETRY_DEPTH_MAX)?;
    let altitude = if kind == Kind::Point { extent.altitude } else { None };
    Ok(Place { geo: extent.circle(), altitude })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Point,
    MultiPoint,
    LineString,
    MultiLineString,
    Polygon,
    MultiPolygon,
    GeometryCollection,
}

impl Kind {
    const ALL: [Self; 7] = [
        Self::Point,
        Self::MultiPoint,
        Self::LineString,
        Self::MultiLineString,
        Self::Polygon,
        Self::MultiPolygon,
        Self::GeometryCollection,
    ];

    const fn as_str(self) -> &'static str {
        match self {
            Self::Point => "Point",
            Self::MultiPoint => "MultiPoint",
            Self::LineString => "LineString",
            Self::MultiLineString => "MultiLineString",
            Self::Polygon => "Polygon",
            Self::MultiPolygon => "MultiPolygon",
            Self::GeometryCollection => "GeometryCollection",
        }
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

/// Returns whether a box says that it crosses the antimeridian: its west is greater than its east (RFC 7946 §5.2).
fn crosses(bbox: Option<&RawValue>) -> bool {
    let edges = bbox.and_then(|bbox| serde_json::from_str::<Vec<f64>>(bbox.get()).ok());
    edges.is_some_and(|edges| match edges[..] {
        [west, _, east, _] | [west, _, _, east, _, _] => west > east,
        _ => false,
    })
}

/// The box around positions.
///
/// A geometry across the antimeridian comes in parts that are cut there (RFC 7946 §3.1.9), so the
/// parts lie at both ends of the numbers and close together. Longitudes of whole parts are
/// therefore kept twice, from −180 to 180 and from 0 to 360; the narrower box counts. A geometry that is not cut may say by
/// a `bbox` that it crosses.
#[derive(Default)]
struct Extent {
    lat: Interval,
    lon: Interval,
    lon_eastward: Interval,
    /// The longitudes of the part that is being read: a point, a line or a ring.
    part_lon: Interval,
    /// The longitudes of all positions from 0 to 360.
    positions_eastward: Interval,
    /// Whether a `bbox` says that lines cross the antimeridian. Then only `positions_eastward` counts.
    crosses: bool,
    altitude: Option<f64>,
}

/// The numbers from the least to the greatest, none at first.
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
        let kind = Kind::ALL.into_iter().find(|kind| kind.as_str() == word).ok_or_else(|| {
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
            // It lies on both sides of 0, where the numbers from 0 to 360 end.
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

/// Returns the distance from the middle of a box to its farthest point, in whole metres.
fn radius_m(middle: Point, lat: Interval, half_width: f64) -> f64 {
    // Distance grows with the difference of longitudes, so the farthest point is on a side. Up to
    // a quarter of the way around it is one of the corners, beyond that it may lie between them.
    if half_width > 90.0 {
        return RADIUS_METRES_MAX;
    }
    let east = middle.lon() + half_width;
    let east = if east > 180.0 { east - 360.0 } else { east };
    let corners = [lat.min, lat.max].into_iter().filter_map(|lat| Point::new(lat, east));
    let farthest = corners.map(|corner| middle.distance_m(corner)).fold(0.0, f64::max);
    farthest.ceil().min(RADIUS_METRES_MAX)
}

/// Reads positions inside that many lists.
struct Coordinates<'e> {
    extent: &'e mut Extent,
    lists_around_positions: u8,
    /// Whether a line goes from each position to the next.
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
        // Coordinates that are empty count as no geometry (RFC 7946 §3.1).
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
        // Some catalogues write `null` for an altitude that they do not know.
        extent.altitude = items.next_element::<Option<f64>>()?.flatten();
        while items.next_element::<IgnoredAny>()?.is_some() {}
        extent.add(lon, lat);
        Ok(())
    }
}
