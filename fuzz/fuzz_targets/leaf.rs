//! Entries of a ledger: what is read is written again byte by byte, and what is written is read
//! back the same and is canonical JSON.

#![no_main]

use libfuzzer_sys::fuzz_target;
use serde_json::Value;
use timenav_core::ledger::{Authority, Hash, Leaf, LeafError, LeafRecord, SEQ_MAX, sha256};
use timenav_fuzz::check_message;

fuzz_target!(|bytes: &[u8]| {
    match LeafRecord::decode(bytes) {
        Ok(record) => {
            assert!(record.seq <= SEQ_MAX);
            assert_eq!(record.encode(), bytes);
            assert_eq!(record.clone().into_owned(), record);
        }
        Err(error) => {
            check_message(&error, 0);
            if let LeafError::Malformed { offset, .. } = error {
                assert!(offset <= bytes.len());
            }
        }
    }
    check_written(bytes);
});

/// Checks an entry whose texts are pieces of the input.
fn check_written(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let mut pieces = text.split('~').chain(std::iter::repeat(""));
    let mut piece = || pieces.next().unwrap_or_default();
    let payload_hash: Hash = sha256(&[bytes]);
    let seq = bytes.first_chunk().copied().map_or(0, u64::from_le_bytes) & SEQ_MAX;
    let leaf = Leaf {
        timeline_id: piece(),
        seq,
        recorded_at: piece(),
        clock_time: piece(),
        actor: piece(),
        action: piece(),
        subject: piece(),
        payload_hash,
    };
    let authority = Authority { key: piece().into(), directory: SEQ_MAX - seq };
    for (written, expected) in [(leaf.encode(), None), (leaf.encode_v2(&authority), Some(&authority))] {
        let record = LeafRecord::decode(&written).expect("what is written is read");
        assert_eq!((record.as_leaf(), record.authority.as_ref()), (leaf, expected));
        let value: Value = serde_json::from_slice(&written).expect("an entry is JSON");
        let canonical = serde_json_canonicalizer::to_vec(&value).expect("an entry has a canonical form");
        assert_eq!(written, canonical);
    }
}
