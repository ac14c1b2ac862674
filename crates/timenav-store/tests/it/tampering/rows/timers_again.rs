//! Rows of recurring timers, and of timers inherited by a fork, changed by hand.

use timenav_core::ids::TimerId;
use timenav_core::timers::Schedule;
use timenav_engine::{ClockChange, TimerRequest};

use crate::tampering::*;

const SECOND: i64 = 1_000_000;

/// Creates a house with timers that fired, were rewound, and were inherited by a fork.
async fn house_after_return() -> House {
    let house = House::new();
    let home = house.open().await;
    let go = |seconds: i64| {
        let to = ClockCommand::Travel { to: moment(seconds * SECOND), location: None };
        ClockChange { settle: false, refire: true, ..ClockChange::from(to) }
    };
    home.engine.change_clock(&home.admin, None, ClockCommand::Pause, None).await.unwrap();
    home.engine.change_clock(&home.admin, None, go(0), None).await.unwrap();
    for (name, seconds) in [("single", 5), ("other", 6)] {
        let schedule = Some(Schedule::At(moment(seconds * SECOND)));
        let named = (Some(TimerId::new(name).unwrap()), TimerRequest { schedule, ..TimerRequest::default() });
        home.engine.set_timer(&home.admin, None, named, None).await.unwrap();
    }
    home.engine.change_clock(&home.admin, None, go(10), None).await.unwrap();
    home.engine.keep_time().await;
    home.engine.change_clock(&home.admin, None, go(1), None).await.unwrap();
    home.engine.fork_timeline(&home.admin, timeline_id("fork"), &timeline_id("main"), None, None).await.unwrap();
    home.close().await;
    house
}

#[tokio::test]
async fn tampered_rearmed_timers_are_reported() {
    let house = house_after_return().await;
    clean(&house).await;
    let whole = house.path().with_extension("whole");
    house.copy_database(&whole);
    for (attacked, timeline) in [
        ("UPDATE timers SET round = 0 WHERE timeline = 2 AND timer_id = 'single'", "main"),
        ("UPDATE firings SET state = 1 WHERE timeline = 2 AND due = 5000000 AND state = 3", "main"),
        ("DELETE FROM firings WHERE timeline = 2 AND due = 6000000", "main"),
        ("UPDATE timers SET payload = '[7]' WHERE timeline = 3 AND timer_id = 'single'", "fork"),
        ("UPDATE timers SET next = next + 1 WHERE timeline = 3 AND timer_id = 'other'", "fork"),
        ("DELETE FROM timers WHERE timeline = 3 AND timer_id = 'other'", "fork"),
    ] {
        house.replace_database(&whole);
        attack(&house, attacked);
        found(&house, timeline, FindingKind::StateMismatch, None).await;
    }
}
