//! The attacks on rows that grant access or move something, on a PostgreSQL that attackers can write to.

use super::{ATTACKS, furnished};
use crate::tampering::*;

/// The tables with rows of that kind.
const TABLES: [&str; 7] = ["users", "api_keys", "passwords", "sessions", "permissions", "policies", "timelines"];

/// Translates an attack from SQLite to PostgreSQL.
fn spoken(attack: &str) -> String {
    let main = "(SELECT timeline FROM timelines WHERE timeline_id = 'main')";
    attack
        .replace("operator = 1", "operator = true")
        .replace("'mallory', 1,", "'mallory', true,")
        .replace("clock_running = 0", "clock_running = false")
        .replace("zeroblob(32)", "decode(repeat('00', 32), 'hex')")
        .replace("SET hash = randomblob(32)", "SET hash = sha256(hash)")
        .replace("randomblob(32)", "sha256('what I have chosen')")
        .replace("timeline = 2", &format!("timeline = {main}"))
        .replace("VALUES (2,", &format!("VALUES ({main},"))
}

/// Runs a statement that has to change a row.
fn attack(house: &House, statement: &str) {
    let fails = "RAISE EXCEPTION 'nothing was changed'";
    let checked = format!("DO $do$ BEGIN {statement}; IF NOT FOUND THEN {fails}; END IF; END $do$");
    execute(&house.database(), &checked);
}

/// Saves the rows.
fn keep(house: &House) {
    let tables = TABLES.map(|table| format!("CREATE TABLE kept.{table} AS TABLE {table};"));
    execute(&house.database(), &format!("CREATE SCHEMA kept; {}", tables.concat()));
}

/// Restores the saved rows.
fn put_back(house: &House, tables: &[&str]) {
    let one = |table: &&str| format!("DELETE FROM {table}; INSERT INTO {table} SELECT * FROM kept.{table};");
    execute(&house.database(), &tables.iter().map(one).collect::<String>());
}

#[tokio::test]
async fn unsigned_rows_block_the_start() {
    let house = furnished(House::on_postgres()).await;
    keep(&house);
    for (statement, about) in ATTACKS {
        attack(&house, &spoken(statement));
        let refused = house.open_error().await;
        assert!(
            matches!(&refused, OpenError::Rows { timeline, .. } if timeline.as_str() == about),
            "{statement}: {refused:?}"
        );
        put_back(&house, &TABLES);
    }
    house.open().await.close().await;
}

#[tokio::test]
async fn restored_old_rows_block_the_start() {
    let house = furnished(House::on_postgres()).await;
    let home = house.open().await;
    let ada = home.caller("ada", None).await;
    home.close().await;
    keep(&house);
    let home = house.open().await;
    home.engine.revoke_api_key(&home.admin, crate::sample::key_id(&ada)).await.unwrap();
    home.restrict("ada", RestrictionLevel::NoAccess).await;
    let lists = readers([]);
    home.set_permissions("main", lists).await;
    home.close().await;
    execute(&house.database(), "CREATE SCHEMA new");
    for table in TABLES {
        execute(&house.database(), &format!("CREATE TABLE new.{table} AS TABLE {table}"));
    }
    for tables in [["users"].as_slice(), &["api_keys"], &["permissions"], &["users", "api_keys", "permissions"]] {
        put_back(&house, tables);
        let refused = house.open_error().await;
        assert!(matches!(&refused, OpenError::Rows { .. }), "{tables:?}: {refused:?}");
        let again = |table: &&str| format!("DELETE FROM {table}; INSERT INTO {table} SELECT * FROM new.{table};");
        execute(&house.database(), &tables.iter().map(again).collect::<String>());
    }
    // With the statements and heads that were signed for them, they belong to an old tree, which is not the one in the
    // external checkpoint.
    put_back(&house, &TABLES);
    let refused = house.open_error().await;
    assert!(matches!(&refused, OpenError::Rollback { .. }), "{refused:?}");
}

/// A service reads rows again after another one has changed them. Rows written by an attacker in the meantime grant
/// nothing at either.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn forged_rows_grant_nothing_on_either_replica() {
    let house = furnished(House::on_postgres()).await;
    let mut other = house.replica();
    other.options.joins = true;
    let (home, there) = (house.open().await, other.open().await);
    let ada = home.caller("ada", None).await;
    attack(&house, "UPDATE users SET operator = true WHERE user_id = 'ada'");
    attack(&house, &spoken("INSERT INTO permissions VALUES (2, 'ada', 'admin', NULL)"));
    attack(&house, "DELETE FROM api_keys WHERE user_id = 'bob'");
    // An action of one service makes the other one read the rows.
    let made = home.engine.create_user(&home.admin, user_id("eve"), false, None).await;
    let steered = home.engine.set_anchor(&home.admin, None, anchor_now(), None).await;
    for engine in [&home.engine, &there.engine] {
        for _ in 0..3 {
            assert!(engine.users(&ada, 10, None).await.is_err());
            assert!(engine.set_anchor(&ada, None, anchor_now(), None).await.is_err());
            drop(engine.read_clock(&home.admin, Some(timeline_id("main"))).await);
        }
    }
    assert!(made.is_ok() && steered.is_ok(), "who has seen nothing of it goes on: {made:?} {steered:?}");
    home.engine.close().await;
    there.engine.close().await;
    drop((home, there));
    assert!(matches!(house.open_error().await, OpenError::Rows { .. }));
}

/// Old rows restored while two services run: revoked permissions stay revoked, and no service continues from the old
/// state.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn restored_old_rows_grant_nothing_on_either_replica() {
    for tables in [["api_keys"].as_slice(), &["permissions"], &["timelines"], &TABLES] {
        let house = furnished(House::on_postgres()).await;
        let mut other = house.replica();
        other.options.joins = true;
        let (home, there) = (house.open().await, other.open().await);
        let may_read = |names: &[&str]| {
            let read = Some(names.iter().map(|name| user_id(name)).collect());
            PermissionsChange { read, ..PermissionsChange::default() }
        };
        let main = timeline_id("main");
        home.engine.set_access_control(&home.admin, main.clone(), may_read(&["eve"]), None).await.unwrap();
        let (lost, stored) = (home.user("eve", false).await, home.caller("eve", None).await);
        for (engine, caller) in [(&home.engine, &lost), (&there.engine, &stored)] {
            engine.read_clock(caller, Some(main.clone())).await.unwrap();
        }
        keep(&house);
        home.engine.revoke_api_key(&home.admin, crate::sample::key_id(&lost)).await.unwrap();
        home.engine.set_access_control(&home.admin, main.clone(), may_read(&[]), None).await.unwrap();
        let steered = home.engine.set_anchor(&home.admin, None, anchor_now(), None).await;
        assert!(steered.is_ok() && there.engine.read_clock(&stored, Some(main.clone())).await.is_err());
        put_back(&house, tables);
        // An action of one service makes the other one read the rows.
        let made = home.engine.create_user(&home.admin, user_id("mallory"), false, None).await;
        let rolled_back = tables.contains(&"timelines");
        assert_eq!(made.is_err(), rolled_back, "{tables:?}: {made:?}");
        for engine in [&home.engine, &there.engine] {
            for _ in 0..3 {
                for caller in [&lost, &stored] {
                    let read = engine.read_clock(caller, Some(main.clone())).await;
                    assert!(read.is_err(), "{tables:?}: {read:?}");
                    assert!(engine.set_anchor(caller, None, anchor_now(), None).await.is_err());
                }
                drop(engine.read_clock(&home.admin, Some(main.clone())).await);
            }
            let steered = engine.set_anchor(&home.admin, None, anchor_now(), None).await;
            assert!(!rolled_back || steered.is_err() && engine.ready().await.is_err(), "{tables:?}: {steered:?}");
            // One table alone does not match the others, which is detected first.
            let is_rollback = matches!(steered, Err(Refusal::Diverged(_)));
            assert_eq!(is_rollback, tables == TABLES, "{tables:?}: {steered:?}");
        }
        home.engine.close().await;
        there.engine.close().await;
        drop((home, there));
        house.open_error().await;
    }
}
