//! Attacks on several rows of events at once that preserve counts and simple sums: a scan reads all rows, and must
//! detect them.

use crate::tampering::*;

/// A change of the rows, and the expected findings: positions and texts.
type Attack = (&'static str, &'static [(Option<u64>, &'static str)]);

const CONTENT: &str = "its content differs from what was recorded";
const MISSING: &str = "the row is missing";
const CANCELLED: &str = "it is marked as canceled, but no entry says so";
const NOT_ENDED: &str = "the previous version is not marked as ending here";

/// Event `e<n>` is recorded at position n + 2 of `main`. `e1` is corrected at 12, `e2` at 13. `e3` is canceled at 14
/// and restored at 15.
const ATTACKS: [Attack; 17] = [
    // Swapped rows.
    (
        "UPDATE events SET content = b.content FROM (SELECT position, content FROM events) b
        WHERE events.position IN (7, 8) AND b.position = 15 - events.position",
        &[(Some(7), CONTENT), (Some(8), CONTENT)],
    ),
    (
        "UPDATE events SET event_id = iif(event_id = 'e5', 'e6', 'e5') WHERE event_id IN ('e5', 'e6')",
        &[(Some(7), MISSING), (Some(8), MISSING)],
    ),
    ("UPDATE events SET position = 15 - position WHERE position IN (7, 8)", &[(Some(7), MISSING), (Some(8), MISSING)]),
    (
        "UPDATE events SET until = 25 - until WHERE until IN (12, 13)",
        &[(Some(3), CANCELLED), (Some(4), CANCELLED), (Some(12), NOT_ENDED), (Some(13), NOT_ENDED)],
    ),
    // The same amount is added to one and subtracted from another.
    (
        "UPDATE events SET time = time + iif(event_id = 'e5', 1, -1) WHERE event_id IN ('e5', 'e6')",
        &[(Some(7), "the time of the row"), (Some(8), "the time of the row")],
    ),
    (
        "UPDATE events SET content = replace(content, 'what h', iif(event_id = 'e5', 'what i', 'what g'))
        WHERE event_id IN ('e5', 'e6')",
        &[(Some(7), CONTENT), (Some(8), CONTENT)],
    ),
    // The same change in two rows, which cancels out in an XOR.
    (
        "UPDATE events SET content = replace(content, 'happened', 'nothing') WHERE event_id IN ('e5', 'e6')",
        &[(Some(7), CONTENT), (Some(8), CONTENT)],
    ),
    // A duplicated row, alone, twice, and in place of another.
    (
        "INSERT INTO events
        SELECT timeline, cell, time + 1, position, until, lat, lon, event_id, place, content, name_key, parties,
            length_class FROM events WHERE event_id = 'e5'",
        &[(None, "table events has 14 rows, but entries created 13")],
    ),
    (
        "INSERT INTO events
        SELECT timeline, cell + n, time, position, until, lat, lon, event_id, place, content, name_key, parties,
            length_class FROM events, (SELECT 100 AS n UNION SELECT 200) WHERE event_id = 'e5'",
        &[(None, "table events has 15 rows, but entries created 13")],
    ),
    (
        "UPDATE OR REPLACE events SET (time, event_id, content, position) =
        (SELECT b.time + 1, b.event_id, b.content, b.position FROM events b WHERE b.event_id = 'e6')
        WHERE event_id = 'e5'",
        &[(Some(7), MISSING)],
    ),
    // The ends of versions.
    ("UPDATE events SET until = NULL WHERE position = 3", &[(Some(12), NOT_ENDED)]),
    ("UPDATE events SET until = 13 WHERE position = 7", &[(Some(7), CANCELLED)]),
    ("UPDATE events SET until = position WHERE position = 7", &[(Some(7), CANCELLED)]),
    ("UPDATE events SET until = 1000 WHERE position = 7", &[(Some(7), CANCELLED)]),
    (
        "UPDATE events SET until = iif(position = 3, NULL, 12) WHERE position IN (3, 7)",
        &[(Some(7), CANCELLED), (Some(12), NOT_ENDED)],
    ),
    // Versions created by another entry, and by none.
    (
        "INSERT INTO events (timeline, cell, time, position, event_id, content) VALUES (2, -1, 7, 14, 'e3', '{}')",
        &[(None, "table events has 14 rows"), (Some(14), "the entry created no version, but there is one")],
    ),
    (
        "UPDATE interventions SET intervention_id = 'intervention_x' WHERE position = 14",
        &[(Some(14), "the row of the intervention is missing or has another id")],
    ),
];

async fn changed() -> House {
    let house = House::new();
    let home = house.open().await;
    home.change_clock(None, ClockCommand::Pause).await;
    record(&home, "main", 0, 10).await;
    for number in 1..3 {
        let id = Some(event_id(&format!("e{number}")));
        let draft = EventDraft { event_id: id, ..EventDraft::at(moment(number), "what happened in fact") };
        home.engine.correct_event(&home.admin, None, draft, None, None).await.unwrap();
    }
    for effect in [Effect::Cancel, Effect::Restore] {
        home.intervene(None, "e3", effect).await;
    }
    home.close().await;
    house
}

#[tokio::test]
async fn tampered_event_rows_are_reported_individually() {
    let house = changed().await;
    let whole = house.backup();
    clean(&house).await;
    for (statement, expected) in ATTACKS {
        house.replace_database(&whole);
        assert!(connect(&house).execute(statement, []).unwrap() > 0, "{statement}");
        let scan = look(&house, "main", Depth::Full, Outside::Stored).await;
        assert_eq!(scan.findings.len(), expected.len(), "{statement}: {:#?}", scan.findings);
        for (position, says) in expected {
            let is_that = |finding: &&timenav_core::scan::Finding| {
                finding.position == *position && finding.evidence.contains(says)
            };
            let found = scan.findings.iter().find(is_that);
            let found = found.unwrap_or_else(|| panic!("{statement}: {position:?} {says}: {:#?}", scan.findings));
            assert_eq!(found.kind, FindingKind::StateMismatch);
        }
    }
}

/// Rows are looked up by the index by id, so one missing from it is invisible to queries, though a pass over the table
/// reads it.
#[tokio::test]
async fn event_row_missing_from_the_id_index_is_reported() {
    let house = changed().await;
    let definition = "CREATE INDEX events_by_id ON events (timeline, event_id, position)";
    let statements = format!(
        "DROP INDEX events_by_id; {definition} WHERE position <> 7; PRAGMA writable_schema = ON;
         UPDATE sqlite_schema SET sql = '{definition}' WHERE name = 'events_by_id'"
    );
    connect(&house).execute_batch(&statements).unwrap();
    let scan = look(&house, "main", Depth::Full, Outside::Stored).await;
    assert_eq!(finding_kinds(&scan), [(FindingKind::StateMismatch, Some(7))], "{:#?}", scan.findings);
    assert!(scan.findings[0].evidence.contains(MISSING), "{:#?}", scan.findings);
}

/// Such a row is invisible until the ledger has reached its position. Then it would be an event that was never
/// recorded.
#[tokio::test]
async fn event_row_at_a_future_position_is_reported() {
    let house = changed().await;
    let planted = "INSERT INTO events (timeline, cell, time, position, event_id, content)
        SELECT e.timeline, cell, time, 9999, 'planted', content FROM events e
        JOIN timelines t ON t.timeline = e.timeline WHERE timeline_id = 'main' AND until IS NULL LIMIT 1";
    assert_eq!(connect(&house).execute(planted, ()).unwrap(), 1);
    let scan = look(&house, "main", Depth::Full, Outside::Stored).await;
    assert_eq!(finding_kinds(&scan), [(FindingKind::StateMismatch, None)], "{:#?}", scan.findings);
    assert!(scan.findings[0].evidence.starts_with("table events has "), "{:#?}", scan.findings);
}
