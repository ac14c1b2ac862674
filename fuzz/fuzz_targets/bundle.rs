//! Bundles: hostile lines are refused in few words, whatever signatures say, and what is whole has the sizes that it says.

#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use timenav_core::ledger::VerifierKey;
use timenav_engine::BundleCheck;
use timenav_fuzz::check_message;

/// The longest that what is quoted is, in bytes.
const QUOTED_BYTES_MAX: usize = 400;

static KEY: LazyLock<VerifierKey> =
    LazyLock::new(|| VerifierKey::new("timenav.example/apollo-11", [1; 32]).expect("it is a name"));

fuzz_target!(|bytes: &[u8]| {
    // Every signature is taken for good, so that what comes after one is reached.
    let mut check = BundleCheck::new(KEY.clone(), Vec::new(), &|_, _, _| true);
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        if let Err(error) = check.line(line) {
            return check_message(&error, QUOTED_BYTES_MAX);
        }
        let (entries, all) = check.progress();
        assert!(entries <= all, "no layer has more entries than the first line says");
    }
    match check.finish() {
        Ok(bundle) => {
            assert_eq!(bundle.layers.last().map(|(timeline, _)| timeline), Some(&bundle.timeline_id));
            assert!(bundle.payloads <= bundle.layers.iter().map(|(_, size)| size).sum());
        }
        Err(error) => check_message(&error, 0),
    }
});
