//! `POST /v1/pause-time` and `POST /v1/resume-time`.

use serde_json::json;

use crate::snapshot;
use crate::support::http::Request;
use crate::support::service::Service;
use crate::v1::paused_service;

#[test]
fn pause_and_resume_match_their_snapshots() {
    let service = paused_service();
    let ask = |operation: &str| service.send(Request::post(&format!("/v1/{operation}")));
    snapshot::check("pause-again", &ask("pause-time"));
    snapshot::check("resume", &ask("resume-time"));
    service.post("/v1/travel", &json!({ "destination_time": "2001-01-01T00:00:00Z" }));
    let again = ask("resume-time").expect(200);
    assert!(again["status"].as_str().unwrap().starts_with("Time was already running; it is 2001-01-01T00:00:00."));
    let paused = ask("pause-time").expect(200);
    assert_eq!(paused["status"], format!("Time is paused at {}.", paused["paused_at"].as_str().unwrap()));
    service.audit();
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
