//! Rewinds and returns to anchors: timers that fire again.

use serde_json::{Value, json};

use super::{acknowledge, claim, set, work_off};
use crate::support::http::Request;
use crate::support::service::Service;
use crate::v1::{paused_service, send};

/// Moves the clock to a day of January 2000, with or without listeners.
fn travel(service: &Service, day: u32) {
    let to = format!("2000-01-{day:02}T00:00:00Z");
    service.post("/v1/travel", &json!({ "destination_time": to, "wait_for_timers": false }));
}

fn timer(service: &Service, timer_id: &str) -> Value {
    service.get(&format!("/v1/timers/{timer_id}"), &[])["timer"].clone()
}

#[test]
fn rewind_dry_run_lists_timers_to_refire() {
    let service = paused_service();
    for (timer_id, day) in [("done", 3), ("held", 4), ("early", 2)] {
        set(&service, timer_id, &format!("2000-01-{day:02}T00:00:00Z"));
    }
    travel(&service, 5);
    let claimed = claim(&service, 3, "20s");
    acknowledge(&service, &claimed[..2]);
    let held = claimed[2]["firing_id"].clone();
    assert_eq!(claimed[2]["timer_id"], "held");
    let back = |refire: bool, dry_run: bool| {
        service.post("/v1/rewind", &json!({ "duration": "60h", "refire": refire, "dry_run": dry_run }))
    };
    let dry = back(true, true);
    let timers = json!([
        { "timer_id": "done", "next": "2000-01-03T00:00:00Z" },
        { "timer_id": "held", "next": "2000-01-04T00:00:00Z" },
    ]);
    assert_eq!(dry["would_rearm"], json!({ "count": 2, "timers": timers }));
    let firing = json!({ "firing_id": held, "timer_id": "held", "due": "2000-01-04T00:00:00Z", "queue": "default" });
    assert_eq!(dry["would_supersede"], json!({ "count": 1, "firings": [firing] }));
    assert_eq!((&dry["would_fire"]["count"], &dry["ledger"]), (&json!(0), &Value::Null));
    let status =
        "The clock would go to 2000-01-02T12:00:00Z: 2 timers armed again, 1 firing superseded. Nothing has moved.";
    assert_eq!(dry["status"], status);
    assert_eq!(service.get("/v1/clock", &[])["current_time"], "2000-01-05T00:00:00Z");
    // A travel to that time returns the same.
    let there = json!({ "destination_time": "2000-01-02T12:00:00Z", "refire": true, "dry_run": true });
    assert_eq!(service.post("/v1/travel", &there)["would_rearm"], dry["would_rearm"]);
    // Without `refire` nothing re-arms, and neither on the way forward.
    assert!(back(false, true).get("would_rearm").is_none());
    let ahead = json!({ "destination_time": "2000-02-01T00:00:00Z", "refire": true, "dry_run": true });
    assert!(service.post("/v1/travel", &ahead).get("would_rearm").is_none());
    back(true, false);
    let late = acknowledge(&service, &claimed[2..]);
    assert_eq!(late["firings"][0]["state"], "superseded");
    for (timer_id, next) in [("done", "2000-01-03T00:00:00Z"), ("held", "2000-01-04T00:00:00Z")] {
        assert_eq!(timer(&service, timer_id)["next"], next);
    }
    service.audit();
}

#[test]
fn return_dry_run_lists_timer_changes() {
    let service = paused_service();
    set(&service, "flying", "2000-01-01T12:00:00Z");
    set(&service, "cancelled", "2000-01-04T00:00:00Z");
    travel(&service, 2);
    let anchor = service.post("/v1/set-anchor", &json!({}))["anchor_id"].clone();
    let ahead = service.post("/v1/set-anchor", &json!({ "timestamp": "2000-01-20T00:00:00Z" }))["anchor_id"].clone();
    let first = work_off(&service, 1);
    service.send(Request::new("DELETE", "/v1/timers/cancelled")).expect(200);
    set(&service, "new", "2000-02-01T00:00:00Z");
    let event = json!({ "event_id": "launch", "name": "Launch", "time": "2000-01-03T00:00:00Z" });
    service.post("/v1/events", &event);
    travel(&service, 3);
    let dry = |anchor: &Value, scope: &str| {
        let request = json!({ "anchor_id": anchor, "scope": scope, "dry_run": true });
        service.post("/v1/return-to-anchor", &request)
    };
    let would = dry(&anchor, "all");
    let rearmed = json!([{ "timer_id": "cancelled", "next": "2000-01-04T00:00:00Z" }]);
    assert_eq!(would["would_rearm"]["timers"], rearmed);
    assert_eq!(would["would_disarm"], json!({ "count": 1, "timer_ids": ["new"] }));
    assert_eq!(would["would_supersede"]["count"], 0);
    assert_eq!(would["would_change"], json!({ "count": 1, "event_ids": ["launch"] }));
    let again = json!([{ "timer_id": "flying", "due": "2000-01-01T12:00:00Z", "queue": "default" }]);
    assert_eq!(would["would_fire"]["firings"], again);
    assert_eq!(would["current_time"], "2000-01-03T00:00:00Z");
    // A return of the clock alone reverts nothing; timers in between fall due.
    let alone = dry(&anchor, "clock");
    assert!(["would_rearm", "would_change"].iter().all(|name| alone.get(*name).is_none()), "{alone}");
    let there = dry(&ahead, "all");
    let counts = json!([{ "timer_id": "cancelled", "count": 1 }, { "timer_id": "flying", "count": 1 }]);
    assert_eq!(there["would_fire"]["timers"], counts);
    assert_eq!(timer(&service, "new")["state"], "armed");
    service.post("/v1/return-to-anchor", &json!({ "anchor_id": anchor }));
    service.send(Request::get("/v1/timers/new")).refused(404, "not_found");
    // It fires again, with a new id.
    let second = claim(&service, 1, "20s");
    assert_eq!(second[0]["timer_id"], "flying");
    assert_ne!(second[0]["firing_id"], first[0]["firing_id"]);
    send(&service, "/v1/return-to-anchor", &json!({ "anchor_id": "none", "dry_run": true })).refused(404, "not_found");
    service.audit();
}
