//! Memory use of a scan.

use std::fmt::Write as _;

use serde_json::json;

use super::count;
use crate::support::http::{Request, target};
use crate::support::service::{Service, memory_kib};

/// Maximum memory growth during a scan of a timeline several times that size, in KiB: a few blocks and the rows of
/// their events.
const GROWTH_KIB_MAX: u64 = 64 * 1_024;
/// Number of events, and bytes of attributes per event.
const EVENTS: usize = 3_000;
const ATTRIBUTES_BYTES: usize = 60_000;

fn import(service: &Service, timeline: &str, events: usize) {
    let text = "a remark, ".repeat(ATTRIBUTES_BYTES / 10);
    let path = target("/v1/import-events", &[("timeline_id", timeline)]);
    for first in (0..events).step_by(500) {
        let mut file = String::new();
        for number in first..events.min(first + 500) {
            let event = json!({ "event_id": format!("e{number}"), "time": "2000-01-01T00:00:00Z", "description": "d",
                "attributes": { "remarks": text } });
            writeln!(file, "{event}").unwrap();
        }
        service.send(Request::post(&path).body("application/x-ndjson", file.as_bytes())).expect(200);
    }
}

#[test]
fn scan_memory_is_limited_for_large_ledgers() {
    let service = Service::start();
    import(&service, "small", 500);
    import(&service, "large", EVENTS);
    // The second scan needs no new allocations.
    for timeline in ["small", "large"] {
        let before = memory_kib(service.pid(), "VmHWM");
        let answer = service.post("/v1/detect-tampering", &json!({ "timeline_id": timeline, "scan_depth": "full" }));
        assert_eq!(answer["tampering_detected"], false, "{answer}");
        let grown = memory_kib(service.pid(), "VmHWM").saturating_sub(before);
        println!("the service grew by {grown} KiB for {} events", count(&answer, "events"));
        assert!(grown < GROWTH_KIB_MAX, "{grown} KiB");
    }
    service.audit();
}
