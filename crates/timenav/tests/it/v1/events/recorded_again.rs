//! Events recorded again after a return to an anchor.

use serde_json::{Value, json};

use crate::support::http::Request;
use crate::support::service::Service;
use crate::v1::send;

#[test]
fn script_starting_with_return_can_be_rerun() {
    let service = Service::start();
    let anchor = send(&service, "/v1/set-anchor", &json!({})).expect(200);
    let event = json!({ "event_id": "renewal", "time": "2028-02-29T08:30:00Z", "description": "it renews" });
    let line = format!("{}\n", json!({ "event_id": "second", "time": "2028-03-01T00:00:00Z" }));
    let import = || {
        let request = Request::post("/v1/import-events?format=ndjson").body("application/x-ndjson", line.as_bytes());
        let response = service.send(request).expect(200);
        (response["imported"].as_u64().unwrap(), response["unchanged"].as_u64().unwrap())
    };
    for run in 1..=3_usize {
        send(&service, "/v1/return-to-anchor", &json!({ "anchor_id": anchor["anchor_id"] })).expect(200);
        send(&service, "/v1/events", &event).expect(201);
        assert_eq!((import(), import()), ((1, 0), (0, 1)));
        send(&service, "/v1/events", &event).refused(409, "already_exists");
        let history = service.get("/v1/events/renewal", &[]);
        assert_eq!(history["versions"].as_array().unwrap().len(), run, "{history}");
        assert_eq!(history["interventions"].as_array().unwrap().len(), run - 1, "{history}");
        assert_eq!(service.find_all("main", "*", "../..", "10").len(), 2);
    }
    // Every past state can still be read.
    let history = service.get("/v1/events/renewal", &[]);
    for version in history["versions"].as_array().unwrap() {
        let position = version["position"].to_string();
        let then = service.get("/v1/events/renewal", &[("as_of", &position)]);
        assert_eq!((&then["active"], &then["event"]["position"]), (&json!(true), &version["position"]));
    }
    // Only the one who canceled it can restore it.
    let cancel = json!({ "event_id": "renewal", "action": "cancel", "time": "2028-02-29T00:00:00Z" });
    send(&service, "/v1/manipulate-event", &cancel).expect(200);
    send(&service, "/v1/events", &event).refused(409, "already_exists");
    service.audit();
}

#[test]
fn inherited_event_ids_are_taken_until_fork_returns() {
    let service = Service::start();
    let anchor = send(&service, "/v1/set-anchor", &json!({})).expect(200);
    let record = |timeline: &str, expected: u16| -> Value {
        let event = json!({ "event_id": "e", "time": "2028-02-29T08:30:00Z", "timeline_id": timeline });
        send(&service, "/v1/events", &event).expect(expected)
    };
    record("main", 201);
    send(&service, "/timelines", &json!({ "timeline_id": "fork", "fork_of": "main" })).expect(201);
    let back = |timeline: &str| {
        let back = json!({ "timeline_id": timeline, "anchor_id": anchor["anchor_id"] });
        send(&service, "/v1/return-to-anchor", &back).expect(200);
    };
    back("main");
    record("main", 201);
    record("fork", 409);
    back("fork");
    record("fork", 201);
    for timeline in ["main", "fork"] {
        assert_eq!(service.find_all(timeline, "*", "../..", "10").len(), 1, "{timeline}");
    }
    service.audit();
}
