//! Checkpoints: what is read is written again byte by byte, one that is signed is opened the same,
//! and one with a wrong signature is not opened.

#![no_main]

use libfuzzer_sys::fuzz_target;
use timenav_core::ledger::{Checkpoint, CheckpointError, Note, NoteError, VerifierKey};
use timenav_fuzz::check_message;

fuzz_target!(|bytes: &[u8]| {
    let key = VerifierKey::new("timenav.example/main", [7; 32]).expect("the name is one");
    match Checkpoint::open(bytes, &key, |_, _, _| true) {
        Ok(checkpoint) => {
            assert_eq!(checkpoint.origin, key.name());
            assert_eq!(Note::parse(bytes).as_ref().map(Note::text), Ok(checkpoint.to_text().as_str()));
            assert!(Checkpoint::open(bytes, &key, |_, _, _| false).is_err());
        }
        Err(error) => check_message(&error, bytes.len()),
    }
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    match Checkpoint::parse(text) {
        Ok(checkpoint) => {
            assert_eq!(checkpoint.to_text(), text);
            check_signing(&checkpoint);
        }
        Err(error) => check_message(&error, 0),
    }
});

/// Checks that the key named like the checkpoint signs it, if there can be such a key.
fn check_signing(checkpoint: &Checkpoint) {
    let Ok(key) = VerifierKey::new(&checkpoint.origin, [7; 32]) else { return };
    match checkpoint.sign(&key, |_| [9; 64]) {
        Ok(note) => {
            let note = note.to_string();
            assert_eq!(Checkpoint::open(note.as_bytes(), &key, |_, _, _| true).as_ref(), Ok(checkpoint));
            let wrong = Checkpoint::open(note.as_bytes(), &key, |_, _, _| false);
            assert!(matches!(wrong, Err(CheckpointError::Note(NoteError::BadSignature { .. }))));
        }
        Err(error) => assert_eq!(error, CheckpointError::Note(NoteError::ControlCharacter)),
    }
}
