//! Every operation × every kind of caller, as one golden table. An operation without a row fails
//! the test that makes the table.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::http::{Request, target};
use crate::service::Service;
use crate::snapshot;

/// Operations with what they are asked with: they are about ada's timeline `hers`, or about
/// things that do not exist, so that nobody changes what the next one needs.
fn rows(data_id: &str) -> Vec<(&'static str, Request)> {
    let hers = [("timeline_id", "hers")];
    let at = "2001-01-01T00:00:00Z";
    let get = |path: &str| Request::get(path);
    let of_hers = |path: &str| Request::get(&target(path, &hers));
    let post = |path: &str, body: Value| {
        let mut body = body;
        body["timeline_id"] = json!("hers");
        Request::post(path).json(&body)
    };
    vec![
        ("clock", of_hers("/v1/clock")),
        ("clock_stream", of_hers("/v1/clock/stream").header("Last-Event-ID", "x")),
        ("anchors", of_hers("/v1/anchors")),
        ("monitor_events", get(&target("/v1/monitor-events", &[hers[0], ("location", "*"), ("time_range", "../..")]))),
        ("event", of_hers("/v1/events/none")),
        ("timeline", get("/timeline/hers")),
        ("checkpoint", get("/timeline/hers/checkpoint")),
        ("proof", get("/timeline/hers/proof?position=0")),
        ("tile", get("/timeline/hers/tile/0/000.p/1")),
        ("access_control", of_hers("/v1/access-control")),
        ("access_logs", get(&target("/v1/access-logs", &[hers[0], ("time_range", "../..")]))),
        ("set_access_control", post("/v1/set-access-control", json!({ "permissions": {} }))),
        ("restrictions", get("/v1/restrictions")),
        (
            "restrict_time_travel",
            Request::post("/v1/restrict-time-travel")
                .json(&json!({ "user_id": "nobody", "restriction_level": "full_access" })),
        ),
        ("detect_tampering", post("/v1/detect-tampering", json!({}))),
        ("travel", post("/v1/travel", json!({ "destination_time": at }))),
        ("pause_time", post("/v1/pause-time", json!({}))),
        ("resume_time", post("/v1/resume-time", json!({}))),
        ("fast_forward", post("/v1/fast-forward", json!({ "duration": "1h" }))),
        ("rewind", post("/v1/rewind", json!({ "duration": "1h" }))),
        ("set_rate", post("/v1/set-rate", json!({ "rate": 2 }))),
        ("set_anchor", post("/v1/set-anchor", json!({}))),
        ("return_to_anchor", post("/v1/return-to-anchor", json!({ "anchor_id": "none" }))),
        ("record_events", post("/v1/events", json!({ "time": at }))),
        ("correct_event", post("/v1/correct-event", json!({ "event": { "event_id": "none", "time": at } }))),
        (
            "manipulate_event",
            post("/v1/manipulate-event", json!({ "event_id": "none", "action": "cancel", "time": at })),
        ),
        ("import_events", Request::post(&target("/v1/import-events", &hers)).body("application/x-ndjson", b"")),
        ("encrypt_data", post("/v1/encrypt-data", json!({ "data": {}, "encryption_key": "0".repeat(64) }))),
        ("decrypt_data", post("/v1/decrypt-data", json!({ "data_id": data_id, "encryption_key": "0".repeat(64) }))),
        ("erase_data", post("/v1/erase-data", json!({ "event_id": "none" }))),
        ("create_timeline", Request::post("/timelines").json(&json!({ "timeline_id": "hers" }))),
        ("timelines", get("/timelines")),
        ("limits", get("/v1/limits")),
        ("api_keys", get("/v1/api-keys")),
        ("create_api_key", Request::post("/v1/api-keys").json(&json!({}))),
        ("revoke_api_key", Request::new("DELETE", "/v1/api-keys/key_none")),
        ("api_keys", get("/v1/api-keys?user_id=ada")),
        ("users", get("/v1/users")),
        ("create_user", Request::post("/v1/users").json(&json!({ "user_id": "ada" }))),
        ("delete_user", Request::new("DELETE", "/v1/users/nobody")),
        ("clock", get("/v1/clock?timeline_id=system")),
        ("timeline", get("/timeline/system")),
        ("record_events", Request::post("/v1/events?timeline_id=system").json(&json!({ "time": at }))),
    ]
}

/// Callers by name, with their keys.
fn callers(service: &Service) -> Vec<(&'static str, Option<String>)> {
    let ada = service.user("ada");
    let bob = service.user("bob");
    service.send(Request::post("/timelines").json(&json!({ "timeline_id": "hers" })).key(&ada)).expect(201);
    let scoped = |user: &str, scope: &str| Some(service.key(&json!({ "user_id": user, "scopes": [scope] })));
    vec![
        ("nobody", None),
        ("stranger", Some(bob)),
        ("reads", scoped("ada", "timeline:read")),
        ("writes", scoped("ada", "timeline:write")),
        ("administers", scoped("ada", "timeline:admin")),
        ("owner", Some(ada)),
        ("operator reads", scoped("admin", "timeline:read")),
        ("operator", scoped("admin", "operator")),
    ]
}

#[test]
fn the_golden_table() {
    let service = Service::start();
    let callers = callers(&service);
    let mut table = format!("{:34}", "");
    for (name, _) in &callers {
        let _ = write!(table, "{name:16}");
    }
    table.push('\n');
    let sealing = json!({ "timeline_id": "hers", "data": {}, "encryption_key": "0".repeat(64) });
    let data_id = service.post("/v1/encrypt-data", &sealing)["data_id"].as_str().unwrap().to_owned();
    for (operation, request) in rows(&data_id) {
        let path = request.target.split('?').next().unwrap_or_default();
        let about = if request.target.contains("system") { " of system" } else { "" };
        let about = if path == "/v1/api-keys" && request.target.contains("ada") { " of ada" } else { about };
        let _ = write!(table, "{:34}", format!("{operation}{about}"));
        for (_, key) in &callers {
            let request = match key {
                Some(key) => request.clone().key(key),
                None => request.clone().anonymous(),
            };
            let answer = service.send(request);
            // The short words of the codes, so that a row fits on a line.
            let word = match answer.json_or_null()["code"].as_str() {
                Some("insufficient_scope") => "scope",
                Some("permission_denied") => "denied",
                Some(_) | None => "",
            };
            let _ = write!(table, "{:16}", format!("{} {word}", answer.status).trim_end());
        }
        table.push('\n');
    }
    let table: String = table.lines().map(|line| line.trim_end().to_owned() + "\n").collect();
    snapshot::check_text("roles", &table);
    let rows: BTreeSet<&str> = rows(&data_id).into_iter().map(|(operation, _)| operation).collect();
    let document = service.send(Request::get("/openapi.json")).expect(200);
    for methods in document["paths"].as_object().unwrap().values() {
        for described in methods.as_object().unwrap().values() {
            let id = described["operationId"].as_str().unwrap();
            assert!(rows.contains(id), "{id} has no row");
        }
    }
    service.audit();
}

#[test]
fn each_scope_includes_the_ones_before() {
    let service = Service::start();
    let scopes = ["timeline:read", "timeline:write", "timeline:admin", "operator"];
    let needs = [
        (Request::get("/v1/clock"), 0),
        (Request::post("/v1/pause-time"), 1),
        (Request::get("/v1/users"), 3),
        (Request::get("/v1/api-keys"), 3),
    ];
    for (has, scope) in scopes.iter().enumerate() {
        let key = service.key(&json!({ "scopes": [scope] }));
        for (request, needs) in &needs {
            let answer = service.send(request.clone().key(&key));
            if has >= *needs {
                assert_eq!(answer.status, 200, "{scope} {request:?}: {answer}");
            } else {
                let challenge =
                    format!("Bearer realm=\"timenav\", error=\"insufficient_scope\", scope=\"{}\"", scopes[*needs]);
                assert_eq!(answer.header("www-authenticate"), Some(challenge.as_str()), "{scope} {request:?}");
                answer.refused(403, "insufficient_scope");
            }
        }
    }
    // A key may have several, or none at all.
    let both = service.key(&json!({ "scopes": ["timeline:write", "timeline:read"] }));
    service.send(Request::post("/v1/pause-time").key(&both)).expect(200);
    let none = service.key(&json!({ "scopes": [] }));
    service.send(Request::get("/v1/clock").key(&none)).refused(403, "insufficient_scope");
    service.audit();
}

/// A key of few scopes must not be a way to a key of more.
#[test]
fn a_key_cannot_make_one_that_may_more() {
    let service = Service::start();
    for scope in ["timeline:read", "timeline:write", "timeline:admin"] {
        let narrow = service.key(&json!({ "scopes": [scope] }));
        for body in [json!({}), json!({ "scopes": ["operator"] }), json!({ "scopes": [scope] })] {
            service.send(Request::post("/v1/api-keys").json(&body).key(&narrow)).refused(403, "insufficient_scope");
        }
    }
    // An operator's scope on a key of a user who is none makes no operator.
    service.post("/v1/users", &json!({ "user_id": "ada" }));
    let wide = service.key(&json!({ "user_id": "ada", "scopes": ["operator"] }));
    service.send(Request::get("/v1/users").key(&wide)).refused(403, "permission_denied");
    service.audit();
}
