//! Event filters by text, actor, source and attributes, on pages, in files and in streams.

use serde_json::{Value, json};

use crate::support::http::{Request, target};
use crate::support::service::Service;
use crate::v1::messages::open;
use crate::v1::{assert_members, pages, texts};

const MOON: &str = "1969-07-20T20:17:40Z";

fn record(service: &Service) {
    let events = json!([
        {"event_id": "sputnik_1", "time": "1957-10-04T19:28:34Z", "name": "Sputnik", "source": "ОКБ-1",
         "description": "Спутник начинает космическую эру.", "attributes": {"mass": 83.6, "crewed": false}},
        {"event_id": "apollo_11", "time": MOON, "description": "The Eagle has landed.", "source": "NASA",
         "actors": ["Armstrong", "Aldrin"], "location": "Mare Tranquillitatis",
         "attributes": {"program": "Apollo", "crewed": true, "site": {"name": "Statio Tranquillitatis"}}},
        {"event_id": "apollo_12", "time": "1969-11-19T06:54:35Z", "name": "Zweite Landung", "source": "NASA",
         "actors": ["Conrad", "Bean"], "attributes": {"program": "Apollo", "crewed": true, "tags": ["Café", "moon"]}},
        {"event_id": "luna_24", "time": "1976-08-18T06:36:00Z", "description": "Luna lands and returns.",
         "attributes": {"program": "Luna", "crewed": false, "mass": 5795}},
    ]);
    service.send(Request::post("/v1/events").json(&events)).expect(201);
}

fn ids(events: &Value) -> Vec<&str> {
    texts(events.as_array().unwrap(), "event_id")
}

/// Returns the matches, which must be the same for a page, a file and a scan, in each spelling.
fn find(service: &Service, filter: &[(&str, &str)]) -> Vec<String> {
    let parameters = [&[("location", "*"), ("time_range", "../..")], filter].concat();
    let page = service.get("/v1/monitor-events", &parameters);
    let found: Vec<String> = ids(&page["events"]).into_iter().map(str::to_owned).collect();
    let body: Value = parameters.iter().map(|(name, value)| ((*name).to_owned(), json!(value))).collect();
    for method in ["GET", "QUERY"] {
        let answer = service.send(Request::new(method, "/v1/monitor-events").json(&body)).expect(200);
        assert_eq!(answer["events"], page["events"], "{method} {body}");
    }
    let scanned = service.post("/v1/scan-events", &body);
    assert_eq!((ids(&scanned["events"]), &scanned["summary"]["count"]), (ids(&page["events"]), &json!(found.len())));
    let file = service.send(Request::get(&target("/v1/export-events", filter)));
    assert_eq!(file.status, 200, "{file}");
    let written: Vec<Value> = file.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(ids(&json!(written)), found, "{filter:?}");
    found
}

#[test]
fn events_are_filtered_by_text_actor_and_attributes() {
    let service = Service::start();
    record(&service);
    let all = ["sputnik_1", "apollo_11", "apollo_12", "luna_24"];
    let check = |filter: &[(&str, &str)], expected: &[&str]| assert_eq!(find(&service, filter), expected, "{filter:?}");
    check(&[], &all);
    check(&[("text", "LAND")], &["apollo_11", "apollo_12", "luna_24"]);
    check(&[("text", "eagle land")], &["apollo_11"]);
    check(&[("text", "sputnik kosmicheskuiu")], &["sputnik_1"]);
    check(&[("text", "cafe")], &["apollo_12"]);
    check(&[("text", "statio mare armstr 11")], &["apollo_11"]);
    check(&[("actor", "Bean")], &["apollo_12"]);
    check(&[("source", "NASA")], &["apollo_11", "apollo_12"]);
    check(&[("attribute.program", "Apollo")], &["apollo_11", "apollo_12"]);
    check(&[("attribute.program", "Apollo"), ("attribute.tags", "moon")], &["apollo_12"]);
    check(&[("attribute.crewed", "false"), ("attribute.mass", "83.60")], &["sputnik_1"]);
    check(&[("attribute.mass", "../5795")], &["sputnik_1", "luna_24"]);
    check(&[("attribute.mass", "83.6/100"), ("attribute.crewed", "false")], &["sputnik_1"]);
    check(&[("attribute.site.name", "Statio Tranquillitatis")], &["apollo_11"]);
    check(&[("text", "land"), ("source", "NASA"), ("attribute.crewed", "true"), ("actor", "Aldrin")], &["apollo_11"]);
    check(&[("text", "land"), ("order", "newest")], &["luna_24", "apollo_12", "apollo_11"]);
    check(&[("order", "oldest")], &all);
    // As a deep object in a query string, as an object in a body, and twice.
    for path in [
        "/v1/export-events?attribute%5Bprogram%5D=Apollo&attribute.tags=moon&attribute.tags=Caf%C3%A9",
        "/v1/export-events?attribute.program=Apollo&attribute.program=Apollo&text=zweite",
        "/v1/export-events?attribute=%7B%22tags%22%3A%5B%22moon%22%5D%2C%22crewed%22%3Atrue%7D",
    ] {
        assert!(service.send(Request::get(path)).text().starts_with("{\"event_id\":\"apollo_12\""), "{path}");
    }
    let body = json!({ "attribute": { "crewed": true, "tags": ["moon", "Café"] } });
    let answer = service.send(Request::get("/v1/export-events?attribute.crewed=true").json(&body));
    assert!(answer.text().starts_with("{\"event_id\":\"apollo_12\""), "{answer}");
    service.audit();
}

#[test]
fn invalid_filter_names_its_parameter() {
    let service = Service::start();
    let long = "x".repeat(1_025);
    for (filter, pointer) in [
        (("text", "—"), "#/text"),
        (("actor", long.as_str()), "#/actor"),
        (("source", long.as_str()), "#/source"),
        (("attribute.", "x"), "#/attribute/"),
        (("attribute.net", long.as_str()), "#/attribute/net"),
        (("attribute", "x"), "#/attribute"),
        (("order", "latest"), "#/order"),
        (("attributes.net", "us"), "#/attributes.net"),
    ] {
        for path in ["/v1/monitor-events", "/v1/export-events", "/v1/stream"] {
            if path == "/v1/stream" && filter.0 == "order" {
                continue;
            }
            let required = [("location", "*"), ("time_range", "../..")];
            let required = if path == "/v1/monitor-events" { &required[..] } else { &[] };
            let answer = service.send(Request::get(&target(path, &[required, &[filter]].concat())));
            assert_eq!(answer.status, 400, "{path} {filter:?}: {answer}");
            assert_eq!(answer.json()["errors"][0]["pointer"], pointer, "{path} {filter:?}: {answer}");
        }
    }
    let twice = Request::get("/v1/export-events?attribute.k=a").json(&json!({ "attribute.k": "b" }));
    let refused = service.send(twice).refused(400, "conflicting_parameters");
    assert!(refused["detail"].as_str().unwrap().contains("attribute.k"), "{refused}");
    service.audit();
}

/// A cursor continues its own query in its order.
#[test]
fn cursor_is_bound_to_its_filter_and_order() {
    let service = Service::start();
    record(&service);
    let always = [("location", "*"), ("time_range", "../..")];
    for (order, opposite, expected) in [
        ("oldest", "newest", ["apollo_11", "apollo_12", "luna_24"]),
        ("newest", "oldest", ["luna_24", "apollo_12", "apollo_11"]),
    ] {
        let query = [&always[..], &[("text", "land"), ("order", order), ("limit", "1")]].concat();
        let paged = pages("events", |cursor| {
            for other in [
                vec![("text", "land"), ("order", opposite)],
                vec![("text", "lan"), ("order", order)],
                vec![("text", "land"), ("order", order), ("actor", "Bean")],
                vec![],
            ] {
                if !cursor.is_empty() {
                    let request = Request::get(&target("/v1/monitor-events", &[&always, &other[..], cursor].concat()));
                    service.send(request).refused(400, "invalid_parameter");
                }
            }
            service.get("/v1/monitor-events", &[&query[..], cursor].concat())
        });
        assert_eq!(texts(&paged.concat(), "event_id"), expected, "{order}");
    }
    service.audit();
}

/// The number of events examined per page is limited, and the next page continues from there.
#[test]
fn rare_match_is_returned_on_a_later_page() {
    let service = Service::start();
    let line = |number: usize| {
        let source = if number == 50_001 { "needle" } else { "hay" };
        json!({ "event_id": format!("e{number}"), "time": MOON, "source": source }).to_string() + "\n"
    };
    let file: String = (0..50_002).map(line).collect();
    let import = Request::post("/v1/import-events").body("application/x-ndjson", file.as_bytes());
    assert_eq!(service.send(import).expect(200)["imported"], 50_002);
    // Sources have no index.
    let needle = [("location", "*"), ("time_range", "../.."), ("source", "needle")];
    let first = service.get("/v1/monitor-events", &needle);
    let status = "No events so far: continue the search with `next_cursor`.";
    assert_members(&first, &json!({ "events": [], "has_more": true, "searched_until": MOON, "status": status }));
    let next = [&needle[..], &[("cursor", first["next_cursor"].as_str().unwrap())]].concat();
    let second = service.get("/v1/monitor-events", &next);
    assert_eq!((ids(&second["events"]), &second["has_more"]), (vec!["e50001"], &json!(false)));
    // In reverse order it is the first match, and there is more to examine.
    let newest = service.get("/v1/monitor-events", &[&needle[..], &[("order", "newest")]].concat());
    assert_eq!((ids(&newest["events"]), &newest["has_more"]), (vec!["e50001"], &json!(true)));
    // A file has no pages.
    let file = service.send(Request::get("/v1/export-events?source=needle")).text();
    assert_eq!(file.lines().count(), 1);
    service.audit();
}

#[test]
fn filters_apply_to_current_and_past_states() {
    let service = Service::start();
    record(&service);
    let landed = |timeline: &str, as_of: Option<&str>| -> Vec<String> {
        let mut request = vec![("location", "*"), ("time_range", "../.."), ("timeline_id", timeline), ("text", "land")];
        request.extend(as_of.map(|as_of| ("as_of", as_of)));
        ids(&service.get("/v1/monitor-events", &request)["events"]).into_iter().map(str::to_owned).collect()
    };
    let before = service.post("/v1/set-anchor", &json!({}))["anchor_id"].as_str().unwrap().to_owned();
    service.send(Request::post("/timelines").json(&json!({ "timeline_id": "fork", "fork_of": "main" }))).expect(201);
    let moved = json!({ "event_id": "apollo_11", "time": MOON, "description": "It touched down." });
    service.post("/v1/correct-event", &json!({ "event": moved }));
    service.post("/v1/manipulate-event", &json!({ "event_id": "apollo_12", "action": "cancel it", "time": MOON }));
    assert_eq!(landed("main", None), ["luna_24"]);
    assert_eq!(landed("main", Some(&before)), ["apollo_11", "apollo_12", "luna_24"]);
    assert_eq!(landed("fork", None), ["apollo_11", "apollo_12", "luna_24"]);
    let renamed = json!({ "event_id": "luna_24", "time": "1976-08-18T06:36:00Z" });
    service.post("/v1/correct-event", &json!({ "timeline_id": "fork", "event": renamed }));
    assert_eq!(landed("fork", None), ["apollo_11", "apollo_12"]);
    service.post("/v1/return-to-anchor", &json!({ "anchor_id": before, "scope": "all" }));
    assert_eq!(landed("main", None), ["apollo_11", "apollo_12", "luna_24"]);
    let erase = json!({ "timeline_id": "main", "event_ids": ["apollo_11"], "include_forks": true });
    service.post("/v1/erase-events", &erase);
    assert_eq!(landed("main", None), ["apollo_12", "luna_24"]);
    assert_eq!(landed("main", Some(&before)), ["apollo_12", "luna_24"]);
    assert_eq!(landed("fork", None), ["apollo_12"]);
    service.audit();
}

#[test]
fn filtered_stream_sends_events_matching_before_or_after() {
    let service = Service::start();
    record(&service);
    let mut connection = service.connect();
    let request = "/v1/stream?topics=events,interventions&text=eagle&attribute.program=Apollo";
    let mut messages = open(&mut connection, &service, Request::get(request));
    messages.next();
    let apollo = |event_id: &str, description: &str| {
        let attributes = json!({ "program": "Apollo" });
        json!({ "event_id": event_id, "time": MOON, "description": description, "attributes": attributes })
    };
    service.post("/v1/events", &apollo("other", "Intrepid"));
    service.post("/v1/events", &apollo("lm_5", "Eagle"));
    for (event_id, description) in
        [("other", "Antares"), ("lm_5", "Falcon"), ("lm_5", "Orion"), ("other", "Eagle again")]
    {
        service.post("/v1/correct-event", &json!({ "event": apollo(event_id, description) }));
    }
    for event_id in ["apollo_11", "luna_24"] {
        service.post("/v1/manipulate-event", &json!({ "event_id": event_id, "action": "cancel it", "time": MOON }));
    }
    service.post("/v1/events", &apollo("last", "Eagle"));
    for (topic, event_id) in [
        ("events", "lm_5"),
        ("events", "lm_5"),
        ("events", "other"),
        ("interventions", "apollo_11"),
        ("events", "last"),
    ] {
        let message = messages.next().expect("a message");
        assert_eq!((message.event.as_str(), &message.data["event_id"]), (topic, &json!(event_id)));
    }
    service.audit();
}

/// The query is recorded in the ledger, as for every read.
#[test]
fn search_parameters_are_recorded_in_the_ledger() {
    let service = Service::start();
    let request = [("location", "*"), ("time_range", "../.."), ("text", "eagle"), ("attribute.net", "us")];
    service.get("/v1/monitor-events", &[&request[..], &[("order", "newest")]].concat());
    let lines = service.get("/timeline/main/entries", &[("from", "0"), ("limit", "1000")]).to_string();
    let lines = lines.replace('\\', "");
    for part in [r#""attribute":{"net":["us"]}"#, r#""order":"newest""#, r#""text":"eagle""#] {
        assert!(lines.contains(part), "{part}: {lines}");
    }
    service.audit();
}

/// Runs the example of the user documentation.
#[test]
fn documented_search_examples_find_the_event() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/events.md");
    let page = std::fs::read_to_string(path).unwrap();
    let service = Service::start();
    let event = json!({
        "time": "2005-08-29T11:10:00Z", "name": "Hurricane Katrina", "description": "It makes landfall.",
        "geo": { "lat": 29.3, "lon": -89.6 }, "actors": ["Armstrong"], "attributes": { "category": 5 },
    });
    service.post("/v1/events", &event);
    let addresses = page.split("'localhost:8080").skip(1);
    let examples: Vec<&str> = addresses.map(|rest| rest.split_once('\'').expect("an apostrophe").0).collect();
    assert_eq!(examples.len(), 6, "{examples:?}");
    for example in examples {
        let answer = service.send(Request::get(example));
        assert_eq!(answer.status, 200, "{example}: {answer}");
        assert!(answer.text().contains("2005-08-29T11:10:00Z"), "{example} finds it: {answer}");
    }
    service.audit();
}
