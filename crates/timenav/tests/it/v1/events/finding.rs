//! Event filters by text, actor, source and attributes, on pages, in files and in streams.

use serde_json::{Value, json};

use crate::support::http::{Request, target};
use crate::support::service::Service;
use crate::v1::messages::open;

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
    events.as_array().unwrap().iter().map(|event| event["event_id"].as_str().unwrap()).collect()
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
    check(&[("text", "agle")], &[]);
    check(&[("text", "sputnik kosmicheskuiu")], &["sputnik_1"]);
    check(&[("text", "cafe")], &["apollo_12"]);
    check(&[("text", "statio mare armstr 11")], &["apollo_11"]);
    check(&[("text", "nasa")], &[]);
    check(&[("actor", "Bean")], &["apollo_12"]);
    check(&[("actor", "bean")], &[]);
    check(&[("source", "NASA")], &["apollo_11", "apollo_12"]);
    check(&[("source", "ОКБ-1")], &["sputnik_1"]);
    check(&[("attribute.program", "Apollo")], &["apollo_11", "apollo_12"]);
    check(&[("attribute.program", "Apollo"), ("attribute.tags", "moon")], &["apollo_12"]);
    check(&[("attribute.crewed", "false"), ("attribute.mass", "83.60")], &["sputnik_1"]);
    check(&[("attribute.mass", "84/..")], &["luna_24"]);
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
    let long = |length: usize| "x".repeat(length);
    for (filter, pointer) in [
        (vec![("text", "—".to_owned())], "#/text"),
        (vec![("text", String::new())], "#/text"),
        (vec![("text", long(257))], "#/text"),
        (vec![("text", "a ".repeat(33))], "#/text"),
        (vec![("actor", String::new())], "#/actor"),
        (vec![("actor", long(129))], "#/actor"),
        (vec![("source", long(513))], "#/source"),
        (vec![("attribute.", "x".to_owned())], "#/attribute/"),
        (vec![("attribute.net", long(1_025))], "#/attribute/net"),
        (vec![("attribute", "x".to_owned())], "#/attribute"),
        (vec![("order", "latest".to_owned())], "#/order"),
        (vec![("attributes.net", "us".to_owned())], "#/attributes.net"),
    ] {
        let filter: Vec<(&str, &str)> = filter.iter().map(|(name, value)| (*name, value.as_str())).collect();
        for path in ["/v1/monitor-events", "/v1/export-events", "/v1/stream"] {
            if path == "/v1/stream" && filter[0].0 == "order" {
                continue;
            }
            let request = [("location", "*"), ("time_range", "../..")];
            let request = if path == "/v1/monitor-events" { &request[..] } else { &[] };
            let answer = service.send(Request::get(&target(path, &[request, &filter].concat())));
            assert_eq!(answer.status, 400, "{path} {filter:?}: {answer}");
            assert_eq!(answer.json()["errors"][0]["pointer"], pointer, "{path} {filter:?}: {answer}");
        }
    }
    let sixteen: Vec<(String, String)> = (0..16).map(|n| (format!("attribute.k{n}"), n.to_string())).collect();
    let mut most: Vec<(&str, &str)> = sixteen.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    assert_eq!(service.send(Request::get(&target("/v1/export-events", &most))).status, 200);
    most.push(("attribute.more", "x"));
    let refused = service.send(Request::get(&target("/v1/export-events", &most))).refused(400, "invalid_parameter");
    assert_eq!(refused["errors"][0]["pointer"], "#/attribute");
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
    let page = |parameters: &[(&str, &str)]| {
        let request = [&[("location", "*"), ("time_range", "../.."), ("limit", "1")], parameters].concat();
        service.send(Request::get(&target("/v1/monitor-events", &request)))
    };
    for (order, expected) in
        [("oldest", ["apollo_11", "apollo_12", "luna_24"]), ("newest", ["luna_24", "apollo_12", "apollo_11"])]
    {
        let (mut found, mut cursor) = (Vec::new(), String::new());
        loop {
            let mut request = vec![("text", "land"), ("order", order)];
            if !cursor.is_empty() {
                request.push(("cursor", cursor.as_str()));
            }
            let answer = page(&request).expect(200);
            found.extend(ids(&answer["events"]).into_iter().map(str::to_owned));
            assert_eq!(answer["has_more"], json!(found.len() < 3));
            assert_eq!(answer.get("searched_until"), None, "{answer}");
            let Some(next) = answer["next_cursor"].as_str() else { break };
            let next = next.to_owned();
            for other in [
                vec![("text", "land"), ("order", if order == "newest" { "oldest" } else { "newest" })],
                vec![("text", "lan"), ("order", order)],
                vec![("text", "land"), ("order", order), ("actor", "Bean")],
                vec![],
            ] {
                page(&[&other[..], &[("cursor", &next)]].concat()).refused(400, "invalid_parameter");
            }
            cursor = next;
        }
        assert_eq!(found, expected, "{order}");
    }
    service.audit();
}

/// The number of events examined per page is limited, and the next page continues from there.
#[test]
fn rare_match_is_returned_on_a_later_page() {
    let service = Service::start();
    let mut file = String::new();
    for number in 0..50_002 {
        let word = if number == 50_001 { "needle" } else { "hay" };
        let line = json!({ "event_id": format!("e{number}"), "time": "1969-07-20T20:17:40Z", "source": word });
        file.push_str(&line.to_string());
        file.push('\n');
    }
    let import = Request::post("/v1/import-events").body("application/x-ndjson", file.as_bytes());
    assert_eq!(service.send(import).expect(200)["imported"], 50_002);
    // Sources have no index.
    let needle = [("location", "*"), ("time_range", "../.."), ("source", "needle")];
    let first = service.get("/v1/monitor-events", &needle);
    assert_eq!(
        (&first["events"], &first["has_more"], &first["searched_until"]),
        (&json!([]), &json!(true), &json!(MOON))
    );
    assert_eq!(first["status"], "No events so far: continue the search with `next_cursor`.");
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
    let landed = |timeline: &str, as_of: &str| -> Vec<String> {
        let mut request = vec![("location", "*"), ("time_range", "../.."), ("timeline_id", timeline), ("text", "land")];
        if !as_of.is_empty() {
            request.push(("as_of", as_of));
        }
        ids(&service.get("/v1/monitor-events", &request)["events"]).into_iter().map(str::to_owned).collect()
    };
    let before = service.post("/v1/set-anchor", &json!({}))["anchor_id"].as_str().unwrap().to_owned();
    service.send(Request::post("/timelines").json(&json!({ "timeline_id": "fork", "fork_of": "main" }))).expect(201);
    let moved = json!({ "event_id": "apollo_11", "time": MOON, "description": "It touched down." });
    service.post("/v1/correct-event", &json!({ "event": moved }));
    service.post("/v1/manipulate-event", &json!({ "event_id": "apollo_12", "action": "cancel it", "time": MOON }));
    assert_eq!(landed("main", ""), ["luna_24"]);
    assert_eq!(landed("main", &before), ["apollo_11", "apollo_12", "luna_24"]);
    assert_eq!(landed("fork", ""), ["apollo_11", "apollo_12", "luna_24"]);
    let renamed = json!({ "event_id": "luna_24", "time": "1976-08-18T06:36:00Z" });
    service.post("/v1/correct-event", &json!({ "timeline_id": "fork", "event": renamed }));
    assert_eq!(landed("fork", ""), ["apollo_11", "apollo_12"]);
    service.post("/v1/return-to-anchor", &json!({ "anchor_id": before, "scope": "all" }));
    assert_eq!(landed("main", ""), ["apollo_11", "apollo_12", "luna_24"]);
    let erase = json!({ "timeline_id": "main", "event_ids": ["apollo_11"], "include_forks": true });
    service.post("/v1/erase-events", &erase);
    assert_eq!(landed("main", ""), ["apollo_12", "luna_24"]);
    assert_eq!(landed("main", &before), ["apollo_12", "luna_24"]);
    assert_eq!(landed("fork", ""), ["apollo_12"]);
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
    let record = |event: &Value| drop(service.send(Request::post("/v1/events").json(event)).expect(201));
    record(&apollo("other", "Intrepid"));
    record(&apollo("lm_5", "Eagle"));
    service.post("/v1/correct-event", &json!({ "event": apollo("other", "Antares") }));
    service.post("/v1/correct-event", &json!({ "event": apollo("lm_5", "Falcon") }));
    service.post("/v1/correct-event", &json!({ "event": apollo("lm_5", "Orion") }));
    service.post("/v1/correct-event", &json!({ "event": apollo("other", "Eagle again") }));
    service.post("/v1/manipulate-event", &json!({ "event_id": "apollo_11", "action": "cancel it", "time": MOON }));
    service.post("/v1/manipulate-event", &json!({ "event_id": "luna_24", "action": "cancel it", "time": MOON }));
    record(&apollo("last", "Eagle"));
    let received: Vec<(String, String)> = (0..5)
        .map(|_| {
            let message = messages.next().expect("a message");
            (message.event, message.data["event_id"].as_str().unwrap().to_owned())
        })
        .collect();
    let received: Vec<(&str, &str)> = received.iter().map(|(event, id)| (event.as_str(), id.as_str())).collect();
    let expected = [
        ("events", "lm_5"),
        ("events", "lm_5"),
        ("events", "other"),
        ("interventions", "apollo_11"),
        ("events", "last"),
    ];
    assert_eq!(received, expected);
    drop(messages);
    drop(connection);
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
    service.post(
        "/v1/events",
        &json!({
            "time": "2005-08-29T11:10:00Z", "name": "Hurricane Katrina", "description": "It makes landfall.",
            "geo": { "lat": 29.3, "lon": -89.6 }, "actors": ["Armstrong"], "attributes": { "category": 5 },
        }),
    );
    let examples: Vec<&str> = page
        .split("'localhost:8080")
        .skip(1)
        .map(|rest| rest.split_once('\'').expect("an address ends with an apostrophe").0)
        .collect();
    assert_eq!(examples.len(), 6, "{examples:?}");
    for example in examples {
        let answer = service.send(Request::get(example));
        assert_eq!(answer.status, 200, "{example}: {answer}");
        assert!(answer.text().contains("2005-08-29T11:10:00Z"), "{example} finds it: {answer}");
    }
    service.audit();
}
