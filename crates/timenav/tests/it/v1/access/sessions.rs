//! `GET /v1/session`, `POST /v1/login`, `POST /v1/logout`, `GET /v1/sessions`, `DELETE /v1/sessions/{session_id}`.

mod cookies;
mod ends;
mod set_password;

use serde_json::{Value, json};

use crate::snapshot;
use crate::support::http::{Answer, Request, target};
use crate::support::service::{Service, run, timenav};
use crate::v1::{assert_invalid, assert_members, files_with};

const PASSWORD: &str = "correct horse battery staple";
const OTHER: &str = "seven geese over Graz";

/// The `Set-Cookie` header that removes the session cookie.
const CLEARED_COOKIE: &str = "timenav=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0";

/// Returns a service with a user who has a password.
fn with_ada(arguments: &[&str]) -> Service {
    let service = Service::with(arguments);
    service.user("ada");
    service.set_password("ada", PASSWORD);
    service
}

fn log_out(body: &Value) -> Request {
    Request::post("/v1/logout").json(body)
}

/// Returns the user according to `GET /v1/session`.
fn logged_in(service: &Service, cookie: &str) -> Value {
    service.send(Request::get("/v1/session").session(cookie)).expect(200)["user_id"].clone()
}

/// Returns entries of `system` in the access log.
fn entries(service: &Service, parameters: &[(&str, &str)]) -> Vec<Value> {
    let all = [&[("timeline_id", "system"), ("time_range", "../.."), ("limit", "1000")], parameters].concat();
    service.get("/v1/access-logs", &all)["logs"].as_array().expect("a list").clone()
}

#[test]
fn login_and_logout_match_their_snapshots() {
    let service = Service::start();
    let get = |name: &str| Request::get(&format!("/v1/{name}"));
    let post = |name: &str, body: &Value| Request::post(&format!("/v1/{name}")).json(body);
    let check = |name: &str, request: Request| {
        let answer = service.send(request);
        snapshot::check(name, &answer);
        answer
    };
    let credentials = |password: &str| json!({ "user_id": "admin", "password": password });
    let log_in = |password: &str| post("login", &credentials(password)).header("Host", "localhost").anonymous();
    check("session-nobody", get("session").anonymous());
    check("session-key", get("session"));
    check("set-password", post("set-password", &json!({ "password": PASSWORD })));
    check("login-refused", log_in(OTHER));
    let answer = check("login", log_in(PASSWORD));
    let cookie = answer.header("set-cookie").unwrap().split(';').next().unwrap().to_owned();
    check("session", get("session").session(&cookie));
    check("sessions", get("sessions").session(&cookie));
    let out = check("logout", Request::post("/v1/logout").session(&cookie));
    assert_eq!(out.header("clear-site-data"), Some("\"cache\",\"cookies\",\"storage\""));
    assert_eq!(out.header("set-cookie"), Some(CLEARED_COOKIE));
    let ended = check("session-ended", get("clock").session(&cookie));
    assert_eq!(ended.header("set-cookie"), Some(CLEARED_COOKIE));
    service.audit();
}

/// Returns a response without the parts that always differ.
fn without_ids(answer: &Answer) -> (u16, Vec<(String, String)>, Value) {
    let differs = ["x-request-id", "date", "ratelimit"];
    let headers = answer.headers.iter().filter(|(name, _)| !differs.contains(&name.to_lowercase().as_str()));
    let mut body = answer.json();
    body["request_id"] = Value::Null;
    (answer.status, headers.cloned().collect(), body)
}

#[test]
fn failed_logins_do_not_reveal_known_users() {
    let service = with_ada(&[]);
    service.user("bob-without-password");
    let wrong = service.try_log_in("ada", OTHER);
    wrong.clone().refused(401, "invalid_credentials");
    for (user_id, password) in [("bob-without-password", PASSWORD), ("made-up-by-a-stranger", PASSWORD), ("ada", "x")] {
        let answer = service.try_log_in(user_id, password);
        assert_eq!(without_ids(&answer), without_ids(&wrong), "{user_id}");
    }
    // Each attempt is in the ledger, without a user.
    let attempts = entries(&service, &[("action", "unauthorized_access_attempt")]);
    assert_eq!(attempts.len(), 4, "{attempts:?}");
    assert!(attempts.iter().all(|entry| entry["user_id"] == "unknown" && entry["subject"] == "log_in"), "{attempts:?}");
    service.audit();
}

#[test]
fn session_acts_as_its_user() {
    let service = with_ada(&["--log-clock-reads"]);
    let cookie = service.log_in("ada", PASSWORD);
    let clock = || service.send(Request::get("/v1/clock?timeline_id=hers").session(&cookie));
    let make = Request::post("/timelines").json(&json!({ "timeline_id": "hers" }));
    service.send(make.session(&cookie)).expect(201);
    clock().expect(200);
    let of_ada = [("timeline_id", "hers"), ("time_range", "../.."), ("user_id", "ada")];
    assert_eq!(service.get("/v1/access-logs", &of_ada)["logs"].as_array().unwrap().len(), 2);
    // Changes by an operator apply from the next request.
    service.post("/v1/restrict-time-travel", &json!({ "user_id": "ada", "restriction_level": "no_access" }));
    clock().refused(403, "time_travel_restricted");
    let session = service.send(Request::get("/v1/session").session(&cookie)).expect(200);
    assert_members(&session, &json!({ "restriction_level": "no_access", "operator": false }));
    service.audit();
}

#[test]
fn api_key_takes_precedence_over_cookie() {
    let service = with_ada(&[]);
    let cookie = service.log_in("ada", PASSWORD);
    // From any origin: a page of another site has no key.
    let elsewhere = Request::get("/v1/session").cookie(&cookie).header("Sec-Fetch-Site", "cross-site");
    for request in [Request::get("/v1/session").session(&cookie), elsewhere] {
        assert_eq!(service.send(request.key(&service.admin)).expect(200)["user_id"], "admin");
    }
    // A cookie does not make up for an invalid key, and a session secret is not a key.
    let wrong = Request::get("/v1/clock").session(&cookie).key("tnk_000000000000000000000000000000000000");
    service.send(wrong).refused(401, "invalid_credentials");
    let secret = cookie.split_once('=').unwrap().1;
    service.send(Request::get("/v1/clock").key(secret)).refused(401, "invalid_credentials");
    service.audit();
}

#[test]
fn sessions_are_listed_and_ended_individually() {
    let service = with_ada(&[]);
    let [first, second] = [service.log_in("ada", PASSWORD), service.log_in("ada", PASSWORD)];
    let listed = service.send(Request::get("/v1/sessions").session(&first)).expect(200)["sessions"].clone();
    let current: Vec<&Value> = listed.as_array().unwrap().iter().map(|session| &session["is_current"]).collect();
    assert_eq!(current, [false, true], "newest first");
    let end = |index: usize| {
        let session_id = listed[index]["session_id"].as_str().unwrap();
        Request::new("DELETE", &format!("/v1/sessions/{session_id}"))
    };
    let bob = service.user("bob");
    service.send(end(0).key(&bob)).refused(404, "not_found");
    service.send(Request::get("/v1/sessions?user_id=ada").key(&bob)).refused(403, "permission_denied");
    service.send(end(0).session(&first)).expect(200);
    assert_eq!([&first, &second].map(|cookie| logged_in(&service, cookie)), [json!("ada"), Value::Null]);
    service.send(end(0).session(&first)).refused(404, "not_found");
    // An operator can end any session.
    service.send(end(1)).expect(200);
    assert_eq!(logged_in(&service, &first), Value::Null);
    assert_eq!(service.get("/v1/sessions", &[("user_id", "ada")])["sessions"], json!([]));
    service.audit();
}

#[test]
fn rejected_password_is_not_repeated() {
    let service = with_ada(&[]);
    let log_in = |body: &Value| service.send(Request::post("/v1/login").json(body).header("Host", "[::1]").anonymous());
    for wrong in [json!("k".repeat(1_025)), json!(74_831_926), json!(null), json!(["k"])] {
        let answer = log_in(&json!({ "user_id": "ada", "password": wrong }));
        assert!(!answer.text().contains("74831926"), "{answer}");
        assert_invalid(answer, "#/password");
    }
    // URLs are logged along the way.
    let in_address = target("/v1/login", &[("user_id", "ada"), ("password", PASSWORD)]);
    let answer = service.send(Request::post(&in_address).header("Host", "[::1]").anonymous());
    assert!(!answer.text().contains(PASSWORD), "{answer}");
    assert_invalid(answer, "#/password");
    log_in(&json!({ "user_id": "ada", "password": PASSWORD })).expect(200);
    service.audit();
}

#[test]
fn tampered_session_and_password_rows_are_rejected() {
    let mut service = with_ada(&[]);
    let cookie = service.log_in("ada", PASSWORD);
    assert!(service.stop().success());
    // Attack: turn her session into the operator's, and give the operator a password that she knows.
    service.tamper("UPDATE sessions SET user_id = 'admin' WHERE user_id = ?1", "ada");
    let plant = "INSERT INTO passwords SELECT 'admin', phc, set_at FROM passwords WHERE user_id = ?1";
    service.tamper(plant, "ada");
    // Nobody can log in with such rows, as no service starts with them. Offline verification reports them.
    let run = |arguments: &[&str]| run(timenav().args(arguments).arg(service.data()), "");
    let (code, stdout, stderr) = run(&["serve", "--listen", "127.0.0.1:0", "--data"]);
    assert_eq!((code, stdout.as_str()), (Some(1), ""), "{stderr}");
    let expected = "error: the rows of timeline `system` in the database do not match those signed";
    assert!(stderr.contains(expected), "{stderr}");
    let (code, verified, stderr) = run(&["verify", "--data"]);
    assert_ne!(code, Some(0), "{verified}{stderr}");
    for expected in ["table passwords, admin", "table sessions, session_"] {
        assert!(verified.contains(expected), "{verified}{stderr}");
    }
    // Restored, they match their signatures.
    service.tamper("UPDATE sessions SET user_id = 'ada' WHERE user_id = ?1", "admin");
    service.tamper("DELETE FROM passwords WHERE user_id = ?1", "admin");
    service.start_again();
    assert_eq!(service.send(Request::get("/v1/api-keys").session(&cookie)).status, 200);
    service.audit();
}

#[test]
fn passwords_and_session_secrets_are_never_stored() {
    let mut service = Service::with(&["--log-filter", "warn,timenav=trace,timenav_http=trace,timenav_engine=trace"]);
    service.user("user-ada");
    service.set_password("user-ada", PASSWORD);
    let cookie = service.log_in("user-ada", PASSWORD);
    service.try_log_in("user-ada", OTHER).refused(401, "invalid_credentials");
    // A password in the wrong field.
    service.try_log_in("Zwei.Hasen-im_Feld", "x").refused(401, "invalid_credentials");
    let body = json!({ "password": "kites over Trieste", "current_password": OTHER });
    service.send(Request::post("/v1/set-password").json(&body).session(&cookie)).refused(403, "wrong_password");
    let body = json!({ "password": "kites over Trieste", "current_password": PASSWORD });
    service.send(Request::post("/v1/set-password").json(&body).session(&cookie)).expect(200);
    let secret = cookie.split_once('=').unwrap().1;
    assert!(secret.starts_with("tnc_") && secret.len() == 53, "{secret}");
    for stopped in [false, true] {
        assert_ne!(files_with(&service, b"user-ada"), [""; 0]);
        for text in [PASSWORD, OTHER, "kites over Trieste", "Zwei.Hasen-im_Feld", secret, &secret[4..47]] {
            assert_eq!(files_with(&service, text.as_bytes()), [""; 0], "{text} {stopped}");
        }
        if !stopped {
            service.stop();
        }
    }
    // The hash is only in its table, not in anything shown to readers of the ledger.
    service.start_again();
    let all_text = serde_json::to_string(&entries(&service, &[])).unwrap();
    assert!(all_text.contains("set_password") && !all_text.contains("argon2"), "{all_text}");
    service.audit();
}
