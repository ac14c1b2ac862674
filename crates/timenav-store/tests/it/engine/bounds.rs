//! Bounds of the whole service: how many timelines there may be, and how many submissions may wait.

use std::sync::Arc;

use timenav_core::clock::ClockCommand;
use timenav_engine::{Options, QUEUE_SUBMISSIONS_MAX, ReadLog};

use crate::faulty_store::FaultyStore;
use crate::house::{House, on, told};
use crate::sample::timeline_id;

/// More turns of the runtime than a read needs that nothing holds up.
const TURNS: usize = 1_000;

#[tokio::test]
async fn so_many_timelines_and_no_more() {
    let house = House::with(Options { timelines_max: 4, ..House::new().options });
    let home = house.open().await;
    // `system` and `main` are timelines too.
    let (engine, admin) = (&home.engine, &home.admin);
    engine.create_timeline(admin, timeline_id("third"), None).await.unwrap();
    engine.change_clock(admin, on("fourth"), ClockCommand::Pause, None).await.unwrap();
    let expected = r#"LimitReached { what: "timelines", max: 4 }"#;
    assert_eq!(told(&engine.create_timeline(admin, timeline_id("fifth"), None).await), expected);
    assert_eq!(told(&engine.change_clock(admin, on("fifth"), ClockCommand::Pause, None).await), expected);
    assert_eq!(engine.stats().timelines, 4);
    home.close().await;
}

#[tokio::test]
async fn so_many_wait_in_the_queue_and_others_wait_for_it() {
    // Buffered reads are answered as soon as there is room for their entries.
    let house = House::with(Options { read_log: ReadLog::Buffered, ..House::new().options });
    let store = Arc::new(FaultyStore::new(house.store()));
    let home = house.try_open(Arc::clone(&store) as _).await.unwrap();
    store.close_gate();
    let (engine, admin) = (home.engine.clone(), home.admin.clone());
    let first = tokio::spawn(async move { engine.change_clock(&admin, None, ClockCommand::Pause, None).await });
    // The committer has taken it, and waits for the store: from here on nobody takes anything.
    store.arrival().await;
    for _ in 0..QUEUE_SUBMISSIONS_MAX {
        home.engine.read_clock(&home.admin, None).await.unwrap();
    }
    let (engine, admin) = (home.engine.clone(), home.admin.clone());
    let one_more = tokio::spawn(async move { engine.read_clock(&admin, None).await });
    for _ in 0..TURNS {
        tokio::task::yield_now().await;
    }
    assert!(!one_more.is_finished(), "there was room for one more");
    store.open_gate();
    one_more.await.unwrap().unwrap();
    first.await.unwrap().unwrap();
    home.close().await;
}
