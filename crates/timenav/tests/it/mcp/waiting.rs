//! `wait_for` and `spend`: nothing happens while the agent thinks.

use std::sync::mpsc::channel;

use serde_json::{Value, json};

use super::at_new_year;
use super::session::Agent;
use crate::support::http::{Connection, Request};
use crate::support::instant::micros;
use crate::support::service::Service;

fn agent(service: &Service) -> Agent {
    Agent::begun(service, &["--allow", "write,travel"])
}

fn timer(service: &Service, id: &str, at: &str, queue: &str) {
    let deliver = json!({ "to": "queue", "queue": queue });
    service.post("/v1/timers", &json!({ "timer_id": id, "at": at, "deliver": deliver }));
}

fn ids(found: &Value) -> Value {
    found["firings"].as_array().unwrap().iter().map(|firing| firing["timer_id"].clone()).collect()
}

fn current_time(found: &Value) -> &str {
    found["clock"]["current_time"].as_str().unwrap()
}

#[test]
fn wait_for_returns_each_event_exactly_once() {
    let service = at_new_year();
    let mut agent = agent(&service);
    let nothing = agent.done("wait_for", &json!({ "event": {}, "timeout": "0.05s" }));
    assert_eq!(nothing["reason"], "timeout");
    // Events recorded between two calls are returned from the position where the last wait ended.
    for (event_id, actor) in [("a", "bob"), ("b", "alice"), ("c", "bob")] {
        let event = json!({ "event_id": event_id, "time": "2027-01-01T00:00:00Z", "actors": [actor],
            "attributes": { "stage": 2 } });
        service.post("/v1/events", &event);
    }
    let mut after = nothing["after"].clone();
    for expected in ["a", "c"] {
        let event = json!({ "actor": "bob", "attribute": { "stage": 2 } });
        let found = agent.done("wait_for", &json!({ "event": event, "after": after }));
        assert_eq!((&found["reason"], &found["event"]["event_id"]), (&json!("event"), &json!(expected)));
        after = found["after"].clone();
    }
    let found = agent.done("wait_for", &json!({ "event": { "event_id": "b" }, "after": nothing["after"] }));
    assert_eq!(found["event"]["actors"], json!(["alice"]));
    // A correction is not a new recording, and returned events are not repeated.
    service.post("/v1/correct-event", &json!({ "event": { "event_id": "c", "time": "2027-01-02T00:00:00Z" } }));
    let found = agent.done("wait_for", &json!({ "event": {}, "after": after, "timeout": "0.2s" }));
    assert_eq!(found["reason"], "timeout");
    // An event during the wait.
    let waits = agent.sent(
        "tools/call",
        &json!({ "name": "wait_for",
        "arguments": { "event": { "text": "landing" }, "after": found["after"] } }),
    );
    service.post("/v1/events", &json!({ "event_id": "d", "time": "2027-01-01T00:00:00Z", "name": "The landing" }));
    let found = agent.answer(&waits)["result"]["structuredContent"].clone();
    assert_eq!(found["event"]["event_id"], "d");
    agent.ended();
    service.audit();
}

#[test]
fn wait_for_returns_when_clock_reaches_time_or_timer() {
    let service = at_new_year();
    let mut agent = Agent::begun(&service, &[]);
    timer(&service, "soon", "2027-01-01T01:40:00Z", "q");
    service.post("/v1/set-rate", &json!({ "rate": 600.0 }));
    service.post("/v1/resume-time", &json!({}));
    let found = agent.done("wait_for", &json!({ "until": "2027-01-01T00:10:00Z" }));
    assert_eq!(found["reason"], "moment");
    assert!(micros(current_time(&found)) >= micros("2027-01-01T00:10:00Z"), "{found}");
    let found = agent.done("wait_for", &json!({ "timer_id": "soon" }));
    assert_eq!((&found["reason"], &found["firing"]["due"]), (&json!("timer"), &json!("2027-01-01T01:40:00Z")));
    assert!(agent.refused("wait_for", &json!({ "timer_id": "soon" })).contains("will not fire again"));
    // Clock changes of other users count as well.
    service.post("/v1/pause-time", &json!({}));
    let far = json!({ "until": "2030-01-01T00:00:00Z" });
    let waits = agent.sent("tools/call", &json!({ "name": "wait_for", "arguments": far }));
    service.post("/v1/travel", &json!({ "destination_time": "2030-01-01T00:00:00Z" }));
    let found = agent.answer(&waits)["result"]["structuredContent"].clone();
    assert_eq!((&found["reason"], current_time(&found)), (&json!("moment"), "2030-01-01T00:00:00Z"));
    agent.ended();
    service.audit();
}

#[test]
fn wait_for_advances_paused_clock_to_next_firing() {
    let service = at_new_year();
    let mut agent = agent(&service);
    timer(&service, "one", "2027-01-05T09:00:00Z", "inbox");
    timer(&service, "other", "2027-01-06T09:00:00Z", "nobody");
    timer(&service, "two", "2027-01-07T09:00:00Z", "inbox");
    let on = json!({ "queue": "inbox", "until": "2027-02-01T00:00:00Z", "advance": true });
    let found = agent.done("wait_for", &on);
    assert_eq!((&found["reason"], ids(&found)), (&json!("firing"), json!(["one"])));
    assert_eq!(current_time(&found), "2027-01-05T09:00:00Z");
    assert_eq!(service.get("/v1/clock", &[])["current_time"], "2027-01-05T09:00:00Z");
    // The clock waits for the agent, and the error says so.
    assert!(agent.refused("wait_for", &on).contains("`acknowledge_firings` first"));
    assert!(agent.refused("elapse", &json!({ "duration": "1h" })).contains("(reentrant_clock_change)"));
    let done = |agent: &mut Agent, found: &Value| {
        agent.done("acknowledge_firings", &json!({ "firing_ids": [found["firings"][0]["firing_id"]] }))
    };
    done(&mut agent, &found);
    let found = agent.done("wait_for", &on);
    assert_eq!((ids(&found), current_time(&found)), (json!(["two"]), "2027-01-07T09:00:00Z"));
    done(&mut agent, &found);
    let found = agent.done("wait_for", &on);
    assert_eq!((&found["reason"], current_time(&found)), (&json!("moment"), "2027-02-01T00:00:00Z"));
    let found = agent.done("wait_for", &json!({ "queue": "inbox", "advance": true }));
    assert_eq!(found["reason"], "no_armed_timers");
    agent.ended();
    service.audit();
}

#[test]
fn wait_for_ends_at_event_recorded_by_handler() {
    let service = at_new_year();
    let mut agent = agent(&service);
    let (sender, received) = channel();
    let worker = std::thread::spawn({
        let (address, key) = (service.address(), service.admin.clone());
        move || {
            let mut connection = Connection::open(address).unwrap();
            let mut post = |path: &str, body: Value| {
                let request = Request::post(path).json(&body).key(&key);
                connection.exchange(&request).unwrap().json()
            };
            for is_work in [false, true] {
                let firing = post("/v1/queues/worker/claim", json!({ "wait": "60s" }))["firings"][0].clone();
                if is_work {
                    post("/v1/events", json!({ "event_id": "done", "time": firing["due"] }));
                }
                post("/v1/firings/ack", json!({ "firing_ids": [firing["firing_id"]] }));
                sender.send(()).unwrap();
            }
        }
    });
    // A firing that is due at once proves that the queue has a listener.
    timer(&service, "hello", "2026-12-31T00:00:00Z", "worker");
    received.recv().unwrap();
    timer(&service, "work", "2027-01-05T09:00:00Z", "worker");
    timer(&service, "later", "2027-01-06T09:00:00Z", "nobody");
    let on =
        json!({ "event": { "event_id": "done" }, "until": "2027-02-01T00:00:00Z", "advance": true, "timeout": "60s" });
    let found = agent.done("wait_for", &on);
    worker.join().unwrap();
    assert_eq!((&found["reason"], &found["event"]["event_id"]), (&json!("event"), &json!("done")));
    // The clock did not move further.
    assert_eq!(service.get("/v1/clock", &[])["current_time"], "2027-01-05T09:00:00Z");
    agent.ended();
    service.audit();
}

#[test]
fn spend_moves_the_clock_by_the_step_duration() {
    let service = at_new_year();
    let mut agent = agent(&service);
    timer(&service, "due", "2027-01-01T00:30:00Z", "nobody");
    let spent = agent.done("elapse", &json!({ "duration": "1h" }));
    assert_eq!((&spent["elapsed"], &spent["current_time"]), (&json!("1h"), &json!("2027-01-01T01:00:00Z")));
    assert_eq!((&spent["receipt"]["fired"], &spent["receipt"]["unacknowledged"]), (&json!(1), &json!(1)));
    // This much has been spent already since the start.
    let spent = agent.done("elapse", &json!({ "duration": "30m", "since": "2027-01-01T00:00:00Z" }));
    assert_eq!(spent["current_time"], "2027-01-01T01:00:00Z");
    let spent = agent.done("elapse", &json!({ "measured": true, "factor": 1000 }));
    let to = spent["current_time"].as_str().unwrap();
    assert!(
        micros(to) > micros("2027-01-01T01:00:00Z") && spent["elapsed"].as_str().unwrap().ends_with('s'),
        "{spent}"
    );
    assert_eq!(service.get("/v1/clock", &[])["current_time"], to);
    // On a running clock the time has passed already.
    service.post("/v1/resume-time", &json!({}));
    for (tool, arguments, expected) in [
        ("elapse", json!({ "duration": "1h" }), "(clock_running)"),
        ("wait_for", json!({ "until": "2028-01-01T00:00:00Z", "advance": true }), "`pause_time` first"),
    ] {
        assert!(agent.refused(tool, &arguments).contains(expected), "{tool}");
    }
    agent.ended();
    service.audit();
}
