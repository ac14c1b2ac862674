use proptest::prelude::*;

use super::*;
use crate::ledger::checkpoint::note::SignerKey;
use crate::ledger::merkle::{leaf_hash, tree_root};
use crate::ledger::tests::{ed25519_public, ed25519_sign, ed25519_verify};
use crate::ledger::{Subtree, consistency_nodes};

const SEED: [u8; 32] = [9; 32];

/// The example of C2SP tlog-witness.
const EXAMPLE: &str = "old 20852014\n\
    PlRNCrwHpqhGrupue0L7gxbjbMiKA9temvuZZDDpkaw=\n\
    jrJZDmY8Y7SyJE0MWLpLozkIVMSMZcD5kvuKxPC3swk=\n\
    5+pKlUdi2LeF/BcMHBn+Ku6yhPGNCswZZD1X/6QgPd8=\n\
    /6WVhPs2CwSsb5rYBH5cjHV/wSmA79abXAwhXw3Kj/0=\n\
    \n\
    example.com/behind-the-sofa\n\
    20852163\n\
    CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n\
    \n\
    — example.com/behind-the-sofa Az3grlgtzPICa5OS8npVmf1Myq/5IZniMp+ZJurmRDeOoRDe4URYN7u5/Zhcyv2q1gGzGku9nTo+zyWE+xeMcTOAYQ8=\n\
    — example.com/behind-the-sofa opLqBQsREYCgu6xQkYQwJr9fo45a62DN9EdmHXnZdXNqlcVGlCum2Wks+49/V6267UEjw6QUXTS5Rovnzv++qbSzm9Q=\n";

fn key() -> VerifierKey {
    VerifierKey::new("log.example/system", ed25519_public(&SEED)).unwrap()
}

fn leaves(size: u64) -> Vec<Hash> {
    (0..size).map(|i| leaf_hash(format!("entry-{i}").as_bytes())).collect()
}

fn witnessed(size: u64) -> Witnessed {
    Witnessed { size, root: tree_root(&leaves(size)) }
}

fn note(size: u64, root: Hash) -> String {
    let checkpoint = Checkpoint { origin: key().name().to_owned(), size, root, extensions: Vec::new() };
    checkpoint.sign(&key(), ed25519_sign(&SEED)).unwrap().to_string()
}

fn proof(old: u64, new: u64) -> Vec<Hash> {
    let leaves = leaves(new);
    let hash_of = |subtree: Subtree| -> Result<Hash, ()> {
        let first = usize::try_from(subtree.index << subtree.height).unwrap();
        Ok(tree_root(&leaves[first..first + (1 << subtree.height)]))
    };
    consistency_nodes(old, new).unwrap().iter().map(|node| node.hash(hash_of).unwrap()).collect()
}

fn request(old_size: u64, new: u64) -> AddCheckpoint {
    AddCheckpoint { old_size, hashes: proof(old_size, new), note: note(new, witnessed(new).root) }
}

fn decide(request: &AddCheckpoint, recorded: Witnessed) -> Result<Witnessed, WitnessRefusal> {
    decide_witnessing(request, &[key()], recorded, ed25519_verify).map(|(_, witnessed)| witnessed)
}

#[test]
fn add_checkpoint_example_of_the_standard_is_parsed() {
    let request = AddCheckpoint::parse(EXAMPLE.as_bytes()).unwrap();
    assert_eq!((request.old_size, request.hashes.len()), (20_852_014, 4));
    assert_eq!(request.origin(), "example.com/behind-the-sofa");
    assert_eq!(request.to_text(), EXAMPLE);
    // The keys are not published, so under any other key the request counts as unsigned.
    let refused = decide(&request, Witnessed { size: 20_852_014, root: empty_root() });
    assert_eq!(refused, Err(WitnessRefusal::Unsigned(NoteError::NoKnownKey)));
}

#[test]
fn growing_log_is_cosigned() {
    let mut recorded = Witnessed::default();
    for new in [0, 0, 1, 1, 2, 7, 8, 8, 20, 300] {
        recorded = decide(&request(recorded.size, new), recorded).unwrap();
        assert_eq!(recorded, witnessed(new));
    }
}

#[test]
fn replays_and_smaller_trees_are_rejected() {
    let recorded = witnessed(20);
    for old in [0, 1, 19] {
        // Replays, and a restarted log.
        assert_eq!(decide(&request(old, 20), recorded), Err(WitnessRefusal::Conflict { old, recorded: 20 }));
        assert_eq!(decide(&request(0, old), recorded), Err(WitnessRefusal::Conflict { old: 0, recorded: 20 }));
    }
    let ahead = AddCheckpoint { old_size: 21, ..request(20, 30) };
    assert_eq!(decide(&ahead, recorded), Err(WitnessRefusal::Conflict { old: 21, recorded: 20 }));
    let back = AddCheckpoint { old_size: 20, hashes: Vec::new(), note: note(19, witnessed(19).root) };
    assert_eq!(decide(&back, recorded), Err(WitnessRefusal::Reversed { old: 20, new: 19 }));
}

#[test]
fn inconsistent_history_is_rejected() {
    let recorded = witnessed(20);
    let other = tree_root(&leaves(21)[1..]);
    let equal = AddCheckpoint { old_size: 20, hashes: Vec::new(), note: note(20, other) };
    assert_eq!(decide(&equal, recorded), Err(WitnessRefusal::Inconsistent(ProofError::NewRootMismatch)));
    let grown = AddCheckpoint { note: note(30, other), ..request(20, 30) };
    assert_eq!(decide(&grown, recorded), Err(WitnessRefusal::Inconsistent(ProofError::NewRootMismatch)));
    let from_other = Witnessed { size: 20, root: other };
    assert_eq!(decide(&request(20, 30), from_other), Err(WitnessRefusal::Inconsistent(ProofError::OldRootMismatch)));
    let not_empty = AddCheckpoint { old_size: 0, hashes: Vec::new(), note: note(0, other) };
    assert_eq!(decide(&not_empty, Witnessed::default()), Err(WitnessRefusal::NotEmpty));
    let with_proof = AddCheckpoint { hashes: vec![other], ..request(0, 20) };
    assert_eq!(decide(&with_proof, Witnessed::default()), Err(WitnessRefusal::Inconsistent(ProofError::TooLong)));
}

#[test]
fn altered_consistency_proof_is_rejected() {
    for (old, new) in [(1, 2), (3, 7), (7, 8), (8, 21), (20, 300)] {
        let good = request(old, new);
        let inconsistent = |hashes: Vec<Hash>| {
            let decided = decide(&AddCheckpoint { hashes, ..good.clone() }, witnessed(old));
            assert!(matches!(decided, Err(WitnessRefusal::Inconsistent(_))), "{old} to {new}: {decided:?}");
        };
        for at in 0..good.hashes.len() {
            for byte in 0..Hash::BYTES {
                let mut hashes = good.hashes.clone();
                let mut bytes = *hashes[at].as_bytes();
                bytes[byte] ^= 0x80;
                hashes[at] = Hash::from_bytes(bytes);
                inconsistent(hashes);
            }
            let mut short = good.hashes.clone();
            short.remove(at);
            inconsistent(short);
        }
        let reversed: Vec<Hash> = good.hashes.iter().rev().copied().collect();
        if reversed != good.hashes {
            inconsistent(reversed);
        }
        inconsistent([good.hashes.clone(), vec![empty_root()]].concat());
        inconsistent(good.hashes.repeat(2));
        assert_eq!(decide(&good, witnessed(old)), Ok(witnessed(new)));
    }
}

#[test]
fn only_signatures_of_the_log_keys_count() {
    let good = request(0, 20);
    let other = VerifierKey::new("log.example/system", ed25519_public(&[8; 32])).unwrap();
    let decide_by = |keys: &[VerifierKey], request: &AddCheckpoint| {
        decide_witnessing(request, keys, Witnessed::default(), ed25519_verify).map(|_| ())
    };
    assert_eq!(decide_by(&[other.clone(), key()], &good), Ok(()));
    assert_eq!(decide_by(&[other], &good), Err(WitnessRefusal::Unsigned(NoteError::NoKnownKey)));
    assert_eq!(decide_by(&[], &good), Err(WitnessRefusal::Unsigned(NoteError::NoKnownKey)));
    let tampered = AddCheckpoint { note: good.note.replace("\n20\n", "\n21\n"), ..good.clone() };
    let refused = decide_by(&[key()], &tampered);
    assert!(matches!(refused, Err(WitnessRefusal::Unsigned(NoteError::BadSignature { .. }))), "{refused:?}");
    // A stranger's signature next to the log's does not matter.
    let stranger = SignerKey::new([3; 32], &VerifierKey::new("x", ed25519_public(&[3; 32])).unwrap());
    let stranger_key = VerifierKey::new("x", ed25519_public(&[3; 32])).unwrap();
    let both = Note::parse(good.note.as_bytes()).unwrap();
    let both = both.countersign(&stranger_key, ed25519_sign(stranger.seed())).unwrap().to_string();
    assert_eq!(decide_by(&[key()], &AddCheckpoint { note: both, ..good }), Ok(()));
}

#[test]
fn malformed_add_checkpoint_bodies_are_rejected() {
    let good = request(3, 7).to_text();
    assert_eq!(AddCheckpoint::parse(good.as_bytes()), Ok(request(3, 7)));
    for (old, new, error) in [
        ("old 3\n", "old 03\n", AddCheckpointError::OldSize),
        ("old 3\n", "old -3\n", AddCheckpointError::OldSize),
        ("old 3\n", "old  3\n", AddCheckpointError::OldSize),
        ("old 3\n", "Old 3\n", AddCheckpointError::OldSize),
        ("old 3\n", "old 3\r\n", AddCheckpointError::OldSize),
        ("old 3\n", "old 18446744073709551616\n", AddCheckpointError::OldSize),
        ("old 3\n", "old 3\nAAAA\n", AddCheckpointError::Hash),
    ] {
        assert_eq!(AddCheckpoint::parse(good.replacen(old, new, 1).as_bytes()), Err(error), "{new}");
    }
    assert_eq!(AddCheckpoint::parse(b"old 3"), Err(AddCheckpointError::OldSize));
    assert_eq!(AddCheckpoint::parse(b"old 3\n"), Err(AddCheckpointError::Checkpoint));
    assert_eq!(AddCheckpoint::parse(b"old 3\n\n"), Err(AddCheckpointError::Checkpoint));
    assert_eq!(AddCheckpoint::parse(b"old \xff\n\n"), Err(AddCheckpointError::NotUtf8));
    let with_hashes = |count| AddCheckpoint { hashes: vec![empty_root(); count], ..request(3, 7) }.to_text();
    assert!(AddCheckpoint::parse(with_hashes(63).as_bytes()).is_ok());
    assert_eq!(AddCheckpoint::parse(with_hashes(64).as_bytes()), Err(AddCheckpointError::TooManyHashes));
    let long = |bytes: usize| good.clone() + &"x".repeat(bytes - good.len());
    assert!(AddCheckpoint::parse(long(ADD_CHECKPOINT_BYTES_MAX).as_bytes()).is_ok());
    assert_eq!(AddCheckpoint::parse(long(ADD_CHECKPOINT_BYTES_MAX + 1).as_bytes()), Err(AddCheckpointError::TooLong));
    let unread = AddCheckpoint { note: "log.example/system\n".to_owned(), ..request(3, 7) };
    assert!(matches!(decide(&unread, witnessed(3)), Err(WitnessRefusal::Malformed(_))));
}

proptest! {
    #[test]
    fn add_checkpoint_body_has_one_reading(body in "(old [0-9]{1,3}\n)?([A-Za-z0-9+/=]{0,44}\n){0,3}\n?.{0,60}\n?") {
        if let Ok(request) = AddCheckpoint::parse(body.as_bytes()) {
            prop_assert_eq!(request.to_text(), body);
        }
    }

    #[test]
    fn witnessed_size_only_grows(sizes in prop::collection::vec((0_u64..40, 0_u64..40), 1..30)) {
        let mut recorded = Witnessed::default();
        for (old, new) in sizes {
            let statement = if old <= new { request(old, new) } else { AddCheckpoint { old_size: old, ..request(new, new) } };
            match decide(&statement, recorded) {
                Ok(next) => {
                    prop_assert!(next.size >= recorded.size && old == recorded.size);
                    recorded = next;
                }
                Err(_) => prop_assert!(old > new || old != recorded.size),
            }
        }
    }
}
