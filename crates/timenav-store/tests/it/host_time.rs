//! The host clock compared with the database's, and with the entries of another service.

use std::sync::Arc;

use timenav_core::time::Span;
use timenav_engine::{NewTimeline, OpenError, Refusal, Store, WallClock as _};

use crate::house::{Home, House};
use crate::ports::FakeClock;
use crate::requests::SECOND;
use crate::sample::{hour, timeline_id, user_id};

/// A house whose clock is compared with the database's. The test clock is stopped, so that slow steps cause an offset
/// too: the allowed one is large.
fn house() -> House {
    let mut house = House::on_postgres();
    house.options.host_clock_offset_millis_max = 60_000;
    house
}

/// Sets a stopped clock to the database's time plus an offset.
async fn set(clock: &FakeClock, store: &dyn Store, ahead: i64) {
    let database = store.database_clock().await.unwrap().unwrap();
    clock.advance(database.micros() + ahead - clock.now().micros());
}

async fn change(home: &Home<'_>) -> Result<(), Refusal> {
    home.engine.change_clock(&home.admin, None, hour(), None).await.map(|_| ())
}

fn reason_of(refused: Result<(), Refusal>) -> String {
    match refused {
        Err(Refusal::Unavailable(reason)) => reason,
        other => panic!("{other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn clock_offset_blocks_readiness_and_expiry() {
    let house = house();
    set(&house.clock, &*house.store(), 0).await;
    let home = house.open().await;
    home.engine.ready().await.unwrap();
    let job = NewTimeline { expires_in: Some(Span::from_micros(SECOND)), ..timeline_id("job").into() };
    home.create_timeline(job).await;
    for (ahead, direction) in [(600 * SECOND, "ahead of"), (-600 * SECOND, "behind")] {
        set(&house.clock, &*home.store, ahead).await;
        home.engine.compare_clocks().await.unwrap();
        let reason = reason_of(home.engine.ready().await);
        assert!(reason.contains(&format!(" s) {direction} the database's; at most 60.000 s are allowed")), "{reason}");
        assert!(reason_of(change(&home).await).contains("the database's"));
        assert!(home.engine.stats().is_host_clock_untrusted);
        let offset = home.engine.replica().unwrap().clock_offset.unwrap();
        assert!((offset.micros - ahead).abs() < 60 * SECOND, "{offset:?}");
        home.engine.tend().await.unwrap();
        assert_eq!(home.size("job").await, 1, "nothing ends by such a clock");
    }
    set(&house.clock, &*home.store, SECOND).await;
    home.engine.compare_clocks().await.unwrap();
    home.engine.ready().await.unwrap();
    change(&home).await.unwrap();
    set(&house.clock, &*home.store, 0).await;
    house.clock.advance(2 * SECOND);
    home.engine.tend().await.unwrap();
    assert_eq!(home.size("job").await, 0, "its time has come");
    home.stop().await;
    // At a start it is detected before anything is done.
    set(&house.clock, &*house.store(), 86_400 * SECOND).await;
    let home = house.open().await;
    assert!(reason_of(home.engine.ready().await).contains("ahead of the database's"));
    home.engine.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn start_with_a_wrong_clock_is_rejected() {
    let house = house();
    set(&house.clock, &*house.store(), 600 * SECOND).await;
    let refused = house.open_error().await;
    assert!(matches!(&refused, OpenError::Bootstrap(why) if why.contains("ahead of")), "{refused}");
    set(&house.clock, &*house.store(), 0).await;
    house.open().await.engine.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn entry_from_the_future_is_reported_until_accepted() {
    let house = house();
    set(&house.clock, &*house.store(), 0).await;
    let home = house.open().await;
    // Another service, which does not compare clocks.
    let mut other = house.replica();
    other.clock = Arc::new(FakeClock::new());
    other.options.host_clock_offset_millis_max = 0;
    other.options.joins = true;
    set(&other.clock, &*home.store, 600 * SECOND).await;
    let wrong = other.open().await;
    wrong.engine.create_user(&wrong.admin, user_id("ada"), false, None).await.unwrap();
    wrong.engine.close().await;
    home.engine.catch_up_all().await.unwrap();
    set(&house.clock, &*home.store, 0).await;
    home.engine.compare_clocks().await.unwrap();
    let reason = reason_of(home.engine.ready().await);
    assert!(reason.contains("behind the newest entry of `system`"), "{reason}");
    assert!(home.engine.stats().is_host_clock_untrusted);
    // It agrees with the database's clock, so it writes.
    change(&home).await.unwrap();
    home.engine.prune(&home.admin, timeline_id("main"), true, None).await.unwrap();
    home.engine.compare_clocks().await.unwrap();
    home.engine.ready().await.unwrap();
    assert!(!home.engine.stats().is_host_clock_untrusted);
    home.engine.close().await;
}
