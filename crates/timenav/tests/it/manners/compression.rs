//! Which responses are compressed.

use std::io::Read;

use flate2::read::GzDecoder;
use serde_json::{Value, json};

use crate::support::frames::{self, DATA, END_HEADERS, END_STREAM, HEADERS, SETTINGS, frame};
use crate::support::http::{Answer, Request, target};
use crate::support::service::{Service, memory_kib};

/// Returns the coding of a response and its decoded body.
fn decoded(answer: &Answer) -> (Option<&str>, Vec<u8>) {
    let coding = answer.header("content-encoding");
    let mut plain = Vec::new();
    match coding {
        None => plain.clone_from(&answer.body),
        Some("gzip") => drop(GzDecoder::new(&answer.body[..]).read_to_end(&mut plain).expect("it is gzip")),
        Some(other) => panic!("nobody asked for {other}"),
    }
    (coding, plain)
}

fn accepting(request: Request, codings: &str) -> Request {
    request.header("Accept-Encoding", codings)
}

/// Records events with descriptions of about `length` bytes.
fn record(service: &Service, count: usize, length: usize) {
    let events: Vec<Value> = (0..count)
        .map(|number| {
            let text: Vec<String> = (0..length / 8).map(|word| format!("{:07x}", number * 7_919 + word * 31)).collect();
            json!({ "event_id": format!("e{number}"), "time": "1969-07-16T13:32:00Z", "description": text.join(" ") })
        })
        .collect();
    for batch in events.chunks(500) {
        service.send(Request::post("/v1/events").json(&json!(batch))).expect(201);
    }
}

#[test]
fn preferred_accept_encoding_is_chosen() {
    let service = Service::start();
    let ask = |request: Request| service.send(request.anonymous());
    let plain = ask(Request::get("/openapi.json"));
    assert_eq!(plain.header("vary"), Some("Authorization, Cookie, Accept-Encoding"));
    for (accepted, expected) in [
        ("", None),
        ("br", None),
        ("identity", None),
        ("identity, gzip;q=0.5", None),
        ("gzip;q=0", None),
        ("gzip", Some("gzip")),
        ("GZIP;q=0.001", Some("gzip")),
        ("x-gzip", Some("gzip")),
        ("gzip, deflate, br, zstd", Some("gzip")),
        ("gzip;q=0.5, identity;q=0.1, zstd;q=0.7", Some("gzip")),
    ] {
        let answer = ask(accepting(Request::get("/openapi.json"), accepted));
        let (coding, body) = decoded(&answer);
        assert_eq!(coding, expected, "{accepted}");
        assert!(body == plain.body, "{accepted}: other bytes");
        assert_eq!(answer.header("vary"), plain.header("vary"), "{accepted}");
        assert!(answer.header("content-length").is_some(), "{accepted}: it is compressed once, not as it is sent");
        if coding.is_some() {
            assert!(answer.body.len() * 4 < plain.body.len(), "{accepted}: {} bytes", answer.body.len());
        }
        // HEAD returns the same headers as GET.
        let head = ask(accepting(Request::new("HEAD", "/openapi.json"), accepted));
        assert_eq!((head.header("content-encoding"), head.body.len()), (expected, 0), "{accepted}");
    }
    service.audit();
}

#[test]
fn pages_and_exports_are_compressed_and_short_responses_are_not() {
    let service = Service::start();
    record(&service, 1_500, 200);
    let range = ("time_range", "1969-07-16T13:32:00Z/PT1S");
    for (path, parameters) in [
        ("/v1/monitor-events", [("location", "*"), range, ("limit", "1000")]),
        ("/v1/access-logs", [("timeline_id", "main"), ("time_range", "../.."), ("limit", "100")]),
    ] {
        let target = target(path, &parameters);
        let plain = service.send(Request::get(&target));
        let answer = service.send(accepting(Request::get(&target), "gzip"));
        assert!(answer.header("content-type").is_some_and(|value| value.starts_with("application/json")), "{answer}");
        let (coding, body) = decoded(&answer);
        assert_eq!(coding, Some("gzip"), "{target}");
        assert!(answer.body.len() * 2 < body.len(), "{target}: {} bytes", answer.body.len());
        // The two differ in `as_of`, which is the ledger entry of the response.
        assert!(body.len().abs_diff(plain.body.len()) < 2_000, "{target}");
    }
    let scan = Request::post("/v1/scan-events").json(&json!({ "location": "*", "time_range": "../.." }));
    let scanned = service.send(accepting(scan, "gzip"));
    let (coding, body) = decoded(&scanned);
    assert_eq!(coding, Some("gzip"), "{scanned}");
    assert_eq!(serde_json::from_slice::<Value>(&body).unwrap()["summary"]["count"], 1_500);
    for format in ["ndjson", "csv", "geojson", "icalendar"] {
        let path = target("/v1/export-events", &[("format", format)]);
        let plain = service.send(Request::get(&path));
        let answer = service.send(accepting(Request::get(&path), "gzip"));
        let (coding, body) = decoded(&answer);
        assert_eq!(coding, Some("gzip"), "{format}");
        assert_eq!(answer.header("vary"), Some("Authorization, Cookie, Accept-Encoding"), "{format}");
        assert!(answer.body.len() * 2 < body.len(), "{format}: {} bytes", answer.body.len());
        let lines = |bytes: &[u8]| String::from_utf8_lossy(bytes).lines().count();
        assert_eq!(lines(&body), lines(&plain.body), "{format}");
    }
    for path in ["/v1/clock", "/healthz", "/v1/no-such-thing", "/v1/monitor-events"] {
        let answer = service.send(accepting(Request::get(path), "gzip, zstd"));
        assert_eq!(answer.header("content-encoding"), None, "{answer}");
        assert_eq!(answer.header("vary"), Some("Authorization, Cookie"), "{answer}");
    }
    service.audit();
}

/// The length of a compressed response reveals its content, so no response that may contain both a secret and request
/// data is compressed. An entity tag identifies exact bytes.
#[test]
fn secrets_tagged_responses_and_streams_are_not_compressed() {
    let service = Service::start();
    record(&service, 100, 200);
    let send = |request: Request| {
        let answer = service.send(accepting(request, "gzip, zstd"));
        assert!(answer.status < 300, "{answer}");
        assert_eq!(answer.header("content-encoding"), None, "{answer}");
        assert_eq!(answer.header("vary"), Some("Authorization, Cookie"), "{answer}");
        answer
    };
    let long = "secret ".repeat(1_000);
    let key = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";
    let sealed = send(
        Request::post("/v1/encrypt-data")
            .json(&json!({ "timeline_id": "main", "data": { "secret": long.as_str() }, "encryption_key": key })),
    )
    .json();
    let open = json!({ "timeline_id": "main", "data_id": sealed["data_id"], "encryption_key": key });
    let opened = send(Request::post("/v1/decrypt-data").json(&open));
    assert!(opened.body.len() > 7_000, "{opened}");
    send(Request::post("/v1/api-keys").json(&json!({ "label": "x".repeat(60) })));
    let tagged = json!({ "event_id": "tagged", "time": "1969-07-16T13:32:00Z", "description": long });
    send(Request::post("/v1/events").json(&tagged));
    let event = send(Request::get("/v1/events/tagged"));
    assert!(event.header("etag").is_some() && event.body.len() > 7_000, "{event}");
    let mut connection = service.connect();
    let stream = service.signed(accepting(Request::get("/v1/stream?topics=clock"), "gzip, zstd"));
    connection.send_request(&stream);
    let (status, headers) = connection.head().unwrap();
    assert_eq!(status, 200);
    assert!(!headers.iter().any(|(name, _)| name == "content-encoding"), "{headers:?}");
    drop(connection);
    service.audit();
}

/// The compressor may have requested the next part of a file when its client stops reading, and does not poll again.
/// Each client here stops after a different number of bytes, so that some hit that moment. A read slot held for them
/// would be lost, and there are few.
#[test]
fn stalled_exports_do_not_block_other_requests() {
    let service = Service::start();
    record(&service, 3_000, 200);
    let before = memory_kib(service.pid(), "VmHWM");
    let key = format!("Bearer {}", service.admin);
    let stalled: Vec<frames::Connection> = (1..=64_u32)
        .map(|number| {
            let mut connection = frames::Connection::open(service.address());
            // SETTINGS_INITIAL_WINDOW_SIZE: the client reads only this much of a response.
            let window = (number * 1_000).to_be_bytes();
            connection.send(&frame(SETTINGS, 0, 0, &[&[0, 4], &window[..]].concat())).unwrap();
            let fields = [("authorization", key.as_str()), ("accept-encoding", "gzip")];
            let ask = frames::request("GET", "/v1/export-events", &fields);
            connection.send(&frame(HEADERS, END_HEADERS | END_STREAM, 1, &ask)).unwrap();
            connection
        })
        .map(|mut connection| {
            assert!(connection.wait_for(DATA).is_some(), "the export has begun");
            connection
        })
        .collect();
    // A client that reads gets everything, and so do other requests that need a slot.
    for coding in ["identity", "gzip"] {
        let (_, body) = decoded(&service.send(accepting(Request::get("/v1/export-events"), coding)));
        assert_eq!(String::from_utf8(body).unwrap().lines().count(), 3_000, "{coding}");
    }
    let counted = service.get("/v1/aggregate-events", &[("group_by", "actor")]);
    assert_eq!(counted["count"], 3_000);
    let grown_mib = memory_kib(service.pid(), "VmHWM").saturating_sub(before) / 1024;
    assert!(grown_mib < 150, "{grown_mib} MiB");
    drop(stalled);
    service.audit();
}

#[test]
fn compressed_json_request_bodies_are_rejected() {
    let service = Service::start();
    let event = json!({ "time": "1969-07-20T20:17:40Z" });
    for (path, coding) in [("/v1/events", "gzip"), ("/v1/events", "br"), ("/v1/timers", "zstd")] {
        let answer = service.send(Request::post(path).json(&event).header("Content-Encoding", coding));
        assert_eq!(answer.header("accept-encoding"), Some("identity"), "{answer}");
        let refused = answer.refused(415, "unsupported_media_type");
        assert!(refused["detail"].as_str().unwrap().contains("without `Content-Encoding`"), "{refused}");
    }
    service.send(Request::post("/v1/events").json(&event).header("Content-Encoding", "identity")).expect(201);
    service.audit();
}
