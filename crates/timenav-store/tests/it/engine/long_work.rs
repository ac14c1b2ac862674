//! Long-running work is done in small pieces, with fair turns for all users.

use timenav_core::limits::{AGGREGATE_EVENTS_MAX, AGGREGATE_EVENTS_READ_MAX};
use timenav_engine::{
    COUNTS_RUNNING_MAX, LONG_WORK_RUNNING_MAX, LogPage, NAME_SEARCHES_RUNNING_MAX, OneFact as _, TimelineCheck,
    VIEWS_RUNNING_MAX,
};
use tokio::task::JoinHandle;

use crate::audit::lines_of;
use crate::engine::*;

/// How often to yield to the runtime before the awaited event must have happened.
const ROUNDS_MAX: usize = 100_000;

fn log_page(engine: &Engine, caller: &Caller, timeline: &str) -> JoinHandle<Result<LogPage, Refusal>> {
    let (engine, caller) = (engine.clone(), caller.clone());
    let request = AccessLogs { items_max: 1, ..every_log(timeline) };
    tokio::spawn(async move { engine.access_logs(&caller, request).await })
}

fn paradoxes(engine: &Engine, caller: &Caller, timeline: &str) -> JoinHandle<Result<ParadoxPage, Refusal>> {
    let (engine, caller, request) = (engine.clone(), caller.clone(), every_paradox(on(timeline)));
    tokio::spawn(async move { engine.monitor_paradox(&caller, request).await })
}

fn search(engine: &Engine, caller: &Caller) -> JoinHandle<Result<TimelineCheck, Refusal>> {
    let (engine, caller) = (engine.clone(), caller.clone());
    tokio::spawn(async move { engine.check_timeline(&caller, on("main"), "a name that nothing has", None).await })
}

fn count(engine: &Engine, caller: &Caller, timeline: &str) -> JoinHandle<Result<AggregatedEvents, Refusal>> {
    let (engine, caller) = (engine.clone(), caller.clone());
    let by = GroupBy::Attribute("k".to_owned());
    let request = AggregateEvents {
        events_read_max: AGGREGATE_EVENTS_READ_MAX,
        ..count_by(on(timeline), by, AGGREGATE_EVENTS_MAX)
    };
    tokio::spawn(async move { engine.aggregate_events(&caller, request).await })
}

/// Returns the number of recorded reads on all timelines.
async fn reads(home: &Home<'_>) -> u64 {
    let mut reads = 0;
    for head in home.store.open().await.unwrap().heads {
        for position in 0..head.frontier.size() {
            let entry = home.store.entry(head.key, position).await.unwrap().unwrap();
            reads += lines_of(&entry).iter().filter(|line| line.action == "read").count() as u64;
        }
    }
    reads
}

/// Waits until this many reads were recorded and are at the gate, and makes sure that no more arrive.
async fn wait_for(store: &FaultyStore, home: &Home<'_>, reads_count: u64, at_gate: usize) {
    for _ in 0..ROUNDS_MAX {
        if store.at_scan_gate.lock().len() >= at_gate && reads(home).await >= reads_count {
            break;
        }
        tokio::task::yield_now().await;
    }
    yield_turns(100).await;
    assert_eq!(reads(home).await, reads_count, "all have asked");
    assert_eq!(store.at_scan_gate.lock().len(), at_gate, "as many as have a turn");
}

#[tokio::test]
async fn concurrent_long_reads_are_limited_and_scheduled_fairly() {
    let (store, home) = House::new().into_faulty_home().await;
    let other = home.user("other", false).await;
    home.engine.create_timeline(&other, timeline_id("theirs"), None).await.unwrap();
    let theirs = home.key(&timeline_id("theirs")).await;
    store.scan_gate.forget_permits(OPEN_PERMITS);

    let before = reads(&home).await;
    let mut pages: Vec<_> = (0..4).map(|_| log_page(&home.engine, &home.admin, "main")).collect();
    wait_for(&store, &home, before + 4, LONG_WORK_RUNNING_MAX).await;
    pages.push(log_page(&home.engine, &other, "theirs"));
    wait_for(&store, &home, before + 5, LONG_WORK_RUNNING_MAX).await;
    // One has finished: users without a turn yet come before those who had one.
    store.scan_gate.add_permits(1);
    wait_for(&store, &home, before + 5, LONG_WORK_RUNNING_MAX + 1).await;
    assert_eq!(store.at_scan_gate.lock().last(), Some(&theirs));
    // An aborted request does not block the turns of others.
    pages.swap_remove(3).abort();
    store.scan_gate.add_permits(OPEN_PERMITS);
    for page in pages {
        assert_eq!(page.await.unwrap().unwrap().logs.len(), 1);
    }
    home.close().await;
}

#[tokio::test]
async fn concurrent_name_searches_are_limited() {
    const { assert!(NAME_SEARCHES_RUNNING_MAX > LONG_WORK_RUNNING_MAX) };
    let (store, home) = House::new().into_faulty_home().await;
    store.scan_gate.forget_permits(OPEN_PERMITS);

    let before = reads(&home).await;
    let searches: Vec<_> = (0..3 * NAME_SEARCHES_RUNNING_MAX).map(|_| search(&home.engine, &home.admin)).collect();
    let at_a_time = NAME_SEARCHES_RUNNING_MAX as u64;
    wait_for(&store, &home, before + at_a_time, LONG_WORK_RUNNING_MAX).await;
    store.scan_gate.add_permits(1);
    wait_for(&store, &home, before + at_a_time + 1, LONG_WORK_RUNNING_MAX + 1).await;
    store.scan_gate.add_permits(OPEN_PERMITS);
    for search in searches {
        assert!(search.await.unwrap().unwrap().event.is_none());
    }
    home.close().await;
}

/// A count has groups in memory from its first event on, and needs several reads. So only a few counts run
/// concurrently.
#[tokio::test]
async fn concurrent_counts_are_limited() {
    let (store, home) = House::new().into_faulty_home().await;
    // Two reads' worth of events, on each of the forks.
    for events in [1_000, 1] {
        let events = vec![EventDraft::at(Instant::EPOCH, ""); events];
        home.record_events(on("main"), events).await;
    }
    let forks: Vec<String> = (0..3 * COUNTS_RUNNING_MAX).map(|number| format!("fork-{number}")).collect();
    for fork in &forks {
        let (fork, main) = (timeline_id(fork), timeline_id("main"));
        home.engine.fork_timeline(&home.admin, fork, &main, None, None).await.unwrap();
    }
    store.scan_gate.forget_permits(OPEN_PERMITS);
    store.at_scan_gate.lock().clear();

    let before = reads(&home).await;
    let counts: Vec<_> = forks.iter().map(|fork| count(&home.engine, &home.admin, fork)).collect();
    let request = before + counts.len() as u64;
    for passed in 0..=COUNTS_RUNNING_MAX {
        wait_for(&store, &home, request, LONG_WORK_RUNNING_MAX + passed).await;
        store.scan_gate.add_permits(1);
    }
    // All have asked, and each admitted count has read once before any reads again.
    let begun: HashSet<_> =
        store.at_scan_gate.lock()[..LONG_WORK_RUNNING_MAX + COUNTS_RUNNING_MAX].iter().copied().collect();
    assert_eq!(begun.len(), COUNTS_RUNNING_MAX);
    store.scan_gate.add_permits(OPEN_PERMITS);
    for count in counts {
        assert_eq!(count.await.unwrap().unwrap().count, 1_001);
    }
    home.close().await;
}

#[tokio::test]
async fn concurrent_view_builds_are_limited_and_scheduled_fairly() {
    let (store, home) = House::new().into_faulty_home().await;
    let other = home.user("other", false).await;
    for name in ["one", "two", "three", "four"] {
        home.create_timeline(timeline_id(name)).await;
    }
    home.engine.create_timeline(&other, timeline_id("theirs"), None).await.unwrap();
    let theirs = home.key(&timeline_id("theirs")).await;
    store.scan_gate.forget_permits(OPEN_PERMITS);

    let before = reads(&home).await;
    let request = ["one", "two", "three", "four"].map(|name| paradoxes(&home.engine, &home.admin, name));
    wait_for(&store, &home, before + 4, VIEWS_RUNNING_MAX).await;
    let last = paradoxes(&home.engine, &other, "theirs");
    wait_for(&store, &home, before + 5, VIEWS_RUNNING_MAX).await;
    store.scan_gate.add_permits(1);
    wait_for(&store, &home, before + 5, VIEWS_RUNNING_MAX + 1).await;
    assert_eq!(store.at_scan_gate.lock().last(), Some(&theirs));
    store.scan_gate.add_permits(OPEN_PERMITS);
    for request in request.into_iter().chain([last]) {
        request.await.unwrap().unwrap();
    }
    home.close().await;
}
