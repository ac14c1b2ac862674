//! `POST /v1/restrict-time-travel`, `GET /v1/restrictions`.

use serde_json::json;

use crate::snapshot;
use crate::support::http::Request;
use crate::support::service::Service;
use crate::v1::{permit, send};

fn restrict(service: &Service, user: &str, level: &str) {
    service.post("/v1/restrict-time-travel", &json!({ "user_id": user, "restriction_level": level }));
}

#[test]
fn restrictions_are_set_listed_and_lifted() {
    let service = Service::start();
    service.user("ada");
    let body = |user: &str, level: &str| json!({ "user_id": user, "restriction_level": level });
    snapshot::check("restricted", &send(&service, "/v1/restrict-time-travel", &body("ada", "read_only")));
    snapshot::check("restrictions", &service.send(Request::get("/v1/restrictions")));
    snapshot::check("restriction-unknown", &send(&service, "/v1/restrict-time-travel", &body("ada", "some_access")));
    send(&service, "/v1/restrict-time-travel", &body("nobody", "read_only")).refused(404, "not_found");
    snapshot::check("restriction-lifted", &send(&service, "/v1/restrict-time-travel", &body("ada", "full_access")));
    assert_eq!(service.get("/v1/restrictions", &[])["restrictions"], json!([]));
    service.audit();
}

#[test]
fn restricted_operator_can_lift_own_restriction() {
    let service = Service::start();
    restrict(&service, "admin", "no_access");
    service.send(Request::get("/v1/clock")).refused(403, "time_travel_restricted");
    restrict(&service, "admin", "full_access");
    service.send(Request::get("/v1/clock")).expect(200);
    service.audit();
}

/// Entries reveal clock times and event ids.
#[test]
fn clock_and_entries_are_hidden_from_restricted_users() {
    let service = Service::start();
    let key = service.user("ada");
    permit(&service, "main", &json!({ "admin": ["admin", "ada"] }));
    let get = |target: &str| service.send(Request::get(target).key(&key));
    let shows_clock = || {
        let page = get("/v1/access-logs?timeline_id=main&time_range=../..&limit=1000").expect(200);
        let logs = page["logs"].as_array().unwrap().clone();
        assert!(logs.len() > 2 && logs.iter().all(|entry| entry["user_id"].is_string()));
        let count = logs.iter().filter(|entry| entry.get("clock_time").is_some()).count();
        assert!(count == 0 || count == logs.len());
        count > 0
    };
    for (level, sees) in [("full_access", true), ("read_only", true), ("no_access", false)] {
        restrict(&service, "ada", level);
        let status = if sees { 200 } else { 403 };
        for (path, status) in [
            ("proof?position=0", status),
            ("proof?position=0&format=tlog-proof", status),
            ("tile/entries/000.p/1", status),
            // Responses with only hashes reveal neither.
            ("checkpoint", 200),
            ("proof?from=1", 200),
            ("tile/0/000.p/1", 200),
        ] {
            let answer = get(&format!("/v1/timeline/main/{path}"));
            assert_eq!(answer.status, status, "{level} {path}: {answer}");
        }
        assert_eq!(shows_clock(), sees, "{level}");
        assert_eq!(get("/timeline/main").expect(200)["clock"].is_object(), sees, "{level}");
    }
    get("/timeline/main/proof?position=0").refused(403, "time_travel_restricted");
    service.audit();
}
