//! `POST /v1/api-keys`, `GET /v1/api-keys`, `DELETE /v1/api-keys/{key_id}`.

use serde_json::{Value, json};

use crate::snapshot;
use crate::support::http::{Answer, Request, target};
use crate::support::service::Service;
use crate::v1::{assert_invalid, pages, post_invalid, send, texts};

fn revoke(service: &Service, key: &str, key_id: &Value) -> Answer {
    service.send(Request::new("DELETE", &format!("/v1/api-keys/{}", key_id.as_str().unwrap())).key(key))
}

fn look(service: &Service, key: &str) -> Answer {
    service.send(Request::get("/v1/clock").key(key))
}

#[test]
fn keys_are_created_listed_and_revoked() {
    let service = Service::start();
    service.post("/v1/timelines", &json!({ "timeline_id": "t" }));
    let all = json!({ "user_id": "admin", "timeline_id": "t", "label": "l", "scopes": ["timeline:read"],
        "expires_at": "2999-01-01T00:00:00+01:00" });
    let made = send(&service, "/v1/api-keys", &all);
    snapshot::check("key-made", &made);
    let key = made.json()["api_key"].as_str().unwrap().to_owned();
    assert!(key.starts_with("tnk_") && key.len() == 40, "{key}");
    snapshot::check("key-refused", &send(&service, "/v1/api-keys", &json!({ "scopes": ["timeline:reed"] })));
    snapshot::check("keys", &service.send(Request::get("/v1/api-keys")));
    let stop = format!("/v1/api-keys/{}", made.json()["key_id"].as_str().unwrap());
    snapshot::check("key-stopped", &service.send(Request::new("DELETE", &stop)));
    let again = service.send(Request::new("DELETE", &stop)).refused(404, "not_found");
    assert!(again["detail"].as_str().unwrap().starts_with("there is no API key"), "{again}");
    let listed = service.get("/v1/api-keys", &[])["api_keys"].clone();
    assert!(listed[0]["revoked_at"].is_string(), "{listed}");
    // It is shown once and never logged.
    assert!(!listed.to_string().contains(&key) && !service.log_text().contains("tnk_"));
    service.audit();
}

#[test]
fn revoked_key_is_rejected_permanently() {
    let mut service = Service::start();
    let made = service.post("/v1/api-keys", &json!({}));
    let key = made["api_key"].as_str().unwrap();
    look(&service, key).expect(200);
    // A key can revoke itself.
    revoke(&service, key, &made["key_id"]).expect(200);
    look(&service, key).refused(401, "invalid_credentials");
    service.kill();
    service.start_again();
    look(&service, key).refused(401, "invalid_credentials");
    look(&service, &service.admin).expect(200);
    service.audit();
}

/// Keys are created, expire and are revoked in host time.
#[test]
fn time_travel_neither_ends_nor_revives_a_key() {
    let service = Service::start();
    let live = service.key(&json!({ "expires_at": "2999-01-01T00:00:00Z" }));
    let revoked = service.post("/v1/api-keys", &json!({}));
    revoke(&service, &service.admin, &revoked["key_id"]).expect(200);
    for destination in ["-009000-01-01T00:00:00Z", "2026-01-01T00:00:00Z", "9000-01-01T00:00:00Z"] {
        service.post("/v1/travel", &json!({ "destination_time": destination }));
        look(&service, &live).expect(200);
        look(&service, revoked["api_key"].as_str().unwrap()).refused(401, "invalid_credentials");
        for wrong in ["1970-01-01T00:00:00Z", "2026-01-01T00:00:00Z", "2999-01-01", "P1D", ""] {
            post_invalid(&service, "/v1/api-keys", &json!({ "expires_at": wrong }), "#/expires_at");
        }
        let listed = service.get("/v1/api-keys", &[])["api_keys"].clone();
        for created_at in texts(listed.as_array().unwrap(), "created_at") {
            let year: i32 = created_at[..4].parse().unwrap();
            assert!((2026..2100).contains(&year), "{created_at}");
        }
    }
    service.audit();
}

#[test]
fn keys_per_user_are_limited() {
    let service = Service::start();
    let max = service.get("/v1/limits", &[])["limits"]["keys_per_user_max"].as_u64().unwrap();
    service.post("/v1/users", &json!({ "user_id": "many" }));
    let create = || send(&service, "/v1/api-keys", &json!({ "user_id": "many" }));
    let keys: Vec<Value> = (0..max).map(|_| create().expect(201)).collect();
    create().refused(409, "conflict");
    // A revoked key frees a slot.
    revoke(&service, &service.admin, &keys[0]["key_id"]).expect(200);
    create().expect(201);
    service.audit();
}

#[test]
fn keys_are_paged_and_revoked_ones_stay_listed() {
    let mut service = Service::start();
    let ada = service.user("ada");
    let create = |number: u8| {
        service.post("/v1/api-keys", &json!({ "user_id": "ada", "label": number.to_string() }))["key_id"].clone()
    };
    let mut newest_first: Vec<Value> = (0..7).map(create).collect();
    newest_first.reverse();
    for key_id in &newest_first[2..] {
        revoke(&service, &service.admin, key_id).expect(200);
    }
    for restarts in [false, true] {
        if restarts {
            service.restart();
        }
        let page = |cursor: &[(&str, &str)]| {
            let path = target("/v1/api-keys", &[&[("limit", "3")], cursor].concat());
            service.send(Request::get(&path).key(&ada)).expect(200)
        };
        let listed = pages("api_keys", page).concat();
        let ids: Vec<&Value> = listed.iter().map(|key| &key["key_id"]).collect();
        assert_eq!(ids[..7], newest_first.iter().collect::<Vec<_>>());
        assert_eq!(listed.len(), 8, "and the first one");
        assert_eq!(listed.iter().filter(|key| key["revoked_at"].is_string()).count(), 5);
    }
    // A cursor must be a key of the same user.
    let of_admin = service.get("/v1/api-keys", &[])["api_keys"][0]["key_id"].as_str().unwrap().to_owned();
    for wrong in [of_admin.as_str(), "key_nothing", "x y"] {
        let request = Request::get(&target("/v1/api-keys", &[("cursor", wrong)])).key(&ada);
        assert_invalid(service.send(request), "#/cursor");
    }
    service.audit();
}
