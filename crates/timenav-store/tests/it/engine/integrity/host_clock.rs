//! A host clock that is a year ahead for a minute destroys nothing: everything that ends, is pruned or expires by host
//! time checks its plausibility first. Sweeps are tested with the other attacks on retention.

use timenav_core::limits::HOST_CLOCK_STEP_SECONDS_MAX;
use timenav_engine::{FactsQuery, QueryOrigin};

use crate::engine::access::sessions::{lasts, log_in, with_password};
use crate::engine::*;

const YEAR: i64 = 365 * DAY;

async fn record(home: &Home<'_>, timeline: &str) {
    let draft = named_event("e", 1, "d");
    home.record_events(on(timeline), vec![draft]).await;
}

fn contents(house: &House) -> i64 {
    let select = "SELECT count(*) FROM ended_timelines JOIN (SELECT entry FROM entries WHERE length(payload) > 0
        UNION ALL SELECT entry FROM contents) ON entry >> 40 = timeline";
    rusqlite::Connection::open(house.path()).unwrap().query_row(select, [], |row| row.get(0)).unwrap()
}

/// Has the operator confirm the clock.
async fn accept(home: &Home<'_>) {
    home.engine.prune(&home.admin, timeline_id("main"), true, None).await.unwrap();
}

/// Starts with a clock that is a year ahead, runs maintenance for a minute, and restarts with the right one.
async fn a_minute_ahead<'a>(home: Home<'a>, meanwhile: impl AsyncFnOnce(&Home<'a>)) -> Home<'a> {
    let house = home.house.clone();
    let home = home.reopen().await;
    house.clock.advance(YEAR);
    for _ in 0..4 {
        home.engine.tend().await.unwrap();
        house.clock.advance(15 * SECOND);
    }
    assert!(home.engine.stats().is_host_clock_untrusted);
    meanwhile(&home).await;
    let home = home.reopen().await;
    house.clock.advance(-YEAR);
    home.engine.tend().await.unwrap();
    assert!(!home.engine.stats().is_host_clock_untrusted, "it is right again, and nobody has to say so");
    home
}

#[tokio::test]
async fn contents_of_ended_timelines_survive_a_doubted_host_clock() {
    let house = House::new();
    let home = house.open().await;
    record(&home, "job").await;
    home.end_timeline(timeline_id("job")).await;
    home.engine.tend().await.unwrap();
    let full = contents(&house);
    assert!(full > 1);
    let home = a_minute_ahead(home, async |_| assert_eq!(contents(&house), full)).await;
    for _ in 0..6 {
        house.clock.advance(DAY);
        home.engine.tend().await.unwrap();
        assert_eq!(contents(&house), full, "the grace is as long as before");
    }
    for _ in 0..2 {
        house.clock.advance(DAY);
        home.engine.tend().await.unwrap();
    }
    assert_eq!(contents(&house), 0);
    home.close().await;
}

#[tokio::test]
async fn expiring_timeline_survives_a_doubted_host_clock() {
    let house = House::new();
    let home = house.open().await;
    let job = NewTimeline { expires_in: Some(Span::from_micros(30 * DAY)), ..timeline_id("job").into() };
    home.create_timeline(job).await;
    home.engine.tend().await.unwrap();
    let is_there = async |home: &Home<'_>| home.engine.read_clock(&home.admin, on("job")).await.is_ok();
    let home = a_minute_ahead(home, async |home| assert!(is_there(home).await, "it can be read meanwhile")).await;
    assert!(is_there(&home).await);
    for _ in 0..5 {
        house.clock.advance(7 * DAY - SECOND);
        home.engine.tend().await.unwrap();
    }
    let refused = home.engine.read_clock(&home.admin, on("job")).await.err().unwrap();
    assert!(matches!(refused, Refusal::Ended { .. }), "{refused}");
    home.close().await;
}

#[tokio::test]
async fn stored_outcomes_survive_a_doubted_host_clock() {
    let house = House::new();
    let home = house.open().await;
    let idempotent = |name: &str| idempotent(name, name);
    let pause = async |home: &Home<'_>, name: &str| {
        home.engine.change_clock(&home.admin, on("job"), ClockCommand::Pause, idempotent(name)).await.unwrap()
    };
    record(&home, "job").await;
    let first = pause(&home, "first").await;
    pause(&home, "third").await;
    home.engine.tend().await.unwrap();
    let meanwhile = async |home: &Home<'_>| {
        let again = pause(home, "first").await;
        assert_eq!((again.replayed, again.ledger), (true, first.ledger));
        assert!(!pause(home, "second").await.replayed);
        home.engine.tend().await.unwrap();
    };
    let home = a_minute_ahead(home, meanwhile).await;
    assert!(pause(&home, "first").await.replayed);
    house.clock.advance(2 * DAY);
    assert!(!pause(&home, "first").await.replayed, "a day is over");
    // Expired outcomes are deleted by a separate task, and not while another one is stored.
    let stored = async || {
        let query = FactsQuery { outcomes: ["first", "third"].map(digest).to_vec(), ..FactsQuery::default() };
        let found = home.store.facts(query, QueryOrigin::Reader).await.unwrap().outcomes;
        found.iter().map(Option::is_some).collect::<Vec<_>>()
    };
    assert_eq!(stored().await, [true, true]);
    home.engine.tend().await.unwrap();
    assert_eq!(stored().await, [true, false]);
    home.close().await;
}

#[tokio::test]
async fn sessions_survive_a_doubted_host_clock() {
    let home = Home::new().await;
    with_password(&home, "ada").await;
    let session = log_in(&home, "ada").await;
    home.engine.tend().await.unwrap();
    let meanwhile = async |home: &Home<'_>| {
        assert!(!lasts(home, &session), "it has run out by that clock");
        let other = log_in(home, "ada").await;
        let third = log_in(home, "ada").await;
        assert!(lasts(home, &other) && lasts(home, &third), "nor are those that begin meanwhile");
    };
    let home = a_minute_ahead(home, meanwhile).await;
    assert!(lasts(&home, &session), "it was not ended");
    home.close().await;
}

#[tokio::test]
async fn start_after_three_weeks_doubts_the_host_clock() {
    let house = House::new();
    let home = house.open().await;
    record(&home, "job").await;
    home.end_timeline(timeline_id("job")).await;
    let short = NewTimeline { expires_in: Some(Span::from_micros(DAY)), ..timeline_id("short").into() };
    home.create_timeline(short).await;
    home.engine.tend().await.unwrap();
    home.engine.close().await;
    house.clock.advance(21 * DAY);
    let home = house.open().await;
    home.engine.tend().await.unwrap();
    assert!(contents(&house) > 0 && home.engine.read_clock(&home.admin, on("short")).await.is_ok());
    let pruned = home.engine.prune(&home.admin, timeline_id("main"), false, None).await.unwrap();
    assert!(pruned.waits.is_some());
    // A restart is not a confirmation by the operator.
    let home = home.reopen().await;
    home.engine.tend().await.unwrap();
    assert!(contents(&house) > 0 && home.engine.stats().is_host_clock_untrusted);
    accept(&home).await;
    assert!(!home.engine.stats().is_host_clock_untrusted);
    home.engine.tend().await.unwrap();
    assert!(home.engine.read_clock(&home.admin, on("short")).await.is_err());
    let home = home.reopen().await;
    home.engine.tend().await.unwrap();
    assert!(!home.engine.stats().is_host_clock_untrusted, "it is kept");
    home.close().await;
}

#[tokio::test]
async fn start_after_a_week_trusts_the_host_clock() {
    let house = House::new();
    let home = house.open().await;
    home.engine.tend().await.unwrap();
    home.engine.close().await;
    // The test clock ticks.
    house.clock.advance((HOST_CLOCK_STEP_SECONDS_MAX - 60) * SECOND);
    let home = house.open().await;
    assert!(!home.engine.stats().is_host_clock_untrusted);
    home.close().await;
}
