//! Requests that no library would send: the service rejects them, closes the connection and keeps running.

use std::io::Write as _;
use std::net::{Shutdown, TcpStream};

use serde_json::json;

use crate::support::frames;
use crate::support::http::{Answer, Connection, Request};
use crate::support::service::Service;

/// Sends bytes and returns the response, and whether the connection was closed after it.
fn raw(service: &Service, bytes: &str) -> (Answer, bool) {
    let mut connection = service.connect();
    connection.send(bytes.as_bytes()).unwrap();
    let answer = connection.answer(false).unwrap_or_else(|error| panic!("{error}: {bytes}"));
    (answer, connection.is_closed())
}

/// Sends bytes and returns the first response, and whether the connection is to be closed after it.
fn raw_until_answer(service: &Service, bytes: &str) -> (Answer, bool) {
    let mut connection = service.connect();
    connection.send(bytes.as_bytes()).unwrap();
    let answer = connection.answer(false).unwrap_or_else(|error| panic!("{error}: {bytes}"));
    let closes = answer.header("connection") == Some("close");
    if closes {
        assert!(connection.is_closed(), "{bytes}");
    }
    (answer, closes)
}

fn head(service: &Service, first: &str, headers: &str) -> String {
    format!("{first}\r\nHost: timenav.test\r\nAuthorization: Bearer {}\r\n{headers}\r\n", service.admin)
}

#[test]
fn ambiguous_framing_is_rejected_and_closes_the_connection() {
    let service = Service::start();
    let json = "Content-Type: application/json\r\n";
    let cases = [
        // RFC 9112 §6.1 and §6.3: no request may be parsed in two ways.
        format!("{json}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{{}} "),
        format!("{json}Content-Length: two\r\n\r\n{{}}"),
        format!("{json}Content-Length: -2\r\n\r\n{{}}"),
        format!("{json}Transfer-Encoding: gzip\r\n\r\n{{}}"),
        format!("{json}Transfer-Encoding: chunked\r\n\r\nzz\r\n{{}}\r\n0\r\n\r\n"),
    ];
    for case in cases {
        let request = head(&service, "POST /v1/pause-time HTTP/1.1", &case);
        let (answer, closed) = raw(&service, &request);
        assert_eq!(answer.status, 400, "{case:?}: {answer}");
        assert!(closed, "{case:?}");
    }
    assert_eq!(service.get("/v1/clock", &[])["state"], "running", "none of them was carried out");
    service.audit();
}

#[test]
fn content_length_with_chunked_encoding_smuggles_no_request() {
    let service = Service::start();
    let smuggled = head(&service, "POST /v1/pause-time HTTP/1.1", "");
    for order in
        [["Content-Length: 5", "Transfer-Encoding: chunked"], ["Transfer-Encoding: chunked", "Content-Length: 5"]]
    {
        let headers = format!("Content-Type: application/json\r\n{}\r\n{}\r\n", order[0], order[1]);
        let request = head(&service, "GET /v1/clock HTTP/1.1", &headers);
        let (answer, closed) = raw(&service, &format!("{request}0\r\n\r\n{smuggled}"));
        // RFC 9112 §6.1 lets a server reject the request, or use only the chunks; it closes the connection in either
        // case.
        assert!(matches!(answer.status, 200 | 400), "{answer}");
        assert!(closed);
    }
    assert_eq!(service.get("/v1/clock", &[])["state"], "running");
    service.audit();
}

#[test]
fn truncated_request_body_changes_nothing() {
    let service = Service::start();
    let before = service.get("/v1/clock", &[])["generation"].clone();
    let request =
        head(&service, "POST /v1/pause-time HTTP/1.1", "Content-Type: application/json\r\nContent-Length: 20\r\n");
    let mut stream = TcpStream::connect(service.address()).unwrap();
    stream.write_all(format!("{request}{{}}").as_bytes()).unwrap();
    stream.shutdown(Shutdown::Write).unwrap();
    drop(stream);
    assert_eq!(service.get("/v1/clock", &[])["generation"], before);
    service.audit();
}

#[test]
fn malformed_request_heads_are_rejected() {
    let service = Service::start();
    for bytes in [
        "nonsense\r\n\r\n",
        "GET\r\n\r\n",
        "GET /v1/clock HTTP/9.9\r\n\r\n",
        "GET /v1/clock HTTP/1.1\r\nno colon\r\n\r\n",
    ] {
        let (answer, closed) = raw(&service, bytes);
        assert!(matches!(answer.status, 400 | 505), "{bytes:?}: {answer}");
        assert!(closed, "{bytes:?}");
    }
    let many = "X-Padding: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\n".repeat(20_000);
    let request = head(&service, "GET /v1/clock HTTP/1.1", &many);
    let mut connection = service.connect();
    // The service may stop reading as soon as the limit is exceeded.
    let _ = connection.send(request.as_bytes());
    if let Ok(answer) = connection.answer(false) {
        assert_eq!(answer.status, 431, "{answer}");
    }
    service.get("/v1/clock", &[]);
    service.audit();
}

/// RFC 9112 §3.2: intermediaries must see the same host as the service.
#[test]
fn http1_request_with_invalid_host_is_rejected() {
    let service = Service::start();
    let key = format!("Authorization: Bearer {}\r\n", service.admin);
    let check = |first: &str, hosts: &str, expected: u16| {
        let (answer, closed) = raw_until_answer(&service, &format!("{first}\r\n{hosts}{key}\r\n"));
        assert_eq!(answer.status, expected, "{first} {hosts:?}: {answer}");
        if expected == 400 {
            answer.refused(400, "invalid_host");
        }
        assert_eq!(closed, expected == 400, "{first} {hosts:?}");
    };
    let get = "GET /v1/clock HTTP/1.1";
    for right in ["timenav.test:8080", "[::1]:80", "TIMENAV.test"] {
        check(get, &format!("Host: {right}\r\n"), 200);
    }
    check(get, "", 400);
    check(get, "Host: a\r\nHost: a\r\n", 400);
    check(get, "Host: a\r\nhOST: b\r\n", 400);
    for wrong in ["", "a b", "user@a", "a, b", "\u{e4}"] {
        check(get, &format!("Host: {wrong}\r\n"), 400);
    }
    // The target takes precedence over the header, which is still required.
    check("GET http://a.test/v1/clock HTTP/1.1", "Host: a.test\r\n", 200);
    check("GET http://a.test/v1/clock HTTP/1.1", "Host: b.test\r\n", 400);
    check("GET http://a.test/v1/clock HTTP/1.1", "", 400);
    check("GET http://user@a.test/v1/clock HTTP/1.1", "Host: a.test\r\n", 400);
    for (hosts, expected) in [("", "HTTP/1.0 200 "), ("Host: a\r\nHost: b\r\n", "HTTP/1.0 400 ")] {
        let mut connection = service.connect();
        connection.send(format!("GET /v1/clock HTTP/1.0\r\n{hosts}{key}\r\n").as_bytes()).unwrap();
        let answer = String::from_utf8(connection.read_to_end().unwrap()).unwrap();
        assert!(answer.starts_with(expected), "{answer}");
    }
    check("GET /nothing HTTP/1.1", "", 400);
    check("OPTIONS * HTTP/1.1", "", 400);
    service.audit();
}

/// RFC 9113 §8.3.1.
#[test]
fn http2_request_with_invalid_host_is_rejected() {
    let service = Service::start();
    let usual = [(":method", "GET"), (":scheme", "http"), (":path", "/healthz")];
    let check = |more: &[(&str, &str)], expected: bool| {
        let mut connection = frames::Connection::open(service.address());
        let block = frames::fields(&[&usual, more].concat());
        connection.send(&frames::frame(frames::HEADERS, frames::END_HEADERS | frames::END_STREAM, 1, &block)).unwrap();
        // 200 is one byte. Other statuses are longer, and malformed requests have no response.
        let passed = loop {
            match connection.next() {
                Some(next) if next.kind == frames::HEADERS => break next.payload[0] == 0x88,
                Some(next) if matches!(next.kind, frames::RST_STREAM | frames::GOAWAY) => break false,
                Some(_) => {}
                None => break false,
            }
        };
        assert_eq!(passed, expected, "{more:?}");
    };
    check(&[(":authority", "a.test")], true);
    check(&[("host", "a.test")], true);
    check(&[(":authority", "a.test"), ("host", "A.test")], true);
    check(&[], false);
    check(&[(":authority", "a.test"), ("host", "b.test")], false);
    check(&[(":authority", "a.test"), ("host", "a.test"), ("host", "a.test")], false);
    check(&[(":authority", "user@a.test")], false);
    check(&[(":authority", "")], false);
    check(&[("host", "a b")], false);
    service.audit();
}

/// The HTTP parser accepts a bare LF as the end of a line, as RFC 9112 §2.2 allows, and this cannot be turned off. Text
/// after one is therefore a separate line, for this service and for intermediaries that parse it the same way; and no
/// header value may contain one.
#[test]
fn bare_line_feed_smuggles_no_request() {
    let service = Service::start();
    let key = format!("Authorization: Bearer {}", service.admin);
    let clock = |head: &str| raw_until_answer(&service, head).0;
    let plain = clock(&format!("GET /v1/clock HTTP/1.1\nHost: timenav.test\n{key}\n\n"));
    assert_eq!(plain.status, 200, "{plain}");
    // An intermediary that forwards an LF inside a header forwards a second host or a second framing.
    let answer = clock(&format!("GET /v1/clock HTTP/1.1\r\nHost: timenav.test\r\nX: a\nHost: b\r\n{key}\r\n\r\n"));
    answer.refused(400, "invalid_host");
    let json = "Content-Type: application/json\r\n";
    let smuggled = head(&service, "POST /v1/pause-time HTTP/1.1", &format!("{json}Content-Length: 2\r\n"));
    for framing in [
        "Content-Length: 0\r\nX: a\nContent-Length: 5\r\n".to_owned(),
        "Content-Length: 5\r\nX: a\nTransfer-Encoding: chunked\r\n".to_owned(),
        "X: a\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n".to_owned(),
        "Transfer-Encoding: chunked\nContent-Length: 5\r\n".to_owned(),
    ] {
        let first = head(&service, "POST /v1/resume-time HTTP/1.1", &format!("{json}{framing}"));
        let mut connection = service.connect();
        let _ = connection.send(format!("{first}0\r\n\r\n{smuggled}{{}}").as_bytes());
        let all = String::from_utf8(connection.read_to_end().unwrap()).unwrap();
        assert_eq!(all.matches("HTTP/1.1 ").count(), 1, "{framing:?}: {all}");
    }
    // A bare CR does not end a line.
    for bytes in ["GET /v1/clock HTTP/1.1\r\nHost: a\rX: b\r\n\r\n", "GET /v1/clock HTTP/1.1\rHost: a\r\n\r\n"] {
        assert_eq!(raw(&service, bytes).0.status, 400, "{bytes:?}");
    }
    // A chunk must end with a complete CRLF.
    let chunked = head(&service, "POST /v1/pause-time HTTP/1.1", &format!("{json}Transfer-Encoding: chunked\r\n"));
    for body in ["2\n{}\r\n0\r\n\r\n", "2\r\n{}\n0\r\n\r\n", "2;a\nb\r\n{}\r\n0\r\n\r\n"] {
        let (answer, closed) = raw(&service, &format!("{chunked}{body}"));
        assert_eq!((answer.status, closed), (400, true), "{body:?}: {answer}");
    }
    assert_eq!(service.get("/v1/clock", &[])["state"], "running", "none of them was carried out");
    service.audit();
}

#[test]
fn header_field_count_is_limited() {
    let service = Service::start();
    let max = service.get("/v1/limits", &[])["limits"]["head_fields_max"].as_u64().unwrap();
    for (count, expected) in [(max - 1, 200), (max, 431)] {
        let fields: String =
            (0..count).flat_map(|number| ["X-".to_owned(), number.to_string(), ": x\r\n".to_owned()]).collect();
        let (answer, _) = raw_until_answer(&service, &format!("GET /healthz HTTP/1.1\r\nHost: a\r\n{fields}\r\n"));
        assert_eq!(answer.status, expected, "{count}");
    }
    service.audit();
}

#[test]
fn requests_on_one_connection_share_no_state() {
    let service = Service::start();
    service.user("ada");
    let mut connection = service.connect();
    for round in 0..20 {
        let ask = |request: Request, connection: &mut Connection| connection.exchange(&request).unwrap();
        let clock = ask(service.signed(Request::get("/v1/clock").json(&json!({}))), &mut connection);
        assert_eq!(clock.status, 200, "{round}: {clock}");
        ask(Request::get("/v1/clock"), &mut connection).refused(401, "missing_credentials");
        ask(Request::get("/v1/clock").key("tnk_x"), &mut connection).refused(401, "invalid_credentials");
        ask(service.signed(Request::get("/nothing")), &mut connection).refused(404, "not_found");
        let large = service.signed(Request::post("/v1/pause-time").body("text/plain", &[b'x'; 1_000]));
        ask(large, &mut connection).refused(415, "unsupported_media_type");
    }
    service.audit();
}

#[test]
fn pipelined_requests_get_responses_in_order() {
    let service = Service::start();
    service.post("/v1/pause-time", &json!({}));
    let mut connection = service.connect();
    let mut bytes = String::new();
    for hour in 0..10 {
        let body = json!({ "destination_time": format!("2000-01-01T{hour:02}:00:00Z") }).to_string();
        let headers = format!("Content-Type: application/json\r\nContent-Length: {}\r\n", body.len());
        bytes.push_str(&head(&service, "POST /v1/travel HTTP/1.1", &headers));
        bytes.push_str(&body);
    }
    connection.send(bytes.as_bytes()).unwrap();
    for hour in 0..10 {
        let answer = connection.answer(false).unwrap().expect(200);
        assert_eq!(answer["current_time"], format!("2000-01-01T{hour:02}:00:00Z"));
    }
    service.audit();
}
