//! What ends a session and what does not.

use serde_json::{Value, json};

use super::{OTHER, PASSWORD, log_out, logged_in, with_ada};
use crate::support::http::Request;
use crate::support::service::Service;
use crate::v1::messages::open;

/// More requests than fit into the lifetime of a session here.
const REQUESTS_MAX: usize = 1_000_000;

#[test]
fn sessions_survive_a_restart() {
    let mut service = with_ada(&[]);
    let [surviving, ended] = [service.log_in("ada", PASSWORD), service.log_in("ada", PASSWORD)];
    service.send(Request::post("/v1/logout").session(&ended)).expect(200);
    let before = service.send(Request::get("/v1/session").session(&surviving)).expect(200);
    service.restart();
    assert_eq!(service.send(Request::get("/v1/session").session(&surviving)).expect(200), before);
    assert_eq!(logged_in(&service, &ended), Value::Null);
    service.kill();
    service.start_again();
    assert_eq!(service.send(Request::get("/v1/session").session(&surviving)).expect(200), before);
    assert_eq!(logged_in(&service, &ended), Value::Null);
    service.audit();
}

#[test]
fn logout_everywhere_ends_all_sessions_of_user() {
    let service = with_ada(&[]);
    service.set_password("admin", PASSWORD);
    let ada = service.key(&json!({ "user_id": "ada" }));
    let [a, b, admin] = ["ada", "ada", "admin"].map(|user_id| service.log_in(user_id, PASSWORD));
    service.send(log_out(&json!({ "everywhere": true })).session(&a)).expect(200);
    assert_eq!([&a, &b, &admin].map(|cookie| logged_in(&service, cookie)), [Value::Null, Value::Null, json!("admin")]);
    // A key is not a session, and can end those of its user.
    let c = service.log_in("ada", PASSWORD);
    service.send(log_out(&json!({})).key(&ada)).refused(400, "invalid_parameter");
    service.send(log_out(&json!({ "everywhere": true })).key(&ada)).expect(200);
    assert_eq!(logged_in(&service, &c), Value::Null);
    service.send(Request::get("/v1/session").key(&ada)).expect(200);
    service.audit();
}

#[test]
fn removed_user_is_logged_out() {
    let service = with_ada(&[]);
    let cookie = service.log_in("ada", PASSWORD);
    service.send(Request::new("DELETE", "/v1/users/ada")).expect(200);
    service.send(Request::get("/timelines").session(&cookie)).refused(401, "invalid_credentials");
    // A new user with the same name is a different user.
    service.user("ada");
    assert_eq!(logged_in(&service, &cookie), Value::Null);
    service.try_log_in("ada", PASSWORD).refused(401, "invalid_credentials");
    service.audit();
}

#[test]
fn new_login_replaces_the_previous_session() {
    let service = with_ada(&[]);
    let first = service.log_in("ada", PASSWORD);
    let again = Request::post("/v1/login").json(&json!({ "user_id": "ada", "password": PASSWORD }));
    let answer = service.send(again.header("Host", "127.0.0.1").session(&first));
    let second = answer.header("set-cookie").unwrap().split(';').next().unwrap().to_owned();
    assert_ne!(first, second, "a secret is never used twice");
    assert_eq!((logged_in(&service, &first), logged_in(&service, &second)), (Value::Null, json!("ada")));
    service.audit();
}

/// Polls without using the session until it has ended.
fn wait_for_its_end(service: &Service, cookie: &str) {
    let mut connection = service.connect();
    let request = Request::get("/v1/session").session(cookie);
    for _ in 0..REQUESTS_MAX {
        if connection.exchange(&request).unwrap().expect(200)["user_id"].is_null() {
            return;
        }
    }
    panic!("the session lasts");
}

#[test]
fn idle_session_expires() {
    let service = with_ada(&["--session-idle-secs", "4"]);
    assert_eq!(service.get("/v1/limits", &[])["limits"]["session_idle_seconds_max"], 4);
    let cookie = service.log_in("ada", PASSWORD);
    wait_for_its_end(&service, &cookie);
    let ended = service.send(Request::get("/timelines").session(&cookie));
    assert_eq!(ended.header("set-cookie"), Some("timenav=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0"));
    let ended = ended.refused(401, "invalid_credentials");
    assert_eq!(ended["detail"], "the session has ended; log in again");
    service.audit();
}

#[test]
fn active_session_expires_at_maximum_age() {
    let service = with_ada(&["--session-max-secs", "5", "--session-idle-secs", "5"]);
    let cookie = service.log_in("ada", PASSWORD);
    let mut connection = service.connect();
    let request = Request::get("/v1/limits").session(&cookie);
    for _ in 0..REQUESTS_MAX {
        let answer = connection.exchange(&request).unwrap();
        if answer.status != 200 {
            answer.refused(401, "invalid_credentials");
            return service.audit();
        }
    }
    panic!("the session lasts");
}

#[test]
fn stream_closes_when_its_session_ends() {
    for path in ["/v1/stream?timeline_id=hers", "/v1/clock/stream?timeline_id=hers"] {
        let service = with_ada(&[]);
        let ada = service.key(&json!({ "user_id": "ada" }));
        service.send(Request::post("/timelines").json(&json!({ "timeline_id": "hers" })).key(&ada)).expect(201);
        let cookie = service.log_in("ada", PASSWORD);
        let mut connection = service.connect();
        let mut messages = open(&mut connection, &service, Request::get(path).session(&cookie));
        assert_eq!(messages.next().expect("the clock as it is").event, "clock");
        // Changes to other users do not affect it.
        service.send(Request::get("/v1/clock?timeline_id=hers").session(&cookie)).expect(200);
        service.user("bob");
        service.send(Request::post("/v1/pause-time").json(&json!({ "timeline_id": "hers" })).key(&ada)).expect(200);
        let last = std::iter::from_fn(|| messages.next()).find(|message| message.event == "clock");
        assert_eq!(last.expect("the stream goes on").data["timeline_id"], "hers");
        service.set_password("ada", OTHER);
        assert!(std::iter::from_fn(|| messages.next()).all(|message| message.event.is_empty()), "it ends");
        drop(messages);
        service.send(Request::get(path).session(&cookie)).refused(401, "invalid_credentials");
        service.audit();
    }
}

#[test]
fn stream_closes_when_its_session_expires() {
    let service = with_ada(&["--session-idle-secs", "4"]);
    service.set_password("admin", PASSWORD);
    let cookie = service.log_in("admin", PASSWORD);
    let mut connection = service.connect();
    let mut messages = open(&mut connection, &service, Request::get("/v1/stream").session(&cookie));
    while messages.next().is_some() {}
    drop(messages);
    assert_eq!(logged_in(&service, &cookie), Value::Null);
    service.audit();
}
