//! How often a group of writes waits for the server.

use timenav_engine::Store as _;

use super::proxy::Proxy;
use crate::cluster::{database, open, wait_for};
use crate::sample::{Ledger, commit_of};

/// To lock, to write, to commit; and one more where trees fill tiles, however many do.
#[test]
fn a_group_of_writes_takes_three_journeys_and_one_more_for_all_tiles() {
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
    // Statements are prepared once. Tiles of both levels are begun here, and gone on with.
    for count in [1, 100, 300] {
        group(&mut ledgers[..2], &[count, count]);
    }
    proxy.count_journeys();
    assert_eq!(group(&mut ledgers[..1], &[1]), 3);
    assert_eq!(group(&mut ledgers[..2], &[10, 20]), 3);
    assert_eq!(group(&mut ledgers[..1], &[200]), 4);
    assert_eq!(group(&mut ledgers[..2], &[300, 700]), 4);
}
