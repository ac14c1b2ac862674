//! `GET /v1/clock`.

mod travel;
mod pause_time;
mod fast_forward;
mod set_rate;
mod followers;
mod model;
mod stream;

use serde_json::{Value, json};

use super::messages::open;
use super::{PREFIXES, lasting, paused_service, send};
use crate::snapshot;
use crate::support::http::Request;
use crate::support::instant::micros;
use crate::support::service::Service;

#[test]
fn clock_read_matches_its_snapshot() {
    let service = paused_service();
    for prefix in PREFIXES {
        snapshot::check("clock", &service.send(Request::get(&format!("{prefix}/clock"))));
    }
    service.audit();
}

#[test]
fn new_clock_runs_at_host_time() {
    let service = Service::start();
    let clock = service.get("/v1/clock", &[]);
    assert_eq!((&clock["state"], &clock["rate"], &clock["generation"]), (&json!("running"), &json!(1.0), &json!(0)));
    assert_eq!(clock["origin_host"], clock["origin_virtual"]);
    send(&service, "/v1/set-anchor", &json!({ "timeline_id": "new" })).expect(200);
    let clock = service.get("/v1/clock", &[("timeline_id", "new")]);
    assert_eq!(clock["origin_host"], clock["origin_virtual"]);
    // `main` shows host time in between.
    let between = |earlier: &Value, later: &Value| {
        let at = micros(clock["current_time"].as_str().unwrap());
        assert!(micros(earlier["current_time"].as_str().unwrap()) <= at);
        assert!(at <= micros(later["current_time"].as_str().unwrap()));
    };
    let earlier = json!({ "current_time": clock["origin_host"] });
    between(&earlier, &service.get("/v1/clock", &[]));
    service.audit();
}

/// The origin by the boot clock is only for users who may read the complete clock, and is the same everywhere.
#[test]
fn clock_reports_its_origin_by_boot_clock() {
    let service = paused_service();
    let origin_of = |clock: &Value| (clock["boot_id"].clone(), clock["origin_boot"].clone());
    let read = origin_of(&service.get("/v1/clock", &[]));
    assert_eq!(read.0.as_str().unwrap().len(), 32);
    assert_eq!(read.1.as_str().unwrap().split_once('.').unwrap().1.len(), 9);
    assert_eq!(origin_of(&service.get("/v1/clock", &[])), read);
    let watch = |key: &str| {
        let mut connection = service.connect();
        let watching = Request::get("/v1/clock/stream").header("Accept", "text/event-stream").key(key);
        let mut stream = open(&mut connection, &service, watching);
        origin_of(&stream.next().unwrap().data)
    };
    assert_eq!(watch(&service.admin), read);
    // It moves together with the other two.
    let moved = service.post("/v1/fast-forward", &json!({ "duration": "1h" }));
    assert_eq!(origin_of(&moved), (Value::Null, Value::Null), "what changes a clock does not read it");
    let later = origin_of(&service.get("/v1/clock", &[]));
    assert_eq!(later.0, read.0);
    assert_ne!(later.1, read.1);
    service.audit();
}

#[test]
fn stale_generation_rejects_a_clock_change() {
    let service = Service::start();
    let change = |generation: &str, path: &str, body: &Value| {
        service.send(Request::post(path).header("If-Match", generation).json(body))
    };
    let anchor = send(&service, "/v1/set-anchor", &json!({})).expect(200)["anchor_id"].clone();
    let changes = [
        ("/v1/travel", json!({ "destination_time": "2001-01-01T00:00:00Z" })),
        ("/v1/pause-time", json!({})),
        ("/v1/resume-time", json!({})),
        ("/v1/fast-forward", json!({ "duration": "1h" })),
        ("/v1/rewind", json!({ "duration": "1h" })),
        ("/v1/set-rate", json!({ "rate": 2 })),
        ("/v1/return-to-anchor", json!({ "anchor_id": anchor })),
    ];
    for (generation, (path, body)) in changes.iter().enumerate() {
        let (seen, next) = (format!("\"{generation}\""), format!("\"{}\"", generation + 1));
        for other in [&next, &format!("W/{seen}"), "\"\"", "\"x\""] {
            change(other, path, body).refused(412, "precondition_failed");
        }
        let after = change(&seen, path, body).expect(200);
        assert_eq!(after["generation"], generation + 1, "{path}");
        // Of two clients that have seen the same clock, only one can change it.
        change(&seen, path, body).refused(412, "precondition_failed");
    }
    change("*", "/v1/pause-time", &json!({})).expect(200);
    // A clock that must exist is not created.
    change("*", "/v1/pause-time", &json!({ "timeline_id": "new" })).refused(404, "not_found");
    change("\"0\"", "/v1/pause-time", &json!({ "timeline_id": "new" })).refused(404, "not_found");
    service.audit();
}

#[test]
fn generation_counts_only_effective_changes() {
    let service = Service::start();
    let anchor = send(&service, "/v1/set-anchor", &json!({})).expect(200)["anchor_id"].clone();
    let mut generation = 0;
    for (path, body, changes) in [
        ("/v1/resume-time", json!({}), false),
        ("/v1/pause-time", json!({}), true),
        ("/v1/pause-time", json!({}), false),
        ("/v1/set-rate", json!({ "rate": 1 }), false),
        ("/v1/set-rate", json!({ "rate": 2 }), true),
        ("/v1/travel", json!({ "destination_time": "2001-01-01T00:00:00Z" }), true),
        ("/v1/travel", json!({ "destination_time": "2001-01-01T00:00:00Z" }), true),
        ("/v1/fast-forward", json!({ "duration": "1h" }), true),
        ("/v1/rewind", json!({ "duration": "1h" }), true),
        ("/v1/return-to-anchor", json!({ "anchor_id": anchor }), true),
        ("/v1/resume-time", json!({}), false),
    ] {
        generation += u64::from(changes);
        let answer = send(&service, path, &body).expect(200);
        assert_eq!(answer["generation"], generation, "{path} {body}");
        service.get("/v1/clock", &[]);
        send(&service, "/v1/events", &json!({ "time": "2001-01-01T00:00:00Z" })).expect(201);
        send(&service, "/v1/travel", &json!({ "destination_time": "x" })).refused(400, "invalid_parameter");
        assert_eq!(service.get("/v1/clock", &[])["generation"], generation, "{path} {body}");
    }
    service.audit();
}

#[test]
fn clock_survives_a_restart() {
    let mut service = Service::start();
    let stand =
        json!({ "destination_time": "2005-08-29T11:10:00.123456Z", "location": "New Orleans", "timeline_id": "still" });
    send(&service, "/v1/pause-time", &json!({ "timeline_id": "still" })).expect(200);
    let still = send(&service, "/v1/travel", &stand).expect(200);
    send(&service, "/v1/travel", &json!({ "destination_time": "1900-01-01T00:00:00Z" })).expect(200);
    let running = send(&service, "/v1/set-rate", &json!({ "rate": 1_000 })).expect(200);
    for kill in [false, true] {
        if kill {
            service.kill();
            service.start_again();
        } else {
            service.restart();
        }
        let clock = service.get("/v1/clock", &[("timeline_id", "still")]);
        assert_eq!(lasting(&clock), lasting(&still));
        assert_eq!(clock["current_time"], still["current_time"], "a paused clock stands");
        let clock = service.get("/v1/clock", &[]);
        assert_eq!(lasting(&clock), lasting(&running), "a running clock runs from where it ran from");
        // While the service was down, host time and virtual time passed.
        send(&service, "/v1/set-anchor", &json!({ "timeline_id": if kill { "b" } else { "a" } })).expect(200);
        let host = service.get("/v1/clock", &[("timeline_id", if kill { "b" } else { "a" })])["origin_host"].clone();
        let at = |value: &Value| micros(value.as_str().unwrap());
        let passed = (at(&host) - at(&running["origin_host"])) * 1_000;
        let later = service.get("/v1/clock", &[]);
        assert!(at(&later["current_time"]) >= at(&running["origin_virtual"]) + passed, "{later}");
    }
    service.audit();
}

#[test]
fn clock_stops_at_the_end_of_time() {
    let service = Service::start();
    send(&service, "/v1/set-rate", &json!({ "rate": 1_000_000 })).expect(200);
    send(&service, "/v1/travel", &json!({ "destination_time": "9999-12-31T23:59:59.999999Z" })).expect(200);
    assert_eq!(service.get("/v1/clock", &[])["current_time"], "9999-12-31T23:59:59.999999Z");
    send(&service, "/v1/fast-forward", &json!({ "duration": "1s" })).refused(422, "time_out_of_range");
    let back = send(&service, "/v1/rewind", &json!({ "duration": "P1Y" })).expect(200);
    assert_eq!(back["new_time"], "9998-12-31T23:59:59.999999Z");
    service.audit();
}
