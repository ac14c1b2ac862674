//! Many forks of one timeline: the I/O per request stays constant.
//!
//! The unit is bytes that the service reads from and writes to files, as counted by the kernel. A reader reads the
//! database pages again after each commit, and each request is a commit.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::support::http::{Request, target};
use crate::support::service::Service;

/// Few and many. Each is verified at the end, which takes longer than everything else.
const FORKS: [usize; 2] = [10, 200];
/// Events of the forked timeline.
const EVENTS: usize = 500;
/// Repetitions of each request. The minimum counts, because a checkpoint of the write-ahead log may come in between.
const ATTEMPTS: usize = 20;
/// A database page in the write-ahead log with its frame header, in bytes.
const PAGE_BYTES: u64 = 8_192 + 24;
/// Allowed increase in pages: trees may grow by a level. Linear growth would be many times that.
const PAGES_MORE_MAX: u64 = 4;

fn event(number: usize) -> Value {
    json!({ "event_id": format!("e{number}"), "time": "2001-01-01T00:00:00Z", "location": "Paris" })
}

fn fork(service: &Service, number: usize) {
    service.post("/timelines", &json!({ "timeline_id": format!("fork{number}"), "fork_of": "main" }));
}

/// Returns the bytes that the service has read and written.
fn bytes(service: &Service) -> [u64; 2] {
    let text = std::fs::read_to_string(format!("/proc/{}/io", service.pid())).unwrap();
    ["rchar: ", "wchar: "].map(|name| text.lines().find_map(|line| line.strip_prefix(name)?.parse().ok()).unwrap())
}

/// Requests on a timeline by name. The number makes each unique.
fn requests(timeline: &str, number: usize) -> Vec<(&'static str, Request)> {
    let of = [("timeline_id", timeline)];
    let get = |path: &str, more: &[(&str, &str)]| Request::get(&target(path, &[&of[..], more].concat()));
    let post = |path: &str, body: Value| {
        let mut body = body;
        body["timeline_id"] = json!(timeline);
        Request::post(path).json(&body)
    };
    let anywhere = [("location", "*"), ("time_range", "../.."), ("limit", "100")];
    vec![
        ("clock", get("/v1/clock", &[])),
        ("monitor_events", get("/v1/monitor-events", &anywhere)),
        ("event", get("/v1/events/e7", &[])),
        ("pause_time", post("/v1/pause-time", json!({}))),
        (
            "record_events",
            post("/v1/events", json!({ "event_id": format!("new{number}"), "time": "2002-01-01T00:00:00Z" })),
        ),
        (
            "manipulate_event",
            post(
                "/v1/manipulate-event",
                json!({ "event_id": "e8", "action": "a note", "time": "2002-01-01T00:00:00Z" }),
            ),
        ),
        (
            "fork",
            Request::post("/timelines")
                .json(&json!({ "timeline_id": format!("of-{timeline}-{number}"), "fork_of": timeline })),
        ),
    ]
}

/// Returns the minimum I/O of each request.
fn measured(service: &Service, timeline: &str, first: usize) -> Vec<(&'static str, [u64; 2])> {
    let mut connection = service.connect();
    let mut least: Vec<(&'static str, [u64; 2])> = Vec::new();
    for attempt in 0..ATTEMPTS {
        for (place, (name, request)) in requests(timeline, first + attempt).into_iter().enumerate() {
            let before = bytes(service);
            let answer = connection.exchange(&service.signed(request)).unwrap();
            assert!(matches!(answer.status, 200 | 201), "{name}: {answer}");
            let after = bytes(service);
            let used = [0, 1].map(|of| after[of] - before[of]);
            match least.get_mut(place) {
                Some((_, best)) => *best = [0, 1].map(|of| best[of].min(used[of])),
                None => least.push((name, used)),
            }
        }
    }
    least
}

#[test]
fn request_io_is_independent_of_fork_count() {
    let service = Service::with(&["--checkpoint-lag", "0"]);
    let events: Vec<Value> = (0..EVENTS).map(event).collect();
    service.post("/v1/events", &events.into());
    let mut made = 0;
    let [few, many] = FORKS.map(|count| {
        while made < count {
            fork(&service, made);
            // Each has its own change.
            service
                .post("/v1/events", &json!({ "timeline_id": format!("fork{made}"), "time": "2001-01-01T00:00:00Z" }));
            made += 1;
        }
        ["main", "fork7"].map(|timeline| measured(&service, timeline, count))
    });
    let mut text = String::new();
    let mut is_more = false;
    for (few, many) in few.iter().flatten().zip(many.iter().flatten()) {
        writeln!(text, "{} {:?} {:?}", few.0, few.1, many.1).unwrap();
        is_more |= [0, 1].iter().any(|&of| many.1[of] > few.1[of] + PAGES_MORE_MAX * PAGE_BYTES);
    }

    assert!(!is_more, "{text}");
    service.audit();
}
