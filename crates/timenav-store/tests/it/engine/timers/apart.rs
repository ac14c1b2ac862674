//! Comparisons of timers and firings of two timelines.

use super::again::Line;
use crate::engine::*;

/// Returns all pages of a comparison, with `items_max` items on each.
async fn pages(home: &Home<'_>, names: (&str, &str), of: DiffOf, items_max: usize) -> Vec<DiffPage> {
    let mut pages: Vec<DiffPage> = Vec::new();
    loop {
        let cursor = pages.last().map(|page| page.next_cursor.clone());
        let Some(cursor) = cursor.map_or(Some(None), |cursor| cursor.map(Some)) else { return pages };
        let (a, b) = (timeline_id(names.0), timeline_id(names.1));
        let request = TimelinesDiff { a, b, of, items_max, cursor };
        pages.push(home.engine.timelines_diff(&home.admin, request).await.unwrap());
        assert!(pages.len() < 100, "there is an end");
    }
}

/// Returns the timers that differ, with the second at which each is armed on either timeline; `-1` if it exists but is
/// not armed.
async fn timers(home: &Home<'_>, a: &str, b: &str) -> Vec<(String, Option<i64>, Option<i64>)> {
    let armed = |view: &Option<timenav_engine::TimerView>| {
        view.as_ref().map(|view| view.row.next.map_or(-1, |next| next.micros() / 1_000_000))
    };
    let whole = pages(home, (a, b), DiffOf::Timers, 100).await;
    let changes = |pages: Vec<DiffPage>| {
        let timers = pages.into_iter().flat_map(|page| page.timers);
        timers.map(|one| (one.timer_id.to_string(), armed(&one.a), armed(&one.b))).collect::<Vec<_>>()
    };
    let whole = changes(whole);
    assert_eq!(changes(pages(home, (a, b), DiffOf::Timers, 1).await), whole, "page by page");
    let turned: Vec<_> = whole.iter().map(|(name, a, b)| (name.clone(), *b, *a)).collect();
    assert_eq!(changes(pages(home, (b, a), DiffOf::Timers, 2).await), turned);
    whole
}

type State = Option<FiringState>;

/// Returns the firings that differ, by timer and second.
async fn firings(home: &Home<'_>, a: &str, b: &str) -> Vec<(String, i64, State, State)> {
    let state = |row: &Option<timenav_engine::FiringRow>| row.as_ref().map(|row| row.state);
    let changes = |pages: Vec<DiffPage>| {
        let firings = pages.into_iter().flat_map(|page| page.firings);
        let one = |one: timenav_engine::FiringDifference| {
            (one.timer_id.to_string(), one.due.micros() / 1_000_000, state(&one.a), state(&one.b))
        };
        firings.map(one).collect::<Vec<_>>()
    };
    let whole = changes(pages(home, (a, b), DiffOf::Firings, 100).await);
    assert_eq!(changes(pages(home, (a, b), DiffOf::Firings, 1).await), whole, "page by page");
    whole
}

fn timer(name: &str, a: Option<i64>, b: Option<i64>) -> (String, Option<i64>, Option<i64>) {
    (name.to_owned(), a, b)
}

/// Timers differ in their schedule, and firings in their outcome since the timelines diverged.
async fn comparison_of_forks_covers_timers_and_firings(house: House) {
    const PENDING: State = Some(FiringState::Pending);
    const DONE: State = Some(FiringState::Acknowledged);
    let home = house.open().await;
    home.create_timeline(timeline_id("p")).await;
    let draft = |id: &str| named_event(id, 1, "d");
    home.record_events(on("p"), vec![draft("a"), draft("b")]).await;
    let parent = Line::of(&home, timeline_id("p")).await;
    parent.set("over", once(1)).await.unwrap();
    parent.set("waits", once(3)).await.unwrap();
    parent.set("rule", every(10, Misfire::All)).await.unwrap();
    for (name, seconds) in [("alike", 60), ("cancelled", 70), ("changed", 80)] {
        parent.set(name, once(seconds)).await.unwrap();
    }
    parent.go(2, false).await;
    parent.work_off().await;
    parent.go(5, false).await;
    let fork = parent.fork("f", None).await;
    assert_eq!((timers(&home, "p", "f").await, firings(&home, "p", "f").await), (vec![], vec![]), "it took all along");
    assert_eq!(timers(&home, "p", "p").await, []);

    // The pending firing is settled only on the fork.
    fork.work_off().await;
    parent.cancel("cancelled").await;
    fork.patch("changed", Some(once(90))).await;
    fork.set("new", once(95)).await.unwrap();
    fork.go(25, false).await;
    let expected = [
        timer("cancelled", Some(-1), Some(70)),
        timer("changed", Some(80), Some(90)),
        timer("new", None, Some(95)),
        timer("rule", Some(10), Some(30)),
    ];
    assert_eq!(timers(&home, "p", "f").await, expected);
    let own = |name: &str, due, a, b| (name.to_owned(), due, a, b);
    let expected = [own("waits", 3, PENDING, DONE), own("rule", 10, None, PENDING), own("rule", 20, None, PENDING)];
    assert_eq!(firings(&home, "p", "f").await, expected);
    // A fork of the fork has the outcomes of the fork, and a sibling has those of the parent.
    let far = fork.fork("ff", None).await;
    assert_eq!((timers(&home, "f", "ff").await, firings(&home, "f", "ff").await), (vec![], vec![]));
    parent.fork("s", None).await;
    assert_eq!(firings(&home, "s", "ff").await, expected);
    far.work_off().await;
    let expected = [own("waits", 3, PENDING, DONE), own("rule", 10, None, DONE), own("rule", 20, None, DONE)];
    assert_eq!(firings(&home, "s", "ff").await, expected);
    // If the clocks have reached the same time, only outcomes differ.
    parent.go(25, false).await;
    let expected = [own("waits", 3, PENDING, DONE), own("rule", 10, PENDING, DONE), own("rule", 20, PENDING, DONE)];
    assert_eq!(firings(&home, "p", "ff").await, expected);
    parent.work_off().await;
    assert_eq!(firings(&home, "p", "ff").await, []);
    home.close().await;
}

on_each_store![comparison_of_forks_covers_timers_and_firings];
