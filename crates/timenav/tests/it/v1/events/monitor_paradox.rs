//! `GET /v1/monitor-paradox`, `GET /v1/check-timeline`, `POST /v1/scan-events`, and paradoxes created and resolved by
//! interventions.

use serde_json::{Value, json};

use crate::snapshot;
use crate::support::http::{Request, target};
use crate::support::service::Service;
use crate::v1::{assert_members, pages, paused_service, send, texts};

fn at(minutes: u32) -> String {
    format!("1999-01-01T{:02}:{:02}:00Z", minutes / 60, minutes % 60)
}

fn record(service: &Service, event_id: &str, minutes: u32, causes: &Value) {
    service.post("/v1/events", &json!({ "event_id": event_id, "time": at(minutes), "causes": causes }));
}

fn codes_of(paradoxes: &Value) -> Vec<String> {
    texts(paradoxes.as_array().unwrap(), "code").into_iter().map(str::to_owned).collect()
}

fn codes(service: &Service, parameters: &[(&str, &str)]) -> Vec<String> {
    let mut query = vec![("timeline_id", "main"), ("time_range", "../..")];
    query.retain(|(name, _)| parameters.iter().all(|(other, _)| other != name));
    query.extend(parameters);
    codes_of(&service.get("/v1/monitor-paradox", &query)["paradoxes"])
}

#[test]
fn paradoxes_are_listed_with_their_evidence() {
    let service = paused_service();
    record(&service, "cause", 10, &json!([]));
    record(&service, "effect", 5, &json!(["cause"]));
    record(&service, "c", 30, &json!(["b"]));
    record(&service, "b", 31, &json!(["a"]));
    record(&service, "a", 32, &json!(["c"]));
    let request = [("timeline_id", "main"), ("time_range", "../..")];
    let answer = service.send(Request::get(&target("/v1/monitor-paradox", &request)));
    snapshot::check("monitor-paradox", &answer);
    assert_eq!(codes(&service, &[("kinds", "P02,bootstrap")]), ["P02", "P03"]);
    let early = format!("{}/{}", at(0), at(10));
    assert_eq!(codes(&service, &[("time_range", &early)]), ["P01"]);
    assert_eq!(codes(&service, &[("time_range", "2010-01-01T00:00:00Z/..")]), [""; 0]);
    let query = [("timeline_id", "main"), ("time_range", "../.."), ("limit", "2")];
    let paged = pages("paradoxes", |cursor| service.get("/v1/monitor-paradox", &[&query, cursor].concat()));
    assert_eq!(paged.iter().map(Vec::len).collect::<Vec<_>>(), [2, 2, 1]);
    for wrong in ["kinds=P99", "include=x"] {
        let request = Request::get(&format!("/v1/monitor-paradox?timeline_id=main&time_range=../..&{wrong}"));
        service.send(request).refused(400, "invalid_parameter");
    }
    service.audit();
}

#[test]
fn observations_are_counted_and_listed_on_request() {
    let service = paused_service();
    record(&service, "waiting", 10, &json!(["never-recorded"]));
    service.post("/v1/events", &json!({ "event_id": "future", "time": "2030-01-01T00:00:00Z" }));
    let page = service.get("/v1/monitor-paradox", &[("timeline_id", "main"), ("time_range", "../..")]);
    assert_eq!((&page["paradoxes"], &page["counts"]), (&json!([]), &json!({})));
    assert_eq!(page["observations"]["P06"]["grades"]["definite"], 1, "{page}");
    assert_eq!(page["observations"]["P10"]["grades"]["definite"], 1, "{page}");
    // The first entry is a travel, which explains where the clock is.
    assert_eq!(codes(&service, &[("include", "observations")]), ["P12", "P06", "P10"]);
    assert_eq!(codes(&service, &[("kinds", "P06")]), ["P06"]);
    service.audit();
}

#[test]
fn interventions_create_and_resolve_paradoxes() {
    let service = paused_service();
    record(&service, "a", 1, &json!([]));
    record(&service, "b", 2, &json!(["a"]));
    record(&service, "c", 3, &json!(["b"]));
    let deed = |action: &str, more: Value| {
        let mut body = json!({ "event_id": "a", "action": action, "time": at(4), "causes": ["c"] });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        send(&service, "/v1/manipulate-event", &body)
    };
    let refused = deed("cancel", json!({ "on_paradox": "reject" })).refused(422, "would_create_paradox");
    assert!(refused["detail"].as_str().unwrap().contains("paradox"), "{refused}");
    let dry = deed("cancel", json!({ "dry_run": true })).expect(200);
    assert_eq!(codes(&service, &[]), [""; 0]);
    let done = deed("cancel", json!({}));
    snapshot::check("manipulate-event-paradox", &done);
    let done = done.json();
    assert_eq!(codes_of(&dry["paradoxes_created"]), codes_of(&done["paradoxes_created"]));
    assert_eq!(dry["downstream"], json!(["b", "c"]));
    assert_eq!(codes_of(&done["paradoxes_created"]), ["P04", "P05"]);
    assert_eq!(codes(&service, &[]), ["P04", "P05"]);
    let restored = deed("restore", json!({})).expect(200);
    assert_eq!(codes_of(&restored["paradoxes_resolved"]), ["P04", "P05"]);
    assert_eq!(codes(&service, &[]), [""; 0]);
    deed("note it", json!({ "on_paradox": "reject" })).expect(200);
    // Past states are unchanged.
    let then = done["ledger"]["position"].to_string();
    assert_eq!(codes(&service, &[("as_of", &then)]), ["P04", "P05"]);
    service.audit();
}

#[test]
fn check_returns_causes_consequences_and_paradoxes() {
    let service = paused_service();
    record(&service, "spark", 1, &json!([]));
    let causes = json!(["spark", { "event_id": "wind", "kind": "contributes" }]);
    let fire = json!({ "event_id": "fire", "name": "The great fire", "time": at(2), "causes": causes });
    service.post("/v1/events", &fire);
    record(&service, "ruin", 3, &json!(["fire"]));
    let check = |name: &str| {
        let query = [("timeline_id", "main"), ("significant_event", name)];
        service.send(Request::get(&target("/v1/check-timeline", &query)))
    };
    snapshot::check("check-timeline", &check("the great fire"));
    assert_eq!(check("fire").expect(200)["consequences"], json!({ "count": 1, "event_ids": ["ruin"] }));
    service.post("/v1/manipulate-event", &json!({ "event_id": "spark", "action": "prevent", "time": at(0) }));
    let checked = check("fire").expect(200);
    assert_members(&checked, &json!({ "active": true, "causes_intact": false }));
    assert_eq!(checked["paradoxes"][0]["code"], "P05");
    assert_members(&check("spark").expect(200), &json!({ "active": false, "relation": null }));
    let candidates = json!([{ "event_id": "fire", "name": "The great fire" }]);
    assert_members(&check("The great fir").expect(200), &json!({ "active": false, "candidates": candidates }));
    assert_eq!(check("Xyzzy").expect(200)["candidates"], json!([]));
    service.post("/v1/travel", &json!({ "destination_time": at(0) }));
    assert_eq!(check("fire").expect(200)["relation"], "future");
    // Canceled events are found by name too, with the intervention that canceled them.
    service.post("/v1/manipulate-event", &json!({ "event_id": "fire", "action": "cancel", "time": at(0) }));
    let canceled = check("The great fire").expect(200);
    assert_members(&canceled, &json!({ "active": false, "event_id": "fire" }));
    let status = canceled["status"].as_str().unwrap();
    assert!(status.starts_with("The event `fire` was canceled by `admin` at 2"), "{status}");
    assert_eq!(canceled["interventions"][0]["actor"], "admin");
    // An active event of that name takes precedence.
    record(&service, "fire2", 4, &json!([]));
    let named = json!({ "event_id": "fire2", "name": "The Great Fire", "time": at(4) });
    service.post("/v1/correct-event", &json!({ "event": named }));
    assert_eq!(check("The great fire").expect(200)["event_id"], "fire2");
    service.audit();
}

#[test]
fn scan_lists_causes_and_effects_of_each_event() {
    let service = paused_service();
    record(&service, "a", 1, &json!([]));
    record(&service, "b", 0, &json!(["a"]));
    service.post("/v1/manipulate-event", &json!({ "event_id": "a", "action": "look at it", "time": at(4) }));
    let mut body = json!({ "location": "*", "time_range": "../.." });
    snapshot::check("scan-events", &send(&service, "/v1/scan-events", &body));
    body["limit"] = json!(1);
    let first = service.post("/v1/scan-events", &body);
    assert_eq!(first["summary"]["count"], 2);
    body["cursor"] = first["next_cursor"].clone();
    let second = service.post("/v1/scan-events", &body);
    assert_eq!((second["events"][0]["event_id"].as_str(), second.get("summary")), (Some("a"), None));
    service.audit();
}
