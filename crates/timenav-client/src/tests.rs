//! The test cases that all languages share (clients/vectors), settings, retries and errors.

#[cfg(feature = "tower")]
mod baggage;
mod calls;
mod document;
mod listener;
mod stub_server;
mod watch;

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use crate::error::{ClockUnavailable, Error};
use crate::instant::Instant;
use crate::operations::clock::{Clock, RunState};
use crate::transport::response::EventStream;
use crate::transport::retry::{Outcome, RetryPolicy, retry_after};
use crate::transport::sse::EventReader;
use crate::virtual_clock::clock_parameters::ClockParameters;
use crate::virtual_clock::clock_state::ClockState;
use crate::virtual_clock::follower::{Follower, StalenessBounds};
use crate::{Client, Request};
use stub_server::{StubServer, response};

const KEY: &str = "tnk_000000000000000000000000000000000000";

fn vectors(name: &str) -> Value {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../clients/vectors");
    let text = std::fs::read_to_string(folder.join(name).with_extension("json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().unwrap()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

fn seconds(value: &Value) -> Duration {
    Duration::from_secs_f64(value.as_f64().unwrap())
}

fn state(clock: &Value) -> ClockState {
    let mut body = json!({ "timeline_id": "main", "generation": 0, "current_time": "1970-01-01T00:00:00Z" });
    body.as_object_mut().unwrap().extend(clock.as_object().unwrap().clone());
    serde_json::from_value::<Clock>(body).unwrap().clock_state()
}

fn instant(value: &Value) -> Instant {
    text(value).parse().unwrap()
}

#[test]
fn clock_readings_match_service_vectors() {
    let file = vectors("clock");
    for case in list(&file["cases"]) {
        let clock = state(&case["clock"]);
        for reading in list(&case["readings"]) {
            let (host, shows) = (instant(&reading["host"]), instant(&reading["shows"]));
            assert_eq!(clock.at(host.micros()), shows, "{}: {reading}", case["name"]);
            let Some(first) = clock.host_time_at(shows.micros()) else { continue };
            if shows != Instant::MIN && shows != Instant::MAX {
                assert!(clock.at(first) >= shows, "{reading}");
                assert!(!clock.is_running || clock.at(first - 1) < shows, "{reading}");
            }
        }
    }
}

#[test]
fn clock_readings_match_recorded_service_states() {
    let file = vectors("recorded");
    assert!(list(&file["readings"]).len() >= 100);
    for reading in list(&file["readings"]) {
        let host = instant(&reading["host"]);
        assert_eq!(state(&reading["clock"]).at(host.micros()), instant(&reading["shows"]), "{reading}");
    }
}

#[test]
fn timestamps_round_trip_and_invalid_ones_are_rejected() {
    let file = vectors("timestamps");
    for case in list(&file["valid"]) {
        let parsed = instant(&case["text"]);
        assert_eq!(Some(parsed.micros()), case["micros"].as_i64(), "{case}");
        let written = case.get("written").unwrap_or(&case["text"]);
        assert_eq!(parsed.to_string(), text(written), "{case}");
    }
    for invalid in list(&file["invalid"]) {
        assert!(text(invalid).parse::<Instant>().is_err(), "{invalid}");
    }
}

#[test]
fn follower_readings_match_shared_vectors() {
    let file = vectors("follow");
    for case in list(&file["cases"]) {
        let bounds = case.get("bounds").unwrap_or(&file["bounds"]);
        let bounds = StalenessBounds::new(seconds(&bounds["stale_after"]), seconds(&bounds["lost_after"])).unwrap();
        let mut follower = Follower::new(bounds);
        let clock_parameters = ClockParameters::new();
        for step in list(&case["steps"]) {
            apply(&mut follower, step, &case["name"]);
            clock_parameters.set(follower.line());
            let now = step["at"].as_i64().unwrap();
            // A lock-free reading is identical or unavailable.
            if let Some(lock_free) = clock_parameters.at(now) {
                assert_eq!(follower.read(now).unwrap().now, lock_free, "{}: {step}", case["name"]);
            }
        }
    }
}

fn apply(follower: &mut Follower, step: &Value, name: &Value) {
    let now = step["at"].as_i64().unwrap();
    let body = || serde_json::from_value::<Clock>(step["body"].clone()).unwrap();
    let change = match step["do"].as_str() {
        None => return check_reading(follower, now, &step["read"], name),
        Some("apply_response") => follower.apply_response(&body(), now),
        Some("apply_message") => follower.apply_message(text(&step["event"]), &body(), now, step["first"] == true),
        Some("request_sent") => return follower.request_sent(now),
        Some("stream_opened") => return follower.stream_opened(now),
        Some("message_received") => return follower.message_received(now),
        Some("connection_lost") => return follower.connection_lost(now),
        Some("closed") => return follower.closed(),
        Some(unknown) => panic!("unknown step {unknown}"),
    };
    let expected = change.map(|change| json!({ "jump": change.jump_micros, "reset": change.is_reset }));
    assert_eq!(expected.unwrap_or_default(), step["change"], "{name}: {step}");
}

fn check_reading(follower: &Follower, now: i64, expected: &Value, name: &Value) {
    let read = follower.read(now);
    match expected["error"].as_str() {
        Some("closed") => assert_eq!(read, Err(ClockUnavailable::Closed), "{name} at {now}"),
        Some(_) => assert!(read.as_ref().is_err_and(ClockUnavailable::is_stale), "{name} at {now}: {read:?}"),
        None => {
            let reading = read.unwrap_or_else(|error| panic!("{name} at {now}: {error}"));
            assert_eq!(reading.now, instant(&expected["shows"]), "{name} at {now}");
            assert_eq!(Some(reading.state.generation), expected["generation"].as_u64(), "{name} at {now}");
            if let Some(uncertainty) = expected.get("uncertainty") {
                assert_eq!(json!(reading.uncertainty_micros), *uncertainty, "{name} at {now}");
            }
        }
    }
}

#[test]
fn stale_after_below_the_heartbeat_interval_is_rejected() {
    let error = StalenessBounds::new(Duration::from_secs(19), Duration::ZERO).unwrap_err();
    assert!(error.to_string().contains("stale_after must be at least 20s"), "{error}");
}

#[test]
fn sse_events_are_parsed_from_chunks_of_any_size() {
    let file = vectors("sse");
    for case in list(&file["cases"]) {
        let pieces: Vec<&[u8]> = list(&case["pieces"]).iter().map(|piece| text(piece).as_bytes()).collect();
        let whole = pieces.concat();
        let bytes: Vec<&[u8]> = whole.chunks(1).collect();
        for chunks in [pieces, bytes, vec![whole.as_slice()]] {
            let mut reader = EventReader::default();
            for chunk in chunks {
                reader.push(chunk);
            }
            let events: Vec<Value> = std::iter::from_fn(|| reader.next_event())
                .map(|event| json!({ "event": event.event, "id": event.id, "data": event.data }))
                .collect();
            assert_eq!(json!(events), case["events"], "{}", case["name"]);
            assert_eq!(reader.last_id(), text(&case["last_id"]), "{}", case["name"]);
        }
    }
}

#[test]
fn retry_waits_match_shared_vectors() {
    let file = vectors("retry");
    let attempts = u32::try_from(file["attempts"].as_u64().unwrap()).unwrap();
    let retries = RetryPolicy { attempts, wait_max: seconds(&file["wait_max"]) };
    for case in list(&file["cases"]) {
        let outcome = match &case["outcome"] {
            Value::String(word) if word == "not_sent" => Outcome::NotSent,
            Value::String(_) => Outcome::NoResponse,
            status => Outcome::Status(u16::try_from(status.as_u64().unwrap()).unwrap()),
        };
        let attempt = u32::try_from(case["attempt"].as_u64().unwrap()).unwrap();
        let after = case["retry_after"].as_f64().map(Duration::from_secs_f64);
        let wait = retries.wait(attempt, outcome, case["is_repeatable"] == true, (after, seconds(&case["waited"])));
        match case["wait"].as_array() {
            None => assert_eq!(wait, None, "{}", case["name"]),
            Some(range) => {
                let wait = wait.unwrap_or_else(|| panic!("{}", case["name"])).as_secs_f64();
                assert!(range[0].as_f64().unwrap() <= wait && wait <= range[1].as_f64().unwrap(), "{}", case["name"]);
            }
        }
    }
}

#[test]
fn retry_after_is_parsed_as_seconds_or_date() {
    assert_eq!(retry_after(" 7 "), Some(Duration::from_secs(7)));
    assert_eq!(retry_after("Sun, 06 Nov 1994 08:49:37 GMT"), Some(Duration::ZERO));
    assert!(retry_after("Fri, 31 Dec 9999 23:59:59 GMT").is_some_and(|wait| wait > Duration::from_hours(24)));
    assert_eq!(retry_after("soon"), None);
}

#[test]
fn invalid_settings_are_rejected_without_revealing_the_key() {
    let check = |builder: crate::ClientBuilder, expected: &str| {
        let error = builder.build().unwrap_err().to_string();
        assert!(error.contains(expected) && !error.contains("tnk_secret"), "{error}");
    };
    check(Client::builder(), "TIMENAV_API_KEY");
    check(Client::builder().api_key(" "), "is empty");
    check(Client::builder().api_key("tnk_secret é"), "characters");
    check(Client::builder().api_key(KEY).base_url("ftp://127.0.0.1"), "TIMENAV_URL");
    check(Client::builder().api_key(KEY).base_url("http://tnk_secret@127.0.0.1"), "without credentials");
    check(Client::builder().api_key(KEY).ca_certificates("no certificate"), "PEM");
    let client = Client::builder().api_key("tnk_secret").timeline_id("main").build().unwrap();
    assert!(!format!("{client:?}").contains("secret"), "{client:?}");
}

fn run<T>(test: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap().block_on(test)
}

fn client(stub_server: &StubServer) -> Client {
    Client::builder().base_url(stub_server.url()).api_key(KEY).timeline_id("t").build().unwrap()
}

#[test]
fn lost_response_is_retried_with_the_same_idempotency_key() {
    run(async {
        let clock = json!({
            "timeline_id": "t", "generation": 1, "state": "paused", "rate": 1.0, "location": null,
            "origin_host": "2026-01-01T00:00:00Z", "origin_virtual": "2028-02-29T09:00:00Z",
            "current_time": "2028-02-29T09:00:00Z",
        });
        let busy = response(503, &[("Retry-After", "0")], &json!({}));
        let stub_server = StubServer::start(vec![String::new(), busy, response(200, &[], &clock)]).await;
        let moved =
            client(&stub_server).for_firing("firing_1").travel("2028-02-29T09:00:00Z".parse().unwrap()).await.unwrap();
        assert_eq!((moved.generation, moved.state), (1, RunState::Paused));
        let requests = stub_server.requests();
        let keys: Vec<_> = requests.iter().map(|request| header(request, "idempotency-key")).collect();
        assert_eq!(keys.len(), 3);
        assert!(keys[0].is_some() && keys.iter().all(|key| *key == keys[0]), "{keys:?}");
        assert_eq!(header(&requests[0], "timenav-firing"), Some("firing_1"));
        assert_eq!(header(&requests[0], "authorization"), Some(format!("Bearer {KEY}").as_str()));
        assert!(requests[0].starts_with("POST /v1/travel HTTP/1.1") && requests[0].contains(r#""timeline_id":"t""#));
    });
}

fn header<'a>(request: &'a str, name: &str) -> Option<&'a str> {
    let mut lines = request.lines().filter_map(|line| line.split_once(": "));
    lines.find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value)
}

#[test]
fn non_idempotent_request_is_not_retried_after_a_lost_response() {
    run(async {
        let stub_server = StubServer::start(vec![String::new()]).await;
        let request = Request::new(reqwest::Method::DELETE, &["v1", "users", "a/b"]);
        let error = client(&stub_server).send(request).await.unwrap_err();
        assert!(matches!(error, Error::Unreachable { was_sent: true, .. }), "{error:?}");
        assert!(error.to_string().starts_with("no complete response from the service at "), "{error}");
        assert_eq!(stub_server.requests().len(), 1);
        assert!(stub_server.requests()[0].starts_with("DELETE /v1/users/a%2Fb "), "the slash in a segment is escaped");
    });
}

#[test]
fn rejected_request_returns_a_problem() {
    run(async {
        let expected = json!({
            "status": "No.", "code": "invalid_parameter", "detail": "d", "request_id": "r",
            "errors": [{ "pointer": "#/destination_time", "code": "day", "detail": "February has 29 days" }],
        });
        let proxy = "HTTP/1.1 502 Bad Gateway\r\nConnection: close\r\nContent-Length: 3\r\nX-Request-Id: p\r\n\r\n<p>"
            .to_owned();
        let redirect = response(302, &[("Location", "http://127.0.0.1:9/")], &json!({}));
        let stub_server = StubServer::start(vec![response(400, &[], &expected), proxy, redirect]).await;
        let client = client(&stub_server).without_retries();
        let error = client.clock().await.unwrap_err();
        let problem = error.problem().unwrap();
        assert_eq!((problem.http_status, problem.code.as_str()), (400, "invalid_parameter"));
        assert_eq!((problem.field(), problem.request_id.as_deref()), (Some("destination_time"), Some("r")));
        assert_eq!(error.to_string(), "No. (invalid_parameter)\n  destination_time: February has 29 days");
        let error = client.clock().await.unwrap_err();
        let problem = error.problem().unwrap();
        assert_eq!((problem.code.as_str(), problem.request_id.as_deref()), ("unexpected_response", Some("p")));
        // The key is not sent to another host.
        assert_eq!(client.clock().await.unwrap_err().problem().unwrap().http_status, 302);
    });
}

#[test]
fn stream_resumes_after_the_last_event_id() {
    run(async {
        let stream = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n\
                      event: clock\nid: 7\ndata: {}\n\nid: 9\n\n";
        let stub_server = StubServer::start(vec![stream.to_owned()]).await;
        let request = Request::get(&["v1", "stream"]).last_event_id("6").unwrap().without_timeout();
        let mut events: EventStream = client(&stub_server).send(request).await.unwrap().events();
        let event = events.next().await.unwrap().unwrap();
        assert_eq!((event.event.as_str(), event.id.as_str(), event.data.as_str()), ("clock", "7", "{}"));
        assert_eq!(events.next().await.unwrap(), None);
        assert_eq!(events.last_id(), "9");
        assert_eq!(header(&stub_server.requests()[0], "last-event-id"), Some("6"));
    });
}

#[test]
fn request_addresses_stay_below_the_service_url() {
    let check = |base: &str, request: Request, expected: &str| {
        let client = Client::builder().base_url(base).api_key(KEY).build().unwrap();
        assert_eq!(client.address(&request).unwrap().as_str(), expected);
    };
    let named = || Request::get(&["v1", "users", "a/b?"]).query("q", "* &");
    check("http://h:1", named(), "http://h:1/v1/users/a%2Fb%3F?q=*+%26");
    check("http://h:1/time/", named(), "http://h:1/time/v1/users/a%2Fb%3F?q=*+%26");
    let at = |target: &str| Request::at(reqwest::Method::GET, target).unwrap();
    check("http://h:1", at("/v1/clock?timeline_id=a"), "http://h:1/v1/clock?timeline_id=a");
    check("http://h:1/time/", at("/v1/clock"), "http://h:1/time/v1/clock");
    check("http://h:1", at("//other/x"), "http://h:1//other/x");
    check("http://h:1", at("/@other/x"), "http://h:1/@other/x");
    for invalid in ["@other/x", "v1/clock", ""] {
        assert!(Request::at(reqwest::Method::GET, invalid).is_err(), "{invalid}");
    }
}
