//! `POST /v1/users`, `GET /v1/users`, `DELETE /v1/users/{user_id}`.

use serde_json::json;

use crate::snapshot;
use crate::support::http::{Answer, Request};
use crate::support::service::Service;
use crate::v1::{pages, post_invalid, send, texts};

fn remove(service: &Service, user_id: &str) -> Answer {
    service.send(Request::new("DELETE", &format!("/v1/users/{user_id}")))
}

fn names(service: &Service) -> Vec<String> {
    let users = service.get("/v1/users", &[])["users"].clone();
    texts(users.as_array().unwrap(), "user_id").into_iter().map(str::to_owned).collect()
}

#[test]
fn users_are_created_listed_and_removed() {
    let service = Service::start();
    snapshot::check("user-made", &send(&service, "/v1/users", &json!({ "user_id": "ada", "operator": true })));
    snapshot::check("user-exists", &send(&service, "/v1/users", &json!({ "user_id": "ada" })));
    snapshot::check("user-refused", &send(&service, "/v1/users", &json!({ "user_id": "a b" })));
    snapshot::check("users", &service.send(Request::get("/v1/users")));
    snapshot::check("user-removed", &service.send(Request::new("DELETE", "/v1/users/ada")));
    snapshot::check("user-not-there", &service.send(Request::new("DELETE", "/v1/users/ada")));
    remove(&service, "admin").refused(409, "conflict");
    service.audit();
}

#[test]
fn users_are_listed_in_pages() {
    let service = Service::start();
    for number in 0..5 {
        service.post("/v1/users", &json!({ "user_id": format!("u{number}") }));
    }
    let listed = pages("users", |cursor| service.get("/v1/users", &[&[("limit", "2")], cursor].concat())).concat();
    assert_eq!(texts(&listed, "user_id"), ["admin", "u0", "u1", "u2", "u3", "u4"]);
    // A removed user still works as a cursor.
    remove(&service, "u2").expect(200);
    assert_eq!(service.get("/v1/users", &[("cursor", "u2")])["users"][0]["user_id"], "u3");
    service.audit();
}

#[test]
fn user_name_is_an_unreserved_id() {
    let service = Service::start();
    for good in ["9", "user:alice@example.org", "a.b-c_d"] {
        service.post("/v1/users", &json!({ "user_id": good }));
        remove(&service, good).expect(200);
    }
    for wrong in ["_a", "a/b", "zoë", "unknown", "system"] {
        post_invalid(&service, "/v1/users", &json!({ "user_id": wrong }), "#/user_id");
    }
    assert_eq!(names(&service), ["admin"]);
    service.audit();
}

#[test]
fn recreated_user_does_not_regain_old_keys() {
    let mut service = Service::start();
    let old = service.user("ada");
    let limits = |service: &Service, key: &str| service.send(Request::get("/v1/limits").key(key));
    limits(&service, &old).expect(200);
    remove(&service, "ada").expect(200);
    limits(&service, &old).refused(401, "invalid_credentials");
    service.restart();
    limits(&service, &old).refused(401, "invalid_credentials");
    let new = service.user("ada");
    limits(&service, &new).expect(200);
    limits(&service, &old).refused(401, "invalid_credentials");
    service.audit();
}
