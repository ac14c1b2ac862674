//! Locations by place name, and events as places.

use serde_json::{Value, json};

use crate::support::service::Service;
use crate::v1::{assert_members, texts};

const AT: &str = "2000-01-01T00:00:00Z";

fn with_events() -> Service {
    let service = Service::start();
    let events = json!([
        { "event_id": "louvre", "time": AT, "geo": { "lat": 48.8606, "lon": 2.3376 }, "name": "Robbery" },
        { "event_id": "in-words", "time": AT, "location": "Lyon, France" },
        { "event_id": "berlin", "time": AT, "geo": { "lat": 52.52, "lon": 13.405 }, "location": "Reichstag" },
        { "event_id": "nowhere", "time": AT, "name": "Rumour" },
        { "event_id": "country", "time": AT, "location": "France" },
        { "event_id": "middle-earth", "time": AT, "location": "The Shire" },
        { "event_id": "fiji", "time": AT, "geo": { "lat": -18.14, "lon": 178.44 } },
    ]);
    service.post("/v1/events", &events);
    service
}

fn find(service: &Service, location: &str) -> Value {
    service.get("/v1/monitor-events", &[("location", location), ("time_range", "../..")])
}

#[track_caller]
fn check(service: &Service, location: &str, kind: &str, place: Option<&str>, expected: &[&str]) {
    let page = find(service, location);
    let mut ids = texts(page["events"].as_array().unwrap(), "event_id");
    ids.sort_unstable();
    assert_eq!(ids, expected, "{location}: {page}");
    assert_members(&page["location_resolved"], &json!({ "kind": kind, "place": place }));
}

#[test]
fn place_name_matches_events_inside_the_place() {
    let service = with_events();
    let paris = Some("Paris, Île-de-France, France");
    for name in ["Paris", "paris", "PARÍS", "Paris, FR", "Paris, France"] {
        check(&service, name, "near", paris, &["louvre"]);
    }
    check(&service, "France", "area", Some("France"), &["country", "in-words", "louvre"]);
    check(&service, "Deutschland", "area", Some("Germany"), &["berlin"]);
    check(&service, "Reichstag", "text", None, &["berlin"]);
    check(&service, "The Shire", "text", None, &["middle-earth"]);
    check(&service, "Fiji", "area", Some("Fiji"), &["fiji"]);
    check(&service, "45.76,4.84", "near", None, &["in-words"]);
    check(&service, "Paris, TX", "near", Some("Paris, Texas, United States"), &[]);
    let santa_cruz = find(&service, "Santa Cruz")["location_resolved"].clone();
    assert_eq!(santa_cruz["is_ambiguous"], true, "{santa_cruz}");
    assert!(!santa_cruz["alternatives"].as_array().unwrap().is_empty(), "{santa_cruz}");
    service.audit();
}

#[test]
fn event_can_be_used_as_location() {
    let service = with_events();
    service.post("/v1/events", &json!({ "event_id": "opera", "time": AT, "geo": { "lat": 48.87, "lon": 2.33 } }));
    for name in ["louvre", "Robbery", "ROBBERY"] {
        check(&service, name, "event", None, &["louvre", "opera"]);
    }
    assert_eq!(find(&service, "Robbery")["location_resolved"]["event_id"], "louvre");
    check(&service, "rumour", "event", None, &["nowhere"]);
    check(&service, "in-words", "event", None, &["in-words"]);
    let moved = json!({ "event_id": "louvre", "action": "relocate to Berlin", "time": AT });
    service.post("/v1/manipulate-event", &moved);
    check(&service, "Robbery", "event", None, &["berlin", "louvre"]);
    check(&service, "Germany", "area", Some("Germany"), &["berlin", "louvre"]);
    service.audit();
}

#[test]
fn misspelled_place_returns_similar_names() {
    let service = with_events();
    check(&service, "Narnia-on-Sea", "text", None, &[]);
    let page = find(&service, "Berlln");
    assert_eq!(page["events"], json!([]));
    let near = page["location_resolved"]["suggestions"].as_array().unwrap();
    assert!(near.iter().any(|name| name.as_str().unwrap().starts_with("Berlin")), "{near:?}");
    service.audit();
}
