//! `POST /v1/users`, `GET /v1/users`, `DELETE /v1/users/{user_id}`.

use serde_json::{Value, json};

use crate::snapshot;
use crate::support::http::Request;
use crate::support::service::Service;
use crate::v1::{PREFIXES, send};

fn remove(service: &Service, user_id: &str) -> crate::support::http::Answer {
    service.send(Request::new("DELETE", &format!("/v1/users/{user_id}")))
}

fn names(service: &Service) -> Vec<String> {
    let users = service.get("/v1/users", &[])["users"].clone();
    users.as_array().unwrap().iter().map(|user| user["user_id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn users_are_created_listed_and_removed() {
    for prefix in PREFIXES {
        let service = Service::start();
        let path = format!("{prefix}/users");
        snapshot::check("user-made", &send(&service, &path, &json!({ "user_id": "ada", "operator": true })));
        snapshot::check("user-exists", &send(&service, &path, &json!({ "user_id": "ada" })));
        snapshot::check("user-refused", &send(&service, &path, &json!({ "user_id": "a b" })));
        snapshot::check("users", &service.send(Request::get(&path)));
        snapshot::check("user-removed", &service.send(Request::new("DELETE", &format!("{path}/ada"))));
        snapshot::check("user-not-there", &service.send(Request::new("DELETE", &format!("{path}/ada"))));
        service.audit();
    }
}

#[test]
fn users_are_listed_in_pages() {
    let service = Service::start();
    for number in 0..5 {
        send(&service, "/v1/users", &json!({ "user_id": format!("u{number}") })).expect(201);
    }
    let (mut seen, mut cursor) = (Vec::new(), None::<String>);
    loop {
        let mut parameters = vec![("limit", "2")];
        parameters.extend(cursor.as_deref().map(|cursor| ("cursor", cursor)));
        let page = service.get("/v1/users", &parameters);
        seen.extend(page["users"].as_array().unwrap().iter().map(|user| user["user_id"].as_str().unwrap().to_owned()));
        assert_eq!(page["has_more"], page["next_cursor"].is_string());
        match page["next_cursor"].as_str() {
            Some(next) => cursor = Some(next.to_owned()),
            None => break,
        }
    }
    assert_eq!(seen, ["admin", "u0", "u1", "u2", "u3", "u4"]);
    // A removed user still works as a cursor.
    remove(&service, "u2").expect(200);
    assert_eq!(service.get("/v1/users", &[("cursor", "u2")])["users"][0]["user_id"], "u3");
    service.audit();
}

#[test]
fn user_names_have_limited_length_and_characters() {
    let service = Service::start();
    let longest = "x".repeat(128);
    for good in ["a", "9", "user:alice@example.org", "a.b-c_d", longest.as_str()] {
        send(&service, "/v1/users", &json!({ "user_id": good })).expect(201);
        remove(&service, good).expect(200);
    }
    let long = "x".repeat(129);
    for wrong in ["", "_a", "a b", "zoë", "a/b", "unknown", "system", long.as_str()] {
        let refused = send(&service, "/v1/users", &json!({ "user_id": wrong })).refused(400, "invalid_parameter");
        assert_eq!(refused["errors"][0]["pointer"], "#/user_id", "{wrong}");
    }
    assert_eq!(names(&service), ["admin"]);
    service.audit();
}

#[test]
fn last_operator_cannot_be_removed() {
    let service = Service::start();
    service.user("plain");
    remove(&service, "admin").refused(409, "conflict");
    service.post("/v1/users", &json!({ "user_id": "second", "operator": true }));
    let second = service.key(&json!({ "user_id": "second" }));
    // Two operators who remove each other: one stays.
    let by_second = Request::new("DELETE", "/v1/users/second").key(&second);
    service.send(by_second).expect(200);
    service.send(Request::get("/v1/users").key(&second)).refused(401, "invalid_credentials");
    remove(&service, "admin").refused(409, "conflict");
    assert_eq!(names(&service), ["admin", "plain"]);
    service.audit();
}

#[test]
fn recreated_user_does_not_regain_old_keys() {
    let mut service = Service::start();
    let old = service.user("ada");
    let ask = |service: &Service, key: &str| service.send(Request::get("/v1/limits").key(key));
    ask(&service, &old).expect(200);
    remove(&service, "ada").expect(200);
    ask(&service, &old).refused(401, "invalid_credentials");
    service.restart();
    ask(&service, &old).refused(401, "invalid_credentials");
    let new = service.user("ada");
    ask(&service, &new).expect(200);
    ask(&service, &old).refused(401, "invalid_credentials");
    service.audit();
}

#[test]
fn user_management_requires_an_operator() {
    let service = Service::start();
    let ada = service.user("ada");
    for request in [
        Request::get("/v1/users"),
        Request::post("/v1/users").json(&json!({ "user_id": "bob" })),
        Request::post("/v1/users").json(&json!({ "user_id": "admin" })),
        Request::new("DELETE", "/v1/users/admin"),
        Request::new("DELETE", "/v1/users/nobody"),
    ] {
        service.send(request.key(&ada)).refused(403, "permission_denied");
    }
    assert_eq!(names(&service), ["ada", "admin"]);
    // Each of these is in the ledger of `system`.
    let size = service.checkpoint("system").size;
    let attempts: Vec<Value> = (0..size)
        .map(|position| service.entry("system", position).0)
        .filter(|entry| entry["action"] == "unauthorized_access_attempt")
        .collect();
    assert_eq!(attempts.len(), 5);
    assert!(attempts.iter().all(|entry| entry["actor"] == "ada"), "{attempts:?}");
    service.audit();
}
