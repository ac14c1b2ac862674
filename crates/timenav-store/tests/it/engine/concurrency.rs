//! Concurrent requests.

use std::collections::BTreeSet;

use timenav_core::clock::ClockCommand;
use timenav_core::event::EventDraft;
use timenav_core::time::{Duration, Span};

use crate::house::{House, on};
use crate::sample::moment;

fn a_second() -> ClockCommand {
    ClockCommand::FastForward(Duration::new(0, Span::from_micros(1_000_000)).unwrap())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn concurrent_writes_to_separate_timelines_all_succeed() {
    let house = House::new();
    let home = house.open().await;
    let mut tasks = Vec::new();
    for writer in 0..100 {
        let (engine, admin) = (home.engine.clone(), home.admin.clone());
        tasks.push(tokio::spawn(async move {
            let timeline = on(&format!("t{writer}"));
            for generation in 1..=5 {
                let step = engine.change_clock(&admin, timeline.clone(), a_second(), None).await.unwrap();
                assert_eq!(step.view.clock.generation, generation);
                let view = engine.read_clock(&admin, timeline.clone()).await.unwrap();
                assert_eq!(view.clock, step.view.clock, "one reads what one wrote");
                let drafts = vec![EventDraft::at(moment(1), "one"), EventDraft::at(moment(2), "two")];
                engine.record_events(&admin, timeline.clone(), drafts, None).await.unwrap();
            }
        }));
    }
    for task in tasks {
        task.await.unwrap();
    }
    assert_eq!(home.engine.stats().timelines, 102);
    let lines = home.close().await;
    assert_eq!(lines.iter().filter(|line| line.action == "fast_forward").count(), 500);
    assert_eq!(lines.iter().filter(|line| line.action == "record_event").count(), 1_000);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn concurrent_writes_to_one_clock_are_serialized() {
    let house = House::new();
    let home = house.open().await;
    let start = home.engine.change_clock(&home.admin, None, ClockCommand::Pause, None).await.unwrap();
    let mut tasks = Vec::new();
    for _ in 0..100 {
        let (engine, admin) = (home.engine.clone(), home.admin.clone());
        tasks.push(tokio::spawn(async move { engine.change_clock(&admin, None, a_second(), None).await.unwrap() }));
    }
    let (mut positions, mut readings) = (BTreeSet::new(), BTreeSet::new());
    for task in tasks {
        let step = task.await.unwrap();
        positions.insert(step.ledger.position);
        readings.insert(step.view.current_time.since(start.view.current_time).micros() / 1_000_000);
    }
    assert_eq!(positions.len(), 100, "each has a position of its own");
    assert_eq!(readings, (1..=100).collect(), "each second was added once");
    home.close().await;
}
