//! `POST /v1/restrict-time-travel`, `GET /v1/restrictions`.

use serde_json::json;

use crate::snapshot;
use crate::support::http::{Answer, Request};
use crate::support::service::Service;
use crate::v1::{PREFIXES, send};

fn restrict(service: &Service, user: &str, level: &str) {
    send(service, "/v1/restrict-time-travel", &json!({ "user_id": user, "restriction_level": level })).expect(200);
}

#[test]
fn restrictions_are_set_listed_and_lifted() {
    for prefix in PREFIXES {
        let service = Service::start();
        service.user("ada");
        let path = format!("{prefix}/restrict-time-travel");
        let body = |user: &str, level: &str| json!({ "user_id": user, "restriction_level": level });
        snapshot::check("restricted", &send(&service, &path, &body("ada", "read_only")));
        snapshot::check("restrictions", &service.send(Request::get(&format!("{prefix}/restrictions"))));
        snapshot::check("restriction-unknown", &send(&service, &path, &body("ada", "some_access")));
        send(&service, &path, &body("nobody", "read_only")).refused(404, "not_found");
        snapshot::check("restriction-lifted", &send(&service, &path, &body("ada", "full_access")));
        assert_eq!(service.get("/v1/restrictions", &[])["restrictions"], json!([]));
        service.audit();
    }
}

/// The effect of the four levels on an administrator of the timeline.
#[test]
fn restriction_levels_apply_to_each_operation_kind() {
    let mut service = Service::start();
    let key = service.user("ada");
    let lists = json!({ "timeline_id": "main", "permissions": { "admin": ["admin", "ada"] } });
    send(&service, "/v1/set-access-control", &lists).expect(200);
    let post = |service: &Service, path: &str, body: &serde_json::Value| {
        service.send(Request::post(path).key(&key).json(body)).status
    };
    let get = |service: &Service, target: &str| service.send(Request::get(target).key(&key)).status;
    let row = |service: &Service| {
        [
            get(service, "/v1/clock"),
            get(service, "/v1/monitor-events?location=*&time_range=../.."),
            get(service, "/timeline/main"),
            post(service, "/v1/pause-time", &json!({})),
            post(service, "/v1/travel", &json!({ "destination_time": "1066-10-14T09:00:00Z" })),
            post(service, "/v1/set-rate", &json!({ "rate": 2 })),
            post(service, "/v1/set-anchor", &json!({ "timestamp": "1066-10-14T09:00:00Z" })),
            post(service, "/v1/events", &json!({ "time": "1066-10-14T09:00:00Z" })),
            get(service, "/v1/access-logs?timeline_id=main&time_range=../.."),
        ]
    };
    for (level, expected) in [
        ("full_access", [200, 200, 200, 200, 200, 200, 200, 201, 200]),
        ("limited_access", [200, 200, 200, 200, 403, 403, 403, 201, 200]),
        ("read_only", [200, 200, 200, 403, 403, 403, 403, 403, 200]),
        ("no_access", [403, 403, 200, 403, 403, 403, 403, 403, 200]),
    ] {
        restrict(&service, "ada", level);
        assert_eq!(row(&service), expected, "{level}");
        service.restart();
        assert_eq!(row(&service), expected, "{level} after a restart");
    }
    service.audit();
}

#[test]
fn restricted_operator_can_lift_own_restriction() {
    let service = Service::start();
    restrict(&service, "admin", "no_access");
    let refused: Answer = service.send(Request::get("/v1/clock"));
    refused.refused(403, "time_travel_restricted");
    restrict(&service, "admin", "full_access");
    service.send(Request::get("/v1/clock")).expect(200);
    service.audit();
}

#[test]
fn clock_is_hidden_from_restricted_users() {
    let service = Service::start();
    let key = service.user("ada");
    let lists = json!({ "timeline_id": "main", "permissions": { "read": ["ada"] } });
    send(&service, "/v1/set-access-control", &lists).expect(200);
    let clock = |service: &Service| service.send(Request::get("/timeline/main").key(&key)).expect(200)["clock"].clone();
    assert!(clock(&service).is_object());
    restrict(&service, "ada", "no_access");
    assert!(clock(&service).is_null());
    service.audit();
}

/// Entries reveal clock times and event ids.
#[test]
fn entries_are_hidden_from_restricted_users() {
    let service = Service::start();
    let key = service.user("ada");
    let lists = json!({ "timeline_id": "main", "permissions": { "admin": ["admin", "ada"] } });
    send(&service, "/v1/set-access-control", &lists).expect(200);
    let get = |service: &Service, target: &str| service.send(Request::get(target).key(&key));
    let logs = "/v1/access-logs?timeline_id=main&time_range=../..&limit=1000";
    let shows_clock = |service: &Service| {
        let page = get(service, logs).expect(200);
        let logs = page["logs"].as_array().unwrap().clone();
        assert!(logs.len() > 2 && logs.iter().all(|entry| entry["user_id"].is_string()));
        let count = logs.iter().filter(|entry| entry.get("clock_time").is_some()).count();
        assert!(count == 0 || count == logs.len());
        count > 0
    };
    for (level, sees) in [("full_access", true), ("read_only", true), ("no_access", false)] {
        restrict(&service, "ada", level);
        let status = if sees { 200 } else { 403 };
        for prefix in ["", "/v1", "/api/v1"] {
            for path in ["proof?position=0", "proof?position=0&format=tlog-proof", "tile/entries/000.p/1"] {
                let answer = get(&service, &format!("{prefix}/timeline/main/{path}"));
                assert_eq!(answer.status, status, "{level} {prefix} {path}: {answer}");
            }
            // Responses with only hashes reveal neither.
            for path in ["checkpoint", "proof?from=1", "tile/0/000.p/1"] {
                let answer = get(&service, &format!("{prefix}/timeline/main/{path}"));
                assert_eq!(answer.status, 200, "{level} {prefix} {path}: {answer}");
            }
        }
        assert_eq!(shows_clock(&service), sees, "{level}");
    }
    get(&service, "/timeline/main/proof?position=0").refused(403, "time_travel_restricted");
    service.audit();
}
