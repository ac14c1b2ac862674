//! Ids: what is one is as it was written, and the rule for it holds.

#![no_main]

use libfuzzer_sys::fuzz_target;
use timenav_core::ids::{EventId, TimelineId};
use timenav_core::limits::ID_BYTES_MAX;
use timenav_fuzz::check_message;

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    match EventId::new(text) {
        Ok(id) => {
            assert_eq!(id.as_str(), text);
            assert!((1..=ID_BYTES_MAX).contains(&text.len()));
            assert!(text.starts_with(|first: char| first.is_ascii_alphanumeric()));
            assert!(text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-:@".contains(&byte)));
            assert!(TimelineId::new(text).is_ok(), "all ids have one rule");
        }
        Err(error) => check_message(&error, 0),
    }
});
