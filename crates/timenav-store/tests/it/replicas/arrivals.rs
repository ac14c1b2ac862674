//! A bundle that one service adopts while another one is at work on the same database.

use std::sync::Arc;

use timenav_core::scan::Depth;
use timenav_engine::Refusal;

use super::{end, names, two};
use crate::cluster::execute;
use crate::engine::{NAME, adopt, another_house_on_postgres, in_the_midst, large, record};
use crate::faulty_store::FaultyStore;
use crate::house::{Home, House};
use crate::sample::timeline_id;

async fn open_gated(house: &House) -> (Home<'_>, Arc<FaultyStore>) {
    let store = Arc::new(FaultyStore::locking(house.store()));
    (house.try_open(Arc::clone(&store) as _).await.unwrap(), store)
}

async fn is_seen(home: &Home<'_>) -> bool {
    names(home, &home.admin).await.contains(&NAME.to_owned())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn the_other_service_neither_sees_a_bundle_nor_clears_it_away_while_it_arrives() {
    let there = House::new();
    let far = there.open().await;
    let text = large(&far).await;
    far.close().await;
    let house = another_house_on_postgres();
    let other = two(&house).await;
    let ((left, store), right) = (open_gated(&house).await, other.open().await);
    let adopted = in_the_midst((&left, &store), (&there, &text), async || {
        right.engine.tend().await.unwrap();
        // The other one makes timelines meanwhile, which have newer numbers.
        for name in ["one", "two"] {
            right.engine.create_timeline(&right.admin, timeline_id(name), None).await.unwrap();
        }
        record(&right, "meanwhile").await;
        assert!(!is_seen(&right).await && !is_seen(&left).await);
        let system = timeline_id("system");
        let scan = right.engine.detect_tampering(&right.admin, &system, Depth::Full, &mut |_| {}).await.unwrap().scan;
        assert!(!scan.tampering_detected(), "{}", scan.details);
    });
    adopted.await.unwrap();
    assert!(is_seen(&right).await && is_seen(&left).await);
    right.engine.read_clock(&right.admin, Some(timeline_id(NAME))).await.unwrap();
    for home in [&left, &right] {
        let scan = home.engine.detect_tampering(&home.admin, &timeline_id(NAME), Depth::Full, &mut |_| {}).await;
        let scan = scan.unwrap().scan;
        assert!(!scan.tampering_detected(), "{}", scan.details);
    }
    drop(store);
    end(&house, [left, right]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_service_that_was_not_heard_of_for_long_finds_its_bundle_given_up() {
    let there = House::new();
    let far = there.open().await;
    let text = large(&far).await;
    far.close().await;
    let house = another_house_on_postgres();
    let other = two(&house).await;
    let ((left, store), right) = (open_gated(&house).await, other.open().await);
    let refused = in_the_midst((&left, &store), (&there, &text), async || {
        execute(&house.database(), "UPDATE arrivals SET until = 0");
        right.engine.tend().await.unwrap();
        assert_eq!(right.store.arrivals_left().await.unwrap(), [""; 0]);
        record(&right, "meanwhile").await;
    });
    let refused = Box::pin(refused).await.err().unwrap().to_string();
    assert!(refused.contains("given up before all of it had arrived"), "{refused}");
    // Both adopt it at once: one of them does.
    let adopted = in_the_midst((&left, &store), (&there, &text), async || {
        adopt(&right, &there, &text).await.unwrap();
    });
    let refused = Box::pin(adopted).await.err().unwrap();
    assert!(matches!(refused, Refusal::NotMerged { .. }), "{refused}");
    execute(&house.database(), "UPDATE arrivals SET until = 9000000000000000000");
    assert_eq!(right.store.arrivals_left().await.unwrap().len(), 1, "what lasts too long was written by nobody");
    right.engine.tend().await.unwrap();
    let stray = right.store.stray_arrivals().await.unwrap();
    assert!(stray.orphans.is_empty() && stray.marked.is_empty(), "{stray:?}");
    assert!(is_seen(&left).await);
    drop(store);
    end(&house, [left, right]).await;
}
