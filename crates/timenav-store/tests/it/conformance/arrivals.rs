//! Rows of timelines that arrive: nobody sees them until they stand, and they are cleared away where they never do.

use timenav_core::event::EventDraft;
use timenav_core::ledger::{TILE_WIDTH, TileId};
use timenav_engine::{
    ArrivalCommit, ArrivingRows, Asker, Commit, DirectoryChange, EndedTimeline, Store, StoreError, TimelineCommit,
    TimelineKey, Wanted,
};

use crate::backend::{Backend, on_each_backend};
use crate::sample::{Ledger, anchor, commit_of, event, event_id, host, layer, moment, timeline_id};

on_each_backend!(
    check_what_arrives_is_there_once_it_stands,
    check_what_was_given_up_never_stands,
    check_so_many_rows_are_cleared_at_a_time,
    check_numbers_are_given_again_and_never_twice,
);

/// Adds so many entries to what arrives, with an event each.
async fn arrive(store: &dyn Store, arrival: &str, ledger: &mut Ledger, count: usize) -> Result<(), StoreError> {
    let (key, size) = (ledger.head.key, ledger.size());
    let entries = ledger.grow(count).entries;
    let draft = EventDraft::at(moment(1), "d");
    let events = (size..ledger.size()).map(|at| event(&format!("e{at}"), at, &draft)).collect();
    let anchors = vec![anchor(&format!("anchor{size}"), size)];
    store.put_arriving(arrival, key, size, ArrivingRows { entries, events, anchors, ..ArrivingRows::default() }).await
}

/// Returns the step that makes two timelines stand: the first one is a layer of the second one.
fn standing(arrival: &str, base: &Ledger, own: &mut Ledger) -> Commit {
    let step = TimelineCommit { expected_size: None, permissions_changed: true, ..own.grow(1) };
    let ended = EndedTimeline {
        key: base.head.key,
        id: timenav_core::ids::TimelineId::layer_of(&own.head.id, &base.head.id),
        size: base.size(),
        root: base.head.frontier.root(),
        ended_at: host(1),
        fork: None,
        overrides: false,
        due_at: host(1),
        is_let_go: false,
    };
    let timelines = vec![base.head.key, own.head.key];
    let arrivals = vec![ArrivalCommit { arrival: arrival.to_owned(), timelines }];
    Commit { arrivals, directory: vec![DirectoryChange::EndTimeline(ended)], ..commit_of(vec![step]) }
}

async fn begin(store: &dyn Store, arrival: &str) -> [Ledger; 2] {
    let keys = store.begin_arrival(arrival, vec![timeline_id("base"), timeline_id("own")]).await.unwrap();
    let [base, own] = keys[..] else { panic!("{keys:?}") };
    assert!(own < base && base.0 < 0, "{keys:?}");
    [Ledger::new(base.0, "base"), Ledger::new(own.0, "own")]
}

fn is_given_up<T>(done: Result<T, StoreError>) -> bool {
    matches!(done, Err(StoreError::Unavailable(reason)) if reason.contains("given up before all of it had arrived"))
}

async fn is_nothing_left(store: &dyn Store) {
    let stray = store.stray_arrivals().await.unwrap();
    assert!(stray.orphans.is_empty() && stray.marked.is_empty(), "{stray:?}");
}

async fn check_what_arrives_is_there_once_it_stands(backend: &dyn Backend) {
    let store = backend.open();
    let mut here = Ledger::new(1, "here");
    store.commit(commit_of(vec![here.grow(1)])).await.unwrap();
    let [mut base, mut own] = begin(&*store, "one").await;
    // Tiles are filled from one batch to the next.
    for count in [100, 1, 300] {
        arrive(&*store, "one", &mut base, count).await.unwrap();
    }
    for count in [255, 2, 600] {
        arrive(&*store, "one", &mut own, count).await.unwrap();
        store.commit(commit_of(vec![here.grow(1)])).await.unwrap();
    }
    assert!(is_given_up(arrive(&*store, "another", &mut own.clone(), 1).await), "only whoever began it goes on");
    store.keep_arrival("one").await.unwrap();
    let seen = store.open().await.unwrap();
    assert_eq!((seen.heads.len(), seen.ended.len()), (1, 0));
    assert_eq!(store.sizes().await.unwrap(), [(TimelineKey(1), here.size())]);
    assert_eq!(store.newest(&[], TimelineKey(0)..=TimelineKey(1)).await.unwrap().len(), 0);
    is_nothing_left(&*store).await;

    store.commit(standing("one", &base, &mut own)).await.unwrap();
    let seen = store.open().await.unwrap();
    assert_eq!((seen.heads.len(), seen.ended.len()), (2, 1));
    let newest = store.newest(&[], TimelineKey(0)..=TimelineKey(1)).await.unwrap();
    assert_eq!(newest.iter().map(|head| head.key).collect::<Vec<_>>(), [own.head.key]);
    for ledger in [&base, &own] {
        for (index, hashes) in (0..).zip(ledger.leaves.chunks(usize::from(TILE_WIDTH))) {
            let tile = TileId { level: 0, index };
            assert_eq!(store.tile(ledger.head.key, tile, hashes.len()).await.unwrap(), hashes);
        }
    }
    let events = vec![(layer(own.head.key, own.size()), vec![event_id("e0"), event_id("e856")])];
    let facts = store.facts(Wanted { events, ..Wanted::default() }, Asker::Reader).await.unwrap();
    assert_eq!(facts.events[0].len(), 2);
    // From here on it is a timeline as any other, and no arrival.
    backend.let_time_pass();
    assert_eq!(store.arrivals_left().await.unwrap(), [""; 0]);
    assert!(is_given_up(arrive(&*store, "one", &mut own.clone(), 1).await));
    assert!(!store.clear_arrival("one", 10).await.unwrap());
    assert_eq!(store.sizes().await.unwrap().len(), 2);
    store.commit(commit_of(vec![own.grow(3)])).await.unwrap();
    is_nothing_left(&*store).await;
}

async fn check_what_was_given_up_never_stands(backend: &dyn Backend) {
    let store = backend.open();
    let [mut base, mut own] = begin(&*store, "one").await;
    arrive(&*store, "one", &mut base, 3).await.unwrap();
    arrive(&*store, "one", &mut own, 3).await.unwrap();
    backend.let_time_pass();
    assert_eq!(store.arrivals_left().await.unwrap(), ["one"]);
    assert!(store.clear_arrival("one", 1).await.unwrap(), "more is left");
    assert_eq!(store.arrivals_left().await.unwrap(), ["one"]);
    assert!(is_given_up(arrive(&*store, "one", &mut own.clone(), 1).await));
    assert!(is_given_up(store.keep_arrival("one").await));
    let mut here = Ledger::new(1, "here");
    let step = standing("one", &base, &mut own);
    let timelines = step.timelines.into_iter().chain([here.grow(1)]).collect();
    assert!(is_given_up(store.commit(Commit { timelines, ..step }).await));
    let seen = store.open().await.unwrap();
    assert_eq!((seen.heads.len(), seen.ended.len()), (0, 0), "the step is without effect");
    while store.clear_arrival("one", 1_000).await.unwrap() {}
    assert_eq!(store.arrivals_left().await.unwrap(), [""; 0]);
    is_nothing_left(&*store).await;
}

async fn check_so_many_rows_are_cleared_at_a_time(backend: &dyn Backend) {
    let store = backend.open();
    let [mut base, mut own] = begin(&*store, "one").await;
    arrive(&*store, "one", &mut base, 10).await.unwrap();
    arrive(&*store, "one", &mut own, 600).await.unwrap();
    backend.let_time_pass();
    // Each call takes rows of one table: entries, events, anchors and tiles of both, and the marks at the end.
    for (items_max, least) in [(100, 1 + 6 + 6 + 1 + 1), (usize::MAX >> 1, 1 + 3)] {
        let mut calls = 1;
        while store.clear_arrival("one", items_max).await.unwrap() {
            calls += 1;
        }
        assert!(calls >= least && calls < 3 * least, "{calls} calls for {items_max}");
        assert_eq!(store.arrivals_left().await.unwrap(), [""; 0]);
        is_nothing_left(&*store).await;
        let [_, mut own] = begin(&*store, "one").await;
        arrive(&*store, "one", &mut own, 300).await.unwrap();
        backend.let_time_pass();
    }
}

async fn check_numbers_are_given_again_and_never_twice(backend: &dyn Backend) {
    let store = backend.open();
    let numbers = async |arrival: &str| begin(&*store, arrival).await.map(|ledger| ledger.head.key.0);
    assert_eq!(numbers("one").await, [-1, -2]);
    assert_eq!(numbers("two").await, [-3, -4]);
    let [mut base, mut own] = [Ledger::new(-3, "base"), Ledger::new(-4, "own")];
    arrive(&*store, "two", &mut base, 1).await.unwrap();
    arrive(&*store, "two", &mut own, 1).await.unwrap();
    store.commit(standing("two", &base, &mut own)).await.unwrap();
    backend.let_time_pass();
    while store.clear_arrival("one", 10).await.unwrap() {}
    assert_eq!(numbers("three").await, [-1, -2]);
    assert_eq!(numbers("four").await, [-5, -6]);
}
