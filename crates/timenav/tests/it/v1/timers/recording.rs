//! Timers whose firings are recorded as events.

use serde_json::{Value, json};

use crate::support::http::Request;
use crate::v1::messages::open;
use crate::v1::{assert_members, paused_service, post_invalid, send};

const EVERYTHING: [(&str, &str); 2] = [("location", "*"), ("time_range", "../..")];

fn recording(timer_id: &str, at: &str, event: &Value) -> Value {
    json!({ "timer_id": timer_id, "at": at, "deliver": { "to": "timeline", "event": event } })
}

#[test]
fn recorded_firings_are_visible_events() {
    let service = paused_service();
    let mut connection = service.connect();
    let request = Request::get("/v1/stream?topics=advances,events").header("Accept", "text/event-stream");
    let mut messages = open(&mut connection, &service, request);
    let event = json!({ "name": "Trial ends", "description": "", "actors": ["customer-7"], "attributes": { "n": 1 } });
    let set = service.post("/v1/timers", &recording("trial", "2000-01-02T00:00:00Z", &event));
    assert_eq!(set["timer"]["deliver"], json!({ "to": "timeline", "event": event }));
    service.post("/v1/timers", &json!({ "timer_id": "work", "at": "2000-01-03T00:00:00Z" }));

    let would = service.post("/v1/fast-forward", &json!({ "duration": "3d", "dry_run": true }))["would_fire"].clone();
    assert_eq!(would["firings"][0], json!({ "timer_id": "trial", "due": "2000-01-02T00:00:00Z" }));
    assert_eq!(would["firings"][1]["queue"], "default");
    let settled = service.post("/v1/fast-forward", &json!({ "duration": "3d" }))["receipt"].clone();
    assert_members(&settled, &json!({ "state": "settled", "acknowledged": 1 }));
    let firing = &settled["firings"][0];
    assert_eq!((&firing["event_id"], firing.get("queue")), (&firing["firing_id"], None));
    assert_eq!((&settled["firings"][1]["queue"], settled["firings"][1].get("event_id")), (&json!("default"), None));

    let found = service.get("/v1/monitor-events", &EVERYTHING)["events"].clone();
    assert_eq!(found.as_array().unwrap().len(), 1, "{found}");
    let expected = json!({ "event_id": firing["firing_id"], "time": "2000-01-02T00:00:00Z", "name": "Trial ends",
        "source": "timer:trial", "attributes": { "n": 1 } });
    assert_members(&found[0], &expected);
    let details = service.get("/v1/timers/trial", &[]);
    assert_eq!((&details["timer"]["state"], &details["firings"][0]["state"]), (&json!("done"), &json!("acknowledged")));

    // Intermediate steps may be skipped; the first and last message of an advance are not.
    let mut advances: Vec<Value> = Vec::new();
    let mut recorded = None;
    while advances.last().is_none_or(|last| last["state"] == "running") {
        let message = messages.next().expect("a message");
        match message.event.as_str() {
            "advances" => advances.push(message.data["advance"].clone()),
            "events" => recorded = Some(message.data["event_id"].clone()),
            // The start of the stream.
            "" => {}
            other => panic!("{other}: {}", message.data),
        }
    }
    assert_eq!(recorded.as_ref(), Some(&firing["firing_id"]));
    assert_members(&advances[0], &json!({ "state": "running", "step": 0 }));
    let end = json!({ "state": "settled", "fired": 2, "reached": settled["reached"] });
    assert_members(advances.last().unwrap(), &end);
    assert!(advances.iter().all(|advance| advance["advance_id"] == settled["advance_id"]), "{advances:?}");
    service.audit();
}

#[test]
fn invalid_recorded_event_is_rejected_at_its_field() {
    let service = paused_service();
    let at = "2000-01-02T00:00:00Z";
    let deliver = |deliver: Value| json!({ "at": at, "deliver": deliver });
    let timeline = |event: Value| deliver(json!({ "to": "timeline", "event": event }));
    for (body, pointer) in [
        (deliver(json!({ "to": "timeline" })), "#/deliver/event"),
        (deliver(json!({ "to": "timeline", "queue": "q", "event": {} })), "#/deliver/queue"),
        (deliver(json!({ "to": "queue", "event": {} })), "#/deliver/event"),
        (deliver(json!({ "to": "queue", "queue": "timenav:timeline" })), "#/deliver/queue"),
        (deliver(json!({ "to": "email" })), "#/deliver/to"),
        (timeline(json!("it ends")), "#/deliver/event"),
        (timeline(json!({ "event_id": "mine" })), "#/deliver/event/event_id"),
        (timeline(json!({ "time": at })), "#/deliver/event/time"),
        (timeline(json!({ "end_time": at })), "#/deliver/event/end_time"),
        (timeline(json!({ "causes": [{ "event_id": "a b" }] })), "#/deliver/event/causes/0/event_id"),
        (json!({ "at": at, "deliver": { "to": "timeline", "event": {} }, "payload": 42 }), "#/payload"),
        (json!({ "at": at, "deliver": { "to": "timeline", "event": {} }, "order_key": "k" }), "#/order_key"),
    ] {
        post_invalid(&service, "/v1/timers", &body, pointer);
    }
    let unknown = timeline(json!({ "descripton": "it ends" }));
    let refused = send(&service, "/v1/timers", &unknown).refused(400, "unknown_parameter");
    assert_eq!(refused["errors"][0]["pointer"], "#/deliver/event/descripton");
    assert_eq!(service.get("/v1/timers", &[])["timers"], json!([]));
    // A timer can change from a queue to the timeline and back.
    service.post("/v1/timers", &json!({ "timer_id": "t", "at": at }));
    for deliver in [json!({ "to": "timeline", "event": {} }), json!({ "to": "queue", "queue": "q" })] {
        let patch = Request::new("PATCH", "/v1/timers/t").json(&json!({ "deliver": deliver }));
        let changed = service.send(patch).expect(200)["timer"]["deliver"].clone();
        assert_eq!(changed["to"], deliver["to"]);
    }
    service.audit();
}
