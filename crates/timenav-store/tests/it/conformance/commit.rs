//! Commits are atomic.

use timenav_engine::{Health, TimelineCommit};

use super::picture::picture;
use crate::backend::{Backend, on_each_backend};
use crate::conformance::*;

on_each_backend!(
    check_empty_store_holds_nothing,
    check_empty_commit_and_health_check_change_nothing,
    check_commit_with_a_wrong_expected_size_is_rejected,
    check_creating_an_existing_timeline_is_rejected,
    check_commit_to_a_nonexistent_timeline_is_rejected,
    check_stale_writer_is_rejected,
);

async fn check_empty_store_holds_nothing(backend: &dyn Backend) {
    let store = backend.open();
    store.health(Health::Answers).await.unwrap();
    let opened = store.open().await.unwrap();
    assert!(opened.heads.is_empty() && opened.directory.users.is_empty() && opened.directory.keys.is_empty());
    let key = Ledger::new(1, "main").head.key;
    assert!(store.event_versions(layer(key, u64::MAX), vec![event_id("e")]).await.unwrap().is_empty());
    let query = FactsQuery { outcomes: vec![digest("x")], ..FactsQuery::default() };
    assert!(store.facts(query, QueryOrigin::Writer).await.unwrap().outcomes[0].is_none());
    assert!(store.anchor_rows(key, None, 10).await.unwrap().is_empty());
    assert_eq!(store.anchor(key, &anchor("a", 0).anchor_id).await.unwrap(), None);
    assert_eq!(store.entry(key, 0).await.unwrap(), None);
}

async fn check_empty_commit_and_health_check_change_nothing(backend: &dyn Backend) {
    let store = backend.open();
    store.health(Health::Writes).await.unwrap();
    store.commit(commit_of(vec![Ledger::new(1, "main").grow(3)])).await.unwrap();
    let before = picture(&*store, &[], &[]).await;
    store.commit(Commit::default()).await.unwrap();
    assert_eq!(picture(&*store, &[], &[]).await, before, "an empty commit");
    store.health(Health::Writes).await.unwrap();
    assert_eq!(picture(&*store, &[], &[]).await, before, "a health check");
}

/// Returns a commit that changes everything that a commit can change.
fn step_with_everything(timelines: Vec<TimelineCommit>) -> Commit {
    let mut step = commit_of(timelines);
    for one in &mut step.timelines {
        let position = one.head.frontier.size() - 1;
        one.permissions_changed = true;
        one.head.permissions = std::sync::Arc::new(timenav_core::access::Permissions {
            read: users(["eve"]),
            ..timenav_core::access::Permissions::default()
        });
        one.events = vec![event("late", position, &EventDraft::at(moment(1), "late"))];
        one.anchors = vec![anchor("late", position)];
        one.head.events_count += 1;
        one.head.anchors_count += 1;
    }
    step.directory = vec![
        DirectoryChange::PutUser(user("ada", RestrictionLevel::NoAccess)),
        DirectoryChange::PutUser(user("eve", RestrictionLevel::FullAccess)),
        DirectoryChange::DeleteUser(user_id("bob")),
        DirectoryChange::PutKey(api_key("k2")),
        DirectoryChange::RevokeKey { key_id: KeyId::new("k1").unwrap(), at: host(9) },
    ];
    step.outcomes = vec![outcome("late", 50), outcome("early", 60)];
    step.outcomes_erased = vec![IdempotencyRecord { outcome: "{}".to_owned(), ..outcome("early", 60) }];
    step
}

async fn two_ledgers(store: &dyn Store) -> (Ledger, Ledger) {
    let (mut one, mut two) = (Ledger::new(1, "one"), Ledger::new(2, "two"));
    let mut step = commit_of(vec![one.grow(300), two.grow(4)]);
    step.timelines[0].events = vec![event("first", 2, &EventDraft::at(moment(1), "first"))];
    step.timelines[1].anchors = vec![anchor("first", 3)];
    step.directory = vec![
        DirectoryChange::PutUser(user("ada", RestrictionLevel::FullAccess)),
        DirectoryChange::PutUser(user("bob", RestrictionLevel::FullAccess)),
        DirectoryChange::PutKey(api_key("k1")),
    ];
    step.outcomes = vec![outcome("early", 50)];
    store.commit(step).await.unwrap();
    (one, two)
}

async fn check_commit_with_a_wrong_expected_size_is_rejected(backend: &dyn Backend) {
    let store = backend.open();
    let (one, two) = two_ledgers(&*store).await;
    let (event_ids, outcome_keys) = ([event_id("first"), event_id("late")], [digest("early"), digest("late")]);
    let before = picture(&*store, &event_ids, &outcome_keys).await;
    // Before and after the size of the ledger, and no size at all.
    for wrong in [Some(0), Some(3), Some(5), None] {
        for wrong_one_is_last in [true, false] {
            let mut timelines = vec![one.clone().grow(300), two.clone().grow(2), Ledger::new(3, "three").grow(2)];
            timelines[1].expected_size = wrong;
            if !wrong_one_is_last {
                timelines.swap(0, 1);
            }
            let refused = store.commit(step_with_everything(timelines)).await;
            assert!(matches!(&refused, Err(StoreError::Moved(id)) if id.as_str() == "two"), "{wrong:?}: {refused:?}");
            assert_eq!(picture(&*store, &event_ids, &outcome_keys).await, before, "{wrong:?}");
        }
    }
    assert_eq!(picture(&*backend.open(), &event_ids, &outcome_keys).await, before);
    // The same commit with the right size is accepted.
    let timelines = vec![one.clone().grow(300), two.clone().grow(2), Ledger::new(3, "three").grow(2)];
    store.commit(step_with_everything(timelines)).await.unwrap();
    assert_eq!(store.open().await.unwrap().heads.len(), 3);
    assert_ne!(picture(&*store, &event_ids, &outcome_keys).await, before);
}

async fn check_creating_an_existing_timeline_is_rejected(backend: &dyn Backend) {
    let store = backend.open();
    let (one, two) = two_ledgers(&*store).await;
    let before = picture(&*store, &[], &[]).await;
    for (key, name) in [(1, "one"), (9, "one"), (1, "nine"), (2, "one")] {
        let refused = store.commit(commit_of(vec![Ledger::new(key, name).grow(1)])).await;
        assert!(matches!(&refused, Err(StoreError::Moved(id)) if id.as_str() == name), "{key} {name}: {refused:?}");
    }
    assert_eq!(picture(&*store, &[], &[]).await, before);
    store.commit(commit_of(vec![one.clone().grow(1), two.clone().grow(1)])).await.unwrap();
}

async fn check_commit_to_a_nonexistent_timeline_is_rejected(backend: &dyn Backend) {
    let store = backend.open();
    two_ledgers(&*store).await;
    for expected_size in [0, 4] {
        let mut step = Ledger::new(7, "seven").grow(1);
        step.expected_size = Some(expected_size);
        let refused = store.commit(commit_of(vec![step])).await;
        assert!(matches!(&refused, Err(StoreError::Moved(id)) if *id == timeline_id("seven")), "{refused:?}");
    }
    assert_eq!(store.open().await.unwrap().heads.len(), 2);
}

async fn check_stale_writer_is_rejected(backend: &dyn Backend) {
    let (left, right) = (backend.open(), backend.open());
    let mut ledger = Ledger::new(1, "main");
    left.commit(commit_of(vec![ledger.grow(2)])).await.unwrap();
    let mut other = ledger.clone();
    left.commit(commit_of(vec![ledger.grow(1)])).await.unwrap();
    let refused = right.commit(commit_of(vec![other.grow(5)])).await;
    assert!(matches!(refused, Err(StoreError::Moved(_))), "{refused:?}");
    right.commit(commit_of(vec![ledger.grow(1)])).await.unwrap();
    assert_eq!(left.open().await.unwrap().heads[0].frontier, ledger.head.frontier);
}
