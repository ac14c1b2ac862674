//! Users and keys.

use timenav_engine::AuthFailure;

use crate::engine::*;
use crate::sample::host;

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
