//! Rows that grant access or move something, written by an attacker with write access to the database but without the
//! service's keys.

mod anchors;
mod columns;
mod events;
mod planted;
mod postgres;
mod stored_responses;
mod tables;
mod text_index;
mod timers_again;

use super::*;

/// Ensures that each table with permissions or credentials has rows.
async fn furnished(house: House) -> House {
    let home = house.open().await;
    let ada = home.user("ada", false).await;
    home.user("bob", false).await;
    home.restrict("bob", RestrictionLevel::NoAccess).await;
    for name in ["admin", "ada"] {
        let request = new_password(name, SECRET);
        home.engine.set_password(&home.admin, request).await.unwrap();
        home.engine.log_in(user_id(name), password(SECRET), None).await.unwrap().unwrap();
    }
    let key = key_for("bob");
    home.engine.create_api_key(&home.admin, key, None).await.unwrap();
    let ends = BTreeMap::from([((Role::Read, user_id("bob")), End::At(host(1 << 52)))]);
    let lists = PermissionsChange { read: Some(users(["bob"])), ends, ..PermissionsChange::default() };
    home.set_permissions("main", lists).await;
    for days in [20, 10] {
        let stored =
            RetentionRequest { reads: RetentionPeriod::Seconds(days * 86_400), refusals: RetentionPeriod::Ever };
        home.engine.set_retention(&home.admin, timeline_id("main"), stored, None).await.unwrap();
    }
    home.engine.change_clock(&ada, Some(timeline_id("hers")), ClockCommand::Pause, None).await.unwrap();
    record(&home, "main", 0, 3).await;
    home.set_anchor(None).await;
    home.fork("fork", "main").await;
    home.close().await;
    house
}

/// The statement, and the timeline whose rows no longer match the signed ones.
const ATTACKS: [(&str, &str); 44] = [
    ("UPDATE users SET operator = 1 WHERE user_id = 'ada'", "system"),
    ("UPDATE users SET restriction = 'full_access' WHERE user_id = 'bob'", "system"),
    ("UPDATE users SET created_at = created_at - 1 WHERE user_id = 'bob'", "system"),
    ("DELETE FROM users WHERE user_id = 'bob'", "system"),
    ("INSERT INTO users SELECT 'mallory', 1, restriction, created_at FROM users WHERE user_id = 'admin'", "system"),
    ("UPDATE api_keys SET user_id = 'admin' WHERE user_id = 'ada'", "system"),
    ("UPDATE api_keys SET hash = zeroblob(32) WHERE user_id = 'admin'", "system"),
    ("UPDATE api_keys SET expires_at = 1 WHERE user_id = 'admin'", "system"),
    ("UPDATE api_keys SET scopes = NULL, label = 'mine' WHERE user_id = 'ada'", "system"),
    ("UPDATE api_keys SET timeline_id = 'other' WHERE user_id = 'ada'", "system"),
    ("UPDATE api_keys SET created_at = 0 WHERE user_id = 'ada'", "system"),
    ("DELETE FROM api_keys WHERE user_id = 'ada'", "system"),
    // A new user with credentials chosen by the attacker.
    (
        "INSERT INTO api_keys (key_id, hash, user_id, timeline_id, label, created_at)
        SELECT substr(key_id, 1, length(key_id) - 1) || 'z', randomblob(32), user_id, timeline_id, label, created_at
        FROM api_keys WHERE user_id = 'admin'",
        "system",
    ),
    (
        "INSERT INTO sessions (session_id, hash, user_id, created_at, renewed_at, expires_at)
        SELECT substr(session_id, 1, length(session_id) - 1) || 'z', randomblob(32), user_id, created_at, renewed_at,
        expires_at FROM sessions WHERE user_id = 'admin'",
        "system",
    ),
    (
        "INSERT INTO passwords (user_id, phc, set_at) SELECT 'bob', phc, set_at FROM passwords WHERE user_id = 'ada'",
        "system",
    ),
    ("UPDATE api_keys SET horizon = 'clock', known_at = 0 WHERE user_id = 'ada'", "system"),
    ("UPDATE passwords SET phc = phc || 'x' WHERE user_id = 'admin'", "system"),
    ("DELETE FROM passwords WHERE user_id = 'admin'", "system"),
    ("UPDATE sessions SET user_id = 'admin'", "system"),
    ("UPDATE sessions SET hash = randomblob(32)", "system"),
    ("UPDATE sessions SET renewed_at = renewed_at + 1, expires_at = expires_at + 1", "system"),
    ("DELETE FROM sessions", "system"),
    ("UPDATE permissions SET role = 'admin' WHERE user_id = 'bob'", "main"),
    ("INSERT INTO permissions VALUES (2, 'ada', 'write', NULL)", "main"),
    // No permission is extended, and none is shortened.
    ("UPDATE permissions SET expires_at = NULL WHERE user_id = 'bob'", "main"),
    ("UPDATE permissions SET expires_at = expires_at + 1 WHERE user_id = 'bob'", "main"),
    ("UPDATE permissions SET expires_at = 1 WHERE timeline = 2 AND user_id = 'admin'", "main"),
    ("DELETE FROM permissions WHERE timeline = 2 AND user_id = 'bob'", "main"),
    ("UPDATE timelines SET clock_virtual = clock_virtual + 1 WHERE timeline = 2", "main"),
    ("UPDATE timelines SET clock_host = clock_host - 1 WHERE timeline = 2", "main"),
    ("UPDATE timelines SET clock_rate = 2000000 WHERE timeline = 2", "main"),
    ("UPDATE timelines SET clock_running = 0 WHERE timeline = 2", "main"),
    ("UPDATE timelines SET clock_location = 'Ohio' WHERE timeline = 2", "main"),
    ("UPDATE timelines SET clock_generation = 9 WHERE timeline = 2", "main"),
    ("UPDATE timelines SET anchors_count = 0 WHERE timeline = 2", "main"),
    ("UPDATE timelines SET events_count = 9 WHERE timeline = 2", "main"),
    ("UPDATE timelines SET fork_size = 1 WHERE timeline_id = 'fork'", "fork"),
    // Would make the service prune data itself.
    ("UPDATE policies SET reads_seconds = 1 WHERE timeline = 2", "main"),
    ("UPDATE policies SET position = position + 1 WHERE timeline = 2 AND reads_seconds = 864000", "main"),
    ("DELETE FROM policies WHERE timeline = 2 AND reads_seconds = 1728000", "main"),
    ("DELETE FROM policies WHERE timeline = 2", "main"),
    ("INSERT INTO policies VALUES (2, 1, 1, 1, NULL, NULL)", "main"),
    (
        "INSERT INTO policies SELECT timeline, 0, 1, 1, CAST(NULL AS bigint), CAST(NULL AS bigint) FROM timelines
        WHERE timeline_id = 'fork'",
        "fork",
    ),
    // The origins of a ledger decide whose permissions its timers fire with.
    ("UPDATE timelines SET origins = '0 far.example/main' WHERE timeline_id = 'fork'", "fork"),
];

#[tokio::test]
async fn unsigned_rows_block_the_start() {
    let mut house = furnished(House::new()).await;
    let whole = house.backup();
    for (attack, about) in ATTACKS {
        house.replace_database(&whole);
        assert!(connect(&house).execute(attack, []).unwrap() > 0, "{attack} changes nothing");
        let refused = house.open_error().await;
        assert!(
            matches!(&refused, OpenError::Rows { timeline, .. } if timeline.as_str() == about),
            "{attack}: {refused:?}"
        );
    }
    // An operator cannot accept them either.
    house.options.accept_rollback = Some(Acceptance::default());
    assert!(matches!(house.open_error().await, OpenError::Rows { .. }));
    house.options.accept_rollback = None;
    house.replace_database(&whole);
    house.open().await.close().await;
}

/// Statements of versions before feature level 7 do not cover policies, so each policy needs an entry. With the next
/// entry they are signed.
#[tokio::test]
async fn unsigned_policies_must_match_their_entries() {
    let house = furnished(House::new()).await;
    restate(&house, &house.signer).await;
    let whole = house.backup();
    for statement in [
        "UPDATE policies SET reads_seconds = 1 WHERE timeline = 2 AND reads_seconds = 864000",
        "UPDATE policies SET position = position + 1 WHERE timeline = 2 AND reads_seconds = 864000",
        "INSERT INTO policies VALUES (2, 1, 1, 1, NULL, NULL)",
        "UPDATE timelines SET origins = '0 far.example/main' WHERE timeline = 2",
    ] {
        house.replace_database(&whole);
        assert_eq!(connect(&house).execute(statement, []).unwrap(), 1);
        let refused = house.open_error().await;
        assert!(matches!(&refused, OpenError::Rows { .. }), "{statement}: {refused:?}");
    }
    house.replace_database(&whole);
    let home = house.open().await;
    let foreseen = home.engine.preview_pruning(&home.admin, timeline_id("main")).await.unwrap();
    assert_eq!(foreseen.retention.reads_seconds, Some(864_000));
    home.check_clean(&timeline_id("main")).await;
    home.stop().await;
    // Its later statements cover everything.
    let statement = "DELETE FROM policies WHERE timeline = 2 AND reads_seconds = 1728000";
    connect(&house).execute(statement, []).unwrap();
    assert!(matches!(house.open_error().await, OpenError::Rows { .. }));
}

/// Old rows count only with the statement of their own tree, which is not the one in the external checkpoint.
#[tokio::test]
async fn restored_rows_with_statement_and_tree_are_rejected() {
    for (timeline, rows) in [
        (
            "system",
            "INSERT INTO main.users SELECT * FROM old.users WHERE user_id = 'eve';
            DELETE FROM main.api_keys; INSERT INTO main.api_keys SELECT * FROM old.api_keys;",
        ),
        // A password and a session that were replaced.
        (
            "system",
            "REPLACE INTO main.passwords SELECT * FROM old.passwords;
            REPLACE INTO main.sessions SELECT * FROM old.sessions;",
        ),
        (
            "main",
            "DELETE FROM main.permissions WHERE timeline = 2;
            INSERT INTO main.permissions SELECT * FROM old.permissions WHERE timeline = 2;",
        ),
        (
            "main",
            "UPDATE main.timelines SET (clock_virtual, clock_host, clock_running, clock_generation) =
            (SELECT clock_virtual, clock_host, clock_running, clock_generation FROM old.timelines WHERE timeline = 2)
            WHERE timeline = 2;",
        ),
    ] {
        let mut house = House::new();
        let home = house.open().await;
        home.user("ada", false).await;
        home.user("eve", true).await;
        log_in(&home).await;
        home.set_permissions("main", admins(["admin", "ada"])).await;
        home.stop().await;
        let old = house.backup();
        let home = house.open().await;
        home.engine.delete_user(&home.admin, user_id("eve")).await.unwrap();
        home.engine.set_password(&home.admin, new_password("ada", "seven geese over Graz")).await.unwrap();
        home.set_permissions("main", admins(["admin"])).await;
        home.change_clock(None, travel(5)).await;
        home.stop().await;
        let path = house.path();
        let put_back = |statements: &str| {
            let batch = format!("ATTACH '{}' AS old; {statements}", old.display());
            Connection::open(&path).unwrap().execute_batch(&batch).unwrap();
        };
        let put_back_columns = |columns: &str| {
            let of = format!("WHERE timeline_id = '{timeline}'");
            put_back(&format!(
                "UPDATE main.timelines SET ({columns}) = (SELECT {columns} FROM old.timelines {of}) {of}"
            ));
        };
        put_back(rows);
        let refused = house.open_error().await;
        assert!(matches!(refused, OpenError::Rows { .. }), "{rows} without their statement: {refused:?}");
        put_back_columns("statement, directory");
        let refused = house.open_error().await;
        assert!(matches!(refused, OpenError::Unsigned { .. }), "{rows} with another statement: {refused:?}");
        house.options.accept_rollback = Some(Acceptance::default());
        let refused = house.open_error().await;
        assert!(matches!(refused, OpenError::Rows { .. }), "an operator accepts {rows}: {refused:?}");
        house.options.accept_rollback = None;
        put_back_columns("size, frontier");
        let refused = house.open_error().await;
        let is_found = matches!(refused, OpenError::Rollback { .. })
            || timeline == "main" && matches!(refused, OpenError::Rows { .. });
        assert!(is_found, "{rows} with a tree of another time: {refused:?}");
    }
}

/// Rows are read when the service starts. Rows written while it runs grant nothing.
#[tokio::test]
async fn rows_forged_during_operation_are_ignored_and_block_restart() {
    let house = furnished(House::new()).await;
    let home = house.open().await;
    let ada = home.caller("ada", None).await;
    connect(&house).execute("UPDATE users SET operator = 1 WHERE user_id = 'ada'", []).unwrap();
    connect(&house).execute("INSERT INTO permissions VALUES (2, 'ada', 'admin', NULL)", []).unwrap();
    assert!(home.engine.users(&ada, 10, None).await.is_err());
    assert!(home.engine.set_anchor(&ada, None, anchor_now(), None).await.is_err());
    home.engine.set_anchor(&home.admin, None, anchor_now(), None).await.unwrap();
    home.stop().await;
    assert!(matches!(house.open_error().await, OpenError::Rows { .. }));
}

/// Former or forged credentials and permissions, written while the service runs.
#[tokio::test]
async fn credentials_forged_during_operation_grant_nothing() {
    let house = furnished(House::new()).await;
    let home = house.open().await;
    let (engine, admin) = (&home.engine, &home.admin);
    let read = async |caller: &timenav_engine::Caller| engine.read_clock(caller, Some(timeline_id("main"))).await;
    let bob = home.caller("bob", None).await;
    let revoked = engine.create_api_key(admin, key_for("ada"), None).await.unwrap();
    let secret = revoked.secret.unwrap();
    let session = engine.log_in(user_id("ada"), password(SECRET), None).await.unwrap().unwrap();
    let stored = connect(&house);
    for (copy, table) in [("k", "api_keys"), ("s", "sessions")] {
        stored.execute_batch(&format!("CREATE TEMP TABLE {copy} AS SELECT * FROM main.{table}")).unwrap();
    }
    engine.revoke_api_key(admin, revoked.key_id.clone()).await.unwrap();
    engine.log_out(&session.caller, false).await.unwrap();
    let clock = read(admin).await.unwrap().clock;
    let written = [
        // A key and a session that were valid once.
        "REPLACE INTO main.api_keys SELECT * FROM k",
        "REPLACE INTO main.sessions SELECT * FROM s",
        // Lifts a restriction, and moves a clock.
        "UPDATE main.users SET restriction = 'full_access' WHERE user_id = 'bob'",
        "UPDATE main.permissions SET role = 'admin' WHERE user_id = 'bob'",
        "UPDATE main.timelines SET clock_virtual = clock_virtual + 31536000000000, clock_generation = 9 WHERE timeline = 2",
    ];
    for statement in written {
        assert!(stored.execute(statement, []).unwrap() > 0, "{statement}");
    }
    // A new key with the hash of a known text.
    let new = "UPDATE main.api_keys SET key_id = substr(key_id, 1, length(key_id) - 1) || 'z', user_id = 'admin'
        WHERE key_id = ?1";
    assert!(engine.authenticate(&secret).is_err() && engine.authenticate_session(&session.secret).is_err());
    assert_eq!(stored.execute(new, [revoked.key_id.as_str()]).unwrap(), 1);
    assert!(engine.authenticate(&secret).is_err() && engine.authenticate_session(&session.secret).is_err());
    assert!(engine.identify(&secret).await.unwrap().is_err());
    assert!(engine.identify_session(&session.secret).await.unwrap().is_err());
    assert!(read(&bob).await.is_err());
    assert_eq!(read(admin).await.unwrap().clock, clock);
    // The current user stays, although their row is gone.
    let ada = home.caller("ada", None).await;
    assert!(stored.execute("DELETE FROM main.api_keys WHERE user_id = 'ada'", []).unwrap() > 0);
    assert!(engine.read_clock(&ada, Some(timeline_id("hers"))).await.is_ok());
    home.stop().await;
    assert!(matches!(house.open_error().await, OpenError::Rows { .. }));
}
