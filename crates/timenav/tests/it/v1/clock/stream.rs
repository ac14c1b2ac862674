//! `GET /v1/clock/stream`: one message per change, resumable.

use serde_json::{Value, json};

use super::{PREFIXES, lasting, paused_service, send};
use crate::snapshot;
use crate::support::http::{Connection, Request};
use crate::support::service::Service;
use crate::v1::messages::{Messages, open};

fn stream_of(prefix: &str) -> Request {
    Request::get(&format!("{prefix}/clock/stream")).header("Accept", "text/event-stream")
}

fn forward(service: &Service) -> Value {
    send(service, "/v1/fast-forward", &json!({ "duration": "1h" })).expect(200)
}

#[test]
fn stream_sends_one_message_per_change() {
    for prefix in PREFIXES {
        let service = paused_service();
        let mut connection = service.connect();
        let mut messages = open(&mut connection, &service, stream_of(prefix));
        let first = messages.next().expect("the clock as it is");
        assert_eq!((first.event.as_str(), first.id), ("clock", 2));
        let read = service.get("/v1/clock", &[]);
        assert_eq!(first.data, read, "a message is what a read answers");
        assert_eq!(first.data["generation"], first.id, "the id is the generation");
        let anchor = send(&service, "/v1/set-anchor", &json!({})).expect(200)["anchor_id"].clone();
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
        drop(messages);
        drop(connection);
        service.audit();
    }
}

#[test]
fn resumed_stream_misses_and_repeats_nothing() {
    let service = paused_service();
    let changes: Vec<Value> = (0..20).map(|_| forward(&service)).collect();
    let newest = changes[19]["generation"].as_u64().unwrap();
    for seen in [newest - 20, newest - 19, newest - 7, newest - 1] {
        let mut connection = service.connect();
        let request = stream_of("/v1").header("Last-Event-ID", &seen.to_string());
        let mut messages = open(&mut connection, &service, request);
        for generation in seen + 1..=newest {
            let message = messages.next().unwrap();
            assert_eq!((message.event.as_str(), message.id), ("clock", generation));
            let change = changes.iter().find(|change| change["generation"] == generation).unwrap();
            assert_eq!(lasting(&message.data), lasting(change));
        }
    }
    // A client that has seen everything gets the next change, not the last one again.
    let mut connection = service.connect();
    let request = stream_of("/v1").header("Last-Event-ID", &newest.to_string());
    let mut messages = open(&mut connection, &service, request);
    let next = forward(&service);
    let message = messages.next().unwrap();
    assert_eq!((message.event.as_str(), message.id), ("clock", newest + 1));
    assert_eq!(lasting(&message.data), lasting(&next));
    drop(messages);
    drop(connection);
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
            let request = stream_of("/v1").header("Last-Event-ID", &seen.to_string());
            let mut messages = open(&mut connection, &service, request);
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
        let request = stream_of("/v1").header("Last-Event-ID", seen);
        let message = open(&mut connection, service, request).next().unwrap();
        assert_eq!(message.event, "reset", "{seen}");
        assert_eq!(lasting(&message.data), lasting(expected), "{seen}");
    };
    for unknown in ["4", "1000000", "18446744073709551615"] {
        check(&service, unknown, &newest);
    }
    service.restart();
    check(&service, "4", &newest);
    // Changes beyond the history limit are not sent.
    let mut last = Value::Null;
    for _ in 0..260 {
        last = forward(&service);
    }
    let newest = last["generation"].as_u64().unwrap();
    check(&service, &(newest - 258).to_string(), &last);
    // An empty id means that nothing was received.
    let mut connection = service.connect();
    let nothing_seen = stream_of("/v1").header("Last-Event-ID", "");
    assert!(open(&mut connection, &service, nothing_seen).next().is_some());
    drop(connection);
    for wrong in ["x", "-1", "1.5", "18446744073709551616"] {
        service.send(stream_of("/v1").header("Last-Event-ID", wrong)).refused(400, "invalid_parameter");
    }
    service.audit();
}

/// Messages come from the ledger: nothing is kept without listeners, and nothing is lost in a restart.
#[test]
fn resumed_stream_misses_nothing_after_a_restart() {
    let mut service = paused_service();
    let mut changes = vec![service.get("/v1/clock", &[])];
    for number in 0..10 {
        changes.push(forward(&service));
        // There are entries without clock changes in between.
        service.post("/v1/pause-time", &json!({}));
        service.post("/v1/events", &json!({ "time": "2001-01-01T00:00:00Z", "name": format!("{number}") }));
    }
    service.restart();
    let newest = changes[10]["generation"].as_u64().unwrap();
    for (seen, first) in [(newest - 10, 1), (newest - 3, 8)] {
        let mut connection = service.connect();
        let request = stream_of("/v1").header("Last-Event-ID", &seen.to_string());
        let mut messages = open(&mut connection, &service, request);
        for change in &changes[first..] {
            let message = messages.next().unwrap();
            assert_eq!((message.event.as_str(), json!(message.id)), ("clock", change["generation"].clone()));
            assert_eq!(lasting(&message.data), lasting(change));
        }
    }
    service.audit();
}

#[test]
fn stream_closes_when_permission_is_lost() {
    let service = paused_service();
    let made = service.post("/v1/api-keys", &json!({ "label": "listener" }));
    let key = made["api_key"].as_str().unwrap();
    let mut connection = service.connect();
    let mut messages = open(&mut connection, &service, stream_of("/v1").key(key));
    messages.next().expect("the clock as it is");
    forward(&service);
    messages.next().expect("a change");
    let path = format!("/v1/api-keys/{}", made["key_id"].as_str().unwrap());
    service.send(Request::new("DELETE", &path)).expect(200);
    forward(&service);
    assert!(messages.next().is_none(), "a revoked key hears no change");
    drop(messages);
    service.send(stream_of("/v1").key(key)).refused(401, "invalid_credentials");
    // The same for a user who is removed.
    let ada = service.user("ada");
    service.send(Request::post("/timelines").json(&json!({ "timeline_id": "hers" })).key(&ada)).expect(201);
    let mut connection = service.connect();
    let request = Request::get("/v1/clock/stream?timeline_id=hers").key(&ada);
    let mut messages = open(&mut connection, &service, request);
    messages.next().expect("the clock as it is");
    service.send(Request::new("DELETE", "/v1/users/ada")).expect(200);
    send(&service, "/v1/pause-time", &json!({ "timeline_id": "hers" })).expect(200);
    assert!(messages.next().is_none(), "a removed user hears no change");
    drop(messages);
    service.audit();
}

#[test]
fn streams_close_when_the_service_stops() {
    let mut service = paused_service();
    let mut connections: Vec<Connection> = (0..5).map(|_| service.connect()).collect();
    let mut streams: Vec<Messages<'_>> =
        connections.iter_mut().map(|connection| open(connection, &service, stream_of("/v1"))).collect();
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

#[test]
fn unauthorized_or_invalid_streams_are_rejected() {
    let service = Service::start();
    let ada = service.user("ada");
    snapshot::check("stream-hidden", &service.send(stream_of("/v1").key(&ada)));
    service.send(stream_of("/v1").anonymous()).refused(401, "missing_credentials");
    service.send(Request::get("/v1/clock/stream?timeline_id=no-such")).refused(404, "not_found");
    service.send(Request::get("/v1/clock/stream?timeline=main")).refused(400, "unknown_parameter");
    service.audit();
}
