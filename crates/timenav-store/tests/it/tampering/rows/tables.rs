//! Attacks on data derived from the ledger, which itself is unchanged.

use crate::tampering::*;

/// Changes one table at a time, each in the same house, and checks the findings of a scan.
async fn check_state_mismatches(timeline: &str, attacks: &[(&str, &str)]) {
    let house = lived_in().await;
    let whole = house.backup();
    for (statement, says) in attacks {
        house.replace_database(&whole);
        attack(&house, statement);
        let scan = found(&house, timeline, FindingKind::StateMismatch, None).await;
        assert!(says_any(&scan, says), "{statement}: {:#?}", scan.findings);
        assert!(scan.findings.iter().all(|finding| finding.kind == FindingKind::StateMismatch), "{statement}");
        assert_eq!(scan.findings[0].last_good_checkpoint.is_some(), scan.findings[0].position.is_none());
        // The entries are unchanged, so a scan that does not replay them finds nothing.
        assert!(!look(&house, timeline, Depth::Quick, Outside::Stored).await.tampering_detected(), "{statement}");
    }
}

fn says_any(scan: &Scan, text: &str) -> bool {
    scan.findings.iter().any(|finding| finding.evidence.contains(text))
}

#[tokio::test]
async fn t18_tampered_tables_of_a_timeline_are_reported() {
    let attacks = [
        ("UPDATE permissions SET role = 'admin' WHERE timeline = 2 AND user_id = 'ada'", "permissions"),
        ("INSERT INTO permissions VALUES (2, 'mallory', 'write', NULL)", "permissions"),
        ("UPDATE permissions SET expires_at = 1 WHERE timeline = 2 AND user_id = 'admin'", "permissions"),
        ("UPDATE timelines SET clock_virtual = clock_virtual + 1 WHERE timeline = 2", "the clock"),
        ("UPDATE timelines SET clock_rate = 2000000 WHERE timeline = 2", "the clock"),
        ("UPDATE timelines SET clock_location = 'Ohio' WHERE timeline = 2", "the clock"),
        ("UPDATE timelines SET clock_generation = 9 WHERE timeline = 2", "the clock"),
        ("UPDATE timelines SET recorded_at = 0 WHERE timeline = 2", "the time of the last entry"),
        ("UPDATE timelines SET created_at = 0 WHERE timeline = 2", "the time of its creation"),
        ("UPDATE timelines SET events_count = 1 WHERE timeline = 2", "count of events"),
        ("UPDATE timelines SET anchors_count = 0 WHERE timeline = 2", "count of anchors"),
        ("UPDATE anchors SET timestamp = 1 WHERE timeline = 2", "table anchors"),
        ("UPDATE anchors SET description = 'x' WHERE timeline = 2", "table anchors"),
        ("UPDATE anchors SET fixed = 0 WHERE timeline = 2", "table anchors"),
        ("DELETE FROM anchors WHERE timeline = 2", "the row is missing"),
        ("UPDATE events SET content = '{}' WHERE timeline = 2 AND event_id = 'e9'", "e9: its content"),
        ("UPDATE events SET time = 5 WHERE timeline = 2 AND event_id = 'e9'", "e9: the time"),
        ("UPDATE events SET place = 'x' WHERE timeline = 2 AND event_id = 'e9'", "e9: the place"),
        ("UPDATE events SET name_key = 'x' WHERE timeline = 2 AND event_id = 'e9'", "e9: the name"),
        (
            "UPDATE events SET parties = '[\"x\"]' WHERE timeline = 2 AND event_id = 'e9'",
            "e9: the source or the actors",
        ),
        ("UPDATE timelines SET clock_entry = 1 WHERE timeline = 2", "the entry of the clock"),
        ("UPDATE timelines SET overrides_count = 1 WHERE timeline = 2", "the count of overrides"),
        ("UPDATE timelines SET created_by = 'bob' WHERE timeline = 2", "who created it"),
        ("UPDATE timelines SET data_count = 9 WHERE timeline = 2", "the count of sealed records"),
        ("UPDATE timelines SET fork_of = 1, fork_size = 1 WHERE timeline = 2", "where it was forked"),
        ("INSERT INTO interventions VALUES (2, 'e9', 5, 'x')", "table interventions has 1 rows"),
        ("UPDATE events SET lat = 1 WHERE timeline = 2 AND event_id = 'e10'", "e10: the point"),
        ("UPDATE events SET cell = 5 WHERE timeline = 2 AND event_id = 'e10'", "e10: the cell"),
        // Coordinates from the event's place name, not from the event.
        ("UPDATE events SET lat = 1 WHERE timeline = 2 AND event_id = 'e9'", "e9: the point"),
        (
            "UPDATE events SET lat = NULL, lon = NULL, cell = -1 WHERE timeline = 2 AND event_id = 'e9'",
            "e9: the coordinates of its place are missing",
        ),
        ("UPDATE events SET lat = 1, lon = 1, cell = 5 WHERE timeline = 2 AND event_id = 'e8'", "e8: the point"),
        ("UPDATE entries SET events_count = 9 WHERE entry = (2 << 40) + 300", "300: the count of events is 9"),
        ("UPDATE entries SET clock_entry = 7 WHERE entry = (2 << 40) + 300", "300: the entry of the clock is 7"),
        ("UPDATE events SET until = 5 WHERE timeline = 2 AND event_id = 'e10'", "e10: it is marked"),
        ("DELETE FROM events WHERE timeline = 2 AND event_id = 'e11'", "e11: the row is missing"),
        ("UPDATE events SET event_id = 'x' WHERE timeline = 2 AND event_id = 'e11'", "e11: the row is missing"),
    ];
    check_state_mismatches("main", &attacks).await;
}

/// The end of a permission is postponed, removed, or brought forward.
#[tokio::test]
async fn t18_changed_permission_expiry_is_reported() {
    let house = lived_in().await;
    let home = house.open().await;
    let ends = BTreeMap::from([((Role::Read, user_id("ada")), End::At(host(1 << 52)))]);
    let change = PermissionsChange { ends, ..PermissionsChange::default() };
    home.set_permissions("main", change).await;
    home.close().await;
    clean(&house).await;
    let whole = house.backup();
    for end in ["NULL", "expires_at + 1", "1"] {
        house.replace_database(&whole);
        attack(&house, &format!("UPDATE permissions SET expires_at = {end} WHERE timeline = 2 AND user_id = 'ada'"));
        let scan = found(&house, "main", FindingKind::StateMismatch, None).await;
        assert!(says_any(&scan, "table permissions"), "{end}: {:#?}", scan.findings);
        assert!(matches!(house.open_error().await, OpenError::Rows { .. }), "{end}");
    }
}

#[tokio::test]
async fn t18_tampered_tables_of_system_are_reported() {
    let attacks = [
        ("UPDATE users SET operator = 1 WHERE user_id = 'ada'", "table users, ada"),
        ("UPDATE users SET restriction = 'full_access' WHERE user_id = 'ada'", "table users, ada"),
        ("INSERT INTO users VALUES ('mallory', 1, 'full_access', 0)", "table users, mallory: no entry"),
        ("DELETE FROM users WHERE user_id = 'ada'", "table users, ada: the row is missing"),
        ("UPDATE api_keys SET revoked_at = NULL WHERE user_id = 'ada'", "table api_keys"),
        ("UPDATE api_keys SET hash = zeroblob(32) WHERE user_id = 'ada'", "table api_keys"),
        ("UPDATE api_keys SET known_at = 3 WHERE user_id = 'ada'", "table api_keys"),
        ("UPDATE passwords SET phc = '0$mine' WHERE user_id = 'ada'", "table passwords, ada"),
        ("UPDATE passwords SET set_at = 0 WHERE user_id = 'ada'", "table passwords, ada"),
        ("DELETE FROM passwords WHERE user_id = 'ada'", "table passwords, ada: the row is missing"),
        ("UPDATE passwords SET user_id = 'bob' WHERE user_id = 'ada'", "table passwords, bob: no entry"),
        ("UPDATE sessions SET hash = zeroblob(32) WHERE user_id = 'admin'", "table sessions"),
        ("UPDATE sessions SET user_id = 'ada' WHERE user_id = 'admin'", "table sessions"),
        ("UPDATE sessions SET expires_at = expires_at + 1 WHERE user_id = 'admin'", "table sessions"),
        ("UPDATE sessions SET renewed_at = renewed_at + 1 WHERE user_id = 'admin'", "table sessions"),
        ("DELETE FROM sessions WHERE user_id = 'admin'", "the row is missing"),
        (
            "INSERT INTO sessions VALUES ('session_forged', randomblob(32), 'admin', 0, 0, 1 << 50)",
            "table sessions, session_forged: no entry",
        ),
    ];
    check_state_mismatches("system", &attacks).await;
}

#[tokio::test]
async fn invalid_row_values_are_reported() {
    let house = lived_in().await;
    let whole = house.backup();
    for statement in [
        "UPDATE timelines SET frontier = x'00' WHERE timeline = 2",
        "UPDATE timelines SET clock_rate = -1 WHERE timeline = 2",
        "UPDATE timelines SET size = -1 WHERE timeline = 2",
        "UPDATE permissions SET user_id = ' ' WHERE timeline = 2 AND user_id = 'ada'",
        "UPDATE permissions SET expires_at = 1 << 62 WHERE timeline = 2 AND user_id = 'ada'",
        "UPDATE anchors SET clock_rate = -1 WHERE timeline = 2",
        "UPDATE events SET position = -7 WHERE timeline = 2 AND event_id = 'e9'",
    ] {
        house.replace_database(&whole);
        attack(&house, statement);
        found(&house, "main", FindingKind::StateMismatch, None).await;
    }
}

#[tokio::test]
async fn t20_swapped_or_changed_sealed_records_are_reported() {
    let house = lived_in().await;
    let whole = house.backup();
    let swap = "UPDATE data_records AS a SET ciphertext = (SELECT b.ciphertext FROM data_records b
        WHERE b.data_id <> a.data_id AND b.erased IS NULL) WHERE a.erased IS NULL";
    assert_eq!(connect(&house).execute(swap, []).unwrap(), 2);
    let (differs, missing) = ("the sealed data does not match", "the row is missing");
    let scan = found(&house, "main", FindingKind::StateMismatch, None).await;
    assert!(scan.findings.iter().all(|finding| finding.evidence.contains(differs)), "{scan:#?}");
    for (statement, says) in [
        ("UPDATE data_records SET nonce = zeroblob(12) WHERE rowid = 1", differs),
        ("DELETE FROM data_records WHERE rowid = 1", missing),
        ("UPDATE data_records SET erased = 5, ciphertext = x'' WHERE rowid = 1", "no entry says so"),
        ("UPDATE data_records SET erased = NULL WHERE erased IS NOT NULL", "but it is there"),
        ("UPDATE data_records SET timeline = 3 WHERE rowid = 1", missing),
        ("UPDATE data_records SET position = 99 WHERE rowid = 1", missing),
        ("UPDATE data_records SET data_id = 'data_1' WHERE rowid = 1", "belongs to another record"),
    ] {
        house.replace_database(&whole);
        attack(&house, statement);
        let scan = found(&house, "main", FindingKind::StateMismatch, None).await;
        assert!(says_any(&scan, says), "{statement}: {scan:#?}");
    }
}

/// Without the payload of some entries the state cannot be replayed. That does not hide that they are missing.
#[tokio::test]
async fn missing_payload_of_every_action_is_reported() {
    let house = lived_in().await;
    let whole = house.backup();
    let mut firsts = BTreeMap::new();
    {
        let connection = connect(&house);
        let select =
            "SELECT entry, leaf FROM entries WHERE entry >> 40 = ?1 AND length(payload) > 2 ORDER BY entry DESC";
        let mut select = connection.prepare(select).unwrap();
        let mut rows = select.query([MAIN]).unwrap();
        while let Some(row) = rows.next().unwrap() {
            let (entry, leaf): (i64, Vec<u8>) = (row.get(0).unwrap(), row.get(1).unwrap());
            firsts.insert(LeafRecord::decode(&leaf).unwrap().action.into_owned(), entry);
        }
    }
    assert!(firsts.contains_key("travel") && firsts.contains_key("set_access_control"), "{firsts:?}");
    for key in firsts.into_values() {
        house.replace_database(&whole);
        attack(&house, &format!("UPDATE entries SET salt = x'', payload = x'' WHERE entry = {key}"));
        let position = (key - entry(MAIN, 0)).cast_unsigned();
        found(&house, "main", FindingKind::PayloadMismatch, Some(position)).await;
    }
}

/// Rows with a number that no timeline has: no ledger covers them, so the service's does.
#[tokio::test]
async fn rows_of_a_nonexistent_timeline_are_reported() {
    let house = lived_in().await;
    let whole = house.backup();
    let key = |number: i64| (number << POSITION_BITS) + 3;
    let entry = |number: i64| {
        let first = MAIN << POSITION_BITS;
        format!("entries SELECT {}, leaf, salt, payload, 0, 0 FROM entries WHERE entry = {first}", key(number))
    };
    let contents = |number: i64| format!("contents (entry, salt, payload) VALUES ({}, x'', x'00')", key(number));
    let event = "events (timeline, cell, time, position, event_id, content) VALUES (-1, -1, 7, 50, 'x', '{}')";
    for (row, number) in [
        (entry(77), 77),
        (entry(0), 0),
        (entry(-5), -5),
        (entry((1 << 23) - 1), (1 << 23) - 1),
        (contents(77), 77),
        (contents(-5), -5),
        ("permissions VALUES (77, 'mallory', 'admin', NULL)".to_owned(), 77),
        ("interventions VALUES (77, 'x', 1, 'x')".to_owned(), 77),
        ("tiles VALUES (77, 0, 0, x'00')".to_owned(), 77),
        (event.to_owned(), -1),
    ] {
        house.replace_database(&whole);
        attack(&house, &format!("INSERT INTO {row}"));
        let table = row.split(' ').next().unwrap();
        for depth in [Depth::Full, Depth::Quick] {
            let scan = look(&house, "system", depth, Outside::Stored).await;
            assert_eq!(finding_kinds(&scan), [(FindingKind::StateMismatch, None)], "{row}");
            let expected = format!("table {table} has rows of timeline number {number}, which does not exist");
            assert_eq!(scan.findings[0].evidence, expected);
        }
        // No ledger has it, so other timelines cannot reveal it.
        assert!(!look(&house, "main", Depth::Full, Outside::Stored).await.tampering_detected(), "{row}");
    }
}

#[tokio::test]
async fn deleted_timeline_row_is_reported() {
    let house = lived_in().await;
    let select = "SELECT timeline FROM timelines WHERE timeline_id = 'one'";
    let number: i64 = connect(&house).query_row(select, [], |row| row.get(0)).unwrap();
    attack(&house, "DELETE FROM timelines WHERE timeline_id = 'one'");
    let scan = look(&house, "system", Depth::Full, Outside::Stored).await;
    for table in ["entries", "permissions", "events", "anchors"] {
        let expected = format!("table {table} has rows of timeline number {number}, which does not exist");
        assert!(says_any(&scan, &expected), "{table}: {:#?}", scan.findings);
    }
}

/// Returns a house with corrected, changed and canceled events and a fork, and a copy of its database.
async fn with_history() -> (House, PathBuf) {
    let house = lived_in().await;
    let home = house.open().await;
    let draft = |id: &str, text: &str| named_event(id, 7, text);
    home.record_events(None, vec![draft("h1", "a"), draft("h2", "a")]).await;
    home.engine.correct_event(&home.admin, None, draft("h1", "b"), None, None).await.unwrap();
    let fork = timeline_id("forked");
    home.engine.fork_timeline(&home.admin, fork.clone(), &timeline_id("main"), None, None).await.unwrap();
    for (timeline, effect) in
        [(None, Effect::Rename("n".to_owned())), (None, Effect::Cancel), (Some(fork), Effect::Cancel)]
    {
        home.intervene(timeline, "h2", effect).await;
    }
    home.close().await;
    let whole = house.backup();
    (house, whole)
}

#[tokio::test]
async fn tampered_versions_interventions_and_forks_are_reported() {
    let of = |timeline: &str| format!("timeline = (SELECT timeline FROM timelines WHERE timeline_id = '{timeline}')");
    let (main, forked) = (of("main"), of("forked"));
    let last = format!("position = (SELECT max(position) FROM events WHERE {main} AND event_id = 'h2')");
    let first = format!("{main} AND position = (SELECT min(position) FROM interventions WHERE {main})");
    let (old, new) = ("event_id = 'h1' AND until IS NOT NULL", "event_id = 'h1' AND until IS NULL");
    let (house, whole) = with_history().await;
    clean(&house).await;
    for (timeline, statement, says) in [
        // A canceled event is in effect again, one in effect is not, and an old version is instead of the new one.
        ("main", format!("UPDATE events SET until = NULL WHERE {main} AND {last}"), "h2: "),
        ("main", format!("UPDATE events SET until = NULL WHERE {main} AND {old}"), "h1: "),
        ("main", format!("UPDATE events SET until = position + 1 WHERE {main} AND {new}"), "h1: it is marked"),
        ("main", format!("DELETE FROM events WHERE {main} AND {old}"), "h1: the row is missing"),
        ("main", format!("DELETE FROM interventions WHERE {first}"), "the intervention is missing"),
        ("main", format!("UPDATE interventions SET intervention_id = 'x' WHERE {first}"), "has another id"),
        // The inherited event that the fork canceled is in effect there again.
        ("forked", format!("DELETE FROM events WHERE {forked}"), "h2: the row is missing"),
        ("forked", format!("UPDATE timelines SET overrides_count = 0 WHERE {forked}"), "the count of overrides"),
        ("forked", format!("UPDATE timelines SET fork_size = 2 WHERE {forked}"), "where it was forked"),
        ("forked", format!("UPDATE timelines SET fork_of = 1 WHERE {forked}"), "names another one"),
    ] {
        house.replace_database(&whole);
        attack(&house, &statement);
        let scan = look(&house, timeline, Depth::Full, Outside::Stored).await;
        let is_reported = |finding: &timenav_core::scan::Finding| {
            finding.kind == FindingKind::StateMismatch && finding.evidence.contains(says)
        };
        assert!(scan.findings.iter().any(is_reported), "{statement}: {:#?}", scan.findings);
    }
}

#[tokio::test]
async fn tampered_event_count_of_an_entry_is_reported() {
    let first = "(SELECT timeline << 40 FROM timelines WHERE timeline_id = 'forked')";
    let last = "(SELECT max(entry) FROM entries WHERE entry >> 40 = 2)";
    let (house, whole) = with_history().await;
    for (timeline, entry) in [("forked", first), ("main", last)] {
        house.replace_database(&whole);
        attack(&house, &format!("UPDATE entries SET events_count = events_count + 1 WHERE entry = {entry}"));
        let scan = found(&house, timeline, FindingKind::StateMismatch, None).await;
        assert!(scan.findings[0].evidence.contains("the count of events"), "{:#?}", scan.findings);
        assert_eq!(scan.findings.len(), 1, "{:#?}", scan.findings);
    }
}

#[tokio::test]
async fn tail_scan_verifies_derived_columns_of_its_entries() {
    for column in ["events_count", "clock_entry"] {
        let house = lived_in().await;
        let last = main_size(&house) - 1;
        attack(&house, &format!("UPDATE entries SET {column} = {column} + 1 WHERE entry = (2 << 40) + {last}"));
        let scan = look(&house, "main", "tail:10".parse().unwrap(), Outside::Stored).await;
        check_found(&scan, FindingKind::StateMismatch, Some(last));
        assert!(!look(&house, "one", Depth::Full, Outside::Stored).await.tampering_detected());
    }
}

fn main_size(house: &House) -> u64 {
    let select = "SELECT size FROM timelines WHERE timeline = 2";
    connect(house).query_row(select, [], |row| row.get::<_, i64>(0)).unwrap().cast_unsigned()
}
