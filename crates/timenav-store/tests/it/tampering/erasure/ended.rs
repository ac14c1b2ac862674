//! Ended timelines, and a database in which an attacker revives them.

use crate::tampering::*;

async fn ended() -> (House, PathBuf) {
    let house = House::new();
    let home = house.open().await;
    record(&home, "job", 0, 3).await;
    record(&home, "other", 0, 3).await;
    home.engine.close().await;
    let before = house.backup();
    let home = house.open().await;
    home.end_timeline(timeline_id("job")).await;
    home.close().await;
    (house, before)
}

const PUT_BACK: &str = "INSERT INTO main.timelines SELECT * FROM old.timelines WHERE timeline_id = 'job';
    INSERT INTO main.permissions SELECT p.* FROM old.permissions p
        JOIN old.timelines t ON t.timeline = p.timeline WHERE t.timeline_id = 'job';";
const FREE: &str = "DELETE FROM main.ended_timelines WHERE timeline_id = 'job';";

fn attack(house: &House, before: &std::path::Path, statements: &str) {
    let attached = format!("ATTACH '{}' AS old; {statements}", before.display());
    connect(house).execute_batch(&attached).unwrap();
}

#[tokio::test]
async fn start_rejects_restored_or_freed_ended_timelines() {
    let (house, before) = ended().await;
    let whole = house.backup();
    let both = format!("{PUT_BACK}{FREE}");
    let changed = "UPDATE main.ended_timelines SET timeline_id = 'jobs' WHERE timeline_id = 'job'";
    let smaller = "UPDATE main.ended_timelines SET size = size - 1 WHERE timeline_id = 'job'";
    let other = "UPDATE main.ended_timelines SET root = zeroblob(32) WHERE timeline_id = 'job'";
    for attacked in [PUT_BACK, FREE, &both, changed, smaller, other] {
        house.replace_database(&whole);
        attack(&house, &before, attacked);
        let refused = house.open_error().await;
        let is_found = match &refused {
            OpenError::Rows { timeline, .. } => timeline.is_system(),
            OpenError::Ended { timeline } => timeline.as_str() == "job",
            refused => matches!(refused, OpenError::Fork { .. } | OpenError::Rollback { .. }),
        };
        assert!(is_found, "{attacked}: {refused:?}");
        let found = look(&house, "system", Depth::Full, Outside::Stored).await;
        assert!(found.tampering_detected(), "{attacked}");
    }
    house.replace_database(&whole);
    house.open().await.close().await;
}

/// Rows that are not signed, but follow from entries.
#[tokio::test]
async fn tampered_rows_of_ended_timelines_are_reported() {
    let (house, _) = ended().await;
    let whole = house.backup();
    for attacked in [
        "UPDATE ended_timelines SET ended_at = ended_at - 1",
        "UPDATE ended_timelines SET fork_size = 1, fork_of = 2",
        // Rows remain that are marked as pruned.
        "UPDATE ended_timelines SET is_let_go = 1",
        "INSERT INTO ended_timelines SELECT 'none', 99, size, root, ended_at, NULL, NULL, 0, due_at, 1 FROM ended_timelines",
    ] {
        house.replace_database(&whole);
        connect(&house).execute_batch(attacked).unwrap();
        assert!(look(&house, "system", Depth::Full, Outside::Stored).await.tampering_detected(), "{attacked}");
    }
}

/// Nothing of a live timeline is pruned, whatever a row with its number says.
#[tokio::test]
async fn forged_ended_row_does_not_prune_a_live_timeline() {
    let (house, _) = ended().await;
    let other = "(SELECT timeline FROM timelines WHERE timeline_id = 'other')";
    let update = format!("UPDATE ended_timelines SET due_at = 0, timeline = {other}");
    connect(&house).execute_batch(&update).unwrap();
    let home = house.open().await;
    home.engine.tend().await.unwrap();
    home.engine.close().await;
    let full: i64 = connect(&house)
        .query_row(&format!("SELECT count(*) FROM entries WHERE entry >> 40 = {other} AND payload = x''"), [], |row| {
            row.get(0)
        })
        .unwrap();
    assert_eq!(full, 0);
}

#[tokio::test]
async fn scan_verifies_leaves_of_ended_timelines() {
    let (house, _) = ended().await;
    assert!(!look(&house, "job", Depth::Full, Outside::Stored).await.tampering_detected());
    let key: i64 = connect(&house).query_row("SELECT timeline FROM ended_timelines", [], |row| row.get(0)).unwrap();
    // Payloads may be missing, but not different.
    let empty = "UPDATE entries SET payload = x'', salt = x'' WHERE entry = ?1";
    connect(&house).execute(empty, [entry(key, 1)]).unwrap();
    assert!(!look(&house, "job", Depth::Full, Outside::Stored).await.tampering_detected());
    let whole = house.backup();
    for change in [
        "UPDATE entries SET payload = x'78' WHERE entry = ?1",
        "UPDATE entries SET leaf = CAST(replace(CAST(leaf AS TEXT), 'admin', 'bdmin') AS BLOB) WHERE entry = ?1",
        "DELETE FROM entries WHERE entry = ?1",
    ] {
        house.replace_database(&whole);
        assert_eq!(connect(&house).execute(change, [entry(key, 2)]).unwrap(), 1);
        assert!(look(&house, "job", Depth::Full, Outside::Stored).await.tampering_detected(), "{change}");
    }
}
