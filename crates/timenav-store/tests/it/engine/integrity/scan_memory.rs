//! Memory of a scan does not depend on the size of the ledger.

use crate::engine::*;
use crate::tampering::look_through;

/// More bytes than a scan receives for events as short as these.
const HANDED_BYTES_MAX: usize = 1024 * 1024;

fn draft(number: usize) -> EventDraft {
    EventDraft { event_id: Some(event_id("one")), ..EventDraft::at(moment(1), format!("{number} {}", "x".repeat(300))) }
}

async fn correct(home: &Home<'_>, times: usize) {
    for number in 0..times {
        home.engine.correct_event(&home.admin, on("main"), draft(number), None, None).await.unwrap();
    }
}

async fn intervene(home: &Home<'_>, effect: Effect, action: &str) {
    let (action, time, causes) = (action.to_owned(), moment(1), Vec::new());
    let request = InterventionRequest { event_id: event_id("one"), action, effect, time, causes };
    home.engine.manipulate_event(&home.admin, on("main"), request, None).await.unwrap();
}

/// Unchanged events are compared in a pass over the table.
#[tokio::test]
async fn scan_queries_only_changed_events_individually() {
    let house = House::new();
    let (store, home) = house.open_faulty().await;
    let draft = |number: i64| named_event(&format!("e{number}"), number, "x".repeat(300));
    for first in [0, 1_000, 2_000] {
        let drafts = (first..first + 1_000).map(draft).collect();
        home.record_events(on("main"), drafts).await;
    }
    let scan = look_through(&house, &*store, "main", Depth::Full, None).await;
    assert_eq!((scan.findings, store.looked_up.load(Ordering::SeqCst)), (Vec::new(), 0));
    assert!((1_000..HANDED_BYTES_MAX).contains(&store.scanned_bytes.load(Ordering::SeqCst)));
    home.engine
        .correct_event(&home.admin, on("main"), EventDraft { description: "y".to_owned(), ..draft(7) }, None, None)
        .await
        .unwrap();
    let scan = look_through(&house, &*store, "main", Depth::Full, None).await;
    assert_eq!((scan.findings, store.looked_up.load(Ordering::SeqCst)), (Vec::new(), 1));
    home.close().await;
}

#[tokio::test]
async fn scan_of_a_frequently_changed_event_reads_bounded_bytes() {
    let house = House::new();
    let (store, home) = house.open_faulty().await;
    home.record_events(on("main"), vec![draft(0)]).await;
    let mut handed = Vec::new();
    for times in [300, 600] {
        correct(&home, times).await;
        intervene(&home, Effect::Cancel, "cancel").await;
        intervene(&home, Effect::Restore, "restore").await;
        store.scanned_bytes.store(0, Ordering::SeqCst);
        let scan = look_through(&house, &*store, "main", Depth::Full, None).await;
        assert_eq!(scan.findings, []);
        assert!(scan.checked_count("events") > times as u64);
        handed.push(store.scanned_bytes.load(Ordering::SeqCst));
    }
    assert!(handed.iter().all(|bytes| (1_000..HANDED_BYTES_MAX).contains(bytes)), "{handed:?}");
    home.close().await;
}
