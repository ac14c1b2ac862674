//! Rewinds, returns to anchors, and forks that inherit timers.

use serde_json::{Value, json};

use super::{acknowledge, claim, of, set, work_off};
use crate::support::http::Request;
use crate::support::service::Service;
use crate::v1::{paused_service, send};

/// Moves the clock of a timeline to a day of January 2000, with or without listeners.
fn go(service: &Service, timeline: &str, day: u32) {
    let to = format!("2000-01-{day:02}T00:00:00Z");
    service.post("/v1/travel", &json!({ "timeline_id": timeline, "destination_time": to, "wait_for_timers": false }));
}

fn timer(service: &Service, timeline: &str, timer_id: &str) -> Value {
    service.get(&format!("/v1/timers/{timer_id}"), &[("timeline_id", timeline)])["timer"].clone()
}

/// Claims and acknowledges firings of a timeline. Returns times and ids.
fn work_off_on(service: &Service, timeline: &str, count: usize) -> (Vec<String>, Vec<String>) {
    let (mut due, mut ids) = (Vec::new(), Vec::new());
    while due.len() < count {
        let request = json!({ "timeline_id": timeline, "max": 10, "wait": "20s" });
        let firings =
            service.post("/v1/queues/default/claim", &request)["firings"].as_array().expect("firings").clone();
        assert!(!firings.is_empty(), "nothing came: {}", service.log_text());
        let named: Vec<&str> = of(&firings, "firing_id");
        service.post("/v1/firings/ack", &json!({ "timeline_id": timeline, "firing_ids": named }));
        due.extend(of(&firings, "due").into_iter().map(str::to_owned));
        ids.extend(named.into_iter().map(str::to_owned));
    }
    due.sort();
    (due, ids)
}

#[test]
fn rewind_refires_timers_only_on_request() {
    let service = paused_service();
    set(&service, "single", "2000-01-05T00:00:00Z");
    service.post(
        "/v1/timers",
        &json!({ "timer_id": "daily", "every": { "rule": "FREQ=DAILY", "starts": "2000-01-03T00:00:00Z" } }),
    );
    go(&service, "main", 5);
    let first = work_off(&service, 4);
    // By default, nothing re-arms.
    service.post("/v1/rewind", &json!({ "duration": "1d" }));
    assert_eq!(timer(&service, "main", "single")["state"], "done");
    assert_eq!(timer(&service, "main", "daily")["next"], "2000-01-06T00:00:00Z");
    service.post("/v1/rewind", &json!({ "duration": "12h", "refire": true }));
    let daily = timer(&service, "main", "daily");
    assert_eq!((&daily["next"], &daily["round"]), (&json!("2000-01-04T00:00:00Z"), &json!(1)));
    assert_eq!(timer(&service, "main", "single")["next"], "2000-01-05T00:00:00Z");
    go(&service, "main", 5);
    let again = work_off(&service, 3);
    assert_eq!(of(&again, "timer_id"), ["daily", "single", "daily"]);
    assert!(again.iter().all(|firing| firing["round"] == 1));
    let before = of(&first, "firing_id");
    assert!(of(&again, "firing_id").iter().all(|id| !before.contains(id)));
    // `refire` is only valid for moves back.
    let forward = json!({ "destination_time": "2000-01-05T12:00:00Z", "refire": true });
    service.post("/v1/travel", &forward);
    send(&service, "/v1/fast-forward", &json!({ "duration": "1d", "refire": true })).refused(400, "unknown_parameter");
    send(&service, "/v1/rewind", &json!({ "duration": "1d", "refire": "yes" })).refused(400, "invalid_parameter");
    service.audit();
}

#[test]
fn late_acknowledgement_returns_superseded() {
    let service = paused_service();
    set(&service, "held", "2000-01-03T00:00:00Z");
    go(&service, "main", 4);
    let held = claim(&service, 1, "20s");
    let body = json!({ "duration": "2d", "refire": true });
    let back = || service.send(Request::post("/v1/rewind").json(&body).header("Idempotency-Key", "back")).expect(200);
    let first = back();
    let late = acknowledge(&service, &held);
    assert_eq!(late["firings"][0]["state"], "superseded");
    go(&service, "main", 4);
    let again = claim(&service, 1, "20s");
    assert_ne!(again[0]["firing_id"], held[0]["firing_id"]);
    // A repeat with the same key returns the first result and has no effect.
    assert_eq!(back()["ledger"]["position"], first["ledger"]["position"]);
    assert_eq!(acknowledge(&service, &again)["firings"][0]["state"], "acknowledged");
    service.audit();
}

#[test]
fn return_to_anchor_restores_timers() {
    let service = paused_service();
    set(&service, "before", "2000-01-03T00:00:00Z");
    set(&service, "cancelled", "2000-01-04T00:00:00Z");
    let anchor = service.post("/v1/set-anchor", &json!({}))["anchor_id"].clone();
    let scenario = |id: &str| {
        set(&service, id, "2000-01-02T00:00:00Z");
        service.send(Request::new("DELETE", "/v1/timers/cancelled")).expect(200);
        go(&service, "main", 5);
        work_off_on(&service, "main", 2).1
    };
    let first = scenario("within");
    service.post("/v1/return-to-anchor", &json!({ "anchor_id": anchor }));
    service.send(Request::get("/v1/timers/within")).refused(404, "not_found");
    assert_eq!(of(service.get("/v1/timers", &[])["timers"].as_array().unwrap(), "timer_id"), ["before", "cancelled"]);
    // The same again with the same names.
    let second = scenario("within");
    assert!(first.iter().all(|id| !second.contains(id)));
    let now = service.get("/v1/timers", &[])["timers"].clone();
    service.post("/v1/return-to-anchor", &json!({ "anchor_id": anchor, "scope": "clock" }));
    assert_eq!(service.get("/v1/timers", &[])["timers"], now);
    service.audit();
}

#[test]
fn fork_fires_the_pending_timers_of_its_parent() {
    let mut service = paused_service();
    set(&service, "in-flight", "2000-01-02T00:00:00Z");
    set(&service, "later", "2000-01-05T00:00:00Z");
    go(&service, "main", 3);
    let held = claim(&service, 1, "20s");
    let anchor = service.post("/v1/set-anchor", &json!({}))["anchor_id"].clone();
    service.post("/timelines", &json!({ "timeline_id": "now", "fork_of": "main" }));
    acknowledge(&service, &held);
    service.send(Request::new("DELETE", "/v1/timers/later")).expect(200);
    service.post("/timelines", &json!({ "timeline_id": "then", "fork_of": "main", "at": anchor }));
    service.kill();
    service.start_again();
    let expected = ["2000-01-02T00:00:00Z", "2000-01-05T00:00:00Z"];
    let mut seen: Vec<String> = of(&held, "firing_id").into_iter().map(str::to_owned).collect();
    for fork in ["now", "then"] {
        go(&service, fork, 6);
        let (due, ids) = work_off_on(&service, fork, 2);
        assert_eq!(due, expected, "{fork}");
        assert!(ids.iter().all(|id| !seen.contains(id)), "{fork}");
        seen.extend(ids);
        let own = json!({ "timeline_id": fork, "timer_id": "own", "at": "2000-02-01T00:00:00Z" });
        service.post("/v1/timers", &own);
    }
    assert_eq!(timer(&service, "main", "later")["state"], "cancelled");
    service.audit();
}

#[test]
fn rewind_dry_run_lists_timers_to_refire() {
    let service = paused_service();
    for (timer_id, day) in [("done", 3), ("held", 4), ("early", 2)] {
        set(&service, timer_id, &format!("2000-01-{day:02}T00:00:00Z"));
    }
    go(&service, "main", 5);
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
    let firing = json!(
        { "firing_id": held, "timer_id": "held", "due": "2000-01-04T00:00:00Z", "queue": "default" });
    assert_eq!(dry["would_supersede"], json!({ "count": 1, "firings": [firing] }));
    assert_eq!((&dry["would_fire"]["count"], &dry["ledger"]), (&json!(0), &Value::Null));
    assert_eq!(
        dry["status"],
        "The clock would go to 2000-01-02T12:00:00Z: 2 timers armed again, 1 firing superseded. Nothing has moved."
    );
    assert_eq!(service.get("/v1/clock", &[])["current_time"], "2000-01-05T00:00:00Z");
    // A travel to that time returns the same.
    let there = json!({ "destination_time": "2000-01-02T12:00:00Z", "refire": true, "dry_run": true });
    assert_eq!(service.post("/v1/travel", &there)["would_rearm"], dry["would_rearm"]);
    // Without `refire` nothing re-arms, and neither on the way forward.
    assert!(back(false, true).get("would_rearm").is_none());
    let ahead = json!({ "destination_time": "2000-02-01T00:00:00Z", "refire": true, "dry_run": true });
    assert!(service.post("/v1/travel", &ahead).get("would_rearm").is_none());
    back(true, false);
    for (timer_id, next) in [("done", "2000-01-03T00:00:00Z"), ("held", "2000-01-04T00:00:00Z")] {
        assert_eq!(timer(&service, "main", timer_id)["next"], next);
    }
    service.audit();
}

#[test]
fn return_dry_run_lists_timer_changes() {
    let service = paused_service();
    set(&service, "flying", "2000-01-01T12:00:00Z");
    set(&service, "cancelled", "2000-01-04T00:00:00Z");
    go(&service, "main", 2);
    let anchor = service.post("/v1/set-anchor", &json!({}))["anchor_id"].clone();
    let ahead = service.post("/v1/set-anchor", &json!({ "timestamp": "2000-01-20T00:00:00Z" }))["anchor_id"].clone();
    let flying = work_off_on(&service, "main", 1).1;
    service.send(Request::new("DELETE", "/v1/timers/cancelled")).expect(200);
    set(&service, "new", "2000-02-01T00:00:00Z");
    let event = json!({ "event_id": "launch", "name": "Launch", "time": "2000-01-03T00:00:00Z" });
    service.post("/v1/events", &event);
    go(&service, "main", 3);
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
    assert_eq!(
        there["would_fire"]["timers"],
        json!([
            { "timer_id": "cancelled", "count": 1 }, { "timer_id": "flying", "count": 1 },
        ])
    );
    assert_eq!(timer(&service, "main", "new")["state"], "armed");
    service.post("/v1/return-to-anchor", &json!({ "anchor_id": anchor }));
    service.send(Request::get("/v1/timers/new")).refused(404, "not_found");
    let claimed = claim(&service, 1, "20s");
    assert_eq!(
        (&claimed[0]["timer_id"], flying.contains(&claimed[0]["firing_id"].to_string())),
        (&json!("flying"), false)
    );
    send(&service, "/v1/return-to-anchor", &json!({ "anchor_id": "none", "dry_run": true })).refused(404, "not_found");
    service.audit();
}
