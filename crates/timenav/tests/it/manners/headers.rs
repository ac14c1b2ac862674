//! Headers of all responses.

use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::json;

use super::operations;
use crate::support::http::{Answer, Request};
use crate::support::instant::micros;
use crate::support::service::Service;

/// Returns responses of every kind: successes, rejections, and those of the framework.
fn of_every_kind(service: &Service) -> Vec<(&'static str, Answer)> {
    let kinds = [
        ("a read", Request::get("/v1/clock")),
        ("a change", Request::post("/v1/pause-time")),
        ("a creation", Request::post("/timelines").json(&json!({ "timeline_id": "made" }))),
        ("a wrong value", Request::post("/v1/rewind").json(&json!({ "duration": "x" }))),
        ("no key", Request::get("/v1/clock").anonymous()),
        ("no path", Request::get("/nothing")),
        ("no method", Request::new("PUT", "/v1/clock")),
        ("too large", Request::get("/v1/clock").body("application/json", &vec![b' '; 70_000])),
        ("another type", Request::post("/v1/rewind").body("text/plain", b"x")),
        ("a page of the service", Request::get("/healthz").anonymous()),
        ("the metrics", Request::get("/metrics").anonymous()),
        ("the document", Request::get("/openapi.json").anonymous()),
        ("options", Request::new("OPTIONS", "/v1/clock")),
        ("head", Request::new("HEAD", "/v1/clock")),
    ];
    kinds.into_iter().map(|(name, request)| (name, service.send(request))).collect()
}

/// Returns the expected `Vary`: long responses also depend on the accepted codings.
fn vary(kind: &str) -> &'static str {
    let is_long = ["the metrics", "the document"].contains(&kind);
    if is_long { "Authorization, Cookie, Accept-Encoding" } else { "Authorization, Cookie" }
}

#[test]
fn timeline_header_that_differs_from_the_request_is_rejected() {
    let service = Service::start();
    let requests = [
        Request::post("/v1/pause-time").json(&json!({ "timeline_id": "main" })),
        Request::post("/v1/pause-time?timeline_id=main"),
        Request::get("/v1/clock?timeline_id=main"),
        Request::get("/timeline/main"),
    ];
    for request in requests {
        let of = |timeline: &str| request.clone().header("Timenav-Timeline", timeline);
        assert_eq!(service.send(of("main")).status, 200);
        let body = service.send(of("other")).refused(400, "conflicting_parameters");
        let detail = body["detail"].as_str().unwrap();
        assert!(detail.contains("send `Timenav-Timeline: main`"), "{detail}");
    }
    let unnamed = Request::get("/v1/clock").header("Timenav-Timeline", "other");
    assert_eq!(service.send(unnamed).status, 200, "a request that names no timeline may go anywhere");
    service.audit();
}

#[test]
fn responses_carry_security_headers() {
    let service = Service::start();
    for (kind, answer) in of_every_kind(&service) {
        for (name, expected) in [
            ("x-content-type-options", "nosniff"),
            ("content-security-policy", "default-src 'none'; frame-ancestors 'none'"),
            ("cache-control", "no-store"),
            ("referrer-policy", "no-referrer"),
            ("cross-origin-resource-policy", "same-origin"),
            ("vary", vary(kind)),
        ] {
            assert_eq!(answer.header(name), Some(expected), "{kind}: {answer}");
        }
        // A version only helps attackers, and no origin is trusted unless configured.
        for absent in ["server", "x-powered-by", "access-control-allow-origin", "set-cookie"] {
            assert_eq!(answer.header(absent), None, "{kind}: {answer}");
        }
    }
    service.audit();
}

#[test]
fn responses_carry_a_unique_request_id() {
    let service = Service::start();
    let mut ids: Vec<String> = Vec::new();
    for (kind, answer) in of_every_kind(&service) {
        let id = answer.header("x-request-id").unwrap_or_else(|| panic!("{kind}: {answer}")).to_owned();
        assert!(id.starts_with("req_") && id.len() == 30, "{kind}: {id}");
        ids.push(id);
    }
    let count = ids.len();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), count, "each request has its own");
    let ask = |id: &str| service.send(Request::get("/nothing").header("X-Request-Id", id));
    let longest = "x".repeat(128);
    for own in ["abc", "A-1/b=c", longest.as_str()] {
        let answer = ask(own);
        assert_eq!(answer.header("x-request-id"), Some(own));
        assert_eq!(answer.json()["request_id"], own);
    }
    // Ids that could break or forge a log line are not accepted.
    let long = "x".repeat(129);
    for wrong in ["", "two words", "tab\there", long.as_str(), "caf\u{e9}"] {
        let answer = ask(wrong);
        assert!(answer.header("x-request-id").is_some_and(|id| id.starts_with("req_")), "{wrong:?}: {answer}");
    }
    service.audit();
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the header is compared with the host's clock, not with a virtual one")]
fn date_header_shows_host_time() {
    let service = Service::start();
    for destination in ["-009999-01-02T00:00:00Z", "1970-01-01T00:00:00Z", "9999-12-30T00:00:00Z"] {
        service.post("/v1/travel", &json!({ "destination_time": destination }));
        let seconds = || i128::from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs());
        let before = seconds();
        let answer = service.send(Request::get("/v1/clock"));
        let after = seconds();
        let date = answer.header("date").expect("RFC 9110 §6.6.1");
        // The header may lag behind by a second or so.
        assert!((before - 2..=after + 1).contains(&unix_seconds(date)), "{before} {date} {after}");
    }
    service.audit();
}

/// Parses an HTTP date (RFC 9110 §5.6.7), such as `Sun, 06 Nov 1994 08:49:37 GMT`.
fn unix_seconds(date: &str) -> i128 {
    let parts: Vec<&str> = date.split(' ').collect();
    let [_, day, month, year, time, "GMT"] = parts[..] else { panic!("{date}") };
    let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let month = months.iter().position(|name| *name == month).unwrap() + 1;
    micros(&format!("{year}-{month:02}-{day}T{time}Z")) / 1_000_000
}

/// A client relies on its conditions, so an unsupported one is rejected without any effect.
#[test]
fn unsupported_conditional_headers_are_rejected() {
    let service = Service::start();
    let mut heeding = Vec::new();
    for operation in operations::all(&service) {
        let send = |field: &str, value: &str| {
            let request = operation.request().header(field, value);
            service.send(if operation.looks() { request } else { request.json(&operation.parameters()) })
        };
        if operation.heeded.iter().any(|name| name == "If-Match") {
            heeding.push(operation.id.clone());
            send("If-Match", "no tag").refused(400, "invalid_parameter");
        } else {
            send("If-Match", "\"7\"").refused(400, "invalid_parameter");
        }
        for field in ["If-Unmodified-Since", "If-Modified-Since", "If-Range"] {
            send(field, "Sat, 21 Nov 2026 09:00:00 GMT").refused(400, "invalid_parameter");
        }
        if !operation.looks() {
            send("If-None-Match", "*").refused(400, "invalid_parameter");
        }
    }
    heeding.sort_unstable();
    heeding.dedup();
    let expected = [
        "advance_to_next",
        "correct_event",
        "elapse",
        "encrypt_data",
        "fast_forward",
        "import_events",
        "pause_time",
        "record_events",
        "resume_time",
        "return_to_anchor",
        "rewind",
        "set_access_control",
        "set_anchor",
        "set_rate",
        "set_timer",
        "travel",
    ];
    assert_eq!(heeding, expected);
    assert_eq!(service.get("/v1/clock", &[])["generation"], 0);
    service.audit();
}

/// A client relies on its key, so an invalid one is rejected even if it is not stored.
#[test]
fn documented_operations_reject_an_invalid_idempotency_key() {
    let service = Service::start();
    let mut keyed = 0;
    for operation in operations::all(&service) {
        if !operation.heeded.iter().any(|name| name == "Idempotency-Key") {
            continue;
        }
        keyed += 1;
        let request = operation.request().json(&operation.parameters()).idempotent("not one");
        let refused = service.send(request).refused(400, "invalid_parameter");
        assert_eq!(refused["errors"][0]["pointer"], "#/Idempotency-Key", "{}: {refused}", operation.id);
    }
    assert!(keyed > 30, "{keyed}");
    service.audit();
}
