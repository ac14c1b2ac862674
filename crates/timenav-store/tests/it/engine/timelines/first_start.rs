//! The first start creates the credentials for access, and no crash can leave a service without them.

use crate::engine::*;

#[tokio::test]
async fn first_start_creates_an_operator_a_key_and_two_timelines() {
    let house = House::new();
    let home = house.open().await;
    let opened = home.store.open().await.unwrap();
    let directory = opened.directory;
    assert_eq!(directory.users.len(), 1);
    assert!(directory.users.get(&user_id("admin")).unwrap().operator);
    assert_eq!(directory.keys.len(), 1);
    assert_eq!((&home.admin.user_id, &home.admin.timeline_id), (&user_id("admin"), &timeline_id("main")));
    assert!(home.admin.scopes.is_none());
    let main = opened.heads.iter().find(|head| head.id.as_str() == "main").unwrap();
    assert_eq!(main.permissions.admin, users(["admin"]));
    assert_eq!(main.clock.generation, 0);
    let lines = home.close().await;
    let short: Vec<String> = lines.iter().map(crate::audit::Line::short).collect();
    let key_id = directory.keys.values().next().unwrap().key_id.clone();
    let expected = [
        "main system create_timeline main".to_owned(),
        "system system create_timeline system".to_owned(),
        "system system create_user admin".to_owned(),
        "system system create_timeline main".to_owned(),
        format!("system system create_api_key {key_id}"),
    ];
    assert_eq!(short, expected);
    assert_eq!(lines[0].payload["permissions"]["admin"], serde_json::json!(["admin"]));
    let secret = house.first_keys.lock()[0].clone();
    assert!(!lines.iter().any(|line| line.payload.to_string().contains(&secret)), "the ledger gives the key away");
}

#[tokio::test]
async fn first_key_is_stored_before_the_first_commit() {
    let house = House::new();
    let path = house.path();
    let mut seen = None;
    let keep = |_: &str| {
        let count = |connection: rusqlite::Connection| {
            connection.query_row("SELECT count(*) FROM timelines", [], |row| row.get::<_, i64>(0)).unwrap()
        };
        seen = Some(count(rusqlite::Connection::open(&path).unwrap()));
        Ok(())
    };
    let engine = Engine::open(house.store(), house.ports(), house.options.clone(), keep).await.unwrap();
    engine.close().await;
    assert_eq!(seen, Some(0));
}

#[tokio::test]
async fn unstorable_first_key_prevents_initialization() {
    let house = House::new();
    let keep = |_: &str| Err(std::io::Error::other("no such folder"));
    let refused = Engine::open(house.store(), house.ports(), house.options.clone(), keep).await;
    assert!(matches!(refused, Err(OpenError::Bootstrap(detail)) if detail.contains("no such folder")));
    assert!(house.store().open().await.unwrap().heads.is_empty());
    assert_eq!(house.outside.steps_count(), 0);
    house.open().await.close().await;
}

#[tokio::test]
async fn failed_first_commit_is_repeated_by_the_next_start() {
    let house = House::new();
    let store = Arc::new(FaultyStore::new(house.store()));
    store.set_commits_failing(true);
    assert!(matches!(house.try_open(store).await, Err(OpenError::Store(_))));
    assert!(house.store().open().await.unwrap().heads.is_empty());
    let home = house.open().await;
    assert_eq!(house.first_keys.lock().len(), 2);
    assert_eq!(home.engine.authenticate(&house.first_keys.lock()[0]).err(), Some(timenav_engine::AuthFailure::Invalid));
    home.close().await;
}

#[tokio::test]
async fn crash_before_first_checkpoints_keeps_the_first_key() {
    let house = House::new();
    let home = house.open().await;
    home.stop().await;
    house.outside.lose_last();
    let home = house.open().await;
    // Both timelines are written to, so that both have an external checkpoint again.
    home.read_clock(None).await;
    home.engine.users(&home.admin, 100, None).await.unwrap();
    home.close().await;
    assert_eq!(house.first_keys.lock().len(), 1, "no second key was made");
}

#[tokio::test]
async fn later_starts_create_nothing() {
    let house = House::new();
    let before = house.open().await.close().await;
    house.clock.advance(1_000_000);
    assert_eq!(house.open().await.close().await, before);
    assert_eq!(house.first_keys.lock().len(), 1);
}

#[tokio::test]
async fn closed_engine_rejects_requests_and_can_be_closed_again() {
    let home = Home::new().await;
    home.engine.close().await;
    let refused = home.engine.read_clock(&home.admin, on("main")).await;
    assert!(matches!(refused, Err(timenav_engine::Refusal::Unavailable(_))));
    home.close().await;
}

#[tokio::test]
async fn engine_opens_in_the_last_supported_year() {
    let house = House::new();
    house.clock.stop();
    house.clock.advance(Instant::<timenav_core::time::Wall>::MAX.micros() - crate::ports::FakeClock::START);
    let home = house.open().await;
    home.read_clock(None).await;
    home.close().await;
}
