//! Imported events, together or one by one.

use timenav_engine::RefusedRecord;

use crate::engine::*;

fn draft(name: &str, description: &str) -> EventDraft {
    named_event(name, 1, description)
}

#[tokio::test]
async fn import_records_new_events_and_reports_conflicting_ones() {
    let home = Home::new().await;
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
