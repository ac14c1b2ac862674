//! Timers as causes of events, and paradoxes about them.

use serde_json::{Value, json};

use super::{acknowledge, claim};
use crate::support::http::Request;
use crate::support::service::Service;
use crate::v1::messages::open;
use crate::v1::paused_service;

/// Sets a timer that fires daily from 2 January 2000.
fn daily(service: &Service, timer_id: &str, deliver: &Value) {
    let every = json!({ "rule": "FREQ=DAILY", "starts": "2000-01-02T00:00:00Z" });
    service.post("/v1/timers", &json!({ "timer_id": timer_id, "every": every, "deliver": deliver }));
}

fn recorded() -> Value {
    json!({ "to": "timeline", "event": { "name": "Daily" } })
}

fn travel(service: &Service, day: u32, refire: bool) {
    let to = format!("2000-01-{day:02}T00:00:00Z");
    service.post("/v1/travel", &json!({ "destination_time": to, "refire": refire }));
}

fn paradoxes(service: &Service) -> Vec<Value> {
    let request = [("timeline_id", "main"), ("time_range", "../..")];
    service.get("/v1/monitor-paradox", &request)["paradoxes"].as_array().unwrap().clone()
}

/// Returns code and firing time of each paradox, and how the timer was taken back.
fn taken_back(service: &Service) -> Vec<(String, String, Value)> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let row = |paradox: &Value| {
        let timer = &paradox["witness"]["timer"];
        (text(&paradox["code"]), text(&timer["due"]), timer["taken_back"].clone())
    };
    paradoxes(service).iter().map(row).collect()
}

fn orphan(day: u32, how: &str) -> (String, String, Value) {
    ("P05".to_owned(), format!("2000-01-{day:02}T00:00:00Z"), json!(how))
}

#[test]
fn later_events_of_canceled_timer_are_orphans() {
    let service = paused_service();
    daily(&service, "daily", &recorded());
    travel(&service, 4, false);
    // Firings before a rewind stay, and are not paradoxes.
    let anchor = service.post("/v1/set-anchor", &json!({ "fixed": false }))["anchor_id"].clone();
    travel(&service, 2, false);
    assert_eq!(paradoxes(&service), [] as [Value; 0]);
    let mut connection = service.connect();
    let request = Request::get("/v1/stream?topics=paradoxes").header("Accept", "text/event-stream");
    let mut messages = open(&mut connection, &service, request);
    service.send(Request::new("DELETE", "/v1/timers/daily")).expect(200);
    // 2 January is not before: it fired at exactly the time that the clock showed.
    assert_eq!(taken_back(&service), [orphan(3, "cancelled"), orphan(4, "cancelled")]);
    let first = paradoxes(&service)[0].clone();
    let streamed = std::iter::from_fn(|| messages.next()).find(|message| message.event == "paradox-created");
    assert_eq!(streamed.expect("a message").data["paradox"]["key"], first["key"]);
    drop(messages);
    assert_eq!(first["witness"]["timer"]["timer_id"], "daily");
    assert_eq!((&first["events"][0], first["events"].as_array().unwrap().len()), (&first["witness"]["effect"], 1));
    let explanation = first["explanation"].as_str().unwrap();
    assert!(explanation.contains("was recorded by the timer `daily`, which was canceled at 2000-01-02"), "{first}");
    let event_id = first["events"][0].as_str().unwrap();
    let check = service.get("/v1/check-timeline", &[("timeline_id", "main"), ("significant_event", event_id)]);
    assert_eq!(check["paradoxes"][0]["key"], first["key"], "{check}");
    // Of the two resolutions, one cancels the event, and the other restores the timer.
    let prevent = json!({ "event_id": event_id, "action": "prevent", "time": "2000-01-02T00:00:00Z" });
    let resolved = service.post("/v1/manipulate-event", &prevent);
    assert_eq!(resolved["paradoxes_resolved"][0]["key"], first["key"], "{resolved}");
    assert_eq!(taken_back(&service), [orphan(4, "cancelled")]);
    service.post("/v1/return-to-anchor", &json!({ "anchor_id": anchor }));
    assert_eq!(taken_back(&service), []);
    service.audit();
}

#[test]
fn firing_can_be_a_cause_of_events() {
    let service = paused_service();
    daily(&service, "work", &json!({ "to": "queue", "queue": "default" }));
    service.post("/v1/travel", &json!({ "destination_time": "2000-01-03T00:00:00Z", "wait_for_timers": false }));
    let firings = claim(&service, 10, "20s");
    for firing in &firings {
        let event = json!({ "time": firing["due"], "causes": [firing["firing_id"]] });
        service.post("/v1/events", &event);
    }
    acknowledge(&service, &firings);
    let late = json!({ "event_id": "late", "time": "2000-01-02T12:00:00Z", "causes": [firings[1]["firing_id"]] });
    service.post("/v1/events", &late);
    let request = [("timeline_id", "main"), ("time_range", "../.."), ("include", "observations")];
    let all = service.get("/v1/monitor-paradox", &request);
    assert_eq!(all["observations"].get("P06"), None, "a firing is a cause that there is: {all}");
    let early = &paradoxes(&service)[0];
    assert_eq!((&early["code"], &early["events"]), (&json!("P01"), &json!([firings[1]["firing_id"], "late"])));
    assert_eq!(early["witness"]["timer"]["timer_id"], "work");
    service.post("/v1/rewind", &json!({ "duration": "1d", "refire": true }));
    let codes: Vec<_> = taken_back(&service).into_iter().map(|(code, due, _)| format!("{code} {due}")).collect();
    assert_eq!(codes, ["P05 2000-01-03T00:00:00Z"; 2]);
    service.audit();
}
