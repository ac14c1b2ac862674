//! A change that comes alone is committed by its caller.

use parking_lot::Mutex;
use tokio::runtime::Builder;

use crate::engine::*;

const COMMITTER: &str = "committer";
const CHANGES: usize = 20;

fn house() -> House {
    let checkpoint_lag = Span::from_micros(50_000);
    House::with(Options { checkpoint_lag, read_log: ReadLog::Buffered, ..House::new().options })
}

fn thread_name() -> String {
    std::thread::current().name().unwrap_or_default().to_owned()
}

/// Changes the clock in a task of its own, as a handler does. Panics if that task does.
async fn change(home: &Home<'_>) {
    let changing = home
        .spawn(move |engine, admin| async move { engine.change_clock(&admin, None, ClockCommand::Pause, None).await });
    changing.await.unwrap().unwrap();
}

/// Returns the thread of each of some changes, in a runtime with this many threads. Each commit takes a while.
fn threads_of_changes(workers: usize, commit_micros: i64) -> Vec<String> {
    let runtime = Builder::new_multi_thread().worker_threads(workers).thread_name("worker").enable_all().build();
    runtime.unwrap().block_on(async {
        let house = house();
        let (store, home) = house.open_faulty().await;
        let (names, clock) = (Arc::new(Mutex::new(Vec::new())), Arc::clone(&house.clock));
        let noted = Arc::clone(&names);
        store.meddle(Some(Arc::new(move || {
            clock.advance(commit_micros);
            noted.lock().push(thread_name());
            Box::pin(async {})
        })));
        for _ in 0..CHANGES {
            change(&home).await;
        }
        store.meddle(None);
        home.close().await;
        Arc::into_inner(names).map_or_else(Vec::new, Mutex::into_inner)
    })
}

#[test]
fn lone_change_is_committed_by_its_caller_if_commits_are_quick() {
    let names = threads_of_changes(2, 0);
    // The committer may still hold its lock when its response arrives.
    assert!(names[0] == COMMITTER && names.iter().any(|name| name == "worker"), "{names:?}");
    assert_eq!(threads_of_changes(2, 2_000), [COMMITTER; CHANGES], "slow commits");
    assert_eq!(threads_of_changes(1, 0), [COMMITTER; CHANGES], "nothing else could run");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn service_responds_while_a_caller_waits_for_its_commit() {
    let house = house();
    let (store, home) = house.open_faulty().await;
    change(&home).await;
    store.close_gate();
    let waiting = [0, 1].map(|_| {
        home.spawn(
            move |engine, admin| async move { engine.change_clock(&admin, None, ClockCommand::Pause, None).await },
        )
    });
    store.arrival().await;
    home.engine.ready().await.unwrap();
    store.open_gate();
    for waiting in waiting {
        waiting.await.unwrap().unwrap();
    }
    home.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn change_after_a_failed_commit_is_queued() {
    let house = house();
    let (store, home) = house.open_faulty().await;
    change(&home).await;
    store.set_commits_failing(true);
    assert!(is_unavailable(&home.engine.change_clock(&home.admin, None, ClockCommand::Pause, None).await));
    store.set_commits_failing(false);
    let names = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&names);
    store.meddle(Some(Arc::new(move || {
        noted.lock().push(thread_name());
        Box::pin(async {})
    })));
    change(&home).await;
    store.meddle(None);
    assert_eq!(*names.lock(), [COMMITTER]);
    home.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lone_change_does_not_overtake_a_buffered_read() {
    let home = house().into_home().await;
    change(&home).await;
    for _ in 0..20 {
        home.engine.monitor_events(&home.admin, every_event(None)).await.unwrap();
        change(&home).await;
    }
    let lines = home.close().await;
    let of_main = lines.iter().filter(|line| line.timeline == "main");
    let actions: Vec<&str> = of_main.map(|line| &*line.action).collect();
    let expected = ["read", "pause_time"].repeat(20);
    assert!(actions.ends_with(&expected), "{actions:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn panic_of_a_caller_that_commits_stops_all_writing() {
    let house = house();
    let (store, home) = house.open_faulty().await;
    change(&home).await;
    store.meddle(Some(Arc::new(|| {
        assert_eq!(thread_name(), COMMITTER, "as intended by the test");
        Box::pin(async {})
    })));
    // The committer may still hold its lock when its response arrives.
    let panicked = loop {
        let changing = home.spawn(move |engine, admin| async move {
            engine.change_clock(&admin, None, ClockCommand::Pause, None).await
        });
        if let Err(error) = changing.await {
            break error;
        }
    };
    assert!(panicked.is_panic());
    store.meddle(None);
    assert!(is_unavailable(&home.engine.change_clock(&home.admin, None, ClockCommand::Pause, None).await));
    assert!(is_unavailable(&home.engine.ready().await));
    home.reopen().await.close().await;
}
