//! An independent verifier, written from `docs/specs/ledger.md` alone. It shares no code with the service: hashes by
//! sha2, signatures by aws-lc-rs, everything else by hand.

pub(crate) mod audit;
mod known_answers;
pub(crate) mod verifier;
mod bundles;
pub(crate) mod witness;

use aws_lc_rs::signature::{ED25519, Ed25519KeyPair, KeyPair as _, UnparsedPublicKey};
use data_encoding::{BASE64, HEXLOWER};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

pub(crate) type Hash = [u8; 32];

/// The contents of a checkpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Checkpoint {
    pub(crate) origin: String,
    pub(crate) size: u64,
    pub(crate) root: Hash,
}

/// Reads the public key from a data folder, without asking the service.
pub(crate) fn public_key(signing_key: &str) -> [u8; 32] {
    // `PRIVATE+KEY+<name>+<key id>+<base64>`; base64 may contain `+` too.
    let encoded = signing_key.trim_end().splitn(5, '+').nth(4).expect("five parts");
    let bytes = BASE64.decode(encoded.as_bytes()).expect("the seed is base64");
    let seed = bytes.strip_prefix(&[1]).expect("the key is an Ed25519 key");
    let pair = Ed25519KeyPair::from_seed_unchecked(seed).expect("the seed has 32 bytes");
    pair.public_key().as_ref().try_into().expect("a public key has 32 bytes")
}

/// Returns a verifier key as text (C2SP signed-note).
pub(crate) fn verifier_key(name: &str, public_key: &[u8; 32]) -> String {
    let id = key_id(name, public_key);
    format!("{name}+{}+{}", HEXLOWER.encode(&id), BASE64.encode(&[&[1], public_key.as_slice()].concat()))
}

fn key_id(name: &str, public_key: &[u8; 32]) -> [u8; 4] {
    let hash = sha256(&[name.as_bytes(), b"\n\x01", public_key]);
    [hash[0], hash[1], hash[2], hash[3]]
}

/// Verifies a signed note and parses its checkpoint (docs/specs/ledger.md §5, §6).
pub(crate) fn verified(note: &str, public_key: &[u8; 32]) -> Checkpoint {
    let lines = verified_lines(note, 0, public_key);
    let [origin, size, root] = lines.as_slice() else { panic!("three lines: {note:?}") };
    assert!(*size == "0" || !size.starts_with('0'), "a number has no zeros in front: {size}");
    let root = BASE64.decode(root.as_bytes()).expect("a root is base64");
    Checkpoint {
        origin: origin.clone(),
        size: size.parse().expect("a size is a number"),
        root: root.try_into().expect("a root has 32 bytes"),
    }
}

/// Verifies a signed note and returns its lines. Line `named` contains the key name.
pub(crate) fn verified_lines(note: &str, named: usize, public_key: &[u8; 32]) -> Vec<String> {
    assert!(note.chars().all(|c| c == '\n' || c >= ' '), "a note cannot contain control characters: {note:?}");
    let (text, signatures) = note.rsplit_once("\n\n").expect("an empty line ends the text");
    let text = format!("{text}\n");
    let text_lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let lines = signatures.strip_suffix('\n').expect("a note ends with a line feed").split('\n');
    let mut verified_count = 0;
    for signature in lines {
        let signature = signature.strip_prefix("— ").expect("a signature line begins with a dash");
        let (name, encoded) = signature.split_once(' ').expect("a name and a signature");
        assert_eq!(name, text_lines[named], "the name of the key is the origin");
        let bytes = BASE64.decode(encoded.as_bytes()).expect("a signature is base64");
        let (id, signature) = bytes.split_at(4);
        // After a rotation, another key of the same name has signed too.
        if id == key_id(name, public_key) {
            let key = UnparsedPublicKey::new(&ED25519, public_key);
            key.verify(text.as_bytes(), signature).expect("the signature verifies");
            verified_count += 1;
        }
    }
    assert_eq!(verified_count, 1, "the key is the one of the data folder: {note:?}");
    text_lines
}

/// Parses a proof file (docs/specs/ledger.md §7): position, entry in `extra`, hashes, note.
pub(crate) fn proof_file(text: &str) -> (u64, Vec<u8>, Vec<Hash>, String) {
    let (head, note) = text.split_once("\n\n").expect("an empty line ends the hashes");
    let mut lines = head.split('\n');
    assert_eq!(lines.next(), Some("c2sp.org/tlog-proof@v1"));
    let decoded = |text: &str| BASE64.decode(text.as_bytes()).expect("it is base64");
    let extra = lines.next().and_then(|line| line.strip_prefix("extra ")).map(decoded).expect("an `extra` line");
    let index = lines.next().and_then(|line| line.strip_prefix("index ")).expect("an `index` line");
    let hashes = lines.map(|line| decoded(line).try_into().expect("a hash has 32 bytes")).collect();
    (index.parse().expect("an index is a number"), extra, hashes, note.to_owned())
}

pub(crate) fn sha256(parts: &[&[u8]]) -> Hash {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update(part);
    }
    hasher.finalize().into()
}

pub(crate) fn leaf_hash(leaf: &[u8]) -> Hash {
    sha256(&[&[0], leaf])
}

fn node(left: &Hash, right: &Hash) -> Hash {
    sha256(&[&[1], left, right])
}

/// Computes the root of leaves (RFC 6962 §2.1).
pub(crate) fn root(leaves: &[Hash]) -> Hash {
    match leaves {
        [] => sha256(&[]),
        [one] => *one,
        several => {
            let mut half = 1;
            while half * 2 < several.len() {
                half *= 2;
            }
            node(&root(&several[..half]), &root(&several[half..]))
        }
    }
}

/// Verifies an inclusion proof (docs/specs/ledger.md §3).
pub(crate) fn includes(leaf: &Hash, index: u64, size: u64, proof: &[Hash], root: &Hash) -> bool {
    if index >= size {
        return false;
    }
    let (mut at, mut last, mut hash) = (index, size - 1, *leaf);
    for sibling in proof {
        if last == 0 {
            return false;
        }
        if at % 2 == 1 || at == last {
            hash = node(sibling, &hash);
            while at % 2 == 0 && at != 0 {
                at >>= 1;
                last >>= 1;
            }
        } else {
            hash = node(&hash, sibling);
        }
        at >>= 1;
        last >>= 1;
    }
    last == 0 && hash == *root
}

/// Verifies a consistency proof (docs/specs/ledger.md §3).
pub(crate) fn continues(old: u64, old_root: &Hash, new: u64, new_root: &Hash, proof: &[Hash]) -> bool {
    if old > new {
        return false;
    }
    if old == 0 {
        return proof.is_empty() && *old_root == sha256(&[]);
    }
    if old == new {
        return proof.is_empty() && old_root == new_root;
    }
    let mut proof = proof.to_vec();
    if proof.is_empty() {
        return false;
    }
    if old.is_power_of_two() {
        proof.insert(0, *old_root);
    }
    let (mut at, mut last) = (old - 1, new - 1);
    while at % 2 == 1 {
        at >>= 1;
        last >>= 1;
    }
    let (mut of_old, mut of_new) = (proof[0], proof[0]);
    for sibling in &proof[1..] {
        if last == 0 {
            return false;
        }
        if at % 2 == 1 || at == last {
            of_old = node(sibling, &of_old);
            of_new = node(sibling, &of_new);
            while at % 2 == 0 && at != 0 {
                at >>= 1;
                last >>= 1;
            }
        } else {
            of_new = node(&of_new, sibling);
        }
        at >>= 1;
        last >>= 1;
    }
    last == 0 && of_old == *old_root && of_new == *new_root
}

/// Parses 64 hexadecimal digits.
pub(crate) fn hash(text: &Value) -> Hash {
    let text = text.as_str().unwrap_or_else(|| panic!("a hash is a text: {text}"));
    HEXLOWER.decode(text.as_bytes()).expect("a hash is in hex").try_into().expect("a hash has 32 bytes")
}

pub(crate) fn hashes(list: &Value) -> Vec<Hash> {
    list.as_array().expect("a list of hashes").iter().map(hash).collect()
}

/// Parses an entry strictly: eleven members in order, in canonical form.
pub(crate) fn entry(leaf: &str) -> Value {
    let value: Value = serde_json::from_str(leaf).unwrap_or_else(|error| panic!("{error}: {leaf}"));
    let text = |name: &str| Value::String(value[name].as_str().unwrap_or_else(|| panic!("{name}: {leaf}")).to_owned());
    // serde_json escapes the same characters in the same way as RFC 8785.
    let spelled = format!(
        r#"{{"action":{},"actor":{},"clock_time":{},"directory":{},"key":{},"payload_hash":{},"recorded_at":{},"seq":{},"subject":{},"timeline_id":{},"v":2}}"#,
        text("action"),
        text("actor"),
        text("clock_time"),
        value["directory"].as_u64().expect("directory is a number"),
        text("key"),
        text("payload_hash"),
        text("recorded_at"),
        value["seq"].as_u64().expect("seq is a number"),
        text("subject"),
        text("timeline_id"),
    );
    assert_eq!(leaf, spelled, "an entry has one spelling");
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vectors() -> Option<Value> {
        let text = crate::support::shared_data::read("vectors/merkle_rfc6962.json")?;
        Some(serde_json::from_slice(&text).unwrap())
    }

    fn leaves(count: u64) -> Vec<Hash> {
        (0..count).map(|index| leaf_hash(format!("entry-{index}").as_bytes())).collect()
    }

    #[test]
    fn tree_roots_match_published_vectors() {
        let Some(vectors) = vectors() else { return };
        let roots = hashes(&vectors["series"]["roots"]);
        assert_eq!(roots.len(), 41);
        for (size, expected) in (0..).zip(&roots) {
            assert_eq!(root(&leaves(size)), *expected, "{size}");
        }
    }

    #[test]
    fn vector_proofs_verify_and_altered_ones_fail() {
        let Some(vectors) = vectors() else { return };
        let roots = hashes(&vectors["series"]["roots"]);
        let root_of = |size: u64| &roots[usize::try_from(size).unwrap()];
        for one in vectors["series"]["inclusion"].as_array().unwrap() {
            let (index, size) = (one["index"].as_u64().unwrap(), one["size"].as_u64().unwrap());
            let (leaf, proof) = (leaf_hash(format!("entry-{index}").as_bytes()), hashes(&one["proof"]));
            assert!(includes(&leaf, index, size, &proof, root_of(size)), "{one}");
            assert!(!includes(&leaf, index + 1, size, &proof, root_of(size)), "{one}");
            assert!(!includes(&[7; 32], index, size, &proof, root_of(size)), "{one}");
            let longer = [proof.as_slice(), &[[7; 32]]].concat();
            assert!(!includes(&leaf, index, size, &longer, root_of(size)), "{one}");
        }
        for one in vectors["series"]["consistency"].as_array().unwrap() {
            let (old, new) = (one["old"].as_u64().unwrap(), one["new"].as_u64().unwrap());
            let proof = hashes(&one["proof"]);
            assert!(continues(old, root_of(old), new, root_of(new), &proof), "{one}");
            assert!(!continues(old, &[7; 32], new, root_of(new), &proof), "{one}");
            assert!(!continues(old, root_of(old), new, &[7; 32], &proof), "{one}");
        }
    }
}
