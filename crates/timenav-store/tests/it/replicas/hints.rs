//! Hints with the timelines that have changed: listeners read only those, regardless of the total number.

use timenav_engine::{Hint, TimelineKey, WatchLedger};

use crate::replicas::*;

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
        left.create_timeline(timeline).await;
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
        let recorded = left.record_events(Some(busy.clone()), drafts).await;
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
    end([left, right]).await;
}

/// Any client with access to the database can send a hint.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn invalid_hints_are_harmless() {
    let (left, right) = pair().await;
    assert_eq!(right.engine.hint().await, Hint::All);
    for (sent, hint) in [
        ("NOTIFY timenav", Hint::All),
        ("NOTIFY timenav, 'drop everything'", Hint::All),
        ("NOTIFY timenav, '-9223372036854775808 5000 9223372036854775807'", {
            Hint::of([i64::MIN, 5_000, i64::MAX].map(TimelineKey))
        }),
        ("NOTIFY timenav, '-'", Hint::of([])),
    ] {
        execute(&left.house.database(), sent);
        let received = right.engine.hint().await;
        assert_eq!(received, hint);
        right.engine.catch_up_hinted(received).await.unwrap();
    }
    // A timeline that was created and ended, and a new one, are in the hint of the change that affected them.
    right.engine.catch_up_all().await.unwrap();
    let (missing, new) = (timeline_id("gone"), timeline_id("new"));
    left.create_timeline(missing.clone()).await;
    let key = left.key(&missing).await;
    left.end_timeline(missing).await;
    left.create_timeline(new.clone()).await;
    right.engine.catch_up_hinted(Hint::of([key])).await.unwrap();
    assert!(right.engine.timeline(&right.admin, &new).await.is_ok());
    assert_eq!(right.engine.replica().unwrap().loads, 0);
    end([left, right]).await;
}
