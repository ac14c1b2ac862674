//! Imported events, together or one by one.

use timenav_core::event::EventDraft;
use timenav_engine::{Refusal, RefusedRecord};

use crate::house::{House, told};
use crate::sample::{event_id, moment, timeline_id};

fn draft(name: &str, description: &str) -> EventDraft {
    EventDraft { event_id: Some(event_id(name)), ..EventDraft::at(moment(1), description) }
}

#[tokio::test]
async fn import_records_new_events_and_reports_conflicting_ones() {
    let house = House::new();
    let home = house.open().await;
    let main = timeline_id("main");
    let import = async |drafts| home.engine.import_events(&home.admin, &main, drafts).await.unwrap();
    let first = import(vec![draft("a", "x"), draft("b", "x"), draft("a", "x"), draft("b", "y")]).await;
    assert_eq!((first.taken, first.unchanged), (2, 1), "an id twice in one batch is one event");
    assert_eq!(first.unchanged_at, [1], "where the batch itself recorded it");
    assert_eq!(first.refused, [RefusedRecord { index: 3, event_id: event_id("b") }]);
    assert_eq!(first.ledger.size, 3);
    let second = import(vec![draft("c", "x"), draft("b", "z"), draft("a", "x"), EventDraft::at(moment(2), "x")]).await;
    assert_eq!((second.taken, second.unchanged), (2, 1));
    assert_eq!(second.refused, [RefusedRecord { index: 1, event_id: event_id("b") }]);
    assert_eq!((second.ledger.position, second.ledger.size), (4, 5));
    let third = import(vec![draft("a", "x"), draft("c", "x")]).await;
    assert_eq!((third.taken, third.unchanged, third.refused.len()), (0, 2, 0));
    assert_eq!(third.unchanged_at, [1, 3]);
    let none = import(Vec::new()).await;
    assert_eq!((none.taken, none.unchanged, none.refused.len()), (0, 0, 0));
    // Another timeline has its own events.
    let elsewhere = home.engine.import_events(&home.admin, &timeline_id("other"), vec![draft("a", "z")]).await.unwrap();
    assert_eq!(elsewhere.taken, 1);
    let home = home.reopen().await;
    let again = home.engine.import_events(&home.admin, &main, vec![draft("a", "x"), draft("b", "z")]).await.unwrap();
    assert_eq!((again.taken, again.unchanged, again.refused.len()), (0, 1, 1));
    home.close().await;
}

#[tokio::test]
async fn record_request_is_atomic() {
    let house = House::new();
    let home = house.open().await;
    let record = async |drafts| home.engine.record_events(&home.admin, None, drafts, None).await;
    let made = record(vec![draft("a", "x"), EventDraft::at(moment(3), "no id"), draft("b", "x")]).await.unwrap();
    assert_eq!((made.ledger.position, made.ledger.size), (3, 4));
    assert_eq!((&made.event_ids[0], &made.event_ids[2]), (&event_id("a"), &event_id("b")));
    assert!(made.event_ids[1].as_str().starts_with("event_"));
    let size = home.size("main").await;
    for (drafts, expected) in [
        (vec![draft("c", "x"), draft("a", "x")], r#"EventExists { event_id: "a", index: 1, differs: false }"#),
        (vec![draft("c", "x"), draft("a", "y")], r#"EventExists { event_id: "a", index: 1, differs: true }"#),
        (
            vec![draft("c", "x"), draft("c", "x")],
            "Invalid { field: \"1/event_id\", detail: \"the id `c` appears twice in the request\" }",
        ),
    ] {
        assert_eq!(told(&record(drafts).await), expected);
    }
    for count in [0, 1_001] {
        let refused = record((0..count).map(|_| draft("c", "x")).collect()).await;
        assert!(matches!(refused, Err(Refusal::Invalid { .. })));
    }
    assert_eq!(home.size("main").await, size);
    record(vec![draft("c", "x")]).await.unwrap();
    let thousand = (0..1_000).map(|number| draft(&format!("n{number}"), "x")).collect();
    assert_eq!(record(thousand).await.unwrap().ledger.size, size + 1_001);
    home.close().await;
}
