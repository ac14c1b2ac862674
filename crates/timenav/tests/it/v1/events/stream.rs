//! `GET /v1/stream`: timeline events, resumable by ledger position.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::snapshot;
use crate::support::http::Request;
use crate::support::service::Service;
use crate::v1::messages::{Message, Messages, open};
use crate::v1::{lasting, paused_service};

mod due;
mod paradoxes;

const TIME: &str = "1969-07-16T13:32:00Z";

fn stream_of(topics: &str) -> Request {
    Request::get(&format!("/v1/stream{topics}")).header("Accept", "text/event-stream")
}

fn after(position: u64) -> Request {
    stream_of("").header("Last-Event-ID", &position.to_string())
}

fn read(service: &Service, request: Request, count: usize) -> Vec<Message> {
    let mut connection = service.connect();
    let mut messages = open(&mut connection, service, request);
    (0..count).map(|_| messages.next().expect("a message")).collect()
}

fn event(event_id: &str) -> Value {
    json!({ "event_id": event_id, "time": TIME })
}

/// Performs one action of each kind. Returns topic and position of the expected messages.
fn live_through(service: &Service) -> Vec<(&'static str, u64)> {
    let mut messages = Vec::new();
    let anchor = service.post("/v1/set-anchor", &json!({}))["anchor_id"].clone();
    let mut done = |path: &str, body: &Value, topic: &'static str| {
        let answer = service.post(&format!("/v1/{path}"), body);
        if !topic.is_empty() {
            messages.push((topic, answer["ledger"]["position"].as_u64().expect("a position")));
        }
    };
    let deed = |action: &str| json!({ "event_id": "first", "action": action, "time": TIME });
    done("events", &event("first"), "events");
    done("correct-event", &json!({ "event": { "event_id": "first", "time": TIME, "name": "Launch" } }), "events");
    done("manipulate-event", &deed("delay by 2h"), "interventions");
    done("manipulate-event", &deed("only a note"), "interventions");
    done("fast-forward", &json!({ "duration": "1h" }), "clock");
    done("pause-time", &json!({}), "");
    done("events", &json!({ "event_id": "elsewhere", "time": TIME, "timeline_id": "other" }), "");
    service.get("/v1/monitor-events", &[("location", "*"), ("time_range", "../..")]);
    done("travel", &json!({ "destination_time": TIME, "location": "a\nb\r\nc" }), "clock");
    done("return-to-anchor", &json!({ "anchor_id": anchor }), "clock");
    // The return reverted the event first.
    let (topic, position) = messages.pop().expect("the return");
    messages.extend([("interventions", position - 1), (topic, position)]);
    messages
}

fn ids(messages: &[Message]) -> Vec<(&str, u64)> {
    messages.iter().map(|message| (message.event.as_str(), message.id)).collect()
}

#[test]
fn stream_sends_every_topic_with_its_position() {
    let service = paused_service();
    let mut connection = service.connect();
    let request = Request::get("/v1/stream");
    let mut messages = open(&mut connection, &service, request);
    let first = messages.next().expect("the clock as it is");
    assert_eq!(first.event, "clock");
    let sent = live_through(&service);
    assert!(sent.iter().all(|(_, position)| *position > first.id));
    let received: Vec<Message> = sent.iter().map(|_| messages.next().expect("a message")).collect();
    assert_eq!(ids(&received), sent);
    let mut text = String::new();
    for message in [first].iter().chain(&received) {
        assert_eq!(message.data["position"], message.id);
        let _ = writeln!(text, "{} {}\n{:#}", message.event, message.id, message.data);
    }
    snapshot::check_text("stream", &snapshot::words(&text));
    service.audit();
}

#[test]
fn resumed_stream_misses_and_repeats_nothing() {
    let mut service = paused_service();
    let sent = live_through(&service);
    let newest = sent.last().expect("a message").1;
    // Everything since the first entry, which created the clock: it was paused and moved before.
    let whole = read(&service, after(0), 2 + sent.len());
    assert_eq!(ids(&whole[2..]), sent);
    for restarts in [false, true] {
        if restarts {
            service.restart();
        }
        for seen in 0..newest {
            let rest: Vec<&Message> = whole.iter().filter(|message| message.id > seen).collect();
            let received = read(&service, after(seen), rest.len());
            for (received, expected) in received.iter().zip(rest) {
                assert_eq!((&received.event, received.id), (&expected.event, expected.id), "after {seen}");
                assert_eq!(lasting(&received.data["clock"]), lasting(&expected.data["clock"]), "after {seen}");
                assert_eq!(received.data["event"], expected.data["event"], "after {seen}");
            }
        }
    }
    // A client that has seen everything gets only the next message.
    let size = service.get("/timeline/main", &[])["head"]["size"].as_u64().unwrap();
    let mut connection = service.connect();
    let mut messages = open(&mut connection, &service, after(size - 1));
    let made = service.post("/v1/events", &event("next"));
    let message = messages.next().expect("a message");
    assert_eq!((message.event.as_str(), &json!(message.id)), ("events", &made["ledger"]["position"]));
    service.audit();
}

#[test]
fn stream_sends_only_requested_topics() {
    let service = paused_service();
    let requested = [
        ("clock", &["clock"][..]),
        ("events", &["events"][..]),
        ("interventions,events", &["events", "interventions"][..]),
        ("clock,events,interventions", &["clock", "events", "interventions"][..]),
        ("paradoxes", &[][..]),
    ];
    let mut connections = requested.map(|_| service.connect());
    let mut streams: Vec<Messages<'_>> = Vec::new();
    for (connection, (topics, wanted)) in connections.iter_mut().zip(requested) {
        let mut messages = open(connection, &service, stream_of(&format!("?topics={topics}")));
        let first = messages.next().expect("where it begins");
        assert_eq!(first.event, if wanted.contains(&"clock") { "clock" } else { "" }, "{topics}");
        streams.push(messages);
    }
    let sent = live_through(&service);
    for (messages, (topics, wanted)) in streams.iter_mut().zip(requested) {
        let sent: Vec<_> = sent.iter().filter(|(topic, _)| wanted.contains(topic)).copied().collect();
        let received: Vec<Message> = sent.iter().map(|_| messages.next().expect("a message")).collect();
        assert_eq!(ids(&received), sent, "{topics}");
    }
    drop(streams);
    drop(connections);
    for wrong in ["", "none", "clock,", "Clock", "clock,none", "clock,clock,clock,clock,clock,clock,clock"] {
        service.send(stream_of(&format!("?topics={wrong}"))).refused(400, "invalid_parameter");
    }
    for wrong in
        ["x", "-1", "1.", ".1", "1.-5", "1.5.2", "1@", "1@x", "@1", "1@1.5", "1.4294967296", "18446744073709551616"]
    {
        service.send(stream_of("").header("Last-Event-ID", wrong)).refused(400, "invalid_parameter");
    }
    service.audit();
}

#[test]
fn slow_stream_receives_all_events() {
    const EVENTS: usize = 8_000;
    let service = paused_service();
    let mut slow = service.connect();
    let mut messages = open(&mut slow, &service, stream_of("?topics=events"));
    messages.next().expect("where it begins");
    // More than fits into the buffers in between.
    let text = "x".repeat(2_000);
    for block in 0..EVENTS / 1_000 {
        let numbers = block * 1_000..(block + 1) * 1_000;
        let event = |number| json!({ "event_id": format!("n{number}"), "time": TIME, "description": text });
        service.post("/v1/events", &numbers.map(event).collect::<Vec<_>>().into());
    }
    for number in 0..EVENTS {
        let message = messages.next().expect("a message");
        assert_eq!(message.data["event"]["event_id"], format!("n{number}"));
    }
    service.audit();
}

#[test]
fn changes_between_two_streams_are_not_lost() {
    const EVENTS: usize = 60;
    let service = paused_service();
    std::thread::scope(|scope| {
        let first = read(&service, stream_of("?topics=events"), 1);
        let writer = scope.spawn(|| {
            for number in 0..EVENTS {
                service.post("/v1/events", &event(&format!("n{number}")));
            }
        });
        let (mut seen, mut received) = (first[0].id, 0);
        while received < EVENTS {
            for message in read(&service, after(seen), 3.min(EVENTS - received)) {
                assert_eq!(message.data["event_id"], format!("n{received}"));
                (seen, received) = (message.id, received + 1);
            }
        }
        writer.join().unwrap();
    });
    service.audit();
}

#[test]
fn resume_id_past_the_end_resets_the_stream() {
    let service = paused_service();
    for unknown in [1_000_000, u64::MAX] {
        let received = read(&service, after(unknown), 2);
        assert_eq!(ids(&received), [("reset", received[1].id), ("clock", received[1].id)]);
        assert_eq!(lasting(&received[1].data["clock"]), lasting(&service.get("/v1/clock", &[])));
        let made = service.post("/v1/events", &event(&format!("after-{unknown}")));
        assert_eq!(json!(read(&service, after(received[0].id), 1)[0].id), made["ledger"]["position"]);
    }
    service.audit();
}

#[test]
fn erased_event_is_sent_without_its_content() {
    let service = paused_service();
    let first = read(&service, stream_of("?topics=events"), 1);
    service.post("/v1/events", &json!({ "event_id": "first", "time": TIME, "description": "secret" }));
    let deed = json!({ "event_id": "first", "action": "rename to secret", "time": TIME });
    service.post("/v1/manipulate-event", &deed);
    service.post("/v1/erase-data", &json!({ "event_id": "first" }));
    let received = read(&service, after(first[0].id), 2);
    assert_eq!([&received[0].event, &received[1].event], ["events", "interventions"]);
    for message in received {
        assert_eq!(message.data["event_id"], "first");
        assert!(!message.data.to_string().contains("secret"), "{message:?}");
        assert!(message.data.get("event").or(message.data.get("intervention")).is_none(), "{message:?}");
    }
    service.audit();
}
