//! Time ranges: the start of what is read is not after its end, and it is written so that it is
//! read back the same.

#![no_main]

use libfuzzer_sys::fuzz_target;
use timenav_core::time::{TIME_RANGE_BYTES_MAX, Virtual, parse_time_range};
use timenav_fuzz::check_message;

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    match parse_time_range::<Virtual>(text) {
        Ok(range) => {
            assert!(text.len() <= TIME_RANGE_BYTES_MAX);
            assert!(range.first() <= range.last(), "{range:?}");
            assert!(range.contains(range.first()) && range.contains(range.last()), "{range:?}");
            let written = range.to_string();
            assert!(written.len() <= TIME_RANGE_BYTES_MAX, "{written}");
            assert_eq!(parse_time_range(&written), Ok(range), "{written}");
        }
        Err(error) => check_message(&error, TIME_RANGE_BYTES_MAX),
    }
});
