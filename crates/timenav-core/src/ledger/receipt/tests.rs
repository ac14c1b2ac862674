//! Receipts against the published ones, which an unrelated program has made, and bytes that are not quite one.

use data_encoding::HEXLOWER;
use proptest::prelude::*;
use serde_json::Value;

use super::super::tests::{bytes, ed25519_sign, ed25519_verify, hash, items, number, read_json, text};
use super::super::{PROOF_HASHES_MAX, inclusion_hashes, tree_root};
use super::*;

fn published() -> Value {
    read_json("test-data/cose-receipts-v1.json").expect("the vectors are part of the repository")
}

fn key() -> VerifierKey {
    VerifierKey::parse(text(&published()["verifier_key"])).unwrap()
}

fn bytes_of(receipt: &Value) -> Vec<u8> {
    HEXLOWER.decode(text(&receipt["receipt"]).as_bytes()).unwrap()
}

#[test]
fn receipts_have_the_published_bytes() {
    let vectors = published();
    let (root, size) = (hash(&vectors["root"]), number(&vectors["size"]));
    let entries = read_json("test-data/ledger-format-v2.json").unwrap();
    let texts = items(&entries["leaves"]).iter().map(|leaf| &leaf["entry"]);
    let texts = texts.chain([&entries["reads"]["entry"]["entry"]]);
    let leaves: Vec<Vec<u8>> = texts.map(|entry| text(entry).as_bytes().to_vec()).collect();
    let seed = bytes(&entries["key"]["seed"]);
    let sign = ed25519_sign(&seed);
    let hashes: Vec<Hash> = leaves.iter().map(|leaf| leaf_hash(leaf)).collect();
    assert_eq!((tree_root(&hashes), hashes.len() as u64), (root, size));
    for receipt in items(&vectors["receipts"]) {
        let index = number(&receipt["index"]);
        let beside = inclusion_hashes(&hashes, index).unwrap();
        let leaf = leaves[usize::try_from(index).unwrap()].clone();
        let made = Receipt::sign(&key(), (index, leaf), (size, &root, beside), &sign).unwrap();
        assert_eq!(HEXLOWER.encode(&made.to_bytes()), text(&receipt["receipt"]));
        let read = Receipt::parse(&bytes_of(receipt)).unwrap();
        assert_eq!(read, made);
        assert_eq!(read.verify(&key(), ed25519_verify), Ok(root));
    }
}

#[test]
fn what_does_not_lead_to_the_root_is_not_signed() {
    let read = Receipt::parse(&bytes_of(&published()["receipts"][2])).unwrap();
    let root = hash(&published()["root"]);
    let nobody = |_: &[u8]| -> [u8; 64] { panic!("it signs what it cannot have committed") };
    let other = leaf_hash(b"another");
    for (index, size, root) in [(1, 4, root), (2, 4, other), (2, 5, root), (4, 4, root)] {
        let of_tree = (size, &root, read.hashes.clone());
        Receipt::sign(&key(), (index, read.leaf.clone()), of_tree, nobody).unwrap_err();
    }
}

#[test]
fn a_receipt_of_another_key_or_tree_shows_nothing() {
    let receipt = Receipt::parse(&bytes_of(&published()["receipts"][1])).unwrap();
    let other = VerifierKey::new("timenav.example/apollo-13", *key().public_key()).unwrap();
    let refused = receipt.verify(&other, ed25519_verify);
    assert!(matches!(refused, Err(ReceiptError::OtherKey { .. })), "{refused:?}");
    for changed in [
        Receipt { leaf: b"{}".to_vec(), ..receipt.clone() },
        Receipt { index: 0, ..receipt.clone() },
        Receipt { signature: [7; 64], ..receipt.clone() },
        Receipt { hashes: receipt.hashes.iter().rev().copied().collect(), ..receipt.clone() },
    ] {
        let read = Receipt::parse(&changed.to_bytes()).unwrap();
        assert_eq!(read.verify(&key(), ed25519_verify), Err(ReceiptError::Signature));
    }
    let short = Receipt { hashes: Vec::new(), ..receipt.clone() };
    assert_eq!(short.verify(&key(), ed25519_verify), Err(ReceiptError::Proof(ProofError::TooShort)));
    // The name is signed too.
    let renamed = Receipt { origin: other.name().to_owned(), key_id: other.id(), ..receipt };
    assert_eq!(renamed.verify(&other, ed25519_verify), Err(ReceiptError::Signature));
}

#[test]
fn no_byte_can_be_changed_or_left_out() {
    let bytes = bytes_of(&published()["receipts"][3]);
    for at in 0..bytes.len() {
        for flip in [1, 0x20, 0x80] {
            let mut changed = bytes.clone();
            changed[at] ^= flip;
            let is_refused = Receipt::parse(&changed).map_or(true, |read| read.verify(&key(), ed25519_verify).is_err());
            assert!(is_refused, "byte {at} with {flip:#x} changed");
        }
        assert_eq!(Receipt::parse(&bytes[..at]), Err(ReceiptError::Form), "{at}");
    }
    assert_eq!(Receipt::parse(&[&bytes[..], b"\0"].concat()), Err(ReceiptError::Form));
    assert_eq!(Receipt::parse(&vec![0; RECEIPT_BYTES_MAX + 1]), Err(ReceiptError::TooLong));
}

proptest! {
    #[test]
    fn whatever_is_written_is_read_again(
        name in "[a-z.]{1,300}/[a-z]{1,30}",
        (index, size) in any::<(u64, u64)>(),
        hashes in proptest::collection::vec(any::<[u8; 32]>(), 0..=PROOF_HASHES_MAX),
        leaf in (0..70_000_usize).prop_map(|length| vec![7; length]),
    ) {
        let key = VerifierKey::new(&name, [9; 32]).unwrap();
        let hashes = hashes.into_iter().map(Hash::from_bytes).collect();
        let receipt =
            Receipt { origin: name, key_id: key.id(), index, size, hashes, leaf, signature: [3; 64] };
        prop_assert_eq!(Receipt::parse(&receipt.to_bytes()), Ok(receipt));
    }

    #[test]
    fn whatever_is_read_is_no_surprise(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let begun = [&SIGN1[..], &bytes].concat();
        prop_assert!(Receipt::parse(&begun).is_err());
    }
}
