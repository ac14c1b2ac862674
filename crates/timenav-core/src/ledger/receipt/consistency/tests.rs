//! Receipts of growth against the published ones, which an unrelated program has made, and what is not quite one.

use data_encoding::HEXLOWER;
use proptest::prelude::*;
use serde_json::Value;

use super::super::super::tests::{bytes, ed25519_sign, ed25519_verify, hash, items, number, read_json, text};
use super::super::super::{PROOF_HASHES_MAX, ProofError, leaf_hash, tree_root};
use super::super::{RECEIPT_BYTES_MAX, Receipt};
use super::*;

fn published() -> Value {
    read_json("test-data/cose-consistency-receipts-v1.json").expect("the vectors are part of the repository")
}

fn key() -> VerifierKey {
    VerifierKey::parse(text(&published()["verifier_key"])).unwrap()
}

fn bytes_of(receipt: &Value) -> Vec<u8> {
    HEXLOWER.decode(text(&receipt["receipt"]).as_bytes()).unwrap()
}

/// Returns the published receipt between two sizes.
fn between(from: u64, size: u64) -> ConsistencyReceipt {
    let published = published();
    let mut read = items(&published["receipts"]).iter().map(|one| ConsistencyReceipt::parse(&bytes_of(one)).unwrap());
    read.find(|one| (one.from, one.size) == (from, size)).unwrap()
}

#[test]
fn receipts_have_the_published_bytes() {
    let (vectors, entries) = (published(), read_json("test-data/ledger-format-v2.json").unwrap());
    let texts = items(&entries["leaves"]).iter().map(|leaf| &leaf["entry"]);
    let leaves: Vec<Hash> =
        texts.chain([&entries["reads"]["entry"]["entry"]]).map(|entry| leaf_hash(text(entry).as_bytes())).collect();
    let seed = bytes(&entries["key"]["seed"]);
    let sign = ed25519_sign(&seed);
    assert_eq!(items(&vectors["receipts"]).len(), 5);
    for receipt in items(&vectors["receipts"]) {
        let (from, size) = (number(&receipt["from"]), number(&receipt["size"]));
        let (from_root, root) = (hash(&receipt["from_root"]), hash(&receipt["root"]));
        let of = |size: u64| tree_root(&leaves[..usize::try_from(size).unwrap()]);
        assert_eq!((of(from), of(size)), (from_root, root));
        let read = ConsistencyReceipt::parse(&bytes_of(receipt)).unwrap();
        assert_eq!((read.from, read.from_root, read.size, read.root()), (from, from_root, size, Ok(root)));
        assert_eq!(read.verify(&key(), ed25519_verify), Ok(root));
        let made =
            ConsistencyReceipt::sign(&key(), (from, from_root), (size, &root, read.hashes.clone()), &sign).unwrap();
        assert_eq!(made, read);
        assert_eq!(made.to_bytes(), bytes_of(receipt));
        // Nobody can take it for a receipt of an entry.
        assert!(Receipt::begins(&bytes_of(receipt)));
        Receipt::parse(&bytes_of(receipt)).unwrap_err();
    }
}

#[test]
fn what_does_not_lead_from_root_to_root_is_not_signed() {
    let ConsistencyReceipt { from_root, hashes, .. } = between(3, 4);
    let root = between(3, 4).root().unwrap();
    let other = leaf_hash(b"another");
    let nobody = |_: &[u8]| -> [u8; 64] { panic!("it signs what it cannot have committed") };
    let refused = |from, from_root, size, root| {
        ConsistencyReceipt::sign(&key(), (from, from_root), (size, &root, hashes.clone()), nobody).unwrap_err()
    };
    assert_eq!(refused(3, from_root, 4, other), ReceiptError::Proof(ProofError::NewRootMismatch));
    assert_eq!(refused(3, other, 4, root), ReceiptError::Proof(ProofError::OldRootMismatch));
    assert_eq!(refused(3, from_root, 5, root), ReceiptError::Proof(ProofError::TooShort));
    for (from, size) in [(0, 4), (4, 4), (5, 4), (0, 0)] {
        let wrong = refused(from, from_root, size, root);
        assert_eq!(wrong, ReceiptError::NoGrowth { from, size });
    }
    let said = ReceiptError::NoGrowth { from: 0, size: 4 }.to_string();
    assert_eq!(said, "a receipt shows how a ledger of 1 to 3 entries grew into one of 4, not one of 0");
}

#[test]
fn a_receipt_of_another_key_or_tree_shows_nothing() {
    let receipt = between(3, 4);
    let other = VerifierKey::new("timenav.example/apollo-13", *key().public_key()).unwrap();
    let refused = receipt.verify(&other, ed25519_verify);
    assert!(matches!(refused, Err(ReceiptError::OtherKey { .. })), "{refused:?}");
    let refused = |changed: ConsistencyReceipt| changed.verify(&key(), ed25519_verify).unwrap_err();
    let from_root = leaf_hash(b"another");
    let wrong = refused(ConsistencyReceipt { from_root, ..receipt.clone() });
    assert_eq!(wrong, ReceiptError::Proof(ProofError::OldRootMismatch));
    // The hash of a tree whose size is a power of two begins the proof itself.
    assert_eq!(refused(ConsistencyReceipt { from_root, ..between(2, 4) }), ReceiptError::Signature);
    assert_eq!(refused(ConsistencyReceipt { signature: [7; 64], ..receipt.clone() }), ReceiptError::Signature);
    let wrong = refused(ConsistencyReceipt { from: 0, ..receipt.clone() });
    assert_eq!(wrong, ReceiptError::NoGrowth { from: 0, size: 4 });
    // The name is signed too.
    let renamed = ConsistencyReceipt { origin: other.name().to_owned(), key_id: other.id(), ..receipt };
    assert_eq!(renamed.verify(&other, ed25519_verify), Err(ReceiptError::Signature));
}

/// RFC 9942 signs the newer root alone. Whoever says another size shows the same two trees, so it is the roots that count.
#[test]
fn another_size_does_not_lead_to_another_root() {
    let receipt = between(2, 4);
    let told_otherwise = ConsistencyReceipt { size: 3, ..receipt.clone() };
    assert_eq!(told_otherwise.verify(&key(), ed25519_verify), Ok(receipt.root().unwrap()));
    assert_eq!(told_otherwise.from_root, receipt.from_root);
}

#[test]
fn no_byte_can_be_changed_or_left_out() {
    let bytes = between(3, 4).to_bytes();
    for at in 0..bytes.len() {
        for flip in [1, 0x20, 0x80] {
            let mut changed = bytes.clone();
            changed[at] ^= flip;
            let read = ConsistencyReceipt::parse(&changed);
            let is_refused = read.map_or(true, |read| read.verify(&key(), ed25519_verify).is_err());
            assert!(is_refused, "byte {at} with {flip:#x} changed");
        }
        assert_eq!(ConsistencyReceipt::parse(&bytes[..at]), Err(ReceiptError::Form), "{at}");
    }
    assert_eq!(ConsistencyReceipt::parse(&[&bytes[..], b"\0"].concat()), Err(ReceiptError::Form));
    assert_eq!(ConsistencyReceipt::parse(&vec![0; RECEIPT_BYTES_MAX + 1]), Err(ReceiptError::TooLong));
}

proptest! {
    #[test]
    fn whatever_is_written_is_read_again(
        name in "[a-z.]{1,300}/[a-z]{1,30}",
        (from, size, from_root) in any::<(u64, u64, [u8; 32])>(),
        hashes in proptest::collection::vec(any::<[u8; 32]>(), 0..=PROOF_HASHES_MAX),
    ) {
        let key_id = VerifierKey::new(&name, [9; 32]).unwrap().id();
        let hashes = hashes.into_iter().map(Hash::from_bytes).collect();
        let (origin, from_root, signature) = (name, Hash::from_bytes(from_root), [3; 64]);
        let receipt = ConsistencyReceipt { origin, key_id, from, from_root, size, hashes, signature };
        prop_assert_eq!(ConsistencyReceipt::parse(&receipt.to_bytes()), Ok(receipt));
    }
}
