//! Depths of a scan: what is read is written so that it is read back the same, and its count is
//! within the limits.

#![no_main]

use libfuzzer_sys::fuzz_target;
use timenav_core::scan::{Depth, SAMPLE_ENTRIES_MAX};
use timenav_fuzz::check_message;

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    match text.parse::<Depth>() {
        Ok(depth) => {
            let written = depth.to_string();
            assert_eq!(written.parse(), Ok(depth), "{written}");
            check(depth, text, &written);
        }
        // What is quoted of the text is cut.
        Err(error) => check_message(&error, 0),
    }
});

fn check(depth: Depth, text: &str, written: &str) {
    match depth {
        Depth::Full | Depth::Quick => assert_eq!(written, text),
        Depth::Tail(count) | Depth::Sample(count) => {
            let (name, digits) = text.split_once(':').expect("a count stands behind a colon");
            assert!(digits.bytes().all(|byte| byte.is_ascii_digit()), "{digits}");
            assert_eq!(written, format!("{name}:{}", digits.trim_start_matches('0')));
            assert!(matches!(depth, Depth::Tail(_)) || count.get() <= SAMPLE_ENTRIES_MAX, "{count}");
        }
    }
}
