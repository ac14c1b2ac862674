//! Rows of recurring timers, and of timers inherited by a fork, changed by hand.

use crate::tampering::*;

/// Creates a house with timers that fired, were rewound, and were inherited by a fork.
async fn house_after_return() -> House {
    let house = House::new();
    let home = house.open().await;
    let jump = |seconds: i64| ClockChange { settle: false, refire: true, ..travel(seconds).into() };
    home.change_clock(None, ClockCommand::Pause).await;
    home.change_clock(None, jump(0)).await;
    for (name, seconds) in [("single", 5), ("other", 6)] {
        home.set_timer(name, timer_at(seconds)).await;
    }
    home.change_clock(None, jump(10)).await;
    home.engine.keep_time().await;
    home.change_clock(None, jump(1)).await;
    home.fork("fork", "main").await;
    home.close().await;
    house
}

#[tokio::test]
async fn tampered_rearmed_timers_are_reported() {
    let house = house_after_return().await;
    clean(&house).await;
    let whole = house.backup();
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
