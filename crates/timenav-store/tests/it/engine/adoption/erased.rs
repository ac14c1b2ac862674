//! Layers of which something was erased after the fork: it stays erased wherever the fork goes, and each service can show why.

use rusqlite::Connection;
use timenav_core::as_of::AsOf;
use timenav_core::event::EventDraft;
use timenav_core::ids::DataId;
use timenav_core::scan::Depth;
use timenav_engine::{ErasureRequest, EventErasure, ImportId, ReadErasure, WhichEvents, WhichReads};

use super::forks::{bundle, lines, standing};
use super::{NAME, adopt, adopt_named, another_house, export, export_named, make, seal};
use crate::cluster;
use crate::house::{Home, House};
use crate::sample::{event_id, moment, timeline_id};
use crate::tampering::{Outside, look};

/// What events say that are erased.
const SECRET: &str = "erase-me";
/// How many later entries say why something of the layers is gone.
const ERASURES: usize = 5;

async fn record(home: &Home<'_>, timeline: &str, id: &str, says: &str) {
    let draft = EventDraft { event_id: Some(event_id(id)), ..EventDraft::at(moment(1), says) };
    home.engine.record_events(&home.admin, Some(timeline_id(timeline)), vec![draft], None).await.unwrap();
}

/// Makes `p`, `q` that goes on from it, and the timeline that goes on from `q`; then erases of the first two what they had
/// before they were forked, in every way there is. Returns what was kept of a read.
async fn erased_after_the_fork(home: &Home<'_>) {
    make(home, "p").await;
    record(home, "p", "m", SECRET).await;
    seal(home, "p").await;
    home.engine.read_clock(&home.admin, Some(timeline_id("p"))).await.unwrap();
    let read = home.size("p").await - 1;
    home.engine.fork_timeline(&home.admin, timeline_id("q"), &timeline_id("p"), None, None).await.unwrap();
    record(home, "q", "c", SECRET).await;
    home.engine.fork_timeline(&home.admin, timeline_id(NAME), &timeline_id("q"), None, None).await.unwrap();
    record(home, NAME, "d", "stays").await;

    let whole = lines(&export_named(home, "p").await);
    let sealed = whole.iter().find_map(|line| {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        line["data"]["data_id"].as_str().map(|id| DataId::new(id).unwrap())
    });
    let on = |timeline: &str| Some(timeline_id(timeline));
    let erase = async |request| home.engine.erase_data(&home.admin, request, None).await.unwrap();
    erase(ErasureRequest::Event(on("p"), event_id("m"))).await;
    erase(ErasureRequest::Event(on("q"), event_id("c"))).await;
    erase(ErasureRequest::Data(on("p"), sealed.unwrap())).await;
    let events = EventErasure {
        timeline: on("p"),
        which: WhichEvents::Ids(vec![event_id("b")]),
        include_forks: true,
        evaluated_at: None,
    };
    home.engine.erase_events(&home.admin, events, None).await.unwrap();
    let reads = ReadErasure { timeline: on("p"), position: read, which: WhichReads::Of("admin".to_owned()) };
    home.engine.erase_reads(&home.admin, reads, None).await.unwrap();
}

fn count(text: &str, kind: &str) -> usize {
    text.lines().filter(|line| line.starts_with(&format!("{{\"{kind}\""))).count()
}

fn contents(events: Vec<(String, String)>) -> Vec<String> {
    events.into_iter().map(|(_, content)| content).collect()
}

fn far_away(times: usize) -> House {
    let house = another_house();
    house.doors().entropy.fill(&mut vec![0; 32 * 100_000 * times]);
    house
}

/// Scans the timeline, and its layers with it. Returns what was found, and what was not checked of the layers.
async fn scan(house: &House, name: &str) -> (Vec<String>, usize) {
    let scan = look(house, name, Depth::Full, Outside::Kept).await;
    let untold = scan.not_checked.iter().filter(|what| what.contains("were erased by later entries")).count();
    (scan.findings.iter().map(|finding| finding.evidence.clone()).collect(), untold)
}

#[tokio::test]
async fn what_was_erased_after_the_fork_is_shown_by_each_service_that_it_goes_to() {
    let houses = [House::new(), another_house(), far_away(1), far_away(2)];
    let far = houses[0].open().await;
    erased_after_the_fork(&far).await;
    let text = export(&far).await;
    assert_eq!((count(&text, "erasure"), text.contains("timenav-bundle/v1")), (ERASURES, true));
    let theirs = contents(standing(&far).await);
    assert_eq!(theirs.len(), 2, "{theirs:?}");
    far.close().await;

    let mut from = (&houses[0], text);
    for (number, house) in houses.iter().enumerate().skip(1) {
        let home = house.open().await;
        adopt(&home, from.0, &from.1).await.unwrap();
        let home = home.reopen().await;
        assert_eq!(contents(standing(&home).await), theirs);
        record(&home, NAME, &format!("here-{number}"), "stays").await;
        home.engine
            .erase_data(
                &home.admin,
                ErasureRequest::Event(Some(timeline_id(NAME)), event_id(&format!("here-{number}"))),
                None,
            )
            .await
            .unwrap();
        let text = export(&home).await;
        // What was told again is among the entries from here on.
        assert_eq!((count(&text, "erasure"), text.matches("layer_erased").count()), (0, ERASURES), "{number}");
        assert!(text.contains("timenav-bundle/v2") && !text.contains(SECRET), "{number}");
        home.close().await;
        assert_eq!(scan(house, NAME).await, (Vec::new(), 0), "{number}");
        from = (house, text);
    }

    // A reader of the first version of the format does not know that entry.
    let old = bundle(&lines(&from.1.replace("timenav-bundle/v2", "timenav-bundle/v1")));
    let last = far_away(3);
    let home = last.open().await;
    let refused = adopt(&home, from.0, &old).await.err().unwrap().to_string();
    assert!(refused.contains("are missing, but no entry erased them"), "{refused}");
    home.close().await;
}

#[tokio::test]
async fn a_fork_of_before_it_came_shows_it_too() {
    let (there, here, third, fourth) = (House::new(), another_house(), far_away(1), far_away(2));
    let (far, home) = (there.open().await, here.open().await);
    erased_after_the_fork(&far).await;
    adopt(&home, &there, &export(&far).await).await.unwrap();
    // The entry that says it was adopted is not among those that this fork goes on from.
    let at = AsOf::Position(1);
    home.engine.fork_timeline(&home.admin, timeline_id("r"), &timeline_id(NAME), Some(&at), None).await.unwrap();
    let text = export_named(&home, "r").await;
    assert_eq!((count(&text, "layer"), count(&text, "erasure")), (4, ERASURES));
    let last = third.open().await;
    adopt_named(&last, &here, "r", &text).await.unwrap();
    let text = export_named(&last, "r").await;
    assert_eq!((count(&text, "layer"), count(&text, "erasure")), (4, 0));
    let end = fourth.open().await;
    adopt_named(&end, &third, "r", &text).await.unwrap();
    for home in [far, home, last, end] {
        home.close().await;
    }
    for house in [&here, &third, &fourth] {
        assert_eq!(scan(house, "r").await, (Vec::new(), 0));
    }
}

/// Changes rows by hand: the statement is in the words of the one backend or of the other.
fn attack(house: &House, in_sqlite: &str, in_postgres: &str) {
    match &house.database {
        None => assert!(Connection::open(house.path()).unwrap().execute(in_sqlite, []).unwrap() > 0, "{in_sqlite}"),
        Some(url) => cluster::execute(url, in_postgres),
    }
}

#[tokio::test]
async fn nothing_else_of_such_a_layer_can_be_taken_away() {
    let there = House::new();
    let far = there.open().await;
    erased_after_the_fork(&far).await;
    let text = export(&far).await;
    far.close().await;
    let gone = "UPDATE entries SET payload = x'', salt = x'' WHERE";
    let gone_there = "UPDATE entries SET payload = '', salt = '' WHERE";
    let of_layer = "entry >> 40 IN (SELECT timeline FROM ended_timelines WHERE timeline_id = 'away/p')";
    let of_layer_there = "timeline IN (SELECT timeline FROM ended_timelines WHERE timeline_id = 'away/p')";
    let event = (
        format!("{gone} {of_layer} AND payload LIKE '%\"a\"%'"),
        format!("{gone_there} {of_layer_there} AND position('\"a\"'::bytea IN payload) > 0"),
    );
    let told = (
        format!("{gone} leaf LIKE '%\"layer_erased\"%'"),
        format!("{gone_there} position('\"layer_erased\"'::bytea IN leaf) > 0"),
    );
    for (number, (in_sqlite, in_postgres)) in [event, told].iter().enumerate() {
        let here = far_away(number + 1);
        let home = here.open().await;
        adopt(&home, &there, &text).await.unwrap();
        home.close().await;
        assert_eq!(scan(&here, NAME).await, (Vec::new(), 0));
        attack(&here, in_sqlite, in_postgres);
        let (found, _) = scan(&here, NAME).await;
        assert!(found.iter().any(|found| found.contains("gone")), "{in_sqlite}: {found:#?}");
    }
}

/// Records an event, takes it back, records its id again, and erases it in one of the ways there are.
async fn erase_what_was_recorded_twice(home: &Home<'_>, name: &str, is_alone: bool) {
    let (on, draft) =
        (timeline_id(name), EventDraft { event_id: Some(event_id("a")), ..EventDraft::at(moment(1), SECRET) });
    home.engine.create_timeline(&home.admin, on.clone(), None).await.unwrap();
    let made = home.engine.import_events(&home.admin, &on, vec![draft.clone()]).await.unwrap();
    let first = made.ledger.position;
    let import = ImportId::new(first, first + 1, 1).unwrap();
    home.engine.undo_import(&home.admin, Some(on.clone()), import, None).await.unwrap();
    home.engine.import_events(&home.admin, &on, vec![draft]).await.unwrap();
    if is_alone {
        let erasure = ErasureRequest::Event(Some(on), event_id("a"));
        home.engine.erase_data(&home.admin, erasure, None).await.unwrap();
    } else {
        let which = WhichEvents::Ids(vec![event_id("a")]);
        let erasure = EventErasure { timeline: Some(on), which, include_forks: true, evaluated_at: None };
        home.engine.erase_events(&home.admin, erasure, None).await.unwrap();
    }
    record(home, name, "b", "stays").await;
}

#[tokio::test]
async fn an_id_that_was_recorded_again_before_it_was_erased_counts_once() {
    for (name, is_alone) in [("together", false), ("alone", true)] {
        let (there, here) = (House::new(), another_house());
        let (far, home) = (there.open().await, here.open().await);
        erase_what_was_recorded_twice(&far, name, is_alone).await;
        adopt_named(&home, &there, name, &export_named(&far, name).await).await.unwrap();
        let view = home.engine.timeline(&home.admin, &timeline_id(name)).await.unwrap();
        assert_eq!(view.state.head.events_count, 1, "{name}");
        far.close().await;
        home.close().await;
        assert_eq!(scan(&here, name).await, (Vec::new(), 0), "{name}");
    }
}
