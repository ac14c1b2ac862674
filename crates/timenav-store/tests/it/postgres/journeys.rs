//! Round trips to the server per group of writes, and per change of leases.

use super::proxy::Proxy;
use crate::postgres::*;

/// To lock, to write, to commit, and one more if trees fill tiles, regardless of their number.
#[test]
fn write_group_takes_three_round_trips_plus_one_for_tiles() {
    let url = database();
    let proxy = Proxy::start(&url);
    let store = open(&proxy.url()).unwrap();
    let mut ledgers = [(1, "main"), (2, "other"), (3, "system")].map(|(key, name)| Ledger::new(key, name));
    wait_for(store.commit(commit_of(ledgers.iter_mut().map(|ledger| ledger.grow(200)).collect()))).unwrap();
    let group = |ledgers: &mut [Ledger], counts: &[usize]| {
        proxy.journeys();
        let keys: Vec<_> = ledgers.iter().map(|ledger| ledger.head.key).collect();
        wait_for(store.lock(&keys)).unwrap();
        let steps = ledgers.iter_mut().zip(counts).map(|(ledger, count)| ledger.grow(*count)).collect();
        wait_for(store.commit(commit_of(steps))).unwrap();
        proxy.journeys()
    };
    // Statements are prepared once. Tiles of both levels are begun here, and extended.
    for count in [1, 100, 300] {
        group(&mut ledgers[..2], &[count, count]);
    }
    proxy.count_journeys();
    assert_eq!(group(&mut ledgers[..1], &[1]), 3);
    assert_eq!(group(&mut ledgers[..2], &[10, 20]), 3);
    assert_eq!(group(&mut ledgers[..1], &[200]), 4);
    assert_eq!(group(&mut ledgers[..2], &[300, 700]), 4);
}

/// One to read under the lock, and one to write and commit.
#[test]
fn lease_change_takes_two_round_trips() {
    let url = database();
    let proxy = Proxy::start(&url);
    let store = open(&proxy.url()).unwrap();
    let firing_id = FiringId::new("firing_a").unwrap();
    let change = |attempts: u32| {
        let row = LeaseRow {
            firing_id: firing_id.clone(),
            queue: QueueId::unnamed(),
            lease_id: LeaseId::new("lease_a").unwrap(),
            holder: "ada".to_owned(),
            attempts,
            until: None,
            not_before: Instant::MIN,
            code: [5; 32],
        };
        let (sender, found) = mpsc::channel();
        let change = Box::new(move |found| {
            sender.send(found).unwrap();
            LeaseChanges { put: vec![row], removed: Vec::new() }
        });
        proxy.journeys();
        let named = LeaseQuery::Named(vec![firing_id.clone()]);
        wait_for(store.change_leases(TimelineKey(1), named, change)).unwrap();
        let found: LeasesFound = found.recv().unwrap();
        (found.leases.first().map(|row| row.attempts), proxy.journeys())
    };
    // Creates the timeline's lock row, and prepares the statements.
    assert_eq!([change(1).0, change(2).0], [None, Some(1)]);
    proxy.count_journeys();
    assert_eq!(change(3), (Some(2), 2));
}

/// After a rotation, no timeline's newest entry shows whether it was handed over. The entries before are read together.
#[test]
fn start_after_a_rotation_reads_all_timelines_together() {
    const ROTATED: &[u8] = b"{\"action\":\"rotate_signing_key\"}";
    let [one, forty] = [1, 40].map(|timelines_count| {
        let url = database();
        let proxy = Proxy::start(&url);
        let store = open(&proxy.url()).unwrap();
        let mut ledgers = vec![Ledger::new(1, "system")];
        ledgers.extend((0..timelines_count).map(|number| Ledger::new(2 + number, &format!("t{number}"))));
        let rotated = ledgers.iter_mut().map(|ledger| {
            let mut step = ledger.grow(3);
            step.entries.last_mut().unwrap().leaf = ROTATED.into();
            step
        });
        wait_for(store.commit(commit_of(rotated.collect()))).unwrap();
        // Statements are prepared once.
        wait_for(store.open()).unwrap();
        proxy.count_journeys();
        proxy.journeys_to_read();
        let heads = wait_for(store.open()).unwrap().heads;
        assert_eq!(heads.len(), ledgers.len());
        assert!(heads.iter().all(|head| !head.is_handed_over));
        proxy.journeys_to_read()
    });
    assert!(one > 0, "nothing was counted");
    // Pipelined statements may be counted twice on a busy machine. One by one, there would be forty more.
    assert!(forty < one + 20, "{forty} instead of {one}");
}

/// Entries of others are loaded under the locks of all timelines of a group. One by one, all writers would wait for as
/// many round trips as there are timelines.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn foreign_entries_of_many_timelines_are_read_together() {
    const MANY: usize = 12;
    let house = House::on_postgres();
    let left = house.open().await;
    let proxy = Proxy::start(&house.database());
    let mut other = house.replica();
    other.database = Some(proxy.url());
    let right = other.open().await;
    let write = async |timelines: usize| {
        for number in 0..timelines {
            let timeline = timeline_id(&format!("t{number}"));
            let draft = EventDraft::at(moment(1), "one");
            left.record_events(Some(timeline), vec![draft]).await;
        }
        proxy.journeys_to_read();
        right.engine.catch_up_all().await.unwrap();
        proxy.journeys_to_read()
    };
    // Creates the timelines and prepares the statements.
    write(MANY).await;
    write(MANY).await;
    proxy.count_journeys();
    let (one, many) = (write(1).await, write(MANY).await);
    assert!(one > 0, "nothing was counted");
    // Pipelined statements may be counted twice on a busy machine.
    assert!(many < one + MANY / 2, "{many} instead of {one}");
    proxy.count_no_more();
    right.close().await;
    left.close().await;
}
