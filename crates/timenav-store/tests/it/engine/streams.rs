//! Ledgers as they grow: what a listener is told where there is much that is not told.

use timenav_core::event::EventDraft;
use timenav_core::limits::STREAM_ENTRIES_MAX;
use timenav_engine::{News, Options, ReadLog, Told, Topic};

use crate::house::{Home, House};
use crate::sample::{event_id, moment, timeline_id};

async fn record(home: &Home<'_>, name: &str) -> u64 {
    let draft = EventDraft { event_id: Some(event_id(name)), ..EventDraft::at(moment(1), "it happens") };
    home.engine.record_events(&home.admin, None, vec![draft], None).await.unwrap().ledger.position
}

fn event_of(told: &Told) -> Option<&str> {
    if let News::Event { event_id, .. } = &told.what { Some(event_id) } else { None }
}

#[tokio::test]
async fn a_listener_is_told_how_far_it_has_come_where_nothing_else_is() {
    let options =
        Options { service_name: "timenav.test".to_owned(), read_log: ReadLog::Buffered, ..Options::default() };
    let house = House::with(options);
    let home = house.open().await;
    let mut stream = home.engine.watch_ledger(&home.admin, None, vec![Topic::Events], None).await.unwrap();
    assert_eq!(stream.next().await.unwrap().what, News::Mark, "where it begins");
    for _ in 0..2_500 {
        home.engine.read_clock(&home.admin, None).await.unwrap();
    }
    let position = record(&home, "e1").await;
    let mut marks = Vec::new();
    let told = loop {
        let told = stream.next().await.unwrap();
        if told.what != News::Mark {
            break told;
        }
        marks.push(told.position);
    };
    assert_eq!((event_of(&told), told.position), (Some("e1"), position));
    assert_eq!(marks.len(), 2, "{marks:?}");
    assert!(marks[0] + 1_000 == marks[1] && marks[1] < position, "{marks:?}");
    // Who comes back with such an id misses nothing.
    let again = home.engine.watch_ledger(&home.admin, None, vec![Topic::Events], Some(marks[1])).await;
    assert_eq!(again.unwrap().next().await.unwrap(), told);
    drop(stream);
    home.close().await;
}

#[tokio::test]
async fn who_falls_too_far_behind_begins_anew() {
    let house = House::new();
    let home = house.open().await;
    let mut stream = home.engine.watch_ledger(&home.admin, None, Topic::ALL.to_vec(), None).await.unwrap();
    let first = stream.next().await.unwrap();
    assert!(matches!(first.what, News::Clock(_)), "{first:?}");
    let one = |number: u64| EventDraft {
        event_id: Some(event_id(&format!("n{number}"))),
        ..EventDraft::at(moment(1), "it happens")
    };
    let block = 10_000;
    for start in (0..=STREAM_ENTRIES_MAX).step_by(block) {
        let drafts = (start..start + block as u64).map(one).collect();
        home.engine.import_events(&home.admin, &timeline_id("main"), drafts).await.unwrap();
    }
    let reset = stream.next().await.unwrap();
    assert_eq!(reset.what, News::Reset);
    let clock = stream.next().await.unwrap();
    assert!(matches!(clock.what, News::Clock(_)) && clock.position == reset.position, "{clock:?}");
    let position = record(&home, "e1").await;
    let told = stream.next().await.unwrap();
    assert_eq!((event_of(&told), told.position), (Some("e1"), position));
    let far = home.engine.watch_ledger(&home.admin, None, Topic::ALL.to_vec(), Some(first.position)).await;
    assert_eq!(far.unwrap().next().await.unwrap().what, News::Reset);
    drop(stream);
    home.close().await;
}
