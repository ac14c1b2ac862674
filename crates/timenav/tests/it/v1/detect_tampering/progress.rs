//! Progress of a scan, and its cancellation with the request.

use std::io::{BufRead as _, BufReader};

use serde_json::{Value, json};

use super::super::assert_members;
use crate::support::http::{Connection, Request};
use crate::support::service::Service;

/// Rows of a ledger that takes much longer to scan than a connection takes to close.
const ROWS: usize = 40_000;
/// Maximum number of scans that may finish before their request is closed.
const ATTEMPTS_MAX: usize = 20;

fn long_ledger() -> Service {
    let service = Service::start();
    let row = |number| format!("{{\"time\":\"2000-01-01T00:00:00Z\",\"name\":\"{number}\"}}\n");
    let rows = (0..ROWS).map(row).collect::<Vec<_>>().concat();
    let path = "/v1/import-events?timeline_id=long";
    let answer = service.send(Request::post(path).body("application/x-ndjson", rows.as_bytes())).expect(200);
    assert_eq!(answer["imported"], ROWS);
    service
}

fn request(timeline: &str, depth: &str) -> Request {
    Request::post("/v1/detect-tampering").json(&json!({ "timeline_id": timeline, "scan_depth": depth }))
}

/// Reads names and data of server-sent events to the end of the stream, or up to `count_max`.
fn events(connection: &mut Connection, count_max: usize) -> Vec<(String, Value)> {
    let (status, headers) = connection.head().unwrap();
    let header = |name: &str| headers.iter().find(|(given, _)| given == name).map(|(_, value)| value.as_str());
    assert_eq!(status, 200, "{headers:?}");
    assert_eq!(header("content-type"), Some("text/event-stream"));
    assert_eq!(header("cache-control"), Some("no-store"));
    let (mut events, mut name) = (Vec::new(), String::new());
    for line in BufReader::new(connection.body(&headers)).lines() {
        let line = line.expect("the stream ends as chunks do");
        match line.split_once(':') {
            Some(("event", text)) => text.trim_start().clone_into(&mut name),
            Some(("data", text)) => events.push((name.clone(), serde_json::from_str(text).expect("data is JSON"))),
            Some(("", _)) | None => {}
            Some(other) => panic!("{other:?}"),
        }
        if events.len() == count_max {
            break;
        }
    }
    events
}

/// Waits until no scan runs. Returns the number of finished and canceled ones.
fn ended(service: &Service) -> (u64, u64) {
    while service.metric("timenav_scans_running") > 0 {}
    (service.metric("timenav_scans_finished_total"), service.metric("timenav_scans_cancelled_total"))
}

#[test]
fn event_stream_request_reports_scan_progress() {
    let service = Service::start();
    let event = |number: u32| json!({ "time": "2000-01-01T00:00:00Z", "description": format!("event {number}") });
    for _ in 0..3 {
        service.post("/v1/events", &(0..900).map(event).collect::<Vec<Value>>().into());
    }
    for depth in ["full", "quick", "tail:1500", "sample:20"] {
        let mut connection = service.connect();
        connection.send_request(&service.signed(request("main", depth).header("Accept", "text/event-stream")));
        let mut messages = events(&mut connection, usize::MAX);
        let (name, mut result) = messages.pop().expect("there is an end");
        assert_eq!(name, "result", "{result:#}");
        let is_progress = |(name, data): &(String, Value)| name == "progress" && data["timeline_id"] == "main";
        assert!(messages.iter().all(is_progress), "{messages:?}");
        let last = &messages.last().expect("there is progress").1;
        // The result equals the response without events, except for the effects of the request itself.
        let mut plain = service.send(request("main", depth)).expect(200);
        let (size, requested) = (result["ledger"]["size"].as_u64().unwrap(), plain["ledger"]["size"].as_u64().unwrap());
        assert_eq!(requested, size + 1);
        for answer in [&mut result, &mut plain] {
            for changing in ["ledger", "checkpoint", "checked", "details", "not_checked"] {
                assert!(!answer.as_object_mut().unwrap().remove(changing).unwrap().is_null());
            }
        }
        assert_eq!(result, plain);
        let (read, stage) = match depth {
            "full" => (size, "tables"),
            "tail:1500" => (1_500, "tables"),
            "quick" => (0, "tree"),
            _ => (last["entries_total"].as_u64().unwrap(), "entries"),
        };
        assert_members(last, &json!({ "entries": read, "entries_total": read, "stage": stage }));
        assert_eq!(last["bytes"].as_u64().unwrap() > 100 * read, read > 0, "{last}");
    }
    assert_eq!(ended(&service), (8, 0));
    service.audit();
}

#[test]
fn rejected_scan_returns_no_stream() {
    let service = Service::start();
    for (timeline, depth, status, code) in
        [("nowhere", "full", 404, "not_found"), ("main", "deep", 400, "invalid_parameter")]
    {
        let scan = request(timeline, depth).header("Accept", "text/event-stream");
        service.send(scan).refused(status, code);
    }
    assert_eq!(ended(&service), (0, 0));
    service.audit();
}

/// Closes requests until one is closed before its scan has finished.
fn cancel(service: &Service, close: impl Fn(&Service)) {
    for _ in 0..ATTEMPTS_MAX {
        let before = ended(service);
        close(service);
        let after = ended(service);
        if after.1 > before.1 {
            assert_eq!((after.0, after.1), (before.0, before.1 + 1));
            return;
        }
    }
    panic!("{ATTEMPTS_MAX} scans went on without anybody to tell\n{}", service.log_text());
}

#[test]
fn closed_request_cancels_its_scan() {
    let service = long_ledger();
    cancel(&service, |service| {
        let mut connection = service.connect();
        connection.send_request(&service.signed(request("long", "full").header("Accept", "text/event-stream")));
        assert_eq!(events(&mut connection, 1)[0].0, "progress");
    });
    cancel(&service, |service| {
        let count = |service: &Service| {
            service.metric("timenav_scans_running") + service.metric("timenav_scans_finished_total")
        };
        let before = count(service);
        let mut connection = service.connect();
        connection.send_request(&service.signed(request("long", "full")));
        while count(service) == before {}
    });
    // The slot is free again, and the ledger names the caller.
    let scan = service.post("/v1/detect-tampering", &json!({ "timeline_id": "long" }));
    assert_eq!(scan["tampering_detected"], false);
    service.audit();
}
