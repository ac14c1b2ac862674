//! Streams of ledgers with many entries that are not reported.

use timenav_core::paradox::Settings;
use timenav_engine::WatchedParadoxes;

use crate::engine::*;

/// Updates that need no paradox detection.
const TOPICS: [Topic; 3] = [Topic::Clock, Topic::Events, Topic::Interventions];
const PARADOXES: [Topic; 1] = [Topic::Paradoxes];

async fn record(home: &Home<'_>, name: &str) -> u64 {
    let draft = named_event(name, 1, "it happens");
    home.record_events(None, vec![draft]).await.ledger.position
}

fn event_of(message: &LedgerMessage) -> Option<&str> {
    if let LedgerUpdate::Event { event_id, .. } = &message.update { Some(event_id) } else { None }
}

#[tokio::test]
async fn idle_stream_sends_position_marks() {
    let home = Home::new().await;
    let mut stream = home.engine.watch_ledger(&home.admin, watch(&[Topic::Events], None)).await.unwrap();
    assert_eq!(stream.next().await.unwrap().update, LedgerUpdate::Mark, "where it begins");
    // Each gets its own entry, because it is sent after the previous response.
    for _ in 0..2_500 {
        home.read_clock(None).await;
    }
    let position = record(&home, "e1").await;
    let mut marks = Vec::new();
    let message = loop {
        let message = stream.next().await.unwrap();
        if message.update != LedgerUpdate::Mark {
            break message;
        }
        marks.push(message.position);
    };
    assert_eq!((event_of(&message), message.position), (Some("e1"), position));
    assert_eq!(marks.len(), 2, "{marks:?}");
    assert!(marks[0] + 1_000 == marks[1] && marks[1] < position, "{marks:?}");
    // Reconnecting with such an id misses nothing.
    let again = home.engine.watch_ledger(&home.admin, watch(&[Topic::Events], Some(marks[1]))).await;
    assert_eq!(again.unwrap().next().await.unwrap(), message);
    drop(stream);
    home.close().await;
}

#[tokio::test]
async fn lagging_listener_is_reset() {
    let home = House::with(Options { stream_entries_max: 100, ..House::new().options }).into_home().await;
    let mut stream = home.engine.watch_ledger(&home.admin, watch(&TOPICS, None)).await.unwrap();
    let first = stream.next().await.unwrap();
    assert!(matches!(first.update, LedgerUpdate::Clock(_)), "{first:?}");
    let one = |number: u64| named_event(&format!("n{number}"), 1, "it happens");
    home.engine.import_events(&home.admin, &timeline_id("main"), (0..200).map(one).collect()).await.unwrap();
    let reset = stream.next().await.unwrap();
    assert_eq!(reset.update, LedgerUpdate::Reset);
    let clock = stream.next().await.unwrap();
    assert!(matches!(clock.update, LedgerUpdate::Clock(_)) && clock.position == reset.position, "{clock:?}");
    let position = record(&home, "e1").await;
    let message = stream.next().await.unwrap();
    assert_eq!((event_of(&message), message.position), (Some("e1"), position));
    let far = home.engine.watch_ledger(&home.admin, watch(&TOPICS, Some(first.position))).await;
    assert_eq!(far.unwrap().next().await.unwrap().update, LedgerUpdate::Reset);
    drop(stream);
    home.close().await;
}

async fn record_early(home: &Home<'_>, name: &str, cause: &str) -> u64 {
    let causes = vec![Cause { event_id: event_id(cause), kind: CauseKind::Requires }];
    let draft = EventDraft { event_id: Some(event_id(name)), causes, ..EventDraft::at(moment(0), "it happens") };
    home.record_events(None, vec![draft]).await.ledger.position
}

/// Returns the next paradox: its position, whether it is resolved, and its key.
async fn next_paradox(stream: &mut LedgerStream) -> (u64, bool, String) {
    loop {
        let message = stream.next().await.unwrap();
        if let LedgerUpdate::Paradox { is_resolved, paradox } = message.update {
            return (message.position, is_resolved, paradox.key.to_string());
        }
    }
}

#[tokio::test]
async fn paradox_streams_over_the_event_limit_are_rejected() {
    let home = House::with(Options { views_events_max: 7, ..House::new().options }).into_home().await;
    let full = r#"LimitReached { what: "events on timelines with streamed paradoxes", max: 7 }"#;
    // Equal events form six pairs of duplicates, which weigh as much as three events.
    for number in 0..4 {
        record(&home, &format!("e{number}")).await;
    }
    let mut stream = home.engine.watch_ledger(&home.admin, watch(&PARADOXES, None)).await.unwrap();
    // Another listener with the same settings shares the index. Other settings, or a listener that is behind, need more
    // memory.
    drop(home.engine.watch_ledger(&home.admin, watch(&PARADOXES, None)).await.unwrap());
    let settings = Settings { speed_kmh: 1.0, ..Settings::default() };
    let paradoxes = WatchedParadoxes { settings, ..WatchedParadoxes::default() };
    let other = || WatchLedger { paradoxes: paradoxes.clone(), ..watch(&PARADOXES, None) };
    assert_eq!(outcome_text(&home.engine.watch_ledger(&home.admin, other()).await), full);
    assert_eq!(outcome_text(&home.engine.watch_ledger(&home.admin, watch(&PARADOXES, Some(0))).await), full);
    drop(home.engine.watch_ledger(&home.admin, watch(&[Topic::Events], Some(0))).await.unwrap());
    drop(stream);
    stream = home.engine.watch_ledger(&home.admin, other()).await.unwrap();
    stream.next().await.unwrap();
    // A stream that exceeds the limit ends, and reconnecting is rejected.
    record(&home, "e4").await;
    assert_eq!(stream.next().await, None);
    drop(stream);
    assert_eq!(outcome_text(&home.engine.watch_ledger(&home.admin, other()).await), full);
    home.close().await;
}

#[tokio::test]
async fn resumed_stream_replays_earlier_paradoxes_identically() {
    const EARLY: usize = 2_500;
    let home = Home::new().await;
    record(&home, "cause").await;
    let mut live = home.engine.watch_ledger(&home.admin, watch(&PARADOXES, None)).await.unwrap();
    let start = live.next().await.unwrap().position;
    let causes = vec![Cause { event_id: event_id("cause"), kind: CauseKind::Requires }];
    let draft = |number: usize| EventDraft {
        event_id: Some(event_id(&format!("n{number}"))),
        causes: causes.clone(),
        ..EventDraft::at(moment(0), format!("it happens the time {number}"))
    };
    let drafts = (0..EARLY).map(draft).collect();
    home.engine.import_events(&home.admin, &timeline_id("main"), drafts).await.unwrap();
    // More paradoxes than are remembered were found before the first was read.
    let mut received = Vec::new();
    for _ in 0..EARLY {
        received.push(next_paradox(&mut live).await);
    }
    assert!(received.iter().all(|(position, is_resolved, _)| *position > start && !is_resolved));
    for skipped in [0, 1, 1_200, EARLY - 1] {
        let seen = received[skipped].0 - 1;
        let mut late = home.engine.watch_ledger(&home.admin, watch(&PARADOXES, Some(seen))).await.unwrap();
        for expected in &received[skipped..] {
            assert_eq!(next_paradox(&mut late).await, *expected, "after {seen}");
        }
        // Both receive the following updates.
        let position = record_early(&home, &format!("after{skipped}"), "cause").await;
        let next = next_paradox(&mut late).await;
        assert_eq!(next.0, position);
        assert_eq!(next_paradox(&mut live).await, next);
        received.push(next);
    }
    drop(live);
    home.close().await;
}

#[tokio::test]
async fn erased_events_are_absent_from_streamed_paradoxes() {
    let home = Home::new().await;
    record(&home, "cause").await;
    let start = record(&home, "other").await;
    let mut live = home.engine.watch_ledger(&home.admin, watch(&PARADOXES, None)).await.unwrap();
    record_early(&home, "early", "cause").await;
    next_paradox(&mut live).await;
    let erasure = ErasureRequest::Event(None, event_id("early"));
    let erased = home.engine.erase_data(&home.admin, erasure, None).await.unwrap().ledger.position;
    let reset = live.next().await.unwrap();
    assert_eq!((reset.update, reset.position), (LedgerUpdate::Reset, erased));
    let made = record_early(&home, "again", "other").await;
    let next = next_paradox(&mut live).await;
    assert_eq!((next.0, next.1), (made, false));
    // A reconnecting client is notified of a gap, and receives nothing that was erased.
    let mut late = home.engine.watch_ledger(&home.admin, watch(&PARADOXES, Some(start))).await.unwrap();
    let reset = late.next().await.unwrap();
    assert_eq!((reset.update, reset.position), (LedgerUpdate::Reset, erased));
    assert_eq!(next_paradox(&mut late).await, next);
    drop((live, late));
    home.close().await;
}
