//! The signing key is rotated while a service is paused.

use std::path::Path;

use rustix::process::Signal;
use serde_json::json;

use super::super::postgres::Cluster;
use super::super::refused_start;
use super::{Replica, send, two};
use crate::ledger;
use crate::support::http::{Answer, Request};
use crate::support::service::{ends, timenav};
use crate::support::waiting::{until, until_so};

const CUT_ALL: &str = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()";
/// Stores the size of each ledger.
const KEEP_SIZES: &str = "CREATE TABLE sizes_before AS SELECT timeline_id, size FROM timelines";
/// Fails if a ledger has grown since.
const NOTHING_WRITTEN: &str = "SELECT 1 / (NOT EXISTS (SELECT 1 FROM timelines AS now LEFT JOIN sizes_before AS before
    USING (timeline_id) WHERE now.size IS DISTINCT FROM before.size))::int";

fn rotate(data: &Path, url: &str, expected: i32) -> String {
    ends(timenav().args(["rotate-signing-key", "--store", url, "--data"]).arg(data), expected)
}

fn event(name: &str) -> Request {
    let body = json!({ "event_id": name, "time": "2001-01-01T00:00:00Z", "description": "x" });
    Request::post("/v1/events").json(&body).idempotent(name)
}

/// Runs a statement on one line, as the cluster requires.
fn ask(cluster: &mut Cluster, statement: &str) -> bool {
    cluster.ask(&statement.split_whitespace().collect::<Vec<_>>().join(" "))
}

#[test]
fn key_rotation_is_rejected_while_paused_replica_holds_lock() {
    let cluster = Cluster::start();
    let (mut first, second) = two(&cluster);
    assert!(first.stop().success());
    second.process.signal(Signal::STOP);
    let key = || std::fs::read(first.data().join("signing.key")).unwrap();
    let before = key();
    let stdout = rotate(&first.data(), &cluster.url, 1);
    assert!(stdout.contains("another timenav uses this database"), "{stdout}");
    assert!(key() == before && !first.data().join("signing.key.next").exists(), "nothing was begun");
    second.process.signal(Signal::CONT);
    until_so("the paused service to go on", || second.send(event("after")).status < 300);
    first.start_again();
    assert_eq!(first.send(Request::get("/v1/events/after")).status, 200);
    drop(second);
    first.audit();
}

/// Both keys have signed the last entry of a rotation, so the retired key verifies the state before it.
#[test]
fn replica_paused_during_key_rotation_stops_writing() {
    for is_written_since in [false, true] {
        let mut cluster = Cluster::start();
        let (mut first, mut second) = two(&cluster);
        assert!(first.stop().success());
        second.process.signal(Signal::STOP);
        assert!(ask(&mut cluster, CUT_ALL));
        rotate(&first.data(), &cluster.url, 0);
        let new = first.data().join("signing.key");
        first.public_key = ledger::public_key(&std::fs::read_to_string(&new).unwrap());
        if is_written_since {
            first.start_again();
            first.send(event("since")).expect(201);
            // The retired key has not signed this ledger, and it was not tampered with.
            first.post("/v1/timelines", &json!({ "timeline_id": "made-since" }));
            assert!(first.stop().success());
        }
        assert!(ask(&mut cluster, KEEP_SIZES));
        second.process.signal(Signal::CONT);
        let says_why = |request: Request| {
            until("the reason", || {
                let answer: Answer = send(second.process.address, &request).ok()?;
                assert_eq!(answer.status, 503, "{answer}");
                let body = answer.json();
                assert_eq!(body["code"], "unavailable", "{body:#}");
                let detail = body["detail"].as_str()?;
                detail.contains("if the signing key was rotated, put the new `signing.key`").then_some(())
            });
        };
        says_why(event("late").key(&second.admin));
        says_why(Request::get("/v1/clock").key(&second.admin));
        says_why(Request::get("/readyz").anonymous());
        assert!(ask(&mut cluster, NOTHING_WRITTEN));
        second.process.end();
        // It does not start with the retired key either.
        let data = second.folder.path().join("data");
        let refused = refused_start(&data, &["--store", &cluster.url, "--replicas"]);
        let expected = if is_written_since { "is not signed with the key" } else { "the signing key was rotated" };
        assert!(refused.contains(expected), "{refused}");
        assert!(ask(&mut cluster, NOTHING_WRITTEN));
        std::fs::copy(&new, data.join("signing.key")).unwrap();
        // Its checkpoints are signed by the retired key only, so it uses those of the service that rotated the key.
        let refused = refused_start(&data, &["--store", &cluster.url, "--replicas"]);
        assert!(refused.contains("no known key has signed the note"), "{refused}");
        std::fs::copy(first.data().join("checkpoints.log"), data.join("checkpoints.log")).unwrap();
        second.process = Replica::start(second.folder.path(), &["--store", &cluster.url, "--replicas"]);
        first.start_again();
        assert!(second.send(event("late")).status < 300);
        assert_eq!(first.send(Request::get("/v1/events/late")).status, 200);
        drop(second);
        first.audit();
    }
}
