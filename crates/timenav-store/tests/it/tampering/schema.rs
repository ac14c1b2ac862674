//! Attacks on the schema of a file, which SQLite would execute inside the service.

use super::{Outside, check_found, connect, finding_kinds, lived_in, look};
use crate::tampering::*;

/// Deletes a forged permission before each scan, and inserts it again afterwards.
const HIDING_TRIGGERS: &str = "INSERT INTO permissions VALUES (2, 'mallory', 'admin', NULL);
    CREATE TRIGGER hide AFTER INSERT ON entries
        WHEN instr(new.leaf, CAST('\"action\":\"detect_tampering\"' AS BLOB)) > 0
        BEGIN DELETE FROM permissions WHERE timeline = 2 AND user_id = 'mallory'; END;
    CREATE TRIGGER show AFTER INSERT ON entries
        WHEN instr(new.leaf, CAST('\"action\":\"detect_tampering\"' AS BLOB)) = 0
        BEGIN INSERT OR IGNORE INTO permissions VALUES (2, 'mallory', 'admin', NULL); END;";
/// A view that adds a permission for an hour.
const VIEW: &str = "ALTER TABLE permissions RENAME TO permitted;
    CREATE VIEW permissions AS SELECT timeline, user_id, role, expires_at FROM permitted
        UNION ALL SELECT 2, 'mallory', 'admin', NULL WHERE strftime('%s', 'now') BETWEEN 1 AND 3600;
    CREATE TRIGGER put INSTEAD OF INSERT ON permissions
        BEGIN INSERT INTO permitted VALUES (new.timeline, new.user_id, new.role, NULL); END;
    CREATE TRIGGER take INSTEAD OF DELETE ON permissions
        BEGIN DELETE FROM permitted WHERE timeline = old.timeline AND user_id = old.user_id AND role = old.role; END;";

fn attack(house: &House, statements: &str) {
    connect(house).execute_batch(statements).unwrap();
}

#[tokio::test]
async fn triggers_and_views_are_reported_by_every_scan() {
    let swallow = "CREATE TRIGGER swallow BEFORE INSERT ON entries
        WHEN instr(new.leaf, CAST('unauthorized' AS BLOB)) > 0 BEGIN SELECT RAISE(IGNORE); END";
    for (statements, says) in [
        (HIDING_TRIGGERS, &["trigger `hide` on `entries` is not part of timenav's schema"][..]),
        (
            VIEW,
            &[
                "table `permitted` is not part of timenav's schema",
                "trigger `take` on `permissions` is not part of timenav's schema",
            ],
        ),
        (swallow, &["trigger `swallow` on `entries` is not part of timenav's schema"]),
    ] {
        let house = lived_in().await;
        attack(&house, statements);
        for timeline in ["system", "main", "one"] {
            for depth in [Depth::Full, Depth::Quick, "tail:10".parse().unwrap(), "sample:5".parse().unwrap()] {
                let scan = look(&house, timeline, depth, Outside::Stored).await;
                check_found(&scan, FindingKind::SchemaMismatch, None);
                let is_reported = |says: &&str| scan.findings.iter().any(|finding| finding.evidence.starts_with(*says));
                assert!(says.iter().all(is_reported), "{statements}: {:#?}", scan.findings);
            }
        }
        let refused = SqliteStore::open(&house.path()).err().expect("it is refused").to_string();
        assert!(says.iter().all(|says| refused.contains(says)), "{refused}");
    }
}

#[tokio::test]
async fn foreign_tables_indexes_and_columns_are_reported() {
    for (statements, says) in [
        ("CREATE TABLE notes (a)", "table `notes` is not part of timenav's schema"),
        ("CREATE INDEX notes ON entries (leaf)", "index `notes` on `entries` is not part of timenav's schema"),
        ("DROP INDEX events_by_id", "index `events_by_id` on `events` is missing"),
        (
            "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql =
                replace(sql, 'overrides_count INTEGER NOT NULL DEFAULT 0', 'overrides_count INTEGER NOT NULL DEFAULT 1')
                WHERE name = 'timelines'",
            "table `timelines` is defined by `…",
        ),
        ("PRAGMA application_id = 7", "the setting application_id is 7"),
    ] {
        let house = lived_in().await;
        attack(&house, statements);
        let scan = look(&house, "main", Depth::Full, Outside::Stored).await;
        check_found(&scan, FindingKind::SchemaMismatch, None);
        assert!(scan.findings.iter().any(|finding| finding.evidence.starts_with(says)), "{:#?}", scan.findings);
        SqliteStore::open(&house.path()).err().expect("it is refused");
    }
}

/// An object created while the service runs is not executed, and the next scan reports it.
#[tokio::test]
async fn trigger_planted_during_operation_is_reported() {
    let house = lived_in().await;
    let home = house.open().await;
    attack(&house, HIDING_TRIGGERS);
    for (timeline, kinds) in [
        ("main", &[FindingKind::SchemaMismatch, FindingKind::SchemaMismatch, FindingKind::StateMismatch][..]),
        ("one", &[FindingKind::SchemaMismatch, FindingKind::SchemaMismatch]),
    ] {
        let timeline = timeline_id(timeline);
        let found = home.engine.detect_tampering(&home.admin, &timeline, Depth::Full, &mut |_| ()).await.unwrap();
        let found: Vec<FindingKind> = finding_kinds(&found.scan).into_iter().map(|(kind, _)| kind).collect();
        assert_eq!(found, kinds, "the planted permission of {timeline} stands, since nothing took it away");
    }
    home.engine.close().await;
}

/// An index created under another definition, but with the right one in the schema, finds too few rows.
#[tokio::test]
async fn index_with_a_missing_row_is_reported() {
    let house = lived_in().await;
    let definition = "CREATE INDEX events_by_place ON events (timeline, place, time, position) WHERE place IS NOT NULL";
    attack(
        &house,
        &format!(
            "DROP INDEX events_by_place; {definition} AND event_id <> 'e9'; PRAGMA writable_schema = ON;
             UPDATE sqlite_schema SET sql = '{definition}' WHERE name = 'events_by_place'"
        ),
    );
    let scan = look(&house, "system", Depth::Full, Outside::Stored).await;
    check_found(&scan, FindingKind::StateMismatch, None);
    assert!(scan.findings.iter().any(|finding| finding.evidence.contains("events_by_place")), "{:#?}", scan.findings);
    // No timeline's entries differ from the rows they are compared with.
    assert_eq!(finding_kinds(&look(&house, "main", Depth::Full, Outside::Stored).await), []);
}
