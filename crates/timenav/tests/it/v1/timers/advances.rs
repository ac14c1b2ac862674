//! Clock changes that stop at each timer on their way.

use std::thread;

use serde_json::{Value, json};

use super::{acknowledge, claim, of, set, work_off};
use crate::support::http::Request;
use crate::v1::{paused_service, send};

#[test]
fn move_without_due_timers_returns_no_receipt() {
    let service = paused_service();
    set(&service, "far", "2010-01-01T00:00:00Z");
    let moved = service.post("/v1/fast-forward", &json!({ "duration": "1d" }));
    assert_eq!((&moved["receipt"], &moved["advance"]), (&Value::Null, &Value::Null));
    let back = service.post("/v1/travel", &json!({ "destination_time": "1990-01-01T00:00:00Z" }));
    assert_eq!(back["receipt"], Value::Null);
    service.audit();
}

#[test]
fn timers_without_listeners_do_not_hold_advance() {
    let service = paused_service();
    for day in 2..=4 {
        set(&service, &format!("day-{day}"), &format!("2000-01-0{day}T00:00:00Z"));
    }
    let before = service.get("/v1/clock", &[])["generation"].as_u64().unwrap();
    let moved = service.post("/v1/fast-forward", &json!({ "duration": "2d12h" }));
    let settled = &moved["receipt"];
    assert_eq!((&settled["state"], &settled["step"]), (&json!("settled"), &json!(2)));
    assert_eq!(
        (&settled["fired"], &settled["unacknowledged"], &settled["acknowledged"]),
        (&json!(2), &json!(2), &json!(0))
    );
    assert_eq!(of(settled["firings"].as_array().unwrap(), "timer_id"), ["day-2", "day-3"]);
    assert_eq!((&moved["current_time"], &moved["state"]), (&json!("2000-01-03T12:00:00Z"), &json!("paused")));
    assert_eq!(moved["generation"], before + 2);
    let lag = json!({ "pending": 2, "oldest": "2000-01-02T00:00:00Z", "duration": "P1DT12H" });
    assert_eq!(service.get("/v1/clock", &[])["lag"], lag);
    // They wait for the next listener, each with its own time.
    let firings = claim(&service, 10, "0s");
    assert_eq!(of(&firings, "due"), ["2000-01-02T00:00:00Z", "2000-01-03T00:00:00Z"]);
    acknowledge(&service, &firings);
    assert_eq!(service.get("/v1/clock", &[])["lag"], Value::Null);
    let path = format!("/v1/advances/{}", settled["advance_id"].as_str().unwrap());
    let receipt = service.get(&path, &[]);
    assert_eq!(receipt["receipt"]["fired"], 2);
    service.send(Request::get("/v1/advances/advance_none")).refused(404, "not_found");
    service.audit();
}

#[test]
fn advance_pauses_until_firings_are_settled() {
    let service = paused_service();
    for day in 2..=6 {
        set(&service, &format!("day-{day}"), &format!("2000-01-0{day}T00:00:00Z"));
    }
    set(&service, "same-day", "2000-01-03T00:00:00Z");
    // The queue counts as having a listener for a while.
    assert!(claim(&service, 1, "0s").is_empty());
    let moved = thread::scope(|scope| {
        let moving = scope.spawn(|| {
            let body = json!({ "destination_time": "2000-01-05T12:00:00Z", "location": "Europe/Paris" });
            service.post("/v1/travel", &body)
        });
        let done = work_off(&service, 5);
        assert_eq!(of(&done, "timer_id"), ["day-2", "day-3", "same-day", "day-4", "day-5"]);
        assert!(done.iter().all(|firing| firing["step"].is_u64()), "{done:?}");
        moving.join().expect("a move")
    });
    let settled = &moved["receipt"];
    assert_eq!((&settled["state"], &settled["step"]), (&json!("settled"), &json!(4)));
    assert_eq!((&settled["fired"], &settled["acknowledged"]), (&json!(5), &json!(5)));
    assert_eq!((&moved["current_time"], &moved["location"]), (&json!("2000-01-05T12:00:00Z"), &json!("Europe/Paris")));
    service.audit();
}

#[test]
fn timer_set_by_handler_fires_during_advance() {
    let service = paused_service();
    set(&service, "first", "2000-01-02T00:00:00Z");
    assert!(claim(&service, 1, "0s").is_empty());
    thread::scope(|scope| {
        let moving = scope.spawn(|| service.post("/v1/fast-forward", &json!({ "duration": "10d" })));
        let first = claim(&service, 1, "20s");
        assert_eq!(service.get("/v1/clock", &[])["advance"]["step"], 1);
        // One for now, one in the past, and one in the future.
        set(&service, "now", "2000-01-02T00:00:00Z");
        set(&service, "before", "2000-01-01T12:00:00Z");
        set(&service, "then", "2000-01-05T00:00:00Z");
        acknowledge(&service, &first);
        let done = work_off(&service, 3);
        let due = of(&done, "due");
        assert_eq!(due[2], "2000-01-05T00:00:00Z", "{due:?}");
        let moved = moving.join().expect("a move");
        assert_eq!((&moved["receipt"]["fired"], &moved["receipt"]["step"]), (&json!(4), &json!(2)));
    });
    service.audit();
}

#[test]
fn concurrent_move_is_rejected_but_advance_can_be_stopped() {
    let service = paused_service();
    set(&service, "held", "2000-01-02T00:00:00Z");
    assert!(claim(&service, 1, "0s").is_empty());
    let moved = service.post("/v1/fast-forward", &json!({ "duration": "10d", "wait": "0s" }));
    let settled = &moved["receipt"];
    assert_eq!((&settled["state"], &moved["state"]), (&json!("running"), &json!("paused")));
    assert_eq!(moved["advance"]["to"], "2000-01-11T00:00:00Z");
    let firings = claim(&service, 1, "20s");
    for (path, body) in [
        ("/v1/travel", json!({ "destination_time": "2000-01-09T00:00:00Z" })),
        ("/v1/fast-forward", json!({ "duration": "1d" })),
        ("/v1/rewind", json!({ "duration": "1d" })),
        ("/v1/resume-time", json!({})),
        ("/v1/set-rate", json!({ "rate": 2 })),
    ] {
        send(&service, path, &body).refused(409, "advance_in_progress");
        let inside =
            Request::post(path).json(&body).header("Timenav-Firing", firings[0]["firing_id"].as_str().unwrap());
        service.send(inside).refused(409, "reentrant_clock_change");
    }
    let paused = service.post("/v1/pause-time", &json!({}));
    assert_eq!((&paused["paused_at"], &paused["advance"]), (&json!("2000-01-02T00:00:00Z"), &Value::Null));
    let path = format!("/v1/advances/{}", settled["advance_id"].as_str().unwrap());
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
    let begun = forward("0s");
    assert_eq!(begun["receipt"]["state"], "running");
    let again = forward("0s");
    assert_eq!(again["receipt"]["advance_id"], begun["receipt"]["advance_id"]);
    work_off(&service, 1);
    let path = format!("/v1/advances/{}", begun["receipt"]["advance_id"].as_str().unwrap());
    let receipt = service.get(&path, &[("wait", "20s")]);
    assert_eq!(receipt["receipt"]["state"], "settled");
    let joined = forward("0s");
    assert_eq!((&joined["receipt"]["state"], &joined["receipt"]["acknowledged"]), (&json!("settled"), &json!(1)));
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
    let permissions = json!({ "read": ["ada"], "expires_in": { "read": { "ada": "1s" } } });
    service.post("/v1/set-access-control", &json!({ "timeline_id": "main", "permissions": permissions }));
    let path = format!("/v1/advances/{}?wait=20s", begun["receipt"]["advance_id"].as_str().unwrap());
    service.send(Request::get(&path).key(&key)).refused(404, "not_found");
    service.audit();
}

#[test]
fn advance_continues_after_three_failed_attempts() {
    let service = paused_service();
    set(&service, "bad", "2000-01-02T00:00:00Z");
    assert!(claim(&service, 1, "0s").is_empty());
    thread::scope(|scope| {
        let moving = scope.spawn(|| service.post("/v1/fast-forward", &json!({ "duration": "2d" })));
        for attempt in 1..=3 {
            let firings = claim(&service, 1, "20s");
            assert_eq!(firings[0]["attempt"], attempt);
            let body = json!({ "firing_ids": [firings[0]["firing_id"]], "reason": "declined" });
            let failed = service.post("/v1/firings/fail", &body);
            assert_eq!(failed["firings"][0]["state"], if attempt < 3 { "pending" } else { "failed" });
        }
        let moved = moving.join().expect("a move");
        assert_eq!((&moved["receipt"]["state"], &moved["receipt"]["failed"]), (&json!("settled"), &json!(1)));
        assert_eq!(moved["receipt"]["firings"][0]["reason"], "declined");
    });
    service.audit();
}

#[test]
fn unsettled_move_jumps_over_timers() {
    let service = paused_service();
    for day in 2..=4 {
        set(&service, &format!("day-{day}"), &format!("2000-01-0{day}T00:00:00Z"));
    }
    let moved = service.post("/v1/fast-forward", &json!({ "duration": "30d", "wait_for_timers": false }));
    assert_eq!((&moved["receipt"], &moved["current_time"]), (&Value::Null, &json!("2000-01-31T00:00:00Z")));
    // The next clock change finds them due.
    service.post("/v1/rewind", &json!({ "duration": "30d" }));
    let done = work_off_of_three(&service);
    assert_eq!(done, ["2000-01-02T00:00:00Z", "2000-01-03T00:00:00Z", "2000-01-04T00:00:00Z"]);
    assert_eq!(service.get("/v1/timers", &[])["timers"], json!([]));
    service.audit();
}

fn work_off_of_three(service: &crate::support::service::Service) -> Vec<String> {
    let mut due = Vec::new();
    while due.len() < 3 {
        let claimed = claim(service, 10, "20s");
        due.extend(of(&claimed, "due").into_iter().map(str::to_owned));
        acknowledge(service, &claimed);
    }
    due
}

#[test]
fn running_clock_continues_from_its_destination() {
    let service = paused_service();
    service.post("/v1/resume-time", &json!({}));
    set(&service, "on-the-way", "2000-06-01T00:00:00Z");
    let moved = service.post("/v1/travel", &json!({ "destination_time": "2001-01-01T00:00:00Z" }));
    assert_eq!((&moved["receipt"]["state"], &moved["state"]), (&json!("settled"), &json!("running")));
    assert_eq!(moved["origin_virtual"], "2001-01-01T00:00:00Z");
    service.post("/v1/pause-time", &json!({}));
    service.audit();
}
