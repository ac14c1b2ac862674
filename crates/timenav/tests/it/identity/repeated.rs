//! A repeated `Idempotency-Key` after the permission was lost: the first response is not returned.

use serde_json::{Value, json};

use super::ended::refusals;
use crate::support::http::{Answer, Request};
use crate::support::service::Service;
use crate::v1::permit;

const REPLAYED: &str = "idempotency-replayed";

/// Path and body of the requests to repeat.
fn requests() -> [(&'static str, Value); 4] {
    [
        ("/v1/travel", json!({ "destination_time": "1066-10-14T09:00:00Z" })),
        ("/v1/events", json!({ "time": "2000-01-01T00:00:00Z" })),
        ("/v1/set-anchor", json!({ "timestamp": "1066-10-14T09:00:00Z" })),
        ("/v1/set-rate", json!({ "rate": 2 })),
    ]
}

fn send(service: &Service, key: &str, (path, body): &(&str, Value)) -> Answer {
    service.send(Request::post(path).key(key).json(body).idempotent("once"))
}

fn set_readers_and_writers(service: &Service, read: &[&str], write: &[&str]) {
    permit(service, "main", &json!({ "read": read, "write": write }));
}

#[test]
fn repeated_request_is_replayed_only_with_current_permission() {
    let service = Service::start();
    let ada = service.user("ada");
    let narrow = service.key(&json!({ "user_id": "ada", "scopes": ["timeline:read"] }));
    set_readers_and_writers(&service, &[], &["ada"]);
    for request in &requests() {
        let first = send(&service, &ada, request);
        assert!(first.status < 300, "{first}");
    }
    let events = service.get("/timeline/main", &[])["events"].clone();
    // Each row revokes a permission and restores it.
    let check = |status: [u16; 4], code: &str, key: &str| {
        let before = refusals(&service, "main");
        for (request, status) in requests().iter().zip(status) {
            let again = send(&service, key, request);
            assert_eq!(again.status, status, "{code} {} {again}", request.0);
            if status < 300 {
                assert_eq!(again.header(REPLAYED), Some("true"), "{code} {}", request.0);
            } else {
                assert_eq!(again.header(REPLAYED), None, "{code} {}", request.0);
                again.refused(status, code);
            }
        }
        assert_eq!(
            refusals(&service, "main") - before,
            status.iter().filter(|status| **status >= 300).count(),
            "{code}"
        );
    };
    let restrict = |level: &str| {
        service.post("/v1/restrict-time-travel", &json!({ "user_id": "ada", "restriction_level": level }));
    };
    check([200, 201, 200, 200], "", &ada);
    check([403; 4], "insufficient_scope", &narrow);
    set_readers_and_writers(&service, &["ada"], &[]);
    check([403; 4], "permission_denied", &ada);
    set_readers_and_writers(&service, &[], &[]);
    check([404; 4], "not_found", &ada);
    set_readers_and_writers(&service, &[], &["ada"]);
    for (level, status) in [("limited_access", [403, 201, 403, 403]), ("read_only", [403; 4]), ("no_access", [403; 4])]
    {
        restrict(level);
        check(status, "time_travel_restricted", &ada);
    }
    restrict("full_access");
    check([200, 201, 200, 200], "", &ada);
    assert_eq!(service.get("/timeline/main", &[])["events"], events, "nothing happened twice");
    service.audit();
}

#[test]
fn created_key_is_replayed_after_its_revocation() {
    let service = Service::start();
    let create = || service.send(Request::post("/v1/api-keys").json(&json!({ "label": "x" })).idempotent("key"));
    let key_id = create().expect(201)["key_id"].clone();
    service.send(Request::new("DELETE", &format!("/v1/api-keys/{}", key_id.as_str().unwrap()))).expect(200);
    assert_eq!(create().expect(201)["key_id"], key_id);
    service.audit();
}
