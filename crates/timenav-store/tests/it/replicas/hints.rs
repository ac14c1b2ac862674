//! Hints with the timelines that have changed: listeners read only those, regardless of the total number.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use timenav_engine::{Hint, LedgerUpdate, TimelineKey, Topic, WatchLedger};

use super::{draft, end, two};
use crate::cluster::execute;
use crate::faulty_store::FaultyStore;
use crate::house::{Home, House, watch};
use crate::sample::timeline_id;

const TIMELINES: usize = 40;

/// Returns the next hint that names timelines. The first hint of a new connection names none.
async fn named(home: &Home<'_>) -> BTreeSet<TimelineKey> {
    loop {
        if let Hint::Some(named) = home.engine.hint().await {
            return named;
        }
        home.engine.catch_up_all().await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn hint_triggers_reads_only_of_the_named_timelines() {
    let house = House::on_postgres();
    let other = two(&house).await;
    let left = house.open().await;
    for number in 0..TIMELINES {
        let timeline = timeline_id(&format!("one-of-many-{number}"));
        left.engine.create_timeline(&left.admin, timeline, None).await.unwrap();
    }
    let store = Arc::new(FaultyStore::locking(other.store()));
    let right = other.try_open(Arc::clone(&store) as _).await.unwrap();
    let busy = timeline_id("one-of-many-7");
    let request = WatchLedger { timeline: Some(busy.clone()), ..watch(&[Topic::Events], None) };
    let mut stream = right.engine.watch_ledger(&right.admin, request).await.unwrap();
    assert_eq!(stream.next().await.unwrap().update, LedgerUpdate::Mark, "where it begins");
    // From the new connection.
    assert_eq!(right.engine.hint().await, Hint::All);
    let key = left.key(&busy).await;
    for number in 0..3 {
        let drafts = vec![draft(&format!("event{number}"))];
        let recorded = left.engine.record_events(&left.admin, Some(busy.clone()), drafts, None).await.unwrap();
        let hinted = named(&right).await;
        assert_eq!(hinted, BTreeSet::from([key]));
        store.handed_over.store(0, Ordering::SeqCst);
        right.engine.catch_up_hinted(Hint::Some(hinted)).await.unwrap();
        assert_eq!(store.handed_over.swap(0, Ordering::SeqCst), 1);
        let message = loop {
            let message = stream.next().await.unwrap();
            if message.update != LedgerUpdate::Mark {
                break message;
            }
        };
        assert_eq!(message.position, recorded.ledger.position);
    }
    drop(stream);
    end(&house, [left, right]).await;
}

/// Any client with access to the database can send a hint.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn invalid_hints_are_harmless() {
    let house = House::on_postgres();
    let other = two(&house).await;
    let (left, right) = (house.open().await, other.open().await);
    assert_eq!(right.engine.hint().await, Hint::All);
    for (sent, hint) in [
        ("NOTIFY timenav", Hint::All),
        ("NOTIFY timenav, 'drop everything'", Hint::All),
        ("NOTIFY timenav, '-9223372036854775808 5000 9223372036854775807'", {
            Hint::of([i64::MIN, 5_000, i64::MAX].map(TimelineKey))
        }),
        ("NOTIFY timenav, '-'", Hint::of([])),
    ] {
        execute(&house.database(), sent);
        let received = right.engine.hint().await;
        assert_eq!(received, hint);
        right.engine.catch_up_hinted(received).await.unwrap();
    }
    // A timeline that was created and ended, and a new one, are in the hint of the change that affected them.
    right.engine.catch_up_all().await.unwrap();
    let (missing, new) = (timeline_id("gone"), timeline_id("new"));
    left.engine.create_timeline(&left.admin, missing.clone(), None).await.unwrap();
    let key = left.key(&missing).await;
    left.engine.end_timeline(&left.admin, missing, None).await.unwrap();
    left.engine.create_timeline(&left.admin, new.clone(), None).await.unwrap();
    right.engine.catch_up_hinted(Hint::of([key])).await.unwrap();
    assert!(right.engine.timeline(&right.admin, &new).await.is_ok());
    assert_eq!(right.engine.replica().unwrap().loads, 0);
    end(&house, [left, right]).await;
}
