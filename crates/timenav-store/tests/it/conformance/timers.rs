//! Timers, their firings and advances: stored data and result order.

use timenav_core::ids::{AdvanceId, QueueId, TimerId};
use timenav_core::timers::{DueFiring, FiringState, Timers};
use timenav_engine::{AdvanceRow, FiringEnd, FiringRow, TimerMove, TimerRow, TimerRows, TimerStatus, TimersFound};

use crate::backend::{Backend, on_each_backend};
use crate::conformance::*;

on_each_backend!(
    check_timers_round_trip,
    check_timer_state_changes_are_stored,
    check_firings_of_one_due_time_are_ordered_and_paged_by_round,
);

const ONE: TimelineKey = TimelineKey(1);

fn at(moment: i64) -> Instant<Virtual> {
    Instant::from_micros(moment).unwrap()
}

fn timer(position: u64, next: Option<i64>) -> TimerRow {
    TimerRow {
        position,
        timer_id: TimerId::new(&format!("timer-{position}")).unwrap(),
        next: next.map(at),
        round: 0,
        is_cancelled: false,
        schedule: r#"{"at":"x"}"#.into(),
        deliver: "{}".into(),
        queue: QueueId::new(if position.is_multiple_of(2) { "even" } else { "odd" }).unwrap(),
        order_key: position.is_multiple_of(2).then(|| "key\0".to_owned()),
        payload: format!("[{position}]").into(),
        set_by: "ada".to_owned(),
        set_at: host(1),
    }
}

fn firing(position: u64, due: i64, made: u64) -> FiringRow {
    let due_firing = DueFiring { due: at(due), position, round: 0 };
    let TimerRow { timer_id, queue, order_key, .. } = timer(position, None);
    FiringRow {
        due_firing,
        firing_id: due_firing.firing_id(&TimelineId::main()),
        timer_id,
        queue,
        order_key,
        state: FiringState::Pending,
        made,
        settled: None,
        advance: (made > 4).then_some(4),
        reason: None,
    }
}

async fn ask(store: &dyn Store, query: TimerQuery) -> TimersFound {
    store.timer_rows(ONE, query).await.unwrap()
}

async fn timers(store: &dyn Store, query: TimerQuery) -> Vec<u64> {
    ask(store, query).await.timers.iter().map(|timer| timer.position).collect()
}

async fn firings(store: &dyn Store, query: TimerQuery) -> Vec<(i64, u64)> {
    let found = ask(store, query).await.firings;
    found.iter().map(|firing| (firing.due_firing.due.micros(), firing.due_firing.position)).collect()
}

/// Stores timers, firings and an advance.
async fn fill(store: &dyn Store) -> Ledger {
    let mut one = Ledger::new(1, "one");
    one.head.timers =
        Arc::new(Timers { next: Some(at(-5)), armed: 3, pending: 3, last: Some(7), base: 2, ..Timers::default() });
    let mut step = one.grow(9);
    let cancelled = TimerRow { is_cancelled: true, ..timer(6, None) };
    step.timers = TimerRows {
        removed: Vec::new(),
        set: vec![timer(1, Some(7)), timer(2, Some(-5)), timer(3, Some(7)), timer(5, None), cancelled],
        moved: Vec::new(),
        fired: vec![firing(5, 3, 7), firing(6, 3, 7), firing(5, 1, 4)],
        settled: Vec::new(),
        advances: vec![AdvanceRow {
            position: 4,
            advance_id: AdvanceId::new("advance_4").unwrap(),
            ended: 8,
            record: "{}".into(),
        }],
    };
    store.commit(commit_of(vec![step])).await.unwrap();
    one
}

async fn check_timers_round_trip(backend: &dyn Backend) {
    let store = backend.open();
    let store = &*store;
    let one = fill(store).await;
    let opened = store.open().await.unwrap();
    assert_eq!(opened.heads[0].timers, one.head.timers);
    let named = ask(store, TimerQuery::Named(TimerId::new("timer-2").unwrap())).await.timers;
    assert_eq!(named, [timer(2, Some(-5))]);
    assert_eq!(ask(store, TimerQuery::Named(TimerId::new("none").unwrap())).await, TimersFound::default());
    assert_eq!(timers(store, TimerQuery::At(vec![3, 9, 1])).await, [3, 1]);
    assert_eq!(timers(store, TimerQuery::Earliest(2)).await, [2, 1]);
    assert_eq!(ask(store, TimerQuery::Earliest(1)).await.timers[0].payload, "".into());
    let armed = |after, max| TimerQuery::Listed(TimerStatus::Armed, after, max);
    assert_eq!(timers(store, armed(None, 9)).await, [2, 1, 3]);
    assert_eq!(timers(store, armed(Some((at(7), 1)), 9)).await, [3]);
    assert_eq!(timers(store, TimerQuery::ArmedUntil(at(6), None, 9)).await, [2]);
    assert_eq!(timers(store, TimerQuery::ArmedUntil(at(7), Some((at(-5), 2)), 1)).await, [1]);
    assert_eq!(timers(store, TimerQuery::Listed(TimerStatus::Done, None, 9)).await, [5]);
    assert_eq!(timers(store, TimerQuery::Listed(TimerStatus::Cancelled, None, 9)).await, [6]);
    let cancelled_after = TimerQuery::Listed(TimerStatus::Cancelled, Some((at(0), 6)), 9);
    assert!(timers(store, cancelled_after).await.is_empty());
    assert_eq!(timers(store, TimerQuery::ArmedByName(None, 2)).await, [1, 2]);
    let after = Some(TimerId::new("timer-2").unwrap());
    assert_eq!(timers(store, TimerQuery::ArmedByName(after, 9)).await, [3]);
    assert_eq!(timers(store, TimerQuery::ByPosition(Some(2), 2)).await, [3, 5]);

    let ids = vec![firing(5, 3, 7).firing_id, firing(5, 1, 4).firing_id];
    let mut found = ask(store, TimerQuery::Firings(ids)).await.firings;
    found.sort_by_key(|firing| firing.due_firing);
    assert_eq!(found, [firing(5, 1, 4), firing(5, 3, 7)]);
    assert_eq!(firings(store, TimerQuery::FiringsOf(5, 9)).await, [(3, 5), (1, 5)]);
    assert_eq!(firings(store, TimerQuery::Pending(QueueId::new("odd").unwrap(), 9)).await, [(1, 5), (3, 5)]);
    assert_eq!(firings(store, TimerQuery::Pending(QueueId::new("even").unwrap(), 9)).await, [(3, 6)]);
    assert_eq!(firings(store, TimerQuery::PendingSince(5, 9)).await.len(), 2);
    assert_eq!(firings(store, TimerQuery::OfAdvance(4, at(0), at(3), 9)).await, [(3, 5), (3, 6)]);
    assert!(firings(store, TimerQuery::OfAdvance(4, at(0), at(2), 9)).await.is_empty());
    assert_eq!(firings(store, TimerQuery::FiringsAfter(None, 2)).await, [(1, 5), (3, 5)]);
    let after = Some(firing(5, 3, 7).due_firing);
    assert_eq!(firings(store, TimerQuery::FiringsAfter(after, 9)).await, [(3, 6)]);
    assert_eq!(firings(store, TimerQuery::FiringsOfAfter(5, None, 9)).await, [(1, 5), (3, 5)]);
    assert_eq!(firings(store, TimerQuery::FiringsOfAfter(5, None, 1)).await, [(1, 5)]);
    let first = Some(firing(5, 1, 4).due_firing);
    assert_eq!(firings(store, TimerQuery::FiringsOfAfter(5, first, 9)).await, [(3, 5)]);
    assert!(firings(store, TimerQuery::FiringsOfAfter(5, after, 9)).await.is_empty());
    assert_eq!(firings(store, TimerQuery::PendingAfter(None, 2)).await, [(1, 5), (3, 5)]);
    assert_eq!(firings(store, TimerQuery::PendingAfter(after, 9)).await, [(3, 6)]);
    let advances = ask(store, TimerQuery::Advance(AdvanceId::new("advance_4").unwrap())).await.advances;
    assert_eq!((advances.len(), advances[0].ended), (1, 8));
    assert_eq!(ask(store, TimerQuery::Advances(Some(4), 9)).await, TimersFound::default());
}

async fn check_timer_state_changes_are_stored(backend: &dyn Backend) {
    let store = backend.open();
    let store = &*store;
    let mut one = fill(store).await;
    one.head.timers = Arc::default();
    let mut step = one.grow(1);
    step.timers = TimerRows {
        removed: Vec::new(),
        set: vec![TimerRow { round: 1, payload: "7".into(), ..timer(1, Some(8)) }],
        moved: vec![
            TimerMove { position: 2, next: Some(at(1)), round: 0, is_cancelled: false },
            TimerMove { position: 2, next: Some(at(9)), round: 0, is_cancelled: false },
            TimerMove { position: 3, next: None, round: 0, is_cancelled: false },
        ],
        fired: Vec::new(),
        settled: vec![FiringEnd {
            due_firing: firing(5, 3, 7).due_firing,
            state: FiringState::Failed,
            settled: 9,
            reason: Some("declined".to_owned()),
        }],
        advances: Vec::new(),
    };
    store.commit(commit_of(vec![step])).await.unwrap();
    assert_eq!(timers(store, TimerQuery::Earliest(9)).await, [1, 2]);
    let changed = ask(store, TimerQuery::At(vec![1])).await.timers.remove(0);
    assert_eq!((changed.round, &*changed.payload), (1, "7"));
    assert_eq!(timers(store, TimerQuery::Listed(TimerStatus::Done, None, 9)).await, [3, 5]);
    let failed = ask(store, TimerQuery::Firings(vec![firing(5, 3, 7).firing_id])).await.firings.remove(0);
    let expected = FiringRow {
        state: FiringState::Failed,
        settled: Some(9),
        reason: Some("declined".to_owned()),
        ..firing(5, 3, 7)
    };
    assert_eq!(failed, expected);
    assert_eq!(firings(store, TimerQuery::Pending(QueueId::new("odd").unwrap(), 9)).await, [(1, 5)]);
    assert_eq!(firings(store, TimerQuery::PendingAfter(None, 9)).await, [(1, 5), (3, 6)]);
    assert_eq!(firings(store, TimerQuery::FiringsOfAfter(5, None, 9)).await, [(1, 5), (3, 5)]);
    assert_eq!(*store.open().await.unwrap().heads[0].timers, Timers::default());
    // A removed timer leaves its name to another one in the same commit, and its firings stay.
    let mut step = one.grow(1);
    let named = TimerRow { timer_id: timer(5, None).timer_id, ..timer(10, Some(4)) };
    step.timers = TimerRows { removed: vec![5, 6], set: vec![named.clone()], ..TimerRows::default() };
    store.commit(commit_of(vec![step])).await.unwrap();
    assert_eq!(timers(store, TimerQuery::ByPosition(None, 9)).await, [1, 2, 3, 10]);
    assert_eq!(ask(store, TimerQuery::Named(named.timer_id.clone())).await.timers, [named]);
    assert_eq!(firings(store, TimerQuery::FiringsOf(5, 9)).await, [(3, 5), (1, 5)]);
}

/// A due time that recurs has a firing in each round.
async fn check_firings_of_one_due_time_are_ordered_and_paged_by_round(backend: &dyn Backend) {
    let store = backend.open();
    let store = &*store;
    let mut one = fill(store).await;
    let in_round = |round| {
        let due_firing = DueFiring { round, ..firing(5, 3, 7).due_firing };
        FiringRow { due_firing, firing_id: due_firing.firing_id(&TimelineId::main()), ..firing(5, 3, 7) }
    };
    let mut step = one.grow(1);
    step.timers = TimerRows { fired: vec![in_round(2), in_round(1)], ..TimerRows::default() };
    store.commit(commit_of(vec![step])).await.unwrap();
    let rounds = async |query: TimerQuery| {
        let found = ask(store, query).await.firings;
        let found =
            found.into_iter().map(|firing| firing.due_firing).filter(|one| one.position == 5 && one.due == at(3));
        found.map(|one| one.round).collect::<Vec<u32>>()
    };
    assert_eq!(rounds(TimerQuery::FiringsOf(5, 9)).await, [2, 1, 0]);
    assert_eq!(rounds(TimerQuery::Pending(QueueId::new("odd").unwrap(), 9)).await, [0, 1, 2]);
    assert_eq!(rounds(TimerQuery::OfAdvance(4, at(3), at(3), 9)).await, [0, 1, 2]);
    for (round, left) in [(0, vec![1, 2]), (1, vec![2]), (2, vec![])] {
        let after = Some(in_round(round).due_firing);
        assert_eq!(rounds(TimerQuery::FiringsOfAfter(5, after, 9)).await, left, "after round {round}");
        assert_eq!(rounds(TimerQuery::FiringsAfter(after, 9)).await, left, "after round {round}");
        assert_eq!(rounds(TimerQuery::PendingAfter(after, 9)).await, left, "after round {round}");
    }
}
