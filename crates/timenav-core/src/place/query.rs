use super::{Area, BBox, Point};
use crate::limits::{LOCATION_BYTES_MAX, RADIUS_METERS_DEFAULT, RADIUS_METERS_MAX};

#[derive(Clone, Debug, PartialEq)]
pub enum LocationQuery {
    /// `*`: everywhere, including events without a place.
    Anywhere,
    /// Coordinates or a `geo:` URI: everything within a distance of a point.
    Near { center: Point, radius_m: f64 },
    /// `bbox:west,south,east,north`.
    Within(BBox),
    /// A named area. [`parse_location`] never returns it: area names are resolved elsewhere.
    Area(Area),
    /// Anything else: matches the location text of events.
    Named(String),
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LocationError {
    #[error("a location cannot be empty; `*` means anywhere")]
    Empty,
    #[error("a location can have at most {LOCATION_BYTES_MAX} bytes")]
    TooLong,
    #[error("write coordinates as latitude,longitude, from -90 to 90 and -180 to 180, such as `29.95,-90.07`")]
    Coordinates,
    #[error(
        "write a geo URI as `geo:latitude,longitude` with an optional `;u=meters`, such as `geo:29.95,-90.07;u=50000`"
    )]
    GeoUri,
    #[error("the coordinate reference system `{0}` is not supported; use `wgs84`")]
    ReferenceSystem(String),
    #[error("the radius must be from 0 to {RADIUS_METERS_MAX} meters")]
    Radius,
    #[error(
        "write a box as `bbox:west,south,east,north` in degrees with south not above north, such as `bbox:-98,18,-81,31`; west greater than east crosses the antimeridian"
    )]
    Box,
}

/// Parses a location: `*`, `lat,lon`, a `geo:` URI, `bbox:west,south,east,north`, or else a name.
///
/// Source: RFC 5870 for `geo:`; RFC 7946 §5.2 for boxes across the antimeridian.
///
/// # Errors
/// The text is empty or too long, or has the form of coordinates but is not valid.
pub fn parse_location(text: &str) -> Result<LocationQuery, LocationError> {
    let text = text.trim();
    if text.is_empty() {
        return Err(LocationError::Empty);
    }
    if text.len() > LOCATION_BYTES_MAX {
        return Err(LocationError::TooLong);
    }
    if text == "*" {
        return Ok(LocationQuery::Anywhere);
    }
    match text.split_once(':') {
        Some((scheme, rest)) if scheme.eq_ignore_ascii_case("geo") => geo_uri(rest),
        Some((scheme, rest)) if scheme.eq_ignore_ascii_case("bbox") => bounding_box(rest),
        _ => coordinates_or_name(text),
    }
}

fn coordinates_or_name(text: &str) -> Result<LocationQuery, LocationError> {
    let (position, parameters) = text.split_once(';').unwrap_or((text, ""));
    let numbers: Option<Vec<f64>> = position.split(',').map(number).collect();
    match numbers.as_deref() {
        Some([lat, lon]) => {
            let center = Point::new(*lat, *lon).ok_or(LocationError::Coordinates)?;
            Ok(LocationQuery::Near { center, radius_m: radius(parameters)? })
        }
        Some([_]) | None => Ok(LocationQuery::Named(text.to_owned())),
        Some(_) => Err(LocationError::Coordinates),
    }
}

fn geo_uri(rest: &str) -> Result<LocationQuery, LocationError> {
    let (position, parameters) = rest.split_once(';').unwrap_or((rest, ""));
    let numbers: Option<Vec<f64>> = position.split(',').map(number).collect();
    match numbers.as_deref() {
        // A third number is the altitude, which is ignored.
        Some([lat, lon] | [lat, lon, _]) => {
            let center = Point::new(*lat, *lon).ok_or(LocationError::Coordinates)?;
            Ok(LocationQuery::Near { center, radius_m: radius(parameters)? })
        }
        _ => Err(LocationError::GeoUri),
    }
}

/// Parses `u=` (uncertainty, here the radius) and `crs=`. Other parameters are ignored (RFC 5870 §3.3).
fn radius(parameters: &str) -> Result<f64, LocationError> {
    let mut radius_m = RADIUS_METERS_DEFAULT;
    for parameter in parameters.split(';').filter(|parameter| !parameter.is_empty()) {
        let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
        if name.eq_ignore_ascii_case("crs") && !value.eq_ignore_ascii_case("wgs84") {
            return Err(LocationError::ReferenceSystem(value.to_owned()));
        }
        if name.eq_ignore_ascii_case("u") {
            let metres = number(value).filter(|metres| (0.0..=RADIUS_METERS_MAX).contains(metres));
            radius_m = metres.ok_or(LocationError::Radius)?;
        }
    }
    Ok(radius_m)
}

fn bounding_box(rest: &str) -> Result<LocationQuery, LocationError> {
    let numbers: Option<Vec<f64>> = rest.split(',').map(number).collect();
    let Some([west, south, east, north]) = numbers.as_deref() else { return Err(LocationError::Box) };
    BBox::new(*west, *south, *east, *north).map(LocationQuery::Within).ok_or(LocationError::Box)
}

/// Parses a plain decimal number. `inf`, `nan` and the like are names, not numbers.
fn number(text: &str) -> Option<f64> {
    let text = text.trim();
    let plain = |byte: u8| byte.is_ascii_digit() || matches!(byte, b'+' | b'-' | b'.' | b'e' | b'E');
    (text.bytes().all(plain) && text.bytes().any(|byte| byte.is_ascii_digit())).then(|| text.parse().ok()).flatten()
}

impl LocationQuery {
    #[must_use]
    pub fn matches(&self, point: Option<Point>, place: Option<&str>) -> bool {
        match self {
            Self::Anywhere => true,
            Self::Near { center, radius_m } => point.is_some_and(|point| center.distance_m(point) <= *radius_m),
            Self::Within(bbox) => point.is_some_and(|point| bbox.contains(point)),
            Self::Area(area) => point.is_some_and(|point| area.contains(point)),
            Self::Named(name) => place == Some(name),
        }
    }
}
