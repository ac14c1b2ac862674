//! Entries of reads: a payload that is read has a root that erasing leaves alone, every read that is
//! left is shown by a proof, and a compact entry is rebuilt the same.

#![no_main]

use libfuzzer_sys::fuzz_target;
use timenav_core::ledger::{LeafRecord, READS_MAX, ReadProof, ReadsEntry, RemainingReads, Salt};
use timenav_fuzz::check_message;

fuzz_target!(|bytes: &[u8]| {
    for salt in [&[5; Salt::BYTES][..], &[]] {
        match RemainingReads::parse(salt, bytes) {
            Ok(remaining) => check_remaining(&remaining),
            Err(error) => check_message(&error, 0),
        }
    }
    if let Ok(proof) = ReadProof::decode(bytes) {
        assert_eq!(proof.encode(), bytes);
    }
    if let Some(entry) = ReadsEntry::from_bytes(bytes) {
        assert_eq!(entry.to_bytes(), bytes);
        let leaf = entry.leaf("main", 7);
        let record = LeafRecord::decode(&leaf).expect("what is rebuilt is an entry");
        assert_eq!(ReadsEntry::of(&record), Some(entry));
    }
});

fn check_remaining(remaining: &RemainingReads<'_>) {
    assert!((1..=READS_MAX).contains(&remaining.len()));
    let opened = remaining.without(|number, _| number == 0);
    let opened = RemainingReads::parse(&[], &opened).expect("what is left is read");
    assert_eq!(opened.root(), remaining.root());
    assert!(opened.prove(0).is_none());
    let last = remaining.len() - 1;
    if let Some(proof) = remaining.prove(last) {
        proof.verify(&remaining.root()).expect("a proof that was made holds");
    }
}
