//! Clock changes that stop at each timer on their way.

use std::thread;

use serde_json::{Value, json};

use super::{acknowledge, claim, set, texts, work_off};
use crate::support::http::Request;
use crate::v1::{assert_members, paused_service, permit, send};

#[test]
fn timers_without_listeners_do_not_hold_advance() {
    let service = paused_service();
    for day in 2..=4 {
        set(&service, &format!("day-{day}"), &format!("2000-01-0{day}T00:00:00Z"));
    }
    let before = service.get("/v1/clock", &[])["generation"].as_u64().unwrap();
    let moved = service.post("/v1/fast-forward", &json!({ "duration": "2d12h" }));
    let settled = &moved["receipt"];
    let expected = json!({ "state": "settled", "step": 2, "fired": 2, "unacknowledged": 2, "acknowledged": 0 });
    assert_members(settled, &expected);
    assert_eq!(texts(settled["firings"].as_array().unwrap(), "timer_id"), ["day-2", "day-3"]);
    let expected = json!({ "current_time": "2000-01-03T12:00:00Z", "state": "paused", "generation": before + 2 });
    assert_members(&moved, &expected);
    let lag = json!({ "pending": 2, "oldest": "2000-01-02T00:00:00Z", "duration": "P1DT12H" });
    assert_eq!(service.get("/v1/clock", &[])["lag"], lag);
    // They wait for the next listener, each with its own time.
    let firings = claim(&service, 10, "0s");
    assert_eq!(texts(&firings, "due"), ["2000-01-02T00:00:00Z", "2000-01-03T00:00:00Z"]);
    acknowledge(&service, &firings);
    assert_eq!(service.get("/v1/clock", &[])["lag"], Value::Null);
    let path = format!("/v1/advances/{}", settled["advance_id"].as_str().unwrap());
    let receipt = service.get(&path, &[]);
    assert_eq!(receipt["receipt"]["fired"], 2);
    service.send(Request::get("/v1/advances/advance_none")).refused(404, "not_found");
    service.audit();
}

#[test]
fn timer_set_by_handler_fires_during_advance() {
    let owned = paused_service();
    let service = &owned;
    set(service, "first", "2000-01-02T00:00:00Z");
    assert!(claim(service, 1, "0s").is_empty());
    thread::scope(|scope| {
        let travel = json!({ "destination_time": "2000-01-11T00:00:00Z", "location": "Europe/Paris" });
        let moving = scope.spawn(move || service.post("/v1/travel", &travel));
        let first = claim(service, 1, "20s");
        assert_eq!(service.get("/v1/clock", &[])["advance"]["step"], 1);
        // One for now, one in the past, and one in the future.
        set(service, "now", "2000-01-02T00:00:00Z");
        set(service, "before", "2000-01-01T12:00:00Z");
        set(service, "then", "2000-01-05T00:00:00Z");
        acknowledge(service, &first);
        let done = work_off(service, 3);
        let due = texts(&done, "due");
        assert_eq!(due[2], "2000-01-05T00:00:00Z", "{due:?}");
        let moved = moving.join().expect("a move");
        let receipt = json!({ "state": "settled", "fired": 4, "acknowledged": 4, "step": 2 });
        assert_members(&moved["receipt"], &receipt);
        assert_members(&moved, &json!({ "current_time": "2000-01-11T00:00:00Z", "location": "Europe/Paris" }));
    });
    owned.audit();
}

#[test]
fn concurrent_move_is_rejected_but_advance_can_be_stopped() {
    let service = paused_service();
    set(&service, "held", "2000-01-02T00:00:00Z");
    assert!(claim(&service, 1, "0s").is_empty());
    let moved = service.post("/v1/fast-forward", &json!({ "duration": "10d", "wait": "0s" }));
    assert_eq!((&moved["receipt"]["state"], &moved["state"]), (&json!("running"), &json!("paused")));
    assert_eq!(moved["advance"]["to"], "2000-01-11T00:00:00Z");
    let firings = claim(&service, 1, "20s");
    for (path, body) in [
        ("/v1/travel", json!({ "destination_time": "2000-01-09T00:00:00Z" })),
        ("/v1/fast-forward", json!({ "duration": "1d" })),
        ("/v1/rewind", json!({ "duration": "1d" })),
        ("/v1/resume-time", json!({})),
        ("/v1/set-rate", json!({ "rate": 2 })),
        ("/v1/advance-to-next", json!({})),
        ("/v1/elapse", json!({ "duration": "1m", "wait": "0s" })),
    ] {
        send(&service, path, &body).refused(409, "advance_in_progress");
        let firing_id = firings[0]["firing_id"].as_str().unwrap();
        let inside = Request::post(path).json(&body).header("Timenav-Firing", firing_id);
        service.send(inside).refused(409, "reentrant_clock_change");
    }
    let paused = service.post("/v1/pause-time", &json!({}));
    assert_members(&paused, &json!({ "paused_at": "2000-01-02T00:00:00Z", "advance": null }));
    let path = format!("/v1/advances/{}", moved["receipt"]["advance_id"].as_str().unwrap());
    assert_eq!(service.get(&path, &[])["receipt"]["state"], "stopped");
    // Claimed firings stay claimed and can still be acknowledged.
    acknowledge(&service, &firings);
    service.post("/v1/travel", &json!({ "destination_time": "2000-01-09T00:00:00Z" }));
    service.audit();
}

#[test]
fn repeated_request_joins_the_advance() {
    let service = paused_service();
    set(&service, "once", "2000-01-02T00:00:00Z");
    assert!(claim(&service, 1, "0s").is_empty());
    let forward = |wait: &str| {
        let body = json!({ "duration": "10d", "wait": wait });
        service.send(Request::post("/v1/fast-forward").json(&body).header("Idempotency-Key", "forward")).expect(200)
    };
    let begun = forward("0s")["receipt"].clone();
    let advance_id = &begun["advance_id"];
    assert_eq!(begun["state"], "running");
    assert_eq!(forward("0s")["receipt"]["advance_id"], *advance_id);
    work_off(&service, 1);
    let path = format!("/v1/advances/{}", advance_id.as_str().unwrap());
    assert_eq!(service.get(&path, &[("wait", "20s")])["receipt"]["state"], "settled");
    assert_members(&forward("0s")["receipt"], &json!({ "state": "settled", "acknowledged": 1 }));
    service.audit();
}

#[test]
fn advance_receipt_is_hidden_after_role_expires() {
    let service = paused_service();
    let key = service.user("ada");
    set(&service, "once", "2000-01-02T00:00:00Z");
    assert!(claim(&service, 1, "0s").is_empty());
    let begun = service.post("/v1/fast-forward", &json!({ "duration": "10d", "wait": "0s" }));
    assert_eq!(begun["receipt"]["state"], "running");
    permit(&service, "main", &json!({ "read": ["ada"], "expires_in": { "read": { "ada": "1s" } } }));
    let path = format!("/v1/advances/{}?wait=20s", begun["receipt"]["advance_id"].as_str().unwrap());
    service.send(Request::get(&path).key(&key)).refused(404, "not_found");
    service.audit();
}
