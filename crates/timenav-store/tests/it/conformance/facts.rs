//! Facts: every question gets its result in the right place, for readers and writers.

use timenav_engine::{Facts, RotationNote};

use crate::backend::{Backend, on_each_backend};
use crate::conformance::*;

on_each_backend!(check_facts_are_returned_in_request_order, check_facts_change_with_a_commit,);

const ONE: TimelineKey = TimelineKey(1);
const TWO: TimelineKey = TimelineKey(2);

/// Asks as the writer and as a reader. Both must get the same result.
async fn facts(store: &dyn Store, query: &FactsQuery) -> Facts {
    let [expected, other] =
        [store.facts(query.clone(), QueryOrigin::Writer).await, store.facts(query.clone(), QueryOrigin::Reader).await]
            .map(Result::unwrap);
    assert_eq!(format!("{expected:#?}"), format!("{other:#?}"));
    expected
}

fn data_id(name: &str) -> DataId {
    DataId::new(name).unwrap()
}

fn sealed(name: &str) -> DataRecord {
    let (salt, nonce, commitment) = (vec![3; 16], vec![4; 12], vec![5; 32]);
    let sealed = SealedData { format: 1, kind: 2, salt, nonce, commitment, ciphertext: name.as_bytes().to_vec() };
    DataRecord { data_id: data_id(name), position: 1, erased: None, sealed }
}

/// Stores something of each kind on two timelines.
async fn fill(store: &dyn Store) {
    let (mut one, mut two) = (Ledger::new(1, "one"), Ledger::new(2, "two"));
    let mut step = commit_of(vec![one.grow(3), two.grow(3)]);
    let at = |number| EventDraft::at(moment(number), "told");
    step.timelines[0].events = vec![event("a", 1, &at(5)), event("b", 2, &at(6))];
    step.timelines[1].events = vec![event("a", 2, &at(7))];
    step.timelines[0].anchors = vec![anchor("x", 1)];
    step.timelines[1].anchors = vec![anchor("y", 1)];
    step.timelines[1].data = vec![sealed("sealed")];
    step.directory = vec![
        DirectoryChange::PutUser(user("ada", timenav_core::access::RestrictionLevel::FullAccess)),
        DirectoryChange::PutKey(api_key("key_a")),
    ];
    let of_event = Some((timeline_id("two"), event_id("a")));
    step.outcomes = vec![outcome("first", 9), IdempotencyRecord { event: of_event, ..outcome("second", 9) }];
    store.commit(step).await.unwrap();
    let note = RotationNote { timeline: ONE, position: 2, note: Arc::from("both keys") };
    store.keep_rotations(vec![note]).await.unwrap();
}

async fn check_facts_are_returned_in_request_order(backend: &dyn Backend) {
    let store = backend.open();
    fill(&*store).await;
    let ids = |names: &[&str]| names.iter().map(|name| event_id(name)).collect::<Vec<_>>();
    let key_id = |name| KeyId::new(name).unwrap();
    let anchor_id = |name| AnchorId::new(name).unwrap();
    let query = FactsQuery {
        events: vec![
            (layer(TWO, u64::MAX), ids(&["b", "a"])),
            (layer(ONE, 2), ids(&["a", "b", "none"])),
            (layer(ONE, u64::MAX), ids(&["b"])),
        ],
        outcomes: ["nothing", "second", "first", "second"].map(digest).to_vec(),
        outcomes_of: vec![(timeline_id("one"), ids(&["a"])), (timeline_id("two"), ids(&["b", "a"]))],
        entries: vec![(TWO, 1), (ONE, 3), (ONE, 0), (TWO, 1)],
        anchors: vec![(ONE, anchor_id("y")), (TWO, anchor_id("y")), (ONE, anchor_id("x"))],
        keys: vec![key_id("key_none"), key_id("key_a")],
        data: vec![data_id("sealed"), data_id("none")],
        rotation_notes: vec![(ONE, 1), (TWO, 2), (ONE, 2)],
        timers: vec![(TWO, TimerQuery::Earliest(3)), (ONE, TimerQuery::Earliest(3))],
        // Only services that share a store ask for it.
        at_work: Vec::new(),
    };
    for store in [store, backend.open()] {
        let found = facts(&*store, &query).await;
        let positions =
            |at: usize, name: &str| found.events[at].get(&event_id(name)).map(|one| one.versions[0].position);
        assert_eq!((positions(0, "b"), positions(0, "a")), (None, Some(2)));
        // From the first layer only what existed at that position.
        assert_eq!((positions(1, "a"), positions(1, "b"), positions(1, "none")), (Some(1), None, None));
        assert_eq!((positions(2, "b"), found.events.len()), (Some(2), 3));
        let next: Vec<_> = found.timers.iter().map(|found| found.timers.len()).collect();
        assert_eq!(next, [0, 0]);
        let expected: Vec<_> = found.outcomes.iter().map(|one| one.as_ref().map(|one| one.key)).collect();
        assert_eq!(expected, [None, Some(digest("second")), Some(digest("first")), Some(digest("second"))]);
        let of: Vec<Vec<_>> = found.outcomes_of.iter().map(|all| all.iter().map(|one| one.key).collect()).collect();
        assert_eq!(of, [vec![], vec![digest("second")]]);
        let leaf = |at: usize| found.entries[at].as_ref().map(|one| String::from_utf8_lossy(&one.leaf).into_owned());
        assert_eq!((leaf(0), leaf(1)), (Some("2 two 1".to_owned()), None));
        assert_eq!((leaf(2), leaf(3)), (Some("1 one 0".to_owned()), Some("2 two 1".to_owned())));
        assert_eq!(found.anchors, [None, Some(anchor("y", 1)), Some(anchor("x", 1))]);
        assert_eq!(found.keys, [None, Some(api_key("key_a"))]);
        assert_eq!(found.data, [Some((timeline_id("two"), sealed("sealed"))), None]);
        assert_eq!(found.rotation_notes, [None, None, Some("both keys".to_owned())]);
        let nothing = facts(&*store, &FactsQuery::default()).await;
        assert_eq!(format!("{nothing:?}"), format!("{:?}", Facts::default()));
        assert!(FactsQuery::default().is_empty());
    }
}

async fn check_facts_change_with_a_commit(backend: &dyn Backend) {
    let store = backend.open();
    let mut ledger = Ledger::new(1, "one");
    let query = FactsQuery {
        events: vec![(layer(ONE, u64::MAX), vec![event_id("a")])],
        entries: vec![(ONE, 1)],
        ..FactsQuery::default()
    };
    store.commit(commit_of(vec![ledger.grow(1)])).await.unwrap();
    let before = facts(&*store, &query).await;
    assert!(before.events[0].is_empty() && before.entries == [None]);
    let mut step = commit_of(vec![ledger.grow(1)]);
    step.timelines[0].events = vec![event("a", 1, &EventDraft::at(moment(5), "told"))];
    store.commit(step).await.unwrap();
    let after = facts(&*store, &query).await;
    assert!(after.events[0].contains_key(&event_id("a")) && after.entries[0].is_some());
}
