//! Signed notes: what is read is written again byte by byte, and no stranger's signature counts.

#![no_main]

use libfuzzer_sys::fuzz_target;
use timenav_core::ledger::{NOTE_BYTES_MAX, NOTE_SIGNATURES_MAX, Note, NoteError, NoteSignature, VerifierKey};
use timenav_fuzz::check_message;

fuzz_target!(|bytes: &[u8]| {
    match Note::parse(bytes) {
        Ok(note) => {
            assert!(bytes.len() <= NOTE_BYTES_MAX);
            assert_eq!(note.to_string().as_bytes(), bytes);
            assert!(note.text().ends_with('\n'));
            assert!((1..=NOTE_SIGNATURES_MAX).contains(&note.signatures().len()));
            assert!(note.signatures().iter().all(|signature| !signature.signature().is_empty()));
            check_verification(&note);
        }
        Err(error) => check_message(&error, 0),
    }
    check_signing(bytes);
});

fn check_verification(note: &Note) {
    assert_eq!(note.verify(&[], |_, _, _| true), Err(NoteError::NoKnownKey));
    let names = note.signatures().iter().map(NoteSignature::name);
    let known: Vec<_> = names.filter_map(|name| VerifierKey::new(name, [7; 32]).ok()).collect();
    assert_eq!(known.len(), note.signatures().len(), "the name on a signature is the name of a key");
    assert!(note.verify(&known, |_, _, _| false).is_err(), "a wrong signature counts for nothing");
}

/// Checks a note whose text is the input.
fn check_signing(bytes: &[u8]) {
    let key = VerifierKey::new("timenav.example/main", [7; 32]).expect("the name is one");
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    match Note::sign(text.to_owned(), &key, |_| [9; 64]) {
        Ok(note) => {
            assert_eq!(note.text(), text);
            assert_eq!(Note::parse(note.to_string().as_bytes()).as_ref(), Ok(&note));
            assert_eq!(note.verify(std::slice::from_ref(&key), |_, _, signature| *signature == [9; 64]), Ok(()));
        }
        Err(error) => check_message(&error, 0),
    }
}
