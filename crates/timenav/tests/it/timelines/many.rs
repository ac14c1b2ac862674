//! Many timelines whose clocks were touched: what is kept of each is little.
//!
//! The process runs without the audit of other tests, which would look at each ledger and take longer than all else.

use serde_json::json;

use crate::http::{Connection, Request};
use crate::service::{Process, memory_kib};

/// Timelines that are made before memory is looked at, and after.
const BEFORE: usize = 200;
const AFTER: usize = 1_000;
/// What may be kept of each, in KiB: its name, permissions, checkpoint, and a share of tables that grow by halves.
const KIB_EACH_MAX: u64 = 12;
/// The same where streams were opened and closed: what their connections took is given back in its own time.
const KIB_LISTENED_MAX: u64 = 18;

#[test]
fn a_timeline_that_nobody_listens_to_takes_little_memory() {
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
    // Nor is anything left of those whose streams were opened and closed.
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
