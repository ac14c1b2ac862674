//! Searches and paradoxes of real files, compared with the known answers of `../shared/data/README.md`. The readers of the
//! files have their own tests.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::support::http::{Request, target};
use crate::support::service::Service;
use crate::support::shared_data;

const HURRICANES: &str = "hurricanes/hurdat2_atlantic_1851_2025.csv";
const EARTHQUAKES: &str = "earthquakes/usgs_week_2018-02.geojson";

fn import(service: &Service, timeline: &str, content_type: &str, map: &str, file: &[u8]) -> Value {
    let mut parameters = vec![("timeline_id", timeline)];
    if !map.is_empty() {
        parameters.push(("map", map));
    }
    let request = Request::post(&target("/v1/import-events", &parameters)).body(content_type, file);
    service.send(request).expect(200)
}

fn counts(answer: &Value) -> [u64; 3] {
    ["imported", "unchanged", "rejected"].map(|name| answer[name].as_u64().unwrap())
}

/// Returns the results of a query, after checking order and uniqueness.
fn found(service: &Service, timeline: &str, location: &str, time_range: &str, limit: &str) -> Vec<Value> {
    let events = service.find_all(timeline, location, time_range, limit);
    let ids: BTreeSet<&str> = events.iter().map(|event| event["event_id"].as_str().unwrap()).collect();
    assert_eq!(ids.len(), events.len(), "something comes twice");
    // Timestamps of equal length and format sort chronologically as text.
    let keys: Vec<(&str, u64)> = events
        .iter()
        .map(|event| (event["time"].as_str().unwrap().trim_end_matches('Z'), event["position"].as_u64().unwrap()))
        .collect();
    assert!(keys.is_sorted(), "events are ordered by time, then position");
    events
}

/// Returns the number of earthquakes that a filter matches, page by page.
fn found_by(service: &Service, filter: &[(&str, &str)]) -> usize {
    let request = [&[("timeline_id", "quakes"), ("location", "*"), ("time_range", "../..")], filter].concat();
    let (mut count, mut cursor) = (0, None::<String>);
    loop {
        let next: Vec<(&str, &str)> = cursor.iter().map(|cursor| ("cursor", cursor.as_str())).collect();
        let page = service.get("/v1/monitor-events", &[&request[..], &next].concat());
        count += page["events"].as_array().unwrap().len();
        cursor = page["next_cursor"].as_str().map(str::to_owned);
        if cursor.is_none() {
            return count;
        }
    }
}

#[test]
fn earthquake_import_matches_known_counts() {
    let Some(file) = shared_data::read(EARTHQUAKES) else { return };
    let service = Service::start();
    let import = || import(&service, "quakes", "application/geo+json", "", &file);
    assert_eq!(counts(&import()), [1_707, 0, 0]);
    let find = |location: &str, time_range: &str, limit: &str| found(&service, "quakes", location, time_range, limit);
    // Both ends are included: these are the times of the first and last event.
    let all = find("*", "2018-01-31T01:49:59.65Z/2018-02-07T01:26:13.84Z", "1000");
    assert_eq!(all.len(), 1_707);
    let inner = find("*", "2018-01-31T01:49:59.650001Z/2018-02-07T01:26:13.839999Z", "500");
    assert_eq!(inner.len(), 1_705);
    let california = "bbox:-125,32,-114,42";
    assert_eq!(find(california, "2018-02-01T00:00:00Z/2018-02-01T23:59:59.999999Z", "50").len(), 134);
    assert_eq!(find(california, "2018-02-01T00:00:00Z/P1D", "7").len(), 134);
    assert_eq!(find("bbox:170,50,-150,65", "../..", "10").len(), 136);
    // The results of filters equal those of checking each event.
    let of = |net: &str| all.iter().filter(|event| event["attributes"]["net"] == net).count();
    let alaska = found_by(&service, &[("attribute.net", "ak"), ("limit", "100")]);
    assert_eq!((alaska, of("ak")), (297, 297));
    assert_eq!(found_by(&service, &[("text", "quarry"), ("limit", "5")]), 13);
    assert_eq!(found_by(&service, &[("text", "CASTAIC calif"), ("limit", "1000")]), 0);
    let counted = |parameters: &[(&str, &str)]| {
        service.get("/v1/aggregate-events", &[&[("timeline_id", "quakes"), ("limit", "1000")], parameters].concat())
    };
    let nets = counted(&[("group_by", "attribute.net")]);
    assert_eq!((&nets["groups"][0]["key"], &nets["groups"][0]["count"]), (&json!("ci"), &json!(386)));
    assert!(
        nets["groups"].as_array().unwrap().iter().all(|group| group["count"] == of(group["key"].as_str().unwrap()))
    );
    let sum = |answer: &Value| {
        let groups = answer["groups"].as_array().unwrap().iter();
        groups.map(|group| group["count"].as_u64().unwrap()).sum::<u64>()
    };
    for by in [
        &[("group_by", "time"), ("bucket", "PT1H")][..],
        &[("group_by", "cell"), ("resolution", "5")],
        &[("group_by", "time")],
    ] {
        assert_eq!(sum(&counted(by)), 1_707, "{by:?}");
    }
    let day = [("group_by", "time"), ("bucket", "P1D"), ("location", california)];
    let days = counted(&day);
    let first = days["groups"].as_array().unwrap().iter().find(|group| group["key"] == "2018-02-01T00:00:00Z");
    assert_eq!(first.unwrap()["count"], 134);
    let strong = all.iter().filter(|event| event["attributes"]["mag"].as_f64().is_some_and(|mag| mag >= 4.5));
    assert_eq!(strong.count(), 85);
    assert_eq!(counts(&import()), [0, 1_707, 0]);
    service.audit();
}

/// Returns the number of paradoxes of these kinds.
fn paradoxes(service: &Service, timeline: &str, more: &[(&str, &str)]) -> u64 {
    let mut query = vec![("timeline_id", timeline), ("time_range", "../.."), ("limit", "1")];
    query.extend(more);
    service.get("/v1/monitor-paradox", &query)["total"].as_u64().unwrap()
}

#[test]
fn hurricane_searches_and_speed_paradoxes_match_known_counts() {
    let Some(file) = shared_data::read(HURRICANES) else { return };
    let service = Service::start();
    let map = "event_id={storm_id}:{time},actors=storm_id,description={name} ({status})";
    assert_eq!(counts(&import(&service, "storms", "text/csv", map, &file)), [55_605, 0, 0]);
    let find = |location: &str, time_range: &str, limit: &str| found(&service, "storms", location, time_range, limit);
    assert_eq!(find("*", "../1969-12-31T23:59:59.999999Z", "1000").len(), 29_874);
    let gulf = find("bbox:-98,18,-81,31", "2005-08-28T00:00:00Z/2005-08-29T06:00:00Z", "4");
    assert_eq!(gulf.len(), 6);
    assert!(gulf.iter().all(|event| event["actors"] == json!(["AL122005"])), "{gulf:?}");
    // New Orleans, an hour and a half after landfall.
    let near = find("geo:29.95,-90.07;u=150000", "2005-08-29T09:00:00Z/2005-08-29T15:00:00Z", "10");
    let times: Vec<&Value> = near.iter().map(|event| &event["time"]).collect();
    assert_eq!(times, ["2005-08-29T11:10:00Z", "2005-08-29T12:00:00Z", "2005-08-29T14:45:00Z"]);
    // On a sphere, 275 are faster than 80 km/h. On the ellipsoid three more are, by less than 0.3 %.
    for (speed, pairs) in [("80", 278), ("120", 4)] {
        let request = [("kinds", "P07"), ("speed_kmh", speed)];
        assert_eq!(paradoxes(&service, "storms", &request), pairs, "faster than {speed} km/h");
    }
    assert_eq!(paradoxes(&service, "storms", &[]), 0);
    service.audit();
}
