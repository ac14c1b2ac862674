//! `POST /v1/set-access-control`, `GET /v1/access-control`.

use std::io::Read as _;

use serde_json::{Value, json};

use crate::snapshot;
use crate::support::http::{Answer, Request};
use crate::support::service::Service;
use crate::support::waiting::until_so;
use crate::v1::{PREFIXES, send};

fn set(service: &Service, permissions: &Value) -> Answer {
    send(service, "/v1/set-access-control", &json!({ "timeline_id": "main", "permissions": permissions }))
}

fn lists(service: &Service) -> Value {
    service.get("/v1/access-control", &[("timeline_id", "main")])["permissions"].clone()
}

/// Returns the statuses of a read, a clock change and an administrative request.
fn may(service: &Service, key: &str) -> [u16; 3] {
    let look = service.send(Request::get("/v1/clock").key(key)).status;
    let steer = service.send(Request::post("/v1/pause-time").key(key)).status;
    let administer = service.send(Request::get("/v1/access-control?timeline_id=main").key(key)).status;
    [look, steer, administer]
}

#[test]
fn permissions_are_set_and_read() {
    for prefix in PREFIXES {
        let service = Service::start();
        let path = format!("{prefix}/set-access-control");
        let body = json!({ "timeline_id": "main", "permissions": { "read": ["carol"], "write": ["bob"] } });
        snapshot::check("access-control-set", &send(&service, &path, &body));
        let read = Request::get(&format!("{prefix}/access-control?timeline_id=main"));
        snapshot::check("access-control", &service.send(read));
        let body = json!({ "timeline_id": "main", "permissions": { "admin": [] } });
        snapshot::check("access-control-last-admin", &send(&service, &path, &body));
        service.audit();
    }
}

#[test]
fn role_changes_apply_to_the_next_request() {
    let service = Service::start();
    let key = service.user("ada");
    assert_eq!(may(&service, &key), [404, 404, 404]);
    for (list, expected) in [("read", [200, 403, 403]), ("write", [200, 200, 403])] {
        set(&service, &json!({ "read": [], "write": [], list: ["ada"] })).expect(200);
        assert_eq!(may(&service, &key), expected, "{list}");
    }
    set(&service, &json!({ "admin": ["admin", "ada"] })).expect(200);
    assert_eq!(may(&service, &key), [200, 200, 200]);
    set(&service, &json!({ "write": [], "admin": ["admin"] })).expect(200);
    assert_eq!(may(&service, &key), [404, 404, 404]);
    service.audit();
}

#[test]
fn omitted_permission_lists_stay_unchanged() {
    let mut service = Service::start();
    set(&service, &json!({ "read": ["b", "a", "a"], "write": ["c"] })).expect(200);
    set(&service, &json!({ "write": [] })).expect(200);
    set(&service, &json!({})).expect(200);
    let expected = json!({ "read": ["a", "b"], "write": [], "admin": ["admin"] });
    assert_eq!(lists(&service), expected);
    service.restart();
    assert_eq!(lists(&service), expected);
    service.audit();
}

#[test]
fn permissions_expire_after_their_period() {
    let service = Service::start();
    let key = service.user("ada");
    let week = set(&service, &json!({ "read": ["ada"], "expires_in": { "read": { "ada": "P7D" } } }));
    week.expect(200);
    assert_eq!(may(&service, &key), [200, 403, 403]);
    let timeline = service.send(Request::get("/timeline/main").key(&key)).expect(200);
    let end = lists(&service)["expires_at"]["read"]["ada"].clone();
    assert!(end.is_string());
    assert_eq!((&timeline["role"], &timeline["role_expires_at"]), (&json!("read"), &end));

    // A client that does not know expiry sends back the list it has read, with one more user.
    set(&service, &json!({ "read": ["ada", "bob"] })).expect(200);
    assert_eq!(lists(&service)["expires_at"], json!({ "read": { "ada": end } }));
    set(&service, &json!({ "expires_at": { "read": { "ada": null } } })).expect(200);
    assert!(lists(&service)["expires_at"].is_null());
    assert!(service.send(Request::get("/timeline/main").key(&key)).expect(200)["role_expires_at"].is_null());

    set(&service, &json!({ "expires_in": { "read": { "ada": "1s" } } })).expect(200);
    until_so("the permission to expire", || may(&service, &key) == [404, 404, 404]);
    let page = service.send(Request::get("/timelines").key(&key)).expect(200);
    assert_eq!(page["timelines"], json!([]));
    let again = set(&service, &json!({ "read": ["ada"] })).expect(200);
    assert_eq!(again["expired_users"], json!(["ada"]));
    assert!(again["status"].as_str().unwrap().contains("The permission of `ada` has expired"), "{again}");
    service.audit();
}

#[test]
fn invalid_permission_expiry_is_rejected_at_its_field() {
    let service = Service::start();
    let before = lists(&service);
    let refused = |permissions: Value, code: &str, pointer: &str| {
        let status = if code == "last_admin" { 409 } else { 400 };
        let refused = set(&service, &permissions).refused(status, code);
        assert_eq!(refused["errors"][0]["pointer"], format!("#/permissions/{pointer}"), "{permissions}");
    };
    let end = "2100-01-01T00:00:00Z";
    refused(json!({ "expires_at": { "admin": { "admin": end } } }), "last_admin", "expires_at/admin");
    refused(json!({ "expires_at": { "read": { "ada": end } } }), "invalid_parameter", "expires_at/read/ada");
    refused(json!({ "expires_in": { "read": { "ada": "1h" } } }), "invalid_parameter", "expires_in/read/ada");
    let listed = |member: &str, of: Value| json!({ "read": ["ada"], member: { "read": { "ada": of } } });
    refused(listed("expires_at", json!("2000-01-01T00:00:00Z")), "invalid_parameter", "expires_at/read/ada");
    refused(listed("expires_at", json!("tomorrow")), "invalid_parameter", "expires_at/read/ada");
    refused(listed("expires_in", json!("P1M")), "invalid_parameter", "expires_in/read/ada");
    refused(listed("expires_in", json!("0s")), "invalid_parameter", "expires_in/read/ada");
    refused(json!({ "expires_at": { "owner": {} } }), "unknown_parameter", "expires_at/owner");
    let both =
        json!({ "read": ["ada"], "expires_at": { "read": { "ada": end } }, "expires_in": { "read": { "ada": "1h" } } });
    refused(both, "invalid_parameter", "expires_in/read/ada");
    assert_eq!(lists(&service), before);
    let admins = json!({ "admin": ["admin", "ada"], "expires_at": { "admin": { "ada": end } } });
    set(&service, &admins).expect(200);
    refused(json!({ "admin": ["ada"] }), "last_admin", "expires_at/admin");
    service.audit();
}

/// The stream ends without activity on the timeline.
#[test]
fn streams_close_when_permission_expires_or_is_revoked() {
    for expires in [true, false] {
        let service = Service::start();
        let key = service.user("ada");
        set(&service, &json!({ "read": ["ada"], "expires_in": { "read": { "ada": "P7D" } } })).expect(200);
        let open = |path: &str| {
            let mut connection = service.connect();
            connection.send_request(&Request::get(path).key(&key));
            let (status, headers) = connection.head().unwrap();
            assert_eq!(status, 200, "{path}");
            (connection, headers)
        };
        let paths = ["/v1/clock/stream", "/v1/clock/stream?follow=web", "/v1/stream", "/v1/firings/stream"];
        let mut streams = paths.map(open);
        // An earlier expiry than at the time of opening, or a revoked permission.
        let ends = if expires { json!({ "expires_in": { "read": { "ada": "1s" } } }) } else { json!({ "read": [] }) };
        set(&service, &ends).expect(200);
        for (connection, headers) in &mut streams {
            let mut text = String::new();
            connection.body(headers).read_to_string(&mut text).expect("it ends as streams do");
            assert!(text.len() < 2_000, "{text}");
        }
        assert_eq!(may(&service, &key), [404, 404, 404]);
        service.audit();
    }
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
fn permission_list_length_is_limited() {
    let service = Service::start();
    let users = |count: usize| -> Vec<String> { (0..count).map(|number| format!("user-{number}")).collect() };
    set(&service, &json!({ "read": users(1_000) })).expect(200);
    let refused = set(&service, &json!({ "read": users(1_001) })).refused(400, "invalid_parameter");
    assert_eq!(refused["errors"][0]["pointer"], "#/permissions/read");
    let refused = set(&service, &json!({ "write": ["good", "not good"] })).refused(400, "invalid_parameter");
    assert_eq!(refused["errors"][0]["pointer"], "#/permissions/write/1");
    let refused = set(&service, &json!({ "owner": [] })).refused(400, "unknown_parameter");
    assert_eq!(refused["errors"][0]["pointer"], "#/permissions/owner");
    assert_eq!(lists(&service)["read"].as_array().unwrap().len(), 1_000);
    service.audit();
}

/// Found by fuzzing: the lists were also read from an array, by their order.
#[test]
fn permission_lists_must_be_an_object() {
    let service = Service::start();
    let before = lists(&service);
    for wrong in [json!([null, null]), json!([["ada"], ["ada"], ["ada"]]), json!([]), json!(null), json!("admin")] {
        let refused = set(&service, &wrong).refused(400, "invalid_parameter");
        assert_eq!(refused["errors"][0]["pointer"], "#/permissions", "{wrong}");
        for member in ["expires_at", "expires_in"] {
            let refused = set(&service, &json!({ member: wrong })).refused(400, "invalid_parameter");
            assert_eq!(refused["errors"][0]["pointer"], format!("#/permissions/{member}"), "{wrong}");
        }
    }
    assert_eq!(lists(&service), before);
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

#[test]
fn missing_or_system_timeline_permissions_are_rejected() {
    let service = Service::start();
    let to = |timeline: &str| {
        let body = json!({ "timeline_id": timeline, "permissions": { "read": ["ada"] } });
        send(&service, "/v1/set-access-control", &body)
    };
    to("nowhere").refused(404, "not_found");
    to("system").refused(400, "invalid_parameter");
    assert!(!service.timelines().contains(&"nowhere".to_owned()));
    service.audit();
}
