//! Attacks on what follows from the ledger, the ledger left as it is.

use timenav_core::scan::{Depth, FindingKind};

use super::{Outside, attack, connect, found, lived_in, look, told};

#[tokio::test]
async fn t18_every_table_that_follows() {
    for (timeline, statement, says) in [
        ("main", "UPDATE permissions SET role = 'admin' WHERE timeline = 2 AND user_id = 'ada'", "permissions"),
        ("main", "INSERT INTO permissions VALUES (2, 'mallory', 'write')", "permissions"),
        ("main", "UPDATE timelines SET clock_virtual = clock_virtual + 1 WHERE timeline = 2", "the clock"),
        ("main", "UPDATE timelines SET clock_rate = 2000000 WHERE timeline = 2", "the clock"),
        ("main", "UPDATE timelines SET clock_location = 'Ohio' WHERE timeline = 2", "the clock"),
        ("main", "UPDATE timelines SET clock_generation = 9 WHERE timeline = 2", "the clock"),
        ("main", "UPDATE timelines SET recorded_at = 0 WHERE timeline = 2", "the time of the last entry"),
        ("main", "UPDATE timelines SET created_at = 0 WHERE timeline = 2", "the time of its making"),
        ("main", "UPDATE timelines SET events_count = 1 WHERE timeline = 2", "count of events"),
        ("main", "UPDATE timelines SET anchors_count = 0 WHERE timeline = 2", "count of anchors"),
        ("main", "UPDATE anchors SET timestamp = 1 WHERE timeline = 2", "table anchors"),
        ("main", "UPDATE anchors SET description = 'x' WHERE timeline = 2", "table anchors"),
        ("main", "UPDATE anchors SET fixed = 0 WHERE timeline = 2", "table anchors"),
        ("main", "DELETE FROM anchors WHERE timeline = 2", "the row is missing"),
        ("main", "UPDATE events SET content = '{}' WHERE timeline = 2 AND event_id = 'e9'", "e9: its content"),
        ("main", "UPDATE events SET time = 5 WHERE timeline = 2 AND event_id = 'e9'", "e9: the time"),
        ("main", "UPDATE events SET place = 'x' WHERE timeline = 2 AND event_id = 'e9'", "e9: the place"),
        ("main", "UPDATE events SET lat = 1 WHERE timeline = 2 AND event_id = 'e10'", "e10: the point"),
        ("main", "UPDATE events SET cell = 5 WHERE timeline = 2 AND event_id = 'e10'", "e10: the cell"),
        ("main", "UPDATE events SET until = 5 WHERE timeline = 2 AND event_id = 'e10'", "e10: it is marked"),
        ("main", "DELETE FROM events WHERE timeline = 2 AND event_id = 'e11'", "e11: the row is missing"),
        ("main", "UPDATE events SET event_id = 'x' WHERE timeline = 2 AND event_id = 'e11'", "e11: the row is missing"),
        ("system", "UPDATE users SET operator = 1 WHERE user_id = 'ada'", "table users, ada"),
        ("system", "UPDATE users SET restriction = 'full_access' WHERE user_id = 'ada'", "table users, ada"),
        ("system", "INSERT INTO users VALUES ('mallory', 1, 'full_access', 0)", "table users, mallory: no entry"),
        ("system", "DELETE FROM users WHERE user_id = 'ada'", "table users, ada: the row is missing"),
        ("system", "UPDATE api_keys SET revoked_at = NULL WHERE user_id = 'ada'", "table api_keys"),
        ("system", "UPDATE api_keys SET hash = zeroblob(32) WHERE user_id = 'ada'", "table api_keys"),
    ] {
        let house = lived_in().await;
        attack(&house, statement);
        let scan = found(&house, timeline, FindingKind::StateMismatch, None).await;
        let all: Vec<&str> = scan.findings.iter().map(|finding| finding.evidence.as_str()).collect();
        assert!(all.iter().any(|evidence| evidence.contains(says)), "{statement}: {all:#?}");
        assert!(scan.findings.iter().all(|finding| finding.kind == FindingKind::StateMismatch), "{all:#?}");
        assert_eq!(scan.findings[0].last_good_checkpoint.is_some(), scan.findings[0].position.is_none());
        // The entries are as they were: what does not replay them sees nothing.
        assert!(!look(&house, timeline, Depth::Quick, Outside::Kept).await.tampering_detected(), "{statement}");
    }
}

#[tokio::test]
async fn an_event_that_was_never_recorded() {
    let house = lived_in().await;
    attack(
        &house,
        "INSERT INTO events (timeline, cell, time, position, event_id, content) VALUES (2, -1, 7, 50, 'forged', '{}')",
    );
    found(&house, "main", FindingKind::StateMismatch, None).await;
}

#[tokio::test]
async fn a_state_that_makes_no_sense_is_a_finding_too() {
    for statement in [
        "UPDATE timelines SET frontier = x'00' WHERE timeline = 2",
        "UPDATE timelines SET clock_rate = -1 WHERE timeline = 2",
        "UPDATE timelines SET size = -1 WHERE timeline = 2",
        "UPDATE permissions SET user_id = ' ' WHERE timeline = 2 AND user_id = 'ada'",
        "UPDATE anchors SET clock_rate = -1 WHERE timeline = 2",
        "UPDATE events SET position = -7 WHERE timeline = 2 AND event_id = 'e9'",
    ] {
        let house = lived_in().await;
        attack(&house, statement);
        found(&house, "main", FindingKind::StateMismatch, None).await;
    }
}

#[tokio::test]
async fn t20_sealed_records_in_each_others_place() {
    let house = lived_in().await;
    let swap = "UPDATE data_records AS a SET ciphertext = (SELECT b.ciphertext FROM data_records b
        WHERE b.data_id <> a.data_id AND b.erased IS NULL) WHERE a.erased IS NULL";
    assert_eq!(connect(&house).execute(swap, []).unwrap(), 2);
    let scan = found(&house, "main", FindingKind::StateMismatch, None).await;
    assert!(scan.findings.iter().all(|finding| finding.evidence.contains("what is sealed is not")), "{scan:#?}");
    for (statement, says) in [
        ("UPDATE data_records SET nonce = zeroblob(12) WHERE rowid = 1", "what is sealed is not"),
        ("DELETE FROM data_records WHERE rowid = 1", "the row is missing"),
        ("UPDATE data_records SET erased = 5, ciphertext = x'' WHERE rowid = 1", "no entry says so"),
        ("UPDATE data_records SET erased = NULL WHERE erased IS NOT NULL", "and it is there"),
        ("UPDATE data_records SET timeline = 3 WHERE rowid = 1", "another entry's"),
    ] {
        let house = lived_in().await;
        attack(&house, statement);
        let scan = found(&house, "main", FindingKind::StateMismatch, None).await;
        assert!(scan.findings.iter().any(|finding| finding.evidence.contains(says)), "{statement}: {scan:#?}");
    }
}

#[tokio::test]
async fn what_is_gone_and_was_not_erased() {
    let house = lived_in().await;
    let position = 10;
    let statement =
        format!("UPDATE entries SET salt = x'', payload = x'' WHERE entry = {}", super::entry(super::MAIN, position));
    attack(&house, &statement);
    found(&house, "main", FindingKind::PayloadMismatch, Some(position)).await;
    let house = lived_in().await;
    let scan = look(&house, "main", Depth::Full, Outside::Kept).await;
    assert_eq!((told(&scan), scan.checked_count("erased")), (vec![], 2));
}

/// Rows under a number that no timeline has: no ledger tells of them, so that of the service does.
#[tokio::test]
async fn rows_of_a_timeline_that_is_not_there() {
    let entry_of = |number: i64| number << 40;
    let entries = |number: i64| {
        let first = entry_of(super::MAIN);
        format!(
            "INSERT INTO entries SELECT {} + 3, leaf, salt, payload FROM entries WHERE entry = {first}",
            entry_of(number)
        )
    };
    for (statement, table, number) in [
        (entries(77), "entries", 77),
        (entries(0), "entries", 0),
        (entries(-5), "entries", -5),
        (entries((1 << 23) - 1), "entries", (1 << 23) - 1),
        ("INSERT INTO permissions VALUES (77, 'mallory', 'admin')".to_owned(), "permissions", 77),
        ("INSERT INTO tiles VALUES (77, 0, 0, x'00')".to_owned(), "tiles", 77),
        (
            "INSERT INTO events (timeline, cell, time, position, event_id, content) VALUES (-1, -1, 7, 50, 'x', '{}')"
                .to_owned(),
            "events",
            -1,
        ),
    ] {
        let house = lived_in().await;
        attack(&house, &statement);
        for depth in [Depth::Full, Depth::Quick] {
            let scan = look(&house, "system", depth, Outside::Kept).await;
            assert_eq!(told(&scan), [(FindingKind::StateMismatch, None)], "{statement}");
            let expected = format!("table {table} has rows of the timeline number {number}, and there is no such");
            assert_eq!(scan.findings[0].evidence, expected);
        }
        // It is in nobody's ledger, so no other timeline can tell.
        assert!(!look(&house, "main", Depth::Full, Outside::Kept).await.tampering_detected(), "{statement}");
    }
}

#[tokio::test]
async fn a_timeline_whose_row_is_gone_leaves_what_shows_it() {
    let house = lived_in().await;
    let connection = connect(&house);
    let number: i64 =
        connection.query_row("SELECT timeline FROM timelines WHERE timeline_id = 'one'", [], |row| row.get(0)).unwrap();
    attack(&house, "DELETE FROM timelines WHERE timeline_id = 'one'");
    let scan = look(&house, "system", Depth::Full, Outside::Kept).await;
    let all: Vec<&str> = scan.findings.iter().map(|finding| finding.evidence.as_str()).collect();
    for table in ["entries", "permissions", "events", "anchors"] {
        let expected = format!("table {table} has rows of the timeline number {number}, and there is no such");
        assert!(all.contains(&expected.as_str()), "{table}: {all:#?}");
    }
}
