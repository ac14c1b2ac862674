//! Many timelines whose clocks were touched: what is kept of each is little.

use serde_json::json;

use crate::http::Request;
use crate::service::{Service, memory_kib};

/// Timelines that are made before memory is looked at, and after. Each is checked at the end, which takes longer than
/// all else.
const BEFORE: usize = 200;
const AFTER: usize = 1_000;
/// What may be kept of each, in KiB: its name, permissions, checkpoint, and a share of tables that grow by halves.
const KIB_EACH_MAX: u64 = 12;

#[test]
fn a_timeline_that_nobody_listens_to_takes_little_memory() {
    let service = Service::start();
    let mut connection = service.connect();
    let mut touch = |from: usize, to: usize| {
        for number in from..to {
            let body = json!({ "timeline_id": format!("t{number}") });
            let answer = connection.exchange(&service.signed(Request::post("/v1/pause-time").json(&body))).unwrap();
            assert_eq!(answer.status, 200, "{answer}");
        }
        memory_kib(service.pid(), "VmRSS")
    };
    let before = touch(0, BEFORE);
    let grown = touch(BEFORE, AFTER).saturating_sub(before);
    let each = grown / (AFTER - BEFORE) as u64;
    assert!(each < KIB_EACH_MAX, "{each} KiB each");
    // Nor is anything left of those whose streams were opened and closed.
    let before = memory_kib(service.pid(), "VmRSS");
    for number in BEFORE..AFTER {
        for stream in ["/v1/clock/stream", "/v1/stream"] {
            let mut connection = service.connect();
            let request = Request::get(&format!("{stream}?timeline_id=t{number}"));
            connection.send_request(&service.signed(request));
            assert_eq!(connection.head().unwrap().0, 200);
        }
    }
    let grown = memory_kib(service.pid(), "VmRSS").saturating_sub(before);
    let each = grown / (AFTER - BEFORE) as u64;
    assert!(each < KIB_EACH_MAX, "{each} KiB each");
    service.audit();
}
