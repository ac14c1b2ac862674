//! The topic `due`: events passed by the clock.

use serde_json::{Value, json};

use super::stream_of;
use crate::support::service::Service;
use crate::v1::messages::{Message, Messages, open};
use crate::v1::paused_service;

fn record(service: &Service, time: &str) {
    service.post("/v1/events", &json!({ "event_id": format!("at-{time}").replace(':', "-"), "time": time }));
}

/// Returns the next range.
fn next(messages: &mut Messages<'_>) -> Message {
    loop {
        let message = messages.next().expect("a message");
        if message.event == "due" {
            return message;
        }
        assert_eq!(message.event, "", "{message:?}");
    }
}

/// Returns the times of the events in a range, as a player reads them.
fn played(service: &Service, message: &Message) -> Vec<String> {
    let due = &message.data["due"];
    let range = due["time_range"].as_str().expect("a range");
    assert_eq!(range, format!("{}/{}", due["from"].as_str().unwrap(), due["to"].as_str().unwrap()));
    let found = service.get("/v1/monitor-events", &[("location", "*"), ("time_range", range)]);
    let time = |event: &Value| event["time"].as_str().expect("a time").to_owned();
    found["events"].as_array().expect("events").iter().map(time).collect()
}

#[test]
fn due_topic_sends_events_passed_by_the_clock() {
    let service = paused_service();
    service.post("/v1/travel", &json!({ "destination_time": "2026-03-07T02:13:00Z" }));
    let times = ["02:14:00", "02:14:30", "02:16:00", "02:17:00"].map(|time| format!("2026-03-07T{time}Z"));
    for time in &times {
        record(&service, time);
    }
    let mut connection = service.connect();
    let mut messages = open(&mut connection, &service, stream_of("?topics=due"));
    // Running clock: each event is reported at its time.
    service.post("/v1/set-rate", &json!({ "rate": 120 }));
    service.post("/v1/resume-time", &json!({}));
    let (mut received, mut last) = (Vec::new(), None);
    while received.len() < times.len() {
        let message = next(&mut messages);
        received.extend(played(&service, &message));
        last = Some(message);
    }
    assert_eq!(received, times);
    service.post("/v1/pause-time", &json!({}));
    // After a rewind and a jump they are passed again, all at once.
    service.post("/v1/travel", &json!({ "destination_time": "2026-03-07T02:14:00Z" }));
    service.post("/v1/travel", &json!({ "destination_time": "2026-03-07T03:00:00Z" }));
    let again = next(&mut messages);
    assert_eq!(again.data["due"]["from"], "2026-03-07T02:14:00.000001Z");
    assert_eq!(played(&service, &again), times[1..]);
    // A client that resumes gets only that, and nothing twice.
    let last = last.expect("a range");
    let mut other = service.connect();
    let request = stream_of("?topics=due").header("Last-Event-ID", &last.place);
    let mut missed = open(&mut other, &service, request);
    assert_eq!(next(&mut missed).data["due"], again.data["due"]);
    drop((messages, missed));
    drop((connection, other));
    service.audit();
}

#[test]
fn default_topics_exclude_due_events() {
    let service = paused_service();
    record(&service, "2000-01-02T00:00:00Z");
    let mut connection = service.connect();
    let mut messages = open(&mut connection, &service, stream_of(""));
    service.post("/v1/fast-forward", &json!({ "duration": "3d" }));
    record(&service, "2000-02-02T00:00:00Z");
    let messages_read: Vec<String> = (0..3).map(|_| messages.next().expect("a message").event).collect();
    assert_eq!(messages_read, ["clock", "clock", "events"]);
    drop(messages);
    drop(connection);
    service.audit();
}
