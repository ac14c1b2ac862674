//! Inactive connections are closed, whatever was sent before.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Command, Stdio};

use serde_json::json;

use crate::support::frames::{self, END_HEADERS, END_STREAM, HEADERS, PREFACE, SETTINGS, frame};
use crate::support::http::{Connection, Request};
use crate::support::service::Service;
use crate::support::waiting::until_so;

/// Sends a request and, once the response has arrived, drops all further packets before the kernel sees them: nothing
/// is acknowledged or reset, as if the host had vanished.
const VANISH: &str = include_str!("../../programs/vanish.py");
/// All timeouts for clients are one second.
const IMPATIENT: [&str; 4] = ["--connection-idle-secs", "1", "--handshake-secs", "1"];

#[test]
fn silent_connections_are_closed() {
    let service = Service::with(&IMPATIENT);
    let request = frames::request("GET", "/healthz", &[]);
    let whole = frame(HEADERS, END_HEADERS | END_STREAM, 1, &request);
    let begun = [PREFACE, &frame(SETTINGS, 0, 0, &[])].concat();
    let cases: [(&str, Vec<u8>); 12] = [
        ("nothing", Vec::new()),
        ("a byte", b"G".to_vec()),
        ("the first byte of a preface", b"P".to_vec()),
        ("half a preface", PREFACE[..16].to_vec()),
        ("a preface", PREFACE.to_vec()),
        ("a preface and settings", begun.clone()),
        ("a frame without its end", [&begun[..], &whole[..whole.len() - 4]].concat()),
        ("fields without their end", [&begun[..], &frame(HEADERS, END_STREAM, 1, &request)].concat()),
        ("a request over HTTP/2", [&begun[..], &whole].concat()),
        ("half a head", b"GET /healthz HTTP/1.1\r\nHost: x\r\n".to_vec()),
        ("a request", b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n".to_vec()),
        ("a request and half a head", b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\nGET /".to_vec()),
    ];
    let opened = cases.map(|(name, bytes)| {
        let mut connection = service.connect();
        connection.send(&bytes).unwrap();
        (name, connection)
    });
    for (name, mut connection) in opened {
        connection.read_to_end().unwrap_or_else(|error| panic!("{name}: {error}"));
    }
    // The one that reads the metrics.
    service.wait_for_metric("timenav_connections", 1);
    service.audit();
}

#[test]
fn stream_without_messages_stays_open() {
    let service = Service::with(&IMPATIENT);
    let mut watching = service.connect();
    watching.send_request(&service.signed(Request::get("/v1/clock/stream")));
    let (status, headers) = watching.head().unwrap();
    assert_eq!(status, 200);
    // Three idle timeouts.
    for _ in 0..3 {
        assert!(service.connect().is_closed());
    }
    service.post("/v1/set-rate", &json!({ "rate": 7 }));
    let mut text = String::new();
    let mut body = watching.body(&headers);
    while !text.contains("\"rate\":7") {
        let mut some = [0; 512];
        let read = body.read(&mut some).expect("the stream goes on");
        assert!(read > 0, "the stream has ended: {text}");
        text.push_str(std::str::from_utf8(&some[..read]).unwrap());
    }
    drop(watching);
    service.audit();
}

/// A vanished host closes no connection; the service does.
#[test]
fn vanished_follower_is_removed() {
    let service = Service::with(&IMPATIENT);
    let follow = service.signed(Request::get("/v1/clock/stream?follow=gone"));
    let mut vanishing = Command::new("python3");
    vanishing.args(["-c", VANISH, &service.address().port().to_string(), "follower_id"]);
    vanishing.stdin(Stdio::piped()).stdout(Stdio::piped());
    let Ok(mut client) = vanishing.spawn() else {
        eprintln!("skipped: Python is not installed");
        return service.audit();
    };
    client.stdin.as_mut().unwrap().write_all(&follow.bytes()).unwrap();
    let mut output = String::new();
    BufReader::new(client.stdout.take().unwrap()).read_line(&mut output).unwrap();
    assert_eq!(output, "vanished\n");
    until_so("the end of a stream", || service.get("/v1/followers", &[])["followers"][0]["state"] == "disconnected");
    let answer = service.post("/v1/pause-time", &json!({ "followers": "all", "wait": "10m" }));
    assert_eq!(answer["followers"]["state"], "confirmed", "{answer}");
    drop(client.stdin.take());
    assert!(client.wait().unwrap().success());
    service.audit();
}

/// Over HTTP/2 the client answers pings.
#[test]
fn http2_stream_stays_open_while_pings_are_acknowledged() {
    let service = Service::with(&IMPATIENT);
    let key = format!("Bearer {}", service.admin);
    let mut watching = frames::Connection::open(service.address());
    let ask = frames::request("GET", "/v1/clock/stream", &[("authorization", &key)]);
    watching.send(&frame(HEADERS, END_HEADERS | END_STREAM, 1, &ask)).unwrap();
    assert!(watching.wait_for(HEADERS).is_some());
    for _ in 0..8 {
        assert!(watching.wait_for(frames::PING).is_some(), "the connection has ended");
    }
    service.post("/v1/set-rate", &json!({ "rate": 7 }));
    loop {
        let data_frame = watching.wait_for(frames::DATA).expect("the stream goes on");
        if String::from_utf8(data_frame.payload).unwrap().contains("\"rate\":7") {
            break;
        }
    }
    drop(watching);
    service.audit();
}

#[test]
fn client_that_stops_reading_is_disconnected() {
    let service = Service::with(&IMPATIENT);
    let ask = b"GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n".repeat(2_000);
    let mut deaf: Vec<Connection> = (0..3).map(|_| service.connect()).collect();
    for connection in &mut deaf {
        connection.send(&ask).unwrap();
    }
    // They are connected, and the service still has some hundred megabytes to send to each.
    assert!(service.metric("timenav_connections") > 1);
    service.wait_for_metric("timenav_connections_closed_total{reason=\"stalled\"}", 3);
    drop(deaf);
    service.audit();
}

/// Over HTTP/2 a client can read every byte and still block a response.
#[test]
fn client_with_closed_http2_window_is_disconnected() {
    let service = Service::with(&IMPATIENT);
    let mut shut = frames::Connection::open(service.address());
    // SETTINGS_INITIAL_WINDOW_SIZE of zero.
    shut.send(&frame(SETTINGS, 0, 0, &[0, 4, 0, 0, 0, 0])).unwrap();
    for number in 0..100 {
        let ask = frames::request("GET", "/openapi.json", &[]);
        shut.send(&frame(HEADERS, END_HEADERS | END_STREAM, 2 * number + 1, &ask)).unwrap();
    }
    // Pings are answered the whole time.
    assert!(shut.wait_for(frames::GOAWAY).is_some());
    shut.end();
    service.audit();
}
