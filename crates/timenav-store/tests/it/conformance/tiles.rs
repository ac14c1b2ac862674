//! Tree hashes match those computed from all leaves.

use proptest::prelude::*;
use timenav_core::ledger::{Hash, TILE_WIDTH, leaf_hash, tree_root};

use crate::backend::{Backend, on_each_backend};
use crate::conformance::*;

on_each_backend!(
    check_tiles_are_correct_after_random_commits,
    check_tiles_are_correct_at_every_width,
    check_full_tile_of_level_one_is_correct,
    check_single_commit_can_reach_tile_level_two,
);

/// Returns the hashes of every level, computed from all leaves.
fn levels(leaves: &[Hash]) -> Vec<Vec<Hash>> {
    let mut levels = vec![leaves.to_vec()];
    loop {
        let (full, _) = levels[levels.len() - 1].as_chunks::<{ TILE_WIDTH as usize }>();
        let above: Vec<Hash> = full.iter().map(|tile| tree_root(tile)).collect();
        if above.is_empty() {
            return levels;
        }
        levels.push(above);
    }
}

/// Compares every tile of a ledger, at full width and at those returned by `widths`.
async fn check_tiles(store: &dyn Store, ledger: &Ledger, widths: impl Fn(usize) -> Vec<usize>) -> usize {
    let key: TimelineKey = ledger.head.key;
    let levels = levels(&ledger.leaves);
    for (level, hashes) in (0..).zip(&levels) {
        for (index, tile) in (0..).zip(hashes.chunks(usize::from(TILE_WIDTH))) {
            for width in widths(tile.len()).into_iter().chain([tile.len()]) {
                let found = store.tile(key, TileId { level, index }, width).await;
                assert_eq!(found.unwrap(), tile[..width], "{key:?} level {level} index {index} width {width}");
            }
        }
    }
    levels.len()
}

/// Compares the leaves of several ledgers, from a position on and past the end.
async fn check_leaves_of_all(store: &dyn Store, ledgers: &[Ledger], first: u64) {
    let request = ledgers.iter().map(|ledger| (ledger.head.key, first..ledger.leaves.len() as u64 + 9));
    let found = store.leaves_of(request.collect()).await.unwrap();
    assert_eq!(found.len(), ledgers.len());
    for (ledger, leaves) in ledgers.iter().zip(found) {
        let hashes: Vec<Hash> = leaves.iter().map(|leaf| leaf_hash(leaf)).collect();
        let expected = ledger.leaves.iter().skip(usize::try_from(first).unwrap());
        assert!(expected.eq(&hashes), "{:?} from {first}", ledger.head.key);
    }
}

async fn check_tiles_are_correct_after_random_commits(backend: &dyn Backend) {
    let store = backend.open();
    let last_key = std::sync::atomic::AtomicI64::new(0);
    let plan = prop::collection::vec(prop::collection::vec((0..4_usize, 1..700_usize), 1..4), 1..8);
    check_cases(12, &(plan, 1..=256_usize), async |(plan, some)| {
        let first = last_key.fetch_add(4, std::sync::atomic::Ordering::Relaxed) + 1;
        let mut ledgers: Vec<Ledger> = (first..first + 4).map(|key| Ledger::new(key, &format!("t{key}"))).collect();
        for step in plan {
            let mut timelines = Vec::new();
            for (number, count) in step {
                let key = ledgers[number].head.key;
                if timelines.iter().all(|one: &timenav_engine::TimelineCommit| one.head.key != key) {
                    timelines.push(ledgers[number].grow(count));
                }
            }
            store.commit(commit_of(timelines)).await.unwrap();
        }
        for ledger in &ledgers {
            check_tiles(&*store, ledger, |width| vec![1, some.min(width)]).await;
        }
        check_leaves_of_all(&*store, &ledgers, some as u64).await;
    });
}

async fn check_tiles_are_correct_at_every_width(backend: &dyn Backend) {
    let store = backend.open();
    let mut ledger = Ledger::new(1, "main");
    for count in [255, 1, 1, 254, 2, 600] {
        store.commit(commit_of(vec![ledger.grow(count)])).await.unwrap();
        check_tiles(&*store, &ledger, |width| (1..width).collect()).await;
    }
    check_tiles(&*backend.open(), &ledger, |_| Vec::new()).await;
}

async fn check_full_tile_of_level_one_is_correct(backend: &dyn Backend) {
    let store = backend.open();
    let mut ledger = Ledger::new(1, "main");
    // Up to one before the boundary, on it, and past it.
    for (count, levels) in [(40_000, 2), (25_535, 2), (1, 3), (300, 3)] {
        store.commit(commit_of(vec![ledger.grow(count)])).await.unwrap();
        assert_eq!(check_tiles(&*store, &ledger, |_| Vec::new()).await, levels);
    }
}

async fn check_single_commit_can_reach_tile_level_two(backend: &dyn Backend) {
    let store = backend.open();
    let (mut small, mut large) = (Ledger::new(1, "small"), Ledger::new(2, "large"));
    store.commit(commit_of(vec![small.grow(100), large.grow(66_000)])).await.unwrap();
    store.commit(commit_of(vec![large.grow(1), small.grow(200)])).await.unwrap();
    assert_eq!(check_tiles(&*backend.open(), &large, |_| Vec::new()).await, 3);
    assert_eq!(check_tiles(&*store, &small, |_| Vec::new()).await, 2);
}
