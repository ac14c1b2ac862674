use data_encoding::HEXLOWER;
use serde_json::Value;
use timenav_core::ids::{DataId, TimelineId};
use timenav_core::limits::{KEY_DERIVATIONS_MAX, KEY_DERIVATIONS_WAITING_MAX, KEY_DERIVATIONS_WAITING_PER_USER_MAX};

use super::*;

struct Randomness;

impl Entropy for Randomness {
    #[expect(clippy::disallowed_methods, reason = "this is the door")]
    fn fill(&self, buffer: &mut [u8]) {
        aws_lc_rs::rand::fill(buffer).unwrap();
    }
}

fn key(text: &str) -> EncryptionKey {
    EncryptionKey::new(Zeroizing::new(text.to_owned())).unwrap()
}

fn place(timeline: &str, data_id: &str) -> RecordPlace {
    RecordPlace { timeline_id: TimelineId::new(timeline).unwrap(), data_id: DataId::new(data_id).unwrap() }
}

fn user(name: &str) -> UserId {
    UserId::new(name).unwrap()
}

fn text(data: &str) -> Plaintext {
    Plaintext::new(Zeroizing::new(data.to_owned()))
}

const RANDOM: &str = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
const OTHER_RANDOM: &str = "ff0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";

#[test]
fn sealed_records_match_the_published_vectors() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../test-data/data-format-v1.json");
    let vectors: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let records = vectors["records"].as_array().unwrap();
    assert_eq!(records.len(), 2);
    for vector in records {
        let field = |name: &str| vector[name].as_str().unwrap();
        let bytes = |name: &str| HEXLOWER.decode(field(name).as_bytes()).unwrap();
        let place = place(field("timeline_id"), field("data_id"));
        let (key, data) = (key(field("encryption_key")), text(field("data")));
        let aad = associated_data(DATA_FORMAT, &place.timeline_id, &place.data_id, key.kind());
        assert_eq!(aad, bytes("associated_data"));
        let (salt, nonce) = (bytes("salt").try_into().unwrap(), bytes("nonce").try_into().unwrap());
        let sealed = seal(&place, &data, &key, salt, nonce).unwrap();
        assert_eq!((u64::from(sealed.format), u64::from(sealed.kind)), (1, vector["kind"].as_u64().unwrap()));
        assert_eq!(sealed.commitment, bytes("commitment"));
        assert_eq!(sealed.ciphertext, bytes("ciphertext"));
        assert_eq!(sealed.hash().to_hex(), field("sha256"));
        assert_eq!(open(&place, sealed, &key).unwrap().as_str(), field("data"));
    }
}

fn is_closed(place: &RecordPlace, sealed: SealedData, key: &EncryptionKey) {
    assert_eq!(open(place, sealed, key).err(), Some(VaultError::Closed));
}

type Part = fn(&mut SealedData) -> &mut Vec<u8>;

#[test]
fn record_opens_only_with_its_key_and_place() {
    let here = place("main", "data_a");
    for (right, wrong) in [(RANDOM, [OTHER_RANDOM, "a passphrase"]), ("a passphrase", ["A passphrase", RANDOM])] {
        let right = key(right);
        let sealed = seal(&here, &text("{\"a\":1}"), &right, [1; SALT_BYTES], [2; NONCE_BYTES]).unwrap();
        assert_eq!(open(&here, sealed.clone(), &right).unwrap().as_str(), "{\"a\":1}");
        for wrong in wrong {
            is_closed(&here, sealed.clone(), &key(wrong));
        }
        is_closed(&place("main", "data_b"), sealed.clone(), &right);
        is_closed(&place("other", "data_a"), sealed.clone(), &right);
        let parts: [Part; 4] = [
            |sealed| &mut sealed.salt,
            |sealed| &mut sealed.nonce,
            |sealed| &mut sealed.commitment,
            |sealed| &mut sealed.ciphertext,
        ];
        for part in parts {
            let damages: [fn(&mut Vec<u8>); 4] =
                [|bytes| bytes[0] ^= 1, |bytes| bytes.truncate(5), Vec::clear, |bytes| bytes.push(0)];
            for spoil in damages {
                let mut record = sealed.clone();
                spoil(part(&mut record));
                is_closed(&here, record, &right);
            }
        }
        for (format, kind) in [(0, sealed.kind), (2, sealed.kind), (1, 3 - sealed.kind), (1, 0), (1, 255)] {
            is_closed(&here, SealedData { format, kind, ..sealed.clone() }, &right);
        }
        is_closed(&here, SealedData::default(), &right);
    }
}

/// An AES-GCM ciphertext can be crafted to open under two keys; the commitment prevents this.
#[test]
fn sealed_record_is_committed_to_its_key() {
    let here = place("main", "data_a");
    let made =
        |text_of_key: &str| seal(&here, &text("{}"), &key(text_of_key), [1; SALT_BYTES], [2; NONCE_BYTES]).unwrap();
    let (one, other) = (made(RANDOM), made(OTHER_RANDOM));
    assert_ne!(one.commitment, other.commitment);
    // The cipher would accept it; the commitment shows that another key was used.
    is_closed(&here, SealedData { commitment: other.commitment, ..one.clone() }, &key(RANDOM));
    is_closed(&here, SealedData { commitment: one.commitment, ..other }, &key(RANDOM));
}

#[tokio::test]
async fn equal_records_are_sealed_differently() {
    let vault = AesVault::new(Arc::new(Randomness), Turns::default());
    let here = place("main", "data_a");
    let one = vault.seal(&user("ada"), here.clone(), text("{}"), key(RANDOM)).await.unwrap();
    let two = vault.seal(&user("ada"), here.clone(), text("{}"), key(RANDOM)).await.unwrap();
    assert_ne!((&one.salt, &one.nonce), (&two.salt, &two.nonce));
    assert_ne!(one.ciphertext, two.ciphertext);
    assert_ne!(one.commitment, two.commitment);
    assert_eq!(vault.open(&user("ada"), here, two, key(RANDOM)).await.unwrap().as_str(), "{}");
}

#[tokio::test]
async fn waiting_key_derivations_are_limited() {
    let vault = AesVault::new(Arc::new(Randomness), Turns::default());
    let per_user = KEY_DERIVATIONS_WAITING_PER_USER_MAX;
    let name = |number: usize| user(&format!("u{}", number / per_user));
    let working: Vec<_> =
        (0..KEY_DERIVATIONS_MAX).map(|number| vault.turns.wait(Some(&user(&format!("w{number}")))).unwrap()).collect();
    let waiting: Vec<_> =
        (0..KEY_DERIVATIONS_WAITING_MAX).map(|number| vault.turns.wait(Some(&name(number))).unwrap()).collect();
    let long = "x".repeat(QUICK_BYTES_MAX + 1);
    for (data, with) in [("{}", "a passphrase"), (long.as_str(), RANDOM)] {
        let refused = vault.seal(&user("ada"), place("main", "data_a"), text(data), key(with)).await;
        assert_eq!(refused.err(), Some(VaultError::Busy), "{with}");
    }
    // Short work does not wait for a slot.
    let quick = vault
        .seal(&user("ada"), place("main", "data_a"), text(&long[..QUICK_BYTES_MAX - 16]), key(RANDOM))
        .await
        .unwrap();
    vault.open(&user("ada"), place("main", "data_a"), quick, key(RANDOM)).await.unwrap();
    drop((working, waiting));
    vault.seal(&user("ada"), place("main", "data_a"), text("{}"), key("a passphrase")).await.unwrap();
}
