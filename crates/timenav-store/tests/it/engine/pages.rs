//! Pages show each item once, regardless of concurrent changes, and only to their caller.

use std::sync::Arc;

use timenav_core::event::EventDraft;
use timenav_core::limits::ANCHORS_PER_TIMELINE_MAX;
use timenav_core::place::LocationQuery;
use timenav_core::time::TimeRange;
use timenav_engine::{AnchorRequest, EVENTS_PAGE_BYTES_MAX, EventFilter, FilterTexts, MonitorEvents};

use crate::house::{Home, House, on, told};
use crate::sample::{moment, timeline_id};

fn asked(range: TimeRange<timenav_core::time::Virtual>, cursor: Option<String>) -> MonitorEvents {
    MonitorEvents {
        timeline: None,
        location_text: "*".to_owned(),
        location: LocationQuery::Anywhere,
        range,
        as_of: None,
        filter: Arc::default(),
        newest_first: false,
        overlapping: false,
        items_max: 7,
        cursor,
    }
}

async fn record(home: &Home<'_>, times: impl Iterator<Item = i64>) {
    let drafts = times.map(|time| EventDraft::at(moment(time), "x")).collect();
    home.engine.record_events(&home.admin, None, drafts, None).await.unwrap();
}

#[tokio::test]
async fn event_pages_omit_events_recorded_during_paging() {
    let house = House::new();
    let home = house.open().await;
    record(&home, (0..50).map(|number| number % 5)).await;
    let range = TimeRange::new(Some(moment(1)), Some(moment(3))).unwrap();
    let (mut seen, mut cursor) = (Vec::new(), None);
    loop {
        let page = home.engine.monitor_events(&home.admin, asked(range, cursor)).await.unwrap();
        assert_eq!(page.as_of, Some(50));
        seen.extend(page.events.iter().map(|event| (event.time, event.position)));
        record(&home, 0..5).await;
        cursor = page.next_cursor;
        if cursor.is_none() {
            break;
        }
    }
    let mut expected: Vec<_> =
        (1..=50).map(|position| (moment((i64::try_from(position).unwrap() - 1) % 5), position)).collect();
    expected.retain(|(time, _)| range.contains(*time));
    expected.sort_unstable();
    assert_eq!(seen, expected);
    home.close().await;
}

#[tokio::test]
async fn event_page_size_is_limited_in_bytes() {
    let house = House::new();
    let home = house.open().await;
    let long = "x".repeat(16 * 1024);
    let drafts = (0..600).map(|number| EventDraft::at(moment(number), long.clone())).collect();
    home.engine.record_events(&home.admin, None, drafts, None).await.unwrap();
    let everything = TimeRange::new(None, None).unwrap();
    for newest_first in [false, true] {
        for filter in [FilterTexts::default(), FilterTexts { text: Some("x".repeat(9)), ..FilterTexts::default() }] {
            let (mut times, mut cursor, mut pages) = (Vec::new(), None, 0);
            loop {
                let asked = MonitorEvents { items_max: 1_000, newest_first, ..asked(everything, cursor) };
                let asked = MonitorEvents { filter: Arc::new(EventFilter::new(filter.clone()).unwrap()), ..asked };
                let page = home.engine.monitor_events(&home.admin, asked).await.unwrap();
                let bytes: usize = page.events.iter().map(|event| event.content.len()).sum();
                assert!(bytes <= EVENTS_PAGE_BYTES_MAX && !page.events.is_empty(), "{bytes}");
                times.extend(page.events.iter().map(|event| event.time));
                (cursor, pages) = (page.next_cursor, pages + 1);
                if cursor.is_none() {
                    break;
                }
                assert!(bytes + 17 * 1024 > EVENTS_PAGE_BYTES_MAX, "{bytes}");
            }
            if newest_first {
                times.reverse();
            }
            assert_eq!(times, (0..600).map(moment).collect::<Vec<_>>());
            assert_eq!(pages, 3);
        }
    }
    home.close().await;
}

#[tokio::test]
async fn exactly_full_last_page_has_no_cursor() {
    let house = House::new();
    let home = house.open().await;
    record(&home, 0..14).await;
    let everything = TimeRange::everything();
    let first = home.engine.monitor_events(&home.admin, asked(everything, None)).await.unwrap();
    let second = home.engine.monitor_events(&home.admin, asked(everything, first.next_cursor)).await.unwrap();
    assert_eq!((first.events.len(), second.events.len(), second.next_cursor), (7, 7, None));
    home.close().await;
}

#[tokio::test]
async fn cursor_is_rejected_for_another_query_or_caller() {
    let house = House::new();
    let home = house.open().await;
    let ada = home.user("ada", true).await;
    record(&home, 0..20).await;
    let everything = TimeRange::everything();
    let page = home.engine.monitor_events(&home.admin, asked(everything, None)).await.unwrap();
    let cursor = page.next_cursor.unwrap();
    let other = TimeRange::new(Some(moment(0)), None).unwrap();
    assert_eq!(told(&home.engine.monitor_events(&ada, asked(everything, Some(cursor.clone()))).await), "Cursor");
    assert_eq!(told(&home.engine.monitor_events(&home.admin, asked(other, Some(cursor.clone()))).await), "Cursor");
    let elsewhere = MonitorEvents { timeline: on("system"), ..asked(everything, Some(cursor.clone())) };
    assert_eq!(told(&home.engine.monitor_events(&home.admin, elsewhere).await), "Cursor");
    assert_eq!(told(&home.engine.anchors(&home.admin, None, 5, Some(&cursor)).await), "Cursor");
    for at in 0..cursor.len() {
        let mut changed = cursor.clone().into_bytes();
        changed[at] = if changed[at] == b'A' { b'B' } else { b'A' };
        let changed = String::from_utf8(changed).unwrap();
        assert_eq!(
            told(&home.engine.monitor_events(&home.admin, asked(everything, Some(changed))).await),
            "Cursor",
            "{at}"
        );
    }
    for bad in ["", "AA", "é", &cursor[1..], &format!("{cursor}A")] {
        let bad = Some(bad.to_owned());
        assert_eq!(told(&home.engine.monitor_events(&home.admin, asked(everything, bad)).await), "Cursor");
    }
    // It survives a restart.
    let home = home.reopen().await;
    assert_eq!(told(&home.engine.monitor_events(&home.admin, asked(everything, Some(cursor))).await), "ok");
    home.close().await;
}

#[tokio::test]
async fn anchors_are_listed_in_creation_order() {
    let house = House::new();
    let home = house.open().await;
    let mut set = Vec::new();
    for number in 0..12_i64 {
        let request = AnchorRequest { timestamp: Some(moment(-number)), description: number.to_string(), fixed: true };
        set.push(home.engine.set_anchor(&home.admin, None, request, None).await.unwrap().0);
    }
    let (mut seen, mut cursor) = (Vec::new(), None::<String>);
    loop {
        let page = home.engine.anchors(&home.admin, None, 4, cursor.as_deref()).await.unwrap();
        seen.extend(page.anchors.into_iter().map(|(_, anchor)| anchor.anchor_id));
        cursor = page.next_cursor;
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!(seen, set);
    home.close().await;
}

#[tokio::test]
async fn anchors_over_the_limit_are_rejected() {
    let house = House::new();
    let home = house.open().await;
    let request = || AnchorRequest { timestamp: None, description: String::new(), fixed: true };
    // Concurrent requests become few groups.
    let asked = (0..ANCHORS_PER_TIMELINE_MAX).map(|_| {
        let (engine, admin) = (home.engine.clone(), home.admin.clone());
        tokio::spawn(async move { engine.set_anchor(&admin, None, request(), None).await })
    });
    for set in asked.collect::<Vec<_>>() {
        set.await.unwrap().unwrap();
    }
    let refused = home.engine.set_anchor(&home.admin, None, request(), None).await;
    assert_eq!(told(&refused), r#"LimitReached { what: "anchors on this timeline", max: 10000 }"#);
    home.engine.close().await;
}

#[tokio::test]
async fn readable_timelines_are_listed_by_name() {
    let house = House::new();
    let home = house.open().await;
    let ada = home.user("ada", false).await;
    for name in ["zebra", "apple", "Mango"] {
        home.engine.create_timeline(&ada, timeline_id(name), None).await.unwrap();
    }
    home.engine.create_timeline(&home.admin, timeline_id("secret"), None).await.unwrap();
    let names = async |caller, items_max, after: Option<&str>| {
        let after = after.map(timeline_id);
        let (views, next) = home.engine.timelines(caller, items_max, after.as_ref()).await.unwrap();
        let names: Vec<String> = views.iter().map(|view| view.state.head.id.to_string()).collect();
        (names.join(" "), next.map(|next| next.to_string()))
    };
    assert_eq!(names(&ada, 10, None).await, ("Mango apple zebra".to_owned(), None));
    assert_eq!(names(&ada, 2, None).await, ("Mango apple".to_owned(), Some("apple".to_owned())));
    assert_eq!(names(&ada, 2, Some("apple")).await, ("zebra".to_owned(), None));
    assert_eq!(names(&home.admin, 10, None).await.0, "Mango apple main secret system zebra");
    home.close().await;
}
