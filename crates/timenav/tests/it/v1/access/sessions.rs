//! `GET /v1/session`, `POST /v1/login`, `POST /v1/logout`, `GET /v1/sessions`, `DELETE /v1/sessions/{session_id}`.

mod cookies;
mod ends;
mod set_password;

use serde_json::{Value, json};

use crate::snapshot;
use crate::support::http::{Answer, Request, target};
use crate::support::service::{Service, run, timenav};
use crate::v1::{PREFIXES, send};

const PASSWORD: &str = "correct horse battery staple";
const OTHER: &str = "seven geese over Graz";

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
    for prefix in PREFIXES {
        let service = Service::start();
        let ask = |request: Request| service.send(request);
        let path = |name: &str| format!("{prefix}/{name}");
        snapshot::check("session-nobody", &ask(Request::get(&path("session")).anonymous()));
        snapshot::check("session-key", &ask(Request::get(&path("session"))));
        snapshot::check("set-password", &send(&service, &path("set-password"), &json!({ "password": PASSWORD })));
        let wrong = json!({ "user_id": "admin", "password": OTHER });
        let log_in =
            |body: &Value| ask(Request::post(&path("login")).json(body).header("Host", "localhost").anonymous());
        snapshot::check("login-refused", &log_in(&wrong));
        let answer = log_in(&json!({ "user_id": "admin", "password": PASSWORD }));
        snapshot::check("login", &answer);
        let cookie = answer.header("set-cookie").unwrap().split(';').next().unwrap().to_owned();
        snapshot::check("session", &ask(Request::get(&path("session")).session(&cookie)));
        snapshot::check("sessions", &ask(Request::get(&path("sessions")).session(&cookie)));
        let out = ask(Request::post(&path("logout")).session(&cookie));
        assert_eq!(out.header("clear-site-data"), Some("\"cache\",\"cookies\",\"storage\""));
        assert_eq!(out.header("set-cookie"), Some("timenav=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0"));
        snapshot::check("logout", &out);
        let ended = ask(Request::get(&path("clock")).session(&cookie));
        assert_eq!(ended.header("set-cookie"), out.header("set-cookie"));
        snapshot::check("session-ended", &ended);
        service.audit();
    }
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
    let make = Request::post("/timelines").json(&json!({ "timeline_id": "hers" }));
    service.send(make.session(&cookie)).expect(201);
    service.send(Request::get("/v1/clock?timeline_id=hers").session(&cookie)).expect(200);
    // The default timeline is `main`, which she cannot read.
    service.send(Request::get("/v1/clock").session(&cookie)).refused(404, "not_found");
    let all = [("timeline_id", "hers"), ("time_range", "../..")];
    let logs = service.get("/v1/access-logs", &all)["logs"].clone();
    let of_ada = logs.as_array().unwrap().iter().filter(|entry| entry["user_id"] == "ada").count();
    assert_eq!(of_ada, 2, "{logs}");
    // Changes by an operator apply from the next request.
    service.post("/v1/restrict-time-travel", &json!({ "user_id": "ada", "restriction_level": "no_access" }));
    let refused = service.send(Request::get("/v1/clock?timeline_id=hers").session(&cookie));
    refused.refused(403, "time_travel_restricted");
    let session = service.send(Request::get("/v1/session").session(&cookie)).expect(200);
    assert_eq!((&session["restriction_level"], &session["operator"]), (&json!("no_access"), &json!(false)));
    service.audit();
}

#[test]
fn api_key_takes_precedence_over_cookie() {
    let service = with_ada(&[]);
    let cookie = service.log_in("ada", PASSWORD);
    let who = |request: Request| service.send(request).expect(200)["user_id"].clone();
    assert_eq!(who(Request::get("/v1/session").session(&cookie).key(&service.admin)), "admin");
    // From any origin: a page of another site has no key.
    let elsewhere = Request::get("/v1/session").cookie(&cookie).header("Sec-Fetch-Site", "cross-site");
    assert_eq!(who(elsewhere.key(&service.admin)), "admin");
    // A cookie does not make up for an invalid key, and a session secret is not a key.
    let wrong = Request::get("/v1/clock").session(&cookie).key("tnk_000000000000000000000000000000000000");
    service.send(wrong).refused(401, "invalid_credentials");
    let secret = cookie.split_once('=').unwrap().1;
    service.send(Request::get("/v1/clock").key(secret)).refused(401, "invalid_credentials");
    service.audit();
}

#[test]
fn first_run_ends_when_operator_password_is_set() {
    let mut service = Service::start();
    let is_first = |service: &Service| service.get("/v1/session", &[])["is_first_run"].clone();
    assert_eq!(is_first(&service), true);
    service.user("ada");
    service.set_password("ada", PASSWORD);
    assert_eq!(is_first(&service), true, "ada is no operator");
    service.set_password("admin", PASSWORD);
    assert_eq!(is_first(&service), false);
    service.restart();
    assert_eq!(is_first(&service), false);
    service.log_in("admin", PASSWORD);
    service.audit();
}

#[test]
fn sessions_are_listed_and_ended_individually() {
    let service = with_ada(&[]);
    let ada = service.key(&json!({ "user_id": "ada" }));
    let [first, second] = [service.log_in("ada", PASSWORD), service.log_in("ada", PASSWORD)];
    let listed = service.send(Request::get("/v1/sessions").session(&first)).expect(200)["sessions"].clone();
    let current: Vec<&Value> = listed.as_array().unwrap().iter().map(|session| &session["is_current"]).collect();
    assert_eq!(current, [false, true], "newest first");
    let end = |request: Request| service.send(request);
    let one = |index: usize| {
        let id = listed[index]["session_id"].as_str().unwrap();
        Request::new("DELETE", &format!("/v1/sessions/{id}"))
    };
    let bob = service.user("bob");
    end(one(0).key(&bob)).refused(404, "not_found");
    service
        .send(Request::get(&target("/v1/sessions", &[("user_id", "ada")])).key(&bob))
        .refused(403, "permission_denied");
    end(one(0).session(&first)).expect(200);
    assert_eq!((logged_in(&service, &first), logged_in(&service, &second)), (json!("ada"), Value::Null));
    end(one(0).session(&first)).refused(404, "not_found");
    // An operator can end any session.
    end(one(1)).expect(200);
    assert_eq!(logged_in(&service, &first), Value::Null);
    assert_eq!(service.send(Request::get("/v1/sessions").key(&ada)).expect(200)["sessions"], json!([]));
    service.audit();
}

#[test]
fn login_parameters_are_validated_first() {
    let service = with_ada(&[]);
    let log_in = |body: &Value| service.send(Request::post("/v1/login").json(body).header("Host", "[::1]").anonymous());
    log_in(&json!({ "user_id": "ada" })).refused(400, "missing_parameter");
    log_in(&json!({ "password": PASSWORD })).refused(400, "missing_parameter");
    log_in(&json!({ "user_id": "ada", "password": PASSWORD, "passwort": 1 })).refused(400, "unknown_parameter");
    for wrong in [json!(""), json!("k".repeat(1_025)), json!(74_831_926), json!(null), json!(["k"])] {
        let answer = log_in(&json!({ "user_id": "ada", "password": wrong }));
        assert!(!answer.text().contains("74831926"), "what may nearly be a password is not repeated: {answer}");
        let refused = answer.refused(400, "invalid_parameter");
        assert_eq!(refused["errors"][0]["pointer"], "#/password", "{wrong}");
    }
    // URLs are logged along the way.
    let in_address = target("/v1/login", &[("user_id", "ada"), ("password", PASSWORD)]);
    let answer = service.send(Request::post(&in_address).header("Host", "[::1]").anonymous());
    assert!(!answer.text().contains(PASSWORD), "{answer}");
    assert_eq!(answer.refused(400, "invalid_parameter")["errors"][0]["pointer"], "#/password");
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
    let mut command = timenav();
    command.args(["serve", "--listen", "127.0.0.1:0", "--data"]).arg(service.data());
    let (code, stdout, stderr) = run(&mut command, "");
    assert_eq!((code, stdout.as_str()), (Some(1), ""), "{stderr}");
    assert!(
        stderr.contains("error: the rows of timeline `system` in the database do not match those signed"),
        "{stderr}"
    );
    let mut command = timenav();
    let (code, verified, stderr) = run(command.args(["verify", "--data"]).arg(service.data()), "");
    assert_ne!(code, Some(0), "{verified}{stderr}");
    assert!(
        verified.contains("table passwords, admin") && verified.contains("table sessions, session_"),
        "{verified}{stderr}"
    );
    // Restored, they match their signatures.
    service.tamper("UPDATE sessions SET user_id = 'ada' WHERE user_id = ?1", "admin");
    service.tamper("DELETE FROM passwords WHERE user_id = ?1", "admin");
    service.start_again();
    assert_eq!(service.send(Request::get("/v1/api-keys").session(&cookie)).status, 200);
    service.audit();
}

/// Returns the files of the data folder, and the log, that contain a text.
fn holding(service: &Service, text: &str) -> Vec<String> {
    let files = std::fs::read_dir(service.data()).unwrap().map(|entry| entry.unwrap().path());
    let holds = |bytes: &[u8]| memchr::memmem::find(bytes, text.as_bytes()).is_some();
    let mut found: Vec<String> = files
        .filter(|path| path.is_file() && holds(&std::fs::read(path).unwrap()))
        .map(|path| path.display().to_string())
        .collect();
    if service.log_text().contains(text) {
        found.push("the log".to_owned());
    }
    found
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
        assert_ne!(holding(&service, "user-ada"), Vec::<String>::new(), "the look finds what is there");
        for text in [PASSWORD, OTHER, "kites over Trieste", "Zwei.Hasen-im_Feld", secret, &secret[4..47]] {
            assert_eq!(holding(&service, text), Vec::<String>::new(), "{text} {stopped}");
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
