//! `GET /v1/aggregate-events`: event counts in groups.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::support::http::{Request, target};
use crate::support::service::Service;
use crate::v1::{assert_invalid, assert_members, texts};

const PATH: &str = "/v1/aggregate-events";

fn record(service: &Service) {
    let event = |time: &str, source: &str, actors: &[&str], geo: Value, attributes: Value| json!({ "time": time, "source": source, "actors": actors, "geo": geo, "attributes": attributes });
    let at = |lat: f64, lon: f64| json!({ "lat": lat, "lon": lon });
    let events = json!([
        event("1969-07-16T13:32:00Z", "NASA", &["Armstrong", "Aldrin"], at(28.57, -80.65), json!({ "crew": 3 })),
        event("1969-07-16T20:00:00Z", "NASA", &["Armstrong"], at(-0.1, 179.99), json!({ "crew": 3, "tags": ["a", "b"] })),
        event("1969-07-20T20:17:40Z", "NASA", &[], at(0.1, -180.0), json!({ "crew": "three", "in": { "x": true } })),
        event("1969-08-01T00:00:00Z", "ESA", &["Aldrin"], at(90.0, 180.0), json!({ "tags": ["b", "b"] })),
        { "event_id": "rome", "time": "1970-01-01T00:00:00Z", "location": "Rome", "description": "Nothing else." },
    ]);
    service.send(Request::post("/v1/events").json(&events)).expect(201);
}

/// Returns these members of each group.
fn groups(answer: &Value, names: &[&str]) -> Value {
    let members = |group: &Value| -> Value { names.iter().map(|name| group[*name].clone()).collect() };
    answer["groups"].as_array().unwrap().iter().map(members).collect()
}

#[test]
fn events_are_counted_by_each_group_key() {
    let service = Service::start();
    record(&service);
    let count = |parameters: &[(&str, &str)]| service.get(PATH, parameters);
    let check = |parameters: &[(&str, &str)], expected: &[(&str, u64)], without: u64| {
        let answer = count(parameters);
        assert_eq!(groups(&answer, &["key", "count"]), json!(expected), "{parameters:?}: {answer:#}");
        let counts = json!({ "ungrouped_count": without, "groups_count": expected.len(), "groups_truncated": false,
            "counted_until": null, "next_cursor": null, "has_more": false });
        assert_members(&answer, &counts);
    };
    let days = [("1969-07-16T00:00:00Z", 2), ("1969-07-20T00:00:00Z", 1), ("1969-08-01T00:00:00Z", 1)];
    let last = [("1970-01-01T00:00:00Z", 1)];
    check(&[("group_by", "time"), ("bucket", "P1D")], &[&days[..], &last].concat(), 0);
    check(&[("group_by", "time"), ("bucket", "P1D"), ("time_range", "../1969-12-31T00:00:00Z")], &days, 0);
    check(&[("group_by", "time"), ("bucket", "P1M"), ("source", "NASA")], &[("1969-07-01T00:00:00Z", 3)], 0);
    check(&[("group_by", "time"), ("bucket", "P1Y")], &[("1969-01-01T00:00:00Z", 4), ("1970-01-01T00:00:00Z", 1)], 0);
    check(&[("group_by", "time"), ("bucket", "1")], &[("1969-07-16T13:32:00Z", 5)], 0);
    check(&[("group_by", "actor")], &[("Aldrin", 2), ("Armstrong", 2)], 2);
    check(&[("group_by", "source")], &[("NASA", 3), ("ESA", 1)], 1);
    check(&[("group_by", "source"), ("text", "arm")], &[("NASA", 2)], 0);
    check(&[("group_by", "attribute.crew")], &[("3", 2), ("three", 1)], 2);
    check(&[("group_by", "attribute.tags"), ("attribute.tags", "b")], &[("b", 2), ("a", 1)], 0);
    check(&[("group_by", "attribute.in.x")], &[("true", 1)], 4);
    check(&[("group_by", "attribute.none")], &[], 5);
    check(&[("group_by", "source"), ("location", "bbox:-90,20,-70,30")], &[("NASA", 1)], 0);
    // Rome has no coordinates here but is a known place. The 180th meridian counts as west, the pole as the last
    // row.
    let answer = count(&[("group_by", "cell")]);
    let mut cells = texts(answer["groups"].as_array().unwrap(), "key");
    cells.sort_unstable();
    assert_eq!(cells, ["-180,0,-170,10", "-180,80,-170,90", "-90,20,-80,30", "10,40,20,50", "170,-10,180,0"]);
    assert_eq!(groups(&answer, &["count"]), json!([[1], [1], [1], [1], [1]]), "{answer:#}");
    check(&[("group_by", "cell"), ("resolution", "0.5"), ("location", "Rome")], &[("12.5,41.5,13,42", 1)], 0);
    let largest = count(&[("group_by", "source"), ("limit", "1")]);
    let expected =
        json!({ "key": "NASA", "count": 3, "first": "1969-07-16T13:32:00Z", "last": "1969-07-20T20:17:40Z" });
    assert_members(&largest["groups"][0], &expected);
    assert_members(&largest, &json!({ "groups_count": 2, "count": 5, "status": "5 events in 2 groups." }));
    let stretches = count(&[("group_by", "time")]);
    let sum: u64 = stretches["groups"].as_array().unwrap().iter().map(|group| group["count"].as_u64().unwrap()).sum();
    assert_eq!((sum, &stretches["count"]), (5, &json!(5)));
    service.audit();
}

#[test]
fn events_are_counted_by_two_keys() {
    let service = Service::start();
    record(&service);
    let check = |parameters: &[(&str, &str)], expected: &[(&str, &str, u64)], without: u64| {
        let answer = service.get(PATH, parameters);
        assert_eq!(groups(&answer, &["key", "second_key", "count"]), json!(expected), "{parameters:?}: {answer:#}");
        assert_members(&answer, &json!({ "count": 5, "ungrouped_count": without, "groups_truncated": false }));
    };
    let [july, august] = ["1969-07-01T00:00:00Z", "1969-08-01T00:00:00Z"];
    let by_month = [("group_by", "time,actor"), ("bucket", "P1M")];
    check(&by_month, &[(july, "Armstrong", 2), (july, "Aldrin", 1), (august, "Aldrin", 1)], 2);
    let swapped = [("group_by", "actor,time"), ("bucket", "P1M")];
    check(&swapped, &[("Armstrong", july, 2), ("Aldrin", july, 1), ("Aldrin", august, 1)], 2);
    let crews = [("NASA", "3", 2), ("NASA", "three", 1)];
    check(&[("group_by", "source,attribute.crew")], &crews, 2);
    check(&[("group_by", "source,attribute.crew"), ("values", "three")], &crews[1..], 4);
    check(&[("group_by", "source,attribute.crew"), ("values", r#"["3","4"]"#)], &crews[..1], 3);
    check(
        &[("group_by", "attribute.tags,cell"), ("resolution", "90")],
        &[("a", "90,-90,180,0", 1), ("b", "90,-90,180,0", 1), ("b", "-180,0,-90,90", 1)],
        3,
    );
    let body = json!({ "group_by": "attribute.in.x,source", "values": ["NASA"], "timeline_id": "main" });
    let query = service.send(Request::new("QUERY", PATH).json(&body)).expect(200);
    assert_eq!((&query["groups"][0]["second_key"], &query["status"]), (&json!("NASA"), &json!("5 events in 1 group.")));
    let months = service.get(PATH, &by_month);
    assert_eq!((&months["groups"][0]["end"], &months["group_by"]), (&json!(august), &json!("time,actor")));
    assert_eq!(service.get(PATH, &swapped)["groups"][0]["end"], august);
    service.audit();
}

#[test]
fn counts_match_the_histogram_of_a_scan() {
    let service = Service::start();
    record(&service);
    let scanned = service.post("/v1/scan-events", &json!({ "location": "*", "time_range": "../.." }));
    let counted = service.get(PATH, &[("group_by", "time"), ("bucket", "24")]);
    let buckets = |list: &Value, start: &str| -> Vec<(Value, Value)> {
        let buckets = list.as_array().unwrap().iter().filter(|bucket| bucket["count"] != 0);
        buckets.map(|bucket| (bucket[start].clone(), bucket["count"].clone())).collect()
    };
    assert_eq!(buckets(&scanned["summary"]["histogram"], "from"), buckets(&counted["groups"], "key"));
    service.audit();
}

/// More events at one time than the search limit of a response.
#[test]
fn count_continues_within_events_of_equal_time() {
    let service = Service::start();
    let mut file = String::new();
    for number in 0..100_011 {
        let day = match number {
            0..5 => 1,
            5..100_006 => 2,
            _ => 3,
        };
        let actor = number % 3;
        let time = format!("2000-01-0{day}T00:00:00Z");
        let event = format!(r#"{{"event_id":"e{number}","time":"{time}","description":"","actors":["a{actor}"]}}"#);
        writeln!(file, "{event}").unwrap();
    }
    let import = Request::post("/v1/import-events").body("application/x-ndjson", file.as_bytes());
    assert_eq!(service.send(import).expect(200)["imported"], 100_011);
    let day = |day: u8, count: u64| (format!("2000-01-0{day}T00:00:00Z"), count);
    // A search term makes it read the events; every id starts with it.
    let request = [("group_by", "time"), ("bucket", "P1D"), ("text", "e")];
    let counts = |answer: &Value| groups(answer, &["key", "count"]);
    let whole = service.get(PATH, &request[..2]);
    assert_eq!(counts(&whole), json!([day(1, 5), day(2, 100_001), day(3, 5)]));
    assert_members(&whole, &json!({ "count": 100_011, "has_more": false }));
    let first = service.get(PATH, &request);
    assert_members(&first, &json!({ "count": 100_000, "has_more": true, "counted_until": "2000-01-02T00:00:00Z" }));
    assert_eq!(counts(&first), json!([day(1, 5), day(2, 99_995)]));
    // Events recorded in between are in no page.
    service.post("/v1/events", &json!({ "time": "2000-01-02T00:00:00Z", "description": "Later." }));
    let cursor = first["next_cursor"].as_str().unwrap();
    let last = service.get(PATH, &[&request[..], &[("cursor", cursor)]].concat());
    assert_eq!(counts(&last), json!([day(2, 6), day(3, 5)]));
    let end = json!({ "counted_until": null, "next_cursor": null, "has_more": false, "as_of": first["as_of"] });
    assert_members(&last, &end);
    for (name, value) in [("bucket", "P2D"), ("group_by", "actor"), ("text", "later")] {
        let mut parameters: Vec<_> = request.into_iter().filter(|(of, _)| *of != name).collect();
        parameters.extend([(name, value), ("cursor", cursor)]);
        parameters.retain(|(of, _)| *of != "bucket" || name != "group_by");
        assert_invalid(service.send(Request::get(&target(PATH, &parameters))), "#/cursor");
    }
    service.audit();
}

#[test]
fn invalid_count_request_names_its_parameter() {
    let service = Service::start();
    for (parameters, pointer) in [
        (&[][..], "#/group_by"),
        (&[("group_by", "place")], "#/group_by"),
        (&[("group_by", "attribute.")], "#/group_by"),
        (&[("group_by", "actor,attribute.")], "#/group_by"),
        (&[("group_by", "time,actor,source"), ("bucket", "P1D")], "#/group_by"),
        (&[("group_by", "actor,actor")], "#/group_by"),
        (&[("group_by", "actor,place")], "#/group_by"),
        (&[("group_by", "time,actor")], "#/bucket"),
        (&[("group_by", "actor,time"), ("bucket", "7")], "#/bucket"),
        (&[("group_by", "actor,source"), ("bucket", "P1D")], "#/bucket"),
        (&[("group_by", "time,actor"), ("bucket", "P1D"), ("resolution", "1")], "#/resolution"),
        (&[("group_by", "actor,time"), ("bucket", "P1D"), ("values", "x")], "#/values"),
        (&[("group_by", "cell"), ("values", "x")], "#/values"),
        (&[("group_by", "actor"), ("values", "[]")], "#/values"),
        (&[("group_by", "actor"), ("values", "[1]")], "#/values"),
        (&[("group_by", "actor"), ("limit", "10001")], "#/limit"),
        (&[("group_by", "actor"), ("bucket", "P1D")], "#/bucket"),
        (&[("group_by", "time"), ("resolution", "1")], "#/resolution"),
        (&[("group_by", "cell"), ("resolution", "0")], "#/resolution"),
        (&[("group_by", "cell"), ("resolution", "91")], "#/resolution"),
        (&[("group_by", "cell"), ("resolution", "NaN")], "#/resolution"),
        (&[("group_by", "time"), ("bucket", "0")], "#/bucket"),
        (&[("group_by", "time"), ("bucket", "1001")], "#/bucket"),
        (&[("group_by", "time"), ("bucket", "P1M1D")], "#/bucket"),
        (&[("group_by", "time"), ("bucket", "daily")], "#/bucket"),
        (&[("group_by", "time"), ("order", "newest")], "#/order"),
        (&[("group_by", "time"), ("text", "!")], "#/text"),
        (&[("group_by", "time"), ("cursor", "x")], "#/cursor"),
    ] {
        let answer = service.send(Request::get(&target(PATH, parameters)));
        assert_eq!((answer.status, &answer.json()["errors"][0]["pointer"]), (400, &json!(pointer)), "{answer}");
    }
    service.audit();
}
