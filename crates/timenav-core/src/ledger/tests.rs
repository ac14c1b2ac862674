use aws_lc_rs::signature::{self, Ed25519KeyPair, UnparsedPublicKey};
use serde_json::Value;

use super::*;

mod version_2;

pub(super) fn ed25519_verify(public: &[u8; 32], message: &[u8], signature: &[u8; 64]) -> bool {
    UnparsedPublicKey::new(&signature::ED25519, public).verify(message, signature).is_ok()
}

pub(super) fn ed25519_sign(seed: &[u8; 32]) -> impl Fn(&[u8]) -> [u8; 64] {
    let pair = Ed25519KeyPair::from_seed_unchecked(seed).unwrap();
    move |message| pair.sign(message).as_ref().try_into().unwrap()
}

pub(super) fn ed25519_public(seed: &[u8; 32]) -> [u8; 32] {
    use aws_lc_rs::signature::KeyPair as _;
    let pair = Ed25519KeyPair::from_seed_unchecked(seed).unwrap();
    pair.public_key().as_ref().try_into().unwrap()
}

/// Reads a file below the workspace, or below the shared data directory next to it.
pub(super) fn read_json(path: &str) -> Option<Value> {
    let path = format!("{}/../../{path}", env!("CARGO_MANIFEST_DIR"));
    match std::fs::read(&path) {
        Ok(bytes) => Some(serde_json::from_slice(&bytes).unwrap()),
        Err(error) => {
            eprintln!("not tested: {path} cannot be read: {error}");
            None
        }
    }
}

pub(super) fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

pub(super) fn number(value: &Value) -> u64 {
    value.as_u64().unwrap()
}

pub(super) fn items(value: &Value) -> &[Value] {
    value.as_array().unwrap()
}

pub(super) fn hash(value: &Value) -> Hash {
    Hash::from_hex(text(value)).unwrap()
}

pub(super) fn hashes(value: &Value) -> Vec<Hash> {
    items(value).iter().map(hash).collect()
}

fn published() -> Value {
    read_json("test-data/ledger-format-v1.json").expect("the vectors are part of the repository")
}

pub(super) fn bytes<const N: usize>(value: &Value) -> [u8; N] {
    HEXLOWER.decode(text(value).as_bytes()).unwrap().try_into().unwrap()
}

#[test]
fn entries_have_the_published_bytes() {
    for leaf in items(&published()["leaves"]) {
        check_leaf(leaf, None);
    }
}

/// Checks a leaf of version 2 if it has an authority, else of version 1.
fn check_leaf(leaf: &Value, authority: Option<&Authority<'_>>) {
    let salt = Salt::from_bytes(bytes(&leaf["salt"]));
    let payload_hash = payload_hash(&salt, text(&leaf["payload"]).as_bytes());
    assert_eq!(payload_hash, hash(&leaf["payload_hash"]));
    let entry = Leaf {
        timeline_id: text(&leaf["timeline_id"]),
        seq: number(&leaf["seq"]),
        recorded_at: text(&leaf["recorded_at"]),
        clock_time: text(&leaf["clock_time"]),
        actor: text(&leaf["actor"]),
        action: text(&leaf["action"]),
        subject: text(&leaf["subject"]),
        payload_hash,
    };
    let encoded = authority.map_or_else(|| entry.encode(), |authority| entry.encode_v2(authority));
    assert_eq!(std::str::from_utf8(&encoded).unwrap(), text(&leaf["entry"]));
    assert_eq!(encoded.len() as u64, number(&leaf["entry_bytes"]));
    assert_eq!(leaf_hash(&encoded), hash(&leaf["leaf_hash"]));
    let record = LeafRecord::decode(&encoded).unwrap();
    assert_eq!((record.as_leaf(), record.authority.as_ref()), (entry, authority));
}

#[test]
fn tree_has_the_published_roots_and_proofs() {
    let vectors = published();
    let leaves = items(&vectors["leaves"]);
    let leaves: Vec<Hash> = leaves.iter().map(|leaf| hash(&leaf["leaf_hash"])).collect();
    let roots = hashes(&vectors["roots"]);
    for (size, root) in roots.iter().enumerate() {
        assert_eq!(tree_root(&leaves[..size]), *root);
    }
    for vector in items(&vectors["inclusion"]) {
        let (index, size) = (number(&vector["index"]), number(&vector["size"]));
        let leaf = &leaves[usize::try_from(index).unwrap()];
        let root = &roots[usize::try_from(size).unwrap()];
        assert_eq!(verify_inclusion(index, size, leaf, &hashes(&vector["proof"]), root), Ok(()));
    }
    for vector in items(&vectors["consistency"]) {
        let (old, new) = (number(&vector["old"]), number(&vector["new"]));
        let old_root = &roots[usize::try_from(old).unwrap()];
        let new_root = &roots[usize::try_from(new).unwrap()];
        let proof = hashes(&vector["proof"]);
        assert_eq!(verify_consistency(old, old_root, new, new_root, &proof), Ok(()));
    }
}

#[test]
fn checkpoints_are_signed_as_published() {
    let vectors = published();
    let key = &vectors["key"];
    let name = origin(text(&key["service_name"]), text(&key["timeline_id"]));
    assert_eq!(name, text(&key["origin"]));
    let signer = SignerKey::parse(text(&key["signer_key"])).unwrap();
    assert_eq!(signer.seed(), &bytes(&key["seed"]));
    assert_eq!(ed25519_public(signer.seed()), bytes(&key["public_key"]));
    let verifier = signer.verifier_key(bytes(&key["public_key"])).unwrap();
    assert_eq!(verifier.to_string(), text(&key["verifier_key"]));
    assert_eq!(verifier.id().to_string(), text(&key["key_id"]));
    assert_eq!(VerifierKey::parse(text(&key["verifier_key"])), Ok(verifier.clone()));

    for vector in items(&vectors["checkpoints"]) {
        let checkpoint = Checkpoint {
            origin: name.clone(),
            size: number(&vector["size"]),
            root: hash(&vector["root"]),
            extensions: Vec::new(),
        };
        assert_eq!(checkpoint.to_text(), text(&vector["text"]));
        let note = checkpoint.sign(&verifier, ed25519_sign(signer.seed())).unwrap();
        assert_eq!(note.to_string(), text(&vector["note"]));
        assert_eq!(note.signatures()[0].signature(), bytes::<64>(&vector["signature"]));
        let opened = Checkpoint::open(note.to_string().as_bytes(), &verifier, ed25519_verify);
        assert_eq!(opened, Ok(checkpoint));
    }
}

#[test]
fn published_tlog_proof_verifies() {
    let vectors = published();
    let written = text(&vectors["tlog_proof"]["text"]);
    let proof = TlogProof::parse(written.as_bytes()).unwrap();
    assert_eq!(proof.to_text(), written);
    assert_eq!(proof.index, number(&vectors["tlog_proof"]["index"]));
    let key = VerifierKey::parse(text(&vectors["key"]["verifier_key"])).unwrap();
    let checkpoint = Checkpoint::open(proof.checkpoint.as_bytes(), &key, ed25519_verify).unwrap();
    let leaf = hash(&vectors["leaves"][2]["leaf_hash"]);
    let (index, size) = (proof.index, checkpoint.size);
    assert_eq!(verify_inclusion(index, size, &leaf, &proof.hashes, &checkpoint.root), Ok(()));
}

#[test]
fn ledger_page_quotes_the_vectors() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/specs/ledger.md");
    let page = std::fs::read_to_string(page).expect("the page is part of the repository");
    let vectors = published();
    let quoted = [
        text(&vectors["leaves"][2]["entry"]),
        text(&vectors["leaves"][2]["payload"]),
        text(&vectors["leaves"][2]["salt"]),
        text(&vectors["leaves"][2]["leaf_hash"]),
        text(&vectors["roots"][5]),
        text(&vectors["key"]["verifier_key"]),
        text(&vectors["key"]["public_key"]),
        text(&vectors["tlog_proof"]["text"]).trim_end(),
    ];
    for quote in quoted {
        assert!(page.contains(quote), "docs/specs/ledger.md does not quote {quote}");
    }
    for leaf in items(&vectors["leaves"]) {
        assert!(page.contains(text(&leaf["leaf_hash"])));
    }
}

#[test]
fn hash_has_one_accepted_spelling() {
    let hash = sha256(&[b"a"]);
    assert_eq!(Hash::from_hex(&hash.to_hex()), Some(hash));
    assert_eq!(Hash::from_base64(&hash.to_base64()), Some(hash));
    assert_eq!(Hash::from_hex(&hash.to_hex().to_uppercase()), None);
    assert_eq!(Hash::from_hex(&hash.to_hex()[1..]), None);
    assert_eq!(Hash::from_base64(hash.to_base64().trim_end_matches('=')), None);
    // Found by fuzzing: 32 bytes in separately padded pieces.
    assert_eq!(Hash::from_base64("FFU=QFU=Qpj8FFU=QpDUFFU=Qpj8QFU=Qpj8FFU=QpDUFFU=QF3D"), None);
    assert_eq!(Hash::from_slice(&hash.as_bytes()[1..]), None);
    assert_eq!(format!("{hash:?}"), hash.to_hex());
}

#[test]
fn decimal_number_has_one_accepted_spelling() {
    for (text, expected) in [
        ("0", Some(0)),
        ("7", Some(7)),
        ("18446744073709551615", Some(u64::MAX)),
        ("18446744073709551616", None),
        ("", None),
        ("00", None),
        ("07", None),
        ("+7", None),
        ("-7", None),
        (" 7", None),
        ("7 ", None),
        ("７", None),
    ] {
        assert_eq!(parse_decimal(text), expected, "{text:?}");
    }
}
