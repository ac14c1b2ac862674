//! The topic `due`: events passed by the clock.

use serde_json::json;

use super::stream_of;
use crate::support::service::Service;
use crate::v1::messages::{Message, Messages, open};
use crate::v1::{assert_members, paused_service};

fn record(service: &Service, time: &str) {
    service.post("/v1/events", &json!({ "event_id": format!("at-{time}").replace(':', "-"), "time": time }));
}

fn next(messages: &mut Messages<'_>) -> Message {
    loop {
        let message = messages.next().expect("a message");
        if message.event == "due" {
            return message;
        }
        assert_eq!(message.event, "", "{message:?}");
    }
}

#[test]
fn due_topic_sends_ranges_passed_by_the_clock() {
    let service = paused_service();
    for time in ["2000-01-02T00:00:00Z", "2000-01-03T00:00:00Z"] {
        record(&service, time);
    }
    let (mut connection, mut default_connection) = (service.connect(), service.connect());
    let mut messages = open(&mut connection, &service, stream_of("?topics=due"));
    let mut default = open(&mut default_connection, &service, stream_of(""));
    let mut seen = String::new();
    for (to, from) in [
        ("2000-01-02T12:00:00Z", "2000-01-01T00:00:00.000001Z"),
        ("2000-01-04T00:00:00Z", "2000-01-02T12:00:00.000001Z"),
    ] {
        service.post("/v1/travel", &json!({ "destination_time": to }));
        let message = next(&mut messages);
        let expected = json!({ "from": from, "to": to, "time_range": format!("{from}/{to}") });
        assert_members(&message.data["due"], &expected);
        if !seen.is_empty() {
            // A client that resumes gets only the missed ranges.
            let mut connection = service.connect();
            let request = stream_of("?topics=due").header("Last-Event-ID", &seen);
            let mut resumed = open(&mut connection, &service, request);
            assert_eq!(next(&mut resumed).data["due"], message.data["due"]);
        }
        seen = message.place;
    }
    // By default there are no such messages.
    record(&service, "2000-02-02T00:00:00Z");
    let topics: Vec<String> = (0..4).map(|_| default.next().expect("a message").event).collect();
    assert_eq!(topics, ["clock", "clock", "clock", "events"]);
    service.audit();
}
