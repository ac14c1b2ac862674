//! Attacks disguised as erasures: deletions without one, and entries that name what they may not.

use timenav_core::ledger::{EventsErased, ReadsErased, RemainingReads};
use timenav_engine::{ReadErasure, WhichReads};

use crate::tampering::*;

/// Position of the first event of `main`.
const FIRST: u64 = 1;

async fn erase(home: &Home<'_>, ids: &[&str]) -> u64 {
    home.engine.erase_events(&home.admin, erase_ids(on("main"), ids), None).await.unwrap().ledger.position
}

/// Returns a house with ten events, two of which and a read were erased, with the positions of these erasures. Another
/// user has a key and no role.
async fn erased() -> (House, u64, u64, String) {
    let house = House::new();
    let home = house.open().await;
    record(&home, "main", 0, 10).await;
    let bob = home.user("bob", false).await;
    home.read_clock(on("main")).await;
    home.read_clock(on("main")).await;
    let events = erase(&home, &["e0", "e4"]).await;
    let position = first_reads(&connect(&house));
    let which = WhichReads::Numbers([0].into());
    let request = ReadErasure { timeline: on("main"), position, which };
    let reads = home.engine.erase_reads(&home.admin, request, None).await.unwrap().ledger.position;
    record(&home, "main", 10, 1).await;
    home.close().await;
    clean(&house).await;
    (house, events, reads, key_id(&bob).to_string())
}

async fn forge_payload(house: &House, position: u64, change: impl FnOnce(&mut Vec<u8>)) -> Scan {
    forge(house, MAIN, |connection| rewrite(connection, MAIN, position, |_, payload| change(payload))).await
}

/// Changes the versions named by an erasure.
fn name(payload: &mut Vec<u8>, positions: &[u64]) {
    let mut versions = PositionRuns::default();
    for position in positions {
        versions.push(*position).unwrap();
    }
    let original = payload.clone();
    *payload = EventsErased { versions, ..EventsErased::decode(&original).unwrap() }.encode();
}

#[tokio::test]
async fn contents_missing_without_an_erasure_are_reported() {
    let (house, ..) = erased().await;
    empty(&house, FIRST + 1);
    for depth in ["full", "tail:1000"] {
        let scan = look(&house, "main", depth.parse().unwrap(), Outside::Stored).await;
        check_found(&scan, FindingKind::PayloadMismatch, Some(FIRST + 1));
    }
}

#[tokio::test]
async fn erasure_naming_a_different_entry_kind_is_reported() {
    let (house, events, reads, _) = erased().await;
    // The entry that created the timeline, and a read entry whose contents are still there.
    for (named, taken) in [(0, true), (first_reads(&connect(&house)), false)] {
        if taken {
            empty(&house, named);
        }
        let mut positions = vec![FIRST, FIRST + 4, named];
        positions.sort_unstable();
        let scan = forge_payload(&house, events, |payload| name(payload, &positions)).await;
        let kind = if taken { FindingKind::PayloadMismatch } else { FindingKind::StateMismatch };
        check_found(&scan, kind, Some(named));
        if taken {
            // No entry may name it.
            let scan = look(&house, "main", "sample:100000".parse().unwrap(), Outside::Nothing).await;
            check_found(&scan, kind, Some(named));
        }
    }
    assert!(reads > events);
}

#[tokio::test]
async fn false_erasure_entry_is_reported() {
    let (house, events, ..) = erased().await;
    for (positions, at) in [
        (vec![FIRST, FIRST + 3, FIRST + 4], FIRST + 3),
        (vec![FIRST, FIRST + 4, events], events),
        (vec![FIRST, FIRST + 4, events + 1_000_000], events),
    ] {
        let scan = forge_payload(&house, events, |payload| name(payload, &positions)).await;
        check_found(&scan, FindingKind::StateMismatch, Some(at));
    }
    // It omits one, which is then missing without a reason.
    let scan = forge_payload(&house, events, |payload| name(payload, &[FIRST])).await;
    check_found(&scan, FindingKind::PayloadMismatch, Some(FIRST + 4));
}

#[tokio::test]
async fn unauthorized_erasure_is_reported() {
    for number in 0..2 {
        let (house, events, reads, key) = erased().await;
        let position = [events, reads][number];
        let change = |record: &mut LeafRecord<'static>, _: &mut Vec<u8>| {
            record.actor = "bob".into();
            let directory = record.authority.as_ref().unwrap().directory;
            record.authority = Some(Authority { key: key.clone().into(), directory });
        };
        let scan = forge(&house, MAIN, |connection| rewrite(connection, MAIN, position, change)).await;
        check_found(&scan, FindingKind::UnauthorizedEntry, Some(position));
    }
}

#[tokio::test]
async fn mismatches_of_erased_reads_and_erasure_entries_are_reported() {
    let (house, events, reads, _) = erased().await;
    // The other read entry, or one of `system`.
    let connection = connect(&house);
    let is_one = |position: &u64| row(&connection, MAIN, *position).0.starts_with(b"{\"action\":\"reads\"");
    let other = (first_reads(&connection) + 1..events).find(is_one).unwrap();
    let (_, salt, payload) = row(&connection, MAIN, other);
    let left = RemainingReads::parse(&salt, &payload).unwrap().without(|_, _| true);
    let update = "UPDATE contents SET salt = x'', payload = ?1 WHERE entry = ?2";
    connection.execute(update, rusqlite::params![left, entry(MAIN, other)]).unwrap();
    found(&house, "main", FindingKind::PayloadMismatch, Some(other)).await;
    connection
        .execute(
            "UPDATE contents SET salt = ?1, payload = ?2 WHERE entry = ?3",
            rusqlite::params![salt, payload, entry(MAIN, other)],
        )
        .unwrap();
    clean(&house).await;
    for position in [other, FIRST, 0, reads, reads + 1_000_000] {
        let scan = forge_payload(&house, reads, |payload| {
            let original = payload.clone();
            *payload = ReadsErased { position, ..ReadsErased::decode(&original).unwrap() }.encode();
        })
        .await;
        check_found(&scan, FindingKind::StateMismatch, Some(reads));
        // The missing content is not named any more.
        check_found(&scan, FindingKind::PayloadMismatch, Some(first_reads(&connection)));
    }
}

#[tokio::test]
async fn interrupted_erasure_is_atomic() {
    let house = House::new();
    let home = house.open().await;
    record(&home, "main", 0, 5).await;
    home.close().await;
    let (store, home) = house.open_faulty().await;
    store.fail_after(0);
    home.engine.erase_events(&home.admin, erase_ids(on("main"), &["e1"]), None).await.unwrap_err();
    store.fail_after(usize::MAX);
    home.close().await;
    clean(&house).await;
    let scan = look(&house, "main", Depth::Full, Outside::Stored).await;
    assert_eq!((finding_kinds(&scan), scan.checked_count("erased")), (vec![], 0));
    let home = house.open().await;
    erase(&home, &["e1"]).await;
    home.close().await;
    let scan = look(&house, "main", Depth::Full, Outside::Stored).await;
    assert_eq!((finding_kinds(&scan), scan.checked_count("erased")), (vec![], 1));
}

/// A deleted response is restored: unchanged, and attributed to another timeline.
#[tokio::test]
async fn restored_idempotency_response_is_reported() {
    let house = House::new();
    let home = house.open().await;
    record(&home, "main", 0, 3).await;
    let request = Some(Idempotency { key: [7; 32], fingerprint: [8; 32] });
    let draft = named_event("e1", 5, "a secret description");
    home.engine.correct_event(&home.admin, on("main"), draft, None, request).await.unwrap();
    let stored = |house: &House| -> String {
        connect(house).query_row("SELECT outcome FROM outcomes", [], |row| row.get(0)).unwrap()
    };
    let before = stored(&house);
    let erasure = erase(&home, &["e1"]).await;
    home.close().await;
    clean(&house).await;
    let forgotten = stored(&house);
    assert!(before.contains("a secret description") && !forgotten.contains("a secret description"), "{forgotten}");
    let put = |outcome: &str| {
        let changed = connect(&house).execute("UPDATE outcomes SET outcome = ?1", [outcome]).unwrap();
        assert_eq!(changed, 1);
    };
    for outcome in [before.clone(), before.replace("\"main\"", "\"other\""), "{}".to_owned()] {
        put(&outcome);
        for depth in ["full", "tail:1000"] {
            let scan = look(&house, "main", depth.parse().unwrap(), Outside::Stored).await;
            assert_eq!(finding_kinds(&scan), [(FindingKind::StateMismatch, Some(erasure))], "{depth} {outcome}");
        }
    }
    put(&forgotten);
    clean(&house).await;
    // After it expires, the request may be sent again with the same key, and gets a response after the erasure.
    let day = Idempotency::RETENTION.micros();
    let later = before.replacen("\"position\":", "\"position\":1000", 1);
    put(&later);
    connect(&house).execute("UPDATE outcomes SET expires_at = expires_at + 2 * ?1", [day]).unwrap();
    assert_eq!(finding_kinds(&look(&house, "main", Depth::Full, Outside::Stored).await), []);
    // This response was never given: there is no such entry.
    found(&house, "system", FindingKind::StateMismatch, None).await;
}
