//! A start reads the directory, not the history.

use std::fmt::Write as _;

use serde_json::json;

use crate::support::http::{Connection, Request};
use crate::support::service::Service;

/// Events recorded before the first measured start, and before the second one.
const EVENTS: [usize; 2] = [100, 20_000];
/// Minimum size of the additional history at the second start, in bytes: entry, leaf and row of each event.
const HISTORY_BYTES_MIN: u64 = EVENTS[1] as u64 * 500;
/// Allowed increase: the path in higher trees, and a checkpoint of the database's write-ahead log.
const MORE_BYTES_MAX: u64 = HISTORY_BYTES_MIN / 20;

/// Records events and reads each page of them, so that the ledger contains reads too.
fn live(service: &Service, first: usize, count: usize) {
    let mut lines = String::new();
    for number in first..first + count {
        let second = number % 60;
        writeln!(lines, r#"{{"event_id":"e{number}","time":"2001-01-01T00:00:{second:02}Z","location":"Paris"}}"#)
            .unwrap();
    }
    let import = Request::post("/v1/import-events?timeline_id=main").body("application/x-ndjson", lines.as_bytes());
    service.send(import).expect(200);
    for _ in 0..count / 100 {
        service.get("/v1/clock", &[]);
    }
    service.post("/v1/set-anchor", &json!({ "description": "an anchor" }));
}

/// Returns the number of bytes that a start reads from files until the service is ready.
fn read_at_start(service: &mut Service) -> u64 {
    assert!(service.stop().success());
    service.start_again();
    assert_eq!(service.send(Request::get("/readyz")).status, 200);
    let text = std::fs::read_to_string(format!("/proc/{}/io", service.pid())).unwrap();
    text.lines().find_map(|line| line.strip_prefix("rchar: ")?.parse().ok()).unwrap()
}

#[test]
fn metrics_are_served_on_a_separate_address() {
    let service = Service::with(&["--metrics-listen", "127.0.0.1:0"]);
    let log = service.log_text();
    let address = log.split_once("metrics are at http://").unwrap().1.split_once('/').unwrap().0.parse().unwrap();
    let status = |path: &str| {
        let mut connection = Connection::open(address).unwrap();
        connection.exchange(&Request::get(path).anonymous()).unwrap().status
    };
    assert_eq!(["/metrics", "/readyz", "/healthz", "/v1/clock"].map(status), [200, 200, 200, 404]);
    assert_eq!(service.send(Request::get("/metrics").anonymous()).status, 404);
    service.audit();
}

#[test]
fn startup_reads_are_independent_of_history_length() {
    let mut service = Service::start();
    live(&service, 0, EVENTS[0]);
    let short = read_at_start(&mut service);
    live(&service, EVENTS[0], EVENTS[1]);
    let long = read_at_start(&mut service);
    // The stop has folded the log into the file.
    let file = std::fs::metadata(service.data().join("timenav.db")).unwrap().len();
    assert!(file > HISTORY_BYTES_MIN, "the history has only {file} bytes");
    assert!(
        long < short + MORE_BYTES_MAX,
        "{long} bytes were read after {file} bytes of history, and {short} before it"
    );
    service.audit();
}
