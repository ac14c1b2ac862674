//! Head statements: what is read is written again byte by byte, and is no checkpoint.

#![no_main]

use libfuzzer_sys::fuzz_target;
use timenav_core::ledger::{Checkpoint, HeadStatement, Note};
use timenav_fuzz::check_message;

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    match HeadStatement::parse(text) {
        Ok(head) => {
            assert_eq!(head.to_text(), text);
            // A ledger's name has a slash, so it is no number.
            assert!(Checkpoint::parse(text).is_err() || !head.origin.contains('/'));
            assert!(Note::parse(bytes).is_err());
        }
        Err(error) => check_message(&error, 0),
    }
    match HeadStatement::parse_signed(text) {
        Ok((head, signature)) => {
            assert_eq!(head.to_signed_text(&signature), text);
            assert!(Note::parse(bytes).is_err());
        }
        Err(error) => check_message(&error, 0),
    }
});
