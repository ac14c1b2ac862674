//! Limits: firings at one instant, pending firings, and disconnecting listeners.

use std::thread;

use serde_json::{Value, json};

use super::{acknowledge, claim, set, texts};
use crate::support::http::{Connection, Request};
use crate::support::service::Service;
use crate::support::waiting::{until, until_so};
use crate::v1::{assert_members, paused_service};

/// Maximum firings per instant of an advance.
const AT_INSTANT: u64 = 10_000;
/// Pending firings above which rule moments are skipped.
const PENDING: u64 = 10_000;

/// Sets a rule with this many past moments, all of which fire at once into a queue without a listener.
fn set_late(service: &Service, timer_id: &str, moments: u64) {
    let every = json!({ "rule": format!("FREQ=SECONDLY;COUNT={moments}"), "starts": "1999-12-31T00:00:00Z" });
    let deliver = json!({ "to": "queue", "queue": "unheard" });
    let body = json!({ "timer_id": timer_id, "every": every, "catch_up": true, "deliver": deliver });
    service.post("/v1/timers", &body);
}

#[test]
fn stuck_advance_names_self_rearming_timer() {
    let service = paused_service();
    set(&service, "first", "2000-01-02T00:00:00Z");
    set(&service, "then", "2000-01-03T00:00:00Z");
    assert!(claim(&service, 1, "0s").is_empty(), "so that the queue is heard");
    let moved = service.post("/v1/fast-forward", &json!({ "duration": "10d", "wait": "0s" }));
    let advance_id = moved["receipt"]["advance_id"].as_str().expect("an id").to_owned();
    let firings = claim(&service, 1, "20s");
    // Together with the claimed one, one more than the limit.
    set_late(&service, "again-and-again", AT_INSTANT);
    acknowledge(&service, &firings);
    let receipt = |wait: &str| service.get(&format!("/v1/advances/{advance_id}"), &[("wait", wait)]);
    until_so("the advance has ended", || receipt("20s")["receipt"]["state"] != "running");
    let receipt = receipt("0s");
    let settled = &receipt["receipt"];
    let named = "the timer `again-and-again` (the last of 10001 to fire at this instant)";
    let expected = json!({ "state": "stuck", "reached": "2000-01-02T00:00:00Z", "fired": AT_INSTANT + 1,
        "acknowledged": 1, "held_by": named });
    assert_members(settled, &expected);
    let status = receipt["status"].as_str().expect("a sentence");
    assert!(status.contains(&format!("because timers kept arming themselves for now: {named}.")), "{status}");
    // The clock stays there and can be moved on.
    let clock = service.get("/v1/clock", &[]);
    assert_members(&clock, &json!({ "current_time": "2000-01-02T00:00:00Z", "advance": null }));
    let moved = service.post("/v1/fast-forward", &json!({ "duration": "10d", "wait": "0s" }));
    assert_eq!(moved["receipt"]["state"], "running");
    acknowledge(&service, &claim(&service, 1, "20s"));
    let path = format!("/v1/advances/{}", moved["receipt"]["advance_id"].as_str().expect("an id"));
    until_so("the clock has gone on", || service.get(&path, &[("wait", "20s")])["receipt"]["state"] == "settled");
    service.audit();
}

#[test]
fn pending_firing_limit_skips_rules_but_fires_single_timers() {
    let service = paused_service();
    let hourly = |timer_id: &str, misfire: &str| {
        let every = json!({ "rule": "FREQ=HOURLY", "starts": "2000-01-01T00:30:00Z" });
        let body = json!({ "timer_id": timer_id, "every": every, "misfire": misfire });
        service.post("/v1/timers", &body);
    };
    hourly("all", "all");
    hourly("once", "once");
    let singles = ["2000-01-01T07:00:00Z", "2000-01-02T08:00:00Z", "2000-01-02T08:00:00Z", "2000-01-03T09:00:00Z"];
    for (number, at) in singles.iter().enumerate() {
        set(&service, &format!("single-{number}"), at);
    }
    set_late(&service, "crowd", PENDING);
    let pending = || service.get("/v1/clock", &[])["lag"]["pending"].as_u64();
    until_so("the crowd waits", || pending() == Some(PENDING));
    let jump = |duration: &str| {
        service.post("/v1/fast-forward", &json!({ "duration": duration, "wait_for_timers": false }));
    };
    let fired = |timer_id: &str| {
        let details = service.get(&format!("/v1/timers/{timer_id}"), &[]);
        (details["timer"]["next"].clone(), details["firings"].as_array().expect("firings").len())
    };
    jump("3d");
    until_so("all is told", || fired("all").0 == "2000-01-04T00:30:00Z" && fired("single-3").1 == 1);
    for rule in ["all", "once"] {
        assert_eq!(fired(rule), (json!("2000-01-04T00:30:00Z"), 0), "{rule}");
    }
    let claimed = claim(&service, 10, "20s");
    assert_eq!(texts(&claimed, "due"), singles);
    // Each rule reports the range of its skipped moments.
    let stretch = json!(
        { "count": 72, "complete": true, "from": "2000-01-01T00:30:00Z", "to": "2000-01-03T23:30:00Z" });
    let skipped = |timer_id: &str| service.get(&format!("/v1/timers/{timer_id}"), &[])["skipped"].clone();
    assert_eq!([skipped("all"), skipped("once")], [stretch.clone(), stretch.clone()]);
    assert_eq!([skipped("single-0"), skipped("crowd")], [Value::Null, Value::Null]);
    acknowledge(&service, &claimed);
    // Once fewer are pending, rules fire again.
    let claimed = service.post("/v1/queues/unheard/claim", &json!({ "max": 10 }))["firings"].clone();
    acknowledge(&service, claimed.as_array().expect("firings"));
    jump("3h");
    let fired = until("a firing of a rule", || claim(&service, 10, "20s").into_iter().next());
    assert_eq!(fired["due"], "2000-01-04T00:30:00Z");
    // Moments that had not fired do not count for a changed timer.
    service.send(Request::new("PATCH", "/v1/timers/once").json(&json!({ "payload": 1 }))).expect(200);
    assert_eq!([skipped("all"), skipped("once")], [stretch, Value::Null]);
    let scan = service.post("/v1/detect-tampering", &json!({ "timeline_id": "main" }));
    assert_eq!(scan["findings"], json!([]), "{scan:#}");
    service.audit();
}

fn listen(service: &Service, ack_timeout: &str) -> Connection {
    let request = json!({ "max": 10, "wait": "60s", "ack_timeout": ack_timeout });
    let mut connection = service.connect();
    connection.send_request(&service.signed(Request::post("/v1/queues/default/claim").json(&request)));
    // The listener, and the reader of metrics.
    service.wait_for_metric("timenav_connections", 2);
    connection
}

#[test]
fn disconnected_listener_receives_no_firings() {
    let service = paused_service();
    for number in 0..10 {
        drop(listen(&service, "10m"));
        service.wait_for_metric("timenav_connections", 1);
        set(&service, &format!("t-{number}"), "1999-12-31T00:00:00Z");
        let firings = claim(&service, 10, "20s");
        assert_eq!(texts(&firings, "timer_id"), [format!("t-{number}")]);
        assert_eq!(firings[0]["attempt"], 1, "nobody had it before");
        acknowledge(&service, &firings);
    }
    service.audit();
}

/// A firing handed to a listener that disconnects is available to others at once, or when its lease ends.
#[test]
fn firing_survives_disconnect_of_its_listener() {
    let service = paused_service();
    for number in 0..6 {
        let timer_id = format!("t-{number}");
        let disconnected = listen(&service, "1s");
        thread::scope(|scope| {
            scope.spawn(|| set(&service, &timer_id, "1999-12-31T00:00:00Z"));
            scope.spawn(|| drop(disconnected));
        });
        let firings = claim(&service, 10, "60s");
        assert_eq!(texts(&firings, "timer_id"), [timer_id]);
        assert!(firings[0]["attempt"].as_u64() <= Some(2), "{firings:?}");
        acknowledge(&service, &firings);
    }
    service.audit();
}

/// Two timers with one order key are due at the same instant. The second is canceled while the first is handled.
#[test]
fn canceled_timer_lists_firings_still_delivered() {
    let service = paused_service();
    for (timer_id, order_key) in [("stop", "a"), ("interval", "a"), ("other", "b")] {
        let body = json!({ "timer_id": timer_id, "at": "2000-01-02T00:00:00Z", "order_key": order_key });
        service.post("/v1/timers", &body);
    }
    service.post("/v1/fast-forward", &json!({ "duration": "3d", "wait": "0s" }));
    let first = claim(&service, 10, "20s");
    assert_eq!(texts(&first, "timer_id"), ["stop", "other"]);
    let cancel = || service.send(Request::new("DELETE", "/v1/timers/interval")).expect(200);
    let expected = "It fired before: 1 firing has no outcome yet and is still delivered.";
    let status = cancel()["status"].as_str().unwrap().to_owned();
    assert!(status.ends_with(expected), "{status}");
    acknowledge(&service, &first);
    let second = claim(&service, 10, "20s");
    assert_eq!(texts(&second, "timer_id"), ["interval"]);
    acknowledge(&service, &second);
    assert_eq!(cancel()["status"], "The timer no longer fires; nothing changed.");
    service.audit();
}

/// A change without effect returns the last entry, which may be a read.
#[test]
fn change_without_effect_after_read_passes_scan() {
    let service = paused_service();
    service.post("/v1/timers", &json!({ "timer_id": "once", "at": "2000-01-02T00:00:00Z" }));
    service.post("/v1/fast-forward", &json!({ "duration": "3d" }));
    for read in [false, true] {
        if read {
            service.get("/v1/timers", &[]);
        }
        let cancel = Request::new("DELETE", "/v1/timers/once").idempotent(&format!("read-{read}"));
        let answer = service.send(cancel).expect(200);
        let status = "The timer no longer fires; nothing changed. It fired before: 1 firing has no outcome yet and is \
            still delivered.";
        assert_eq!(answer["status"], status);
        let scan = service.post("/v1/detect-tampering", &json!({ "timeline_id": "system" }));
        assert_eq!(scan["findings"], json!([]), "{scan:#}");
    }
    service.audit();
}
