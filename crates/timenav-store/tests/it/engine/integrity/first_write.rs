//! A timeline is created by the first write to it, or leaves no trace.

use timenav_core::access::Denial;

use crate::engine::*;

fn nowhere() -> ClockCommand {
    ClockCommand::Travel { to: moment(0), location: Some(String::new()) }
}

#[tokio::test]
async fn rejected_first_write_leaves_no_trace() {
    let home = Home::new().await;
    let ada = home.user("ada", false).await;
    let before = home.lines().await;
    let refused = home.engine.change_clock(&ada, on("nowhere"), nowhere(), None).await;
    assert!(matches!(refused, Err(Refusal::Clock(_))));
    let long = AnchorRequest { timestamp: None, description: "x".repeat(20_000), fixed: true };
    let refused = home.engine.set_anchor(&ada, on("nowhere"), long, None).await;
    assert!(matches!(refused, Err(Refusal::Invalid { .. })));
    let twice = named_event("e", 1, "x");
    let refused = home.engine.record_events(&ada, on("nowhere"), vec![twice.clone(), twice], None).await;
    assert!(matches!(refused, Err(Refusal::Invalid { .. })));
    assert_eq!(home.lines().await, before);
    assert_eq!(home.engine.stats().timelines, 2);
    assert_eq!(outcome_text(&home.engine.read_clock(&ada, on("nowhere")).await), "Hidden");
    // The name is available for a write that is not rejected, and earlier decisions do not interfere.
    home.engine.change_clock(&ada, on("nowhere"), ClockCommand::Pause, None).await.unwrap();
    assert_eq!(home.size("nowhere").await, 2);
    home.close().await;
}

#[tokio::test]
async fn rejected_first_write_does_not_revert_its_group() {
    let house = House::new();
    let store = std::sync::Arc::new(crate::faulty_store::FaultyStore::new(house.store()));
    let home = house.try_open(std::sync::Arc::clone(&store) as _).await.unwrap();
    let ada = home.user("ada", false).await;
    let system_size = home.size("system").await;
    store.close_gate();
    let spawn = |timeline: &'static str, command: ClockCommand| {
        let (engine, ada) = (home.engine.clone(), ada.clone());
        tokio::spawn(async move { engine.change_clock(&ada, on(timeline), command, None).await })
    };
    let first = spawn("zero", ClockCommand::Pause);
    store.arrival().await;
    let tasks = [
        spawn("one", nowhere()),
        spawn("two", ClockCommand::Pause),
        spawn("one", nowhere()),
        spawn("two", nowhere()),
        spawn("one", ClockCommand::Pause),
        spawn("three", nowhere()),
    ];
    tokio::task::yield_now().await;
    store.open_gate();
    first.await.unwrap().unwrap();
    let mut outcomes = Vec::new();
    for task in tasks {
        outcomes.push(outcome_text(&task.await.unwrap()));
    }
    assert_eq!(outcomes, ["Clock(Location)", "ok", "Clock(Location)", "Clock(Location)", "ok", "Clock(Location)"]);
    assert_eq!((home.size("one").await, home.size("two").await, home.size("three").await), (2, 2, 0));
    assert_eq!(home.size("system").await, system_size + 3);
    home.close().await;
}

#[tokio::test]
async fn unauthorized_first_write_is_logged_on_the_system_timeline() {
    let home = Home::new().await;
    let ada = home.user("ada", false).await;
    home.restrict("ada", RestrictionLevel::ReadOnly).await;
    let before = home.lines().await.len();
    let refused = home.engine.change_clock(&ada, on("nowhere"), ClockCommand::Pause, None).await;
    assert!(matches!(refused, Err(Refusal::Denied(Denial::Restricted { level: RestrictionLevel::ReadOnly }))));
    let lines = home.lines().await;
    assert_eq!(lines.len(), before + 1);
    assert_eq!(lines.last().unwrap().short(), "system ada unauthorized_access_attempt pause_time");
    home.close().await;
}
