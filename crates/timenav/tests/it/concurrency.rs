//! Many clients at once.

use std::sync::Barrier;

use serde_json::{Value, json};

use crate::support::http::{Connection, Request};
use crate::support::service::Service;

const CLIENTS: usize = 100;
const ROUNDS: usize = 6;

/// Performs operations on its own timeline and checks each response.
fn client(mut connection: Connection, key: &str, number: usize, start: &Barrier) {
    let timeline = format!("client-{number:03}");
    let mut ask = |request: Request| {
        let answer = connection.exchange(&request.key(key)).unwrap();
        assert!(matches!(answer.status, 200 | 201), "{number}: {answer}");
        answer.json()
    };
    let post = |path: &str, mut body: Value| {
        body["timeline_id"] = json!(timeline);
        Request::post(path).json(&body)
    };
    start.wait();
    let year = 1_000 + number;
    ask(post("/v1/pause-time", json!({})));
    ask(post("/v1/travel", json!({ "destination_time": format!("{year}-01-01T00:00:00Z"), "location": timeline })));
    let mut last_position = 0;
    for round in 1..=ROUNDS {
        let moved = ask(post("/v1/fast-forward", json!({ "duration": "1h" })));
        assert_eq!(moved["new_time"], format!("{year}-01-01T{round:02}:00:00Z"), "{timeline}");
        assert_eq!(moved["generation"], 2 + round, "{timeline}");
        assert_eq!((&moved["location"], &moved["state"]), (&json!(timeline), &json!("paused")));
        let time = moved["new_time"].clone();
        let recorded =
            ask(post("/v1/events", json!({ "time": time, "event_id": format!("event-{round}"), "name": timeline })));
        // Two entries per round, and none of other clients.
        let position = recorded["ledger"]["position"].as_u64().unwrap();
        assert!(last_position == 0 || position == last_position + 2, "{timeline}: {position} after {last_position}");
        last_position = position;
        let read = ask(Request::get(&format!("/v1/clock?timeline_id={timeline}")));
        assert_eq!(read["current_time"], time, "{timeline}");
    }
    let found = ask(Request::get(&format!("/v1/monitor-events?timeline_id={timeline}&location=*&time_range=../..")));
    let events = found["events"].as_array().unwrap();
    assert_eq!(events.len(), ROUNDS);
    assert!(events.iter().all(|event| event["name"] == timeline.as_str()), "{timeline}");
}

#[test]
fn hundred_concurrent_clients_do_not_interfere() {
    let mut service = Service::start();
    let start = Barrier::new(CLIENTS);
    std::thread::scope(|scope| {
        for number in 0..CLIENTS {
            let (connection, key, start) = (service.connect(), service.admin.as_str(), &start);
            scope.spawn(move || client(connection, key, number, start));
        }
    });
    for number in [0, CLIENTS - 1] {
        service.remember(&format!("client-{number:03}"));
    }
    // All of it is on disk.
    service.kill();
    service.start_again();
    let clock = service.get("/v1/clock", &[("timeline_id", "client-042")]);
    assert_eq!(clock["current_time"], format!("1042-01-01T{ROUNDS:02}:00:00Z"));
    service.audit();
}

#[test]
fn concurrent_moves_of_one_clock_are_serialized() {
    let service = Service::start();
    service.post("/v1/pause-time", &json!({}));
    service.post("/v1/travel", &json!({ "destination_time": "2000-01-01T00:00:00Z" }));
    let answers: Vec<Value> = std::thread::scope(|scope| {
        let one = |connection: Connection| {
            let key = service.admin.as_str();
            scope.spawn(move || {
                let mut connection = connection;
                let request = Request::post("/v1/fast-forward").json(&json!({ "duration": "1m" })).key(key);
                (0..10).map(|_| connection.exchange(&request).unwrap().expect(200)).collect::<Vec<Value>>()
            })
        };
        let clients: Vec<_> = (0..20).map(|_| one(service.connect())).collect();
        clients.into_iter().flat_map(|client| client.join().unwrap()).collect()
    });
    // Each move has its own generation and position, and the clock matches its generation.
    let mut moves: Vec<(u64, u64, String)> = answers
        .iter()
        .map(|answer| {
            let number = |value: &Value| value.as_u64().unwrap();
            let time = answer["new_time"].as_str().unwrap().to_owned();
            (number(&answer["generation"]), number(&answer["ledger"]["position"]), time)
        })
        .collect();
    moves.sort();
    for ((generation, position, time), expected) in moves.iter().zip(3_u64..) {
        let minutes = expected - 2;
        assert_eq!(*generation, expected);
        assert_eq!(*time, format!("2000-01-01T{:02}:{:02}:00Z", minutes / 60, minutes % 60));
        let (entry, _) = service.entry("main", *position);
        assert_eq!(entry["action"], "fast_forward");
        assert_eq!(entry["clock_time"].as_str(), Some(time.as_str()));
    }
    assert!(moves.is_sorted_by(|a, b| a.1 < b.1), "positions are in the order of generations");
    service.audit();
}

#[test]
fn concurrent_creations_of_one_name_succeed_once() {
    let service = Service::start();
    for (path, body, loser) in [
        ("/timelines", json!({ "timeline_id": "once" }), "already_exists"),
        ("/v1/users", json!({ "user_id": "once" }), "already_exists"),
        ("/v1/events", json!({ "event_id": "once", "time": "2000-01-01T00:00:00Z" }), "already_exists"),
    ] {
        let request = service.signed(Request::post(path).json(&body));
        let answers: Vec<_> = std::thread::scope(|scope| {
            let sent: Vec<_> = (0..20)
                .map(|_| {
                    let (mut connection, request) = (service.connect(), &request);
                    scope.spawn(move || connection.exchange(request).unwrap())
                })
                .collect();
            sent.into_iter().map(|one| one.join().unwrap()).collect()
        });
        let made = answers.iter().filter(|answer| answer.status == 201).count();
        assert_eq!(made, 1, "{path}");
        for answer in answers.into_iter().filter(|answer| answer.status != 201) {
            answer.refused(409, loser);
        }
    }
    service.audit();
}
