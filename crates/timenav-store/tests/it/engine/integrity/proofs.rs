//! Proofs that a third party can verify with only the service's public key.

use timenav_core::ledger::{empty_root, verify_consistency};

use crate::engine::*;

async fn check_inclusion(home: &Home<'_>, position: u64) {
    let main = timeline_id("main");
    let proof = home.engine.inclusion_proof(&home.admin, &main, position).await.unwrap();
    let checkpoint = open_note(&home.house, "main", &proof.checkpoint.note);
    assert_eq!((checkpoint.size, checkpoint.root), (proof.checkpoint.size, proof.checkpoint.root));
    assert_eq!(checkpoint.origin, proof.checkpoint.origin);
    let key = VerifierKey::parse(&proof.checkpoint.verifier_key).unwrap();
    assert_eq!(key.name(), "timenav.test/main");
    assert_eq!(leaf_hash(&proof.leaf), proof.leaf_hash);
    let verified = verify_inclusion(position, checkpoint.size, &proof.leaf_hash, &proof.hashes, &checkpoint.root);
    assert_eq!(verified, Ok(()), "{position} of {}", checkpoint.size);
}

async fn check_consistency(home: &Home<'_>, from: u64) {
    let main = timeline_id("main");
    let proof = home.engine.consistency_proof(&home.admin, &main, from).await.unwrap();
    let checkpoint = open_note(&home.house, "main", &proof.checkpoint.note);
    let verified = verify_consistency(from, &proof.from_root, checkpoint.size, &checkpoint.root, &proof.hashes);
    assert_eq!(verified, Ok(()), "from {from} to {}", checkpoint.size);
}

#[tokio::test]
async fn proofs_exist_for_every_entry_and_earlier_tree() {
    let home = Home::new().await;
    let main = timeline_id("main");
    // Roots returned at the time, to compare with later proofs.
    let mut trees = vec![(0, empty_root())];
    for count in [1, 2, 250, 3, 1, 255, 600] {
        let drafts = (0..count).map(|number| EventDraft::at(moment(number), "x")).collect();
        let made = home.record_events(None, drafts).await;
        trees.push((made.ledger.size, made.ledger.root));
    }
    let size = home.size("main").await;
    let mut position = 0;
    while position < size {
        check_inclusion(&home, position).await;
        check_consistency(&home, position).await;
        // All positions near tile boundaries, and some elsewhere.
        position += if position % 256 < 3 || position % 256 > 253 { 1 } else { 17 };
    }
    for (size, root) in trees {
        let proof = home.engine.consistency_proof(&home.admin, &main, size).await.unwrap();
        assert_eq!(proof.from_root, root, "the root at {size}");
    }
    let home = home.reopen().await;
    let size = home.size("main").await;
    for position in [0, 255, 256, size - 1, size] {
        // The request is an entry too, so the tree has grown when the proof is made.
        check_inclusion(&home, position).await;
    }
    home.close().await;
}
