//! Searches by `text` find the same events with the table of words as without it, and scans report changed words.

use serde_json::json;
use timenav_engine::{ErasedContent, Erasure, EventFilter, EventRow, FilterTexts, StoredEvent};

use crate::postgres::*;
use crate::sample::event_id;

/// Events of the timeline. More than a search examines before it reads words.
const COUNT: u64 = 600;

/// Records events on a timeline, 100 in each commit.
fn record(store: &PostgresStore, ledger: &mut Ledger, drafts: &[(String, EventDraft)]) {
    for drafts in drafts.chunks(100) {
        let position = ledger.size();
        let row = |(position, (name, draft)): (u64, &(String, EventDraft))| {
            let content = json!({"event_id": name, "description": draft.description, "location": draft.location});
            EventRow { content: content.to_string().into(), ..event(name, position, draft) }
        };
        let events = (position..).zip(drafts).map(row).collect();
        let mut step = ledger.grow(drafts.len());
        step.events = events;
        commit(store, step).unwrap();
    }
}

fn draft(number: u64) -> (String, EventDraft) {
    let rare = if number % 200 == 7 { " Supercalifragilistic" } else { "" };
    let some = if number.is_multiple_of(40) { " Zürich order_42" } else { "" };
    let location = number.is_multiple_of(80).then(|| "Paris".to_owned());
    let draft = EventDraft::at(moment(number.cast_signed() / 3), format!("It's common{some}{rare}"));
    (format!("e{number}"), EventDraft { location, ..draft })
}

/// A timeline and a fork that moved some events and added others.
fn filled(store: &PostgresStore) -> (Ledger, Ledger) {
    let (mut parent, mut fork) = (Ledger::new(1, "main"), Ledger::new(2, "fork"));
    record(store, &mut parent, &(0..COUNT).map(draft).collect::<Vec<_>>());
    let moved = (0..10).map(|number| {
        let (name, draft) = draft(number * 40);
        (name, EventDraft { time: moment(900), ..draft })
    });
    record(store, &mut fork, &moved.chain((COUNT..COUNT + 10).map(draft)).collect::<Vec<_>>());
    (parent, fork)
}

fn query(layers: &[(TimelineKey, u64, bool)], pattern: Pattern) -> EventQuery {
    let layer = |(timeline, as_of, overrides): &(TimelineKey, u64, bool)| Layer {
        timeline: *timeline,
        as_of: *as_of,
        overrides: *overrides,
    };
    EventQuery {
        layers: layers.iter().map(layer).collect(),
        patterns: vec![pattern],
        range: TimeRange::new(Some(moment(0)), Some(moment(1_000))).unwrap(),
        after: None,
        items_max: usize::MAX >> 1,
        newest_first: false,
        overlapping: false,
    }
}

fn filter(text: &str) -> Arc<EventFilter> {
    Arc::new(EventFilter::new(FilterTexts { text: Some(text.to_owned()), ..FilterTexts::default() }).unwrap())
}

/// Returns all events that match, in pages, and how many were examined.
fn searched(store: &PostgresStore, mut query: EventQuery, text: &str) -> (Vec<StoredEvent>, usize) {
    let (mut found, mut count) = (Vec::new(), 0);
    loop {
        let page = wait_for(store.filtered_events(query.clone(), filter(text), 500)).unwrap();
        found.extend(page.events);
        count += page.searched;
        let Some(next) = page.searched_until else { return (found, count) };
        query.after = Some(next);
    }
}

#[test]
fn search_by_words_finds_the_events_that_a_full_search_finds() {
    let store = open(&database()).unwrap();
    let (parent, fork) = filled(&store);
    let both = [(parent.head.key, COUNT - 10, false), (fork.head.key, fork.size(), true)];
    let patterns = [
        Pattern::Location(LocationQuery::Anywhere),
        Pattern::Location(LocationQuery::Named("paris".to_owned())),
        Pattern::Event(event_id("e407")),
    ];
    for layers in [&both[..], &both[..1], &[(parent.head.key, 300, false)]] {
        for pattern in &patterns {
            for text in ["supercali", "zurich", "ORDER 42 common", "common", "zurich supercali", "nothing", "it"] {
                let small = if ["common", "it"].contains(&text) { 100 } else { 1 };
                for (items_max, newest_first) in [(small, false), (3 * small, true), (1_000, true)] {
                    let query = EventQuery { newest_first, ..query(layers, pattern.clone()) };
                    let mut expected = wait_for(store.events(query.clone())).unwrap();
                    expected.retain(|event| filter(text).passes(&event.content));
                    let (found, _) = searched(&store, EventQuery { items_max, ..query }, text);
                    assert_eq!(found, expected, "{text:?} {pattern:?} {items_max} {newest_first} {layers:?}");
                }
            }
        }
    }
}

#[test]
fn search_for_a_rare_word_examines_few_events() {
    let store = open(&database()).unwrap();
    let (parent, _) = filled(&store);
    let everywhere = query(&[(parent.head.key, COUNT, false)], Pattern::Location(LocationQuery::Anywhere));
    let (found, examined) = searched(&store, everywhere.clone(), "supercalifrag");
    assert_eq!((found.len(), examined), (3, 256 + 1), "the last of them, after the first 256 events");
    let (found, examined) = searched(&store, everywhere, "common");
    assert_eq!((found.len(), examined), (600, 600));
}

/// A `tsvector` can have 1 MiB. Each ideograph is a word.
#[test]
fn largest_event_is_recorded_and_found() {
    let (store, mut ledger) = (open(&database()).unwrap(), Ledger::new(1, "main"));
    let ideographs: String = ('\u{4e00}'..='\u{9fff}').chain('\u{20000}'..='\u{25fff}').take(40_000).collect();
    record(&store, &mut ledger, &[("e".to_owned(), EventDraft::at(moment(1), ideographs))]);
    assert_eq!(wait_for(store.contradictions()).unwrap(), [""; 0]);
    let everywhere = query(&[(ledger.head.key, 1, false)], Pattern::Location(LocationQuery::Anywhere));
    assert_eq!(searched(&store, everywhere, "\u{24000}").0.len(), 1);
}

#[test]
fn erased_events_leave_no_words() {
    let url = database();
    let (store, mut ledger) = (open(&url).unwrap(), Ledger::new(1, "main"));
    record(&store, &mut ledger, &(0..9).map(draft).collect::<Vec<_>>());
    let mut step = ledger.grow(1);
    let content = ErasedContent::Event(event_id("e7"));
    step.erasures = vec![Erasure { by: 9, position: 7, content }];
    commit(&store, step).unwrap();
    execute(&url, "DO $$ BEGIN ASSERT (SELECT array_agg(position) FROM event_words) = '{0,1,2,3,4,5,6,8}'; END $$");
    assert_eq!(wait_for(store.contradictions()).unwrap(), [""; 0]);
}

#[test]
fn changed_words_are_reported() {
    let url = database();
    let (store, mut ledger) = (open(&url).unwrap(), Ledger::new(1, "main"));
    record(&store, &mut ledger, &(0..9).map(draft).collect::<Vec<_>>());
    execute(&url, "CREATE TABLE kept AS TABLE event_words");
    for (attack, expected) in [
        ("DELETE FROM event_words WHERE position = 3", "1 events have other words"),
        ("DELETE FROM event_words", "9 events have other words"),
        ("UPDATE event_words SET words = ts_delete(words, 'common')", "9 events have other words"),
        ("UPDATE event_words SET words = words || 'more' WHERE position = 3", "1 events have other words"),
        ("UPDATE event_words SET time = time + 1 WHERE position = 3", "1 events have other words"),
        ("INSERT INTO event_words VALUES (1, 77, 0, 'erased')", "it has 10 rows for 9 events"),
    ] {
        execute(&url, attack);
        let found = wait_for(store.contradictions()).unwrap();
        let expected = format!("table event_words, timeline 1: {expected}");
        assert!(found.len() == 1 && found[0].starts_with(&expected), "{attack}: {found:?}");
        execute(&url, "TRUNCATE event_words; INSERT INTO event_words TABLE kept");
    }
    assert_eq!(wait_for(store.contradictions()).unwrap(), [""; 0]);
}
