//! Repeated requests with an idempotency key happen once.

use std::sync::Arc;

use timenav_core::clock::ClockCommand;
use timenav_core::event::EventDraft;
use timenav_core::time::{Duration, Span};
use timenav_engine::{AnchorRequest, ApiKeyRequest, Idempotency, Refusal};

use crate::faulty_store::FaultyStore;
use crate::house::{Home, House, on, told};
use crate::sample::{digest, event_id, moment, timeline_id, user_id};

#[expect(clippy::unnecessary_wraps, reason = "reads as the argument that it is")]
fn key(name: &str, request: &str) -> Option<Idempotency> {
    Some(Idempotency { key: digest(name), fingerprint: digest(request) })
}

fn an_hour() -> ClockCommand {
    ClockCommand::FastForward(Duration::new(0, Span::from_micros(3_600_000_000)).unwrap())
}

/// Sends fifty equal requests concurrently and one with another fingerprint.
async fn fifty_at_once(home: &Home<'_>) {
    let mut tasks = Vec::new();
    for _ in 0..50 {
        let (engine, admin) = (home.engine.clone(), home.admin.clone());
        tasks.push(tokio::spawn(async move { engine.change_clock(&admin, None, an_hour(), key("k", "hour")).await }));
    }
    let mut answers = Vec::new();
    for task in tasks {
        answers.push(task.await.unwrap().unwrap());
    }
    assert_eq!(answers.iter().filter(|answer| !answer.replayed).count(), 1, "one of them moved the clock");
    for answer in &answers {
        assert_eq!(answer.view.clock, answers[0].view.clock);
        assert_eq!(answer.view.current_time, answers[0].view.current_time);
        assert_eq!((answer.ledger, answer.changed), (answers[0].ledger, true));
    }
    let other = home.engine.change_clock(&home.admin, None, an_hour(), key("k", "another hour")).await;
    assert_eq!(told(&other), "KeyReused");
    assert_eq!(home.engine.read_clock(&home.admin, None).await.unwrap().clock.generation, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn equal_concurrent_requests_move_the_clock_once() {
    let house = House::new();
    let home = house.open().await;
    fifty_at_once(&home).await;
    let lines = home.close().await;
    assert_eq!(lines.iter().filter(|line| line.action == "fast_forward").count(), 1);
}

#[tokio::test]
async fn equal_requests_in_one_group_move_the_clock_once() {
    let house = House::new();
    let store = Arc::new(FaultyStore::new(house.store()));
    let home = house.try_open(Arc::clone(&store) as _).await.unwrap();
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
        let asked = if number < 50 { "hour" } else { "other" };
        tasks.push(tokio::spawn(async move { engine.change_clock(&admin, None, an_hour(), key("k", asked)).await }));
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
    assert!(answers[50..].iter().all(|answer| told(answer) == "KeyReused"));
    let lines = home.close().await;
    assert_eq!(lines.iter().filter(|line| line.action == "fast_forward").count(), 1);
}

#[tokio::test]
async fn repeated_request_after_a_restart_returns_the_first_response() {
    let house = House::new();
    house.clock.stop();
    let home = house.open().await;
    let first = home.engine.change_clock(&home.admin, None, an_hour(), key("k", "hour")).await.unwrap();
    home.engine.change_clock(&home.admin, None, an_hour(), None).await.unwrap();
    let home = home.reopen().await;
    let again = home.engine.change_clock(&home.admin, None, an_hour(), key("k", "hour")).await.unwrap();
    assert!(again.replayed && !first.replayed);
    assert_eq!(format!("{:?}", again.view), format!("{:?}", first.view));
    assert_eq!((again.ledger, again.changed), (first.ledger, first.changed));
    let other = home.engine.change_clock(&home.admin, None, an_hour(), key("k", "other")).await;
    assert!(matches!(other, Err(Refusal::KeyReused)));
    // The key expires after a day of host time, and not a microsecond earlier.
    house.clock.advance(24 * 3_600 * 1_000_000 - 1);
    assert!(home.engine.change_clock(&home.admin, None, an_hour(), key("k", "hour")).await.unwrap().replayed);
    house.clock.advance(1);
    let later = home.engine.change_clock(&home.admin, None, an_hour(), key("k", "other")).await.unwrap();
    assert!(!later.replayed);
    let again = home.engine.change_clock(&home.admin, None, an_hour(), key("k", "other")).await.unwrap();
    assert!(again.replayed && again.ledger == later.ledger);
    home.close().await;
}

#[tokio::test]
async fn rejected_request_can_be_retried_with_its_key() {
    let house = House::new();
    let home = house.open().await;
    let nowhere = ClockCommand::Travel { to: moment(0), location: Some(String::new()) };
    for _ in 0..2 {
        let refused = home.engine.change_clock(&home.admin, None, nowhere.clone(), key("k", "hour")).await;
        assert!(matches!(refused, Err(Refusal::Clock(_))));
    }
    let done = home.engine.change_clock(&home.admin, None, an_hour(), key("k", "hour")).await.unwrap();
    assert!(!done.replayed);
    home.close().await;
}

/// Makes one write of each kind, and returns each response and whether it was a repetition.
async fn write_of_each_kind(home: &Home<'_>) -> Vec<(String, bool)> {
    let (engine, admin) = (&home.engine, &home.admin);
    let mut told = Vec::new();
    let request = AnchorRequest { timestamp: None, description: "é".to_owned(), fixed: false };
    let (id, at, ledger, replayed) = engine.set_anchor(admin, None, request, key("anchor", "")).await.unwrap();
    told.push((format!("{id} {at} {ledger:?}"), replayed));
    let drafts = vec![
        EventDraft { event_id: Some(event_id("mine")), ..EventDraft::at(moment(1), "one") },
        EventDraft::at(moment(2), "two"),
    ];
    let made = engine.record_events(admin, on("other"), drafts, key("events", "")).await.unwrap();
    told.push((format!("{} {:?} {:?}", made.timeline_id, made.event_ids, made.ledger), made.replayed));
    let made = engine.create_timeline(admin, timeline_id("new"), key("timeline", "")).await.unwrap();
    told.push((format!("{:?} {:?}", made.ledger, made.expires_at), made.replayed));
    let (user, ledger, replayed) = engine.create_user(admin, user_id("ada"), false, key("user", "")).await.unwrap();
    told.push((format!("{user} {ledger:?}"), replayed));
    let request = ApiKeyRequest {
        user_id: Some(user_id("ada")),
        timeline_id: on("other"),
        label: String::new(),
        scopes: None,
        expires_at: None,
    };
    let made = engine.create_api_key(admin, request, key("key", "")).await.unwrap();
    assert_eq!(made.secret.is_none(), made.replayed, "a secret is shown once");
    told.push((format!("{} {} {} {:?}", made.key_id, made.user_id, made.timeline_id, made.ledger), made.replayed));
    told
}

#[tokio::test]
async fn every_kind_of_write_is_idempotent() {
    let house = House::new();
    let home = house.open().await;
    let first = write_of_each_kind(&home).await;
    let second = write_of_each_kind(&home).await;
    let sizes = (home.size("main").await, home.size("system").await, home.size("other").await);
    let home = home.reopen().await;
    let third = write_of_each_kind(&home).await;
    for ((first, second), third) in first.iter().zip(&second).zip(&third) {
        assert_eq!((first.1, second.1, third.1), (false, true, true), "{}", first.0);
        assert_eq!((&first.0, &first.0), (&second.0, &third.0));
    }
    assert_eq!((home.size("main").await, home.size("system").await, home.size("other").await), sizes);
    home.close().await;
}
