//! Contents of entries are in one of two tables, and moves by an attacker are found.

use crate::tampering::*;

/// Converts a closed database to the form from before the second table existed.
pub(crate) fn as_before(house: &House) {
    let connection = connect(house);
    connection
        .execute_batch(
            "UPDATE entries SET salt = c.salt, payload = c.payload FROM contents c WHERE c.entry = entries.entry;
             DROP TABLE contents;
             CREATE TEMP TABLE kept AS SELECT * FROM data_records;
             DROP TABLE data_records;
             ALTER TABLE api_keys DROP COLUMN horizon;
             ALTER TABLE api_keys DROP COLUMN known_at;
             DROP TABLE timers;
             DROP TABLE firings;
             DROP TABLE advances;
             DROP TABLE arrivals;
             DROP INDEX events_by_id;
             CREATE INDEX events_by_id ON events (timeline, event_id);
             DROP INDEX events_by_time;
             DROP INDEX events_by_length;
             DROP INDEX events_by_position;
             DROP TABLE text_blocks;
             DROP TABLE text_words;
             DROP INDEX outcomes_by_timeline;
             ALTER TABLE events DROP COLUMN length_class;
             ALTER TABLE events DROP COLUMN parties;
             CREATE INDEX events_by_time ON events (timeline, time, position);
             ALTER TABLE timelines DROP COLUMN timers;
             ALTER TABLE permissions DROP COLUMN expires_at;
             DELETE FROM migrations WHERE step >= '0014';",
        )
        .unwrap();
    connection.execute_batch(include_str!("../../../../migrations/sqlite/0002-data.sql")).unwrap();
    let columns = "data_id, timeline, position, erased, format, kind, salt, nonce, commitment, ciphertext";
    let insert = format!("INSERT INTO data_records ({columns}) SELECT {columns} FROM kept");
    connection.execute(&insert, []).unwrap();
}

#[tokio::test]
async fn only_reads_and_rejections_are_stored_in_contents() {
    let house = lived_in().await;
    let connection = connect(&house);
    let select = "SELECT e.entry, leaf, e.payload <> x'', c.entry IS NOT NULL FROM entries e
        LEFT JOIN contents c ON c.entry = e.entry";
    let mut select = connection.prepare(select).unwrap();
    let rows = select.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))).unwrap();
    let rows: Vec<(i64, Vec<u8>, bool, bool)> = rows.collect::<Result<_, _>>().unwrap();
    let mut apart_count = 0;
    for (key, stored, is_inline, is_apart) in &rows {
        let (timeline, position) = (key >> 40, (key & ((1 << 40) - 1)).cast_unsigned());
        let leaf = whole(&connection, timeline, position, stored);
        let class = PruneClass::of(&LeafRecord::decode(&leaf).unwrap().action);
        assert_eq!(*is_apart, class.is_some(), "{timeline}/{position}");
        assert!(!(*is_apart && *is_inline), "{timeline}/{position}");
        apart_count += usize::from(*is_apart);
    }
    assert!(apart_count > 5 && rows.len() > 1_000);
    let contents: i64 = connection.query_row("SELECT count(*) FROM contents", [], |row| row.get(0)).unwrap();
    assert_eq!(usize::try_from(contents).unwrap(), apart_count);
}

#[tokio::test]
async fn database_without_a_contents_table_is_readable() {
    let house = lived_in().await;
    as_before(&house);
    // A start adds the table, and does not move existing contents.
    let home = house.open().await;
    home.read_clock(None).await;
    home.engine.close().await;
    let apart: Vec<u64> = {
        let connection = connect(&house);
        let mut select = connection.prepare("SELECT entry FROM contents WHERE entry >> 40 = ?1").unwrap();
        let rows = select.query_map([MAIN], |row| row.get::<_, i64>(0)).unwrap();
        rows.map(|key| (key.unwrap() - entry(MAIN, 0)).cast_unsigned()).collect()
    };
    let size = look(&house, "main", Depth::Quick, Outside::Stored).await.size;
    assert_eq!(apart, [size - 1], "the read that came last");
    clean(&house).await;
}

/// Rows of `contents` that were moved.
#[tokio::test]
async fn moved_contents_rows_are_reported() {
    let house = lived_in().await;
    let connection = connect(&house);
    let reads = first_reads(&connection);
    let refusal = (0..1_000).find(|at| is_refusal(&row(&connection, MAIN, *at).0)).unwrap();
    // The event `e7` was erased.
    let erased = (0..1_000).find(|at| row(&connection, MAIN, *at).2.is_empty()).unwrap();
    drop(connection);
    let (event, key) = (10, |position| entry(MAIN, position));
    let (at_reads, at_refusal, at_event, at_erased) = (key(reads), key(refusal), key(event), key(erased));
    let whole = house.backup();
    for (attack, position) in [
        // Deleted without a sweep.
        (format!("DELETE FROM contents WHERE entry = {at_reads}"), reads),
        (format!("DELETE FROM contents WHERE entry = {at_refusal}"), refusal),
        // To another key: of an event, of an erased one, of other reads.
        (format!("UPDATE contents SET entry = {at_event} WHERE entry = {at_reads}"), event),
        (
            format!("INSERT INTO contents (entry, salt, payload) SELECT {at_erased}, salt, payload FROM contents WHERE entry = {at_reads}"),
            erased,
        ),
        (
            format!(
                "UPDATE contents SET entry = -1 WHERE entry = {at_reads};
                 UPDATE contents SET entry = {at_reads} WHERE entry = {at_refusal};
                 UPDATE contents SET entry = {at_refusal} WHERE entry = -1"
            ),
            reads.min(refusal),
        ),
        // A second copy: with other bytes, with the same, with only a salt.
        (format!("UPDATE entries SET salt = zeroblob(16), payload = x'7b7d' WHERE entry = {at_reads}"), reads),
        (
            format!(
                "UPDATE entries SET salt = c.salt, payload = c.payload FROM contents c
                 WHERE c.entry = entries.entry AND entries.entry = {at_reads}"
            ),
            reads,
        ),
        (format!("UPDATE entries SET salt = x'00' WHERE entry = {at_reads}"), reads),
        (format!("INSERT INTO contents (entry, salt, payload) VALUES ({at_event}, x'', x'00')"), event),
        // Contents that retention may not prune, in the table of those that it may.
        (
            format!(
                "INSERT INTO contents (entry, salt, payload) SELECT entry, salt, payload FROM entries WHERE entry = {at_event};
                 UPDATE entries SET salt = x'', payload = x'' WHERE entry = {at_event}"
            ),
            event,
        ),
        (format!("UPDATE contents SET payload = CAST(payload || ' ' AS BLOB) WHERE entry = {at_reads}"), reads),
        (format!("UPDATE contents SET salt = zeroblob(16) WHERE entry = {at_refusal}"), refusal),
        // It is not compressed.
        (format!("UPDATE contents SET payload_bytes = length(payload) WHERE entry = {at_reads}"), reads),
    ] {
        house.replace_database(&whole);
        connect(&house).execute_batch(&attack).unwrap();
        for depth in ["full", "sample:100000"] {
            let scan = look(&house, "main", depth.parse().unwrap(), Outside::Stored).await;
            let is_reported = |kind, at| scan.findings.iter().any(|one| one.kind == kind && one.position == Some(at));
            assert!(is_reported(FindingKind::PayloadMismatch, position), "{attack}, {depth}: {:#?}", scan.findings);
        }
    }
    house.replace_database(&whole);
    clean(&house).await;
}

fn is_refusal(leaf: &[u8]) -> bool {
    leaf.starts_with(b"{\"action\":\"unauthorized_access_attempt\"")
}

#[tokio::test]
async fn contents_without_an_entry_are_reported() {
    let house = lived_in().await;
    let size = look(&house, "main", Depth::Quick, Outside::Stored).await.size;
    let whole = house.backup();
    connect(&house)
        .execute(
            "INSERT INTO contents (entry, salt, payload) VALUES (?1, zeroblob(16), x'7b7d')",
            [entry(MAIN, size + 7)],
        )
        .unwrap();
    let scan = look(&house, "main", Depth::Full, Outside::Stored).await;
    check_found(&scan, FindingKind::CheckpointMismatch, Some(size));
    // A row without a payload is equivalent to none.
    house.replace_database(&whole);
    let reads = first_reads(&connect(&house));
    let empty = "PRAGMA ignore_check_constraints = ON; UPDATE contents SET payload = x'', salt = x''";
    connect(&house).execute_batch(empty).unwrap();
    let scan = look(&house, "main", Depth::Full, Outside::Stored).await;
    check_found(&scan, FindingKind::PayloadMismatch, Some(reads));
}
