//! `POST /v1/encrypt-data`.

use std::path::Path;

use serde_json::{Value, json};

use crate::snapshot;
use crate::support::http::Request;
use crate::support::service::Service;
use crate::v1::{PREFIXES, send};

/// A passphrase and a text that occur nowhere else.
const KEY: &str = "tangerine-Quokka-88-dusk";
const SECRET: &str = "the levee at 17th Street";

fn sealing(data: &Value, key: &str) -> Value {
    json!({ "timeline_id": "main", "data": data, "encryption_key": key })
}

#[test]
fn encryption_is_recorded_in_the_ledger() {
    for prefix in PREFIXES {
        let service = Service::start();
        let answer = send(&service, &format!("{prefix}/encrypt-data"), &sealing(&json!({ "where": SECRET }), KEY));
        snapshot::check("encrypt-data", &answer);
        let made = answer.json();
        let position = made["ledger"]["position"].as_u64().unwrap();
        let (entry, _) = service.entry("main", position);
        assert_eq!((&entry["action"], &entry["subject"]), (&json!("encrypt_data"), &made["data_id"]));
        snapshot::check(
            "encrypt-data-refused",
            &send(&service, &format!("{prefix}/encrypt-data"), &json!({ "timeline_id": "main", "data": {} })),
        );
        service.audit();
    }
}

#[test]
fn each_encryption_creates_a_record_except_replays() {
    let service = Service::start();
    let body = sealing(&json!({}), KEY);
    let one = send(&service, "/v1/encrypt-data", &body).expect(200);
    let two = send(&service, "/v1/encrypt-data", &body).expect(200);
    assert_ne!(one["data_id"], two["data_id"]);
    let repeated = |body: &Value| service.send(Request::post("/v1/encrypt-data").json(body).idempotent("once"));
    let first = repeated(&body).expect(200);
    assert_eq!(repeated(&body).expect(200), first);
    // A different key is a different request.
    repeated(&sealing(&json!({}), "another")).refused(422, "idempotency_key_reused");
    service.audit();
}

#[test]
fn data_and_key_size_limits_are_enforced() {
    let service = Service::start();
    let of_length = |bytes: usize| json!({ "x": "y".repeat(bytes - r#"{"x":""}"#.len()) });
    send(&service, "/v1/encrypt-data", &sealing(&of_length(1 << 20), KEY)).expect(200);
    let refused = send(&service, "/v1/encrypt-data", &sealing(&of_length((1 << 20) + 1), KEY));
    let refused = refused.refused(400, "invalid_parameter");
    assert_eq!(refused["errors"][0]["pointer"], "#/data");
    send(&service, "/v1/encrypt-data", &sealing(&json!({}), &"k".repeat(1_024))).expect(200);
    send(&service, "/v1/encrypt-data", &sealing(&json!({}), "k")).expect(200);
    for wrong in [json!(""), json!("k".repeat(1_025)), json!(74_831_926), json!(null), json!(["k"])] {
        let mut body = sealing(&json!({}), "");
        body["encryption_key"] = wrong.clone();
        let answer = send(&service, "/v1/encrypt-data", &body);
        assert!(!answer.text().contains("74831926"), "what may nearly be a key is not repeated: {answer}");
        let refused = answer.refused(400, "invalid_parameter");
        assert_eq!(refused["errors"][0]["pointer"], "#/encryption_key", "{wrong}");
    }
    for wrong in [json!([]), json!("{}"), json!(1), json!(null), json!(true)] {
        let refused = send(&service, "/v1/encrypt-data", &sealing(&wrong, KEY)).refused(400, "invalid_parameter");
        assert_eq!(refused["errors"][0]["pointer"], "#/data", "{wrong}");
    }
    service.audit();
}

#[test]
fn encryption_key_in_query_string_is_rejected() {
    let service = Service::start();
    let body = json!({ "timeline_id": "main", "data": {} });
    let refused = send(&service, "/v1/encrypt-data?encryption_key=k", &body).refused(400, "invalid_parameter");
    assert_eq!(refused["errors"][0]["pointer"], "#/encryption_key");
    let body = json!({ "data_id": "data_none" });
    send(&service, "/v1/decrypt-data?encryption_key=k", &body).refused(400, "invalid_parameter");
    service.audit();
}

#[test]
fn encryption_requires_write_permission() {
    let service = Service::start();
    let ada = service.user("ada");
    let on = |timeline: &str| {
        let body = json!({ "timeline_id": timeline, "data": {}, "encryption_key": "k" });
        Request::post("/v1/encrypt-data").json(&body)
    };
    service.send(on("main").key(&ada)).refused(404, "not_found");
    service.send(on("system")).refused(400, "invalid_parameter");
    // A first write creates a timeline.
    service.send(on("hers").key(&ada)).expect(200);
    let reader = service.key(&json!({ "user_id": "ada", "scopes": ["timeline:read"] }));
    service.send(on("hers").key(&reader)).refused(403, "insufficient_scope");
    service.audit();
}

#[test]
fn encryption_can_be_disabled_by_the_operator() {
    let mut service = Service::start();
    let made = send(&service, "/v1/encrypt-data", &sealing(&json!({}), KEY)).expect(200);
    assert!(service.stop().success());
    service.arguments(&["--no-encryption"]);
    service.start_again();
    send(&service, "/v1/encrypt-data", &sealing(&json!({}), KEY)).refused(403, "feature_disabled");
    let opening = json!({ "data_id": made["data_id"], "encryption_key": KEY });
    send(&service, "/v1/decrypt-data", &opening).refused(403, "feature_disabled");
    // Sealed data can still be erased.
    send(&service, "/v1/erase-data", &json!({ "data_id": made["data_id"] })).expect(200);
    service.audit();
}

/// Returns all files in a folder, recursively.
pub(super) fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            all.extend(files(&path));
        } else {
            all.push((path.display().to_string(), std::fs::read(&path).unwrap()));
        }
    }
    all
}

pub(super) fn holds(bytes: &[u8], text: &[u8]) -> bool {
    memchr::memmem::find(bytes, text).is_some()
}

#[test]
fn encryption_key_and_plaintext_are_never_stored() {
    use sha2::{Digest as _, Sha256};

    let mut service = Service::with(&["--log-filter", "trace"]);
    let body = sealing(&json!({ "where": SECRET }), KEY);
    let request = service.signed(Request::post("/v1/encrypt-data").json(&body).idempotent("once"));
    let made = service.send(request).expect(200);
    let opening = json!({ "data_id": made["data_id"], "encryption_key": KEY });
    let opened = service.send(Request::post("/v1/decrypt-data").json(&opening).idempotent("too")).expect(200);
    assert_eq!(opened["data"]["where"], SECRET);
    // For every possible failure.
    let mut nearly = opening.clone();
    nearly["encryption_key"] = json!(format!("{KEY}!"));
    send(&service, "/v1/decrypt-data", &nearly).refused(403, "wrong_encryption_key");
    nearly["timeline_id"] = json!(7);
    send(&service, "/v1/decrypt-data", &nearly).expect(400);
    let mut broken = body.to_string();
    broken.truncate(broken.len() - 1);
    service.send(Request::post("/v1/encrypt-data").body("application/json", broken.as_bytes())).expect(400);
    service.send(Request::post("/v1/encrypt-data").json(&body).anonymous()).expect(401);
    assert!(service.stop().success());
    let body = body.to_string();
    let parts: [&[u8]; 3] = [b"/v1/encrypt-data", b"", body.as_bytes()];
    let mut plain = Sha256::new();
    for part in parts {
        plain.update((part.len() as u64).to_be_bytes());
        plain.update(part);
    }
    let (plain, key_hash) = (plain.finalize(), Sha256::digest(KEY));
    let log = service.log_text().into_bytes();
    assert!(holds(&log, b"request completed"), "the log tells everything that it can");
    for (name, bytes) in files(&service.data()).into_iter().chain([("the log".to_owned(), log)]) {
        assert!(!holds(&bytes, KEY.as_bytes()), "{name} has the key");
        assert!(!holds(&bytes, SECRET.as_bytes()), "{name} has the data");
        assert!(!holds(&bytes, &key_hash), "{name} has a hash of the key");
        assert!(!holds(&bytes, &plain), "{name} has a fingerprint against which keys can be tried");
    }
    service.start_again();
    service.audit();
}
