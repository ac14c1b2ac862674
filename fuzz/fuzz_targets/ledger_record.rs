//! Records of what is let go, ended, handed over and adopted: what is read is written again byte by byte.

#![no_main]

use libfuzzer_sys::fuzz_target;
use timenav_core::ledger::{
    Adopted, EventsErased, HandedOver, Malformed, ReadsErased, Retention, Sweep, TimelineEnded,
};
use timenav_fuzz::check_message;

fuzz_target!(|bytes: &[u8]| {
    check(bytes, Retention::decode(bytes), Retention::encode);
    check(bytes, Sweep::decode(bytes), Sweep::encode);
    check(bytes, EventsErased::decode(bytes), EventsErased::encode);
    check(bytes, ReadsErased::decode(bytes), ReadsErased::encode);
    check(bytes, TimelineEnded::decode(bytes), TimelineEnded::encode);
    check(bytes, HandedOver::decode(bytes), HandedOver::encode);
    check(bytes, Adopted::decode(bytes), Adopted::encode);
});

fn check<T>(bytes: &[u8], found: Result<T, Malformed>, encode: impl Fn(&T) -> Vec<u8>) {
    match found {
        Ok(record) => assert_eq!(encode(&record), bytes),
        Err(error) => {
            assert!(error.offset <= bytes.len());
            check_message(&error, 0);
        }
    }
}
