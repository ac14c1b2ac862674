//! Writes that are not durable did not happen.

use timenav_engine::WRITE_WAIT_READY_SECONDS_MAX;

use crate::engine::*;

fn draft(name: &str) -> EventDraft {
    named_event(name, 1, name)
}

/// Attempts one write of each kind. Returns the number of successful ones.
async fn write_everything(home: &Home<'_>) -> usize {
    let (engine, admin) = (&home.engine, &home.admin);
    let results = [
        outcome_text(&engine.change_clock(admin, None, ClockCommand::Pause, idempotent("k", "f")).await),
        outcome_text(&engine.change_clock(admin, on("new"), ClockCommand::Pause, None).await),
        outcome_text(&engine.create_timeline(admin, timeline_id("newer"), None).await),
        outcome_text(&engine.record_events(admin, None, vec![draft("one"), draft("two")], None).await),
        outcome_text(&engine.create_user(admin, user_id("ada"), false, None).await),
    ];
    for result in &results {
        assert!(result == "ok" || result.starts_with("Unavailable"), "{result}");
    }
    results.iter().filter(|result| *result == "ok").count()
}

#[tokio::test]
async fn failed_commit_changes_nothing() {
    let house = House::new();
    let (store, home) = house.open_faulty().await;
    home.record_events(None, vec![draft("zero")]).await;
    let (before, stored) = (home.lines().await, house.outside.steps_count());
    store.set_commits_failing(true);
    assert_eq!(write_everything(&home).await, 0);
    assert!(is_unavailable(&home.engine.read_clock(&home.admin, None).await), "no entry, no answer");
    assert_eq!((home.lines().await, house.outside.steps_count()), (before, stored));
    // Not ready as long as writing fails, and ready again without a request that would show it.
    assert!(is_unavailable(&home.engine.ready().await) && is_unavailable(&home.engine.ready().await));
    store.set_commits_failing(false);
    home.engine.ready().await.unwrap();
    let view = home.engine.timeline(&home.admin, &timeline_id("main")).await.unwrap();
    assert_eq!((view.clock.as_ref().unwrap().clock.generation, view.state.head.events_count), (0, 1));
    assert_eq!(home.engine.stats().timelines, 2);
    // Failed requests leave no trace, and all of them can be sent again.
    assert_eq!(write_everything(&home).await, 5);
    home.close().await;
}

#[tokio::test]
async fn service_is_not_ready_while_a_write_waits_for_the_store() {
    let house = House::new();
    let (store, home) = house.open_faulty().await;
    store.close_gate();
    let pausing = home
        .spawn(move |engine, admin| async move { engine.change_clock(&admin, None, ClockCommand::Pause, None).await });
    store.arrival().await;
    home.engine.ready().await.unwrap();
    house.clock.advance(i64::from(WRITE_WAIT_READY_SECONDS_MAX) * 1_000_000);
    assert!(is_unavailable(&home.engine.ready().await));
    store.open_gate();
    pausing.await.unwrap().unwrap();
    home.engine.ready().await.unwrap();
    home.close().await;
}

#[tokio::test]
async fn group_without_an_entry_is_not_counted_as_a_commit() {
    let house = House::new();
    let store = Arc::new(FaultyStore::locking(house.store()));
    let home = house.try_open(Arc::clone(&store) as _).await.unwrap();
    let counts = || (home.engine.stats().groups, home.engine.commit_stats().total.count);
    let before = counts();
    for _ in 0..3 {
        home.engine.catch_up_all().await.unwrap();
    }
    assert_eq!(counts(), before);
    home.close().await;
}

#[tokio::test]
async fn each_part_of_a_commit_is_measured() {
    let home = Home::new().await;
    let parts = || {
        let stats = home.engine.commit_stats();
        stats.parts.into_iter().filter(|(_, found)| found.count > 0).map(|(part, _)| part.as_str()).collect::<Vec<_>>()
    };
    home.change_clock(None, ClockCommand::Pause).await;
    assert_eq!(parts(), ["decide", "write", "commit", "checkpoint"]);
    let stats = home.engine.commit_stats();
    assert_eq!((stats.total.count, stats.requests.count), (home.engine.stats().groups, home.engine.stats().groups));
    home.close().await;
}

#[tokio::test]
async fn failed_group_fails_every_request_in_it() {
    let (store, home) = House::new().into_faulty_home().await;
    store.close_gate();
    let spawn = |timeline: &'static str, command: ClockCommand| {
        home.spawn(move |engine, admin| async move { engine.change_clock(&admin, on(timeline), command, None).await })
    };
    let first = spawn("main", ClockCommand::Pause);
    store.arrival().await;
    let second = [
        spawn("main", ClockCommand::Resume),
        spawn("new", ClockCommand::Pause),
        spawn("new", ClockCommand::Resume),
        spawn("system", ClockCommand::Pause),
    ];
    tokio::task::yield_now().await;
    // The first group and the second one fail. The writes queued after them succeed.
    store.set_commits_failing(true);
    store.open_gate();
    assert!(is_unavailable(&first.await.unwrap()));
    for task in second {
        assert!(is_unavailable(&task.await.unwrap()));
    }
    store.set_commits_failing(false);
    assert_eq!(home.read_clock(None).await.clock.generation, 0);
    assert_eq!(outcome_text(&home.engine.read_clock(&home.admin, on("new")).await), "Hidden");
    let step = spawn("new", ClockCommand::Pause).await.unwrap().unwrap();
    assert_eq!((step.ledger.position, step.view.clock.generation), (1, 1));
    home.close().await;
}

#[tokio::test]
async fn requests_that_need_an_unreadable_store_are_rejected() {
    let (store, home) = House::new().into_faulty_home().await;
    let request = MonitorEvents { items_max: 5, ..every_event(None) };
    store.set_reads_failing(true);
    assert!(is_unavailable(&home.engine.record_events(&home.admin, None, vec![draft("one")], None).await));
    assert!(is_unavailable(
        &home.engine.change_clock(&home.admin, None, ClockCommand::Pause, idempotent("k", "f")).await
    ));
    assert!(is_unavailable(&home.engine.monitor_events(&home.admin, request.clone()).await));
    assert!(home.engine.ready().await.is_err());
    // Writes that need no read succeed.
    home.change_clock(None, ClockCommand::Pause).await;
    store.set_reads_failing(false);
    home.engine.ready().await.unwrap();
    home.record_events(None, vec![draft("one")]).await;
    assert_eq!(home.engine.monitor_events(&home.admin, request).await.unwrap().events.len(), 1);
    home.close().await;
}

async fn check_outside_failing(read_log: ReadLog, logs_clock_reads: bool) {
    let house = House::with(Options { read_log, logs_clock_reads, ..House::new().options });
    let home = house.open().await;
    house.outside.set_failing(true);
    assert!(is_unavailable(&home.engine.change_clock(&home.admin, None, ClockCommand::Pause, None).await));
    assert!(home.engine.ready().await.is_err());
    // Restoring the place for checkpoints has no effect until a restart.
    house.outside.set_failing(false);
    assert!(home.engine.ready().await.is_err());
    assert_eq!(write_everything(&home).await, 0);
    assert!(is_unavailable(&home.engine.read_clock(&home.admin, None).await), "{read_log:?}");
    assert!(is_unavailable(&home.engine.timelines(&home.admin, 5, None).await), "{read_log:?}");
    home.stop().await;
    let home = house.open().await;
    // The commit was durable, and only its response was lost.
    let view = home.read_clock(None).await;
    assert_eq!((view.clock.generation, view.clock.is_running()), (1, false));
    assert_eq!(write_everything(&home).await, 5);
    home.close().await;
}

#[tokio::test]
async fn failed_checkpoint_write_stops_requests_until_a_restart() {
    for (read_log, logs_clock_reads) in
        [(ReadLog::Durable, true), (ReadLog::Buffered, true), (ReadLog::Buffered, false)]
    {
        Box::pin(check_outside_failing(read_log, logs_clock_reads)).await;
    }
}

/// A lag that does not end during a test.
const LONG_LAG: Span = Span::from_micros(3_600_000_000);

fn lagging(checkpoint_lag: Span) -> House {
    House::with(Options { checkpoint_lag, ..House::new().options })
}

#[tokio::test]
async fn lagging_checkpoint_is_kept_after_the_response() {
    let house = lagging(LONG_LAG);
    let home = house.open().await;
    let stored = house.outside.steps_count();
    assert_eq!(write_everything(&home).await, 5);
    assert_eq!(house.outside.steps_count(), stored, "no response waits for its checkpoint");
    // A scan compares with what is kept outside, and the timeline is new.
    home.check_clean(&timeline_id("newer")).await;
    assert_eq!(house.outside.steps_count(), stored + 1);
    home.change_clock(None, ClockCommand::Resume).await;
    home.close().await;
    let notes = house.outside.notes();
    assert!(notes.contains_key(&timeline_id("new")) && notes.contains_key(&timeline_id("newer")), "{notes:?}");
    let home = house.open().await;
    home.check_clean(&timeline_id("main")).await;
    home.close().await;
}

/// A scan waits for the checkpoints from before it, not for those of later changes.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn scan_ends_while_changes_continue() {
    let home = lagging(Span::from_micros(1)).into_home().await;
    let write = async {
        loop {
            home.change_clock(None, hour()).await;
        }
    };
    let scans = async {
        for _ in 0..10 {
            home.check_clean(&timeline_id("main")).await;
        }
    };
    let limit = std::time::Duration::from_mins(1);
    tokio::select! {
        ended = tokio::time::timeout(limit, scans) => ended.expect("scans end"),
        () = write => {}
    }
    home.close().await;
}

#[tokio::test]
async fn start_accepts_changes_after_the_last_kept_checkpoint() {
    let mut house = House::new();
    let home = house.open().await;
    home.record_events(None, vec![draft("zero")]).await;
    let stored = Arc::new(house.outside.copied());
    assert_eq!(write_everything(&home).await, 5);
    home.close().await;
    // As after a crash within the lag.
    house.outside = stored;
    let home = house.open().await;
    assert_eq!(home.read_clock(None).await.clock.generation, 1);
    for timeline in ["main", "new", "newer", "system"] {
        home.check_clean(&timeline_id(timeline)).await;
    }
    home.close().await;
}

#[tokio::test]
async fn failed_late_checkpoint_stops_the_service() {
    let house = lagging(Span::from_micros(1_000));
    let home = house.open().await;
    house.outside.set_failing(true);
    home.engine.change_clock(&home.admin, None, ClockCommand::Pause, idempotent("k", "f")).await.unwrap();
    let stopped = async {
        while home.engine.ready().await.is_ok() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(std::time::Duration::from_mins(1), stopped).await.expect("the service stops");
    house.outside.set_failing(false);
    assert_eq!(write_everything(&home).await, 0);
    home.stop().await;
    let home = house.open().await;
    assert_eq!(home.read_clock(None).await.clock.generation, 1);
    assert_eq!(write_everything(&home).await, 5);
    home.close().await;
}
