//! Events by place and time, compared with a model that examines all of them.

use std::sync::atomic::{AtomicI64, Ordering};

use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::{Value, json};
use timenav_core::place::{Area, BBox, Cell, Geo, Point, Shape, cells_of};
use timenav_core::time::parse_timestamp;
use timenav_engine::{EventFilter, EventRow, EventSpot, FilterTexts, Layer, StoredEvent};

use crate::backend::{Backend, on_each_backend};
use crate::conformance::*;

on_each_backend!(
    check_event_queries_match_the_model,
    check_event_pages_contain_each_event_once,
    check_queries_across_several_blocks_match_the_model,
    check_event_versions_are_found_by_id,
    check_filtered_pages_contain_all_matching_events,
    check_overridden_versions_over_the_limit_are_not_returned,
);

/// An event with its place, without its position.
type Made = (Instant<Virtual>, Option<Point>, Option<&'static str>);

/// A query, with events referred to by index so that boundaries are hit exactly.
#[derive(Clone, Debug)]
struct Question {
    place: Place,
    range: (End, End),
    as_of: Index,
    after: Option<(End, Index)>,
    items_max: usize,
    newest_first: bool,
    overlapping: bool,
}

#[derive(Clone, Debug)]
enum Place {
    Anywhere,
    Near(Point, f64),
    /// Around one event, with the distance to another one as the radius.
    NearReaching(Index, Index),
    Within(f64, f64, f64, f64),
    /// Every other field of a box.
    Area(f64, f64, f64, f64),
    Named(&'static str),
}

#[derive(Clone, Copy, Debug)]
enum End {
    Open,
    At(Instant<Virtual>),
    OfEvent(Index, i64),
}

fn times() -> impl Strategy<Value = Instant<Virtual>> + Clone {
    prop_oneof![
        4 => (-5..5_i64).prop_map(moment),
        2 => (-1_000..1_000_i64).prop_map(|days| moment(days * 86_400_000_000)),
        1 => Just(Instant::MIN),
        1 => Just(Instant::MAX),
    ]
}

fn points() -> impl Strategy<Value = Point> + Clone {
    let lat = prop_oneof![select(vec![-90.0, -89.9, -0.5, 0.0, 1.0, 29.95, 30.0, 89.9, 90.0]), -90.0..=90.0];
    let lon = prop_oneof![
        select(vec![-180.0, -179.9, -90.07, -90.0, -30.0, -1e-9, 0.0, 1.0, 100.0, 179.9, 180.0]),
        -180.0..=180.0
    ];
    let crowd = (29.0..31.0, -91.0..-89.0_f64);
    prop_oneof![(lat, lon), crowd].prop_map(|(lat, lon)| Point::new(lat, lon).unwrap())
}

fn names() -> impl Strategy<Value = &'static str> + Clone {
    select(vec!["Paris", "paris", "東京", "New Orleans", " New Orleans", "", "%"])
}

fn events() -> impl Strategy<Value = Vec<Made>> {
    let one = (times(), prop::option::weighted(0.8, points()), prop::option::of(names()));
    prop::collection::vec(one, 1..120)
}

fn places() -> impl Strategy<Value = Place> {
    let metres =
        prop_oneof![select(vec![0.0, 1.0, 1_000.0, 50_000.0, 1e6, 5e6, 1e7, 1.5e7, 20_037_508.0]), 0.0..3e6_f64];
    let lat = prop_oneof![select(vec![-90.0, -1.0, 0.0, 29.95, 31.0, 90.0]), -90.0..=90.0_f64];
    let lon = prop_oneof![select(vec![-180.0, -97.3, -90.0, -30.0, 0.0, 97.3, 100.0, 179.9, 180.0]), -180.0..=180.0];
    prop_oneof![
        1 => Just(Place::Anywhere),
        3 => (points(), metres).prop_map(|(point, metres)| Place::Near(point, metres)),
        3 => (any::<Index>(), any::<Index>()).prop_map(|(center, edge)| Place::NearReaching(center, edge)),
        3 => (lon.clone(), lat.clone(), lon.clone(), lat.clone())
            .prop_map(|(west, south, east, north)| Place::Within(west, south.min(north), east, south.max(north))),
        2 => (lon.clone(), lat.clone(), lon, lat)
            .prop_map(|(west, south, east, north)| Place::Area(west, south.min(north), east, south.max(north))),
        2 => names().prop_map(Place::Named),
    ]
}

fn ends() -> impl Strategy<Value = End> + Clone {
    prop_oneof![
        Just(End::Open),
        times().prop_map(End::At),
        (any::<Index>(), -1..=1_i64).prop_map(|(index, by)| End::OfEvent(index, by)),
    ]
}

fn questions() -> impl Strategy<Value = Vec<Question>> {
    let after = prop::option::of((ends(), any::<Index>()));
    let kind = (any::<bool>(), any::<bool>());
    let one = (places(), (ends(), ends()), any::<Index>(), after, 1..50_usize, kind).prop_map(
        |(place, range, as_of, after, items_max, (newest_first, overlapping))| Question {
            place,
            range,
            as_of,
            after,
            items_max,
            newest_first,
            overlapping,
        },
    );
    prop::collection::vec(one, 24)
}

impl End {
    fn instant(self, rows: &[EventRow]) -> Option<Instant<Virtual>> {
        match self {
            Self::Open => None,
            Self::At(at) => Some(at),
            Self::OfEvent(index, by) => {
                let time = index.get(rows).columns.time;
                Some(Instant::from_micros(time.micros() + by).unwrap_or(time))
            }
        }
    }
}

/// The fields of one color of a chessboard, half a degree each, in a box.
struct Chessboard(BBox);

impl Shape for Chessboard {
    fn cells(&self) -> Vec<Cell> {
        cells_of(&LocationQuery::Within(self.0)).unwrap()
    }

    fn contains(&self, point: Point) -> bool {
        let fields = (point.lat() * 2.0).floor() + (point.lon() * 2.0).floor();
        self.0.contains(point) && fields.rem_euclid(2.0) < 0.5
    }
}

fn boxed(west: f64, south: f64, east: f64, north: f64) -> LocationQuery {
    LocationQuery::Within(BBox::new(west, south, east, north).unwrap())
}

impl Place {
    fn pattern(&self, rows: &[EventRow]) -> LocationQuery {
        let origin = Point::new(0.0, 0.0).unwrap();
        let point = |index: &Index| index.get(rows).columns.point.unwrap_or(origin);
        match self {
            Self::Anywhere => LocationQuery::Anywhere,
            Self::Near(center, radius_m) => LocationQuery::Near { center: *center, radius_m: *radius_m },
            Self::NearReaching(center, edge) => {
                let (center, edge) = (point(center), point(edge));
                LocationQuery::Near { center, radius_m: center.distance_m(edge) }
            }
            Self::Within(west, south, east, north) => boxed(*west, *south, *east, *north),
            Self::Area(west, south, east, north) => {
                let shape = Chessboard(BBox::new(*west, *south, *east, *north).unwrap());
                LocationQuery::Area(Area::new("chessboard", Arc::new(shape)))
            }
            Self::Named(name) => LocationQuery::Named((*name).to_owned()),
        }
    }
}

impl Question {
    fn query(&self, timeline: TimelineKey, rows: &[EventRow], size: u64) -> EventQuery {
        let (start, end) = (self.range.0.instant(rows), self.range.1.instant(rows));
        let range = TimeRange::new(start, end).or_else(|_| TimeRange::new(end, start)).unwrap();
        EventQuery {
            layers: layer(timeline, self.as_of.index(usize::try_from(size).unwrap() + 2) as u64),
            patterns: vec![Pattern::Location(self.place.pattern(rows))],
            range,
            after: self.after.map(|(end, at)| {
                let time = end.instant(rows).unwrap_or(Instant::MIN);
                (time, 0, at.index(usize::try_from(size).unwrap()) as u64)
            }),
            items_max: self.items_max,
            newest_first: self.newest_first,
            overlapping: self.overlapping,
        }
    }
}

fn fits(row: &EventRow, query: &EventQuery) -> bool {
    query.patterns.iter().any(|pattern| match pattern {
        Pattern::Location(location) => location.matches(row.columns.point, row.columns.place.as_deref()),
        Pattern::Event(event_id) => row.event_id == *event_id,
    })
}

fn is_then(row: &EventRow, query: &EventQuery) -> bool {
    let content: Value = serde_json::from_str(&row.content).unwrap();
    let end: Option<Instant<Virtual>> = content["end_time"].as_str().map(|end| parse_timestamp(end).unwrap());
    let first = query.range.first();
    let lasts_into = row.columns.time < first && end.is_some_and(|end| end >= first);
    query.range.contains(row.columns.time) || query.overlapping && lasts_into
}

/// The duration of an event, derived from its position, in microseconds; `None` for an instant.
fn length(position: u64) -> Option<i64> {
    let lengths =
        [None, Some(0), Some(1), Some(7), Some(3 * 86_400_000_000), Some(900 * 86_400_000_000), Some(i64::MAX / 4)];
    lengths[usize::try_from(position).unwrap() % lengths.len()]
}

/// The expected result of a query, by examining every event.
fn expected(rows: &[EventRow], query: &EventQuery) -> Vec<StoredEvent> {
    let is_after = |place: EventPlace| {
        query.after.is_none_or(|after| if query.newest_first { place < after } else { place > after })
    };
    let mut found: Vec<StoredEvent> = rows
        .iter()
        .filter(|row| row.position < query.layers[0].as_of && is_then(row, query))
        .filter(|row| fits(row, query) && is_after((row.columns.time, 0, row.position)))
        .map(|row| StoredEvent {
            time: row.columns.time,
            layer: 0,
            position: row.position,
            content: row.content.to_string(),
        })
        .collect();
    found.sort_by_key(|event| (event.time, event.position));
    if query.newest_first {
        found.reverse();
    }
    found.truncate(query.items_max);
    found
}

fn spot(rows: &[EventRow], event: &StoredEvent) -> EventSpot {
    let StoredEvent { time, layer, position, .. } = *event;
    let row = rows.iter().find(|row| row.position == position);
    let point = row.expect("what is found was recorded").columns.point;
    EventSpot { time, layer, position, point, parties: None }
}

/// Returns an event with source and actors if they are stored separately, or else with its whole content.
fn spot_of_parties(rows: &[EventRow], event: &StoredEvent, is_kept: bool) -> EventSpot {
    let row = rows.iter().find(|row| row.position == event.position).expect("what is found was recorded");
    let stored = row.columns.parties.as_deref().filter(|_| is_kept);
    EventSpot { parties: Some(stored.unwrap_or(&row.content).into()), ..spot(rows, event) }
}

/// Commits events to a new timeline in several steps, with other entries in between.
async fn record(store: &dyn Store, key: i64, made: Vec<Made>) -> (Ledger, Vec<EventRow>) {
    record_lasting(store, key, made, length).await
}

async fn record_lasting(
    store: &dyn Store,
    key: i64,
    made: Vec<Made>,
    length: fn(u64) -> Option<i64>,
) -> (Ledger, Vec<EventRow>) {
    let mut ledger = Ledger::new(key, &format!("t{key}"));
    let mut rows = Vec::new();
    let mut made = made.into_iter().peekable();
    while made.peek().is_some() {
        let mut position = ledger.size();
        let mut fresh = Vec::new();
        for (time, point, place) in made.by_ref().take(50) {
            // Every fifth entry is not an event.
            position += u64::from(position.is_multiple_of(5));
            let geo = point.map(|point| Geo { point, radius_m: None });
            // Some have neither, and some have values too long to be stored twice.
            let actor = if position.is_multiple_of(7) { "x".repeat(2_000) } else { format!("a\"{}", position % 2) };
            let actors = vec![actor; usize::try_from(position % 3).unwrap()];
            let source = (!position.is_multiple_of(2)).then(|| "é".to_owned());
            let location = place.map(str::to_owned);
            let end_time = length(position).and_then(|length| Instant::from_micros(time.micros().checked_add(length)?));
            let draft = EventDraft { end_time, geo, location, source, actors, ..EventDraft::at(time, "") };
            let name = format!("e{position}");
            // Filters read the event's content.
            let (source, actors) = (&draft.source, &draft.actors);
            let content = json!({
                "event_id": name, "location": place, "time": time.to_string(), "source": source, "actors": actors,
                "end_time": end_time.map(|end| end.to_string()),
            });
            fresh.push(EventRow { content: content.to_string().into(), ..event(&name, position, &draft) });
            position += 1;
        }
        let mut step = ledger.grow(usize::try_from(position - ledger.size()).unwrap());
        step.events.clone_from(&fresh);
        rows.extend(fresh);
        store.commit(commit_of(vec![step])).await.unwrap();
    }
    (ledger, rows)
}

async fn check_event_queries_match_the_model(backend: &dyn Backend) {
    let store = backend.open();
    let last_key = AtomicI64::new(0);
    // All cases share a store, so that events of other timelines would be noticed.
    check_cases(100, &(events(), questions()), async |(made, questions)| {
        let key = last_key.fetch_add(1, Ordering::Relaxed) + 1;
        let (ledger, rows) = record(&*store, key, made).await;
        for request in questions {
            let query = request.query(ledger.head.key, &rows, ledger.size());
            let found = store.events(query.clone()).await.unwrap();
            assert_eq!(found, expected(&rows, &query), "{query:#?}");
            let query = EventQuery { overlapping: false, ..query };
            let found = expected(&rows, &query);
            let spots = store.event_spots(query.clone(), false).await.unwrap();
            assert_eq!(spots, found.iter().map(|event| spot(&rows, event)).collect::<Vec<_>>(), "{query:#?}");
            let spots = store.event_spots(query.clone(), true).await.unwrap();
            let with_parties = |event| spot_of_parties(&rows, event, store.stores_parties());
            assert_eq!(spots, found.iter().map(with_parties).collect::<Vec<_>>(), "{query:#?}");
        }
    });
}

async fn check_event_pages_contain_each_event_once(backend: &dyn Backend) {
    let store = backend.open();
    let last_key = AtomicI64::new(0);
    let strategy = (events(), events(), questions());
    check_cases(12, &strategy, async |(made, later, mut questions)| {
        let key = last_key.fetch_add(2, Ordering::Relaxed) + 1;
        let (mut ledger, rows) = record(&*store, key, made).await;
        let reopened = backend.open();
        questions.truncate(6);
        let mut later = later.into_iter();
        for request in questions {
            let mut query = request.query(ledger.head.key, &rows, ledger.size());
            query.layers = layer(ledger.head.key, rows.last().map_or(0, |row| row.position + 1));
            query.items_max = usize::MAX >> 1;
            let all = expected(&rows, &query);
            query.items_max = request.items_max;
            let mut seen = Vec::new();
            loop {
                let page = reopened.events(query.clone()).await.unwrap();
                let ended = page.len() < query.items_max;
                seen.extend(page);
                if ended {
                    break;
                }
                query.after = seen.last().map(|last| (last.time, 0, last.position));
                // Events recorded between two pages must not be on any of them.
                for (time, point, place) in later.by_ref().take(1) {
                    let mut step = ledger.grow(1);
                    let geo = point.map(|point| Geo { point, radius_m: None });
                    let draft = EventDraft { geo, location: place.map(str::to_owned), ..EventDraft::at(time, "") };
                    let position = ledger.size() - 1;
                    step.events = vec![event(&format!("late{position}"), position, &draft)];
                    store.commit(commit_of(vec![step])).await.unwrap();
                }
            }
            assert_eq!(seen, all, "{query:#?}");
        }
    });
}

async fn check_queries_across_several_blocks_match_the_model(backend: &dyn Backend) {
    let store = backend.open();
    let crowded = Point::new(29.95, -90.07).unwrap();
    let nearby = Point::new(29.95, -89.99).unwrap();
    let made = (0..4_000_i64).map(|number| {
        let point = match number % 10 {
            0 => None,
            1 => Some(nearby),
            _ => Some(crowded),
        };
        // Many at one instant, recorded out of order.
        (moment((number * 7_919) % 100), point, (number % 3 == 0).then_some("New Orleans"))
    });
    let (ledger, rows) = record(&*store, 1, made.collect()).await;
    let patterns = [
        LocationQuery::Anywhere,
        LocationQuery::Named("New Orleans".to_owned()),
        LocationQuery::Near { center: crowded, radius_m: 50_000.0 },
        LocationQuery::Near { center: nearby, radius_m: 1.0 },
        LocationQuery::Near { center: nearby, radius_m: 2e7 },
        // Eighty cells and thousands with few events, and eighty without any.
        boxed(-90.0, 25.0, -83.1, 34.0),
        boxed(-90.0, 0.0, -30.0, 45.0),
        boxed(10.0, 25.0, 16.9, 34.0),
    ];
    for pattern in patterns {
        let pages = [1, 1_000, 1_024, 1_025, 10_000].into_iter().flat_map(|items| [(items, false), (items, true)]);
        for (items_max, newest_first) in pages {
            let query = EventQuery {
                layers: layer(ledger.head.key, ledger.size() - 100),
                patterns: vec![Pattern::Location(pattern.clone())],
                range: TimeRange::new(Some(moment(3)), Some(moment(97))).unwrap(),
                after: Some((moment(if newest_first { 97 } else { 3 }), 0, 17)),
                items_max,
                newest_first,
                overlapping: items_max == 1_000,
            };
            assert_eq!(store.events(query.clone()).await.unwrap(), expected(&rows, &query), "{query:#?}");
        }
    }
}

/// The pages of a filtered query contain all matching events, in either order, however few are examined per page.
async fn check_filtered_pages_contain_all_matching_events(backend: &dyn Backend) {
    let store = backend.open();
    let last_key = AtomicI64::new(0);
    let texts = select(vec!["paris", "new o", "nothing"]);
    let strategy = (events(), questions(), 1..40_usize, texts);
    check_cases(40, &strategy, async |(made, questions, searched_max, text)| {
        let key = last_key.fetch_add(1, Ordering::Relaxed) + 1;
        let (ledger, rows) = record(&*store, key, made).await;
        let texts = FilterTexts { text: Some(text.to_owned()), ..FilterTexts::default() };
        let filter = Arc::new(EventFilter::new(texts).unwrap());
        for request in questions.into_iter().take(8) {
            let mut query = request.query(ledger.head.key, &rows, ledger.size());
            query.items_max = usize::MAX >> 1;
            let searched = expected(&rows, &query);
            let all: Vec<_> = searched.iter().filter(|event| filter.passes(&event.content)).cloned().collect();
            query.items_max = request.items_max;
            let (mut found, mut count) = (Vec::new(), 0);
            loop {
                let page = store.filtered_events(query.clone(), Arc::clone(&filter), searched_max).await.unwrap();
                assert!(page.searched <= searched_max && page.events.len() <= query.items_max, "{page:?}");
                // A full page says where it ends.
                let is_full = page.searched == searched_max || page.events.len() == query.items_max;
                assert!(!is_full || page.searched_until.is_some(), "{page:?}");
                count += page.searched;
                found.extend(page.events);
                let Some(next) = page.searched_until else { break };
                query.after = Some(next);
            }
            assert_eq!(found, all, "{query:#?}");
            // An index of words leaves events out.
            assert!(count <= searched.len(), "{count} {query:#?}");
        }
    });
}

async fn check_event_versions_are_found_by_id(backend: &dyn Backend) {
    let store = backend.open();
    let made = |count: i64| (0..count).map(|number| (moment(number), None, None)).collect();
    let (one, rows) = record(&*store, 1, made(70)).await;
    let (two, _) = record(&*store, 2, made(1)).await;
    let long = format!("{:x<128}", "");
    let request: Vec<_> =
        rows.iter().map(|row| row.event_id.clone()).chain([event_id("none"), event_id(&long)]).collect();
    for store in [store, backend.open()] {
        let known = store.event_versions(layer(one.head.key, u64::MAX), request.clone()).await.unwrap();
        assert_eq!(known.len(), rows.len());
        for row in &rows {
            let found = &known[&row.event_id];
            let found = found.current().unwrap();
            assert_eq!((found.position, &*found.content), (row.position, &*row.content));
        }
        let known = vec![request[0].clone(), request[0].clone(), request[1].clone()];
        let known = store.event_versions(layer(two.head.key, u64::MAX), known).await;
        assert_eq!(known.unwrap().len(), 1, "each timeline has events of its own");
        assert!(store.event_versions(layer(one.head.key, u64::MAX), Vec::new()).await.unwrap().is_empty());
    }
}

async fn check_overridden_versions_over_the_limit_are_not_returned(backend: &dyn Backend) {
    let store = backend.open();
    // One event has many versions on both layers, so that their pairs would be 2,400.
    let versions =
        |names: &'static [(&str, u64)]| names.iter().flat_map(|(name, count)| (0..*count).map(move |_| *name));
    let mut sizes = Vec::new();
    for (key, names) in [(1, &[("kept", 1), ("often", 60), ("moved", 1)][..]), (2, &[("often", 40), ("moved", 1)])] {
        let mut ledger = Ledger::new(key, &format!("t{key}"));
        let draft = EventDraft::at(moment(0), "");
        let rows: Vec<EventRow> =
            (0..).zip(versions(names)).map(|(position, name)| event(name, position, &draft)).collect();
        let mut step = ledger.grow(rows.len());
        step.events = rows;
        store.commit(commit_of(vec![step])).await.unwrap();
        sizes.push((ledger.head.key, ledger.size()));
    }
    let layers: Arc<[Layer]> = [(sizes[0], false), (sizes[1], true)]
        .map(|((timeline, as_of), overrides)| Layer { timeline, as_of, overrides })
        .into();
    // The limit counts the 41 versions of the fork and the 61 that they override.
    let found = store.overridden(Arc::clone(&layers), 102).await.unwrap().unwrap();
    assert_eq!((found[0].len(), found[1].len()), (61, 0));
    assert!((1..=61).all(|position| found[0].contains(&position)));
    for rows_max in [0, 40, 101] {
        assert!(store.overridden(Arc::clone(&layers), rows_max).await.unwrap().is_none(), "{rows_max}");
    }
}
