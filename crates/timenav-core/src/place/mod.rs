mod grid;
mod area;
mod query;
mod cells;

#[cfg(test)]
mod tests;

pub use area::{Area, Shape};
pub use cells::cells_of;
pub use grid::{CELLS, Cell};
pub use query::{LocationError, LocationQuery, parse_location};

use geographiclib_rs::{Geodesic, InverseGeodesic};
use std::sync::LazyLock;

/// A point on the WGS 84 ellipsoid, in degrees.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    lat: f64,
    lon: f64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Geo {
    /// The point, or the center of the circle.
    pub point: Point,
    pub radius_m: Option<f64>,
}

/// A box between two meridians and two parallels, edges included, in degrees. A box whose west is greater than its east
/// crosses the antimeridian (RFC 7946 §5.2).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BBox {
    west: f64,
    south: f64,
    east: f64,
    north: f64,
}

impl Point {
    /// Returns the point, or `None` unless −90 ≤ lat ≤ 90 and −180 ≤ lon ≤ 180.
    #[must_use]
    pub fn new(lat: f64, lon: f64) -> Option<Self> {
        // Comparisons with NaN are false, so NaN and infinities are rejected here too.
        let valid = (-90.0..=90.0).contains(&lat) && (-180.0..=180.0).contains(&lon);
        // Adding zero turns −0.0 into 0.0, so that equal points have the same text.
        valid.then_some(Self { lat: lat + 0.0, lon: lon + 0.0 })
    }

    /// Returns the latitude in degrees, north positive.
    #[must_use]
    pub const fn lat(self) -> f64 {
        self.lat
    }

    /// Returns the longitude in degrees, east positive.
    #[must_use]
    pub const fn lon(self) -> f64 {
        self.lon
    }

    /// Returns the geodesic distance to another point, in meters. Source: Karney, Algorithms for geodesics (2013), as
    /// implemented by GeographicLib.
    #[must_use]
    pub fn distance_m(self, other: Self) -> f64 {
        static WGS84: LazyLock<Geodesic> = LazyLock::new(Geodesic::wgs84);
        WGS84.inverse(self.lat, self.lon, other.lat, other.lon)
    }
}

impl BBox {
    /// Returns the box, or `None` if an edge is out of range or south is north of north.
    #[must_use]
    pub fn new(west: f64, south: f64, east: f64, north: f64) -> Option<Self> {
        let meridians = (-180.0..=180.0).contains(&west) && (-180.0..=180.0).contains(&east);
        let parallels = (-90.0..=90.0).contains(&south) && (-90.0..=90.0).contains(&north);
        (meridians && parallels && south <= north).then_some(Self { west, south, east, north })
    }

    /// Returns west, south, east and north, in degrees.
    #[must_use]
    pub const fn edges(self) -> [f64; 4] {
        [self.west, self.south, self.east, self.north]
    }

    /// Returns whether the point is in the box or on its edge.
    #[must_use]
    pub fn contains(self, point: Point) -> bool {
        self.south <= point.lat
            && point.lat <= self.north
            // The meridian 180 can also be written as −180.
            && (self.spans(point.lon) || (point.lon.abs() >= 180.0 && self.spans(-point.lon)))
    }

    fn spans(self, lon: f64) -> bool {
        if self.west <= self.east { self.west <= lon && lon <= self.east } else { lon >= self.west || lon <= self.east }
    }
}
