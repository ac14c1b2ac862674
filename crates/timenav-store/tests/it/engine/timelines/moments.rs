//! A read is based on the state at its entry, regardless of concurrent writes.

use std::sync::Arc;

use timenav_core::clock::ClockCommand;
use timenav_core::event::{Cause, CauseKind, EventDraft};
use timenav_core::intervention::Effect;
use timenav_core::place::LocationQuery;
use timenav_core::time::TimeRange;
use timenav_engine::{AnchorRequest, Caller, Engine, InterventionRequest, MonitorEvents, MonitorParadox};

use crate::faulty_store::FaultyStore;
use crate::house::{Home, House};
use crate::sample::{event_id, every_event, moment};

/// Rounds in which started tasks reach what they wait for.
const ROUNDS: usize = 100;

fn at(place: &str) -> MonitorEvents {
    MonitorEvents {
        location_text: place.to_owned(),
        location: LocationQuery::Named(place.to_owned()),
        items_max: 5,
        ..every_event(None)
    }
}

/// Records an event at the quay, which others may require.
async fn record(engine: &Engine, caller: &Caller, name: &str, cause: Option<&str>) {
    let causes = cause.map(|cause| Cause { event_id: event_id(cause), kind: CauseKind::Requires });
    let draft = EventDraft {
        event_id: Some(event_id(name)),
        location: Some("quay".to_owned()),
        causes: causes.into_iter().collect(),
        ..EventDraft::at(moment(0), "x")
    };
    engine.record_events(caller, None, vec![draft], None).await.unwrap();
}

/// Returns the positions of reads of this subject on `main`.
async fn reads_of(home: &Home<'_>, subject: &str) -> Vec<u64> {
    let lines = home.lines().await;
    let of = |line: &&crate::audit::Line| line.short() == format!("main admin read {subject}");
    lines.iter().filter(of).map(|line| line.seq).collect()
}

#[tokio::test]
async fn event_page_shows_only_events_before_its_entry() {
    let house = House::new();
    let store = Arc::new(FaultyStore::new(house.store()));
    let home = house.try_open(Arc::clone(&store) as _).await.unwrap();
    record(&home.engine, &home.admin, "before", None).await;
    store.close_gate();
    store.close_versions_gate();
    // One task writes, and another one reads: admitted before the write is durable, with its entry after it.
    let (engine, admin) = (home.engine.clone(), home.admin.clone());
    let writing = tokio::spawn(async move { record(&engine, &admin, "meanwhile", None).await });
    store.arrival().await;
    let (engine, admin) = (home.engine.clone(), home.admin.clone());
    let reading = tokio::spawn(async move { engine.monitor_events(&admin, at("quay")).await.unwrap() });
    for _ in 0..ROUNDS {
        tokio::task::yield_now().await;
    }
    store.open_gate();
    writing.await.unwrap();
    store.arrival_at_versions_gate().await;
    // The entry exists, but the rows have not been read yet.
    record(&home.engine, &home.admin, "after", None).await;
    store.open_versions_gate();
    let page = reading.await.unwrap();
    let found: Vec<&str> = page.events.iter().map(|event| &*event.content).collect();
    let shows = |name: &str| found.iter().any(|content| content.contains(&format!("\"{name}\"")));
    assert!(shows("before") && shows("meanwhile") && !shows("after"), "{found:?}");
    assert_eq!(reads_of(&home, "monitor_events").await, [page.as_of.unwrap() + 1]);
    home.close().await;
}

#[tokio::test]
async fn both_parts_of_a_dry_run_use_one_position() {
    let house = House::new();
    let store = Arc::new(FaultyStore::new(house.store()));
    let home = house.try_open(Arc::clone(&store) as _).await.unwrap();
    record(&home.engine, &home.admin, "launch", None).await;
    record(&home.engine, &home.admin, "landing", Some("launch")).await;
    store.close_versions_gate();
    let request = InterventionRequest {
        event_id: event_id("launch"),
        action: "cancel".to_owned(),
        effect: Effect::Cancel,
        time: moment(1),
        causes: Vec::new(),
    };
    let (engine, admin) = (home.engine.clone(), home.admin.clone());
    let reading = tokio::spawn(async move { engine.foresee_intervention(&admin, None, request).await.unwrap() });
    store.arrival_at_versions_gate().await;
    // Another event requires it, the clock moves, and both are read.
    record(&home.engine, &home.admin, "return", Some("launch")).await;
    let far = ClockCommand::Travel { to: moment(7), location: None };
    home.engine.change_clock(&home.admin, None, far, None).await.unwrap();
    let paradoxes = MonitorParadox {
        timeline: None,
        range: TimeRange::everything(),
        kinds: None,
        observations: true,
        settings: None,
        as_of: None,
        items_max: 5,
        cursor: None,
    };
    home.engine.monitor_paradox(&home.admin, paradoxes).await.unwrap();
    store.open_versions_gate();
    let (preview, consequences) = reading.await.unwrap();
    assert!(preview.before.is_some() && preview.after.is_none());
    assert_eq!(consequences.downstream, [event_id("landing")]);
    assert_eq!((consequences.downstream_count, consequences.created.len(), consequences.resolved.len()), (1, 1, 0));
    // One read, one entry, and the tree before it.
    assert_eq!(reads_of(&home, "manipulate_event").await, [preview.ledger.size]);
    let main = crate::sample::timeline_id("main");
    let proof = home.engine.consistency_proof(&home.admin, &main, preview.ledger.size).await.unwrap();
    assert_eq!(proof.from_root, preview.ledger.root);
    home.close().await;
}

#[tokio::test]
async fn anchor_pages_omit_anchors_set_during_paging() {
    let house = House::new();
    let home = house.open().await;
    let set = async || {
        let request = AnchorRequest { timestamp: None, description: "x".to_owned(), fixed: false };
        home.engine.set_anchor(&home.admin, None, request, None).await.unwrap();
    };
    for _ in 0..3 {
        set().await;
    }
    let first = home.engine.anchors(&home.admin, None, 2, None).await.unwrap();
    set().await;
    let second = home.engine.anchors(&home.admin, None, 2, first.next_cursor.as_deref()).await.unwrap();
    assert_eq!((first.anchors.len(), second.anchors.len(), second.next_cursor), (2, 1, None));
    home.close().await;
}
