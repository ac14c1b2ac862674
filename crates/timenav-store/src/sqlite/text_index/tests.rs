use std::ops::Range;
use std::path::Path;

use proptest::prelude::*;
use proptest::sample::select;
use rusqlite::{Connection, params};
use serde_json::json;
use timenav_core::ids::EventId;
use timenav_core::place::{Cell, LocationQuery, Point};
use timenav_core::time::{Instant, TimeRange, Virtual};
use timenav_engine::{
    ErasedContent, Erasure, EventFilter, EventQuery, FilterTexts, Layer, LengthClass, Pattern, StoredEvent, TimelineKey,
};

use super::comparing;
use super::filling::{Filler, Sizes};
use super::pacing::existing;
use crate::sqlite::data::{erase, forget_log};
use crate::sqlite::values::{NO_CELL, sql};
use crate::sqlite::{SqliteStore, events};

const PARENT: TimelineKey = TimelineKey(2);
const FORK: TimelineKey = TimelineKey(3);

const SMALL: Sizes =
    Sizes { levels: [3, 9, 27, 81], merged_blocks: 3, step_events: 2, step_rows: 4, words_bytes: 4_000 };

const WORDS: [&str; 16] = [
    "Łódź",
    "cafe\u{301}",
    "CAFÉ",
    "U.S.A.",
    "order_42",
    "5.6",
    "5.7",
    "can't",
    "東京タワー",
    "🚀launch",
    "Straße",
    "urn:isbn",
    "a",
    "ab",
    "Москва",
    "supercalifragilisticexpialidocioussupercalifragilisticexpialidocious",
];
const TEXTS: [&str; 16] = [
    "lodz",
    "caf",
    "CAFÉ a",
    "usa",
    "order 42",
    "5",
    "5.6",
    "cant ab",
    "東",
    "launch",
    "strasse 5.7",
    "isb",
    "a",
    "ab lodz",
    "mosk",
    "supercalifragilisticexpialidocioussupercalifragilisticexpialidociousx",
];

#[derive(Clone, Debug)]
enum Deed {
    /// Records an event, or a version of it if there is one.
    Record {
        timeline: TimelineKey,
        event: u8,
        time: i64,
        words: Vec<&'static str>,
    },
    Cancel {
        timeline: TimelineKey,
        event: u8,
    },
    Erase {
        timeline: TimelineKey,
        nth: usize,
    },
    Fill {
        timeline: TimelineKey,
        steps: usize,
    },
    Restart,
}

fn timelines() -> impl Strategy<Value = TimelineKey> {
    prop_oneof![3 => Just(PARENT), 1 => Just(FORK)]
}

fn deeds() -> impl Strategy<Value = Deed> {
    let words = || proptest::collection::vec(select(&WORDS[..]), 0..5);
    prop_oneof![
        12 => (timelines(), 0..60_u8, 0..20_i64, words())
            .prop_map(|(timeline, event, time, words)| Deed::Record { timeline, event, time, words }),
        1 => (timelines(), 0..60_u8).prop_map(|(timeline, event)| Deed::Cancel { timeline, event }),
        1 => (timelines(), 0..100_usize).prop_map(|(timeline, nth)| Deed::Erase { timeline, nth }),
        4 => (timelines(), 1..12_usize).prop_map(|(timeline, steps)| Deed::Fill { timeline, steps }),
        1 => Just(Deed::Restart),
    ]
}

struct World {
    store: SqliteStore,
    sizes: [u64; 2],
    /// Size of the parent at the fork.
    forked_at: u64,
}

fn point(event: u8) -> Point {
    Point::new(f64::from(event % 5), f64::from(event % 7)).unwrap()
}

fn patterns() -> [Vec<Pattern>; 5] {
    let near = LocationQuery::Near { center: point(8), radius_m: 200_000.0 };
    let [anywhere, named, near] =
        [LocationQuery::Anywhere, LocationQuery::Named("paris".to_owned()), near].map(Pattern::Location);
    let event = Pattern::Event(EventId::new("event_8").unwrap());
    [vec![anywhere], vec![named.clone()], vec![near.clone()], vec![event.clone()], vec![named, near, event]]
}

fn content((event, time): (u8, i64), words: &[&str]) -> String {
    let [first, second, third] =
        [0, 1, 2].map(|part| words.iter().skip(part).step_by(3).copied().collect::<Vec<_>>().join(" - "));
    let attributes = json!({"deep": [{"text": third}, 7], "ab": true});
    let event_id = format!("event_{event}");
    let mut content = json!({"event_id": event_id, "description": first, "actors": [second], "attributes": attributes});
    content["time"] = instant(time).to_string().into();
    if event.is_multiple_of(3) {
        content["end_time"] = instant(time + i64::from(event)).to_string().into();
    }
    content.to_string()
}

fn instant(micros: i64) -> Instant<Virtual> {
    Instant::from_micros(micros).unwrap()
}

impl World {
    fn new(path: &Path) -> Self {
        Self { store: SqliteStore::open_without_filling(path).unwrap(), sizes: [0; 2], forked_at: 0 }
    }

    fn size(&mut self, timeline: TimelineKey) -> &mut u64 {
        &mut self.sizes[usize::from(timeline == FORK)]
    }

    /// Ends the current version of an event, if there is one.
    fn end(&self, timeline: TimelineKey, event: u8, position: u64) {
        let writer = self.store.shared.writer.lock();
        let update = "UPDATE events SET until = ?3 WHERE timeline = ?1 AND event_id = ?2 AND until IS NULL";
        writer.execute(update, params![timeline.0, format!("event_{event}"), sql(position)]).unwrap();
    }

    fn record(&mut self, timeline: TimelineKey, event: u8, time: i64, words: &[&str]) {
        // Not every entry is of an event.
        *self.size(timeline) += 1 + u64::from(event % 3);
        let position = *self.size(timeline);
        self.end(timeline, event, position);
        let point = (time % 3 != 0).then(|| point(event));
        let cell = point.map_or(NO_CELL, |point| i64::from(Cell::of(point).number()));
        let content = content((event, time), words);
        let insert = "INSERT INTO events
            (timeline, cell, time, position, event_id, content, lat, lon, place, length_class)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)";
        let row = params![
            timeline.0,
            cell,
            time,
            sql(position),
            format!("event_{event}"),
            content,
            point.map(Point::lat),
            point.map(Point::lon),
            event.is_multiple_of(4).then_some("paris"),
            LengthClass::of_content(&content).map(LengthClass::number),
        ];
        self.store.shared.writer.lock().execute(insert, row).unwrap();
        *self.size(timeline) += 1;
    }

    fn erase(&mut self, timeline: TimelineKey, nth: usize) {
        let mut writer = self.store.shared.writer.lock();
        let select = "SELECT event_id, position FROM events WHERE timeline = ?1 ORDER BY position";
        let rows: Vec<(String, i64)> = {
            let mut select = writer.prepare(select).unwrap();
            let rows = select.query_map([timeline.0], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
            rows.collect::<Result<_, _>>().unwrap()
        };
        if let Some((event_id, position)) = rows.get(nth % rows.len().max(1)) {
            let content = ErasedContent::Event(EventId::new(event_id).unwrap());
            let position = position.unsigned_abs();
            let transaction = writer.transaction().unwrap();
            erase(&transaction, timeline, &Erasure { position, by: position + 1, content }).unwrap();
            transaction.commit().unwrap();
        }
    }

    fn layers(&self, moment: u64) -> Vec<Vec<Layer>> {
        let layer = |timeline, as_of, overrides| Layer { timeline, as_of, overrides };
        let [size, fork_size] = self.sizes;
        vec![
            vec![layer(PARENT, size + 1, false)],
            vec![layer(PARENT, moment.min(size), false)],
            vec![layer(PARENT, self.forked_at, false), layer(FORK, fork_size + 1, true)],
        ]
    }

    /// Compares all pages with those of a search without the index.
    fn check(&self, texts: &FilterTexts, layers: &[Layer], range: Range<i64>, newest_first: bool, items_max: usize) {
        let (filter, patterns) = (EventFilter::new(texts.clone()).unwrap(), patterns());
        let query = EventQuery {
            layers: layers.into(),
            patterns: patterns[items_max % patterns.len()].clone(),
            range: TimeRange::new(Some(instant(range.start)), Some(instant(range.end))).unwrap(),
            overlapping: range.end % 2 == 0,
            after: None,
            items_max,
            newest_first,
        };
        let reader = self.store.shared.reader().unwrap();
        let expected = events::scan(&reader, &EventQuery { items_max: 1_000, ..query.clone() }, &filter, usize::MAX);
        let expected = expected.unwrap().events;
        for searched_max in [1, 4, 1_000] {
            let found = pages(&reader, &query, &filter, searched_max);
            assert_eq!(found, expected, "{texts:?} {query:?} {searched_max}");
        }
    }
}

impl World {
    fn check_all(&self, layers: &[Layer]) {
        for texts in filters() {
            self.check(&texts, layers, -1..100, false, 5);
        }
    }
}

fn pages(reader: &Connection, query: &EventQuery, filter: &EventFilter, searched_max: usize) -> Vec<StoredEvent> {
    let (mut query, mut all) = (query.clone(), Vec::new());
    for _ in 0..2_000 {
        let page = events::passing(reader, &query, filter, searched_max).unwrap();
        assert!(page.events.len() <= query.items_max && page.searched <= searched_max);
        all.extend(page.events);
        match page.searched_until {
            None => return all,
            after => query.after = after,
        }
    }
    panic!("the search does not end");
}

fn filters() -> Vec<FilterTexts> {
    let texts = TEXTS.iter().map(|text| FilterTexts { text: Some((*text).to_owned()), ..FilterTexts::default() });
    let narrowed = texts.clone().step_by(5).map(|texts| FilterTexts { actor: Some("a".to_owned()), ..texts });
    texts.chain(narrowed).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 20, ..ProptestConfig::default() })]

    #[test]
    fn text_index_and_scan_find_the_same_events(
        deeds in proptest::collection::vec(deeds(), 1..160),
        forked_after in 0..160_usize,
        moment in 0..300_u64,
        (first, length) in (0..20_i64, 0..20_i64),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let mut world = World::new(&folder.path().join("x.db"));
        let shared = std::sync::Arc::clone(&world.store.shared);
        let mut fillers = [Filler::new(&shared, SMALL), Filler::new(&shared, SMALL)];
        for (number, deed) in deeds.into_iter().enumerate() {
            if number == forked_after {
                world.forked_at = world.sizes[0];
            }
            match deed {
                Deed::Record { timeline, event, time, words } => world.record(timeline, event, time, &words),
                Deed::Cancel { timeline, event } => {
                    *world.size(timeline) += 1;
                    let position = *world.size(timeline);
                    world.end(timeline, event, position);
                }
                Deed::Erase { timeline, nth } => world.erase(timeline, nth),
                Deed::Fill { timeline, steps } => {
                    let filler = &mut fillers[usize::from(timeline == FORK)];
                    for _ in 0..steps {
                        filler.step(timeline).unwrap();
                    }
                }
                Deed::Restart => fillers = [Filler::new(&shared, SMALL), Filler::new(&shared, SMALL)],
            }
        }
        prop_assert_eq!(comparing::differences(&shared.reader().unwrap()).unwrap(), [""; 0]);
        for (number, texts) in filters().iter().enumerate() {
            for layers in world.layers(moment) {
                let range = if number % 3 == 0 { first..first + length } else { -1..100 };
                // The last one also selects the place.
                world.check(texts, &layers, range.clone(), number % 2 == 0, 5);
                world.check(texts, &layers, range, number % 2 == 1, 1 + number % 7);
            }
        }
    }
}

/// Returns a store with events of the parent, not indexed.
fn with_events(path: &Path, count: u8) -> World {
    let mut world = World::new(path);
    for event in 0..count {
        let own = WORDS[usize::from(event) % WORDS.len()];
        world.record(PARENT, event, i64::from(event % 7), &[own, "frequent"]);
    }
    world
}

fn fill(world: &World) {
    let mut filler = Filler::new(&world.store.shared, SMALL);
    while filler.step(PARENT).unwrap() {}
}

#[test]
fn failed_writes_leave_the_index_correct() {
    let folder = tempfile::tempdir().unwrap();
    let mut world = with_events(&folder.path().join("x.db"), 60);
    for event in 60..120 {
        let words: Vec<String> = (0..30).map(|word| format!("{:x<40}{event}and{word}", "")).collect();
        world.record(PARENT, event, 1, &words.iter().map(String::as_str).collect::<Vec<_>>());
    }
    let set_pages = |pages: u32| {
        world.store.shared.writer.lock().pragma_update(None, "max_page_count", pages).unwrap();
    };
    let pages: u32 = world.store.shared.reader().unwrap().query_row("PRAGMA page_count", [], |row| row.get(0)).unwrap();
    let mut failures = 0;
    for room in 0..8 {
        set_pages(pages + room);
        let mut filler = Filler::new(&world.store.shared, SMALL);
        for _ in 0..1_000 {
            failures += usize::from(filler.step(PARENT).is_err());
        }
        let layers = world.layers(0);
        world.check_all(&layers[0]);
    }
    set_pages(1 << 20);
    fill(&world);
    let reader = world.store.shared.reader().unwrap();
    assert_eq!(comparing::differences(&reader).unwrap(), [""; 0]);
    assert!(failures > 0, "else nothing is tried");
}

#[test]
fn erased_words_leave_the_file() {
    const SECRET: &str = "xylophonesecret";
    let has_secret = |path: &Path| memchr::memmem::find(&std::fs::read(path).unwrap(), SECRET.as_bytes()).is_some();
    for steps in [0, 2, 5, 9, 14, 20, 40, 1_000] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.db");
        let mut world = World::new(&path);
        for event in 0..90 {
            let own = if event == 40 { SECRET } else { WORDS[usize::from(event) % WORDS.len()] };
            world.record(PARENT, event, 1, &[own]);
        }
        let shared = std::sync::Arc::clone(&world.store.shared);
        let mut filler = Filler::new(&shared, SMALL);
        for _ in 0..steps {
            filler.step(PARENT).unwrap();
        }
        forget_log(&shared.writer.lock());
        assert!(has_secret(&path), "else nothing is tried");
        world.erase(PARENT, 40);
        forget_log(&shared.writer.lock());
        assert!(!has_secret(&path), "after {steps} steps");
        while filler.step(PARENT).unwrap() {}
        forget_log(&shared.writer.lock());
        assert!(!has_secret(&path), "after {steps} steps and all others");
        assert_eq!(comparing::differences(&shared.reader().unwrap()).unwrap(), [""; 0]);
    }
}

#[test]
fn changed_index_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.db");
    let world = with_events(&path, 100);
    fill(&world);
    let attacker = Connection::open(&path).unwrap();
    let differences = || comparing::differences(&world.store.shared.reader().unwrap()).unwrap();
    assert_eq!(differences(), [""; 0]);
    for attack in [
        "DELETE FROM text_words WHERE word = 'lodz'",
        "UPDATE text_words SET word = 'loda' WHERE word = 'lodz'",
        "UPDATE text_words SET positions = x'01' WHERE word = 'frequent'",
        "UPDATE text_words SET positions = x'80' WHERE word = 'frequent'",
        "DELETE FROM text_words",
    ] {
        attacker.execute_batch(attack).unwrap();
        let found = differences();
        assert!(found.len() == 1 && found[0].starts_with("table text_words, timeline 2: "), "{attack}: {found:?}");
        attacker.execute_batch("UPDATE text_blocks SET state = 2").unwrap();
        fill(&world);
        assert_eq!(comparing::differences(&world.store.shared.reader().unwrap()).unwrap(), [""; 0], "{attack}");
    }
}

#[test]
fn commits_are_durable_again_after_a_panic_of_the_filler() {
    let folder = tempfile::tempdir().unwrap();
    let world = with_events(&folder.path().join("x.db"), 1);
    let synchronous = || -> i64 {
        let writer = world.store.shared.writer.lock();
        writer.pragma_query_value(None, "synchronous", |row| row.get(0)).unwrap()
    };
    let full = synchronous();
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        Filler::new(&world.store.shared, SMALL).write(|_| -> Result<(), _> { panic!("while it writes") })
    }));
    assert!(panicked.is_err());
    assert_eq!((full, synchronous()), (2, 2));
}

#[test]
fn words_of_another_version_are_indexed_again() {
    let folder = tempfile::tempdir().unwrap();
    let world = with_events(&folder.path().join("x.db"), 30);
    fill(&world);
    let count = |condition: &str| -> i64 {
        let select = format!("SELECT count(*) FROM text_blocks WHERE {condition}");
        world.store.shared.reader().unwrap().query_row(&select, [], |row| row.get(0)).unwrap()
    };
    assert!(count("words_version = 1 AND state = 0") > 0);
    world.store.shared.writer.lock().execute_batch("UPDATE text_blocks SET words_version = 0").unwrap();
    let layers = world.layers(0);
    world.check_all(&layers[0]);
    fill(&world);
    assert!(count("words_version = 0") == 0 && count("words_version = 1 AND state = 0") > 0);
}

#[test]
fn ended_timeline_is_not_indexed() {
    let folder = tempfile::tempdir().unwrap();
    let world = with_events(&folder.path().join("x.db"), 30);
    let columns = "SELECT group_concat(name || ' ' || type, ',') FROM pragma_table_info('ended_timelines')";
    let columns: String = world.store.shared.reader().unwrap().query_row(columns, [], |row| row.get(0)).unwrap();
    let (names, values): (Vec<&str>, Vec<&str>) = columns
        .split(',')
        .filter_map(|column| column.split_once(' '))
        .map(|(name, kind)| {
            (
                name,
                if name == "timeline" {
                    "2"
                } else if kind == "BLOB" {
                    "x''"
                } else {
                    "0"
                },
            )
        })
        .unzip();
    let insert = format!("INSERT INTO ended_timelines ({}) VALUES ({})", names.join(","), values.join(","));
    world.store.shared.writer.lock().execute_batch(&insert).unwrap();
    fill(&world);
    let blocks: i64 = world
        .store
        .shared
        .reader()
        .unwrap()
        .query_row("SELECT count(*) FROM text_blocks", [], |row| row.get(0))
        .unwrap();
    assert_eq!(blocks, 0);
}

#[test]
fn timelines_with_enough_entries_are_indexed_after_a_start() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::new(&folder.path().join("index.db"));
    let insert = "INSERT INTO timelines (timeline, timeline_id, created_at, size, frontier, carried_note, recorded_at,
        clock_running, clock_rate, clock_host, clock_virtual, clock_generation, events_count, anchors_count)
        VALUES (?1, ?1, 0, ?2, x'', '', 0, 0, 0, 0, 0, 0, ?3, 0)";
    // Ten events with nine versions each, all canceled, and too few entries.
    for (timeline, size, events_count) in [(2, 90, 10), (3, 40, 0), (4, 31, 31)] {
        world.store.shared.writer.lock().execute(insert, params![timeline, size, events_count]).unwrap();
    }
    assert_eq!(existing(&world.store.shared).unwrap(), [TimelineKey(2), TimelineKey(3)].into());
}
