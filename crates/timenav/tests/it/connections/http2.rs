//! Memory that one HTTP/2 connection can occupy.

use crate::support::frames::{
    self, Connection, DATA, END_HEADERS, END_STREAM, ENHANCE_YOUR_CALM, FRAME_SIZE_ERROR, GOAWAY, HEADERS, PING,
    REFUSED_STREAM, RST_STREAM, SETTINGS, frame,
};
use crate::support::service::{Service, memory_kib};

/// Maximum memory growth for a connection with all its streams. Streams with the largest bodies allowed to
/// unauthenticated clients take 6.4 MB; the rest is buffers and allocator overhead.
const CONNECTION_KIB_MAX: u64 = 40 * 1024;

fn limit(service: &Service, name: &str) -> u32 {
    let limits = service.get("/v1/limits", &[])["limits"].clone();
    limits[name].as_u64().unwrap_or_else(|| panic!("{name} is in no list")).try_into().unwrap()
}

#[test]
fn http2_limits_are_enforced() {
    let service = Service::start();
    http2_limits_are_announced_in_settings(&service);
    stream_beyond_the_limit_is_rejected(&service);
    oversized_frame_closes_the_connection(&service);
    too_many_malformed_requests_close_the_connection(&service);
    rapid_stream_resets_close_the_connection(&service);
    header_size_is_limited_in_both_http_versions(&service);
    service.audit();
}

fn http2_limits_are_announced_in_settings(service: &Service) {
    let mut connection = Connection::open(service.address());
    let settings = connection.wait_for(SETTINGS).unwrap().settings();
    for (name, setting) in [
        ("http2_streams_max", 3),
        ("http2_stream_window_bytes_max", 4),
        ("http2_frame_bytes_max", 5),
        ("head_bytes_max", 6),
    ] {
        let announced = settings.iter().find(|(number, _)| *number == setting).map(|(_, value)| *value);
        // RFC 9113 §6.5.2: the default frame size is 16384 bytes.
        let announced = announced.or((setting == 5).then_some(16_384));
        assert_eq!(announced, Some(limit(service, name)), "{name}");
    }
}

/// Opens the maximum number of streams, each with a request that has a body.
fn open_all(service: &Service, path: &str, length: usize) -> Connection {
    let mut connection = Connection::open(service.address());
    let length = length.to_string();
    for number in 0..limit(service, "http2_streams_max") {
        let fields = [("content-type", "application/json"), ("content-length", length.as_str())];
        let request = frames::request("POST", path, &fields);
        connection.send(&frame(HEADERS, END_HEADERS, 2 * number + 1, &request)).unwrap();
    }
    connection
}

fn stream_beyond_the_limit_is_rejected(service: &Service) {
    let mut connection = open_all(service, "/v1/login", 1_000);
    let more = 2 * limit(service, "http2_streams_max") + 1;
    let request = frames::request("GET", "/healthz", &[]);
    connection.send(&frame(HEADERS, END_HEADERS | END_STREAM, more, &request)).unwrap();
    let refused = connection.wait_for(RST_STREAM).unwrap();
    assert_eq!((refused.stream, refused.error()), (more, REFUSED_STREAM));
}

#[test]
fn connection_with_maximum_streams_uses_little_memory() {
    let service = Service::start();
    let path = "/v1/login";
    let length = limit(&service, "lookup_body_bytes_max");
    let before = memory_kib(service.pid(), "VmRSS");
    let mut connection = open_all(&service, path, length as usize);
    let part = vec![b' '; limit(&service, "http2_frame_bytes_max") as usize];
    // All but the last byte of each body, as far as flow control allows.
    let mut sent = 0;
    for _ in 0..(length as usize - 1) / part.len() {
        for number in 0..limit(&service, "http2_streams_max") {
            if connection.send(&frame(DATA, 0, 2 * number + 1, &part)).is_ok() {
                sent += part.len();
            }
        }
    }
    // Everything before the response to this ping has been processed.
    let _ = connection.send(&frame(PING, 0, 0, &[7; 8]));
    connection.wait_for(PING);
    let after = memory_kib(service.pid(), "VmRSS");
    assert!(sent > 1 << 20, "{sent}");
    assert!(after < before + CONNECTION_KIB_MAX, "{before} KiB grew to {after} by {sent} bytes");
    drop(connection);
    service.audit();
}

fn oversized_frame_closes_the_connection(service: &Service) {
    let max = limit(service, "http2_frame_bytes_max") as usize;
    let mut connection = Connection::open(service.address());
    let request = frames::request("POST", "/v1/login", &[]);
    connection.send(&frame(HEADERS, END_HEADERS, 1, &request)).unwrap();
    connection.send(&frame(DATA, 0, 1, &vec![b' '; max])).unwrap();
    connection.send(&frame(DATA, 0, 1, &vec![b' '; max + 1])).unwrap();
    assert_eq!(connection.end(), Some(FRAME_SIZE_ERROR));
}

fn too_many_malformed_requests_close_the_connection(service: &Service) {
    let max = limit(service, "http2_faults_max");
    let mut connection = Connection::open(service.address());
    // RFC 9113 §8.2.2: a connection-specific header makes a request malformed.
    let request = frames::request("GET", "/healthz", &[("connection", "close")]);
    let mut refused = 0;
    for number in 0..4 * max {
        if connection.send(&frame(HEADERS, END_HEADERS | END_STREAM, 2 * number + 1, &request)).is_err() {
            break;
        }
    }
    let goaway = loop {
        match connection.next() {
            Some(next) if next.kind == RST_STREAM => refused += 1,
            Some(next) if next.kind == GOAWAY => break Some(next.error()),
            Some(_) => {}
            None => break None,
        }
    };
    assert_eq!(goaway, Some(ENHANCE_YOUR_CALM));
    assert!(refused <= max, "{refused} of {max}");
}

fn rapid_stream_resets_close_the_connection(service: &Service) {
    let mut connection = Connection::open(service.address());
    let request = frames::request("GET", "/healthz", &[]);
    // CANCEL.
    let (cancel, mut number) = ([0, 0, 0, 8], 1);
    let mut both = |_: u32| {
        let sent = [frame(HEADERS, END_HEADERS | END_STREAM, number, &request), frame(RST_STREAM, 0, number, &cancel)]
            .concat();
        number += 2;
        sent
    };
    for _ in 0..1_000 {
        let many: Vec<u8> = (0..100).flat_map(&mut both).collect();
        if connection.send(&many).is_err() {
            break;
        }
    }
    assert_eq!(connection.end(), Some(ENHANCE_YOUR_CALM));
}

fn header_size_is_limited_in_both_http_versions(service: &Service) {
    let max = limit(service, "head_bytes_max") as usize;
    for (padding, expected) in [(max - 1_000, 200), (max, 431)] {
        let value = "x".repeat(padding);
        let mut connection = service.connect();
        let request = crate::support::http::Request::get("/healthz").anonymous().header("X-Padding", &value);
        assert_eq!(connection.exchange(&request).unwrap().status, expected, "{padding}");
        let mut connection = Connection::open(service.address());
        let block = frames::request("GET", "/healthz", &[("x-padding", &value)]);
        let parts: Vec<&[u8]> = block.chunks(16_000).collect();
        for (place, part) in parts.iter().enumerate() {
            // HEADERS, and its CONTINUATION.
            let (kind, end_stream) = if place == 0 { (HEADERS, END_STREAM) } else { (9, 0) };
            let flags = if place + 1 == parts.len() { end_stream | END_HEADERS } else { end_stream };
            connection.send(&frame(kind, flags, 1, part)).unwrap();
        }
        let answer = connection.wait_for(HEADERS).expect("an answer");
        // Indexed fields of the static table (RFC 7541 appendix A): 200, or a literal status.
        assert_eq!(answer.payload[0] == 0x88, expected == 200, "{padding}: {answer:?}");
    }
}
