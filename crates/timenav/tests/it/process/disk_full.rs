//! A full disk: writes fail, acknowledged writes are kept, and the service continues once there is space again.
//!
//! The disk is simulated by a file size limit of the process, which needs no separate disk: a write beyond it fails
//! like one to a full disk.

use std::collections::BTreeSet;

use rustix::process::{Pid, Resource, Rlimit, prlimit};
use serde_json::{Value, json};

use crate::support::http::Request;
use crate::support::service::{Service, ends, timenav};

/// Written before space runs out, so that the database's write-ahead log is the longest file.
const EVENTS_BEFORE: usize = 2_000;
/// Maximum number of attempts without any space.
const ATTEMPTS_MAX: usize = 10_000;

/// Sets the file size limit of the service, in bytes; `None` is unlimited.
fn set_room(service: &Service, bytes: Option<u64>) {
    let pid = Pid::from_raw(service.pid().try_into().unwrap());
    // The hard limit stays, so that the soft one can be raised again.
    prlimit(pid, Resource::Fsize, Rlimit { current: bytes, maximum: None }).unwrap();
}

fn event(number: usize) -> Value {
    let description = "a text that makes the event some hundred bytes long; ".repeat(8);
    json!({ "event_id": format!("event-{number}"), "time": "2001-01-01T00:00:00Z", "description": description })
}

/// Returns a service with little space left, and its events.
fn with_little_room() -> (Service, BTreeSet<String>) {
    let mut service = Service::start();
    service.errors_expected = vec!["a group could not be committed"];
    let mut stored = BTreeSet::new();
    for first in (0..EVENTS_BEFORE).step_by(500) {
        let events: Vec<Value> = (first..first + 500).map(event).collect();
        service.post("/v1/events", &events.into());
        stored.extend((first..first + 500).map(|number| format!("event-{number}")));
    }
    let length = |name: &str| std::fs::metadata(service.data().join(name)).unwrap().len();
    let log = length("timenav.db-wal");
    assert!(log > length("checkpoints.log"), "the checkpoints would be the first without room");
    set_room(&service, Some(log + 200_000));
    (service, stored)
}

/// Records events one by one until there is no space. Adds the acknowledged ones.
fn fill(service: &Service, stored: &mut BTreeSet<String>) {
    for number in EVENTS_BEFORE..EVENTS_BEFORE + ATTEMPTS_MAX {
        let answer = service.send(Request::post("/v1/events").json(&event(number)));
        if answer.status != 201 {
            assert_eq!(answer.header("retry-after"), Some("1"));
            answer.refused(503, "unavailable");
            return;
        }
        stored.insert(format!("event-{number}"));
    }
    panic!("{ATTEMPTS_MAX} events had room");
}

fn events(service: &Service) -> BTreeSet<String> {
    let found = service.find_all("main", "*", "../..", "1000");
    found.iter().map(|event| event["event_id"].as_str().unwrap().to_owned()).collect()
}

fn ask(service: &Service, path: &str) -> crate::support::http::Answer {
    service.send(Request::get(path).anonymous())
}

#[test]
fn full_disk_rejects_requests_until_space_is_free() {
    let (service, mut stored) = with_little_room();
    assert_eq!(ask(&service, "/readyz").status, 200);
    fill(&service, &mut stored);
    // Smaller writes may still succeed for a while.
    let refused =
        (0..ATTEMPTS_MAX).map(|_| service.send(Request::get("/v1/anchors"))).find(|answer| answer.status != 200);
    refused.expect("a read is an entry, which needs room").refused(503, "unavailable");
    // Not ready while that lasts, with the reason.
    for _ in 0..3 {
        let refused = ask(&service, "/readyz").refused(503, "unavailable");
        assert!(refused["detail"].as_str().unwrap().starts_with("the ledger cannot be written"), "{refused}");
        service.send(Request::get("/v1/anchors")).refused(503, "unavailable");
        service.send(Request::get("/v1/clock")).expect(200);
        service.send(Request::post("/v1/pause-time")).refused(503, "unavailable");
    }
    assert_eq!(ask(&service, "/healthz").status, 200);
    assert!(ask(&service, "/metrics").text().contains("\ntimenav_ready 0\n"));
    let output = ends(timenav().args(["doctor", "--data"]).arg(service.data()), 1);
    assert!(output.contains("but not ready: the ledger cannot be written"), "{output}");
    // It detects free space on its own, without further requests.
    set_room(&service, None);
    assert_eq!(ask(&service, "/readyz").status, 200);
    assert!(ask(&service, "/metrics").text().contains("\ntimenav_ready 1\n"));
    assert_eq!(events(&service), stored);
    service.scan_is_clean("main");
    service.post("/v1/events", &event(99_999));
    service.audit();
}

#[test]
fn acknowledged_writes_survive_restart_after_full_disk() {
    let (mut service, mut stored) = with_little_room();
    fill(&service, &mut stored);
    service.kill();
    service.start_again();
    assert_eq!(ask(&service, "/readyz").status, 200);
    assert_eq!(events(&service), stored);
    service.scan_is_clean("main");
    service.post("/v1/events", &event(99_999));
    assert_eq!(events(&service).len(), stored.len() + 1);
    service.audit();
}

/// Failures that anyone can provoke are logged once a minute, not per request.
#[test]
fn anonymous_requests_on_full_disk_do_not_flood_log() {
    let (service, mut stored) = with_little_room();
    fill(&service, &mut stored);
    let mut stranger = service.connect();
    // Smaller writes may still succeed for a while.
    let mut ask = || stranger.exchange(&Request::get("/v1/clock").anonymous()).unwrap();
    assert!((0..ATTEMPTS_MAX).any(|_| ask().status == 503), "an attempt is an entry, which needs room");
    for _ in 0..100 {
        ask().refused(503, "unavailable");
    }
    let log = service.log_text();
    for line in ["a group could not be committed", "a request could not be carried out"] {
        let count = log.matches(line).count();
        // Twice if a minute has passed in between.
        assert!((1..=2).contains(&count), "{count} times {line:?}");
    }
    set_room(&service, None);
    service.audit();
}
