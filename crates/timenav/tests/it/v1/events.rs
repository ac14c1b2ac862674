//! `POST /v1/events`: one event or several, atomically.

mod manipulate_event;
mod monitor_events;
mod monitor_paradox;
mod check_timeline;
mod stream;
mod import_events;
mod export_events;
mod aggregate_events;
mod finding;

use serde_json::{Value, json};

use super::{assert_invalid, assert_members, post_invalid, send, texts};
use crate::snapshot;
use crate::support::http::Request;
use crate::support::service::Service;

const AT: &str = "1969-07-20T20:17:40Z";

fn everything() -> Value {
    json!({
        "event_id": "moon-landing", "time": AT, "end_time": "1969-07-21T17:54:01Z", "precision": "second",
        "name": "Moon landing", "description": "The lunar module Eagle lands.", "location": "Sea of Tranquility",
        "geo": { "lat": 28.57, "lon": -80.65, "radius_m": 500 },
        "causes": ["launch", { "event_id": "speech", "kind": "contributes" }],
        "actors": ["Neil Armstrong", "Buzz Aldrin"], "attributes": { "mission": "Apollo 11", "b": [1, { "a": null }] },
        "source": "NASA",
    })
}

#[test]
fn recorded_events_are_found() {
    let service = Service::start();
    snapshot::check("record-one", &send(&service, "/v1/events", &everything()));
    snapshot::check("record-least", &send(&service, "/v1/events", &json!({ "time": AT })));
    let launch = json!({ "time": "1969-07-16T13:32:00+00:00", "event_id": "launch" });
    snapshot::check("record-several", &send(&service, "/v1/events", &json!([{ "time": AT, "event_id": "a" }, launch])));
    snapshot::check("record-again", &send(&service, "/v1/events", &everything()));
    let found = Request::get("/v1/monitor-events?location=*&time_range=../..");
    snapshot::check("monitor-recorded", &service.send(found));
    service.audit();
}

#[test]
fn overlapping_events_are_found_on_request() {
    let service = Service::start();
    let events = json!([
        { "event_id": "year", "time": "2005-01-01T00:00:00Z", "end_time": "2005-12-31T00:00:00Z" },
        { "event_id": "july", "time": "2005-07-02T00:00:00Z" },
        { "event_id": "august", "time": "2005-08-02T00:00:00Z", "end_time": "2005-09-02T00:00:00Z" },
    ]);
    service.post("/v1/events", &events);
    let query = [("location", "*"), ("time_range", "2005-08-01T00:00:00Z/2005-09-01T00:00:00Z")];
    for (parameters, expected) in [
        (&[][..], &["august"][..]),
        (&[("overlapping", "false")], &["august"]),
        (&[("overlapping", "true")], &["year", "august"]),
        (&[("overlapping", "true"), ("order", "newest")], &["august", "year"]),
    ] {
        let found = service.get("/v1/monitor-events", &[&query, parameters].concat());
        assert_eq!(texts(found["events"].as_array().unwrap(), "event_id"), expected, "{parameters:?}");
    }
    service.audit();
}

#[test]
fn record_response_matches_the_ledger() {
    let service = Service::start();
    let recorded = service.post("/v1/events", &json!([{ "time": AT }, { "time": AT }, { "time": AT }]));
    let ids: Vec<&str> = recorded["event_ids"].as_array().unwrap().iter().map(|id| id.as_str().unwrap()).collect();
    assert_eq!(ids.len(), 3);
    let last = recorded["ledger"]["position"].as_u64().unwrap();
    let found = service.find_all("main", "*", "../..", "10");
    for ((id, event), position) in ids.iter().zip(&found).zip(last - 2..) {
        assert!(id.starts_with("event_"), "{id}");
        assert_eq!((event["event_id"].as_str(), event["position"].as_u64()), (Some(*id), Some(position)));
        let (entry, _) = service.entry("main", position);
        assert_eq!((&entry["action"], entry["subject"].as_str()), (&json!("record_event"), Some(*id)));
        assert_eq!(entry["actor"], "admin");
    }
    let size = recorded["ledger"]["size"].as_u64().unwrap();
    service.continues("main", size, &crate::ledger::hash(&recorded["ledger"]["root"]));
    service.audit();
}

#[test]
fn errors_name_the_field_and_the_event() {
    let service = Service::start();
    let good = json!({ "time": AT, "event_id": "good" });
    for (event, code, field) in [
        (json!({ "time": null }), "missing_parameter", "time"),
        (json!({ "time": "1969-07-20" }), "invalid_parameter", "time"),
        (json!({ "time": AT, "tmie": AT }), "unknown_parameter", "tmie"),
        (json!({ "time": AT, "position": 3 }), "unknown_parameter", "position"),
        (json!({ "time": AT, "geo": { "lat": 1 } }), "missing_parameter", "geo/lon"),
        (json!({ "time": AT, "causes": ["a", "b c"] }), "invalid_parameter", "causes/1"),
        (json!({ "time": AT, "attributes": [] }), "invalid_parameter", "attributes"),
    ] {
        for (body, at) in [(event.clone(), ""), (json!([event]), "0/"), (json!([good, event]), "1/")] {
            let refused = send(&service, "/v1/events", &body).refused(400, code);
            assert_eq!(refused["errors"][0]["pointer"], format!("#/{at}{field}"), "{body}: {refused}");
        }
    }
    for body in [json!([]), json!([7]), json!([[good]]), json!([null])] {
        send(&service, "/v1/events", &body).refused(400, "invalid_parameter");
    }
    assert_eq!(service.get("/timeline/main", &[])["events"], 0, "no part of a rejected request is recorded");
    service.audit();
}

#[test]
fn duplicate_event_id_is_rejected() {
    let service = Service::start();
    let first = json!({ "time": AT, "event_id": "one" });
    let other = json!({ "time": AT, "event_id": "one", "name": "other" });
    let new = json!({ "time": AT, "event_id": "new" });
    service.post("/v1/events", &first);
    for (body, pointer) in [
        (other.clone(), "#/event_id"),
        (first.clone(), "#/event_id"),
        (json!([new, other]), "#/1/event_id"),
        (json!([new, first]), "#/1/event_id"),
    ] {
        let refused = send(&service, "/v1/events", &body).refused(409, "already_exists");
        assert_eq!(refused["errors"][0]["pointer"], pointer, "{body}: {refused}");
    }
    post_invalid(&service, "/v1/events", &json!([new, new]), "#/1/event_id");
    assert_eq!(service.get("/timeline/main", &[])["events"], 1);
    // On another timeline it is a different event.
    service.post("/v1/events?timeline_id=other", &first);
    assert_eq!(service.get("/timeline/other", &[])["events"], 1);
    service.audit();
}

#[test]
fn timeline_can_be_given_in_query_or_body() {
    let service = Service::start();
    let record = |query: &str, body: &Value| send(&service, &format!("/v1/events{query}"), body);
    for (query, body, expected) in [
        ("", json!({ "time": AT }), "main"),
        ("?timeline_id=a", json!({ "time": AT }), "a"),
        ("", json!({ "time": AT, "timeline_id": "b" }), "b"),
        ("?timeline_id=b", json!({ "time": AT, "timeline_id": "b" }), "b"),
        ("?timeline_id=c", json!([{ "time": AT }]), "c"),
    ] {
        assert_eq!(record(query, &body).expect(201)["timeline_id"], expected);
    }
    for (query, body, code, pointer) in [
        ("?timeline_id=a", json!({ "time": AT, "timeline_id": "b" }), "conflicting_parameters", "#/timeline_id"),
        ("?timeline_id=a%20b", json!({ "time": AT }), "invalid_parameter", "#/timeline_id"),
        ("", json!({ "time": AT, "timeline_id": 7 }), "invalid_parameter", "#/timeline_id"),
        ("?timeline=a", json!({ "time": AT }), "unknown_parameter", "#/timeline"),
        ("", json!([{ "time": AT, "timeline_id": "a" }]), "unknown_parameter", "#/0/timeline_id"),
    ] {
        assert_eq!(record(query, &body).refused(400, code)["errors"][0]["pointer"], pointer, "{query} {body}");
    }
    for (timeline, expected) in [("main", 1), ("a", 1), ("b", 2), ("c", 1)] {
        assert_eq!(service.get(&format!("/timeline/{timeline}"), &[])["events"], expected, "{timeline}");
    }
    service.audit();
}

#[test]
fn event_fields_are_stored_unchanged() {
    let service = Service::start();
    let special_texts =
        ["\u{0}\u{1f}\u{7f}", "\"\\/\u{8}\u{c}\n\r\t", "\u{2028}\u{2029}", "😀 e\u{301} é", "<script>", "' OR 1=1 --"];
    for text in special_texts {
        let event = json!({ "time": AT, "name": text, "description": text, "location": text, "source": text,
            "actors": [text], "attributes": { text: text } });
        service.post("/v1/events?timeline_id=texts", &event);
        assert_members(service.find_all("texts", "*", "../..", "100").last().unwrap(), &event);
    }
    let numbers = json!({ "a": 9_007_199_254_740_991_i64, "b": -0.5, "c": 1e-7, "d": 1e21, "e": 0.1 });
    service.post("/v1/events", &json!({ "time": AT, "attributes": numbers }));
    assert_eq!(service.find_all("main", "*", "../..", "100")[0]["attributes"], numbers);
    service.audit();
}

#[test]
fn integers_beyond_double_precision_are_rejected() {
    let service = Service::start();
    for number in ["9007199254740993", "100000000000000000001", "-123456789012345678901234567890"] {
        let event = format!("{{\"time\":\"{AT}\",\"attributes\":{{\"n\":{number}}}}}");
        let event_of_timer = format!("{{\"attributes\":{{\"n\":{number}}}}}");
        let deliver = format!("{{\"to\":\"timeline\",\"event\":{event_of_timer}}}");
        let timer = format!("{{\"at\":\"{AT}\",\"deliver\":{deliver}}}");
        for (path, body, pointer) in [
            ("/v1/events", event.clone(), "#/attributes/n"),
            ("/v1/events", format!("[{event}]"), "#/0/attributes/n"),
            ("/v1/timers", timer, "#/deliver/event/attributes/n"),
        ] {
            let request = Request::post(path).body("application/json", body.as_bytes());
            let refused = assert_invalid(service.send(request), pointer);
            assert!(refused["detail"].as_str().unwrap().contains(&format!("{number} has no exact form")), "{refused}");
        }
    }
    let timer = format!("{{\"at\":\"{AT}\",\"payload\":[100000000000000000001]}}");
    let request = Request::post("/v1/timers").body("application/json", timer.as_bytes());
    assert_invalid(service.send(request), "#/payload/0");
    service.audit();
}
