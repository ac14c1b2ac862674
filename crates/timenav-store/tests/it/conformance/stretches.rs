//! Counts of events per time bucket, compared with a model that examines all of them.

use std::collections::HashSet;

use timenav_core::time::{Bucket, parse_duration};
use timenav_engine::{EventEnd, EventStretch};

use crate::backend::{Backend, on_each_backend};
use crate::conformance::*;

on_each_backend!(check_interval_counts_match_the_model, check_counts_by_spot_match_the_model);

const MONTH_MICROS: i64 = 30 * 86_400_000_000;

/// More events at one instant than any counting step, more in one month than any step, a few in each month, and some
/// before and after all of them.
fn times() -> Vec<Instant<Virtual>> {
    let crowd = (0..6_000).map(|_| moment(7));
    let month = (0..6_000_i64).map(|number| moment(9 + (number * 7_919) % 5_000));
    let few = (0..1_500).map(|number| moment(number / 3 * MONTH_MICROS));
    crowd.chain(month).chain(few).chain([Instant::MIN, Instant::MAX]).collect()
}

/// Records events at these times. Every eleventh version ends later. Returns time and position of each, and when it
/// ends.
async fn record(store: &dyn Store, times: &[Instant<Virtual>]) -> (Ledger, Vec<(Instant<Virtual>, u64, Option<u64>)>) {
    let mut ledger = Ledger::new(1, "t1");
    let mut rows = Vec::new();
    for times in times.chunks(1_000) {
        let begin = ledger.size();
        let mut step = ledger.grow(times.len());
        for (position, time) in (begin..).zip(times) {
            let draft = EventDraft::at(*time, "");
            step.events.push(event(&format!("e{position}"), position, &draft));
            rows.push((*time, position, None));
        }
        store.commit(commit_of(vec![step])).await.unwrap();
    }
    let until = ledger.size();
    let mut step = ledger.grow(1);
    for (_, position, end) in rows.iter_mut().filter(|(_, position, _)| position % 11 == 0) {
        *end = Some(until);
        step.ends.push(EventEnd { event_id: event_id(&format!("e{position}")), position: *position, until });
    }
    store.commit(commit_of(vec![step])).await.unwrap();
    (ledger, rows)
}

/// Counts sorted events per bucket.
fn in_stretches(places: &[EventPlace], bucket: Bucket) -> Vec<EventStretch> {
    let mut stretches: Vec<EventStretch> = Vec::new();
    for &(time, _, _) in places {
        match stretches.last_mut().filter(|stretch| bucket.begin(stretch.first) == bucket.begin(time)) {
            Some(stretch) => (stretch.count, stretch.last) = (stretch.count + 1, time),
            None => stretches.push(EventStretch { first: time, last: time, count: 1 }),
        }
    }
    stretches
}

async fn check_interval_counts_match_the_model(backend: &dyn Backend) {
    let store = backend.open();
    let (ledger, rows) = record(&*store, &times()).await;
    let sizes = [ledger.size() - 1, ledger.size()];
    let ranges = [(None, None), (Some(moment(3)), Some(moment(4_000))), (Some(moment(7)), Some(moment(7)))];
    let limits = [1, 255, 256, 257, 767, 4_352, 4_353, 5_000, 100_000];
    for (as_of, (from, to)) in sizes.into_iter().flat_map(|size| ranges.map(|range| (size, range))) {
        let range = TimeRange::new(from, to).unwrap();
        let is_current = |until: Option<u64>| until.is_none_or(|until| until >= as_of);
        let mut places: Vec<EventPlace> = rows
            .iter()
            .filter(|(time, position, until)| range.contains(*time) && *position < as_of && is_current(*until))
            .map(|(time, position, _)| (*time, 0, *position))
            .collect();
        places.sort_unstable();
        for (items_max, bucket) in limits
            .into_iter()
            .flat_map(|most| ["PT0.000001S", "PT0.00001S", "PT1H", "P1M", "P100Y"].map(|bucket| (most, bucket)))
        {
            let bucket = Bucket::new(parse_duration(bucket).unwrap()).unwrap();
            // The first pages, some in the middle, and the last one. Each begins where the previous one ends.
            let pages = places.len().div_ceil(items_max);
            let looked_at: HashSet<usize> =
                [0, 1, 2, pages / 2, pages - 1].into_iter().filter(|&at| at < pages).collect();
            for page in looked_at {
                let page_places = &places[page * items_max..places.len().min((page + 1) * items_max)];
                let query = EventQuery {
                    layers: layer(ledger.head.key, as_of),
                    patterns: vec![Pattern::Location(LocationQuery::Anywhere)],
                    range,
                    after: (page > 0).then(|| places[page * items_max - 1]),
                    items_max,
                    newest_first: false,
                    overlapping: false,
                };
                let Some(counted) = store.event_stretches(query.clone(), bucket).await.unwrap() else {
                    // This backend has no index that covers a count.
                    assert!(!store.stores_parties());
                    return;
                };
                assert_eq!(counted.stretches, in_stretches(page_places, bucket), "{bucket:?} {query:#?}");
                let counted_until = page_places.last().copied().filter(|_| page_places.len() == items_max);
                assert_eq!(counted.counted_until, counted_until, "{bucket:?} {query:#?}");
            }
        }
    }
}

/// Counts of events in a place, on several layers, or in descending order are made from their spots.
async fn check_counts_by_spot_match_the_model(backend: &dyn Backend) {
    let store = backend.open();
    let (ledger, _) = record(&*store, &[moment(1), moment(2)]).await;
    let bucket = Bucket::new(parse_duration("PT1H").unwrap()).unwrap();
    let all = EventQuery {
        layers: layer(ledger.head.key, ledger.size()),
        patterns: vec![Pattern::Location(LocationQuery::Anywhere)],
        range: TimeRange::new(None, None).unwrap(),
        after: None,
        items_max: 10,
        newest_first: false,
        overlapping: false,
    };
    let is_counted = async |query| store.event_stretches(query, bucket).await.unwrap().is_some();
    assert_eq!(is_counted(all.clone()).await, store.stores_parties());
    let two = [all.layers[0]; 2];
    let paris = Pattern::Location(LocationQuery::Named("Paris".to_owned()));
    assert!(!is_counted(EventQuery { layers: two.into(), ..all.clone() }).await);
    assert!(!is_counted(EventQuery { patterns: vec![paris.clone()], ..all.clone() }).await);
    assert!(!is_counted(EventQuery { patterns: vec![all.patterns[0].clone(), paris], ..all.clone() }).await);
    assert!(!is_counted(EventQuery { newest_first: true, ..all }).await);
}
