//! `Idempotency-Key`: which keys are equal, valid and stored. `repetitions` repeats every operation.

use serde_json::{Value, json};

use crate::support::http::Request;
use crate::support::service::Service;

const REPLAYED: &str = "idempotency-replayed";

fn forward(key: &str) -> Request {
    Request::post("/v1/fast-forward").json(&json!({ "duration": "1h" })).idempotent(key)
}

/// Pauses the clock at a round time.
fn stand(service: &Service) {
    service.post("/v1/pause-time", &json!({}));
    service.post("/v1/travel", &json!({ "destination_time": "2000-01-01T00:00:00Z" }));
}

fn now(service: &Service) -> Value {
    service.get("/v1/clock", &[])["current_time"].clone()
}

#[test]
fn key_reuse_for_another_request_is_rejected() {
    let service = Service::start();
    stand(&service);
    service.send(forward("k")).expect(200);
    let other = |path: &str, body: Value| service.send(Request::post(path).json(&body).idempotent("k"));
    let refused = other("/v1/fast-forward", json!({ "duration": "2h" })).refused(422, "idempotency_key_reused");
    assert_eq!(refused["detail"], "this Idempotency-Key was used for another request; use a new one");
    other("/v1/fast-forward", json!({ "duration": "1h", "timeline_id": "main" }))
        .refused(422, "idempotency_key_reused");
    assert_eq!(now(&service), "2000-01-01T01:00:00Z");
    // Keys are per operation, and both prefixes are one operation.
    let rewound = other("/v1/rewind", json!({ "duration": "1h" }));
    assert_eq!(rewound.header(REPLAYED), None);
    let aliased = other("/api/v1/rewind", json!({ "duration": "1h" }));
    assert_eq!(aliased.header(REPLAYED), Some("true"), "{aliased}");
    assert_eq!(aliased.text(), rewound.text());
    assert_eq!(now(&service), "2000-01-01T00:00:00Z");
    service.audit();
}

#[test]
fn quoted_and_bare_keys_are_equal() {
    let service = Service::start();
    stand(&service);
    let bare = service.send(forward("8e03978e-40d5-43e8-bc93-6894a57f9324"));
    let quoted = service.send(forward("\"8e03978e-40d5-43e8-bc93-6894a57f9324\""));
    assert_eq!(quoted.header(REPLAYED), Some("true"), "{quoted}");
    assert_eq!(quoted.text(), bare.text());
    assert_eq!(now(&service), "2000-01-01T01:00:00Z");
    service.audit();
}

#[test]
fn idempotency_keys_are_scoped_to_a_user() {
    let service = Service::start();
    let ada = service.user("ada");
    let make = |key: &str, timeline: &str| {
        let body = json!({ "duration": "1h", "timeline_id": timeline });
        service.send(Request::post("/v1/fast-forward").json(&body).key(key).idempotent("shared"))
    };
    let mine = make(&service.admin, "of-admin");
    let hers = make(&ada, "of-ada");
    assert_eq!(hers.header(REPLAYED), None, "{hers}");
    assert_eq!(mine.expect(200)["timeline_id"], "of-admin");
    assert_eq!(hers.expect(200)["timeline_id"], "of-ada");
    // Two API keys of one user share idempotency keys.
    let second = service.key(&json!({ "user_id": "ada" }));
    assert_eq!(make(&second, "of-ada").header(REPLAYED), Some("true"));
    service.audit();
}

#[test]
fn requests_rejected_before_execution_are_not_stored() {
    let service = Service::start();
    stand(&service);
    let send = |body: Value| service.send(Request::post("/v1/fast-forward").json(&body).idempotent("again"));
    send(json!({ "duration": "soon" })).refused(400, "invalid_parameter");
    send(json!({})).refused(400, "missing_parameter");
    let key = service.admin.clone();
    let wrong_key = format!("{}0", &key[..key.len() - 1]);
    let stranger = forward("again").key(if wrong_key == key { "tnk_x" } else { &wrong_key });
    service.send(stranger).refused(401, "invalid_credentials");
    let done = send(json!({ "duration": "1h" }));
    assert_eq!((done.status, done.header(REPLAYED)), (200, None), "{done}");
    service.audit();
}

#[test]
fn invalid_idempotency_keys_are_rejected() {
    let service = Service::start();
    let longest = "k".repeat(255);
    service.send(forward(&longest)).expect(200);
    let long = "k".repeat(256);
    for wrong in ["", "\"\"", "two words", "caf\u{e9}", long.as_str()] {
        let refused = service.send(forward(wrong)).refused(400, "invalid_parameter");
        assert_eq!(refused["errors"][0]["pointer"], "#/Idempotency-Key", "{wrong}");
    }
    service.send(forward("one").idempotent("two")).refused(400, "invalid_parameter");
    service.send(forward("one").idempotent("one")).refused(400, "invalid_parameter");
    // Found by fuzzing: a scan always runs again, and accepted invalid keys.
    let scan = Request::post("/v1/detect-tampering").json(&json!({ "timeline_id": "main", "scan_depth": "quick" }));
    service.send(scan.clone().idempotent("two words")).refused(400, "invalid_parameter");
    service.send(scan.idempotent("a-key")).expect(200);
    service.audit();
}

#[test]
fn reads_ignore_the_idempotency_key() {
    let service = Service::start();
    stand(&service);
    for at in ["2001-01-01T00:00:00Z", "2002-01-01T00:00:00Z"] {
        service.post("/v1/travel", &json!({ "destination_time": at }));
        for method in ["GET", "QUERY"] {
            let answer = service.send(Request::new(method, "/v1/clock").json(&json!({})).idempotent("look"));
            assert_eq!(answer.header(REPLAYED), None);
            assert_eq!(answer.expect(200)["current_time"], at, "{method}");
        }
    }
    service.audit();
}

#[test]
fn replayed_response_omits_the_api_key() {
    let service = Service::start();
    let make = || service.send(Request::post("/v1/api-keys").json(&json!({ "label": "l" })).idempotent("key"));
    let first = make().expect(201);
    let again = make();
    assert_eq!(again.header(REPLAYED), Some("true"));
    let again = again.expect(201);
    assert!(first["api_key"].as_str().unwrap().starts_with("tnk_"));
    assert_eq!(again["api_key"], Value::Null);
    assert_eq!(again["key_id"], first["key_id"]);
    assert_eq!(again["ledger"], first["ledger"]);
    service.audit();
}
