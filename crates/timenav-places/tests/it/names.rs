use std::fmt::Write as _;

use fst::Streamer as _;
use proptest::prelude::*;
use timenav_core::ledger::sha256;
use timenav_core::place::LocationQuery;
use timenav_places::{Gazetteer, normalized};

/// The hash of all names and the middle of the city that it means.
const MEANINGS: &str = "58d82697c0e43c43465218ff03150d0416e65254c74c758367e12f2b6695f39e";

/// Names, and the place that each means first, with what it is in.
const NAMES: &[(&str, &str)] = &[
    ("Paris", "Paris, Île-de-France, France"),
    (" paris ", "Paris, Île-de-France, France"),
    ("Paris, France", "Paris, Île-de-France, France"),
    ("paris,fr", "Paris, Île-de-France, France"),
    ("Paris, TX", "Paris, Texas, United States"),
    ("Paris, tx", "Paris, Texas, United States"),
    ("Paris, Texas, USA", "Paris, Texas, United States"),
    ("Paris, US", "Paris, Texas, United States"),
    ("Paris, Ontario", "Paris, Ontario, Canada"),
    ("Paris, ON, CA", "Paris, Ontario, Canada"),
    ("Springfield, IL", "Springfield, Illinois, United States"),
    ("Springfield, Massachusetts", "Springfield, Massachusetts, United States"),
    ("Sydney, NSW", "Sydney, New South Wales, Australia"),
    ("Kathmandu, Asia", "Kathmandu, Bagmati Province, Nepal"),
    ("Munich", "Munich, Bavaria, Germany"),
    ("münchen", "Munich, Bavaria, Germany"),
    ("MUENCHEN", "Munich, Bavaria, Germany"),
    ("São Paulo", "São Paulo, Brazil"),
    ("sao paulo", "São Paulo, Brazil"),
    ("SAO-PAULO", "São Paulo, Brazil"),
    ("Saigon", "Ho Chi Minh City, Ho Chi Minh City (HCMC), Vietnam"),
    ("Leningrad", "Saint Petersburg, St.-Petersburg, Russia"),
    ("Sankt-Peterburg", "Saint Petersburg, St.-Petersburg, Russia"),
    ("St. Petersburg, FL", "St. Petersburg, Florida, United States"),
    ("Saint Petersburg", "Saint Petersburg, St.-Petersburg, Russia"),
    ("Stalingrad", "Volgograd, Volgograd Oblast, Russia"),
    ("Bombay", "Mumbai, Maharashtra, India"),
    ("Calcutta", "Kolkata, West Bengal, India"),
    ("Constantinople", "Istanbul, Turkey"),
    ("Byzantium", "Istanbul, Turkey"),
    ("Edo", "Tokyo, Japan"),
    ("Danzig", "Gdańsk, Pomerania, Poland"),
    ("Königsberg", "Kaliningrad, Kaliningrad Oblast, Russia"),
    ("Rangoon", "Yangon, Myanmar"),
    ("Peking", "Beijing, China"),
    ("Kiev", "Kyiv, Kyiv City, Ukraine"),
    ("New York", "New York City, New York, United States"),
    ("nyc", "New York City, New York, United States"),
    ("New Amsterdam", "New York City, New York, United States"),
    ("Tokyo", "Tokyo, Japan"),
    ("東京", "Tokyo, Japan"),
    ("Москва", "Moscow, Russia"),
    ("Αθήνα", "Athens, Attica, Greece"),
    ("القاهرة", "Cairo, Egypt"),
    ("Xian", "Xi’an, Shaanxi, China"),
    ("Xi'an", "Xi’an, Shaanxi, China"),
    ("Washington, D.C.", "Washington, District of Columbia, United States"),
    ("New Delhi", "New Delhi, Delhi, India"),
    ("Roma", "Rome, Lazio, Italy"),
    ("Mexico City", "Mexico City, Mexico"),
    ("California", "California, United States"),
    ("california, us", "California, United States"),
    ("Île-de-France", "Île-de-France, France"),
    ("ile de france", "Île-de-France, France"),
    ("Bavaria", "Bavaria, Germany"),
    ("Bayern", "Bavaria, Germany"),
    ("England", "England, United Kingdom"),
    ("Kansas", "Kansas, United States"),
    ("Georgia", "Georgia"),
    ("Georgia, US", "Georgia, United States"),
    ("France", "France"),
    ("Deutschland", "Germany"),
    ("Holland", "The Netherlands"),
    ("Burma", "Myanmar"),
    ("Ivory Coast", "Ivory Coast"),
    ("Côte d’Ivoire", "Ivory Coast"),
    ("U.S.A.", "United States"),
    ("US", "United States"),
    ("IN", "India"),
    ("DE", "Germany"),
    ("CA", "Canada"),
    ("UK", "United Kingdom"),
    ("gb", "United Kingdom"),
    ("deu", "Germany"),
    ("Nice", "Nice, Provence-Alpes-Côte d'Azur, France"),
    ("Turku", "Turku, Southwest Finland, Finland"),
    ("Europe", "Europe"),
    ("South America", "South America"),
];

#[test]
fn names_resolve_to_the_likeliest_place() {
    for (text, expected) in NAMES {
        let found = Gazetteer::baked().look_up(text);
        assert_eq!(found.map(|found| found.best.to_string()).as_deref(), Some(*expected), "{text}");
    }
}

#[test]
fn invalid_names_resolve_to_no_place() {
    for text in ["", " ", ",", ",,,", "?!", "Pariss", "Paris, Japan", "Paris, Xyz", "France, Texas", "*"] {
        assert_eq!(Gazetteer::baked().look_up(text), None, "{text}");
    }
}

#[test]
fn ambiguous_names_are_reported() {
    for (text, expected) in [
        ("Santa Cruz", true),
        ("Springfield", true),
        ("Georgia", true),
        ("Paris, US", true),
        // The second Paris has one person for a hundred of the first; the state holds the city.
        ("Paris", false),
        ("New York", false),
        ("Luxembourg", false),
        ("Springfield, IL", false),
    ] {
        let found = Gazetteer::baked().look_up(text).unwrap();
        assert_eq!(found.is_ambiguous, expected, "{text}: {:?}", found.others);
    }
    let found = Gazetteer::baked().look_up("Santa Cruz").unwrap();
    assert!(found.others.iter().any(|other| other.country_code == Some("BO")), "{:?}", found.others);
}

#[test]
fn likelier_place_is_listed_first() {
    let countries =
        |text| -> Vec<_> { Gazetteer::baked().find(text).into_iter().map(|place| place.to_string()).take(2).collect() };
    assert_eq!(countries("Paris"), ["Paris, Île-de-France, France", "Paris, Texas, United States"]);
    assert_eq!(countries("Georgia"), ["Georgia", "Georgia, United States"]);
}

#[test]
fn city_radius_grows_with_its_population() {
    let radius = |text: &str| {
        let gazetteer = Gazetteer::baked();
        let found = gazetteer.look_up(text).unwrap();
        let LocationQuery::Near { center, radius_m } = gazetteer.location(&found.best) else {
            panic!("{text} is no circle")
        };
        assert_eq!((Some(center), Some(radius_m)), (found.best.point, found.best.radius_m));
        radius_m
    };
    assert!((radius("Gettysburg") - 5_000.0).abs() < 1.0);
    assert!((15_000.0..20_000.0).contains(&radius("Paris")));
    assert!((30_000.0..=50_000.0).contains(&radius("Tokyo")));
}

#[test]
fn names_are_compared_without_case_accents_and_script() {
    for (text, expected) in [
        ("São Paulo", "sao paulo"),
        ("  SAO -- PAULO. ", "sao paulo"),
        ("U.S.A.", "usa"),
        ("Washington D.C.", "washington dc"),
        ("St.Petersburg", "st petersburg"),
        ("Xi'an", "xian"),
        ("Xi’an", "xian"),
        ("Łódź", "lodz"),
        ("", ""),
        ("!?", ""),
    ] {
        assert_eq!(normalized(text), expected, "{text}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn arbitrary_names_do_not_panic(text in "\\PC{0,60}|[a-z, .'-]{0,80}", count in 0..10_usize) {
        let gazetteer = Gazetteer::baked();
        let found = gazetteer.find(&text);
        prop_assert!(gazetteer.suggestions(&text, count).len() <= count);
        for place in found {
            // What something is found as is normalized once.
            prop_assert!(!gazetteer.find(&normalized(&text.replace(',', " "))).is_empty() || text.contains(','), "{} {}", text, place);
        }
        prop_assert_eq!(normalized(&normalized(&text)), normalized(&text));
    }
}

/// The points of events that name a city are kept, and scans compare them with what the name means.
#[test]
fn names_resolve_to_the_pinned_points() {
    let gazetteer = Gazetteer::baked();
    let names = fst::Map::new(&include_bytes!("../../data/names.fst")[..]).unwrap();
    let mut names = names.stream();
    let mut meanings = String::new();
    while let Some((name, _)) = names.next() {
        let name = std::str::from_utf8(name).unwrap();
        let found = gazetteer.look_up(name).map(|found| gazetteer.location(&found.best));
        if let Some(LocationQuery::Near { center, .. }) = found {
            writeln!(meanings, "{name} {} {}", center.lat(), center.lon()).unwrap();
        }
    }
    let says = "a name means another point: events are kept by what it meant, so a step has to write their points anew";
    assert_eq!(sha256(&[meanings.as_bytes()]).to_hex(), MEANINGS, "{says}");
}
