//! Proofs for strangers: what is read is written again byte by byte, and is true of one root only.

#![no_main]

use libfuzzer_sys::fuzz_target;
use timenav_core::ledger::{Checkpoint, Hash, Note, PROOF_HASHES_MAX, TlogProof};
use timenav_core::ledger::{leaf_hash, verify_consistency, verify_inclusion};
use timenav_fuzz::check_message;

fuzz_target!(|bytes: &[u8]| {
    match TlogProof::parse(bytes) {
        Ok(proof) => {
            assert_eq!(proof.to_text().as_bytes(), bytes);
            assert!(proof.hashes.len() <= PROOF_HASHES_MAX);
            check(&proof);
        }
        Err(error) => check_message(&error, 0),
    }
});

fn check(proof: &TlogProof) {
    let leaf = leaf_hash(&proof.extra);
    let signed = Note::parse(proof.checkpoint.as_bytes()).ok();
    let checkpoint = signed.and_then(|note| Checkpoint::parse(note.text()).ok());
    let (size, root) = checkpoint.map_or((proof.index.saturating_add(1), leaf), |found| (found.size, found.root));
    let other_root = Hash::from_bytes(root.as_bytes().map(|byte| !byte));
    for size in [size, proof.index, u64::MAX] {
        let included = |root| verify_inclusion(proof.index, size, &leaf, &proof.hashes, root);
        assert!(included(&root).is_err() || included(&other_root).is_err(), "one proof leads to one root");
        assert!(included(&root).is_err() || proof.index < size);
        let grown = |root| verify_consistency(proof.index, &leaf, size, root, &proof.hashes);
        let is_from_nothing = proof.index == 0;
        assert!(is_from_nothing || grown(&root).is_err() || grown(&other_root).is_err());
        for error in [included(&root), grown(&root)].into_iter().filter_map(Result::err) {
            check_message(&error, 0);
        }
    }
}
