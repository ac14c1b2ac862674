//! `GET /v1/aggregate-events`: event counts in groups.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::support::http::{Request, target};
use crate::support::service::Service;
use crate::v1::PREFIXES;

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

/// Returns the groups: key, count, and the days of the first and the last event.
fn groups(answer: &Value) -> Vec<(String, u64, String, String)> {
    let text = |group: &Value, name: &str| group[name].as_str().unwrap().to_owned();
    let day = |group: &Value, name: &str| text(group, name)[..10].to_owned();
    let one =
        |group: &Value| (text(group, "key"), group["count"].as_u64().unwrap(), day(group, "first"), day(group, "last"));
    answer["groups"].as_array().unwrap().iter().map(one).collect()
}

#[test]
fn events_are_counted_by_each_group_key() {
    for prefix in PREFIXES {
        let service = Service::start();
        record(&service);
        let path = format!("{prefix}/aggregate-events");
        let count = |parameters: &[(&str, &str)]| service.get(&path, parameters);
        let check = |parameters: &[(&str, &str)], expected: &[(&str, u64)], without: u64| {
            let answer = count(parameters);
            let found = groups(&answer);
            let found: Vec<(&str, u64)> = found.iter().map(|(key, count, _, _)| (key.as_str(), *count)).collect();
            assert_eq!(found, expected, "{parameters:?}: {answer:#}");
            assert_eq!(
                (&answer["ungrouped_count"], &answer["groups_count"]),
                (&json!(without), &json!(expected.len()))
            );
            assert_eq!((answer.get("counted_until"), &answer["groups_truncated"]), (None, &json!(false)));
            assert_eq!((answer.get("next_cursor"), &answer["has_more"]), (None, &json!(false)));
        };
        let days = [("1969-07-16T00:00:00Z", 2), ("1969-07-20T00:00:00Z", 1), ("1969-08-01T00:00:00Z", 1)];
        let last = [("1970-01-01T00:00:00Z", 1)];
        check(&[("group_by", "time"), ("bucket", "P1D")], &[&days[..], &last].concat(), 0);
        check(&[("group_by", "time"), ("bucket", "P1D"), ("time_range", "../1969-12-31T00:00:00Z")], &days, 0);
        check(&[("group_by", "time"), ("bucket", "P1M"), ("source", "NASA")], &[("1969-07-01T00:00:00Z", 3)], 0);
        check(
            &[("group_by", "time"), ("bucket", "P1Y")],
            &[("1969-01-01T00:00:00Z", 4), ("1970-01-01T00:00:00Z", 1)],
            0,
        );
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
        let cells = [("-180,-10,-170,0", 0), ("170,-10,180,0", 1), ("-180,0,-170,10", 1), ("-180,80,-170,90", 1)];
        let mut cells = [&cells[1..], &[("-90,20,-80,30", 1), ("10,40,20,50", 1)]].concat();
        let answer = count(&[("group_by", "cell")]);
        let mut found = groups(&answer);
        found.sort();
        cells.sort_unstable();
        let found: Vec<(&str, u64)> = found.iter().map(|(key, count, _, _)| (key.as_str(), *count)).collect();
        assert_eq!(found, cells, "{answer:#}");
        check(&[("group_by", "cell"), ("resolution", "0.5"), ("location", "Rome")], &[("12.5,41.5,13,42", 1)], 0);
        let largest = count(&[("group_by", "source"), ("limit", "1")]);
        assert_eq!(groups(&largest), [("NASA".to_owned(), 3, "1969-07-16".to_owned(), "1969-07-20".to_owned())]);
        assert_eq!((&largest["groups_count"], &largest["count"]), (&json!(2), &json!(5)));
        assert_eq!(largest["status"], "5 events in 2 groups.");
        let stretches = count(&[("group_by", "time")]);
        let sum: u64 = groups(&stretches).iter().map(|(_, count, _, _)| count).sum();
        assert_eq!((sum, &stretches["count"]), (5, &json!(5)));
        service.audit();
    }
}

#[test]
fn events_are_counted_by_two_keys() {
    for prefix in PREFIXES {
        let service = Service::start();
        record(&service);
        let path = format!("{prefix}/aggregate-events");
        let check = |parameters: &[(&str, &str)], expected: &[(&str, &str, u64)], without: u64| {
            let answer = service.get(&path, parameters);
            let text = |group: &Value, name: &str| group[name].as_str().unwrap().to_owned();
            let found = answer["groups"].as_array().unwrap().iter();
            let found: Vec<_> = found
                .map(|group| (text(group, "key"), text(group, "second_key"), group["count"].as_u64().unwrap()))
                .collect();
            let found: Vec<_> = found.iter().map(|(one, two, count)| (one.as_str(), two.as_str(), *count)).collect();
            assert_eq!(found, expected, "{parameters:?}: {answer:#}");
            assert_eq!((&answer["count"], &answer["ungrouped_count"]), (&json!(5), &json!(without)), "{answer:#}");
            assert_eq!(answer["groups_truncated"], false);
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
        let query = service.send(Request::new("QUERY", &path).json(&body)).expect(200);
        assert_eq!(
            (&query["groups"][0]["second_key"], &query["status"]),
            (&json!("NASA"), &json!("5 events in 1 group."))
        );
        let months = service.get(&path, &by_month);
        assert_eq!((&months["groups"][0]["end"], &months["group_by"]), (&json!(august), &json!("time,actor")));
        assert_eq!(service.get(&path, &swapped)["groups"][0]["end"], august);
        service.audit();
    }
}

/// All ways of counting, and searching, give the same result.
#[test]
fn counts_match_the_search_results() {
    let service = Service::start();
    record(&service);
    let before = service.post("/v1/set-anchor", &json!({}))["anchor_id"].as_str().unwrap().to_owned();
    service.post(
        "/v1/manipulate-event",
        &json!({ "event_id": "rome", "action": "cancel it", "time": "1970-01-01T00:00:00Z" }),
    );
    let counted = |as_of: &str| {
        let request = if as_of.is_empty() { vec![] } else { vec![("as_of", as_of)] };
        service.get("/v1/aggregate-events", &[&[("group_by", "source")], &request[..]].concat())["count"]
            .as_u64()
            .unwrap()
    };
    assert_eq!((counted(""), counted(&before)), (4, 5));
    let scanned = service.post("/v1/scan-events", &json!({ "location": "*", "time_range": "../.." }));
    let stretches = service.get("/v1/aggregate-events", &[("group_by", "time"), ("bucket", "24")]);
    let of_scan: Vec<(&Value, &Value)> = scanned["summary"]["histogram"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|bucket| bucket["count"] != 0)
        .map(|bucket| (&bucket["from"], &bucket["count"]))
        .collect();
    let of_count: Vec<(&Value, &Value)> =
        stretches["groups"].as_array().unwrap().iter().map(|group| (&group["key"], &group["count"])).collect();
    assert_eq!(of_scan, of_count);
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
    let counts = |answer: &Value| -> Vec<(String, u64)> {
        groups(answer).into_iter().map(|(key, count, _, _)| (key, count)).collect()
    };
    let whole = service.get("/v1/aggregate-events", &request[..2]);
    assert_eq!(counts(&whole), [day(1, 5), day(2, 100_001), day(3, 5)]);
    assert_eq!((&whole["count"], &whole["has_more"]), (&json!(100_011), &json!(false)), "{whole}");
    let first = service.get("/v1/aggregate-events", &request);
    assert_eq!((&first["count"], &first["has_more"]), (&json!(100_000), &json!(true)), "{first}");
    assert_eq!(first["counted_until"], "2000-01-02T00:00:00Z");
    assert_eq!(counts(&first), [day(1, 5), day(2, 99_995)]);
    // Events recorded in between are in no page.
    service.post("/v1/events", &json!({ "time": "2000-01-02T00:00:00Z", "description": "Later." }));
    let cursor = first["next_cursor"].as_str().unwrap();
    let last = service.get("/v1/aggregate-events", &[&request[..], &[("cursor", cursor)]].concat());
    assert_eq!(counts(&last), [day(2, 6), day(3, 5)]);
    assert_eq!((last.get("counted_until"), last.get("next_cursor"), &last["has_more"]), (None, None, &json!(false)));
    assert_eq!(last["as_of"], first["as_of"]);
    // The same query by others, and other queries.
    for (name, value) in [("bucket", "P2D"), ("group_by", "actor"), ("text", "later")] {
        let mut other: Vec<_> = request.into_iter().filter(|(of, _)| *of != name).collect();
        other.extend([(name, value), ("cursor", cursor)]);
        other.retain(|(of, _)| *of != "bucket" || name != "group_by");
        let refused = service.send(Request::get(&target("/v1/aggregate-events", &other)));
        assert_eq!((refused.status, &refused.json()["errors"][0]["pointer"]), (400, &json!("#/cursor")), "{refused}");
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
        let answer = service.send(Request::get(&target("/v1/aggregate-events", parameters)));
        assert_eq!((answer.status, &answer.json()["errors"][0]["pointer"]), (400, &json!(pointer)), "{answer}");
    }
    service.audit();
}
