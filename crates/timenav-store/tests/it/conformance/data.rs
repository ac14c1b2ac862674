//! Sealed records, and what erasure leaves.

use timenav_engine::{ErasedContent, Erasure};

use crate::backend::{Backend, on_each_backend};
use crate::conformance::*;

on_each_backend!(
    check_data_record_is_found_by_id,
    check_data_id_is_unique_per_timeline,
    check_erased_data_record_keeps_its_position,
    check_erased_event_is_removed_and_its_leaf_kept,
);

fn id(text: &str) -> DataId {
    DataId::new(text).unwrap()
}

fn record(name: &str, position: u64) -> DataRecord {
    let sealed = SealedData {
        format: 1,
        kind: 2,
        salt: vec![3; 16],
        nonce: vec![4; 12],
        commitment: vec![5; 32],
        ciphertext: name.as_bytes().repeat(1_000),
    };
    DataRecord { data_id: id(name), position, erased: None, sealed }
}

async fn check_data_record_is_found_by_id(backend: &dyn Backend) {
    let store = backend.open();
    assert_eq!(store.data_record(&id("a")).await.unwrap(), None);
    let (mut one, mut two) = (Ledger::new(1, "one"), Ledger::new(2, "two"));
    let mut step = commit_of(vec![one.grow(3), two.grow(2)]);
    step.timelines[0].data = vec![record("a", 1), record("b", 2)];
    step.timelines[1].data = vec![record("c", 1)];
    store.commit(step).await.unwrap();
    for store in [store, backend.open()] {
        for (name, position, timeline) in [("a", 1, "one"), ("b", 2, "one"), ("c", 1, "two")] {
            let expected = Some((timeline_id(timeline), record(name, position)));
            assert_eq!(store.data_record(&id(name)).await.unwrap(), expected);
        }
        assert_eq!(store.data_record(&id("A")).await.unwrap(), None);
    }
}

async fn check_data_id_is_unique_per_timeline(backend: &dyn Backend) {
    let store = backend.open();
    let (mut one, mut two) = (Ledger::new(1, "one"), Ledger::new(2, "two"));
    let mut step = commit_of(vec![one.grow(2), two.grow(1)]);
    step.timelines[0].data = vec![record("a", 1)];
    store.commit(step).await.unwrap();
    let before = one.clone();
    let mut step = commit_of(vec![one.grow(1)]);
    step.timelines[0].data = vec![record("a", 2)];
    let refused = store.commit(step).await;
    assert!(matches!(refused, Err(StoreError::Damaged(_))), "{refused:?}");
    store.commit(commit_of(vec![before.clone().grow(1)])).await.unwrap();

    // A record of another timeline has the same id, and each is found by its entry. By the id alone, the older
    // timeline's is found.
    let mut step = commit_of(vec![two.grow(1)]);
    step.timelines[0].data = vec![DataRecord { erased: Some(7), ..record("a", 1) }];
    store.commit(step).await.unwrap();
    assert_eq!(store.data_record(&id("a")).await.unwrap(), Some((timeline_id("one"), record("a", 1))));
    for (ledger, erased) in [(&one, None), (&two, Some(7))] {
        let rows = store.data_rows(ledger.head.key, vec![1, 0]).await.unwrap();
        assert_eq!(rows, [Some(DataRecord { erased, ..record("a", 1) }), None]);
    }
}

async fn check_erased_data_record_keeps_its_position(backend: &dyn Backend) {
    let store = backend.open();
    let mut ledger = Ledger::new(1, "one");
    let mut step = commit_of(vec![ledger.grow(3)]);
    step.timelines[0].data = vec![record("a", 1), record("b", 2)];
    store.commit(step).await.unwrap();
    let entry = store.entry(ledger.head.key, 1).await.unwrap();
    for by in [3, 4] {
        let mut step = commit_of(vec![ledger.grow(1)]);
        let content = ErasedContent::Data(id("a"));
        step.timelines[0].erasures = vec![Erasure { position: 1, by, content }];
        store.commit(step).await.unwrap();
        // The first erasure counts.
        let sealed = SealedData { format: 1, kind: 2, ..SealedData::default() };
        let erased = DataRecord { data_id: id("a"), position: 1, erased: Some(3), sealed };
        assert_eq!(store.data_record(&id("a")).await.unwrap(), Some((timeline_id("one"), erased)));
    }
    assert_eq!(store.entry(ledger.head.key, 1).await.unwrap(), entry);
    assert_eq!(store.data_record(&id("b")).await.unwrap(), Some((timeline_id("one"), record("b", 2))));
}

async fn positions(store: &dyn Store, ledger: &Ledger, as_of: u64) -> Vec<u64> {
    let query = EventQuery {
        layers: layer(ledger.head.key, as_of),
        patterns: vec![Pattern::Location(LocationQuery::Anywhere)],
        range: TimeRange::everything(),
        after: None,
        items_max: 10,
        newest_first: false,
        overlapping: false,
    };
    store.events(query).await.unwrap().iter().map(|event| event.position).collect()
}

async fn check_erased_event_is_removed_and_its_leaf_kept(backend: &dyn Backend) {
    let store = backend.open();
    let mut ledger = Ledger::new(1, "one");
    let mut step = commit_of(vec![ledger.grow(3)]);
    step.timelines[0].events =
        vec![event("a", 1, &EventDraft::at(moment(1), "a")), event("b", 2, &EventDraft::at(moment(2), "b"))];
    store.commit(step).await.unwrap();
    let before = store.entry(ledger.head.key, 1).await.unwrap().unwrap();
    assert!(!before.is_erased());
    let mut step = commit_of(vec![ledger.grow(1)]);
    let content = ErasedContent::Event(event_id("a"));
    step.timelines[0].erasures = vec![Erasure { position: 1, by: 3, content }];
    store.commit(step).await.unwrap();
    let entry = store.entry(ledger.head.key, 1).await.unwrap().unwrap();
    assert!(entry.is_erased());
    assert_eq!((entry.seq, entry.leaf, entry.payload), (1, before.leaf, Vec::new()));
    assert_eq!(entry.salt, Salt::from_bytes([0; Salt::BYTES]));
    // Not even in reads as of an earlier position.
    assert_eq!(positions(&*store, &ledger, 4).await, [2]);
    assert_eq!(positions(&*store, &ledger, 3).await, [2]);
    assert!(store.event_versions(layer(ledger.head.key, u64::MAX), vec![event_id("a")]).await.unwrap().is_empty());
    // The id is available again, and the new event is not the erased one.
    let mut step = commit_of(vec![ledger.grow(1)]);
    step.timelines[0].events = vec![event("a", 4, &EventDraft::at(moment(3), "again"))];
    step.timelines[0].erasures = vec![Erasure { position: 1, by: 4, content: ErasedContent::Event(event_id("a")) }];
    store.commit(step).await.unwrap();
    assert_eq!(positions(&*store, &ledger, 5).await, [2, 4]);
}
