//! What a witness is asked and what it answers: what is read is written again byte by byte, and nothing is cosigned that
//! nobody has signed, or that takes back what was.

#![no_main]

use libfuzzer_sys::fuzz_target;
use timenav_core::ledger::{
    ADD_CHECKPOINT_BYTES_MAX, AddCheckpoint, VerifierKey, WitnessKey, Witnessed, cosignatures_in, decide_witnessing,
};
use timenav_fuzz::check_message;

fuzz_target!(|bytes: &[u8]| {
    match AddCheckpoint::parse(bytes) {
        Ok(request) => {
            assert!(bytes.len() <= ADD_CHECKPOINT_BYTES_MAX);
            assert_eq!(request.to_text().as_bytes(), bytes);
            check_decisions(&request);
        }
        Err(error) => check_message(&error, 0),
    }
    match cosignatures_in(bytes) {
        Ok(lines) => {
            let again: String = lines.iter().flat_map(|line| [line.to_string(), "\n".to_owned()]).collect();
            assert_eq!(again.as_bytes(), bytes);
            for line in &lines {
                let key = WitnessKey::new(line.name(), [7; 32]).expect("the name on a signature is the name of a key");
                assert!(key.check("text\n", line, |_, _, _| false).is_err(), "a wrong signature counts for nothing");
            }
        }
        Err(error) => check_message(&error, 0),
    }
    match WitnessKey::parse(std::str::from_utf8(bytes).unwrap_or_default()) {
        Ok(key) => assert_eq!(key.to_string().as_bytes(), bytes),
        Err(error) => check_message(&error, bytes.len()),
    }
});

/// Whatever is cosigned is signed, continues, and is no smaller.
fn check_decisions(request: &AddCheckpoint) {
    let before = Witnessed::default();
    assert!(decide_witnessing(request, &[], before, |_, _, _| true).is_err(), "no key, no signature");
    let Ok(key) = VerifierKey::new(request.origin(), [7; 32]) else { return };
    assert!(decide_witnessing(request, std::slice::from_ref(&key), before, |_, _, _| false).is_err());
    if let Ok((_, after)) = decide_witnessing(request, &[key], before, |_, _, _| true) {
        assert!(after.size >= before.size && request.old_size == before.size);
    }
}
