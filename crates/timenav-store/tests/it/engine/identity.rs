//! Users and keys.

use timenav_core::clock::ClockCommand;
use timenav_core::limits::KEYS_PER_USER_MAX;
use timenav_core::time::{Instant, Wall};
use timenav_engine::{ApiKeyRequest, AuthFailure, Refusal, WallClock as _};

use crate::house::{House, on, told};
use crate::sample::{host, user_id};

fn request(expires_at: Option<Instant<Wall>>) -> ApiKeyRequest {
    ApiKeyRequest { user_id: None, timeline_id: on("main"), label: "é".to_owned(), scopes: None, expires_at }
}

#[tokio::test]
async fn api_key_works_until_it_expires_or_is_revoked() {
    let house = House::new();
    house.clock.stop();
    let home = house.open().await;
    let ada = home.user("ada", false).await;
    let now = house.clock.now().micros();
    let expiring = home.engine.create_api_key(&ada, request(Some(host(now + 10))), None).await.unwrap();
    let secret = expiring.secret.unwrap();
    let caller = home.engine.authenticate(&secret).unwrap();
    assert_eq!((&caller.user_id, Some(caller.timeline_id.clone())), (&user_id("ada"), on("main")));
    let plain = home.engine.create_api_key(&ada, request(None), None).await.unwrap();
    let (plain_id, plain) = (plain.key_id, plain.secret.unwrap());
    let home = home.reopen().await;
    house.clock.advance(9);
    assert!(home.engine.authenticate(&secret).is_ok());
    house.clock.advance(1);
    assert_eq!(home.engine.authenticate(&secret).err(), Some(AuthFailure::Invalid));
    assert!(home.engine.authenticate(&plain).is_ok());
    home.engine.revoke_api_key(&ada, plain_id.clone()).await.unwrap();
    assert_eq!(home.engine.authenticate(&plain).err(), Some(AuthFailure::Invalid));
    let again = home.engine.revoke_api_key(&ada, plain_id).await;
    assert!(matches!(again, Err(Refusal::NotFound { what: "API key", .. })));
    let past = home.engine.create_api_key(&ada, request(Some(host(now + 10))), None).await;
    assert!(matches!(past, Err(Refusal::Invalid { field, .. }) if field == "expires_at"));
    let home = home.reopen().await;
    for bad in [plain.as_str(), secret.as_str(), "", "tnk_", &plain[1..], &format!("{plain} ")] {
        assert_eq!(home.engine.authenticate(bad).err(), Some(AuthFailure::Invalid));
    }
    home.close().await;
}

#[tokio::test]
async fn deleted_user_loses_keys_and_last_operator_cannot_be_deleted() {
    let house = House::new();
    let home = house.open().await;
    let ada = home.user("ada", true).await;
    let second = home.caller("ada", None).await;
    assert!(matches!(home.engine.delete_user(&ada, user_id("nobody")).await, Err(Refusal::NotFound { .. })));
    home.engine.delete_user(&ada, user_id("admin")).await.unwrap();
    let last = home.engine.delete_user(&ada, user_id("ada")).await;
    assert!(matches!(last, Err(Refusal::LastOperator { .. })));
    home.engine.create_user(&ada, user_id("bob"), true, None).await.unwrap();
    let bob = ApiKeyRequest { user_id: Some(user_id("bob")), ..request(None) };
    let bob = home.engine.create_api_key(&ada, bob, None).await.unwrap();
    let bob = home.engine.authenticate(&bob.secret.unwrap()).unwrap();
    home.engine.delete_user(&bob, user_id("ada")).await.unwrap();
    assert!(!home.engine.may_watch(&second, &ada.timeline_id), "the keys are gone");
    assert_eq!(told(&home.engine.read_clock(&second, None).await), "Unidentified(Invalid)");
    let (users, _) = home.engine.users(&bob, 100, None).await.unwrap();
    assert_eq!(users.iter().map(|user| user.user_id.as_str()).collect::<Vec<_>>(), ["bob"]);
    let first_key = house.first_keys.lock()[0].clone();
    assert!(home.engine.authenticate(&first_key).is_err());
    home.close().await;
}

#[tokio::test]
async fn duplicate_and_reserved_user_names_are_rejected() {
    let house = House::new();
    let home = house.open().await;
    home.user("ada", false).await;
    for (name, expected) in [
        ("ada", r#"AlreadyExists { what: "user", id: "ada" }"#),
        ("unknown", "Invalid { field: \"user_id\", detail: \"`unknown` is reserved\" }"),
        ("system", "Invalid { field: \"user_id\", detail: \"`system` is reserved\" }"),
        ("Ada", "ok"),
    ] {
        assert_eq!(told(&home.engine.create_user(&home.admin, user_id(name), false, None).await), expected);
    }
    let nobody = ApiKeyRequest { user_id: Some(user_id("nobody")), ..request(None) };
    assert!(matches!(home.engine.create_api_key(&home.admin, nobody, None).await, Err(Refusal::NotFound { .. })));
    let long = ApiKeyRequest { label: "x".repeat(257), ..request(None) };
    assert!(matches!(home.engine.create_api_key(&home.admin, long, None).await, Err(Refusal::Invalid { .. })));
    home.close().await;
}

#[tokio::test]
async fn active_keys_are_limited_and_listed_newest_first() {
    let house = House::new();
    let home = house.open().await;
    let ada = home.user("ada", false).await;
    let mut last = None;
    for _ in 1..KEYS_PER_USER_MAX {
        last = Some(home.engine.create_api_key(&ada, request(None), None).await.unwrap());
    }
    let refused = home.engine.create_api_key(&ada, request(None), None).await;
    assert_eq!(told(&refused), r#"LimitReached { what: "active keys of this user", max: 100 }"#);
    let last = last.unwrap();
    let (keys, next) = home.engine.api_keys(&ada, None, 100, None).await.unwrap();
    assert_eq!(next, None);
    assert_eq!((keys.len(), &keys[0].key_id, &keys[99].key_id), (100, &last.key_id, &crate::sample::key_id(&ada)));
    home.engine.revoke_api_key(&ada, last.key_id).await.unwrap();
    home.engine.create_api_key(&ada, request(None), None).await.unwrap();
    home.close().await;
}

#[tokio::test]
async fn recreated_user_gets_a_new_identity() {
    let house = House::new();
    let home = house.open().await;
    let ada = home.user("ada", false).await;
    home.engine.change_clock(&ada, on("hers"), ClockCommand::Pause, None).await.unwrap();
    home.engine.delete_user(&home.admin, user_id("ada")).await.unwrap();
    assert_eq!(told(&home.engine.read_clock(&ada, on("hers")).await), "Unidentified(Invalid)");
    let home = home.reopen().await;
    let again = home.user("ada", false).await;
    assert_ne!(again.credential, ada.credential);
    home.close().await;
}
