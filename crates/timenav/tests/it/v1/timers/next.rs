//! `POST /v1/advance-to-next`: one firing time after the other, settled.

use serde_json::{Value, json};

use super::super::{assert_members, paused_service, send};
use super::set;
use crate::support::service::Service;

const PATH: &str = "/v1/advance-to-next";

fn next(service: &Service, body: &Value) -> Value {
    service.post(PATH, body)
}

#[test]
fn advance_to_next_requires_armed_timer_or_end() {
    let service = paused_service();
    let refused = send(&service, PATH, &json!({})).refused(409, "no_armed_timers");
    assert!(refused["detail"].as_str().unwrap().contains("`until`"), "{refused}");
    send(&service, PATH, &json!({ "dry_run": true })).refused(409, "no_armed_timers");
    send(&service, PATH, &json!({ "timeline_id": "new" })).refused(404, "not_found");
    set(&service, "a", "2000-01-10T00:00:00Z");
    let would = next(&service, &json!({ "dry_run": true }));
    let status = "1 firing on the way to 2000-01-10T00:00:00Z. Nothing has moved.";
    assert_members(&would, &json!({ "status": status, "current_time": "2000-01-01T00:00:00Z" }));
    // A loop with an end time stops exactly there, and stays.
    let until = "2000-01-15T00:00:00Z";
    for (new_time, fired) in [("2000-01-10T00:00:00Z", json!(1)), (until, Value::Null), (until, Value::Null)] {
        let moved = next(&service, &json!({ "until": until }));
        assert_eq!((&moved["current_time"], &moved["receipt"]["fired"]), (&json!(new_time), &fired));
        if !fired.is_null() {
            // The ledger records the distance, as for a fast-forward.
            let position = moved["ledger"]["position"].to_string();
            let entry = service.get("/timeline/main/entries", &[("from", &position), ("limit", "1")]).to_string();
            assert!(entry.contains("fast_forward") && entry.contains("P9D"), "{entry}");
        }
    }
    service.audit();
}

#[test]
fn advance_to_next_never_moves_running_clock_back() {
    let service = Service::start();
    service.post("/v1/travel", &json!({ "destination_time": "2000-01-01T00:00:00Z" }));
    // A thousand virtual seconds per host second: timers fire between any two requests.
    service.post("/v1/set-rate", &json!({ "rate": 1000 }));
    let every = json!({ "rule": "FREQ=MINUTELY;INTERVAL=7", "starts": "2000-01-01T00:00:00Z" });
    service.post("/v1/timers", &json!({ "timer_id": "often", "every": every, "misfire": "once" }));
    // Without the Z, timestamps sort as text.
    let moment = |text: &Value| text.as_str().expect("a time").trim_end_matches('Z').to_owned();
    let mut before = String::new();
    for _ in 0..40 {
        let answer = next(&service, &json!({}));
        assert_eq!(answer["state"], "running", "{answer}");
        let reached = moment(&answer["receipt"]["reached"]);
        assert!(reached > before, "{reached} {before}");
        before = moment(&answer["current_time"]);
        assert!(before >= reached, "{answer}");
        // The requested end has passed, so it does not move.
        let stays = next(&service, &json!({ "until": answer["receipt"]["reached"] }));
        assert!(moment(&stays["current_time"]) >= before, "{stays}");
        assert_eq!(stays["generation"], answer["generation"]);
    }
    service.audit();
}
