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
mod recorded_again;

use serde_json::{Value, json};

use super::{PREFIXES, send};
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
    for prefix in PREFIXES {
        let service = Service::start();
        let path = format!("{prefix}/events");
        snapshot::check("record-one", &send(&service, &path, &everything()));
        snapshot::check("record-least", &send(&service, &path, &json!({ "time": AT })));
        let two =
            json!([{ "time": AT, "event_id": "a" }, { "time": "1969-07-16T13:32:00+00:00", "event_id": "launch" }]);
        snapshot::check("record-several", &send(&service, &path, &two));
        snapshot::check("record-again", &send(&service, &path, &everything()));
        let found = Request::get(&format!("{prefix}/monitor-events?location=*&time_range=../.."));
        snapshot::check("monitor-recorded", &service.send(found));
        service.audit();
    }
}

#[test]
fn overlapping_events_are_found_on_request() {
    let service = Service::start();
    service.post(
        "/v1/events",
        &json!([
            { "event_id": "year", "time": "2005-01-01T00:00:00Z", "end_time": "2005-12-31T00:00:00Z", "actors": ["a"] },
            { "event_id": "june", "time": "2005-06-01T00:00:00Z", "end_time": "2005-06-30T00:00:00Z" },
            { "event_id": "edge", "time": "2005-07-01T00:00:00Z", "end_time": "2005-08-01T00:00:00Z" },
            { "event_id": "july", "time": "2005-07-02T00:00:00Z" },
            { "event_id": "august", "time": "2005-08-02T00:00:00Z", "end_time": "2005-09-02T00:00:00Z" },
            { "event_id": "september", "time": "2005-09-02T00:00:00Z" },
        ]),
    );
    let august = ("time_range", "2005-08-01T00:00:00Z/2005-09-01T00:00:00Z");
    let found = |more: &[(&str, &str)]| {
        let (mut ids, mut cursor) = (Vec::new(), None::<String>);
        loop {
            let next = cursor.as_deref().map(|cursor| ("cursor", cursor));
            let request: Vec<_> = [("location", "*"), august, ("limit", "1")].into_iter().chain(next).collect();
            let page = service.get("/v1/monitor-events", &[&request, more].concat());
            let events = page["events"].as_array().unwrap();
            ids.extend(events.iter().map(|event| event["event_id"].as_str().unwrap().to_owned()));
            cursor = page["next_cursor"].as_str().map(str::to_owned);
            if cursor.is_none() {
                return ids;
            }
        }
    };
    let overlapping = ("overlapping", "true");
    assert_eq!(found(&[]), ["august"]);
    assert_eq!(found(&[("overlapping", "false")]), ["august"]);
    assert_eq!(found(&[overlapping]), ["year", "edge", "august"]);
    assert_eq!(found(&[overlapping, ("order", "newest")]), ["august", "edge", "year"]);
    assert_eq!(found(&[overlapping, ("actor", "a")]), ["year"]);
    // A period contains canceled events as usual, and corrected ones at their current time.
    let record = json!({ "event_id": "year", "time": "2004-01-01T00:00:00Z", "end_time": "2004-12-31T00:00:00Z" });
    service.post("/v1/correct-event", &json!({ "event": record }));
    assert_eq!(found(&[overlapping]), ["edge", "august"]);
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
        (json!({}), "missing_parameter", "time"),
        (json!({ "time": null }), "missing_parameter", "time"),
        (json!({ "time": "1969-07-20" }), "invalid_parameter", "time"),
        (json!({ "time": 7 }), "invalid_parameter", "time"),
        (json!({ "time": AT, "tmie": AT }), "unknown_parameter", "tmie"),
        (json!({ "time": AT, "position": 3 }), "unknown_parameter", "position"),
        (json!({ "time": AT, "end_time": "x" }), "invalid_parameter", "end_time"),
        (json!({ "time": AT, "event_id": "a b" }), "invalid_parameter", "event_id"),
        (json!({ "time": AT, "event_id": "" }), "invalid_parameter", "event_id"),
        (json!({ "time": AT, "event_id": "x".repeat(129) }), "invalid_parameter", "event_id"),
        (json!({ "time": AT, "precision": "century" }), "invalid_parameter", "precision"),
        (json!({ "time": AT, "name": "" }), "invalid_parameter", "name"),
        (json!({ "time": AT, "name": "x".repeat(257) }), "invalid_parameter", "name"),
        (json!({ "time": AT, "description": "x".repeat(16_385) }), "invalid_parameter", "description"),
        (json!({ "time": AT, "location": "x".repeat(513) }), "invalid_parameter", "location"),
        (json!({ "time": AT, "source": "x".repeat(513) }), "invalid_parameter", "source"),
        (json!({ "time": AT, "geo": { "lat": 91, "lon": 0 } }), "invalid_parameter", "geo/lat"),
        (json!({ "time": AT, "geo": { "lat": 1, "lon": 181 } }), "invalid_parameter", "geo/lon"),
        (json!({ "time": AT, "geo": { "lat": 1 } }), "missing_parameter", "geo/lon"),
        (json!({ "time": AT, "geo": { "lat": 1, "lon": 2, "radius_m": -1 } }), "invalid_parameter", "geo/radius_m"),
        (json!({ "time": AT, "geo": { "lat": 1, "lon": 2, "alt": 3 } }), "unknown_parameter", "geo/alt"),
        (json!({ "time": AT, "causes": ["a", "b c"] }), "invalid_parameter", "causes/1"),
        (json!({ "time": AT, "causes": [{ "event_id": "a", "kind": "maybe" }] }), "invalid_parameter", "causes/0/kind"),
        (json!({ "time": AT, "causes": [{ "kind": "requires" }] }), "missing_parameter", "causes/0/event_id"),
        (json!({ "time": AT, "causes": vec!["a"; 257] }), "invalid_parameter", "causes"),
        (json!({ "time": AT, "actors": [7] }), "invalid_parameter", "actors/0"),
        (json!({ "time": AT, "actors": vec!["a"; 257] }), "invalid_parameter", "actors"),
        (json!({ "time": AT, "attributes": [] }), "invalid_parameter", "attributes"),
        (json!({ "time": AT, "attributes": { "a": "x".repeat(65_536) } }), "invalid_parameter", "attributes"),
    ] {
        let check = |body: &Value, pointer: &str| {
            let refused = send(&service, "/v1/events", body).refused(400, code);
            assert_eq!(refused["errors"][0]["pointer"], pointer, "{event}: {refused}");
        };
        check(&event, &format!("#/{field}"));
        check(&json!([event]), &format!("#/0/{field}"));
        check(&json!([good, event]), &format!("#/1/{field}"));
    }
    for body in [json!([]), json!(vec![json!({ "time": AT }); 1_001])] {
        send(&service, "/v1/events", &body).refused(400, "invalid_parameter");
    }
    for body in [json!([7]), json!([[good]]), json!([null])] {
        send(&service, "/v1/events", &body).refused(400, "invalid_parameter");
    }
    assert_eq!(
        service.get("/timeline/main", &[])["events"],
        0,
        "none of them was recorded, nor what stood beside them"
    );
    let most = vec![json!({ "time": AT }); 1_000];
    assert_eq!(service.post("/v1/events", &json!(most))["event_ids"].as_array().unwrap().len(), 1_000);
    service.audit();
}

#[test]
fn duplicate_event_id_is_rejected() {
    let service = Service::start();
    let one = json!({ "time": AT, "event_id": "one" });
    let other = json!({ "time": AT, "event_id": "one", "name": "other" });
    let new = json!({ "time": AT, "event_id": "new" });
    send(&service, "/v1/events", &one).expect(201);
    for (body, pointer) in [
        (other.clone(), "#/event_id"),
        (one.clone(), "#/event_id"),
        (json!([new, other]), "#/1/event_id"),
        (json!([new, one]), "#/1/event_id"),
    ] {
        let refused = send(&service, "/v1/events", &body).refused(409, "already_exists");
        assert_eq!(refused["errors"][0]["pointer"], pointer, "{body}: {refused}");
    }
    let twice = send(&service, "/v1/events", &json!([new, new])).refused(400, "invalid_parameter");
    assert_eq!(twice["errors"][0]["pointer"], "#/1/event_id");
    assert_eq!(service.get("/timeline/main", &[])["events"], 1);
    // On another timeline it is a different event.
    service.post("/v1/events?timeline_id=other", &one);
    assert_eq!(service.get("/timeline/other", &[])["events"], 1);
    service.audit();
}

#[test]
fn timeline_can_be_given_in_query_or_body() {
    let service = Service::start();
    let record = |query: &str, body: &Value| send(&service, &format!("/v1/events{query}"), body);
    assert_eq!(record("", &json!({ "time": AT })).expect(201)["timeline_id"], "main");
    assert_eq!(record("?timeline_id=a", &json!({ "time": AT })).expect(201)["timeline_id"], "a");
    assert_eq!(record("", &json!({ "time": AT, "timeline_id": "b" })).expect(201)["timeline_id"], "b");
    assert_eq!(record("?timeline_id=b", &json!({ "time": AT, "timeline_id": "b" })).expect(201)["timeline_id"], "b");
    assert_eq!(record("?timeline_id=c", &json!([{ "time": AT }])).expect(201)["timeline_id"], "c");
    let refused =
        record("?timeline_id=a", &json!({ "time": AT, "timeline_id": "b" })).refused(400, "conflicting_parameters");
    assert_eq!(refused["errors"][0]["pointer"], "#/timeline_id");
    record("?timeline_id=a%20b", &json!({ "time": AT })).refused(400, "invalid_parameter");
    record("", &json!({ "time": AT, "timeline_id": 7 })).refused(400, "invalid_parameter");
    let refused = record("?timeline=a", &json!({ "time": AT })).refused(400, "unknown_parameter");
    assert!(refused["detail"].as_str().unwrap().contains("did you mean `timeline_id`?"), "{refused}");
    let refused = record("", &json!([{ "time": AT, "timeline_id": "a" }])).refused(400, "unknown_parameter");
    assert_eq!(refused["errors"][0]["pointer"], "#/0/timeline_id");
    for timeline in ["main", "a", "b", "c"] {
        let expected = if timeline == "b" { 2 } else { 1 };
        assert_eq!(service.get(&format!("/timeline/{timeline}"), &[])["events"], expected, "{timeline}");
    }
    service.audit();
}

#[test]
fn event_fields_are_stored_unchanged() {
    let service = Service::start();
    let texts =
        ["\u{0}\u{1f}\u{7f}", "\"\\/\u{8}\u{c}\n\r\t", "\u{2028}\u{2029}", "😀 e\u{301} é", "<script>", "' OR 1=1 --"];
    for text in texts {
        let event = json!({ "time": AT, "name": text, "description": text, "location": text, "source": text,
            "actors": [text], "attributes": { text: text } });
        let answer = send(&service, "/v1/events?timeline_id=texts", &event);
        assert_eq!(answer.status, 201, "{text:?}: {answer}");
        let found = service.find_all("texts", "*", "../..", "100");
        let stored = found.last().unwrap();
        for (name, value) in event.as_object().unwrap() {
            assert_eq!(stored[name], *value, "{name} of {text:?}");
        }
    }
    let numbers = json!({ "a": 9_007_199_254_740_991_i64, "b": -0.5, "c": 1e-7, "d": 1e21, "e": 0.1 });
    service.post("/v1/events", &json!({ "time": AT, "attributes": numbers }));
    assert_eq!(service.find_all("main", "*", "../..", "100")[0]["attributes"], numbers);
    let beyond = json!({ "time": AT, "attributes": { "a": 9_007_199_254_740_993_i64 } });
    let refused = send(&service, "/v1/events", &beyond).refused(400, "invalid_parameter");
    assert!(refused["errors"][0]["pointer"].as_str().unwrap().starts_with("#/attributes"), "{refused}");
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
            let refused = service.send(request).refused(400, "invalid_parameter");
            assert_eq!(refused["errors"][0]["pointer"], pointer, "{body}");
            let detail = refused["detail"].as_str().unwrap();
            assert!(detail.contains(&format!("{number} has no exact form")), "{detail}");
        }
    }
    let timer = format!("{{\"at\":\"{AT}\",\"payload\":[100000000000000000001]}}");
    let request = Request::post("/v1/timers").body("application/json", timer.as_bytes());
    assert_eq!(service.send(request).refused(400, "invalid_parameter")["errors"][0]["pointer"], "#/payload/0");
    service.audit();
}
