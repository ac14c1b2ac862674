//! `POST /v1/set-access-control`, `GET /v1/access-control`.

use std::io::Read as _;

use serde_json::{Value, json};

use crate::snapshot;
use crate::support::http::{Answer, Request};
use crate::support::service::Service;
use crate::support::waiting::until_so;
use crate::v1::{assert_members, post_invalid, send};

fn set(service: &Service, permissions: &Value) -> Answer {
    send(service, "/v1/set-access-control", &json!({ "timeline_id": "main", "permissions": permissions }))
}

fn lists(service: &Service) -> Value {
    service.get("/v1/access-control", &[("timeline_id", "main")])["permissions"].clone()
}

/// Returns the statuses of a read, a clock change and an administrative request.
fn may(service: &Service, key: &str) -> [u16; 3] {
    let administer = Request::get("/v1/access-control?timeline_id=main");
    [Request::get("/v1/clock"), Request::post("/v1/pause-time"), administer]
        .map(|request| service.send(request.key(key)).status)
}

#[test]
fn permissions_are_set_and_read() {
    let service = Service::start();
    let body = json!({ "timeline_id": "main", "permissions": { "read": ["carol"], "write": ["bob"] } });
    snapshot::check("access-control-set", &send(&service, "/v1/set-access-control", &body));
    let read = Request::get("/v1/access-control?timeline_id=main");
    snapshot::check("access-control", &service.send(read));
    let body = json!({ "timeline_id": "main", "permissions": { "admin": [] } });
    snapshot::check("access-control-last-admin", &send(&service, "/v1/set-access-control", &body));
    service.audit();
}

#[test]
fn role_changes_apply_to_the_next_request() {
    let service = Service::start();
    let key = service.user("ada");
    assert_eq!(may(&service, &key), [404, 404, 404]);
    for (lists, expected) in [
        (json!({ "read": ["ada"] }), [200, 403, 403]),
        (json!({ "read": [], "write": ["ada"] }), [200, 200, 403]),
        // Omitted lists stay unchanged.
        (json!({}), [200, 200, 403]),
        (json!({ "admin": ["admin", "ada"] }), [200, 200, 200]),
        (json!({ "write": [], "admin": ["admin"] }), [404, 404, 404]),
    ] {
        set(&service, &lists).expect(200);
        assert_eq!(may(&service, &key), expected, "{lists}");
    }
    service.audit();
}

#[test]
fn permissions_expire_after_their_period() {
    let service = Service::start();
    let key = service.user("ada");
    set(&service, &json!({ "read": ["ada"], "expires_in": { "read": { "ada": "P7D" } } })).expect(200);
    assert_eq!(may(&service, &key), [200, 403, 403]);
    let end = lists(&service)["expires_at"]["read"]["ada"].clone();
    assert!(end.is_string());
    let timeline = || service.send(Request::get("/timeline/main").key(&key)).expect(200);
    assert_members(&timeline(), &json!({ "role": "read", "role_expires_at": end }));
    // A client that does not know expiry sends back the list it has read, with one more user.
    set(&service, &json!({ "read": ["ada", "bob"] })).expect(200);
    assert_eq!(lists(&service)["expires_at"], json!({ "read": { "ada": end } }));
    set(&service, &json!({ "expires_at": { "read": { "ada": null } } })).expect(200);
    assert!(lists(&service)["expires_at"].is_null() && timeline()["role_expires_at"].is_null());

    set(&service, &json!({ "expires_in": { "read": { "ada": "1s" } } })).expect(200);
    until_so("the permission to expire", || may(&service, &key) == [404, 404, 404]);
    assert_eq!(service.send(Request::get("/timelines").key(&key)).expect(200)["timelines"], json!([]));
    let renewed = set(&service, &json!({ "read": ["ada"] })).expect(200);
    assert_eq!(renewed["expired_users"], json!(["ada"]));
    assert!(renewed["status"].as_str().unwrap().contains("The permission of `ada` has expired"), "{renewed}");
    service.audit();
}

#[test]
fn invalid_permissions_are_rejected_at_their_field() {
    let service = Service::start();
    let before = lists(&service);
    let check = |permissions: Value, code: &str, pointer: &str| {
        let status = if code == "last_admin" { 409 } else { 400 };
        let refused = set(&service, &permissions).refused(status, code);
        assert_eq!(refused["errors"][0]["pointer"], format!("#/permissions{pointer}"), "{permissions}");
    };
    let end = "2100-01-01T00:00:00Z";
    let listed = |member: &str, of: Value| json!({ "read": ["ada"], member: { "read": { "ada": of } } });
    let mut both = listed("expires_at", json!(end));
    both["expires_in"] = json!({ "read": { "ada": "1h" } });
    for (permissions, pointer) in [
        (json!({ "write": ["good", "not good"] }), "/write/1"),
        (json!({ "expires_at": { "read": { "ada": end } } }), "/expires_at/read/ada"),
        (json!({ "expires_in": { "read": { "ada": "1h" } } }), "/expires_in/read/ada"),
        (listed("expires_at", json!("2000-01-01T00:00:00Z")), "/expires_at/read/ada"),
        (listed("expires_at", json!("tomorrow")), "/expires_at/read/ada"),
        (listed("expires_in", json!("P1M")), "/expires_in/read/ada"),
        (listed("expires_in", json!("0s")), "/expires_in/read/ada"),
        (both, "/expires_in/read/ada"),
    ] {
        check(permissions, "invalid_parameter", pointer);
    }
    // Found by fuzzing: the lists were also read from an array, by their order.
    for wrong in [json!([null, null]), json!([["ada"], ["ada"], ["ada"]]), json!([]), json!(null), json!("admin")] {
        check(wrong.clone(), "invalid_parameter", "");
        for member in ["expires_at", "expires_in"] {
            check(json!({ member: wrong }), "invalid_parameter", &format!("/{member}"));
        }
    }
    check(json!({ "owner": [] }), "unknown_parameter", "/owner");
    check(json!({ "expires_at": { "owner": {} } }), "unknown_parameter", "/expires_at/owner");
    check(json!({ "expires_at": { "admin": { "admin": end } } }), "last_admin", "/expires_at/admin");
    assert_eq!(lists(&service), before);
    let admins = json!({ "admin": ["admin", "ada"], "expires_at": { "admin": { "ada": end } } });
    set(&service, &admins).expect(200);
    check(json!({ "admin": ["ada"] }), "last_admin", "/expires_at/admin");
    let on_system = json!({ "timeline_id": "system", "permissions": { "read": ["ada"] } });
    post_invalid(&service, "/v1/set-access-control", &on_system, "#/timeline_id");
    service.audit();
}

/// The stream ends without activity on the timeline.
#[test]
fn streams_close_when_permission_expires_or_is_revoked() {
    let service = Service::start();
    let key = service.user("ada");
    // An earlier expiry than at the time of opening, or a revoked permission.
    for end in [json!({ "expires_in": { "read": { "ada": "1s" } } }), json!({ "read": [] })] {
        set(&service, &json!({ "read": ["ada"], "expires_in": { "read": { "ada": "P7D" } } })).expect(200);
        let paths = ["/v1/clock/stream", "/v1/clock/stream?follow=web", "/v1/stream", "/v1/firings/stream"];
        let mut streams = paths.map(|path| {
            let mut connection = service.connect();
            connection.send_request(&Request::get(path).key(&key));
            let (status, headers) = connection.head().unwrap();
            assert_eq!(status, 200, "{path}");
            (connection, headers)
        });
        set(&service, &end).expect(200);
        for (connection, headers) in &mut streams {
            let mut text = String::new();
            connection.body(headers).read_to_string(&mut text).expect("it ends as streams do");
            assert!(text.len() < 2_000, "{text}");
        }
        assert_eq!(may(&service, &key), [404, 404, 404]);
    }
    service.audit();
}

/// A client that waits for firings gets an error when it loses access, not an empty list.
#[test]
fn waiting_claim_fails_when_the_role_expires() {
    let service = Service::start();
    let key = service.user("ada");
    for (read, status, code) in [(json!([]), 404, "not_found"), (json!(["ada"]), 403, "permission_denied")] {
        let lists = json!({ "read": read, "write": ["ada"], "expires_in": { "write": { "ada": "1s" } } });
        set(&service, &lists).expect(200);
        let claim = Request::post("/v1/queues/default/claim").json(&json!({ "wait": "30s" }));
        service.send(claim.key(&key)).refused(status, code);
    }
    service.audit();
}

#[test]
fn stale_etag_rejects_the_second_writer() {
    let service = Service::start();
    let read = service.send(Request::get("/v1/access-control?timeline_id=main"));
    let tag = read.header("etag").unwrap().to_owned();
    let write = |tag: &str, user: &str| {
        let body = json!({ "timeline_id": "main", "permissions": { "read": [user] } });
        service.send(Request::post("/v1/set-access-control").header("If-Match", tag).json(&body))
    };
    let first = write(&tag, "ada");
    assert_eq!(first.status, 200);
    write(&tag, "bob").refused(412, "precondition_failed");
    assert_eq!(lists(&service)["read"], json!(["ada"]));
    write(&format!("W/{}", first.header("etag").unwrap()), "bob").refused(412, "precondition_failed");
    let second = first.header("etag").unwrap().to_owned();
    assert_eq!(write(&second, "bob").status, 200);
    assert_eq!(write("*", "eve").status, 200);
    for wrong in ["", "x", "\"", "\"a\", \"b\"", "W/", "W/x", "\"two words\""] {
        write(wrong, "bob").refused(400, "invalid_parameter");
    }
    service.audit();
}
