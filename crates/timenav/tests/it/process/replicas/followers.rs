//! Followers of two services behind a load balancer that distributes requests arbitrarily.

use serde_json::{Value, json};

use super::super::postgres::Cluster;
use super::{Replica, two};
use crate::support::http::{Connection, Request};
use crate::support::waiting::{until, until_so};
use crate::v1::messages::{Message, open};

fn following(name: &str) -> Request {
    Request::get(&format!("/v1/clock/stream?follow={name}&steps=true")).header("Accept", "text/event-stream")
}

fn confirm(message: &Message) -> Request {
    let step = message.data["advance"]["step"].as_u64().unwrap_or(0);
    let body =
        json!({ "follower_id": message.data["follower_id"], "generation": message.data["generation"], "step": step });
    Request::post("/v1/followers/confirm").json(&body)
}

/// Returns name and state of each follower.
fn states(awaited: &Value) -> Vec<(&str, &str)> {
    let followers = awaited["followers"].as_array().unwrap();
    followers.iter().map(|one| (one["name"].as_str().unwrap(), one["state"].as_str().unwrap())).collect()
}

#[test]
fn change_waits_for_followers_of_all_replicas() {
    let cluster = Cluster::start();
    let (first, mut other) = two(&cluster);
    let [mut here, mut there] =
        [first.address(), other.process.address].map(|address| Connection::open(address).unwrap());
    let mut here = open(&mut here, &first, following("here"));
    let mut there = open(&mut there, &first, following("there").key(&other.admin));
    for stream in [&mut here, &mut there] {
        stream.next().unwrap();
    }
    let forward = || {
        let body = json!({ "duration": "1h", "followers": "all", "wait": "10m" });
        first.post("/v1/fast-forward", &body)
    };
    std::thread::scope(|scope| {
        let waiting = scope.spawn(forward);
        // Each confirms at a different service than that of its stream.
        let message = here.next().unwrap();
        other.send(confirm(&message)).expect(200);
        assert!(!waiting.is_finished(), "`there` has not confirmed");
        let message = there.next().unwrap();
        first.send(confirm(&message)).expect(200);
        let answer = waiting.join().unwrap();
        assert_eq!(states(&answer["followers"]), [("here", "confirmed"), ("there", "confirmed")]);
        assert_eq!(answer["followers"].get("partial"), None);
    });

    // Firings during an advance are handed out at either service once both have reached their time.
    first.post("/v1/pause-time", &json!({}));
    first.post("/v1/travel", &json!({ "destination_time": "2001-01-01T00:00:00Z" }));
    let due = "2001-01-01T01:00:00Z";
    first.post("/v1/timers", &json!({ "timer_id": "one", "at": due }));
    let newest = first.get("/v1/clock", &[])["generation"].clone();
    for stream in [&mut here, &mut there] {
        while stream.next().unwrap().data["generation"] != newest {}
    }
    let claim = |wait: &str| Request::post("/v1/queues/default/claim").json(&json!({ "wait": wait }));
    assert_eq!(first.send(claim("0s")).expect(200)["firings"], json!([]), "it is listened to from here on");
    first.post("/v1/fast-forward", &json!({ "duration": "2h", "wait": "0s" }));
    let mut message = Vec::new();
    for stream in [&mut here, &mut there] {
        message
            .push(std::iter::from_fn(|| stream.next()).find(|message| message.data["advance"]["step"] == 1).unwrap());
    }
    assert_eq!(message[0].data["current_time"], due);
    other.send(confirm(&message[0])).expect(200);
    let claimed = std::thread::scope(|scope| {
        let waiting = scope.spawn(|| other.send(claim("1m")).expect(200));
        first.send(confirm(&message[1])).expect(200);
        waiting.join().unwrap()
    });
    assert_eq!(claimed["firings"][0]["timer_id"], "one", "{claimed:#}");
    let firing_ids = json!({ "firing_ids": [claimed["firings"][0]["firing_id"]] });
    first.post("/v1/firings/ack", &firing_ids);
    until_so("the end of the advance", || first.get("/v1/clock", &[]).get("advance").is_none());

    // A service is killed, and its followers are disconnected.
    other.process.signal(rustix::process::Signal::KILL);
    let listed = until("followers without a service", || {
        let listed = first.get("/v1/followers", &[]);
        states(&listed).contains(&("there", "disconnected")).then_some(listed)
    });
    assert_eq!(states(&listed)[0].0, "here");
    other.process = Replica::start(other.folder.path(), &["--store", &cluster.url, "--replicas"]);
    drop((here, there));
    drop(other);
    first.audit();
}
