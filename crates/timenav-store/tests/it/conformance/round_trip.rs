//! Reads return exactly what was written, now and after reopening.

use std::collections::BTreeMap;

use timenav_core::access::{Ends, Permissions, Scope};
use timenav_core::clock::{Clock, ClockState, Moment, Rate};
use timenav_core::horizon::Horizon;
use timenav_core::ids::UserId;
use timenav_core::limits::{RATE_MICROS_MAX, RATE_MICROS_MIN};
use timenav_engine::{Anchor, ApiKey, ENTRY_ROWS_BYTES, EntryRow, Head, Idempotency, StoredEntry, User};

use crate::backend::{Backend, on_each_backend};
use crate::conformance::*;

on_each_backend!(
    check_timeline_heads_with_extreme_values_round_trip,
    check_permissions_are_replaced_only_if_changed,
    check_users_and_keys_round_trip,
    check_anchors_round_trip,
    check_outcomes_are_replaced_and_expire,
    check_entries_round_trip_byte_for_byte,
    check_large_entries_are_returned_in_blocks,
    check_nonexistent_positions_are_empty,
);

const UNICODE: &str = "Łódź 東京 🕰️ \u{202e}עברית \u{0} \u{1f} ' \" \\ %_ e\u{301}";

fn clocks() -> Vec<Clock> {
    let mut clocks = Vec::new();
    for rate in [RATE_MICROS_MIN, 1_000_000, RATE_MICROS_MAX] {
        let rate = Rate::from_micros(rate).unwrap();
        for (wall, at) in [(Instant::MIN, Instant::MAX), (Instant::MAX, Instant::MIN), (Instant::EPOCH, Instant::EPOCH)]
        {
            let generation = i64::MAX.cast_unsigned();
            let running = ClockState::Running { origin_host: wall, origin_virtual: at, rate };
            let paused = ClockState::Paused { since: wall, at, rate };
            clocks.push(Clock { state: running, location: None, generation: 0 });
            clocks.push(Clock { state: paused, location: Some(UNICODE.to_owned()), generation });
        }
    }
    clocks
}

/// Compares the debug output, so that new fields are compared automatically.
fn assert_same(found: &Head, expected: &Head) {
    assert_eq!(format!("{found:#?}"), format!("{expected:#?}"));
}

async fn head_of(store: &dyn Store, id: &TimelineId) -> Head {
    let opened = store.open().await.unwrap();
    opened.heads.into_iter().find(|head| head.id == *id).unwrap()
}

async fn check_timeline_heads_with_extreme_values_round_trip(backend: &dyn Backend) {
    let store = backend.open();
    let long = format!("{:@<128}", "t");
    let mut ledger = Ledger::new(1, &long);
    for (number, clock) in clocks().into_iter().enumerate() {
        let edge = if number % 2 == 0 { Instant::MIN } else { Instant::MAX };
        // The creation time is written once and never changes.
        if number == 0 {
            ledger.head.created_at = Instant::MIN;
        }
        ledger.head.clock = clock;
        ledger.head.events_count = u64::from(u32::MAX) + number as u64;
        ledger.head.anchors_count = number as u64;
        let mut step = ledger.grow(1 + number);
        step.head.recorded_at = edge;
        step.head.carried_note = format!("{UNICODE}\n\n— x y\n").into();
        let expected = step.head.clone();
        store.commit(commit_of(vec![step])).await.unwrap();
        assert_same(&head_of(&*store, &expected.id).await, &expected);
        assert_same(&head_of(&*backend.open(), &expected.id).await, &expected);
    }
    let mut other = Ledger::new(2, "T");
    store.commit(commit_of(vec![other.grow(1)])).await.unwrap();
    let mut lower = Ledger::new(3, "t");
    store.commit(commit_of(vec![lower.grow(1)])).await.unwrap();
    assert_eq!(store.open().await.unwrap().heads.len(), 3, "ids that differ in case are two");
}

async fn check_permissions_are_replaced_only_if_changed(backend: &dyn Backend) {
    let store = backend.open();
    let long = format!("{:.<128}", "u");
    let (mut one, mut two) = (Ledger::new(1, "one"), Ledger::new(2, "two"));
    let everywhere = users(["ada", "Ada", &long]);
    let ends = |user: &str, end| BTreeMap::from([(user_id(user), end)]);
    let first = Permissions {
        read: everywhere.clone(),
        write: everywhere.clone(),
        admin: everywhere,
        ends: Ends { read: ends("ada", Instant::MIN), write: ends(&long, Instant::MAX), ..Ends::default() },
    };
    one.head.permissions = Arc::new(first.clone());
    store.commit(commit_of(vec![one.grow(1), two.grow(1)])).await.unwrap();
    let later = [
        Permissions { read: users(["bob"]), write: users([]), admin: users(["ada"]), ..Permissions::default() },
        Permissions {
            read: users(["bob"]),
            admin: users(["ada", "bob"]),
            ends: Ends { admin: ends("bob", Instant::EPOCH), ..Ends::default() },
            ..Permissions::default()
        },
        Permissions::default(),
        Permissions { write: users(["bob", "eve"]), ..Permissions::default() },
    ];
    let mut current = first;
    for permissions in later {
        one.head.permissions = Arc::new(permissions.clone());
        let mut step = one.grow(1);
        step.permissions_changed = false;
        store.commit(commit_of(vec![step])).await.unwrap();
        assert_eq!(*head_of(&*store, &one.head.id).await.permissions, current);
        let mut step = one.grow(1);
        step.permissions_changed = true;
        store.commit(commit_of(vec![step])).await.unwrap();
        current = permissions;
        assert_eq!(*head_of(&*backend.open(), &one.head.id).await.permissions, current);
        assert_eq!(head_of(&*store, &two.head.id).await.permissions, two.head.permissions);
    }
}

async fn put(store: &dyn Store, changes: Vec<DirectoryChange>) {
    store.commit(Commit { directory: changes, ..Commit::default() }).await.unwrap();
}

async fn check_users_and_keys_round_trip(backend: &dyn Backend) {
    let store = backend.open();
    let long = format!("{:-<128}", "u");
    let mut expected_users = Vec::new();
    for (number, level) in RestrictionLevel::ALL.into_iter().enumerate() {
        let created_at = if number % 2 == 0 { Instant::MIN } else { Instant::MAX };
        let name = if number == 0 { long.clone() } else { format!("user{number}") };
        expected_users.push(User { operator: number % 2 == 0, created_at, ..user(&name, level) });
    }
    let scopes = [None, Some(vec![]), Some(vec![Scope::Operator]), Some(Scope::ALL.to_vec())];
    let keys = scopes.into_iter().enumerate().map(|(number, scopes)| ApiKey {
        key_id: KeyId::new(&format!("{number}{:x<127}", "")).unwrap(),
        user_id: UserId::new(&long).unwrap(),
        timeline_id: TimelineId::new(&long).unwrap(),
        label: UNICODE.to_owned(),
        scopes: scopes.map(Into::into),
        created_at: if number % 2 == 0 { Instant::MIN } else { Instant::MAX },
        expires_at: [None, Some(Instant::MIN), Some(Instant::MAX)][number % 3],
        revoked_at: [Some(Instant::MAX), None][number % 2],
        horizon: Horizon { until_clock: number % 2 == 1, known_at: [None, Some(0), Some(1 << 40)][number % 3] },
        ..api_key(&format!("key{number}"))
    });
    let mut expected_keys: Vec<ApiKey> = keys.collect();
    let puts = expected_users.iter().cloned().map(DirectoryChange::PutUser);
    put(&*store, puts.chain(expected_keys.iter().cloned().map(DirectoryChange::PutKey)).collect()).await;
    assert_directory(&*store, &expected_users, &expected_keys).await;
    assert_directory(&*backend.open(), &expected_users, &expected_keys).await;

    expected_users[1].restriction = RestrictionLevel::NoAccess;
    expected_users[1].operator = !expected_users[1].operator;
    let removed = expected_users.remove(0);
    expected_keys[1].revoked_at = Some(Instant::MIN);
    let changes = vec![
        DirectoryChange::PutUser(expected_users[0].clone()),
        DirectoryChange::DeleteUser(removed.user_id),
        DirectoryChange::RevokeKey { key_id: expected_keys[1].key_id.clone(), at: Instant::MIN },
        // Neither exists, so both are no-ops.
        DirectoryChange::DeleteUser(user_id("nobody")),
        DirectoryChange::RevokeKey { key_id: KeyId::new("none").unwrap(), at: Instant::MAX },
    ];
    expected_users[0].restriction = RestrictionLevel::NoAccess;
    put(&*store, changes).await;
    put(&*store, vec![DirectoryChange::PutUser(expected_users[0].clone())]).await;
    assert_directory(&*backend.open(), &expected_users, &expected_keys).await;
    // Changes are applied in order.
    let (again, twice) = (user("again", RestrictionLevel::ReadOnly), user("again", RestrictionLevel::FullAccess));
    let changes = vec![
        DirectoryChange::PutUser(again.clone()),
        DirectoryChange::DeleteUser(again.user_id),
        DirectoryChange::PutUser(User { created_at: host(99), ..twice.clone() }),
    ];
    put(&*store, changes).await;
    expected_users.push(User { created_at: host(99), ..twice });
    assert_directory(&*store, &expected_users, &expected_keys).await;
}

async fn assert_directory(store: &dyn Store, users: &[User], keys: &[ApiKey]) {
    let directory = store.open().await.unwrap().directory;
    assert_eq!(directory.users.len(), users.len());
    for user in users {
        assert_eq!(directory.users.get(&user.user_id), Some(user));
    }
    // Revoked keys are stored, but are not in the working directory.
    assert_eq!(directory.keys.len(), keys.iter().filter(|key| key.revoked_at.is_none()).count());
    for key in keys {
        let found = directory.keys.get(&key.key_id).map(|key| &**key);
        assert_eq!(found, Some(key).filter(|key| key.revoked_at.is_none()));
        assert_eq!(store.api_key(&key.key_id).await.unwrap().as_ref(), Some(key));
        // Newest first, starting after a key.
        let mut expected: Vec<&ApiKey> = keys.iter().filter(|one| one.user_id == key.user_id).collect();
        expected.sort_unstable_by_key(|one| std::cmp::Reverse((one.created_at, one.key_id.clone())));
        let mut after = None;
        for one in expected {
            let page = store.api_keys(&key.user_id, after.as_ref(), 1).await.unwrap();
            assert_eq!(page.iter().collect::<Vec<_>>(), [one]);
            after = Some(one.key_id.clone());
        }
        assert!(store.api_keys(&key.user_id, after.as_ref(), 1).await.unwrap().is_empty());
    }
}

async fn check_anchors_round_trip(backend: &dyn Backend) {
    let store = backend.open();
    let (mut one, mut two) = (Ledger::new(1, "one"), Ledger::new(2, "two"));
    let anchors: Vec<Anchor> = (0..9_usize)
        .map(|number| {
            let edges = if number % 2 == 0 { (Instant::MIN, Instant::MAX) } else { (Instant::MAX, Instant::MIN) };
            let rates = [RATE_MICROS_MIN, 1_000_000, RATE_MICROS_MAX];
            Anchor {
                anchor_id: AnchorId::new(&format!("{number}{:z<127}", "")).unwrap(),
                set_at: if number % 2 == 0 { Instant::MIN } else { Instant::MAX },
                timestamp: edges.0,
                description: if number == 0 { String::new() } else { UNICODE.repeat(300) },
                fixed: number % 2 == 0,
                moment: Moment {
                    at: edges.1,
                    running: number % 3 == 0,
                    rate: Rate::from_micros(rates[number % 3]).unwrap(),
                    location: (number % 2 == 0).then(|| UNICODE.to_owned()),
                },
                ..anchor("x", 2 * number as u64)
            }
        })
        .collect();
    let (mut first, mut second) = (one.grow(20), two.grow(3));
    first.anchors = anchors.clone();
    second.anchors = vec![Anchor { position: 1, ..anchors[4].clone() }];
    store.commit(commit_of(vec![first, second])).await.unwrap();
    let key = one.head.key;
    for store in [store, backend.open()] {
        assert_eq!(store.anchor_rows(key, None, 100).await.unwrap(), anchors);
        assert_eq!(store.anchor_rows(key, None, 2).await.unwrap(), anchors[..2]);
        assert_eq!(store.anchor_rows(key, Some(0), 3).await.unwrap(), anchors[1..4]);
        assert_eq!(store.anchor_rows(key, Some(3), 100).await.unwrap(), anchors[2..]);
        assert_eq!(store.anchor_rows(key, Some(16), 100).await.unwrap(), []);
        for anchor in &anchors {
            assert_eq!(store.anchor(key, &anchor.anchor_id).await.unwrap().as_ref(), Some(anchor));
        }
        assert_eq!(store.anchor(two.head.key, &anchors[0].anchor_id).await.unwrap(), None);
        assert_eq!(store.anchor(two.head.key, &anchors[4].anchor_id).await.unwrap().unwrap().position, 1);
    }
}

async fn check_outcomes_are_replaced_and_expire(backend: &dyn Backend) {
    let store = backend.open();
    let at = |name: &str, expires_at| IdempotencyRecord { expires_at, outcome: UNICODE.to_owned(), ..outcome(name, 0) };
    let stored = [at("a", Instant::MIN), at("b", host(99)), at("c", host(100)), at("d", Instant::MAX)];
    store.commit(Commit { outcomes: stored.to_vec(), ..Commit::default() }).await.unwrap();
    assert_outcomes(&*store, &stored).await;
    assert_outcomes(&*backend.open(), &stored).await;
    // The last outcome of a commit counts.
    let again = IdempotencyRecord { fingerprint: digest("other"), outcome: "{}".to_owned(), ..at("b", host(101)) };
    let step = Commit { outcomes: vec![at("b", host(7)), again.clone()], ..Commit::default() };
    store.commit(step).await.unwrap();
    assert_outcomes(&*store, &[stored[0].clone(), again.clone(), stored[2].clone(), stored[3].clone()]).await;
    // An outcome that expires at that instant has not expired before it.
    assert!(store.forget_outcomes(host(100), 10).await.unwrap());
    assert!(!store.forget_outcomes(host(100), 10).await.unwrap());
    assert_outcomes(&*store, &[again, stored[2].clone(), stored[3].clone()]).await;
    // No more than the limit at once.
    for rows in [2, 1] {
        assert!(store.forget_outcomes(Instant::MAX, 1).await.unwrap());
        let query = FactsQuery { outcomes: ["b", "c"].map(digest).to_vec(), ..FactsQuery::default() };
        let left = store.facts(query, QueryOrigin::Writer).await.unwrap().outcomes;
        assert_eq!(left.iter().flatten().count(), rows - 1);
    }
    assert!(!store.forget_outcomes(Instant::MAX, 1).await.unwrap());
    assert_outcomes(&*backend.open(), &stored[3..]).await;
    // Fingerprints stored before such a commit are not compared any more. One that comes with it is.
    let step = Commit { outcomes: vec![stored[2].clone()], forget_fingerprints: true, ..Commit::default() };
    store.commit(step).await.unwrap();
    let forgotten = IdempotencyRecord { fingerprint: Idempotency::FINGERPRINT_FORGOTTEN, ..stored[3].clone() };
    assert_outcomes(&*backend.open(), &[stored[2].clone(), forgotten.clone()]).await;
    // Erasing the content of a stored outcome keeps its other fields, and does not bring anything back.
    let of_event = Some((TimelineId::main(), event_id("e")));
    let holding = IdempotencyRecord { event: of_event, ..at("a", host(5)) };
    store.commit(Commit { outcomes: vec![holding.clone()], ..Commit::default() }).await.unwrap();
    let erased = |record: &IdempotencyRecord| IdempotencyRecord {
        outcome: "{\"gone\":1}".to_owned(),
        event: None,
        ..record.clone()
    };
    let step = Commit { outcomes_erased: vec![erased(&holding), erased(&at("b", host(9)))], ..Commit::default() };
    store.commit(step).await.unwrap();
    assert_outcomes(&*backend.open(), &[erased(&holding), stored[2].clone(), forgotten]).await;
}

async fn assert_outcomes(store: &dyn Store, expected: &[IdempotencyRecord]) {
    let keys = ["a", "nothing", "b", "c", "d"].map(digest);
    let query = FactsQuery { outcomes: keys.to_vec(), ..FactsQuery::default() };
    let found = store.facts(query, QueryOrigin::Writer).await.unwrap().outcomes;
    let mut found: Vec<_> = found.into_iter().flatten().collect();
    let mut expected = expected.to_vec();
    found.sort_by_key(|record| record.key);
    expected.sort_by_key(|record| record.key);
    assert_eq!(format!("{found:#?}"), format!("{expected:#?}"));
}

async fn check_entries_round_trip_byte_for_byte(backend: &dyn Backend) {
    let store = backend.open();
    let (mut one, mut two) = (Ledger::new(1, "one"), Ledger::new(2, "two"));
    let all_bytes: Vec<u8> = (0..=255).collect();
    let payloads = [Vec::new(), all_bytes.clone(), vec![0; 1_000_000], UNICODE.as_bytes().to_vec()];
    let mut step = one.grow(payloads.len());
    for (entry, payload) in step.entries.iter_mut().zip(payloads) {
        entry.payload = payload;
        entry.leaf.extend(&all_bytes);
        entry.salt = Salt::from_bytes([entry.payload.first().copied().unwrap_or(255); Salt::BYTES]);
    }
    let expected: Vec<StoredEntry> = step.entries.clone();
    store.commit(commit_of(vec![step, two.grow(2)])).await.unwrap();
    for store in [store, backend.open()] {
        for entry in &expected {
            assert_eq!(store.entry(one.head.key, entry.seq).await.unwrap().as_ref(), Some(entry));
        }
        let other = store.entry(two.head.key, 1).await.unwrap().unwrap();
        assert_eq!(other.leaf, b"2 two 1");
    }
}

/// The memory of a reader depends on it.
async fn check_large_entries_are_returned_in_blocks(backend: &dyn Backend) {
    const ENTRIES: usize = 40;
    const PAYLOAD_BYTES: usize = 500_000;
    let (store, mut ledger) = (backend.open(), Ledger::new(1, "one"));
    let mut step = ledger.grow(ENTRIES);
    for entry in &mut step.entries {
        entry.payload = vec![b'a'; PAYLOAD_BYTES];
    }
    store.commit(commit_of(vec![step])).await.unwrap();
    let (mut next, mut blocks) = (0, 0);
    while next < ENTRIES as u64 {
        let read = store.entry_rows(ledger.head.key, next, u64::MAX).await.unwrap();
        assert!(read.rows.iter().map(|row| row.position).eq(next..(next + read.rows.len() as u64)));
        let bytes: u64 = read.rows.iter().map(EntryRow::bytes_count).sum();
        // The first rows of a read are requested before their size is known.
        assert!(bytes <= ENTRY_ROWS_BYTES + 32 * (PAYLOAD_BYTES as u64 + 1_000), "{bytes} bytes");
        let is_last = next + read.rows.len() as u64 == ENTRIES as u64;
        next += read.rows.len() as u64;
        assert!(is_last || read.end == next, "read up to {} of {next}", read.end);
        blocks += 1;
    }
    assert!(blocks > 1);
    let beyond = store.entry_rows(ledger.head.key, ENTRIES as u64, u64::MAX).await.unwrap();
    assert_eq!((beyond.rows.len(), beyond.end), (0, u64::MAX));
    let none = store.entry_row(ledger.head.key, u64::MAX).await.unwrap();
    assert_eq!(none, None);
}

async fn check_nonexistent_positions_are_empty(backend: &dyn Backend) {
    let store = backend.open();
    let mut ledgers: Vec<Ledger> = (1..=5).map(|key| Ledger::new(key, &format!("t{key}"))).collect();
    store.commit(commit_of(ledgers.iter_mut().map(|ledger| ledger.grow(3)).collect())).await.unwrap();
    for ledger in &ledgers {
        for seq in (2..64).map(|bit| 1_u64 << bit).flat_map(|power| [power, power + 1]).chain([3, u64::MAX]) {
            let found = store.entry(ledger.head.key, seq).await.unwrap();
            assert_eq!(found, None, "{seq} of {}", ledger.head.id);
        }
    }
}
