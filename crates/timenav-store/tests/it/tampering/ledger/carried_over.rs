//! A database from before entries included credentials: its ledgers continue, and its rows are signed from then on.

use crate::tampering::*;

/// Converts a closed house to the form left by an earlier version: entries of version 1, no head statements, and a seal
/// for each row of a session or a password.
pub(super) fn make_old(house: &House) {
    let connection = connect(house);
    let mut notes = house.outside.notes();
    for (timeline, name) in [(1, "system"), (MAIN, "main")] {
        let size = "SELECT size FROM timelines WHERE timeline = ?1";
        let size: i64 = connection.query_row(size, [timeline], |row| row.get(0)).unwrap();
        for position in 0..size.cast_unsigned() {
            let (leaf, salt, payload) = row(&connection, timeline, position);
            let leaf = LeafRecord::decode(&leaf).unwrap().as_leaf().encode();
            put(&connection, timeline, position, &(leaf, salt, payload));
        }
        let frontier = rebuild(&connection, timeline);
        notes.insert(timeline_id(name), sign_note(house, &connection, timeline, name, &frontier));
    }
    connection.execute("UPDATE timelines SET statement = x'', directory = 0", []).unwrap();
    seal_rows(house, &connection);
    house.outside.hold(notes);
}

/// Adds the seals of sessions and passwords that a migration has moved from their rows.
fn seal_rows(house: &House, connection: &Connection) {
    let at = |micros: i64| crate::sample::host(micros).to_string();
    let put = |kind: &str, id: &str, text: &str| {
        let label = if kind == "password" { "password row" } else { "session row" };
        let seal = house.signer.authenticate(label, text.as_bytes());
        connection.execute("INSERT INTO carried_seals VALUES (?1, ?2, ?3)", params![kind, id, seal]).unwrap();
    };
    let mut select = connection.prepare("SELECT user_id, set_at, phc FROM passwords").unwrap();
    let rows = select.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)));
    for (user, set_at, phc) in rows.unwrap().map(Result::<(String, i64, String), _>::unwrap) {
        put("password", &user, &format!("{user} {} {phc}", at(set_at)));
    }
    let select = "SELECT session_id, lower(hex(hash)), user_id, created_at, renewed_at, expires_at FROM sessions";
    let mut select = connection.prepare(select).unwrap();
    let mut rows = select.query([]).unwrap();
    while let Some(row) = rows.next().unwrap() {
        let text = |column: usize| row.get::<_, String>(column).unwrap();
        let time = |column: usize| at(row.get(column).unwrap());
        let (id, hash, user) = (text(0), text(1), text(2));
        put("session", &id, &format!("{id} {hash} {user} {} {} {}", time(3), time(4), time(5)));
    }
}

async fn old() -> House {
    let house = House::new();
    let home = house.open().await;
    home.user("ada", false).await;
    record(&home, "main", 0, 300).await;
    home.engine.close().await;
    make_old(&house);
    house
}

fn version(house: &House, timeline: i64, position: u64) -> u64 {
    let (leaf, ..) = row(&connect(house), timeline, position);
    if LeafRecord::decode(&leaf).unwrap().authority.is_some() { 2 } else { 1 }
}

fn is_stated(house: &House, timeline: i64) -> bool {
    let select = "SELECT length(statement) > 0 FROM timelines WHERE timeline = ?1";
    connect(house).query_row(select, [timeline], |row| row.get(0)).unwrap()
}

#[tokio::test]
async fn migrated_ledgers_continue_and_sign_their_rows() {
    let house = old().await;
    clean(&house).await;
    assert_eq!((version(&house, MAIN, 300), is_stated(&house, MAIN)), (1, false));
    let home = house.open().await;
    home.change_clock(None, ClockCommand::Pause).await;
    home.engine.close().await;
    assert_eq!((version(&house, MAIN, 300), version(&house, MAIN, 301), is_stated(&house, MAIN)), (1, 2, true));
    assert!(!is_stated(&house, 1), "nothing was written there");
    clean(&house).await;
    // Later changes are signed with their rows, and the others are trusted as before.
    connect(&house).execute("UPDATE users SET created_at = created_at + 1", []).unwrap();
    let home = house.open().await;
    home.engine.create_user(&home.admin, user_id("bob"), false, None).await.unwrap();
    home.engine.close().await;
    for (attack, about) in [
        ("UPDATE users SET operator = 1 WHERE user_id = 'ada'", "system"),
        ("UPDATE timelines SET clock_running = 1 WHERE timeline = 2", "main"),
    ] {
        let whole = house.path().with_extension("whole");
        let _ = std::fs::remove_file(&whole);
        house.copy_database(&whole);
        connect(&house).execute(attack, []).unwrap();
        let refused = house.try_open(house.store()).await.err();
        assert!(
            matches!(&refused, Some(OpenError::Rows { timeline, .. }) if timeline.as_str() == about),
            "{attack}: {refused:?}"
        );
        house.replace_database(&whole);
    }
    house.open().await.engine.close().await;
}
