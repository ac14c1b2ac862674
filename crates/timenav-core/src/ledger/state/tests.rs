use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;
use crate::access::Role;
use crate::clock::{ClockState, Rate};
use crate::ledger::Retention;
use crate::time::{Instant, Wall};

fn clock() -> Clock {
    let at = Instant::from_micros(7).unwrap();
    let state = ClockState::Paused { since: Instant::EPOCH, at, rate: Rate::NORMAL };
    Clock { state, location: Some("Zürich \"HB\"".to_owned()), generation: 3 }
}

fn users(names: &[&str]) -> BTreeSet<UserId> {
    names.iter().map(|name| UserId::new(name).unwrap()).collect()
}

fn ending(permissions: &Permissions, ends: &[(Role, &str, i64)]) -> Permissions {
    let mut permissions = permissions.clone();
    for (role, name, end) in ends {
        permissions.put(*role, UserId::new(name).unwrap(), Some(Instant::from_micros(*end).unwrap()));
    }
    permissions
}

fn policies(all: &[(u64, Retention)]) -> RetentionPolicies {
    let mut policies = RetentionPolicies::default();
    for (position, retention) in all {
        policies.set(*position, *retention);
    }
    policies
}

#[test]
fn access_clock_and_counts_change_the_state_hash() {
    let (clock, parent) = (clock(), TimelineId::new("parent").unwrap());
    let permissions = Permissions {
        read: users(&["bob", "ada"]),
        write: users(&[]),
        admin: users(&["ada"]),
        ..Permissions::default()
    };
    let fork = ForkedFrom { timeline_id: &parent, size: 9, root: sha256(&[b"root"]) };
    let counts = TimelineCounts { anchors: 1, data: 2, events: 3, overrides: 4 };
    let facts = TimelineFacts {
        clock: &clock,
        counts,
        directory_root: None,
        fork: Some(fork),
        held: Held::NOTHING,
        permissions: &permissions,
        timers: "",
    };

    let ClockState::Paused { since, at, rate } = clock.state else { unreachable!() };
    let later = Instant::from_micros(8).unwrap();
    let clocks = [
        Clock { state: ClockState::Running { origin_host: since, origin_virtual: at, rate }, ..clock.clone() },
        Clock { state: ClockState::Paused { since, at: later, rate }, ..clock.clone() },
        Clock { state: ClockState::Paused { since: Instant::from_micros(1).unwrap(), at, rate }, ..clock.clone() },
        Clock { state: ClockState::Paused { since, at, rate: Rate::from_micros(1).unwrap() }, ..clock.clone() },
        Clock { location: None, ..clock.clone() },
        Clock { generation: 4, ..clock.clone() },
    ];
    let lists = [
        Permissions { read: users(&["ada"]), ..permissions.clone() },
        Permissions { write: users(&["bob"]), ..permissions.clone() },
        Permissions { admin: users(&["ada", "bob"]), ..permissions.clone() },
        Permissions { read: users(&[]), write: users(&["ada", "bob"]), ..permissions.clone() },
        ending(&permissions, &[(Role::Read, "ada", 5)]),
        ending(&permissions, &[(Role::Read, "ada", 6)]),
        ending(&permissions, &[(Role::Read, "bob", 5)]),
        ending(&permissions, &[(Role::Admin, "ada", 5)]),
        ending(&permissions, &[(Role::Read, "ada", 5), (Role::Admin, "ada", 5)]),
    ];
    let parents = [None, Some(ForkedFrom { size: 8, ..fork }), Some(ForkedFrom { root: sha256(&[]), ..fork })];
    let mut hashes = BTreeSet::from([facts.hash()]);
    let mut check = |changed: TimelineFacts<'_>| assert!(hashes.insert(changed.hash()), "{changed:?}");
    for clock in &clocks {
        check(TimelineFacts { clock, ..facts });
    }
    for permissions in &lists {
        check(TimelineFacts { permissions, ..facts });
    }
    for fork in parents {
        check(TimelineFacts { fork, ..facts });
    }
    check(TimelineFacts { directory_root: Some(fork.root), ..facts });
    check(TimelineFacts { timers: "{}", ..facts });
    check(TimelineFacts { counts: TimelineCounts { anchors: 2, ..counts }, ..facts });
    check(TimelineFacts { counts: TimelineCounts { data: 3, ..counts }, ..facts });
    check(TimelineFacts { counts: TimelineCounts { events: 4, ..counts }, ..facts });
    check(TimelineFacts { counts: TimelineCounts { overrides: 5, ..counts }, ..facts });
}

#[test]
fn retention_origins_and_handover_change_the_state_hash() {
    let (clock, permissions, counts) = (clock(), Permissions::default(), TimelineCounts::default());
    let (directory_root, fork, held, timers) = (None, None, Held::NOTHING, "");
    let facts = TimelineFacts { clock: &clock, counts, directory_root, fork, held, permissions: &permissions, timers };
    let mut hashes = BTreeSet::from([facts.hash()]);
    let mut check = |changed: TimelineFacts<'_>| assert!(hashes.insert(changed.hash()), "{changed:?}");
    let days = |reads_seconds, refusals_seconds| Retention { reads_seconds, refusals_seconds };
    let retentions = [
        policies(&[(4, days(Some(1), None))]),
        policies(&[(4, days(None, Some(1)))]),
        policies(&[(4, days(None, None))]),
        policies(&[(5, days(Some(1), None))]),
        policies(&[(4, days(Some(1), None)), (5, days(Some(1), None))]),
    ];
    for retention in &retentions {
        check(TimelineFacts { held: Held { retention, ..Held::NOTHING }, ..facts });
    }
    for origins in [[(4, "a/b")].as_slice(), &[(5, "a/b")], &[(4, "a/c")], &[(4, "a/b"), (5, "a/c")]] {
        check(TimelineFacts { held: Held { origins, ..Held::NOTHING }, ..facts });
    }
    check(TimelineFacts { held: Held { is_handed_over: true, ..Held::NOTHING }, ..facts });
}

/// The hash was computed by an independent program.
#[test]
fn role_ends_have_pinned_bytes_and_hash() {
    let (clock, counts) = (clock(), TimelineCounts::default());
    let lists = Permissions {
        read: users(&["ada", "bob", "zoe"]),
        write: users(&["bob"]),
        admin: users(&["ada"]),
        ..Permissions::default()
    };
    let ends = [
        (Role::Read, "bob", 1_796_220_000_000_000),
        (Role::Read, "zoe", Instant::<Wall>::MAX.micros()),
        (Role::Write, "bob", 1),
    ];
    let (permissions, timers) = (ending(&lists, &ends), "");
    let (directory_root, fork, held) = (None, None, Held::NOTHING);
    let facts = TimelineFacts { clock: &clock, counts, directory_root, fork, held, permissions: &permissions, timers };
    let expected = [
        r#"{"clock":{"generation":3,"location":"Zürich \"HB\"","origin_host":"1970-01-01T00:00:00Z","#,
        r#""origin_virtual":"1970-01-01T00:00:00.000007Z","rate_micros":1000000,"running":false},"#,
        r#""counts":{"anchors":0,"data":0,"events":0,"overrides":0},"directory_root":null,"fork":null,"lease":null,"#,
        r#""permissions":{"admin":["ada"],"expires_at":{"read":{"bob":"2026-12-02T14:00:00Z","#,
        r#""zoe":"9999-12-31T23:59:59.999999Z"},"#,
        r#""write":{"bob":"1970-01-01T00:00:00.000001Z"}},"#,
        r#""read":["ada","bob","zoe"],"write":["bob"]}}"#,
    ];
    assert_eq!(String::from_utf8(facts.encode()).unwrap(), expected.concat());
    assert_eq!(facts.hash().to_hex(), "1e1ecc336a2b231fb0a75451db88065451f48aad3fe08f8ed23da9d47e03737a");
}

/// The hash was computed by an independent program.
#[test]
fn retention_origins_and_handover_have_pinned_bytes_and_hash() {
    let (clock, counts, permissions) = (clock(), TimelineCounts::default(), Permissions::default());
    let retention = policies(&[
        (3, Retention { reads_seconds: Some(86_400), refusals_seconds: None }),
        (9, Retention { reads_seconds: None, refusals_seconds: Some(u32::MAX) }),
    ]);
    let origins = [(2, "far.example/\"x\""), (7, "b.example/x")];
    let held = Held { is_handed_over: true, origins: &origins, retention: &retention };
    let (directory_root, fork, timers) = (None, None, "{}");
    let facts = TimelineFacts { clock: &clock, counts, directory_root, fork, held, permissions: &permissions, timers };
    let expected = [
        r#"{"clock":{"generation":3,"location":"Zürich \"HB\"","origin_host":"1970-01-01T00:00:00Z","#,
        r#""origin_virtual":"1970-01-01T00:00:00.000007Z","rate_micros":1000000,"running":false},"#,
        r#""counts":{"anchors":0,"data":0,"events":0,"overrides":0},"directory_root":null,"fork":null,"#,
        r#""handed_over":true,"lease":null,"origins":[[2,"far.example/\"x\""],[7,"b.example/x"]],"#,
        r#""permissions":{"admin":[],"read":[],"write":[]},"retention":[[3,86400,null],[9,null,4294967295]],"#,
        r#""timers":"{}"}"#,
    ];
    assert_eq!(String::from_utf8(facts.encode()).unwrap(), expected.concat());
    assert_eq!(facts.hash().to_hex(), "a0e87b67d7d52dfd0d00305696029ec55fcca64457ca9bbe4d379365fb023007");
}

proptest! {
    #[test]
    fn state_bytes_are_canonical_json(
        location in any::<Option<String>>(),
        names in prop::collection::btree_set("[a-z][a-z0-9:@._-]{0,9}", 0..5),
        ends in prop::collection::vec((prop::sample::select(Role::ALL.to_vec()), 0_i64..1 << 50), 0..5),
        counts in prop::array::uniform4(0..=super::super::SEQ_MAX),
        root in any::<Option<[u8; 32]>>(),
        reads_and_refusals in prop::collection::vec(any::<(Option<u32>, Option<u32>)>(), 0..4),
    ) {
        let clock = Clock { location, ..clock() };
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let mut permissions = Permissions { read: users(&names), admin: users(&names), ..Permissions::default() };
        for (name, (role, end)) in names.iter().zip(ends) {
            permissions = ending(&permissions, &[(role, name, end)]);
        }
        let [anchors, data, events, overrides] = counts;
        let directory_root = root.map(Hash::from_bytes);
        let parent = TimelineId::new("parent").unwrap();
        let fork = directory_root.map(|root| ForkedFrom { timeline_id: &parent, size: 9, root });
        let counts = TimelineCounts { anchors, data, events, overrides };
        let timers = names.concat();
        let retentions: Vec<_> = (1..)
            .zip(reads_and_refusals)
            .map(|(at, (reads_seconds, refusals_seconds))| (at, Retention { reads_seconds, refusals_seconds }))
            .collect();
        let retention = policies(&retentions);
        let origins: Vec<(u64, &str)> = names.iter().map(|name| (9, *name)).collect();
        let held = Held { is_handed_over: root.is_some(), origins: &origins, retention: &retention };
        let (permissions, timers) = (&permissions, &*timers);
        let facts = TimelineFacts { clock: &clock, counts, directory_root, fork, held, permissions, timers };
        let bytes = facts.encode();
        let value: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
        prop_assert_eq!(bytes, serde_json_canonicalizer::to_vec(&value).unwrap());
    }
}
