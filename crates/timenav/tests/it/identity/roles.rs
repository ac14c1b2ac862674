//! Every operation × every kind of caller, as one golden table. The test that builds the table fails if an operation
//! has no row.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::Read as _;

use serde_json::{Value, json};

use crate::snapshot;
use crate::support::http::{Answer, Request, target};
use crate::support::service::Service;

/// The key of the only sealed record.
const PASSWORD: &str = "correct horse battery staple";
const ENCRYPTION_KEY: &str = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";

/// Valid including its check characters, but unknown.
const UNKNOWN_KEY: &str = "tnk_zQWBuTSOoRi4A9spHcVY5ncnsDkxkJ0mLq17";

/// More requests than a service can answer before a key with seconds to live expires.
const REQUESTS_MAX: u32 = 1_000_000;

/// The targets of a caller's operations. Each caller has its own resources to erase, revoke and remove, so that no cell
/// depends on the previous one.
struct Targets {
    number: usize,
    /// Approximate host time.
    now: String,
    anchor_id: String,
    data_id: String,
    event_id: String,
    key_id: String,
    session_id: String,
}

/// The credential of a caller.
enum Credentials {
    Nothing,
    Key(String),
    Cookie(String),
}

impl Credentials {
    fn on(&self, request: Request) -> Request {
        match self {
            Self::Nothing => request.anonymous(),
            Self::Key(key) => request.key(key),
            Self::Cookie(cookie) => request.session(cookie),
        }
    }
}

/// All operations with their requests, mostly on ada's timeline `hers`. The first word of a row is the operation.
#[expect(clippy::too_many_lines, reason = "a row for each operation")]
fn rows(about: &Targets) -> Vec<(&'static str, Request)> {
    let (hers, at) = ([("timeline_id", "hers")], "2001-01-01T00:00:00Z");
    let Targets { number, now, anchor_id, data_id, event_id, .. } = about;
    let get = |path: &str| Request::get(path);
    let of_hers = |path: &str| Request::get(&target(path, &hers));
    let post = |path: &str, mut body: Value| {
        body["timeline_id"] = json!("hers");
        Request::post(path).json(&body)
    };
    let spare = format!("spare-{number}");
    let deed = |event_id: &str| json!({ "event_id": event_id, "action": "rename to x", "time": at });
    let mut rows = vec![
        ("clock", of_hers("/v1/clock")),
        ("clock_stream", of_hers("/v1/clock/stream")),
        ("stream", of_hers("/v1/stream")),
        ("firings_stream", of_hers("/v1/firings/stream")),
        ("anchors", of_hers("/v1/anchors")),
        ("anchor", of_hers(&format!("/v1/anchors/{anchor_id}"))),
        ("monitor_events", get(&target("/v1/monitor-events", &[hers[0], ("location", "*"), ("time_range", "../..")]))),
        ("scan_events", post("/v1/scan-events", json!({ "location": "*", "time_range": "../.." }))),
        ("monitor_paradox", get(&target("/v1/monitor-paradox", &[hers[0], ("time_range", "../..")]))),
        ("check_timeline", get(&target("/v1/check-timeline", &[hers[0], ("significant_event", event_id)]))),
        ("event", of_hers(&format!("/v1/events/{event_id}"))),
        ("export_events", of_hers("/v1/export-events")),
        ("aggregate_events", get(&target("/v1/aggregate-events", &[hers[0], ("group_by", "actor")]))),
        ("timeline", get("/timeline/hers")),
        ("checkpoint", get("/timeline/hers/checkpoint")),
        ("head_statement", get("/timeline/hers/head")),
        ("proof", get("/timeline/hers/proof?position=0")),
        ("entries", get("/timeline/hers/entries?limit=1")),
        ("tile", get("/timeline/hers/tile/0/000.p/1")),
        ("bundle", get("/timeline/hers/bundle")),
        ("access_control", of_hers("/v1/access-control")),
        ("access_logs", get(&target("/v1/access-logs", &[hers[0], ("time_range", "../..")]))),
        ("set_access_control", post("/v1/set-access-control", json!({ "permissions": {} }))),
        ("set_retention", post("/v1/set-retention", json!({ "reads": "90d" }))),
        ("prune", post("/v1/prune", json!({}))),
        ("prune and accept the clock", post("/v1/prune", json!({ "trust_host_clock": true }))),
        ("restrictions", get("/v1/restrictions")),
        (
            "restrict_time_travel",
            Request::post("/v1/restrict-time-travel")
                .json(&json!({ "user_id": spare, "restriction_level": "full_access" })),
        ),
        ("detect_tampering", post("/v1/detect-tampering", json!({}))),
        ("travel far away", post("/v1/travel", json!({ "destination_time": at }))),
        ("travel near host time", post("/v1/travel", json!({ "destination_time": now }))),
        ("pause_time", post("/v1/pause-time", json!({}))),
        ("resume_time", post("/v1/resume-time", json!({}))),
        ("fast_forward", post("/v1/fast-forward", json!({ "duration": "1h" }))),
        // The clock is running, which only users who may move it can learn.
        ("elapse", post("/v1/elapse", json!({ "duration": "1h" }))),
        // No timer is armed, which only users who may move the clock can learn.
        ("advance_to_next", post("/v1/advance-to-next", json!({}))),
        ("rewind", post("/v1/rewind", json!({ "duration": "1h" }))),
        ("set_rate", post("/v1/set-rate", json!({ "rate": 2 }))),
        ("set_anchor", post("/v1/set-anchor", json!({}))),
        ("set_anchor far away", post("/v1/set-anchor", json!({ "timestamp": at }))),
        ("record_events", post("/v1/events", json!({ "time": at }))),
        ("correct_event", post("/v1/correct-event", json!({ "event": { "event_id": event_id, "time": at } }))),
        ("manipulate_event", post("/v1/manipulate-event", deed(event_id))),
        // There is no import, which only users who may undo one can learn.
        ("undo_import", post("/v1/undo-import", json!({ "import_id": "0-1-1" }))),
        // It reverts everything after the anchor, so it follows the operations on the event.
        ("return_to_anchor", post("/v1/return-to-anchor", json!({ "anchor_id": anchor_id }))),
        ("import_events", Request::post(&target("/v1/import-events", &hers)).body("application/x-ndjson", b"")),
        ("encrypt_data", post("/v1/encrypt-data", json!({ "data": {}, "encryption_key": ENCRYPTION_KEY }))),
        ("decrypt_data", post("/v1/decrypt-data", json!({ "data_id": data_id, "encryption_key": ENCRYPTION_KEY }))),
        ("erase_data", post("/v1/erase-data", json!({ "event_id": event_id }))),
        ("erase_events", post("/v1/erase-events", json!({ "older_than": "P9000D", "as_of_size": 1 }))),
        (
            "erase_events, a dry run",
            post("/v1/erase-events", json!({ "location": "*", "time_range": "../..", "dry_run": true })),
        ),
        // There is none at that position, which only users who may erase one can learn.
        ("erase_reads", post("/v1/erase-reads", json!({ "position": 0, "reads": [0] }))),
    ];
    rows.extend(rows_of_timers());
    rows.extend(rows_of_the_service(about));
    rows
}

fn rows_of_timers() -> Vec<(&'static str, Request)> {
    let hers = [("timeline_id", "hers")];
    let of_hers = |path: &str| Request::get(&target(path, &hers));
    let post = |path: &str, mut body: Value| {
        body["timeline_id"] = json!("hers");
        Request::post(path).json(&body)
    };
    vec![
        ("followers", of_hers("/v1/followers")),
        // No follower has that id.
        ("set_fault", post("/v1/followers/follower_none/fault", json!({ "fault": { "offset": "2s" } }))),
        ("confirm_clock", post("/v1/followers/confirm", json!({ "follower_id": "follower_none", "generation": 0 }))),
        ("timers", of_hers("/v1/timers")),
        ("timer", of_hers("/v1/timers/none")),
        ("firings", of_hers("/v1/firings")),
        ("receipt", of_hers("/v1/advances/advance_none")),
        ("set_timer", post("/v1/timers", json!({ "at": "9000-01-01T00:00:00Z" }))),
        // None has these ids, which only users who may change one can learn.
        ("change_timer", Request::new("PATCH", &target("/v1/timers/none", &hers)).json(&json!({}))),
        ("cancel_timer", Request::new("DELETE", &target("/v1/timers/none", &hers))),
        ("claim_firings", post("/v1/queues/default/claim", json!({}))),
        ("acknowledge_firings", post("/v1/firings/ack", json!({ "firing_ids": ["firing_none"] }))),
        ("fail_firings", post("/v1/firings/fail", json!({ "firing_ids": ["firing_none"] }))),
        ("extend_firings", post("/v1/firings/extend", json!({ "firing_ids": ["firing_none"] }))),
        ("hold_advances", post("/v1/holds", json!({ "reason": "a test" }))),
        ("holds", of_hers("/v1/holds")),
        ("timer_preview", Request::get(&target("/v1/timer-preview", &[&hers[..], &[("rule", "0 9 * * *")]].concat()))),
        ("release_hold", post("/v1/holds/hold_none/release", json!({}))),
        ("redeliver_firing", post("/v1/firings/firing_none/redeliver", json!({}))),
    ]
}

/// Operations without a timeline.
fn rows_of_the_service(about: &Targets) -> Vec<(&'static str, Request)> {
    let at = "2001-01-01T00:00:00Z";
    let Targets { number, key_id, session_id, .. } = about;
    let get = |path: &str| Request::get(path);
    let user = |user_id: &str| json!({ "user_id": user_id });
    let spare = format!("spare-{number}");
    let delete = |path: &str, name: &str| Request::new("DELETE", &format!("{path}/{name}"));
    let password = json!({ "user_id": format!("slept-{number}"), "password": PASSWORD });
    let fork = json!({ "timeline_id": format!("fork-{number}"), "fork_of": "hers" });
    vec![
        ("create_timeline", Request::post("/timelines").json(&json!({ "timeline_id": format!("made-{number}") }))),
        ("create_timeline fork", Request::post("/timelines").json(&fork)),
        ("create_timeline there is", Request::post("/timelines").json(&json!({ "timeline_id": "hers" }))),
        ("end_timeline", delete("/timeline", &format!("over-{number}"))),
        ("end_timeline main", delete("/timeline", "main")),
        ("timelines", get("/timelines")),
        ("timelines_diff", get("/timelines/diff?base=hers&compare=hers")),
        ("limits", get("/v1/limits")),
        ("api_keys", get("/v1/api-keys")),
        ("create_api_key", Request::post("/v1/api-keys").json(&json!({}))),
        ("api_keys of ada", get("/v1/api-keys?user_id=ada")),
        ("create_api_key of ada", Request::post("/v1/api-keys").json(&user("ada"))),
        ("revoke_api_key of ada", delete("/v1/api-keys", key_id)),
        ("revoke_api_key there is none", delete("/v1/api-keys", "key_none")),
        ("users", get("/v1/users")),
        ("create_user", Request::post("/v1/users").json(&user(&format!("user-{number}")))),
        ("create_user there is", Request::post("/v1/users").json(&user("ada"))),
        ("delete_user", delete("/v1/users", &spare)),
        ("session", get("/v1/session")),
        (
            "log_in",
            Request::post("/v1/login")
                .json(&json!({ "user_id": spare, "password": "not this one" }))
                .header("Host", "127.0.0.1"),
        ),
        ("sessions", get("/v1/sessions")),
        ("sessions of ada", get("/v1/sessions?user_id=ada")),
        ("end_session of another", delete("/v1/sessions", session_id)),
        ("end_session there is none", delete("/v1/sessions", "session_none")),
        ("set_password", Request::post("/v1/set-password").json(&json!({ "password": PASSWORD }))),
        ("set_password of another", Request::post("/v1/set-password").json(&password)),
        ("clock of system", get("/v1/clock?timeline_id=system")),
        ("timeline of system", get("/timeline/system")),
        ("record_events of system", Request::post("/v1/events?timeline_id=system").json(&json!({ "time": at }))),
        // Last, because it ends the session.
        ("log_out", Request::post("/v1/logout")),
    ]
}

/// Returns an expired key.
fn expired(service: &Service) -> String {
    // A clock two seconds ahead of the host's shows when that will be.
    service.post("/timelines", &json!({ "timeline_id": "ahead" }));
    let soon = service.post("/v1/fast-forward", &json!({ "timeline_id": "ahead", "duration": "2s" }));
    let key = service.key(&json!({ "user_id": "ada", "expires_at": soon["current_time"] }));
    let request = Request::get("/v1/limits").key(&key);
    let mut connection = service.connect();
    for _ in 0..REQUESTS_MAX {
        if connection.exchange(&request).unwrap().status == 401 {
            return key;
        }
    }
    panic!("a key works that expired at {}", soon["current_time"]);
}

/// Callers by name with their keys: by credential, by role on `hers`, by time travel restriction of an administrator of
/// `hers`, and by the scopes of the key.
fn callers(service: &Service) -> Vec<(&'static str, Credentials)> {
    let ada = service.user("ada");
    service.send(Request::post("/timelines").json(&json!({ "timeline_id": "hers" })).key(&ada)).expect(201);
    let [stranger, reader, writer] = ["stranger", "reader", "writer"].map(|name| service.user(name));
    let levels = ["limited_access", "read_only", "no_access", "full_access"];
    let [limited, looks, blind, full] = levels.map(|level| {
        let key = service.user(level);
        service.post("/v1/restrict-time-travel", &json!({ "user_id": level, "restriction_level": level }));
        key
    });
    let in_sessions = [("in-session", "full_access"), ("looks-in-session", "read_only")];
    let [session, looks_in_session] = in_sessions.map(|(name, level)| {
        service.user(name);
        service.post("/v1/restrict-time-travel", &json!({ "user_id": name, "restriction_level": level }));
        service.set_password(name, PASSWORD);
        Credentials::Cookie(service.log_in(name, PASSWORD))
    });
    let admins: Vec<&str> = levels.into_iter().chain(["ada", "in-session", "looks-in-session"]).collect();
    let lists = json!({ "read": ["reader"], "write": ["writer"], "admin": admins });
    service.post("/v1/set-access-control", &json!({ "timeline_id": "hers", "permissions": lists }));
    let scoped =
        |user: &str, scope: &str| Credentials::Key(service.key(&json!({ "user_id": user, "scopes": [scope] })));
    vec![
        ("no key", Credentials::Nothing),
        ("malformed key", Credentials::Key(format!("tnk_{}", "0".repeat(36)))),
        ("unknown key", Credentials::Key(UNKNOWN_KEY.to_owned())),
        ("expired key", Credentials::Key(expired(service))),
        ("stranger", Credentials::Key(stranger)),
        ("reader", Credentials::Key(reader)),
        ("writer", Credentials::Key(writer)),
        ("admin", Credentials::Key(ada)),
        ("operator", Credentials::Key(service.admin.clone())),
        ("limited_access", Credentials::Key(limited)),
        ("read_only", Credentials::Key(looks)),
        ("no_access", Credentials::Key(blind)),
        ("full_access", Credentials::Key(full)),
        ("admin:read", scoped("ada", "timeline:read")),
        ("admin:write", scoped("ada", "timeline:write")),
        ("admin:admin", scoped("ada", "timeline:admin")),
        ("operator:read", scoped("admin", "timeline:read")),
        ("session", session),
        ("session:read_only", looks_in_session),
    ]
}

/// Creates the targets of each caller's operations.
fn targets(service: &Service, count: usize) -> Vec<Targets> {
    let hers = |path: &str, body: Value| {
        let mut body = body;
        body["timeline_id"] = json!("hers");
        service.post(path, &body)
    };
    let text = |value: &Value| value.as_str().expect("an id").to_owned();
    let anchor_id = text(&hers("/v1/set-anchor", json!({}))["anchor_id"]);
    let sealed = hers("/v1/encrypt-data", json!({ "data": {}, "encryption_key": ENCRYPTION_KEY }));
    let now = text(&service.get("/v1/clock", &[])["current_time"]);
    // Ended by users with the same permissions as on `hers`.
    let lists = service.get("/v1/access-control", &[("timeline_id", "hers")])["permissions"].clone();
    let made = |number: usize| {
        let over = format!("over-{number}");
        service.post("/timelines", &json!({ "timeline_id": over }));
        service.post("/v1/set-access-control", &json!({ "timeline_id": over, "permissions": lists }));
        service.post("/v1/users", &json!({ "user_id": format!("spare-{number}") }));
        service.post("/v1/users", &json!({ "user_id": format!("slept-{number}") }));
        service.set_password(&format!("slept-{number}"), PASSWORD);
        hers("/v1/events", json!({ "event_id": format!("event-{number}"), "time": now }));
        Targets {
            number,
            now: now.clone(),
            anchor_id: anchor_id.clone(),
            data_id: text(&sealed["data_id"]),
            event_id: format!("event-{number}"),
            session_id: text(&service.try_log_in(&format!("slept-{number}"), PASSWORD).expect(200)["session_id"]),
            key_id: text(&service.post("/v1/api-keys", &json!({ "user_id": "ada" }))["key_id"]),
        }
    };
    (0..count).map(made).collect()
}

/// Returns the cell for a response: the status, and for an error the reason in one word.
fn cell(answer: &Answer) -> String {
    let word = match answer.json_or_null()["code"].as_str() {
        Some("missing_credentials") => "missing",
        Some("invalid_credentials") => "invalid",
        Some("insufficient_scope") => "scope",
        Some("feature_disabled") => "disabled",
        Some("permission_denied") => "denied",
        Some("time_travel_restricted") => "travel",
        Some(_) | None => "",
    };
    format!("{} {word}", answer.status).trim_end().to_owned()
}

/// Sends a request and reads the response; of a stream, only its start.
fn begun(service: &Service, request: &Request) -> Answer {
    let mut connection = service.connect();
    connection.send_request(request);
    let (status, headers) = connection.head().expect("an answer");
    let streams = headers.iter().any(|(_, value)| value.starts_with("text/event-stream"));
    let mut body = Vec::new();
    if !streams {
        connection.body(&headers).read_to_end(&mut body).expect("an answer has an end");
    }
    Answer { status, headers, body }
}

#[test]
fn operation_permissions_match_the_golden_table() {
    let service = Service::start();
    let callers = callers(&service);
    let targets = targets(&service, callers.len());
    let columns: Vec<_> = targets.iter().map(rows).collect();
    let mut table = format!("{:30}", "");
    for (name, _) in &callers {
        let _ = write!(table, "{name:16}");
    }
    table.push('\n');
    for (row, (name, _)) in columns[0].iter().enumerate() {
        let _ = write!(table, "{name:30}");
        for ((_, credentials), column) in callers.iter().zip(&columns) {
            let request = credentials.on(column[row].1.clone());
            let _ = write!(table, "{:16}", cell(&begun(&service, &request)));
        }
        table.push('\n');
    }
    let table: String = table.lines().map(|line| line.trim_end().to_owned() + "\n").collect();
    snapshot::check_text("roles", &table);
    let rows: BTreeSet<&str> = columns[0].iter().filter_map(|(name, _)| name.split(' ').next()).collect();
    let document = service.send(Request::get("/openapi.json")).expect(200);
    for methods in document["paths"].as_object().unwrap().values() {
        for described in methods.as_object().unwrap().values() {
            let id = described["operationId"].as_str().unwrap();
            assert!(rows.contains(id), "{id} has no row");
        }
    }
    service.audit();
}

/// A key with few scopes must not allow creating a key with more.
#[test]
fn api_key_without_operator_scope_cannot_create_keys() {
    let service = Service::start();
    for scope in ["timeline:read", "timeline:write", "timeline:admin"] {
        let narrow = service.key(&json!({ "scopes": [scope] }));
        for body in [json!({}), json!({ "scopes": ["operator"] }), json!({ "scopes": [scope] })] {
            service.send(Request::post("/v1/api-keys").json(&body).key(&narrow)).refused(403, "insufficient_scope");
        }
    }
    // The operator scope on a key does not make its user an operator.
    service.post("/v1/users", &json!({ "user_id": "ada" }));
    let wide = service.key(&json!({ "user_id": "ada", "scopes": ["operator"] }));
    service.send(Request::get("/v1/users").key(&wide)).refused(403, "permission_denied");
    service.audit();
}
