//! Repeated requests with an idempotency key happen once.

use crate::engine::*;

#[tokio::test]
async fn equal_requests_in_one_group_move_the_clock_once() {
    let (store, home) = House::new().into_faulty_home().await;
    store.close_gate();
    let engine = home.engine.clone();
    let admin = home.admin.clone();
    let first = tokio::spawn(async move { engine.read_clock(&admin, None).await.map(|_| ()) });
    store.arrival().await;
    // While the first commit waits, all of these join the next group.
    let mut tasks = Vec::new();
    for number in 0..60 {
        let (engine, admin) = (home.engine.clone(), home.admin.clone());
        // The last ten have other parameters.
        let request = if number < 50 { "hour" } else { "other" };
        tasks.push(tokio::spawn(
            async move { engine.change_clock(&admin, None, hour(), idempotent("k", request)).await },
        ));
    }
    // On a single thread, each task has run up to its wait when this one continues.
    tokio::task::yield_now().await;
    let groups = home.engine.stats().groups;
    store.open_gate();
    first.await.unwrap().unwrap();
    let mut answers = Vec::new();
    for task in tasks {
        answers.push(task.await.unwrap());
    }
    assert_eq!(home.engine.stats().groups, groups + 2, "they were one group");
    let moved: Vec<_> = answers[..50].iter().map(|answer| answer.as_ref().unwrap()).collect();
    assert!(!moved[0].replayed && moved[1..].iter().all(|answer| answer.replayed));
    assert!(moved.iter().all(|answer| answer.ledger == moved[0].ledger && answer.view.clock == moved[0].view.clock));
    assert!(answers[50..].iter().all(|answer| outcome_text(answer) == "KeyReused"));
    let lines = home.close().await;
    assert_eq!(lines.iter().filter(|line| line.action == "fast_forward").count(), 1);
}

#[tokio::test]
async fn repeated_request_after_a_restart_returns_the_first_response() {
    let house = House::new();
    house.clock.stop();
    let home = house.open().await;
    let first = home.engine.change_clock(&home.admin, None, hour(), idempotent("k", "hour")).await.unwrap();
    home.change_clock(None, hour()).await;
    let home = home.reopen().await;
    let again = home.engine.change_clock(&home.admin, None, hour(), idempotent("k", "hour")).await.unwrap();
    assert!(again.replayed && !first.replayed);
    assert_eq!(format!("{:?}", again.view), format!("{:?}", first.view));
    assert_eq!((again.ledger, again.changed), (first.ledger, first.changed));
    let other = home.engine.change_clock(&home.admin, None, hour(), idempotent("k", "other")).await;
    assert!(matches!(other, Err(Refusal::KeyReused)));
    // The key expires after a day of host time, and not a microsecond earlier.
    house.clock.advance(24 * 3_600 * 1_000_000 - 1);
    assert!(home.engine.change_clock(&home.admin, None, hour(), idempotent("k", "hour")).await.unwrap().replayed);
    house.clock.advance(1);
    let later = home.engine.change_clock(&home.admin, None, hour(), idempotent("k", "other")).await.unwrap();
    assert!(!later.replayed);
    let again = home.engine.change_clock(&home.admin, None, hour(), idempotent("k", "other")).await.unwrap();
    assert!(again.replayed && again.ledger == later.ledger);
    home.close().await;
}

#[tokio::test]
async fn rejected_request_can_be_retried_with_its_key() {
    let home = Home::new().await;
    let nowhere = ClockCommand::Travel { to: moment(0), location: Some(String::new()) };
    for _ in 0..2 {
        let refused = home.engine.change_clock(&home.admin, None, nowhere.clone(), idempotent("k", "hour")).await;
        assert!(matches!(refused, Err(Refusal::Clock(_))));
    }
    let done = home.engine.change_clock(&home.admin, None, hour(), idempotent("k", "hour")).await.unwrap();
    assert!(!done.replayed);
    home.close().await;
}
