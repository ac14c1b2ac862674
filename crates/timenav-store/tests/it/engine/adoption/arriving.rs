//! A bundle that arrives in batches: what others do meanwhile, what they see of it, and what becomes of it where nobody
//! goes on with it.

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use rusqlite::Connection;
use timenav_core::clock::ClockCommand;
use timenav_core::event::EventDraft;
use timenav_core::ids::TimelineId;
use timenav_core::scan::Depth;
use timenav_engine::{ADOPT_BATCH_BYTES_MAX, ADOPT_ROOM_LEFT_BYTES, AdoptedTimeline, Refusal};

use super::{NAME, adopt, another_house, another_house_on_postgres, export, make};
use crate::cluster;
use crate::faulty_store::FaultyStore;
use crate::house::{Home, House};
use crate::sample::{event_id, moment, timeline_id};
use crate::tampering::{Outside, look};

/// Events that need some batches, and bytes of what each says.
const EVENTS: usize = 120;
const TEXT_BYTES: usize = 15_000;

/// Makes the timeline with so much in it that it arrives in some batches, and returns its bundle. It is a fork, so that
/// a layer arrives before it.
pub(crate) async fn large(home: &Home<'_>) -> String {
    make(home, "base").await;
    let of = timeline_id("base");
    home.engine.fork_timeline(&home.admin, timeline_id(NAME), &of, None, None).await.unwrap();
    let text = "a remark, ".repeat(TEXT_BYTES / 10);
    for first in (0..EVENTS).step_by(40) {
        let draft = |number: usize| EventDraft {
            event_id: Some(event_id(&format!("e{number}"))),
            ..EventDraft::at(moment(1), text.as_str())
        };
        let drafts = (first..first + 40).map(draft).collect();
        home.engine.record_events(&home.admin, Some(timeline_id(NAME)), drafts, None).await.unwrap();
    }
    export(home).await
}

/// Opens a house whose batches wait where the test says so.
async fn open_gated(house: &House) -> (Home<'_>, Arc<FaultyStore>) {
    let store = Arc::new(FaultyStore::new(house.store()));
    (house.try_open(Arc::clone(&store) as _).await.unwrap(), store)
}

async fn names(home: &Home<'_>) -> Vec<String> {
    let (page, _) = home.engine.timelines(&home.admin, 100, None).await.unwrap();
    page.iter().map(|view| view.state.head.id.to_string()).collect()
}

pub(crate) async fn record(home: &Home<'_>, id: &str) {
    let draft = EventDraft { event_id: Some(event_id(id)), ..EventDraft::at(moment(1), "d") };
    home.engine.record_events(&home.admin, None, vec![draft], None).await.unwrap();
}

/// Lets a scan of everything find nothing.
async fn scan(home: &Home<'_>, timelines: &[&str]) {
    for timeline in timelines {
        let looked = home.engine.detect_tampering(&home.admin, &timeline_id(timeline), Depth::Full, &mut |_| {}).await;
        let scan = looked.unwrap().scan;
        assert!(!scan.tampering_detected(), "{timeline}: {}", scan.details);
    }
}

/// Makes as if nobody were heard of a bundle for long, where several services may share the store.
fn let_time_pass(house: &House) {
    if let Some(url) = &house.database {
        cluster::execute(url, "UPDATE arrivals SET until = 0");
    }
}

/// Waits a little, and two minutes in all.
#[expect(clippy::disallowed_methods, reason = "nothing tells that whoever adopted has let go of what arrived")]
async fn wait(looks: &mut u32) {
    assert!(*looks < 12_000, "what is waited for does not come");
    *looks += 1;
    tokio::time::sleep(Duration::from_millis(10)).await;
}

/// Clears away what did not arrive, as the service does from time to time: whoever adopted may hold it in hand a moment
/// longer than the answer takes.
async fn tend(home: &Home<'_>) {
    let mut looks = 0;
    home.engine.tend().await.unwrap();
    while !home.store.arrivals_left().await.unwrap().is_empty() {
        wait(&mut looks).await;
        home.engine.tend().await.unwrap();
    }
}

/// Makes sure that nothing is left of any bundle that did not arrive.
async fn is_cleared(home: &Home<'_>) {
    assert_eq!(home.store.arrivals_left().await.unwrap(), [""; 0]);
    let stray = home.store.stray_arrivals().await.unwrap();
    assert!(stray.orphans.is_empty() && stray.marked.is_empty(), "{stray:?}");
    assert_eq!(home.store.begin_arrival("next", vec![timeline_id("x")]).await.unwrap()[0].0, -1, "the number is free");
    let_time_pass(home.house);
    while home.store.clear_arrival("next", 1).await.unwrap() {}
}

/// Adopts a bundle up to its second batch, which waits, does something else, and then lets it go on.
pub(crate) async fn in_the_midst(
    (home, store): (&Home<'_>, &FaultyStore),
    (there, text): (&House, &str),
    meanwhile: impl AsyncFnOnce(),
) -> Result<AdoptedTimeline, Refusal> {
    store.close_arriving_gate();
    let adopting = async { adopt(home, there, text).await };
    let meanwhile = async {
        store.arrival_at_arriving_gate().await;
        store.let_arrive(2);
        store.arrival_at_arriving_gate().await;
        store.arrival_at_arriving_gate().await;
        // Two batches are there, one of the layer and one of the fork, and the third waits.
        meanwhile().await;
        store.open_arriving_gate();
    };
    tokio::join!(adopting, meanwhile).0
}

async fn others_write_and_see_nothing(here: House) {
    let there = House::new();
    let (far, (home, store)) = (there.open().await, open_gated(&here).await);
    let text = large(&far).await;
    let before = names(&home).await;
    let adopted = in_the_midst((&home, &store), (&there, &text), async || {
        record(&home, "meanwhile").await;
        home.engine.change_clock(&home.admin, None, ClockCommand::Pause, None).await.unwrap();
        home.engine.create_timeline(&home.admin, timeline_id("another"), None).await.unwrap();
        home.engine.fork_timeline(&home.admin, timeline_id("fork"), &timeline_id("main"), None, None).await.unwrap();
        home.engine.end_timeline(&home.admin, timeline_id("another"), None).await.unwrap();
        home.engine.tend().await.unwrap();
        assert_eq!(names(&home).await, [vec!["fork".to_owned()], before.clone()].concat());
        let hidden = home.engine.timeline(&home.admin, &timeline_id(NAME)).await;
        assert!(matches!(hidden, Err(Refusal::NotFound { .. })), "{:?}", hidden.map(|_| ()));
        scan(&home, &["system", "main", "fork"]).await;
        let opened = home.store.open().await.unwrap();
        assert!(opened.heads.iter().all(|head| head.id.as_str() != NAME && head.key.0 > 0));
        assert!(opened.ended.iter().all(|ended| ended.key.0 > 0));
        assert_eq!(home.store.sweeps_left().await.unwrap(), []);
    });
    adopted.await.unwrap();
    assert!(names(&home).await.contains(&NAME.to_owned()));
    scan(&home, &["system", NAME]).await;
    is_cleared_but_for(&home).await;
    let view = home.engine.timeline(&home.admin, &timeline_id(NAME)).await.unwrap();
    assert_eq!(view.state.head.events_count, EVENTS as u64 + 2);
    record(&home, "after").await;
    home.engine.create_timeline(&home.admin, timeline_id("later"), None).await.unwrap();
    let home = home.reopen().await;
    scan(&home, &["system", NAME, "later"]).await;
    home.close().await;
    far.close().await;
}

/// Makes sure that no mark is left of what stands.
async fn is_cleared_but_for(home: &Home<'_>) {
    let_time_pass(home.house);
    assert_eq!(home.store.arrivals_left().await.unwrap(), [""; 0]);
    let stray = home.store.stray_arrivals().await.unwrap();
    assert!(stray.orphans.is_empty() && stray.marked.is_empty(), "{stray:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn others_write_while_a_bundle_arrives_and_see_nothing_of_it() {
    Box::pin(others_write_and_see_nothing(another_house())).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn others_write_while_a_bundle_arrives_on_postgres() {
    Box::pin(others_write_and_see_nothing(another_house_on_postgres())).await;
}

/// Each way in which a bundle does not arrive leaves nothing, once it was looked after.
async fn what_is_not_adopted_is_cleared_away(here: House) {
    let there = House::new();
    let (far, (home, store)) = (there.open().await, open_gated(&here).await);
    let text = large(&far).await;
    // The name is taken meanwhile.
    let refused = in_the_midst((&home, &store), (&there, &text), async || {
        home.engine.create_timeline(&home.admin, timeline_id(NAME), None).await.unwrap();
    });
    let refused = refused.await.err().unwrap();
    assert!(matches!(refused, Refusal::NotMerged { .. }), "{refused}");
    let_time_pass(&here);
    tend(&home).await;
    is_cleared(&home).await;
    home.engine.end_timeline(&home.admin, timeline_id(NAME), None).await.unwrap();
    home.engine.close().await;
    drop((home, store));
    far.close().await;

    let there = House::new();
    let database = here.database.as_ref().map(|_| cluster::database());
    let mut here = another_house();
    here.database = database;
    let (far, (home, store)) = (there.open().await, open_gated(&here).await);
    let text = large(&far).await;
    // The disk is full, in the one way and the other.
    let refused = in_the_midst((&home, &store), (&there, &text), async || store.set_commits_failing(true)).await;
    assert!(matches!(refused, Err(Refusal::Unavailable(_))), "{:?}", refused.map(|_| ()));
    store.set_commits_failing(false);
    let refused = in_the_midst((&home, &store), (&there, &text), async || {
        here.spool.0.store(ADOPT_ROOM_LEFT_BYTES - 1, Ordering::SeqCst);
    });
    let refused = refused.await.err().unwrap().to_string();
    assert!(refused.contains("67108863 bytes are free"), "{refused}");
    here.spool.0.store(u64::MAX, Ordering::SeqCst);
    // The client goes away.
    store.close_arriving_gate();
    {
        let adopting = adopt(&home, &there, &text);
        let third = async {
            store.let_arrive(2);
            for _ in 0..3 {
                store.arrival_at_arriving_gate().await;
            }
        };
        tokio::select! {
            _ = adopting => panic!("it waits at the gate"),
            () = third => {}
        }
    }
    store.open_arriving_gate();
    record(&home, "between").await;
    assert_eq!(home.store.stray_arrivals().await.unwrap().orphans, []);
    // The service ends in the midst of the clearing, which is in batches, and goes on with it after its next start.
    let_time_pass(&here);
    store.let_go_at_most(1);
    let mut looks = 0;
    while home.engine.tend().await.is_ok() {
        wait(&mut looks).await;
    }
    scan(&home, &["system"]).await;
    home.engine.close().await;
    drop((home, store));
    let home = here.open().await;
    let_time_pass(&here);
    assert!(!home.store.arrivals_left().await.unwrap().is_empty());
    tend(&home).await;
    is_cleared(&home).await;
    // None of it stands in the way of the bundle.
    adopt(&home, &there, &text).await.unwrap();
    scan(&home, &["system", NAME]).await;
    home.close().await;
    far.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_did_not_arrive_is_cleared_away() {
    Box::pin(what_is_not_adopted_is_cleared_away(another_house())).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_did_not_arrive_is_cleared_away_on_postgres() {
    Box::pin(what_is_not_adopted_is_cleared_away(another_house_on_postgres())).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_batch_has_so_many_bytes_and_one_row_at_most() {
    let (there, here) = (House::new(), another_house());
    let (far, (home, store)) = (there.open().await, open_gated(&here).await);
    let text = large(&far).await;
    adopt(&home, &there, &text).await.unwrap();
    let batches = store.batches();
    // Each event is there twice, as an entry and as a row.
    assert!(batches.iter().all(|(before_last, _)| 2 * before_last < ADOPT_BATCH_BYTES_MAX), "{batches:?}");
    let full = batches.iter().filter(|(_, bytes)| 2 * bytes > ADOPT_BATCH_BYTES_MAX - 4 * TEXT_BYTES).count();
    assert!(full >= 5 && batches.len() - full <= 2, "the last one of a timeline alone is smaller: {batches:?}");
    home.close().await;
    far.close().await;
}

/// Returns what a scan of `system` finds.
async fn findings(house: &House) -> String {
    let scan = look(house, "system", Depth::Full, Outside::Kept).await;
    scan.findings.iter().fold(String::new(), |mut all, finding| {
        writeln!(all, "{}", finding.evidence).unwrap();
        all
    })
}

#[tokio::test]
async fn a_mark_hides_nothing_and_its_absence_shows_nothing() {
    let (there, here) = (House::new(), another_house());
    let (far, home) = (there.open().await, here.open().await);
    let text = large(&far).await;
    adopt(&home, &there, &text).await.unwrap();
    home.engine.close().await;
    drop(home);
    let database = Connection::open(here.path()).unwrap();
    let count = |what: &str| -> i64 {
        database.query_row(&format!("SELECT count(*) FROM {what}"), [], |row| row.get(0)).unwrap()
    };
    let rows = || (count("entries"), count("events"), count("tiles"));
    let before = rows();
    // Timelines that stand, one made here and one that came, a layer, and a number that nothing has.
    for number in ["2", "-1", "-2", "77"] {
        let mark = format!("INSERT INTO arrivals VALUES ({number}, 'x', 'forged', 0, 1)");
        assert_eq!(database.execute(&mark, []).unwrap(), 1);
        let home = here.open().await;
        assert!(names(&home).await.contains(&NAME.to_owned()) && names(&home).await.contains(&"main".to_owned()));
        record(&home, &format!("beside{number}")).await;
        let marked: i64 = number.parse().unwrap();
        assert_eq!(home.store.stray_arrivals().await.unwrap().marked, [marked], "the start says so");
        let refused = home.engine.tend().await.unwrap_err().to_string();
        assert!(refused.contains(&format!("number {number} is marked as still arriving")), "{refused}");
        home.engine.close().await;
        drop(home);
        let found = findings(&here).await;
        assert!(found.contains(&format!("marks timeline number {number} as still arriving")), "{found}");
        assert_eq!(database.execute("DELETE FROM arrivals", []).unwrap(), 1);
    }
    let after = rows();
    assert!(after.0 > before.0 && after.1 > before.1 && after.2 == before.2, "nothing was taken away");
    assert_eq!(findings(&here).await, "");

    // Of what has not arrived, the mark is taken away.
    let (home, store) = open_gated(&here).await;
    let other = another_house();
    other.doors().entropy.fill(&mut vec![0; 32 * 100_000]);
    let source = other.open().await;
    make(&source, "second").await;
    let second = super::export_named(&source, "second").await;
    store.set_commits_failing(false);
    store.close_arriving_gate();
    {
        let adopting = super::adopt_named(&home, &other, "second", &second);
        tokio::select! {
            _ = adopting => panic!("it waits at the gate"),
            () = store.arrival_at_arriving_gate() => {}
        }
    }
    store.open_arriving_gate();
    home.engine.close().await;
    drop((home, store));
    let entry = "INSERT INTO entries (entry, leaf, salt, payload) VALUES (-3 << 40, x'7b', x'', x'')";
    assert_eq!(database.execute(entry, []).unwrap(), 1);
    assert_eq!(findings(&here).await, "", "a bundle may be cut off anywhere");
    assert_eq!(database.execute("DELETE FROM arrivals", []).unwrap(), 1);
    let found = findings(&here).await;
    assert!(found.contains("table entries has rows of timeline number -3"), "{found}");
    let home = here.open().await;
    assert_eq!(home.store.stray_arrivals().await.unwrap().orphans.len(), 1, "the start says so");
    // Nothing arrives under that number any more.
    let keys = home.store.begin_arrival("next", vec![timeline_id("x"), timeline_id("y")]).await.unwrap();
    assert_eq!(keys.iter().map(|key| key.0).collect::<Vec<_>>(), [-4, -5]);
    while home.store.clear_arrival("next", 1).await.unwrap() {}
    assert_eq!(database.execute("DELETE FROM entries WHERE entry >> 40 = -3", []).unwrap(), 1);
    super::adopt_named(&home, &other, "second", &second).await.unwrap();
    home.close().await;
    source.close().await;
    far.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rows_that_are_changed_before_they_stand_are_found() {
    let there = House::new();
    let far = there.open().await;
    let text = large(&far).await;
    far.close().await;
    // What the root is made of is found before anything stands.
    let here = another_house();
    let (home, store) = open_gated(&here).await;
    let refused = in_the_midst((&home, &store), (&there, &text), async || {
        let change = "UPDATE entries SET leaf = CAST(replace(CAST(leaf AS TEXT), 'base', 'gone') AS BLOB)
            WHERE entry = (-1 << 40) + 1";
        assert_eq!(Connection::open(here.path()).unwrap().execute(change, []).unwrap(), 1);
    });
    let refused = refused.await.err().unwrap().to_string();
    assert!(refused.contains("were changed while it arrived"), "{refused}");
    tend(&home).await;
    is_cleared(&home).await;
    // Everything else is found by a scan, as it is later.
    let adopted = in_the_midst((&home, &store), (&there, &text), async || {
        let change = "UPDATE events SET content = replace(content, 'a remark', 'a lie') WHERE timeline = -2";
        assert!(Connection::open(here.path()).unwrap().execute(change, []).unwrap() > 0);
    });
    adopted.await.unwrap();
    home.engine.close().await;
    drop((home, store));
    let scan = look(&here, NAME, Depth::Full, Outside::Kept).await;
    assert!(scan.tampering_detected(), "{}", scan.details);
    // One that another hand gives up does not stand, and takes nobody along.
    let here = another_house();
    let (home, store) = open_gated(&here).await;
    let refused = in_the_midst((&home, &store), (&there, &text), async || {
        let change = "UPDATE arrivals SET is_over = 1";
        assert_eq!(Connection::open(here.path()).unwrap().execute(change, []).unwrap(), 2);
        record(&home, "beside").await;
    });
    let refused = refused.await.err().unwrap().to_string();
    assert!(refused.contains("given up before all of it had arrived"), "{refused}");
    tend(&home).await;
    is_cleared(&home).await;
    assert_eq!(names(&home).await, [TimelineId::main().to_string(), TimelineId::system().to_string()]);
    home.close().await;
}
