//! What ends a session and what does not.

use serde_json::{Value, json};

use super::{CLEARED_COOKIE, PASSWORD, log_out, logged_in, with_ada};
use crate::support::http::Request;
use crate::support::service::Service;
use crate::v1::messages::open;

#[test]
fn sessions_survive_a_restart() {
    let mut service = with_ada(&[]);
    let [surviving, ended] = [service.log_in("ada", PASSWORD), service.log_in("ada", PASSWORD)];
    service.send(Request::post("/v1/logout").session(&ended)).expect(200);
    let session = |service: &Service| service.send(Request::get("/v1/session").session(&surviving)).expect(200);
    let before = session(&service);
    for killed in [false, true] {
        if killed {
            service.kill();
            service.start_again();
        } else {
            service.restart();
        }
        assert_eq!(session(&service), before, "killed: {killed}");
        assert_eq!(logged_in(&service, &ended), Value::Null, "killed: {killed}");
    }
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
    let login = Request::post("/v1/login").json(&json!({ "user_id": "ada", "password": PASSWORD }));
    let answer = service.send(login.header("Host", "127.0.0.1").session(&first));
    let second = answer.header("set-cookie").unwrap().split(';').next().unwrap().to_owned();
    assert_ne!(first, second, "a secret is never used twice");
    assert_eq!((logged_in(&service, &first), logged_in(&service, &second)), (Value::Null, json!("ada")));
    service.audit();
}

#[test]
fn idle_session_and_its_stream_expire() {
    let service = with_ada(&["--session-idle-secs", "4"]);
    assert_eq!(service.get("/v1/limits", &[])["limits"]["session_idle_seconds_max"], 4);
    service.set_password("admin", PASSWORD);
    let cookie = service.log_in("admin", PASSWORD);
    let mut connection = service.connect();
    let mut messages = open(&mut connection, &service, Request::get("/v1/stream").session(&cookie));
    while messages.next().is_some() {}
    drop(messages);
    let ended = service.send(Request::get("/timelines").session(&cookie));
    assert_eq!(ended.header("set-cookie"), Some(CLEARED_COOKIE));
    let ended = ended.refused(401, "invalid_credentials");
    assert_eq!(ended["detail"], "the session has ended; log in again");
    service.audit();
}
