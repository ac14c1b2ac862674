//! Changes every column of every table by hand: a scan reports it, or there is a documented reason why not.
//!
//! Tables and columns are read from the file, so that those added by a migration are not missed: each needs a row in
//! this house, and a scan that reports the change, or a line in [`UNNOTICED`].

use timenav_engine::NewTimeline;

use crate::tampering::*;

/// Columns with undetected changes: the affected rows, and why that is harmless, or why it cannot be detected. Changes
/// that are detected must not be listed.
const UNNOTICED: &[(&str, &str, &str, &str)] = &[
    ("arrivals", "timeline", "first, last", ARRIVALS),
    ("arrivals", "timeline_id", "first, last", ARRIVALS),
    ("arrivals", "arrival", "first, last", ARRIVALS),
    ("arrivals", "until", "first, last", ARRIVALS),
    ("arrivals", "is_over", "first, last", ARRIVALS),
    ("carried_seals", "kind", "first, last", SEALS),
    ("carried_seals", "id", "first, last", SEALS),
    ("carried_seals", "seal", "first, last", SEALS),
    ("data_records", "format", "last", "nothing reads it of a record that is erased"),
    ("data_records", "kind", "last", "nothing reads it of a record that is erased"),
    ("ended_timelines", "due_at", "first, last", "configured then; contents go earlier or later, the tree stays"),
    ("ended_timelines", "is_let_go", "first, last", "its contents stay, or are deleted again where none are"),
    ("ended_timelines", "overrides", "first, last", LAYER),
    ("entries", "clock_entry", "last", "no fork begins on a timeline that has ended"),
    ("entries", "events_count", "last", "no fork begins on a timeline that has ended"),
    ("events", "cell", "last", NEVER_ACTIVE),
    ("events", "lat", "null", "half a point is none: both are read together"),
    ("events", "lon", "null", "half a point is none: both are read together"),
    ("events", "parties", "null", NEVER_ACTIVE),
    ("events", "time", "last", NEVER_ACTIVE),
    (
        "host_clock",
        "known_at",
        "first, last",
        "no entry tells it; deletion waits where it is far from the host's clock",
    ),
    ("outcomes", "event_id", "null", ALONE),
    ("outcomes", "fingerprint", "first, last", ANSWER),
    ("outcomes", "key", "first, last", ANSWER),
    ("outcomes", "outcome", "first, last", ANSWER),
    ("outcomes", "timeline_id", "null", ALONE),
    ("policies", "reads_until", "first, last", SWEPT),
    ("policies", "refusals_until", "first, last", SWEPT),
    ("room", "filling", "first, last", "nothing reads it"),
    ("rotation_notes", "note", "first, last", ROTATION),
    ("rotation_notes", "position", "first, last", ROTATION),
    ("rotation_notes", "timeline", "first", ROTATION),
    ("sweeps", "finished", "first, last", "what it names goes again, or stays although it is named"),
    ("text_blocks", "first", "first, last", UNUSED),
    ("text_blocks", "level", "first, last", "blocks are merged earlier or later"),
    ("text_blocks", "state", "first, last", UNUSED),
    ("text_blocks", "timeline", "last", UNUSED),
    ("text_blocks", "words_version", "first, last", UNUSED),
    ("timelines", "directory", "last", "nothing reads it but of `system`; each entry has its own"),
    ("timelines", "fork_of", "null", "half a fork is none: both are read together"),
    ("timelines", "fork_size", "null", "half a fork is none: both are read together"),
];
const ALONE: &str = "an erasure finds an answer by both, and nothing by one of them";
const ANSWER: &str = "no entry tells with which key a request came, or what it was answered";
const ARRIVALS: &str = "nothing arrives; what does is compared with the bundle's signatures when it stands";
const LAYER: &str = "known gap: forks that continue it would read other events, which their own entries do not tell";
const NEVER_ACTIVE: &str = "an inherited event that does not stand: only its id and where it ends are read";
const ROTATION: &str = "whoever is given it verifies both signatures";
const SEALS: &str = "read only where `system` has no statement, and such a service does not start";
const UNUSED: &str = "the block is not used: searches read the events, until it is built again";
const SWEPT: &str = "what it covers is not looked at again, so that reads stay that should go";

/// Values to write if the default for the column's type would be obviously invalid.
const INSTEAD: &[(&str, &str, &str)] = &[
    ("anchors", "clock_running", "1 - clock_running"),
    ("anchors", "fixed", "1 - fixed"),
    ("api_keys", "horizon", "'clock'"),
    ("api_keys", "known_at", "0"),
    ("ended_timelines", "is_let_go", "1 - is_let_go"),
    ("firings", "state", "(state + 1) % 4"),
    ("outcomes", "expires_at", "expires_at + 3600000000"),
    ("outcomes", "outcome", "replace(outcome, 'what happened', 'what did not')"),
    ("permissions", "role", "iif(role = 'read', 'write', 'read')"),
    ("sweeps", "finished", "1 - finished"),
    ("timelines", "clock_running", "1 - clock_running"),
    ("timers", "cancelled", "1 - cancelled"),
    ("users", "operator", "1 - operator"),
    ("users", "restriction", "iif(restriction = 'full_access', 'read_only', 'full_access')"),
];

/// Rows of tables that are empty in an idle house.
const PLANTED: &[(&str, &str)] = &[
    ("arrivals", "INSERT INTO arrivals VALUES (-7, 'job', 'arrival', 0, 0)"),
    ("carried_seals", "INSERT INTO carried_seals VALUES ('password', 'admin', zeroblob(32))"),
    ("room", "INSERT INTO room VALUES (zeroblob(8))"),
];

/// A column of a table, and the key of a row.
struct Column {
    table: String,
    name: String,
    kind: String,
    is_nullable: bool,
    key: Vec<String>,
}

fn columns(connection: &Connection) -> Vec<Column> {
    let tables = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'";
    let mut tables = connection.prepare(tables).unwrap();
    let tables: Vec<String> = tables.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    let mut all = Vec::new();
    for table in tables {
        let select = "SELECT name, type, \"notnull\", pk FROM pragma_table_info(?1)";
        let mut select = connection.prepare(select).unwrap();
        let described: Vec<(String, String, bool, i64)> = select
            .query_map([&table], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))
            .unwrap()
            .map(Result::unwrap)
            .collect();
        let key: Vec<String> = described.iter().filter(|one| one.3 > 0).map(|one| one.0.clone()).collect();
        let key = if key.is_empty() { vec!["rowid".to_owned()] } else { key };
        all.extend(described.into_iter().map(|(name, kind, is_set, key_place)| Column {
            table: table.clone(),
            name,
            kind,
            is_nullable: !is_set && key_place == 0,
            key: key.clone(),
        }));
    }
    all
}

impl Column {
    /// Returns an expression that changes an existing value.
    fn change(&self) -> String {
        let (table, name) = (&*self.table, &*self.name);
        if let Some((_, _, instead)) = INSTEAD.iter().find(|(of, column, _)| (*of, *column) == (table, name)) {
            return (*instead).to_owned();
        }
        match &*self.kind {
            "INTEGER" => format!("{name} + 1"),
            "REAL" => format!("{name} + 0.5"),
            "TEXT" => format!("{name} || 'x'"),
            "BLOB" => format!("randomblob(max(1, length({name})))"),
            other => panic!("{table}.{name} is {other}"),
        }
    }

    /// Returns an expression that replaces NULL.
    fn filling(&self) -> String {
        match self.kind.as_str() {
            _ if INSTEAD.iter().any(|(of, column, _)| (*of, *column) == (&*self.table, &*self.name)) => self.change(),
            "INTEGER" => "1".to_owned(),
            "REAL" => "0.5".to_owned(),
            "TEXT" => "'x'".to_owned(),
            other => panic!("{}.{} is {other}", self.table, self.name),
        }
    }

    /// Returns statements that change one row each: the first and the last one with a value, and one without.
    fn attacks(&self, connection: &Connection) -> Vec<(&'static str, String)> {
        let Self { table, name, key, .. } = self;
        let listed = key.join(", ");
        let mut all = Vec::new();
        for (which, has, order) in
            [("first", "IS NOT NULL", "ASC"), ("last", "IS NOT NULL", "DESC"), ("null", "IS NULL", "ASC")]
        {
            if has == "IS NULL" && !self.is_nullable {
                continue;
            }
            let order = key.iter().map(|column| format!("{column} {order}")).collect::<Vec<_>>().join(", ");
            // Evaluated first, because the change may affect the row's key.
            let quoted = key.iter().map(|column| format!("quote({column})")).collect::<Vec<_>>().join(" || ', ' || ");
            let select = format!("SELECT {quoted} FROM {table} WHERE {name} {has} ORDER BY {order}");
            let mut select = connection.prepare(&select).unwrap();
            let rows = select.query_map([], |row| row.get::<_, String>(0)).unwrap().map(Result::unwrap);
            let value = if has == "IS NULL" { self.filling() } else { self.change() };
            let attacks = rows.map(|row| format!("UPDATE {table} SET {name} = {value} WHERE ({listed}) = ({row})"));
            let attack = attacks.into_iter().find(|attack| changes(connection, attack, self));
            all.extend(attack.map(|attack| (which, attack)));
        }
        all
    }
}

/// Returns whether the table's constraints allow a statement to change a value. The change is rolled back.
fn changes(connection: &Connection, attack: &str, column: &Column) -> bool {
    let values = || -> Vec<Value> {
        let Column { table, name, .. } = column;
        let mut select = connection.prepare(&format!("SELECT {name} FROM {table} ORDER BY 1")).unwrap();
        select.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
    };
    let before = values();
    connection.execute_batch("SAVEPOINT tried").unwrap();
    let is_done = matches!(connection.execute(attack, []), Ok(1)) && values() != before;
    connection.execute_batch("ROLLBACK TO tried; RELEASE tried").unwrap();
    is_done
}

/// Returns a house with a row in every table that has any while a service is idle.
async fn whole_house() -> (House, BTreeSet<String>) {
    let mut house = House::new();
    house.gazetteer = Some(Arc::new(OneCity));
    let home = house.open().await;
    home.close().await;
    house.next_signer = Some(Arc::new(SeedSigner::new([8; 32])));
    let home = house.open().await;
    home.engine.rotate_signing_key().await.unwrap();
    home.close().await;
    house.signer = house.next_signer.take().unwrap();
    let home = house.open().await;
    steer(&home, ClockCommand::Pause).await;
    steer(&home, ClockCommand::Travel { to: moment(0), location: Some("Utah".to_owned()) }).await;
    record(&home, "main", 0, 260).await;
    let anchor = AnchorRequest { timestamp: None, description: "here".to_owned(), fixed: true };
    home.engine.set_anchor(&home.admin, None, anchor, None).await.unwrap();
    let_in(&home).await;
    change_history(&home).await;
    fire(&home).await;
    prune(&home).await;
    let heads = home.store.open().await.unwrap().heads;
    while !is_indexed(&house) {
        tokio::task::yield_now().await;
    }
    home.close().await;
    let timelines = heads.into_iter().map(|head| head.id.to_string()).chain(["job".to_owned()]).collect();
    (house, timelines)
}

/// Returns whether the words of all events that make up a block are indexed, which happens after they are recorded.
fn is_indexed(house: &House) -> bool {
    let select = "SELECT NOT EXISTS (SELECT 1 FROM text_blocks WHERE state <> 0)
        AND NOT EXISTS (SELECT 1 FROM timelines t WHERE 32 <= (SELECT count(*) FROM events e
            WHERE e.timeline = t.timeline AND position >= (SELECT coalesce(max(end), 0) FROM text_blocks b
                WHERE b.timeline = t.timeline)))";
    connect(house).query_row(select, [], |row| row.get(0)).unwrap()
}

async fn steer(home: &Home<'_>, command: ClockCommand) {
    let change = ClockChange { settle: false, ..ClockChange::from(command) };
    home.change_clock(None, change).await;
}

/// Users, keys, passwords, sessions, roles.
async fn let_in(home: &Home<'_>) {
    let ada = home.user("ada", false).await;
    let expires_at = Some(crate::sample::host(1 << 52));
    let expiring = ApiKeyRequest { expires_at, ..key_for("ada") };
    home.engine.create_api_key(&home.admin, expiring, None).await.unwrap();
    home.engine.revoke_api_key(&home.admin, crate::sample::key_id(&ada)).await.unwrap();
    let ends = BTreeMap::from([((Role::Read, user_id("ada")), End::At(host(1 << 52)))]);
    let change = PermissionsChange { read: Some(users(["ada"])), ends, ..PermissionsChange::default() };
    home.set_permissions("main", change).await;
    home.restrict("ada", RestrictionLevel::ReadOnly).await;
    let request = new_password("ada", SECRET);
    home.engine.set_password(&home.admin, request).await.unwrap();
    home.engine.log_in(user_id("ada"), password(SECRET), None).await.unwrap().unwrap();
}

/// Versions, interventions, sealed records, stored responses, forks, ending timelines.
async fn change_history(home: &Home<'_>) {
    let Home { engine, admin, .. } = home;
    let idempotent = |number: u8| Some(Idempotency { key: [number; 32], fingerprint: [8; 32] });
    let draft = named_event("e1", 5, "what happened in fact");
    engine.correct_event(admin, None, draft, None, idempotent(1)).await.unwrap();
    let brief = NewTimeline { expires_in: Some(Span::from_micros(400 * DAY)), ..timeline_id("brief").into() };
    engine.create_timeline(admin, brief, idempotent(2)).await.unwrap();
    for name in ["fork", "job"] {
        engine.fork_timeline(admin, timeline_id(name), &timeline_id("main"), None, None).await.unwrap();
    }
    for timeline in ["main", "fork"] {
        home.intervene(on(timeline), "e3", Effect::Cancel).await;
    }
    seal(home, 2).await;
    engine.erase_data(admin, ErasureRequest::Event(on("main"), event_id("e7")), None).await.unwrap();
    engine.end_timeline(admin, timeline_id("job"), None).await.unwrap();
}

/// Timers that are armed, fired and acknowledged; an advance that has ended, and a pending firing.
async fn fire(home: &Home<'_>) {
    let Home { engine, admin, .. } = home;
    for (name, seconds) in [("early", 10), ("late", 20), ("waits", 1_000)] {
        let (order_key, payload) = (Some("k".to_owned()), Some("{\"a\":1}".into()));
        home.set_timer(name, TimerRequest { order_key, payload, ..timer_at(seconds) }).await;
    }
    assert!(home.claim(9).await.is_empty());
    let to = travel(15);
    engine.change_clock(admin, None, ClockChange::from(to), None).await.unwrap();
    engine.keep_time().await;
    let firing_ids = firing_ids(&home.claim(9).await);
    assert_eq!(firing_ids.len(), 1);
    engine.acknowledge(admin, firings(firing_ids), None).await.unwrap();
    engine.keep_time().await;
    steer(home, travel(25)).await;
    engine.keep_time().await;
}

async fn prune(home: &Home<'_>) {
    let Home { engine, admin, house, .. } = home;
    let stored = RetentionPeriod::Seconds(86_400);
    let request = RetentionRequest { reads: stored, refusals: stored };
    engine.set_retention(admin, timeline_id("main"), request, None).await.unwrap();
    for _ in 0..3 {
        engine.read_clock(admin, None).await.unwrap();
    }
    for _ in 0..3 {
        house.clock.advance(DAY);
        engine.prune(admin, timeline_id("one"), false, None).await.unwrap_err();
        engine.prune(admin, timeline_id("main"), false, None).await.unwrap();
    }
    for _ in 0..100 {
        engine.read_clock(admin, None).await.unwrap();
    }
    let question = Some(Idempotency { key: [3; 32], fingerprint: [8; 32] });
    let draft = named_event("e2", 5, "what happened indeed");
    engine.correct_event(admin, None, draft, None, question).await.unwrap();
}

/// Returns whether any scan finds anything.
async fn is_found(house: &House, timelines: &BTreeSet<String>) -> bool {
    for timeline in timelines {
        if look(house, timeline, Depth::Full, Outside::Stored).await.tampering_detected() {
            return true;
        }
    }
    false
}

fn plant(house: &House, from: &Path, table: &str) {
    house.replace_database(from);
    if let Some((_, insert)) = PLANTED.iter().find(|(planted, _)| *planted == table) {
        assert_eq!(connect(house).execute(insert, []).unwrap(), 1, "{insert}");
    }
}

#[tokio::test]
async fn every_column_is_verified_or_listed_as_unverified() {
    let (house, timelines) = whole_house().await;
    let whole = house.backup();
    clean(&house).await;
    let all = columns(&connect(&house));
    assert!(all.len() > 150, "{}", all.len());
    let mut wrong = Vec::new();
    for column in &all {
        plant(&house, &whole, &column.table);
        let attacks = column.attacks(&connect(&house));
        let (table, name) = (&*column.table, &*column.name);
        if attacks.is_empty() {
            wrong.push(format!("{table}.{name}: this house has no row in which it can be changed"));
        }
        let mut unnoticed = Vec::new();
        for (which, attack) in attacks {
            plant(&house, &whole, table);
            assert_eq!(connect(&house).execute(&attack, []).unwrap(), 1, "{attack}");
            if !is_found(&house, &timelines).await {
                unnoticed.push(which);
            }
        }
        let stated = UNNOTICED.iter().find(|(of, column, ..)| (*of, *column) == (table, name));
        let (stated, unnoticed) = (stated.map_or("", |(_, _, rows, _)| rows), unnoticed.join(", "));
        if stated != unnoticed {
            wrong.push(format!("{table}.{name}: no scan finds a change of [{unnoticed}], but stated is [{stated}]"));
        }
    }
    let is_there = |of: &str, name: &str| all.iter().any(|column| (&*column.table, &*column.name) == (of, name));
    let named = UNNOTICED.iter().map(|(of, name, ..)| (of, name)).chain(INSTEAD.iter().map(|(of, name, _)| (of, name)));
    wrong.extend(named.filter(|(of, name)| !is_there(of, name)).map(|(of, name)| format!("{of}.{name} is no column")));
    let described: BTreeSet<_> = UNNOTICED.iter().map(|(of, name, ..)| (of, name)).collect();
    assert_eq!(described.len(), UNNOTICED.len(), "a column is named twice");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
