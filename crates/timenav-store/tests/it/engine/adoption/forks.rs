//! Forks that go over from one house to another: the timelines that they go on from come with them, and stand nowhere.

use std::sync::Arc;

use rusqlite::Connection;
use serde_json::Value;
use timenav_core::as_of::AsOf;
use timenav_core::event::EventDraft;
use timenav_core::ids::{DataId, TimelineId};
use timenav_core::intervention::Effect;
use timenav_core::ledger::sha256;
use timenav_core::place::LocationQuery;
use timenav_core::scan::Depth;
use timenav_core::time::TimeRange;
use timenav_engine::{ErasureRequest, InterventionRequest, MonitorEvents, OpenError, Options, Refusal, StoredEvent};

use super::{NAME, adopt, adopt_named, another_house, export, export_named, make};
use crate::house::{Home, House};
use crate::sample::{event_id, moment, timeline_id};
use crate::tampering::{Outside, look};

fn draft(id: &str, at: i64) -> EventDraft {
    EventDraft { event_id: Some(event_id(id)), ..EventDraft::at(moment(at), "d") }
}

async fn record(home: &Home<'_>, timeline: &str, id: &str) {
    home.engine.record_events(&home.admin, Some(timeline_id(timeline)), vec![draft(id, 1)], None).await.unwrap();
}

async fn correct(home: &Home<'_>, timeline: &str, id: &str, at: i64) {
    let event = draft(id, at);
    home.engine.correct_event(&home.admin, Some(timeline_id(timeline)), event, None, None).await.unwrap();
}

async fn cancel(home: &Home<'_>, timeline: &str, id: &str) {
    let request = InterventionRequest {
        event_id: event_id(id),
        action: "cancel".to_owned(),
        effect: Effect::Cancel,
        time: moment(1),
        causes: Vec::new(),
    };
    home.engine.manipulate_event(&home.admin, Some(timeline_id(timeline)), request, None).await.unwrap();
}

async fn fork(home: &Home<'_>, of: &str, name: &str) {
    home.engine.fork_timeline(&home.admin, timeline_id(name), &timeline_id(of), None, None).await.unwrap();
}

/// Makes `p`, `q` that goes on from it, and the timeline that goes on from `q`, each with changes of what it inherits.
pub(super) async fn chain(home: &Home<'_>) {
    make(home, "p").await;
    record(home, "p", "e").await;
    correct(home, "p", "a", 2).await;
    super::seal(home, "p").await;
    fork(home, "p", "q").await;
    correct(home, "q", "a", 3).await;
    cancel(home, "q", "b").await;
    record(home, "q", "c").await;
    record(home, "p", "after-the-fork").await;
    fork(home, "q", NAME).await;
    record(home, NAME, "d").await;
    correct(home, NAME, "c", 4).await;
    correct(home, NAME, "e", 5).await;
}

/// Returns what stands on the timeline: on which one it was recorded, and the content.
pub(super) async fn standing(home: &Home<'_>) -> Vec<(String, String)> {
    let request = MonitorEvents {
        timeline: Some(timeline_id(NAME)),
        location_text: "*".to_owned(),
        location: LocationQuery::Anywhere,
        range: TimeRange::everything(),
        as_of: None,
        filter: Arc::default(),
        newest_first: false,
        overlapping: false,
        items_max: 100,
        cursor: None,
    };
    let page = home.engine.monitor_events(&home.admin, request).await.unwrap();
    let of = |event: &StoredEvent| (page.layers[event.layer].to_string(), event.content.clone());
    page.events.iter().map(of).collect()
}

/// Returns a bundle whose lines are these, with an end of its own.
pub(super) fn bundle(lines: &[String]) -> String {
    let (end, lines) = lines.split_last().unwrap();
    let text: String = lines.iter().flat_map(|line| [line.as_str(), "\n"]).collect();
    let mut end: Value = serde_json::from_str(end).unwrap();
    let count = |kind: &str| lines.iter().filter(|line| line.starts_with(&format!("{{\"{kind}\""))).count();
    end["end"]["entries"] = count("entry").into();
    end["end"]["data"] = count("data").into();
    end["end"]["sha256"] = sha256(&[text.as_bytes()]).to_hex().into();
    text + &format!("{end}\n")
}

pub(super) fn lines(text: &str) -> Vec<String> {
    text.lines().map(str::to_owned).collect()
}

async fn scan(house: &House) -> Vec<String> {
    let scan = look(house, NAME, Depth::Full, Outside::Kept).await;
    scan.findings.iter().map(|finding| finding.evidence.clone()).collect()
}

#[tokio::test]
async fn sealed_records_of_a_timeline_come_with_each_of_its_forks_and_with_itself() {
    let (there, here) = (House::new(), another_house());
    let (far, home) = (there.open().await, here.open().await);
    make(&far, "p").await;
    super::seal(&far, "p").await;
    for name in [NAME, "second", "third"] {
        fork(&far, "p", name).await;
        super::seal(&far, name).await;
    }
    for (name, sealed) in [(NAME, 2), ("second", 2), ("p", 1), ("third", 2)] {
        let adopted = adopt_named(&home, &there, name, &export_named(&far, name).await).await.unwrap();
        assert_eq!(adopted.sealed, sealed, "{name}");
    }
    let home = home.reopen().await;
    home.close().await;
    far.close().await;
    for name in [NAME, "second", "p", "third"] {
        let scan = look(&here, name, Depth::Full, Outside::Kept).await;
        assert_eq!(scan.findings, [], "{name}");
    }

    // Each of the copies is compared with its own entry.
    let connection = Connection::open(here.path()).unwrap();
    let copies: Vec<i64> = {
        let mut select = connection
            .prepare(
                "SELECT rowid FROM data_records WHERE data_id IN (SELECT data_id
            FROM data_records GROUP BY data_id HAVING count(*) > 1)",
            )
            .unwrap();
        select.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap()
    };
    assert_eq!(copies.len(), 4);
    for copy in copies {
        let change = "UPDATE data_records SET nonce = zeroblob(12) WHERE rowid = ?1";
        let before: Vec<u8> =
            connection.query_row("SELECT nonce FROM data_records WHERE rowid = ?1", [copy], |row| row.get(0)).unwrap();
        connection.execute(change, [copy]).unwrap();
        let mut found = 0;
        for name in [NAME, "second", "p", "third"] {
            let scan = look(&here, name, Depth::Full, Outside::Kept).await;
            found +=
                usize::from(scan.findings.iter().any(|finding| finding.evidence.contains("what is sealed is not")));
        }
        assert_eq!(found, 1, "row {copy}");
        connection.execute("UPDATE data_records SET nonce = ?1 WHERE rowid = ?2", (before, copy)).unwrap();
    }
}

#[tokio::test]
async fn a_chain_goes_on_here_beside_timelines_of_the_same_names() {
    let (there, here, third) = (House::new(), another_house(), another_house());
    third.doors().entropy.fill(&mut vec![0; 32 * 100_000]);
    let (far, home, last) = (there.open().await, here.open().await, third.open().await);
    chain(&far).await;
    make(&home, "p").await;
    let text = export(&far).await;
    let theirs = standing(&far).await;
    let adopted = adopt(&home, &there, &text).await.unwrap();
    assert_eq!((adopted.bundle.layers.len(), adopted.sealed), (3, 1));
    let ours = standing(&home).await;
    let named = |(of, content): &(String, String)| {
        (if of == NAME { of.clone() } else { format!("{NAME}/{of}") }, content.clone())
    };
    assert_eq!(ours, theirs.iter().map(named).collect::<Vec<_>>());
    let home = home.reopen().await;
    assert_eq!(standing(&home).await, ours);

    // Nobody names what came with it, and nothing goes on from it.
    let (pages, _) = home.engine.timelines(&home.admin, 100, None).await.unwrap();
    let listed: Vec<String> = pages.iter().map(|view| view.state.head.id.to_string()).collect();
    assert_eq!(listed, [NAME, "main", "p", "system"]);
    let view = home.engine.timeline(&home.admin, &timeline_id(NAME)).await.unwrap();
    assert_eq!(view.forked_from.unwrap().as_str(), "away/q");
    assert!(TimelineId::new("away/q").is_err());
    let layer = TimelineId::kept("away/q").unwrap();
    let refused = home.engine.timeline(&home.admin, &layer).await.err().unwrap();
    assert!(matches!(refused, Refusal::Ended { .. }), "{refused}");
    let before = AsOf::Host(far.engine.timeline(&far.admin, &timeline_id("q")).await.unwrap().state.head.created_at);
    let forked = |name: &str, at: Option<AsOf>| {
        let (engine, admin, name) = (home.engine.clone(), home.admin.clone(), timeline_id(name));
        async move { engine.fork_timeline(&admin, name, &timeline_id(NAME), at.as_ref(), None).await }
    };
    let refused = forked("r", Some(before)).await.err().unwrap();
    assert!(refused.to_string().contains("it cannot be forked"), "{refused}");
    let refused = forked("q", None).await.err().unwrap();
    assert!(refused.to_string().contains("which has the same name"), "{refused}");

    // A fork of it, and a bundle of that one, which a third house takes over.
    record(&home, NAME, "f").await;
    let again = export(&home).await;
    let layers = |text: &str| text.lines().filter(|line| line.starts_with("{\"layer\"")).count();
    assert_eq!(layers(&again), 3);
    adopt(&last, &here, &again).await.unwrap();
    assert_eq!(standing(&last).await, standing(&home).await);
    forked("r", None).await.unwrap();
    correct(&home, "r", "e", 9).await;
    for home in [far, home, last] {
        home.close().await;
    }
}

#[tokio::test]
async fn layers_count_against_who_adopts() {
    let there = House::new();
    let far = there.open().await;
    chain(&far).await;
    let text = export(&far).await;
    for (max, fits) in [(2, false), (3, true)] {
        let options =
            Options { timelines_per_user_max: max, service_name: "timenav.test".to_owned(), ..Options::default() };
        let here = House::with(options);
        here.doors().entropy.fill(&mut vec![0; 32 * 100_000]);
        let home = here.open().await;
        let adopted = adopt(&home, &there, &text).await;
        assert_eq!(adopted.is_ok(), fits, "{:?}", adopted.err());
        let home = home.reopen().await;
        let made = home.engine.create_timeline(&home.admin, timeline_id("more"), None).await;
        assert_eq!(made.is_ok(), !fits, "layers count after a restart too");
        home.close().await;
    }
    far.close().await;
}

#[tokio::test]
async fn layers_go_with_the_fork_and_not_before() {
    let (there, here) = (House::new(), another_house());
    let (far, home) = (there.open().await, here.open().await);
    chain(&far).await;
    adopt(&home, &there, &export(&far).await).await.unwrap();
    let contents = || {
        let select = "SELECT count(*) FROM ended_timelines JOIN (SELECT entry FROM entries WHERE length(payload) > 0
            UNION ALL SELECT entry FROM contents) ON entry >> 40 = timeline WHERE timeline_id LIKE 'away/%'";
        let rows = "SELECT count(*) FROM events JOIN ended_timelines USING (timeline) WHERE timeline_id LIKE 'away/%'";
        let connection = Connection::open(here.path()).unwrap();
        [select, rows].map(|select| connection.query_row(select, [], |row| row.get::<_, i64>(0)).unwrap())
    };
    let day = 86_400_000_000;
    for _ in 0..12 {
        here.clock.advance(day - 1);
        home.engine.tend().await.unwrap();
    }
    let full = contents();
    assert!(full.iter().all(|count| *count > 5), "{full:?}");
    home.engine.end_timeline(&home.admin, timeline_id(NAME), None).await.unwrap();
    home.engine.tend().await.unwrap();
    assert_eq!(contents(), full, "for as long as its own contents stay");
    for _ in 0..8 {
        here.clock.advance(day - 1);
        home.engine.tend().await.unwrap();
    }
    assert_eq!(contents(), [0, 0]);
    let refused = adopt(&home, &there, &export(&far).await).await.err().unwrap();
    assert!(matches!(refused, Refusal::NameEnded { .. }), "{refused}");
    far.close().await;
    home.close().await;
}

#[tokio::test]
async fn what_came_with_a_fork_cannot_be_changed() {
    let (there, here) = (House::new(), another_house());
    let (far, home) = (there.open().await, here.open().await);
    chain(&far).await;
    adopt(&home, &there, &export(&far).await).await.unwrap();
    home.engine.close().await;
    let kept = here.path().with_extension("kept");
    here.copy_database(&kept);
    let of_layer = "timeline IN (SELECT timeline FROM ended_timelines WHERE timeline_id = 'away/p')";
    let of_entry = "entry >> 40 IN (SELECT timeline FROM ended_timelines WHERE timeline_id = 'away/p')";
    let attacks = [
        (format!("UPDATE events SET content = replace(content, '\"d\"', '\"x\"') WHERE {of_layer}"), "table events"),
        (format!("DELETE FROM events WHERE {of_layer} AND event_id = 'b'"), "the row is missing"),
        (format!("UPDATE entries SET payload = x'', salt = x'' WHERE {of_entry} AND payload LIKE '%\"b\"%'"), "gone"),
        (format!("UPDATE entries SET leaf = CAST(leaf || ' ' AS BLOB) WHERE {of_entry}"), "away/p"),
        (format!("UPDATE data_records SET ciphertext = x'00' WHERE {of_layer}"), "data_records"),
        (
            "DELETE FROM interventions WHERE timeline IN
                (SELECT timeline FROM ended_timelines WHERE timeline_id = 'away/q')"
                .to_owned(),
            "interventions",
        ),
    ];
    for (attack, expected) in attacks {
        Connection::open(here.path()).unwrap().execute_batch(&attack).unwrap();
        let found = scan(&here).await;
        assert!(found.iter().any(|found| found.contains(expected)), "{attack}: {found:#?}");
        here.replace_database(&kept);
    }
    assert_eq!(scan(&here).await, [""; 0]);
    for attack in [
        "UPDATE ended_timelines SET size = size - 1 WHERE timeline_id = 'away/p'",
        "DELETE FROM ended_timelines WHERE timeline_id = 'away/p'",
        "UPDATE ended_timelines SET timeline_id = 'away/x' WHERE timeline_id = 'away/p'",
    ] {
        assert_eq!(Connection::open(here.path()).unwrap().execute(attack, []).unwrap(), 1);
        let opened = here.try_open(here.store()).await.err();
        assert!(matches!(opened, Some(OpenError::Rows { .. })), "{attack}: {opened:?}");
        here.replace_database(&kept);
    }
    here.open().await.close().await;
    far.close().await;
}

#[tokio::test]
async fn layers_are_those_that_the_fork_goes_on_from() {
    let (there, here) = (House::new(), another_house());
    let (far, home) = (there.open().await, here.open().await);
    chain(&far).await;
    let text = export(&far).await;
    let all = lines(&text);
    let at = |name: &str| {
        let is_it = |line: &String| line.starts_with("{\"layer\"") && line.contains(&format!("\"{name}\""));
        all.iter().position(is_it).unwrap()
    };
    let (p, q, own) = (at("p"), at("q"), at(NAME));
    let refused = async |changed: Vec<String>, expected: &str| {
        let refused = adopt(&home, &there, &bundle(&changed)).await.err().unwrap().to_string();
        assert!(refused.contains(expected), "{expected}: {refused}");
    };
    // In another order, as the first line says.
    let mut header: Value = serde_json::from_str(&all[0]).unwrap();
    header["bundle"]["layers"].as_array_mut().unwrap().swap(0, 1);
    let swapped = [&[header.to_string()], &all[q..own], &all[p..q], &all[own..]].concat();
    refused(swapped, "continues from").await;
    refused([&all[..1], &all[q..own], &all[p..q], &all[own..]].concat(), "is not the one named in the first line")
        .await;
    // Cut by its last entry, and the sizes with it.
    let mut header: Value = serde_json::from_str(&all[0]).unwrap();
    let size = header["bundle"]["layers"][1]["size"].as_u64().unwrap() - 1;
    header["bundle"]["layers"][1]["size"] = size.into();
    let layer = format!("{{\"layer\":{{\"size\":{size},\"timeline_id\":\"q\"}}}}");
    let cut = [&[header.to_string()], &all[p..q], &[layer], &all[q + 1..own - 1], &all[own..]].concat();
    refused(cut, "are not the ones").await;
    // Left out.
    let mut header: Value = serde_json::from_str(&all[0]).unwrap();
    header["bundle"]["layers"].as_array_mut().unwrap().remove(0);
    refused([&[header.to_string()], &all[q..]].concat(), "which is not in the bundle").await;
    // Another timeline of that name and size, signed by the same key.
    let (other, forger) = (House::new(), House::new());
    other.doors().entropy.fill(&mut vec![0; 32 * 50_000]);
    drop(forger);
    let elsewhere = other.open().await;
    chain(&elsewhere).await;
    let others = lines(&export(&elsewhere).await);
    assert_eq!(others.len(), all.len());
    refused([&all[..=p], &others[p + 1..q], &all[q..]].concat(), "are not the ones").await;

    let size = home.size("system").await;
    adopt(&home, &there, &text).await.unwrap();
    let again = adopt(&home, &there, &text).await.err().unwrap();
    assert!(matches!(again, Refusal::NotMerged { .. }), "{again}");
    assert_eq!(home.size("system").await, size + 1, "nothing was told of what was refused");
    for home in [far, home, elsewhere] {
        home.close().await;
    }
}

#[tokio::test]
async fn what_was_erased_while_it_was_exported_is_told_again() {
    let (there, here) = (House::new(), another_house());
    let (far, home) = (there.open().await, here.open().await);
    make(&far, NAME).await;
    record(&far, NAME, "c").await;
    cancel(&far, NAME, "c").await;
    super::seal(&far, NAME).await;
    let text = export(&far).await;
    let data = lines(&text).iter().find_map(|line| {
        let line: Value = serde_json::from_str(line).unwrap();
        line["data"]["data_id"].as_str().map(str::to_owned)
    });
    let mut running = far.engine.export_bundle(&far.admin, &timeline_id(NAME)).await.unwrap();
    for event in ["a", "c"] {
        let erased = ErasureRequest::Event(Some(timeline_id(NAME)), event_id(event));
        far.engine.erase_data(&far.admin, erased, None).await.unwrap();
    }
    let data = DataId::new(&data.unwrap()).unwrap();
    far.engine.erase_data(&far.admin, ErasureRequest::Data(None, data), None).await.unwrap();
    let mut text = String::new();
    while let Some(part) = running.next_part().await.unwrap() {
        text.push_str(&part);
    }
    assert_eq!(text.lines().filter(|line| line.starts_with("{\"erasure\"")).count(), 3);
    adopt(&home, &there, &text).await.unwrap();
    let ours = standing(&home).await;
    assert_eq!((ours.len(), ours == standing(&far).await), (1, true), "{ours:?}");
    let home = home.reopen().await;
    let third = another_house();
    third.doors().entropy.fill(&mut vec![0; 32 * 100_000]);
    let last = third.open().await;
    adopt(&last, &here, &export(&home).await).await.unwrap();
    for home in [far, home, last] {
        home.close().await;
    }
}
