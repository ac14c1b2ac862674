//! `GET /v1/monitor-paradox`, `GET /v1/check-timeline`, `POST /v1/scan-events`, and paradoxes created and resolved by
//! interventions.

use serde_json::{Value, json};

use crate::snapshot;
use crate::support::http::{Request, target};
use crate::support::service::Service;
use crate::v1::{PREFIXES, paused_service, send};

fn at(minutes: u32) -> String {
    format!("1999-01-01T{:02}:{:02}:00Z", minutes / 60, minutes % 60)
}

fn record(service: &Service, event_id: &str, minutes: u32, causes: &Value) {
    service.post("/v1/events", &json!({ "event_id": event_id, "time": at(minutes), "causes": causes }));
}

/// Returns code and events of each paradox.
fn found(service: &Service, parameters: &[(&str, &str)]) -> Vec<(String, Vec<String>)> {
    let mut query = vec![("timeline_id", "main"), ("time_range", "../..")];
    query.retain(|(name, _)| parameters.iter().all(|(other, _)| other != name));
    query.extend(parameters);
    let page = service.get("/v1/monitor-paradox", &query);
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let one =
        |paradox: &Value| (text(&paradox["code"]), paradox["events"].as_array().unwrap().iter().map(text).collect());
    page["paradoxes"].as_array().unwrap().iter().map(one).collect()
}

fn codes(service: &Service, parameters: &[(&str, &str)]) -> Vec<String> {
    found(service, parameters).into_iter().map(|(code, _)| code).collect()
}

#[test]
fn paradoxes_are_listed_with_their_evidence() {
    let service = paused_service();
    record(&service, "cause", 10, &json!([]));
    record(&service, "effect", 5, &json!(["cause"]));
    record(&service, "c", 30, &json!(["b"]));
    record(&service, "b", 31, &json!(["a"]));
    record(&service, "a", 32, &json!(["c"]));
    for prefix in PREFIXES {
        let request = [("timeline_id", "main"), ("time_range", "../..")];
        let answer = service.send(Request::get(&target(&format!("{prefix}/monitor-paradox"), &request)));
        if prefix == PREFIXES[0] {
            snapshot::check("monitor-paradox", &answer);
        } else {
            assert_eq!(answer.json()["total"], 5);
        }
    }
    assert_eq!(codes(&service, &[("kinds", "P02,bootstrap")]), ["P02", "P03"]);
    let early = format!("{}/{}", at(0), at(10));
    assert_eq!(codes(&service, &[("time_range", &early)]), ["P01"]);
    assert_eq!(codes(&service, &[("time_range", "2010-01-01T00:00:00Z/..")]), [""; 0]);
    let mut paged = Vec::new();
    let mut cursor: Option<String> = None;
    loop {
        let mut query = vec![("timeline_id", "main"), ("time_range", "../.."), ("limit", "2")];
        query.extend(cursor.as_deref().map(|cursor| ("cursor", cursor)));
        let page = service.get("/v1/monitor-paradox", &query);
        paged.extend(page["paradoxes"].as_array().unwrap().iter().map(|one| one["key"].clone()));
        match page["next_cursor"].as_str() {
            Some(next) => cursor = Some(next.to_owned()),
            None => break,
        }
    }
    assert_eq!(paged.len(), 5);
    let request = |parameters: &[(&str, &str)]| service.send(Request::get(&target("/v1/monitor-paradox", parameters)));
    request(&[("timeline_id", "main"), ("time_range", "../.."), ("kinds", "P99")]).refused(400, "invalid_parameter");
    request(&[("timeline_id", "main"), ("time_range", "../.."), ("include", "x")]).refused(400, "invalid_parameter");
    request(&[("timeline_id", "main")]).refused(400, "missing_parameter");
    request(&[("timeline_id", "none"), ("time_range", "../..")]).refused(404, "not_found");
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
    let codes_of = |list: &Value| -> Vec<String> {
        list.as_array().unwrap().iter().map(|one| one["code"].as_str().unwrap().to_owned()).collect()
    };
    let refused = deed("cancel", json!({ "on_paradox": "reject" })).refused(422, "would_create_paradox");
    assert!(refused["detail"].as_str().unwrap().contains("paradox"), "{refused}");
    let dry = deed("cancel", json!({ "dry_run": true })).expect(200);
    assert_eq!(found(&service, &[]), []);
    let done = deed("cancel", json!({}));
    snapshot::check("manipulate-event-paradox", &done);
    let done = done.json();
    assert_eq!(codes_of(&dry["paradoxes_created"]), codes_of(&done["paradoxes_created"]));
    assert_eq!(dry["downstream"], json!(["b", "c"]));
    assert_eq!(codes_of(&done["paradoxes_created"]), ["P04", "P05"]);
    assert_eq!(codes(&service, &[]), ["P04", "P05"]);
    let restored = deed("restore", json!({})).expect(200);
    assert_eq!(codes_of(&restored["paradoxes_resolved"]), ["P04", "P05"]);
    assert_eq!(found(&service, &[]), []);
    deed("note it", json!({ "on_paradox": "reject" })).expect(200);
    // Past states are unchanged.
    let then = done["ledger"]["position"].to_string();
    assert_eq!(codes(&service, &[("as_of", &then)]), ["P04", "P05"]);
    service.audit();
}

#[test]
fn replayed_intervention_reports_the_same_paradoxes() {
    let service = paused_service();
    record(&service, "a", 1, &json!([]));
    record(&service, "b", 2, &json!(["a"]));
    let body = json!({ "event_id": "a", "action": "cancel", "time": at(4) });
    let ask = || service.send(Request::post("/v1/manipulate-event").json(&body).idempotent("once")).expect(200);
    let first = ask();
    service.post("/v1/manipulate-event", &json!({ "event_id": "a", "action": "restore", "time": at(4) }));
    let again = ask();
    assert_eq!(first["paradoxes_created"], again["paradoxes_created"]);
    assert_eq!(first["ledger"], again["ledger"]);
    service.audit();
}

#[test]
fn check_returns_causes_consequences_and_paradoxes() {
    let service = paused_service();
    record(&service, "spark", 1, &json!([]));
    service.post("/v1/events", &json!({
        "event_id": "fire", "name": "The great fire", "time": at(2), "causes": ["spark", { "event_id": "wind", "kind": "contributes" }],
    }));
    record(&service, "ruin", 3, &json!(["fire"]));
    let check = |name: &str| {
        service
            .send(Request::get(&target("/v1/check-timeline", &[("timeline_id", "main"), ("significant_event", name)])))
    };
    snapshot::check("check-timeline", &check("the great fire"));
    assert_eq!(check("fire").expect(200)["consequences"], json!({ "count": 1, "event_ids": ["ruin"] }));
    service.post("/v1/manipulate-event", &json!({ "event_id": "spark", "action": "prevent", "time": at(0) }));
    let checked = check("fire").expect(200);
    assert_eq!((&checked["active"], &checked["causes_intact"]), (&json!(true), &json!(false)));
    assert_eq!(checked["paradoxes"][0]["code"], "P05");
    let canceled = check("spark").expect(200);
    assert_eq!((&canceled["active"], &canceled["relation"]), (&json!(false), &Value::Null));
    let unknown = check("The great fir").expect(200);
    assert_eq!(unknown["active"], json!(false));
    assert_eq!(unknown["candidates"], json!([{ "event_id": "fire", "name": "The great fire" }]));
    assert_eq!(check("Xyzzy").expect(200)["candidates"], json!([]));
    service.post("/v1/travel", &json!({ "destination_time": at(0) }));
    assert_eq!(check("fire").expect(200)["relation"], "future");
    // Canceled events are found by name too, with the intervention that canceled them.
    service.post("/v1/manipulate-event", &json!({ "event_id": "fire", "action": "cancel", "time": at(0) }));
    let canceled = check("The great fire").expect(200);
    assert_eq!((&canceled["active"], &canceled["event_id"]), (&json!(false), &json!("fire")));
    let status = canceled["status"].as_str().unwrap();
    assert!(status.starts_with("The event `fire` was canceled by `admin` at 2"), "{status}");
    assert_eq!(canceled["interventions"][0]["actor"], "admin");
    // An active event of that name takes precedence.
    record(&service, "fire2", 4, &json!([]));
    service.post(
        "/v1/correct-event",
        &json!({ "event": { "event_id": "fire2", "name": "The Great Fire", "time": at(4) } }),
    );
    assert_eq!(check("The great fire").expect(200)["event_id"], "fire2");
    service.audit();
}

#[test]
fn scan_lists_causes_and_effects_of_each_event() {
    let service = paused_service();
    record(&service, "a", 1, &json!([]));
    record(&service, "b", 0, &json!(["a"]));
    service.post("/v1/manipulate-event", &json!({ "event_id": "a", "action": "look at it", "time": at(4) }));
    let answer = send(&service, "/v1/scan-events", &json!({ "location": "*", "time_range": "../.." }));
    snapshot::check("scan-events", &answer);
    let first =
        send(&service, "/v1/scan-events", &json!({ "location": "*", "time_range": "../..", "limit": 1 })).expect(200);
    assert_eq!(first["summary"]["count"], 2);
    let cursor = first["next_cursor"].as_str().unwrap();
    let body = json!({ "location": "*", "time_range": "../..", "limit": 1, "cursor": cursor });
    let second = send(&service, "/v1/scan-events", &body).expect(200);
    assert_eq!((second["events"][0]["event_id"].as_str(), second.get("summary")), (Some("a"), None));
    service.audit();
}

#[test]
fn paradoxes_survive_restart_and_stay_on_their_timeline() {
    let mut service = paused_service();
    record(&service, "cause", 10, &json!([]));
    service.post("/timelines", &json!({ "timeline_id": "fork", "fork_of": "main" }));
    record(&service, "effect", 5, &json!(["cause"]));
    service.restart();
    assert_eq!(codes(&service, &[]), ["P01"]);
    assert_eq!(codes(&service, &[("timeline_id", "fork")]), [""; 0]);
    let late = json!({ "timeline_id": "fork", "event_id": "own", "time": at(1), "causes": ["cause"] });
    service.post("/v1/events", &late);
    assert_eq!(
        found(&service, &[("timeline_id", "fork")]),
        [("P01".to_owned(), vec!["cause".to_owned(), "own".to_owned()])]
    );
    service.post("/v1/erase-data", &json!({ "event_id": "effect" }));
    assert_eq!(codes(&service, &[]), [""; 0]);
    service.audit();
}
