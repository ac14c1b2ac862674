//! Attacks that recompute all derived data, with and without a signing key.

use std::sync::Arc;

use rusqlite::Connection;
use timenav_core::clock::ClockCommand;
use timenav_core::event::EventDraft;
use timenav_core::ledger::{Frontier, Leaf, LeafRecord, Salt, payload_hash};
use timenav_core::scan::{Depth, FindingKind};
use timenav_core::time::{Duration, Span};
use timenav_core::timers::{AdvanceState, Schedule};
use timenav_engine::{Delivery, OpenError, Signer as _, TimerRequest};

use crate::house::{Home, House};
use crate::ports::SeedSigner;
use crate::sample::timeline_id;
use crate::tampering::{
    MAIN, Outside, attack, check_found, clean, connect, entry, finding_kinds, first_reads, found, lived_in, look, put,
    read_by_nobody, rebuild, restate, rewrite, row, sign,
};

/// Sets a timer half an hour ahead of the clock of `main`.
async fn set_timer(home: &Home<'_>) {
    let now = home.engine.read_clock(&home.admin, None).await.unwrap().current_time;
    let schedule = Some(Schedule::At(now.checked_add(Span::from_micros(1_800_000_000)).unwrap()));
    let request = TimerRequest { schedule, ..TimerRequest::default() };
    home.engine.set_timer(&home.admin, None, (None, request), None).await.unwrap();
}

/// Payloads for workers come from the database, and a scan compares them with the entries.
#[tokio::test]
async fn changed_timer_payload_is_reported() {
    let house = lived_in().await;
    let home = house.open().await;
    set_timer(&home).await;
    home.engine.close().await;
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
        let house = lived_in().await;
        let home = house.open().await;
        set_timer(&home).await;
        home.engine.close().await;
        attack(&house, forged);
        found(&house, "main", FindingKind::StateMismatch, None).await;
        let home = house.open().await;
        let hour = Duration::new(0, Span::from_micros(3_600_000_000)).unwrap();
        let step = home.engine.change_clock(&home.admin, None, ClockCommand::FastForward(hour), None).await.unwrap();
        let advance_id = step.advance_id.expect("a timer is passed");
        home.engine.keep_time().await;
        let receipt = home.engine.receipt(&timeline_id("main"), &advance_id).await.unwrap();
        assert_eq!((receipt.state, receipt.step), (AdvanceState::Stopped, 0), "{forged}");
        assert!(receipt.held_by.is_some_and(|held_by| held_by.contains("scan this timeline")), "{forged}");
        home.engine.close().await;
    }
}

/// The service itself records only events of firings, and a firing's outcome is its event.
#[tokio::test]
async fn timer_events_must_match_their_firings() {
    let house = lived_in().await;
    let home = house.open().await;
    let now = home.engine.read_clock(&home.admin, None).await.unwrap().current_time;
    let schedule = Some(Schedule::At(now.checked_add(Span::from_micros(1_800_000_000)).unwrap()));
    let deliver = Some(Delivery::Timeline(Arc::new(EventDraft::at(now, "it ends"))));
    let request = TimerRequest { schedule, deliver, ..TimerRequest::default() };
    home.engine.set_timer(&home.admin, None, (None, request), None).await.unwrap();
    let hour = Duration::new(0, Span::from_micros(3_600_000_000)).unwrap();
    home.engine.change_clock(&home.admin, None, ClockCommand::FastForward(hour), None).await.unwrap();
    home.engine.keep_time().await;
    home.engine.close().await;
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
    let whole = house.path().with_extension("whole");
    house.copy_database(&whole);
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

async fn refused(house: &House) -> OpenError {
    house.try_open(house.store()).await.err().expect("it is not opened")
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
    let signer = &house.signer;
    sign(&connect(house), MAIN, frontier, "timenav.test/main", signer.public_key(), |message| signer.sign(message));
    restate(house, signer).await;
}

#[tokio::test]
async fn t04_edited_entry_with_recomputed_tree_is_reported() {
    let house = lived_in().await;
    let size = recompute(&house, edit).size();
    found(&house, "main", FindingKind::CheckpointMismatch, Some(size)).await;
    // The signature alone shows it, also in a quick scan.
    for depth in [Depth::Full, Depth::Quick] {
        check_found(&look(&house, "main", depth, Outside::Nothing).await, FindingKind::CheckpointMismatch, Some(size));
    }
    let refused = refused(&house).await;
    assert!(matches!(refused, OpenError::Unsigned { .. }), "{refused:?}");
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
    assert!(matches!(refused(&house).await, OpenError::Head { .. }));
}

/// A forged advance would move the clock. A signed summary of the timers says whether one is in progress.
#[tokio::test]
async fn forged_timer_summary_is_rejected_at_start() {
    let house = lived_in().await;
    let home = house.open().await;
    set_timer(&home).await;
    home.engine.close().await;
    clean(&house).await;
    let known = "UPDATE timelines SET timers = replace(timers, '\"armed\":1', '\"armed\":2') WHERE timeline = 2";
    for forged in [known, "UPDATE timelines SET timers = '' WHERE timeline = 2"] {
        attack(&house, forged);
        let refused = refused(&house).await;
        assert!(matches!(refused, OpenError::Rows { .. } | OpenError::Head { .. }), "{refused:?}");
    }
}

#[tokio::test]
async fn t06_edited_last_entry_is_reported() {
    let house = lived_in().await;
    let size = look(&house, "main", Depth::Quick, Outside::Stored).await.size;
    recompute(&house, |connection| {
        rewrite(connection, MAIN, size - 1, |record, _| record.actor = "mallory".into());
    });
    let scan = look(&house, "main", Depth::Full, Outside::Nothing).await;
    check_found(&scan, FindingKind::CheckpointMismatch, Some(size));
}

/// Shifts the positions of all entries from a position on.
fn renumber(connection: &Connection, first: u64, by: i64) {
    let last = (first..10_000).take_while(|position| exists(connection, *position)).last().unwrap();
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

fn exists(connection: &Connection, position: u64) -> bool {
    let count = connection.query_row("SELECT count(*) FROM entries WHERE entry = ?1", [entry(MAIN, position)], |row| {
        row.get::<_, i64>(0)
    });
    count.unwrap() == 1
}

#[tokio::test]
async fn t08_deleted_entry_with_renumbering_is_reported() {
    let house = lived_in().await;
    let size = recompute(&house, |connection| {
        connection.execute("DELETE FROM entries WHERE entry = ?1", [entry(MAIN, 20)]).unwrap();
        renumber(connection, 21, -1);
    })
    .size();
    found(&house, "main", FindingKind::CheckpointMismatch, Some(size + 1)).await;
    check_found(&look(&house, "main", Depth::Full, Outside::Stored).await, FindingKind::Rollback, Some(size));
}

#[tokio::test]
async fn t09_inserted_entry_is_reported() {
    let house = lived_in().await;
    let before = look(&house, "main", Depth::Quick, Outside::Stored).await.size;
    recompute(&house, |connection| {
        let inserted = row(connection, MAIN, 20);
        renumber(connection, 20, 1);
        put(connection, MAIN, 20, &inserted);
    });
    found(&house, "main", FindingKind::CheckpointMismatch, Some(before)).await;
    assert!(matches!(refused(&house).await, OpenError::Unsigned { .. }));
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
    sign(&connect(&house), MAIN, &frontier, "timenav.test/main", thief.public_key(), |message| thief.sign(message));
    let scan = found(&house, "main", FindingKind::UnknownKey, Some(frontier.size())).await;
    assert!(scan.findings.iter().any(|finding| finding.kind == FindingKind::ExternalCheckpointInconsistent));
    check_found(&look(&house, "main", Depth::Quick, Outside::Nothing).await, FindingKind::UnknownKey, None);
    assert!(matches!(refused(&house).await, OpenError::Head { .. }));
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
    assert!(matches!(refused(&house).await, OpenError::Fork { .. }));
    // Without an external checkpoint it passes, and the scan says so.
    let alone = look(&house, "main", Depth::Full, Outside::Nothing).await;
    assert_eq!(finding_kinds(&alone), []);
    assert!(alone.not_checked.iter().any(|sentence| sentence.contains("no checkpoint from outside")));
}

#[tokio::test]
async fn t28_rewritten_entry_without_effect_is_reported() {
    let house = lived_in().await;
    // Replaying the tables does not show it, only the tree does.
    let size = recompute(&house, |connection| {
        rewrite(connection, MAIN, first_reads(connection), |_, payload| *payload = read_by_nobody(payload));
    })
    .size();
    let scan = found(&house, "main", FindingKind::CheckpointMismatch, Some(size)).await;
    assert!(!finding_kinds(&scan).iter().any(|(kind, _)| *kind == FindingKind::StateMismatch));
}

#[tokio::test]
async fn t30_unknown_format_version_is_reported() {
    let house = lived_in().await;
    let size = recompute(&house, |connection| {
        let (leaf, salt, payload) = row(connection, MAIN, 20);
        let text = String::from_utf8(leaf).unwrap().replace("\"v\":2}", "\"v\":3}");
        put(connection, MAIN, 20, &(text.into_bytes(), salt, payload));
    })
    .size();
    found(&house, "main", FindingKind::UnknownFormat, Some(20)).await;
    found(&house, "main", FindingKind::CheckpointMismatch, Some(size)).await;
}

#[tokio::test]
async fn t25_decreasing_host_time_is_reported() {
    // The service never records that, only someone with its signing key can.
    let house = lived_in().await;
    let frontier = recompute(&house, |connection| {
        rewrite(connection, MAIN, 705, |record, _| record.recorded_at = "2020-01-01T00:00:00Z".into());
    });
    steal_the_key(&house, &frontier).await;
    let scan = look(&house, "main", Depth::Full, Outside::Nothing).await;
    check_found(&scan, FindingKind::HostTimeWentDown, Some(705));
}

#[tokio::test]
async fn forged_clock_time_of_an_entry_is_reported() {
    let house = lived_in().await;
    let frontier = recompute(&house, |connection| {
        rewrite(connection, MAIN, 100, |record, _| record.clock_time = "1999-01-01T00:00:00Z".into());
    });
    steal_the_key(&house, &frontier).await;
    let scan = look(&house, "main", Depth::Full, Outside::Nothing).await;
    assert_eq!(finding_kinds(&scan), [(FindingKind::ClockDiscontinuity, Some(100))]);
}

#[tokio::test]
async fn manually_appended_entry_is_reported() {
    let house = lived_in().await;
    let before = look(&house, "main", Depth::Quick, Outside::Stored).await.size;
    recompute(&house, |connection| {
        let leaf = Leaf {
            timeline_id: timeline_id("main").as_str(),
            seq: before,
            recorded_at: "2027-01-01T00:00:00Z",
            clock_time: "2027-01-01T00:00:00Z",
            actor: "admin",
            action: "read",
            subject: "clock",
            payload_hash: payload_hash(&Salt::from_bytes([1; 16]), b"{}"),
        }
        .encode_v2(&timenav_core::ledger::Authority { key: "key_1".into(), directory: 1 << 20 });
        put(connection, MAIN, before, &(leaf, vec![1; 16], b"{}".to_vec()));
    });
    found(&house, "main", FindingKind::CheckpointMismatch, Some(before)).await;
}
