//! A host clock that was wrong once, and is right again at the next start.

use timenav_core::limits::HOST_CLOCK_BEHIND_SECONDS_MAX;

use crate::engine::access::sessions::{lasts, log_in, with_password};
use crate::engine::*;

/// Goes through a start with the host clock 400 days ahead, and returns the state afterwards.
async fn after_the_wrong_start(house: &House) -> Home<'_> {
    let home = house.open().await;
    house.clock.stop();
    with_password(&home, "ada").await;
    let home = home.reopen().await;
    house.clock.advance(400 * DAY);
    let early = log_in(&home, "ada").await;
    assert!(lasts(&home, &early));
    home.read_clock(None).await;
    let home = {
        home.engine.close().await;
        house.clock.advance(-400 * DAY);
        house.open().await
    };
    assert!(!lasts(&home, &early), "a session from then does not last until then");
    home
}

#[tokio::test]
async fn host_clock_setback_is_reported_in_stats() {
    let house = House::new();
    let home = after_the_wrong_start(&house).await;
    let behind = home.engine.stats().host_clock_behind_seconds;
    assert_eq!(behind / 86_400, 400, "{behind}");
    house.clock.advance(399 * DAY);
    let left = home.engine.stats().host_clock_behind_seconds;
    assert!(left / 86_400 < 2 && left > HOST_CLOCK_BEHIND_SECONDS_MAX.unsigned_abs(), "{left}");
    house.clock.advance(2 * DAY);
    assert_eq!(home.engine.stats().host_clock_behind_seconds, 0);
    home.close().await;
}

#[tokio::test]
async fn sessions_keep_their_duration_after_a_host_clock_setback() {
    let house = House::new();
    let home = after_the_wrong_start(&house).await;
    let session = log_in(&home, "ada").await;
    assert!(lasts(&home, &session));
    house.clock.advance(i64::from(home.engine.options().session_seconds) * SECOND - 1);
    assert!(lasts(&home, &session), "its use cannot be noted, so it does not end for want of it");
    house.clock.advance(1);
    assert!(!lasts(&home, &session));
    // A small step back, as by network time synchronization, ends no session.
    let session = log_in(&home, "ada").await;
    house.clock.advance(-HOST_CLOCK_BEHIND_SECONDS_MAX * SECOND);
    assert!(lasts(&home, &session));
    house.clock.advance(-1);
    assert!(!lasts(&home, &session));
    home.close().await;
}

/// The workaround in the manual.
#[tokio::test]
async fn fork_continues_from_the_right_time_after_a_setback() {
    let house = House::new();
    let home = after_the_wrong_start(&house).await;
    let current_time = async |timeline: &str| {
        let view = home.read_clock(on(timeline)).await;
        view.current_time.micros()
    };
    let stuck = current_time("main").await;
    house.clock.advance(DAY);
    assert_eq!(current_time("main").await, stuck, "it stands");
    let fork = home.engine.fork_timeline(&home.admin, timeline_id("again"), &timeline_id("main"), None, None).await;
    assert_eq!(outcome_text(&fork), "ok");
    let now = current_time("again").await;
    assert_eq!(now, house.clock.now().micros());
    house.clock.advance(DAY);
    assert_eq!(current_time("again").await, now + DAY);
    home.close().await;
}
