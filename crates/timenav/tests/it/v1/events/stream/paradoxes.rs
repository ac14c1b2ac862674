//! The topic `paradoxes`: created and resolved ones add up to the current list.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{ids, read, stream_of};
use crate::snapshot;
use crate::support::dice::Dice;
use crate::support::http::Request;
use crate::support::service::Service;
use crate::v1::messages::{Message, Messages, open};
use crate::v1::{pages, paused_service, send};

fn at(minutes: u64) -> String {
    format!("1999-01-01T{:02}:{:02}:00Z", minutes / 60, minutes % 60)
}

/// The paradoxes of a timeline by key, at a position.
fn listed(service: &Service, timeline: &str, settings: &str, position: u64) -> BTreeMap<String, Value> {
    let all = pages("paradoxes", |cursor| {
        let cursor = cursor.first().map(|(_, cursor)| format!("&cursor={cursor}")).unwrap_or_default();
        let of = format!("timeline_id={timeline}&time_range=../..&limit=1000&as_of={position}");
        service.send(Request::get(&format!("/v1/monitor-paradox?{of}{settings}{cursor}"))).expect(200)
    });
    all.concat().into_iter().map(|paradox| (paradox["key"].as_str().unwrap().to_owned(), paradox)).collect()
}

/// A listener that maintains the list from messages.
struct ParadoxListener {
    timeline: &'static str,
    /// Parameters of both the stream and the list.
    settings: &'static str,
    /// The id of the last message.
    place: String,
    there: BTreeMap<String, Value>,
    resolved: usize,
    resumed_within: usize,
}

impl ParadoxListener {
    fn new(service: &Service, timeline: &'static str, settings: &'static str) -> Self {
        let topics = format!("?topics=events,paradoxes&timeline_id={timeline}{settings}");
        let first = read(service, stream_of(&topics), 1).remove(0);
        let there = listed(service, timeline, settings, first.id);
        Self { timeline, settings, place: first.place, there, resolved: 0, resumed_within: 0 }
    }

    fn stream(&self) -> Request {
        let Self { timeline, settings, place, .. } = self;
        let topics = format!("?topics=events,paradoxes&timeline_id={timeline}{settings}");
        stream_of(&topics).header("Last-Event-ID", place)
    }

    /// Reads up to a position. Returns whether it got there before it was interrupted.
    fn receive(&mut self, messages: &mut Messages<'_>, end: u64, mut count: u64) -> bool {
        while count > 0 {
            let message = messages.next().expect("a message");
            if message.id > end {
                return true;
            }
            self.take(&message);
            count -= 1;
        }
        false
    }

    fn take(&mut self, message: &Message) {
        let key = || message.data["paradox"]["key"].as_str().expect("a key").to_owned();
        match message.event.as_str() {
            "paradox-created" => {
                let twice = self.there.insert(key(), message.data["paradox"].clone());
                assert!(twice.is_none(), "made twice: {message:?}");
            }
            "paradox-resolved" => {
                assert!(self.there.remove(&key()).is_some(), "resolved and not there: {message:?}");
                self.resolved += 1;
            }
            "events" | "" => {}
            other => panic!("{other}: {message:?}"),
        }
        self.resumed_within += usize::from(message.place.contains('.'));
        self.place.clone_from(&message.place);
    }

    /// Compares the maintained list with the actual one.
    fn check(&self, service: &Service, position: u64) {
        let listed = listed(service, self.timeline, self.settings, position);
        let keys = |of: &BTreeMap<String, Value>| of.keys().cloned().collect::<Vec<_>>();
        assert_eq!(keys(&self.there), keys(&listed), "{}{} at {position}", self.timeline, self.settings);
    }
}

/// Performs a random write that may create or resolve paradoxes. It may be rejected.
fn write(service: &Service, dice: &mut Dice, timeline: &str, anchors: &mut Vec<Value>) {
    let name = |dice: &mut Dice| format!("e{}", dice.below(8));
    let event_id = name(dice);
    let places = [json!({ "lat": 48.9, "lon": 2.4 }), json!({ "lat": 40.7, "lon": -74.0 }), Value::Null];
    let content = |dice: &mut Dice, event_id: &str| {
        let causes: Vec<String> = (0..dice.below(3)).map(|_| name(dice)).collect();
        let mut event = json!({
            "event_id": event_id, "time": at(dice.below(40)), "end_time": at(20 + dice.below(20)), "causes": causes,
            "actors": [format!("actor{}", dice.below(2))], "kind": "scheduled",
            "asserts": [{ "subject": "door", "predicate": "state", "value": dice.below(2) }],
        });
        if let Some(geo) = places.get(usize::try_from(dice.below(3)).unwrap()).filter(|geo| !geo.is_null()) {
            event["geo"] = geo.clone();
        }
        event
    };
    let (path, mut body) = match dice.below(12) {
        0..=3 => ("/v1/events", content(dice, &event_id)),
        4..=5 => ("/v1/correct-event", json!({ "event": content(dice, &event_id) })),
        6..=9 => {
            let words = ["cancel", "restore", "delay by 7m", "advance by 11m"][usize::try_from(dice.below(4)).unwrap()];
            let deed = json!({ "event_id": event_id, "action": words, "time": at(50), "causes": [name(dice)] });
            ("/v1/manipulate-event", deed)
        }
        10 => ("/v1/set-anchor", json!({ "timestamp": at(dice.below(60)) })),
        _ => match usize::try_from(dice.next()).ok().and_then(|at| anchors.get(at % anchors.len().max(1))) {
            Some(anchor) => ("/v1/return-to-anchor", json!({ "anchor_id": anchor })),
            None => ("/v1/fast-forward", json!({ "duration": "1m" })),
        },
    };
    body["timeline_id"] = json!(timeline);
    let answer = send(service, path, &body);
    assert!(answer.status < 500, "{path} {body}: {answer:?}");
    anchors.extend(answer.json().get("anchor_id").filter(|_| path == "/v1/set-anchor").cloned());
}

/// Records two events long ago. Returns the position of the first: all messages up to it precede those of the second.
fn mark(service: &Service, timeline: &str) -> u64 {
    let record = || {
        let event = json!({ "timeline_id": timeline, "time": "1900-01-01T00:00:00Z", "source": "mark" });
        service.post("/v1/events", &event)["ledger"]["position"].as_u64().unwrap()
    };
    let position = record();
    record();
    position
}

#[test]
fn streamed_paradoxes_add_up_to_the_listed_ones() {
    let mut resolved = 0;
    for seed in 0..3 {
        let mut service = paused_service();
        let mut dice = Dice::new(seed);
        let mut anchors = Vec::new();
        for _ in 0..15 {
            write(&service, &mut dice, "main", &mut anchors);
        }
        service.post("/timelines", &json!({ "timeline_id": "fork", "fork_of": "main" }));
        let mut fork_anchors = anchors.clone();
        let mut listeners = [
            ParadoxListener::new(&service, "main", ""),
            ParadoxListener::new(&service, "main", ""),
            ParadoxListener::new(&service, "main", "&include=observations&speed_kmh=1&tolerance=5m"),
            ParadoxListener::new(&service, "main", "&kinds=P08,P05"),
            ParadoxListener::new(&service, "fork", ""),
        ];
        for round in 0..5 {
            // One listener reads live, the others afterwards and with interruptions.
            let mut connection = service.connect();
            let mut live = open(&mut connection, &service, listeners[0].stream());
            for _ in 0..25 {
                write(&service, &mut dice, "main", &mut anchors);
                write(&service, &mut dice, "fork", &mut fork_anchors);
            }
            let end = mark(&service, "main");
            let fork_end = mark(&service, "fork");
            assert!(listeners[0].receive(&mut live, end, u64::MAX));
            drop(live);
            drop(connection);
            if round == 2 {
                service.restart();
            }
            for listener in &mut listeners {
                let end = if listener.timeline == "fork" { fork_end } else { end };
                loop {
                    let mut connection = service.connect();
                    let mut messages = open(&mut connection, &service, listener.stream());
                    if listener.receive(&mut messages, end, 1 + dice.below(40)) {
                        break;
                    }
                }
                listener.check(&service, end);
            }
        }
        resolved += listeners.iter().map(|listener| listener.resolved).sum::<usize>();
        assert!(listeners.iter().all(|listener| listener.resumed_within > 0), "entries tell several things");
        service.audit();
    }
    assert!(resolved > 100, "paradoxes are resolved too: {resolved}");
}

#[test]
fn streamed_paradox_equals_the_listed_one() {
    let service = paused_service();
    let mut connection = service.connect();
    let mut messages = open(&mut connection, &service, stream_of("?topics=paradoxes"));
    assert_eq!(messages.next().expect("where it begins").event, "");
    service.post("/v1/events", &json!({ "event_id": "cause", "time": at(10) }));
    let effect = json!({ "event_id": "effect", "time": at(5), "causes": ["cause", "none"] });
    let made = service.post("/v1/events", &effect);
    let list = service.get("/v1/monitor-paradox", &[("timeline_id", "main"), ("time_range", "../..")]);
    let delay = json!({ "event_id": "effect", "action": "delay by 1h", "time": at(30) });
    let resolved = service.post("/v1/manipulate-event", &delay);
    let received = [messages.next().expect("a message"), messages.next().expect("a message")];
    let positions = [&made, &resolved].map(|answer| answer["ledger"]["position"].as_u64().unwrap());
    assert_eq!(ids(&received), [("paradox-created", positions[0]), ("paradox-resolved", positions[1])]);
    for message in &received {
        assert_eq!(message.data["paradox"], list["paradoxes"][0], "{}", message.event);
    }
    let text: Vec<String> = received.iter().map(|message| format!("{:#}", message.data)).collect();
    snapshot::check_text("stream-paradoxes", &snapshot::words(&text.join("\n")));
    service.audit();
}

#[test]
fn paradox_stream_applies_the_requested_filters() {
    let service = paused_service();
    for wrong in ["kinds=P99", "include=everything", "speed_kmh=0", "speed_kmh=x", "tolerance=0", "tolerance=long"] {
        service.send(stream_of(&format!("?{wrong}"))).refused(400, "invalid_parameter");
    }
    service.send(stream_of("?tolerance=P9000Y")).refused(422, "time_out_of_range");
    let start = read(&service, stream_of("?topics=paradoxes"), 1).remove(0);
    service.post("/v1/events", &json!({ "event_id": "waiting", "time": at(1), "causes": ["never-recorded"] }));
    service.post("/v1/events", &json!({ "event_id": "cause", "time": at(10) }));
    service.post("/v1/events", &json!({ "event_id": "effect", "time": at(5), "causes": ["cause"] }));
    service.post("/v1/events", &json!({ "event_id": "circle", "time": at(20), "causes": ["circle"] }));
    for (parameters, codes) in [
        ("", &["P01", "P02"][..]),
        ("&include=observations", &["P06", "P01", "P11", "P02"][..]),
        ("&kinds=causal_cycle", &["P02"][..]),
        ("&tolerance=5m", &["P02"][..]),
        ("&kinds=P06", &["P06"][..]),
    ] {
        let request = stream_of(&format!("?topics=paradoxes{parameters}")).header("Last-Event-ID", &start.place);
        let received = read(&service, request, codes.len());
        let received: Vec<&str> =
            received.iter().map(|message| message.data["paradox"]["code"].as_str().expect("a code")).collect();
        assert_eq!(received, codes, "{parameters}");
    }
    service.audit();
}
