//! Anchor rows changed and restored by an attacker: the target of a return is defined by a signed entry.

use timenav_core::as_of::AsOf;
use timenav_core::ids::AnchorId;
use timenav_engine::MonitorEvents;

use crate::sample::every_event;
use crate::tampering::*;

/// Changes of an anchor's row.
const ATTACKS: [&str; 7] = [
    "UPDATE anchors SET timestamp = timestamp + 31536000000000",
    "UPDATE anchors SET timestamp = timestamp + 1, clock_at = clock_at + 1",
    "UPDATE anchors SET clock_running = 1 - clock_running",
    "UPDATE anchors SET clock_rate = 3000000",
    "UPDATE anchors SET clock_location = 'Ohio'",
    "UPDATE anchors SET position = position - 1",
    "UPDATE anchors SET position = position + 1",
];

/// Sets an anchor on `main`, with later changes, also on a fork.
async fn marked(home: &Home<'_>) -> AnchorId {
    let (engine, admin) = (&home.engine, &home.admin);
    engine.change_clock(admin, None, ClockCommand::Pause, None).await.unwrap();
    record(home, "main", 0, 3).await;
    let anchor_id = engine.set_anchor(admin, None, anchor_now(), None).await.unwrap().change.anchor_id;
    record(home, "main", 10, 1).await;
    engine.change_clock(admin, None, hour(), None).await.unwrap();
    for (name, of) in [("fork", "main"), ("fork-of-fork", "fork")] {
        engine.fork_timeline(admin, timeline_id(name), &timeline_id(of), None, None).await.unwrap();
        engine
            .change_clock(
                admin,
                Some(timeline_id(name)),
                ClockCommand::Rewind(timenav_core::time::parse_duration("1h").unwrap()),
                None,
            )
            .await
            .unwrap();
    }
    anchor_id
}

/// Uses an anchor in all possible ways, on its own timeline or a fork. Returns the rejections, and the number of
/// attempts.
async fn used(home: &Home<'_>, timeline: &str, anchor_id: &AnchorId, round: usize) -> (Vec<Refusal>, usize) {
    let (engine, admin, named) = (&home.engine, &home.admin, timeline_id(timeline));
    let as_of = || Some(AsOf::Anchor(anchor_id.clone()));
    let (mut refused, mut count) = (Vec::new(), 0);
    let mut tell = |refusal: Option<Refusal>| {
        refused.extend(refusal);
        count += 1;
    };
    for scope in [ReturnScope::Clock, ReturnScope::All] {
        tell(engine.preview_return(admin, Some(named.clone()), anchor_id, scope).await.err());
        tell(engine.return_to_anchor(admin, Some(named.clone()), anchor_id, scope, None).await.err());
    }
    let query = MonitorEvents {
        location_text: String::new(),
        as_of: as_of().map(|as_of| (anchor_id.to_string(), as_of)),
        items_max: 5,
        ..every_event(Some(named.clone()))
    };
    tell(engine.monitor_events(admin, query).await.err());
    let fork = timeline_id(&format!("{timeline}-{round}"));
    tell(engine.fork_timeline(admin, fork, &named, as_of().as_ref(), None).await.err());
    (refused, count)
}

/// Returns the reading and the state of a timeline's clock.
async fn clock(home: &Home<'_>, timeline: &str) -> String {
    let read = home.read_clock(Some(timeline_id(timeline))).await;
    format!("{:?} {:?}", read.clock, read.current_time)
}

/// Rewrites the entry of a return with the signing key.
async fn forge_return(house: &House, timeline: i64, position: u64, change: impl Fn(&str) -> String) -> Scan {
    let change = |_: &mut LeafRecord<'static>, payload: &mut Vec<u8>| {
        let text = String::from_utf8(payload.clone()).unwrap();
        let changed = change(&text);
        assert_ne!(changed, text);
        *payload = changed.into_bytes();
    };
    forge(house, timeline, |connection| rewrite(connection, timeline, position, change)).await
}

#[tokio::test]
async fn return_to_a_tampered_anchor_is_rejected() {
    let house = House::new();
    let home = house.open().await;
    let anchor_id = marked(&home).await;
    let connection = connect(&house);
    connection.execute_batch("CREATE TEMP TABLE kept AS SELECT * FROM main.anchors").unwrap();
    for (round, attack) in ATTACKS.into_iter().enumerate() {
        assert_eq!(connection.execute(attack, []).unwrap(), 1, "{attack}");
        for timeline in ["main", "fork", "fork-of-fork"] {
            let before = clock(&home, timeline).await;
            let (refused, count) = used(&home, timeline, &anchor_id, round).await;
            assert_eq!(refused.len(), count, "{attack} on {timeline}: {refused:?}");
            let is_damage = |refusal: &Refusal| matches!(refusal, Refusal::Damaged(_));
            assert!(refused.iter().all(is_damage), "{attack} on {timeline}: {refused:?}");
            assert_eq!(clock(&home, timeline).await, before, "{attack} on {timeline}");
        }
        connection.execute_batch("DELETE FROM anchors; INSERT INTO anchors SELECT * FROM kept").unwrap();
    }
    for timeline in ["main", "fork", "fork-of-fork"] {
        let (refused, _) = used(&home, timeline, &anchor_id, 99).await;
        assert!(refused.is_empty(), "{timeline}: {refused:?}");
    }
    home.engine.close().await;
    clean(&house).await;
}

#[tokio::test]
async fn return_to_an_anchor_tampered_before_start_is_rejected() {
    let house = House::new();
    let home = house.open().await;
    let anchor_id = marked(&home).await;
    home.stop().await;
    let whole = house.backup();
    for attack in ATTACKS {
        house.replace_database(&whole);
        crate::tampering::attack(&house, attack);
        let home = house.open().await;
        let returned = home.engine.return_to_anchor(&home.admin, None, &anchor_id, ReturnScope::Clock, None).await;
        assert!(matches!(returned, Err(Refusal::Damaged(_))), "{attack}: {returned:?}");
        home.stop().await;
        found(&house, "main", FindingKind::StateMismatch, None).await;
    }
}

/// An anchor does not exist unless its entry set it, whatever a row says.
#[tokio::test]
async fn forged_anchor_rows_are_rejected() {
    let house = House::new();
    let home = house.open().await;
    let anchor_id = marked(&home).await;
    let planted =
        "INSERT INTO anchors SELECT timeline, position - 1, 'planted', set_at, timestamp - 1, description, fixed,
        clock_at, clock_running, clock_rate, clock_location FROM anchors";
    crate::tampering::attack(&house, planted);
    crate::tampering::attack(&house, "UPDATE anchors SET timeline = 3, position = 0 WHERE anchor_id <> 'planted'");
    let planted = AnchorId::new("planted").unwrap();
    for (timeline, id) in [("main", &planted), ("fork", &planted), ("fork", &anchor_id)] {
        let named = Some(timeline_id(timeline));
        let returned = home.engine.return_to_anchor(&home.admin, named, id, ReturnScope::Clock, None).await;
        assert!(matches!(returned, Err(Refusal::Damaged(_))), "{timeline} {id}: {returned:?}");
    }
    home.engine.close().await;
}

/// A column next to an entry points to the newest clock entry. A fork begins with the signed clock.
#[tokio::test]
async fn fork_of_the_past_starts_with_the_signed_clock() {
    let house = House::new();
    let home = house.open().await;
    marked(&home).await;
    let (engine, admin, main) = (&home.engine, &home.admin, timeline_id("main"));
    engine.change_clock(admin, None, ClockCommand::Travel { to: moment(5), location: None }, None).await.unwrap();
    let ledger = engine.set_anchor(admin, None, anchor_now(), None).await.unwrap().ledger;
    let (connection, last) = (connect(&house), ledger.position);
    let row = entry(MAIN, last);
    let stored = "SELECT clock_entry FROM entries WHERE entry = ?1";
    let stored: i64 = connection.query_row(stored, [row], |row| row.get(0)).unwrap();
    let signed = entry(MAIN, stored.cast_unsigned());
    let replaced = |column: &str, (from, to): (&str, &str), row: i64| {
        let new = format!("CAST(replace(CAST({column} AS TEXT), '{from}', '{to}') AS BLOB)");
        format!("UPDATE main.entries SET {column} = {new} WHERE entry = {row}")
    };
    let attacks = [
        format!("UPDATE main.entries SET clock_entry = 0 WHERE entry = {row}"),
        format!("UPDATE main.entries SET clock_entry = -1 WHERE entry = {row}"),
        replaced("leaf", ("admin", "nimda"), row),
        replaced("payload", ("\"running\":false", "\"running\":true"), signed),
    ];
    for (number, attack) in attacks.into_iter().enumerate() {
        connection.execute_batch("CREATE TEMP TABLE whole AS SELECT * FROM main.entries").unwrap();
        assert_eq!(connection.execute(&attack, []).unwrap(), 1, "{attack}");
        let fork = timeline_id(&format!("f{number}"));
        let forked = engine.fork_timeline(admin, fork, &main, Some(&AsOf::Position(last)), None).await;
        assert!(matches!(forked, Err(Refusal::Damaged(_))), "{attack}: {forked:?}");
        connection.execute_batch("REPLACE INTO main.entries SELECT * FROM whole; DROP TABLE whole").unwrap();
    }
    engine.fork_timeline(admin, timeline_id("right"), &main, Some(&AsOf::Position(last)), None).await.unwrap();
    home.engine.close().await;
    clean(&house).await;
}

/// A service that trusted the row has left an entry with the clock's target. It is signed, and found.
#[tokio::test]
async fn signed_return_to_a_forged_anchor_is_reported() {
    for (timeline, number) in [("main", MAIN), ("fork", 3), ("fork-of-fork", 4)] {
        let house = House::new();
        let home = house.open().await;
        let anchor_id = marked(&home).await;
        let named = Some(timeline_id(timeline));
        let back =
            home.engine.return_to_anchor(&home.admin, named, &anchor_id, ReturnScope::Clock, None).await.unwrap();
        let position = back.ledger.position;
        home.engine.close().await;
        clean(&house).await;
        let whole = house.backup();
        let nowhere = "anchor_00000000000000000000000000";
        for to in ["\"running\":true", "\"rate_micros\":2000000", "\"location\":\"Ohio\"", nowhere] {
            house.replace_database(&whole);
            let change = |text: &str| match to.split_once(':') {
                Some((member, _)) => {
                    let (front, rest) = text.split_once(&format!("{member}:")).unwrap();
                    format!("{front}{to}{}", &rest[rest.find(',').unwrap()..])
                }
                None => text.replace(anchor_id.as_str(), to),
            };
            let scan = forge_return(&house, number, position, change).await;
            let is_it = |finding: &timenav_core::scan::Finding| {
                finding.kind == FindingKind::ClockDiscontinuity && finding.position == Some(position)
            };
            assert!(scan.findings.iter().any(is_it), "{timeline}, {to}: {:?}", scan.findings);
        }
    }
}
