use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use timenav_core::place::{Area, Cell, LocationQuery, cells_of};
use timenav_places::Gazetteer;

use super::{cities, point};

fn area(text: &str) -> Area {
    let gazetteer = Gazetteer::baked();
    match gazetteer.location(&gazetteer.look_up(text).unwrap().best) {
        LocationQuery::Area(area) => area,
        other => panic!("{text} is {other:?}"),
    }
}

#[test]
fn areas_have_unique_ids() {
    for (text, expected) in [("France", "country:FR"), ("California", "region:US.CA"), ("Europe", "continent:EU")] {
        assert_eq!(area(text).id(), expected);
        assert_eq!(area(text), area(text));
    }
    assert_ne!(area("France"), area("Germany"));
}

#[test]
fn points_are_in_their_areas() {
    for (text, lat, lon, expected) in [
        ("France", 48.85, 2.35, true),
        ("France", 51.5, -0.1, false),
        ("FRANCE", 43.3, 5.37, true),
        // A hole in South Africa, and a country that is one city.
        ("South Africa", -29.6, 28.3, false),
        ("South Africa", -25.7, 28.2, true),
        ("Vatican", 41.9033, 12.4534, true),
        ("Italy", 41.9033, 12.4534, false),
        ("Russia", 68.0, -178.0, true),
        ("Russia", 68.0, 178.0, true),
        ("Fiji", -16.8, -179.95, true),
        ("Fiji", -17.8, 178.0, true),
        ("Antarctica", -90.0, 77.0, true),
        ("California", 34.05, -118.24, true),
        ("California", 36.17, -115.14, false),
        ("Île-de-France", 48.8, 2.13, true),
        ("Europe", 52.5, 13.4, true),
        ("Europe", 35.7, 139.7, false),
        ("Asia", 35.7, 139.7, true),
    ] {
        let area = area(text);
        let here = point(lat, lon);
        assert_eq!(area.contains(here), expected, "{text} {lat},{lon}");
        assert!(!expected || area.cells().binary_search(&Cell::of(here)).is_ok(), "{text} {lat},{lon}");
    }
}

#[test]
fn every_country_covers_the_cells_of_its_cities() {
    let gazetteer = Gazetteer::baked();
    let mut cells: BTreeMap<&str, BTreeSet<Cell>> = BTreeMap::new();
    for city in cities() {
        cells.entry(city.country_code.unwrap()).or_default().extend(city.point.map(Cell::of));
    }
    for country in gazetteer.countries() {
        let LocationQuery::Area(area) = gazetteer.location(&country) else { panic!("{country} is no area") };
        let of_area = area.cells();
        assert!(of_area.is_sorted_by(|a, b| a < b));
        let of_cities = cells.remove(country.country_code.unwrap()).unwrap_or_default();
        assert!(of_cities.iter().all(|cell| of_area.binary_search(cell).is_ok()), "{country}");
    }
    assert!(cells.is_empty(), "every city is in a country");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_point_is_in_the_cells_of_its_area(
        lat in -90.0..=90.0,
        lon in -180.0..=180.0,
        near in any::<prop::sample::Index>(),
        shift in -0.3..0.3,
    ) {
        let gazetteer = Gazetteer::baked();
        let mut cities = gazetteer.cities();
        let cities_count = cities.len();
        let city = cities.nth(near.index(cities_count)).unwrap().point.unwrap();
        let shift: f64 = shift;
        let nearby = point((city.lat() + shift).clamp(-90.0, 90.0), (city.lon() - shift).clamp(-180.0, 180.0));
        for here in [point(lat, lon), nearby, city] {
            let Some(country) = gazetteer.country_at(here) else { continue };
            let country = gazetteer.location(&country);
            prop_assert!(country.matches(Some(here), None));
            prop_assert!(cells_of(&country).unwrap().contains(&Cell::of(here)), "{:?} {:?}", here, country);
            let Some(region) = gazetteer.region_at(here) else { continue };
            let region = gazetteer.location(&region);
            prop_assert!(region.matches(Some(here), None));
            prop_assert!(cells_of(&region).unwrap().contains(&Cell::of(here)), "{:?} {:?}", here, region);
        }
    }
}
