//! The three spellings of an operation that only looks give the same answer.

use serde_json::{Value, json};

use super::operations::{self, Operation};
use crate::http::{Answer, Request, target};
use crate::service::Service;

/// A read is an entry of the ledger, so what tells of the ledger's size differs between any two
/// reads, spelt alike or not.
const MOVING: [&str; 8] = ["as_of", "checkpoint", "root", "size", "hashes", "head", "next_cursor", "status"];

fn settled(mut value: Value) -> Value {
    fn walk(value: &mut Value) {
        match value {
            Value::Object(fields) => {
                // The clock of `system` runs.
                if fields.get("state").is_some_and(|state| state == "running") {
                    fields.remove("current_time");
                }
                for (name, field) in fields {
                    if MOVING.contains(&name.as_str()) { *field = json!("moving") } else { walk(field) }
                }
            }
            Value::Array(items) => items.iter_mut().for_each(walk),
            _ => {}
        }
    }
    walk(&mut value);
    value
}

fn query_string(parameters: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    parameters.as_object().unwrap().iter().map(|(name, value)| (name.clone(), text(value))).collect()
}

/// Returns the answers to the three spellings, and to one that says everything twice.
fn spelt(service: &Service, path: &str, parameters: &Value) -> [Answer; 4] {
    let pairs = query_string(parameters);
    let pairs: Vec<(&str, &str)> = pairs.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let with_query = target(path, &pairs);
    [
        service.send(Request::get(path).json(parameters)),
        service.send(Request::get(&with_query)),
        service.send(Request::new("QUERY", path).json(parameters)),
        service.send(Request::new("QUERY", &with_query).json(parameters)),
    ]
}

fn prepared() -> Service {
    let service = Service::start();
    for timeline in ["main", "other"] {
        service.post("/v1/pause-time", &json!({ "timeline_id": timeline }));
        for number in 0..5 {
            service.post("/v1/set-anchor", &json!({ "timeline_id": timeline, "description": number.to_string() }));
            let event = json!({ "time": "2001-01-01T00:00:00Z", "location": "Zürich & Bern", "timeline_id": timeline });
            service.post("/v1/events", &event);
        }
        let timer = json!({ "timer_id": "timer_none", "at": "9000-01-01T00:00:00Z", "timeline_id": timeline });
        service.post("/v1/timers", &timer);
        let named = json!({ "event_id": "none", "time": "2002-01-01T00:00:00Z", "timeline_id": timeline });
        service.post("/v1/events", &named);
    }
    service.user("ada");
    service
}

#[test]
fn all_give_the_same_answer() {
    let service = prepared();
    let mut seen = 0;
    for operation in operations::all(&service).iter().filter(|operation| operation.looks()) {
        // A stream has no end, a tile is no JSON, and an advance has a name that the service makes.
        if operation.id.ends_with("stream") || ["receipt", "tile"].contains(&operation.id.as_str()) {
            continue;
        }
        seen += 1;
        for parameters in variants(operation) {
            let answers = spelt(&service, &operation.path, &parameters);
            let [first, others @ ..] = answers.map(|answer| {
                assert_eq!(answer.status, 200, "{operation:?} {parameters}: {answer}");
                let is_note = answer.header("content-type").is_some_and(|kind| kind.starts_with("text/plain"));
                match operation.id.as_str() {
                    "export_events" => json!(answer.text()),
                    // Each is an entry of its own, so each has one entry more than the one before.
                    "bundle" => json!(answer.text().starts_with("{\"bundle\":{")),
                    _ if is_note => json!("a note"),
                    _ => settled(answer.json()),
                }
            });
            for other in others {
                if !["checkpoint", "head_statement"].contains(&operation.id.as_str()) {
                    assert_eq!(first, other, "{operation:?} {parameters}");
                }
            }
        }
    }
    assert!(seen > 20, "{seen}");
    service.audit();
}

/// Returns parameters that an operation is asked with.
fn variants(operation: &Operation) -> Vec<Value> {
    match operation.id.as_str() {
        "clock" => vec![json!({}), json!({ "timeline_id": "other" })],
        "anchors" => vec![json!({}), json!({ "timeline_id": "other", "limit": 2 })],
        "timelines" => vec![json!({}), json!({ "limit": 1 }), json!({ "cursor": "main" })],
        "api_keys" => vec![json!({}), json!({ "user_id": "ada" })],
        "access_control" | "monitor_paradox" | "check_timeline" | "timelines_diff" => vec![operation.parameters()],
        "timer_moments" => vec![
            operation.parameters(),
            json!({ "rule": "FREQ=DAILY", "starts": "2001-01-01T00:00:00+02:00", "after": "2001-01-01T00:00:00Z" }),
        ],
        // Every look is an entry of its own, so the log is asked for a time before all of them.
        "access_logs" => vec![json!({ "timeline_id": "main", "time_range": "../2000-01-01T00:00:00Z" })],
        "proof" => vec![json!({ "position": 3 }), json!({ "from": 2 })],
        "entries" => vec![json!({ "limit": 2 }), json!({ "from": 3, "limit": 1 })],
        "monitor_events" => vec![
            operation.parameters(),
            json!({ "location": "Zürich & Bern", "time_range": "../..", "timeline_id": "other", "limit": 3 }),
            json!({ "location": "geo:1,2;u=5", "time_range": "2000-01-01T00:00:00+02:00/P1Y" }),
        ],
        "aggregate_events" => vec![
            operation.parameters(),
            json!({ "by": "cell", "resolution": 0.5, "location": "Zürich & Bern", "limit": 3 }),
            json!({ "by": "time", "bucket": 7, "time_range": "2000-01-01T00:00:00+02:00/.." }),
        ],
        "export_events" => vec![
            json!({}),
            json!({ "location": "Zürich & Bern", "time_range": "2000-01-01T00:00:00+02:00/..", "format": "csv" }),
        ],
        _ => vec![json!({})],
    }
}

#[test]
fn answers_are_equal_to_the_byte() {
    let service = prepared();
    // A cursor holds on to one state of the ledger, so not even `as_of` moves.
    let page = json!({ "location": "*", "time_range": "../..", "limit": 2 });
    let cursor = service.send(Request::get("/v1/monitor-events").json(&page)).expect(200)["next_cursor"].clone();
    let next = json!({ "location": "*", "time_range": "../..", "limit": 2, "cursor": cursor });
    let anchors = service.get("/v1/anchors", &[("limit", "2")])["next_cursor"].clone();
    let anchors = json!({ "limit": "10", "cursor": anchors });
    for (path, parameters) in [
        ("/v1/monitor-events", next.clone()),
        ("/v1/clock", json!({ "timeline_id": "other" })),
        ("/v1/anchors", anchors),
        ("/v1/api-keys", json!({ "user_id": "ada" })),
        ("/v1/users", json!({})),
        ("/v1/limits", json!({})),
    ] {
        let answers = spelt(&service, path, &parameters);
        let aliased = spelt(&service, &format!("/api{path}"), &parameters);
        for other in answers.iter().chain(&aliased) {
            assert_eq!(answers[0].status, 200, "{path}: {}", answers[0]);
            assert_eq!(other.text(), answers[0].text(), "{path}");
        }
    }
    service.audit();
}

#[test]
fn errors_are_the_same_too() {
    let service = prepared();
    for (path, parameters) in [
        ("/v1/monitor-events", json!({ "location": "*" })),
        ("/v1/monitor-events", json!({ "location": "91,0", "time_range": "../.." })),
        ("/v1/monitor-events", json!({ "location": "*", "time_range": "../..", "limit": 0 })),
        ("/v1/monitor-events", json!({ "location": "*", "time_range": "../..", "cursor": "x" })),
        ("/v1/clock", json!({ "timeline_id": "no-such" })),
        ("/v1/clock", json!({ "timelineid": "main" })),
        ("/v1/anchors", json!({ "limit": 1_001 })),
        ("/timeline/main/proof", json!({ "position": 1, "from": 1 })),
        ("/timeline/main/proof", json!({ "position": 1_000_000 })),
        ("/timeline/main/entries", json!({ "limit": 0 })),
    ] {
        let [first, others @ ..] = spelt(&service, path, &parameters).map(|answer| {
            let mut body = answer.json();
            assert!(answer.status >= 400, "{path} {parameters}: {answer}");
            assert_eq!(body["request_id"].as_str(), answer.header("x-request-id"));
            body["request_id"] = json!("");
            // Where in the text of the body a fault stands, only a body can tell.
            (answer.status, body["code"].clone(), body["errors"][0]["pointer"].clone())
        });
        for other in others {
            assert_eq!(first, other, "{path} {parameters}");
        }
    }
    service.audit();
}

#[test]
fn an_answer_to_a_get_with_a_body_is_not_kept_by_caches() {
    let service = prepared();
    for request in [
        Request::get("/v1/clock").json(&json!({})),
        Request::get("/v1/monitor-events").json(&json!({ "location": "*", "time_range": "../.." })),
        Request::new("QUERY", "/v1/clock").json(&json!({})),
        Request::get("/v1/clock"),
    ] {
        let answer = service.send(request);
        assert_eq!(answer.header("cache-control"), Some("no-store"), "{answer}");
        assert_eq!(answer.header("etag"), None, "{answer}");
        assert_eq!(answer.header("vary"), Some("Authorization, Cookie"), "{answer}");
    }
    service.audit();
}
