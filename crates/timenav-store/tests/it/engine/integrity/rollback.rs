//! A database that is not in its signed state is not opened, unless the operator accepts it.

use timenav_engine::{Acceptance, ExternalCheckpoint};
use timenav_store::SqliteStore;

use crate::engine::*;

async fn record(home: &Home<'_>, count: i64) {
    let drafts = (0..count).map(|number| EventDraft::at(moment(number), "x")).collect();
    home.record_events(None, drafts).await;
}

/// Writes to every timeline, so that each has a new checkpoint, and audits.
async fn write_everywhere_and_close(home: Home<'_>) {
    for head in home.store.open().await.unwrap().heads {
        home.read_clock(Some(head.id)).await;
    }
    home.close().await;
}

fn accepting(mut house: House) -> House {
    house.options = Options { accept_rollback: Some(Acceptance::default()), ..house.options };
    house
}

#[tokio::test]
async fn older_database_copy_is_rejected_until_accepted() {
    let house = House::new();
    let older = house.path().with_extension("older");
    let home = house.open().await;
    record(&home, 3).await;
    let home = home.reopen().await;
    house.copy_database(&older);
    home.change_clock(None, ClockCommand::Pause).await;
    home.change_clock(None, ClockCommand::Resume).await;
    home.close().await;
    house.replace_database(&older);
    let refused = house.open_error().await;
    assert!(
        matches!(&refused, OpenError::Rollback { timeline, found: 4, stored: 6 } if timeline.as_str() == "main"),
        "{refused:?}"
    );
    assert!(house.try_open(house.store()).await.is_err(), "asking twice helps nothing");
    let mut house = accepting(house);
    let lines = house.open().await.close().await;
    let accepted = lines.last().unwrap();
    assert_eq!(accepted.short(), "system system accept_rollback system");
    let findings = accepted.payload["findings"].as_array().unwrap();
    assert_eq!(findings.len(), 1);
    assert!(findings[0].as_str().unwrap().starts_with("timeline `main` has 4 entries, but 6 were signed"));
    // The accepted state is authoritative from then on.
    house.options.accept_rollback = None;
    let home = house.open().await;
    assert_eq!(home.lines().await, lines);
    assert_eq!(home.read_clock(None).await.clock.generation, 0);
    home.close().await;
}

/// Sets who accepts the rollback, and why.
fn accepting_by(mut house: House, stored: Vec<ExternalCheckpoint>) -> House {
    let acceptance = Acceptance { by: "ada".to_owned(), reason: "the disk broke".to_owned(), checkpoints: stored };
    house.options.accept_rollback = Some(acceptance);
    house
}

#[tokio::test]
async fn accepted_rollback_explains_only_the_accepted_loss() {
    let house = House::new();
    let (older, later) = (house.path().with_extension("older"), house.path().with_extension("later"));
    house.open().await.close().await;
    house.copy_database(&older);
    let home = house.open().await;
    record(&home, 3).await;
    let seen_by_another = house.outside.notes();
    record(&home, 30).await;
    home.close().await;
    let lost = house.outside.notes();
    house.replace_database(&older);
    let mut house = accepting_by(house, Vec::new());
    let lines = house.open().await.close().await;
    let payload = &lines.last().unwrap().payload;
    assert_eq!((&payload["accepted_by"], &payload["reason"]), (&"ada".into(), &"the disk broke".into()));
    let main = timeline_id("main");
    let expected = lost[&main].as_str();
    assert_eq!(
        (&payload["lost"][0]["checkpoint"], &payload["lost"][0]["size"]),
        (&expected.into(), &1.into()),
        "{payload}"
    );
    // The lost checkpoint is preserved next to the one that replaces it.
    assert_eq!(house.outside.diverged.lock().iter().map(|(_, note)| note.as_str()).collect::<Vec<_>>(), [expected]);
    house.options.accept_rollback = None;
    // A service that saw the same checkpoint starts without acceptance, now and when the ledger has more entries again.
    for count in [1, 60] {
        house.outside.hold(lost.clone());
        let home = house.open().await;
        record(&home, count).await;
        if count == 1 {
            house.copy_database(&later);
        }
        home.close().await;
    }
    // One that saw another part of the lost entries does not, until that is accepted too.
    let newest = house.outside.notes();
    house.outside.hold(seen_by_another.clone());
    let refused = house.open_error().await;
    assert!(matches!(refused, OpenError::Fork { .. }), "{refused:?}");
    house.outside.hold(newest.clone());
    let note = seen_by_another[&main].as_str().into();
    let mut house = accepting_by(house, vec![ExternalCheckpoint { timeline: main.clone(), note, seal: None }]);
    house.open().await.close().await;
    house.options.accept_rollback = None;
    let newest = house.outside.notes();
    house.outside.hold(seen_by_another);
    house.open().await.close().await;
    // An acceptance does not cover a second rollback, even if that has fewer entries than were lost before.
    house.outside.hold(newest);
    house.replace_database(&later);
    let refused = house.open_error().await;
    assert!(matches!(refused, OpenError::Rollback { .. }), "{refused:?}");
}

#[tokio::test]
async fn emptied_database_is_rejected_without_a_new_key_unless_accepted() {
    let house = House::new();
    house.open().await.close().await;
    let empty = house.path().with_extension("empty");
    drop(SqliteStore::open(&empty).unwrap());
    house.replace_database(&empty);
    let refused = house.open_error().await;
    assert!(matches!(refused, OpenError::Rollback { found: 0, .. }), "{refused:?}");
    assert_eq!(house.first_keys.lock().len(), 1);
    assert!(house.store().open().await.unwrap().heads.is_empty());
    let mut house = accepting(house);
    let lines = house.open().await.close().await;
    assert_eq!((lines.len(), lines.last().unwrap().action.as_str()), (6, "accept_rollback"));
    assert_eq!(house.first_keys.lock().len(), 2);
    house.options.accept_rollback = None;
    house.open().await.close().await;
}

/// Creates two histories with a common beginning: the checkpoints are of the first one, the database of the second.
async fn forked(events_first: i64, events_second: i64) -> House {
    let house = House::new();
    let older = house.path().with_extension("older");
    house.open().await.close().await;
    house.copy_database(&older);
    let beginning = house.outside.notes();
    let home = house.open().await;
    record(&home, events_first).await;
    home.close().await;
    let first = house.outside.notes();
    house.replace_database(&older);
    house.outside.hold(beginning);
    let home = house.open().await;
    record(&home, events_second).await;
    home.close().await;
    house.outside.hold(first);
    house
}

#[tokio::test]
async fn forked_history_is_rejected_until_accepted() {
    // Equally long, a little longer, and so long that the old root has to be computed from tiles.
    for (first, second) in [(2, 2), (2, 3), (300, 700), (255, 600), (511, 513)] {
        let house = forked(first, second).await;
        let refused = house.open_error().await;
        let expected = u64::try_from(first).unwrap() + 1;
        assert!(
            matches!(&refused, OpenError::Fork { timeline, stored } if timeline.as_str() == "main" && *stored == expected),
            "{refused:?}"
        );
        let house = accepting(house);
        write_everywhere_and_close(house.open().await).await;
    }
}

/// A head without a valid signature is not accepted by an operator either.
#[tokio::test]
async fn tampered_head_tree_or_entry_is_rejected() {
    type Check = fn(&OpenError) -> bool;
    let is_head: Check = |error| matches!(error, OpenError::Head { .. });
    let cases: [(&str, bool, Check); 7] = [
        ("timelines SET frontier = randomblob(96)", false, |error| {
            matches!(error, OpenError::Unsigned { signed: 7, found: 7, .. })
        }),
        // A tree that was signed one commit ago, with its size.
        ("timelines SET size = 6, frontier = randomblob(64)", true, |error| {
            matches!(error, OpenError::Unsigned { signed: 7, found: 6, .. })
        }),
        ("entries SET leaf = CAST('{}' AS BLOB)", true, |error| matches!(error, OpenError::Fork { stored: 6, .. })),
        ("timelines SET statement = x''", false, is_head),
        (
            "timelines SET statement = CAST(replace(CAST(statement AS TEXT), 'test/main', 'test/fake') AS BLOB)",
            false,
            is_head,
        ),
        ("timelines SET statement = substr(statement, 1, length(statement) - 1)", false, is_head),
        ("timelines SET statement = (SELECT statement FROM timelines WHERE timeline_id = 'system')", false, is_head),
    ];
    for (change, loses_last, is_expected) in cases {
        let mut house = House::new();
        let home = house.open().await;
        record(&home, 5).await;
        home.change_clock(None, ClockCommand::Pause).await;
        home.close().await;
        if loses_last {
            house.outside.lose_last();
        }
        let of = if change.starts_with("entries") { "entry = (2 << 40) + 3" } else { "timeline_id = 'main'" };
        let statement = format!("UPDATE {change} WHERE {of}");
        assert_eq!(Connection::open(house.path()).unwrap().execute(&statement, []).unwrap(), 1, "{statement}");
        let refused = house.open_error().await;
        assert!(is_expected(&refused), "{statement}: {refused:?}");
        if is_head(&refused) {
            house.options.accept_rollback = Some(Acceptance::default());
            let refused = house.open_error().await;
            assert!(is_head(&refused), "{statement}: {refused:?}");
        }
    }
}

#[tokio::test]
async fn every_earlier_checkpoint_is_accepted_for_a_later_database() {
    let house = House::new();
    let home = house.open().await;
    for count in [1, 1, 2, 250, 1, 1, 1, 300, 1] {
        record(&home, count).await;
    }
    home.close().await;
    let newest = house.outside.notes();
    let steps = house.outside.steps();
    assert_eq!(steps.len(), 10);
    // Each earlier state is a crash between a commit and storing its checkpoints, and the start stores them.
    for earlier in steps {
        house.outside.hold(earlier);
        house.try_open(house.store()).await.unwrap().engine.close().await;
        assert_eq!(house.outside.notes(), newest);
    }
    // No crash loses the checkpoints of the first start.
    house.outside.hold(BTreeMap::new());
    let refused = house.open_error().await;
    assert!(matches!(refused, OpenError::OutsideMissing { entries: 563 }), "{refused:?}");
    let house = accepting(house);
    write_everywhere_and_close(house.open().await).await;
}

#[tokio::test]
async fn invalid_checkpoint_is_rejected_even_if_rollback_is_accepted() {
    let house = accepting(House::new());
    house.open().await.close().await;
    let good = house.outside.notes();
    let main = timeline_id("main");
    let foreign = House::with(Options { service_name: "other.test".to_owned(), ..Options::default() });
    foreign.open().await.close().await;
    let unsigned = good[&main].split_inclusive("\n\n").next().unwrap().to_owned();
    let bad = [
        String::new(),
        unsigned,
        good[&main].replacen('1', "2", 1),
        good[&timeline_id("system")].clone(),
        foreign.outside.notes()[&main].clone(),
    ];
    for note in bad {
        let mut notes = good.clone();
        notes.insert(main.clone(), note.clone());
        house.outside.hold(notes);
        let refused = house.open_error().await;
        assert!(matches!(&refused, OpenError::Checkpoint { timeline, .. } if *timeline == main), "{note}: {refused:?}");
    }
    house.outside.hold(good);
    house.open().await.close().await;
}

/// A listener that received lost entries is notified, even if there are as many entries again.
#[tokio::test]
async fn listener_is_reset_after_an_accepted_rollback() {
    let house = House::new();
    let older = house.path().with_extension("older");
    let home = house.open().await;
    record(&home, 3).await;
    let home = home.reopen().await;
    house.copy_database(&older);
    let mut watched = home.engine.watch_ledger(&home.admin, watch(&[Topic::Events], Some(0))).await.unwrap();
    record(&home, 1).await;
    let mut seen = Vec::new();
    while seen.len() < 4 {
        let LedgerMessage { position, part, passed, entry, update } = watched.next().await.unwrap();
        assert!(entry.is_some(), "each message says of which entry it is");
        if matches!(update, LedgerUpdate::Event { .. }) {
            seen.push(Seen { position, part, passed, entry });
        }
    }
    let [stored, .., lost] = seen[..] else { panic!("four were recorded") };
    drop(watched);
    home.close().await;
    house.replace_database(&older);
    let mut house = accepting(house);
    house.open().await.close().await;
    house.options.accept_rollback = None;
    let home = house.open().await;
    record(&home, 20).await;
    let first = async |seen| {
        let request = WatchLedger { seen: Some(seen), ..watch(&[Topic::Events], None) };
        home.engine.watch_ledger(&home.admin, request).await.unwrap().next().await.unwrap().update
    };
    assert_eq!(first(lost).await, LedgerUpdate::Reset);
    assert!(
        matches!(first(Seen { entry: None, ..lost }).await, LedgerUpdate::Event { .. }),
        "without an entry to compare, nothing is known to be lost"
    );
    assert!(matches!(first(stored).await, LedgerUpdate::Event { .. }), "the entry that was sent last still exists");
    home.close().await;
}
