//! `POST /v1/decrypt-data`.

use serde_json::{Value, json};

use crate::snapshot;
use crate::support::http::{Answer, Request};
use crate::support::service::Service;
use crate::v1::send;

const RANDOM: &str = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
const OTHER_RANDOM: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHv8=";

fn seal(service: &Service, data: &Value, key: &str) -> Value {
    let body = json!({ "timeline_id": "main", "data": data, "encryption_key": key });
    service.post("/v1/encrypt-data", &body)["data_id"].clone()
}

fn open(service: &Service, data_id: &Value, key: &str) -> Answer {
    send(service, "/v1/decrypt-data", &json!({ "data_id": data_id, "encryption_key": key }))
}

/// Returns a response without the parts that always differ.
fn settled(answer: &Answer) -> (u16, Vec<String>, Value) {
    let names = answer.headers.iter().map(|(name, _)| name.clone()).collect();
    let mut body = answer.json();
    body["request_id"] = json!("");
    (answer.status, names, body)
}

#[test]
fn right_key_decrypts_the_data() {
    let service = Service::start();
    let data_id = seal(&service, &json!({ "agent": "Ada", "n": [1, 2.5, null, "ü"] }), "a passphrase");
    let body = |key: &str| json!({ "data_id": data_id, "encryption_key": key });
    snapshot::check("decrypt-data", &send(&service, "/v1/decrypt-data", &body("a passphrase")));
    snapshot::check("decrypt-data-wrong-key", &send(&service, "/v1/decrypt-data", &body("another")));
    let unknown = json!({ "data_id": "data_00000000000000000000000000", "encryption_key": "x" });
    snapshot::check("decrypt-data-unknown", &send(&service, "/v1/decrypt-data", &unknown));
    service.audit();
}

#[test]
fn decrypted_data_equals_the_original_text() {
    let service = Service::start();
    // Numbers beyond a double's precision, and a specific member order.
    let text = r#"{"z":12345678901234567890,"a":1.10, "e":1E2,"b":{}}"#;
    let body = format!(r#"{{"timeline_id":"main","data":{text},"encryption_key":"{RANDOM}"}}"#);
    let sealing = Request::post("/v1/encrypt-data").body("application/json", body.as_bytes());
    let data_id = service.send(sealing).expect(200)["data_id"].clone();
    assert!(open(&service, &data_id, RANDOM).text().contains(text));
    // A random key may be spelled differently.
    open(&service, &data_id, &RANDOM.to_uppercase()).expect(200);
    open(&service, &data_id, "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=").expect(200);
    service.audit();
}

#[test]
fn decryption_failures_are_indistinguishable() {
    let mut service = Service::start();
    let data_ids: Vec<(Value, &str)> = ["a passphrase", RANDOM]
        .into_iter()
        .flat_map(|key| (0..4).map(move |_| key))
        .map(|key| (seal(&service, &json!({ "n": 1 }), key), key))
        .collect();
    let mut answers = Vec::new();
    for (data_id, _) in &data_ids {
        for wrong in [OTHER_RANDOM, "another"] {
            answers.push(settled(&open(&service, data_id, wrong)));
        }
    }
    // Modified in the database: damage, content of another record, another kind.
    assert!(service.stop().success());
    let changes = [
        "UPDATE data_records SET ciphertext = zeroblob(length(ciphertext)) WHERE data_id = ?1",
        "UPDATE data_records SET commitment = zeroblob(32), salt = x'00' WHERE data_id = ?1",
        "UPDATE data_records SET kind = 3 - kind WHERE data_id = ?1",
        "UPDATE data_records SET (salt, nonce, commitment, ciphertext) = (SELECT o.salt, o.nonce, o.commitment, \
            o.ciphertext FROM data_records o WHERE o.kind = data_records.kind AND o.data_id <> ?1 \
            ORDER BY o.position DESC LIMIT 1) WHERE data_id = ?1",
    ];
    for (number, (data_id, _)) in data_ids.iter().enumerate() {
        service.tamper(changes[number % 4], data_id.as_str().unwrap());
    }
    service.start_again();
    for (data_id, key) in &data_ids {
        answers.push(settled(&open(&service, data_id, key)));
    }
    assert_eq!(answers.len(), 24);
    for answer in &answers {
        assert_eq!(answer.0, 403);
        assert_eq!(*answer, answers[0]);
    }
    service.audit();
}

#[test]
fn decryption_attempts_are_recorded_in_the_ledger() {
    let service = Service::with(&["--read-log", "buffered"]);
    let data_id = seal(&service, &json!({}), RANDOM);
    open(&service, &data_id, RANDOM).expect(200);
    open(&service, &data_id, "another").expect(403);
    let size = service.checkpoint("main").size;
    let recorded: Vec<(Value, Value)> = (0..size)
        .map(|position| service.entry("main", position).0)
        .map(|entry| (entry["action"].clone(), entry["subject"].clone()))
        .filter(|(action, _)| action != "reads" && action != "create_timeline")
        .collect();
    let expected = [
        (json!("encrypt_data"), data_id.clone()),
        (json!("decrypt_data"), data_id.clone()),
        (json!("unauthorized_access_attempt"), json!("decrypt_data")),
    ];
    assert_eq!(recorded, expected);
    service.audit();
}
