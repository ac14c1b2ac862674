//! `POST /v1/api-keys`, `GET /v1/api-keys`, `DELETE /v1/api-keys/{key_id}`.

use serde_json::{Value, json};

use crate::snapshot;
use crate::support::http::{Answer, Request, target};
use crate::support::service::Service;
use crate::v1::{PREFIXES, send};

fn revoke(service: &Service, key: &str, key_id: &Value) -> Answer {
    service.send(Request::new("DELETE", &format!("/v1/api-keys/{}", key_id.as_str().unwrap())).key(key))
}

fn make(service: &Service, key: &str, body: &Value) -> Answer {
    service.send(Request::post("/v1/api-keys").json(body).key(key))
}

fn look(service: &Service, key: &str) -> Answer {
    service.send(Request::get("/v1/clock").key(key))
}

#[test]
fn keys_are_created_listed_and_revoked() {
    for prefix in PREFIXES {
        let service = Service::start();
        let path = format!("{prefix}/api-keys");
        service.post("/v1/timelines", &json!({ "timeline_id": "t" }));
        let all = json!({ "user_id": "admin", "timeline_id": "t", "label": "l", "scopes": ["timeline:read"],
            "expires_at": "2999-01-01T00:00:00+01:00" });
        let made = send(&service, &path, &all);
        snapshot::check("key-made", &made);
        snapshot::check("key-refused", &send(&service, &path, &json!({ "scopes": ["timeline:reed"] })));
        snapshot::check("keys", &service.send(Request::get(&path)));
        let stop = format!("{path}/{}", made.json()["key_id"].as_str().unwrap());
        snapshot::check("key-stopped", &service.send(Request::new("DELETE", &stop)));
        let again = service.send(Request::new("DELETE", &stop)).refused(404, "not_found");
        assert!(again["detail"].as_str().unwrap().starts_with("there is no API key"), "{again}");
        let listed = service.get(&path, &[])["api_keys"].clone();
        assert!(listed[0]["revoked_at"].is_string(), "a stopped key stays in the list: {listed}");
        service.audit();
    }
}

#[test]
fn key_has_a_prefix_and_checksum() {
    let service = Service::start();
    let keys: Vec<String> = (0..20).map(|_| service.key(&json!({}))).collect();
    for key in keys.iter().chain([&service.admin]) {
        let rest = key.strip_prefix("tnk_").expect("the prefix that scanners look for");
        assert_eq!(rest.len(), 36);
        assert!(rest.bytes().all(|byte| byte.is_ascii_alphanumeric()), "{key}");
        // PROTOCOLS.md §9: CRC-32 of the first thirty, in base 62.
        assert_eq!(checksum(&rest[..30]), rest[30..], "{key}");
    }
    assert_eq!(checksum("zQWBuTSOoRi4A9spHcVY5ncnsDkxkJ"), "0mLq17", "GitHub's published sample");
    let listed = service.send(Request::get("/v1/api-keys")).text();
    assert!(keys.iter().all(|key| !listed.contains(key.as_str())), "a key is shown once");
    assert!(!service.log_text().contains("tnk_"), "a key is never logged");
    service.audit();
}

/// Returns the last six characters of a key.
fn checksum(entropy: &str) -> String {
    let crc = entropy.bytes().fold(u32::MAX, |crc, byte| {
        (0..8).fold(crc ^ u32::from(byte), |crc, _| (crc >> 1) ^ (0xedb8_8320 & (crc & 1).wrapping_neg()))
    });
    let alphabet = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    let mut rest = !crc;
    let mut digits = [b'0'; 6];
    for digit in digits.iter_mut().rev() {
        *digit = alphabet[usize::try_from(rest % 62).unwrap()];
        rest /= 62;
    }
    String::from_utf8(digits.to_vec()).unwrap()
}

#[test]
fn revoked_key_is_rejected_permanently() {
    let mut service = Service::start();
    let made = service.post("/v1/api-keys", &json!({}));
    let key = made["api_key"].as_str().unwrap().to_owned();
    let other_key = service.key(&json!({}));
    look(&service, &key).expect(200);
    revoke(&service, &other_key, &made["key_id"]).expect(200);
    look(&service, &key).refused(401, "invalid_credentials");
    service.kill();
    service.start_again();
    look(&service, &key).refused(401, "invalid_credentials");
    look(&service, &other_key).expect(200);
    service.audit();
}

#[test]
fn key_can_revoke_itself() {
    let service = Service::start();
    let made = service.post("/v1/api-keys", &json!({}));
    let key = made["api_key"].as_str().unwrap();
    revoke(&service, key, &made["key_id"]).expect(200);
    revoke(&service, key, &made["key_id"]).refused(401, "invalid_credentials");
    service.audit();
}

#[test]
fn key_expiry_must_be_in_the_host_future() {
    let service = Service::start();
    // Regardless of the clock: keys expire in host time.
    for destination in ["-009000-01-01T00:00:00Z", "2026-01-01T00:00:00Z", "9000-01-01T00:00:00Z"] {
        service.post("/v1/travel", &json!({ "destination_time": destination }));
        for past in ["1970-01-01T00:00:00Z", "2026-01-01T00:00:00Z", "-000043-03-15T12:00:00Z"] {
            let refused =
                send(&service, "/v1/api-keys", &json!({ "expires_at": past })).refused(400, "invalid_parameter");
            assert_eq!(refused["errors"][0]["pointer"], "#/expires_at", "{past}");
        }
        for wrong in ["2999-01-01", "2999-01-01T00:00:00", "P1D", ""] {
            send(&service, "/v1/api-keys", &json!({ "expires_at": wrong })).refused(400, "invalid_parameter");
        }
        let key = service.key(&json!({ "expires_at": "2999-01-01T00:00:00Z" }));
        look(&service, &key).expect(200);
    }
    service.audit();
}

#[test]
fn time_travel_neither_ends_nor_revives_a_key() {
    let service = Service::start();
    let live = service.key(&json!({ "expires_at": "2999-01-01T00:00:00Z" }));
    let stopped = service.post("/v1/api-keys", &json!({}));
    revoke(&service, &service.admin, &stopped["key_id"]).expect(200);
    for (path, body) in [
        ("/v1/travel", json!({ "destination_time": "-006974-01-01T00:00:00Z" })),
        ("/v1/travel", json!({ "destination_time": "9999-01-01T00:00:00Z" })),
        ("/v1/rewind", json!({ "duration": "P9000Y" })),
        ("/v1/fast-forward", json!({ "duration": "P9000Y" })),
        ("/v1/travel", json!({ "destination_time": "9999-01-01T00:00:00Z", "timeline_id": "system" })),
    ] {
        // The clock of `system` may not be movable; keys do not depend on it anyway.
        service.send(Request::post(path).json(&body));
        look(&service, &live).expect(200);
        look(&service, stopped["api_key"].as_str().unwrap()).refused(401, "invalid_credentials");
        let listed = service.get("/v1/api-keys", &[]);
        for key in listed["api_keys"].as_array().unwrap() {
            let year: i32 = key["created_at"].as_str().unwrap()[..4].parse().unwrap();
            assert!((2026..2100).contains(&year), "{key}");
        }
    }
    service.audit();
}

#[test]
fn keys_are_managed_by_owner_or_operator() {
    let service = Service::start();
    let ada = service.user("ada");
    let bob = service.user("bob");
    let second = make(&service, &ada, &json!({ "label": "second" })).expect(201);
    assert_eq!(second["user_id"], "ada");
    let of_ada = service.send(Request::get("/v1/api-keys").key(&ada)).expect(200);
    assert_eq!(of_ada["api_keys"].as_array().unwrap().len(), 2);
    assert_eq!(of_ada["api_keys"][0]["label"], "second", "newest first");
    // A key for another user.
    make(&service, &bob, &json!({ "user_id": "ada" })).refused(403, "permission_denied");
    make(&service, &bob, &json!({ "user_id": "nobody" })).refused(403, "permission_denied");
    service.send(Request::get("/v1/api-keys?user_id=ada").key(&bob)).refused(403, "permission_denied");
    service.send(Request::get("/v1/api-keys?user_id=nobody").key(&bob)).refused(403, "permission_denied");
    // The response does not reveal whether another user's key exists.
    let existing = revoke(&service, &bob, &second["key_id"]);
    let missing = revoke(&service, &bob, &json!("key_01m7vta4amezq86fvehdddy59z"));
    assert_eq!(existing.status, missing.status, "{existing} {missing}");
    let code = |answer: Answer| answer.json()["code"].clone();
    assert_eq!(code(existing), code(missing));
    look(&service, &ada).refused(404, "not_found");
    // An operator may.
    let listed = service.get("/v1/api-keys", &[("user_id", "ada")]);
    assert_eq!(listed["api_keys"], of_ada["api_keys"]);
    revoke(&service, &service.admin, &second["key_id"]).expect(200);
    make(&service, &service.admin, &json!({ "user_id": "nobody" })).refused(404, "not_found");
    service.audit();
}

#[test]
fn keys_per_user_are_limited() {
    let service = Service::start();
    let max = service.get("/v1/limits", &[])["limits"]["keys_per_user_max"].as_u64().unwrap();
    service.post("/v1/users", &json!({ "user_id": "many" }));
    let mut last = Value::Null;
    for _ in 0..max {
        last = service.post("/v1/api-keys", &json!({ "user_id": "many" }));
    }
    send(&service, "/v1/api-keys", &json!({ "user_id": "many" })).refused(409, "conflict");
    // A revoked key frees a slot.
    revoke(&service, &service.admin, &last["key_id"]).expect(200);
    send(&service, "/v1/api-keys", &json!({ "user_id": "many" })).expect(201);
    let refused =
        send(&service, "/v1/api-keys", &json!({ "label": "x".repeat(257) })).refused(400, "invalid_parameter");
    assert_eq!(refused["errors"][0]["pointer"], "#/label");
    service.audit();
}

#[test]
fn keys_are_paged_and_revoked_ones_stay_listed() {
    let mut service = Service::start();
    let ada = service.user("ada");
    let mut made: Vec<String> = Vec::new();
    for number in 0..7 {
        let key = service.post("/v1/api-keys", &json!({ "user_id": "ada", "label": format!("{number}") }));
        made.push(key["key_id"].as_str().unwrap().to_owned());
    }
    for stopped in &made[..5] {
        service.send(Request::new("DELETE", &format!("/v1/api-keys/{stopped}"))).expect(200);
    }
    for restarts in [false, true] {
        if restarts {
            service.restart();
        }
        let (mut seen, mut cursor) = (Vec::new(), None::<String>);
        loop {
            let mut parameters = vec![("limit", "3")];
            parameters.extend(cursor.as_deref().map(|cursor| ("cursor", cursor)));
            let page = service.send(Request::get(&target("/v1/api-keys", &parameters)).key(&ada)).expect(200);
            seen.extend(page["api_keys"].as_array().unwrap().clone());
            assert_eq!(page["has_more"], page["next_cursor"].is_string());
            match page["next_cursor"].as_str() {
                Some(next) => cursor = Some(next.to_owned()),
                None => break,
            }
        }
        let ids: Vec<&str> = seen.iter().map(|key| key["key_id"].as_str().unwrap()).collect();
        assert_eq!(ids[..7], made.iter().rev().map(String::as_str).collect::<Vec<_>>());
        assert_eq!(seen.len(), 8, "and the first one");
        let stopped = seen.iter().filter(|key| key.get("revoked_at").is_some()).count();
        assert_eq!(stopped, 5, "those that were stopped are told forever");
    }
    // A cursor must be a key of the same user.
    let others = service.get("/v1/api-keys", &[])["api_keys"][0]["key_id"].as_str().unwrap().to_owned();
    for wrong in [others.as_str(), "key_nothing", "x y"] {
        let ask = Request::get(&target("/v1/api-keys", &[("cursor", wrong)])).key(&ada);
        let refused = service.send(ask).refused(400, "invalid_parameter");
        assert_eq!(refused["errors"][0]["pointer"], "#/cursor", "{wrong}");
    }
    service.audit();
}
