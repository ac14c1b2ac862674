//! `POST /v1/set-access-control`, `GET /v1/access-control`.

use serde_json::{Value, json};

use super::{PREFIXES, send};
use crate::http::{Answer, Request};
use crate::service::Service;
use crate::snapshot;

fn set(service: &Service, permissions: &Value) -> Answer {
    send(service, "/v1/set-access-control", &json!({ "timeline_id": "main", "permissions": permissions }))
}

fn lists(service: &Service) -> Value {
    service.get("/v1/access-control", &[("timeline_id", "main")])["permissions"].clone()
}

/// Returns the statuses of looking, steering and administering, with a key.
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
fn roles_bite_at_the_next_request() {
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
fn a_list_that_is_left_out_stays_and_survives_a_restart() {
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
fn lists_have_a_limit() {
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
fn lists_are_named() {
    let service = Service::start();
    let before = lists(&service);
    for wrong in [json!([null, null]), json!([["ada"], ["ada"], ["ada"]]), json!([]), json!(null), json!("admin")] {
        let refused = set(&service, &wrong).refused(400, "invalid_parameter");
        assert_eq!(refused["errors"][0]["pointer"], "#/permissions", "{wrong}");
    }
    assert_eq!(lists(&service), before);
    service.audit();
}

#[test]
fn of_two_writers_with_one_tag_one_wins() {
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
fn what_is_not_there_or_not_for_users_is_refused() {
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
