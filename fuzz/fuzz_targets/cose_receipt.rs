//! COSE receipts: what is read is written again byte by byte, and nobody is said to have signed what they did not.

#![no_main]

use libfuzzer_sys::fuzz_target;
use timenav_core::ledger::{ConsistencyReceipt, PROOF_HASHES_MAX, Receipt, ReceiptError, VerifierKey};
use timenav_fuzz::check_message;

fuzz_target!(|bytes: &[u8]| {
    match Receipt::parse(bytes) {
        Ok(receipt) => {
            assert_eq!(receipt.to_bytes(), bytes);
            assert!(receipt.hashes.len() <= PROOF_HASHES_MAX);
            check(&receipt);
        }
        Err(error) => check_message(&error, 0),
    }
    match ConsistencyReceipt::parse(bytes) {
        Ok(receipt) => {
            assert_eq!(receipt.to_bytes(), bytes);
            assert!(receipt.hashes.len() <= PROOF_HASHES_MAX && Receipt::parse(bytes).is_err());
            check_growth(&receipt);
        }
        Err(error) => check_message(&error, 0),
    }
});

fn check(receipt: &Receipt) {
    let Ok(key) = VerifierKey::new(&receipt.origin, [7; 32]) else { return };
    // The id in the receipt is that of another key, but for chance.
    let renamed = Receipt { key_id: key.id(), ..receipt.clone() };
    for (receipt, is_signed) in [(receipt, true), (&renamed, true), (&renamed, false)] {
        match receipt.verify(&key, |_, _, _| is_signed) {
            Ok(_) => assert!(is_signed && receipt.key_id == key.id() && receipt.index < receipt.size),
            Err(error) => {
                assert!(is_signed || error != ReceiptError::TooLong);
                check_message(&error, receipt.origin.len());
            }
        }
    }
}

fn check_growth(receipt: &ConsistencyReceipt) {
    let Ok(key) = VerifierKey::new(&receipt.origin, [7; 32]) else { return };
    let renamed = ConsistencyReceipt { key_id: key.id(), ..receipt.clone() };
    for is_signed in [true, false] {
        match renamed.verify(&key, |_, _, _| is_signed) {
            Ok(root) => {
                assert!(is_signed && renamed.root() == Ok(root) && 0 < receipt.from && receipt.from < receipt.size);
            }
            Err(error) => check_message(&error, receipt.origin.len()),
        }
    }
}
