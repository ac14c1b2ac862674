//! Timestamps: what is read lies in range, and is written so that it is read back the same.

#![no_main]

use libfuzzer_sys::fuzz_target;
use timenav_core::time::{Instant, TIMESTAMP_BYTES_MAX, Virtual, parse_timestamp};
use timenav_fuzz::check_message;

/// Longest timestamp that is written: `-009999-12-31T23:59:59.999999Z`.
const WRITTEN_BYTES_MAX: usize = 30;

fuzz_target!(|bytes: &[u8]| {
    if let Some(micros) = bytes.first_chunk().copied().map(i64::from_le_bytes) {
        // A shift brings most numbers into the range.
        for micros in [micros, micros >> 5] {
            Instant::from_micros(micros).into_iter().for_each(check);
        }
    }
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    match parse_timestamp(text) {
        Ok(at) => {
            assert!(text.len() <= TIMESTAMP_BYTES_MAX);
            check(at);
        }
        Err(error) => check_message(&error, TIMESTAMP_BYTES_MAX),
    }
});

fn check(at: Instant<Virtual>) {
    assert!((Instant::MIN..=Instant::MAX).contains(&at));
    assert_eq!(Instant::from_micros(at.micros()), Some(at));
    let written = at.to_string();
    assert!(written.len() <= WRITTEN_BYTES_MAX, "{written}");
    assert_eq!(parse_timestamp(&written), Ok(at), "{written}");
}
