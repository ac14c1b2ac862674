//! Rows at positions that the ledger has not reached yet. They are invisible until it has, and would then be considered
//! the result of an entry.

use crate::tampering::*;

/// A position far beyond the ledger of the house.
const LATER: i64 = 99_999;
/// The same as a key of entries and contents.
const LATER_ENTRY: i64 = (MAIN << POSITION_BITS) + LATER;
/// Columns that name a row and must be changed in a copy.
const NAMES: [&str; 7] = ["event_id", "anchor_id", "data_id", "timer_id", "firing_id", "advance_id", "intervention_id"];

/// Adds what the closed house lacks: a timer that fired in an advance and an armed one, an intervention, a policy.
async fn full() -> House {
    let house = lived_in().await;
    let home = house.open().await;
    let engine = &home.engine;
    home.change_clock(None, ClockCommand::Pause).await;
    for (name, seconds) in [("soon", 5_000), ("later", 9_000)] {
        home.set_timer(name, timer_at(seconds)).await;
    }
    let to = ClockCommand::Travel { to: moment(6_000 * 1_000_000), location: None };
    engine.change_clock(&home.admin, None, ClockChange::from(to), None).await.unwrap();
    engine.keep_time().await;
    home.intervene(None, "e9", Effect::Rename("n".to_owned())).await;
    let days = RetentionPeriod::Seconds(10 * 86_400);
    let request = RetentionRequest { reads: days, refusals: days };
    engine.set_retention(&home.admin, timeline_id("main"), request, None).await.unwrap();
    home.close().await;
    house
}

/// Copies a row of `main` to a position without an entry. Returns the number of rows added.
fn plant(house: &House, table: &str) -> usize {
    let connection = connect(house);
    let mut columns = connection.prepare(&format!("SELECT name FROM pragma_table_info('{table}')")).unwrap();
    let columns: Vec<String> = columns.query_map((), |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    let taken = |column: &String| match column.as_str() {
        "position" => LATER.to_string(),
        "entry" => LATER_ENTRY.to_string(),
        "tile" => (LATER / 256).to_string(),
        name if NAMES.contains(&name) => "'planted'".to_owned(),
        name => name.to_owned(),
    };
    let values: Vec<String> = columns.iter().map(taken).collect();
    match table {
        "rotation_notes" => {
            return connection.execute("INSERT INTO rotation_notes VALUES (?1, ?2, 'x')", (MAIN, LATER)).unwrap();
        }
        "sweeps" => return connection.execute("INSERT INTO sweeps VALUES (?1, ?2, 0)", (MAIN, LATER)).unwrap(),
        _ => {}
    }
    let is_of_main = if columns.iter().any(|column| column == "timeline") {
        format!("timeline = {MAIN}")
    } else {
        format!("entry >> {POSITION_BITS} = {MAIN}")
    };
    let (columns, values) = (columns.join(", "), values.join(", "));
    let planted = format!("INSERT INTO {table} ({columns}) SELECT {values} FROM {table} WHERE {is_of_main} LIMIT 1");
    connection.execute(&planted, ()).unwrap()
}

/// Returns the tables whose rows belong to positions of a ledger.
fn tables(house: &House) -> Vec<String> {
    let connection = connect(house);
    let select = "SELECT DISTINCT t.name FROM sqlite_master t, pragma_table_info(t.name) c
        WHERE t.type = 'table' AND c.name IN ('position', 'entry', 'tile') ORDER BY 1";
    let mut tables = connection.prepare(select).unwrap();
    tables.query_map((), |row| row.get(0)).unwrap().map(Result::unwrap).collect()
}

#[tokio::test]
async fn rows_at_future_positions_are_reported() {
    let house = full().await;
    clean(&house).await;
    let stored = house.backup();
    let mut unseen = Vec::new();
    for table in tables(&house) {
        assert_eq!(plant(&house, &table), 1, "{table}");
        let scan = look(&house, "main", Depth::Full, Outside::Stored).await;
        if !scan.tampering_detected() {
            unseen.push(table);
        }
        house.replace_database(&stored);
    }
    assert_eq!(unseen, Vec::<String>::new());
}

#[tokio::test]
async fn rows_at_future_positions_are_reported_on_postgres() {
    let house = House::on_postgres();
    let home = house.open().await;
    let anchor = AnchorRequest { timestamp: None, description: "an anchor".to_owned(), fixed: false };
    home.engine.set_anchor(&home.admin, None, anchor, None).await.unwrap();
    home.close().await;
    clean(&house).await;
    let main = "SELECT timeline FROM timelines WHERE timeline_id = 'main'";
    let anchors = format!(
        "INSERT INTO anchors SELECT timeline, {LATER}, 'planted', set_at, timestamp, description, fixed, clock_at,
            clock_running, clock_rate, clock_location FROM anchors WHERE timeline = ({main})"
    );
    let tiles = format!("INSERT INTO tiles SELECT ({main}), 1, 5, decode('00', 'hex')");
    for (statement, table) in [(anchors, "anchors"), (tiles, "tiles")] {
        execute(&house.database(), &statement);
        let scan = look(&house, "main", Depth::Quick, Outside::Stored).await;
        let says = format!("table {table} has rows at positions beyond the size of the ledger");
        assert!(scan.findings.iter().any(|finding| finding.evidence.starts_with(&says)), "{scan:#?}");
    }
}
