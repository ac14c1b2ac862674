//! Entries without permission, but with valid hashes, and signed by the service's own key.

use super::carried_over::make_old;
use crate::tampering::*;

pub(super) const SYSTEM: i64 = 1;
pub(crate) const HOUR: i64 = 3_600_000_000;

#[track_caller]
fn check_unauthorized(scan: &Scan, position: u64, why: &str) {
    check_found(scan, FindingKind::UnauthorizedEntry, Some(position));
    let evidence = &scan.findings.iter().find(|one| one.kind == FindingKind::UnauthorizedEntry).unwrap().evidence;
    assert!(evidence.contains(why), "{evidence}");
}

fn last_of(house: &House, timeline: i64) -> u64 {
    let size = "SELECT size FROM timelines WHERE timeline = ?1";
    connect(house).query_row(size, [timeline], |row| row.get::<_, i64>(0)).unwrap().cast_unsigned() - 1
}

pub(super) fn last_with(house: &House, timeline: i64, action: &str) -> u64 {
    let connection = connect(house);
    let is_match = |position: &u64| {
        let (leaf, ..) = row(&connection, timeline, *position);
        LeafRecord::decode(&leaf).unwrap().action == action
    };
    (0..=last_of(house, timeline)).rev().find(is_match).unwrap()
}

/// Returns the newest directory version according to `system`.
fn newest_version(house: &House) -> u64 {
    let select = "SELECT directory FROM timelines WHERE timeline = 1";
    connect(house).query_row(select, [], |row| row.get::<_, i64>(0)).unwrap().cast_unsigned()
}

fn id_of(house: &House, table: &str, column: &str, user: &str) -> String {
    let select = format!("SELECT {column} FROM {table} WHERE user_id = ?1 ORDER BY {column} LIMIT 1");
    connect(house).query_row(&select, [user], |row| row.get(0)).unwrap()
}

#[tokio::test]
async fn entry_with_forged_authority_is_reported() {
    let house = lived_in().await;
    let whole = house.backup();
    let (last, last_of_system, newest) = (last_of(&house, MAIN), last_of(&house, SYSTEM), newest_version(&house));
    let created = last_with(&house, SYSTEM, "create_user");
    let stopped = id_of(&house, "api_keys", "key_id", "ada");
    let (no_key, later, other) = (
        "neither a key nor a session",
        &*format!("but `system` has {newest} changes"),
        "the entries before it lead to version",
    );
    // Actor, key and directory version are unchanged if they are `None`.
    for (timeline, position, actor, key, directory, reason) in [
        (MAIN, 300, Some("ada"), None, None, "belongs to `admin`"),
        (MAIN, last, Some("admin"), Some("key_0123"), Some(newest), "no such key or session was created"),
        (MAIN, last, Some("ada"), Some(&*stopped), Some(newest), "which did not exist at version"),
        (MAIN, last, Some("admin"), Some(""), Some(newest), no_key),
        (MAIN, last, Some("system"), Some(""), Some(newest), no_key),
        (MAIN, last, Some("unknown"), Some(""), Some(newest), no_key),
        (MAIN, last, None, None, Some(newest + 1), later),
        (SYSTEM, last_of_system, None, None, Some(newest - 2), other),
        (SYSTEM, last_of_system, None, None, Some(newest), other),
        // An operator created in the name of the service.
        (SYSTEM, created, Some("system"), Some(""), None, no_key),
    ] {
        house.replace_database(&whole);
        let change = |record: &mut LeafRecord<'static>, _: &mut Vec<u8>| {
            let authority = record.authority.as_mut().unwrap();
            authority.key = key.map_or(authority.key.clone(), |key| key.to_owned().into());
            authority.directory = directory.unwrap_or(authority.directory);
            record.actor = actor.map_or(record.actor.clone(), |actor| actor.to_owned().into());
        };
        let scan = forge(&house, timeline, |connection| rewrite(connection, timeline, position, change)).await;
        check_unauthorized(&scan, position, reason);
    }
}

/// Changes the key or session of the first read.
fn read_with(payload: &[u8], id: &str) -> Vec<u8> {
    let mut reads: serde_json::Value = serde_json::from_slice(payload).unwrap();
    reads[0]["key"] = id.into();
    serde_json::to_vec(&reads).unwrap()
}

/// Changes the key or session of the last entry of `main`, a read, with the signing key.
async fn forge_last_read(house: &House, id: &str) -> Scan {
    let last = last_of(house, MAIN);
    forge(house, MAIN, |connection| {
        rewrite(connection, MAIN, last, |_, payload| *payload = read_with(payload, id));
    })
    .await
}

#[tokio::test]
async fn entry_with_an_ended_or_foreign_session_is_reported() {
    let house = lived_in().await;
    let home = house.open().await;
    let session = home.engine.log_in(user_id("admin"), password(SECRET), None).await.unwrap().unwrap();
    home.engine.read_clock(&session.caller, None).await.unwrap();
    let id = session.caller.session_id().unwrap().to_string();
    home.engine.log_out(&session.caller, false).await.unwrap();
    home.read_clock(None).await;
    home.engine.close().await;
    clean(&house).await;
    let of_ada = id_of(&house, "sessions", "session_id", "ada");
    for (id, reason) in [(id, "which did not exist at version"), (of_ada, "belongs to `ada`")] {
        check_unauthorized(&forge_last_read(&house, &id).await, last_of(&house, MAIN), reason);
    }
}

#[tokio::test]
async fn entry_with_an_expired_key_is_reported() {
    let house = lived_in().await;
    let home = house.open().await;
    let until = home.engine.now().checked_add(Span::from_micros(HOUR)).unwrap();
    let made = home.engine.create_api_key(&home.admin, own_key(None, Some(until)), None).await.unwrap();
    let caller = home.engine.authenticate(&made.secret.unwrap()).unwrap();
    home.engine.read_clock(&caller, None).await.unwrap();
    house.clock.advance(2 * HOUR);
    home.engine.read_clock(&caller, None).await.unwrap_err();
    home.read_clock(None).await;
    home.engine.close().await;
    clean(&house).await;
    let scan = forge_last_read(&house, key_id(&caller).as_str()).await;
    check_unauthorized(&scan, last_of(&house, MAIN), "which had expired at");
}

#[tokio::test]
async fn entry_of_a_user_with_an_expired_permission_is_reported() {
    let house = lived_in().await;
    let home = house.open().await;
    let eve = home.user("eve", false).await;
    let ends = BTreeMap::from([((Role::Read, user_id("eve")), End::In(Span::from_micros(HOUR)))]);
    let change = PermissionsChange { read: Some(users(["ada", "eve"])), ends, ..PermissionsChange::default() };
    home.set_permissions("main", change).await;
    home.engine.read_clock(&eve, None).await.unwrap();
    house.clock.advance(2 * HOUR);
    home.engine.read_clock(&eve, None).await.unwrap_err();
    home.read_clock(None).await;
    home.engine.close().await;
    clean(&house).await;
    let last = last_of(&house, MAIN);
    let scan = forge(&house, MAIN, |connection| {
        rewrite(connection, MAIN, last, |_, payload| {
            let altered = read_with(payload, key_id(&eve).as_str());
            *payload = String::from_utf8(altered).unwrap().replace("\"admin\"", "\"eve\"").into_bytes();
        });
    })
    .await;
    check_unauthorized(&scan, last, "it does not exist, or you don't have access to it");
}

#[tokio::test]
async fn login_without_a_password_is_reported() {
    let house = House::new();
    let home = house.open().await;
    home.user("ada", false).await;
    log_in(&home).await;
    home.engine.close().await;
    // The first of all logins. Entries about the password before it are about another one.
    let first = (0..last_of(&house, SYSTEM)).find(|position| {
        let (leaf, ..) = row(&connect(&house), SYSTEM, *position);
        LeafRecord::decode(&leaf).unwrap().action == "set_password"
    });
    let scan = forge(&house, SYSTEM, |connection| {
        rewrite(connection, SYSTEM, first.unwrap(), |_, payload| {
            *payload = String::from_utf8(payload.clone()).unwrap().replace("\"ada\"", "\"eve\"").into_bytes();
        });
    })
    .await;
    let login = scan.findings.iter().find(|one| one.kind == FindingKind::UnauthorizedEntry).unwrap();
    assert!(login.evidence.contains("`ada` had no password"), "{login:?}");
}

/// A database from before rows were signed, with unprivileged ada and bob's read-only key.
async fn old() -> (House, [String; 3]) {
    let house = House::new();
    let home = house.open().await;
    home.user("ada", false).await;
    home.engine.create_user(&home.admin, user_id("bob"), false, None).await.unwrap();
    let mut keys = Vec::new();
    for (user, scopes) in [("ada", None), ("bob", Some(vec![Scope::TimelineRead])), ("bob", None)] {
        let request = ApiKeyRequest { scopes, ..key_for(user) };
        keys.push(home.engine.create_api_key(&home.admin, request, None).await.unwrap().secret.unwrap());
    }
    let change = writers(["bob"]);
    home.set_permissions("main", change).await;
    home.restrict("bob", RestrictionLevel::LimitedAccess).await;
    home.engine.close().await;
    make_old(&house);
    clean(&house).await;
    (house, keys.try_into().unwrap())
}

/// Rows are changed, the service works with them, and they are restored, in a database that never had signed rows.
#[tokio::test]
async fn actions_permitted_by_temporarily_changed_rows_are_reported() {
    const ADA: usize = 0;
    const BOB_READING: usize = 1;
    const BOB: usize = 2;
    for (caller, action, into, back, reason) in [
        (
            ADA,
            "create_user",
            "UPDATE users SET operator = 1 WHERE user_id = 'ada'",
            "UPDATE users SET operator = 0 WHERE user_id = 'ada'",
            "requires an operator",
        ),
        (
            BOB_READING,
            "pause_time",
            "UPDATE api_keys SET scopes = 'timeline:write' WHERE scopes = 'timeline:read'",
            "UPDATE api_keys SET scopes = 'timeline:read' WHERE scopes = 'timeline:write'",
            "lacks the scope",
        ),
        (
            BOB,
            "set_rate",
            "UPDATE users SET restriction = 'full_access' WHERE user_id = 'bob'",
            "UPDATE users SET restriction = 'limited_access' WHERE user_id = 'bob'",
            "time travel is restricted",
        ),
        (
            ADA,
            "pause_time",
            "INSERT INTO permissions SELECT timeline, 'ada', role, NULL FROM permissions WHERE user_id = 'bob'",
            "DELETE FROM permissions WHERE user_id = 'ada'",
            "it does not exist, or you don't have access to it",
        ),
    ] {
        let (house, keys) = old().await;
        connect(&house).execute(into, []).unwrap();
        let home = house.open().await;
        let engine = &home.engine;
        engine.create_user(&home.admin, user_id("zoe"), false, None).await.unwrap();
        let caller = engine.authenticate(&keys[caller]).unwrap();
        match action {
            "create_user" => {
                engine.create_user(&caller, user_id("eve"), true, None).await.unwrap();
                engine.create_api_key(&caller, key_for("eve"), None).await.unwrap();
            }
            "set_rate" => {
                let rate = ClockCommand::SetRate(Rate::from_micros(2_000_000).unwrap());
                engine.change_clock(&caller, None, rate, None).await.unwrap();
            }
            _ => drop(engine.change_clock(&caller, None, ClockCommand::Pause, None).await.unwrap()),
        }
        home.stop().await;
        connect(&house).execute(back, []).unwrap();
        let (timeline, number, count) = if action == "create_user" { ("system", SYSTEM, 2) } else { ("main", MAIN, 1) };
        for outside in [Outside::Stored, Outside::Nothing] {
            let scan = look(&house, timeline, Depth::Full, outside).await;
            check_unauthorized(&scan, last_with(&house, number, action), reason);
            let reported = scan.findings.iter().filter(|finding| finding.kind == FindingKind::UnauthorizedEntry);
            assert_eq!(reported.count(), count, "{reason}: {:#?}", scan.findings);
        }
        let refused = house.open_error().await;
        assert!(matches!(&refused, OpenError::Rows { .. }), "{reason}: {refused:?}");
    }
}

/// Sessions and passwords had seals, and are invalid with a missing or foreign seal.
#[tokio::test]
async fn forged_sessions_and_passwords_in_an_old_database_are_rejected() {
    let house = House::new();
    let home = house.open().await;
    home.user("ada", false).await;
    log_in(&home).await;
    home.engine.close().await;
    make_old(&house);
    let whole = house.backup();
    house.open().await.engine.close().await;
    for forged in [
        "UPDATE sessions SET user_id = 'admin' WHERE user_id = 'ada'",
        "UPDATE sessions SET expires_at = expires_at + 1",
        "UPDATE passwords SET phc = (SELECT phc || 'x' FROM passwords WHERE user_id = 'admin') WHERE user_id = 'ada'",
        "UPDATE passwords SET set_at = set_at + 1 WHERE user_id = 'ada'",
        "INSERT INTO passwords VALUES ('eve', 'phc', 1)",
        "INSERT INTO sessions VALUES ('session_1', zeroblob(32), 'admin', 1, 1, 1)",
    ] {
        house.replace_database(&whole);
        assert!(connect(&house).execute(forged, []).unwrap() > 0, "{forged}");
        let refused = house.open_error().await;
        assert!(matches!(&refused, OpenError::Rows { timeline, .. } if timeline.is_system()), "{forged}: {refused:?}");
    }
    // Once all rows are signed together, seals do not count any more.
    house.replace_database(&whole);
    let home = house.open().await;
    home.user("bob", false).await;
    home.engine.close().await;
    connect(&house).execute("UPDATE carried_seals SET seal = zeroblob(32)", []).unwrap();
    let home = house.open().await;
    assert!(home.engine.log_in(user_id("ada"), password(SECRET), None).await.unwrap().is_some());
    home.engine.close().await;
    clean(&house).await;
}
