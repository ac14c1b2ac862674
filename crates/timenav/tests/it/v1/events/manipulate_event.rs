//! `POST /v1/manipulate-event`, `POST /v1/correct-event`, `GET /v1/events/{event_id}`, and past states.

use serde_json::{Value, json};

use crate::snapshot;
use crate::support::http::{Request, target};
use crate::support::service::Service;
use crate::v1::{assert_invalid, paused_service, post_invalid, send, texts};

const TIME: &str = "1969-07-16T13:00:00Z";
/// The time of the event `launch`.
const LAUNCH: &str = "1969-07-16T13:32:00Z";

fn with_launch() -> Service {
    let service = paused_service();
    let event = json!({
        "event_id": "launch", "time": LAUNCH, "name": "Launch", "location": "Cape Kennedy",
        "description": "Apollo 11 lifts off.",
    });
    service.post("/v1/events", &event);
    service
}

fn manipulate(service: &Service, action: &str) -> Value {
    let body = json!({ "event_id": "launch", "action": action, "time": TIME });
    service.post("/v1/manipulate-event", &body)
}

/// Returns ids and times of the active events at a point in history.
fn found(service: &Service, timeline: &str, as_of: Option<&str>) -> Vec<(String, String)> {
    let mut query = vec![("location", "*"), ("time_range", "../.."), ("timeline_id", timeline)];
    query.extend(as_of.map(|as_of| ("as_of", as_of)));
    let page = service.send(Request::get(&target("/v1/monitor-events", &query))).expect(200);
    let text = |event: &Value, name: &str| event[name].as_str().unwrap().to_owned();
    page["events"].as_array().unwrap().iter().map(|event| (text(event, "event_id"), text(event, "time"))).collect()
}

#[test]
fn action_words_determine_the_effect() {
    let service = with_launch();
    let body = json!({ "event_id": "launch", "action": "Prevent the launch", "time": TIME });
    snapshot::check("manipulate-event-cancelled", &send(&service, "/v1/manipulate-event", &body));
    send(&service, "/v1/manipulate-event", &body).refused(409, "conflict");
    assert_eq!(found(&service, "main", None), []);
    let restored = manipulate(&service, "restore it");
    assert_eq!((&restored["before"], &restored["after"]["event_id"]), (&Value::Null, &json!("launch")));
    let delayed = manipulate(&service, "delay by 2 hours");
    assert_eq!(delayed["effect"], json!({ "kind": "delay", "duration": "PT2H" }));
    assert_eq!(delayed["after"]["time"], "1969-07-16T15:32:00Z");
    assert_eq!(manipulate(&service, "rename to Second launch")["after"]["name"], "Second launch");
    let noted = manipulate(&service, "warn the crew");
    assert_eq!((&noted["effect"]["kind"], &noted["before"]), (&json!("note"), &noted["after"]));
    let unclear = manipulate(&service, "delay the launch");
    assert!(unclear["status"].as_str().unwrap().contains("name one duration"), "{unclear}");
    assert_eq!(manipulate(&service, "restore")["after"]["name"], "Launch");
    service.audit();
}

#[test]
fn explicit_effect_overrides_the_action_words() {
    let service = with_launch();
    let with = |effect: Value| {
        let body = json!({ "event_id": "launch", "action": "sabotage", "time": TIME, "effect": effect });
        send(&service, "/v1/manipulate-event", &body)
    };
    let moved = with(json!({ "kind": "relocate", "location": "Kourou", "geo": { "lat": 5.16, "lon": -52.65 } }));
    assert_eq!(moved.expect(200)["after"]["geo"], json!({ "lat": 5.16, "lon": -52.65 }));
    let advanced = with(json!({ "kind": "advance", "duration": "P1D" })).expect(200);
    assert_eq!(advanced["after"]["time"], "1969-07-15T13:32:00Z");
    for (effect, status, code) in [
        (json!({ "kind": "explode" }), 400, "invalid_parameter"),
        (json!({ "kind": "delay" }), 400, "missing_parameter"),
        (json!({ "kind": "relocate", "location": "x", "geo": { "lat": 95, "lon": 0 } }), 400, "invalid_parameter"),
        (json!({ "kind": "delay", "duration": "P9999Y" }), 422, "time_out_of_range"),
        (json!({ "kind": "rename", "name": "x".repeat(300) }), 400, "invalid_parameter"),
    ] {
        with(effect).refused(status, code);
    }
    service.audit();
}

#[test]
fn action_length_is_limited() {
    let service = with_launch();
    let with = |bytes: usize| {
        let body = json!({ "event_id": "launch", "action": "x".repeat(bytes), "time": TIME });
        send(&service, "/v1/manipulate-event", &body)
    };
    with(1_024).expect(200);
    for bytes in [0, 1_025] {
        assert_invalid(with(bytes), "#/action");
    }
    service.audit();
}

#[test]
fn manipulation_dry_run_changes_nothing() {
    let service = with_launch();
    let cancel = |event_id: &str| {
        let body = json!({ "event_id": event_id, "action": "cancel", "time": TIME, "dry_run": true });
        send(&service, "/v1/manipulate-event", &body)
    };
    snapshot::check("manipulate-event-dry-run", &cancel("launch"));
    assert_eq!(found(&service, "main", None).len(), 1);
    cancel("none").refused(404, "not_found");
    service.audit();
}

#[test]
fn event_is_returned_with_versions_and_interventions() {
    let service = with_launch();
    manipulate(&service, "delay 2h");
    let read = || service.send(Request::get("/v1/events/launch"));
    let tag = read().header("etag").unwrap().to_owned();
    let correction = json!({ "event": { "event_id": "launch", "time": LAUNCH, "name": "Lift-off" } });
    let correct =
        |tag: &str| service.send(Request::post("/v1/correct-event").header("If-Match", tag).json(&correction));
    correct("\"0\"").refused(412, "precondition_failed");
    snapshot::check("correct-event", &correct(&tag));
    correct(&tag).refused(412, "precondition_failed");
    manipulate(&service, "cancel");
    send(&service, "/v1/correct-event", &correction).refused(409, "conflict");
    let answer = read();
    assert_eq!(answer.header("etag"), None);
    snapshot::check("event", &answer);
    let event = answer.json();
    let positions: Vec<_> = event["versions"].as_array().unwrap().iter().map(|one| &one["position"]).collect();
    for (number, position) in positions.iter().enumerate() {
        let then = service.get("/v1/events/launch", &[("as_of", &position.to_string())]);
        assert_eq!(then["versions"].as_array().unwrap().len(), number + 1);
        assert_eq!(then["active"], true);
    }
    service.send(Request::get("/v1/events/none")).refused(404, "not_found");
    service.send(Request::get("/v1/events/%20")).refused(404, "not_found");
    send(&service, "/v1/correct-event", &json!({ "event": { "time": TIME } })).refused(400, "missing_parameter");
    let invalid = json!({ "event": { "event_id": "launch", "time": "noon" } });
    post_invalid(&service, "/v1/correct-event", &invalid, "#/event/time");
    service.audit();
}

#[test]
fn past_states_are_readable_by_position_anchor_and_time() {
    let service = with_launch();
    let anchor = service.post("/v1/set-anchor", &json!({}));
    let then = anchor["ledger"]["position"].to_string();
    manipulate(&service, "cancel");
    assert_eq!(found(&service, "main", None), []);
    let launch = [("launch".to_owned(), LAUNCH.to_owned())];
    for past in [then.as_str(), anchor["anchor_id"].as_str().unwrap()] {
        assert_eq!(found(&service, "main", Some(past)), launch, "{past}");
    }
    assert_eq!(found(&service, "main", Some("1999-01-01T00:00:00Z")), []);
    for (as_of, status, code) in [
        ("1000000", 400, "invalid_parameter"),
        ("anchor_none", 404, "not_found"),
        ("yesterday", 400, "invalid_parameter"),
    ] {
        let query = [("location", "*"), ("time_range", "../.."), ("as_of", as_of)];
        service.send(Request::get(&target("/v1/monitor-events", &query))).refused(status, code);
    }
    service.audit();
}

#[test]
fn return_to_anchor_restores_events() {
    let service = with_launch();
    let anchor = service.post("/v1/set-anchor", &json!({}));
    service.post("/v1/events", &json!({ "event_id": "late", "time": "1969-07-17T00:00:00Z" }));
    manipulate(&service, "delay 1d");
    let back = json!({ "anchor_id": anchor["anchor_id"], "scope": "clock" });
    service.post("/v1/return-to-anchor", &back);
    assert_eq!(found(&service, "main", None).len(), 2);
    let answer = send(&service, "/v1/return-to-anchor", &json!({ "anchor_id": anchor["anchor_id"] }));
    snapshot::check("return-to-anchor-all", &answer);
    assert_eq!(found(&service, "main", None), [("launch".to_owned(), LAUNCH.to_owned())]);
    let event = service.get("/v1/events/late", &[]);
    assert_eq!((&event["active"], event["versions"].as_array().unwrap().len()), (&json!(false), 1));
    assert_eq!(event["interventions"][0]["anchor_id"], anchor["anchor_id"]);
    service.audit();
}

#[test]
fn forks_share_only_the_past() {
    let service = with_launch();
    let before = service.post("/v1/set-anchor", &json!({}));
    manipulate(&service, "delay 1d");
    let fork = |body: Value| send(&service, "/timelines", &body);
    snapshot::check("fork", &fork(json!({ "timeline_id": "now", "fork_of": "main" })));
    fork(json!({ "timeline_id": "then", "fork_of": "main", "at": before["anchor_id"] })).expect(201);
    fork(json!({ "timeline_id": "of-fork", "fork_of": "then", "at": 0 })).expect(201);
    manipulate(&service, "cancel");
    assert_eq!(found(&service, "main", None), []);
    for (timeline, time) in [("now", "1969-07-17T13:32:00Z"), ("then", LAUNCH), ("of-fork", LAUNCH)] {
        assert_eq!(found(&service, timeline, None), [("launch".to_owned(), time.to_owned())], "{timeline}");
    }
    // Positions are per ledger: an inherited event and an intervention name their ledger.
    let on_now = ("timeline_id", "now");
    let inherited = service.get("/v1/monitor-events", &[("location", "*"), ("time_range", "../.."), on_now]);
    assert_eq!(inherited["events"][0]["timeline_id"], "main");
    let check = [("significant_event", "launch"), on_now];
    for found in [service.get("/v1/events/launch", &[on_now]), service.get("/v1/check-timeline", &check)] {
        assert_eq!(found["event"], inherited["events"][0], "{found}");
    }
    let note = json!({ "timeline_id": "now", "event_id": "launch", "action": "warn the crew", "time": TIME });
    let noted = service.post("/v1/manipulate-event", &note);
    let read = service.get("/v1/events/launch", &[on_now]);
    assert_eq!(texts(read["interventions"].as_array().unwrap(), "timeline_id"), ["main", "now"]);
    assert_eq!(read["interventions"][1]["position"], noted["ledger"]["position"]);
    service.post("/v1/events", &json!({ "timeline_id": "of-fork", "event_id": "own", "time": TIME }));
    let own = service.get("/v1/events/own", &[("timeline_id", "of-fork")]);
    assert_eq!(own["event"].get("timeline_id"), None);
    assert_eq!(service.get("/timeline/then", &[])["clock"]["current_time"], "2000-01-01T00:00:00Z");
    for (body, status, code) in [
        (json!({ "timeline_id": "x", "fork_of": "none" }), 404, "not_found"),
        (json!({ "timeline_id": "x", "fork_of": "system" }), 400, "invalid_parameter"),
        (json!({ "timeline_id": "x", "fork_of": "main", "at": 9999 }), 400, "invalid_parameter"),
        (json!({ "timeline_id": "x", "at": 1 }), 400, "missing_parameter"),
        (json!({ "timeline_id": "now", "fork_of": "main" }), 409, "already_exists"),
    ] {
        fork(body).refused(status, code);
    }
    for timeline in ["main", "now", "then", "of-fork"] {
        let scan = service.post("/v1/detect-tampering", &json!({ "timeline_id": timeline }));
        assert_eq!(scan["tampering_detected"], false, "{scan}");
    }
    service.audit();
}
