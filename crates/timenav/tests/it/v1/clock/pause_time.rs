//! `POST /v1/pause-time` and `POST /v1/resume-time`.

use serde_json::{Value, json};

use crate::snapshot;
use crate::support::http::Request;
use crate::support::instant::micros;
use crate::support::service::Service;
use crate::v1::{PREFIXES, lasting, paused_service, send};

#[test]
fn pause_and_resume_match_their_snapshots() {
    for prefix in PREFIXES {
        let service = paused_service();
        let ask = |operation: &str| service.send(Request::post(&format!("{prefix}/{operation}")));
        snapshot::check("pause-again", &ask("pause-time"));
        snapshot::check("resume", &ask("resume-time"));
        service.post("/v1/travel", &json!({ "destination_time": "2001-01-01T00:00:00Z" }));
        let again = ask("resume-time").expect(200);
        assert!(again["status"].as_str().unwrap().starts_with("Time was already running; it is 2001-01-01T00:00:00."));
        let paused = ask("pause-time").expect(200);
        assert_eq!(paused["status"], format!("Time is paused at {}.", paused["paused_at"].as_str().unwrap()));
        service.audit();
    }
}

#[test]
fn pause_and_resume_need_no_body() {
    let service = Service::start();
    for path in ["/v1/pause-time", "/v1/resume-time"] {
        service.send(Request::post(path)).expect(200);
        service.send(Request::post(path).json(&json!({}))).expect(200);
        service.send(Request::post(path).body("application/json", b"")).expect(200);
        service.send(Request::post(path).header("Content-Type", "application/json")).expect(200);
        service.send(Request::post(path).json(&json!({ "timeline_id": "main" }))).expect(200);
    }
    service.audit();
}

#[test]
fn second_pause_changes_nothing() {
    let service = Service::start();
    let pause = || send(&service, "/v1/pause-time", &json!({})).expect(200);
    let first = pause();
    assert_eq!(first["state"], "paused");
    assert_eq!(first["paused_at"], first["current_time"]);
    for _ in 0..3 {
        let again = pause();
        assert_eq!(again["paused_at"], first["paused_at"]);
        assert_eq!(lasting(&again), lasting(&first), "neither the generation nor the origin changes");
        let status = again["status"].as_str().unwrap();
        assert_eq!(status, format!("Time was already paused, at {}.", first["paused_at"].as_str().unwrap()));
        assert_eq!(service.get("/v1/clock", &[])["current_time"], first["paused_at"]);
    }
    service.audit();
}

#[test]
fn second_resume_changes_nothing() {
    let service = paused_service();
    let resume = || send(&service, "/v1/resume-time", &json!({})).expect(200);
    let first = resume();
    assert_eq!(first["state"], "running");
    assert_eq!(first["current_time"], "2000-01-01T00:00:00Z", "time goes on from the exact moment of the pause");
    let again = resume();
    assert_eq!(lasting(&again), lasting(&first));
    assert!(micros(again["current_time"].as_str().unwrap()) > micros("2000-01-01T00:00:00Z"), "{again}");
    assert!(again["status"].as_str().unwrap().starts_with("Time was already running"), "{again}");
    service.audit();
}

#[test]
fn resumed_time_continues_from_the_pause() {
    let service = Service::start();
    let mut paused_at = Value::Null;
    for _ in 0..5 {
        let paused = send(&service, "/v1/pause-time", &json!({})).expect(200);
        let at = |value: &Value| value.as_str().map(micros);
        assert!(at(&paused["paused_at"]) > at(&paused_at), "the clock ran in between");
        paused_at = paused["paused_at"].clone();
        let resumed = send(&service, "/v1/resume-time", &json!({})).expect(200);
        assert_eq!(resumed["current_time"], paused_at);
        assert_eq!(resumed["origin_virtual"], paused_at);
        let generations = [&paused, &resumed].map(|answer| answer["generation"].as_u64().unwrap());
        assert_eq!(generations[1], generations[0] + 1);
    }
    service.audit();
}
