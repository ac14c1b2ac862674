//! Searches by text with the index of words, which a thread of the store builds.

use timenav_engine::{EventQuery, FilteredEvents, Pattern};

use crate::engine::*;
use crate::sample::layer;

const EVENTS: i64 = 6_000;
const BATCH: i64 = 1_000;
/// One in so many events has a rare word.
const RARE_EVERY: i64 = 500;
/// Events that may not be indexed: a block begins with more.
const TAIL_MAX: usize = 32;

async fn record(home: &Home<'_>) {
    for first in (0..EVENTS).step_by(usize::try_from(BATCH).unwrap()) {
        let draft = |number: i64| {
            let rare = if number % RARE_EVERY == 7 { "Łódź" } else { "Kraków" };
            let event_id = Some(event_id(&format!("event_{number}")));
            // Not in the order of recording.
            let time = moment((number * 7_919) % EVENTS);
            EventDraft { event_id, ..EventDraft::at(time, format!("Train {number} arrives in {rare}")) }
        };
        let drafts = (first..first + BATCH).map(draft).collect();
        home.record_events(None, drafts).await;
    }
}

async fn search(home: &Home<'_>, text: &str, newest_first: bool) -> FilteredEvents {
    let texts = FilterTexts { text: Some(text.to_owned()), ..FilterTexts::default() };
    let main = timeline_id("main");
    let query = EventQuery {
        layers: layer(home.key(&main).await, home.size("main").await),
        patterns: vec![Pattern::Location(LocationQuery::Anywhere)],
        range: TimeRange::everything(),
        overlapping: false,
        after: None,
        items_max: 100,
        newest_first,
    };
    home.store.filtered_events(query, Arc::new(EventFilter::new(texts).unwrap()), usize::MAX).await.unwrap()
}

/// Waits until a search examines few events.
async fn wait_for_index(home: &Home<'_>) -> usize {
    let rare = usize::try_from(EVENTS / RARE_EVERY).unwrap();
    loop {
        let found = search(home, "lodz", false).await;
        if found.searched <= rare + TAIL_MAX {
            return found.searched;
        }
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn rare_words_examine_few_events() {
    let home = Home::new().await;
    record(&home).await;
    wait_for_index(&home).await;
    for (text, expected) in [("ŁÓDŹ", 12), ("lo arriv", 12), ("event_4242", 1), ("5507 lodz", 1), ("lodz krakow", 0)]
    {
        for newest_first in [false, true] {
            let found = search(&home, text, newest_first).await;
            assert_eq!(found.events.len(), expected, "{text}");
            assert!(found.searched <= expected + TAIL_MAX, "{text}: {}", found.searched);
            let times: Vec<_> = found.events.iter().map(|event| event.time).collect();
            assert!(times.is_sorted_by(|one, next| if newest_first { one >= next } else { one <= next }));
            assert_eq!(found.searched_until, None);
        }
    }
    let frequent = search(&home, "krakow", false).await;
    assert_eq!(frequent.events.len(), 100);
    home.close().await;
}

#[tokio::test]
async fn erased_event_is_not_found_after_a_restart() {
    let home = Home::new().await;
    record(&home).await;
    wait_for_index(&home).await;
    let erased = ErasureRequest::Event(None, event_id("event_5507"));
    home.engine.erase_data(&home.admin, erased, None).await.unwrap();
    assert_eq!(search(&home, "lodz", false).await.events.len(), 11);
    assert_eq!(search(&home, "5507", false).await.events.len(), 0);
    let home = home.reopen().await;
    wait_for_index(&home).await;
    assert_eq!(search(&home, "lodz", false).await.events.len(), 11);
    home.check_clean(&timeline_id("system")).await;
    home.close().await;
}
