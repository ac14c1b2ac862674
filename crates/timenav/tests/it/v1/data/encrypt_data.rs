//! `POST /v1/encrypt-data`.

use serde_json::{Value, json};

use crate::snapshot;
use crate::support::http::Request;
use crate::support::service::Service;
use crate::v1::{assert_invalid, assert_members, files_with, post_invalid, send};

/// A passphrase and a text that occur nowhere else.
const KEY: &str = "tangerine-Quokka-88-dusk";
const SECRET: &str = "the levee at 17th Street";

fn sealing(data: &Value, key: &str) -> Value {
    json!({ "timeline_id": "main", "data": data, "encryption_key": key })
}

#[test]
fn encryption_is_recorded_in_the_ledger() {
    let service = Service::start();
    let encrypt = |body: &Value| send(&service, "/v1/encrypt-data", body);
    let answer = encrypt(&sealing(&json!({ "where": SECRET }), KEY));
    snapshot::check("encrypt-data", &answer);
    let made = answer.json();
    let (entry, _) = service.entry("main", made["ledger"]["position"].as_u64().unwrap());
    assert_members(&entry, &json!({ "action": "encrypt_data", "subject": made["data_id"] }));
    snapshot::check("encrypt-data-refused", &encrypt(&json!({ "timeline_id": "main", "data": {} })));
    service.audit();
}

#[test]
fn each_encryption_creates_a_record_except_replays() {
    let service = Service::start();
    let body = sealing(&json!({}), KEY);
    let [first, second] = [(); 2].map(|()| service.post("/v1/encrypt-data", &body)["data_id"].clone());
    assert_ne!(first, second);
    let repeated = |body: &Value| service.send(Request::post("/v1/encrypt-data").json(body).idempotent("once"));
    assert_eq!(repeated(&body).expect(200), repeated(&body).expect(200));
    // A different key is a different request.
    repeated(&sealing(&json!({}), "another")).refused(422, "idempotency_key_reused");
    service.audit();
}

#[test]
fn data_and_key_size_limits_are_enforced() {
    let service = Service::start();
    let of_length = |bytes: usize| json!({ "x": "y".repeat(bytes - r#"{"x":""}"#.len()) });
    for (data, key) in [(of_length(1 << 20), KEY), (json!({}), &"k".repeat(1_024)), (json!({}), "k")] {
        service.post("/v1/encrypt-data", &sealing(&data, key));
    }
    for wrong in [of_length((1 << 20) + 1), json!([]), json!("{}"), json!(1), json!(null), json!(true)] {
        post_invalid(&service, "/v1/encrypt-data", &sealing(&wrong, KEY), "#/data");
    }
    for wrong in [json!(""), json!("k".repeat(1_025)), json!(74_831_926), json!(null), json!(["k"])] {
        let mut body = sealing(&json!({}), "");
        body["encryption_key"] = wrong;
        let answer = send(&service, "/v1/encrypt-data", &body);
        assert!(!answer.text().contains("74831926"), "what may nearly be a key is not repeated: {answer}");
        assert_invalid(answer, "#/encryption_key");
    }
    // URLs are logged along the way.
    for (path, body) in [
        ("/v1/encrypt-data?encryption_key=k", json!({ "timeline_id": "main", "data": {} })),
        ("/v1/decrypt-data?encryption_key=k", json!({ "data_id": "data_none" })),
    ] {
        post_invalid(&service, path, &body, "#/encryption_key");
    }
    service.audit();
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
    assert_eq!(files_with(&service, b"request completed"), ["the log"]);
    for (what, bytes) in [
        ("the key", KEY.as_bytes()),
        ("the data", SECRET.as_bytes()),
        ("a hash of the key", &key_hash),
        ("a fingerprint against which keys can be tried", &plain),
    ] {
        assert_eq!(files_with(&service, bytes), [""; 0], "{what}");
    }
    service.start_again();
    service.audit();
}
