//! Attacks that recompute all derived data, with and without a signing key.

use timenav_core::ledger::{Salt, payload_hash};
use timenav_core::timers::AdvanceState;
use timenav_engine::Delivery;

use crate::tampering::*;

/// Returns a closed house with a timer half an hour ahead of the clock of `main`.
async fn house_with_timer(deliver: Option<Delivery>) -> House {
    let house = lived_in().await;
    let home = house.open().await;
    let now = home.read_clock(None).await.current_time;
    let schedule = Some(Schedule::At(now.checked_add(Span::from_micros(HOUR / 2)).unwrap()));
    home.set_timer("timer", TimerRequest { schedule, deliver, ..TimerRequest::default() }).await;
    home.stop().await;
    house
}

/// Payloads for workers come from the database, and a scan compares them with the entries.
#[tokio::test]
async fn changed_timer_payload_is_reported() {
    let house = house_with_timer(None).await;
    attack(&house, "UPDATE timers SET payload = '{\"invoice\":666}'");
    found(&house, "main", FindingKind::StateMismatch, None).await;
}

/// The next due time is signed, so the clock does not go past a timer whose time was changed by an attacker.
#[tokio::test]
async fn changed_timer_due_time_stops_the_clock() {
    for forged in [
        "UPDATE timers SET next = next - 86400000000 WHERE next IS NOT NULL",
        "UPDATE timers SET next = next + 86400000000 WHERE next IS NOT NULL",
        "UPDATE timers SET next = NULL",
        "DELETE FROM timers",
    ] {
        let house = house_with_timer(None).await;
        attack(&house, forged);
        found(&house, "main", FindingKind::StateMismatch, None).await;
        let home = house.open().await;
        let step = home.change_clock(None, hour()).await;
        let advance_id = step.advance_id.expect("a timer is passed");
        home.engine.keep_time().await;
        let receipt = home.engine.receipt(&timeline_id("main"), &advance_id).await.unwrap();
        assert_eq!((receipt.state, receipt.step), (AdvanceState::Stopped, 0), "{forged}");
        assert!(receipt.held_by.is_some_and(|held_by| held_by.contains("scan this timeline")), "{forged}");
        home.stop().await;
    }
}

/// The service itself records only events of firings, and a firing's outcome is its event.
#[tokio::test]
async fn timer_events_must_match_their_firings() {
    let event = Arc::new(EventDraft::at(moment(0), "it ends"));
    let house = house_with_timer(Some(Delivery::Timeline(event))).await;
    let home = house.open().await;
    home.change_clock(None, hour()).await;
    home.engine.keep_time().await;
    home.stop().await;
    clean(&house).await;
    let size = look(&house, "main", Depth::Quick, Outside::Stored).await.size;
    let done = |action: &str, actor: Option<&str>| {
        let connection = connect(&house);
        let is_it = |position: &u64| {
            let record = LeafRecord::decode(&row(&connection, MAIN, *position).0).unwrap().into_owned();
            record.action == action && actor.is_none_or(|actor| record.actor == actor)
        };
        (0..size).rev().find(is_it).unwrap()
    };
    let (by_service, settled) = (done("record_event", Some("system")), done("settle_firings", None));
    let by_user = (0..by_service).rev().find(|position| {
        let (leaf, ..) = row(&connect(&house), MAIN, *position);
        LeafRecord::decode(&leaf).unwrap().action == "record_event"
    });
    let by_user = by_user.unwrap();
    let whole = house.backup();
    let of_service = |record: &mut LeafRecord<'static>| {
        record.actor = "system".into();
        record.authority.as_mut().unwrap().key = "".into();
    };
    for position in [by_user, by_service, settled] {
        house.replace_database(&whole);
        let frontier = recompute(&house, |connection| {
            rewrite(connection, MAIN, position, |record, payload| {
                if position == by_user {
                    // Claims that a timer recorded it.
                    of_service(record);
                } else if position == by_service {
                    // Claims that the firing recorded another event.
                    record.subject = "firing_00000000000000000000000000".into();
                } else {
                    let text = String::from_utf8(payload.clone()).unwrap();
                    *payload = text.replacen("\"acknowledged\"", "\"failed\"", 1).into_bytes();
                }
            });
        });
        steal_the_key(&house, &frontier).await;
        let scan = look(&house, "main", Depth::Full, Outside::Nothing).await;
        check_found(&scan, FindingKind::StateMismatch, Some(position));
    }
}

/// Recomputes everything that is derived from the entries.
fn recompute(house: &House, change: impl FnOnce(&Connection)) -> Frontier {
    let connection = connect(house);
    change(&connection);
    rebuild(&connection, MAIN)
}

fn edit(connection: &Connection) {
    rewrite(connection, MAIN, 300, |record, _| record.actor = "mallory".into());
}

/// Signs the recomputed state with the service's own key.
async fn steal_the_key(house: &House, frontier: &Frontier) {
    sign(house, MAIN, frontier, &house.signer);
    restate(house, &house.signer).await;
}

/// Appends a read to `main`.
fn append(connection: &Connection, size: u64) {
    let leaf = Leaf {
        timeline_id: "main",
        seq: size,
        recorded_at: "2027-01-01T00:00:00Z",
        clock_time: "2027-01-01T00:00:00Z",
        actor: "admin",
        action: "read",
        subject: "clock",
        payload_hash: payload_hash(&Salt::from_bytes([1; 16]), b"{}"),
    }
    .encode_v2(&timenav_core::ledger::Authority { key: "key_1".into(), directory: 1 << 20 });
    put(connection, MAIN, size, &(leaf, vec![1; 16], b"{}".to_vec()));
}

#[tokio::test]
async fn unsigned_history_with_recomputed_tree_is_reported() {
    type Change = fn(&Connection, u64);
    let house = lived_in().await;
    let whole = house.backup();
    let size = look(&house, "main", Depth::Quick, Outside::Stored).await.size;
    let changes: [(Change, Option<(FindingKind, u64)>); 7] = [
        // T04: an entry is edited, and T06: the last one.
        (|connection, _| edit(connection), None),
        (|connection, size| rewrite(connection, MAIN, size - 1, |record, _| record.actor = "mallory".into()), None),
        (
            // T08: an entry is deleted, and T09: one is inserted, and later ones are renumbered.
            |connection, _| {
                connection.execute("DELETE FROM entries WHERE entry = ?1", [entry(MAIN, 20)]).unwrap();
                renumber(connection, 21, -1);
            },
            Some((FindingKind::Rollback, size - 1)),
        ),
        (
            |connection, _| {
                let inserted = row(connection, MAIN, 20);
                renumber(connection, 20, 1);
                put(connection, MAIN, 20, &inserted);
            },
            None,
        ),
        (append, None),
        (
            // T28: replaying the tables does not show it, only the tree does.
            |connection, _| {
                let change = |_: &mut LeafRecord<'static>, payload: &mut Vec<u8>| *payload = read_by_nobody(payload);
                rewrite(connection, MAIN, first_reads(connection), change);
            },
            None,
        ),
        (
            // T30: the version of the format is unknown.
            |connection, _| {
                let (leaf, salt, payload) = row(connection, MAIN, 20);
                let text = String::from_utf8(leaf).unwrap().replace("\"v\":2}", "\"v\":3}");
                put(connection, MAIN, 20, &(text.into_bytes(), salt, payload));
            },
            Some((FindingKind::UnknownFormat, 20)),
        ),
    ];
    for (number, (change, more)) in changes.into_iter().enumerate() {
        house.replace_database(&whole);
        recompute(&house, |connection| change(connection, size));
        let scan = found(&house, "main", FindingKind::CheckpointMismatch, Some(size)).await;
        if let Some((kind, position)) = more {
            check_found(&scan, kind, Some(position));
        }
        let is_replayed = finding_kinds(&scan).iter().any(|(kind, _)| *kind == FindingKind::StateMismatch);
        assert!(number != 5 || !is_replayed, "{:#?}", scan.findings);
        // The signature alone shows it, also in a quick scan.
        for depth in [Depth::Full, Depth::Quick] {
            let scan = look(&house, "main", depth, Outside::Nothing).await;
            check_found(&scan, FindingKind::CheckpointMismatch, Some(size));
        }
        let refused = house.open_error().await;
        assert!(matches!(refused, OpenError::Unsigned { .. }), "{number}: {refused:?}");
    }
}

/// The service never records these times, only someone with its signing key can.
#[tokio::test]
async fn forged_host_or_clock_time_is_reported() {
    let house = lived_in().await;
    let whole = house.backup();
    // T25, and a clock that was elsewhere.
    let frontier = recompute(&house, |connection| {
        rewrite(connection, MAIN, 705, |record, _| record.recorded_at = "2020-01-01T00:00:00Z".into());
    });
    steal_the_key(&house, &frontier).await;
    let scan = look(&house, "main", Depth::Full, Outside::Nothing).await;
    check_found(&scan, FindingKind::HostTimeWentDown, Some(705));
    house.replace_database(&whole);
    let frontier = recompute(&house, |connection| {
        rewrite(connection, MAIN, 100, |record, _| record.clock_time = "1999-01-01T00:00:00Z".into());
    });
    steal_the_key(&house, &frontier).await;
    let scan = look(&house, "main", Depth::Full, Outside::Nothing).await;
    assert_eq!(finding_kinds(&scan), [(FindingKind::ClockDiscontinuity, Some(100))]);
}

#[tokio::test]
async fn t05_recomputed_tree_without_a_statement_is_reported() {
    let house = lived_in().await;
    let size = recompute(&house, edit).size();
    attack(&house, "UPDATE timelines SET statement = x'' WHERE timeline = 2");
    found(&house, "main", FindingKind::ExternalCheckpointInconsistent, Some(size)).await;
    // The data signed with the newest entries cannot be omitted.
    let alone = look(&house, "main", Depth::Full, Outside::Nothing).await;
    check_found(&alone, FindingKind::BadSignature, Some(size));
    assert!(matches!(house.open_error().await, OpenError::Head { .. }));
}

/// A forged advance would move the clock. A signed summary of the timers says whether one is in progress.
#[tokio::test]
async fn forged_timer_summary_is_rejected_at_start() {
    let house = house_with_timer(None).await;
    clean(&house).await;
    let known = "UPDATE timelines SET timers = replace(timers, '\"armed\":1', '\"armed\":2') WHERE timeline = 2";
    for forged in [known, "UPDATE timelines SET timers = '' WHERE timeline = 2"] {
        attack(&house, forged);
        let refused = house.open_error().await;
        assert!(matches!(refused, OpenError::Rows { .. } | OpenError::Head { .. }), "{refused:?}");
    }
}

/// Shifts the positions of all entries from a position on.
fn renumber(connection: &Connection, first: u64, by: i64) {
    let last = (first..10_000).take_while(|position| has_entry(connection, *position)).last().unwrap();
    let mut moved: Vec<_> = (first..=last).map(|position| (position, row(connection, MAIN, position))).collect();
    for (position, _) in &moved {
        for table in ["entries", "contents"] {
            let delete = format!("DELETE FROM {table} WHERE entry = ?1");
            connection.execute(&delete, [entry(MAIN, *position)]).unwrap();
        }
    }
    for (position, stored) in &mut moved {
        let to = position.checked_add_signed(by).unwrap();
        put(connection, MAIN, to, stored);
        if !stored.2.is_empty() {
            rewrite(connection, MAIN, to, |record, _| record.seq = to);
        }
    }
}

fn has_entry(connection: &Connection, position: u64) -> bool {
    let select = "SELECT EXISTS (SELECT 1 FROM entries WHERE entry = ?1)";
    connection.query_row(select, [entry(MAIN, position)], |row| row.get(0)).unwrap()
}

#[tokio::test]
async fn t17_renamed_ledger_is_reported() {
    let house = lived_in().await;
    attack(&house, "DELETE FROM timelines WHERE timeline_id = 'one'");
    attack(&house, "UPDATE timelines SET timeline_id = 'one' WHERE timeline_id = 'two'");
    let scan = found(&house, "one", FindingKind::OriginMismatch, None).await;
    assert!(finding_kinds(&scan).iter().any(|(kind, _)| *kind == FindingKind::LeafMismatch));
    // `two` is gone, and its external checkpoint proves that it existed.
    found(&house, "two", FindingKind::Rollback, Some(0)).await;
    found(&house, "system", FindingKind::StateMismatch, None).await;
}

#[tokio::test]
async fn t21_history_signed_with_another_key_is_reported() {
    let house = lived_in().await;
    let frontier = recompute(&house, edit);
    let thief = SeedSigner::new([9; 32]);
    sign(&house, MAIN, &frontier, &thief);
    let scan = found(&house, "main", FindingKind::UnknownKey, Some(frontier.size())).await;
    assert!(scan.findings.iter().any(|finding| finding.kind == FindingKind::ExternalCheckpointInconsistent));
    check_found(&look(&house, "main", Depth::Quick, Outside::Nothing).await, FindingKind::UnknownKey, None);
    assert!(matches!(house.open_error().await, OpenError::Head { .. }));
}

#[tokio::test]
async fn t22_history_signed_with_the_stolen_key_contradicts_external_checkpoint() {
    let house = lived_in().await;
    // By a user with permission, so nothing else reveals it.
    let frontier = recompute(&house, |connection| {
        rewrite(connection, MAIN, first_reads(connection), |_, payload| {
            let text = std::str::from_utf8(payload).unwrap();
            *payload = text.replacen("\"parameters\":\"", "\"parameters\":\"x", 1).into_bytes();
        });
    });
    steal_the_key(&house, &frontier).await;
    let scan = found(&house, "main", FindingKind::ExternalCheckpointInconsistent, Some(frontier.size())).await;
    assert!(scan.findings.iter().any(|finding| finding.kind == FindingKind::Fork), "both are signed");
    assert!(matches!(house.open_error().await, OpenError::Fork { .. }));
    // Without an external checkpoint it passes, and the scan says so.
    let alone = look(&house, "main", Depth::Full, Outside::Nothing).await;
    assert_eq!(finding_kinds(&alone), []);
    assert!(alone.not_checked.iter().any(|sentence| sentence.contains("no checkpoint from outside")));
}
