//! `/v1/timers`, queues, firings, and clock changes that pass timers.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use serde_json::{Value, json};

use super::{assert_members, paused_service, permit, send, texts};
use crate::support::http::Request;
use crate::support::service::Service;

mod advances;
mod again;
mod causes;
mod crashes;
mod recording;
mod edges;
mod holding;
pub(crate) mod kills;
mod listing;
pub(crate) mod model;
mod next;
mod observing;
mod plans;
mod rules;
mod elapsing;
mod webhooks;
mod webhooks_tls;

/// Stops workers, even if the test fails while they wait.
pub(crate) struct Ends<'a>(&'a AtomicBool);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn set(service: &Service, timer_id: &str, at: &str) -> Value {
    service.post("/v1/timers", &json!({ "timer_id": timer_id, "at": at, "payload": { "of": timer_id } }))["timer"]
        .clone()
}

/// Claims firings of the queue `default`, waiting for some.
fn claim(service: &Service, max: usize, wait: &str) -> Vec<Value> {
    let claimed = service.post("/v1/queues/default/claim", &json!({ "max": max, "wait": wait }));
    claimed["firings"].as_array().expect("firings").clone()
}

fn acknowledge(service: &Service, firings: &[Value]) -> Value {
    let ids: Vec<&Value> = firings.iter().map(|firing| &firing["firing_id"]).collect();
    service.post("/v1/firings/ack", &json!({ "firing_ids": ids }))
}

/// Claims and acknowledges until `count` firings are done. Returns them in claim order.
fn work_off(service: &Service, count: usize) -> Vec<Value> {
    let mut done = Vec::new();
    while done.len() < count {
        let claimed = claim(service, 10, "20s");
        assert!(!claimed.is_empty(), "nothing came: {}", service.log_text());
        for firing in &claimed {
            let clock = service.get("/v1/clock", &[]);
            assert!(clock["current_time"].as_str() >= firing["due"].as_str(), "{clock} {firing}");
        }
        acknowledge(service, &claimed);
        done.extend(claimed);
    }
    done
}

#[test]
fn timer_is_set_shown_changed_and_canceled() {
    let service = paused_service();
    let timer = set(&service, "renew", "2000-02-01T00:00:00Z");
    let deliver = json!({ "to": "queue", "queue": "default" });
    assert_members(&timer, &json!({ "state": "armed", "next": "2000-02-01T00:00:00Z", "deliver": deliver }));
    // An identical timer is not set twice, and a different one with the same id is rejected.
    assert_eq!(set(&service, "renew", "2000-02-01T00:00:00Z"), timer);
    let different = json!({ "timer_id": "renew", "at": "2000-03-01T00:00:00Z" });
    send(&service, "/v1/timers", &different).refused(409, "already_exists");
    assert_eq!(service.get("/v1/timers", &[])["timers"], json!([timer]));

    let change = |at: &str| service.send(Request::new("PATCH", "/v1/timers/renew").json(&json!({ "at": at })));
    let changed = change("2000-01-15T00:00:00Z").expect(200)["timer"].clone();
    let position = &timer["position"];
    assert_members(&changed, &json!({ "next": "2000-01-15T00:00:00Z", "position": position, "round": 1 }));
    for _ in 0..2 {
        let canceled = service.send(Request::new("DELETE", "/v1/timers/renew")).expect(200);
        assert_eq!(canceled["timer"]["state"], "cancelled");
    }
    change("2000-01-16T00:00:00Z").refused(409, "conflict");
    assert_eq!(service.get("/v1/timers", &[])["timers"], json!([]));
    let details = service.get("/v1/timers/renew", &[]);
    assert_eq!((&details["timer"]["state"], &details["firings"]), (&json!("cancelled"), &json!([])));
    service.send(Request::get("/v1/timers/none")).refused(404, "not_found");
    service.audit();
}

#[test]
fn timer_in_the_past_fires_immediately() {
    let service = paused_service();
    // The claim waits for it.
    let firings = thread::scope(|scope| {
        let claiming = scope.spawn(|| claim(&service, 1, "30s"));
        set(&service, "late", "1999-12-31T00:00:00Z");
        claiming.join().expect("a claim")
    });
    let expected = json!({ "due": "1999-12-31T00:00:00Z", "payload": { "of": "late" }, "attempt": 1, "step": null });
    assert_members(&firings[0], &expected);
    // Twice is not an error.
    for _ in 0..2 {
        assert_eq!(acknowledge(&service, &firings)["firings"][0]["state"], "acknowledged");
    }
    let details = service.get("/v1/timers/late", &[]);
    assert_eq!((&details["timer"]["state"], &details["firings"][0]["state"]), (&json!("done"), &json!("acknowledged")));
    assert!(claim(&service, 1, "0s").is_empty());
    send(&service, "/v1/firings/ack", &json!({ "firing_ids": ["firing_none"] })).refused(404, "not_found");
    service.audit();
}

#[test]
fn running_clock_fires_due_timers() {
    let service = Service::start();
    service.post("/v1/travel", &json!({ "destination_time": "2000-01-01T00:00:00Z" }));
    set(&service, "soon", "2000-01-01T00:00:02Z");
    set(&service, "later", "2000-01-01T00:10:00Z");
    let firings = claim(&service, 5, "30s");
    assert_eq!(texts(&firings, "timer_id"), ["soon"]);
    acknowledge(&service, &firings);
    // A faster clock reaches it earlier.
    service.post("/v1/set-rate", &json!({ "rate": 1000 }));
    let firings = claim(&service, 5, "30s");
    assert_eq!(firings.len(), 1);
    assert_members(&firings[0], &json!({ "timer_id": "later", "due": "2000-01-01T00:10:00Z" }));
    acknowledge(&service, &firings);
    service.post("/v1/pause-time", &json!({}));
    service.audit();
}

#[test]
fn failed_firing_is_redelivered() {
    let service = paused_service();
    set(&service, "card", "1999-01-01T00:00:00Z");
    let firings = claim(&service, 1, "20s");
    let body = json!({ "firing_ids": [firings[0]["firing_id"]], "reason": "declined" });
    let failed = service.post("/v1/firings/fail", &body);
    assert_eq!((&failed["firings"][0]["state"], &failed["ledger"]), (&json!("pending"), &Value::Null));
    let redelivered = claim(&service, 1, "20s");
    let firing_id = &firings[0]["firing_id"];
    assert_members(&redelivered[0], &json!({ "firing_id": firing_id, "attempt": 2 }));
    let extend = || service.post("/v1/firings/extend", &json!({ "firing_ids": [firing_id], "ttl": "60s" }));
    assert_eq!(extend()["firings"][0]["state"], "leased");
    acknowledge(&service, &redelivered);
    assert_eq!(extend()["firings"][0]["state"], "lost");
    service.audit();
}

#[test]
fn expired_lease_is_given_to_another_worker() {
    let service = paused_service();
    set(&service, "slow", "1999-01-01T00:00:00Z");
    let first = service.post("/v1/queues/default/claim", &json!({ "wait": "20s", "ack_timeout": "5s" }));
    assert!(claim(&service, 1, "0s").is_empty(), "somebody has it");
    let second = claim(&service, 1, "30s");
    let (first, second) = (&first["firings"][0], &second[0]);
    assert_eq!(second["firing_id"], first["firing_id"]);
    assert_ne!(second["lease_id"], first["lease_id"]);
    // The previous holder gets `lease_lost` for every operation on it.
    let output = |lease: &Value| json!({ "firing_ids": [first["firing_id"]], "lease_ids": [lease["lease_id"]] });
    let refused = send(&service, "/v1/firings/ack", &output(first));
    assert!(refused.text().contains("another worker, `admin`"), "{refused}");
    refused.refused(409, "lease_lost");
    send(&service, "/v1/firings/fail", &output(first)).refused(409, "lease_lost");
    let extended = |lease: &Value| service.post("/v1/firings/extend", &output(lease))["firings"][0]["state"].clone();
    assert_eq!((extended(first), extended(second)), (json!("lost"), json!("leased")));
    // Without a lease, the current holder is checked by user.
    let bare = json!({ "firing_ids": [first["firing_id"]] });
    let other = service.user("other");
    permit(&service, "main", &json!({ "write": ["other"] }));
    service.send(Request::post("/v1/firings/ack").json(&bare).key(&other)).refused(409, "lease_lost");
    let state = |settled: Value| settled["firings"][0]["state"].clone();
    assert_eq!(state(service.post("/v1/firings/ack", &output(second))), "acknowledged");
    // It is settled: repeating that is fine.
    assert_eq!(state(service.post("/v1/firings/ack", &output(first))), "acknowledged");
    service.audit();
}

#[test]
fn invalid_timers_and_firing_requests_are_rejected() {
    let service = paused_service();
    let at = "2001-01-01T00:00:00Z";
    for (body, pointer) in [
        (json!({ "at": "soon" }), "#/at"),
        (json!({ "at": at, "timer_id": "a b" }), "#/timer_id"),
        (json!({ "at": at, "deliver": { "to": "nowhere" } }), "#/deliver"),
        (json!({ "at": at, "order_key": "" }), "#/order_key"),
        (json!({ "every": { "rule": "FREQ=NEVER" } }), "#/every/rule"),
        (json!({ "every": { "rule": "FREQ=DAILY", "zone": "Mars/Olympus" } }), "#/every/zone"),
        (json!({ "every": { "rule": "FREQ=DAILY;COUNT=1", "starts": "1999-01-01T00:00:00Z" } }), "#/every"),
        (json!({ "cron": { "expression": "* * *" } }), "#/cron/expression"),
        (json!({ "cron": { "expression": "0 0 * * *" }, "at": at }), "#/at"),
        (json!({ "at": at, "misfire": "skip" }), "#/misfire"),
    ] {
        let refused = send(&service, "/v1/timers", &body);
        assert_eq!(refused.status, 400, "{body}: {refused}");
        let named = refused.json()["errors"][0]["pointer"].as_str().unwrap_or_default().to_owned();
        assert!(named.starts_with(pointer), "{body}: {refused}");
    }
    let refused = send(&service, "/v1/timers", &json!({})).refused(400, "invalid_parameter");
    assert_eq!(refused["detail"], "give the time of the timer, with `at`, `every` or `cron`");
    for body in [json!({ "max": 0 }), json!({ "max": 1001 }), json!({ "wait": "2m" }), json!({ "ack_timeout": "0s" })] {
        send(&service, "/v1/queues/default/claim", &body).refused(400, "invalid_parameter");
    }
    let long = json!({ "firing_ids": ["firing_none"], "reason": "x".repeat(1025) });
    send(&service, "/v1/firings/fail", &long).refused(400, "invalid_parameter");
    let long = json!({ "duration": "1d", "wait": "601s" });
    send(&service, "/v1/fast-forward", &long).refused(400, "invalid_parameter");
    for body in [
        json!({ "firing_ids": [] }),
        json!({ "firing_ids": vec!["x"; 1001] }),
        json!({ "firing_ids": ["firing_none"], "lease_ids": [] }),
        json!({ "firing_ids": ["firing_none"], "lease_ids": vec!["x"; 1001] }),
    ] {
        send(&service, "/v1/firings/ack", &body).refused(400, "invalid_parameter");
    }
    service.audit();
}
