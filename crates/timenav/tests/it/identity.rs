//! Authentication and authorization: credentials, scopes, roles.

mod ended;
mod repeated;
mod roles;

use serde_json::json;

use crate::support::http::{Answer, Request};
use crate::support::service::Service;
use crate::v1::texts;

const MISSING: &str = "Bearer realm=\"timenav\"";
const INVALID: &str =
    "Bearer realm=\"timenav\", error=\"invalid_token\", error_description=\"the API key is not valid\"";
const MALFORMED: &str = "Bearer realm=\"timenav\", error=\"invalid_request\"";

#[track_caller]
fn challenged(answer: Answer, status: u16, code: &str, challenge: Option<&str>) {
    assert_eq!(answer.header("www-authenticate"), challenge, "{answer}");
    assert_eq!(answer.header("vary"), Some("Authorization, Cookie"), "{answer}");
    answer.refused(status, code);
}

/// Sends a request with this `Authorization` header.
fn with(service: &Service, value: &str) -> Answer {
    service.send(Request::get("/v1/clock").anonymous().header("Authorization", value))
}

#[test]
fn bearer_errors_follow_the_cases_of_rfc_6750() {
    let service = Service::start();
    let stopped = service.post("/v1/api-keys", &json!({}));
    let path = format!("/v1/api-keys/{}", stopped["key_id"].as_str().unwrap());
    service.send(Request::new("DELETE", &path)).expect(200);
    let stopped = stopped["api_key"].as_str().unwrap();
    for scheme in ["Bearer", "bearer", "bEaReR", "Bearer  "] {
        with(&service, &format!("{scheme} {}", service.admin)).expect(200);
    }
    // Not a supported credential.
    challenged(service.send(Request::get("/v1/clock").anonymous()), 401, "missing_credentials", Some(MISSING));
    for other in ["Basic YWRtaW46YWRtaW4=", "Digest x", "tnk_000000000000000000000000000000000000", ""] {
        challenged(with(&service, other), 401, "missing_credentials", Some(MISSING));
    }
    // Malformed, revoked and unknown keys get the same response.
    let unknown = format!("tnk_{}", "0".repeat(36));
    for wrong in ["x", "tnk_", stopped, &unknown, &service.admin[1..], &format!("{}0", service.admin), "a b"] {
        challenged(with(&service, &format!("Bearer {wrong}")), 401, "invalid_credentials", Some(INVALID));
    }
    // A malformed request.
    challenged(with(&service, "Bearer"), 400, "invalid_credentials", Some(MALFORMED));
    challenged(with(&service, "Bearer caf\u{e9}"), 400, "invalid_credentials", Some(MALFORMED));
    let key = format!("Bearer {}", service.admin);
    for second in [key.as_str(), "Bearer x", "Basic x"] {
        let request = Request::get("/v1/clock").anonymous().header("Authorization", &key);
        let answer = service.send(request.header("Authorization", second));
        challenged(answer, 400, "invalid_credentials", Some(MALFORMED));
    }
    // A key without the scope.
    let reader = service.key(&json!({ "scopes": ["timeline:read"] }));
    let answer = service.send(Request::post("/v1/pause-time").key(&reader));
    let challenge = "Bearer realm=\"timenav\", error=\"insufficient_scope\", scope=\"timeline:write\"";
    challenged(answer, 403, "insufficient_scope", Some(challenge));
    // A user without permission, and one who must not learn that the timeline exists.
    let ada = service.user("ada");
    challenged(service.send(Request::get("/v1/users").key(&ada)), 403, "permission_denied", None);
    challenged(service.send(Request::get("/v1/clock").key(&ada)), 404, "not_found", None);
    service.audit();
}

#[test]
fn api_key_is_accepted_only_in_authorization_header() {
    let service = Service::start();
    let key = &service.admin;
    let clock = Request::get("/v1/clock");
    let mut requests =
        vec![clock.clone().header("Cookie", &format!("api_key={key}")), clock.clone().header("X-Api-Key", key)];
    for name in ["access_token", "api_key", "key", "authorization"] {
        requests.push(Request::get(&format!("/v1/clock?{name}={key}")));
        requests.push(clock.clone().json(&json!({ name: key })));
    }
    for request in requests {
        service.send(request.anonymous()).refused(401, "missing_credentials");
    }
    service.audit();
}

/// Returns the actor of every rejected attempt in a ledger.
fn attempts(service: &Service, timeline: &str) -> Vec<String> {
    let size = service.checkpoint(timeline).size;
    let entries = (0..size).map(|position| service.entry(timeline, position).0);
    let rejected = entries.filter(|entry| entry["action"] == "unauthorized_access_attempt");
    rejected.map(|entry| entry["actor"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn failed_attempts_are_recorded_on_the_target_timeline() {
    let service = Service::start();
    service.post("/timelines", &json!({ "timeline_id": "vault" }));
    let ada = service.user("ada");
    let unknown = format!("tnk_{}", "0".repeat(36));
    for request in [
        Request::get("/v1/clock?timeline_id=vault").anonymous(),
        Request::get("/v1/clock").json(&json!({ "timeline_id": "vault" })).anonymous(),
        Request::get("/timeline/vault").anonymous(),
        Request::get("/api/v1/timeline/vault/proof?position=0").key(&unknown),
        Request::post("/v1/travel").json(&json!({ "timeline_id": "vault", "what": "ever" })).key(&unknown),
        Request::post("/v1/events?timeline_id=vault").json(&json!([])).key(&unknown),
        Request::post("/v1/import-events?timeline_id=vault").body("text/csv", b"").key(&unknown),
        Request::get("/v1/clock?timeline_id=vault").key(&ada),
        Request::post("/v1/pause-time").json(&json!({ "timeline_id": "vault" })).key(&ada),
        Request::get("/timeline/vault/checkpoint").key(&ada),
    ] {
        let answer = service.send(request.clone());
        assert!(matches!(answer.status, 401 | 404), "{request:?}: {answer}");
    }
    assert_eq!(attempts(&service, "vault"), [["unknown"; 7].as_slice(), &["ada"; 3]].concat());
    // Attempts on nonexistent targets are logged in `system`.
    let before = attempts(&service, "system").len();
    for request in [
        Request::get("/v1/clock?timeline_id=no-such").anonymous(),
        Request::get("/v1/users").anonymous(),
        Request::get("/v1/clock?timeline_id=%2F").key(&unknown),
    ] {
        service.send(request).expect(401);
    }
    assert_eq!(attempts(&service, "system").len(), before + 3);
    assert_eq!(attempts(&service, "main"), [""; 0]);
    service.audit();
}

#[test]
fn timeline_list_contains_only_timelines_with_a_role() {
    let service = Service::start();
    let [ada, bob] = ["ada", "bob"].map(|user_id| service.user(user_id));
    service.send(Request::post("/timelines").json(&json!({ "timeline_id": "hers" })).key(&ada)).expect(201);
    for (key, expected) in [(&ada, &["hers"][..]), (&bob, &[]), (&service.admin, &["hers", "main", "system"])] {
        let listed = service.send(Request::get("/timelines").key(key)).expect(200)["timelines"].clone();
        assert_eq!(texts(listed.as_array().unwrap(), "timeline_id"), expected);
    }
    service.audit();
}
