use super::grid::{column, row};
use super::{Cell, LocationQuery, Point};

/// Length of one degree of latitude where it is shortest (at the equator), in meters.
const DEGREE_METRES_MIN: f64 = 110_574.0;

/// Upper bound for rounding errors of a difference of longitudes, in degrees.
const ROUNDING_DEGREES: f64 = 1e-9;

/// Returns every cell that may hold a matching point, sorted. `None` if the query does not restrict coordinates.
#[must_use]
pub fn cells_of(query: &LocationQuery) -> Option<Vec<Cell>> {
    match query {
        LocationQuery::Anywhere | LocationQuery::Named(_) => None,
        LocationQuery::Within(bbox) => {
            let [west, south, east, north] = bbox.edges();
            // The subtraction may round down. An extra cell costs little, a missing one would lose events.
            let width = if west <= east { east - west } else { 360.0 - west + east } + ROUNDING_DEGREES;
            Some(cells_between(west, width, south, north))
        }
        LocationQuery::Near { center, radius_m } => Some(cells_around(*center, *radius_m)),
        LocationQuery::Area(area) => Some(area.cells()),
    }
}

fn cells_around(center: Point, radius_m: f64) -> Vec<Cell> {
    let reach = radius_m / DEGREE_METRES_MIN;
    let (south, north) = ((center.lat() - reach).max(-90.0), (center.lat() + reach).min(90.0));
    // sin(reach) / cos(lat) bounds the half width in longitude, unless the circle contains a pole.
    let half_width = if south <= -90.0 || north >= 90.0 {
        180.0
    } else {
        let ratio = reach.to_radians().sin() / center.lat().to_radians().cos();
        // An extra percent covers the difference between sphere and ellipsoid.
        if ratio >= 0.99 { 180.0 } else { ratio.asin().to_degrees() * 1.01 }
    };
    cells_between(center.lon() - half_width, (half_width * 2.0).min(360.0), south, north)
}

fn cells_between(west: f64, width: f64, south: f64, north: f64) -> Vec<Cell> {
    let first = (west + 180.0).floor();
    let last = (west + width + 180.0).floor();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most 361 columns")]
    let columns_count = ((last - first) as u32 + 1).min(360);
    let first = column(west);
    let mut columns: Vec<u32> = (0..columns_count).map(|step| (first + step) % 360).collect();
    columns.sort_unstable();
    (row(south)..=row(north)).flat_map(|row| columns.iter().map(move |column| Cell(row * 360 + column))).collect()
}
