//! Attacks on single entries, with or without their hashes.

use crate::tampering::erasure::retention::swept;
use crate::tampering::*;

/// Positions in a full tile, in another one, and at the right edge of the tree.
const POSITIONS: [u64; 3] = [3, 300, 704];

#[tokio::test]
async fn t01_flipped_bit_in_an_entry_is_reported() {
    let house = lived_in().await;
    let whole = house.backup();
    for position in POSITIONS {
        for column in 0..3 {
            house.replace_database(&whole);
            let (leaf, salt, payload) = row(&connect(&house), MAIN, position);
            let mut columns = [leaf, salt, payload];
            columns[column][1] ^= 4;
            let [leaf, salt, payload] = columns;
            put(&connect(&house), MAIN, position, &(leaf, salt, payload));
            let kind = if column == 0 { FindingKind::LeafMismatch } else { FindingKind::PayloadMismatch };
            let scan = found(&house, "main", kind, Some(position)).await;
            assert!(scan.details.contains("accident"), "{}", scan.details);
        }
    }
}

#[tokio::test]
async fn t02_edited_payload_or_actor_is_reported() {
    let house = lived_in().await;
    let statement = format!("UPDATE entries SET payload = CAST('{{}}' AS BLOB) WHERE entry = {}", entry(MAIN, 10));
    attack(&house, &statement);
    let scan = found(&house, "main", FindingKind::PayloadMismatch, Some(10)).await;
    assert_eq!(scan.findings.len(), 1);
    let house = lived_in().await;
    rewrite(&connect(&house), MAIN, 300, |record, _| record.actor = "mallory".into());
    found(&house, "main", FindingKind::LeafMismatch, Some(300)).await;
    // The service starts, because it reads no entries then. Its own scan finds the same.
    let home = house.open().await;
    let mut steps = Vec::new();
    let main = timeline_id("main");
    let mut note = |step| steps.push(step);
    let made = home.engine.detect_tampering(&home.admin, &main, Depth::Full, &mut note).await.unwrap();
    assert!(
        finding_kinds(&made.scan).contains(&(FindingKind::LeafMismatch, Some(300))),
        "{:?}",
        finding_kinds(&made.scan)
    );
    assert_eq!(made.ledger.position + 1, made.ledger.size);
    assert!(steps.last().is_some_and(|step| step.entries == step.entries_total && step.bytes > 0));
    home.engine.close().await;
}

#[tokio::test]
async fn t03_edited_entry_with_recomputed_hash_is_reported() {
    let house = lived_in().await;
    let connection = connect(&house);
    rewrite(&connection, MAIN, 300, |record, _| record.actor = "mallory".into());
    let (leaf, _, _) = row(&connection, MAIN, 300);
    let mut tile: Vec<u8> = connection
        .query_row("SELECT hashes FROM tiles WHERE timeline = ?1 AND level = 0 AND tile = 1", [MAIN], |row| row.get(0))
        .unwrap();
    let hash = timenav_core::ledger::leaf_hash(&leaf);
    tile[44 * 32..45 * 32].copy_from_slice(hash.as_bytes());
    let update = "UPDATE tiles SET hashes = ?1 WHERE timeline = ?2 AND level = 0 AND tile = 1";
    assert_eq!(connection.execute(update, rusqlite::params![tile, MAIN]).unwrap(), 1);
    drop(connection);
    // The tile above has the hash of this one's 256 entries.
    found(&house, "main", FindingKind::RootMismatch, Some(256)).await;
}

#[tokio::test]
async fn t19_edited_read_entry_is_reported() {
    let house = lived_in().await;
    let position = first_reads(&connect(&house));
    rewrite(&connect(&house), MAIN, position, |_, payload| *payload = read_by_nobody(payload));
    let scan = look(&house, "main", Depth::Full, Outside::Stored).await;
    let first = scan.findings.iter().find(|finding| finding.kind == FindingKind::LeafMismatch).unwrap();
    assert!(first.position.unwrap() <= position, "{scan:#?}");
}

#[tokio::test]
async fn deleted_rows_and_wrong_tiles_are_reported() {
    // A sweep prunes contents, never an entry.
    let (house, _, reads) = swept().await;
    let position = *reads.last().unwrap();
    attack(&house, &format!("DELETE FROM entries WHERE entry = {}", entry(MAIN, position)));
    found(&house, "main", FindingKind::SequenceGap, Some(position)).await;
    let house = lived_in().await;
    let whole = house.backup();
    let last = look(&house, "main", Depth::Quick, Outside::Stored).await.size - 1;
    // T07: entries of all kinds and places, and T19: reads.
    let deleted = POSITIONS.into_iter().chain([last, first_reads(&connect(&house))]).map(|position| {
        let statement = format!("DELETE FROM entries WHERE entry = {}", entry(MAIN, position));
        (statement, FindingKind::SequenceGap, position, position == last)
    });
    let wrong = "UPDATE tiles SET hashes = zeroblob(8192) WHERE timeline = 2 AND level = 0 AND tile = 1".to_owned();
    let missing = "DELETE FROM tiles WHERE timeline = 2 AND level = 1 AND tile = 0".to_owned();
    let tiles = [(wrong, FindingKind::TileMismatch, 256, false), (missing, FindingKind::TileMismatch, 0, true)];
    for (statement, kind, position, is_found_quickly) in deleted.chain(tiles) {
        house.replace_database(&whole);
        attack(&house, &statement);
        found(&house, "main", kind, Some(position)).await;
        let quick = look(&house, "main", Depth::Quick, Outside::Stored).await;
        assert!(quick.tampering_detected() || !is_found_quickly, "{statement}");
    }
}

#[tokio::test]
async fn swapped_or_copied_entries_are_reported() {
    let house = lived_in().await;
    let whole = house.backup();
    let size = look(&house, "main", Depth::Quick, Outside::Stored).await.size;
    // T15: two entries are swapped. T16: one is a copy of another, or of another timeline. One is added at the end.
    for (copies, kind, position, reason) in [
        (&[(20, MAIN, 300), (300, MAIN, 20)][..], FindingKind::LeafMismatch, 20, ""),
        (&[(20, MAIN, 21)], FindingKind::LeafMismatch, 20, ""),
        (&[(5, MAIN + 1, 5)], FindingKind::LeafMismatch, 5, "to the timeline `one`"),
        (&[(size, MAIN, 5)], FindingKind::CheckpointMismatch, size, ""),
    ] {
        house.replace_database(&whole);
        let connection = connect(&house);
        let rows: Vec<_> = copies.iter().map(|(_, timeline, from)| row(&connection, *timeline, *from)).collect();
        for ((to, ..), row) in copies.iter().zip(&rows) {
            put(&connection, MAIN, *to, row);
        }
        drop(connection);
        let scan = found(&house, "main", kind, Some(position)).await;
        assert!(scan.findings.iter().any(|finding| finding.evidence.contains(reason)), "{scan:#?}");
        let is_reported = |at: u64| finding_kinds(&scan).contains(&(kind, Some(at)));
        assert!(copies.iter().all(|(to, ..)| is_reported(*to)), "{scan:#?}");
    }
}

#[tokio::test]
async fn t27_damaged_signature_is_reported() {
    let house = lived_in().await;
    let whole = house.backup();
    // After the text come the id of the key, the signature, and the code checked at a start.
    for damaged in [
        "x''",
        "zeroblob(96)",
        "substr(statement, 1, length(statement) - 1)",
        "CAST(substr(statement, 1, length(statement) - 96) || zeroblob(96) AS BLOB)",
    ] {
        house.replace_database(&whole);
        attack(&house, &format!("UPDATE timelines SET statement = {damaged} WHERE timeline = 2"));
        let scan = found(&house, "main", FindingKind::BadSignature, None).await;
        assert_eq!(
            finding_kinds(&scan),
            [(FindingKind::BadSignature, Some(scan.size))],
            "the data itself is unchanged"
        );
        let refused = house.open_error().await;
        assert!(matches!(refused, OpenError::Head { .. }), "{refused:?}");
    }
}
