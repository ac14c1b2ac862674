//! Events that strangers can provoke are counted instead of logged individually.

use crate::support::frames::{self, END_HEADERS, END_STREAM, HEADERS, RST_STREAM, frame};
use crate::support::service::Service;

#[test]
fn malformed_and_reset_requests_do_not_flood_the_log() {
    let service = Service::with(&["--connections-per-address-max", "8"]);
    let before = service.log_text().lines().count();
    for garbage in
        ["\0\u{1}\u{2}\u{3}\r\n\r\n", "GET\r\n\r\n", "\u{16}\u{3}\u{1}\u{2}\0\u{1}", "CONNECT x:1 HTTP/1.1\r\n\r\n"]
    {
        for _ in 0..20 {
            let mut connection = service.connect();
            let _ = connection.send(garbage.as_bytes());
            connection.shut_down_writing();
            let _ = connection.read_to_end();
        }
    }
    let request = frames::request("GET", "/healthz", &[]);
    for _ in 0..20 {
        let mut connection = frames::Connection::open(service.address());
        for number in 0..500 {
            let requested = frame(HEADERS, END_HEADERS | END_STREAM, 2 * number + 1, &request);
            let taken_back = frame(RST_STREAM, 0, 2 * number + 1, &[0, 0, 0, 8]);
            if connection.send(&[requested, taken_back].concat()).is_err() {
                break;
            }
        }
        connection.end();
    }
    let crowd: Vec<_> = (0..100).map(|_| service.connect()).collect();
    drop(crowd);
    service.wait_for_a_place(std::net::Ipv4Addr::LOCALHOST);
    let log = service.log_text();
    let provoked = log.lines().skip(before).collect::<Vec<_>>();
    // Two kinds of lines, each at most once a minute for the duration of this test.
    assert!(provoked.len() <= 8, "{provoked:#?}");
    assert!(service.metric("timenav_connections_closed_total{reason=\"malformed\"}") > 0);
    service.audit();
}
