//! Shutdown: requests in progress are finished, streams are closed, and the exit code is 0.

use std::io::Read as _;

use rustix::process::Signal;
use serde_json::json;

use crate::support::http::{Connection, Request};
use crate::support::service::Service;

/// Opens a stream, whose end shows that shutdown has started.
fn stream(service: &Service, connection: &mut Connection) -> Vec<(String, String)> {
    connection.send_request(&service.signed(Request::get("/v1/clock/stream")));
    let (status, headers) = connection.head().unwrap();
    assert_eq!(status, 200);
    headers
}

#[test]
fn in_flight_requests_finish_on_shutdown() {
    for signal in [Signal::TERM, Signal::INT] {
        let mut service = Service::start();
        let body = json!({ "destination_time": "2005-08-29T11:10:00Z" }).to_string();
        let (first, rest) = body.split_at(10);
        let request = service.signed(Request::post("/v1/travel").header("Content-Type", "application/json"));
        let request = request.header("Content-Length", &body.len().to_string());
        let mut in_flight = service.connect();
        in_flight.send_request(&request);
        in_flight.send(first.as_bytes()).unwrap();
        let mut idle = service.connect();
        idle.exchange(&service.signed(Request::get("/v1/clock"))).unwrap();
        let mut watching = service.connect();
        let headers = stream(&service, &mut watching);
        service.process().signal(signal);
        let mut messages = String::new();
        watching.body(&headers).read_to_string(&mut messages).expect("the stream ends as chunks do");
        assert!(messages.starts_with("event: clock\n"), "{messages}");
        // Shutdown has started, and this request is incomplete.
        in_flight.send(rest.as_bytes()).unwrap();
        let answer = in_flight.answer(false).unwrap().expect(200);
        assert_eq!(answer["current_time"], "2005-08-29T11:10:00Z");
        let address = service.address();
        assert_eq!(service.process().wait().code(), Some(0), "{}", service.log_text());
        assert!(idle.is_closed() && in_flight.is_closed());
        assert!(Connection::open(address).is_err(), "nobody listens any more");
        service.kill();
        service.start_again();
        let clock = service.get("/v1/clock", &[]);
        assert_eq!(clock["origin_virtual"], "2005-08-29T11:10:00Z", "what was answered is kept");
        service.audit();
    }
}

#[test]
fn draining_service_accepts_requests_and_is_not_ready() {
    let mut service = Service::with(&["--drain-secs", "600"]);
    let mut stored = service.connect();
    stored.exchange(&service.signed(Request::get("/v1/clock"))).unwrap();
    service.process().terminate();
    let ready = |service: &Service| service.send(Request::get("/readyz").anonymous());
    crate::support::waiting::until_so("the service to drain", || ready(&service).status == 503);
    ready(&service).refused(503, "unavailable");
    assert_eq!(service.metric("timenav_ready"), 0);
    service.post("/v1/pause-time", &json!({}));
    let answer = stored.exchange(&service.signed(Request::get("/v1/clock"))).unwrap();
    assert_eq!((answer.status, answer.header("connection")), (200, Some("close")));
    service.process().terminate();
    assert_eq!(service.process().wait().code(), Some(1), "{}", service.log_text());
    service.kill();
    service.arguments(&[]);
    service.start_again();
    assert_eq!(service.get("/v1/clock", &[])["state"], "paused", "what was answered is kept");
    service.audit();
}

#[test]
fn second_signal_stops_the_service_immediately() {
    let mut service = Service::start();
    let request = service.signed(Request::post("/v1/pause-time").header("Content-Type", "application/json"));
    let mut in_flight = service.connect();
    in_flight.send_request(&request.header("Content-Length", "2"));
    let mut watching = service.connect();
    let headers = stream(&service, &mut watching);
    service.process().terminate();
    watching.body(&headers).read_to_end(&mut Vec::new()).unwrap();
    service.process().terminate();
    assert_eq!(service.process().wait().code(), Some(1), "{}", service.log_text());
    service.kill();
    service.start_again();
    assert_eq!(service.get("/v1/clock", &[])["state"], "running", "what was not sent was not done");
    service.audit();
}

#[test]
fn unfinished_requests_are_dropped_at_the_shutdown_deadline() {
    let mut service = Service::with(&["--shutdown-deadline-secs", "0"]);
    let request = service.signed(Request::post("/v1/pause-time").header("Content-Type", "application/json"));
    let mut in_flight = service.connect();
    in_flight.send_request(&request.header("Content-Length", "2"));
    // A later request was answered, so this one has arrived.
    service.get("/v1/clock", &[]);
    service.process().terminate();
    assert_eq!(service.process().wait().code(), Some(0), "{}", service.log_text());
    assert!(in_flight.is_closed());
    service.kill();
    service.start_again();
    service.audit();
}
