//! Entries without permission, but with valid hashes, and signed by the service's own key.

use timenav_core::access::Scope;
use timenav_core::clock::Rate;
use timenav_core::ledger::Authority;
use timenav_core::time::{Instant, Span, Wall};
use timenav_engine::{ApiKeyRequest, OpenError};

use super::carried_over::make_old;
use crate::sample::key_id;
use crate::tampering::*;

pub(super) const SYSTEM: i64 = 1;
pub(crate) const HOUR: i64 = 3_600_000_000;

/// Changes entries and signs everything again. Returns the findings of a scan without external data.
pub(super) async fn rewritten(house: &House, timeline: i64, change: impl FnOnce(&Connection)) -> Scan {
    let connection = connect(house);
    change(&connection);
    let frontier = rebuild(&connection, timeline);
    let name = if timeline == SYSTEM { "system" } else { "main" };
    let ledger = origin(&house.options.service_name, name);
    sign(&connection, timeline, &frontier, &ledger, house.signer.public_key(), |text| house.signer.sign(text));
    look(house, name, Depth::Full, Outside::Nothing).await
}

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

/// Returns the last position of an action on a timeline.
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

/// Returns the id of a user's first row in a table.
fn id_of(house: &House, table: &str, column: &str, user: &str) -> String {
    let select = format!("SELECT {column} FROM {table} WHERE user_id = ?1 ORDER BY {column} LIMIT 1");
    connect(house).query_row(&select, [user], |row| row.get(0)).unwrap()
}

#[tokio::test]
async fn entry_with_a_foreign_key_is_reported() {
    let house = lived_in().await;
    let scan = rewritten(&house, MAIN, |connection| {
        rewrite(connection, MAIN, 300, |record, _| record.actor = "ada".into());
    })
    .await;
    check_unauthorized(&scan, 300, "belongs to `admin`");
}

#[tokio::test]
async fn entry_with_an_unknown_or_revoked_key_is_reported() {
    let house = lived_in().await;
    let (last, newest) = (last_of(&house, MAIN), newest_version(&house));
    let stopped = id_of(&house, "api_keys", "key_id", "ada");
    for (key, actor, why) in [
        ("key_0123".to_owned(), "admin", "no such key or session was created"),
        (stopped, "ada", "which did not exist at version"),
        (String::new(), "admin", "neither a key nor a session"),
        (String::new(), "system", "neither a key nor a session"),
        (String::new(), "unknown", "neither a key nor a session"),
    ] {
        let scan = rewritten(&house, MAIN, |connection| {
            rewrite(connection, MAIN, last, |record, _| {
                record.actor = actor.into();
                record.authority = Some(Authority { key: key.clone().into(), directory: newest });
            });
        })
        .await;
        check_unauthorized(&scan, last, why);
    }
}

/// Changes the key or session of the first read.
fn read_with(payload: &[u8], id: &str) -> Vec<u8> {
    let mut reads: serde_json::Value = serde_json::from_slice(payload).unwrap();
    reads[0]["key"] = id.into();
    serde_json::to_vec(&reads).unwrap()
}

#[tokio::test]
async fn entry_with_an_ended_or_foreign_session_is_reported() {
    let house = lived_in().await;
    let home = house.open().await;
    let session = home.engine.log_in(user_id("admin"), password(SECRET), None).await.unwrap().unwrap();
    home.engine.read_clock(&session.caller, None).await.unwrap();
    let id = session.caller.session_id().unwrap().to_string();
    home.engine.log_out(&session.caller, false).await.unwrap();
    home.engine.read_clock(&home.admin, None).await.unwrap();
    home.engine.close().await;
    clean(&house).await;
    let last = last_of(&house, MAIN);
    let scan = rewritten(&house, MAIN, |connection| {
        rewrite(connection, MAIN, last, |_, payload| *payload = read_with(payload, &id));
    })
    .await;
    check_unauthorized(&scan, last, "which did not exist at version");
    let of_ada = id_of(&house, "sessions", "session_id", "ada");
    let scan = rewritten(&house, MAIN, |connection| {
        rewrite(connection, MAIN, last, |_, payload| *payload = read_with(payload, &of_ada));
    })
    .await;
    check_unauthorized(&scan, last, "belongs to `ada`");
}

#[tokio::test]
async fn entry_with_an_expired_key_is_reported() {
    let house = lived_in().await;
    let home = house.open().await;
    let until = home.engine.now().checked_add(Span::from_micros(HOUR)).unwrap();
    let made = home.engine.create_api_key(&home.admin, request(None, Some(until)), None).await.unwrap();
    let caller = home.engine.authenticate(&made.secret.unwrap()).unwrap();
    home.engine.read_clock(&caller, None).await.unwrap();
    house.clock.advance(2 * HOUR);
    home.engine.read_clock(&caller, None).await.unwrap_err();
    home.engine.read_clock(&home.admin, None).await.unwrap();
    home.engine.close().await;
    clean(&house).await;
    let last = last_of(&house, MAIN);
    let scan = rewritten(&house, MAIN, |connection| {
        let id = key_id(&caller).to_string();
        rewrite(connection, MAIN, last, |_, payload| *payload = read_with(payload, &id));
    })
    .await;
    check_unauthorized(&scan, last, "which had expired at");
}

#[tokio::test]
async fn entry_of_a_user_with_an_expired_permission_is_reported() {
    let house = lived_in().await;
    let home = house.open().await;
    let eve = home.user("eve", false).await;
    let ends = BTreeMap::from([((Role::Read, user_id("eve")), End::In(Span::from_micros(HOUR)))]);
    let change = PermissionsChange { read: Some(users(["ada", "eve"])), ends, ..PermissionsChange::default() };
    home.engine.set_access_control(&home.admin, timeline_id("main"), change, None).await.unwrap();
    home.engine.read_clock(&eve, None).await.unwrap();
    house.clock.advance(2 * HOUR);
    home.engine.read_clock(&eve, None).await.unwrap_err();
    home.engine.read_clock(&home.admin, None).await.unwrap();
    home.engine.close().await;
    clean(&house).await;
    let last = last_of(&house, MAIN);
    let scan = rewritten(&house, MAIN, |connection| {
        rewrite(connection, MAIN, last, |_, payload| {
            let altered = read_with(payload, key_id(&eve).as_str());
            *payload = String::from_utf8(altered).unwrap().replace("\"admin\"", "\"eve\"").into_bytes();
        });
    })
    .await;
    check_unauthorized(&scan, last, "it does not exist, or you don't have access to it");
}

#[tokio::test]
async fn entry_with_a_nonexistent_directory_version_is_reported() {
    let house = lived_in().await;
    let (last, newest) = (last_of(&house, MAIN), newest_version(&house));
    let scan = rewritten(&house, MAIN, |connection| {
        rewrite(connection, MAIN, last, |record, _| record.authority.as_mut().unwrap().directory = newest + 1);
    })
    .await;
    check_unauthorized(&scan, last, &format!("but `system` has {newest} changes"));
    let last = last_of(&house, SYSTEM);
    for version in [newest - 2, newest] {
        let scan = rewritten(&house, SYSTEM, |connection| {
            rewrite(connection, SYSTEM, last, |record, _| record.authority.as_mut().unwrap().directory = version);
        })
        .await;
        check_unauthorized(&scan, last, "the entries before it lead to version");
    }
}

#[tokio::test]
async fn operator_created_in_the_name_of_the_service_is_reported() {
    let house = lived_in().await;
    let at = last_with(&house, SYSTEM, "create_user");
    let scan = rewritten(&house, SYSTEM, |connection| {
        rewrite(connection, SYSTEM, at, |record, _| {
            record.actor = "system".into();
            record.authority.as_mut().unwrap().key = "".into();
        });
    })
    .await;
    check_unauthorized(&scan, at, "neither a key nor a session");
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
    let scan = rewritten(&house, SYSTEM, |connection| {
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
        let request = ApiKeyRequest { user_id: Some(user_id(user)), scopes, ..request(None, None) };
        keys.push(home.engine.create_api_key(&home.admin, request, None).await.unwrap().secret.unwrap());
    }
    let change = PermissionsChange { write: Some(users(["bob"])), ..PermissionsChange::default() };
    home.engine.set_access_control(&home.admin, timeline_id("main"), change, None).await.unwrap();
    home.restrict("bob", RestrictionLevel::LimitedAccess).await;
    home.engine.close().await;
    make_old(&house);
    clean(&house).await;
    (house, keys.try_into().unwrap())
}

pub(crate) fn request(scopes: Option<Vec<Scope>>, expires_at: Option<Instant<Wall>>) -> ApiKeyRequest {
    ApiKeyRequest { user_id: None, timeline_id: None, label: String::new(), scopes, expires_at }
}

/// Changes rows, lets the service work with them, and restores them.
async fn work_with(house: &House, (into, back): (&str, &str), deed: impl AsyncFn(&Home<'_>)) {
    connect(house).execute(into, []).unwrap();
    let home = house.open().await;
    deed(&home).await;
    home.engine.close().await;
    connect(house).execute(back, []).unwrap();
}

/// Looks for the entry without permission, in a database that never had signed rows.
async fn check_story(house: &House, timeline: &str, action: &str, why: &str) {
    let number = if timeline == "system" { SYSTEM } else { MAIN };
    let at = last_with(house, number, action);
    for outside in [Outside::Stored, Outside::Nothing] {
        let scan = look(house, timeline, Depth::Full, outside).await;
        check_unauthorized(&scan, at, why);
    }
    let refused = house.try_open(house.store()).await.err();
    assert!(matches!(&refused, Some(OpenError::Rows { .. })), "{refused:?}");
}

#[tokio::test]
async fn actions_with_a_restored_operator_row_are_reported() {
    let (house, [ada, ..]) = old().await;
    let rows =
        ("UPDATE users SET operator = 1 WHERE user_id = 'ada'", "UPDATE users SET operator = 0 WHERE user_id = 'ada'");
    work_with(&house, rows, async |home| {
        let ada = home.engine.authenticate(&ada).unwrap();
        home.engine.create_user(&ada, user_id("eve"), true, None).await.unwrap();
        let request = ApiKeyRequest { user_id: Some(user_id("eve")), ..request(None, None) };
        home.engine.create_api_key(&ada, request, None).await.unwrap();
    })
    .await;
    let scan = look(&house, "system", Depth::Full, Outside::Stored).await;
    let reported = scan.findings.iter().filter(|one| one.kind == FindingKind::UnauthorizedEntry);
    assert_eq!(reported.count(), 2, "{:#?}", scan.findings);
    check_story(&house, "system", "create_user", "requires an operator").await;
}

#[tokio::test]
async fn actions_with_a_restored_scope_are_reported() {
    let (house, [_, bob, _]) = old().await;
    let rows = (
        "UPDATE api_keys SET scopes = 'timeline:write' WHERE scopes = 'timeline:read'",
        "UPDATE api_keys SET scopes = 'timeline:read' WHERE scopes = 'timeline:write'",
    );
    work_with(&house, rows, async |home| {
        let bob = home.engine.authenticate(&bob).unwrap();
        home.engine.create_user(&home.admin, user_id("zoe"), false, None).await.unwrap();
        home.engine.change_clock(&bob, None, ClockCommand::Pause, None).await.unwrap();
    })
    .await;
    check_story(&house, "main", "pause_time", "lacks the scope").await;
}

#[tokio::test]
async fn actions_with_a_lifted_restriction_are_reported() {
    let (house, [.., bob]) = old().await;
    let rows = (
        "UPDATE users SET restriction = 'full_access' WHERE user_id = 'bob'",
        "UPDATE users SET restriction = 'limited_access' WHERE user_id = 'bob'",
    );
    work_with(&house, rows, async |home| {
        let bob = home.engine.authenticate(&bob).unwrap();
        home.engine.create_user(&home.admin, user_id("zoe"), false, None).await.unwrap();
        let rate = ClockCommand::SetRate(Rate::from_micros(2_000_000).unwrap());
        home.engine.change_clock(&bob, None, rate, None).await.unwrap();
    })
    .await;
    check_story(&house, "main", "set_rate", "time travel is restricted").await;
}

#[tokio::test]
async fn actions_with_a_restored_permission_are_reported() {
    let (house, [ada, ..]) = old().await;
    let rows = (
        "INSERT INTO permissions SELECT timeline, 'ada', role, NULL FROM permissions WHERE user_id = 'bob'",
        "DELETE FROM permissions WHERE user_id = 'ada'",
    );
    work_with(&house, rows, async |home| {
        let ada = home.engine.authenticate(&ada).unwrap();
        home.engine.change_clock(&ada, None, ClockCommand::Pause, None).await.unwrap();
    })
    .await;
    check_story(&house, "main", "pause_time", "it does not exist, or you don't have access to it").await;
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
    let whole = house.path().with_extension("whole");
    house.copy_database(&whole);
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
        let refused = house.try_open(house.store()).await.err();
        let is_about_system = |timeline: &timenav_core::ids::TimelineId| timeline.is_system();
        assert!(
            matches!(&refused, Some(OpenError::Rows { timeline, .. }) if is_about_system(timeline)),
            "{forged}: {refused:?}"
        );
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
