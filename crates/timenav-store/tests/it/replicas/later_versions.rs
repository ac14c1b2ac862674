//! Entries of a later version in `system`, regardless of the database's feature level.

use timenav_core::ledger::{LeafRecord, Salt, leaf_hash};
use timenav_engine::{StoredEntry, TimelineCommit};

use crate::replicas::*;
use crate::sample::{Ledger, commit_of};

/// Bytes of a key's id, before the signature of a statement.
const ID_BYTES: usize = 4;

/// Writes an entry like a later version: with an unknown action, in the tree, and signed. It may be a directory change
/// whose rows are unknown here.
async fn write_later(house: &House, store: &dyn Store, changes_directory: bool) -> u64 {
    let heads = store.open().await.unwrap().heads;
    let mut head = heads.into_iter().find(|head| head.id.is_system()).unwrap();
    let size = head.frontier.size();
    let last = store.entry_row(head.key, size - 1).await.unwrap().unwrap();
    let mut record = LeafRecord::decode(&last.leaf).unwrap();
    (record.seq, record.action) = (size, "grant_wish".into());
    let leaf = record.encode();
    head.frontier.push(leaf_hash(&leaf));
    head.directory += u64::from(changes_directory);
    let (text, signed) = head.statement.split_at(statement_bytes(&head.statement).unwrap());
    let mut statement = HeadStatement::parse(std::str::from_utf8(text).unwrap()).unwrap();
    (statement.size, statement.root) = (size + 1, head.frontier.root());
    let text = statement.to_text();
    let (signature, seal) =
        (house.signer.sign(text.as_bytes()), house.signer.authenticate("head statement", text.as_bytes()));
    head.statement = [text.as_bytes(), &signed[..ID_BYTES], &signature, &seal].concat().into();
    let entry = StoredEntry {
        seq: size,
        leaf,
        salt: Salt::from_bytes(last.salt.as_slice().try_into().unwrap()),
        payload: last.payload.clone(),
        events_count: head.events_count,
        clock_entry: head.clock_entry,
    };
    let step =
        TimelineCommit { expected_size: Some(size), head, entries: vec![entry], ..Ledger::new(0, "system").grow(0) };
    store.commit(commit_of(vec![TimelineCommit { permissions_changed: false, ..step }])).await.unwrap();
    size
}

/// Returns the length of a stored statement's text, which has six lines.
fn statement_bytes(stored: &[u8]) -> Option<usize> {
    stored.iter().enumerate().filter(|(_, byte)| **byte == b'\n').nth(5).map(|(at, _)| at + 1)
}

fn sentence(position: u64) -> String {
    format!(
        "a later version of timenav has written to the database: entry {position} of `system` has the action \
         `grant_wish`, which this version does not know; start the version that has written it, or a newer one"
    )
}

/// Checks that the service has stopped and reports the reason in all responses.
async fn check_stopped(home: &Home<'_>, expected: &str) {
    let refused = home.engine.ready().await.unwrap_err().to_string();
    assert!(refused.ends_with(expected), "{refused}");
    let changed = home.engine.change_clock(&home.admin, None, hour(), None).await;
    assert!(is_unavailable(&changed), "{}", outcome_text(&changed));
    assert!(
        outcome_text(&changed).contains("later version") || !expected.contains("later version"),
        "{}",
        outcome_text(&changed)
    );
    let read = home.engine.read_clock(&home.admin, None).await;
    assert!(is_unavailable(&read), "{}", outcome_text(&read));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn replica_stops_at_entries_of_a_later_version() {
    for changes_directory in [false, true] {
        let house = House::on_postgres();
        let other = two(&house).await;
        let (left, right) = (house.open().await, other.open().await);
        left.change_clock(None, hour()).await;
        right.engine.catch_up_all().await.unwrap();
        let position = write_later(&house, &*house.store(), changes_directory).await;
        let expected = sentence(position);
        let before = left.size("main").await;
        // One receives a request, and the other one follows.
        let refused = left.engine.change_clock(&left.admin, None, hour(), None).await;
        assert!(is_unavailable(&refused), "{changes_directory}: {}", outcome_text(&refused));
        let refused = right.engine.catch_up_all().await;
        assert!(is_unavailable(&refused), "{changes_directory}: {}", outcome_text(&refused));
        for home in [&left, &right] {
            check_stopped(home, &expected).await;
        }
        assert_eq!(left.size("main").await, before, "nothing was written");
        assert_eq!(left.size("system").await, position + 1, "nothing was written");
        left.engine.close().await;
        right.engine.close().await;
        drop((left, right));
        // It does not restart either, with its stored checkpoints or without.
        let mut joining = house.replica();
        joining.options.joins = true;
        for house in [&house, &joining] {
            let refused = house.open_error().await.to_string();
            assert_eq!(refused, expected, "{changes_directory}");
        }
    }
}

/// If the level was raised as well, the error says so.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn raised_feature_level_is_reported_with_unknown_entries() {
    let house = House::on_postgres();
    let other = two(&house).await;
    let right = other.open().await;
    write_later(&house, &*house.store(), true).await;
    execute(&house.database(), &format!("UPDATE feature_level SET level = {}", FEATURE_LEVEL + 1));
    let refused = right.engine.catch_up_all().await;
    assert!(is_unavailable(&refused), "{}", outcome_text(&refused));
    check_stopped(&right, "start the version of the other services").await;
    right.engine.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn unsigned_unknown_action_is_not_reported_as_later_version() {
    let (left, right) = pair().await;
    left.user("ada", false).await;
    execute(
        &left.house.database(),
        "UPDATE entries SET leaf = convert_to(replace(convert_from(leaf, 'UTF8'), 'create_user', 'grant_wish'), 'UTF8')
        WHERE timeline = (SELECT timeline FROM timelines WHERE timeline_id = 'system')",
    );
    let refused = right.engine.catch_up_all().await;
    assert!(!outcome_text(&refused).contains("later version"), "{}", outcome_text(&refused));
    left.engine.close().await;
    right.engine.close().await;
}
