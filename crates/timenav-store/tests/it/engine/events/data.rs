//! Sealing, opening and erasing, with a vault without encryption.

use timenav_core::limits::{DATA_BYTES_MAX, DECRYPT_FREE_ATTEMPTS_MAX};

use crate::engine::*;
use crate::ports::FakeVault;

fn key(text: &str) -> EncryptionKey {
    EncryptionKey::new(Zeroizing::new(text.to_owned())).unwrap()
}

fn data(text: &str) -> Plaintext {
    Plaintext::new(Zeroizing::new(text.to_owned()))
}

async fn seal(home: &Home<'_>, timeline: &str) -> DataId {
    let sealed = home.engine.encrypt_data(&home.admin, timeline_id(timeline), data("{\"a\":1}"), key("k"), None);
    sealed.await.unwrap().change.data_id
}

async fn open(home: &Home<'_>, data_id: &DataId, text: &str) -> Result<String, Refusal> {
    let opened = home.engine.decrypt_data(&home.admin, None, data_id.clone(), key(text)).await;
    opened.map(|data| data.as_str().to_owned())
}

fn house_with_vault(options: Options) -> (House, Arc<FakeVault>) {
    let vault = Arc::<FakeVault>::default();
    let mut house = House::with(options);
    house.vault = Some(Arc::clone(&vault) as _);
    (house, vault)
}

#[tokio::test]
async fn unauthorized_requests_do_no_key_derivation() {
    let (house, vault) = house_with_vault(House::new().options);
    let home = house.open().await;
    let data_id = seal(&home, "main").await;
    let stranger = home.user("bob", false).await;
    let before = home.size("main").await;
    let refused = home.engine.decrypt_data(&stranger, None, data_id.clone(), key("k")).await;
    let hidden = outcome_text(&refused).replace(data_id.as_str(), "NAME");
    let refused = home.engine.decrypt_data(&stranger, None, DataId::new("data_x").unwrap(), key("k")).await;
    assert_eq!(outcome_text(&refused).replace("data_x", "NAME"), hidden);
    let refused = home.engine.encrypt_data(&stranger, timeline_id("main"), data("{}"), key("k"), None).await;
    assert_eq!(outcome_text(&refused), "Hidden");
    let request = ErasureRequest::Data(None, data_id);
    assert!(matches!(home.engine.erase_data(&stranger, request, None).await, Err(Refusal::NotFound { .. })));
    assert_eq!(vault.opened_count.load(Ordering::SeqCst), 0);
    assert_eq!(home.size("main").await, before + 3, "each attempt is an entry");
    home.close().await;
}

#[tokio::test]
async fn wrong_keys_delay_further_decryption_attempts() {
    let (house, vault) = house_with_vault(House::new().options);
    let home = house.open().await;
    house.clock.stop();
    let (data_id, other) = (seal(&home, "main").await, seal(&home, "main").await);
    let mut waits = Vec::new();
    for _ in 0..DECRYPT_FREE_ATTEMPTS_MAX + 2 {
        while let Err(refused) = open(&home, &data_id, "wrong").await {
            let Refusal::RateLimited { retry_after_seconds, .. } = refused else { break };
            waits.push(retry_after_seconds);
            open(&home, &other, "k").await.unwrap();
            assert!(open(&home, &data_id, "k").await.is_err(), "the right key waits too");
            house.clock.advance(i64::try_from(retry_after_seconds).unwrap() * 1_000_000);
        }
    }
    assert_eq!(waits, [60, 120]);
    house.clock.advance(240 * 1_000_000);
    open(&home, &data_id, "k").await.unwrap();
    // A right key does not reset the limit.
    assert!(matches!(open(&home, &data_id, "wrong").await, Err(Refusal::WrongEncryptionKey)));
    assert!(matches!(open(&home, &data_id, "k").await, Err(Refusal::RateLimited { retry_after_seconds: 480, .. })));
    let tried = vault.opened_count.load(Ordering::SeqCst);
    assert!(open(&home, &data_id, "k").await.is_err());
    assert_eq!(vault.opened_count.load(Ordering::SeqCst), tried, "a refused attempt costs the vault nothing");
    home.close().await;
}

#[tokio::test]
async fn busy_or_disabled_vault_returns_a_specific_error() {
    let (house, vault) = house_with_vault(House::new().options);
    let home = house.open().await;
    let data_id = seal(&home, "main").await;
    vault.set_busy(true);
    assert!(matches!(open(&home, &data_id, "k").await, Err(Refusal::RateLimited { retry_after_seconds: 1, .. })));
    vault.set_busy(false);
    open(&home, &data_id, "k").await.unwrap();
    let too_large = data(&"x".repeat(DATA_BYTES_MAX + 1));
    let refused = home.engine.encrypt_data(&home.admin, timeline_id("main"), too_large, key("k"), None).await;
    assert!(matches!(refused, Err(Refusal::Invalid { field, .. }) if field == "data"));
    home.close().await;
    let mut off = house;
    off.vault = None;
    let home = off.open().await;
    assert!(matches!(open(&home, &data_id, "k").await, Err(Refusal::FeatureDisabled { .. })));
    home.engine.erase_data(&home.admin, ErasureRequest::Data(None, data_id), None).await.unwrap();
    home.close().await;
}

#[tokio::test]
async fn concurrent_erasures_in_one_group_erase_once() {
    let home = Home::new().await;
    let draft = named_event("e", 1, "x");
    home.record_events(None, vec![draft.clone()]).await;
    let erasure = ErasureRequest::Event(None, event_id("e"));
    let erase = || home.engine.erase_data(&home.admin, erasure.clone(), None);
    let (a, b, c) = tokio::join!(erase(), erase(), erase());
    let done = [&a, &b, &c].into_iter().filter(|one| one.is_ok()).count();
    assert_eq!(done, 1, "{a:?} {b:?} {c:?}");
    // The id is available again, and erasing it again erases the new event.
    home.record_events(None, vec![draft]).await;
    let home = home.reopen().await;
    let again = home.engine.erase_data(&home.admin, erasure.clone(), None).await.unwrap();
    assert!(again.change.position > a.or(b).or(c).unwrap().change.position);
    home.close().await;
}
