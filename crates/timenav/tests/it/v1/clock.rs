//! `GET /v1/clock`, `POST /v1/set-rate`.

mod travel;
mod pause_time;
mod fast_forward;
mod followers;
mod model;
mod stream;

use serde_json::{Value, json};

use super::messages::open;
use super::{lasting, paused_service, send};
use crate::snapshot;
use crate::support::http::Request;
use crate::support::instant::micros;
use crate::support::service::Service;

#[test]
fn clock_reads_and_rate_changes_match_their_snapshots() {
    let service = paused_service();
    snapshot::check("clock", &service.send(Request::get("/v1/clock")));
    let set_rate = |rate: Value| send(&service, "/v1/set-rate", &json!({ "rate": rate }));
    snapshot::check("set-rate", &set_rate(json!(60)));
    snapshot::check("set-rate-again", &set_rate(json!(60.0)));
    // A number may be given as text.
    assert_eq!(set_rate(json!("2.5")).expect(200)["rate"], 2.5);
    snapshot::check("set-rate-refused", &set_rate(json!(0)));
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
    let mut connection = service.connect();
    let request = Request::get("/v1/clock/stream").header("Accept", "text/event-stream");
    assert_eq!(origin_of(&open(&mut connection, &service, request).next().unwrap().data), read);
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
    change("\"0\"", "/v1/advance-to-next", &json!({})).refused(412, "precondition_failed");
    // A clock that must exist is not created.
    change("*", "/v1/pause-time", &json!({ "timeline_id": "new" })).refused(404, "not_found");
    change("\"0\"", "/v1/pause-time", &json!({ "timeline_id": "new" })).refused(404, "not_found");
    service.audit();
}

#[test]
fn clock_survives_a_restart() {
    let mut service = Service::start();
    service.post("/v1/pause-time", &json!({ "timeline_id": "paused" }));
    let place = json!({ "destination_time": "2005-08-29T11:10:00.123456Z", "location": "New Orleans", "timeline_id": "paused" });
    let paused = service.post("/v1/travel", &place);
    service.post("/v1/travel", &json!({ "destination_time": "1900-01-01T00:00:00Z" }));
    let running = service.post("/v1/set-rate", &json!({ "rate": 1_000 }));
    for probe in ["restarted", "killed"] {
        if probe == "killed" {
            service.kill();
            service.start_again();
        } else {
            service.restart();
        }
        let clock = service.get("/v1/clock", &[("timeline_id", "paused")]);
        assert_eq!((lasting(&clock), &clock["current_time"]), (lasting(&paused), &paused["current_time"]));
        assert_eq!(lasting(&service.get("/v1/clock", &[])), lasting(&running));
        // While the service was down, host time and virtual time passed. A new clock shows host time.
        service.post("/v1/set-anchor", &json!({ "timeline_id": probe }));
        let host = service.get("/v1/clock", &[("timeline_id", probe)])["origin_host"].clone();
        let at = |value: &Value| micros(value.as_str().unwrap());
        let elapsed = (at(&host) - at(&running["origin_host"])) * 1_000;
        let later = service.get("/v1/clock", &[]);
        assert!(at(&later["current_time"]) >= at(&running["origin_virtual"]) + elapsed, "{later}");
    }
    service.audit();
}
