//! Attacks on single entries, with or without their hashes.

use timenav_core::scan::{Depth, FindingKind};
use timenav_engine::OpenError;

use crate::sample::timeline_id;
use crate::tampering::erasure::retention::swept;
use crate::tampering::{
    MAIN, Outside, attack, connect, entry, finding_kinds, first_reads, found, lived_in, look, put, read_by_nobody,
    rewrite, row,
};

/// Positions in a full tile, in another one, and at the right edge of the tree.
const POSITIONS: [u64; 3] = [3, 300, 704];

#[tokio::test]
async fn t01_flipped_bit_in_an_entry_is_reported() {
    for position in POSITIONS {
        for (column, kind) in [
            ("leaf", FindingKind::LeafMismatch),
            ("salt", FindingKind::PayloadMismatch),
            ("payload", FindingKind::PayloadMismatch),
        ] {
            let house = lived_in().await;
            let (leaf, salt, payload) = row(&connect(&house), MAIN, position);
            let mut columns = [leaf, salt, payload];
            let number = ["leaf", "salt", "payload"].iter().position(|name| *name == column).unwrap();
            columns[number][1] ^= 4;
            let [leaf, salt, payload] = columns;
            put(&connect(&house), MAIN, position, &(leaf, salt, payload));
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
async fn t07_missing_entry_is_reported() {
    for position in POSITIONS {
        let house = lived_in().await;
        attack(&house, &format!("DELETE FROM entries WHERE entry = {}", entry(MAIN, position)));
        found(&house, "main", FindingKind::SequenceGap, Some(position)).await;
    }
    let house = lived_in().await;
    let last = look(&house, "main", Depth::Quick, Outside::Stored).await.size - 1;
    attack(&house, &format!("DELETE FROM entries WHERE entry = {}", entry(MAIN, last)));
    found(&house, "main", FindingKind::SequenceGap, Some(last)).await;
    let quick = look(&house, "main", Depth::Quick, Outside::Stored).await;
    assert!(quick.tampering_detected());
}

#[tokio::test]
async fn t15_swapped_entries_are_reported() {
    let house = lived_in().await;
    let connection = connect(&house);
    let (one, other) = (row(&connection, MAIN, 20), row(&connection, MAIN, 300));
    put(&connection, MAIN, 20, &other);
    put(&connection, MAIN, 300, &one);
    drop(connection);
    let scan = found(&house, "main", FindingKind::LeafMismatch, Some(20)).await;
    assert!(finding_kinds(&scan).contains(&(FindingKind::LeafMismatch, Some(300))));
}

#[tokio::test]
async fn t16_entry_copied_from_another_position_or_timeline_is_reported() {
    let house = lived_in().await;
    let connection = connect(&house);
    put(&connection, MAIN, 20, &row(&connection, MAIN, 21));
    drop(connection);
    found(&house, "main", FindingKind::LeafMismatch, Some(20)).await;
    let house = lived_in().await;
    let connection = connect(&house);
    put(&connection, MAIN, 5, &row(&connection, MAIN + 1, 5));
    drop(connection);
    let scan = found(&house, "main", FindingKind::LeafMismatch, Some(5)).await;
    assert!(scan.findings.iter().any(|finding| finding.evidence.contains("to the timeline `one`")), "{scan:#?}");
}

#[tokio::test]
async fn t19_edited_or_deleted_read_entry_is_reported() {
    let house = lived_in().await;
    let connection = connect(&house);
    let position = first_reads(&connection);
    rewrite(&connection, MAIN, position, |_, payload| *payload = read_by_nobody(payload));
    drop(connection);
    let scan = look(&house, "main", Depth::Full, Outside::Stored).await;
    let first = scan.findings.iter().find(|finding| finding.kind == FindingKind::LeafMismatch).unwrap();
    assert!(first.position.unwrap() <= position, "{scan:#?}");
    let house = lived_in().await;
    attack(&house, &format!("DELETE FROM entries WHERE entry = {}", entry(MAIN, position)));
    found(&house, "main", FindingKind::SequenceGap, Some(position)).await;
}

#[tokio::test]
async fn entries_after_the_signed_size_are_reported() {
    let house = lived_in().await;
    let connection = connect(&house);
    let size = look(&house, "main", Depth::Quick, Outside::Stored).await.size;
    put(&connection, MAIN, size, &row(&connection, MAIN, 5));
    drop(connection);
    found(&house, "main", FindingKind::CheckpointMismatch, Some(size)).await;
}

#[tokio::test]
async fn wrong_tile_over_correct_entries_is_reported() {
    let house = lived_in().await;
    attack(&house, "UPDATE tiles SET hashes = zeroblob(8192) WHERE timeline = 2 AND level = 0 AND tile = 1");
    found(&house, "main", FindingKind::TileMismatch, Some(256)).await;
    let house = lived_in().await;
    attack(&house, "DELETE FROM tiles WHERE timeline = 2 AND level = 1 AND tile = 0");
    found(&house, "main", FindingKind::TileMismatch, Some(0)).await;
    assert!(look(&house, "main", Depth::Quick, Outside::Stored).await.tampering_detected());
}

#[tokio::test]
async fn t27_damaged_signature_is_reported() {
    let house = lived_in().await;
    let whole = house.path().with_extension("whole");
    house.copy_database(&whole);
    // After the text come the id of the key, the signature, and the code checked at a start.
    for damaged in [
        "x''",
        "zeroblob(96)",
        "substr(statement, 1, length(statement) - 1)",
        "CAST(substr(statement, 1, length(statement) - 96) || zeroblob(96) AS BLOB)",
    ] {
        house.replace_database(&whole);
        attack(&house, &format!("UPDATE timelines SET statement = {damaged} WHERE timeline = 2"));
        check_damaged_signature(&house).await;
    }
}

async fn check_damaged_signature(house: &crate::house::House) {
    let scan = found(house, "main", FindingKind::BadSignature, None).await;
    assert_eq!(scan.findings.len(), 1, "the data itself is as it was: {:?}", finding_kinds(&scan));
    assert_eq!(scan.findings[0].position, Some(scan.size));
    let refused = house.try_open(house.store()).await.err().unwrap();
    assert!(matches!(refused, OpenError::Head { .. }), "{refused:?}");
}

/// A sweep prunes contents, never an entry.
#[tokio::test]
async fn deleted_entry_named_by_a_sweep_is_reported() {
    let (house, _, reads) = swept().await;
    let position = *reads.last().unwrap();
    attack(&house, &format!("DELETE FROM entries WHERE entry = {}", entry(MAIN, position)));
    found(&house, "main", FindingKind::SequenceGap, Some(position)).await;
}
