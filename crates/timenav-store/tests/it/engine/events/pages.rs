//! Pages show each item once, regardless of concurrent changes, and only to their caller.

use timenav_core::limits::ANCHORS_PER_TIMELINE_MAX;
use timenav_engine::EVENTS_PAGE_BYTES_MAX;

use crate::engine::*;

fn page_request(range: TimeRange<timenav_core::time::Virtual>, cursor: Option<String>) -> MonitorEvents {
    MonitorEvents { range, items_max: 7, cursor, ..every_event(None) }
}

#[tokio::test]
async fn event_page_size_is_limited_in_bytes() {
    let home = Home::new().await;
    let long = "x".repeat(16 * 1024);
    let drafts = (0..600).map(|number| EventDraft::at(moment(number), long.clone())).collect();
    home.record_events(None, drafts).await;
    let everything = TimeRange::new(None, None).unwrap();
    for newest_first in [false, true] {
        for filter in [FilterTexts::default(), FilterTexts { text: Some("x".repeat(9)), ..FilterTexts::default() }] {
            let (mut times, mut cursor, mut pages) = (Vec::new(), None, 0);
            loop {
                let request = MonitorEvents { items_max: 1_000, newest_first, ..page_request(everything, cursor) };
                let request = MonitorEvents { filter: Arc::new(EventFilter::new(filter.clone()).unwrap()), ..request };
                let page = home.engine.monitor_events(&home.admin, request).await.unwrap();
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
async fn anchors_over_the_limit_are_rejected() {
    let home = Home::new().await;
    let request = || anchor_now();
    // Concurrent requests become few groups.
    let question = (0..ANCHORS_PER_TIMELINE_MAX).map(|_| {
        home.spawn(move |engine, admin| async move { engine.set_anchor(&admin, None, request(), None).await })
    });
    for set in question.collect::<Vec<_>>() {
        set.await.unwrap().unwrap();
    }
    let refused = home.engine.set_anchor(&home.admin, None, request(), None).await;
    assert_eq!(outcome_text(&refused), r#"LimitReached { what: "anchors on this timeline", max: 10000 }"#);
    home.engine.close().await;
}
