//! Comparisons of related timelines, against the same model.

use timenav_engine::EventVersion;

use super::*;
use crate::engine::*;

/// A difference: the event id, and its time on either timeline.
type Difference = (String, Option<i64>, Option<i64>);

async fn pages(home: &Home<'_>, a: &TimelineId, b: &TimelineId, items_max: usize) -> Vec<DiffPage> {
    let mut pages: Vec<DiffPage> = Vec::new();
    loop {
        let cursor = pages.last().map(|page| page.next_cursor.clone());
        let Some(cursor) = cursor.map_or(Some(None), |cursor| cursor.map(Some)) else { return pages };
        let request = TimelinesDiff { a: a.clone(), b: b.clone(), of: DiffOf::Events, items_max, cursor };
        pages.push(home.engine.timelines_diff(&home.admin, request).await.unwrap());
    }
}

fn differences_in(pages: &[DiffPage]) -> Vec<Difference> {
    let time = |version: &Option<EventVersion>| {
        let event: serde_json::Value = serde_json::from_str(&version.as_ref()?.content).unwrap();
        let time = timenav_core::time::parse_timestamp::<timenav_core::time::Virtual>(event["time"].as_str().unwrap());
        Some(time.unwrap().micros() / 1_000_000)
    };
    let one = |one: &timenav_engine::Difference| (one.event_id.to_string(), time(&one.a), time(&one.b));
    pages.iter().flat_map(|page| &page.differences).map(one).collect()
}

fn expected(a: &State, b: &State) -> Vec<Difference> {
    let ids: BTreeSet<&String> = a.keys().chain(b.keys()).collect();
    let active_at = |state: &State, id: &String| state.get(id).and_then(|known| known.active_at);
    let both = ids.into_iter().map(|id| (id.clone(), active_at(a, id), active_at(b, id)));
    both.filter(|(_, a, b)| a != b).collect()
}

/// Compares every timeline with every other one, and with itself.
pub(super) async fn check(home: &Home<'_>, lives: &[Life]) {
    for a in lives {
        for b in lives {
            let pages = pages(home, &a.name, &b.name, 2).await;
            assert_eq!(differences_in(&pages), expected(&a.now, &b.now), "{} {}", a.name, b.name);
            assert!(pages.iter().all(|page| sizes(page) == sizes(&pages[0])), "pages show one moment");
            assert!(pages.iter().rev().skip(1).all(|page| page.differences.len() == 2), "only the last page is short");
        }
    }
}

/// Returns the positions that a page is based on.
fn sizes(page: &DiffPage) -> (Option<u64>, Option<u64>, u64) {
    (page.a.as_of, page.b.as_of, page.common_size)
}

#[tokio::test]
async fn comparison_pages_continue_past_many_identical_events() {
    let home = Home::new().await;
    let (main, fork) = (timeline_id("main"), timeline_id("fork"));
    home.engine.fork_timeline(&home.admin, fork.clone(), &main, None, None).await.unwrap();
    // More identical events than one page examines, and then one that differs.
    let one = |number: usize| named_event(&format!("n{number:05}"), 1, "it happens");
    let same: Vec<_> = (0..10_000).map(one).collect();
    home.engine.import_events(&home.admin, &main, same.clone()).await.unwrap();
    home.engine.import_events(&home.admin, &fork, same).await.unwrap();
    home.engine.import_events(&home.admin, &fork, vec![one(10_000)]).await.unwrap();
    let pages = pages(&home, &main, &fork, 100).await;
    let counts: Vec<usize> = pages.iter().map(|page| page.differences.len()).collect();
    assert_eq!(counts, [0, 1], "the first page looked at as many as it may");
    assert_eq!(differences_in(&pages), [("n10000".to_owned(), None, Some(0))]);
    // Events recorded in the meantime are not on later pages of the same query.
    let cursor = pages[0].next_cursor.clone();
    home.engine.import_events(&home.admin, &fork, vec![one(10_001)]).await.unwrap();
    let request =
        TimelinesDiff { a: main.clone(), b: fork.clone(), of: DiffOf::Events, items_max: 100, cursor: cursor.clone() };
    assert_eq!(home.engine.timelines_diff(&home.admin, request).await.unwrap().differences.len(), 1);
    // A cursor is valid only for its own query.
    let request = TimelinesDiff { a: fork, b: main, of: DiffOf::Events, items_max: 100, cursor };
    let refused = home.engine.timelines_diff(&home.admin, request).await;
    assert!(matches!(refused, Err(Refusal::Cursor)), "{refused:?}");
    home.close().await;
}
