//! Many timelines whose clocks were used: little memory is kept for each.
//!
//! The process runs without the audit of other tests, which would read every ledger and dominate the run time.

use serde_json::json;

use crate::support::http::{Connection, Request};
use crate::support::service::{Process, memory_kib};

/// Timelines created before memory is measured, and after.
const BEFORE: usize = 200;
const AFTER: usize = 1_000;
/// Maximum memory per timeline, in KiB: its id, permissions, checkpoint, and a share of growing tables.
const KIB_EACH_MAX: u64 = 12;
/// The same after streams were opened and closed: the memory of their connections is released later.
const KIB_LISTENED_MAX: u64 = 18;

#[test]
fn timelines_without_open_streams_use_little_memory() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let process = Process::start(&data, &folder.path().join("log"), &[]);
    let key = std::fs::read_to_string(data.join("admin.key")).unwrap();
    let key = key.trim_end();
    let mut connection = Connection::open(process.address).unwrap();
    let mut touch = |from: usize, to: usize| {
        for number in from..to {
            let request = Request::post("/v1/pause-time").json(&json!({ "timeline_id": format!("t{number}") }));
            let answer = connection.exchange(&request.key(key)).unwrap();
            assert_eq!(answer.status, 200, "{answer}");
        }
        memory_kib(process.pid(), "VmRSS")
    };
    let before = touch(0, BEFORE);
    let grown = touch(BEFORE, AFTER).saturating_sub(before);
    let each = grown / (AFTER - BEFORE) as u64;
    assert!(each < KIB_EACH_MAX, "{each} KiB each");
    // Closed streams leave nothing either.
    let listen = |from: usize, to: usize| {
        for number in from..to {
            for stream in ["/v1/clock/stream", "/v1/stream"] {
                let mut connection = Connection::open(process.address).unwrap();
                connection.send_request(&Request::get(&format!("{stream}?timeline_id=t{number}")).key(key));
                assert_eq!(connection.head().unwrap().0, 200);
            }
        }
        memory_kib(process.pid(), "VmRSS")
    };
    let before = listen(0, BEFORE);
    let grown = listen(BEFORE, AFTER).saturating_sub(before);
    let each = grown / (AFTER - BEFORE) as u64;
    assert!(each < KIB_LISTENED_MAX, "{each} KiB each");
    process.kill();
}
