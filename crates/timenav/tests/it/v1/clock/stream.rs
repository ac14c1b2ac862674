//! `GET /v1/clock/stream`: one message per change, resumable.

use serde_json::{Value, json};

use super::{lasting, paused_service};
use crate::support::http::{Connection, Request};
use crate::support::service::Service;
use crate::v1::messages::{Messages, open};

fn stream() -> Request {
    Request::get("/v1/clock/stream").header("Accept", "text/event-stream")
}

/// A stream for a client that has seen this generation.
fn stream_after(generation: u64) -> Request {
    stream().header("Last-Event-ID", &generation.to_string())
}

fn forward(service: &Service) -> Value {
    service.post("/v1/fast-forward", &json!({ "duration": "1h" }))
}

#[test]
fn stream_sends_one_message_per_change() {
    let service = paused_service();
    let mut connection = service.connect();
    let mut messages = open(&mut connection, &service, stream());
    let first = messages.next().expect("the clock as it is");
    assert_eq!((first.event.as_str(), first.id), ("clock", 2));
    let read = service.get("/v1/clock", &[]);
    assert_eq!(first.data, read, "a message is what a read answers");
    assert_eq!(first.data["generation"], first.id, "the id is the generation");
    let anchor = service.post("/v1/set-anchor", &json!({}))["anchor_id"].clone();
    for (path, body) in [
        ("/v1/fast-forward", json!({ "duration": "1h" })),
        ("/v1/pause-time", json!({})),
        ("/v1/rewind", json!({ "duration": "1h" })),
        ("/v1/set-rate", json!({ "rate": 60 })),
        ("/v1/set-rate", json!({ "rate": 60 })),
        ("/v1/resume-time", json!({})),
        ("/v1/events", json!({ "time": "2001-01-01T00:00:00Z" })),
        ("/v1/travel", json!({ "destination_time": "2001-01-01T00:00:00Z", "location": "a\nb\r\nc" })),
        ("/v1/travel", json!({ "destination_time": "2001-01-01T00:00:00Z", "timeline_id": "other" })),
        ("/v1/return-to-anchor", json!({ "anchor_id": anchor })),
    ] {
        let answer = service.post(path, &body);
        let silent = answer.get("generation").is_none()
            || answer["timeline_id"] != "main"
            || answer["status"].as_str().is_some_and(|text| text.contains("already"));
        if !silent {
            let message = messages.next().expect("a message for a change");
            assert_eq!(message.event, "clock");
            assert_eq!(lasting(&message.data), lasting(&answer), "{path} {body}");
            assert_eq!(message.data["generation"], message.id, "the id is the generation");
        }
    }
    service.audit();
}

/// Messages come from the ledger: nothing is kept without listeners, and nothing is lost in a restart.
#[test]
fn resumed_stream_misses_and_repeats_nothing() {
    let mut service = paused_service();
    let mut changes = vec![service.get("/v1/clock", &[])];
    for number in 0..20 {
        changes.push(forward(&service));
        // There are entries without clock changes in between.
        service.post("/v1/pause-time", &json!({}));
        service.post("/v1/events", &json!({ "time": "2001-01-01T00:00:00Z", "name": format!("{number}") }));
    }
    let newest = changes[20]["generation"].as_u64().unwrap();
    for restarts in [false, true] {
        if restarts {
            service.restart();
        }
        for missed in [20, 19, 7, 1] {
            let mut connection = service.connect();
            let mut messages = open(&mut connection, &service, stream_after(newest - missed));
            for (generation, change) in
                (newest - missed + 1..=newest).zip(&changes[21 - usize::try_from(missed).unwrap()..])
            {
                let message = messages.next().unwrap();
                assert_eq!((message.event.as_str(), message.id), ("clock", generation), "restarts: {restarts}");
                assert_eq!(lasting(&message.data), lasting(change));
            }
        }
    }
    // A client that has seen everything gets the next change, not the last one again.
    let mut connection = service.connect();
    let mut messages = open(&mut connection, &service, stream_after(newest));
    let next = forward(&service);
    let message = messages.next().unwrap();
    assert_eq!((message.event.as_str(), message.id), ("clock", newest + 1));
    assert_eq!(lasting(&message.data), lasting(&next));
    service.audit();
}

#[test]
fn changes_between_read_and_stream_are_not_lost() {
    let service = paused_service();
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            let mut last = 0;
            for _ in 0..60 {
                last = forward(&service)["generation"].as_u64().unwrap();
            }
            last
        });
        let mut seen = service.get("/v1/clock", &[])["generation"].as_u64().unwrap();
        // Each connection receives a few changes; together they receive all, in order.
        while seen < 62 {
            let mut connection = service.connect();
            let mut messages = open(&mut connection, &service, stream_after(seen));
            for _ in 0..3.min(62 - seen) {
                let message = messages.next().unwrap();
                assert_eq!((message.event.as_str(), message.id), ("clock", seen + 1));
                seen = message.id;
            }
        }
        assert_eq!(writer.join().unwrap(), 62);
    });
    service.audit();
}

#[test]
fn unknown_resume_id_resets_to_the_current_clock() {
    let mut service = paused_service();
    let newest = forward(&service);
    let check = |service: &Service, seen: &str, expected: &Value| {
        let mut connection = service.connect();
        let request = stream().header("Last-Event-ID", seen);
        let message = open(&mut connection, service, request).next().unwrap();
        assert_eq!(message.event, "reset", "{seen}");
        assert_eq!(lasting(&message.data), lasting(expected), "{seen}");
    };
    for unknown in ["4", "1000000", "18446744073709551615"] {
        check(&service, unknown, &newest);
    }
    service.restart();
    check(&service, "4", &newest);
    // An empty id means that nothing was received.
    let mut connection = service.connect();
    let nothing_seen = stream().header("Last-Event-ID", "");
    assert!(open(&mut connection, &service, nothing_seen).next().is_some());
    drop(connection);
    for wrong in ["x", "-1", "1.5", "18446744073709551616"] {
        service.send(stream().header("Last-Event-ID", wrong)).refused(400, "invalid_parameter");
    }
    service.audit();
}

#[test]
fn streams_close_when_the_service_stops() {
    let mut service = paused_service();
    let mut connections: Vec<Connection> = (0..5).map(|_| service.connect()).collect();
    let mut streams: Vec<Messages<'_>> =
        connections.iter_mut().map(|connection| open(connection, &service, stream())).collect();
    for stream in &mut streams {
        stream.next().expect("the clock as it is");
    }
    assert!(service.stop().success(), "{}", service.log_text());
    for stream in &mut streams {
        assert!(stream.next().is_none());
    }
    drop(streams);
    service.start_again();
    service.audit();
}
