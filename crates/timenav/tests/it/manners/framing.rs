//! Requests that no library would send: the service refuses, closes, and goes on.

use std::io::Write as _;
use std::net::{Shutdown, TcpStream};

use serde_json::json;

use crate::http::{Answer, Connection, Request};
use crate::service::Service;

/// Sends bytes and returns what comes back, and whether the connection was closed after that.
fn raw(service: &Service, bytes: &str) -> (Answer, bool) {
    let mut connection = service.connect();
    connection.send(bytes.as_bytes()).unwrap();
    let answer = connection.answer(false).unwrap_or_else(|error| panic!("{error}: {bytes}"));
    (answer, connection.is_closed())
}

fn head(service: &Service, first: &str, headers: &str) -> String {
    format!("{first}\r\nHost: timenav.test\r\nAuthorization: Bearer {}\r\n{headers}\r\n", service.admin)
}

#[test]
fn ambiguous_framing_is_refused_and_the_connection_closed() {
    let service = Service::start();
    let json = "Content-Type: application/json\r\n";
    let cases = [
        // RFC 9112 §6.1 and §6.3: no request may be read in two ways.
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
fn a_length_beside_chunks_smuggles_nothing() {
    let service = Service::start();
    let smuggled = head(&service, "POST /v1/pause-time HTTP/1.1", "");
    for order in
        [["Content-Length: 5", "Transfer-Encoding: chunked"], ["Transfer-Encoding: chunked", "Content-Length: 5"]]
    {
        let headers = format!("Content-Type: application/json\r\n{}\r\n{}\r\n", order[0], order[1]);
        let request = head(&service, "GET /v1/clock HTTP/1.1", &headers);
        let (answer, closed) = raw(&service, &format!("{request}0\r\n\r\n{smuggled}"));
        // RFC 9112 §6.1 lets a server refuse, or go by the chunks alone; it closes in either case.
        assert!(matches!(answer.status, 200 | 400), "{answer}");
        assert!(closed);
    }
    assert_eq!(service.get("/v1/clock", &[])["state"], "running");
    service.audit();
}

#[test]
fn a_body_that_ends_early_changes_nothing() {
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
fn heads_that_are_none_are_refused() {
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
    // The service may stop reading as soon as it has read too much.
    let _ = connection.send(request.as_bytes());
    if let Ok(answer) = connection.answer(false) {
        assert_eq!(answer.status, 431, "{answer}");
    }
    service.get("/v1/clock", &[]);
    service.audit();
}

#[test]
fn one_connection_serves_many_requests_and_none_sees_the_other() {
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
fn requests_that_are_sent_ahead_are_answered_in_order() {
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
