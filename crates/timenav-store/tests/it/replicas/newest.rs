//! Values computed from a timeline before a decision are based on everything that the other service has confirmed.
//! Hints are disabled here, so a service knows only what it asks for.

use timenav_core::as_of::AsOf;
use timenav_engine::{ClockChange, EventErasure, ImportId, WhichEvents};

use crate::replicas::*;

async fn record(home: &Home<'_>, name: &str) -> u64 {
    home.record_events(None, vec![draft(name)]).await.ledger.position
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn decisions_include_writes_confirmed_by_another_replica() {
    let house = House::on_postgres();
    let other = two(&house).await;
    let homes = [house.open().await, other.open().await];
    let [left, right] = &homes;
    Box::pin(returned_position_is_readable(left, right)).await;
    Box::pin(import_can_be_undone(left, right)).await;
    Box::pin(erasure_includes_confirmed_events(left, right)).await;
    Box::pin(timers_rearm_from_a_moved_clock(left, right)).await;
    // Forks come last: an erasure would have to include them.
    Box::pin(fork_contains_confirmed_writes(&homes)).await;
    end(homes).await;
}

async fn fork_contains_confirmed_writes(homes: &[Home<'_>; 2]) {
    for turn in 0..4 {
        let [writes, forks] = [&homes[turn % 2], &homes[1 - turn % 2]];
        let (name, host) = (format!("event-{turn}"), AsOf::Host(writes.engine.now()));
        let position = record(writes, &name).await;
        let (fork, main) = (timeline_id(&format!("fork-{turn}")), timeline_id("main"));
        let at = [None, Some(AsOf::Position(position)), Some(host), None][turn].clone();
        let made = forks.engine.fork_timeline(&forks.admin, fork.clone(), &main, at.as_ref(), None);
        made.await.unwrap();
        let seen = forks.engine.event(&forks.admin, Some(fork), &event_id(&name), None).await;
        assert_eq!(seen.is_ok(), turn != 2, "{turn}: {seen:?}");
    }
}

async fn returned_position_is_readable(left: &Home<'_>, right: &Home<'_>) {
    let (engine, admin) = (&right.engine, &right.admin);
    let position = AsOf::Position(record(left, "first").await);
    engine.event(admin, None, &event_id("first"), Some(&position)).await.unwrap();
    let later = AsOf::Position(left.size("main").await + 100);
    let refused = engine.event(admin, None, &event_id("first"), Some(&later)).await.unwrap_err().to_string();
    assert!(refused.contains("the last position of the ledger is"), "{refused}");
}

async fn import_can_be_undone(left: &Home<'_>, right: &Home<'_>) {
    let drafts = vec![draft("one"), draft("two")];
    let batch = left.engine.import_events(&left.admin, &timeline_id("main"), drafts).await.unwrap();
    let last = batch.ledger.position + 1;
    let import = ImportId::new(last - batch.taken, last, batch.taken).unwrap();
    assert_eq!(right.engine.undo_import(&right.admin, None, import, None).await.unwrap().undone, 2);
}

async fn erasure_includes_confirmed_events(left: &Home<'_>, right: &Home<'_>) {
    record(left, "three").await;
    right.engine.event(&right.admin, None, &event_id("three"), None).await.unwrap();
    record(left, "four").await;
    let which = WhichEvents::Ids(vec![event_id("three"), event_id("four")]);
    let request = EventErasure { timeline: None, which, include_forks: false, evaluated_at: None };
    assert_eq!(right.engine.erase_events(&right.admin, request, None).await.unwrap().change.events_count, 2);
}

/// Whether a clock goes back is decided from the position where another service has moved it.
async fn timers_rearm_from_a_moved_clock(left: &Home<'_>, right: &Home<'_>) {
    let go = |seconds: i64| {
        let to = travel(seconds);
        ClockChange { settle: false, refire: true, ..ClockChange::from(to) }
    };
    left.change_clock(None, ClockCommand::Pause).await;
    left.change_clock(None, go(0)).await;
    let schedule = Some(Schedule::At(moment(5 * SECOND)));
    let named = (Some(TimerId::new("single").unwrap()), TimerRequest { schedule, ..TimerRequest::default() });
    left.engine.set_timer(&left.admin, None, named, None).await.unwrap();
    right.read_clock(None).await;
    left.change_clock(None, go(10)).await;
    left.engine.keep_time().await;
    // From the service's own point of view, this would be a move forward.
    right.change_clock(None, go(1)).await;
    let timer = right.engine.timer(&right.admin, None, &TimerId::new("single").unwrap()).await.unwrap().timer.row;
    assert_eq!((timer.next, timer.round), (Some(moment(5 * SECOND)), 1));
}
