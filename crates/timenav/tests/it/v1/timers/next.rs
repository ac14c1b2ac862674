//! `POST /v1/advance-to-next`: one firing time after the other, settled.

use std::thread;

use serde_json::{Value, json};

use super::super::{paused_service, send};
use super::{acknowledge, claim, of, set};
use crate::support::http::{Answer, Request};
use crate::support::service::Service;

const PATH: &str = "/v1/advance-to-next";

fn next(service: &Service, body: &Value) -> Value {
    service.post(PATH, body)
}

#[test]
fn advance_to_next_stops_at_each_firing_time() {
    let service = paused_service();
    let every = json!({ "rule": "FREQ=MONTHLY;BYMONTHDAY=31;SKIP=BACKWARD", "starts": "2000-01-31T09:00:00Z" });
    service.post("/v1/timers", &json!({ "timer_id": "renew", "every": every }));
    set(&service, "at-once", "2000-01-31T09:00:00Z");
    set(&service, "trial-ends", "2000-02-10T00:00:00Z");
    // A dry run returns the target without moving.
    let would = next(&service, &json!({ "dry_run": true }));
    assert_eq!(would["status"], "2 firings on the way to 2000-01-31T09:00:00Z. Nothing has moved.");
    assert_eq!(would["current_time"], "2000-01-01T00:00:00Z");
    // Timers with the same time fire together; each is settled before the response.
    assert!(claim(&service, 1, "0s").is_empty(), "so that the queue is heard");
    let first = thread::scope(|scope| {
        let moving = scope.spawn(|| next(&service, &json!({ "wait": "5m" })));
        for _ in 0..2 {
            let firings = claim(&service, 1, "20s");
            assert_eq!(of(&firings, "due"), ["2000-01-31T09:00:00Z"]);
            // The clock cannot be moved now, neither by others nor by the handler that it waits for.
            let busy = send(&service, PATH, &json!({})).refused(409, "advance_in_progress");
            assert!(busy["detail"].as_str().unwrap().contains("advance_"), "{busy}");
            let firing_id = firings[0]["firing_id"].as_str().expect("an id");
            let inside = Request::post(PATH).json(&json!({})).header("Timenav-Firing", firing_id);
            service.send(inside).refused(409, "reentrant_clock_change");
            let nobody = Request::post(PATH).json(&json!({})).header("Timenav-Firing", "{}");
            service.send(nobody).refused(400, "invalid_parameter");
            acknowledge(&service, &firings);
        }
        moving.join().expect("an answer")
    });
    assert_eq!((&first["new_time"], &first["state"]), (&json!("2000-01-31T09:00:00Z"), &json!("paused")));
    let settled = &first["receipt"];
    assert_eq!((&settled["state"], &settled["to"]), (&json!("settled"), &json!("2000-01-31T09:00:00Z")));
    assert_eq!((&settled["fired"], &settled["acknowledged"]), (&json!(2), &json!(2)));
    // The ledger records the distance, as for a fast-forward.
    let position = first["ledger"]["position"].clone();
    let entry = service.get("/timeline/main/entries", &[("from", &position.to_string()), ("limit", "1")]).to_string();
    assert!(entry.contains("fast_forward") && entry.contains("P30DT9H"), "{entry}");
    service.audit();
}

#[test]
fn advance_to_next_without_due_timers_is_rejected() {
    let service = paused_service();
    let refused = send(&service, PATH, &json!({})).refused(409, "no_armed_timers");
    assert!(refused["detail"].as_str().unwrap().contains("`until`"), "{refused}");
    send(&service, PATH, &json!({ "dry_run": true })).refused(409, "no_armed_timers");
    set(&service, "a", "2000-01-10T00:00:00Z");
    set(&service, "b", "2000-01-20T00:00:00Z");
    // A loop with an end time stops exactly there.
    let until = "2000-01-15T00:00:00Z";
    let mut new_times = Vec::new();
    while new_times.last().is_none_or(|last| last != until) {
        let answer = next(&service, &json!({ "until": until }));
        let fired = answer["receipt"]["fired"].as_u64().unwrap_or(0);
        new_times.push(answer["new_time"].as_str().expect("a time").to_owned());
        assert_eq!(fired, u64::from(new_times.len() == 1), "{answer}");
    }
    assert_eq!(new_times, ["2000-01-10T00:00:00Z", until]);
    // At or after that time it stays, and nothing changes.
    let before = service.get("/v1/clock", &[]);
    for until in [until, "1999-01-01T00:00:00Z"] {
        let answer = next(&service, &json!({ "until": until }));
        assert_eq!((&answer["current_time"], &answer["generation"]), (&before["current_time"], &before["generation"]));
        assert!(answer["receipt"].is_null());
    }
    let until = json!({ "until": "2000-01-20T00:00:00Z" });
    assert_eq!(next(&service, &until)["receipt"]["fired"], 1, "both ends included");
    send(&service, PATH, &json!({})).refused(409, "no_armed_timers");
    send(&service, PATH, &json!({ "until": "soon" })).refused(400, "invalid_parameter");
    send(&service, PATH, &json!({ "timeline_id": "new" })).refused(404, "not_found");
    service.audit();
}

#[test]
fn repeated_advance_to_next_moves_only_once() {
    let service = paused_service();
    for day in 2..=6 {
        set(&service, &format!("day-{day}"), &format!("2000-01-0{day}T00:00:00Z"));
    }
    let requested = |key: &str| {
        let request = Request::post(PATH).json(&json!({})).header("Idempotency-Key", key);
        service.send(request).expect(200)
    };
    let time = |answer: &Value| answer["receipt"]["reached"].as_str().expect("a time").to_owned();
    let (once, again, other) = (requested("one"), requested("one"), requested("two"));
    assert_eq!((time(&once).as_str(), time(&other).as_str()), ("2000-01-02T00:00:00Z", "2000-01-03T00:00:00Z"));
    assert_eq!(again["receipt"]["advance_id"], once["receipt"]["advance_id"]);
    // Only if the clock is unchanged.
    let generation = |generation: &Value| {
        let request = Request::post(PATH).json(&json!({})).header("If-Match", &format!("\"{generation}\""));
        service.send(request)
    };
    generation(&once["generation"]).refused(412, "precondition_failed");
    let moved: Answer = generation(&other["generation"]);
    assert_eq!(time(&moved.expect(200)), "2000-01-04T00:00:00Z");
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
