//! Checkpoints are signed only after their entries are durable.

use rusqlite::params;

use crate::engine::*;
use crate::tampering::clean;

async fn record(home: &Home<'_>, name: &str) -> Result<u64, timenav_engine::Refusal> {
    let drafts = vec![EventDraft::at(moment(1), "what happened")];
    let recorded = home.engine.record_events(&home.admin, Some(timeline_id(name)), drafts, None).await;
    recorded.map(|recorded| recorded.ledger.size)
}

fn database_bytes(house: &House) -> Vec<u8> {
    let folder = house.path().parent().unwrap().read_dir().unwrap();
    folder.flat_map(|file| std::fs::read(file.unwrap().path()).unwrap()).collect()
}

/// Returns whether the bytes contain a signed note.
fn has_note(bytes: &[u8]) -> bool {
    let start = "\n\n\u{2014} timenav.test/".as_bytes();
    memchr::memmem::find(bytes, start).is_some()
}

/// Backups, logs and memory dumps of a service must not contain two different checkpoints of one size.
#[tokio::test]
async fn failed_group_leaves_no_checkpoint() {
    let house = House::new();
    let (store, home) = house.open_faulty().await;
    let size = record(&home, "main").await.unwrap();
    let signed = house.signer.checkpoints();
    let stored = house.outside.steps_count();
    // Before the transaction begins, and during it, after the head was written.
    store.set_commits_failing(true);
    assert!(is_unavailable(&record(&home, "main").await));
    store.set_commits_failing(false);
    let other_hand = Connection::open(house.path()).unwrap();
    let in_the_way = format!("INSERT INTO entries VALUES ((2 << 40) + {size}, x'00', x'', x'', 0, 0)");
    other_hand.execute_batch(&in_the_way).unwrap();
    assert!(is_unavailable(&record(&home, "main").await));
    assert_eq!(house.signer.checkpoints(), signed, "nothing was signed of what did not happen");
    assert_eq!(house.outside.steps_count(), stored);
    assert!(!has_note(&database_bytes(&house)), "a checkpoint is in the database or its log");
    other_hand.execute_batch("DELETE FROM entries WHERE leaf = x'00'").unwrap();
    // The entry recorded at that position instead is the only one of its size.
    assert_eq!(record(&home, "main").await.unwrap(), size + 1);
    let note = home.engine.checkpoint(&home.admin, &timeline_id("main"), true).await.unwrap();
    assert_eq!(note.size, size + 2);
    home.close().await;
    let mut roots: BTreeMap<(String, u64), _> = BTreeMap::new();
    for signed in house.signer.checkpoints() {
        let root = *roots.entry((signed.origin.clone(), signed.size)).or_insert(signed.root);
        assert_eq!(root, signed.root, "two checkpoints of {} with {} entries", signed.origin, signed.size);
    }
    assert!(!has_note(&database_bytes(&house)), "a checkpoint is in the database");
}

/// The entry about the end of a timeline contains its last checkpoint. If the end is requested together with a write to
/// the timeline, it waits until that is committed.
#[tokio::test]
async fn timeline_end_waits_for_pending_writes_to_commit() {
    for fails in [false, true] {
        let house = House::new();
        let (store, home) = house.open_faulty().await;
        let job = timeline_id("job");
        let before = record(&home, "job").await.unwrap();
        let signed = house.signer.checkpoints();
        store.close_gate();
        let first = record(&home, "main");
        let rest = async {
            store.arrival().await;
            let end = home.engine.end_timeline(&home.admin, job.clone(), None);
            let opened = async {
                // Both are queued by now and become one group.
                yield_turns(100).await;
                store.set_commits_failing(fails);
                store.open_gate();
            };
            tokio::join!(record(&home, "job"), end, opened)
        };
        let (first, (grown, end, ())) = tokio::join!(first, rest);
        assert_eq!(first.is_ok(), !fails);
        if fails {
            assert!(is_unavailable(&grown) && is_unavailable(&end));
            assert_eq!(house.signer.checkpoints(), signed);
            store.set_commits_failing(false);
            home.close().await;
            continue;
        }
        let end = end.unwrap();
        assert_eq!((grown.unwrap(), end.size), (before + 1, before + 1), "decided after what was asked for with it");
        let last = open_note(&house, "job", &end.checkpoint);
        assert_eq!((last.size, last.root), (end.size, end.root));
        home.close().await;
    }
}

/// Returns the stored checkpoints after the engine has opened and nothing else has happened.
async fn checkpoints_after_start(house: &House) -> BTreeMap<TimelineId, String> {
    let home = house.open().await;
    let stored = house.outside.notes();
    home.close().await;
    stored
}

#[tokio::test]
async fn lost_checkpoints_are_restored_identically_after_a_crash() {
    let house = House::new();
    let home = house.open().await;
    for name in ["main", "one", "two"] {
        record(&home, name).await.unwrap();
    }
    home.close().await;
    let before = house.outside.notes();
    for lost in 0..3 {
        // The last `lost` steps were committed, but their checkpoints were not stored.
        (0..lost).for_each(|_| house.outside.lose_last());
        assert_eq!(checkpoints_after_start(&house).await, before, "the same bytes, by whomever they are made");
    }
}

/// Converts a closed house to the form left by the previous version: a note in each row, and statements without their
/// text.
fn make_former(house: &House) {
    let connection = Connection::open(house.path()).unwrap();
    for (timeline, note) in house.outside.notes() {
        let update = "UPDATE timelines SET carried_note = ?2, statement = CAST(
            substr(statement, -96) AS BLOB) WHERE timeline_id = ?1";
        assert_eq!(connection.execute(update, params![timeline.as_str(), note]).unwrap(), 1);
    }
}

#[tokio::test]
async fn database_with_embedded_checkpoints_is_migrated() {
    let house = House::new();
    let home = house.open().await;
    for name in ["main", "one"] {
        record(&home, name).await.unwrap();
    }
    home.close().await;
    make_former(&house);
    clean(&house).await;
    let (whole, stored) = (house.path().with_extension("whole"), house.outside.notes());
    house.copy_database(&whole);
    for (attack, expected) in [
        ("UPDATE timelines SET events_count = 9 WHERE timeline = 2", "Rows"),
        ("UPDATE timelines SET frontier = randomblob(length(frontier)) WHERE timeline = 2", "Unsigned"),
        ("UPDATE timelines SET statement = x'' WHERE timeline = 2", "Rows"),
        ("UPDATE timelines SET statement = zeroblob(96), carried_note = '' WHERE timeline = 2", "Head"),
    ] {
        house.replace_database(&whole);
        assert_eq!(Connection::open(house.path()).unwrap().execute(attack, []).unwrap(), 1);
        let refused = house.open_error().await;
        let found = match refused {
            OpenError::Rows { .. } => "Rows",
            OpenError::Unsigned { .. } => "Unsigned",
            OpenError::Head { .. } => "Head",
            other => panic!("{attack}: {other:?}"),
        };
        assert_eq!(found, expected, "{attack}");
    }
    house.replace_database(&whole);
    // A crash has prevented the last checkpoint.
    house.outside.lose_last();
    assert_ne!(house.outside.notes(), stored);
    let home = house.open().await;
    assert_eq!(house.outside.notes(), stored);
    record(&home, "main").await.unwrap();
    home.close().await;
    clean(&house).await;
    let carried = "SELECT group_concat(timeline_id) FROM (SELECT timeline_id FROM timelines
        WHERE carried_note <> '' ORDER BY timeline_id)";
    let carried: String = Connection::open(house.path()).unwrap().query_row(carried, [], |row| row.get(0)).unwrap();
    assert_eq!(carried, "one,system", "what was written to since has none");
}

/// One key alone cannot recreate a note signed by both, so the note is stored, whenever the rotation was interrupted.
#[tokio::test(flavor = "multi_thread")]
async fn rotation_notes_survive_a_crash() {
    let mut house = House::new();
    let home = house.open().await;
    record(&home, "main").await.unwrap();
    home.close().await;
    let old = Arc::clone(&house.signer);
    house.next_signer = Some(Arc::new(SeedSigner::new([8; 32])));
    let before = house.outside.notes();
    let home = house.open().await;
    home.engine.rotate_signing_key().await.unwrap();
    home.close().await;
    let notes = rotation_notes(&house);
    assert_eq!(notes.len(), 2);
    let key =
        |signer: &SeedSigner| VerifierKey::new(&origin("timenav.test", "main"), signer.public_key()).unwrap().id();
    let by = timenav_core::ledger::Note::parse(notes[1].2.as_bytes()).unwrap();
    let next = house.next_signer.clone().unwrap();
    assert_eq!(by.signatures().iter().map(NoteSignature::id).collect::<Vec<_>>(), [key(&old), key(&next)]);
    // Interrupted after the commit, before anything was stored.
    Connection::open(house.path()).unwrap().execute("DELETE FROM rotation_notes", []).unwrap();
    house.outside.hold(before);
    let home = house.open().await;
    assert_eq!(rotation_notes(&house), notes, "before anything else is written");
    home.change_clock(None, ClockCommand::Pause).await;
    home.close().await;
    assert_eq!(rotation_notes(&house), notes);
}

fn rotation_notes(house: &House) -> Vec<(i64, i64, String)> {
    let connection = Connection::open(house.path()).unwrap();
    let mut select = connection.prepare("SELECT timeline, position, note FROM rotation_notes ORDER BY 1, 2").unwrap();
    let rows = select.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).unwrap();
    rows.map(Result::unwrap).collect()
}
