//! Attacks with whole files, and with the end of a ledger, which only an external checkpoint reveals.

use crate::tampering::*;

/// Returns a house that continued after a copy was made.
async fn house_with_older_copy() -> (House, PathBuf) {
    let house = lived_in().await;
    let older = house.backup();
    let home = house.open().await;
    record(&home, "main", 5_000, 50).await;
    home.change_clock(None, ClockCommand::Pause).await;
    home.engine.close().await;
    (house, older)
}

#[tokio::test]
async fn t11_and_t12_truncated_or_older_database_is_reported() {
    let (house, older) = house_with_older_copy().await;
    house.replace_database(&older);
    let size = look(&house, "main", Depth::Quick, Outside::Nothing).await.size;
    for depth in [Depth::Full, Depth::Quick, "tail:10".parse().unwrap(), "sample:5".parse().unwrap()] {
        let scan = look(&house, "main", depth, Outside::Stored).await;
        assert_eq!(finding_kinds(&scan), [(FindingKind::Rollback, Some(size))], "{depth}");
        assert_eq!(scan.findings[0].last_good_checkpoint, Some(size));
        // An older copy is consistent in itself.
        let alone = look(&house, "main", depth, Outside::Nothing).await;
        assert_eq!(finding_kinds(&alone), []);
        assert!(alone.not_checked.iter().any(|sentence| sentence.contains("older copy")));
    }
    let refused = house.open_error().await;
    assert!(matches!(refused, OpenError::Rollback { .. }), "{refused:?}");
}

#[tokio::test]
async fn t13_continued_older_copy_is_reported() {
    for count in [10, 51, 400] {
        let (house, older) = house_with_older_copy().await;
        let stored = house.outside.notes();
        house.replace_database(&older);
        let mut house = house;
        house.options.accept_rollback = Some(Acceptance::default());
        let home = house.open().await;
        record(&home, "main", 9_000, count).await;
        home.engine.close().await;
        let alone = look(&house, "main", Depth::Full, Outside::Nothing).await;
        assert_eq!(finding_kinds(&alone), [], "without a checkpoint nothing is to be seen");
        let note = &stored[&timeline_id("main")];
        for depth in [Depth::Full, Depth::Quick, "tail:10".parse().unwrap()] {
            let scan = look_at(&house, house.path(), "main", depth, Some(note)).await;
            let expected = if count == 10 { FindingKind::Rollback } else { FindingKind::Fork };
            check_found(&scan, expected, None);
        }
        // The service itself, running on the other history, is compared with its current checkpoints.
        clean(&house).await;
    }
}

#[tokio::test]
async fn t14_split_view_is_reported_as_a_fork() {
    let (house, older) = house_with_older_copy().await;
    let witnessed_note = house.outside.notes()[&timeline_id("main")].clone();
    house.replace_database(&older);
    let mut house = house;
    house.options.accept_rollback = Some(Acceptance::default());
    let home = house.open().await;
    record(&home, "main", 9_000, 49).await;
    home.change_clock(None, ClockCommand::Pause).await;
    home.engine.close().await;
    let scan = look_at(&house, house.path(), "main", Depth::Full, Some(&witnessed_note)).await;
    check_found(&scan, FindingKind::Fork, None);
    let alone = look(&house, "main", Depth::Full, Outside::Nothing).await;
    assert_eq!(finding_kinds(&alone), []);
}

#[tokio::test]
async fn t24_empty_database_is_reported_as_a_rollback() {
    let house = lived_in().await;
    let empty = house.path().with_extension("empty");
    drop(SqliteStore::open(&empty).unwrap());
    house.replace_database(&empty);
    let scan = found(&house, "main", FindingKind::Rollback, Some(0)).await;
    assert!(scan.details.contains("there is no such ledger"), "{}", scan.details);
    let refused = house.open_error().await;
    assert!(matches!(refused, OpenError::Rollback { found: 0, .. }), "{refused:?}");
}

#[tokio::test]
async fn rollback_during_operation_is_reported() {
    let (house, older) = house_with_older_copy().await;
    let home = house.open().await;
    // The service's memory is an external checkpoint too.
    let connection = rusqlite::Connection::open(house.path()).unwrap();
    connection.execute("ATTACH ?1 AS older", [older.to_str().unwrap()]).unwrap();
    connection
        .execute_batch(
            "DELETE FROM timelines WHERE timeline_id = 'main';
             INSERT INTO timelines SELECT * FROM older.timelines WHERE timeline_id = 'main';",
        )
        .unwrap();
    let scan = look(&house, "main", Depth::Quick, Outside::Stored).await;
    check_found(&scan, FindingKind::Rollback, None);
    // The service does not write to an unknown history, not even an entry about the scan.
    let main = timeline_id("main");
    let refused = home.engine.detect_tampering(&home.admin, &main, Depth::Quick, &mut |_| ()).await.unwrap_err();
    assert!(matches!(refused, Refusal::Unavailable(_)), "{refused:?}");
    home.engine.close().await;
}
