//! The timekeeper of a timeline, and leases, at the level of the store.

use timenav_core::time::Span;
use timenav_engine::{ActivityQuery, Held, Keeper};

use crate::postgres::*;

const ONE: TimelineKey = TimelineKey(1);
const TWO: TimelineKey = TimelineKey(2);

fn report(store: &PostgresStore, service: &str, listening: &[(TimelineKey, &str)]) -> bool {
    let listening = listening.iter().map(|(timeline, queue)| (*timeline, QueueId::new(queue).unwrap())).collect();
    let presence = Presence {
        service: service.to_owned(),
        name: "a name".to_owned(),
        version: "1.0".to_owned(),
        level: 1,
        listening,
    };
    wait_for(store.report_presence(presence)).unwrap()
}

fn keep(store: &PostgresStore, service: &str, timelines: &[TimelineKey]) -> Vec<(i64, u64)> {
    let mut stored = wait_for(store.keep_timelines(service, timelines.to_vec())).unwrap();
    stored.sort_unstable();
    stored.into_iter().map(|(timeline, epoch)| (timeline.0, epoch)).collect()
}

fn keeper(store: &PostgresStore, timeline: TimelineKey) -> Option<Keeper> {
    wait_for(store.at_work(ActivityQuery { timeline, open_since: None, firings: Vec::new() })).unwrap().keeper
}

#[test]
fn timeline_of_a_live_timekeeper_cannot_be_taken() {
    let url = database();
    let (store, other) = (open(&url).unwrap(), open(&url).unwrap());
    assert!(!report(&store, "a", &[]), "nobody knew of it");
    assert!(report(&store, "a", &[(ONE, "here")]) && !report(&other, "b", &[(ONE, "there"), (TWO, "there")]));
    assert_eq!(keep(&store, "a", &[TWO, ONE]), [(1, 1), (2, 1)]);
    assert_eq!(keep(&other, "b", &[ONE, TWO]), []);
    assert_eq!(keeper(&other, ONE), Some(Keeper { service: "a".to_owned(), epoch: 1 }));
    let query = ActivityQuery { timeline: ONE, open_since: Some(0), firings: Vec::new() };
    let found = wait_for(other.at_work(query)).unwrap();
    assert_eq!((found.listening.len(), found.held), (2, None));
    // A service that has not been seen for too long, one whose expiry is later than any can set, and one that has left.
    for (number, is_missing) in [
        "UPDATE services SET until = 1 WHERE service = 'a'",
        "UPDATE services SET until = 9000000000000000 WHERE service = 'b'",
        "",
    ]
    .into_iter()
    .enumerate()
    {
        let (from, to) = if number % 2 == 0 { ("a", "b") } else { ("b", "a") };
        report(&store, from, &[]);
        report(&store, to, &[]);
        assert_eq!(keep(&other, to, &[ONE]), [], "{from} is there");
        execute(&url, is_missing);
        if is_missing.is_empty() {
            wait_for(store.leave(from)).unwrap();
        }
        let epoch = number as u64 + 2;
        assert_eq!(keep(&other, to, &[ONE]), [(1, epoch)]);
        assert_eq!(keeper(&store, ONE), Some(Keeper { service: to.to_owned(), epoch }));
    }
    // The owner takes it again, which invalidates what it began before.
    assert_eq!(keep(&other, "b", &[ONE]), [(1, 5)]);
}

/// Changes leases of a timeline. Returns what was found before.
fn change(store: &PostgresStore, query: LeaseQuery, changes: LeaseChanges) -> LeasesFound {
    let (sender, found) = mpsc::channel();
    let change = Box::new(move |found| {
        sender.send(found).unwrap();
        changes
    });
    wait_for(store.change_leases(ONE, query, change)).unwrap();
    found.recv().unwrap()
}

#[test]
fn leases_are_stored_until_their_firing_ends() {
    let url = database();
    let store = open(&url).unwrap();
    let firing_id = FiringId::new("firing_a").unwrap();
    let named = || LeaseQuery::Named(vec![firing_id.clone()]);
    let now = change(&store, named(), LeaseChanges::default()).now;
    let row = LeaseRow {
        firing_id: firing_id.clone(),
        queue: QueueId::unnamed(),
        lease_id: LeaseId::new("lease_a").unwrap(),
        holder: "ada".to_owned(),
        attempts: 3,
        until: now.checked_add(Span::from_secs(60).unwrap()),
        not_before: Instant::from_micros(7).unwrap(),
        code: [5; 32],
    };
    change(&store, named(), LeaseChanges { put: vec![row.clone()], removed: Vec::new() });
    let leased = || {
        let query = ActivityQuery { timeline: ONE, open_since: None, firings: vec![firing_id.clone()] };
        wait_for(store.at_work(query)).unwrap().leased
    };
    let held = Held { firing_id: firing_id.clone(), lease_id: row.lease_id.clone(), holder: "ada".to_owned() };
    assert_eq!(leased(), [held]);
    let later = LeaseRow { attempts: 4, until: None, ..row.clone() };
    let found = change(&store, named(), LeaseChanges { put: vec![later.clone()], removed: Vec::new() });
    assert_eq!((found.leases, found.firings.len()), (vec![row], 0));
    assert!(leased().is_empty(), "nobody has it");
    let found = change(&store, named(), LeaseChanges { put: Vec::new(), removed: vec![firing_id.clone()] });
    assert_eq!(found.leases, std::slice::from_ref(&later));
    let found = change(&store, named(), LeaseChanges { put: vec![later], removed: Vec::new() });
    assert!(found.leases.is_empty());
    // There is no such firing, and its lease is deleted.
    assert!(change(&store, LeaseQuery::Ended(9), LeaseChanges::default()).leases.is_empty());
    assert!(change(&store, named(), LeaseChanges::default()).leases.is_empty());
    let nothing = LeaseQuery::Offered(QueueId::unnamed(), 9);
    assert!(change(&store, nothing, LeaseChanges::default()).firings.is_empty());
}
