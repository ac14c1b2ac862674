//! `POST /v1/set-password`, and `timenav user password`.

use serde_json::{Value, json};

use super::{OTHER, PASSWORD, logged_in, with_ada};
use crate::support::http::{Request, target};
use crate::support::service::{Service, run, timenav};
use crate::v1::assert_invalid;

fn set(body: &Value) -> Request {
    Request::post("/v1/set-password").json(body)
}

#[test]
fn password_change_needs_authority_and_ends_sessions() {
    let service = with_ada(&[]);
    let (ada, bob) = (service.key(&json!({ "user_id": "ada" })), service.user("bob"));
    let [a, b] = [service.log_in("ada", PASSWORD), service.log_in("ada", PASSWORD)];
    // With a session, the current password is required.
    assert_invalid(service.send(set(&json!({ "password": OTHER })).session(&a)), "#/current_password");
    let wrong = json!({ "password": OTHER, "current_password": "not this one" });
    service.send(set(&wrong).session(&a)).refused(403, "wrong_password");
    let of_ada = json!({ "user_id": "ada", "password": OTHER });
    service.send(set(&of_ada).key(&bob)).refused(403, "permission_denied");
    let scoped = service.key(&json!({ "user_id": "ada", "scopes": ["timeline:admin"] }));
    service.send(set(&json!({ "password": OTHER })).key(&scoped)).refused(403, "insufficient_scope");
    assert_eq!((logged_in(&service, &a), logged_in(&service, &b)), (json!("ada"), json!("ada")));
    // It ends all other sessions.
    let right = json!({ "password": OTHER, "current_password": PASSWORD });
    assert_eq!(service.send(set(&right).session(&a)).expect(200)["user_id"], "ada");
    assert_eq!((logged_in(&service, &a), logged_in(&service, &b)), (json!("ada"), Value::Null));
    service.try_log_in("ada", PASSWORD).refused(401, "invalid_credentials");
    let c = service.log_in("ada", OTHER);
    // An operator does not need it, and ends all sessions; so does a key of the user.
    service.set_password("ada", PASSWORD);
    assert_eq!((logged_in(&service, &a), logged_in(&service, &c)), (Value::Null, Value::Null));
    let d = service.log_in("ada", PASSWORD);
    service.send(set(&json!({ "password": OTHER })).key(&ada)).expect(200);
    assert_eq!(logged_in(&service, &d), Value::Null);
    service.log_in("ada", OTHER);
    service.send(set(&json!({ "user_id": "nobody", "password": OTHER }))).refused(404, "not_found");
    service.audit();
}

#[test]
fn weak_password_is_rejected_and_not_repeated() {
    let service = with_ada(&[]);
    service.user("user-long-id");
    for (weak, reason) in [
        ("seven77", "at least 8 characters"),
        ("1QAZ2WSX", "most common"),
        ("User-Long-Id 26", "user name"),
        ("open\tsesame", "control characters"),
    ] {
        let answer = service.send(set(&json!({ "user_id": "user-long-id", "password": weak })));
        let refused = assert_invalid(answer, "#/password");
        let detail = refused["detail"].as_str().unwrap();
        assert!(detail.contains(reason) && !detail.contains(weak), "{refused}");
    }
    let in_address = service.send(Request::post(&target("/v1/set-password", &[("password", OTHER)])));
    assert!(!in_address.text().contains(OTHER), "{in_address}");
    in_address.refused(400, "invalid_parameter");
    // Long passwords, and those with any characters, are accepted.
    for strong in ["xy".repeat(512), "ééééééé ☃".to_owned(), "a b c d e f".to_owned()] {
        service.set_password("ada", &strong);
        service.log_in("ada", &strong);
    }
    service.audit();
}

#[test]
fn operator_sets_password_on_the_command_line() {
    let service = Service::start();
    service.user("ada");
    let set = |user_id: &str, input: &str| {
        let mut command = timenav();
        command.args(["user", "password", user_id, "--stdin"]);
        command.env("TIMENAV_URL", service.url()).env("TIMENAV_API_KEY", &service.admin);
        run(&mut command, input)
    };
    let (code, stdout, stderr) = set("ada", &format!("{PASSWORD}\n"));
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
    assert_eq!(stdout, "The password of `ada` was set, and their other sessions were ended.\n");
    service.log_in("ada", PASSWORD);
    for (user_id, input, expected) in [
        ("ada", "password\n", "most common"),
        ("ada", "", "nothing was given on stdin"),
        ("nobody", PASSWORD, "nobody"),
    ] {
        let (code, stdout, stderr) = set(user_id, input);
        assert!(code != Some(0) && stdout.is_empty() && stderr.contains(expected), "{code:?} {stdout} {stderr}");
    }
    service.log_in("ada", PASSWORD);
    service.audit();
}
