//! Firings handed out by one service are superseded by a rewind at another one.

use std::collections::BTreeSet;
use std::net::SocketAddr;

use serde_json::{Value, json};

use super::super::postgres::Cluster;
use super::{send, two};
use crate::support::http::Request;

/// Sends a request that succeeds to one of the services.
#[track_caller]
fn ask(address: SocketAddr, key: &str, path: &str, body: &Value) -> Value {
    let answer = send(address, &Request::post(path).json(body).key(key)).unwrap();
    assert!(answer.status < 300, "{path} {body}: {answer}");
    answer.json()
}

/// Claims firings, waiting for some if told to.
fn claim(address: SocketAddr, key: &str, wait: &str) -> Vec<Value> {
    let claimed = ask(address, key, "/v1/queues/default/claim", &json!({ "max": 5, "wait": wait }));
    claimed["firings"].as_array().unwrap_or_else(|| panic!("{claimed:#}")).clone()
}

/// Moves the clock past the timer, with or without listeners.
fn go(address: SocketAddr, key: &str) {
    ask(address, key, "/v1/travel", &json!({ "destination_time": "2000-01-04T00:00:00Z", "wait_for_timers": false }));
}

#[test]
fn firing_leased_at_one_replica_is_superseded_by_remote_rewind() {
    let cluster = Cluster::start();
    let (first, second) = two(&cluster);
    let (here, there, admin) = (first.address(), second.process.address, first.admin.clone());
    first.post("/v1/pause-time", &json!({}));
    first.post("/v1/travel", &json!({ "destination_time": "2000-01-02T00:00:00Z", "wait_for_timers": false }));
    first.post("/v1/timers", &json!({ "timer_id": "held", "at": "2000-01-03T00:00:00Z" }));
    let anchor = first.post("/v1/set-anchor", &json!({}))["anchor_id"].clone();
    let mut seen = BTreeSet::new();
    for number in 0..6 {
        let (claims, goes_back) = if number % 2 == 0 { (here, there) } else { (there, here) };
        go(goes_back, &admin);
        let held = claim(claims, &admin, "60s");
        let [firing] = &held[..] else { panic!("{held:#?}") };
        let firing_id = firing["firing_id"].as_str().unwrap().to_owned();
        assert!(seen.insert(firing_id.clone()), "{firing_id} comes a second time");
        if number < 3 {
            ask(goes_back, &admin, "/v1/rewind", &json!({ "duration": "2d", "refire": true }));
        } else {
            ask(goes_back, &admin, "/v1/return-to-anchor", &json!({ "anchor_id": anchor }));
        }
        // From this response on, no service hands it out or accepts an outcome.
        for address in [claims, goes_back] {
            assert_eq!(claim(address, &admin, "0s"), Vec::<Value>::new(), "what is superseded is handed out");
            for (path, body, state) in [
                ("/v1/firings/ack", json!({ "firing_ids": [firing_id] }), "superseded"),
                ("/v1/firings/fail", json!({ "firing_ids": [firing_id], "reason": "late" }), "superseded"),
                ("/v1/firings/extend", json!({ "firing_ids": [firing_id], "ttl": "30s" }), "lost"),
            ] {
                let late = ask(address, &admin, path, &body);
                assert_eq!(late["firings"][0]["state"], state, "{path}: {late:#}");
            }
        }
    }
    // The re-armed timer fires as usual.
    go(there, &admin);
    let again = claim(here, &admin, "60s");
    assert!(!seen.contains(again[0]["firing_id"].as_str().unwrap()), "{again:#?}");
    let done = ask(there, &admin, "/v1/firings/ack", &json!({ "firing_ids": [again[0]["firing_id"]] }));
    assert_eq!(done["firings"][0]["state"], "acknowledged");
    let timer = first.get("/v1/timers/held", &[]);
    let outcomes = timer["firings"].as_array().unwrap().iter().filter(|firing| firing["state"] == "acknowledged");
    assert_eq!(outcomes.count(), 1, "{timer:#}");
    for timeline in ["main", "system"] {
        let scan = first.post("/v1/detect-tampering", &json!({ "timeline_id": timeline }));
        assert_eq!((&scan["tampering_detected"], &scan["findings"]), (&json!(false), &json!([])), "{scan:#}");
    }
    drop(second);
    first.audit();
}
