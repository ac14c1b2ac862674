//! What the gazetteer knows, asked as the service asks it.

mod names;
mod suggestions;
mod points;
mod areas;

use timenav_core::place::Point;
use timenav_places::Gazetteer;

fn point(lat: f64, lon: f64) -> Point {
    Point::new(lat, lon).expect("the tests stay on the earth")
}

/// Returns every city with its country and zone, as its record has them.
fn cities() -> impl Iterator<Item = timenav_places::Match> {
    Gazetteer::baked().cities()
}

#[test]
fn place_tables_are_small_and_complete() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/data");
    let sizes = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().metadata().unwrap().len());
    assert!(sizes.sum::<u64>() < 5_000_000);
    assert!(cities().count() > 69_000);
    for city in cities() {
        assert!(!city.name.is_empty() && city.country.is_some() && city.point.is_some(), "{city:?}");
        let zone = city.zone.unwrap();
        assert!(jiff::tz::TimeZoneDatabase::bundled().get(zone).is_ok(), "{zone} of {city}");
    }
}
