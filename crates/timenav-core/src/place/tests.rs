use std::sync::Arc;

use super::*;
use proptest::prelude::*;

fn point(lat: f64, lon: f64) -> Point {
    Point::new(lat, lon).unwrap()
}

#[test]
fn distances_match_the_ellipsoid() {
    let paris = point(48.8566, 2.3522);
    let new_york = point(40.7128, -74.0060);
    assert!((paris.distance_m(new_york) - 5_852_935.0).abs() < 1_000.0);
    assert!(paris.distance_m(paris) < 1e-6);
}

#[test]
fn location_queries_are_parsed() {
    let near = |lat, lon, radius_m| Ok(LocationQuery::Near { center: point(lat, lon), radius_m });
    let bbox = |w, s, e, n| Ok(LocationQuery::Within(BBox::new(w, s, e, n).unwrap()));
    let named = |text: &str| Ok(LocationQuery::Named(text.to_owned()));
    let check = |text: &str, expected: Result<LocationQuery, LocationError>| {
        assert_eq!(parse_location(text), expected, "{text}");
    };
    check("*", Ok(LocationQuery::Anywhere));
    check(" * ", Ok(LocationQuery::Anywhere));
    check("29.95,-90.07", near(29.95, -90.07, 50_000.0));
    check("29.95, -90.07", near(29.95, -90.07, 50_000.0));
    check("29.95,-90.07;u=1000", near(29.95, -90.07, 1_000.0));
    check("geo:29.95,-90.07", near(29.95, -90.07, 50_000.0));
    check("GEO:29.95,-90.07,12;crs=WGS84;u=0;x=y", near(29.95, -90.07, 0.0));
    check("geo:90,180", near(90.0, 180.0, 50_000.0));
    check("bbox:-98,18,-81,31", bbox(-98.0, 18.0, -81.0, 31.0));
    check("bbox:170,50,-150,65", bbox(170.0, 50.0, -150.0, 65.0));
    check("New Orleans", named("New Orleans"));
    check("Paris, France", named("Paris, France"));
    check("42", named("42"));
    check("nan,inf", named("nan,inf"));
    check("event:42", named("event:42"));
    check("", Err(LocationError::Empty));
    check(&"x".repeat(513), Err(LocationError::TooLong));
    check("91,0", Err(LocationError::Coordinates));
    check("0,181", Err(LocationError::Coordinates));
    check("1,2,3", Err(LocationError::Coordinates));
    check("geo:1", Err(LocationError::GeoUri));
    check("geo:", Err(LocationError::GeoUri));
    check("geo:1,2;crs=nad27", Err(LocationError::ReferenceSystem("nad27".into())));
    check("geo:1,2;u=-1", Err(LocationError::Radius));
    check("geo:1,2;u=1e9", Err(LocationError::Radius));
    check("bbox:1,2,3", Err(LocationError::Box));
    check("bbox:0,10,1,9", Err(LocationError::Box));
    check("bbox:0,0,181,1", Err(LocationError::Box));
}

#[test]
fn box_includes_its_edges_and_both_antimeridian_longitudes() {
    let pacific = BBox::new(170.0, 50.0, -150.0, 65.0).unwrap();
    for (lat, lon, inside) in [
        (50.0, 170.0, true),
        (65.0, -150.0, true),
        (60.0, 180.0, true),
        (60.0, -180.0, true),
        (60.0, 169.9, false),
        (60.0, -149.9, false),
        (49.9, 175.0, false),
    ] {
        assert_eq!(pacific.contains(point(lat, lon)), inside, "{lat},{lon}");
    }
    let east = BBox::new(170.0, 50.0, 180.0, 65.0).unwrap();
    assert!(east.contains(point(60.0, -180.0)));
    assert!(!east.contains(point(60.0, -179.9)));
}

struct North;

impl Shape for North {
    fn cells(&self) -> Vec<Cell> {
        (CELLS / 2..CELLS).filter_map(Cell::numbered).collect()
    }

    fn contains(&self, point: Point) -> bool {
        point.lat() >= 0.0
    }
}

#[test]
fn area_contains_the_points_of_its_shape() {
    let north = LocationQuery::Area(Area::new("north", Arc::new(North)));
    assert!(north.matches(Some(point(0.0, 0.0)), None));
    assert!(!north.matches(Some(point(-0.1, 0.0)), None));
    assert!(!north.matches(None, Some("north")), "no text is in an area");
    assert_eq!(cells_of(&north).unwrap().len(), CELLS as usize / 2);
    assert_eq!(north, LocationQuery::Area(Area::new("north", Arc::new(North))));
    assert_ne!(north, LocationQuery::Area(Area::new("south", Arc::new(North))));
}

#[test]
fn cells_have_numbers_and_centers() {
    assert_eq!(Cell::numbered(CELLS), None);
    for number in [0, 1, 359, 360, CELLS - 1] {
        let cell = Cell::numbered(number).unwrap();
        assert_eq!((cell.number(), Cell::of(cell.middle())), (number, cell));
    }
}

fn any_query() -> impl Strategy<Value = LocationQuery> {
    let boxes = (-180.0..=180.0, -90.0..=90.0, -180.0..=180.0, 0.0..=180.0).prop_filter_map(
        "south above north",
        |(west, south, east, height)| {
            BBox::new(west, south, east, f64::min(south + height, 90.0)).map(LocationQuery::Within)
        },
    );
    let circles = (-90.0..=90.0, -180.0..=180.0, 0.0..8_000_000.0)
        .prop_map(|(lat, lon, radius_m)| LocationQuery::Near { center: point(lat, lon), radius_m });
    prop_oneof![boxes, circles]
}

#[test]
fn every_corner_of_a_box_is_in_its_cells() {
    let (south, north) = (10.0, 11.0);
    for tenths in (-1_800..=1_800).step_by(12) {
        let west = f64::from(tenths) / 10.0;
        for east in (-180..=180).step_by(5).map(f64::from) {
            let query = LocationQuery::Within(BBox::new(west, south, east, north).unwrap());
            let cells = cells_of(&query).unwrap();
            for corner in [point(south, west), point(south, east), point(north, west), point(north, east)] {
                assert!(cells.binary_search(&Cell::of(corner)).is_ok(), "{west} {east} {corner:?}");
            }
        }
    }
}

proptest! {
    #[test]
    fn every_matching_point_is_in_the_query_cells(query in any_query(), lat in -90.0..=90.0, lon in -180.0..=180.0) {
        let here = point(lat, lon);
        let cells = cells_of(&query).unwrap();
        if query.matches(Some(here), None) {
            prop_assert!(cells.contains(&Cell::of(here)), "{:?} {:?}", query, here);
        }
        prop_assert!(cells.windows(2).all(|pair| pair[0] < pair[1]), "sorted, each once");
    }

    #[test]
    fn circle_edge_is_within_its_cells(
        lat in -89.0..=89.0,
        lon in -180.0..=180.0,
        radius_m in 1.0..3_000_000.0,
        bearing in 0.0..360.0,
    ) {
        use geographiclib_rs::{DirectGeodesic, Geodesic};
        let (lat2, lon2): (f64, f64) = Geodesic::wgs84().direct(lat, lon, bearing, radius_m * 0.999_999);
        let edge = point(lat2, lon2.clamp(-180.0, 180.0));
        let query = LocationQuery::Near { center: point(lat, lon), radius_m };
        prop_assert!(query.matches(Some(edge), None));
        prop_assert!(cells_of(&query).unwrap().contains(&Cell::of(edge)));
    }

    #[test]
    fn parsing_a_location_never_panics(text in "\\PC{0,40}") {
        let _ = parse_location(&text);
    }
}
