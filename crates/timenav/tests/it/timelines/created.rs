//! Writes that create their timeline report it first, and a condition can prevent it.

use serde_json::{Value, json};

use crate::support::http::Request;
use crate::support::service::Service;
use crate::v1::{assert_invalid, assert_members};

/// A request for each operation that creates its timeline, with the status of success.
fn writers(timeline: &str) -> Vec<(Request, u16)> {
    let post = |path: &str, body: &Value| {
        let mut body = body.clone();
        body["timeline_id"] = timeline.into();
        Request::post(path).json(&body)
    };
    let import = format!("/v1/import-events?timeline_id={timeline}&format=ndjson");
    vec![
        (post("/v1/travel", &json!({ "destination_time": "2001-01-01T00:00:00Z" })), 200),
        (post("/v1/pause-time", &json!({})), 200),
        (post("/v1/resume-time", &json!({})), 200),
        (post("/v1/fast-forward", &json!({ "duration": "1h" })), 200),
        (post("/v1/rewind", &json!({ "duration": "1h" })), 200),
        (post("/v1/set-rate", &json!({ "rate": 2 })), 200),
        (post("/v1/set-anchor", &json!({})), 200),
        (post("/v1/events", &json!({ "time": "2001-01-01T00:00:00Z" })), 201),
        (post("/v1/encrypt-data", &json!({ "data": {}, "encryption_key": "k" })), 200),
        (Request::post(&import).body("application/x-ndjson", b"{\"time\":\"2001-01-01T00:00:00Z\"}\n"), 200),
    ]
}

#[test]
fn first_write_reports_the_created_timeline() {
    let service = Service::start();
    let ada = service.user("ada");
    for number in 0..writers("").len() {
        let name = format!("new-{number}");
        let (request, status) = writers(&name).swap_remove(number);
        let request = request.key(&ada);
        let first = service.send(request.clone()).expect(status);
        assert_eq!(first["timeline_created"], true, "{first}");
        let expected = format!("There was no timeline `{name}`, so it was created, with you as its admin. ");
        assert!(first["status"].as_str().unwrap().starts_with(&expected), "{first}");
        let second = service.send(request).expect(status);
        assert!(second.get("timeline_created").is_none(), "{second}");
        assert!(!second["status"].as_str().unwrap().contains("created"), "{second}");
    }
    // Explicit creation is not reported.
    let made = service.post("/timelines", &json!({ "timeline_id": "asked-for" }));
    assert!(made.get("timeline_created").is_none(), "{made}");
    service.audit();
}

#[test]
fn replayed_response_reports_the_created_timeline() {
    let service = Service::start();
    let body = json!({ "timeline_id": "once", "destination_time": "2001-01-01T00:00:00Z" });
    let travel = || service.send(Request::post("/v1/travel").json(&body).idempotent("one")).expect(200);
    let first = travel();
    let expected = json!({ "timeline_created": true, "ledger": first["ledger"] });
    for response in [&first, &travel()] {
        assert_members(response, &expected);
    }
    service.audit();
}

#[test]
fn if_match_prevents_creation_of_the_timeline() {
    let service = Service::start();
    let ada = service.user("ada");
    let before = service.timelines();
    for (request, _) in writers("slip") {
        for key in [&ada, &service.admin] {
            let refused = service.send(request.clone().key(key).header("If-Match", "*")).refused(404, "not_found");
            assert!(refused["detail"].as_str().unwrap().contains("`slip`"), "{refused}");
        }
    }
    assert_eq!(service.timelines(), before);
    // An existing timeline is written to.
    service.send(Request::post("/timelines").json(&json!({ "timeline_id": "slip" })).key(&ada)).expect(201);
    for (request, status) in writers("slip") {
        let done = service.send(request.key(&ada).header("If-Match", "*")).expect(status);
        assert!(done.get("timeline_created").is_none(), "{done}");
    }
    // Clocks have tags; a timeline as such has none. The requests that do not move a clock come last.
    for (request, _) in writers("slip").split_off(6) {
        assert_invalid(service.send(request.header("If-Match", "\"7\"")), "#/If-Match");
    }
    service.audit();
}
