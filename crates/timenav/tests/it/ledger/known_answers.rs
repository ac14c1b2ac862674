//! Imports real files and checks the known answers of `../shared/data/README.md`.

use std::collections::BTreeSet;
use std::process::{Command, Stdio};

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

#[test]
fn hurricane_import_matches_known_counts() {
    let Some(file) = shared_data::read(HURRICANES) else { return };
    let service = Service::start();
    let map = "event_id={storm_id}:{time},actors=storm_id,description={name} ({status})";
    let import = || import(&service, "storms", "text/csv", map, &file);
    assert_eq!(counts(&import()), [55_605, 0, 0]);
    assert_eq!(service.get("/timeline/storms", &[])["events"], 55_605);
    let find = |location: &str, time_range: &str, limit: &str| found(&service, "storms", location, time_range, limit);
    assert_eq!(find("*", "../1969-12-31T23:59:59.999999Z", "1000").len(), 29_874);
    let florida = "bbox:-88,24,-79,31";
    assert_eq!(find(florida, "2000-01-01T00:00:00Z/2009-12-31T23:59:59Z", "100").len(), 284);
    let gulf = find("bbox:-98,18,-81,31", "2005-08-28T00:00:00Z/2005-08-29T06:00:00Z", "4");
    assert_eq!(gulf.len(), 6);
    assert!(gulf.iter().all(|event| event["actors"] == json!(["AL122005"])), "{gulf:?}");
    // New Orleans, an hour and a half after landfall.
    let near = find("geo:29.95,-90.07;u=150000", "2005-08-29T09:00:00Z/2005-08-29T15:00:00Z", "10");
    let times: Vec<&Value> = near.iter().map(|event| &event["time"]).collect();
    assert_eq!(times, ["2005-08-29T11:10:00Z", "2005-08-29T12:00:00Z", "2005-08-29T14:45:00Z"]);
    assert_eq!(counts(&import()), [0, 55_605, 0]);
    assert_eq!(service.get("/timeline/storms", &[])["events"], 55_605);
    service.audit();
}

/// Returns the flights table, if it exists and can be decompressed.
fn flights_of_a_year() -> Option<Vec<u8>> {
    let folder = shared_data::folder()?;
    let unzip =
        Command::new("unzip").arg("-p").arg(folder.join("flights/flights.csv.zip")).stderr(Stdio::null()).output();
    if unzip.is_err() {
        println!("skipped: the flights need unzip");
    }
    unzip.ok().map(|unzipped| unzipped.stdout)
}

#[test]
fn flight_import_matches_known_counts() {
    let Some(year) = flights_of_a_year() else { return };
    // A whole year is slow without optimization; the days around that one suffice.
    let days = ["year,", "2013,7,3,", "2013,7,4,", "2013,7,5,"].map(str::as_bytes);
    let lines = year.split_inclusive(|byte| *byte == b'\n');
    let lines = lines.filter(|line| days.iter().any(|day| line.starts_with(day)));
    let file = lines.collect::<Vec<_>>().concat();
    let service = Service::start();
    let map = r#"{"time": "time_hour", "location": "origin", "actors": "tailnum", "name": "{carrier} {flight}"}"#;
    let answer = import(&service, "flights", "text/csv", map, &file);
    assert_eq!(answer["rejected"], 0, "{answer}");
    let events = found(&service, "flights", "JFK", "2013-07-04T00:00:00Z/2013-07-05T00:00:00Z", "100");
    assert_eq!(events.len(), 309);
    service.audit();
}

/// Returns the number of paradoxes of these kinds.
fn paradoxes(service: &Service, timeline: &str, more: &[(&str, &str)]) -> u64 {
    let mut query = vec![("timeline_id", timeline), ("time_range", "../.."), ("limit", "1")];
    query.extend(more);
    service.get("/v1/monitor-paradox", &query)["total"].as_u64().unwrap()
}

#[test]
fn commits_older_than_their_parents_are_paradoxes() {
    let map = "time=committer_time|unix,event_id=id,causes=parents|split";
    for (name, commits, inverted) in [("jaeger", 27_196, 7), ("libfaketime", 784, 2)] {
        let Some(file) = shared_data::read(&format!("git-graphs/{name}.csv.gz")) else { return };
        let service = Service::start();
        let request = Request::post(&target("/v1/import-events", &[("timeline_id", name), ("map", map)]));
        let request = request.body("text/csv", &file).header("Content-Encoding", "gzip");
        assert_eq!(counts(&service.send(request).expect(200)), [commits, 0, 0]);
        assert_eq!(paradoxes(&service, name, &[("kinds", "P01")]), inverted, "{name}");
        assert_eq!(paradoxes(&service, name, &[("kinds", "P02,P03,P06")]), 0, "{name}");
        service.audit();
    }
}

#[test]
fn storm_speed_paradoxes_match_known_counts() {
    let Some(file) = shared_data::read(HURRICANES) else { return };
    let service = Service::start();
    let map = "event_id={storm_id}:{time},actors=storm_id,description={name} ({status})";
    assert_eq!(counts(&import(&service, "storms", "text/csv", map, &file)), [55_605, 0, 0]);
    // On a sphere, 275 are faster than 80 km/h. On the ellipsoid three more are, by less than 0.3 %.
    for (speed, pairs) in [("80", 278), ("100", 37), ("120", 4), ("140", 2), ("150", 0), ("900", 0)] {
        let request = [("kinds", "P07"), ("speed_kmh", speed)];
        assert_eq!(paradoxes(&service, "storms", &request), pairs, "faster than {speed} km/h");
    }
    assert_eq!(paradoxes(&service, "storms", &[]), 0);
    service.audit();
}

#[test]
fn spans_that_begin_before_parents_are_paradoxes() {
    let Some(file) = shared_data::read("traces/zipkin_skew.json") else { return };
    let service = Service::start();
    let import = |timeline: &str, file: &[u8]| {
        let parameters = [("timeline_id", timeline), ("format", "zipkin")];
        let request = Request::post(&target("/v1/import-events", &parameters)).body("application/json", file);
        service.send(request).expect(200)
    };
    import("skew", &file);
    let page =
        service.get("/v1/monitor-paradox", &[("timeline_id", "skew"), ("time_range", "../.."), ("kinds", "P01")]);
    let gaps: Vec<i64> =
        page["paradoxes"].as_array().unwrap().iter().map(|one| one["witness"]["gap_us"].as_i64().unwrap()).collect();
    assert!(gaps.contains(&65_441), "{page}");
    assert_eq!(paradoxes(&service, "skew", &[("kinds", "P01"), ("tolerance", "1s")]), 0);
    let Some(file) = shared_data::read("traces/zipkin_messaging2.json") else { return };
    import("orphans", &file);
    assert_eq!(paradoxes(&service, "orphans", &[("kinds", "P06")]), 6);
    service.audit();
}

#[test]
fn overlapping_flights_of_one_aircraft_are_paradoxes() {
    let Some(year) = flights_of_a_year() else { return };
    // The whole year is slow without optimization. It has no others than those of these two carriers.
    let is_needed =
        |line: &&[u8]| line.starts_with(b"year,") || line.windows(4).any(|window| matches!(window, b",DL," | b",UA,"));
    let file = year.split_inclusive(|byte| *byte == b'\n').filter(is_needed).collect::<Vec<_>>().concat();
    let service = Service::start();
    let map = json!({
        "time": "{time_hour} + {minute}m + {dep_delay}m|sum",
        "end_time": "{time_hour} + {minute}m + {dep_delay}m + {air_time}m|sum",
        "actors": "tailnum",
        "asserts": "{tailnum}/flies as/{carrier} {flight} from {origin} at {time_hour}|split:/",
    });
    let answer = import(&service, "flights", "text/csv", &map.to_string(), &file);
    // 1 035 did not depart; for 300 the flight time is unknown.
    assert_eq!(counts(&answer), [105_440, 0, 1_335]);
    assert_eq!(paradoxes(&service, "flights", &[("kinds", "P08")]), 116);
    service.audit();
}
