use timenav_places::Gazetteer;

use super::{cities, point};

#[test]
fn place_name_has_a_time_zone() {
    for (text, expected) in [
        ("Kathmandu", "Asia/Kathmandu"),
        ("Phoenix", "America/Phoenix"),
        ("Denver", "America/Denver"),
        ("New Orleans", "America/Chicago"),
        ("London", "Europe/London"),
        ("Saigon", "Asia/Ho_Chi_Minh"),
        ("St. John's, Newfoundland", "America/St_Johns"),
        ("Japan", "Asia/Tokyo"),
        ("Bavaria", "Europe/Berlin"),
    ] {
        let found = Gazetteer::baked().look_up(text).unwrap();
        assert_eq!(found.best.zone, Some(expected), "{text}");
        assert_eq!(Gazetteer::baked().zone_of(text), Some(expected), "{text}");
    }
}

#[test]
fn name_without_a_single_place_has_no_time_zone() {
    for text in ["Europe", "Pariss", ""] {
        assert_eq!(Gazetteer::baked().zone_of(text), None, "{text}");
    }
}

#[test]
fn every_point_has_a_time_zone() {
    for (lat, lon, expected) in [
        (27.70, 85.32, "Asia/Kathmandu"),
        (33.45, -112.07, "America/Phoenix"),
        (35.5, -111.5, "America/Phoenix"),
        (51.5, -0.12, "Europe/London"),
        (0.0, -150.0, "Etc/GMT+10"),
        (0.0, 180.0, "Etc/GMT-12"),
        (0.0, -180.0, "Etc/GMT+12"),
        (-75.0, 0.5, "Etc/GMT"),
        (90.0, 0.0, "Etc/GMT"),
    ] {
        assert_eq!(Gazetteer::baked().zone_at(point(lat, lon)), expected, "{lat},{lon}");
    }
}

#[test]
fn every_point_has_at_most_one_country() {
    for (lat, lon, expected) in [
        (48.85, 2.35, Some("FR")),
        (4.92, -52.31, Some("GF")),
        (-21.1, 55.5, Some("RE")),
        (14.6, -61.0, Some("MQ")),
        (78.2, 15.6, Some("SJ")),
        (44.95, 34.1, Some("UA")),
        (42.66, 21.16, Some("XK")),
        (9.56, 44.06, Some("SO")),
        (35.19, 33.36, Some("CY")),
        (-29.6, 28.3, Some("LS")),
        (41.9033, 12.4534, Some("VA")),
        (66.0, -171.0, Some("RU")),
        (68.0, 179.99, Some("RU")),
        (68.0, -179.99, Some("RU")),
        (68.0, 180.0, Some("RU")),
        (68.0, -180.0, Some("RU")),
        (-16.8, 179.99, Some("FJ")),
        (-85.0, 12.0, Some("AQ")),
        (-90.0, 0.0, Some("AQ")),
        (-85.0, 180.0, Some("AQ")),
        (90.0, 0.0, None),
        (0.0, -30.0, None),
        (60.0, -30.0, None),
    ] {
        let found = Gazetteer::baked().country_at(point(lat, lon)).and_then(|country| country.country_code);
        assert_eq!(found, expected, "{lat},{lon}");
    }
}

#[test]
fn cities_are_within_their_countries() {
    let gazetteer = Gazetteer::baked();
    let elsewhere: Vec<String> = cities()
        .filter_map(|city| {
            let found = gazetteer.country_at(city.point?).and_then(|country| country.country_code);
            (found != city.country_code).then(|| format!("{city}: {found:?}"))
        })
        .collect();
    // One point of GeoNames is not where its name says.
    assert!(elsewhere.len() <= 1, "{elsewhere:#?}");
}

#[test]
fn countries_contain_their_capitals() {
    let gazetteer = Gazetteer::baked();
    let mut elsewhere = Vec::new();
    for country in gazetteer.countries() {
        let Some(capital) = country.point else { continue };
        let found = gazetteer.country_at(capital).and_then(|found| found.country_code);
        if found != country.country_code {
            elsewhere.push(format!("{country}: {found:?}"));
        }
    }
    assert!(elsewhere.is_empty(), "{elsewhere:#?}");
    let without: Vec<_> =
        gazetteer.countries().filter(|country| country.point.is_none()).map(|country| country.name).collect();
    // Nobody lives there, or there is no city.
    assert!(without.len() < 10, "{without:?}");
}

#[test]
fn nearest_city_matches_a_full_search() {
    let gazetteer = Gazetteer::baked();
    let all: Vec<_> = cities().collect();
    for (lat, lon) in [(48.9, 2.2), (0.0, -150.0), (-89.0, 10.0), (65.0, 180.0), (12.3, -45.6), (-41.0, 174.0)] {
        let here = point(lat, lon);
        let found = gazetteer.nearest(here).unwrap();
        let least = all.iter().filter_map(|city| Some(city.point?.distance_m(here))).fold(f64::INFINITY, f64::min);
        // The tree measures on a sphere, this on the ellipsoid.
        assert!(found.distance_m <= least * 1.01 + 10.0, "{found:?} {least}");
    }
}
