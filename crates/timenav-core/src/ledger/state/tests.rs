use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;
use crate::clock::{ClockState, Rate};
use crate::time::Instant;

fn clock() -> Clock {
    let at = Instant::from_micros(7).unwrap();
    let state = ClockState::Paused { since: Instant::EPOCH, at, rate: Rate::NORMAL };
    Clock { state, location: Some("Zürich \"HB\"".to_owned()), generation: 3 }
}

fn users(names: &[&str]) -> BTreeSet<UserId> {
    names.iter().map(|name| UserId::new(name).unwrap()).collect()
}

#[test]
fn whatever_lets_in_or_moves_changes_the_hash() {
    let (clock, parent) = (clock(), TimelineId::new("parent").unwrap());
    let permissions = Permissions { read: users(&["bob", "ada"]), write: users(&[]), admin: users(&["ada"]) };
    let fork = ForkedFrom { timeline_id: &parent, size: 9, root: sha256(&[b"root"]) };
    let counts = TimelineCounts { anchors: 1, data: 2, events: 3, overrides: 4 };
    let facts = TimelineFacts {
        clock: &clock,
        counts,
        directory_root: None,
        fork: Some(fork),
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

proptest! {
    #[test]
    fn the_bytes_are_canonical_json(
        location in any::<Option<String>>(),
        names in prop::collection::btree_set("[a-z][a-z0-9:@._-]{0,9}", 0..5),
        counts in prop::array::uniform4(0..=super::super::SEQ_MAX),
        root in any::<Option<[u8; 32]>>(),
    ) {
        let clock = Clock { location, ..clock() };
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let permissions = Permissions { read: users(&names), write: users(&[]), admin: users(&names) };
        let [anchors, data, events, overrides] = counts;
        let directory_root = root.map(Hash::from_bytes);
        let parent = TimelineId::new("parent").unwrap();
        let fork = directory_root.map(|root| ForkedFrom { timeline_id: &parent, size: 9, root });
        let counts = TimelineCounts { anchors, data, events, overrides };
        let timers = names.concat();
        let facts =
            TimelineFacts { clock: &clock, counts, directory_root, fork, permissions: &permissions, timers: &timers };
        let bytes = facts.encode();
        let value: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
        prop_assert_eq!(bytes, serde_json_canonicalizer::to_vec(&value).unwrap());
    }
}
