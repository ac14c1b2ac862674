//! A log with its own key, and verification of cosignatures, written from the standards without code of the program.

use aws_lc_rs::signature::{ED25519, Ed25519KeyPair, KeyPair as _, UnparsedPublicKey};
use data_encoding::{BASE64, HEXLOWER};

use crate::ledger::{leaf_hash, root, sha256, verifier_key};

type Hash = [u8; 32];

/// A log that signs arbitrary texts.
pub(super) struct Log {
    pub(super) origin: &'static str,
    pub(super) pair: Ed25519KeyPair,
    /// Prefix of its entries: a different history has a different one.
    pub(super) history: &'static str,
}

impl Log {
    pub(super) fn new(origin: &'static str) -> Self {
        let pair = Ed25519KeyPair::from_seed_unchecked(&[5; 32]).unwrap();
        Self { origin, pair, history: "entry" }
    }

    pub(super) fn key(&self) -> String {
        verifier_key(self.origin, self.pair.public_key().as_ref().try_into().unwrap())
    }

    fn leaves(&self, size: usize) -> Vec<Hash> {
        (0..size).map(|number| leaf_hash(format!("{} {number}", self.history).as_bytes())).collect()
    }

    /// Returns the signed checkpoint of a size.
    pub(super) fn note(&self, size: usize) -> String {
        self.note_of(&format!("{}\n{size}\n{}\n", self.origin, BASE64.encode(&root(&self.leaves(size)))))
    }

    /// Signs any text.
    pub(super) fn note_of(&self, text: &str) -> String {
        let id = sha256(&[self.origin.as_bytes(), b"\n\x01", self.pair.public_key().as_ref()]);
        let signature = self.pair.sign(text.as_bytes());
        format!("{text}\n— {} {}\n", self.origin, BASE64.encode(&[&id[..4], signature.as_ref()].concat()))
    }

    /// Returns the body of a cosignature request.
    pub(super) fn body(&self, old: usize, new: usize) -> String {
        let proof = if old == 0 || old >= new { Vec::new() } else { consistency(old, &self.leaves(new), true) };
        body(old, &proof, &self.note(new))
    }

    pub(super) fn proof(&self, old: usize, new: usize) -> Vec<Hash> {
        consistency(old, &self.leaves(new), true)
    }
}

pub(super) fn body(old: usize, proof: &[Hash], note: &str) -> String {
    let proof: String = proof.iter().map(|hash| BASE64.encode(hash) + "\n").collect();
    format!("old {old}\n{proof}\n{note}")
}

/// RFC 6962 §2.1.2, SUBPROOF.
fn consistency(old: usize, leaves: &[Hash], is_known: bool) -> Vec<Hash> {
    if old == leaves.len() {
        return if is_known { Vec::new() } else { vec![root(leaves)] };
    }
    let mut half = 1;
    while half * 2 < leaves.len() {
        half *= 2;
    }
    let (left, right) = leaves.split_at(half);
    let (mut proof, other) = if old <= half {
        (consistency(old, left, is_known), root(right))
    } else {
        (consistency(old - half, right, false), root(left))
    };
    proof.push(other);
    proof
}

/// Verifies a cosignature on a note and returns its time.
#[track_caller]
pub(super) fn cosigned_at(note: &str, witness: &str) -> u64 {
    let [name, id, typed] = witness.splitn(3, '+').collect::<Vec<_>>().try_into().expect("three parts");
    let (text, signatures) = note.rsplit_once("\n\n").expect("an empty line");
    let typed = BASE64.decode(typed.as_bytes()).unwrap();
    assert_eq!(typed[0], 4, "a cosignature by Ed25519");
    let named = sha256(&[name.as_bytes(), b"\n\x04", &typed[1..]]);
    assert_eq!(HEXLOWER.encode(&named[..4]), id);
    let line = signatures.lines().find_map(|line| line.strip_prefix(&format!("— {name} ")));
    let signature = BASE64.decode(line.unwrap_or_else(|| panic!("no line of {name}: {note}")).as_bytes()).unwrap();
    assert_eq!((signature.len(), &signature[..4]), (76, &named[..4]));
    let time = u64::from_be_bytes(signature[4..12].try_into().unwrap());
    let message = format!("cosignature/v1\ntime {time}\n{text}\n");
    let verified = UnparsedPublicKey::new(&ED25519, &typed[1..]).verify(message.as_bytes(), &signature[12..]);
    assert!(verified.is_ok(), "the cosignature does not verify: {note}");
    time
}
