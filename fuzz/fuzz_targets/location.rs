//! Locations: what is read lies on the earth, means its own middle and corners, and no point that
//! it means lies outside of its cells. A second line is the point that is asked for.

#![no_main]

use libfuzzer_sys::fuzz_target;
use timenav_core::limits::{LOCATION_BYTES_MAX, RADIUS_METERS_MAX};
use timenav_core::place::{CELLS, Cell, LocationQuery, Point, cells_of, parse_location};
use timenav_fuzz::check_message;

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let (text, point) = text.split_once('\n').unwrap_or((text, ""));
    match parse_location(text) {
        Ok(query) => {
            assert!(text.trim().len() <= LOCATION_BYTES_MAX);
            check(text.trim(), &query);
            if let Ok(LocationQuery::Near { center, .. }) = parse_location(point) {
                check_point(&query, center);
            }
        }
        Err(error) => check_message(&error, LOCATION_BYTES_MAX),
    }
});

fn check(text: &str, query: &LocationQuery) {
    match query {
        LocationQuery::Area(_) => panic!("no text is read as an area: {text}"),
        LocationQuery::Anywhere => assert!(text == "*" && query.matches(None, None)),
        LocationQuery::Named(name) => assert!(name == text && query.matches(None, Some(text))),
        LocationQuery::Near { center, radius_m } => {
            assert!((0.0..=RADIUS_METERS_MAX).contains(radius_m), "{query:?}");
            assert_eq!(Point::new(center.lat(), center.lon()), Some(*center));
            assert!(query.matches(Some(*center), None), "a circle has its middle: {query:?}");
            check_point(query, *center);
        }
        LocationQuery::Within(bbox) => {
            let [west, south, east, north] = bbox.edges();
            for (lat, lon) in [(south, west), (south, east), (north, west), (north, east)] {
                let corner = Point::new(lat, lon).expect("the corners of a box are points");
                assert!(query.matches(Some(corner), None), "a box has its corners: {query:?}");
                check_point(query, corner);
            }
        }
    }
    if let Some(cells) = cells_of(query) {
        assert!(cells.is_sorted_by(|one, next| one < next), "{query:?}");
        assert!(cells.iter().all(|cell| cell.number() < CELLS), "{query:?}");
    }
}

fn check_point(query: &LocationQuery, point: Point) {
    if let Some(cells) = cells_of(query)
        && query.matches(Some(point), None)
    {
        assert!(cells.binary_search(&Cell::of(point)).is_ok(), "{query:?} means {point:?}");
    }
}
