//! A read is based on the state at its entry, regardless of concurrent writes.

use crate::engine::*;

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
    let (store, home) = House::new().into_faulty_home().await;
    record(&home.engine, &home.admin, "before", None).await;
    store.close_gate();
    store.close_versions_gate();
    // One task writes, and another one reads: admitted before the write is durable, with its entry after it.
    let writing = home.spawn(move |engine, admin| async move { record(&engine, &admin, "meanwhile", None).await });
    store.arrival().await;
    let reading =
        home.spawn(move |engine, admin| async move { engine.monitor_events(&admin, at("quay")).await.unwrap() });
    yield_turns(ROUNDS).await;
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
    let (store, home) = House::new().into_faulty_home().await;
    record(&home.engine, &home.admin, "launch", None).await;
    record(&home.engine, &home.admin, "landing", Some("launch")).await;
    store.close_versions_gate();
    let request = intervention("launch", Effect::Cancel);
    let reading = home
        .spawn(move |engine, admin| async move { engine.preview_intervention(&admin, None, request).await.unwrap() });
    store.arrival_at_versions_gate().await;
    // Another event requires it, the clock moves, and both are read.
    record(&home.engine, &home.admin, "return", Some("launch")).await;
    home.change_clock(None, travel(7)).await;
    home.engine.monitor_paradox(&home.admin, every_paradox(None)).await.unwrap();
    store.open_versions_gate();
    let (preview, consequences) = reading.await.unwrap();
    assert!(preview.change.before.is_some() && preview.change.after.is_none());
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
    let home = Home::new().await;
    for _ in 0..3 {
        home.set_anchor(None).await;
    }
    let first = home.engine.anchors(&home.admin, None, 2, None).await.unwrap();
    home.set_anchor(None).await;
    let second = home.engine.anchors(&home.admin, None, 2, first.next_cursor.as_deref()).await.unwrap();
    assert_eq!((first.anchors.len(), second.anchors.len(), second.next_cursor), (2, 1, None));
    home.close().await;
}
